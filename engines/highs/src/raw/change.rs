//! Changes of the model. HiGHS checks positions itself; the caller has checked them too.

use super::{Highs, count, fine, signed};
use crate::error::Error;
use highs_sys as sys;

impl Highs {
    pub fn set_cost(&mut self, column: i32, cost: f64) -> Result<(), Error> {
        // SAFETY: plain values.
        fine(unsafe { sys::Highs_changeColCost(self.at(), column, cost) }, "change the cost")
    }

    pub fn set_bounds(&mut self, column: i32, lower: f64, upper: f64) -> Result<(), Error> {
        // SAFETY: plain values.
        fine(unsafe { sys::Highs_changeColBounds(self.at(), column, lower, upper) }, "change the bounds")
    }

    pub fn set_row_bounds(&mut self, row: i32, lower: f64, upper: f64) -> Result<(), Error> {
        // SAFETY: plain values.
        fine(unsafe { sys::Highs_changeRowBounds(self.at(), row, lower, upper) }, "change the bounds")
    }

    pub fn set_coefficient(&mut self, row: i32, column: i32, value: f64) -> Result<(), Error> {
        // SAFETY: plain values.
        fine(unsafe { sys::Highs_changeCoeff(self.at(), row, column, value) }, "change the coefficient")
    }

    pub fn add_row(&mut self, lower: f64, upper: f64, columns: &[u32], values: &[f64]) -> Result<(), Error> {
        Error::length("entries of the row", values.len(), columns.len())?;
        // SAFETY: both arrays have the length that is passed.
        let status = unsafe {
            sys::Highs_addRow(
                self.at(),
                lower,
                upper,
                count(columns.len())?,
                signed(columns)?,
                values.as_ptr(),
            )
        };
        fine(status, "add the row")
    }

    pub fn add_column(
        &mut self,
        cost: f64,
        bounds: (f64, f64),
        rows: &[u32],
        values: &[f64],
    ) -> Result<(), Error> {
        Error::length("entries of the column", values.len(), rows.len())?;
        // SAFETY: both arrays have the length that is passed.
        let status = unsafe {
            sys::Highs_addCol(
                self.at(),
                cost,
                bounds.0,
                bounds.1,
                count(rows.len())?,
                signed(rows)?,
                values.as_ptr(),
            )
        };
        fine(status, "add the column")
    }

    /// Adds columns with the same bounds. `starts` says where the entries of each begin.
    pub fn add_columns(
        &mut self,
        costs: &[f64],
        bounds: (f64, f64),
        starts: &[u32],
        rows: &[u32],
        values: &[f64],
    ) -> Result<(), Error> {
        Error::length("starts of the columns", starts.len(), costs.len())?;
        Error::length("entries of the columns", values.len(), rows.len())?;
        let (lower, upper) = (vec![bounds.0; costs.len()], vec![bounds.1; costs.len()]);
        // SAFETY: one cost, bound and start per column, and as many values as rows; HiGHS checks the positions.
        let status = unsafe {
            sys::Highs_addCols(
                self.at(),
                count(costs.len())?,
                costs.as_ptr(),
                lower.as_ptr(),
                upper.as_ptr(),
                count(rows.len())?,
                signed(starts)?,
                signed(rows)?,
                values.as_ptr(),
            )
        };
        fine(status, "add the columns")
    }

    /// Deletes rows; ascending and each once.
    pub fn delete_rows(&mut self, rows: &[u32]) -> Result<(), Error> {
        // SAFETY: the array has the length that is passed.
        let status = unsafe { sys::Highs_deleteRowsBySet(self.at(), count(rows.len())?, signed(rows)?) };
        fine(status, "delete the rows")
    }

    /// Deletes columns; ascending and each once.
    pub fn delete_columns(&mut self, columns: &[u32]) -> Result<(), Error> {
        // SAFETY: the array has the length that is passed.
        let status =
            unsafe { sys::Highs_deleteColsBySet(self.at(), count(columns.len())?, signed(columns)?) };
        fine(status, "delete the columns")
    }
}
