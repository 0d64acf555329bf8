//! Time of an iteration over the delay of the switch and over the optical degree, and the delay up to which changing
//! circuits pays.

use super::ANALYTIC;
use crate::kind::metrics::ITERATION;
use crate::model::demand::LayerDemand;
use crate::plan::FabricKind;
use crate::scenario::{DELAY_PROFILES, MoeScenario};
use crate::schedule::assemble::{fabric_ms, regional};
use crate::schedule::optimum::optimum;
use crate::schedule::policies::{SwitchPolicy, schedule};
use crate::schedule::stage::StageModel;
use crate::search::exchange::{Exchange, RoutingRule};
use crate::search::swap::swapped;
use lightbay_core::clock::Deadline;
use lightbay_core::report::{Curve, Curves, Facts, Point, Section, Tone, Unavailable, Unit};

const MS: Unit = Unit::new("ms", 1.0, Some(3));

/// Circuits for every layer, and those for the mean demand, which stay.
fn stage(scenario: &MoeScenario, deadline: Deadline) -> Result<(StageModel, usize), Unavailable> {
    let mut stage = StageModel::of(scenario, RoutingRule::Spill);
    let n = stage.rates.servers;
    let mut sum = LayerDemand { servers: n, bytes: vec![0.0; n * n], busiest_gpu: 0.0, busiest_rail: 0.0 };
    let none = |pair: crate::search::routes::Unreachable| {
        Unavailable::absent(
            format!("server {} cannot reach server {}", pair.from, pair.to),
            "lower optical_degree",
        )
    };
    for layer in 0..stage.layers() {
        if deadline.is_over() {
            return Err(Unavailable::late(deadline));
        }
        let demand = stage.demands[layer].clone();
        for (sum, bytes) in sum.bytes.iter_mut().zip(&demand.bytes) {
            *sum += bytes;
        }
        let exchange = Exchange::of(&demand, &stage.rates, RoutingRule::Spill);
        let (counts, _) = swapped(&exchange, stage.rates.optical, &demand.both_ways());
        let own = stage.add(counts, Some(layer)).map_err(none)?;
        stage.own.push(own);
    }
    let exchange = Exchange::of(&sum, &stage.rates, RoutingRule::Spill);
    let (counts, _) = swapped(&exchange, stage.rates.optical, &sum.both_ways());
    let constant = stage.add(counts, None).map_err(none)?;
    Ok((stage, constant))
}

fn with_delay(stage: &StageModel, delay_ms: f64) -> StageModel {
    let mut other = stage.clone();
    other.scenario.cluster.reconfiguration_delay_ms = delay_ms;
    other
}

/// Time of an iteration with a policy, ms.
fn time(stage: &StageModel, policy: SwitchPolicy) -> Option<f64> {
    let schedule = match policy {
        SwitchPolicy::Exact => optimum(stage)?,
        policy => schedule(stage, policy),
    };
    regional(stage, &schedule).ok().map(|plan| plan.value)
}

/// Iteration over the delay of the switch, by policy, and the delay from which circuits that stay are as good.
pub(super) fn delays(scenario: &MoeScenario, deadline: Deadline) -> Result<Section, Unavailable> {
    let (stage, constant) = stage(scenario, deadline)?;
    let mut fixed = stage.clone();
    fixed.own = vec![constant; fixed.layers()];
    let still = time(&fixed, SwitchPolicy::Never);
    let mut places: Vec<f64> = (-12..=23).map(|step| 10_f64.powf(f64::from(step) / 6.0)).collect();
    places.extend(DELAY_PROFILES.iter().map(|(_, delay)| *delay));
    places.sort_by(f64::total_cmp);
    let policies = [
        ("paper", SwitchPolicy::Paper, Tone::Bad),
        ("reuse", SwitchPolicy::Reuse, Tone::Warn),
        ("best over all layers", SwitchPolicy::Exact, Tone::Answer),
    ];
    let mut curves: Vec<Curve> = Vec::new();
    for (label, policy, tone) in policies {
        let mut points = Vec::with_capacity(places.len());
        for &at in &places {
            if deadline.is_over() {
                return Err(Unavailable::late(deadline));
            }
            points.extend(time(&with_delay(&stage, at), policy).map(|value| Point { at, value }));
        }
        curves.push(curve(&format!("{}_ms", policy.word()), label, points, tone));
    }
    if let Some(value) = still {
        let points = places.iter().map(|&at| Point { at, value }).collect();
        curves.push(curve("static_ms", "circuits that stay", points, Tone::Muted));
    }
    let mut facts = Facts::new();
    let best = |delay: f64| time(&with_delay(&stage, delay), SwitchPolicy::Exact);
    let pays = |delay: f64| best(delay).zip(still).is_some_and(|(best, still)| best < still * (1.0 - 1e-9));
    if let Some((at_once, still)) = best(0.0).zip(still) {
        facts.number("static_ms", "circuits that stay", ITERATION, still);
        facts.number("at_once_ms", "changes without delay", ITERATION, at_once);
        facts.number("gain", "gain at most", Unit::PERCENT, 1.0 - at_once / still);
    }
    if pays(0.0) {
        let (mut low, mut high) = (0.0, 1e5);
        for _ in 0..40 {
            let middle = 0.5 * (low + high);
            if pays(middle) { low = middle } else { high = middle }
        }
        facts.number("break_even_ms", "changing pays up to", MS, low);
        facts.sentence("delay at which the cheapest schedule is as long as with circuits that stay");
    } else {
        facts.add("break_even_ms", "changing pays up to", "never");
        facts.sentence("circuits that stay are as good as any that change");
    }
    let curves = Curves {
        axis: "delay_ms",
        axis_label: "delay",
        axis_unit: MS,
        axis_range: None,
        axis_is_log: true,
        values_are_log: false,
        curves,
        ..Curves::default()
    };
    Ok(Section::empty("Delays")
        .block("break_even", "Break-even", facts)
        .block("iteration", "Time of an iteration", curves)
        .remark(ANALYTIC))
}

/// Iteration over the optical degree, with packet-switched NICs at their own rate.
pub(super) fn degrees(scenario: &MoeScenario, deadline: Deadline) -> Result<Section, Unavailable> {
    let mut measured: Vec<Point> = Vec::new();
    let mut least: Vec<Point> = Vec::new();
    for degree in 1..scenario.region.nics_per_server {
        let mut other = scenario.clone();
        other.region.share_nics(degree);
        let (stage, _) = stage(&other, deadline)?;
        let at = f64::from(degree);
        measured.extend(time(&stage, SwitchPolicy::Exact).map(|value| Point { at, value }));
        least.extend(fabric_ms(&other, FabricKind::Pooled).ok().map(|value| Point { at, value }));
    }
    let curves = vec![
        curve("iteration_ms", "iteration", measured, Tone::Answer),
        curve("pooled_ms", "bound", least, Tone::Muted),
    ];
    let curves = Curves {
        axis: "optical_degree",
        axis_label: "optical NICs of a server",
        axis_unit: Unit::COUNT,
        axis_range: None,
        axis_is_log: false,
        values_are_log: false,
        curves,
        ..Curves::default()
    };
    Ok(Section::new("Degrees", curves)
        .context(match scenario.region.eps_total_gbps {
            Some(rate) => format!("packet switches at {rate} Gb/s in all"),
            None => "all other NICs at packet switches".to_owned(),
        })
        .remark(ANALYTIC))
}

fn curve(name: &str, label: &str, points: Vec<Point>, tone: Tone) -> Curve {
    Curve { name: name.to_owned(), label: label.to_owned(), unit: ITERATION, points, tone, steps: false }
}
