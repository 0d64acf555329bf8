//! Steps of all methods once a topology is chosen; what is known is handed over after each.
//!
//! | step | requested by | what the plan gains |
//! |---|---|---|
//! | certify | always | both ends of the MCF; better lower ends are handed over while they are found |
//! | route | `routing` is not `none` | one route for every pair, loads, virtual channels |
//! | faults | `tolerated_ocs_faults = 1` or `with_faults` | what remains when one switch fails, for all 48 |
//! | simulate | `simulate` | saturation and latency by the flit simulator |

use super::begin::{invalid, point};
use super::certify::certify;
use super::route::{route, sweep};
use super::settings::{FinishSteps, ROUTE_STREAM, RouteKind, certificate_settings, route_seed};
use crate::Tpu;
use crate::methods::assemble::{Parts, candidate};
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
    /// States of the switches and the links that follow.
    pub topology: Topology,
    /// Origin of the topology, in a word.
    pub source: String,
    /// Certificate that it has already.
    pub certificate: Option<Certificate>,
    /// Lengths of the 192 link classes to begin the certificate with.
    pub lengths: Option<Vec<f64>>,
    /// Its shape, if it is a torus: only those can be routed in dimension order.
    pub torus: Option<Torus>,
}

/// The shape of a torus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Torus {
    /// Chips along X, Y, Z.
    pub shape: [u16; 3],
    /// `true` if it is doubly twisted.
    pub twisted: bool,
}

impl Chosen {
    /// A topology of which nothing is known.
    pub fn new(topology: Topology, source: impl Into<String>) -> Self {
        Self { topology, source: source.into(), certificate: None, lengths: None, torus: None }
    }
}

/// Certifies a chosen topology if that is not done yet, then routes it, looks at failed switches and simulates as
/// the parameters and the scenario ask, and hands over the plan after every step.
///
/// # Errors
/// A request that cannot be fulfilled, a pod that is not connected, or the reason to stop: what was handed over by
/// then is kept.
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
    let mut parts = Parts::of(pod.clone(), hops, certificate);
    hand_over(&parts, &chosen.source, cx)?;
    if wanted.routing == RouteKind::None {
        return Ok(());
    }
    if let Some(quick) = wanted.before_the_exact_program() {
        // Two minutes of solving are too long to be without routes.
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
            // What the pod carries is known all the same.
            let remedy = "allow more virtual channels (vc_count) or longer routes (slack_hops=2)";
            let text = format!("no routes are in the plan: {}; {remedy}", RouteError::Unreachable(missing));
            cx.note(Severity::Warning, text);
            return Ok(());
        }
        routed => routed?,
    };
    parts.routing = Some(routed.routing);
    hand_over(&wanted.written(&parts), "routes", cx)?;
    // The exact program keeps what it has when it is stopped; that it was stopped is seen here.
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

/// The problem of a pod of which some chips cannot be reached.
pub fn not_connected(scenario: &TpuScenario) -> Problem {
    let what = "is not connected: some chips cannot be reached";
    if scenario.failed_ocs.is_empty() {
        Problem::new("topology", what, "choose circuits that connect all cubes")
    } else {
        Problem::new(
            "failed_ocs",
            "split the pod: some chips cannot be reached",
            "name fewer failed switches, or change the topology",
        )
    }
}

/// Hands over all that is known, in place of what was known before of the same pod.
pub(super) fn hand_over(parts: &Parts, source: &str, cx: &mut Context<'_, Tpu>) -> Result<(), MethodError> {
    let parts = parts.clone();
    cx.supersede(parts.certificate.lower, 0.0, source, move || candidate(parts))
}
