//! Facts and tables of a section, one below the other, scrolled as one list. Numbers that a table marks for it are drawn
//! as bars beside the columns.

use super::{item_id, report_hits, tone};
use crate::app::drawn::{Drawn, Item};
use crate::app::pane::ItemId;
use crate::view::present::PaneInput;
use crate::view::present::rows::line;
use lightbay_core::report::text::{self, in_column};
use lightbay_core::report::{Block, Body, Facts, Phrase, Section, Table as Rows, Tone as Meaning, Value};
use lightbay_widgets::{Column, Meter, Part, Piece, Table, TableRow, TableState, Tone, pieces_width, scroll};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::{StatefulWidget, Widget};

/// Least columns of the bars; without them the table stands alone.
const BAR: u16 = 8;

/// Words wider than this are cut where the row is too long.
const WORDS: u16 = 44;

/// Columns of this priority or a higher one are worth less than the bars.
const OPTIONAL: u8 = 3;

/// Columns in front of a table: selection and marks.
const PREFIX: u16 = 3;

/// The lists of a section.
#[derive(Debug, Default)]
pub struct List {
    parts: Vec<ListBlock>,
    state: TableState,
}

/// A block of the list.
#[derive(Debug)]
struct ListBlock {
    /// Row of the list that it begins in.
    first: usize,
    /// Heading, where there are several blocks.
    title: Option<String>,
    /// Draws the names of the columns.
    heads: bool,
    columns: Vec<Column>,
    rows: Vec<ListRow>,
    /// The value at the right end of the bars; 0 without bars.
    full: f64,
}

/// A row with what is known of its item.
#[derive(Debug)]
struct ListRow {
    row: TableRow,
    bar: Option<(f64, Tone)>,
    sentence: Phrase,
    details: Vec<String>,
}

impl ListBlock {
    /// Rows above those of the items: heading and names of columns.
    fn above(&self) -> usize {
        usize::from(self.title.is_some()) + usize::from(self.heads)
    }

    fn end(&self) -> usize {
        self.first + self.above() + self.rows.len()
    }
}

impl List {
    /// Prepares the facts and tables among the blocks of a section, given by their index.
    pub fn new(section: &Section, blocks: &[(usize, &Block)]) -> Self {
        let mut parts: Vec<ListBlock> = Vec::new();
        for (index, block) in blocks {
            let (columns, rows, heads, full) = match &block.body {
                Body::Facts(facts) => of_facts(*index, facts),
                Body::Table(table) => of_table(*index, table),
                Body::Matrix(_) | Body::Curves(_) | Body::Spans(_) => continue,
            };
            // A blank row keeps blocks apart.
            let first = parts.last().map_or(0, |last| last.end() + 1);
            let title = (section.blocks.len() > 1 && !block.title.is_empty()).then(|| block.title.clone());
            parts.push(ListBlock { first, title, heads, columns, rows, full });
        }
        Self { parts, state: TableState::default() }
    }

    pub fn is_empty(&self) -> bool {
        self.parts.iter().all(|part| part.rows.is_empty())
    }

    /// Rows of the list in all.
    pub fn rows(&self) -> usize {
        self.parts.last().map_or(0, ListBlock::end)
    }

    /// The items by row of the list.
    pub fn items(&self) -> Vec<Item> {
        let of_part = |part: &ListBlock| {
            let first = part.first + part.above();
            let item = move |(at, row): (usize, &ListRow)| Item {
                id: row.row.id,
                row: (first + at) as u32,
                place: 0.0,
            };
            part.rows.iter().enumerate().map(item).collect::<Vec<_>>()
        };
        self.parts.iter().flat_map(of_part).collect()
    }

    fn find(&self, id: ItemId) -> Option<&ListRow> {
        self.parts.iter().flat_map(|part| &part.rows).find(|row| row.row.id == id)
    }

    /// The first item.
    pub fn first(&self) -> Option<ItemId> {
        self.parts.iter().flat_map(|part| &part.rows).next().map(|row| row.row.id)
    }

    pub fn first_sentence(&self) -> Option<Phrase> {
        self.first().and_then(|id| self.sentence(id))
    }

    pub fn sentence(&self, id: ItemId) -> Option<Phrase> {
        self.find(id).map(|row| row.sentence.clone())
    }

