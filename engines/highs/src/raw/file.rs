//! Names, model files, the model stored by HiGHS, irreducible infeasible subsystems, rays.

use super::{Highs, fine, text};
use crate::error::Error;
use crate::model::{Domain, Model, Quadratic};
use highs_sys as sys;
use std::ffi::CStr;
use std::ptr;

/// Columns and rows in conflict, each with the bounds that take part.
pub struct Subsystem {
    /// Position of each column, and the constant of HiGHS that says which of its bounds take part.
    pub columns: Vec<(u32, i32)>,
    /// Position of each row, and the constant of HiGHS that says which of its bounds take part.
    pub rows: Vec<(u32, i32)>,
}

impl Highs {
    /// Names a column.
    pub fn name_column(&mut self, column: i32, name: &str) -> Result<(), Error> {
        let name = text(name)?;
        // SAFETY: a terminated string, copied by HiGHS.
        fine(unsafe { sys::Highs_passColName(self.at(), column, name.as_ptr()) }, "name the column")
    }

    /// Names a row.
    pub fn name_row(&mut self, row: i32, name: &str) -> Result<(), Error> {
        let name = text(name)?;
        // SAFETY: a terminated string, copied by HiGHS.
        fine(unsafe { sys::Highs_passRowName(self.at(), row, name.as_ptr()) }, "name the row")
    }

    /// Writes the model to a file; the ending of the file's name selects the format. Returns `true` if HiGHS gave no
    /// warning.
    pub fn write_model(&mut self, path: &str) -> Result<bool, Error> {
        let path = text(path)?;
        // SAFETY: a terminated string.
        let status = unsafe { sys::Highs_writeModel(self.at(), path.as_ptr()) };
        fine(status, "write the model")?;
        Ok(status == sys::STATUS_OK)
    }

    /// Reads a model from a file. Returns `true` if HiGHS gave no warning.
    pub fn read_model(&mut self, path: &str) -> Result<bool, Error> {
        let path = text(path)?;
        // SAFETY: a terminated string.
        let status = unsafe { sys::Highs_readModel(self.at(), path.as_ptr()) };
        fine(status, "read the model")?;
        Ok(status == sys::STATUS_OK)
    }

    /// Returns the model stored by HiGHS.
    pub fn model(&self) -> Result<Model, Error> {
        let (columns, rows) = (self.columns(), self.rows());
        // SAFETY: the instance is alive.
        let (entries, quadratic_entries) =
            unsafe { (sys::Highs_getNumNz(self.at()), sys::Highs_getHessianNumNz(self.at())) };
        let (entries, quadratic_entries) =
            (usize::try_from(entries).unwrap_or(0), usize::try_from(quadratic_entries).unwrap_or(0));
        let mut sizes = [0_i32; 5];
        let mut offset = 0.0;
        let [columns_, rows_, entries_, quadratic_, sense] = &mut sizes;
        let floats = |length| vec![0.0_f64; length];
        let (mut costs, mut lower, mut upper) = (floats(columns), floats(columns), floats(columns));
        let (mut row_lower, mut row_upper) = (floats(rows), floats(rows));
        let (mut starts, mut indices) = (vec![0_i32; rows + 1], vec![0_i32; entries]);
        let mut values = floats(entries);
        let (mut quadratic_starts, mut quadratic_indices) =
            (vec![0_i32; columns + 1], vec![0_i32; quadratic_entries]);
        let mut quadratic_values = floats(quadratic_entries);
        let mut domains = vec![0_i32; columns];
        // SAFETY: every array has the size that HiGHS returned above.
        let status = unsafe {
            sys::Highs_getModel(
                self.at(),
                sys::MATRIX_FORMAT_ROW_WISE,
                sys::kHighsHessianFormatTriangular,
                columns_,
                rows_,
                entries_,
                quadratic_,
                sense,
                &raw mut offset,
                costs.as_mut_ptr(),
                lower.as_mut_ptr(),
                upper.as_mut_ptr(),
                row_lower.as_mut_ptr(),
                row_upper.as_mut_ptr(),
                starts.as_mut_ptr(),
                indices.as_mut_ptr(),
                values.as_mut_ptr(),
                quadratic_starts.as_mut_ptr(),
                quadratic_indices.as_mut_ptr(),
                quadratic_values.as_mut_ptr(),
                domains.as_mut_ptr(),
            )
        };
        fine(status, "give its model")?;
        starts.truncate(rows);
        quadratic_starts.truncate(columns);
        let positions = |numbers: Vec<i32>| numbers.into_iter().map(i32::cast_unsigned).collect();
        let domain = |number| match number {
            sys::kHighsVarTypeInteger | sys::kHighsVarTypeImplicitInteger => Domain::Integer,
            sys::kHighsVarTypeSemiContinuous => Domain::SemiContinuous,
            sys::kHighsVarTypeSemiInteger => Domain::SemiInteger,
            _ => Domain::Continuous,
        };
        Ok(Model {
            name: String::new(),
            maximise: sizes[4] == sys::OBJECTIVE_SENSE_MAXIMIZE,
            offset,
            costs,
            lower,
            upper,
            domains: domains.into_iter().map(domain).collect(),
            column_names: self.names(columns, sys::Highs_getColName),
            row_lower,
            row_upper,
            row_names: self.names(rows, sys::Highs_getRowName),
            starts: positions(starts),
            indices: positions(indices),
            values,
            quadratic: (quadratic_entries > 0).then(|| Quadratic {
                starts: positions(quadratic_starts),
                indices: positions(quadratic_indices),
                values: quadratic_values,
            }),
        })
    }

