//! Results of a run of the solver.

use serde::{Deserialize, Serialize};

/// Reason that a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Status {
    /// The model was solved to the requested tolerances and gap.
    Optimal,
    /// No point satisfies all rows and bounds.
    Infeasible,
    /// The objective is unbounded.
    Unbounded,
    /// The model is infeasible or unbounded; presolve did not determine which.
    InfeasibleOrUnbounded,
    /// The time limit was reached.
    TimeLimit,
    /// A limit of iterations, nodes or solutions was reached.
    WorkLimit,
    /// A bound or target of the objective was reached.
    ObjectiveLimit,
    /// The run was stopped on request. This is a normal result, with the best point so far.
    Interrupted,
    /// The solver had numerical trouble, or ended without a result.
    Trouble,
    /// The model has no columns and no rows.
    Empty,
}

/// Status of a column or row in a basis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BasisStatus {
    /// Nonbasic at the lower bound.
    Lower,
    /// Basic column or row.
    Basic,
    /// Nonbasic at the upper bound.
    Upper,
    /// Nonbasic and free, at zero.
    Zero,
    /// Nonbasic, to be placed by the solver.
    Nonbasic,
}

/// A basis of a linear program, which can be stored and set again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Basis {
    /// Status of each column.
    pub columns: Vec<BasisStatus>,
    /// Status of each row.
    pub rows: Vec<BasisStatus>,
}

/// A point from which a run starts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Start {
    /// No start point.
    #[default]
    None,
    /// One value per column.
    Full(Vec<f64>),
    /// Values of some columns, each named once. Never pad missing values with zeros, because zeros count as given
    /// values.
    Partial(Vec<(u32, f64)>),
}

/// Result of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Solution {
    /// Reason that the run ended.
    pub status: Status,
    /// The best feasible point, one value per column, if there is one.
    pub values: Option<Vec<f64>>,
    /// Objective of the best feasible point, in the sense of the model and including its constant.
    pub objective: Option<f64>,
    /// Bound that no point can beat; for a linear program solved to the end, it equals the objective value.
    pub bound: Option<f64>,
    /// Dual value of each row; empty unless the model is a linear program and the solver returned duals.
    pub row_duals: Vec<f64>,
    /// Reduced cost of each column; empty unless the model is a linear program and the solver returned duals.
    pub column_duals: Vec<f64>,
    /// Value of each row at the best point.
    pub row_values: Vec<f64>,
    /// The basis with which the run ended, if there is one.
    pub basis: Option<Basis>,
    /// Number of simplex iterations (of all LPs, for an integer model).
    pub simplex_iterations: u64,
    /// Number of interior point iterations.
    pub ipm_iterations: u64,
    /// Number of nodes of the tree search.
    pub nodes: u64,
    /// Elapsed time, seconds.
    pub elapsed_s: f64,
}

impl Solution {
    /// Makes a result without a point.
    pub fn empty(status: Status, elapsed_s: f64) -> Self {
        Self {
            status,
            values: None,
            objective: None,
            bound: None,
            row_duals: Vec::new(),
            column_duals: Vec::new(),
            row_values: Vec::new(),
            basis: None,
            simplex_iterations: 0,
            ipm_iterations: 0,
            nodes: 0,
            elapsed_s,
        }
    }
}
