//! A large sparse matrix of signs for kept, added and removed circuits; the changes of a row are also given as words at
//! the end of the row.
//!
//! Unchanged numbers are dim dots, so that changes are easy to see. Cells are given row by row; only visible ones are
//! read.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::widgets::StatefulWidget;

use crate::hit::Hits;
use crate::number::Num;
use crate::pen::{Label, Pen, Piece, pieces_width};
use crate::scroll;
use crate::text::{self, Cut};
use crate::theme::{Palette, Theme, Tone};

/// Content of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sign {
    /// The cell is empty.
    #[default]
    None,
    /// The cell cannot have a number.
    Never,
    /// Number of circuits that stay.
    Keep(u32),
    /// Number of circuits that are added; other circuits of the cell may stay.
    Add(u32),
    /// Number of circuits that are removed.
    Remove(u32),
    /// A plain number on a heat step (strength of the shade), 0 to 7.
    Count(u32, u8),
    /// A plain number that is a warning.
    Alarm(u32),
}

/// State of a cell in the edit layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SignFlag {
    /// The cell is unchanged.
    #[default]
    Plain,
    /// The cell was changed by hand and the change is not kept yet: `*`.
    Edited,
    /// The last change of the cell was refused: `!`.
    Refused,
}

/// One cell of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SignCell {
    /// Column of the cell.
    pub column: u32,
    /// Content of the cell.
    pub sign: Sign,
    /// State in the edit layer.
    pub flag: SignFlag,
}

/// Cells row by row, each row sorted by column. A missing cell is [`Sign::None`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SignRows {
    /// Index of the first cell of each row, and the end of the last row.
    starts: Vec<u32>,
    cells: Vec<SignCell>,
    /// Number of digits of the largest number.
    digits: i32,
}

impl SignRows {
    /// Clears all rows; keeps the memory.
    pub fn clear(&mut self) {
        self.starts.clear();
        self.cells.clear();
        self.digits = 0;
    }

    /// Adds a cell to the last row.
    pub fn push(&mut self, cell: SignCell) {
        let number = match cell.sign {
            Sign::None | Sign::Never => 0,
            Sign::Keep(count) | Sign::Add(count) | Sign::Remove(count) => {
                if count > 1 {
                    count
                } else {
                    0
                }
            }
            Sign::Count(count, _) | Sign::Alarm(count) => count,
        };
        let digits = number.checked_ilog10().map_or(0, |log| log as i32 + 1);
        let sign = i32::from(matches!(cell.sign, Sign::Add(_) | Sign::Remove(_)));
        self.digits = self.digits.max(if digits > 0 { digits + sign } else { 0 });
        self.cells.push(cell);
    }

    /// Ends the present row.
    pub fn end_row(&mut self) {
        if self.starts.is_empty() {
            self.starts.push(0);
        }
        self.starts.push(self.cells.len() as u32);
    }

    /// Returns the number of finished rows.
    pub fn rows(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Returns the cells of a row.
    pub fn row(&self, row: usize) -> &[SignCell] {
        let end = self.starts.get(row + 1).copied().unwrap_or(0);
        let start = self.starts.get(row).copied().unwrap_or(end);
        self.cells.get(start as usize..end as usize).unwrap_or(&[])
    }

    /// Returns the cell in a row and column, if it has one.
    pub fn get(&self, row: usize, column: usize) -> Option<&SignCell> {
        let cells = self.row(row);
        let at = cells.binary_search_by_key(&column, |cell| cell.column as usize).ok()?;
        cells.get(at)
    }
}

/// State of the matrix, kept from frame to frame.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SignsState {
    /// Selected row and column.
    pub selected: Option<(usize, usize)>,
    /// Index of the first row shown.
    pub row_offset: usize,
    /// Index of the first column shown.
    pub column_offset: usize,
    /// Number of rows shown.
    pub rows_shown: usize,
    /// Number of columns shown.
    pub columns_shown: usize,
    /// Width of the matrix on the screen.
    pub width: u16,
    /// `true` if the matrix does not scroll to the selected cell, except from its first columns.
    pub still: bool,
    /// Clickable cells: the `id` of a hit is the index of the row, `part` is the index of the column.
    pub hits: Hits,
}

