//! Tables: aligned columns that are omitted one by one when space is short, with marks, sections and a selection.

use std::ops::Range;

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::{Color, Modifier};
use ratatui_core::widgets::StatefulWidget;

use crate::hit::Hits;
use crate::pen::{Label, Pen, Piece};
use crate::scroll;
use crate::text::{self, Cut};
use crate::theme::{Theme, Tone};

/// Alignment of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Align {
    /// Aligned to the left, for names.
    #[default]
    Left,
    /// Aligned to the right, for numbers.
    Right,
}

/// One column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Heading of the column, with the unit.
    pub title: Label,
    /// Width of the column, which is fixed so that the layout does not change with the values.
    pub width: u16,
    /// Alignment of the column's cells.
    pub align: Align,
    /// Order of omission when space is short: higher values are omitted earlier, 0 never.
    pub priority: u8,
    /// `true` if the column gets the remaining width of the screen, with `width` as its minimum; if several columns are
    /// so marked, the first one that is shown gets it.
    pub grow: bool,
    /// Position at which a cell is cut if it does not fit. Numbers are not cut: a number that does not fit is shown as
    /// an ellipsis.
    pub cut: Cut,
    /// Number of blank columns in front of the column, except in front of the first one.
    pub gap: u16,
}

impl Column {
    /// Creates a column of names.
    pub fn left(title: impl Into<Label>, width: u16) -> Self {
        Self {
            title: title.into(),
            width,
            align: Align::Left,
            priority: 0,
            grow: false,
            cut: Cut::Middle,
            gap: 2,
        }
    }

    /// Creates a column of numbers.
    pub fn right(title: impl Into<Label>, width: u16) -> Self {
        Self { align: Align::Right, cut: Cut::Whole, ..Self::left(title, width) }
    }

    /// Sets the priority; see [`Column::priority`].
    #[must_use]
    pub const fn priority(mut self, priority: u8) -> Self {
        self.priority = priority;
        self
    }

    /// Gives the remaining width of the screen to this column.
    #[must_use]
    pub const fn grow(mut self) -> Self {
        self.grow = true;
        self
    }

    /// Sets the number of blank columns in front of the column.
    #[must_use]
    pub const fn gap(mut self, gap: u16) -> Self {
        self.gap = gap;
        self
    }

    /// Returns the minimum width, which the column keeps when space is short.
    fn least(&self) -> i32 {
        let width = i32::from(self.width);
        if self.align == Align::Left { width.min(LEAST_NAME) } else { width }
    }

    /// Sets the position at which cells of the column are cut.
    #[must_use]
    pub const fn cut(mut self, cut: Cut) -> Self {
        self.cut = cut;
        self
    }
}

/// Kind of a row of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RowKind {
    /// The row can be selected.
    #[default]
    Item,
    /// The row has cells like an item, but cannot be selected (a sum, the ideal network).
    Fixed,
    /// The row is a heading over the whole width; its text is the first cell.
    Heading,
    /// The row is empty.
    Gap,
}

/// One row of a table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TableRow {
    /// Id that is reported when the row is clicked, and kept as the selection.
    pub id: u32,
    /// Kind of the row.
    pub kind: RowKind,
    /// A letter in front of the row: `B` baseline, `m` marked.
    pub mark: Label,
    /// One cell per column; missing cells are empty.
    pub cells: Vec<Piece>,
}

impl TableRow {
    /// Creates a row that can be selected.
    pub fn item(id: u32, cells: Vec<Piece>) -> Self {
        Self { id, cells, ..Self::default() }
    }

    /// Creates a row that cannot be selected.
    pub fn fixed(cells: Vec<Piece>) -> Self {
        Self { kind: RowKind::Fixed, cells, ..Self::default() }
    }

    /// Creates a heading.
    pub fn heading(text: impl Into<Label>) -> Self {
        Self { kind: RowKind::Heading, cells: vec![Piece::muted(text)], ..Self::default() }
    }

    /// Creates an empty row.
    pub fn gap() -> Self {
        Self { kind: RowKind::Gap, ..Self::default() }
    }

    /// Adds a letter in front of the row.
    #[must_use]
    pub fn mark(mut self, mark: impl Into<Label>) -> Self {
        self.mark = mark.into();
        self
    }
}

/// State of a table, kept from frame to frame.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TableState {
    /// Id of the selected row; the row keeps the selection when rows move.
    pub selected: Option<u32>,
    /// Index of the first row shown.
    pub offset: usize,
    /// Rows shown by the last draw.
    pub visible: Range<usize>,
    /// Clickable rows.
    pub hits: Hits,
}

