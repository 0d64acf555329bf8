//! Checks figures of the flit simulator in a plan.
//!
//! A simulation can only be confirmed by repeating it. The checker runs the simulator with the routes, settings and
//! seed of the plan, and compares every figure bit for bit. This takes as long as the original simulation, so it is
//! done only in the exact depth. In the usual depth, the figures are reported as claimed, and only impossible figures
//! are refused.

use super::{EXACT, Findings, SimulateAgain, code};
use crate::plan::{Simulation, TpuResult};
use crate::scenario::TpuScenario;
use lightbay_core::kind::Depth;

/// Checks that the required figures are present; they may be missing only if the run was stopped early.
pub(super) fn asked(
    scenario: &TpuScenario,
    result: &TpuResult,
    is_whole: bool,
    found: &mut Findings,
    remarks: &mut Vec<String>,
) {
    if scenario.simulate.is_none() || result.simulation.is_some() {
        return;
    }
    let text = "the scenario has a block 'simulate', but the plan has no results of the flit simulator";
    if is_whole {
        found.add(code::SIMULATION, text);
    } else {
        remarks.push(format!("{text}, because the run ended before the simulation"));
    }
}

/// Checks the saturation and the curve of the pod, and the saturation of every failed switch.
pub(super) fn check(
    scenario: &TpuScenario,
    result: &TpuResult,
    simulator: SimulateAgain<'_>,
    depth: Depth,
    found: &mut Findings,
    remarks: &mut Vec<String>,
) {
    if let Some(simulation) = &result.simulation {
        possible(scenario, result, simulation, found);
        let warmup_cycles = scenario.simulate.clone().unwrap_or_default().warmup_cycles;
        remarks.extend(simulation.window_note(warmup_cycles));
    }
    let cases = result.faults.iter().filter_map(|case| {
        let saturation = case.saturation_flits_per_cycle_per_node?;
        Some((case, saturation))
    });
    let cases: Vec<_> = cases.collect();
    let step = scenario.simulate.clone().unwrap_or_default().rate_step;
    for (case, saturation) in &cases {
        if case.max_channel_load.is_none() || !is_rate(*saturation, step) {
            found.add(
                code::SIMULATION,
                format!(
                    "failure of switch {}: saturation at {saturation} flits per cycle and chip must be a multiple of {step}, and the case must have routes",
                    case.failed_ocs
                ),
            );
        }
    }
    if !found.is_empty() || (result.simulation.is_none() && cases.is_empty()) {
        return;
    }
    if !depth.is_exact() {
        remarks.push("figures of the simulator are claimed: --exact runs the simulator again".to_owned());
        return;
    }
    if let Some(claimed) = &result.simulation {
        match result.routing.as_ref().filter(|routing| !routing.routes.is_empty()) {
            None => remarks.push(
                "figures of the simulator are claimed, because the plan does not contain the routes \
                 (with_routes=true includes them)"
                    .to_owned(),
            ),
            Some(routing) => match simulator(routing, depth) {
                Err(why) => {
                    remarks.push(format!(
                        "figures of the simulator are claimed, because the simulator was not run again: \
                         {why}"
                    ));
                }
                Ok(own) if own == *claimed => {
                    remarks.push("the simulator was run again and found the same figures".to_owned());
                }
                Ok(own) => differs(claimed, &own, found),
            },
        }
    }
    let mut open = 0;
    for (case, saturation) in cases {
        let own = case.routing.as_ref().filter(|routing| !routing.routes.is_empty());
        match own.map(|routing| simulator(routing, depth)) {
            Some(Ok(own)) if own.saturation_flits_per_cycle_per_node != saturation => found.add(
                code::SIMULATION,
                format!(
                    "failure of switch {}: saturation at {saturation}, but the simulator finds {}",
                    case.failed_ocs, own.saturation_flits_per_cycle_per_node
                ),
            ),
            Some(Ok(_)) => {}
            None | Some(Err(_)) => open += 1,
        }
    }
    if open > 0 {
        remarks.push(format!(
            "the saturation of {open} failed switches is claimed, because the plan does not contain the \
             routes (with_faults=true includes them) or the time limit was reached"
        ));
    }
}

/// Returns `true` for a rate that the search can return: a multiple of the step.
fn is_rate(rate: f64, step: f64) -> bool {
    let steps = rate / step;
    rate >= 0.0 && (steps - steps.round()).abs() <= EXACT * steps.abs().max(1.0)
}

/// Checks properties that every saturation search guarantees: the rates are multiples of the step in ascending order,
/// the saturation is 0 or one of these rates, and the rate one step above the saturation was tried as well.
fn possible(scenario: &TpuScenario, result: &TpuResult, simulation: &Simulation, found: &mut Findings) {
    let Some(settings) = &scenario.simulate else {
        found.add(
            code::SIMULATION,
            "the plan has results of the simulator, but the scenario has no block 'simulate'",
        );
        return;
    };
    if result.routing.is_none() {
        found.add(code::SIMULATION, "the plan has results of the simulator, but no routes");
        return;
    }
    if (simulation.allocator, simulation.speedup) != (settings.allocator, settings.speedup) {
        found.add(
            code::SIMULATION,
            format!(
                "the results assume {}, but the block 'simulate' has {}",
                simulation.routers(),
                settings.allocator.named(settings.speedup)
            ),
        );
    }
    let step = settings.rate_step;
    let mut last = 0.0;
    for &(offered, delivered, latency) in &simulation.curve {
        if offered <= last || !is_rate(offered, step) || delivered < 0.0 || latency < 0.0 {
            found.add(
                code::SIMULATION,
                format!("the point [{offered}, {delivered}, {latency}] of the curve is invalid: rates must be ascending multiples of {step}, and no value may be negative"),
            );
        }
        last = offered;
    }
    let saturation = simulation.saturation_flits_per_cycle_per_node;
    let tried = |rate: f64| {
        simulation.curve.iter().any(|(offered, ..)| (offered - rate).abs() <= EXACT * rate.abs().max(1.0))
    };
    if (saturation != 0.0 && !tried(saturation)) || !tried(saturation + step) {
        found.add(
            code::SIMULATION,
            format!(
                "saturation at {saturation} flits per cycle and chip is not possible: the curve needs a \
                 run at this rate (unless the rate is 0) and a run at a rate that is {step} higher"
            ),
        );
    }
}

/// Reports a saturation that differs from the repeated simulation, and the first point of the curve that differs, as
/// violations.
fn differs(claimed: &Simulation, own: &Simulation, found: &mut Findings) {
    let (saturation, again) =
        (claimed.saturation_flits_per_cycle_per_node, own.saturation_flits_per_cycle_per_node);
    if saturation != again {
        found.add(code::SIMULATION, format!("saturation at {saturation}, but the simulator finds {again}"));
    }
    let other = claimed.curve.iter().zip(&own.curve).position(|(claimed, own)| claimed != own);
    let at = other.or_else(|| {
        (claimed.curve.len() != own.curve.len()).then(|| claimed.curve.len().min(own.curve.len()))
    });
    if let Some(at) = at {
        let point = |curve: &[(f64, f64, f64)]| {
            curve.get(at).map_or_else(
                || "no point".to_owned(),
                |(offered, delivered, latency)| format!("[{offered}, {delivered}, {latency}]"),
            )
        };
        found.add(
            code::SIMULATION,
            format!(
                "curve[{at}] is {}, but the simulator finds {}",
                point(&claimed.curve),
                point(&own.curve)
            ),
        );
    }
}
