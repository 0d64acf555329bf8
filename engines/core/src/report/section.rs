//! A section of a report: its description, its blocks, and the content of a block.

use super::curves::Curves;
use super::phrase::Phrase;
use super::slider::{SliderInfo, SliderPlace};
use super::spans::Spans;
use super::table::Table;
use super::value::{Cell, Tone, Unit};
use std::collections::BTreeMap;

/// Description of a section that a kind can compute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SectionInfo {
    /// Name on the command line and in JSON: `links`.
    pub name: &'static str,
    /// Heading of the section.
    pub title: &'static str,
    /// The question that the section answers, in one sentence.
    pub help: &'static str,
    /// Subject from which the section is computed.
    pub of: SectionOf,
    /// Names of the forms of the section, of which a screen shows one at a time; empty for sections that are shown
    /// whole. A block with the name of a form appears only in this form; see [`Block::only_in`] for other blocks.
    pub forms: &'static [&'static str],
    /// Name of an item if every item has its own details, see [`super::Report::detail`]; otherwise empty.
    pub item: &'static str,
    /// `true` if the details of the selected item say more than the list of items: a small screen may show them alone.
    pub details_first: bool,
    /// `true` if the section uses other plans and a run of the session, see [`super::Report::in_session`].
    pub in_session: bool,
    /// Run whose progress the section shows.
    pub run: RunSort,
    /// `true` if the section is about plans of methods whose goal differs from the objective, see
    /// `Kind::other_question`.
    pub off_objective: bool,
    /// Number of the section's pane on a screen that has a pane for every section, from 1; 0 for a pane after the
    /// numbered panes.
    pub place: u8,
    /// Parameter that two keys change on a screen while the plan is recomputed; `None` for most sections.
    pub slides: Option<SliderInfo>,
}

/// Run whose progress a section shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunSort {
    /// While the best plan is shown, an active run of the session; without such a run, the run that found the plan.
    OfPlan,
    /// The newest run that searches for a plan and a bound, unless the user chose another one.
    Search,
    /// The newest run of a genetic algorithm, unless the user chose another one.
    Generations,
}

/// Subject of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SectionOf {
    /// The section is computed from a scenario; it is also shown for a plan.
    Scenario,
    /// The section is computed from a plan.
    Plan,
}

impl SectionInfo {
    /// Describes a section of scenarios and plans.
    pub const fn of_scenario(name: &'static str, title: &'static str, help: &'static str) -> Self {
        Self {
            name,
            title,
            help,
            of: SectionOf::Scenario,
            forms: &[],
            item: "",
            details_first: false,
            in_session: false,
            run: RunSort::OfPlan,
            off_objective: false,
            place: 0,
            slides: None,
        }
    }

    /// Describes a section of plans.
    pub const fn of_plan(name: &'static str, title: &'static str, help: &'static str) -> Self {
        Self {
            name,
            title,
            help,
            of: SectionOf::Plan,
            forms: &[],
            item: "",
            details_first: false,
            in_session: false,
            run: RunSort::OfPlan,
            off_objective: false,
            place: 0,
            slides: None,
        }
    }

    /// Returns `true` if the section is always computed from the present parameters, even while a plan of other parameters
    /// is displayed: a slider shows its effect at once.
    pub const fn is_of_present(&self) -> bool {
        matches!(self.of, SectionOf::Scenario) && self.slides.is_some()
    }

