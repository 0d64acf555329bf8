//! Errors between a model and the solver, by what the caller can do about them.

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Reason that a call of this crate failed. A run that ends without a point is no error: see
/// [`crate::solution::Status`].
#[derive(Clone, Debug, PartialEq, Eq, Error, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Error {
    /// The model cannot be handed to the solver: a number that is none, crossed bounds, an entry out of range.
    #[error("the model is invalid: {0}")]
    Model(String),
    /// The quadratic part of the objective is not convex, or stands beside integer columns.
    #[error("the quadratic objective cannot be solved: {0}")]
    Quadratic(String),
    /// An array has not one value per column or row.
    #[error("'{what}' has {found} values, but needs {wanted}")]
    Length {
        /// Name of the array.
        what: String,
        /// Number of its values.
        found: usize,
        /// Number of values that it should have.
        wanted: usize,
    },
    /// A column or row that the model does not have.
    #[error("there is no {what} {index}, the model has {count}")]
    Missing {
        /// `column` or `row`.
        what: String,
        /// The position requested.
        index: usize,
        /// Number of columns or rows of the model.
        count: usize,
    },
    /// No option of that name.
    #[error("'{name}' is not an option of the solver\n{remedy}")]
    UnknownOption {
        /// The name.
        name: String,
        /// The nearest name there is, in a sentence.
        remedy: String,
    },
    /// A value that the option does not take.
    #[error("'{name}' cannot be '{value}'\nallowed: {allowed}")]
    OptionValue {
        /// The option.
        name: String,
        /// The value.
        value: String,
        /// Values that the option takes, in words.
        allowed: String,
    },
    /// The solver refused a call or failed in a run; with what it said, if it said anything.
    #[error("the solver failed to {what}{}", colon(.said))]
    Solver {
        /// Requested action, as a verb with its object.
        what: String,
        /// Its own words.
        said: String,
    },
    /// Whoever watched the run panicked; the run was ended and the instance can be used again.
    #[error("the watcher of the run panicked: {0}")]
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
