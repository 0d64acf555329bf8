//! The independent checker of pods.
//!
//! The checker shares only the types of scenarios and plans with the rest of the crate. The checker derives the wiring
//! from the states of the switches, computes shortest paths, follows every route and checks the dependencies between
//! channels with its own code.

mod bound;
mod claims;
mod cover;
mod faults;
mod flow;
mod group;
mod metrics;
mod network;
mod rerouted;
mod routes;
mod scenario;
mod simulation;
mod wiring;

#[cfg(test)]
mod tests;

use crate::plan::{Routing, Simulation, TpuResult};
use crate::scenario::TpuScenario;
use lightbay_core::checked::{BoundTrust, Findings, Verdict, VerifiedBound, compare_metrics};
use lightbay_core::kind::{Depth, Sense};
use std::collections::BTreeMap;

/// Rules that a plan can break.
pub mod code {
    /// A number of the plan is not finite.
    pub const SCHEMA: &str = "schema";
    /// The pod differs from the pod that the scenario names.
    pub const SCENARIO: &str = "scenario";
    /// A switch is missing, listed twice or in the wrong place.
    pub const TOPOLOGY: &str = "topology";
    /// The state of a switch is not a permutation of the cubes.
    pub const PERMUTATION: &str = "permutation";
    /// Two links join the same chips.
    pub const PARALLEL: &str = "parallel_links";
    /// The multiplication table of the symmetry is not a group, or the states of the switches do not follow from the
    /// voltages.
    pub const SYMMETRY: &str = "symmetry";
    /// Some chips cannot be reached.
    pub const CONNECTED: &str = "connected";
    /// The claimed sum of hops, diameter or average is wrong.
    pub const HOPS: &str = "hops";
    /// The claimed lower and upper end of the MCF (maximum concurrent flow) contradict each other or the hop bound.
    pub const MCF: &str = "mcf";
    /// The claimed upper end of the MCF is below what its certificate proves.
    pub const CERTIFICATE: &str = "certificate";
    /// The objective or a metric that the plan states outside its result differs from the same figure in the result.
    pub const METRICS: &str = "metrics";
    /// The claimed bound on all pods of the size is below the throughput of a known pod of this size.
    pub const BOUND: &str = "bound";
    /// A pair of chips has no route, or several.
    pub const PAIR: &str = "pair";
    /// A route uses a port or virtual channel that does not exist, ends elsewhere, or visits a chip twice.
    pub const ROUTE: &str = "route";
    /// A route crosses a failed switch.
    pub const FAILED: &str = "failed_switch";
    /// The channel dependencies of the routes contain a cycle, so the routes can deadlock.
    pub const DEADLOCK: &str = "deadlock";
    /// The claimed loads or hops of routes are wrong.
    pub const LOAD: &str = "load";
    /// The cases of failed switches are incomplete or contradict themselves.
    pub const FAULTS: &str = "faults";
    /// Figures of the simulator are impossible.
    pub const SIMULATION: &str = "simulation";
}

/// Claims of a plan that are stored outside its result.
#[derive(Clone, Copy, Debug)]
pub struct Envelope<'a> {
    /// Objective value of the plan.
    pub value: f64,
    /// Claimed upper bound of the objective over all pods of the size.
    pub bound: Option<f64>,
    /// The pods for which the bound holds; `None` if the bound holds for all pods of the size.
    pub bound_covers: Option<&'a str>,
    /// Name of the method that claims the bound.
    pub method: &'a str,
    /// `true` if the run of the method was not stopped early, so that the plan must contain everything that the
    /// scenario requires.
    pub is_whole: bool,
    /// The parameter `with_routes` of the method, if it was given.
    pub with_routes: Option<bool>,
    /// Figures of the plan by name.
    pub metrics: &'a BTreeMap<String, f64>,
}

/// Function that runs the flit simulator on given routes with the settings and the seed of the plan, within the time
/// limit of the depth (usual or exact) of the check.
///
/// # Errors
/// The reason that the simulator gave no figures.
pub type SimulateAgain<'a> = &'a dyn Fn(&Routing, Depth) -> Result<Simulation, String>;

