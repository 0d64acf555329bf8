//! Facts and tables of a section, one below the other, scrolled as one list. Numbers that a table marks for it are
//! drawn as bars beside the columns.

use super::{item_id, opened_hits, tone};
use crate::app::action::Command;
use crate::app::drawn::{Drawn, Item};
use crate::app::pane::ItemId;
use crate::view::present::PaneInput;
use crate::view::present::rows::line;
use lightbay_core::report::text::{self, in_column};
use lightbay_core::report::{
    Body, Cell, Column as Heading, Fact, Facts, Phrase, Row, Section, Table as Rows, Tone as Meaning,
};
use lightbay_widgets::{
    Column, Meter, Part as BarPart, Piece, Table, TableRow, TableState, Tone, pieces_width, scroll,
};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::{StatefulWidget, Widget};
use std::sync::Arc;

/// Least columns of the bars; without them the table stands alone.
const BAR: u16 = 8;

/// Columns that bars make use of with the gap in front of them.
pub const BARS: u16 = 2 + 2 * BAR;

/// Words wider than this are cut where the row is too long.
const WORDS: u16 = 44;

/// Columns of this priority or a higher one are worth less than the bars.
const OPTIONAL: u8 = 3;

/// Columns in front of a table: selection and marks.
const PREFIX: u16 = 3;

/// More sentences than this are not listed: the rows themselves are on the screen.
const SENTENCES: usize = 200;

/// The lists of a section in the form that is shown.
#[derive(Debug, Default)]
pub struct List {
    parts: Vec<Part>,
    state: TableState,
}

/// A block with its place in the list.
#[derive(Debug)]
struct Part {
    /// Row of the list that it begins in.
    first: usize,
    block: Arc<ListBlock>,
}

/// Facts or a table of a section, ready to be drawn.
#[derive(Debug)]
pub struct ListBlock {
    /// Index of the block in its section.
    index: usize,
    /// Heading, where there are several blocks.
    title: Option<String>,
    /// Draws the names of the columns.
    heads: bool,
    columns: Vec<Column>,
    rows: Vec<ListRow>,
    /// The value at the right end of the bars; 0 without bars.
    full: f64,
    /// What the bars are measured against, with its name.
    limit: Option<(f64, String)>,
    /// Its items are plans of the session.
    of_plans: bool,
}

/// A row with its bar.
#[derive(Debug)]
struct ListRow {
    row: TableRow,
    bar: Option<(f64, Tone)>,
}

impl ListBlock {
    /// Prepares a block of a section by its index; `None` for a picture. Takes a while for thousands of rows.
    pub fn new(section: &Section, index: usize) -> Option<Self> {
        let block = section.blocks.get(index)?;
        let title = (section.blocks.len() > 1 && !block.title.is_empty()).then(|| block.title.clone());
        match &block.body {
            Body::Facts(facts) => Some(Self::of_facts(index, title, facts)),
            Body::Table(table) => Some(Self::of_table(index, title, table)),
            Body::Matrix(_) | Body::Curves(_) | Body::Spans(_) => None,
        }
    }

    /// Rows above those of the items: heading and names of columns.
    fn above(&self) -> usize {
        usize::from(self.title.is_some()) + usize::from(self.heads)
    }

    fn height(&self) -> usize {
        self.above() + self.rows.len()
    }

    fn place_of(&self, id: ItemId) -> Option<usize> {
        self.rows.iter().position(|row| row.row.id == id)
    }
}

impl Part {
    fn end(&self) -> usize {
        self.first + self.block.height()
    }
}

impl List {
    /// Puts blocks one below the other.
    pub fn new(blocks: impl Iterator<Item = Arc<ListBlock>>) -> Self {
        let mut parts: Vec<Part> = Vec::new();
        for block in blocks {
            // A blank row keeps blocks apart.
            let first = parts.last().map_or(0, |last| last.end() + 1);
            parts.push(Part { first, block });
        }
        Self { parts, state: TableState::default() }
    }

    pub fn is_empty(&self) -> bool {
        self.parts.iter().all(|part| part.block.rows.is_empty())
    }

    /// Rows of the list in all.
    pub fn rows(&self) -> usize {
        self.parts.last().map_or(0, Part::end)
    }

    /// The items by row of the list.
    pub fn items(&self) -> Vec<Item> {
        let of_part = |part: &Part| {
            let first = part.first + part.block.above();
            let item = move |(at, row): (usize, &ListRow)| Item {
                id: row.row.id,
                row: (first + at) as u32,
                place: 0.0,
            };
            part.block.rows.iter().enumerate().map(item).collect::<Vec<_>>()
        };
        self.parts.iter().flat_map(of_part).collect()
    }

    /// Block and row of an item.
    fn find(&self, id: ItemId) -> Option<(usize, usize)> {
        self.parts.iter().find_map(|part| Some((part.block.index, part.block.place_of(id)?)))
    }

