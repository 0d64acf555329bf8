//! Explains a scenario or a plan as data: named sections of facts, tables, matrices, curves and spans.
//!
//! A kind computes every section in its own crate. The command line prints it, exports write it as Markdown or CSV, and
//! the workbench draws it; none of them depends on the kind.
//!
//! | module | content |
//! |---|---|
//! | [`value`] | cells: text and numbers with units and meaning |
//! | [`phrase`] | sentences in parts with their meaning |
//! | [`section`] | a section and its possible forms |
//! | [`table`] | rows with the same columns |
//! | [`spans`] | intervals of time by lane |
//! | [`session`] | the other plans and runs of the session |
//! | [`curves`] | curves over one axis |
//! | [`slider`] | a parameter that two keys move while the plan is recomputed |
//! | [`differences`] | differences of two plans in addition to their figures |
//! | [`json`] | sections as JSON |
//! | [`text`] | values and tables as plain text |

pub mod curves;
pub mod differences;
pub mod json;
pub mod phrase;
pub mod section;
pub mod session;
pub mod slider;
pub mod spans;
pub mod table;
#[cfg(test)]
mod tests;
pub mod text;
pub mod value;

pub use curves::{Curve, Curves, Line, Mark, Point};
pub use phrase::{Phrase, Words};
pub use section::{
    About, Block, Body, CellSign, Fact, Facts, Matrix, Panel, RunSort, Section, SectionInfo, SectionOf,
};
pub use session::{PlanBeside, RunBeside, RunGenerations, RunSearch, SearchRow, Surroundings};
pub use slider::{SliderInfo, SliderPlace};
pub use spans::{HUES, Lane, Span, Spans};
pub use table::{Column, LoadAxis, LoadSpan, Row, RowOrder, Table};
pub use value::{Cell, Tone, Unit, Value};

use crate::clock::Deadline;
use crate::standing::Standing;
use std::fmt;
use std::time::Duration;

/// A section that cannot be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unavailable {
    /// The scenario or plan does not have the section; contains the reason, and how to get the section.
    Absent {
        /// Clause after the name of the section: `the plan has no routes`.
        because: String,
        /// Remedy: `solve with with_routes=true`.
        remedy: String,
    },
    /// Computing the section takes longer than its time limit.
    Late(Duration),
    /// Computing the section failed.
    Failed(String),
}

impl Unavailable {
    /// Creates the error for a section that the scenario or plan does not have.
    pub fn absent(because: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::Absent { because: because.into(), remedy: remedy.into() }
    }

    /// Creates the error for a section that takes longer than its time limit.
    pub fn late(deadline: Deadline) -> Self {
        Self::Late(deadline.limit().unwrap_or_default())
    }

    /// Creates the error for a section whose computation failed.
    pub fn failed(why: impl fmt::Display) -> Self {
        Self::Failed(why.to_string())
    }
}

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent { because, remedy } => write!(f, "{because}; {remedy}"),
            Self::Late(limit) => {
                let limit_s = limit.as_secs_f64();
                write!(
                    f,
                    "the section takes longer than {limit_s} s; print it with `lightbay show PLAN --thorough`"
                )
            }
            Self::Failed(why) => f.write_str(why),
        }
    }
}

/// The sections of one scenario or plan, computed on request. Implementations cache results that several sections need.
pub trait Report {
    /// Computes a section; a section that searches gives up at the deadline.
    ///
    /// # Errors
    /// [`Unavailable::Absent`] for a name that the kind does not declare and for a section that the scenario or plan
    /// does not have; [`Unavailable::Late`] after the deadline; [`Unavailable::Failed`] if the computation fails.
    fn section(&self, name: &str, deadline: Deadline) -> Result<Section, Unavailable>;

    /// Computes the details of one item of a section, such as the changes of a batch. Sections declare by
    /// [`SectionInfo::item`] that their items have details.
    ///
    /// # Errors
    /// [`Unavailable::Absent`] for an item that the section does not have.
    fn detail(&self, name: &str, item: u32, _deadline: Deadline) -> Result<Section, Unavailable> {
        Err(Unavailable::absent(format!("section '{name}' has no item {item}"), "leave the item out"))
    }

    /// Computes a section in a session with other plans and a run; the same as [`Self::section`] unless the section
    /// declares by [`SectionInfo::in_session`] that it uses other plans or runs.
    ///
    /// # Errors
    /// As for [`Self::section`].
    fn in_session(
        &self,
        name: &str,
        _beside: &Surroundings,
        deadline: Deadline,
    ) -> Result<Section, Unavailable> {
        self.section(name, deadline)
    }

    /// Sets the known bounds on the plan, each with its proof. Sections on the bound use these values and their
    /// wording.
    fn stand(&mut self, _standing: Standing) {}

    /// Returns `true` if a section takes longer than about a second for this scenario or plan; an overview then omits
    /// the section unless all sections are requested.
    fn is_slow(&self, _name: &str) -> bool {
        false
    }
}

/// The report of a kind that declares no sections.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoSections;

impl Report for NoSections {
    fn section(&self, name: &str, _deadline: Deadline) -> Result<Section, Unavailable> {
        Err(Unavailable::absent(format!("there is no section '{name}'"), "leave it out"))
    }
}
