//! Steps of all methods after a topology is chosen; each step reports a plan with the results so far.
//!
//! | step | requested by | new content of the plan |
//! |---|---|---|
//! | certify | always | both ends of the MCF; every better lower end is reported at once |
//! | route | `routing` is not `none` | one route for every pair, loads, virtual channels |
//! | faults | `tolerated_ocs_faults = 1` or `with_faults` | loads and hops for each of the 48 failed switches |
//! | simulate | `simulate` | saturation and latency by the flit simulator |

use super::begin::{invalid, point};
use super::certify::certify;
use super::route::{route, sweep};
use super::settings::{FinishSteps, ROUTE_STREAM, RouteKind, certificate_settings, route_seed};
use crate::Tpu;
use crate::methods::assemble::{PodParts, candidate};
use crate::model::topology::Topology;
use crate::routing::RouteError;
use crate::scenario::TpuScenario;
use crate::series;
use crate::simulate;
use crate::throughput::mcf::Certificate;
use crate::throughput::metrics;
use lightbay_core::context::Context;
use lightbay_core::event::Severity;
use lightbay_core::method::MethodError;
use lightbay_core::problem::Problem;

/// A topology that a method has chosen.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// States of the switches and the resulting links.
    pub topology: Topology,
    /// Origin of the topology, in a word.
    pub source: String,
    /// Certificate of the topology, if it has one.
    pub certificate: Option<Certificate>,
    /// Lengths of the 192 link classes from which the certificate starts.
    pub lengths: Option<Vec<f64>>,
    /// Shape of the topology, if it is a torus: only tori support dimension-order routing.
    pub torus: Option<Torus>,
}

/// The shape of a torus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Torus {
    /// Chips along X, Y, Z.
    pub shape: [u16; 3],
    /// `true` if the torus is doubly twisted.
    pub twisted: bool,
}

impl Chosen {
    /// A topology without known figures.
    pub fn new(topology: Topology, source: impl Into<String>) -> Self {
        Self { topology, source: source.into(), certificate: None, lengths: None, torus: None }
    }
}

/// Certifies a chosen topology unless it already has a certificate that is narrow enough. Then routes the topology,
/// examines failed switches and runs the simulator, as parameters and scenario require, and reports the plan after
/// every step.
///
/// # Errors
/// A request that cannot be fulfilled, a pod that is not connected, or the reason to stop. Plans reported so far are
/// kept.
pub fn finish(chosen: Chosen, scenario: &TpuScenario, cx: &mut Context<'_, Tpu>) -> Result<(), MethodError> {
    let seed = route_seed(cx.stream(ROUTE_STREAM));
    let wanted = FinishSteps::of(cx.params(), scenario, &chosen, seed)?;
    let pod = &chosen.topology.failing(&scenario.failed_ocs);
    let hops = metrics::hops(pod).ok_or_else(|| invalid(not_connected(scenario)))?;
    point(cx, series::HOP_BOUND, metrics::hop_bound_of(pod, hops));
    let settings = certificate_settings(cx.params(), pod.nodes());
    let certificate = match chosen.certificate {
        Some(certificate) if certificate.gap() <= settings.gap => certificate,
        known => {
            let lengths = known.and_then(|known| known.class_lengths).or(chosen.lengths);
            certify(pod, hops, &chosen.source, lengths.as_deref(), cx)?
        }
    };
    let mut parts = PodParts::of(pod.clone(), hops, certificate);
    hand_over(&parts, &chosen.source, cx)?;
    if wanted.routing == RouteKind::None {
        return Ok(());
    }
    if let Some(quick) = wanted.before_the_exact_program() {
        // The exact program may take two minutes, so routes by prices come first.
        match route(pod, chosen.torus, &quick, cx) {
            Ok(routed) => {
                parts.routing = Some(routed.routing);
                hand_over(&quick.written(&parts), "routes", cx)?;
            }
            Err(RouteError::Unreachable(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let routed = match route(pod, chosen.torus, &wanted, cx) {
        Err(RouteError::Unreachable(missing)) if !wanted.needs_routes() => {
            // The plan still contains the throughput, so a missing route is only a warning.
            let remedy = "allow more virtual channels (vc_count) or longer routes (slack_hops=2)";
            let text = format!("no routes are in the plan: {}; {remedy}", RouteError::Unreachable(missing));
            cx.note(Severity::Warning, text);
            return Ok(());
        }
        routed => routed?,
    };
    parts.routing = Some(routed.routing);
    hand_over(&wanted.written(&parts), "routes", cx)?;
    // When the exact program is stopped, it returns its best selection; this checkpoint detects the stop.
    cx.checkpoint()?;
    if wanted.faults {
        sweep(&mut parts, routed.found, &wanted, cx)?;
        hand_over(&wanted.written(&parts), "failed switches", cx)?;
    }
    if let (Some(settings), Some(routing)) = (&wanted.simulate, &parts.routing) {
        let seed = wanted.seed;
        parts.simulation = Some(simulate::simulate(pod, routing, settings, wanted.search, seed, cx)?);
        hand_over(&wanted.written(&parts), "simulation", cx)?;
    }
    Ok(())
}

/// Returns the error message for a pod in which some chips cannot be reached.
pub fn not_connected(scenario: &TpuScenario) -> Problem {
    let what = "is not connected: some chips cannot be reached";
    if scenario.failed_ocs.is_empty() {
        Problem::new("topology", what, "choose circuits that connect all cubes")
    } else {
        Problem::new(
            "failed_ocs",
            "disconnect the pod: some chips cannot be reached",
            "name fewer failed switches, or change the topology",
        )
    }
}

/// Reports a plan with all results, which replaces the previous plan of the same pod.
pub(super) fn hand_over(
    parts: &PodParts,
    source: &str,
    cx: &mut Context<'_, Tpu>,
) -> Result<(), MethodError> {
    let parts = parts.clone();
    cx.supersede(parts.certificate.lower, 0.0, source, move || candidate(parts))
}