impl TableState {
    /// Moves the selection by `steps` rows that can be selected, stopping at the ends.
    pub fn step(&mut self, rows: &[TableRow], steps: i32) {
        let choices = || rows.iter().filter(|row| row.kind == RowKind::Item);
        let at = choices().position(|row| Some(row.id) == self.selected);
        self.selected = scroll::stepped(at, choices().count(), steps)
            .and_then(|index| choices().nth(index))
            .map(|row| row.id);
    }
}

/// The table.
///
/// ```
/// # use lightbay_widgets::{Column, Piece, Table, TableRow, TableState, Theme, text_of};
/// # use ratatui_core::{buffer::Buffer, layout::Rect, widgets::StatefulWidget};
/// let theme = Theme::default();
/// let columns = [Column::right("#", 2), Column::left("method", 10), Column::right("NCT", 6)];
/// let rows = [
///     TableRow::item(6, vec!["6".into(), "delta-level".into(), "1.0691".into()]),
///     TableRow::item(4, vec!["4".into(), "iter-halve".into(), "1.1687".into()]).mark("B"),
/// ];
/// let mut state = TableState { selected: Some(6), ..TableState::default() };
/// let area = Rect::new(0, 0, 26, 3);
/// let mut buf = Buffer::empty(area);
/// Table::new(&theme, &columns, &rows).render(area, &mut buf, &mut state);
/// assert_eq!(text_of(&buf), "    #  method         NCT\n>   6  delta…evel  1.0691\n B  4  iter-halve  1.1687");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Table<'a> {
    theme: &'a Theme,
    columns: &'a [Column],
    rows: &'a [TableRow],
    header: bool,
    selectable: bool,
}

/// Maximum number of columns of a table; further columns are not drawn.
const MAX_COLUMNS: usize = 24;
/// Minimum width of a name when space is short: six letters and the ellipsis. With fewer letters, names could not be
/// distinguished.
const LEAST_NAME: i32 = 7;

/// First column and width of each column on the screen; `None` for an omitted column.
type ColumnPlaces = [Option<(i32, i32)>; MAX_COLUMNS];

impl<'a> Table<'a> {
    /// Width below which only the first column with priority 0 is drawn.
    pub const MIN_WIDTH: u16 = 12;

    /// Creates a table with columns and rows in order.
    pub const fn new(theme: &'a Theme, columns: &'a [Column], rows: &'a [TableRow]) -> Self {
        Self { theme, columns, rows, header: true, selectable: true }
    }

    /// Sets whether the headings are drawn (the default).
    #[must_use]
    pub const fn header(mut self, header: bool) -> Self {
        self.header = header;
        self
    }

    /// Sets whether there is room for selection and marks in front of the rows (the default).
    #[must_use]
    pub const fn selectable(mut self, selectable: bool) -> Self {
        self.selectable = selectable;
        self
    }

    const fn prefix(&self) -> i32 {
        if self.selectable { 3 } else { 0 }
    }

    /// Decides which columns are shown and where; also returns `true` if some columns do not fit.
    fn places(&self, width: i32) -> (ColumnPlaces, bool) {
        let columns = &self.columns[..self.columns.len().min(MAX_COLUMNS)];
        let mut shown = [false; MAX_COLUMNS];
        shown[..columns.len()].fill(true);
        let total = |shown: &[bool; MAX_COLUMNS], size: fn(&Column) -> i32| {
            let mut sum = 0;
            for (column, _) in columns.iter().zip(shown).filter(|(_, shown)| **shown) {
                sum += size(column) + if sum > 0 { i32::from(column.gap) } else { 0 };
            }
            sum
        };
        let usual = |column: &Column| i32::from(column.width);
        let mut room = width - self.prefix();
        let mut lacks = false;
        loop {
            // Removes the least important column; among equals the rightmost one.
            let worst = (0..columns.len()).filter(|&i| shown[i]).max_by_key(|&i| (columns[i].priority, i));
            let Some(worst) = worst else { break };
            if columns[worst].priority > 0 {
                if total(&shown, usual) <= room {
                    break;
                }
            } else if worst == 0 || total(&shown, Column::least) <= room {
                break;
            } else {
                // The mark of omitted columns has a place of its own.
                room = width - self.prefix() - 1 - i32::from(text::width_of_ellipsis(self.theme.glyphs));
                lacks = true;
            }
            shown[worst] = false;
        }
        let mut spare = room - total(&shown, usual);
        let mut places = [None; MAX_COLUMNS];
        let mut x = self.prefix();
        let mut first = true;
        for (i, column) in columns.iter().enumerate().filter(|(i, _)| shown[*i]) {
            let mut size = i32::from(column.width);
            // A column of names shrinks before numbers are lost at the right edge.
            if spare < 0 && column.align == Align::Left {
                let given = (size - column.least()).clamp(0, -spare);
                size -= given;
                spare += given;
            } else if spare > 0 && column.grow {
                size += spare;
                spare = 0;
            }
            if !first {
                x += i32::from(column.gap);
            }
            first = false;
            let visible = size.min(width - x);
            if visible > 0 {
                places[i] = Some((x, if column.align == Align::Left { visible } else { size }));
            }
            x += size;
        }
        (places, lacks)
    }

