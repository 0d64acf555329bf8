//! The solver's options by name. Names and values are checked against the solver when the options are applied.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Minimum fraction of the integer columns for which a partial start must give values (default 0.2; 0 accepts any
/// start). HiGHS completes a start before the actual search; with few given values this takes seconds and rarely helps.
/// An option of this crate, not of HiGHS.
pub const MIN_START_SHARE: &str = "min_start_share";

/// A value of an option.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum OptionValue {
    /// Yes or no.
    Bool(bool),
    /// A whole number.
    Int(i32),
    /// A number.
    Float(f64),
    /// A word, such as the name of an algorithm.
    Text(String),
}

/// Options to be applied before a run, in order. A later value of the same name replaces an earlier one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Options(pub Vec<(String, OptionValue)>);

impl Options {
    /// Creates an empty list of options: the defaults of this crate apply (one thread, nothing printed, at most five
    /// table rows a second in the log).
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets an option.
    #[must_use]
    pub fn set(mut self, name: &str, value: impl Into<OptionValue>) -> Self {
        self.0.push((name.to_owned(), value.into()));
        self
    }

    /// Returns the value of an option, if it is set.
    pub fn get(&self, name: &str) -> Option<&OptionValue> {
        self.0.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    /// Sets the relative gap at which a tree search ends (default of HiGHS: 1e-4).
    #[must_use]
    pub fn relative_gap(self, gap: f64) -> Self {
        self.set("mip_rel_gap", gap)
    }

    /// Sets the time after which a run ends: the only limit that works in every stage of a solver that runs inside
    /// lightbay.
    #[must_use]
    pub fn time_limit_s(self, seconds: f64) -> Self {
        self.set("time_limit", seconds)
    }
}

impl fmt::Display for OptionValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(value) => value.fmt(f),
            Self::Int(value) => value.fmt(f),
            Self::Float(value) => fmt::Debug::fmt(value, f),
            Self::Text(value) => value.fmt(f),
        }
    }
}

impl From<bool> for OptionValue {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i32> for OptionValue {
    fn from(value: i32) -> Self {
        Self::Int(value)
    }
}

impl From<f64> for OptionValue {
    fn from(value: f64) -> Self {
        Self::Float(value)
    }
}

impl From<&str> for OptionValue {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

/// Returns `true` if the interior point method HiPO can be chosen (`solver` = `hipo`): HiGHS loads it from a separate
/// library, which must have exactly the same version.
pub fn has_hipo() -> bool {
    crate::raw::Highs::new().is_ok_and(|mut highs| {
        highs.set_bool("log_to_console", false).is_ok() && highs.set_text("solver", "hipo") == Ok(true)
    })
}