/// Function that routes the pod with the router of the methods and the settings and the seed of the plan, within the
/// time limit of the depth (usual or exact) of the check.
///
/// # Errors
/// The reason that the router gave no routes.
pub type Router<'a> = &'a dyn Fn(Depth) -> Result<Routing, String>;

/// Number of chips up to which all plans list their routes by default; plans of larger tori may omit them.
const LISTED_UP_TO: usize = 1024;
/// Relative tolerance of figures that are sums and quotients of whole numbers.
const EXACT: f64 = 1e-9;
/// A claimed flow is confirmed if the recomputed flow is smaller by at most this fraction, because the solution of a
/// linear program is only as exact as the tolerance of the solver (1e-7). Whether a claim exceeds an upper bound on the
/// flow is tested with [`EXACT`].
const SOLVED: f64 = 1e-6;

/// Returns `true` if a claim differs from the exact figure.
fn off(claimed: f64, exact: f64) -> bool {
    (claimed - exact).abs() > EXACT * exact.abs().max(1e-12)
}

/// Checks a plan for a pod.
pub fn check(
    scenario: &TpuScenario,
    result: &TpuResult,
    envelope: &Envelope<'_>,
    simulator: SimulateAgain<'_>,
    router: Router<'_>,
    depth: Depth,
) -> Verdict {
    let mut found = Findings::default();
    let mut remarks = Vec::new();
    claims::finite(result, envelope, &mut found);
    if !found.is_empty() {
        return refused(found);
    }
    let Some(wiring) =
        wiring::of(&result.topology, usize::from(scenario.cubes), &scenario.failed_ocs, &mut found)
    else {
        return refused(found);
    };
    let group = group::of(&result.topology, &wiring, &mut found);
    scenario::compare(scenario, &wiring, &mut found);
    let hops = claims::hops(&wiring, group, &result.claims, &mut found);
    if let Some(hops) = hops {
        claims::mcf(&wiring, group, hops, result, depth, &mut found, &mut remarks);
    }
    metrics::objective(result, envelope, &mut found);
    let pod = routes::Pod { wiring: &wiring, group, vc_count: scenario.vc_count, hop_sum: hops.unwrap_or(0) };
    if let Some(routing) = &result.routing {
        if routing.routes.is_empty() && envelope.with_routes.unwrap_or(wiring.nodes() <= LISTED_UP_TO) {
            found.add(code::PAIR, "no route is listed, although 'with_routes' is not false");
        }
        let avoided = &scenario.failed_ocs;
        routes::check(&pod, routing, avoided, result.claims.mcf_upper, "routing", &mut found);
        rerouted::check(routing, router, depth, &mut found, &mut remarks);
    }
    faults::check(&pod, scenario, result, &mut found, &mut remarks);
    if depth.is_exact() && hops.is_some() {
        flow::check(&wiring, group, result, envelope.bound, depth, &mut found, &mut remarks);
    } else {
        remarks.push(
            "mcf_lower is not verified; `lightbay check --exact` recomputes a flow of that value".to_owned(),
        );
    }
    let proven = bound::check(&wiring, envelope, depth, &mut found, &mut remarks);
    simulation::asked(scenario, result, envelope.is_whole, &mut found, &mut remarks);
    simulation::check(scenario, result, simulator, depth, &mut found, &mut remarks);
    let mut violations = found.finish();
    violations.extend(compare_metrics(envelope.metrics, &metrics::figures(wiring.nodes(), result)));
    if !violations.is_empty() {
        return Verdict::refused(violations);
    }
    let bound = match envelope.bound {
        Some(claimed) if claimed >= proven * (1.0 - EXACT) => BoundTrust::Verified,
        Some(_) => BoundTrust::Claimed,
        None => BoundTrust::None,
    };
    Verdict {
        violations,
        bound,
        verified: Some(VerifiedBound::of(Sense::Max, envelope.value, proven, None)),
        wider: None,
        remarks,
    }
}

fn refused(found: Findings) -> Verdict {
    Verdict::refused(found.finish())
}
