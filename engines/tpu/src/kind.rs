//! The kind `tpu`: implements the traits of the core with its scenario, result, checker and hot starts.

mod listed;
mod metrics;
mod named;
mod terms;

use crate::Tpu;
use crate::check::{self, Envelope};
use crate::methods::assemble::{PodParts, candidate};
use crate::methods::{route, settings};
use crate::model::baselines;
use crate::model::pod::{self, CHIPS, PORTS};
use crate::plan::{FaultCase, Routing, Simulation, TpuResult};
use crate::report::TpuReport;
use crate::scenario::{KNOBS, SimulationSettings, TopologyChoice, TpuScenario};
use crate::simulate;
use crate::throughput::mcf::Certificate;
use crate::throughput::metrics::Hops;
use lightbay_core::checked::Verdict;
use lightbay_core::exchange::{CircuitMatrix, CircuitPlaces, Graph, GraphLink, PlacedCircuit, PlacedPort};
use lightbay_core::kind::{Carried, Depth, Kind, ObjectiveInfo, SweepInfo};
use lightbay_core::method::MethodError;
use lightbay_core::metric::MetricInfo;
use lightbay_core::plan::{Plan, Status};
use lightbay_core::problem::Problems;
use lightbay_core::random::Streams;
use lightbay_core::read::Fields;
use lightbay_core::record::{Knobs, Record as _};
use lightbay_core::report::differences::Differences;
use lightbay_core::report::{Report, SectionInfo};
use lightbay_core::scenario::Scenario;
use lightbay_core::term::Term;
use lightbay_core::watch::StopTest;
use std::collections::BTreeMap;

impl Kind for Tpu {
    const NAME: &'static str = "tpu";
    const OBJECTIVE: ObjectiveInfo = metrics::OBJECTIVE;
    const DEFAULT_METHOD: &'static str = "tons-fast";
    const PREVIEW_METHOD: &'static str = "pt";

    const METRICS: &'static [MetricInfo] = metrics::METRICS;
    const SECTIONS: &'static [SectionInfo] = crate::report::SECTIONS;
    const SWEEPS: SweepInfo = SweepInfo::over(
        &["cubes", "vc_count", "slack_hops", "tolerated_ocs_faults"],
        &["cubes", "channels", "detours", "failures", "other parameter"],
    );
    const TERMS: &'static [Term] = terms::TERMS;

    type Scenario = TpuScenario;
    type Result = TpuResult;

    fn read_scenario(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<TpuScenario> {
        TpuScenario::of_fields(fields, problems)
    }

    fn read_result(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<TpuResult> {
        TpuResult::of_fields(fields, problems)
    }

    fn suited_method(scenario: &TpuScenario) -> &'static str {
        match scenario.topology {
            TopologyChoice::Design => Self::DEFAULT_METHOD,
            TopologyChoice::Pt => "pt",
            TopologyChoice::Pdtt => "pdtt",
            TopologyChoice::Given(_) => "evaluate",
        }
    }

    fn validate(scenario: &TpuScenario) -> Result<(), Problems> {
        scenario.validate()
    }

    fn table() -> Option<&'static Knobs<Self::Scenario>> {
        Some(&KNOBS)
    }

    fn check(plan: &Plan<Self>, depth: Depth) -> Verdict {
        let envelope = Envelope {
            value: plan.objective.value,
            bound: plan.objective.bound,
            bound_covers: plan.provenance.bound_covers(),
            method: &plan.method,
            is_whole: plan.provenance.reproducible
                && matches!(plan.status, Status::Feasible | Status::Heuristic),
            with_routes: plan.parameters.get("with_routes").map(|_| plan.parameters.bool("with_routes")),
            metrics: &plan.metrics,
        };
        let simulator = |routing: &Routing, depth: Depth| simulate_again(plan, routing, depth);
        let router = |depth: Depth| route_again(plan, depth);
        check::check(&plan.scenario.body, &plan.result, &envelope, &simulator, &router, depth)
    }

    fn carry(result: &TpuResult, from: &TpuScenario, to: &TpuScenario) -> Result<Carried<TpuResult>, String> {
        carry(result, from, to)
    }

