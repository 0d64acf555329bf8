//! Plans from schedules, and plans of networks without regional circuits.

use super::policies::SwitchSchedule;
use super::stage::StageModel;
use crate::model::cost::cost;
use crate::model::demand::{LayerDemand, copies};
use crate::model::fabrics;
use crate::model::iteration::{StageSums, iteration};
use crate::model::rates::RegionRates;
use crate::model::times::LayerTimes;
use crate::placement::{PlacementShape, imbalance};
use crate::plan::{
    AllToAll, CircuitAction, CostPlan, ExpertPlacement, FabricKind, LayerEvent, LayerPhase, LayerPlan,
    LayerTimeline, MoeResult, OtherExchange, Reconfiguration, RegionCircuit, RoutePath, STALL,
};
use crate::scenario::MoeScenario;
use crate::search::routes::Routed;
use lightbay_core::kind::Candidate;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// Reason why a scenario has no plan on a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoPlan(pub String);

impl NoPlan {
    fn gradients(scenario: &MoeScenario, fabric: FabricKind) -> Self {
        let region = &scenario.region;
        let because = match fabric {
            FabricKind::Mfabric => region.first_without_packets(),
            _ => region.first_cut_off(),
        };
        let left = |server: &u32| region.optical_of(*server).len() + region.packet_of(*server).len();
        let fewest = (0..region.servers).min_by_key(left).map(|server| (server, left(&server)));
        let cannot = "the replicas cannot exchange gradients:";
        Self(match (because, fewest) {
            (Some(because), _) => format!("{cannot} {because}; {}", because.remedy()),
            (None, Some((server, nics))) if nics < region.nics_per_server as usize => format!(
                "{cannot} failed_nics leaves server {server} {nics} NICs, and the all-to-alls use all of them; repair a \
                 NIC of this server and remove it from failed_nics"
            ),
            _ => format!("{cannot} no NIC is left for this traffic; give the servers more NICs"),
        })
    }
}

/// Times of the exchanges of a layer, and the changes of circuits before each exchange.
#[derive(Clone, Debug, Default)]
struct LayerSteps {
    exchange_ms: [f64; 4],
    changes: Vec<Reconfiguration>,
}

/// Returns the plan of a schedule of circuits.
///
/// # Errors
/// [`NoPlan`] if the gradients have no path.
pub fn regional(stage: &StageModel, schedule: &SwitchSchedule) -> Result<Candidate<MoeResult>, NoPlan> {
    let (steps, free_changes) = steps(stage, schedule);
    let mut layers = Vec::with_capacity(stage.layers());
    // No circuit is installed before the first layer.
    let mut before: &[RegionCircuit] = &[];
    let mut eps_bytes = 0.0;
    for (layer, demand) in stage.demands.iter().enumerate() {
        let used = schedule.used.get(layer).copied().unwrap_or_default();
        let mut made: BTreeMap<usize, Routed> = BTreeMap::new();
        // One routing for each candidate that the layer uses.
        for at in used {
            if let Entry::Vacant(open) = made.entry(at) {
                open.insert(stage.routed(at, layer).map_err(|pair| NoPlan(pair.to_string()))?);
            }
        }
        let candidates = used.map(|at| (&stage.candidates[at], &made[&at]));
        // The combine represents the layer; all-to-alls on other circuits are listed in addition.
        let [first, combine, third, last] = candidates;
        let (combine, exchange) = combine;
        let phases = [LayerPhase::A2a1, LayerPhase::A2a3, LayerPhase::A2a4];
        let other_exchanges = [first, third, last]
            .into_iter()
            .zip(phases)
            .filter(|((other, _), _)| other.counts != combine.counts)
            .map(|((other, routed), phase)| OtherExchange {
                phase,
                circuits: beside(&other.nics, &combine.nics),
                routes: routed.routes.clone(),
                all_to_all: routed.all_to_all,
            })
            .collect();
        // Adds the bytes of every exchange, even if several exchanges use the same circuits.
        for (_, routed) in candidates {
            let spilled = routed.routes.iter().filter(|route| route.path == RoutePath::Eps);
            eps_bytes += spilled.map(|route| route.bytes).sum::<f64>();
        }
        layers.push(LayerPlan {
            layer: layer as u32,
            demand_bytes: demand.rows(),
            placement: placement(stage, layer),
            circuits: after(&combine.nics, before),
            routes: exchange.routes.clone(),
            all_to_all: exchange.all_to_all,
            other_exchanges,
            timeline: timeline(&stage.times, &steps[layer]),
        });
        before = &combine.nics;
    }
    let sums = StageSums { eps_bytes, ..sums(&steps) };
    finished(&stage.scenario, FabricKind::Mfabric, layers, sums, (free_changes, &stage.demands))
}

/// Returns the experts of the ranks in a layer; `None` if the experts are in blocks.
fn placement(stage: &StageModel, layer: usize) -> Option<ExpertPlacement> {
    let slots = stage.placements.get(layer)?;
    let shape = PlacementShape::of(&stage.scenario);
    let load = stage.expert_loads.get(layer)?;
    Some(ExpertPlacement {
        physical_to_logical: slots.clone(),
        replicas: copies(shape.experts, slots),
        busiest_rank: imbalance(&shape, load, slots),
    })
}

