//! Parameters that have no effect because of the scenario or of the values of other parameters, as
//! [`Method::idle`](lightbay_core::method::Method::idle) returns them.

use crate::scenario::{TopologyChoice, TpuScenario};
use lightbay_core::method::without_effect;
use lightbay_core::param::Params;
use lightbay_core::problem::Problem;

/// Names of the parameters of the routing by allowed turns.
const OF_TURNS: [&str; 5] = ["vc_count", "turn_priority", "slack_hops", "route_passes", "route_selection"];

/// Returns a problem for each parameter that has no effect on the final steps of a method: routes, failed switches, the
/// simulator.
pub(super) fn finishing(scenario: &TpuScenario, params: &Params) -> Vec<Problem> {
    let mut idle = Vec::new();
    let (simulated, failing) = (scenario.simulate.is_some(), params.bool("fault_saturation"));
    let faults = failing || params.bool("with_faults") || scenario.tolerated_ocs_faults > 0;
    match params.text("routing") {
        Some("none") => {
            let why = "with routing=none, which computes no routes";
            let names = OF_TURNS.into_iter().chain(["balance", "with_routes"]);
            idle.extend(without_effect(names, why, "set routing=at, or leave it out"));
        }
        // Routes around failed switches use allowed turns, even on tori.
        Some("dor") if !faults => {
            let why = "with routing=dor, whose routes follow the order of dimensions";
            let names = OF_TURNS.into_iter().chain(["balance"]);
            idle.extend(without_effect(names, why, "set routing=at, or leave it out"));
        }
        _ => {}
    }
    if !faults {
        let why = "because no case of a failed switch is computed";
        idle.extend(without_effect(["fault_turns"], why, "set tolerated_ocs_faults=1 or with_faults=true"));
    }
    if !simulated && !failing {
        let why = "without a run of the flit simulator";
        idle.extend(without_effect(["saturation_search"], why, "set simulate=true"));
    }
    idle
}

/// Returns a problem for the job shape of a pod to be designed, which has no effect on a method that does not build a
/// torus.
pub(super) fn without_torus(method: &str, scenario: &TpuScenario) -> Vec<Problem> {
    let names = (scenario.topology == TopologyChoice::Design).then_some("job_shape");
    let why = format!("with {method}, whose pod is not a torus");
    without_effect(names, &why, "leave it out, or use the method pt or pdtt").collect()
}

/// Returns a problem for the group, which has no effect on a method that does not design a pod.
pub(super) fn without_group(method: &str) -> Vec<Problem> {
    let why = format!("with {method}, which designs no pod");
    without_effect(["group"], &why, "leave it out, or use a method that designs pods, such as tons-fast")
        .collect()
}