/// The matrix.
///
/// ```
/// # use lightbay_widgets::{GlyphSet, Piece, Sign, SignCell, SignFlag, SignRows, Signs, SignsState, Theme, text_of};
/// # use ratatui_core::{buffer::Buffer, layout::Rect, widgets::StatefulWidget};
/// let theme = Theme::mono(GlyphSet::Ascii);
/// let mut rows = SignRows::default();
/// for row in [[(0, Sign::Remove(1)), (2, Sign::Add(2))], [(1, Sign::Keep(1)), (3, Sign::Never)]] {
///     row.iter().for_each(|&(column, sign)| rows.push(SignCell { column, sign, flag: SignFlag::Plain }));
///     rows.end_row();
/// }
/// let words = [vec![Piece::text("> 2 was 0")], vec![Piece::text("> 1")]];
/// let area = Rect::new(0, 0, 27, 3);
/// let mut buf = Buffer::empty(area);
/// Signs::new(&theme, &rows, 4).words(&words).render(area, &mut buf, &mut SignsState::default());
/// assert_eq!(text_of(&buf), "    0  1  2  3\n 0  -  . +2  .  > 2 was 0\n 1  .  o  .  \\  > 1");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Signs<'a> {
    theme: &'a Theme,
    rows: &'a SignRows,
    columns: usize,
    names: &'a [Label],
    words: &'a [Vec<Piece>],
    editing: bool,
    /// `true` if empty cells are clickable too.
    empty_hits: bool,
    /// `true` if numbers may touch each other.
    tight: bool,
    /// Number of rows of the screen for each row of cells.
    tall: u16,
}

/// Layout of the columns.
#[derive(Clone, Copy)]
struct SignPlaces {
    /// Number of columns in front of the cells.
    left: i32,
    /// Distance in columns from one cell to the next.
    pitch: i32,
    /// Number of columns shown.
    shown: usize,
    /// Width of the words, 0 for none.
    words: i32,
}

/// Number of blank columns between cells and words.
const GAP: i32 = 2;

impl<'a> Signs<'a> {
    /// Width below which a cell does not fit.
    pub const MIN_WIDTH: u16 = 8;

    /// Creates a matrix from rows of cells and the number of columns.
    pub const fn new(theme: &'a Theme, rows: &'a SignRows, columns: usize) -> Self {
        Self {
            theme,
            rows,
            columns,
            names: &[],
            words: &[],
            editing: false,
            empty_hits: false,
            tight: false,
            tall: 1,
        }
    }

    /// Sets names of rows; a row without a name shows its number.
    #[must_use]
    pub const fn names(mut self, names: &'a [Label]) -> Self {
        self.names = names;
        self
    }

    /// Sets the words after the cells of each row.
    #[must_use]
    pub const fn words(mut self, words: &'a [Vec<Piece>]) -> Self {
        self.words = words;
        self
    }

    /// Sets whether the edit layer is open; if it is, the selected cell is highlighted.
    #[must_use]
    pub const fn editing(mut self, editing: bool) -> Self {
        self.editing = editing;
        self
    }

    /// Makes empty cells clickable.
    #[must_use]
    pub const fn empty_hits(mut self, hits: bool) -> Self {
        self.empty_hits = hits;
        self
    }

    /// Lets numbers of several digits touch each other, so that more columns have room.
    #[must_use]
    pub const fn tight(mut self, tight: bool) -> Self {
        self.tight = tight;
        self
    }

    /// Sets the number of rows of the screen for each row of cells. Each additional row also widens every column of
    /// cells by one.
    #[must_use]
    pub const fn tall(mut self, rows: u16) -> Self {
        self.tall = if rows == 0 { 1 } else { rows };
        self
    }

    /// Returns the width that shows all columns, with gaps between the cells, and the words.
    pub fn wished(&self) -> u16 {
        let places = self.places(i32::from(u16::MAX));
        let width = places.left + self.columns as i32 * places.pitch + places.words;
        width.clamp(0, i32::from(u16::MAX)) as u16
    }

