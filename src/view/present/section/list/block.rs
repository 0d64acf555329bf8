//! Facts or a table of a section with its rows ready to be drawn.

use super::super::row_pictures::{PictureScale, RowPicture};
use super::super::{item_id, tone};
use crate::app::pane::ItemId;
use crate::view::present::PaneInput;
use crate::view::present::rows::line;
use lightbay_core::report::text::{self, in_column};
use lightbay_core::report::{
    Body, Cell, Column as Heading, Fact, Facts, Phrase, Row, Section, Table as Rows, Tone as Meaning,
};
use lightbay_widgets::{Column, Cut, Piece, Table, TableRow, TableState, Tone, number, pieces_width};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::StatefulWidget;
use std::sync::Arc;

/// Width in columns above which words are cut if the row is too long.
const WORDS: u16 = 48;

/// Minimum number of columns of the sentence next to a fact: a longer sentence is cut to fit the row, and omitted if
/// this many columns do not fit.
const SENTENCE: u16 = 12;

/// Columns with this or a larger priority number are omitted if the picture next to the rows needs their room.
const OPTIONAL: u8 = 3;

/// Number of columns in front of a table, for selection and marks.
const PREFIX: u16 = 3;

/// Number of columns that bars can use, including the gap in front of them.
const BARS: u16 = 18;

/// Facts or a table of a section, ready to be drawn.
#[derive(Debug)]
pub struct ListBlock {
    /// Index of the block in its section.
    pub(super) index: usize,
    /// Heading, if there are several blocks.
    title: Option<String>,
    /// `true` if the names of the columns are drawn.
    pub(super) heads: bool,
    columns: Vec<Column>,
    pub(super) rows: Vec<ListRow>,
    /// Pictures next to the rows.
    beside: PictureScale,
    /// Name of the order of the rows; empty for their original order.
    order: &'static str,
    /// `true` if the items of the block are plans of the session.
    pub(super) of_plans: bool,
    /// `true` if the last rows are shown until the user chooses a row.
    pub(super) newest_last: bool,
    /// Index of the column whose text is padded with blanks so that its words are aligned from row to row, such as
    /// lines of a log.
    aligned: Option<usize>,
}

/// The visible part of a block in an area.
#[derive(Clone, Copy, Debug)]
pub(super) struct VisibleRows {
    /// First row, counted from the heading of the block, and the row after the last one.
    pub rows: (usize, usize),
    /// Row of the area in which the part starts.
    pub y: u16,
    /// `true` if the names of the columns are drawn above rows that start below them.
    pub is_pinned: bool,
    /// Number of rows of the area for each item.
    pub tall: u16,
}

/// A row with the picture next to it.
#[derive(Debug)]
pub(super) struct ListRow {
    pub row: TableRow,
    /// Index of the row in the facts or the table.
    pub of: usize,
    picture: RowPicture,
}

impl ListBlock {
    /// Prepares a block of a section by its index, once for every order of its rows; returns nothing for a picture.
    /// Slow for thousands of rows. `linked` names the rows whose items other panes share, if there are any.
    pub fn all(section: &Section, index: usize, linked: Option<&str>) -> Vec<Arc<Self>> {
        let Some(block) = section.blocks.get(index) else { return Vec::new() };
        let title = (section.blocks.len() > 1 && !block.title.is_empty()).then(|| block.title.clone());
        match &block.body {
            Body::Facts(facts) => vec![Arc::new(Self::of_facts(index, title, facts))],
            Body::Table(table) => {
                let names = table.orders.iter().map(|order| order.name);
                let names: Vec<&'static str> =
                    if table.orders.is_empty() { vec![""] } else { names.collect() };
                let of = |name| Arc::new(Self::of_table(index, title.clone(), table, name, linked));
                names.into_iter().map(of).collect()
            }
            Body::Matrix(_) | Body::Curves(_) | Body::Spans(_) => Vec::new(),
        }
    }

    /// Returns the name of the order of the rows.
    pub const fn order(&self) -> &'static str {
        self.order
    }

    /// Returns the heading, if the block has one.
    pub(super) fn heading(&self) -> Option<&str> {
        self.title.as_deref()
    }

    /// Returns the number of rows above the items: heading and names of columns.
    pub(super) fn above(&self) -> usize {
        usize::from(self.title.is_some()) + usize::from(self.heads)
    }

    /// Returns `true` if the names of the columns are above row `from` of the block.
    pub(super) fn heads_are_above(&self, from: usize) -> bool {
        self.heads && from > usize::from(self.title.is_some())
    }

    pub(super) fn height(&self) -> usize {
        self.above() + self.rows.len()
    }

    /// Returns the number of rows for each item if bars next to the items get two rows, in a width.
    pub(super) fn most_tall(&self, room: u16) -> u16 {
        let has_bars = self.beside.is_tall() && self.beside.fits(room.saturating_sub(self.beside_bars(room)));
        1 + u16::from(has_bars)
    }

    pub(super) fn place_of(&self, id: ItemId) -> Option<usize> {
        self.rows.iter().position(|row| row.row.id == id)
    }
}

