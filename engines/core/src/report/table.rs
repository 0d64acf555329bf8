//! Tables of a section: rows with the same columns.

use super::curves::Line;
use super::phrase::Phrase;
use super::value::{Cell, Unit};
use std::cmp::Ordering;

/// Rows with the same columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows. If an overview shows only some of them and `rank` is `None`, the most important rows come first.
    pub rows: Vec<Row>,
    /// Number of rows that an overview shows; 0 for all. If a user requests the section by its name, all rows are
    /// shown.
    pub overview: usize,
    /// Noun for one row, and noun for several rows: `task`, `tasks`.
    pub of: [&'static str; 2],
    /// Index of the column that selects the rows of an overview: the rows with the largest numbers in this column are
    /// shown; `None` to show the first rows.
    pub rank: Option<usize>,
    /// Index of the column whose numbers a screen also draws as bars, in the tone of the cell.
    pub bar: Option<usize>,
    /// Names of the parts of the bar next to each row, see [`Row::parts`]; empty for other bars.
    pub parts: Vec<&'static str>,
    /// Reference value for the bars, such as a bound: a line through all bars marks it.
    pub limit: Option<Line>,
    /// Value at which the scale of the bars ends; a longer bar is marked at its end. `None` for the longest bar.
    pub full: Option<f64>,
    /// `true` if rows are in order of time: a screen shows the last ones until the user chooses a row.
    pub newest_last: bool,
    /// `true` if items are numbers of plans of the session, which a screen can show.
    pub of_plans: bool,
    /// Sort orders that a screen offers for the rows; a form of the section uses the sort order with its name.
    pub orders: Vec<RowOrder>,
    /// Time axis of the loads that a screen draws next to the rows.
    pub loads: Option<LoadAxis>,
}

/// Order of the rows of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowOrder {
    /// Name of the form: `by slack`.
    pub name: &'static str,
    /// Indices of the columns by which rows are sorted, ascending; a later column breaks ties of the earlier ones.
    pub columns: Vec<usize>,
}

/// Time axis along which a screen draws the loads of each row of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadAxis {
    /// Name of the loads in JSON: `demand`.
    pub name: &'static str,
    /// Shown intervals of time, each with the name of a form of the section: start and end, s. A form without an
    /// interval shows the first interval.
    pub windows: Vec<(&'static str, f64, f64)>,
}

/// Load over an interval of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoadSpan {
    /// Start of the interval, s.
    pub start_s: f64,
    /// End of the interval, s.
    pub end_s: f64,
    /// Load as a fraction of the capacity: 1 is full.
    pub share: f64,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Name in JSON and CSV, with its unit: `start_s`.
    pub name: String,
    /// Heading, without the unit.
    pub label: String,
    /// Unit of the column's numbers.
    pub unit: Unit,
    /// `true` for numbers, which are right-aligned; words are left-aligned.
    pub right: bool,
    /// Order in which columns are dropped when space is short: higher values first, 0 never.
    pub priority: u8,
    /// `true` for words that are themselves aligned in columns, such as lines of a log: a screen gives them all
    /// available width, and removes the aligning blanks before it cuts them.
    pub aligned: bool,
}

/// A row of a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// One cell per column.
    pub cells: Vec<Cell>,
    /// The item that the row selects, such as a task or a link, by its index.
    pub item: Option<u32>,
    /// One sentence on what the cells cannot express; if it is empty, a screen derives one from the cells.
    pub sentence: Phrase,
    /// Lines that show the details of the item.
    pub details: Vec<String>,
    /// Sign before the row, such as `!` or `*`; empty for most.
    pub mark: &'static str,
    /// Loads over time, by start; there is no load between two intervals.
    pub load: Vec<LoadSpan>,
    /// Lengths of the parts of the row's bar on a screen, in the order of [`Table::parts`] and with the unit of the column
    /// [`Table::bar`].
    pub parts: Vec<f64>,
}

impl Column {
    /// Creates a column of words.
    pub fn words(name: impl Into<String>, label: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            label: label.into(),
            unit: Unit::NUMBER,
            right: false,
            priority: 0,
            aligned: false,
        }
    }

    /// Creates a column of numbers.
    pub fn numbers(name: impl Into<String>, label: impl Into<String>, unit: Unit) -> Self {
        Self { unit, right: true, ..Self::words(name, label) }
    }

    /// Creates a column of counts.
    pub fn counts(name: impl Into<String>, label: impl Into<String>) -> Self {
        Self::numbers(name, label, Unit::COUNT)
    }

    /// Sets the order in which the column is dropped if space is short.
    #[must_use]
    pub const fn priority(mut self, priority: u8) -> Self {
        self.priority = priority;
        self
    }

    /// Declares that the words of the column are themselves aligned in columns, such as lines of a log.
    #[must_use]
    pub const fn aligned(mut self) -> Self {
        self.aligned = true;
        self
    }

    /// Returns the heading with the unit: `start s`.
    pub fn heading(&self) -> String {
        if self.unit.symbol.is_empty() || self.label.is_empty() {
            self.label.clone()
        } else {
            format!("{} {}", self.label, self.unit.symbol)
        }
    }
}

