//! Schedules for every size of a list, each with lower bounds. Small sizes need low latency, large sizes high
//! bandwidth.
//!
//! Each size is planned separately. Then each schedule is replayed with sizes near the size for which it was planned.
//! The plan keeps the fewest schedules with which every size comes close to its best time.

mod sized;

use super::trees::{self, MIN_PIECE_BYTES, ScenarioTrees, ScheduleForm};
use crate::Collective;
use crate::compose::{trees_in_short, whole_chunks};
use crate::floors::growing::search::GrowingSearch;
use crate::floors::proof::floors_of_sizes;
use crate::model::schedule::EpochSchedule;
use crate::model::task::CollectiveTasks;
use crate::plan::{CollectiveResult, ScenarioFloors, SizePoint, SizeRange};
use crate::scenario::CollectiveScenario;
use crate::search::construct::{ConstructLimits, suits_grafts};
use crate::search::ranges::{ServedSizes, TimesBySize, crossover, fewest};
use crate::trees::parts::TreeParts;
use lightbay_core::context::Context;
use lightbay_core::event::Severity;
use lightbay_core::kind::Candidate;
use lightbay_core::method::MethodError;
use lightbay_core::problem::{Problems, counted};
use sized::{SizeSearch, SizesQuestion};

/// A schedule may serve a size if its time exceeds the best time of this size by at most this fraction. This tolerance
/// reduces the number of schedules.
const CLOSE: f64 = 0.01;
/// Relative tolerance for the rounding of times.
const SAME: f64 = 1e-9;
/// A size is far from its floor if its best time exceeds the floor by more than this fraction: more pieces are then
/// tried, a larger floor is sought, and nodes of trees are moved.
const FAR: f64 = 0.05;
/// Further numbers of pieces per chunk, for sizes that are far from their floors; fewer if pieces would be too small.
const MORE_PIECES: [u32; 2] = [16, 32];
/// Maximum number of transmissions of the schedule of a range: a plan holds one schedule per range.
const MOST_SENDS: u64 = 60_000;

/// A schedule with the size for which it was planned.
struct SizedSchedule {
    form: ScheduleForm,
    /// Position in the list of the size for which the schedule was planned.
    planned_for: usize,
    /// Completion time for this size, µs.
    time_us: f64,
}

/// Plans a schedule for every size of the scenario and adds these schedules to the best plan. If a run is stopped,
/// keeps the schedules planned so far.
pub(super) fn plan_ranges(
    scenario: &CollectiveScenario,
    limits: ConstructLimits,
    cx: &mut Context<'_, Collective>,
) -> Result<(), MethodError> {
    let mut search = RangeSearch::of(scenario, limits)?;
    // If the run stops, the schedules planned so far are kept.
    let ended = search.plan_all(cx);
    if matches!(ended, Err(MethodError::Failed(_) | MethodError::Infeasible(_) | MethodError::Rejected(_))) {
        return ended;
    }
    let (Some(best), Some((_, secondary))) = (cx.best_plan()?, cx.best()) else { return ended };
    let ranges = search.ranges()?;
    let served: usize = ranges.iter().map(|range| range.points.len()).sum();
    let (count, all) = (ranges.len(), search.sizes.len());
    cx.note(
        Severity::Info,
        format!("{} {served} of {all} sizes", counted(count as u64, "schedule serves", "schedules serve")),
    );
    let plan = best.plan();
    let candidate = Candidate {
        value: plan.objective.value,
        metrics: plan.metrics.clone(),
        result: CollectiveResult { ranges, ..plan.result.clone() },
    };
    // Only the ranges are added; the rest of the plan stays.
    cx.supersede(candidate.value, secondary, "ranges of sizes", move || candidate)?;
    ended
}