/// Returns, for each layer, its exchanges and the circuit changes whose stall counts; and the number of changes whose
/// stall the policy does not count.
fn steps(stage: &StageModel, schedule: &SwitchSchedule) -> (Vec<LayerSteps>, u32) {
    let mut steps = vec![LayerSteps::default(); stage.layers()];
    // A micro-batch starts with the circuits of the last exchange of the previous micro-batch.
    let mut installed = schedule.used.first().map(|used| used[3]);
    let mut free_changes = 0;
    for (layer, phase) in stage.steps() {
        let Some(candidate) = schedule.candidate(layer, phase) else { continue };
        // If the policy sets circuits that are already installed, no compute phase hides the delay.
        let forced = schedule.is_forced(stage, phase, candidate);
        let changes = installed != Some(candidate);
        if forced || (changes && !schedule.free) {
            let window = if forced { None } else { stage.window(phase, layer, candidate) };
            let (hiding, window_ms) = window.map_or((None, 0.0), |window| (window.phase, window.length_ms));
            // A change is listed even if its window hides it completely.
            steps[layer].changes.push(Reconfiguration {
                before: phase,
                window: hiding.map_or("none", LayerPhase::word).to_owned(),
                delay_ms: stage.delay_ms(),
                window_ms,
                stall_ms: (stage.delay_ms() - window_ms).max(0.0),
            });
        // The policy 'paper' charges only the change before the dispatch.
        } else if changes {
            free_changes += 1;
        }
        if let Some(at) = LayerPhase::EXCHANGES.iter().position(|known| *known == phase) {
            steps[layer].exchange_ms[at] = stage.exchange_ms(candidate, layer);
        }
        installed = Some(candidate);
    }
    (steps, free_changes)
}

/// Returns the circuits with their actions relative to the previous circuits.
fn after(nics: &[RegionCircuit], before: &[RegionCircuit]) -> Vec<RegionCircuit> {
    let mut found = beside(nics, before);
    let gone = before.iter().filter(|old| !nics.contains(old));
    found.extend(gone.map(|old| RegionCircuit { action: CircuitAction::Remove, ..*old }));
    found.sort_unstable();
    found
}

/// Returns the circuits `nics` with their actions: "keep" for a circuit that is also among `others`, otherwise "add".
fn beside(nics: &[RegionCircuit], others: &[RegionCircuit]) -> Vec<RegionCircuit> {
    let action = |circuit| if others.contains(circuit) { CircuitAction::Keep } else { CircuitAction::Add };
    nics.iter().map(|circuit| RegionCircuit { action: action(circuit), ..*circuit }).collect()
}

/// Returns the events of a layer in sequence from time 0.
fn timeline(times: &LayerTimes, steps: &LayerSteps) -> LayerTimeline {
    // Backward work takes twice as long as forward.
    let [one, two, three, four] = steps.exchange_ms;
    let lengths = [
        times.attention_ms,
        times.gate_ms,
        one,
        times.expert_ms,
        two,
        2.0 * times.gate_ms,
        three,
        2.0 * times.expert_ms,
        four,
        2.0 * times.attention_ms,
    ];
    let mut events = Vec::new();
    let mut now = 0.0;
    let mut event = |phase: String, length: f64| {
        events.push(LayerEvent { phase, start_ms: now, end_ms: now + length });
        now += length;
    };
    // A stall longer than 0 becomes a separate event before the phase.
    for ((name, phase), length) in LayerPhase::ALL.into_iter().zip(lengths) {
        let change = steps.changes.iter().find(|change| change.before == phase);
        if let Some(change) = change.filter(|change| change.stall_ms > 0.0) {
            event(format!("{STALL}{name}"), change.stall_ms);
        }
        event(name.to_owned(), length);
    }
    LayerTimeline { events, reconfigurations: steps.changes.clone() }
}

fn sums(steps: &[LayerSteps]) -> StageSums {
    let stalls = steps.iter().flat_map(|step| &step.changes).map(|change| change.stall_ms);
    StageSums {
        all_to_all_ms: steps.iter().flat_map(|step| step.exchange_ms).sum(),
        // `sum` would give -0 if there are no stalls.
        stall_ms: stalls.fold(0.0, |sum, stall_ms| sum + stall_ms),
        eps_bytes: 0.0,
    }
}

