//! Linear sums over the columns of a model under construction.

use lightbay_highs::model::{Column, Model, Row};

/// A constant and terms, sorted by column.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Sum {
    pub constant: f64,
    pub terms: Vec<(u32, f64)>,
}

impl Sum {
    pub fn of(constant: f64) -> Self {
        Self { constant, terms: Vec::new() }
    }

    pub fn column(column: Column) -> Self {
        Self { constant: 0.0, terms: vec![(column.0, 1.0)] }
    }

    /// Adds `factor` times another sum to this sum.
    pub fn add(&mut self, other: &Self, factor: f64) {
        self.constant += factor * other.constant;
        for &(column, value) in &other.terms {
            match self.terms.binary_search_by_key(&column, |term| term.0) {
                Ok(at) => {
                    self.terms[at].1 += factor * value;
                    if self.terms[at].1 == 0.0 {
                        self.terms.remove(at);
                    }
                }
                Err(at) => self.terms.insert(at, (column, factor * value)),
            }
        }
    }

    /// Returns this sum plus `factor` times another sum.
    pub fn plus(&self, other: &Self, factor: f64) -> Self {
        let mut sum = self.clone();
        sum.add(other, factor);
        sum
    }

    /// Minimum value of the sum within the bounds of the columns.
    pub fn least(&self, model: &Model) -> f64 {
        // Interval arithmetic over the bounds of the columns.
        let end = |&(column, factor): &(u32, f64)| {
            let bounds = if factor > 0.0 { &model.lower } else { &model.upper };
            factor * bounds[column as usize]
        };
        self.constant + self.terms.iter().map(end).sum::<f64>()
    }

    /// Maximum value of the sum within the bounds of the columns.
    pub fn greatest(&self, model: &Model) -> f64 {
        let end = |&(column, factor): &(u32, f64)| {
            let bounds = if factor > 0.0 { &model.upper } else { &model.lower };
            factor * bounds[column as usize]
        };
        self.constant + self.terms.iter().map(end).sum::<f64>()
    }

    /// Returns `true` if this sum never exceeds another sum by more than `slack`.
    pub fn never_above(&self, other: &Self, model: &Model, slack: f64) -> bool {
        self.plus(other, -1.0).greatest(model) <= slack
    }

    /// Value of the sum at a point.
    pub fn at(&self, point: &[f64]) -> f64 {
        self.constant + self.terms.iter().map(|&(column, value)| value * point[column as usize]).sum::<f64>()
    }

    fn columns(&self) -> impl Iterator<Item = (Column, f64)> + '_ {
        self.terms.iter().map(|&(column, value)| (Column(column), value))
    }

    /// Adds the row `sum >= 0`, unless the sum has no terms and the row holds.
    pub fn at_least_zero(&self, model: &mut Model, name: impl FnOnce() -> String) -> Option<Row> {
        if self.terms.is_empty() && self.constant >= -1e-9 {
            return None;
        }
        Some(model.at_least(name(), -self.constant, self.columns()))
    }

    /// Adds the row `sum = 0`.
    pub fn equal_zero(&self, model: &mut Model, name: impl FnOnce() -> String) {
        model.equal(name(), -self.constant, self.columns());
    }
}
