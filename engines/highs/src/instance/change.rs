//! Changes of the model in place. HiGHS keeps its basis when the model changes: new columns enter nonbasic, so that the
//! next run needs few iterations. Each change is made in HiGHS first and then in the model, so that both stay equal if
//! HiGHS refuses.

use super::Instance;
use crate::error::Error;
use crate::model::{Column, Row};

impl Instance {
    /// Changes the objective coefficient of a column.
    ///
    /// # Errors
    /// If there is no such column or the number is not finite.
    pub fn set_cost(&mut self, column: Column, cost: f64) -> Result<(), Error> {
        self.has_column(column)?;
        finite("cost", cost)?;
        self.highs.set_cost(column.0.cast_signed(), cost)?;
        self.model.costs[column.index()] = cost;
        Ok(())
    }

    /// Changes the bounds of a column.
    ///
    /// # Errors
    /// If there is no such column or a bound is not a number.
    pub fn set_bounds(&mut self, column: Column, lower: f64, upper: f64) -> Result<(), Error> {
        self.has_column(column)?;
        bounds(lower, upper)?;
        self.highs.set_bounds(column.0.cast_signed(), lower, upper)?;
        self.model.lower[column.index()] = lower;
        self.model.upper[column.index()] = upper;
        Ok(())
    }

    /// Adds many continuous columns with the same bounds at once, each with its cost and its coefficients in existing
    /// rows; a column names each row at most once. Returns the first new column. One call of HiGHS is much faster than
    /// one call for each column.
    ///
    /// # Errors
    /// If a row is missing or named twice, or a number is NaN.
    pub fn add_columns(
        &mut self,
        name: &str,
        lower: f64,
        upper: f64,
        columns: &[(f64, Vec<(Row, f64)>)],
    ) -> Result<Column, Error> {
        bounds(lower, upper)?;
        let first = self.model.columns() as u32;
        let count = columns.iter().map(|(_, entries)| entries.len()).sum();
        let (mut starts, mut rows, mut values) =
            (Vec::with_capacity(columns.len()), Vec::with_capacity(count), Vec::with_capacity(count));
        let mut by_row: Vec<Vec<(Column, f64)>> = vec![Vec::new(); self.model.rows()];
        for (at, (cost, entries)) in columns.iter().enumerate() {
            finite("cost", *cost)?;
            starts.push(rows.len() as u32);
            let column = Column(first + at as u32);
            for &(row, value) in entries {
                self.has_row(row)?;
                finite("factor", value)?;
                let of_row = &mut by_row[row.index()];
                if of_row.last().is_some_and(|(last, _)| *last == column) {
                    let row = &self.model.row_names[row.index()];
                    return Err(Error::Model(format!("a column names '{row}' twice")));
                }
                if value != 0.0 {
                    rows.push(row.0);
                    values.push(value);
                    of_row.push((column, value));
                }
            }
        }
        let costs: Vec<f64> = columns.iter().map(|(cost, _)| *cost).collect();
        self.highs.add_columns(&costs, (lower, upper), &starts, &rows, &values)?;
        for (at, cost) in costs.iter().enumerate() {
            self.model.column(format!("{name}{}", first as usize + at), lower, upper, *cost);
            if let Some(part) = &mut self.model.quadratic {
                part.starts.push(part.indices.len() as u32);
            }
        }
        self.model.insert_all(&by_row);
        Ok(Column(first))
    }

    /// Deletes columns; later ones move up.
    ///
    /// # Errors
    /// If a column is missing, or the objective is quadratic (build a new instance then).
    pub fn delete_columns(&mut self, columns: &[Column]) -> Result<(), Error> {
        if self.model.quadratic.is_some() {
            return Err(Error::Quadratic(
                "columns of a model with a quadratic objective cannot be deleted".to_owned(),
            ));
        }
        for column in columns {
            self.has_column(*column)?;
        }
        let mut numbers: Vec<u32> = columns.iter().map(|column| column.0).collect();
        numbers.sort_unstable();
        numbers.dedup();
        self.highs.delete_columns(&numbers)?;
        self.model.delete_columns(columns);
        Ok(())
    }

    fn has_column(&self, column: Column) -> Result<(), Error> {
        Error::position("column", column.index(), self.model.columns())
    }

    fn has_row(&self, row: Row) -> Result<(), Error> {
        Error::position("row", row.index(), self.model.rows())
    }
}

fn finite(what: &str, value: f64) -> Result<(), Error> {
    if value.is_finite() { Ok(()) } else { Err(Error::Model(format!("the {what} is {value}"))) }
}

fn bounds(lower: f64, upper: f64) -> Result<(), Error> {
    if lower.is_nan() || upper.is_nan() || lower == f64::INFINITY || upper == f64::NEG_INFINITY {
        return Err(Error::Model(format!("the bounds are {lower} and {upper}")));
    }
    Ok(())
}