    /// Every figure of an item, one line each.
    pub fn details(&self, id: ItemId) -> Vec<String> {
        self.find(id).map_or_else(Vec::new, |row| row.details.clone())
    }

    /// A sentence on every item that has one.
    pub fn sentences(&self) -> Vec<String> {
        let rows = self.parts.iter().flat_map(|part| &part.rows);
        rows.map(|row| row.sentence.to_string()).collect()
    }

    /// Draws the rows that are in sight; returns the first of them and how many fit.
    pub fn draw(
        &mut self,
        input: &PaneInput<'_>,
        area: Rect,
        buf: &mut Buffer,
        out: &mut Drawn,
    ) -> (usize, usize) {
        let height = usize::from(area.height).max(1);
        let at = input.state.selected.and_then(|id| {
            let row = |part: &ListBlock| {
                let at = part.rows.iter().position(|row| row.row.id == id)?;
                // The names of the columns come into sight with the first row.
                Some(if at == 0 { part.first } else { part.first + part.above() + at })
            };
            self.parts.iter().find_map(row)
        });
        let offset = scroll::follow(input.state.offset, at, height, self.rows());
        let selected = input.state.selected.filter(|_| input.focused);
        for part in &self.parts {
            let (from, to) = (part.first.max(offset), part.end().min(offset + height));
            if from >= to {
                continue;
            }
            self.state.selected = selected;
            part.draw(
                input,
                (from - part.first, to - part.first),
                (from - offset) as u16,
                area,
                buf,
                &mut self.state,
            );
            report_hits(input, &self.state.hits, |id, _| id, out);
        }
        (offset, height)
    }
}

impl ListBlock {
    /// Columns that the table takes beside its bars: those that go early give way to them.
    fn beside_bars(&self, room: u16) -> u16 {
        let mut kept: Vec<Column> = self.columns.clone();
        while room < PREFIX + width(&kept) + 2 + BAR {
            let last = kept.iter().map(|column| column.priority).max().filter(|most| *most >= OPTIONAL);
            let Some(most) = last else { break };
            let at = kept.iter().rposition(|column| column.priority == most).unwrap_or(0);
            kept.remove(at);
        }
        width(&kept)
    }

    /// Draws the rows `from` to `to` of the block, counted from its heading, into the rows of an area from `y` on.
    fn draw(
        &self,
        input: &PaneInput<'_>,
        (from, to): (usize, usize),
        y: u16,
        area: Rect,
        buf: &mut Buffer,
        state: &mut TableState,
    ) {
        let theme = &input.app.look.theme;
        let mut place = Rect { y: area.y + y, height: (to - from) as u16, ..area };
        let titled = usize::from(self.title.is_some());
        if let Some(title) = self.title.as_ref().filter(|_| from == 0) {
            line(theme, &[Piece::muted(title.clone())], place, buf);
            place = Rect { y: place.y + 1, height: place.height - 1, ..place };
        }
        let heads = self.heads && from <= titled && to > titled;
        let above = self.above();
        let visible = &self.rows[from.saturating_sub(above)..to.saturating_sub(above)];
        let rows: Vec<TableRow> = visible.iter().map(|row| row.row.clone()).collect();
        let wanted = PREFIX + self.beside_bars(place.width);
        let bars = self.full > 0.0 && place.width >= wanted + 2 + BAR;
        let left = if bars { Rect { width: wanted, ..place } } else { place };
        state.offset = 0;
        (&Table::new(theme, &self.columns, &rows).header(heads)).render(left, buf, state);
        if !bars {
            return;
        }
        let x = place.x + wanted + 2;
        let first = place.y + u16::from(heads);
        for (y, row) in (first..place.bottom()).zip(visible) {
            if let Some((value, tone)) = row.bar.filter(|(value, _)| *value > 0.0) {
                let strip = Rect { x, y, width: place.right() - x, height: 1 };
                (&Meter::new(theme, &[Part::new(value, tone, '#')], self.full)).render(strip, buf);
            }
        }
    }
}

fn width(columns: &[Column]) -> u16 {
    let each = |(at, column): (usize, &Column)| column.width + if at > 0 { column.gap } else { 0 };
    columns.iter().enumerate().map(each).sum()
}

type Prepared = (Vec<Column>, Vec<ListRow>, bool, f64);