struct RangeSearch<'s> {
    scenario: &'s CollectiveScenario,
    limits: ConstructLimits,
    sizes: Vec<u64>,
    /// Tasks for the buffer size of the scenario; the networks are the same for all sizes.
    tasks: CollectiveTasks,
    /// Floors of each size; `None` if the floors are unknown.
    floors: Option<Vec<ScenarioFloors>>,
    schedules: Vec<SizedSchedule>,
    /// Best time of each size, µs.
    best_us: Vec<f64>,
    /// Best time of whole chunks for each size, µs.
    whole_us: Vec<f64>,
}

impl<'s> RangeSearch<'s> {
    fn of(scenario: &'s CollectiveScenario, limits: ConstructLimits) -> Result<Self, Problems> {
        let sizes = scenario.demand.sizes_bytes.clone();
        let bytes: Vec<f64> = sizes.iter().map(|bytes| *bytes as f64).collect();
        let tasks = CollectiveTasks::in_pieces(scenario, None, 1, 0.0)?;
        let none = vec![f64::INFINITY; sizes.len()];
        Ok(Self {
            scenario,
            limits,
            floors: floors_of_sizes(scenario, &tasks, &bytes),
            tasks,
            schedules: Vec::new(),
            best_us: none.clone(),
            whole_us: none,
            sizes,
        })
    }

    fn sized(&self, at: usize) -> CollectiveScenario {
        self.scenario.sized(self.sizes[at] as f64)
    }

    fn plan_all(&mut self, cx: &mut Context<'_, Collective>) -> Result<(), MethodError> {
        let along_trees = ScenarioTrees::of(self.scenario, &self.tasks);
        let mut parts = None;
        if !self.scenario.time.is_chosen() && trees::suits(self.scenario).is_ok() {
            // Trees serve all sizes, because their shares do not depend on the bytes.
            cx.phase("trees", "shares of spanning trees for all sizes");
            parts = Some(along_trees.parts(&mut cx.here()));
        }
        let sizes = self.sizes.iter().enumerate();
        let mut searches: Vec<SizeSearch> =
            sizes.map(|(at, bytes)| SizeSearch::new(self.scenario, at, *bytes, self.floor_us(at))).collect();
        let question = self.question(parts.as_ref());
        let ended = cx.spread(searches.iter_mut().collect(), |search: &mut SizeSearch, apart| {
            search.run(&question, apart)
        });
        for (at, search) in searches.into_iter().enumerate() {
            self.whole_us[at] = search.whole_us;
            if let Some(best) = search.best {
                self.best_us[at] = best.time_us;
                self.schedules.push(best);
            }
        }
        ended?;
        self.raise_floors(cx)?;
        self.graft(cx)
    }

