//! Blocks that a kind adds to a comparison of two plans.

use lightbay_widgets::PairRow;

/// A row of numbers for both plans, with a name for each column.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CompareRow {
    /// Names of the columns.
    pub names: Vec<String>,
    /// Values of the first plan.
    pub a: Vec<i64>,
    /// Values of the second plan.
    pub b: Vec<i64>,
}

/// Blocks that a kind adds to a comparison.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CompareBlocks {
    /// Heading and entries of the row of numbers.
    pub row: Option<(&'static str, CompareRow)>,
    /// Heading and pairs of bars.
    pub bars: Option<(&'static str, Vec<PairRow>)>,
}