    /// Returns the names of all columns or rows; a name is empty if HiGHS has no name for the column or row.
    fn names(
        &self,
        number: usize,
        get: unsafe extern "C" fn(*const std::ffi::c_void, i32, *mut std::ffi::c_char) -> i32,
    ) -> Vec<String> {
        let mut buffer = vec![0_u8; sys::kHighsMaximumStringLength as usize + 1];
        (0..number)
            .map(|position| {
                // SAFETY: a name read from a file is at most as long as a line of the file, which HiGHS limits to the
                // length of the buffer.
                let status = unsafe { get(self.at(), position as i32, buffer.as_mut_ptr().cast()) };
                match CStr::from_bytes_until_nul(&buffer) {
                    Ok(name) if status == sys::STATUS_OK => name.to_string_lossy().into_owned(),
                    _ => String::new(),
                }
            })
            .collect()
    }

    /// Returns conflicting rows and bounds, as few as HiGHS finds; `None` if HiGHS finds no conflict.
    pub fn subsystem(&mut self) -> Result<Option<Subsystem>, Error> {
        let (mut columns, mut rows) = (0, 0);
        let (room, row_room) = (self.columns(), self.rows());
        let (mut column_index, mut row_index) = (vec![0_i32; room], vec![0_i32; row_room]);
        let (mut column_bound, mut row_bound) = (vec![0_i32; room], vec![0_i32; row_room]);
        // SAFETY: a subsystem names each column and row at most once, so that it fits the arrays; null for the arrays
        // that are not requested.
        let status = unsafe {
            sys::Highs_getIis(
                self.at(),
                &raw mut columns,
                &raw mut rows,
                column_index.as_mut_ptr(),
                row_index.as_mut_ptr(),
                column_bound.as_mut_ptr(),
                row_bound.as_mut_ptr(),
                ptr::null_mut(),
                ptr::null_mut(),
            )
        };
        fine(status, "find the rows in conflict")?;
        let pairs = |index: Vec<i32>, bound: Vec<i32>, length: i32| -> Vec<(u32, i32)> {
            let length = usize::try_from(length).unwrap_or(0);
            index.into_iter().map(i32::cast_unsigned).zip(bound).take(length).collect()
        };
        if columns == 0 && rows == 0 {
            return Ok(None);
        }
        Ok(Some(Subsystem {
            columns: pairs(column_index, column_bound, columns),
            rows: pairs(row_index, row_bound, rows),
        }))
    }
}