    fn question<'q>(&'q self, parts: Option<&'q TreeParts<'q>>) -> SizesQuestion<'q> {
        let (scenario, limits) = (self.scenario, self.limits);
        SizesQuestion { scenario, limits, tasks: &self.tasks, parts, count: self.sizes.len() }
    }

    /// Moves nodes of trees for the sizes whose best times are far from their floors.
    fn graft(&mut self, cx: &mut Context<'_, Collective>) -> Result<(), MethodError> {
        let far: Vec<usize> = (0..self.sizes.len()).filter(|at| self.is_far_from_floor(*at)).collect();
        if far.is_empty() || !self.tasks.tasks.iter().all(suits_grafts) {
            return Ok(());
        }
        cx.phase("trees", format!("moves for {}", counted(far.len() as u64, "size", "sizes")));
        let new = |at: usize| SizeSearch::new(self.scenario, at, self.sizes[at], self.floor_us(at));
        let mut searches: Vec<SizeSearch> = far.into_iter().map(new).collect();
        let question = self.question(None);
        let ended = cx.spread(searches.iter_mut().collect(), |search: &mut SizeSearch, apart| {
            search.graft(&question, apart)
        });
        for search in searches {
            let at = search.at;
            let is_better = |best: &SizedSchedule| best.time_us < self.best_us[at] * (1.0 - SAME);
            if let Some(best) = search.best.filter(is_better) {
                self.best_us[at] = best.time_us;
                self.schedules.retain(|known| known.planned_for != at);
                self.schedules.push(best);
            }
        }
        ended.map(drop)
    }

    /// Seeks larger floors for the sizes whose best times are far from their floors.
    fn raise_floors(&mut self, cx: &mut Context<'_, Collective>) -> Result<(), MethodError> {
        let mut far: Vec<usize> = (0..self.sizes.len())
            .filter(|at| self.best_us[*at].is_finite() && self.is_far_from_floor(*at))
            .collect();
        // The work is limited: the largest gaps come first.
        let gap = |at: &usize| self.best_us[*at] / self.floor_us(*at);
        far.sort_by(|a, b| gap(b).total_cmp(&gap(a)).then(a.cmp(b)));
        let Some(first) = far.first() else { return Ok(()) };
        let Some(mut search) = GrowingSearch::of(self.scenario, &self.tasks, self.floor_us(*first)) else {
            return Ok(());
        };
        cx.phase("floors", format!("growing cuts for {}", counted(far.len() as u64, "size", "sizes")));
        for at in far {
            let sized = self.sized(at);
            let Some(floors) = self.floors.as_mut().map(|floors| &mut floors[at]) else { return Ok(()) };
            let bytes = trees::shard_bytes(&sized);
            if let Some(floor) = search.raise(&floors.with_latency, bytes, self.best_us[at], cx)? {
                floors.with_latency = floor;
            }
        }
        Ok(())
    }

    /// Returns the lower bound on the completion time of a size, µs; 0 if none is known.
    fn floor_us(&self, at: usize) -> f64 {
        self.floors.as_ref().map_or(0.0, |floors| floors[at].with_latency.floor_us)
    }

    /// Returns `true` if the best time of a size exceeds its floor by more than [`FAR`].
    fn is_far_from_floor(&self, at: usize) -> bool {
        self.floor_us(at) > 0.0 && self.best_us[at] > self.floor_us(at) * (1.0 + FAR)
    }

    /// Returns the completion time of a schedule for a buffer size, µs. `None` if pieces would be too small, or if the
    /// schedule consists of trees in compact form and was planned for another size.
    fn time_us(&self, schedule: &SizedSchedule, bytes: u64) -> Option<f64> {
        match &schedule.form {
            ScheduleForm::Listed(tasks, schedules) => {
                // Replays the schedule with chunks of another size.
                let share = bytes as f64 / self.sizes[schedule.planned_for] as f64;
                let piece_bytes = tasks.chunk_bytes * share;
                // Pieces of a few bytes would take longer than the replay predicts.
                let is_fine = tasks.pieces > 1 && piece_bytes < MIN_PIECE_BYTES * (1.0 - SAME);
                (!is_fine).then(|| replay_us(tasks, schedules, piece_bytes))
            }
            ScheduleForm::Short(_) => (self.sizes[schedule.planned_for] == bytes).then_some(schedule.time_us),
        }
    }

    /// Returns, for each schedule, its times by buffer size: for the size for which it was planned, and for larger and
    /// smaller sizes as long as its time is close to the best time.
    fn times(&mut self) -> Vec<TimesBySize> {
        let count = self.sizes.len();
        let mut times = Vec::with_capacity(self.schedules.len());
        for schedule in &self.schedules {
            let mut row: TimesBySize = vec![None; count];
            row[schedule.planned_for] = Some(schedule.time_us);
            let up = schedule.planned_for + 1..count;
            let down = (0..schedule.planned_for).rev();
            // Goes from the size for which the schedule was planned to larger and to smaller sizes, and stops at a size
            // for which its time is too far above the best time, because times of neighbouring sizes hardly differ.
            for sizes in [&mut up.into_iter() as &mut dyn Iterator<Item = usize>, &mut down.into_iter()] {
                for at in sizes {
                    let Some(time_us) = self.time_us(schedule, self.sizes[at]) else { break };
                    let best_us = self.best_us[at];
                    if time_us > best_us * (1.0 + CLOSE) {
                        break;
                    }
                    // A schedule for another size may be the best for this size.
                    self.best_us[at] = best_us.min(time_us);
                    row[at] = Some(time_us);
                }
            }
            times.push(row);
        }
        times
    }

    /// Returns the ranges, each with its schedule.
    fn ranges(&mut self) -> Result<Vec<SizeRange>, MethodError> {
        let times = self.times();
        // Maximum completion time for each size: close to the best time, and not above the time of whole chunks.
        let limit = |(best, whole): (&f64, &f64)| (best * (1.0 + CLOSE)).min(whole * (1.0 + SAME));
        let limits: Vec<f64> = self.best_us.iter().zip(&self.whole_us).map(limit).collect();
        // Interval covering.
        let served = fewest(&times, &limits);
        let mut ranges = Vec::with_capacity(served.len());
        let mut min_bytes = self.sizes[0];
        for (place, sizes) in served.iter().enumerate() {
            let max_bytes = match served.get(place + 1) {
                Some(next) => self.last_size(*sizes, *next),
                None => self.sizes[sizes.last],
            };
            ranges.push(self.range(*sizes, (min_bytes, max_bytes), &times[sizes.schedule])?);
            min_bytes = max_bytes + 1;
        }
        Ok(ranges)
    }

    /// Returns the last buffer size of a range: the largest size at which its schedule is not slower than the schedule
    /// of the next range. If either schedule consists of trees in compact form, returns the geometric mean of the last
    /// listed size of the range and the first listed size of the next range.
    fn last_size(&self, sizes: ServedSizes, next: ServedSizes) -> u64 {
        let (from, to) = (self.sizes[sizes.last], self.sizes[next.first]);
        let (before, after) = (&self.schedules[sizes.schedule], &self.schedules[next.schedule]);
        let listed = |schedule: &SizedSchedule| matches!(schedule.form, ScheduleForm::Listed(..));
        if !listed(before) || !listed(after) {
            return ((from as f64 * to as f64).sqrt() as u64).clamp(from, to - 1);
        }
        let time = |schedule| move |bytes| self.time_us(schedule, bytes).unwrap_or(f64::INFINITY);
        // Buffer size, bytes, at which both schedules are equally fast.
        crossover(from, to, time(before), time(after))
    }

    fn range(
        &self,
        sizes: ServedSizes,
        (min_bytes, max_bytes): (u64, u64),
        times: &TimesBySize,
    ) -> Result<SizeRange, MethodError> {
        let schedule = &self.schedules[sizes.schedule];
        let at = schedule.planned_for;
        let sized = self.sized(at);
        let floors = self.floors.as_ref().map(|floors| floors[at].clone());
        let candidate = match &schedule.form {
            ScheduleForm::Listed(tasks, schedules) => {
                whole_chunks(&sized, &CollectiveTasks::clone(tasks).with_floors(floors), schedules, None)
            }
            ScheduleForm::Short(parts) => trees_in_short(&sized, parts.clone(), floors)?,
        };
        let point = |at: usize| SizePoint {
            output_buffer_bytes: self.sizes[at],
            finish_us: times[at].unwrap_or_default(),
            floor: self.floors.as_ref().map(|floors| floors[at].with_latency.clone()),
        };
        Ok(SizeRange {
            min_bytes,
            max_bytes,
            planned_for_bytes: self.sizes[at],
            schedule: candidate.result,
            points: (sizes.first..=sizes.last).map(point).collect(),
        })
    }
}

/// Returns the time of schedules that run one after the other, without epochs, µs.
fn replay_us(tasks: &CollectiveTasks, schedules: &[EpochSchedule], chunk_bytes: f64) -> f64 {
    tasks.tasks.iter().zip(schedules).map(|(task, schedule)| schedule.replay_with(task, chunk_bytes)).sum()
}

#[cfg(test)]
mod tests;
