//! The search for the best schedule of one size of a list.
//!
//! The searches of different sizes share nothing, so they run on the threads of the run.

use super::{
    CLOSE, FAR, MIN_PIECE_BYTES, MORE_PIECES, MOST_SENDS, SAME, ScheduleForm, SizedSchedule, replay_us,
};
use crate::Collective;
use crate::bounds::bound;
use crate::methods::auto::{MOST_DELIVERIES, PIECES, epochs};
use crate::methods::trees;
use crate::model::schedule::EpochSchedule;
use crate::model::task::CollectiveTasks;
use crate::plan::compact::CompactPlan;
use crate::scenario::CollectiveScenario;
use crate::search::construct::{ConstructLimits, construct, graft};
use crate::trees::library::TreeEffort;
use crate::trees::parts::TreeParts;
use lightbay_core::context::Apart;
use lightbay_core::event::Severity;
use lightbay_core::method::MethodError;

/// Numbers of pieces per chunk for which nodes of trees are moved: few pieces are fast to time and give the first trees
/// of more pieces, which wait less at every hop.
const GRAFTED: [u32; 5] = [1, 2, 4, 8, 16];
/// Number of pieces from which constructed trees are better first trees than those of fewer pieces.
const CONSTRUCTED: u32 = 8;
/// Maximum number of moves for each number of pieces; more moves gain less than 1 %.
const MOVES: u32 = 8_000;
/// Number of deliveries of pieces above which half as many moves are made: a timing takes as long as two for half as
/// many deliveries.
const MANY_DELIVERIES: usize = 4_000;

/// What the searches of all sizes have in common.
#[derive(Clone, Copy)]
pub(super) struct SizesQuestion<'q> {
    pub(super) scenario: &'q CollectiveScenario,
    pub(super) limits: ConstructLimits,
    /// Tasks for the buffer size of the scenario; the networks are the same for all sizes.
    pub(super) tasks: &'q CollectiveTasks,
    /// Trees, if the scenario can be planned along trees.
    pub(super) parts: Option<&'q TreeParts<'q>>,
    /// Number of sizes.
    pub(super) count: usize,
}

/// The search for one size.
pub(super) struct SizeSearch {
    /// Position of the size in the list.
    pub(super) at: usize,
    bytes: u64,
    /// Scenario with this size.
    sized: CollectiveScenario,
    /// Lower bound on the completion time, µs; 0 if none is known.
    floor_us: f64,
    /// The best schedule so far.
    pub(super) best: Option<SizedSchedule>,
    /// Best time of whole chunks, µs.
    pub(super) whole_us: f64,
}

impl SizeSearch {
    pub(super) fn new(scenario: &CollectiveScenario, at: usize, bytes: u64, floor_us: f64) -> Self {
        let sized = scenario.sized(bytes as f64);
        Self { at, bytes, sized, floor_us, best: None, whole_us: f64::INFINITY }
    }

    /// Tries trees, whole chunks and chunks in pieces. Keeps the best schedule, also if the run must stop.
    pub(super) fn run(
        &mut self,
        question: &SizesQuestion<'_>,
        apart: &mut Apart<'_, '_, Collective>,
    ) -> Result<(), MethodError> {
        let (at, count) = (self.at, question.count);
        apart.phase("size", format!("{} of {count}: {} bytes", at + 1, self.bytes));
        // The trees are the same for every size; the number of pieces is chosen for each size.
        if let Some(parts) = question.parts {
            self.plan_along_trees(parts, &trees::effort(&self.sized, question.tasks, MOST_SENDS), apart)?;
            // A list of few transmissions has few pieces per tree; the compact form has no such limit.
            if !self.is_near_floor() {
                let multiple = self.sized.demand.chunks_per_rank;
                self.plan_along_trees(parts, &TreeEffort { multiple, ..TreeEffort::default() }, apart)?;
            }
        }
        let deliveries = question.tasks.deliveries();
        // With many deliveries, the construction runs only if there are no trees, and for three sizes at most.
        let every = deliveries <= MOST_DELIVERIES;
        let few = question.parts.is_none() && [0, count / 2, count - 1].contains(&at);
        if !every && !few {
            return Ok(());
        }
        for epoch_us in epochs(&self.sized, every)? {
            self.plan_in_pieces(question, Some(epoch_us), 1, apart)?;
        }
        let chunk_bytes = self.sized.demand.chunk_size(&self.sized.topology);
        // The most pieces that are not too small.
        let most = (chunk_bytes / MIN_PIECE_BYTES).floor().min(f64::from(u32::MAX)) as u32;
        let mut numbers: Vec<u32> =
            PIECES.into_iter().chain(MORE_PIECES.map(|more| more.min(most))).collect();
        numbers.retain(|pieces| {
            *pieces <= most && deliveries.saturating_mul(*pieces as usize) <= MOST_DELIVERIES
        });
        numbers.sort_unstable();
        numbers.dedup();
        for pieces in numbers {
            let is_more = !PIECES.contains(&pieces);
            if question.parts.is_some() && self.is_near_floor() || is_more && !self.is_far_from_floor() {
                break;
            }
            self.plan_in_pieces(question, None, pieces, apart)?;
        }
        Ok(())
    }

