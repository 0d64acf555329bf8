//! A section of a report and the forms it can have.

use super::phrase::Phrase;
use super::value::{Cell, Tone, Unit};

/// Description of a section that a kind can work out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SectionInfo {
    /// Name on the command line and in JSON: `links`.
    pub name: &'static str,
    /// Heading.
    pub title: &'static str,
    /// The question it answers, in one sentence.
    pub help: &'static str,
    /// Subject that it is worked out from.
    pub of: SectionOf,
    /// Names of blocks that a screen shows one at a time; empty for sections that are shown whole.
    pub forms: &'static [&'static str],
}

/// Subject of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SectionOf {
    /// A scenario; shown of a plan too.
    Scenario,
    /// A plan.
    Plan,
}

impl SectionInfo {
    /// A section of scenarios and plans.
    pub const fn of_scenario(name: &'static str, title: &'static str, help: &'static str) -> Self {
        Self { name, title, help, of: SectionOf::Scenario, forms: &[] }
    }

    /// A section of plans.
    pub const fn of_plan(name: &'static str, title: &'static str, help: &'static str) -> Self {
        Self { name, title, help, of: SectionOf::Plan, forms: &[] }
    }

    /// The same section with blocks that a screen shows one at a time.
    #[must_use]
    pub const fn forms(mut self, forms: &'static [&'static str]) -> Self {
        self.forms = forms;
        self
    }
}

/// A section that is worked out.
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    /// Heading, with what it is of where that differs: `Schedule, by start`.
    pub title: String,
    /// A few words behind the title on a screen: `estimates: the best plan is not proven`.
    pub context: Phrase,
    /// The one figure that answers the question of the section, for the title line of a screen.
    pub answer: Phrase,
    /// Sentences above the body.
    pub remarks: Vec<String>,
    /// Blocks, one below the other.
    pub blocks: Vec<Block>,
}

/// A part of a section with a name of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// Name in JSON and in names of files: `pods`. Empty for the only block of a section.
    pub name: &'static str,
    /// Heading below the title of the section; may be empty.
    pub title: String,
    /// Content.
    pub body: Body,
}

/// Form of a block.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// Named figures.
    Facts(Facts),
    /// Rows with the same columns.
    Table(Table),
    /// Numbers by row and column, such as pods by pods.
    Matrix(Matrix),
    /// Values over one axis.
    Curves(Curves),
    /// Intervals of time by lane.
    Spans(Spans),
}

impl Section {
    /// A section with one block.
    pub fn new(title: impl Into<String>, body: impl Into<Body>) -> Self {
        Self::empty(title).block("", "", body)
    }

    /// A section without blocks.
    pub fn empty(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            context: Phrase::new(),
            answer: Phrase::new(),
            remarks: Vec::new(),
            blocks: Vec::new(),
        }
    }

    /// A few words behind the title on a screen.
    #[must_use]
    pub fn context(mut self, context: impl Into<Phrase>) -> Self {
        self.context = context.into();
        self
    }

    /// The one figure that answers the question of the section.
    #[must_use]
    pub fn answer(mut self, answer: impl Into<Phrase>) -> Self {
        self.answer = answer.into();
        self
    }

    /// Adds a block.
    #[must_use]
    pub fn block(mut self, name: &'static str, title: impl Into<String>, body: impl Into<Body>) -> Self {
        self.blocks.push(Block { name, title: title.into(), body: body.into() });
        self
    }

    /// Adds a sentence.
    #[must_use]
    pub fn remark(mut self, sentence: impl Into<String>) -> Self {
        self.remarks.push(sentence.into());
        self
    }
}

/// Named figures, one below the other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// The figures.
    pub facts: Vec<Fact>,
}

/// A named figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    /// Name in JSON, with its unit: `ideal_makespan_s`.
    pub name: &'static str,
    /// Name for people.
    pub label: &'static str,
    /// Unit of a number.
    pub unit: Unit,
    /// The figure.
    pub cell: Cell,
    /// One sentence on it; may be empty.
    pub sentence: String,
}

impl Facts {
    /// No figures yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a number with a unit.
    pub fn number(
        &mut self,
        name: &'static str,
        label: &'static str,
        unit: Unit,
        cell: impl Into<Cell>,
    ) -> &mut Self {
        self.facts.push(Fact { name, label, unit, cell: cell.into(), sentence: String::new() });
        self
    }

    /// Adds words or a number without unit.
    pub fn add(&mut self, name: &'static str, label: &'static str, cell: impl Into<Cell>) -> &mut Self {
        self.number(name, label, Unit::NUMBER, cell)
    }

    /// Adds a sentence to the figure added last.
    pub fn sentence(&mut self, sentence: impl Into<String>) -> &mut Self {
        if let Some(last) = self.facts.last_mut() {
            last.sentence = sentence.into();
        }
        self
    }
}

/// Rows with the same columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows, those that matter most first where an overview shows only some.
    pub rows: Vec<Row>,
    /// Rows that an overview shows; the rest is shown when the section is asked for by name. 0 for all.
    pub overview: usize,
    /// Name of one row and of several: `task`, `tasks`.
    pub of: [&'static str; 2],
    /// Index of the column whose numbers a screen also draws as bars, in the tone of the cell.
    pub bar: Option<usize>,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Name in JSON and CSV, with its unit: `start_s`.
    pub name: String,
    /// Heading, without the unit.
    pub label: String,
    /// Unit of its numbers.
    pub unit: Unit,
    /// Numbers stand to the right, words to the left.
    pub right: bool,
    /// Goes first when space is short: higher goes earlier, 0 never goes.
    pub priority: u8,
}

