//! Ranges of sizes: checks each schedule by itself, its replay for every size of the range, and the floors of the
//! sizes.

use super::links::CheckedLinks;
use super::{Findings, code, floor, replay, schedule};
use crate::plan::{CollectiveResult, MIN_PIECE_BYTES, SizeRange};
use crate::scenario::CollectiveScenario;
use lightbay_core::checked::same;

/// Checks all ranges of a plan.
pub(super) fn check(scenario: &CollectiveScenario, result: &CollectiveResult, found: &mut Findings) {
    let wanted = &scenario.demand.sizes_bytes;
    let points = result.ranges.iter().flat_map(|range| &range.points);
    let planned: Vec<u64> = points.map(|point| point.output_buffer_bytes).collect();
    // A stopped run has planned only the first sizes: see `remark`.
    if !wanted.starts_with(&planned) {
        found.add_with(code::RANGE, || {
            format!(
                "the sizes {planned:?} must be the first sizes of the scenario, each once, in ascending order"
            )
        });
    }
    let floors = result.ranges.iter().flat_map(|range| &range.points).filter(|point| point.floor.is_some());
    let with_floor = floors.count();
    if with_floor != 0 && with_floor != planned.len() {
        found.add_with(code::RANGE, || {
            format!(
                "{with_floor} of {} sizes have a floor; either all sizes or no size must have a floor",
                planned.len()
            )
        });
    }
    // The previous range, if its schedule is sound, so that it can be replayed.
    let mut sound_before: Option<&SizeRange> = None;
    for (at, range) in result.ranges.iter().enumerate() {
        let before = at.checked_sub(1).map(|before| &result.ranges[before]);
        if before.is_some_and(|before| before.max_bytes.checked_add(1) != Some(range.min_bytes)) {
            found.add_with(code::RANGE, || format!("ranges[{at}] does not begin after the previous range"));
        }
        let inside = |bytes: u64| (range.min_bytes..=range.max_bytes).contains(&bytes);
        let within = wanted.iter().filter(|bytes| inside(**bytes)).count();
        if within == 0
            || within != range.points.len()
            || range.points.iter().any(|point| !inside(point.output_buffer_bytes))
        {
            found.add_with(code::RANGE, || {
                format!("ranges[{at}] does not list the {within} sizes between min_bytes and max_bytes")
            });
        }
        if range.planned_for_bytes == 0 {
            found.add_with(code::RANGE, || {
                format!(
                    "ranges[{at}] does not give the size for which its schedule is planned \
                     (planned_for_bytes)"
                )
            });
            sound_before = None;
            continue;
        }
        let mut own = Findings::default();
        one(scenario, range, &mut own);
        let is_sound = own.is_empty();
        found.include(&format!("ranges[{at}]"), own);
        if let Some(before) = sound_before.filter(|_| is_sound) {
            takes_over(scenario, at, (before, range), found);
        }
        sound_before = is_sound.then_some(range);
    }
    let ends = |range: Option<&SizeRange>, end: fn(&SizeRange) -> u64| range.map(end);
    let (first, last) = (result.ranges.first(), result.ranges.last());
    if ends(first, |range| range.min_bytes) != planned.first().copied()
        || ends(last, |range| range.max_bytes) != planned.last().copied()
    {
        found.add_with(code::RANGE, || "ranges reach beyond the sizes that were planned".to_owned());
    }
}

/// Returns a remark on the sizes of the scenario for which a plan has no schedule (their number and the smallest of
/// them); `None` if all sizes have a schedule.
pub(super) fn remark(scenario: &CollectiveScenario, result: &CollectiveResult) -> Option<String> {
    let wanted = &scenario.demand.sizes_bytes;
    let planned: usize = result.ranges.iter().map(|range| range.points.len()).sum();
    let first = wanted.get(planned)?;
    let left = wanted.len() - planned;
    Some(format!(
        "{left} of {} sizes have no schedule in the plan; the smallest of them is {first} bytes",
        wanted.len()
    ))
}

