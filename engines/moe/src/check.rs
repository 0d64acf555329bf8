//! The independent checker of regional circuits.
//!
//! It shares only the types of scenarios and plans with the rest of the crate. It recomputes the demand from the trace
//! of the scenario and the loads of every NIC from the routes, walks through the exchanges with the installed circuits,
//! and recomputes times, cost and bound.

mod circuits;
mod claims;
mod demand;
mod exact;
mod fabrics;
mod figures;
mod placement;
mod routes;
mod sizes;
mod timeline;

#[cfg(test)]
mod tests;

use crate::plan::{FabricKind, MoeResult, ON_CIRCUITS, ON_STRICT_CIRCUITS};
use crate::scenario::MoeScenario;
use lightbay_core::checked::{BoundTrust, Findings, SAME, Verdict, VerifiedBound, compare_metrics, same};
use lightbay_core::kind::{Depth, Sense};
use lightbay_core::param::Params;
use sizes::Sizes;
use std::collections::BTreeMap;

/// Rules that a plan can break.
pub mod code {
    /// A number of the plan is not finite.
    pub const SCHEMA: &str = "schema";
    /// The plan does not list exactly the layers of the stage with the most layers, in order.
    pub const LAYERS: &str = "layers";
    /// The demand does not follow from the trace.
    pub const DEMAND: &str = "demand";
    /// The placement of experts violates the scenario.
    pub const PLACEMENT: &str = "placement";
    /// A circuit does not join two servers (smaller number first), or the circuits are not sorted.
    pub const CIRCUIT: &str = "circuit";
    /// A circuit uses a NIC that is not connected to the optical switch, or a NIC holds two circuits.
    pub const NIC: &str = "nic";
    /// Parallel circuits are not spread over the NUMA nodes.
    pub const NUMA: &str = "numa";
    /// The action of a circuit does not follow from the circuits of the previous layer.
    pub const ACTION: &str = "action";
    /// A route uses neither a circuit nor packet-switched NICs.
    pub const ROUTE: &str = "route";
    /// The routes do not carry the demand.
    pub const BYTES: &str = "bytes";
    /// A time of an all-to-all does not follow from the routes.
    pub const TIMES: &str = "all_to_all";
    /// The events do not list the phases of a layer in their order.
    pub const TIMELINE: &str = "timeline";
    /// A change of circuits is missing, or its stall is wrong.
    pub const CHANGE: &str = "reconfiguration";
    /// A time of the iteration is wrong.
    pub const ITERATION: &str = "iteration";
    /// A cost is wrong.
    pub const COST: &str = "cost";
    /// The claimed bound is above the highest bound that the method can prove, or is claimed for plans that the
    /// method's bound does not cover.
    pub const BOUND: &str = "bound";
    /// The plan contradicts its method, policy or routing.
    pub const METHOD: &str = "method";
    /// A metric differs from the figure of the same name in the result.
    pub const METRICS: &str = "metrics";
}

/// Claims of a plan file outside its `result`.
#[derive(Clone, Copy, Debug)]
pub struct RegionEnvelope<'a> {
    /// Name of the method.
    pub method: &'a str,
    /// Parameters of the method.
    pub params: &'a Params,
    /// Objective value.
    pub value: f64,
    /// Claimed lower bound.
    pub bound: Option<f64>,
    /// Plans that the bound covers; `None` if it covers all plans.
    pub bound_covers: Option<&'a str>,
    /// Metrics that the plan file states.
    pub metrics: &'a BTreeMap<String, f64>,
}

/// Relative difference up to which two bounds count as equal, because each solver stops at a small gap.
const ALIKE: f64 = 1e-7;

/// Compares a figure with its exact value, up to rounding.
fn compare_figure(
    found: &mut Findings,
    code: &'static str,
    name: impl std::fmt::Display,
    claimed: f64,
    exact: f64,
) {
    if !same(claimed, exact) {
        found.add(code, format!("{name} is {claimed}, but must be {exact}"));
    }
}

/// Checks a plan and returns the verdict. Everything is recomputed except a bound that covers only some plans; only a
/// check at the exact depth also verifies that bound.
pub fn check(
    scenario: &MoeScenario,
    result: &MoeResult,
    envelope: &RegionEnvelope<'_>,
    depth: Depth,
) -> Verdict {
    let mut found = Findings::default();
    figures::finite(result, envelope, &mut found);
    if !found.is_empty() {
        return Verdict::refused(found.finish());
    }
    let sizes = Sizes::of(scenario);
    placement::check(scenario, &sizes, result, &mut found);
    if !found.is_empty() {
        return Verdict::refused(found.finish());
    }
    let demands = demand::of(scenario, &sizes, result);
    demand::compare(result, &demands, &mut found);
    if !found.is_empty() {
        return Verdict::refused(found.finish());
    }
    let mut remarks = placement::doubled(&sizes, result);
    if let Some((layer, reason)) = scenario.impossible_load() {
        remarks.push(format!("the counts of the trace do not fit the model: in layer {layer}, {reason}"));
    }
    let fabric = result.iteration.fabric;
    for (layer, demand) in result.layers.iter().zip(&demands) {
        if fabric == FabricKind::Mfabric {
            routes::check(scenario, &sizes, layer, demand, &mut found);
        } else {
            fabrics::check(&sizes, fabric, layer, demand, &mut found);
        }
    }
    if fabric == FabricKind::Mfabric {
        circuits::check(scenario, result, &mut found);
        circuits::walk(result, &mut found, &mut remarks);
    }
    claims::check(result, envelope, &mut found);
    for layer in &result.layers {
        timeline::check(&sizes, result.layers.len(), layer, &mut found);
    }
    let floors = figures::check(scenario, &sizes, result, &demands, envelope, &mut found);
    let mut violations = found.finish();
    violations.extend(compare_metrics(envelope.metrics, &figures::metrics(result)));
    let Some(floors) = floors.filter(|_| violations.is_empty()) else {
        return Verdict::refused(violations);
    };
    let (mut least, mut covers) = (floors.all, None);
    if let Some(on_circuits) = floors.on_circuits {
        (least, covers) = (on_circuits, Some(ON_CIRCUITS));
        // Experts in blocks fix the demand, and an integer program bounds the time in which circuits of a region carry
        // it.
        if scenario.placement.is_none() && depth.is_exact() {
            let covered = claims::covered(envelope);
            let is_strict = covered == ON_STRICT_CIRCUITS;
            if let Some(found) = figures::on_circuits(scenario, &sizes, &demands, is_strict, depth)
                && found > least
            {
                (least, covers) = (found, Some(covered));
            }
            remarks.extend(depth.not_within("the bound of all layers"));
        }
    }
    let verified = VerifiedBound::of(Sense::Min, envelope.value, least, covers);
    let bound = match envelope.bound {
        None => BoundTrust::None,
        Some(bound) if bound <= least * (1.0 + if depth.is_exact() { ALIKE } else { SAME }) => {
            BoundTrust::Verified
        }
        Some(_) => BoundTrust::Claimed,
    };
    if bound == BoundTrust::Claimed {
        remarks.push(if depth.is_exact() {
            format!("the bound is claimed; the checker's own integer program proves only {least} ms")
        } else {
            "the bound is claimed: it comes from an integer program over the circuits of a region (--exact verifies it)"
                .to_owned()
        });
    }
    remarks.push("times come from an analytic model of flows, not from a packet simulation".to_owned());
    Verdict { violations, bound, verified: Some(verified), wider: None, remarks }
}