/// A row of a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// One cell per column.
    pub cells: Vec<Cell>,
    /// The item that it selects, such as a task or a link, by its index.
    pub item: Option<u32>,
    /// One sentence on it, which says what the cells cannot; a screen words the cells where it is empty.
    pub sentence: Phrase,
    /// Lines of the details of the item.
    pub details: Vec<String>,
}

impl Column {
    /// A column of words.
    pub fn words(name: impl Into<String>, label: impl Into<String>) -> Self {
        Self { name: name.into(), label: label.into(), unit: Unit::NUMBER, right: false, priority: 0 }
    }

    /// A column of numbers.
    pub fn numbers(name: impl Into<String>, label: impl Into<String>, unit: Unit) -> Self {
        Self { unit, right: true, ..Self::words(name, label) }
    }

    /// A column of counts.
    pub fn counts(name: impl Into<String>, label: impl Into<String>) -> Self {
        Self::numbers(name, label, Unit::COUNT)
    }

    /// When it goes if space is short.
    #[must_use]
    pub const fn priority(mut self, priority: u8) -> Self {
        self.priority = priority;
        self
    }

    /// Heading with the unit: `start s`.
    pub fn heading(&self) -> String {
        if self.unit.symbol.is_empty() || self.label.is_empty() {
            self.label.clone()
        } else {
            format!("{} {}", self.label, self.unit.symbol)
        }
    }
}

impl Row {
    /// A row of cells.
    pub fn new(cells: Vec<Cell>) -> Self {
        Self { cells, ..Self::default() }
    }

    /// The item that it selects.
    #[must_use]
    pub const fn item(mut self, item: u32) -> Self {
        self.item = Some(item);
        self
    }

    /// One sentence on it.
    #[must_use]
    pub fn sentence(mut self, sentence: impl Into<Phrase>) -> Self {
        self.sentence = sentence.into();
        self
    }
}

impl Table {
    /// A table without rows. `of` names its rows: one and several.
    pub fn new(of: [&'static str; 2], columns: Vec<Column>) -> Self {
        Self { columns, rows: Vec::new(), overview: 0, of, bar: None }
    }

    /// Draws the numbers of a column, by its index, as bars too.
    #[must_use]
    pub const fn bar(mut self, column: usize) -> Self {
        self.bar = Some(column);
        self
    }

    /// Rows that an overview shows.
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

/// Numbers by row and column.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    /// Name of the numbers, with the unit: `circuits`.
    pub name: &'static str,
    /// Unit of the numbers.
    pub unit: Unit,
    /// Names of the rows.
    pub rows: Vec<String>,
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Cells by row, then column; rows x columns of them.
    pub cells: Vec<Cell>,
    /// Equal across the diagonal: the lower half repeats the upper one.
    pub symmetric: bool,
    /// Shades the cells by amount where a screen can.
    pub shaded: bool,
}

/// Values over one axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Curves {
    /// Name of the axis in JSON and CSV, with its unit.
    pub axis: &'static str,
    /// Heading of the axis.
    pub axis_label: &'static str,
    /// Unit of the axis.
    pub axis_unit: Unit,
    /// Spreads the axis by order of magnitude.
    pub axis_is_log: bool,
    /// Spreads the values by order of magnitude.
    pub values_are_log: bool,
    /// The curves.
    pub curves: Vec<Curve>,
}

/// A curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Name in JSON and CSV, with its unit.
    pub name: String,
    /// Name for people.
    pub label: String,
    /// Unit of its values.
    pub unit: Unit,
    /// Its points, by growing place on the axis.
    pub points: Vec<Point>,
    /// Meaning, for its colour.
    pub tone: Tone,
    /// Holds its value until the next point, instead of a straight line between points.
    pub steps: bool,
}

/// A point of a curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Place on the axis.
    pub at: f64,
    /// Value.
    pub value: f64,
}

/// Intervals of time by lane.
#[derive(Clone, Debug, PartialEq)]
pub struct Spans {
    /// The lanes, from top to bottom.
    pub lanes: Vec<Lane>,
    /// End of the axis, s. It begins at 0.
    pub end_s: f64,
}

/// A lane.
#[derive(Clone, Debug, PartialEq)]
pub struct Lane {
    /// Its name.
    pub name: String,
    /// Intervals on it, by start.
    pub spans: Vec<Span>,
}

/// An interval of time.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    /// Name of the event.
    pub name: String,
    /// Start, s.
    pub start_s: f64,
    /// End, s.
    pub end_s: f64,
    /// Meaning, for its colour.
    pub tone: Tone,
    /// The item that it selects.
    pub item: Option<u32>,
}

macro_rules! body_from {
    ($($type:ident),*) => {
        $(impl From<$type> for Body {
            fn from(body: $type) -> Self {
                Self::$type(body)
            }
        })*
    };
}

body_from!(Facts, Table, Matrix, Curves, Spans);
