//! `teccl-lp`: minimises the number of epochs for parts of chunks without copies, with LP models, starting with coarse
//! epochs.

use super::asking::{
    Asking, MOST_COLUMNS, RunSolver, fold, folding_of, options, question_s, seed, solver_knobs, tell,
};
use super::construct::limits;
use super::session::{EpochSession, end, restarts, unreadable};
use crate::Collective;
use crate::bounds::{EpochBound, fluid_bound};
use crate::compose::{is_readable, parts_of_chunks};
use crate::model::fluid::FluidLinks;
use crate::model::task::CollectiveTask;
use crate::plan::{Discipline, covers};
use crate::programs::fluid::{FluidSchedule, fewest_fluid_epochs};
use crate::programs::questions::QuestionLimits;
use crate::scenario::CollectiveScenario;
use lightbay_core::context::Context;
use lightbay_core::event::Severity;
use lightbay_core::method::{Method, MethodError, MethodInfo, Outcome};
use lightbay_core::param::{Effect, ParamInfo, Params};
use lightbay_core::problem::Problems;
use lightbay_core::scenario::Scenario;
use lightbay_highs::solve;
use std::sync::Arc;

/// The method `teccl-lp`.
pub(super) struct FluidMethod;

/// Default number of restarts of the construction; small, because the construction only gives the first upper bound,
/// which the linear program improves.
const RESTARTS: i64 = 4;
/// Default time limit per feasibility problem, s. This value is a judgement, not a measurement.
const QUESTION_S: f64 = 120.0;
/// Knobs of the solver that have an effect here.
pub(super) const KNOBS: [&str; 3] = ["solver_process", "presolve", "lp_method"];
/// Factor from an epoch length to the next shorter epoch length. The number of columns grows by this factor, so the
/// coarser models together take at most a third of the work of the finest (1/4 + 1/16 + ...).
const FINER: i64 = 4;
/// Relative tolerance for the rounding of finishes in µs.
const SAME: f64 = 1e-9;

/// The best plan of parts of chunks so far, and the bound that is proven for its epochs.
#[derive(Clone, Copy, Debug)]
pub(super) struct FluidBest {
    pub(super) finish_us: f64,
    pub(super) finish: u32,
    pub(super) proven: u32,
    pub(super) epoch_us: f64,
}

impl FluidBest {
    /// Reports the proven bound and the plans that it covers.
    pub(super) fn state_bound(&self, cx: &mut Context<'_, Collective>) {
        let bound_us = f64::from(self.proven) * self.epoch_us;
        cx.bound_over(bound_us, &covers(self.epoch_us, Discipline::Fluid, 1, false));
    }
}

/// Returns the number of columns of the LP model of a task with all sources in all epochs.
fn columns_of(task: &CollectiveTask, epochs: u32) -> u64 {
    let mut sources: Vec<u32> = (0..task.chunks.len()).map(|chunk| task.chunks.source(chunk)).collect();
    sources.sort_unstable();
    sources.dedup();
    (sources.len() as u64)
        .saturating_mul((task.network.links().len() + task.network.gpus().len()) as u64)
        .saturating_mul(u64::from(epochs) + 1)
}

impl Method<Collective> for FluidMethod {
    fn info(&self) -> MethodInfo {
        let coarsest = "Initial epoch length as a multiple of the epoch; shorter epochs follow as long as \
                        they may \
             give an earlier completion.";
        let mut params = vec![
            restarts(RESTARTS),
            question_s(QUESTION_S),
            fold(),
            ParamInfo::int("coarsest", 1, 1024, 16, coarsest).effect(Effect::Warm),
        ];
        params.extend(solver_knobs(&KNOBS));
        MethodInfo {
            name: "teccl-lp",
            help: "LP models for chunks with one destination each; a chunk may split over several paths. \
                 Starts with long epochs and refines them.",
            proves: true,
            hot_start: false,
            params,
        }
    }

    fn solve(
        &self,
        scenario: &Scenario<Collective>,
        params: &Params,
        cx: &mut Context<'_, Collective>,
    ) -> Result<Outcome, MethodError> {
        let scenario = Arc::new(scenario.body.clone());
        let fine = EpochSession::open(&scenario, None, cx)?;
        suits(&scenario, &fine)?;
        let fine_us = fine.tasks.epoch_us;
        let task = &fine.tasks.tasks[0].clone().in_parts();
        let least = fluid_bound::<_, ()>(task, &FluidLinks::of(task), cx)?;
        let least_us = f64::from(least.epochs) * fine_us;
        let mut best: Option<FluidBest> = None;
        let mut factor = params.int("coarsest").unwrap_or(1).max(1);
        let ended = loop {
            if let Err(error) =
                coarse(&scenario, (fine_us * factor as f64, factor > 1), params, &mut best, cx)
            {
                break Err(error);
            }
            // Schedules in finer epochs cannot complete before the bound for those epochs.
            if factor == 1 || best.is_some_and(|best| best.finish_us <= least_us * (1.0 + SAME)) {
                break Ok(());
            }
            factor = (factor / FINER).max(1);
        };
        // A bound holds for one epoch length, so the bound for the epochs of the plan is reported.
        if let Some(best) = best {
            best.state_bound(cx);
        }
        ended?;
        let best = best.ok_or_else(|| super::session::never(Some(task)))?;
        Ok(end(best.finish, best.proven))
    }
}

