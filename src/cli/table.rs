//! Plain tables for the terminal: columns as wide as their widest cell, numbers to the right.

use std::fmt;
use unicode_width::UnicodeWidthStr as _;

/// A table with a heading.
#[derive(Clone, Debug, Default)]
pub struct TextTable {
    head: Vec<String>,
    right: Vec<bool>,
    rows: Vec<Vec<String>>,
}

impl TextTable {
    /// Creates a table with these columns; a name that begins with `>` marks a column of numbers.
    pub fn new(columns: &[&str]) -> Self {
        Self {
            head: columns.iter().map(|name| name.trim_start_matches('>').to_owned()).collect(),
            right: columns.iter().map(|name| name.starts_with('>')).collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row. Cells are written unchanged: the caller must make text from files printable.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    fn widths(&self) -> Vec<usize> {
        let mut widths: Vec<usize> = self.head.iter().map(|name| name.width()).collect();
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.width());
            }
        }
        widths
    }

    fn line(&self, f: &mut fmt::Formatter<'_>, cells: &[String], widths: &[usize]) -> fmt::Result {
        let mut line = String::new();
        for (index, (cell, width)) in cells.iter().zip(widths).enumerate() {
            if index > 0 {
                line.push_str("  ");
            }
            let space = " ".repeat(width.saturating_sub(cell.width()));
            if self.right.get(index).copied().unwrap_or(false) {
                line.push_str(&space);
                line.push_str(cell);
            } else {
                line.push_str(cell);
                line.push_str(&space);
            }
        }
        writeln!(f, "{}", line.trim_end())
    }
}

impl fmt::Display for TextTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths = self.widths();
        if self.head.iter().any(|name| !name.is_empty()) {
            self.line(f, &self.head, &widths)?;
        }
        for row in &self.rows {
            self.line(f, row, &widths)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_to_the_right_and_wide_letters_count_twice() {
        let mut table = TextTable::new(&["name", ">ports"]);
        table.row(["a".to_owned(), "7".to_owned()]);
        table.row(["電力電力".to_owned(), "1024".to_owned()]);
        assert_eq!(table.to_string(), "name      ports\na             7\n電力電力   1024\n");
    }

    #[test]
    fn nothing_hangs_over_the_end_of_a_line() {
        let mut table = TextTable::new(&["", ""]);
        table.row(["a".to_owned(), String::new()]);
        table.row(["long".to_owned(), "b".to_owned()]);
        assert_eq!(table.to_string(), "a\nlong  b\n");
    }
}
