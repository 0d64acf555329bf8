//! Checks that the method and the status of a plan match the content of the plan.

use super::code;
use crate::plan::{CollectiveResult, Discipline};
use crate::scenario::CollectiveScenario;
use lightbay_core::checked::Violation;
use lightbay_core::plan::Status;

/// Returns a violation for each property that this plan has although plans of its method never have this property.
pub fn violations(
    scenario: &CollectiveScenario,
    result: &CollectiveResult,
    method: &str,
    status: Status,
) -> Vec<Violation> {
    let (time, claims) = (&result.time, &result.claims);
    let whole = time.discipline == Discipline::WholeChunk;
    let proves_in_epochs = claims.lower_bound_epochs.is_some() || !claims.bounds.is_empty();
    let one_by_one =
        || result.pieces.iter().all(|piece| piece.dests.as_ref().is_some_and(|dests| dests.len() == 1));
    let copied = || {
        let chunks = scenario.demand.expand(&scenario.topology);
        (0..chunks.len()).any(|chunk| chunks.dests(chunk).nth(1).is_some())
    };
    let mut never: Vec<&str> = Vec::new();
    let mut unless = |right: bool, what| {
        if !right {
            never.push(what);
        }
    };
    let baseline = matches!(method, "ring" | "shortest-path" | "single-tree");
    match method {
        "ring" | "shortest-path" | "single-tree" | "construct" | "teccl-milp" | "teccl-astar" => {
            unless(whole, "sends parts of chunks");
            unless(time.pieces_per_chunk == 1, "sends chunks in pieces");
        }
        "teccl-lp" => unless(time.pieces_per_chunk == 1, "sends chunks in equal pieces"),
        "trees" => {
            unless(time.alpha_threshold == 0.0, "ignores latencies");
            unless(!proves_in_epochs, "proves a bound in epochs");
        }
        // The plans of other methods and of imported files are not restricted here.
        _ => {}
    }
    if baseline {
        unless(!proves_in_epochs, "proves a bound");
        unless(matches!(status, Status::Heuristic | Status::Stopped), "ends with this status");
    } else if matches!(method, "auto" | "construct" | "trees" | "teccl-milp" | "teccl-lp" | "teccl-astar") {
        unless(status != Status::Heuristic, "ends as a heuristic");
    }
    if method == "shortest-path" && result.trees.is_empty() && copied() {
        unless(one_by_one(), "copies chunks at intermediate nodes");
    }
    if method != "auto" {
        unless(result.ranges.is_empty(), "plans several sizes");
    }
    never
        .iter()
        .map(|what| Violation::new(code::CLAIM, format!("method: {method} never {what}, but this plan does")))
        .collect()
}
