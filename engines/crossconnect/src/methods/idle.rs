//! Problems for parameters that have no effect, either for this scenario or because of the values of other parameters;
//! [`Method::idle`](lightbay_core::method::Method::idle) returns them.

use crate::scenario::{CrossconnectScenario, Wiring};
use lightbay_core::method::without_effect;
use lightbay_core::param::Params;
use lightbay_core::problem::Problem;

const ANNEALING: [&str; 6] =
    ["anneal_rounds", "anneal_steps", "anneal_chains", "anneal_hot", "anneal_cold", "anneal_detour"];

/// Returns a problem for each parameter of annealing that has no effect: for all of them if ports have no sides, and
/// for all except the number of rounds if that number is 0.
pub(super) fn annealing(scenario: &CrossconnectScenario, params: &Params) -> Vec<Problem> {
    if scenario.wiring == Wiring::SingleSided {
        let why = "with single_sided wiring, for which only the exact model can assign circuits to switches";
        return without_effect(ANNEALING, why, "leave it out, or set wiring=two_sided").collect();
    }
    if params.int("anneal_rounds") == Some(0) {
        let why = "with anneal_rounds=0, which skips annealing";
        return without_effect(ANNEALING[1..].iter().copied(), why, "raise `anneal_rounds`").collect();
    }
    Vec::new()
}

/// Returns a problem for the parameter of decimation if ports have no sides.
pub(super) fn decimation(scenario: &CrossconnectScenario) -> Vec<Problem> {
    let names = (scenario.wiring == Wiring::SingleSided).then_some("decimate_patience");
    let why = "with single_sided wiring, for which only the exact model can assign circuits to switches";
    without_effect(names, why, "leave it out, or set wiring=two_sided").collect()
}

/// Returns a problem for each parameter that has no effect if the search that frees circuits is skipped.
pub(super) fn freeing(params: &Params) -> Vec<Problem> {
    let names = (params.int("free_patience") == Some(0)).then_some(["free_share", "free_nodes"]);
    let why = "with free_patience=0, which skips the search that frees circuits";
    without_effect(names.into_iter().flatten(), why, "raise `free_patience`").collect()
}

/// Returns a problem for each parameter of halving if a method does not start with halving.
pub(super) fn halving(params: &Params) -> Vec<Problem> {
    let names = (params.text("polish_start") == Some("repair")).then_some(["bipartition", "best_of"]);
    let why = "with polish_start=repair, which skips halving";
    without_effect(names.into_iter().flatten(), why, "set polish_start=halving or both").collect()
}

/// Returns a problem for each parameter that has no effect on an order of phases, which changes no switch.
pub(super) fn order() -> Vec<Problem> {
    let names = [
        "wiring",
        "ports_a",
        "ports_b",
        "failed_ports",
        "failed_ocs",
        "pinned",
        "max_dark_per_pod",
        "min_pair_share",
        "gap",
        "seed",
    ];
    let why = "with all-to-all-order, which orders phases and changes no switch";
    without_effect(names, why, "leave it out, or use another method").collect()
}