    /// Sets the names of the forms of the section, of which a screen shows one at a time.
    #[must_use]
    pub const fn forms(mut self, forms: &'static [&'static str]) -> Self {
        self.forms = forms;
        self
    }

    /// Declares that the items of the section have their own details; `item` is the name of a single item.
    #[must_use]
    pub const fn items(mut self, item: &'static str) -> Self {
        self.item = item;
        self
    }

    /// Declares that the details of an item say more than the list of items.
    #[must_use]
    pub const fn details_first(mut self) -> Self {
        self.details_first = true;
        self
    }

    /// Declares that the section uses other plans and a run of the session.
    #[must_use]
    pub const fn in_session(mut self) -> Self {
        self.in_session = true;
        self
    }

    /// Declares that the section shows the progress of a run of this type. The run may differ from the run that found
    /// the plan.
    #[must_use]
    pub const fn of_run(mut self, run: RunSort) -> Self {
        self.run = run;
        self.in_session()
    }

    /// Sets the number of the section's pane; 2 is the large pane.
    #[must_use]
    pub const fn place(mut self, place: u8) -> Self {
        self.place = place;
        self
    }

    /// Declares that two keys change a parameter in this section. `powers` are the exponents of the powers of ten
    /// between which the parameter moves.
    #[must_use]
    pub const fn slides(mut self, knob: &'static str, powers: (i8, i8)) -> Self {
        self.slides = Some(SliderInfo { knob, powers, named: &[] });
        self
    }

    /// Adds further values at which the slider of the section stops, see [`SliderInfo::named`].
    #[must_use]
    pub const fn stops(mut self, named: &'static [(u16, i8)]) -> Self {
        if let Some(slider) = &mut self.slides {
            slider.named = named;
        }
        self
    }

    /// Declares that the section is about plans of methods whose goal differs from the objective.
    #[must_use]
    pub const fn off_objective(mut self) -> Self {
        self.off_objective = true;
        self
    }
}

/// A computed section.
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    /// Heading; if the subject of the section varies, the heading names it: `Schedule, by start`.
    pub title: String,
    /// Name of the subject, such as a method, which a screen shows directly after the title; empty for most.
    pub subject: String,
    /// A few words after the title on a screen: `estimates: the best plan is not proven optimal`.
    pub context: Phrase,
    /// The one figure that answers the question of the section, for the title line of a screen.
    pub answer: Phrase,
    /// Legend of the section's picture on a screen, in one line: `bar: share of the circuits in demand`.
    pub legend: Phrase,
    /// Legends of single forms by name, shown instead of `legend`.
    pub legends: Vec<(&'static str, Phrase)>,
    /// One sentence on the whole section, shown while no item is chosen; if it is empty, the sentence on the first item
    /// is shown.
    pub sentence: Phrase,
    /// Sentences above the body.
    pub remarks: Vec<String>,
    /// Blocks, one below the other.
    pub blocks: Vec<Block>,
    /// The item that a screen selects first; `None`: the first item.
    pub usual: Option<u32>,
    /// Small pictures of items, in the order of the rows; a large screen shows them next to the list instead of the
    /// details of one item.
    pub panels: Vec<Panel>,
    /// Settings that change an item, as a user types them: `capacities=0-9:25`. A screen offers them for the selected
    /// item.
    pub edits: BTreeMap<u32, String>,
    /// Position of the section's slider on its scale, which a screen draws above the blocks.
    pub slider: Option<SliderPlace>,
}

/// A named part of a section.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// Name in JSON and in names of files: `pods`. Empty for the only block of a section.
    pub name: &'static str,
    /// Heading below the title of the section; may be empty.
    pub title: String,
    /// `true` if the block shows the content of other blocks again, in a layout for screens; written sections omit such
    /// a block.
    pub on_screens: bool,
    /// `true` if screens omit the block, because the details of items show its content.
    pub only_written: bool,
    /// Names of the forms ([`SectionInfo::forms`]) in which a screen shows this block, in addition to the block with
    /// the name of the form; if it is empty, the block is shown in every form.
    pub only_in: &'static [&'static str],
    /// Content of the block.
    pub body: Body,
}

/// Content of a block.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// Named figures.
    Facts(Facts),
    /// Rows with the same columns.
    Table(Table),
    /// Numbers by row and column, such as pods by pods.
    Matrix(Matrix),
    /// Curves over one axis.
    Curves(Curves),
    /// Intervals of time in lanes.
    Spans(Spans),
}

impl Section {
    /// Creates a section with one block.
    pub fn new(title: impl Into<String>, body: impl Into<Body>) -> Self {
        Self::empty(title).block("", "", body)
    }