    /// Returns the width that shows all columns and the words, without gaps between the cells; with `words` set to
    /// `false`, the width without the words.
    pub fn close(&self, words: bool) -> u16 {
        let places = self.places(i32::from(u16::MAX));
        let words = if words { places.words } else { 0 };
        let width = places.left + self.columns as i32 * self.rows.digits.max(1) + words;
        width.clamp(0, i32::from(u16::MAX)) as u16
    }

    fn places(&self, width: i32) -> SignPlaces {
        let glyphs = self.theme.glyphs;
        let last = self.rows.rows().saturating_sub(1);
        let number = last.checked_ilog10().unwrap_or(0) as i32 + 1;
        let names = self.names.iter().map(|name| i32::from(text::width(name, glyphs))).max();
        let left = names.map_or(number, |width| width.min(12)) + 1;
        let words =
            self.words.iter().map(|pieces| i32::from(pieces_width(pieces, glyphs))).max().unwrap_or(0);
        let words = if words > 0 { words + GAP } else { 0 };
        let wide = if self.tight { self.rows.digits.max(2) } else { self.rows.digits.max(1) + 1 };
        let wide = wide + i32::from(self.tall) - 1;
        let columns = self.columns as i32;
        let narrow = self.rows.digits.max(1);
        // Words are more useful than gaps: first the gaps between columns shrink, then words are dropped, then cells.
        for (pitch, words) in [(wide, words), (narrow, words), (wide, 0), (narrow, 0)] {
            if left + columns * pitch + words <= width {
                return SignPlaces { left, pitch, shown: self.columns, words };
            }
        }
        // Cells without gaps, if only a few columns are hidden then.
        let is_close = left + columns * narrow * 3 / 4 <= width;
        let words = if !is_close && left + words + wide * 8 <= width { words } else { 0 };
        let pitch = if is_close { narrow } else { wide };
        let shown = ((width - left - words) / pitch).max(0) as usize;
        SignPlaces { left, pitch, shown: shown.min(self.columns), words }
    }

    fn draw_headings(&self, pen: &mut Pen<'_>, places: SignPlaces, state: &SignsState) {
        let end = (state.column_offset + places.shown).min(self.columns);
        let widest = end.saturating_sub(1).checked_ilog10().unwrap_or(0) as usize + 1;
        // As many labels as fit, at round distances.
        let every = [1, 2, 5, 10, 20, 50, 100]
            .into_iter()
            .find(|every| every * places.pitch as usize > widest)
            .unwrap_or(100);
        for column in state.column_offset..end {
            let chosen = state.selected.is_some_and(|(_, at)| at == column);
            if column % every == 0 {
                let x = places.left + ((column - state.column_offset) as i32 + 1) * places.pitch;
                let tone = if chosen { Tone::Answer } else { Tone::Muted };
                pen.right(x, 0, &Num::of(format_args!("{column}")), self.theme.style(tone));
            }
        }
    }

