//! Parts that the methods share: the tasks of a scenario in epochs of one length, their bounds, and the reporting of
//! plans.

use crate::Collective;
use crate::bounds::{EpochBound, bound};
use crate::compose::{MOST_LISTED_SENDS, epochs_of, exchange_in_short, is_readable, whole_chunks};
use crate::floors::reach::out_of_reach;
use crate::model::buffers::most_held;
use crate::model::schedule::EpochSchedule;
use crate::model::task::{CollectiveTask, CollectiveTasks};
use crate::plan::{Discipline, covers};
use crate::scenario::{CollectiveScenario, EpochRule};
use crate::search::construct::{ConstructLimits, Placer, construct};
use lightbay_core::context::{Apart, Context};
use lightbay_core::event::Severity;
use lightbay_core::method::{MethodError, Outcome};
use lightbay_core::param::{Effect, ParamInfo};
use lightbay_core::plan::{Limit, Status};
use lightbay_core::problem::Problem;
use lightbay_core::quantity::number;
use lightbay_core::read::MAX_FILE_BYTES;
use std::sync::Arc;

/// The tasks of a scenario in epochs of one length.
#[derive(Clone)]
pub(super) struct EpochSession {
    pub(super) scenario: Arc<CollectiveScenario>,
    pub(super) tasks: Arc<CollectiveTasks>,
    /// Bound of each task; none for methods that prove no bounds.
    pub(super) bounds: Arc<Vec<EpochBound>>,
}

/// Returns the knob for the number of restarts.
pub(super) fn restarts(usual: i64) -> ParamInfo {
    let help =
        "Number of passes after the fixed chunk orders; each pass moves chunks that complete late forward.";
    ParamInfo::int("restarts", 0, 1_000_000, usual, help).effect(Effect::Warm)
}

impl EpochSession {
    /// Opens a session with the tasks in epochs of a given length, or of the length that the scenario's rule gives.
    pub(super) fn open(
        scenario: &Arc<CollectiveScenario>,
        epoch_us: Option<f64>,
        cx: &mut Context<'_, Collective>,
    ) -> Result<Self, MethodError> {
        Self::in_pieces(scenario, epoch_us, 1, &mut cx.here())
    }

    /// Opens a session with the tasks in epochs of a given length, with every chunk split into a number of equal
    /// pieces.
    pub(super) fn in_pieces(
        scenario: &Arc<CollectiveScenario>,
        epoch_us: Option<f64>,
        pieces: u32,
        apart: &mut Apart<'_, '_, Collective>,
    ) -> Result<Self, MethodError> {
        let threshold = scenario.time.alpha_threshold;
        let tasks = CollectiveTasks::in_pieces(scenario, epoch_us, pieces, threshold)?;
        if let Some(problem) = too_fine(scenario, &tasks) {
            return Err(MethodError::Invalid(problem.into()));
        }
        for remark in &tasks.remarks {
            apart.note(Severity::Info, remark.clone());
        }
        Ok(Self { scenario: Arc::clone(scenario), tasks: Arc::new(tasks), bounds: Arc::default() })
    }

    /// Computes a bound for each task of the session.
    pub(super) fn bounded(mut self, apart: &mut Apart<'_, '_, Collective>) -> Result<Self, MethodError> {
        let what = match self.tasks.pieces {
            1 => "whole chunks".to_owned(),
            pieces => format!("chunks in {pieces} pieces"),
        };
        apart.phase("bound", format!("{what} {}", in_epochs(self.tasks.epoch_us)));
        let mut bounds = Vec::with_capacity(self.tasks.tasks.len());
        for task in &self.tasks.tasks {
            bounds.push(bound::<_, ()>(task, apart)?);
        }
        let words: Vec<String> =
            self.tasks.tasks.iter().zip(&bounds).map(|(task, bound)| bound.words(task)).collect();
        let epochs: u32 = bounds.iter().map(|bound| bound.epochs).sum();
        apart.note(Severity::Info, format!("at least {epochs} epochs: {}", words.join("; ")));
        self.bounds = Arc::new(bounds);
        Ok(self)
    }

    /// Returns the sum of the bounds, in epochs.
    pub(super) fn bound_epochs(&self) -> u32 {
        self.bounds.iter().map(|bound| bound.epochs).sum()
    }

    /// Returns the bound of the session, µs.
    pub(super) fn bound_us(&self) -> f64 {
        f64::from(self.bound_epochs()) * self.tasks.epoch_us
    }

    /// Returns the total number of epochs of schedules that run one after the other.
    pub(super) fn epochs_of(&self, schedules: &[EpochSchedule]) -> u32 {
        epochs_of(&self.tasks, schedules)
    }

