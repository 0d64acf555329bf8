//! Differences of two plans of a kind in addition to their figures.

use super::value::Tone;

/// Differences of two plans; empty if the plans cannot be compared.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Differences {
    /// Counts of both plans.
    pub counts: Option<PairedCounts>,
    /// Intervals of time of both plans.
    pub spans: Option<PairedSpans>,
}

/// Counts of two plans side by side.
#[derive(Clone, Debug, PartialEq)]
pub struct PairedCounts {
    /// Heading.
    pub title: &'static str,
    /// The counts, in reading order.
    pub counts: Vec<CountPair>,
}

/// A count of both plans.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountPair {
    /// Its name.
    pub name: String,
    /// Its value in the first and the second plan.
    pub values: [i64; 2],
}

/// Intervals of time of two plans side by side.
#[derive(Clone, Debug, PartialEq)]
pub struct PairedSpans {
    /// Heading.
    pub title: &'static str,
    /// The intervals, in reading order.
    pub spans: Vec<SpanPair>,
}

/// An interval of time of both plans.
#[derive(Clone, Debug, PartialEq)]
pub struct SpanPair {
    /// Its name.
    pub name: String,
    /// Start and end in the first and the second plan, s.
    pub spans_s: [(f64, f64); 2],
    /// Meaning of the difference of the ends.
    pub tone: Tone,
}

impl Differences {
    /// Counts side by side.
    pub fn of_counts(title: &'static str, counts: Vec<CountPair>) -> Self {
        Self { counts: Some(PairedCounts { title, counts }), spans: None }
    }
}
