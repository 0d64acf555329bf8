//! Problems of parameters that have no effect, for [`Method::idle`](lightbay_core::method::Method::idle): no effect for
//! the scenario, or because of the values of other parameters.

use crate::scenario::{TrainingScenario, reconfiguration};
use lightbay_core::method::{MethodInfo, without_effect};
use lightbay_core::param::Params;
use lightbay_core::problem::Problem;

/// Parameters that are used in the generations of a genetic search.
const OF_GENERATIONS: [&str; 7] =
    ["elites", "tournament", "crossover", "mutation", "stall_generations", "migration", "wall_limit_s"];

/// If the scenario leaves nothing to plan, returns a problem for each parameter of the method, because no parameter
/// then has an effect.
pub(super) fn nothing_to_plan(scenario: &TrainingScenario, info: &MethodInfo) -> Vec<Problem> {
    let nothing = match scenario {
        TrainingScenario::Job(job) => job.shape().is_ok_and(|shape| !shape.crosses()),
        TrainingScenario::Instance(instance) => instance.tasks.is_empty(),
        TrainingScenario::Shared(_) => false,
    };
    let names: Vec<&str> =
        if nothing { info.params.iter().map(|param| param.name.as_ref()).collect() } else { vec![] };
    without_effect(
        names,
        "because nothing crosses pods, so only one plan exists",
        "leave it out, or change the scenario so that something crosses pods",
    )
    .collect()
}

/// If the method proves no bound, returns a problem for the parameter `gap`, which then has no effect.
pub(super) fn gap(info: &MethodInfo) -> Vec<Problem> {
    let why = format!("on {}, which proves no bound", info.name);
    let names = (!info.proves).then_some("gap");
    without_effect(names, &why, "leave it out, or use a method that proves bounds, such as delta-joint")
        .collect()
}

/// Returns a problem for each parameter of reconfigurations, which has no effect on a method that plans static
/// circuits.
pub(super) fn moves(info: &MethodInfo) -> Vec<Problem> {
    let why = format!("on {}, which plans static circuits", info.name);
    let names = [reconfiguration::SWITCH, reconfiguration::DELAY, reconfiguration::MOST];
    without_effect(names, &why, "leave it out, or use the method `delta-phases`").collect()
}

/// Returns a problem for the parameter `seed`, which has no effect on a method that uses no random numbers.
pub(super) fn seed(info: &MethodInfo) -> Vec<Problem> {
    let why = format!("on {}, which uses no random numbers", info.name);
    without_effect(["seed"], &why, "leave it out").collect()
}

/// Returns a problem for each parameter of the genetic search that has no effect, and for a value of `elites` that is
/// not below `population`.
pub(super) fn genetic(params: &Params) -> Vec<Problem> {
    let mut idle = Vec::new();
    if params.int("generations") == Some(0) {
        idle.extend(without_effect(
            OF_GENERATIONS,
            "without generations",
            "raise `generations`, or leave it out",
        ));
    }
    if params.int("islands") == Some(1) {
        idle.extend(without_effect(["migration"], "with one island", "raise `islands`, or leave it out"));
    }
    if let (Some(elites), Some(population)) = (params.int("elites"), params.int("population"))
        && elites >= population
    {
        let message = format!("is '{elites}', which is not less than the population of {population}");
        idle.push(Problem::new("elites", message, format!("give at most {}", population - 1)));
    }
    idle
}

/// Returns a problem for each parameter that has no effect on the methods that plan circuits and rates together.
pub(super) fn joint(params: &Params, info: &MethodInfo) -> Vec<Problem> {
    let mut idle = genetic(params);
    if params.text("robust").is_some_and(|text| !text.trim().is_empty()) {
        let used = ["robust", "listed_vectors", "min_ports"];
        let names = info.params.iter().map(|param| param.name.as_ref()).filter(|name| !used.contains(name));
        let why = "with `robust`, which has its own search";
        idle.extend(without_effect(names, why, "leave one of the two out"));
    }
    if params.text("proof") == Some("outer") && !params.bool("min_ports") {
        let why = "with proof=outer, which solves no integer program";
        idle.extend(without_effect(
            ["mip_gap", "solver_process"],
            why,
            "choose another proof, or leave this parameter out",
        ));
    }
    idle.extend(orders(params));
    idle
}

/// Returns a problem for each parameter of the searches over orders and event orders that has no effect.
pub(super) fn orders(params: &Params) -> Vec<Problem> {
    let mut idle = Vec::new();
    if params.int("orders") == Some(0) {
        let names = ["orders_limit_s"];
        idle.extend(without_effect(names, "with orders=0, which skips the search", "raise `orders`"));
    }
    if params.int("lps") == Some(0) {
        let names = ["swaps", "restarts"];
        idle.extend(without_effect(names, "with lps=0, which skips the search", "raise `lps`"));
    }
    idle
}

/// Returns a problem for each parameter of the model over intervals that has no effect.
pub(super) fn intervals(params: &Params) -> Vec<Problem> {
    let mut idle = Vec::new();
    if params.text("windows") != Some("anchored") {
        let why = "unless windows=anchored";
        idle.extend(without_effect(
            ["margin", "anchor"],
            why,
            "set windows=anchored, or leave this parameter out",
        ));
    }
    if params.ints("circuits").is_some() {
        let why = "with `circuits`, which fixes the circuits";
        idle.extend(without_effect(["start_generations", "min_ports"], why, "leave one of the two out"));
    }
    idle
}