    fn draw_cell(&self, pen: &mut Pen<'_>, y: i32, place: (i32, i32), column: &Column, piece: &Piece) {
        let (x, size) = place;
        let style = self.theme.ink(piece.tone, piece.bold);
        let needed = i32::from(text::width(&piece.text, pen.glyphs()));
        if needed > size && column.cut == Cut::Whole {
            pen.right(x + size, y, pen.glyphs().ellipsis, self.theme.style(Tone::Muted));
            return;
        }
        if needed > size && column.cut == Cut::Middle && is_numbers(&piece.text) {
            // Whole numbers of a list are kept, with a blank and an ellipsis after them.
            let most = size - 1 - i32::from(text::width_of_ellipsis(pen.glyphs()));
            let ends = piece.text.match_indices(' ').map(|(at, _)| at);
            let kept = ends.take_while(|at| i32::try_from(*at).is_ok_and(|at| at <= most)).last();
            let used = kept.map_or(0, |at| pen.cut(x, y, size, &piece.text[..at], Cut::End, style) + 1);
            pen.cut(x + used, y, size - used, pen.glyphs().ellipsis, Cut::End, style);
            return;
        }
        let x = if column.align == Align::Right { x + (size - needed).max(0) } else { x };
        pen.cut(x, y, size, &piece.text, column.cut, style);
    }

    fn draw_row(&self, pen: &mut Pen<'_>, y: i32, row: &TableRow, places: &ColumnPlaces, selected: bool) {
        let width = pen.width();
        match row.kind {
            RowKind::Gap => return,
            RowKind::Heading => {
                if let Some(piece) = row.cells.first() {
                    pen.cut(0, y, width, &piece.text, Cut::End, self.theme.ink(piece.tone, piece.bold));
                }
                return;
            }
            RowKind::Item | RowKind::Fixed => {}
        }
        if selected {
            pen.paint(0, y, width, 1, self.theme.selected());
        }
        if self.selectable {
            if selected {
                pen.glyph(0, y, ">", self.theme.style(Tone::Answer));
            }
            pen.cut(1, y, 1, &row.mark, Cut::End, self.theme.style(Tone::Answer));
        }
        for ((column, place), piece) in self.columns.iter().zip(places).zip(&row.cells) {
            if let Some(place) = *place {
                self.draw_cell(pen, y, place, column, piece);
            }
        }
        // Reverse video would turn the colours of the cells into grounds.
        let style = self.theme.selected();
        if selected && style.add_modifier.contains(Modifier::REVERSED) {
            pen.paint(0, y, width, 1, style.fg(Color::Reset).bg(Color::Reset));
        }
    }
}

/// Returns `true` for a list of numbers and ranges, such as `1-4 6 12`.
fn is_numbers(text: &str) -> bool {
    text.contains(' ') && text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b' ' | b'-'))
}

impl StatefulWidget for &Table<'_> {
    type State = TableState;

    fn render(self, area: Rect, buf: &mut Buffer, state: &mut TableState) {
        state.hits.clear();
        state.visible = 0..0;
        let mut pen = Pen::new(buf, area, self.theme);
        if pen.is_empty() {
            return;
        }
        let (places, lacks) = self.places(pen.width());
        // A table of one row shows the row without headings.
        let top = i32::from(self.header && pen.height() > 1);
        if top > 0 {
            let muted = self.theme.style(Tone::Muted);
            for (column, place) in self.columns.iter().zip(&places) {
                let Some((x, size)) = *place else { continue };
                let needed = i32::from(text::width(&column.title, pen.glyphs())).min(size);
                let x = if column.align == Align::Right { x + size - needed } else { x };
                pen.cut(x, 0, needed, &column.title, Cut::End, muted);
            }
            if lacks {
                pen.right(pen.width(), 0, pen.glyphs().ellipsis, muted);
            }
        }
        let height = (pen.height() - top) as usize;
        let at = self.rows.iter().position(|row| row.kind == RowKind::Item && Some(row.id) == state.selected);
        state.offset = scroll::follow(state.offset, at, height, self.rows.len());
        let end = (state.offset + height).min(self.rows.len());
        state.visible = state.offset..end;
        for (y, row) in (top..).zip(self.rows.get(state.offset..end).unwrap_or(&[])) {
            let selected = self.selectable && row.kind == RowKind::Item && Some(row.id) == state.selected;
            self.draw_row(&mut pen, y, row, &places, selected);
            if row.kind == RowKind::Item {
                state.hits.push(pen.rect(0, y, pen.width(), 1), row.id, 0);
            }
        }
    }
}
