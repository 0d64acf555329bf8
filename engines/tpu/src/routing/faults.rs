//! Routes of the pod with one switch failed: one case for each of the 48 switches; every case is routed.
//!
//! A failed switch removes one class of links from every cube, so a symmetric pod stays symmetric. Assumption: the
//! failure is known before the job starts, and at most one switch fails at a time.

use crate::model::pod::SWITCHES;
use crate::model::topology::Topology;
use crate::plan::{FaultCase, Routing};
use crate::routing::frame::Frame;
use crate::routing::select::{self, SelectionEffort, Ways};
use crate::routing::steps::Steps;
use crate::routing::{self, FoundRoutes, RouteError};
use crate::series;
use lightbay_core::event::{EventBody, SeriesPoint};
use lightbay_core::method::MethodError;
use lightbay_core::watch::{StopTest, Watch};
use rayon::prelude::*;

/// Maximum number of passes of the route selection per failed switch: half of the default for the healthy pod, because
/// each selection starts from the healthy routes.
const PASSES: u32 = 6;

/// Turns that the routes of a case may use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FaultTurns {
    /// The turns of the healthy pod; if these turns leave a pair without a route in some case, this case gets its own
    /// turns.
    #[default]
    Shared,
    /// Each case gets its own turns.
    PerFault,
}

/// Settings of the sweep.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FaultSettings {
    /// Settings of the routing of each case.
    pub routing: routing::RoutingSettings,
    /// Turns that the cases use.
    pub turns: FaultTurns,
    /// `true` to store the routes of the cases.
    pub with_routes: bool,
}

/// Function that returns the saturation of a case, flits per cycle and node, from the failed switch and the routes.
pub type Saturation<'a> = &'a (dyn Fn(u8, &Routing) -> Option<f64> + Sync);

/// Routes the pod once for each of its switches, with this switch failed. Calls `each` with every case, in order of
/// switch number.
///
/// # Errors
/// The pod cannot be routed even without a fault, or the watch requests a stop.
pub fn sweep(
    pod: &Topology,
    settings: &FaultSettings,
    watch: &mut impl Watch,
    each: impl FnMut(&FaultCase),
) -> Result<Vec<FaultCase>, MethodError> {
    let found = routing::find(pod, &settings.routing, watch)?;
    sweep_from(pod, &found, settings, None, watch, each)
}

/// Like [`sweep`], but starts from known routes of the healthy pod and, if a closure is given, adds the saturation of
/// each case.
///
/// # Errors
/// The watch requests a stop.
pub fn sweep_from(
    pod: &Topology,
    found: &FoundRoutes,
    settings: &FaultSettings,
    saturation: Option<Saturation<'_>>,
    watch: &mut impl Watch,
    mut each: impl FnMut(&FaultCase),
) -> Result<Vec<FaultCase>, MethodError> {
    let switches: Vec<u8> = (0..SWITCHES as u8).collect();
    let mut cases = Vec::with_capacity(SWITCHES);
    let stop = StopTest::from(watch.stop_test());
    // Cases are independent, so a batch contains one case for each thread.
    for group in switches.chunks(watch.threads().max(1)) {
        watch.checkpoint()?;
        let solve = |switch: &u8| {
            // Each case counts its own work.
            let mut inner = stop.clone();
            case(pod, found, settings, *switch, saturation, &mut inner).map(|case| (case, inner.units))
        };
        let done: Vec<Result<(FaultCase, u64), MethodError>> = if group.len() == 1 {
            group.iter().map(solve).collect()
        } else {
            watch.parallel(|| group.par_iter().map(solve).collect())
        };
        // If the run must stop, some cases were abandoned; this checkpoint then returns the reason.
        watch.checkpoint()?;
        // Cases are reported in the order of switches, regardless of the order in which threads finished.
        for result in done {
            let (case, units) = result?;
            watch.count(units);
            if let Some(load) = case.max_channel_load {
                watch.report(EventBody::Series(SeriesPoint {
                    name: series::FAULT_LOAD.to_owned(),
                    x: f64::from(case.failed_ocs),
                    y: load as f64,
                }));
            }
            each(&case);
            cases.push(case);
        }
    }
    Ok(cases)
}

/// Routes the pod with one more failed switch.
///
/// # Errors
/// The watch requests a stop.
pub fn case(
    pod: &Topology,
    found: &FoundRoutes,
    settings: &FaultSettings,
    switch: u8,
    saturation: Option<Saturation<'_>>,
    watch: &mut impl Watch,
) -> Result<FaultCase, MethodError> {
    let mut failed = settings.routing.failed.clone();
    failed.push(switch);
    // A case is a pod with one more failed switch; the symmetry stays. The seed stays the same, so that cases differ
    // only by their switch.
    let mut own = routing::RoutingSettings { failed, ..settings.routing.clone() };
    // A case must survive only its own failed switch.
    own.tolerated_faults = 0;
    let shared = match settings.turns {
        FaultTurns::Shared => Some(under_shared(pod, found, &own, watch)?),
        FaultTurns::PerFault => None,
    };
    // Tries the shared turns first; a case in which they leave a pair without a route gets its own turns.
    let routed = match shared {
        Some(SharedTurns { found, missing: 0 }) => Ok(found),
        _ => routing::find(pod, &own, watch),
    };
    match routed {
        Ok(found) => {
            let routing = routing::write(&found, own.balance)?;
            // Ordered pairs of chips.
            let pairs = pod.nodes() as f64 * (pod.nodes() as f64 - 1.0);
            let saturation = saturation.and_then(|saturation| saturation(switch, &routing));
            Ok(FaultCase {
                failed_ocs: switch,
                max_channel_load: Some(routing.claims.max_channel_load),
                avg_hops: routing.claims.route_hop_sum as f64 / pairs.max(1.0),
                saturation_flits_per_cycle_per_node: saturation,
                unreachable: Vec::new(),
                routing: settings.with_routes.then_some(routing),
            })
        }
        Err(RouteError::Unreachable(missing)) => Ok(FaultCase {
            failed_ocs: switch,
            max_channel_load: None,
            avg_hops: 0.0,
            saturation_flits_per_cycle_per_node: None,
            unreachable: missing.named,
            routing: None,
        }),
        Err(error) => Err(error.into()),
    }
}

/// Routes under the turns of the healthy pod.
struct SharedTurns {
    found: FoundRoutes,
    /// Number of pairs without a route under these turns.
    missing: usize,
}

fn under_shared(
    pod: &Topology,
    found: &FoundRoutes,
    settings: &routing::RoutingSettings,
    watch: &mut impl Watch,
) -> Result<SharedTurns, MethodError> {
    // The frame is symmetric if the routes are.
    let frame = Frame::new(pod, &settings.failed, !found.frame.is_symmetric());
    let steps = Steps::new(&frame, &found.turns);
    let reaches = select::reaches(&frame, &steps, watch)?;
    let ways = Ways { frame: &frame, steps: &steps, reaches: &reaches };
    // Fewer passes are enough, because most routes of the healthy pod remain.
    let effort = SelectionEffort {
        slack: u16::from(settings.slack_hops),
        passes: PASSES.min(settings.passes),
        stream: settings.seed,
        speak: false,
    };
    let selection = select::select(ways, effort, Some(&found.selection), watch)?;
    let missing = routing::unrouted(&selection, &frame).total;
    let found = FoundRoutes { frame, selection, ..found.clone() };
    Ok(SharedTurns { found, missing })
}

#[cfg(test)]
mod tests;