    /// The first item.
    pub fn first(&self) -> Option<ItemId> {
        self.parts.iter().flat_map(|part| &part.block.rows).next().map(|row| row.row.id)
    }

    /// The sentence on an item of a section.
    pub fn sentence(&self, section: &Section, id: ItemId) -> Option<Phrase> {
        let (block, row) = self.find(id)?;
        sentence(&section.blocks.get(block)?.body, row)
    }

    /// Every figure of an item, one line each.
    pub fn details(&self, section: &Section, id: ItemId) -> Vec<String> {
        let body = |block: usize| section.blocks.get(block).map(|block| &block.body);
        match self.find(id).and_then(|(block, row)| Some((body(block)?, row))) {
            Some((Body::Table(table), row)) => table.rows.get(row).map_or_else(Vec::new, |row| {
                let line = |(label, value): (String, String)| format!("{label}  {value}");
                figures(table, row).into_iter().map(line).chain(row.details.iter().cloned()).collect()
            }),
            Some((body, row)) => sentence(body, row).iter().map(Phrase::to_string).collect(),
            None => Vec::new(),
        }
    }

    /// A sentence on every item; none where there are very many.
    pub fn sentences(&self, section: &Section) -> Vec<String> {
        let rows: usize = self.parts.iter().map(|part| part.block.rows.len()).sum();
        if rows > SENTENCES {
            return Vec::new();
        }
        let of_part = |part: &Part| {
            let body = section.blocks.get(part.block.index).map(|block| &block.body);
            let rows = 0..part.block.rows.len();
            rows.filter_map(|row| Some(sentence(body?, row)?.to_string())).collect::<Vec<_>>()
        };
        self.parts.iter().flat_map(of_part).collect()
    }

    /// Columns that all of it makes use of.
    pub fn wish(&self) -> u16 {
        self.parts.iter().map(|part| part.block.wish()).max().unwrap_or(0)
    }

    /// Draws the rows that are in sight, with a mark at the one that is chosen; returns the first of them and how many
    /// fit.
    pub fn draw(
        &mut self,
        input: &PaneInput<'_>,
        chosen: Option<ItemId>,
        area: Rect,
        buf: &mut Buffer,
        out: &mut Drawn,
    ) -> (usize, usize) {
        let height = usize::from(area.height).max(1);
        let at = chosen.and_then(|id| {
            let row = |part: &Part| {
                let at = part.block.place_of(id)?;
                // The names of the columns come into sight with the first row.
                Some(if at == 0 { part.first } else { part.first + part.block.above() + at })
            };
            self.parts.iter().find_map(row)
        });
        let offset = scroll::follow(input.state.offset, at, height, self.rows());
        for part in &self.parts {
            let (from, to) = (part.first.max(offset), part.end().min(offset + height));
            if from >= to {
                continue;
            }
            self.state.selected = chosen;
            part.block.draw(
                input,
                (from - part.first, to - part.first),
                (from - offset) as u16,
                area,
                buf,
                &mut self.state,
            );
            let open = |id: ItemId| match part.block.of_plans {
                true => Command::ShowPlan(u64::from(id)),
                false => Command::Inspect,
            };
            opened_hits(input, &self.state.hits, |id, _| id, open, out);
        }
        (offset, height)
    }
}

/// Draws a list of one block in several columns where it is too long for one and narrow enough; a last row says how much is
/// left out.
pub fn flow(list: &List, input: &PaneInput<'_>, area: Rect, buf: &mut Buffer) -> bool {
    let [part] = list.parts.as_slice() else { return false };
    let (block, gap) = (&part.block, 2);
    let above = block.above();
    let room = usize::from(area.height).saturating_sub(above);
    if block.rows.len() <= room || room == 0 || block.full > 0.0 {
        return false;
    }
    let wish = block.wish();
    let across = ((area.width + gap) / (wish + gap).max(1)).max(1);
    let places = room * usize::from(across);
    let shown = if block.rows.len() > places { places - 1 } else { block.rows.len() };
    let mut state = TableState::default();
    for at in 0..across {
        let first = usize::from(at) * room;
        let last = (first + room).min(shown);
        let x = area.x + at * (wish + gap);
        let column = Rect { x, width: wish.min(area.right().saturating_sub(x)), ..area };
        if first < last {
            let (from, y) = if at == 0 { (0, 0) } else { (first + above, above as u16) };
            block.draw(input, (from, last + above), y, column, buf, &mut state);
        }
        if shown < block.rows.len() && last == shown && first <= last {
            let y = column.y + (above + last - first) as u16;
            let more = format!("   and {} more; i lists them", block.rows.len() - shown);
            line(&input.app.look.theme, &[Piece::muted(more)], Rect { y, height: 1, ..column }, buf);
        }
    }
    true
}

