//! A model as plain arrays: minimise or maximise a linear (or convex quadratic) objective over columns with
//! bounds, some of them integer, subject to rows with bounds.
//!
//! Column and row names are terms of the problem; they appear in model files and in explanations of infeasibility. The
//! matrix is stored row by row, as generators write it.

use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fmt;

/// A column of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Column(pub u32);

/// A row of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Row(pub u32);

impl Column {
    /// Returns the position among the columns.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl Row {
    /// Returns the position among the rows.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Set of values that a column may take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Domain {
    /// Any value between its bounds.
    #[default]
    Continuous,
    /// A whole number between its bounds.
    Integer,
    /// Zero, or a value between its bounds.
    SemiContinuous,
    /// Zero, or a whole number between its bounds.
    SemiInteger,
}

/// The quadratic part of an objective, one half x'Qx: the lower triangle of Q column by column. Q must be positive
/// semidefinite when minimising; such a model cannot have integer columns.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Quadratic {
    /// Position of the first entry of each column in `indices` and `values`; one per column.
    pub starts: Vec<u32>,
    /// Row of each entry, not above the diagonal.
    pub indices: Vec<u32>,
    /// Values of the entries.
    pub values: Vec<f64>,
}

/// A model. Plain owned data, so that it can be sent to other threads and processes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Model {
    /// Name of the model, for files and messages.
    pub name: String,
    /// `true` to maximise the objective.
    pub maximise: bool,
    /// Constant of the objective.
    pub offset: f64,
    /// Objective coefficient of each column.
    pub costs: Vec<f64>,
    /// Lower bound of each column.
    pub lower: Vec<f64>,
    /// Upper bound of each column.
    pub upper: Vec<f64>,
    /// Set of values that each column may take.
    pub domains: Vec<Domain>,
    /// Name of each column.
    pub column_names: Vec<String>,
    /// Lower bound of each row.
    pub row_lower: Vec<f64>,
    /// Upper bound of each row.
    pub row_upper: Vec<f64>,
    /// Name of each row.
    pub row_names: Vec<String>,
    /// Position of the first entry of each row in `indices` and `values`; the entries of the last row extend to the
    /// end.
    pub starts: Vec<u32>,
    /// Column of each entry.
    pub indices: Vec<u32>,
    /// Values of the entries.
    pub values: Vec<f64>,
    /// The quadratic part of the objective.
    pub quadratic: Option<Quadratic>,
}

/// Size of a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Size {
    /// Number of columns.
    pub columns: u32,
    /// Number of rows.
    pub rows: u32,
    /// Number of nonzero entries of the matrix.
    pub nonzeros: u32,
    /// Number of integer columns.
    pub integers: u32,
}

/// The first bound, integrality or row that a point violates.
#[derive(Clone, Debug, PartialEq)]
pub struct Broken {
    /// Name of the row or column.
    pub name: String,
    /// Value of the row or column at the point.
    pub value: f64,
    /// Lower bound of the row or column.
    pub lower: f64,
    /// Upper bound of the row or column.
    pub upper: f64,
    /// `true` if the value must be an integer but is not.
    pub fractional: bool,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.fractional {
            write!(f, "{} is {}, not a whole number", self.name, self.value)
        } else if self.value < self.lower {
            write!(f, "{} is {}, below its lower bound {}", self.name, self.value, self.lower)
        } else {
            write!(f, "{} is {}, above its upper bound {}", self.name, self.value, self.upper)
        }
    }
}

impl Model {
    /// Creates an empty model to be minimised.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// Adds a continuous column.
    pub fn column(&mut self, name: impl Into<String>, lower: f64, upper: f64, cost: f64) -> Column {
        self.column_of(Domain::Continuous, name, lower, upper, cost)
    }

    /// Adds an integer column.
    pub fn integer(&mut self, name: impl Into<String>, lower: f64, upper: f64, cost: f64) -> Column {
        self.column_of(Domain::Integer, name, lower, upper, cost)
    }

