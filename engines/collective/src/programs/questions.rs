//! The minimum number of epochs, by a sequence of feasibility problems: does a schedule of K epochs exist?
//! (docs/methods/collective-search.md, section 10).
//!
//! A problem has three answers. If the solver cannot decide the problem within the time limit, the answer is unknown,
//! which gives neither a schedule nor a proof. A symmetry-reduced model admits only symmetric schedules: a schedule
//! from this model is valid, but only the full model proves that no schedule exists.

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

/// Answer to a feasibility problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum QuestionOutcome {
    /// A schedule exists.
    Feasible,
    /// No schedule exists; for a symmetry-reduced model: no schedule with these symmetries exists.
    Infeasible,
    /// A limit was reached before the answer.
    Unknown,
}

/// A feasibility problem that was solved.
#[derive(Clone, Debug, PartialEq)]
pub struct AskedQuestion {
    /// The model.
    pub program: BuiltProgram,
    /// Seconds until the answer.
    pub seconds: f64,
    /// Answer to the problem.
    pub outcome: QuestionOutcome,
}

/// Limits of feasibility problems.
#[derive(Clone, Debug)]
pub struct QuestionLimits {
    /// Time limit for each problem, s.
    pub seconds: f64,
    /// Time on the run's clock until which problems may be solved, s.
    pub until_s: f64,
    /// Options of the solver.
    pub options: Options,
    /// Maximum number of chunks that a GPU may hold for other GPUs at a time.
    pub buffer_limit: Option<u32>,
}

/// Result of a series of feasibility problems.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FewestEpochs {
    /// Best schedule; `None` if no schedule of fewer epochs than the known schedule was found.
    pub schedule: Option<EpochSchedule>,
    /// Proven lower bound on the number of epochs of every schedule.
    pub proven: u32,
    /// The feasibility problems in order.
    pub asked: Vec<AskedQuestion>,
}

impl QuestionLimits {
    /// Returns the number of seconds for a problem that starts at a given time on the run's clock.
    pub fn seconds_at(&self, elapsed_s: f64) -> f64 {
        // A problem ends at its own limit, or with the run.
        self.seconds.min(self.until_s - elapsed_s).max(0.0)
    }

    /// Returns `true` if time is left for another problem.
    pub fn allow_another(&self, elapsed_s: f64) -> bool {
        elapsed_s < self.until_s
    }
}

/// Solves one feasibility problem. Returns the solved problem, and the schedule if one was found.
///
/// # Errors
/// If the run must stop, or if the solver fails.
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
    // Any point is an answer; there is no objective.
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

/// Searches for schedules of fewer than `known` epochs; tests numbers of epochs from a lower bound upward, first with
/// the symmetry-reduced model, then with the full model if no symmetric schedule exists. Calls `told` with every solved
/// problem and with its schedule, if one was found.
///
/// # Errors
/// If the run must stop, or if the solver fails.
pub fn fewest_epochs<S: ProgramSolver>(
    task: &CollectiveTask,
    bound: u32,
    known: u32,
    folding: &Folding,
    limits: &QuestionLimits,
    solver: &mut S,
    mut told: impl FnMut(&mut S, &AskedQuestion, Option<&EpochSchedule>) -> Result<(), MethodError>,
) -> Result<FewestEpochs, MethodError> {
    // Only the full model proves that no schedule exists.
    let whole = Folding::none(&task.network, &task.chunks);
    let mut ladder = Ladder::new(bound, known);
    let mut result = FewestEpochs::default();
    while let LadderStep::Ask(epochs) = ladder.next_step() {
        if !limits.allow_another(solver.elapsed_s()) {
            break;
        }
        // Solves the reduced model first: it is smaller, and its schedules are schedules of the full model.
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
        // The last answer is from the full model, unless there is a schedule.
        match outcome {
            QuestionOutcome::Feasible => {}
            QuestionOutcome::Infeasible => ladder.exclude(epochs),
            QuestionOutcome::Unknown => ladder.leave_open(epochs),
        }
    }
    result.proven = ladder.proven();
    Ok(result)
}