/// Refuses scenarios that the LP model does not support.
pub(super) fn suits(scenario: &CollectiveScenario, session: &EpochSession) -> Result<(), Problems> {
    let mut problems = Problems::new();
    let tasks = &session.tasks.tasks;
    if tasks.len() != 1 || tasks.iter().any(|task| task.adds) {
        let sort = scenario.demand.collective.label();
        problems.add(
            "demand.collective",
            format!("is {sort}, which reduces data; the LP model only moves data"),
            "use teccl-milp or construct",
        );
    } else if !tasks.iter().all(|task| task.chunks.is_unicast()) {
        problems.add(
            "demand.copy",
            "is true, and some chunks have several destinations; the LP model does not copy",
            "set it to false to send each destination a separate chunk, or use teccl-milp",
        );
    }
    if scenario.buffer_limit_chunks.is_some() {
        problems.add(
            "buffer_limit_chunks",
            "limits whole chunks, but the LP model sends parts of chunks",
            "omit it, or use teccl-milp",
        );
    }
    problems.into_result(())
}

/// Searches for schedules in epochs of one length.
fn coarse(
    scenario: &Arc<CollectiveScenario>,
    (epoch_us, is_coarse): (f64, bool),
    params: &Params,
    best: &mut Option<FluidBest>,
    cx: &mut Context<'_, Collective>,
) -> Result<(), MethodError> {
    let session = EpochSession::open(scenario, Some(epoch_us), cx)?.bounded(&mut cx.here())?;
    let whole = match session.construct(limits(params, cx), &mut cx.here()) {
        Ok(schedules) => session.epochs_of(&schedules),
        // Time-varying links may be up for less than a coarse epoch.
        Err(MethodError::Failed(_)) if is_coarse => return Ok(()),
        Err(error) => return Err(error),
    };
    let limits = QuestionLimits {
        seconds: params.float("question_s").unwrap_or(QUESTION_S),
        until_s: f64::INFINITY,
        options: options(params, &KNOBS, seed(cx)),
        buffer_limit: None,
    };
    let asking = Asking {
        limits,
        params,
        only: None,
        fold: params.bool("fold"),
        most_columns: MOST_COLUMNS,
        states: false,
    };
    let mut kept = FluidBest { finish_us: f64::from(whole) * epoch_us, finish: whole, proven: 0, epoch_us };
    let ended = ask_fluid_below(&session, &asking, &mut kept, cx);
    if best.is_none_or(|known| kept.finish_us < known.finish_us * (1.0 - SAME)) {
        *best = Some(kept);
    }
    ended
}

/// Searches for schedules of parts of chunks that end before the known finish, and reports each such schedule.
pub(super) fn ask_fluid_below(
    session: &EpochSession,
    asking: &Asking<'_>,
    kept: &mut FluidBest,
    cx: &mut Context<'_, Collective>,
) -> Result<(), MethodError> {
    let tasks = Arc::clone(&session.tasks);
    let Some(task) = tasks.tasks.first().cloned().map(CollectiveTask::in_parts) else { return Ok(()) };
    let task = &task;
    let links = FluidLinks::of(task);
    let bound = fluid_bound::<_, ()>(task, &links, cx)?;
    cx.note(
        Severity::Info,
        format!("parts of chunks take at least {} epochs: {}", bound.epochs, bound.words(task)),
    );
    kept.proven = bound.epochs;
    if columns_of(task, kept.finish) > asking.most_columns {
        return Ok(());
    }
    let (known, limits) = (kept.finish, &asking.limits);
    let folding = folding_of(task, asking.fold);
    let mut solver = RunSolver { cx: &mut *cx, isolated: solve::isolated(asking.params), explains: false };
    let told = |solver: &mut RunSolver<'_, '_>, asked: &_, found: Option<&FluidSchedule>| {
        tell(solver.cx, asked, true);
        if let Some(schedule) = found {
            offer(session, &links, schedule, &bound, solver.cx)?;
        }
        Ok(())
    };
    let found = fewest_fluid_epochs(task, &links, &folding, bound.epochs, known, limits, &mut solver, told)?;
    kept.proven = kept.proven.max(found.proven);
    if let Some(schedule) = found.schedule {
        kept.finish = schedule.finish;
        kept.finish_us = f64::from(schedule.finish) * kept.epoch_us;
    }
    Ok(())
}

/// Reports a schedule of parts of chunks.
fn offer(
    session: &EpochSession,
    links: &FluidLinks,
    schedule: &FluidSchedule,
    bound: &EpochBound,
    cx: &mut Context<'_, Collective>,
) -> Result<(), MethodError> {
    let sends: usize = schedule.pieces.iter().map(|piece| piece.hops.len()).sum();
    if !is_readable(&session.scenario, sends, schedule.pieces.len()) {
        cx.note(Severity::Warning, unreadable(sends));
        return Ok(());
    }
    let value = f64::from(schedule.finish) * session.tasks.epoch_us;
    let candidate = parts_of_chunks(&session.scenario, &session.tasks, links, schedule, Some(bound));
    if let Some(candidate) = candidate {
        cx.incumbent(value, sends as f64, "linear program", move || candidate)?;
    }
    Ok(())
}