    fn caveat(plan: &Plan<Self>) -> Option<String> {
        let (scenario, result) = (&plan.scenario.body, &plan.result);
        let window = result.simulation.as_ref().zip(scenario.simulate.as_ref());
        let window = window.and_then(|(found, settings)| found.window_note(settings.warmup_cycles));
        let rate = scenario.simulate.as_ref().and_then(SimulationSettings::rate_note);
        let ports = port_note(scenario, result);
        let said = [routes_note(scenario, result), failed_note(scenario), window, rate, ports];
        let said: Vec<String> = said.into_iter().flatten().collect();
        (!said.is_empty()).then(|| said.join("; "))
    }

    fn claimed(plan: &Plan<Self>) -> Vec<&'static str> {
        claimed(&plan.result)
    }

    fn report<'a>(
        scenario: &'a Scenario<Self>,
        plan: Option<&'a Plan<Self>>,
    ) -> Result<Box<dyn Report + 'a>, Problems> {
        Ok(Box::new(TpuReport::new(scenario, plan)?))
    }

    fn differences(a: &Plan<Self>, b: &Plan<Self>) -> Differences {
        crate::report::differences::of(a, b)
    }

    fn circuits(plan: &Plan<Self>) -> Option<CircuitMatrix> {
        circuits(&plan.scenario.body, &plan.result)
    }

    fn graph(plan: &Plan<Self>) -> Option<Graph> {
        graph(&plan.scenario.body, &plan.result)
    }
}

/// Limit for the ratio of two maximum channel loads: the load of the routes, divided by the load if traffic could be
/// split ideally over all paths. Above this limit, a remark says that the routes, not the links of the pod, limit a
/// job. With two virtual channels and default settings, all measured pods of 128 to 2048 chips stay below 1.21, so the
/// limit leaves a margin.
pub const LOSSY: f64 = 1.25;

/// Remark for a pod with failed switches: the flow uses the remaining links.
fn failed_note(scenario: &TpuScenario) -> Option<String> {
    if scenario.failed_ocs.is_empty() {
        return None;
    }
    let ids: Vec<String> = scenario.failed_ocs.iter().map(ToString::to_string).collect();
    Some(format!(
        "hops, flow and routes hold for the pod without switch {}; the bound holds for pods with all switches",
        ids.join(", ")
    ))
}

/// Remark if the throughput of the routes is much lower than the objective (the flow with ideally split traffic);
/// `None` if their ratio is within [`LOSSY`], or if there are no routes.
fn routes_note(scenario: &TpuScenario, result: &TpuResult) -> Option<String> {
    let load = result.routing.as_ref()?.claims.max_channel_load as f64;
    let flow = result.claims.mcf_lower;
    if load * flow <= LOSSY {
        return None;
    }
    let routed = 1.0 / load;
    let torus = baselines::pt_mcf(scenario.pt_shape());
    let below = if routed < torus {
        format!(", less than the torus {}", baselines::named(scenario.pt_shape()))
    } else {
        String::new()
    };
    let remedy = if scenario.vc_count < 2 {
        "allow more virtual channels (vc_count=2)"
    } else if scenario.slack() == 0 {
        "allow longer routes (slack_hops=2)"
    } else {
        "try more passes (route_passes) or another turn_priority"
    };
    Some(format!(
        "the routes carry {routed:.6} flits per cycle and pair{below}, but an ideal flow carries {flow:.6}: \
         the most loaded link has {load} routes, {:.2} times the ideal load; {remedy}",
        load * flow
    ))
}

/// Remark if the ports of the chips limit the simulated rate.
fn port_note(scenario: &TpuScenario, result: &TpuResult) -> Option<String> {
    let settings = scenario.simulate.as_ref()?;
    let load = result.routing.as_ref()?.claims.max_channel_load.max(1) as f64;
    settings.port_note(scenario.nodes().saturating_sub(1) as f64 / (load * settings.cycles_per_flit()))
}

