//! Solver of a model, and its result.

use lightbay_core::event::EventBody;
use lightbay_core::method::MethodError;
use lightbay_core::watch::Watch;
use lightbay_highs::instance::solve_here;
use lightbay_highs::listener::RunListener;
use lightbay_highs::model::{Model, Size};
use lightbay_highs::options::Options;
use lightbay_highs::solution::{Solution, Start, Status};

/// Interface to a solver: methods use the solver process of their run, tests solve in their own process.
pub trait ProgramSolver {
    /// Solves a model and returns the solution.
    ///
    /// # Errors
    /// If the run must stop, or if the solver fails.
    fn solve(&mut self, model: &Model, options: Options, start: Start) -> Result<Solution, MethodError>;

    /// Checks whether to stop.
    ///
    /// # Errors
    /// If the run must stop.
    fn checkpoint(&mut self) -> Result<(), MethodError>;

    /// Is called with a model before it is solved.
    fn built(&mut self, _program: &BuiltProgram) {}

    /// Is called with a full model that is infeasible.
    ///
    /// # Errors
    /// If the run must stop, or if the solver fails.
    fn impossible(&mut self, _model: &Model) -> Result<(), MethodError> {
        Ok(())
    }

    /// Returns the time on the run's clock, s.
    fn elapsed_s(&self) -> f64;
}

/// Number of columns and rows of a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProgramExtent {
    /// Columns.
    pub columns: u64,
    /// Rows.
    pub rows: u64,
}

/// A model that is about to be solved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuiltProgram {
    /// Number of epochs of the schedules in the model.
    pub epochs: u32,
    /// Number of symmetries by which the model is reduced; 1 for the full model.
    pub folded_by: usize,
    /// Number of columns and rows with all chunks in all epochs.
    pub whole: ProgramExtent,
    /// Number of columns and rows after pruning everything that cannot happen in time.
    pub pruned: ProgramExtent,
    /// Number of columns and rows of the model that is solved.
    pub size: Size,
}

/// A solver in the same process.
#[derive(Debug)]
pub struct OwnProcess<'w, W> {
    watch: &'w mut W,
}

impl<'w, W: Watch> OwnProcess<'w, W> {
    /// Creates a solver that stops with the run of `watch`.
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

/// Result of a model without an objective.
#[derive(Clone, Debug, PartialEq)]
pub enum FeasibilityEnd {
    /// A feasible point exists: the value of each column.
    Point(Vec<f64>),
    /// No point exists.
    Infeasible,
    /// A limit was reached before the answer.
    Unknown,
}

/// Tests within a time limit whether a model is feasible. Returns a feasible point, or states that none exists, or that
/// the time limit was reached first.
///
/// # Errors
/// If the run must stop, or if the solver fails.
pub fn any_point<S: ProgramSolver>(
    model: &Model,
    options: Options,
    seconds: f64,
    solver: &mut S,
) -> Result<FeasibilityEnd, MethodError> {
    if model.columns() == 0 {
        // HiGHS reports a model without columns as empty, regardless of its rows.
        let is_broken = model.first_broken(&[], 1e-5).is_some();
        return Ok(if is_broken { FeasibilityEnd::Infeasible } else { FeasibilityEnd::Point(Vec::new()) });
    }
    // The first point is an answer, so the solver stops at it.
    let options = options.set("mip_max_improving_sols", 1).time_limit_s(seconds);
    let solution = solver.solve(model, options, Start::None)?;
    Ok(match (solution.status, solution.values) {
        // Tests points on the model: a point that violates a row is not an answer.
        (_, Some(values)) if model.first_broken(&values, 1e-5).is_none() => FeasibilityEnd::Point(values),
        // `InfeasibleOrUnbounded` also means infeasible, because a model without an objective cannot be unbounded.
        (Status::Infeasible | Status::InfeasibleOrUnbounded, _) => FeasibilityEnd::Infeasible,
        _ => FeasibilityEnd::Unknown,
    })
}

/// A watch that checks for stops through a solver.
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