impl ListBlock {
    /// Columns that all of it makes use of, with bars of a readable length.
    fn wish(&self) -> u16 {
        let bars = if self.full > 0.0 { BARS } else { 0 };
        PREFIX + width(&self.columns) + bars
    }

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
        let width = place.right() - x;
        let limit = self.limit.as_ref().map(|limit| limit.0);
        for (y, row) in (first..place.bottom()).zip(visible) {
            let part =
                row.bar.filter(|(value, _)| *value > 0.0).map(|(value, tone)| BarPart::new(value, tone, '#'));
            let strip = Rect { x, y, width, height: 1 };
            (&Meter::new(theme, part.as_slice(), self.full).limit(limit)).render(strip, buf);
        }
        if let Some((_, name)) = self.limit.as_ref().filter(|_| heads) {
            // The name stands over the mark, as far as it fits between the ends of the bars.
            let at = Meter::new(theme, &[], self.full).limit(limit).limit_at(width).unwrap_or(0);
            let long = name.chars().count() as u16;
            let start = at.saturating_sub(long / 2).min(width.saturating_sub(long));
            line(
                theme,
                &[Piece::text(name.clone())],
                Rect { x: x + start, width: width - start, y: place.y, height: 1 },
                buf,
            );
        }
    }
}

fn width(columns: &[Column]) -> u16 {
    let each = |(at, column): (usize, &Column)| column.width + if at > 0 { column.gap } else { 0 };
    columns.iter().enumerate().map(each).sum()
}

impl ListBlock {
    fn of_facts(index: usize, title: Option<String>, facts: &Facts) -> Self {
        let row = |(at, fact): (usize, &Fact)| {
            let cells = vec![
                Piece::text(fact.label),
                Piece::new(text::cell(&fact.cell, fact.unit), tone(fact.cell.tone)),
                Piece::muted(fact.sentence.clone()),
            ];
            ListRow { row: TableRow::item(item_id(index, at), cells), bar: None }
        };
        let rows: Vec<ListRow> = facts.facts.iter().enumerate().map(row).collect();
        let columns = vec![
            Column::left("", widest(&rows, 0, "")),
            Column::left("", widest(&rows, 1, "")),
            Column::left("", widest(&rows, 2, "")).priority(1).grow(),
        ];
        Self { index, title, heads: false, columns, rows, full: 0.0, limit: None, of_plans: false }
    }

    fn of_table(index: usize, title: Option<String>, table: &Rows) -> Self {
        let row = |(at, row): (usize, &Row)| {
            let cell =
                |(column, cell): (&Heading, &Cell)| Piece::new(in_column(cell, column.unit), tone(cell.tone));
            let cells: Vec<Piece> = table.columns.iter().zip(&row.cells).map(cell).collect();
            let bar = table.bar.and_then(|at| row.cells.get(at)).and_then(|cell| {
                let tone = if cell.tone == Meaning::Text { Tone::Muted } else { tone(cell.tone) };
                Some((cell.value.as_f64()?, tone))
            });
            let id = row.item.unwrap_or_else(|| item_id(index, at));
            ListRow { row: TableRow::item(id, cells), bar }
        };
        let rows: Vec<ListRow> = table.rows.iter().enumerate().map(row).collect();
        let column = |(at, column): (usize, &Heading)| {
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
        let limit = table.limit.as_ref().map(|limit| (limit.value, limit.label.clone()));
        let values = rows.iter().filter_map(|row| row.bar).map(|bar| bar.0);
        let full = values.chain(limit.as_ref().map(|limit| limit.0)).fold(0.0, f64::max);
        let full = if table.bar.is_some() { full } else { 0.0 };
        // A table without any heading has no row for them.
        let heads = table.columns.iter().any(|column| !column.label.is_empty());
        Self { index, title, heads, columns, rows, full, limit, of_plans: table.of_plans }
    }
}

/// The sentence on a row of facts or of a table: that of the kind, or one made of its figures.
fn sentence(body: &Body, row: usize) -> Option<Phrase> {
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
    let phrase =
        Phrase::new().muted(format!("> {}  ", fact.label)).with(text::cell(&fact.cell, fact.unit), meaning);
    if fact.sentence.is_empty() { phrase } else { phrase.muted(format!("  {}", fact.sentence)) }
}

/// Columns that the widest cell of a column takes, its heading included.
fn widest(rows: &[ListRow], column: usize, heading: &str) -> u16 {
    let glyphs = lightbay_widgets::Theme::default().glyphs;
    let cells = rows.iter().filter_map(|row| row.row.cells.get(column));
    let widths = cells.map(|cell| pieces_width(std::slice::from_ref(cell), glyphs));
    widths.max().unwrap_or(0).max(pieces_width(&[Piece::text(heading.to_owned())], glyphs))
}

/// The figures of a row with their labels and units.
fn figures(table: &Rows, row: &Row) -> Vec<(String, String)> {
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
