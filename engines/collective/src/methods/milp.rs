//! `teccl-milp`: minimises the number of epochs for whole chunks, with MILP models.

use super::asking::{
    Asking, MOST_COLUMNS, RunSolver, ask_all, fold, folding_of, options, question_s, seed, solver_knobs,
};
use super::construct::limits;
use super::session::{EpochSession, end, in_epochs, restarts};
use crate::Collective;
use crate::compose::{is_readable, whole_chunks};
use crate::model::schedule::EpochSchedule;
use crate::programs::copying::{CopyProgram, CopyQuestion};
use crate::programs::questions::QuestionLimits;
use crate::programs::solver::ProgramSolver;
use lightbay_core::context::Context;
use lightbay_core::method::{Method, MethodError, MethodInfo, Outcome};
use lightbay_core::param::{Effect, ParamInfo, Params};
use lightbay_core::scenario::Scenario;
use lightbay_highs::solution::Start;
use lightbay_highs::solve;
use std::sync::Arc;

/// The method `teccl-milp`.
pub(super) struct CopyMethod;

/// Default number of restarts of the construction, which gives the upper bound and the first start point.
const RESTARTS: i64 = 24;
/// Default time limit per feasibility problem, s. This value is a judgement, not a measurement.
const QUESTION_S: f64 = 60.0;
/// Knobs of the solver that have an effect here.
const KNOBS: [&str; 3] = ["solver_process", "presolve", "heuristic_effort"];

impl CopyMethod {
    /// Name of the method.
    pub(super) const NAME: &'static str = "teccl-milp";
}

/// Returns the knob for the number of epochs to test.
pub(super) fn epochs_knob() -> ParamInfo {
    let help = "Number of epochs to test, for each half of an AllReduce; 0 tests upward from the lower \
         bound. Exported models then use the lower bound.";
    ParamInfo::int("epochs", 0, 1_000_000, 0, help).effect(Effect::Warm)
}

/// Returns the knob that rewards early deliveries.
pub(super) fn reward_knob() -> ParamInfo {
    let help = "If true, a second MILP model makes deliveries as early as possible, weighted by priority, within \
         the minimum number of epochs.";
    ParamInfo::bool("early", false, help).effect(Effect::Warm)
}

impl Method<Collective> for CopyMethod {
    fn info(&self) -> MethodInfo {
        let mut params =
            vec![restarts(RESTARTS), question_s(QUESTION_S), fold(), epochs_knob(), reward_knob()];
        params.extend(solver_knobs(&KNOBS));
        MethodInfo {
            name: Self::NAME,
            help: "Tests increasing numbers of epochs K, from the lower bound on, with symmetry-reduced \
                 MILP models in which nodes may copy data.",
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
        let session = EpochSession::open(&scenario, None, cx)?.bounded(&mut cx.here())?;
        session.state_bound(cx);
        let limits = limits(params, cx);
        cx.phase("construct", format!("chunk by chunk {}", in_epochs(session.tasks.epoch_us)));
        let mut constructed = Vec::new();
        for at in 0..session.tasks.tasks.len() {
            constructed.push(session.constructed(at, limits, &mut cx.here(), |_, _| Ok(()))?);
        }
        session.offer(constructed.clone(), "construct", &mut cx.here())?;
        let tops: Vec<u32> = constructed.iter().map(|known| known.finish).collect();
        let questions = QuestionLimits {
            seconds: params.float("question_s").unwrap_or(QUESTION_S),
            options: options(params, &KNOBS, seed(cx)),
            buffer_limit: scenario.buffer_limit_chunks,
            until_s: f64::INFINITY,
        };
        let asking = Asking {
            limits: questions,
            params,
            only: Some(params.count("epochs") as u32).filter(|epochs| *epochs > 0),
            fold: params.bool("fold"),
            most_columns: MOST_COLUMNS,
            states: true,
        };
        let all = ask_all(&session, constructed, &tops, &asking, cx)?;
        let (proven, finish) = (all.proven, session.epochs_of(&all.schedules));
        if params.bool("early") {
            make_early(&session, all.schedules, &asking, cx)?;
        }
        Ok(end(finish, proven))
    }
}

/// Solves, for each task, a model that makes deliveries early without changing the finish, and reports the schedules.
fn make_early(
    session: &EpochSession,
    mut schedules: Vec<EpochSchedule>,
    asking: &Asking<'_>,
    cx: &mut Context<'_, Collective>,
) -> Result<(), MethodError> {
    let tasks = Arc::clone(&session.tasks);
    for (task, schedule) in tasks.tasks.iter().zip(&mut schedules) {
        let folding = folding_of(task, asking.fold);
        let buffer_limit = asking.limits.buffer_limit;
        let question = CopyQuestion { task, folding: &folding, epochs: schedule.finish, buffer_limit };
        let mut program = CopyProgram::new(question, cx)?;
        program.reward_early();
        let start = program.point(schedule).map_or(Start::None, Start::Full);
        let mut solver =
            RunSolver { cx: &mut *cx, isolated: solve::isolated(asking.params), explains: false };
        solver.built(&program.built());
        let options = asking.limits.options.clone().time_limit_s(asking.limits.seconds);
        let solution = solver.solve(&program.model, options, start)?;
        if let Some(values) = solution.values {
            let early = program.schedule(&values);
            if early.finish <= schedule.finish && program.model.first_broken(&values, 1e-5).is_none() {
                *schedule = early;
            }
        }
    }
    let sends: usize = schedules.iter().map(|schedule| schedule.starts.len()).sum();
    if !is_readable(&session.scenario, sends, session.pieces()) {
        return Ok(());
    }
    let finish = session.epochs_of(&schedules);
    let (scenario, bounds) = (Arc::clone(&session.scenario), Arc::clone(&session.bounds));
    let value = f64::from(finish) * tasks.epoch_us;
    cx.supersede(value, sends as f64, "early deliveries", move || {
        whole_chunks(&scenario, &tasks, &schedules, Some(bounds.as_slice()))
    })
}
