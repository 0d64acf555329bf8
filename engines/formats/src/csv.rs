//! Tables for spreadsheets and scripts: comma-separated values with one header line (RFC 4180, `\n` line ends).

use crate::value::Value;
use lightbay_core::cells;

/// A table under construction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CsvTable {
    text: String,
}

impl CsvTable {
    /// Creates a table with these columns; the names contain the units.
    pub fn new<'c>(columns: impl IntoIterator<Item = &'c str>) -> Self {
        let mut table = Self { text: String::new() };
        table.row(columns.into_iter().map(Value::from));
        table
    }

    /// Adds a row. Numbers are written with the fewest digits that read back as the same number; text that a
    /// spreadsheet would interpret as a formula is marked as text.
    pub fn row(&mut self, fields: impl IntoIterator<Item = Value>) {
        for (index, field) in fields.into_iter().enumerate() {
            if index > 0 {
                self.text.push(',');
            }
            match field {
                Value::Text(text) => self.text.push_str(&cells::csv(&text)),
                number => self.text.push_str(&number.to_string()),
            }
        }
        self.text.push('\n');
    }

    /// Returns the content of the file.
    pub fn into_text(self) -> String {
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_exact_and_text_is_text() {
        let mut table = CsvTable::new(["task", "bytes", "start_s"]);
        table.row([Value::from("F1, s2>s3"), Value::Int(-33_554_432), Value::Float(0.1 + 0.2)]);
        table.row([Value::from("=cmd()"), Value::Int(0), Value::Float(1.0)]);
        assert_eq!(
            table.into_text(),
            "task,bytes,start_s\n\"F1, s2>s3\",-33554432,0.30000000000000004\n'=cmd(),0,1\n"
        );
    }
}