impl ListBlock {
    /// Returns the number of columns that the whole block can use, with bars of a readable length.
    pub(super) fn wish(&self) -> u16 {
        let bars = if self.has_pictures() && !self.beside.is_over_sentence() { BARS } else { 0 };
        self.least() + bars
    }

    /// Returns the number of columns of the block without bars.
    pub(super) fn least(&self) -> u16 {
        PREFIX + width(&self.columns)
    }

    /// Returns `true` if the block is a table of short rows with names of columns, without pictures and plans.
    pub(super) fn is_plain(&self) -> bool {
        let is_rigid = !self.columns.iter().any(|column| column.grow);
        let is_other = self.has_pictures() || self.of_plans || self.newest_last;
        self.heads && self.title.is_none() && is_rigid && !is_other
    }

    /// Returns `true` if rows have pictures next to them.
    pub(super) const fn has_pictures(&self) -> bool {
        self.beside.is_some()
    }

    /// Returns the number of columns of the table next to its picture, without the columns that are omitted for the
    /// picture.
    fn beside_picture(&self, room: u16) -> u16 {
        let mut kept: Vec<Column> = self.columns.clone();
        while room < PREFIX + width(&kept) + 2 + self.beside.wanted() {
            let last = kept.iter().map(|column| column.priority).max().filter(|most| *most >= OPTIONAL);
            let Some(most) = last else { break };
            let at = kept.iter().rposition(|column| column.priority == most).unwrap_or(0);
            kept.remove(at);
        }
        width(&kept)
    }

    /// Returns the number of columns of the table and the gap in front of its bars.
    fn beside_bars(&self, room: u16) -> u16 {
        PREFIX + self.beside_picture(room) + 2
    }

    /// Draws the visible rows of the block into an area.
    pub(super) fn draw(
        &self,
        input: &PaneInput<'_>,
        VisibleRows { rows: (from, to), y, is_pinned, tall }: VisibleRows,
        area: Rect,
        buf: &mut Buffer,
        state: &mut TableState,
    ) {
        let theme = &input.app.look.theme;
        let titled = usize::from(self.title.is_some());
        let heads = self.heads && to > titled && (from <= titled || is_pinned);
        let items = to.saturating_sub(from.max(self.above())) as u16;
        let height = (to - from) as u16 + u16::from(heads && from > titled) + items * (tall - 1);
        let mut place = Rect { y: area.y + y, height, ..area };
        if let Some(title) = self.title.as_ref().filter(|_| from == 0) {
            line(theme, &[Piece::muted(title.clone())], place, buf);
            place = Rect { y: place.y + 1, height: place.height - 1, ..place };
        }
        let above = self.above();
        let visible = &self.rows[from.saturating_sub(above)..to.saturating_sub(above)];
        let blank = || (1..tall).map(|_| TableRow::gap());
        let row = |row: &ListRow| std::iter::once(row.row.clone()).chain(blank());
        let mut rows: Vec<TableRow> = visible.iter().flat_map(row).collect();
        let columns = self.columns_in(place.width, &mut rows);
        // Next to facts the picture replaces the sentence; next to tables it fills the remaining width.
        let over_sentence = self.beside.is_over_sentence();
        let wanted = if over_sentence {
            PREFIX + width(&self.columns[..2]) + 2
        } else {
            self.beside_bars(place.width)
        };
        let has_room = self.beside.fits(place.width.saturating_sub(wanted));
        let left = if has_room && !over_sentence { Rect { width: wanted - 2, ..place } } else { place };
        state.offset = 0;
        (&Table::new(theme, &columns, &rows).header(heads)).render(left, buf, state);
        if has_room {
            let right = Rect { x: place.x + wanted, width: place.width - wanted, ..place };
            let pictures: Vec<&RowPicture> = visible.iter().map(|row| &row.picture).collect();
            self.beside.draw(input, (heads, tall), &pictures, right, buf);
        }
    }
}