/// Checks that a range of sizes begins where its schedule becomes faster than the schedule of the previous range or, if
/// either schedule consists of trees in compact form, after the geometric mean of the neighbouring listed sizes.
fn takes_over(
    scenario: &CollectiveScenario,
    at: usize,
    (before, after): (&SizeRange, &SizeRange),
    found: &mut Findings,
) {
    let ends = before.points.last().zip(after.points.first());
    let Some((from, to)) = ends.map(|(from, to)| (from.output_buffer_bytes, to.output_buffer_bytes)) else {
        return;
    };
    let max = before.max_bytes;
    let is_short = |range: &SizeRange| !range.schedule.trees.is_empty();
    if is_short(before) || is_short(after) {
        // The time of a compact form is known for only one size, so the boundary is the geometric mean of the two
        // sizes.
        let middle = ((from as f64 * to as f64).sqrt() as u64).clamp(from, to.saturating_sub(1).max(from));
        if max != middle {
            found.add_with(code::RANGE, || {
                format!("ranges[{at}] begins after {max} bytes, must begin after {middle} bytes")
            });
        }
        return;
    }
    let Some((early, late)) = Timed::of(scenario, before).zip(Timed::of(scenario, after)) else { return };
    let holds = (max == from || !early.is_later(&late, max))
        && (max.saturating_add(1) >= to || !late.is_later(&early, max + 1));
    if !holds {
        found.add_with(code::RANGE, || {
            format!(
                "ranges[{at}] does not begin at the size from which its schedule is faster than the schedule \
                 of the previous range"
            )
        });
    }
}

/// A schedule that can be replayed with any size.
struct Timed<'r> {
    scenario: CollectiveScenario,
    range: &'r SizeRange,
    links: CheckedLinks,
}

impl<'r> Timed<'r> {
    fn of(scenario: &CollectiveScenario, range: &'r SizeRange) -> Option<Self> {
        let scenario = scenario.sized(range.planned_for_bytes as f64);
        let links = CheckedLinks::of(&scenario, &range.schedule, &mut Findings::default())?;
        Some(Self { scenario, range, links })
    }

    /// Returns the completion time for a buffer size, µs; infinite if pieces are too small to be sent.
    fn time_us(&self, bytes: u64) -> f64 {
        let (schedule, scale) = (&self.range.schedule, bytes as f64 / self.range.planned_for_bytes as f64);
        let chunk_bytes = scale * self.scenario.demand.chunk_size(&self.scenario.topology);
        let pieces = schedule.time.pieces_per_chunk;
        // Pieces of exactly the minimum size must not be refused because of rounding.
        if pieces > 1 && chunk_bytes / f64::from(pieces) < MIN_PIECE_BYTES * (1.0 - 1e-9) {
            return f64::INFINITY;
        }
        replay::replay_us(&self.scenario, schedule, &self.links, scale).unwrap_or(f64::INFINITY)
    }

    /// Returns `true` if, for a buffer size, this schedule takes longer than another schedule by more than rounding
    /// errors.
    fn is_later(&self, other: &Self, bytes: u64) -> bool {
        self.time_us(bytes) * (1.0 - 1e-9) > other.time_us(bytes) * (1.0 + 1e-9)
    }
}

/// Checks the schedule of a range, and the times that the range states.
fn one(scenario: &CollectiveScenario, range: &SizeRange, found: &mut Findings) {
    let result = &range.schedule;
    let sized = scenario.sized(range.planned_for_bytes as f64);
    if !result.ranges.is_empty() {
        found.add_with(code::RANGE, || "the schedule of a range must not contain ranges".to_owned());
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
            // A compact form is checked for one size, and cannot be replayed.
            (bytes == range.planned_for_bytes).then_some(result.claims.finish_us)
        };
        if !exact.is_some_and(|exact| same(exact, point.finish_us)) {
            found.add_with(code::CLAIM, || match exact {
                Some(exact) => {
                    format!(
                        "the finish for {bytes} bytes is {} us, but the schedule gives {exact}",
                        point.finish_us
                    )
                }
                None => format!("the schedule gives no finish for {bytes} bytes"),
            });
        }
        let Some(proof) = &point.floor else { continue };
        let exact = floor::proven_us(&sized, &chunks, &links, proof, scale);
        if !exact.is_some_and(|exact| same(exact, proof.floor_us)) {
            found.add_with(code::BOUND, || {
                format!(
                    "the floor for {bytes} bytes is {} us, but '{}' does not give this value",
                    proof.floor_us, proof.because
                )
            });
        }
        if proof.floor_us > point.finish_us * (1.0 + 1e-9) {
            found.add_with(code::BOUND, || format!("the floor for {bytes} bytes is above the finish"));
        }
    }
}
