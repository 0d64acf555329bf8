//! The independent checker of schedules.
//!
//! Apart from the types of scenarios and plans, the checker shares no code with the rest of the crate: it computes the
//! latencies and the capacities of links in epochs again, follows every piece from send to send, and recomputes the
//! bounds for the cut that a plan names.

mod bound;
pub mod compact;
mod figures;
mod floor;
mod flow;
mod growing;
mod hops;
mod lanes;
mod least;
mod links;
pub mod methods;
mod pieces;
mod ranges;
mod replay;
mod sums;
mod trees;
mod words;

#[cfg(test)]
mod tests;

pub use hops::SendTimes;

use crate::plan::{CollectiveResult, floor_covers};
use crate::scenario::CollectiveScenario;
use lightbay_core::checked::{BoundTrust, Figure, Findings, Verdict, VerifiedBound, compare_metrics};
use lightbay_core::kind::Sense;
use std::collections::BTreeMap;

/// Rules that a plan can break.
pub mod code {
    /// The scenario does not allow the epochs or the capabilities of switches that the plan states.
    pub const TIME: &str = "time";
    /// A piece is not part of a chunk, or the pieces of a chunk leave gaps or overlap.
    pub const PIECE: &str = "piece";
    /// A send uses a link that does not exist or has failed, or the sends are not sorted.
    pub const LINK: &str = "link";
    /// A link has more starts than its capacity allows.
    pub const CAPACITY: &str = "capacity";
    /// A link carries data while it is down.
    pub const DOWN: &str = "down";
    /// A node sends data before the data has arrived, or data waits at a switch.
    pub const CAUSALITY: &str = "causality";
    /// A switch copies or reduces although it cannot.
    pub const SWITCH: &str = "switch";
    /// A destination does not get its data.
    pub const DEMAND: &str = "demand";
    /// Data is delivered twice, sent back, or not needed by any destination.
    pub const USELESS: &str = "useless";
    /// A GPU holds more data than fits into its buffer.
    pub const BUFFER: &str = "buffer";
    /// A figure is wrong.
    pub const CLAIM: &str = "claim";
    /// A claimed bound is above what the schedule reaches, or the cut, path or sum that the bound names does not prove
    /// the bound.
    pub const BOUND: &str = "bound";
    /// Ranges of sizes leave gaps or overlap, or differ from the ranges of the scenario.
    pub const RANGE: &str = "range";

    /// Codes of all rules.
    pub const ALL: [&str; 13] =
        [TIME, PIECE, LINK, CAPACITY, DOWN, CAUSALITY, SWITCH, DEMAND, USELESS, BUFFER, CLAIM, BOUND, RANGE];
}

/// Claims of a plan that are not part of its result.
#[derive(Clone, Copy, Debug)]
pub struct ScheduleEnvelope<'a> {
    /// Objective value.
    pub value: f64,
    /// Claimed bound on the objective.
    pub bound: Option<f64>,
    /// Text that states which plans the bound covers; `None` if the bound covers all plans.
    pub bound_covers: Option<&'a str>,
    /// Figures that the plan states outside its result, by name.
    pub metrics: &'a BTreeMap<String, f64>,
}

/// Relative tolerance for sums of bytes in the solution of a linear program.
const TOLERANCE: f64 = 1e-9;
/// Relative tolerance for the rounding of a ratio in floating point. A piece whose ratio exceeds a whole number by more
/// than this does not fit into that number of epochs.
const ROUNDING: f64 = 1e-12;

/// Rounds a ratio up to whole epochs.
fn rounded_up(ratio: f64) -> f64 {
    (ratio * (1.0 - ROUNDING)).ceil().max(0.0)
}

/// Rounds a ratio down to whole epochs.
fn rounded_down(ratio: f64) -> f64 {
    (ratio * (1.0 + ROUNDING)).floor().max(0.0)
}

/// Checks a plan and returns the verdict.
pub fn check(
    scenario: &CollectiveScenario,
    result: &CollectiveResult,
    envelope: &ScheduleEnvelope<'_>,
) -> Verdict {
    let mut found = Findings::default();
    let judged = schedule(scenario, result, envelope.value, &mut found);
    ranges::check(scenario, result, &mut found);
    let mut violations = Vec::new();
    let mut verdict = Verdict::clean();
    if let Some(judged) = judged {
        violations.extend(compare_metrics(envelope.metrics, &judged.figures));
        let (trust, verified) = trust(result, envelope, judged.proven_us, judged.floor_us, &mut found);
        let covers = floor_covers(result.time.alpha_threshold);
        // A lower bound that includes all latencies does not hold for a finish in epochs that omit some latencies.
        let floor_us = judged.floor_us.filter(|floor_us| *floor_us <= result.claims.finish_us * (1.0 + 1e-9));
        verdict.wider = floor_us
            .map(|floor_us| VerifiedBound::of(Sense::Min, result.claims.finish_us, floor_us, Some(covers)));
        (verdict.bound, verdict.verified) = (trust, verified);
        verdict.remarks.extend(ranges::remark(scenario, result));
    }
    violations.extend(found.finish());
    if !violations.is_empty() {
        return Verdict::refused(violations);
    }
    verdict
}