    /// Reports the bound of the session, and states which plans the bound covers.
    pub(super) fn state_bound(&self, cx: &mut Context<'_, Collective>) {
        let bound_us = self.bound_us();
        let parts = self.tasks.tasks.len() > 1;
        cx.bound_over(
            bound_us,
            &covers(self.tasks.epoch_us, Discipline::WholeChunk, self.tasks.pieces, parts),
        );
    }

    /// Returns the number of chunks, or pieces of chunks, in all tasks.
    pub(super) fn pieces(&self) -> usize {
        self.tasks.tasks.iter().map(|task| task.chunks.len()).sum()
    }

    /// Reports a plan with a schedule for each task: its sends or, for a symmetric AllToAll with many sends, the
    /// compact form. Omits a schedule that is too large to be read again.
    pub(super) fn offer(
        &self,
        schedules: Vec<EpochSchedule>,
        source: &'static str,
        apart: &mut Apart<'_, '_, Collective>,
    ) -> Result<(), MethodError> {
        self.fits_buffers(&schedules)?;
        let session = self.clone();
        apart.tell(move |cx| session.report(schedules, source, cx))
    }

    fn report(
        self,
        schedules: Vec<EpochSchedule>,
        source: &str,
        cx: &mut Context<'_, Collective>,
    ) -> Result<(), MethodError> {
        let finish = self.epochs_of(&schedules);
        let sends: usize = schedules.iter().map(|schedule| schedule.starts.len()).sum();
        let pieces = self.pieces();
        let Self { scenario, tasks, bounds } = self;
        let value = f64::from(finish) * tasks.epoch_us;
        let known = |bounds: &Arc<Vec<EpochBound>>| (!bounds.is_empty()).then(|| bounds.to_vec());
        let in_short = match schedules.as_slice() {
            [schedule] if sends > MOST_LISTED_SENDS => {
                exchange_in_short(&scenario, &tasks, schedule, known(&bounds).as_deref())
            }
            _ => None,
        };
        if let Some(candidate) = in_short {
            cx.incumbent(value, sends as f64, source, move || candidate)?;
        } else if is_readable(&scenario, sends, pieces) {
            cx.incumbent(value, sends as f64, source, move || {
                whole_chunks(&scenario, &tasks, &schedules, known(&bounds).as_deref())
            })?;
        } else {
            cx.note(Severity::Warning, unreadable(sends));
        }
        Ok(())
    }

    /// Constructs and reports a schedule for each task, and returns the schedules.
    pub(super) fn construct(
        &self,
        limits: ConstructLimits,
        apart: &mut Apart<'_, '_, Collective>,
    ) -> Result<Vec<EpochSchedule>, MethodError> {
        apart.phase("construct", format!("chunk by chunk {}", in_epochs(self.tasks.epoch_us)));
        let alone = self.tasks.tasks.len() == 1;
        let mut schedules = Vec::with_capacity(self.tasks.tasks.len());
        for at in 0..self.tasks.tasks.len() {
            schedules.push(self.constructed(at, limits, apart, |apart, schedule| {
                if alone { self.offer(vec![schedule.clone()], "construct", apart) } else { Ok(()) }
            })?);
        }
        if !alone {
            self.offer(schedules.clone(), "construct", apart)?;
        }
        Ok(schedules)
    }

    /// Constructs, for a task, a schedule that fits the buffers. Calls `found` with every better schedule.
    pub(super) fn constructed<'w, 'a>(
        &self,
        at: usize,
        limits: ConstructLimits,
        apart: &mut Apart<'w, 'a, Collective>,
        mut found: impl FnMut(&mut Apart<'w, 'a, Collective>, &EpochSchedule) -> Result<(), MethodError>,
    ) -> Result<EpochSchedule, MethodError> {
        let (task, bound) = (&self.tasks.tasks[at], &self.bounds[at]);
        let Some(limit) = self.scenario.buffer_limit_chunks else {
            return construct::<_, ()>(task, bound, limits, apart, found)?.ok_or_else(|| never(Some(task)));
        };
        // The construction ignores buffer limits. Keeps its best schedule among those that fit the buffers.
        let most = limit.saturating_mul(self.tasks.pieces);
        let mut fitting = None;
        construct::<_, ()>(task, bound, limits, apart, |apart, schedule| {
            if most_held(task, &schedule.starts) <= most as usize {
                fitting = Some(schedule.clone());
                found(apart, schedule)?;
            }
            Ok(())
        })?
        .ok_or_else(|| never(Some(task)))?;
        if let Some(fitting) = fitting {
            return Ok(fitting);
        }
        let mut placer = Placer::new(task);
        let within = placer.within_buffers::<_, ()>(most, apart)?;
        within.ok_or_else(|| if limit == 0 { no_room() } else { never(Some(task)) })?;
        let schedule = EpochSchedule::pruned(task, placer.starts);
        found(apart, &schedule)?;
        Ok(schedule)
    }

