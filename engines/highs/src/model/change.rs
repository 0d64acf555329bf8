//! Changes of an existing model: added columns, deleted rows and columns.

use super::{Column, Model, Row};

impl Model {
    /// Adds coefficients to rows. `added` has, for each row, its new columns in ascending order, with their
    /// coefficients.
    pub(crate) fn insert_all(&mut self, added: &[Vec<(Column, f64)>]) {
        let count: usize = added.iter().map(Vec::len).sum();
        let mut indices = Vec::with_capacity(self.indices.len() + count);
        let mut values = Vec::with_capacity(indices.capacity());
        let mut starts = Vec::with_capacity(self.starts.len());
        for row in 0..self.rows() {
            let (from, to) = self.span(Row(row as u32));
            starts.push(indices.len() as u32);
            indices.extend_from_slice(&self.indices[from..to]);
            values.extend_from_slice(&self.values[from..to]);
            for (column, value) in added.get(row).into_iter().flatten() {
                indices.push(column.0);
                values.push(*value);
            }
        }
        (self.starts, self.indices, self.values) = (starts, indices, values);
    }

    /// Deletes rows; later ones move up.
    pub fn delete_rows(&mut self, rows: &[Row]) {
        let mut keep = vec![true; self.rows()];
        for row in rows {
            keep[row.index()] = false;
        }
        let (mut starts, mut indices, mut values) = (Vec::new(), Vec::new(), Vec::new());
        for row in (0..self.rows()).filter(|row| keep[*row]) {
            let (from, to) = self.span(Row(row as u32));
            starts.push(indices.len() as u32);
            indices.extend_from_slice(&self.indices[from..to]);
            values.extend_from_slice(&self.values[from..to]);
        }
        (self.starts, self.indices, self.values) = (starts, indices, values);
        keep_of(&mut self.row_lower, &keep);
        keep_of(&mut self.row_upper, &keep);
        keep_of(&mut self.row_names, &keep);
    }

    /// Deletes columns and their coefficients; later columns move up. The objective must not be quadratic.
    pub(crate) fn delete_columns(&mut self, columns: &[Column]) {
        let mut keep = vec![true; self.columns()];
        for column in columns {
            keep[column.index()] = false;
        }
        let mut place = vec![0_u32; keep.len()];
        let mut next = 0;
        for (column, kept) in keep.iter().enumerate() {
            place[column] = next;
            next += u32::from(*kept);
        }
        let (mut starts, mut indices, mut values) = (Vec::new(), Vec::new(), Vec::new());
        for row in 0..self.rows() {
            starts.push(indices.len() as u32);
            for (column, value) in self.terms(Row(row as u32)) {
                if keep[column.index()] {
                    indices.push(place[column.index()]);
                    values.push(value);
                }
            }
        }
        (self.starts, self.indices, self.values) = (starts, indices, values);
        keep_of(&mut self.costs, &keep);
        keep_of(&mut self.lower, &keep);
        keep_of(&mut self.upper, &keep);
        keep_of(&mut self.domains, &keep);
        keep_of(&mut self.column_names, &keep);
    }

    fn span(&self, row: Row) -> (usize, usize) {
        let end = self.starts.get(row.index() + 1).map_or(self.indices.len(), |start| *start as usize);
        (self.starts[row.index()] as usize, end)
    }
}

fn keep_of<T>(values: &mut Vec<T>, keep: &[bool]) {
    let mut kept = keep.iter();
    values.retain(|_| kept.next().copied().unwrap_or(true));
}