/// Returns the names of the figures that the checker only reports as claimed: only the exact depth recomputes the flow
/// and the results of the simulator; figures of routes can only be recounted if the routes are listed.
fn claimed(result: &TpuResult) -> Vec<&'static str> {
    let unlisted =
        |routing: &Option<Routing>| routing.as_ref().is_none_or(|routing| routing.routes.is_empty());
    let mut names = vec!["mcf_lower", "n_mcf"];
    if result.routing.is_some() && unlisted(&result.routing) {
        names.extend(["max_channel_load", "vc_ratio"]);
    }
    if result.faults.iter().any(|case| unlisted(&case.routing)) {
        names.push("worst_fault_load");
    }
    if result.simulation.is_some() {
        names.push("saturation_flits_per_cycle_per_node");
    }
    names
}

/// A watch that stops work at the deadline of a check.
fn within(depth: Depth) -> StopTest {
    StopTest::new(move || depth.is_over())
}

/// Runs the flit simulator on routes as the method of a plan did: with the settings, the search and the seed of the
/// plan.
///
/// # Errors
/// The reason that the simulator gave no figures.
fn simulate_again(plan: &Plan<Tpu>, routing: &Routing, depth: Depth) -> Result<Simulation, String> {
    let topology = plan.result.topology.topology().map_err(|problem| problem.to_string())?;
    let settings = plan.scenario.body.simulate.clone().unwrap_or_default();
    let search = settings::search(&plan.parameters);
    let seed = settings::route_seed(Streams::new(plan.seed).stream(settings::ROUTE_STREAM));
    let mut watch = within(depth);
    simulate::simulate(&topology, routing, &settings, search, seed, &mut watch).map_err(in_words)
}

/// Routes the pod of a plan as its method did: with the settings and the seed of the plan.
///
/// # Errors
/// The reason that the router gave no routes.
fn route_again(plan: &Plan<Tpu>, depth: Depth) -> Result<Routing, String> {
    let topology = plan.result.topology.topology().map_err(|problem| problem.to_string())?;
    route::route_again(plan, &topology, &mut within(depth)).map_err(in_words)
}

fn in_words(error: MethodError) -> String {
    match error {
        MethodError::Stopped(_) => "the time limit was reached".to_owned(),
        other => other.to_string(),
    }
}

/// Adapts a plan to another scenario: keeps its wiring and the figures of the wiring, and keeps routes and their
/// figures only if they are still valid.
fn carry(result: &TpuResult, from: &TpuScenario, to: &TpuScenario) -> Result<Carried<TpuResult>, String> {
    if from.cubes != to.cubes {
        return Err(format!("the plan is for {} cubes, but the scenario has {}", from.cubes, to.cubes));
    }
    let topology = result.topology.topology().map_err(|problem| problem.to_string())?;
    if let Some(wanted) = to.named_topology().map_err(|problem| problem.to_string())?
        && (0..pod::SWITCHES).any(|switch| wanted.state(switch) != topology.state(switch))
    {
        return Err(format!(
            "the wiring of the plan differs from the topology of the scenario ('{}')",
            to.topology.word()
        ));
    }
    let mut repairs = Vec::new();
    let mut drop = |there: bool, still: bool, what: &str| {
        if there && !still {
            repairs.push(format!("{what} left out: they were made for other settings or by another run"));
        }
        there && still
    };
    if from.failed_ocs != to.failed_ocs {
        return Err("the plan was made for other failed switches".to_owned());
    }
    let same_routes = from.vc_count == to.vc_count;
    let same_search = same_routes && from.slack() == to.slack() && from.turn_priority == to.turn_priority;
    let routing = drop(result.routing.is_some(), same_search, "routes were");
    let faults = drop(!result.faults.is_empty(), same_search, "the cases of failed switches were");
    // Figures of the simulator depend on the seed of the run that measured them, and the next run has another seed.
    let measured = result.faults.iter().any(|case| case.saturation_flits_per_cycle_per_node.is_some());
    drop(result.simulation.is_some() || measured, false, "figures of the simulator were");
    let without_saturation =
        |case: &FaultCase| FaultCase { saturation_flits_per_cycle_per_node: None, ..case.clone() };
    let parts = PodParts {
        topology,
        hops: Hops { hop_sum: result.claims.hop_sum, diameter: result.claims.diameter },
        certificate: Certificate {
            lower: result.claims.mcf_lower,
            upper: result.claims.mcf_upper,
            class_lengths: result.certificates.class_lengths.clone(),
            link_lengths: result.certificates.link_lengths.clone(),
            rounds: 0,
        },
        routing: result.routing.clone().filter(|_| routing),
        faults: if faults { result.faults.iter().map(without_saturation).collect() } else { Vec::new() },
        simulation: None,
    };
    Ok(Carried { candidate: candidate(parts), repairs })
}

