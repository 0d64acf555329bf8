//! The kind `tpu`: ties scenario, result, checker and hot starts to the contract of the core.

use crate::assemble::{Parts, candidate};
use crate::check::{self, Envelope};
use crate::mcf::Certificate;
use crate::metrics::Hops;
use crate::plan::TpuResult;
use crate::pod::{self, CHIPS, PORTS};
use crate::scenario::{self, SimulationSettings, TopologyChoice, TpuScenario};
use lightbay_core::checked::Verdict;
use lightbay_core::exchange::{CircuitMatrix, Graph, GraphLink};
use lightbay_core::kind::{Carried, Depth, Kind, ObjectiveInfo, Sense};
use lightbay_core::param::{ParamInfo, ParamValue};
use lightbay_core::plan::Plan;
use lightbay_core::problem::{Problem, Problems};
use lightbay_core::read::Fields;
use std::collections::BTreeMap;

/// Topologies, routes and faults of TPU pods (TONS).
#[derive(Debug)]
pub struct Tpu;

impl Kind for Tpu {
    const NAME: &'static str = "tpu";
    const OBJECTIVE: ObjectiveInfo = ObjectiveInfo { name: "mcf_lower", sense: Sense::Max };
    const DEFAULT_METHOD: &'static str = "tons-fast";

    type Scenario = TpuScenario;
    type Result = TpuResult;

    fn read_scenario(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<TpuScenario> {
        TpuScenario::read(fields, problems)
    }

    fn read_result(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<TpuResult> {
        TpuResult::read(fields, problems)
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

    fn knobs(_scenario: Option<&TpuScenario>) -> Vec<ParamInfo> {
        scenario::knobs().to_vec()
    }

    fn knob(scenario: &TpuScenario, name: &str) -> Option<ParamValue> {
        scenario.get(name)
    }

    fn set_knob(
        scenario: &mut TpuScenario,
        name: &str,
        index: Option<usize>,
        value: &ParamValue,
    ) -> Result<(), Problem> {
        scenario.set(name, index, value)
    }

    fn check(plan: &Plan<Self>, depth: Depth) -> Verdict {
        let envelope = Envelope {
            value: plan.objective.value,
            bound: plan.objective.bound,
            method: &plan.method,
            metrics: &plan.metrics,
        };
        check::check(&plan.scenario.body, &plan.result, &envelope, depth)
    }

    fn carry(result: &TpuResult, from: &TpuScenario, to: &TpuScenario) -> Result<Carried<TpuResult>, String> {
        carry(result, from, to)
    }

    fn circuits(plan: &Plan<Self>) -> Option<CircuitMatrix> {
        circuits(&plan.result)
    }

    fn graph(plan: &Plan<Self>) -> Option<Graph> {
        graph(&plan.scenario.body, &plan.result)
    }
}

/// A plan on another scenario: its wiring and what is known of it stay, routes and what follows from them only if
/// they still answer the question.
fn carry(result: &TpuResult, from: &TpuScenario, to: &TpuScenario) -> Result<Carried<TpuResult>, String> {
    if from.cubes != to.cubes {
        return Err(format!("the plan is for {} cubes, the scenario has {}", from.cubes, to.cubes));
    }
    let topology = result.topology.topology().map_err(|problem| problem.to_string())?;
    if let Some(wanted) = to.named_topology().map_err(|problem| problem.to_string())?
        && (0..pod::SWITCHES).any(|switch| wanted.state(switch) != topology.state(switch))
    {
        return Err(format!(
            "the plan is wired in another way than the topology of the scenario ('{}')",
            to.topology.word()
        ));
    }
    let mut repairs = Vec::new();
    let mut drop = |there: bool, still: bool, what: &str| {
        if there && !still {
            repairs.push(format!("{what} left out: they were made for other settings"));
        }
        there && still
    };
    let same_routes = from.vc_count == to.vc_count && from.failed_ocs == to.failed_ocs;
    let same_search = same_routes && from.slack() == to.slack() && from.turn_priority == to.turn_priority;
    let routing = drop(result.routing.is_some(), same_search, "routes were");
    let faults = drop(!result.faults.is_empty(), same_search, "the cases of failed switches were");
    let simulated = same_search && from.simulate == to.simulate;
    let simulation = drop(result.simulation.is_some(), simulated, "figures of the simulator were");
    let parts = Parts {
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
        faults: if faults { result.faults.clone() } else { Vec::new() },
        simulation: result.simulation.clone().filter(|_| simulation),
    };
    Ok(Carried { candidate: candidate(parts), repairs })
}

/// Circuits between the cubes. Circuits that wrap inside one cube are no links between pods and are left out.
fn circuits(result: &TpuResult) -> Option<CircuitMatrix> {
    let pod = result.topology.topology().ok()?;
    let mut counts: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    for switch in 0..pod::SWITCHES {
        for (cube, &far) in pod.state(switch).iter().enumerate() {
            let (a, b) = (cube as u32, u32::from(far));
            if a != b {
                *counts.entry((a.min(b), a.max(b))).or_default() += 1;
            }
        }
    }
    Some(CircuitMatrix {
        pods: (0..pod.cubes()).map(|cube| format!("cube {cube}")).collect(),
        ports_per_pod: vec![2 * pod::SWITCHES as u32; pod.cubes()],
        circuits: counts.into_iter().map(|((a, b), count)| (a, b, count)).collect(),
    })
}

/// Chips and links with the rates and delays that the simulator uses: a hop costs its link and a router.
fn graph(scenario: &TpuScenario, result: &TpuResult) -> Option<Graph> {
    let pod = result.topology.topology().ok()?;
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
            let inside = pod::electrical((node as usize % CHIPS) as u8, port).is_some();
            links.push(GraphLink {
                from: node,
                to: pod.neighbour(node, port),
                capacity_gbps: 8.0 * settings.link_gbyte_per_s,
                latency_s: if inside { electrical_s } else { optical_s },
            });
        }
    }
    Some(Graph { nodes: names.collect(), links })
}

#[cfg(test)]
mod tests;