fn of_facts(block: usize, facts: &Facts) -> Prepared {
    let row = |(at, fact): (usize, &lightbay_core::report::Fact)| {
        let text = text::cell(&fact.cell, fact.unit);
        let meaning = if fact.cell.tone == Meaning::Text { Meaning::Answer } else { fact.cell.tone };
        let cells = vec![
            Piece::text(fact.label),
            Piece::new(text.clone(), tone(fact.cell.tone)),
            Piece::muted(fact.sentence.clone()),
        ];
        let mut sentence = Phrase::new().muted(format!("> {}  ", fact.label)).with(text, meaning);
        if !fact.sentence.is_empty() {
            sentence = sentence.muted(format!("  {}", fact.sentence));
        }
        let details = vec![sentence.to_string()];
        ListRow { row: TableRow::item(item_id(block, at), cells), bar: None, sentence, details }
    };
    let rows: Vec<ListRow> = facts.facts.iter().enumerate().map(row).collect();
    let columns = vec![
        Column::left("", widest(&rows, 0, "")),
        Column::left("", widest(&rows, 1, "")),
        Column::left("", widest(&rows, 2, "")).priority(1).grow(),
    ];
    (columns, rows, false, 0.0)
}

fn of_table(block: usize, table: &Rows) -> Prepared {
    let row = |(at, row): (usize, &lightbay_core::report::Row)| {
        let cell = |(column, cell): (&lightbay_core::report::Column, &lightbay_core::report::Cell)| {
            Piece::new(in_column(cell, column.unit), tone(cell.tone))
        };
        let cells: Vec<Piece> = table.columns.iter().zip(&row.cells).map(cell).collect();
        let bar = table.bar.and_then(|at| row.cells.get(at)).and_then(|cell| {
            let tone = if cell.tone == Meaning::Text { Tone::Muted } else { tone(cell.tone) };
            Some((amount(&cell.value)?, tone))
        });
        let figures = figures(table, row);
        let sentence = if row.sentence.is_empty() { worded(&figures) } else { row.sentence.clone() };
        let mut details: Vec<String> =
            figures.iter().map(|(label, value)| format!("{label}  {value}")).collect();
        details.extend(row.details.iter().cloned());
        let id = row.item.unwrap_or_else(|| item_id(block, at));
        ListRow { row: TableRow::item(id, cells), bar, sentence, details }
    };
    let rows: Vec<ListRow> = table.rows.iter().enumerate().map(row).collect();
    let column = |(at, column): (usize, &lightbay_core::report::Column)| {
        let heading = column.heading();
        let width = widest(&rows, at, &heading);
        let shown = if column.right {
            Column::right(heading, width)
        } else {
            Column::left(heading, width.min(WORDS))
        };
        shown.priority(column.priority)
    };
    let columns = table.columns.iter().enumerate().map(column).collect();
    let full = rows.iter().filter_map(|row| row.bar).map(|bar| bar.0).fold(0.0, f64::max);
    (columns, rows, true, full)
}

/// Columns that the widest cell of a column takes, its heading included.
fn widest(rows: &[ListRow], column: usize, heading: &str) -> u16 {
    let glyphs = lightbay_widgets::Theme::default().glyphs;
    let cells = rows.iter().filter_map(|row| row.row.cells.get(column));
    let widths = cells.map(|cell| pieces_width(std::slice::from_ref(cell), glyphs));
    widths.max().unwrap_or(0).max(pieces_width(&[Piece::text(heading.to_owned())], glyphs))
}

/// The figures of a row with their labels and units.
fn figures(table: &Rows, row: &lightbay_core::report::Row) -> Vec<(String, String)> {
    let columns = table.columns.iter().zip(&row.cells);
    columns.map(|(column, cell)| (column.label.clone(), text::cell(cell, column.unit))).collect()
}

/// A sentence made of the figures of a row.
fn worded(figures: &[(String, String)]) -> Phrase {
    let Some(((_, name), rest)) = figures.split_first() else { return Phrase::new() };
    let mut phrase = Phrase::new().answer(format!("> {name}"));
    for (label, value) in rest.iter().filter(|(_, value)| value != "-" && !value.is_empty()) {
        phrase = phrase.muted(format!("  {label} ")).text(value.clone());
    }
    phrase
}

const fn amount(value: &Value) -> Option<f64> {
    match value {
        Value::Int(value) => Some(*value as f64),
        Value::Float(value) => Some(*value),
        Value::None | Value::Text(_) | Value::Flag(_) => None,
    }
}