    /// Refuses schedules in which a GPU holds more chunks for other GPUs than the buffer limit of the scenario allows.
    fn fits_buffers(&self, schedules: &[EpochSchedule]) -> Result<(), MethodError> {
        let Some(limit) = self.scenario.buffer_limit_chunks else { return Ok(()) };
        let held =
            self.tasks.tasks.iter().zip(schedules).map(|(task, one)| most_held(task, &one.starts)).max();
        let most = limit.saturating_mul(self.tasks.pieces) as usize;
        match held {
            Some(held) if held > most => {
                let message =
                    format!("is {limit}, but a GPU holds {held} chunks for others in this schedule");
                let remedy = "raise it, or solve with auto, construct or teccl-milp";
                Err(MethodError::Invalid(Problem::new("buffer_limit_chunks", message, remedy).into()))
            }
            _ => Ok(()),
        }
    }
}

/// Returns the remark on a schedule that is omitted because of its size.
pub(super) fn unreadable(sends: usize) -> String {
    format!(
        "a schedule of {sends} sends is omitted: its file would be larger than the {} MiB that can be read \
         again; solve with auto or trees, which store symmetric plans in compact form, or use fewer GPUs",
        MAX_FILE_BYTES >> 20
    )
}

/// Maximum number of epochs in which links are occupied, summed over the links; searches store a number for each epoch
/// of each link.
const MOST_OCCUPIED: f64 = (1_u64 << 26) as f64;

/// Returns a problem if epochs are so short that searches would need gigabytes to store the epochs in which links are
/// occupied; otherwise `None`.
fn too_fine(scenario: &CollectiveScenario, tasks: &CollectiveTasks) -> Option<Problem> {
    let network = &tasks.tasks.first()?.network;
    let (mut quickest, mut longest) = (f64::INFINITY, 0.0_f64);
    for link in network.links() {
        let occupied = tasks.chunk_bytes / (1000.0 * link.capacity_gbyte_per_s * tasks.epoch_us);
        quickest = quickest.min(occupied);
        longest = longest.max(occupied + link.alpha_us / tasks.epoch_us);
    }
    let occupied = (tasks.deliveries() as f64 * quickest).max(network.links().len() as f64 * longest);
    if !(occupied > MOST_OCCUPIED && occupied.is_finite()) {
        return None;
    }
    let (name, given) = match scenario.time.epoch {
        EpochRule::Fixed => ("epoch_us", tasks.epoch_us),
        _ => ("epoch_multiplier", scenario.time.epoch_multiplier),
    };
    // Rounds up to two digits, so that the suggested value is valid.
    let least = given * occupied / MOST_OCCUPIED;
    let digit = 10_f64.powf(least.log10().floor() - 1.0);
    let least = (least / digit).ceil() * digit;
    let message = format!(
        "makes epochs of {} us, so links are occupied for {occupied:.0} epochs in total; the maximum is \
         {MOST_OCCUPIED}",
        tasks.epoch_us
    );
    Some(Problem::new(format!("time.{name}"), message, format!("set {name} to at least {least:e}")))
}

/// Returns the error for a buffer limit of 0: GPUs then cannot relay, but some chunk has no path without relays.
fn no_room() -> MethodError {
    let message =
        "is 0, but some chunk can reach a destination only through a GPU that does not need the chunk";
    MethodError::Invalid(Problem::new("buffer_limit_chunks", message, "set it to at least 1").into())
}

/// Returns the length of epochs in words, with four digits: `in epochs of 0.7071 us`.
pub(super) fn in_epochs(epoch_us: f64) -> String {
    let scale = 10_f64.powf(3.0 - epoch_us.log10().floor());
    format!("in epochs of {} us", number((epoch_us * scale).round() / scale))
}

/// Returns the error of a construction that failed because links are not up in time. The error states proven
/// infeasibility if some chunk cannot arrive even without other chunks.
pub(super) fn never(task: Option<&CollectiveTask>) -> MethodError {
    if let Some(why) = task.and_then(out_of_reach) {
        return MethodError::Infeasible(why);
    }
    let why = "with this epoch length, some chunk cannot reach a destination while the links are up";
    MethodError::Failed(format!("{why}: lengthen 'up_us', set shorter epochs, or raise 'chunks_per_rank'"))
}

/// Returns the outcome of a run that found a schedule with `finish` epochs: optimal if `finish` equals `bound`,
/// otherwise ended by a limit on the work.
pub(super) fn end(finish: u32, bound: u32) -> Outcome {
    if finish == bound {
        return Outcome::done(Status::Optimal);
    }
    Outcome::Done { status: Status::Feasible, limit: Some(Limit::Work) }
}