impl ListBlock {
    /// Returns the columns of the table for a width. Sentences next to long values get the columns that the values leave.
    /// If aligned words do not fit, repeated spaces are reduced to one so that more words are readable.
    fn columns_in(&self, width_of: u16, rows: &mut [TableRow]) -> Vec<Column> {
        let mut columns = self.columns.clone();
        if let [_, value, sentence] = columns.as_mut_slice()
            && value.grow
            && sentence.grow
        {
            let long = widest(&self.rows, 2, "");
            let left = width_of.saturating_sub(PREFIX + width(&self.columns[..2]) + sentence.gap);
            sentence.width = long.min(left.max(SENTENCE));
        }
        let Some(at) = self.aligned else { return columns };
        if PREFIX + width(&columns) > width_of {
            for cell in rows.iter_mut().filter_map(|row| row.cells.get_mut(at)) {
                cell.text = text::squeezed(&cell.text, 2).into();
            }
            columns[at].width = columns[at].width.min(width_of.saturating_sub(PREFIX));
        }
        columns
    }
}

fn width(columns: &[Column]) -> u16 {
    let each = |(at, column): (usize, &Column)| column.width + if at > 0 { column.gap } else { 0 };
    columns.iter().enumerate().map(each).sum()
}

impl ListBlock {
    fn of_facts(index: usize, title: Option<String>, facts: &Facts) -> Self {
        let mut sum = 0.0;
        let row = |(at, fact): (usize, &Fact)| {
            let amount = fact.cell.value.as_f64().filter(|amount| fact.adds && *amount != 0.0);
            let picture = amount.map_or(RowPicture::None, |amount| {
                let from = sum;
                sum += amount;
                RowPicture::Bar { from, to: sum, tone: of_bar(fact.cell.tone) }
            });
            // The bar replaces the sentence, which is shown when the row is selected.
            let sentence = if amount.is_some() { String::new() } else { fact.sentence.clone() };
            let cells = vec![
                Piece::text(fact.label),
                Piece::new(read(&fact.cell, text::cell(&fact.cell, fact.unit)), tone(fact.cell.tone)),
                Piece::muted(sentence),
            ];
            ListRow { row: TableRow::item(item_id(index, at), cells), of: at, picture }
        };
        let rows: Vec<ListRow> = facts.facts.iter().enumerate().map(row).collect();
        let beside = PictureScale::over_sentence(rows.iter().map(|row| &row.picture));
        let value = widest(&rows, 1, "");
        let columns = vec![
            Column::left("", widest(&rows, 0, "")).cut(Cut::End),
            // Parts of a sum are aligned below each other.
            if facts.facts.iter().any(|fact| fact.adds) {
                Column::right("", value)
            } else if value > WORDS {
                // A long list of words is cut rather than the names of the facts.
                Column::left("", WORDS).grow().cut(Cut::End)
            } else {
                Column::left("", value)
            },
            Column::left("", widest(&rows, 2, "").min(SENTENCE)).priority(1).grow().cut(Cut::End),
        ];
        Self {
            index,
            title,
            heads: false,
            columns,
            rows,
            beside,
            order: "",
            of_plans: false,
            newest_last: false,
            aligned: None,
        }
    }

