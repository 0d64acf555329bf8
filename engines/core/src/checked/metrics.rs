//! Compares the metrics of an envelope with the metrics that a checker recomputes.

use super::Violation;
use crate::problem::printable;
use std::collections::BTreeMap;

/// Relative difference up to which two figures count as equal. It covers the rounding errors of sums, but is too small
/// to hide a better objective.
pub const SAME: f64 = 1e-9;

/// Returns `true` if two figures are equal up to rounding.
pub fn same(a: f64, b: f64) -> bool {
    // After cancellation, the rounding error of a sum scales with its terms, not with its value.
    (a - b).abs() <= SAME * a.abs().max(b.abs()) + 1e-15
}

/// A figure that `metrics` must contain, with the range that the checker found for it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    /// Name of the figure.
    pub name: &'static str,
    /// The rule that a wrong value breaks.
    pub code: &'static str,
    /// Smallest value that the checker accepts.
    pub least: f64,
    /// Largest value that the checker accepts.
    pub most: f64,
}

impl Figure {
    /// Creates a figure that the checker knows exactly.
    pub const fn exactly(name: &'static str, code: &'static str, value: f64) -> Self {
        Self { name, code, least: value, most: value }
    }
}

/// Checks that `metrics` contains each required figure with a correct value, and nothing else.
pub fn compare_metrics(metrics: &BTreeMap<String, f64>, expected: &[Figure]) -> Vec<Violation> {
    let mut found = Vec::new();
    for figure in expected {
        let (least, most) = (figure.least, figure.most);
        let right =
            if same(least, most) { format!("is {least}") } else { format!("is between {least} and {most}") };
        match metrics.get(figure.name) {
            None => found.push(Violation::new(
                figure.code,
                format!("metric '{}' is missing; its correct value {right}", figure.name),
            )),
            Some(claimed)
                if (least..=most).contains(claimed) || same(*claimed, least) || same(*claimed, most) => {}
            Some(claimed) => found.push(Violation::new(
                figure.code,
                format!("metric '{}' is given as {claimed}, but its correct value {right}", figure.name),
            )),
        }
    }
    for name in metrics.keys().filter(|name| !expected.iter().any(|figure| figure.name == name.as_str())) {
        let text = format!("'{}' is not a metric of this plan that the checker knows", printable(name));
        found.push(Violation::new("metrics", text));
    }
    found
}