    /// Moves nodes of late pieces in their trees (for tasks that the search supports), which closes gaps for sizes at
    /// which latency and capacity both matter.
    pub(super) fn graft(
        &mut self,
        question: &SizesQuestion<'_>,
        apart: &mut Apart<'_, '_, Collective>,
    ) -> Result<(), MethodError> {
        let chunk_bytes = self.sized.demand.chunk_size(&self.sized.topology);
        let deliveries = question.tasks.deliveries();
        // Tasks and schedules of fewer pieces.
        let mut before: Option<(Box<CollectiveTasks>, Vec<EpochSchedule>)> = None;
        for pieces in GRAFTED {
            let is_fine = pieces > 1 && chunk_bytes / f64::from(pieces) < MIN_PIECE_BYTES;
            if is_fine || deliveries.saturating_mul(pieces as usize) > MOST_DELIVERIES {
                break;
            }
            let tasks = self.tasks(question, None, pieces)?;
            let known = match before {
                Some(known) if pieces < CONSTRUCTED => known,
                _ => match constructed(&tasks, question.limits, apart)? {
                    Some(schedules) => (tasks.clone(), schedules),
                    None => return Ok(()),
                },
            };
            let mut schedules = Vec::with_capacity(tasks.tasks.len());
            for ((task, known), schedule) in tasks.tasks.iter().zip(&known.0.tasks).zip(&known.1) {
                let is_many = deliveries * pieces as usize > MANY_DELIVERIES;
                let limits = (if is_many { MOVES / 2 } else { MOVES }, question.limits.seed);
                match graft::<_, ()>(task, (known, schedule), limits, apart)? {
                    Some(moved) => schedules.push(moved),
                    None if known.chunks.len() == task.chunks.len() => schedules.push(schedule.clone()),
                    None => return Ok(()),
                }
            }
            self.keep_listed(tasks.clone(), schedules.clone());
            before = Some((tasks, schedules));
        }
        Ok(())
    }

    fn best_us(&self) -> f64 {
        self.best.as_ref().map_or(f64::INFINITY, |best| best.time_us)
    }

    /// Keeps a schedule if it is the best so far.
    fn keep(&mut self, form: ScheduleForm, time_us: f64) {
        if time_us < self.best_us() * (1.0 - SAME) {
            self.best = Some(SizedSchedule { form, planned_for: self.at, time_us });
        }
    }

    /// Returns `true` if no schedule is faster than the best one by more than [`CLOSE`].
    fn is_near_floor(&self) -> bool {
        self.best_us() <= self.floor_us * (1.0 + CLOSE)
    }

    /// Returns `true` if the best time exceeds the floor by more than [`FAR`].
    fn is_far_from_floor(&self) -> bool {
        self.floor_us > 0.0 && self.best_us() > self.floor_us * (1.0 + FAR)
    }

    fn plan_along_trees(
        &mut self,
        parts: &TreeParts<'_>,
        effort: &TreeEffort,
        apart: &mut Apart<'_, '_, Collective>,
    ) -> Result<(), MethodError> {
        let Some(plan) = parts.plan(trees::shard_bytes(&self.sized), self.floor_us, effort, apart)? else {
            return Ok(());
        };
        let form = match trees::schedule(&self.sized, parts, &plan, MOST_SENDS) {
            // A size without trees is served by the schedule of another size.
            Err(MethodError::Failed(why)) => {
                apart.note(
                    Severity::Warning,
                    format!(
                        "no trees for {} bytes: {why}; the schedule of another size serves this size",
                        self.bytes
                    ),
                );
                return Ok(());
            }
            made => made?,
        };
        let finish = |part: &CompactPlan| part.finish_epochs as f64 * part.epoch_us;
        let time_us = match &form {
            ScheduleForm::Listed(tasks, schedules) => replay_us(tasks, schedules, tasks.chunk_bytes),
            ScheduleForm::Short(parts) => parts.iter().map(finish).sum(),
        };
        self.keep(form, time_us);
        Ok(())
    }

    fn tasks(
        &self,
        question: &SizesQuestion<'_>,
        epoch_us: Option<f64>,
        pieces: u32,
    ) -> Result<Box<CollectiveTasks>, MethodError> {
        let threshold = question.scenario.time.alpha_threshold;
        Ok(Box::new(CollectiveTasks::in_pieces(&self.sized, epoch_us, pieces, threshold)?))
    }

    fn plan_in_pieces(
        &mut self,
        question: &SizesQuestion<'_>,
        epoch_us: Option<f64>,
        pieces: u32,
        apart: &mut Apart<'_, '_, Collective>,
    ) -> Result<(), MethodError> {
        let tasks = self.tasks(question, epoch_us, pieces)?;
        let Some(schedules) = constructed(&tasks, question.limits, apart)? else { return Ok(()) };
        let time_us = self.keep_listed(tasks, schedules);
        if pieces == 1 {
            self.whole_us = self.whole_us.min(time_us);
        }
        Ok(())
    }

    /// Keeps schedules if they are the best so far. Returns their completion time without epochs, which can be compared
    /// between sizes, µs.
    fn keep_listed(&mut self, tasks: Box<CollectiveTasks>, schedules: Vec<EpochSchedule>) -> f64 {
        let time_us = replay_us(&tasks, &schedules, tasks.chunk_bytes);
        self.keep(ScheduleForm::Listed(tasks, schedules), time_us);
        time_us
    }
}

/// Returns a constructed schedule of each task; `None` if there is none.
fn constructed(
    tasks: &CollectiveTasks,
    limits: ConstructLimits,
    apart: &mut Apart<'_, '_, Collective>,
) -> Result<Option<Vec<EpochSchedule>>, MethodError> {
    let mut schedules = Vec::with_capacity(tasks.tasks.len());
    for task in &tasks.tasks {
        let bound = bound::<_, ()>(task, apart)?;
        let found = construct::<_, ()>(task, &bound, limits, apart, |_, _| Ok(()))?;
        let Some(schedule) = found else { return Ok(None) };
        schedules.push(schedule);
    }
    Ok(Some(schedules))
}