/// Recomputed figures of a schedule that satisfies all rules.
struct Judged {
    figures: Vec<Figure>,
    /// Bound that the cuts of the plan prove for its epochs, µs.
    proven_us: Option<f64>,
    /// Lower bound (floor) on the finish, µs.
    floor_us: Option<f64>,
}

/// Checks the schedule of one size and the claims of the plan on this schedule; `value` is the claimed objective.
/// Returns `None` if the schedule breaks a rule without which figures cannot be computed.
fn schedule(
    scenario: &CollectiveScenario,
    result: &CollectiveResult,
    value: f64,
    found: &mut Findings,
) -> Option<Judged> {
    figures::time(scenario, result, found);
    let chunks = scenario.demand.expand(&scenario.topology);
    if !result.trees.is_empty() {
        return trees::check(scenario, &chunks, result, value, found);
    }
    let parts = pieces::PieceParts::of(scenario, &chunks, result, found);
    let links = links::CheckedLinks::of(scenario, result, found);
    let (Some(parts), Some(links), true) = (parts, links, found.is_empty()) else { return None };
    links.check_capacity(result, found);
    let deliveries = flow::follow(scenario, result, &parts, &links, found);
    if !found.is_empty() {
        return None;
    }
    let figures = figures::compare(scenario, result, value, &links, &deliveries, found);
    let pieces = chunks.clone().in_pieces(result.time.pieces_per_chunk);
    let proven_us = bound::prove(scenario, &pieces, result, &links, found);
    let floor_us = floor::check(scenario, &chunks, result, &links, found);
    least::check(scenario, &chunks, result, &links, found);
    Some(Judged { figures, proven_us, floor_us })
}

/// Returns, for each send of a plan, the epoch from which its data is usable and the epoch in which it begins to
/// transmit; `None` if some send has no link, or starts before its data has arrived.
pub fn send_times(scenario: &CollectiveScenario, result: &CollectiveResult) -> Option<SendTimes> {
    links::CheckedLinks::of(scenario, result, &mut Findings::default()).map(|links| links.times)
}

/// Replays a plan without epochs, with pieces `scale` times as large as in the plan, and returns the time of the last
/// delivery, µs; `None` if a send leaves a node that its piece never reaches.
#[cfg(test)]
pub(crate) fn replay_of(scenario: &CollectiveScenario, result: &CollectiveResult, scale: f64) -> Option<f64> {
    let links = links::CheckedLinks::of(scenario, result, &mut Findings::default())?;
    replay::replay_us(scenario, result, &links, scale)
}

/// Returns the trust in the bound that the plan claims, and the recomputed bound. Both are for the epochs of the plan
/// or, if the plan claims the floor, for any epoch length.
fn trust(
    result: &CollectiveResult,
    envelope: &ScheduleEnvelope<'_>,
    proven: Option<f64>,
    floor_us: Option<f64>,
    found: &mut Findings,
) -> (BoundTrust, Option<VerifiedBound>) {
    let floor_covers = floor_covers(result.time.alpha_threshold);
    let on_floor = envelope.bound_covers == Some(floor_covers) && floor_us.is_some();
    let covers = if on_floor { floor_covers.to_owned() } else { bound::covers(result) };
    let proven = if on_floor { floor_us } else { proven };
    let is_other = !on_floor && envelope.bound_covers.is_some_and(|said| !bound::may_cover(result, said));
    let trust = match (envelope.bound, proven) {
        (claimed, _) if envelope.bound_covers.is_some() != claimed.is_some() || is_other => {
            found.add_with(code::BOUND, || {
                format!("'bound' and 'bound_covers' must be given together, and 'bound_covers' must name the plans that the bound covers, such as '{covers}'")
            });
            BoundTrust::None
        }
        (None, _) => BoundTrust::None,
        (Some(claimed), _) if claimed > envelope.value * (1.0 + 1e-9) => {
            found.add_with(code::BOUND, || {
                format!("the bound {claimed} is above the objective {}", envelope.value)
            });
            BoundTrust::None
        }
        (Some(claimed), Some(proven))
            if claimed <= proven * (1.0 + 1e-9) && envelope.bound_covers == Some(&covers) =>
        {
            BoundTrust::Verified
        }
        _ => BoundTrust::Claimed,
    };
    let finish_us = result.claims.finish_us;
    let verified = proven.map(|proven| VerifiedBound::of(Sense::Min, finish_us, proven, Some(&covers)));
    (trust, verified)
}
