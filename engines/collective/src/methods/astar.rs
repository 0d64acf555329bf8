//! `teccl-astar`: plans whole chunks round by round; each round is an integer program.

use super::asking::{RunSolver, fits, fold, folding_of, options, seed, solver_knobs};
use super::session::{EpochSession, end};
use crate::Collective;
use crate::scenario::CollectiveScenario;
use crate::search::rounds::{RoundLimits, in_rounds, shortest_round};
use lightbay_core::context::Context;
use lightbay_core::event::Severity;
use lightbay_core::method::{Method, MethodError, MethodInfo, Outcome};
use lightbay_core::param::{Effect, ParamInfo, Params};
use lightbay_core::problem::{Problem, Problems};
use lightbay_core::scenario::Scenario;
use lightbay_highs::solve;
use std::sync::Arc;

/// The method `teccl-astar`.
pub(super) struct RoundsMethod;

/// Default time limit per round, s. This value is a judgement, not a measurement: a plan of several rounds then takes a
/// few minutes at most.
const ROUND_S: f64 = 15.0;
/// Knobs of the solver that have an effect here.
const KNOBS: [&str; 3] = ["mip_gap", "solver_process", "presolve"];

impl Method<Collective> for RoundsMethod {
    fn info(&self) -> MethodInfo {
        let epochs = "Epochs per round; 0 uses the fewest epochs in which every path through switches fits.";
        let seconds = "Time limit for one round; when it expires, the round uses the best point found.";
        let mut params = vec![
            ParamInfo::int("round_epochs", 0, 1_000_000, 0, epochs).effect(Effect::Warm),
            ParamInfo::float("round_s", 0.1, 1e6, ROUND_S, seconds).unit("s").effect(Effect::Warm),
            fold(),
        ];
        params.extend(solver_knobs(&KNOBS));
        MethodInfo {
            name: "teccl-astar",
            help: "Plans in rounds: in each, a MILP model of a few epochs rewards deliveries and the \
                 progress of chunks towards their destinations.",
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
        suits(&scenario)?;
        let session = EpochSession::open(&scenario, None, cx)?.bounded(&mut cx.here())?;
        session.state_bound(cx);
        let tasks = Arc::clone(&session.tasks);
        let mut schedules = Vec::with_capacity(tasks.tasks.len());
        for (task, bound) in tasks.tasks.iter().zip(session.bounds.iter()) {
            let wanted = params.count("round_epochs") as u32;
            let epochs = wanted.max(shortest_round(task));
            if wanted != 0 && wanted < epochs {
                cx.note(
                    Severity::Warning,
                    format!(
                        "rounds of {wanted} epochs are too short for some link or path through switches; \
                         rounds of {epochs} epochs are used"
                    ),
                );
            }
            if !fits(task, epochs) {
                let message =
                    format!("makes rounds of {epochs} epochs, whose models exceed the memory limit");
                let remedy = "use longer epochs, such as epoch=slowest_link, or another method";
                return Err(Problems::one(Problem::new("epoch", message, remedy)).into());
            }
            cx.phase("rounds", format!("of {epochs} epochs"));
            let limits = RoundLimits {
                epochs,
                may_grow: wanted == 0,
                seconds: params.float("round_s").unwrap_or(ROUND_S),
                options: options(params, &KNOBS, seed(cx)),
            };
            let folding = folding_of(task, params.bool("fold"));
            let mut solver = RunSolver { cx: &mut *cx, isolated: solve::isolated(params), explains: false };
            let told = |solver: &mut RunSolver<'_, '_>, end: crate::search::rounds::RoundEnd| {
                let text =
                    format!("round {}: {} of {} deliveries remain", end.round, end.waiting, end.deliveries);
                solver.cx.note(Severity::Info, text);
                Ok(())
            };
            schedules.push(in_rounds(task, &folding, bound.epochs, &limits, &mut solver, told)?);
        }
        let finish = session.epochs_of(&schedules);
        session.offer(schedules, "rounds", &mut cx.here())?;
        Ok(end(finish, session.bound_epochs()))
    }
}

/// Refuses scenario features that the rounds do not support.
fn suits(scenario: &CollectiveScenario) -> Result<(), Problems> {
    match scenario.buffer_limit_chunks {
        Some(_) => Err(Problems::one(Problem::new(
            "buffer_limit_chunks",
            "is not supported by teccl-astar",
            "omit it, or use teccl-milp",
        ))),
        None => Ok(()),
    }
}