    /// Draws a cell whose last column is `end - 1`.
    fn draw_cell(&self, pen: &mut Pen<'_>, end: i32, y: i32, pitch: i32, cell: SignCell) {
        let theme = self.theme;
        let glyphs = theme.glyphs;
        let ground = |pen: &mut Pen<'_>, width: i32, tone| {
            pen.paint(end - width, y, width, 1, theme.tinted(tone));
        };
        match cell.sign {
            Sign::None => pen.glyph(end - 1, y, glyphs.inactive, theme.style(Tone::Faint)),
            Sign::Never => pen.glyph(end - 1, y, glyphs.never, theme.style(Tone::Faint)),
            Sign::Keep(count) => {
                if count > 1 {
                    pen.right(end, y, &Num::of(format_args!("{count}")), theme.style(Tone::Muted));
                } else {
                    pen.glyph(end - 1, y, glyphs.dot, theme.style(Tone::Muted));
                }
            }
            Sign::Add(count) | Sign::Remove(count) => {
                let add = matches!(cell.sign, Sign::Add(_));
                let tone = if add { Tone::Good } else { Tone::Bad };
                let sign = if add { glyphs.plus } else { glyphs.minus };
                let ink = theme.ink(tone, true);
                let start = if count > 1 {
                    pen.right(end, y, &Num::of(format_args!("{count}")), ink) - 1
                } else {
                    end - 1
                };
                pen.glyph(start, y, sign, ink);
                ground(pen, end - start, tone);
            }
            Sign::Count(count, heat) => {
                if theme.shades() {
                    pen.paint(end - pitch, y, pitch, i32::from(self.tall), theme.style(Tone::Heat(heat)));
                }
                let style =
                    if theme.shades() { theme.style(Tone::Heat(heat)) } else { theme.style(Tone::Text) };
                pen.right(end, y, &Num::of(format_args!("{count}")), style);
            }
            Sign::Alarm(count) => {
                pen.right(end, y, &Num::of(format_args!("{count}")), theme.ink(Tone::Bad, true));
                ground(pen, pitch, Tone::Bad);
                if !theme.shades() && pitch > 1 {
                    pen.glyph(end - pitch, y, "!", theme.ink(Tone::Bad, true));
                }
            }
        }
    }

    /// Draws the mark of a flag in the gap right of the cell, or colours a cell without a gap.
    fn draw_flag(&self, pen: &mut Pen<'_>, (stop, y): (i32, i32), pitch: i32, flag: SignFlag) {
        let (mark, tone) = match flag {
            SignFlag::Plain => return,
            SignFlag::Edited => ("*", Tone::Changed),
            SignFlag::Refused => ("!", Tone::Bad),
        };
        let style = self.theme.ink(tone, true);
        if pitch > self.rows.digits.max(1) && stop < pen.width() {
            pen.glyph(stop, y, mark, style);
        } else {
            pen.paint(stop - pitch, y, pitch, 1, style);
        }
    }

    fn draw_row(&self, pen: &mut Pen<'_>, y: i32, row: usize, places: SignPlaces, state: &mut SignsState) {
        let theme = self.theme;
        let chosen = state.selected.filter(|(at, _)| *at == row);
        let end = (state.column_offset + places.shown).min(self.columns);
        let right = places.left + places.shown as i32 * places.pitch + places.words;
        if chosen.is_some() {
            // A reversed row would hide the selected cell.
            if !matches!(theme.palette, Palette::Ansi | Palette::Mono) {
                pen.paint(0, y, right, 1, theme.selected());
            }
            pen.glyph(0, y, ">", theme.style(Tone::Answer));
        }
        let tone = if chosen.is_some() { Tone::Answer } else { Tone::Muted };
        match self.names.get(row) {
            Some(name) => {
                pen.cut(1, y, places.left - 1, name, Cut::Middle, theme.style(tone));
            }
            None => {
                pen.right(places.left, y, &Num::of(format_args!("{row}")), theme.style(tone));
            }
        }
        let cells = self.rows.row(row);
        let mut next = cells.partition_point(|cell| (cell.column as usize) < state.column_offset);
        for column in state.column_offset..end {
            let x = places.left + (column - state.column_offset) as i32 * places.pitch;
            let cell = match cells.get(next) {
                Some(cell) if cell.column as usize == column => {
                    next += 1;
                    *cell
                }
                _ => SignCell { column: column as u32, ..SignCell::default() },
            };
            let stop = x + places.pitch;
            self.draw_cell(pen, stop, y, places.pitch, cell);
            if chosen.is_some_and(|(_, at)| at == column) && (self.editing || cell.sign != Sign::None) {
                let width = places.pitch.min(self.rows.digits.max(1));
                pen.paint(stop - width, y, width, 1, theme.cursor());
            }
            self.draw_flag(pen, (stop, y), places.pitch, cell.flag);
            if self.empty_hits || !matches!(cell.sign, Sign::None | Sign::Never) {
                state.hits.push(pen.rect(x, y, places.pitch, 1), row as u32, column as u32);
            }
        }
        if let Some(words) = self.words.get(row).filter(|_| places.words > 0) {
            pen.pieces(places.left + places.shown as i32 * places.pitch + GAP, y, places.words - GAP, words);
        }
    }
}

