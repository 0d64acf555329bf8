//! Estimated routes of a pod whose plan has no routes yet, such as an incumbent of a search that routes its best pod only.

use crate::model::topology::Topology;
use crate::plan::Routing;
use crate::routing::dor::{self, DorSettings};
use crate::routing::{RoutingSettings, route};
use crate::scenario::{TpuScenario, TurnPriority};
use lightbay_core::clock::Deadline;
use lightbay_core::watch::StopTest;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Maximum number of chips of a pod without symmetry that is routed for an estimate; each of its chips is routed.
const MOST_CHIPS: usize = 256;

/// Time limit of an estimate.
const LIMIT: Duration = Duration::from_secs(30);

/// Routes of a pod whose plan has none.
#[derive(Clone, Debug)]
pub struct EstimatedRoutes {
    /// The routes.
    pub routing: Routing,
    /// `true` for dimension-order routes of a torus, which are no estimate.
    pub by_dimension: bool,
}

/// The estimate computed last. Several sections about a plan need the same routes, and wait for one computation.
struct Estimated {
    pod: Topology,
    settings: RoutingSettings,
    routes: EstimatedRoutes,
}

/// Returns routes of a prismatic torus by dimension order, and of other pods by allowed turns with a single pass of the
/// route selection: loads are higher than those of a full routing. `None` if the pod is large and has no symmetry, if a
/// pair has no route, or after the time limit or the deadline.
pub fn routing(pod: &Topology, scenario: &TpuScenario, deadline: Deadline) -> Option<EstimatedRoutes> {
    static LAST: Mutex<Option<Estimated>> = Mutex::new(None);
    let settings =
        RoutingSettings { passes: 1, priority: TurnPriority::Apl, ..RoutingSettings::of(scenario, 0) };
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = last.as_ref().filter(|last| last.pod == *pod && last.settings == settings) {
        return Some(known.routes.clone());
    }
    let own = Deadline::after(LIMIT);
    let mut watch = StopTest::new(move || own.is_over() || deadline.is_over());
    let by_order = DorSettings { failed: scenario.failed_ocs.clone(), ..DorSettings::default() };
    let routes = match dor::route(pod, scenario.pt_shape(), false, &by_order, &mut watch) {
        Ok(routing) => EstimatedRoutes { routing, by_dimension: true },
        Err(_) if pod.symmetry().is_none() && pod.nodes() > MOST_CHIPS => return None,
        Err(_) => {
            let routing = route(pod, &settings, &mut watch).ok()?.routing;
            EstimatedRoutes { routing, by_dimension: false }
        }
    };
    *last = Some(Estimated { pod: pod.clone(), settings, routes: routes.clone() });
    Some(routes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::group::Group;
    use crate::plan::Expansion;
    use crate::scenario::presets;

    #[test]
    fn a_symmetric_pod_is_estimated_from_one_cube() {
        let group = Group::abelian(&[2]).unwrap();
        let pod = Topology::symmetric(group, std::array::from_fn(|at| (at % 2) as u16));
        assert_eq!(pod.nodes(), 128);
        let scenario = presets::scenario("tpu-128").unwrap();
        let EstimatedRoutes { routing, by_dimension } =
            routing(&pod, &scenario, Deadline::NEVER).expect("routes");
        assert!(!by_dimension);
        assert_eq!(routing.expand, Expansion::Translation);
        // One route from each of the 64 chips of a cube to each other chip.
        assert_eq!(routing.routes.len(), 64 * 127);
        assert_eq!(routing.claims.vc_hops.len(), usize::from(scenario.vc_count));
    }
}
