//! The minimum number of epochs for parts of chunks (docs/methods/collective-search.md, section 10).

use super::{FluidProgram, FluidSchedule};
use crate::model::fluid::FluidLinks;
use crate::model::group::Folding;
use crate::model::task::CollectiveTask;
use crate::programs::questions::{AskedQuestion, Ladder, LadderStep, QuestionLimits, QuestionOutcome};
use crate::programs::solver::{FeasibilityEnd, ProgramSolver, SolverStops, any_point};
use lightbay_core::method::MethodError;
use lightbay_highs::options::OptionValue;

/// Result of a series of feasibility problems.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FewestFluidEpochs {
    /// Best schedule; `None` if no schedule of fewer epochs than the known finish was found.
    pub schedule: Option<FluidSchedule>,
    /// Proven lower bound on the number of epochs of every schedule.
    pub proven: u32,
    /// The feasibility problems in order.
    pub asked: Vec<AskedQuestion>,
}

/// Tests whether a schedule of `epochs` epochs exists. Returns the solved problem, and the schedule if one was found.
///
/// # Errors
/// If the run must stop, or if the solver fails.
pub fn ask_fluid<S: ProgramSolver>(
    task: &CollectiveTask,
    links: &FluidLinks,
    folding: &Folding,
    epochs: u32,
    limits: &QuestionLimits,
    solver: &mut S,
) -> Result<(AskedQuestion, Option<FluidSchedule>), MethodError> {
    solver.checkpoint()?;
    let began = solver.elapsed_s();
    let seconds = limits.seconds_at(began);
    let program = FluidProgram::new(task, links, folding, epochs, &mut SolverStops(solver))?;
    let built = program.built();
    solver.built(&built);
    // A vertex decomposes into few paths, a point inside a face into many. The default is therefore the simplex method.
    let chosen = limits.options.get("solver").is_some_and(|method| *method != OptionValue::from("choose"));
    let options =
        if chosen { limits.options.clone() } else { limits.options.clone().set("solver", "simplex") };
    let (outcome, schedule) = match any_point(&program.model, options, seconds, solver)? {
        FeasibilityEnd::Point(point) => (QuestionOutcome::Feasible, Some(program.schedule(&point)?)),
        FeasibilityEnd::Infeasible => (QuestionOutcome::Infeasible, None),
        FeasibilityEnd::Unknown => (QuestionOutcome::Unknown, None),
    };
    let asked = AskedQuestion { program: built, seconds: solver.elapsed_s() - began, outcome };
    Ok((asked, schedule))
}

/// Searches for schedules that end before a known finish; tests numbers of epochs from a lower bound upward. Calls
/// `told` with every solved problem and with its schedule, if one was found.
///
/// # Errors
/// If the run must stop, or if the solver fails.
#[expect(clippy::too_many_arguments, reason = "the problem, its limits and the listener")]
pub fn fewest_fluid_epochs<S: ProgramSolver>(
    task: &CollectiveTask,
    links: &FluidLinks,
    folding: &Folding,
    bound: u32,
    known: u32,
    limits: &QuestionLimits,
    solver: &mut S,
    mut told: impl FnMut(&mut S, &AskedQuestion, Option<&FluidSchedule>) -> Result<(), MethodError>,
) -> Result<FewestFluidEpochs, MethodError> {
    let mut ladder = Ladder::new(bound, known);
    let mut result = FewestFluidEpochs::default();
    while let LadderStep::Ask(epochs) = ladder.next_step() {
        if !limits.allow_another(solver.elapsed_s()) {
            break;
        }
        let (asked, schedule) = ask_fluid(task, links, folding, epochs, limits, solver)?;
        told(solver, &asked, schedule.as_ref())?;
        // The symmetry-reduced LP model is infeasible only if the full model is, so its answers prove bounds.
        match asked.outcome {
            QuestionOutcome::Infeasible => ladder.exclude(epochs),
            QuestionOutcome::Unknown => ladder.leave_open(epochs),
            QuestionOutcome::Feasible => {}
        }
        result.asked.push(asked);
        if let Some(schedule) = schedule {
            ladder.reach(schedule.finish);
            result.schedule = Some(schedule);
        }
    }
    result.proven = ladder.proven();
    Ok(result)
}