impl StatefulWidget for &Signs<'_> {
    type State = SignsState;

    fn render(self, area: Rect, buf: &mut Buffer, state: &mut SignsState) {
        state.hits.clear();
        (state.rows_shown, state.columns_shown, state.width) = (0, 0, 0);
        let mut pen = Pen::new(buf, area, self.theme);
        if pen.is_empty() || area.width < Signs::MIN_WIDTH || self.columns == 0 || self.rows.rows() == 0 {
            return;
        }
        let places = self.places(pen.width());
        let top = i32::from(pen.height() > 1);
        let tall = i32::from(self.tall);
        let height = ((pen.height() - top + tall - 1) / tall) as usize;
        let rows = self.rows.rows();
        let row = state.selected.filter(|_| !state.still).map(|at| at.0);
        // The first columns give way to the selected cell once, so that it is visible from the start.
        let column = state.selected.filter(|_| !state.still || state.column_offset == 0).map(|at| at.1);
        state.row_offset = scroll::follow(state.row_offset, row, height, rows);
        state.column_offset = scroll::follow(state.column_offset, column, places.shown, self.columns);
        if top > 0 {
            self.draw_headings(&mut pen, places, state);
        }
        let end = rows.min(state.row_offset + height);
        for row in state.row_offset..end {
            self.draw_row(&mut pen, top + (row - state.row_offset) as i32 * tall, row, places, state);
        }
        state.rows_shown = end - state.row_offset;
        state.columns_shown = places.shown;
        let used = places.left + places.shown as i32 * places.pitch + places.words;
        state.width = used.clamp(0, i32::from(area.width)) as u16;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::glyphs::GlyphSet;
    use crate::text_of;

    /// A ring: row i keeps its column i + 1, and the first row is changed.
    fn ring(size: u32) -> SignRows {
        let mut rows = SignRows::default();
        for row in 0..size {
            if row == 0 {
                for (column, sign) in [(1, Sign::Remove(1)), (size - 1, Sign::Add(1))] {
                    rows.push(SignCell { column, sign, flag: SignFlag::Plain });
                }
            } else {
                let column = (row + 1) % size;
                rows.push(SignCell { column, sign: Sign::Keep(1), flag: SignFlag::Plain });
            }
            rows.end_row();
        }
        rows
    }

    fn drawn(rows: &SignRows, columns: usize, size: (u16, u16), state: &mut SignsState) -> String {
        let theme = Theme::mono(GlyphSet::Ascii);
        let area = Rect::new(0, 0, size.0, size.1);
        let mut buf = Buffer::empty(area);
        (&Signs::new(&theme, rows, columns)).render(area, &mut buf, state);
        text_of(&buf)
    }

    #[test]
    fn rows_and_columns_follow_the_selection() {
        let rows = ring(64);
        let mut state = SignsState { selected: Some((63, 0)), ..SignsState::default() };
        let text = drawn(&rows, 64, (40, 6), &mut state);
        assert_eq!((state.row_offset, state.column_offset, state.rows_shown), (59, 0, 5));
        assert!(text.lines().last().unwrap().starts_with(">63 o"), "{text}");
        state.selected = Some((0, 63));
        let text = drawn(&rows, 64, (40, 6), &mut state);
        assert_eq!((state.row_offset, state.column_offset + state.columns_shown), (0, 64));
        assert!(text.lines().nth(1).unwrap().ends_with('+'), "{text}");
        assert_eq!(state.hits.at(39, 1).map(|hit| (hit.id, hit.part)), None, "cells end before the edge");
    }

    #[test]
    fn columns_come_close_before_the_matrix_scrolls() {
        let rows = ring(30);
        let mut state = SignsState::default();
        drawn(&rows, 30, (70, 32), &mut state);
        assert_eq!((state.columns_shown, state.width), (30, 63));
        drawn(&rows, 30, (40, 32), &mut state);
        assert_eq!((state.columns_shown, state.width), (30, 33));
        drawn(&rows, 30, (30, 32), &mut state);
        assert!(state.columns_shown < 30);
    }

    #[test]
    fn nothing_is_drawn_of_nothing() {
        let mut state = SignsState::default();
        assert_eq!(drawn(&SignRows::default(), 0, (20, 2), &mut state), "\n");
        assert_eq!(drawn(&ring(4), 4, (7, 2), &mut state), "\n");
    }
}