    /// Creates a section without blocks.
    pub fn empty(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            subject: String::new(),
            context: Phrase::new(),
            answer: Phrase::new(),
            legend: Phrase::new(),
            legends: Vec::new(),
            sentence: Phrase::new(),
            remarks: Vec::new(),
            blocks: Vec::new(),
            usual: None,
            panels: Vec::new(),
            edits: BTreeMap::new(),
            slider: None,
        }
    }

    /// Sets the name of the subject.
    #[must_use]
    pub fn subject(mut self, subject: impl Into<String>) -> Self {
        self.subject = subject.into();
        self
    }

    /// Sets a few words after the title on a screen.
    #[must_use]
    pub fn context(mut self, context: impl Into<Phrase>) -> Self {
        self.context = context.into();
        self
    }

    /// Sets the one figure that answers the question of the section.
    #[must_use]
    pub fn answer(mut self, answer: impl Into<Phrase>) -> Self {
        self.answer = answer.into();
        self
    }

    /// Sets the legend of the section's picture.
    #[must_use]
    pub fn legend(mut self, legend: impl Into<Phrase>) -> Self {
        self.legend = legend.into();
        self
    }

    /// Sets the legend of one form, which may be empty.
    #[must_use]
    pub fn legend_in(mut self, form: &'static str, legend: impl Into<Phrase>) -> Self {
        self.legends.push((form, legend.into()));
        self
    }

    /// Returns the legend of a form.
    pub fn legend_of(&self, form: &str) -> &Phrase {
        self.legends.iter().find(|(of, _)| *of == form).map_or(&self.legend, |(_, legend)| legend)
    }

    /// Sets one sentence on the whole section.
    #[must_use]
    pub fn sentence(mut self, sentence: impl Into<Phrase>) -> Self {
        self.sentence = sentence.into();
        self
    }

    /// Adds a block.
    #[must_use]
    pub fn block(mut self, name: &'static str, title: impl Into<String>, body: impl Into<Body>) -> Self {
        let (title, body) = (title.into(), body.into());
        self.blocks.push(Block { name, title, on_screens: false, only_written: false, only_in: &[], body });
        self
    }

    /// Makes screens omit the block added last.
    #[must_use]
    pub fn only_written(mut self) -> Self {
        if let Some(last) = self.blocks.last_mut() {
            last.only_written = true;
        }
        self
    }

    /// Restricts the block added last to some forms.
    #[must_use]
    pub fn only_in(mut self, forms: &'static [&'static str]) -> Self {
        if let Some(last) = self.blocks.last_mut() {
            last.only_in = forms;
        }
        self
    }

    /// Adds a block that shows the content of other blocks again, in a layout for screens.
    #[must_use]
    pub fn on_screens(mut self, name: &'static str, title: impl Into<String>, body: impl Into<Body>) -> Self {
        self = self.block(name, title, body);
        if let Some(last) = self.blocks.last_mut() {
            last.on_screens = true;
        }
        self
    }

    /// Returns the section as it is written: without the blocks that only screens show.
    #[must_use]
    pub fn written(mut self) -> Self {
        self.blocks.retain(|block| !block.on_screens);
        self
    }

    /// Sets the item that a screen selects first.
    #[must_use]
    pub const fn usual(mut self, item: Option<u32>) -> Self {
        self.usual = item;
        self
    }

    /// Sets small pictures of items.
    #[must_use]
    pub fn panels(mut self, panels: Vec<Panel>) -> Self {
        self.panels = panels;
        self
    }

    /// Sets the settings that change items.
    #[must_use]
    pub fn edits(mut self, edits: BTreeMap<u32, String>) -> Self {
        self.edits = edits;
        self
    }

    /// Sets the position of the section's slider on its scale.
    #[must_use]
    pub fn slider(mut self, place: SliderPlace) -> Self {
        self.slider = Some(place);
        self
    }

    /// Adds a sentence above the body of the section.
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
    /// Name of the figure for people.
    pub label: &'static str,
    /// Unit of a number.
    pub unit: Unit,
    /// Content of the figure: its value, meaning and note.
    pub cell: Cell,
    /// One sentence on the figure; may be empty.
    pub sentence: String,
    /// `true` for a part of a sum: on a screen, its bar begins where the bar of the previous part ended.
    pub adds: bool,
}

