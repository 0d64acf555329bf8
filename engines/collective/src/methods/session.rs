//! Parts that the methods share: the tasks of a scenario in epochs of one length, their bounds, and plans handed over.

use crate::Collective;
use crate::bounds::{EpochBound, bound};
use crate::compose::{MOST_LISTED_SENDS, epochs_of, exchange_in_short, whole_chunks};
use crate::model::schedule::EpochSchedule;
use crate::model::task::{CollectiveTask, CollectiveTasks};
use crate::plan::{Discipline, covers};
use crate::scenario::CollectiveScenario;
use crate::search::construct::{ConstructLimits, construct};
use lightbay_core::context::Context;
use lightbay_core::event::Severity;
use lightbay_core::method::{MethodError, Outcome};
use lightbay_core::param::{Effect, ParamInfo};
use lightbay_core::plan::{Limit, Status};
use std::sync::Arc;

/// The tasks of a scenario in epochs of one length.
pub(super) struct EpochSession {
    pub(super) scenario: Arc<CollectiveScenario>,
    pub(super) tasks: Arc<CollectiveTasks>,
    /// Bound of each task; none for methods that prove nothing.
    pub(super) bounds: Arc<Vec<EpochBound>>,
}

/// The knob of restarts.
pub(super) fn restarts(usual: i64) -> ParamInfo {
    let help = "Squeaky-wheel passes after the fixed chunk orders; each moves late chunks forward.";
    ParamInfo::int("restarts", 0, 1_000_000, usual, help).effect(Effect::Warm)
}

impl EpochSession {
    /// The tasks in epochs of a length, or of that which the scenario's rule gives.
    pub(super) fn open(
        scenario: &Arc<CollectiveScenario>,
        epoch_us: Option<f64>,
        cx: &mut Context<'_, Collective>,
    ) -> Result<Self, MethodError> {
        Self::in_pieces(scenario, epoch_us, 1, cx)
    }

    /// The same with every chunk in a number of equal pieces.
    pub(super) fn in_pieces(
        scenario: &Arc<CollectiveScenario>,
        epoch_us: Option<f64>,
        pieces: u32,
        cx: &mut Context<'_, Collective>,
    ) -> Result<Self, MethodError> {
        let threshold = scenario.time.alpha_threshold;
        let tasks = CollectiveTasks::in_pieces(scenario, epoch_us, pieces, threshold)?;
        for remark in &tasks.remarks {
            cx.note(Severity::Info, remark.clone());
        }
        Ok(Self { scenario: Arc::clone(scenario), tasks: Arc::new(tasks), bounds: Arc::default() })
    }

    /// The same with a bound for each task.
    pub(super) fn bounded(mut self, cx: &mut Context<'_, Collective>) -> Result<Self, MethodError> {
        let what = match self.tasks.pieces {
            1 => "whole chunks".to_owned(),
            pieces => format!("chunks in {pieces} pieces"),
        };
        cx.phase("bound", format!("{what} in epochs of {} us", self.tasks.epoch_us));
        let mut bounds = Vec::with_capacity(self.tasks.tasks.len());
        for task in &self.tasks.tasks {
            bounds.push(bound::<_, ()>(task, cx)?);
        }
        let words: Vec<String> =
            self.tasks.tasks.iter().zip(&bounds).map(|(task, bound)| bound.words(task)).collect();
        let epochs: u32 = bounds.iter().map(|bound| bound.epochs).sum();
        cx.note(Severity::Info, format!("at least {epochs} epochs: {}", words.join("; ")));
        self.bounds = Arc::new(bounds);
        Ok(self)
    }

    /// Epochs that the bounds give in all.
    pub(super) fn bound_epochs(&self) -> u32 {
        self.bounds.iter().map(|bound| bound.epochs).sum()
    }

    /// Epochs of schedules one after the other.
    pub(super) fn epochs_of(&self, schedules: &[EpochSchedule]) -> u32 {
        epochs_of(&self.tasks, schedules)
    }

    /// States the bound of the session, with what it covers.
    pub(super) fn state_bound(&self, cx: &mut Context<'_, Collective>) {
        let bound_us = f64::from(self.bound_epochs()) * self.tasks.epoch_us;
        let parts = self.tasks.tasks.len() > 1;
        cx.bound_over(
            bound_us,
            &covers(self.tasks.epoch_us, Discipline::WholeChunk, self.tasks.pieces, parts),
        );
    }

