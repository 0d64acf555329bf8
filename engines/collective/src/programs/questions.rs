//! The fewest epochs, by a sequence of feasibility problems: is there a schedule of K epochs?
//! (docs/methods/collective.md, section 10).
//!
//! A question has three answers. What the solver cannot decide within its seconds is unknown, and neither a schedule
//! nor a proof. A program folded by symmetries asks for symmetric schedules only: what it finds counts, but only the
//! whole program proves that there is nothing.

mod ladder;

#[cfg(test)]
mod tests;

pub use ladder::{Ladder, LadderStep};

use super::copying::{CopyProgram, CopyQuestion};
use super::solver::{BuiltProgram, FeasibilityEnd, ProgramSolver, SolverStops, any_point};
use crate::model::group::Folding;
use crate::model::schedule::EpochSchedule;
use crate::model::task::CollectiveTask;
use lightbay_core::method::MethodError;
use lightbay_highs::options::Options;
use serde::Serialize;

/// Answer to the question for a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum QuestionOutcome {
    /// There is one.
    Feasible,
    /// There is none; of a folded program: none with those symmetries.
    Infeasible,
    /// A limit came first.
    Unknown,
}

/// A question that was asked.
#[derive(Clone, Debug, PartialEq)]
pub struct AskedQuestion {
    /// The program.
    pub program: BuiltProgram,
    /// Seconds until the answer.
    pub seconds: f64,
    /// Answer.
    pub outcome: QuestionOutcome,
}

/// Limits of questions.
#[derive(Clone, Debug)]
pub struct QuestionLimits {
    /// Seconds for each.
    pub seconds: f64,
    /// Second of the run's clock at which the last one ends.
    pub until_s: f64,
    /// Options of the solver.
    pub options: Options,
    /// Chunks that a GPU may hold for others at a time.
    pub buffer_limit: Option<u32>,
}

/// End of a series of questions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FewestEpochs {
    /// The best schedule, if a better one than the known one was found.
    pub schedule: Option<EpochSchedule>,
    /// Epochs that every schedule takes.
    pub proven: u32,
    /// The questions in order.
    pub asked: Vec<AskedQuestion>,
}

impl QuestionLimits {
    /// Seconds for a question that is asked at a second of the run's clock.
    pub fn seconds_at(&self, elapsed_s: f64) -> f64 {
        // A question ends at its own limit, or with the run's.
        self.seconds.min(self.until_s - elapsed_s).max(0.0)
    }

    /// Returns `true` if time is left for another question.
    pub fn allow_another(&self, elapsed_s: f64) -> bool {
        elapsed_s < self.until_s
    }
}

/// Asks one question.
///
/// # Errors
/// The reason to stop, or that the solver failed.
pub fn ask<S: ProgramSolver>(
    task: &CollectiveTask,
    folding: &Folding,
    epochs: u32,
    limits: &QuestionLimits,
    solver: &mut S,
) -> Result<(AskedQuestion, Option<EpochSchedule>), MethodError> {
    solver.checkpoint()?;
    let began = solver.elapsed_s();
    let seconds = limits.seconds_at(began);
    let question = CopyQuestion { task, folding, epochs, buffer_limit: limits.buffer_limit };
    let program = CopyProgram::new(question, &mut SolverStops(solver))?;
    let built = program.built();
    solver.built(&built);
    // Any point answers; there is no objective.
    let end = any_point(&program.model, limits.options.clone(), seconds, solver)?;
    let (outcome, schedule) = match end {
        FeasibilityEnd::Point(point) => (QuestionOutcome::Feasible, Some(program.schedule(&point))),
        FeasibilityEnd::Infeasible => {
            // A non-symmetric schedule may exist even if no symmetric one does.
            if folding.is_trivial() {
                solver.impossible(&program.model)?;
            }
            (QuestionOutcome::Infeasible, None)
        }
        FeasibilityEnd::Unknown => (QuestionOutcome::Unknown, None),
    };
    let asked = AskedQuestion { program: built, seconds: solver.elapsed_s() - began, outcome };
    Ok((asked, schedule))
}

/// Looks for schedules of fewer epochs than the known one has, from a bound upward: folded by symmetries first, and
/// whole where there is no symmetric one. `told` is called with every question with the schedule that was found.
///
/// # Errors
/// The reason to stop, or that the solver failed.
pub fn fewest_epochs<S: ProgramSolver>(
    task: &CollectiveTask,
    bound: u32,
    known: u32,
    folding: &Folding,
    limits: &QuestionLimits,
    solver: &mut S,
    mut told: impl FnMut(&mut S, &AskedQuestion, Option<&EpochSchedule>) -> Result<(), MethodError>,
) -> Result<FewestEpochs, MethodError> {
    // The whole program alone proves that there is no schedule.
    let whole = Folding::none(&task.network, &task.chunks);
    let mut ladder = Ladder::new(bound, known);
    let mut result = FewestEpochs::default();
    while let LadderStep::Ask(epochs) = ladder.next_step() {
        if !limits.allow_another(solver.elapsed_s()) {
            break;
        }
        // The reduced program first: it is smaller, and what it finds counts.
        let ways = [(!folding.is_trivial()).then_some(folding), Some(&whole)];
        let mut outcome = QuestionOutcome::Unknown;
        for folding in ways.into_iter().flatten() {
            if !limits.allow_another(solver.elapsed_s()) {
                outcome = QuestionOutcome::Unknown;
                break;
            }
            let (asked, schedule) = ask(task, folding, epochs, limits, solver)?;
            told(solver, &asked, schedule.as_ref())?;
            outcome = asked.outcome;
            result.asked.push(asked);
            // A schedule may complete earlier than the tested number of epochs.
            if let Some(schedule) = schedule {
                ladder.reach(schedule.finish);
                result.schedule = Some(schedule);
                break;
            }
        }
        // The last answer is that of the whole program, unless there is a schedule.
        match outcome {
            QuestionOutcome::Feasible => {}
            QuestionOutcome::Infeasible => ladder.exclude(epochs),
            QuestionOutcome::Unknown => ladder.leave_open(epochs),
        }
    }
    result.proven = ladder.proven();
    Ok(result)
}