/// Returns the plan of a network without regional circuits.
///
/// # Errors
/// [`NoPlan`] if the gradients or some pair of servers have no path.
pub fn fabric(scenario: &MoeScenario, fabric: FabricKind) -> Result<Candidate<MoeResult>, NoPlan> {
    let history = scenario.history(0);
    let (rates, times) = (RegionRates::of(scenario), LayerTimes::of(scenario));
    let mut demands = Vec::with_capacity(history.layers);
    let mut layers = Vec::with_capacity(history.layers);
    let mut all = Vec::with_capacity(history.layers);
    for layer in 0..history.layers {
        // All four exchanges of a layer take the same time: on these networks a demand takes as long as its transpose.
        let demand = LayerDemand::of(scenario, &history, layer);
        let exchange: AllToAll = fabrics::all_to_all(fabric, &demand, &rates)
            .ok_or_else(|| NoPlan("some servers of the region cannot reach each other".to_owned()))?;
        let steps = LayerSteps { exchange_ms: [exchange.all_to_all_ms; 4], changes: Vec::new() };
        layers.push(LayerPlan {
            layer: layer as u32,
            demand_bytes: demand.rows(),
            placement: None,
            circuits: Vec::new(),
            routes: Vec::new(),
            all_to_all: exchange,
            other_exchanges: Vec::new(),
            timeline: timeline(&times, &steps),
        });
        all.push(steps);
        demands.push(demand);
    }
    finished(scenario, fabric, layers, sums(&all), (0, &demands))
}

/// Returns the time of an iteration on a network without regional circuits, ms.
///
/// # Errors
/// As [`fabric`].
pub fn fabric_ms(scenario: &MoeScenario, kind: FabricKind) -> Result<f64, NoPlan> {
    let history = scenario.history(0);
    let demands = (0..history.layers).map(|layer| LayerDemand::of(scenario, &history, layer));
    fabric_ms_of(scenario, kind, &demands.collect::<Vec<_>>())
}

/// Returns the time of an iteration as [`fabric_ms`] does, but from the given demand of every layer.
///
/// # Errors
/// As [`fabric`].
pub fn fabric_ms_of(
    scenario: &MoeScenario,
    kind: FabricKind,
    demands: &[LayerDemand],
) -> Result<f64, NoPlan> {
    let rates = RegionRates::of(scenario);
    let mut all_to_all_ms = 0.0;
    for demand in demands {
        let exchange = fabrics::all_to_all(kind, demand, &rates);
        let exchange = exchange.ok_or_else(|| NoPlan("some servers cannot reach each other".to_owned()))?;
        // Four exchanges: dispatch and combine, forward and backward.
        all_to_all_ms += 4.0 * exchange.all_to_all_ms;
    }
    let sums = StageSums { all_to_all_ms, ..StageSums::default() };
    Ok(iteration(scenario, kind, sums, 0).ok_or_else(|| NoPlan::gradients(scenario, kind))?.iteration_ms)
}

/// Returns a lower bound on the time of an iteration on circuits of the region, ms: minimum times of all exchanges, and
/// no stall. `exchanges_ms` are tighter known lower bounds on the exchanges between servers.
///
/// # Errors
/// [`NoPlan`] if the gradients have no path.
pub fn least_on_circuits(
    scenario: &MoeScenario,
    demands: &[LayerDemand],
    exchanges_ms: &[f64],
) -> Result<f64, NoPlan> {
    let rates = RegionRates::of(scenario);
    // Layers without a given bound use 0.
    let known = exchanges_ms.iter().copied().chain(std::iter::repeat(0.0));
    let each = demands.iter().zip(known);
    let all_to_all_ms =
        each.map(|(demand, least)| 4.0 * fabrics::least_on_circuits_ms(demand, &rates, least)).sum();
    let sums = StageSums { all_to_all_ms, ..StageSums::default() };
    Ok(iteration(scenario, FabricKind::Mfabric, sums, 0)
        .ok_or_else(|| NoPlan::gradients(scenario, FabricKind::Mfabric))?
        .iteration_ms)
}

fn finished(
    scenario: &MoeScenario,
    fabric: FabricKind,
    layers: Vec<LayerPlan>,
    sums: StageSums,
    (free_changes, demands): (u32, &[LayerDemand]),
) -> Result<Candidate<MoeResult>, NoPlan> {
    let iteration =
        iteration(scenario, fabric, sums, free_changes).ok_or_else(|| NoPlan::gradients(scenario, fabric))?;
    let fat_tree_ms = fabric_ms_of(scenario, FabricKind::FatTree, demands)?;
    let cost = cost(scenario, fabric, iteration.iteration_ms, fat_tree_ms)
        .ok_or_else(|| NoPlan("the parts have no prices".to_owned()))?;
    let result = MoeResult { layers, iteration, cost };
    Ok(Candidate { value: iteration.iteration_ms, metrics: metrics(&result), result })
}

/// Returns the figures of a plan for comparison, by name.
fn metrics(result: &MoeResult) -> BTreeMap<String, f64> {
    let MoeResult { iteration, cost, layers } = result;
    let changes: usize = layers.iter().map(|layer| layer.timeline.reconfigurations.len()).sum();
    let CostPlan { cluster_usd, performance_per_dollar, fat_tree_ms, .. } = *cost;
    [
        ("all_to_all_ms", iteration.all_to_all_ms),
        ("stall_ms", iteration.stall_ms),
        ("compute_ms", iteration.compute_ms),
        ("data_parallel_ms", iteration.data_parallel_ms),
        ("to_fat_tree", iteration.iteration_ms / fat_tree_ms),
        ("cluster_usd", cluster_usd),
        ("performance_per_dollar", performance_per_dollar),
        ("reconfigurations", changes as f64),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value))
    .collect()
}
