//! Routes of a chosen topology, and routes around every failed switch.

use super::begin::invalid;
use super::finish::{Chosen, Torus};
use super::settings::{FinishSteps, ROUTE_STREAM, RouteKind, route_seed};
use crate::Tpu;
use crate::methods::assemble::PodParts;
use crate::model::topology::Topology;
use crate::plan::Routing;
use crate::routing::faults;
use crate::routing::{self, FoundRoutes, RouteError, dor};
use crate::simulate;
use lightbay_core::context::Context;
use lightbay_core::event::Severity;
use lightbay_core::method::MethodError;
use lightbay_core::plan::Plan;
use lightbay_core::random::Streams;
use lightbay_core::watch::{Unwatched, Watch};

/// Routes and, if they were computed from allowed turns and not in dimension order, the data from which a fault sweep
/// starts.
pub(super) struct Routes {
    pub(super) routing: Routing,
    pub(super) found: Option<FoundRoutes>,
}

/// Routes a pod according to the parameters, and reports the phase.
///
/// # Errors
/// Pairs that no allowed route serves, or the reason to stop.
pub(super) fn route(
    pod: &Topology,
    torus: Option<Torus>,
    wanted: &FinishSteps,
    cx: &mut Context<'_, Tpu>,
) -> Result<Routes, RouteError> {
    let how =
        if wanted.routing == RouteKind::DimensionOrder { "in dimension order" } else { "by allowed turns" };
    cx.phase("route", format!("{} chips {how}", pod.nodes()));
    routes(pod, torus, wanted, cx)
}

/// Routes a pod as the method of a plan did, with the settings and the seed of the plan.
///
/// # Errors
/// Settings that give no routes, or the reason to stop.
pub fn route_again(plan: &Plan<Tpu>, pod: &Topology, watch: &mut impl Watch) -> Result<Routing, MethodError> {
    let scenario = &plan.scenario.body;
    let torus = match plan.method.as_str() {
        "pt" => Some(Torus { shape: scenario.pt_shape(), twisted: false }),
        "pdtt" => Some(Torus { shape: scenario.pdtt_shape().map_err(invalid)?, twisted: true }),
        _ => super::evaluate::torus(scenario)?,
    };
    let seed = route_seed(Streams::new(plan.seed).stream(ROUTE_STREAM));
    let chosen = Chosen { torus, ..Chosen::new(pod.clone(), "plan") };
    let wanted = FinishSteps::of(&plan.parameters, scenario, &chosen, seed)?;
    Ok(routes(pod, torus, &wanted, watch)?.routing)
}

fn routes(
    pod: &Topology,
    torus: Option<Torus>,
    wanted: &FinishSteps,
    watch: &mut impl Watch,
) -> Result<Routes, RouteError> {
    if let (RouteKind::DimensionOrder, Some(torus)) = (wanted.routing, torus) {
        let settings = dor::DorSettings {
            failed: wanted.settings.failed.clone(),
            with_routes: wanted.with_routes || wanted.simulate.is_some(),
            ..dor::DorSettings::default()
        };
        match dor::route(pod, torus.shape, torus.twisted, &settings, watch) {
            Ok(routing) => return Ok(Routes { routing, found: None }),
            // A failed switch interrupts dimension-order routes, so routes by allowed turns are used.
            Err(RouteError::Unreachable(_)) if !wanted.settings.failed.is_empty() => {}
            Err(error) => return Err(error),
        }
    }
    let routed = routing::route(pod, &wanted.settings, watch)?;
    Ok(Routes { routing: routed.routing, found: Some(routed.found) })
}

/// Routes the pod once for each of its switches, with this switch failed. Dimension-order routes cannot avoid a failed
/// switch, so tori with a failed switch are routed by allowed turns too.
///
/// # Errors
/// A pod that allowed turns cannot route even without a further failure, or the reason to stop.
pub(super) fn sweep(
    parts: &mut PodParts,
    found: Option<FoundRoutes>,
    wanted: &FinishSteps,
    cx: &mut Context<'_, Tpu>,
) -> Result<(), MethodError> {
    cx.phase("faults", format!("{} chips, each of 48 switches failed in turn", parts.topology.nodes()));
    let pod = &parts.topology;
    let found = match found {
        Some(found) => found,
        None => routing::find(pod, &wanted.settings, cx)?,
    };
    let settings = faults::FaultSettings {
        routing: wanted.settings.clone(),
        turns: wanted.fault_turns,
        with_routes: wanted.with_faults,
    };
    let simulate = wanted.simulate.clone().unwrap_or_default();
    let search = wanted.search;
    let saturation = |_: u8, routing: &Routing| -> Option<f64> {
        let mut alone = Unwatched::default();
        simulate::simulate(pod, routing, &simulate, search, wanted.seed, &mut alone)
            .ok()
            .map(|found| found.saturation_flits_per_cycle_per_node)
    };
    let asked: Option<faults::Saturation<'_>> =
        if wanted.fault_saturation { Some(&saturation) } else { None };
    let cases = faults::sweep_from(pod, &found, &settings, asked, cx, |_| {})?;
    let cut: Vec<String> = cases
        .iter()
        .filter(|case| case.max_channel_load.is_none())
        .map(|case| case.failed_ocs.to_string())
        .collect();
    if !cut.is_empty() {
        cx.note(Severity::Warning, format!("if switch {} fails, some pairs have no route", cut.join(" or ")));
    }
    parts.faults = cases;
    Ok(())
}
