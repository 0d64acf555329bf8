//! Which figures of its plans a kind wants in header, table and comparison: data, so that the shell knows no kind.

use crate::view::figures::{Headline, Metrics};
use lightbay_core::kind::Sense;

/// A figure in the header.
#[derive(Clone, Copy)]
pub struct HeaderFigure {
    /// Written in front of it.
    pub label: &'static str,
    /// The figure, with its unit.
    pub of: fn(&Headline) -> Option<String>,
    /// Goes first when space is short: higher goes earlier, 0 never goes.
    pub priority: u8,
    /// Stands before the gap, else behind it.
    pub early: bool,
}

/// A column of the table of plans, shown as soon as one plan has it.
#[derive(Clone, Copy)]
pub struct ColumnFigure {
    /// Name of the metric.
    pub metric: &'static str,
    /// Heading.
    pub title: &'static str,
    /// Columns it takes; 0 for as many as the numbers need.
    pub width: u16,
    /// Decimals.
    pub decimals: usize,
    /// Goes first when space is short.
    pub priority: u8,
    /// What the ideal network has.
    pub ideal: Option<f64>,
}

/// A row of the comparison below the table of plans.
#[derive(Clone, Copy)]
pub struct AgainstFigure {
    /// Name, at most ten columns.
    pub name: &'static str,
    /// The figure, from the objective and the metrics of a plan.
    pub of: fn(f64, &Metrics) -> Option<f64>,
    /// Which way is better.
    pub sense: Sense,
    /// Decimals with room and without.
    pub decimals: [usize; 2],
}

/// All of them.
#[derive(Clone, Copy)]
pub struct KindFigures {
    /// In the header.
    pub header: &'static [HeaderFigure],
    /// In the table of plans.
    pub columns: &'static [ColumnFigure],
    /// In the comparison; the objective comes first by itself.
    pub against: &'static [AgainstFigure],
}

impl KindFigures {
    /// No figures beyond the objective.
    pub const NONE: Self = Self { header: &[], columns: &[], against: &[] };
}