    /// Hands a schedule for each task over.
    pub(super) fn offer(
        &self,
        schedules: Vec<EpochSchedule>,
        source: &str,
        cx: &mut Context<'_, Collective>,
    ) -> Result<(), MethodError> {
        self.fits_buffers(&schedules)?;
        let finish = self.epochs_of(&schedules);
        let sends: usize = schedules.iter().map(|schedule| schedule.starts.len()).sum();
        let (scenario, tasks, bounds) =
            (Arc::clone(&self.scenario), Arc::clone(&self.tasks), Arc::clone(&self.bounds));
        let value = f64::from(finish) * self.tasks.epoch_us;
        cx.incumbent(value, sends as f64, source, move || {
            let bounds = (!bounds.is_empty()).then_some(bounds.as_slice());
            let in_short = match schedules.as_slice() {
                [schedule] if schedule.starts.len() > MOST_LISTED_SENDS => {
                    exchange_in_short(&scenario, &tasks, schedule, bounds)
                }
                _ => None,
            };
            in_short.unwrap_or_else(|| whole_chunks(&scenario, &tasks, &schedules, bounds))
        })?;
        Ok(())
    }

    /// Constructs a schedule for each task and hands them over.
    pub(super) fn construct(
        &self,
        limits: ConstructLimits,
        cx: &mut Context<'_, Collective>,
    ) -> Result<Vec<EpochSchedule>, MethodError> {
        cx.phase("construct", format!("chunk by chunk in epochs of {} us", self.tasks.epoch_us));
        let alone = self.tasks.tasks.len() == 1;
        let mut schedules = Vec::with_capacity(self.tasks.tasks.len());
        for (task, bound) in self.tasks.tasks.iter().zip(self.bounds.iter()) {
            let found = construct::<_, ()>(task, bound, limits, cx, |cx, schedule| {
                if alone { self.offer(vec![schedule.clone()], "construct", cx) } else { Ok(()) }
            })?;
            schedules.push(found.ok_or_else(never)?);
        }
        if !alone {
            self.offer(schedules.clone(), "construct", cx)?;
        }
        Ok(schedules)
    }

    /// Checks that schedules fit the buffers, which nothing here plans for.
    pub(super) fn fits_buffers(&self, schedules: &[EpochSchedule]) -> Result<(), MethodError> {
        let Some(limit) = self.scenario.buffer_limit_chunks else { return Ok(()) };
        let held =
            self.tasks.tasks.iter().zip(schedules).map(|(task, schedule)| most_held(task, schedule)).max();
        match held {
            Some(held) if held > limit as usize => Err(MethodError::Failed(format!(
                "a GPU has to hold {held} chunks for others at a time in the schedule that was found, and \
                 'buffer_limit_chunks' is {limit}: raise the limit, or leave it out"
            ))),
            _ => Ok(()),
        }
    }
}

/// Most chunks that a GPU holds at a time without having them from the beginning or wanting them.
fn most_held(task: &CollectiveTask, schedule: &EpochSchedule) -> usize {
    use std::collections::BTreeMap;
    let mut held: BTreeMap<(u32, u32), (u32, u32)> = BTreeMap::new();
    for start in &schedule.starts {
        let link = &task.network.links()[start.link as usize];
        let arrival = start.epoch + task.epochs.latency(start.link);
        held.entry((link.to, start.chunk)).or_insert((arrival, arrival)).0 = arrival;
        held.entry((link.from, start.chunk))
            .and_modify(|span| span.1 = span.1.max(start.epoch))
            .or_insert((start.epoch, start.epoch));
    }
    let mut changes: BTreeMap<u32, Vec<(u32, i32)>> = BTreeMap::new();
    for ((node, chunk), (from, until)) in held {
        let chunk = chunk as usize;
        let own = task.chunks.source(chunk) == node || task.chunks.dests(chunk).any(|dest| dest == node);
        if !own && !task.network.is_switch(node) {
            changes.entry(node).or_default().extend([(from, 1), (until.max(from) + 1, -1)]);
        }
    }
    let most = |mut changes: Vec<(u32, i32)>| {
        changes.sort_unstable();
        let sums = changes.iter().scan(0, |now, (_, change)| {
            *now += change;
            Some(*now)
        });
        sums.max().unwrap_or(0)
    };
    changes.into_values().map(most).max().unwrap_or(0) as usize
}

/// The failure of a construction on links that are not up in time.
pub(super) fn never() -> MethodError {
    let why = "some chunk cannot reach a destination in the times at which links are up";
    MethodError::Failed(format!("{why}: lengthen 'up_us', or leave it out"))
}

/// The end of a run that found a schedule of a number of epochs.
pub(super) fn end(finish: u32, bound: u32) -> Outcome {
    if finish == bound {
        return Outcome::done(Status::Optimal);
    }
    Outcome::Done { status: Status::Feasible, limit: Some(Limit::Work) }
}
