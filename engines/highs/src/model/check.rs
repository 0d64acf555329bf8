//! Checks that a model is valid input for a solver.

use super::convex::first_concave;
use super::{Model, Quadratic};
use crate::error::Error;

impl Model {
    /// Checks that the lengths of the arrays are consistent and that their numbers are valid. Bounds may be infinite,
    /// costs and entries may not; a lower bound above the upper bound is allowed and makes the model infeasible.
    ///
    /// # Errors
    /// Names the first invalid row or column and its problem.
    pub fn check(&self) -> Result<(), Error> {
        let (columns, rows) = (self.columns(), self.rows());
        Error::length("lower bounds of columns", self.lower.len(), columns)?;
        Error::length("upper bounds of columns", self.upper.len(), columns)?;
        Error::length("domains", self.domains.len(), columns)?;
        Error::length("names of columns", self.column_names.len(), columns)?;
        Error::length("upper bounds of rows", self.row_upper.len(), rows)?;
        Error::length("names of rows", self.row_names.len(), rows)?;
        Error::length("starts of rows", self.starts.len(), rows)?;
        Error::length("entries", self.values.len(), self.indices.len())?;
        if !self.offset.is_finite() {
            return Err(Error::Model(format!("the constant of the objective is {}", self.offset)));
        }
        for column in 0..columns {
            let name = &self.column_names[column];
            if !self.costs[column].is_finite() {
                return Err(Error::Model(format!("the cost of '{name}' is {}", self.costs[column])));
            }
            bounds(name, self.lower[column], self.upper[column])?;
        }
        let ends = self.starts.iter().skip(1).map(|end| *end as usize).chain([self.indices.len()]);
        if rows == 0 && !self.indices.is_empty() {
            return Err(Error::Model("there are entries but no rows".to_owned()));
        }
        if self.starts.first().is_some_and(|start| *start != 0) {
            return Err(Error::Model("the first row does not begin at the first entry".to_owned()));
        }
        // Index of the last row that named the column, plus one.
        let mut seen = vec![0_usize; columns];
        for ((row, start), end) in self.starts.iter().enumerate().zip(ends) {
            let name = &self.row_names[row];
            let start = *start as usize;
            if start > end || end > self.indices.len() {
                return Err(Error::Model(format!("the entries of '{name}' end before they begin")));
            }
            bounds(name, self.row_lower[row], self.row_upper[row])?;
            for entry in start..end {
                let (column, value) = (self.indices[entry] as usize, self.values[entry]);
                let Some(last) = seen.get_mut(column) else {
                    return Err(Error::Model(format!(
                        "'{name}' names column {column}, but the model has {columns} columns"
                    )));
                };
                if *last == row + 1 {
                    let column = &self.column_names[column];
                    return Err(Error::Model(format!("'{name}' names '{column}' twice")));
                }
                *last = row + 1;
                if !value.is_finite() {
                    let column = &self.column_names[column];
                    return Err(Error::Model(format!(
                        "the coefficient of '{column}' in '{name}' is {value}"
                    )));
                }
            }
        }
        match &self.quadratic {
            Some(part) => self.check_quadratic(part),
            None => Ok(()),
        }
    }

    fn check_quadratic(&self, part: &Quadratic) -> Result<(), Error> {
        Error::length("starts of the quadratic part", part.starts.len(), self.columns())?;
        Error::length("entries of the quadratic part", part.values.len(), part.indices.len())?;
        if self.is_mip() {
            return Err(Error::Quadratic(
                "a model with integer columns must have a linear objective".to_owned(),
            ));
        }
        let ends = part.starts.iter().skip(1).map(|end| *end as usize).chain([part.indices.len()]);
        for ((column, start), end) in part.starts.iter().enumerate().zip(ends) {
            let name = &self.column_names[column];
            let start = *start as usize;
            if start > end || end > part.indices.len() || (column == 0 && start != 0) {
                return Err(Error::Model(format!(
                    "the quadratic entries of '{name}' have an invalid start or end"
                )));
            }
            for entry in start..end {
                let row = part.indices[entry] as usize;
                if row < column || row >= self.columns() {
                    return Err(Error::Model(format!(
                        "a quadratic entry of '{name}' is outside the lower triangle"
                    )));
                }
                if part.indices[start..entry].contains(&part.indices[entry]) {
                    return Err(Error::Model(format!("a quadratic entry of '{name}' is given twice")));
                }
                if !part.values[entry].is_finite() {
                    return Err(Error::Model(format!(
                        "a quadratic entry of '{name}' is {}",
                        part.values[entry]
                    )));
                }
            }
        }
        match first_concave(part, self.maximise) {
            Some(column) => Err(Error::Quadratic(format!(
                "it is not {} in the direction of '{}'",
                if self.maximise { "concave" } else { "convex" },
                self.column_names[column as usize]
            ))),
            None => Ok(()),
        }
    }
}

fn bounds(name: &str, lower: f64, upper: f64) -> Result<(), Error> {
    if lower.is_nan() || upper.is_nan() {
        return Err(Error::Model(format!("a bound of '{name}' is not a number")));
    }
    if lower == f64::INFINITY || upper == f64::NEG_INFINITY {
        return Err(Error::Model(format!("the bounds of '{name}' are {lower} and {upper}")));
    }
    Ok(())
}
