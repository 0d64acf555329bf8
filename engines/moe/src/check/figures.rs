//! Recomputes the time of the iteration, cost, bound and metrics.

use super::demand::Dispatch;
use super::fabrics::{PATCHED, least_on_circuits, times};
use super::sizes::Sizes;
use super::{Findings, RegionEnvelope, claims, code, compare_figure};
use crate::plan::{FabricKind, LayerPhase, MoeResult, RoutePath};
use crate::scenario::MoeScenario;
use lightbay_core::checked::{Figure, SAME};
use lightbay_core::kind::Depth;
use lightbay_core::problem::printable;

/// Lower bounds on the time of an iteration, ms.
pub(super) struct Floors {
    /// Bound that holds for every network.
    pub(super) all: f64,
    /// Bound that holds for all circuits of the region, if the plan has circuits.
    pub(super) on_circuits: Option<f64>,
}

/// Checks that every number is finite.
pub(super) fn finite(result: &MoeResult, envelope: &RegionEnvelope<'_>, found: &mut Findings) {
    let mut number = |name: &str, value: f64| {
        if !value.is_finite() {
            found.add(code::SCHEMA, format!("'{name}' is {value}, but must be a finite number"));
        }
    };
    number("objective.value", envelope.value);
    number("objective.bound", envelope.bound.unwrap_or(0.0));
    for (name, value) in envelope.metrics {
        number(&format!("metrics.{name}"), *value);
    }
    for layer in &result.layers {
        let bytes = layer.demand_bytes.iter().flatten().chain(layer.routes.iter().map(|route| &route.bytes));
        bytes.for_each(|bytes| number("bytes", *bytes));
    }
}

/// Returns the time of the exchange of the gradients, ms; `None` if the gradients have no path.
fn gradients(sizes: &Sizes, fabric: FabricKind) -> Option<f64> {
    let model = sizes.model;
    let [hidden, kv, tp, ep] = [model.hidden, model.kv_width, model.tp, model.ep].map(f64::from);
    let layers = sizes.layers as f64;
    let own = f64::from(model.experts) / f64::from(model.ep.max(1)) * 3.0 * hidden * f64::from(model.ffn);
    let shared =
        hidden * (2.0 * hidden + 2.0 * kv + f64::from(model.experts) + 3.0 * f64::from(model.shared_ffn));
    let (own, shared) = (2.0 * layers * own / tp, 2.0 * layers * shared / tp);
    let ring = |members: f64| if members > 1.0 { 2.0 * (members - 1.0) / members } else { 0.0 };
    let gpus = sizes.gpus as f64;
    let ranks_of_server = (gpus / tp).clamp(1.0, ep.max(1.0));
    let rate = match fabric {
        FabricKind::FatTree | FabricKind::Rail => {
            // Every GPU has its part of the working NICs of its server.
            let rate = sizes.least(|server| sizes.working(server)) * sizes.link / gpus;
            let bytes = ring(sizes.replicas) * own + ring(sizes.replicas * ep) * shared;
            return if bytes == 0.0 { Some(0.0) } else { (rate > 0.0).then(|| bytes / rate) };
        }
        // A ring waits for its slowest server.
        FabricKind::Mfabric => sizes.least(|server| sizes.packets(server)),
        FabricKind::Topoopt => sizes.least(|server| (sizes.working(server) - PATCHED).max(0.0) * sizes.link),
        FabricKind::Pooled => sizes.least(|server| sizes.fastest(server)),
    };
    let bytes = ranks_of_server * tp * ring(sizes.replicas) * own
        + tp * ring(sizes.replicas * ep / ranks_of_server) * shared;
    if bytes == 0.0 { Some(0.0) } else { (rate > 0.0).then(|| bytes / rate) }
}

/// Returns the time of an iteration on a network without regional circuits, ms.
fn elsewhere(scenario: &MoeScenario, sizes: &Sizes, fabric: FabricKind, demands: &[Dispatch]) -> Option<f64> {
    let exchanges = demands.iter().map(|demand| Some(4.0 * times(sizes, fabric, demand)?.all_to_all_ms));
    Some(whole(scenario, sizes, exchanges.sum::<Option<f64>>()?, gradients(sizes, fabric)?))
}

