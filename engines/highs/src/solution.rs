//! Results of a run of the solver.

use serde::{Deserialize, Serialize};

/// Reason that a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Status {
    /// Solved to the tolerances and gap that were requested.
    Optimal,
    /// No point satisfies all rows and bounds.
    Infeasible,
    /// The objective is unbounded.
    Unbounded,
    /// Infeasible or unbounded; presolve did not determine which.
    InfeasibleOrUnbounded,
    /// The time limit.
    TimeLimit,
    /// A limit of iterations, nodes or solutions.
    WorkLimit,
    /// A bound or target of the objective was reached.
    ObjectiveLimit,
    /// Stopped on request. A normal result, with the best point so far.
    Interrupted,
    /// The solver had numerical trouble, or ended without a result.
    Trouble,
    /// The model has no columns and no rows.
    Empty,
}

/// Status of a column or row in a basis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BasisStatus {
    /// Nonbasic at its lower bound.
    Lower,
    /// Basic.
    Basic,
    /// Nonbasic at its upper bound.
    Upper,
    /// Nonbasic and free, at zero.
    Zero,
    /// Nonbasic, to be placed by the solver.
    Nonbasic,
}

/// A basis of a linear program, which can be stored and set again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Basis {
    /// One per column.
    pub columns: Vec<BasisStatus>,
    /// One per row.
    pub rows: Vec<BasisStatus>,
}

/// A point from which a run starts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Start {
    /// None.
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
    /// Its objective in the sense of the model.
    pub objective: Option<f64>,
    /// Bound that no point can beat; for a linear program solved to the end, this is the objective.
    pub bound: Option<f64>,
    /// Dual value of each row; empty unless the model is a linear program and the solver returned duals.
    pub row_duals: Vec<f64>,
    /// Reduced cost of each column; empty unless the model is a linear program and the solver returned duals.
    pub column_duals: Vec<f64>,
    /// Value of each row at the point.
    pub row_values: Vec<f64>,
    /// The basis the run ended with, if there is one.
    pub basis: Option<Basis>,
    /// Simplex iterations (of all LPs, for an integer model).
    pub simplex_iterations: u64,
    /// Interior point iterations.
    pub ipm_iterations: u64,
    /// Nodes of the tree search.
    pub nodes: u64,
    /// Wall seconds.
    pub elapsed_s: f64,
}

impl Solution {
    /// A solution without a point.
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
