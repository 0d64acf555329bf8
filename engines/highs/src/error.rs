//! Errors of models and of the solver, with one variant for each way in which a caller can react.

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Reason that a call of this crate failed. A run that ends without a point is not an error: see
/// [`crate::solution::Status`].
#[derive(Clone, Debug, PartialEq, Eq, Error, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Error {
    /// The model is invalid for the solver: an invalid number (such as NaN or a lower bound of infinity), or an entry
    /// that is out of range or given twice.
    #[error("the model is invalid: {0}")]
    Model(String),
    /// The quadratic part of the objective is not convex, or the model also has integer columns.
    #[error("the quadratic objective cannot be solved: {0}")]
    Quadratic(String),
    /// The length of an array differs from the number of columns or rows.
    #[error("'{what}' has {found} values, but needs {wanted}")]
    Length {
        /// Name of the array.
        what: String,
        /// Number of values that the array has.
        found: usize,
        /// Number of values that the array should have.
        wanted: usize,
    },
    /// A column or row that the model does not have.
    #[error("{what} {index} does not exist; the model has {count} {what}s")]
    Missing {
        /// `column` or `row`.
        what: String,
        /// Position that was requested.
        index: usize,
        /// Number of columns or rows of the model.
        count: usize,
    },
    /// The solver has no option of this name.
    #[error("'{name}' is not an option of the solver\n{remedy}")]
    UnknownOption {
        /// Name that was requested.
        name: String,
        /// A sentence that suggests the nearest valid name.
        remedy: String,
    },
    /// A value that the option does not accept.
    #[error("'{name}' cannot be '{value}'\nallowed: {allowed}")]
    OptionValue {
        /// Name of the option.
        name: String,
        /// Value that was requested.
        value: String,
        /// Values that the option accepts, in words.
        allowed: String,
    },
    /// The solver refused a call or failed in a run; contains the message of the solver, if there is one.
    #[error("the solver failed to {what}{}", colon(.said))]
    Solver {
        /// Requested action, as a verb with its object.
        what: String,
        /// Message of the solver.
        said: String,
    },
    /// The listener of the run panicked; the run was ended, and the instance can be used again.
    #[error("the listener of the run panicked: {0}")]
    SolverListener(String),
    /// A model file could not be written or read.
    #[error("model file: {0}")]
    File(String),
}

impl Error {
    pub(crate) fn length(what: &str, found: usize, wanted: usize) -> Result<(), Self> {
        if found == wanted {
            return Ok(());
        }
        Err(Self::Length { what: what.to_owned(), found, wanted })
    }

    pub(crate) fn position(what: &str, index: usize, count: usize) -> Result<(), Self> {
        if index < count {
            return Ok(());
        }
        Err(Self::Missing { what: what.to_owned(), index, count })
    }

    pub(crate) fn solver(what: &str, said: impl Into<String>) -> Self {
        Self::Solver { what: what.to_owned(), said: said.into() }
    }
}

fn colon(said: &str) -> String {
    if said.is_empty() { String::new() } else { format!(": {said}") }
}