/// Returns a lower bound on the time of an iteration on any circuits of a region, without stalls, ms; `None` if the
/// gradients have no path.
pub(super) fn on_circuits(
    scenario: &MoeScenario,
    sizes: &Sizes,
    demands: &[Dispatch],
    is_strict: bool,
    depth: Depth,
) -> Option<f64> {
    let gradients = gradients(sizes, FabricKind::Mfabric)?;
    let exchanges = super::exact::exchanges_ms(sizes, demands, is_strict, depth);
    Some(whole(scenario, sizes, exchanges, gradients))
}

/// Returns the time of all micro-batches through all stages and of the gradient reduction, ms.
fn whole(scenario: &MoeScenario, sizes: &Sizes, exchanges: f64, gradients: f64) -> f64 {
    let steps = f64::from(scenario.cluster.micro_batches) + f64::from(sizes.model.pp) - 1.0;
    let compute = 3.0 * sizes.layers as f64 * (sizes.compute.iter().sum::<f64>() + sizes.tensor);
    steps * (compute + exchanges) + gradients
}

/// Checks iteration, cost, objective and bound; returns the lower bounds, or `None` if they cannot be computed.
pub(super) fn check(
    scenario: &MoeScenario,
    sizes: &Sizes,
    result: &MoeResult,
    demands: &[Dispatch],
    envelope: &RegionEnvelope<'_>,
    found: &mut Findings,
) -> Option<Floors> {
    let plan = &result.iteration;
    let layers = sizes.layers as f64;
    let (mut exchanges, mut stalls, mut packets) = (0.0, 0.0, 0.0);
    for layer in &result.layers {
        for phase in LayerPhase::EXCHANGES {
            let other = layer.other_exchanges.iter().find(|other| other.phase == phase);
            let (times, routes) =
                other.map_or((&layer.all_to_all, &layer.routes), |other| (&other.all_to_all, &other.routes));
            exchanges += times.all_to_all_ms;
            let spilled = routes.iter().filter(|route| route.path == RoutePath::Eps);
            packets += spilled.map(|route| route.bytes).sum::<f64>();
        }
        stalls += layer.timeline.reconfigurations.iter().map(|change| change.stall_ms).sum::<f64>();
    }
    let Some(data_parallel) = gradients(sizes, plan.fabric) else {
        found.add(code::ITERATION, "the gradients of the replicas have no path");
        return None;
    };
    let total = whole(scenario, sizes, exchanges + stalls, data_parallel);
    for (name, claimed, exact) in [
        ("compute_ms", plan.compute_ms, 3.0 * layers * sizes.compute.iter().sum::<f64>()),
        ("tensor_parallel_ms", plan.tensor_parallel_ms, 3.0 * layers * sizes.tensor),
        ("all_to_all_ms", plan.all_to_all_ms, exchanges),
        ("stall_ms", plan.stall_ms, stalls),
        ("data_parallel_ms", plan.data_parallel_ms, data_parallel),
        ("iteration_ms", plan.iteration_ms, total),
        ("eps_bytes", plan.eps_bytes, packets),
        ("the objective", envelope.value, total),
    ] {
        compare_figure(found, code::ITERATION, name, claimed, exact);
    }
    if plan.fabric != FabricKind::Mfabric && plan.free_changes != 0 {
        found.add(
            code::CHANGE,
            format!("free_changes is {}, but this network changes no circuits", plan.free_changes),
        );
    }
    let fat_tree = elsewhere(scenario, sizes, FabricKind::FatTree, demands)?;
    costs(scenario, result, fat_tree, found);
    // A free placement of experts might keep all tokens on their servers, so no exchange is certain to take time.
    let certain = if scenario.placement.is_some() { &[] } else { demands };
    let on_circuits = (plan.fabric == FabricKind::Mfabric).then(|| {
        let each = certain.iter().map(|demand| 4.0 * least_on_circuits(sizes, demand, 0.0));
        whole(scenario, sizes, each.sum(), data_parallel)
    });
    let floors = Floors { all: elsewhere(scenario, sizes, FabricKind::Pooled, certain)?, on_circuits };
    bound(result, envelope, &floors, found);
    Some(floors)
}