/// Circuits between the cubes, each with its switch and ports: on every switch, the + port of a cube is an A port and
/// the - port of the cube is a B port. Circuits from a cube to itself do not link two pods, so `places` lists them, but
/// `circuits` does not count them.
fn circuits(scenario: &TpuScenario, result: &TpuResult) -> Option<CircuitMatrix> {
    let pod = result.topology.topology().ok()?;
    let mut counts: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    let mut placed = Vec::with_capacity(pod::SWITCHES * pod.cubes());
    for switch in 0..pod::SWITCHES {
        for (cube, &far) in pod.state(switch).iter().enumerate() {
            let (a, b) = (cube as u32, u32::from(far));
            placed.push(PlacedCircuit { switch: switch as u32, pod_a: a, port_a: 0, pod_b: b, port_b: 0 });
            if a != b {
                *counts.entry((a.min(b), a.max(b))).or_default() += 1;
            }
        }
    }
    let one_each = vec![vec![1; pod::SWITCHES]; pod.cubes()];
    let failed_ports = scenario.failed_ocs.iter().flat_map(|&switch| {
        let of =
            move |pod| [false, true].map(|side_b| PlacedPort { switch: switch.into(), pod, side_b, port: 0 });
        (0..pod.cubes() as u32).flat_map(of)
    });
    let failed_ports: Vec<PlacedPort> = failed_ports.collect();
    let settings: SimulationSettings = scenario.simulate.clone().unwrap_or_default();
    Some(CircuitMatrix {
        circuit_gbps: Some(8.0 * settings.link_gbyte_per_s),
        places: Some(CircuitPlaces {
            ports_a: one_each.clone(),
            ports_b: one_each,
            sides: ["the + ports of the cubes", "the - ports"].map(str::to_owned),
            circuits: placed,
            failed_ports,
            fixed: true,
            single_sided: false,
            before: None,
        }),
        left_out: ["the routes and their virtual channels", "the throughput and its bounds"]
            .map(str::to_owned)
            .to_vec(),
        pods: (0..pod.cubes()).map(|cube| format!("cube {cube}")).collect(),
        ports_per_pod: vec![2 * pod::SWITCHES as u32; pod.cubes()],
        failed_ports: Vec::new(),
        circuits: counts.into_iter().map(|((a, b), count)| (a, b, count)).collect(),
    })
}

/// Chips and links with the rates and delays that the simulator uses: a hop takes the delay of its link and the delay
/// of a router.
fn graph(scenario: &TpuScenario, result: &TpuResult) -> Option<Graph> {
    let pod = result.topology.topology().ok()?.failing(&scenario.failed_ocs);
    let settings: SimulationSettings = scenario.simulate.clone().unwrap_or_default();
    let delay_s =
        |cycles: u32| f64::from(cycles + settings.router_latency_cycles) / (settings.clock_ghz * 1e9);
    let (electrical_s, optical_s) =
        (delay_s(settings.link_latency_electrical_cycles), delay_s(settings.link_latency_optical_cycles));
    let names = (0..pod.nodes() as u32).map(|node| {
        let (cube, chip) = pod::parts(node);
        let [x, y, z] = pod::position(chip);
        format!("cube {cube} chip {x},{y},{z}")
    });
    let mut links = Vec::with_capacity(PORTS * pod.nodes());
    for node in 0..pod.nodes() as u32 {
        for port in 0..PORTS as u8 {
            if !pod.is_open(node, port) {
                continue;
            }
            let inside = pod::electrical((node as usize % CHIPS) as u8, port).is_some();
            links.push(GraphLink {
                from: node,
                to: pod.neighbour(node, port),
                capacity_gbps: 8.0 * settings.link_gbyte_per_s,
                latency_s: if inside { electrical_s } else { optical_s },
            });
        }
    }
    Some(Graph { nodes: names.collect(), links, ..Graph::default() })
}

#[cfg(test)]
mod tests;