    /// Adds a column that is 0 or 1.
    pub fn binary(&mut self, name: impl Into<String>, cost: f64) -> Column {
        self.integer(name, 0.0, 1.0, cost)
    }

    /// Adds a column.
    pub fn column_of(
        &mut self,
        domain: Domain,
        name: impl Into<String>,
        lower: f64,
        upper: f64,
        cost: f64,
    ) -> Column {
        let column = Column(self.costs.len() as u32);
        self.costs.push(cost);
        self.lower.push(lower);
        self.upper.push(upper);
        self.domains.push(domain);
        self.column_names.push(name.into());
        column
    }

    /// Adds a row `lower <= sum of terms <= upper`. Terms of the same column are added up.
    pub fn row(
        &mut self,
        name: impl Into<String>,
        lower: f64,
        upper: f64,
        terms: impl IntoIterator<Item = (Column, f64)>,
    ) -> Row {
        let row = Row(self.row_lower.len() as u32);
        let start = self.indices.len();
        self.starts.push(start as u32);
        self.row_lower.push(lower);
        self.row_upper.push(upper);
        self.row_names.push(name.into());
        // Rows with few terms are scanned, which is faster; only longer rows use the map.
        let mut places: HashMap<u32, usize> = HashMap::new();
        for (column, value) in terms {
            if value == 0.0 {
                continue;
            }
            let end = self.indices.len();
            let known = if end - start < 32 {
                self.indices[start..].iter().position(|index| *index == column.0).map(|same| start + same)
            } else {
                if places.is_empty() {
                    places.extend((start..end).map(|entry| (self.indices[entry], entry)));
                }
                let place = *places.entry(column.0).or_insert(end);
                (place < end).then_some(place)
            };
            if let Some(same) = known {
                self.values[same] += value;
            } else {
                self.indices.push(column.0);
                self.values.push(value);
            }
        }
        row
    }

    /// Adds a row `sum of terms <= upper`.
    pub fn at_most(
        &mut self,
        name: impl Into<String>,
        upper: f64,
        terms: impl IntoIterator<Item = (Column, f64)>,
    ) -> Row {
        self.row(name, f64::NEG_INFINITY, upper, terms)
    }

    /// Adds a row `sum of terms >= lower`.
    pub fn at_least(
        &mut self,
        name: impl Into<String>,
        lower: f64,
        terms: impl IntoIterator<Item = (Column, f64)>,
    ) -> Row {
        self.row(name, lower, f64::INFINITY, terms)
    }

    /// Adds a row `sum of terms = value`.
    pub fn equal(
        &mut self,
        name: impl Into<String>,
        value: f64,
        terms: impl IntoIterator<Item = (Column, f64)>,
    ) -> Row {
        self.row(name, value, value, terms)
    }

    /// Sets the quadratic part of the objective from entries of Q in one triangle, `(column, row, value)`; entries of
    /// the same place are added up. The objective contains one half x'Qx, so the term x^2 needs an entry of 2.
    pub fn set_quadratic(&mut self, entries: impl IntoIterator<Item = (u32, u32, f64)>) {
        let mut entries: Vec<(u32, u32, f64)> =
            entries.into_iter().map(|(one, other, value)| (one.min(other), one.max(other), value)).collect();
        entries.sort_by_key(|(column, row, _)| (*column, *row));
        entries.dedup_by(|next, first| {
            let same = (next.0, next.1) == (first.0, first.1);
            if same {
                first.2 += next.2;
            }
            same
        });
        let mut part = Quadratic::default();
        let mut left = entries.into_iter().peekable();
        for column in 0..self.columns() as u32 {
            part.starts.push(part.indices.len() as u32);
            while let Some((_, row, value)) = left.next_if(|entry| entry.0 == column) {
                part.indices.push(row);
                part.values.push(value);
            }
        }
        self.quadratic = Some(part);
    }

