//! Events of a solve and the listeners to them.

use crate::model::Size;
use serde::{Deserialize, Serialize};

/// Stage of a solve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stage {
    /// Presolve reduces the model.
    Presolve,
    /// The given start is being completed by a restricted search; bounds of this stage belong to the restricted model
    /// and are not reported.
    Start,
    /// A linear program without integer columns is being solved.
    Lp,
    /// The first relaxation of an integer model is being solved: HiGHS reports nothing until this relaxation is solved,
    /// and cannot be stopped.
    RootLp,
    /// Cuts and heuristics at the root node.
    Root,
    /// Branch and bound is running.
    Tree,
}

impl Stage {
    /// Returns the words shown to a person.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Presolve => "presolve",
            Self::Start => "completing the hot start",
            Self::Lp => "LP",
            Self::RootLp => "root LP",
            Self::Root => "root cuts",
            Self::Tree => "tree search",
        }
    }
}

/// Whether the solver used a given start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum StartFate {
    /// The start was feasible as given, with this objective.
    Accepted(f64),
    /// The start was feasible after the missing values were found, with this objective.
    Completed(f64),
    /// The start was not used; contains the reason, in the solver's words or as the violated row or column.
    Rejected(String),
}

/// Figures of a tree search; a figure is `None` if the solver has no value yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MipProgress {
    /// Objective of the best point, in the sense of the model and including its constant.
    pub incumbent: Option<f64>,
    /// Bound on the objective of the model that no point can beat.
    pub bound: Option<f64>,
    /// Number of processed nodes.
    pub nodes: u64,
    /// Number of LP iterations.
    pub lp_iterations: u64,
    /// Number of open nodes in the last table row of the log; `None` before the first row.
    pub open: Option<u64>,
    /// Number of cuts in the LP.
    pub cuts: Option<u64>,
}

/// An event of the solver. Progress events come at most about ten times a second.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum SolverEvent {
    /// A line of the solver's log, without line end.
    Log(String),
    /// The solver entered another stage.
    Stage(Stage),
    /// Size of the model after presolve.
    Presolved(Size),
    /// Number of iterations of the simplex method so far.
    Simplex(u64),
    /// Number of iterations of an interior point method so far.
    Ipm(u64),
    /// Figures of the tree search.
    Mip(MipProgress),
    /// A better point: one value per column of the original model, not of the presolved model.
    Incumbent {
        /// Objective of the point.
        objective: f64,
        /// Values of the point.
        values: Vec<f64>,
        /// The solver's letter for the heuristic or step that found the point; see [`source_words`].
        source: char,
    },
    /// Whether the start was used.
    Start(StartFate),
    /// The solver has reported nothing for this number of seconds. The event is repeated while the silence lasts. It
    /// occurs only for a solver process, because a solver inside lightbay blocks the calling thread during a silent
    /// stage.
    Silent(f64),
}

/// Answer of a listener: continue or stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// Continue the solve.
    Continue,
    /// Stop as soon as the solver can.
    Stop,
}

/// A listener to a solve: the low-level callback interface. Its functions are called on the thread that called the
/// solver, and must not block for long. Searches pass a [`crate::listener::RunListener`] to the solver; methods call
/// [`crate::solve::run`], which has its own listener.
pub trait SolverListener {
    /// Handles an event. `Stop` ends the run with [`crate::solution::Status::Interrupted`].
    fn event(&mut self, event: &SolverEvent) -> Flow;

    /// Returns whether to continue; called about ten times a second, even if no event occurs.
    fn tick(&mut self) -> Flow {
        Flow::Continue
    }

    /// Returns `true` if the next call of [`Self::event`] or [`Self::tick`] may block because the run is paused. In
    /// this case, a solver process is suspended until that call returns.
    fn pausing(&mut self) -> bool {
        false
    }

    /// Returns a point for the running tree search that another source found, if there is a new one: one value per
    /// column.
    fn better(&mut self) -> Option<Vec<f64>> {
        None
    }
}

/// A listener that ignores all events and never stops a solve.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoListener;

impl SolverListener for NoListener {
    fn event(&mut self, _event: &SolverEvent) -> Flow {
        Flow::Continue
    }
}

/// Returns the words for the heuristic or step that found a point, from the letter in the solver's log.
pub const fn source_words(letter: char) -> &'static str {
    match letter {
        '0' => "hot start",
        'B' => "branching",
        'C' => "central rounding",
        'F' => "feasibility pump",
        'H' => "dive",
        'I' => "shifting",
        'J' => "feasibility jump",
        'L' => "sub-MIP",
        'P' => "presolve",
        'R' => "randomised rounding",
        'S' => "LP",
        'T' => "tree search",
        'U' => "unbounded LP",
        'X' => "injected",
        'Y' => "solver's own",
        'Z' => "ZI round",
        'l' => "all at lower bounds",
        'p' => "trivial point",
        'u' => "all at upper bounds",
        'z' => "all zero",
        _ => "solver",
    }
}
