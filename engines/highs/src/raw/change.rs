//! Changes of the model. Both the caller and HiGHS check the positions.

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

    /// Adds columns with the same bounds. `starts` contains the index of the first entry of each column.
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

    /// Deletes columns, given in ascending order without repetition.
    pub fn delete_columns(&mut self, columns: &[u32]) -> Result<(), Error> {
        // SAFETY: the array has the length that is passed.
        let status =
            unsafe { sys::Highs_deleteColsBySet(self.at(), count(columns.len())?, signed(columns)?) };
        fine(status, "delete the columns")
    }
}