    /// Returns the number of columns.
    pub fn columns(&self) -> usize {
        self.costs.len()
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.row_lower.len()
    }

    /// Returns `true` if some column must be an integer or may be zero outside its bounds, so that a tree search is
    /// needed.
    pub fn is_mip(&self) -> bool {
        self.domains.iter().any(|domain| *domain != Domain::Continuous)
    }

    /// Returns the size of the model.
    pub fn size(&self) -> Size {
        let whole = |domain: &&Domain| matches!(domain, Domain::Integer | Domain::SemiInteger);
        Size {
            columns: self.columns() as u32,
            rows: self.rows() as u32,
            nonzeros: self.indices.len() as u32,
            integers: self.domains.iter().filter(whole).count() as u32,
        }
    }

    /// Iterates over the entries of a row.
    pub fn terms(&self, row: Row) -> impl Iterator<Item = (Column, f64)> + '_ {
        let from = self.starts[row.index()] as usize;
        let to = self.starts.get(row.index() + 1).map_or(self.indices.len(), |start| *start as usize);
        self.indices[from..to].iter().map(|index| Column(*index)).zip(self.values[from..to].iter().copied())
    }

    /// Returns the value of a row at a point.
    pub fn activity(&self, row: Row, point: &[f64]) -> f64 {
        self.terms(row).map(|(column, value)| value * point[column.index()]).sum()
    }

    /// Returns the objective at a point, constant and quadratic part included.
    pub fn objective(&self, point: &[f64]) -> f64 {
        let linear: f64 = self.costs.iter().zip(point).map(|(cost, value)| cost * value).sum();
        let quadratic = self.quadratic.as_ref().map_or(0.0, |part| {
            let mut sum = 0.0;
            for column in 0..part.starts.len() {
                let from = part.starts[column] as usize;
                let to = part.starts.get(column + 1).map_or(part.indices.len(), |start| *start as usize);
                for entry in from..to {
                    let row = part.indices[entry] as usize;
                    let twice = if row == column { 0.5 } else { 1.0 };
                    sum += twice * part.values[entry] * point[row] * point[column];
                }
            }
            sum
        });
        self.offset + linear + quadratic
    }

    /// Returns the first bound, integrality or row that a point violates by more than `tolerance` (relative to the
    /// bound if its absolute value is above 1). `None` if the point is feasible.
    ///
    /// # Panics
    /// If the point does not have one value per column.
    pub fn first_broken(&self, point: &[f64], tolerance: f64) -> Option<Broken> {
        assert_eq!(point.len(), self.columns(), "a point has one value per column");
        let outside = |value: f64, lower: f64, upper: f64| {
            !(value >= lower - tolerance * lower.abs().max(1.0)
                && value <= upper + tolerance * upper.abs().max(1.0))
        };
        for (column, &value) in point.iter().enumerate() {
            let (lower, upper) = (self.lower[column], self.upper[column]);
            let domain = self.domains[column];
            let whole = matches!(domain, Domain::Integer | Domain::SemiInteger);
            let zero = matches!(domain, Domain::SemiContinuous | Domain::SemiInteger) && value == 0.0;
            let fractional = whole && (value - value.round()).abs() > tolerance.max(1e-9);
            if fractional || (!zero && outside(value, lower, upper)) {
                let name = self.column_names[column].clone();
                return Some(Broken { name, value, lower, upper, fractional });
            }
        }
        (0..self.rows()).find_map(|row| {
            let value = self.activity(Row(row as u32), point);
            let (lower, upper) = (self.row_lower[row], self.row_upper[row]);
            outside(value, lower, upper).then(|| {
                let name = self.row_names[row].clone();
                Broken { name, value, lower, upper, fractional: false }
            })
        })
    }
}

mod change;
mod check;
mod convex;

#[cfg(test)]
mod tests;