impl Facts {
    /// Creates an empty list of facts.
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
        self.facts.push(Fact { name, label, unit, cell: cell.into(), sentence: String::new(), adds: false });
        self
    }

    /// Adds a number that is part of a sum, with its unit.
    pub fn part(
        &mut self,
        name: &'static str,
        label: &'static str,
        unit: Unit,
        cell: impl Into<Cell>,
    ) -> &mut Self {
        self.facts.push(Fact { name, label, unit, cell: cell.into(), sentence: String::new(), adds: true });
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

/// Numbers by row and column.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matrix {
    /// Name of the numbers, with the unit: `circuits`.
    pub name: &'static str,
    /// Unit of the numbers.
    pub unit: Unit,
    /// Names of the rows.
    pub rows: Vec<String>,
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Cells, row by row; the number of cells is rows x columns.
    pub cells: Vec<Cell>,
    /// `true` if the matrix is symmetric: the lower half repeats the upper half.
    pub symmetric: bool,
    /// If true, a screen that can do so shades the cells by amount.
    pub shaded: bool,
    /// Headings over groups of adjacent columns; every group has the same number of columns. Empty without such
    /// headings.
    pub groups: Vec<String>,
    /// Item of each cell, with a sentence and details; empty for a matrix without items. The selection skips cells
    /// without an item.
    pub about: Vec<About>,
    /// Circuits that stay, are added or are removed in each cell; empty for other matrices. A screen draws them as
    /// signs instead of the texts of the cells, and numbers the rows and columns.
    pub signs: Vec<CellSign>,
    /// Words after each row; empty for a matrix without such words.
    pub words: Vec<Phrase>,
    /// Heading of the words; empty for none.
    pub words_heading: &'static str,
    /// Positions of the rows, as fractions of width and height from the upper left corner, for matrices whose rows and
    /// columns are the same nodes: a screen can draw the cells as links between these nodes. Empty for other matrices.
    pub places: Vec<[f64; 2]>,
    /// `true` if the positions form a grid. A screen then draws only links between neighbours from end to end, because
    /// other links would lie on top of these.
    pub is_grid: bool,
}

/// Circuits in a cell of a matrix that stay, are added or are removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CellSign {
    /// The cell has no circuits.
    #[default]
    None,
    /// Number of circuits that stay.
    Stays(u32),
    /// Number of circuits that are added.
    Comes(u32),
    /// Number of circuits that are removed.
    Goes(u32),
}

impl CellSign {
    /// Returns the sign as a cell, for outputs without pictures: `●`, `+2`, `−`.
    pub fn cell(self) -> Cell {
        let many =
            |sign: &str, count: u32| if count > 1 { format!("{sign}{count}") } else { sign.to_owned() };
        match self {
            Self::None => Cell::new("·").tone(Tone::Muted),
            Self::Stays(count) => Cell::new(many("●", count)),
            Self::Comes(count) => Cell::new(many("+", count)).tone(Tone::Good),
            Self::Goes(count) => Cell::new(many("−", count)).tone(Tone::Bad),
        }
    }
}

/// A small picture of an item: circuits by row and column.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Panel {
    /// The item.
    pub item: u32,
    /// Words over the picture: `OCS 2 +7 −7`.
    pub title: Phrase,
    /// Number of columns.
    pub columns: usize,
    /// The cells, row by row.
    pub signs: Vec<CellSign>,
}

/// Item of a cell of a matrix, with a sentence and details.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct About {
    /// The item that the cell selects.
    pub item: Option<u32>,
    /// One sentence on the cell; if it is empty, a screen derives one from the cell.
    pub sentence: Phrase,
    /// Lines that show the details of the item.
    pub details: Vec<String>,
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