impl Row {
    /// Creates a row of cells.
    pub fn new(cells: Vec<Cell>) -> Self {
        Self { cells, ..Self::default() }
    }

    /// Sets the item that the row selects.
    #[must_use]
    pub const fn item(mut self, item: u32) -> Self {
        self.item = Some(item);
        self
    }

    /// Sets the sentence about the row.
    #[must_use]
    pub fn sentence(mut self, sentence: impl Into<Phrase>) -> Self {
        self.sentence = sentence.into();
        self
    }

    /// Sets the sign in front of the row.
    #[must_use]
    pub const fn mark(mut self, mark: &'static str) -> Self {
        self.mark = mark;
        self
    }
}

impl Table {
    /// Creates a table without rows. `of` names a row: singular and plural.
    pub fn new(of: [&'static str; 2], columns: Vec<Column>) -> Self {
        Self { columns, of, ..Self::default() }
    }

    /// Sets the column, by its index, that selects the rows of an overview: the rows with the largest numbers are
    /// shown.
    #[must_use]
    pub const fn rank(mut self, column: usize) -> Self {
        self.rank = Some(column);
        self
    }

    /// Adds a sort order that a screen offers for the rows.
    #[must_use]
    pub fn order(mut self, name: &'static str, columns: Vec<usize>) -> Self {
        self.orders.push(RowOrder { name, columns });
        self
    }

    /// Returns the rows of an overview: those with the largest numbers in the column [`Table::rank`], in descending
    /// order, or the first rows.
    pub fn overview_rows(&self) -> Vec<&Row> {
        let mut rows: Vec<&Row> = self.rows.iter().collect();
        if self.overview == 0 {
            return rows;
        }
        if let Some(column) = self.rank {
            let number = |row: &Row| row.cells.get(column).and_then(|cell| cell.value.as_f64());
            rows.sort_by(|a, b| {
                let [a, b] = [a, b].map(|row| number(row).unwrap_or(f64::NEG_INFINITY));
                b.total_cmp(&a)
            });
        }
        rows.truncate(self.overview);
        rows
    }

    /// Returns the indices of the rows in the sort order called `name`; for an unknown name, in the order of the table.
    pub fn ordered(&self, name: &str) -> Vec<usize> {
        let mut rows: Vec<usize> = (0..self.rows.len()).collect();
        if let Some(order) = self.orders.iter().find(|order| order.name == name) {
            let cell = |row: usize, column: usize| self.rows[row].cells.get(column).map(|cell| &cell.value);
            rows.sort_by(|a, b| {
                let by = |column: &usize| match (cell(*a, *column), cell(*b, *column)) {
                    (Some(a), Some(b)) => a.order(b),
                    (a, b) => a.is_some().cmp(&b.is_some()),
                };
                order.columns.iter().map(by).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
            });
        }
        rows
    }

    /// Makes screens draw the numbers of a column, given by its index, as bars too.
    #[must_use]
    pub const fn bar(mut self, column: usize) -> Self {
        self.bar = Some(column);
        self
    }

    /// Makes screens draw a bar of several parts next to each row.
    #[must_use]
    pub fn parts(mut self, names: &[&'static str]) -> Self {
        self.parts = names.to_vec();
        self
    }

    /// Makes screens mark a value with a line through all bars.
    #[must_use]
    pub fn limit(mut self, limit: Option<Line>) -> Self {
        self.limit = limit;
        self
    }

    /// Declares that the rows are in order of time.
    #[must_use]
    pub const fn newest_last(mut self) -> Self {
        self.newest_last = true;
        self
    }

    /// Declares that the items are numbers of plans of the session.
    #[must_use]
    pub const fn of_plans(mut self) -> Self {
        self.of_plans = true;
        self
    }

    /// Sets the number of rows that an overview shows.
    #[must_use]
    pub const fn overview(mut self, rows: usize) -> Self {
        self.overview = rows;
        self
    }

    /// Adds a row of cells.
    pub fn row(&mut self, cells: Vec<Cell>) -> &mut Row {
        self.push(Row::new(cells))
    }

    /// Adds a row.
    pub fn push(&mut self, row: Row) -> &mut Row {
        self.rows.push(row);
        let last = self.rows.len() - 1;
        &mut self.rows[last]
    }
}
