//! Solver of a program, and its outcome.

use lightbay_core::event::EventBody;
use lightbay_core::method::MethodError;
use lightbay_core::watch::Watch;
use lightbay_highs::instance::solve_here;
use lightbay_highs::listener::RunListener;
use lightbay_highs::model::{Model, Size};
use lightbay_highs::options::Options;
use lightbay_highs::solution::{Solution, Start, Status};

/// Somebody who solves programs: a method in the solver process of its run, tests in their own process.
pub trait ProgramSolver {
    /// Solves a program.
    ///
    /// # Errors
    /// The reason to stop, or that the solver failed.
    fn solve(&mut self, model: &Model, options: Options, start: Start) -> Result<Solution, MethodError>;

    /// Checks whether to stop.
    ///
    /// # Errors
    /// The reason to stop.
    fn checkpoint(&mut self) -> Result<(), MethodError>;

    /// Hears of a program before it is solved.
    fn built(&mut self, _program: &BuiltProgram) {}

    /// Is called with a program of all schedules that has no point.
    ///
    /// # Errors
    /// The reason to stop, or that the solver failed.
    fn impossible(&mut self, _model: &Model) -> Result<(), MethodError> {
        Ok(())
    }

    /// Seconds of the run's clock.
    fn elapsed_s(&self) -> f64;
}

/// Columns and rows of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProgramExtent {
    /// Columns.
    pub columns: u64,
    /// Rows.
    pub rows: u64,
}

/// A program that is about to be solved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuiltProgram {
    /// Epochs of the schedules that it asks for.
    pub epochs: u32,
    /// Number of symmetries by which it is folded; 1 for the whole one.
    pub folded_by: usize,
    /// Columns and rows with all chunks in all epochs.
    pub whole: ProgramExtent,
    /// Columns and rows of what can be in time.
    pub pruned: ProgramExtent,
    /// Its size as it is solved.
    pub size: Size,
}

/// A solver in the own process.
#[derive(Debug)]
pub struct OwnProcess<'w, W> {
    watch: &'w mut W,
}

impl<'w, W: Watch> OwnProcess<'w, W> {
    /// A solver for the run of a watch.
    pub const fn new(watch: &'w mut W) -> Self {
        Self { watch }
    }
}

impl<W: Watch> ProgramSolver for OwnProcess<'_, W> {
    fn solve(&mut self, model: &Model, options: Options, start: Start) -> Result<Solution, MethodError> {
        let mut listener = RunListener::new(&mut *self.watch);
        let solution = solve_here(model, &options, &start, &mut listener);
        listener.finish()?;
        solution.map_err(|error| MethodError::Failed(error.to_string()))
    }

    fn checkpoint(&mut self) -> Result<(), MethodError> {
        self.watch.checkpoint()
    }

    fn elapsed_s(&self) -> f64 {
        self.watch.elapsed_s()
    }
}

/// End of a program that asks for any point at all.
#[derive(Clone, Debug, PartialEq)]
pub enum FeasibilityEnd {
    /// There is a point: one value per column.
    Point(Vec<f64>),
    /// There is none.
    Infeasible,
    /// A limit came first.
    Unknown,
}

/// Asks whether a program has a point, for some seconds at most.
///
/// # Errors
/// The reason to stop, or that the solver failed.
pub fn any_point<S: ProgramSolver>(
    model: &Model,
    options: Options,
    seconds: f64,
    solver: &mut S,
) -> Result<FeasibilityEnd, MethodError> {
    if model.columns() == 0 {
        // HiGHS reports such a model as empty, regardless of its rows.
        let is_broken = model.first_broken(&[], 1e-5).is_some();
        return Ok(if is_broken { FeasibilityEnd::Infeasible } else { FeasibilityEnd::Point(Vec::new()) });
    }
    // The first point answers the question, so the solver stops at it.
    let options = options.set("mip_max_improving_sols", 1).time_limit_s(seconds);
    let solution = solver.solve(model, options, Start::None)?;
    Ok(match (solution.status, solution.values) {
        // Points are tested on the model: a point that breaks a row is no answer.
        (_, Some(values)) if model.first_broken(&values, 1e-5).is_none() => FeasibilityEnd::Point(values),
        // Both count as infeasible, because without an objective nothing is unbounded.
        (Status::Infeasible | Status::InfeasibleOrUnbounded, _) => FeasibilityEnd::Infeasible,
        _ => FeasibilityEnd::Unknown,
    })
}

/// A watch that passes on the stops of a solver's run.
pub(crate) struct SolverStops<'s, S>(pub(crate) &'s mut S);

impl<S: ProgramSolver> Watch for SolverStops<'_, S> {
    fn checkpoint(&mut self) -> Result<(), MethodError> {
        self.0.checkpoint()
    }

    fn report(&mut self, _body: EventBody) {}

    fn count(&mut self, _units: u64) {}

    fn elapsed_s(&self) -> f64 {
        self.0.elapsed_s()
    }
}
