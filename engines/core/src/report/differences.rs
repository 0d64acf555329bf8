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
    /// Heading above the counts.
    pub title: &'static str,
    /// The counts, in reading order.
    pub counts: Vec<CountPair>,
}

/// A count of both plans.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountPair {
    /// Name of the count.
    pub name: String,
    /// Value of the count in the first and the second plan.
    pub values: [i64; 2],
}

/// Intervals of time of two plans side by side.
#[derive(Clone, Debug, PartialEq)]
pub struct PairedSpans {
    /// Heading above the intervals.
    pub title: &'static str,
    /// The intervals, in reading order.
    pub spans: Vec<SpanPair>,
}

/// An interval of time of both plans.
#[derive(Clone, Debug, PartialEq)]
pub struct SpanPair {
    /// Name of the interval.
    pub name: String,
    /// Start and end in the first and the second plan, s.
    pub spans_s: [(f64, f64); 2],
    /// Meaning for the colour, such as good if the interval ends earlier in the first plan than in the second.
    pub tone: Tone,
}

impl Differences {
    /// Makes differences that consist only of counts.
    pub fn of_counts(title: &'static str, counts: Vec<CountPair>) -> Self {
        Self { counts: Some(PairedCounts { title, counts }), spans: None }
    }
}
