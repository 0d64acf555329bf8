//! Figures of an envelope next to those that a checker recomputes.

use super::Violation;
use crate::problem::printable;
use std::collections::BTreeMap;

/// Relative difference up to which two figures are the same: rounding of sums, and nothing that helps an objective.
pub const SAME: f64 = 1e-9;

/// Returns `true` if two figures are the same but for rounding.
pub fn same(a: f64, b: f64) -> bool {
    // Figures that are sums with cancellation have a rounding error of their terms, not of what is left.
    (a - b).abs() <= SAME * a.abs().max(b.abs()) + 1e-15
}

/// A figure that `metrics` has to carry, with the range in which the checker finds it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    /// Its name.
    pub name: &'static str,
    /// The rule that a wrong value breaks.
    pub code: &'static str,
    /// Smallest right value.
    pub least: f64,
    /// Largest right value.
    pub most: f64,
}

impl Figure {
    /// A figure that the checker knows exactly.
    pub const fn exactly(name: &'static str, code: &'static str, value: f64) -> Self {
        Self { name, code, least: value, most: value }
    }
}

/// Compares `metrics` with all that the plan has to carry: each once, right, and nothing else.
pub fn compare_metrics(metrics: &BTreeMap<String, f64>, expected: &[Figure]) -> Vec<Violation> {
    let mut found = Vec::new();
    for figure in expected {
        let (least, most) = (figure.least, figure.most);
        let right =
            if same(least, most) { format!("is {least}") } else { format!("is from {least} to {most}") };
        match metrics.get(figure.name) {
            None => found.push(Violation::new(
                figure.code,
                format!("metric '{}' is missing, it {right}", figure.name),
            )),
            Some(claimed)
                if (least..=most).contains(claimed) || same(*claimed, least) || same(*claimed, most) => {}
            Some(claimed) => found.push(Violation::new(
                figure.code,
                format!("metric '{}' is given as {claimed}, it {right}", figure.name),
            )),
        }
    }
    for name in metrics.keys().filter(|name| !expected.iter().any(|figure| figure.name == name.as_str())) {
        let text = format!("'{}' is not a metric of this plan that the checker knows", printable(name));
        found.push(Violation::new("metrics", text));
    }
    found
}
