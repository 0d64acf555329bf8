//! Ranges of sizes: each schedule on its own, its replay with every size of the range, and the floors beside them.

use super::links::CheckedLinks;
use super::{Findings, code, floor, replay, schedule};
use crate::plan::{CollectiveResult, SizeRange};
use crate::scenario::{CollectiveScenario, SwitchHop};
use lightbay_core::checked::same;

/// Checks all ranges of a plan.
pub(super) fn check(scenario: &CollectiveScenario, result: &CollectiveResult, found: &mut Findings) {
    let wanted = &scenario.demand.sizes_bytes;
    let points = result.ranges.iter().flat_map(|range| &range.points);
    let planned: Vec<u64> = points.map(|point| point.output_buffer_bytes).collect();
    // A run that was stopped has planned some of the sizes.
    let known = planned.iter().all(|bytes| wanted.contains(bytes));
    if !known || !planned.is_sorted_by(|a, b| a < b) {
        found.add(code::RANGE, || {
            format!("the sizes {planned:?} are not among those of the scenario, each once and ascending")
        });
    }
    for (at, range) in result.ranges.iter().enumerate() {
        let before = at.checked_sub(1).map(|before| &result.ranges[before]);
        if before.is_some_and(|before| before.max_bytes + 1 != range.min_bytes) {
            found.add(code::RANGE, || format!("ranges[{at}] does not begin behind the one before it"));
        }
        let inside = |bytes: u64| (range.min_bytes..=range.max_bytes).contains(&bytes);
        if range.points.is_empty() || range.points.iter().any(|point| !inside(point.output_buffer_bytes)) {
            found.add(code::RANGE, || format!("ranges[{at}] has no sizes, or such as lie outside of it"));
        }
        if range.planned_for_bytes == 0 {
            found.add(code::RANGE, || format!("ranges[{at}] is planned for nothing"));
            continue;
        }
        let mut own = Findings::default();
        one(scenario, range, &mut own);
        found.include(&format!("ranges[{at}]"), own);
    }
    let ends = |range: Option<&SizeRange>, end: fn(&SizeRange) -> u64| range.map(end);
    let (first, last) = (result.ranges.first(), result.ranges.last());
    if ends(first, |range| range.min_bytes) != planned.first().copied()
        || ends(last, |range| range.max_bytes) != planned.last().copied()
    {
        found.add(code::RANGE, || "ranges reach beyond the sizes that were planned".to_owned());
    }
}

/// Checks the schedule of a range, and its times.
fn one(scenario: &CollectiveScenario, range: &SizeRange, found: &mut Findings) {
    let result = &range.schedule;
    let sized = scenario.sized(range.planned_for_bytes as f64);
    if !result.ranges.is_empty() {
        found.add(code::RANGE, || "the schedule has ranges of its own".to_owned());
    }
    let Some(_) = schedule(&sized, result, result.claims.finish_us, found) else { return };
    let Some(links) = CheckedLinks::of(&sized, result, found) else { return };
    let chunks = sized.demand.expand(&sized.topology);
    for point in &range.points {
        let scale = point.output_buffer_bytes as f64 / range.planned_for_bytes as f64;
        let bytes = point.output_buffer_bytes;
        let exact = if result.trees.is_empty() {
            replay::replay_us(&sized, result, &links, scale)
        } else {
            // What is in short form is checked for one size, and cannot be replayed.
            (bytes == range.planned_for_bytes).then_some(result.claims.finish_us)
        };
        if !exact.is_some_and(|exact| same(exact, point.finish_us)) {
            found.add(code::CLAIM, || match exact {
                Some(exact) => {
                    format!(
                        "the finish for {bytes} bytes is {} us, the schedule gives {exact}",
                        point.finish_us
                    )
                }
                None => format!("the schedule gives no finish for {bytes} bytes"),
            });
        }
        let Some(proof) = &point.floor else { continue };
        let exact = floor::proven_us(&sized, &chunks, &links, proof, scale);
        if !exact.is_some_and(|exact| same(exact, proof.floor_us)) {
            found.add(code::BOUND, || {
                format!(
                    "the floor for {bytes} bytes is {} us, '{}' does not give it",
                    proof.floor_us, proof.because
                )
            });
        }
        // Only hops out of switches that cut through may seem to take nothing.
        let above = proof.floor_us > point.finish_us * (1.0 + 1e-9);
        if above && scenario.topology.switch_model.hop != SwitchHop::CutThrough {
            found.add(code::BOUND, || format!("the floor for {bytes} bytes is above the finish"));
        }
    }
}