    fn of_table(
        index: usize,
        title: Option<String>,
        table: &Rows,
        order: &'static str,
        linked: Option<&str>,
    ) -> Self {
        let is_linked = linked.is_none_or(|sort| sort == table.of[0]);
        let row = |of: usize| {
            let row = &table.rows[of];
            let cell = |(column, cell): (&Heading, &Cell)| {
                Piece::new(read(cell, in_column(cell, column.unit)), tone(cell.tone))
            };
            let cells: Vec<Piece> = table.columns.iter().zip(&row.cells).map(cell).collect();
            let bar = table.bar.and_then(|at| row.cells.get(at)).and_then(|cell| {
                Some(RowPicture::Bar { from: 0.0, to: cell.value.as_f64()?, tone: of_bar(cell.tone) })
            });
            let load =
                || if row.load.is_empty() { RowPicture::None } else { RowPicture::Load(row.load.clone()) };
            let id = row.item.filter(|_| is_linked).unwrap_or_else(|| item_id(index, of));
            let shown = TableRow::item(id, cells).mark(row.mark);
            let picture = if row.parts.is_empty() {
                bar.unwrap_or_else(load)
            } else {
                RowPicture::Parts(row.parts.clone())
            };
            ListRow { row: shown, of, picture }
        };
        let rows: Vec<ListRow> = table.ordered(order).into_iter().map(row).collect();
        let column = |(at, column): (usize, &Heading)| {
            let heading = column.heading();
            let width = widest(&rows, at, &heading);
            let shown = if column.right {
                Column::right(heading, width)
            } else {
                Column::left(heading, if column.aligned { width } else { width.min(WORDS) })
            };
            let shown = if column.aligned { shown.cut(Cut::End).grow() } else { shown };
            shown.priority(column.priority)
        };
        let mut columns: Vec<Column> = table.columns.iter().enumerate().map(column).collect();
        let beside = if let Some(axis) = &table.loads {
            PictureScale::loads(axis.clone())
        } else {
            let limit = table.limit.as_ref().map(|limit| (limit.value, limit.label.clone()));
            let pictures = rows.iter().map(|row| &row.picture);
            let column = table.bar.and_then(|at| table.columns.get(at));
            if table.parts.is_empty() {
                let bars = |column| PictureScale::bars(pictures, limit, table.full, column);
                column.map_or(PictureScale::Nothing, bars)
            } else {
                PictureScale::parts(pictures, &table.parts, limit, column)
            }
        };
        // Words in the last column use the rest of the row.
        if let Some(last) = columns.last_mut().filter(|last| !beside.is_some() && last.width == WORDS) {
            last.grow = true;
        }
        // A table without any heading has no row for headings.
        let heads = table.columns.iter().any(|column| !column.label.is_empty());
        let aligned = table.columns.iter().position(|column| column.aligned);
        let (of_plans, newest_last) = (table.of_plans, table.newest_last);
        Self { index, title, heads, columns, rows, beside, order, of_plans, newest_last, aligned }
    }
}

/// Returns the tone of a bar: without a meaning it is grey, because white is for the answer.
const fn of_bar(meaning: Meaning) -> Tone {
    match meaning {
        Meaning::Text => Tone::Muted,
        meaning => tone(meaning),
    }
}

/// Returns the sentence about a row of facts or of a table: the sentence of the kind, or one made of its figures.
pub(super) fn sentence(body: &Body, row: usize) -> Option<Phrase> {
    match body {
        Body::Facts(facts) => facts.facts.get(row).map(of_fact),
        Body::Table(table) => table.rows.get(row).map(|row| {
            if row.sentence.is_empty() { worded(&figures(table, row)) } else { row.sentence.clone() }
        }),
        Body::Matrix(_) | Body::Curves(_) | Body::Spans(_) => None,
    }
}

fn of_fact(fact: &Fact) -> Phrase {
    let meaning = if fact.cell.tone == Meaning::Text { Meaning::Answer } else { fact.cell.tone };
    let phrase = Phrase::new()
        .muted(format!("> {}  ", fact.label))
        .with(read(&fact.cell, text::cell(&fact.cell, fact.unit)), meaning);
    if fact.sentence.is_empty() { phrase } else { phrase.muted(format!("  {}", fact.sentence)) }
}

/// Returns the text of a cell with the digits of numbers in groups.
fn read(cell: &Cell, text: String) -> String {
    if cell.value.as_f64().is_some() { number::grouped(&text) } else { text }
}

/// Returns the width of the widest cell of a column, including its heading.
fn widest(rows: &[ListRow], column: usize, heading: &str) -> u16 {
    let glyphs = lightbay_widgets::Theme::default().glyphs;
    let cells = rows.iter().filter_map(|row| row.row.cells.get(column));
    let widths = cells.map(|cell| pieces_width(std::slice::from_ref(cell), glyphs));
    widths.max().unwrap_or(0).max(pieces_width(&[Piece::text(heading.to_owned())], glyphs))
}

/// Returns the figures of a row with their labels and units.
pub(super) fn figures(table: &Rows, row: &Row) -> Vec<(String, String)> {
    let columns = table.columns.iter().zip(&row.cells);
    columns.map(|(column, cell)| (column.label.clone(), read(cell, text::cell(cell, column.unit)))).collect()
}

/// Makes a sentence of the figures of a row.
fn worded(figures: &[(String, String)]) -> Phrase {
    let Some(((label, name), rest)) = figures.split_first() else { return Phrase::new() };
    // A number says nothing without its label.
    let label = if name.starts_with(|first: char| first.is_ascii_digit()) {
        format!("{label} ")
    } else {
        String::new()
    };
    let mut phrase = Phrase::new().answer(format!("> {label}{name}"));
    for (label, value) in rest.iter().filter(|(_, value)| value != "-" && !value.is_empty()) {
        let label = if label.is_empty() { String::new() } else { format!("  {label}") };
        phrase = phrase.muted(format!("{label} ")).text(value.clone());
    }
    phrase
}