/// Checks that a claimed bound covers plans like this plan and is not above the highest bound that the method can
/// prove. Only methods that solve an integer program may claim a higher bound than the bound that the checker always
/// proves.
fn bound(result: &MoeResult, envelope: &RegionEnvelope<'_>, floors: &Floors, found: &mut Findings) {
    let Some(bound) = envelope.bound else { return };
    if floors.on_circuits.is_none() || envelope.bound_covers != Some(claims::covered(envelope)) {
        let covers = envelope.bound_covers.unwrap_or("all plans");
        let text = format!("the bound covers '{}', which no bound of this plan can cover", printable(covers));
        found.add(code::BOUND, text);
    }
    let limit = match floors.on_circuits {
        Some(least) if !claims::proves_more(envelope, result) => envelope.value.min(least),
        _ => envelope.value,
    };
    if bound > limit * (1.0 + SAME) {
        let text = format!(
            "the bound is {bound} ms, above {limit} ms, the highest bound that this method can prove"
        );
        found.add(code::BOUND, text);
    }
}

fn costs(scenario: &MoeScenario, result: &MoeResult, fat_tree_ms: f64, found: &mut Findings) {
    let (region, prices, cost) = (&scenario.region, &scenario.prices, &result.cost);
    let Some(row) = prices.rates.iter().find(|row| row.link_gbps == region.link_gbps) else {
        found.add(code::COST, format!("there are no prices for {} Gb/s", region.link_gbps));
        return;
    };
    let mut tiers = row.nic_usd + 6.0 * row.transceiver_usd + 3.0 * prices.fibre_usd + 5.0 * row.eps_port_usd;
    if prices.copper_links {
        tiers += prices.copper_cable_usd - 2.0 * row.transceiver_usd - prices.fibre_usd;
    }
    let light = row.nic_usd + row.transceiver_usd + prices.fibre_usd;
    let nics = f64::from(region.nics_per_server);
    let server = match result.iteration.fabric {
        FabricKind::FatTree | FabricKind::Rail => nics * tiers,
        FabricKind::Topoopt => nics * (light + 2.0 * row.patch_port_usd),
        FabricKind::Mfabric | FabricKind::Pooled => {
            region.eps_nics.len() as f64 * tiers + region.ocs_nics.len() as f64 * (light + row.ocs_port_usd)
        }
    };
    let servers = f64::from(scenario.cluster.servers);
    let ratio = if server * servers > 0.0 { nics * tiers / server } else { 1.0 };
    for (name, claimed, exact) in [
        ("server_usd", cost.server_usd, server),
        ("cluster_usd", cost.cluster_usd, server * servers),
        ("fat_tree_usd", cost.fat_tree_usd, nics * tiers * servers),
        ("fat_tree_ms", cost.fat_tree_ms, fat_tree_ms),
        (
            "performance_per_dollar",
            cost.performance_per_dollar,
            fat_tree_ms / result.iteration.iteration_ms * ratio,
        ),
    ] {
        compare_figure(found, code::COST, name, claimed, exact);
    }
}

/// Returns the metrics that a plan must have.
pub(super) fn metrics(result: &MoeResult) -> Vec<Figure> {
    let (iteration, cost) = (&result.iteration, &result.cost);
    let changes: usize = result.layers.iter().map(|layer| layer.timeline.reconfigurations.len()).sum();
    [
        ("all_to_all_ms", iteration.all_to_all_ms),
        ("stall_ms", iteration.stall_ms),
        ("compute_ms", iteration.compute_ms),
        ("data_parallel_ms", iteration.data_parallel_ms),
        ("to_fat_tree", iteration.iteration_ms / cost.fat_tree_ms),
        ("cluster_usd", cost.cluster_usd),
        ("performance_per_dollar", cost.performance_per_dollar),
        ("reconfigurations", changes as f64),
    ]
    .into_iter()
    .map(|(name, value)| Figure::exactly(name, code::METRICS, value))
    .collect()
}
