//! Pod by pod matrix of small numbers: circuits, differences from a baseline, and free ports of each pod.
//!
//! The digit has the information, the shade is decoration. In the edit layer the selected cell is in brackets, and `!`
//! marks a change that is not possible.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::{Modifier, Style};
use ratatui_core::widgets::StatefulWidget;

use crate::hit::Hits;
use crate::number::{self, Num};
use crate::pen::{Label, Pen};
use crate::scroll;
use crate::text::{self, Cut};
use crate::theme::{Theme, Tone};

/// State of a cell in the edit layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CellFlag {
    /// The cell is as in the plan.
    #[default]
    Plan,
    /// The cell was changed by hand and the change is not kept yet: `*`.
    Edited,
    /// The last change of the cell was refused: `!`.
    Refused,
}

/// One cell of the matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MatrixCell {
    /// The number; `None` if the cell cannot have a value (`·`).
    pub value: Option<i32>,
    /// Difference from the baseline; 0 is not shown.
    pub difference: i32,
    /// Heat step (strength of the shade), 0 to 7; `None` without shade.
    pub heat: Option<u8>,
    /// State in the edit layer.
    pub flag: CellFlag,
}

/// Used amount of a row and its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RowSum {
    /// Amount in use.
    pub used: u32,
    /// Available amount.
    pub limit: u32,
}

/// State of a matrix, kept from frame to frame.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MatrixState {
    /// Selected row and column.
    pub selected: Option<(usize, usize)>,
    /// Index of the first row shown.
    pub row_offset: usize,
    /// Index of the first column shown.
    pub column_offset: usize,
    /// Clickable cells: the `id` of a hit is the index of the row, `part` is the index of the column.
    pub hits: Hits,
}

impl MatrixState {
    /// Moves the selection inside a matrix of `rows` by `columns`.
    pub fn step(&mut self, rows: usize, columns: usize, down: i32, right: i32) {
        if rows == 0 || columns == 0 {
            self.selected = None;
            return;
        }
        let Some((row, column)) = self.selected else {
            self.selected = Some((0, 0));
            return;
        };
        let row = scroll::stepped(Some(row), rows, down).unwrap_or(0);
        let column = scroll::stepped(Some(column), columns, right).unwrap_or(0);
        self.selected = Some((row, column));
    }
}

/// The matrix.
///
/// ```
/// # use lightbay_widgets::{GlyphSet, Label, Matrix, MatrixCell, MatrixState, RowSum, Theme, text_of};
/// # use ratatui_core::{buffer::Buffer, layout::Rect, widgets::StatefulWidget};
/// let theme = Theme::mono(GlyphSet::Ascii);
/// let (rows, columns) = ([Label::from("p0")], [Label::from("p1"), Label::from("peer")]);
/// let cells = [
///     MatrixCell { value: Some(4), difference: 2, ..MatrixCell::default() },
///     MatrixCell { value: Some(6), difference: -1, ..MatrixCell::default() },
/// ];
/// let sums = [RowSum { used: 10, limit: 16 }];
/// let area = Rect::new(0, 0, 24, 2);
/// let mut buf = Buffer::empty(area);
/// let matrix = Matrix::new(&theme, &rows, &columns, &cells).sums(&sums);
/// matrix.render(area, &mut buf, &mut MatrixState::default());
/// assert_eq!(text_of(&buf), "        p1   peer   used\np0    4 +2   6 -1  10/16");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Matrix<'a> {
    theme: &'a Theme,
    rows: &'a [Label],
    columns: &'a [Label],
    cells: &'a [MatrixCell],
    sums: &'a [RowSum],
    editing: bool,
}

/// Layout of the columns.
#[derive(Clone, Copy)]
struct MatrixPlaces {
    names: i32,
    /// Distance in columns from one cell to the next, including one blank column.
    pitch: i32,
    differences: bool,
    shown: usize,
    sum: Sum,
}

/// Form of the sums, by the available room.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd)]
enum Sum {
    None,
    Text(i32),
    /// Text, bar of this many columns, and free ports.
    Bar(i32),
}

const BAR: i32 = 8;

impl Sum {
    const fn width(self) -> i32 {
        match self {
            Self::None => 0,
            Self::Text(width) => width + 2,
            Self::Bar(width) => BAR + 3 + width + 6,
        }
    }
}

impl<'a> Matrix<'a> {
    /// Width below which only one total of the used amounts and of the limits of all rows is drawn.
    pub const MIN_WIDTH: u16 = 14;

    /// Creates a matrix with names of its rows and columns, and with its cells row by row.
    pub const fn new(
        theme: &'a Theme,
        rows: &'a [Label],
        columns: &'a [Label],
        cells: &'a [MatrixCell],
    ) -> Self {
        Self { theme, rows, columns, cells, sums: &[], editing: false }
    }

    /// Adds the used amount and the limit of each row, at the right end.
    #[must_use]
    pub const fn sums(mut self, sums: &'a [RowSum]) -> Self {
        self.sums = sums;
        self
    }

    /// Sets that the edit layer is open: the selected cell is in brackets.
    #[must_use]
    pub const fn editing(mut self, editing: bool) -> Self {
        self.editing = editing;
        self
    }

    fn sum_text(sum: RowSum) -> Num {
        Num::of(format_args!("{}/{}", sum.used, sum.limit))
    }

    fn places(&self, width: i32) -> MatrixPlaces {
        let glyphs = self.theme.glyphs;
        let widest = |labels: &[Label]| {
            labels.iter().map(|label| i32::from(text::width(label, glyphs))).max().unwrap_or(0)
        };
        let names = widest(self.rows).min(width / 3) + 1;
        let headings = widest(self.columns);
        let digits = self
            .cells
            .iter()
            .filter_map(|cell| cell.value)
            .map(|value| number::Num::of(format_args!("{value}")).len() as i32)
            .max()
            .unwrap_or(1);
        let sum_width =
            self.sums.iter().map(|sum| Self::sum_text(*sum).len() as i32).max().unwrap_or(0).max(4);
        let sums = if self.sums.is_empty() {
            [Sum::None; 3]
        } else {
            [Sum::Bar(sum_width), Sum::Text(sum_width), Sum::None]
        };
        let with_differences = self.cells.iter().any(|cell| cell.difference != 0);
        let full = if with_differences { (digits + 3).max(4) } else { digits.max(1) } + 2;
        let wide = full.max(headings.min(8) + 1);
        let bare = digits + 2;
        let count = self.columns.len() as i32;
        // Room is given first to differences, then to names of columns, then to a bar, then to wide cells.
        let short = full.max(headings.min(4) + 1);
        let bare_short = bare.max(headings.min(4) + 1);
        let some = &sums[..2];
        let layouts: [(&[i32], bool, &[Sum]); 4] = [
            (&[wide + 1, wide, short], with_differences, some),
            (&[full], with_differences, if with_differences { &sums } else { some }),
            (&[bare_short], false, some),
            (&[bare + 1, bare, digits + 1], false, &sums),
        ];
        for (pitches, differences, sums) in layouts {
            // Cells begin with a blank, so the blank after the names may go.
            for (&sum, names) in sums.iter().flat_map(|sum| [(sum, names), (sum, names - 1)]) {
                let fits = |pitch: &i32| names + count * pitch + sum.width() <= width;
                if let Some(pitch) = pitches.iter().copied().find(fits) {
                    return MatrixPlaces { names, pitch, differences, shown: self.columns.len(), sum };
                }
            }
        }
        // If the columns do not fit, keeps the sums as text and scrolls.
        let sum = if names + sums[1].width() + bare <= width { sums[1] } else { Sum::None };
        let pitch = digits + 1;
        let shown = ((width - names - sum.width()) / pitch).max(0) as usize;
        MatrixPlaces { names, pitch, differences: false, shown, sum }
    }

    fn draw_cell(
        &self,
        pen: &mut Pen<'_>,
        x: i32,
        y: i32,
        cell: &MatrixCell,
        places: MatrixPlaces,
        selected: bool,
    ) {
        // One blank column stays in front of every cell.
        let (x, width) = (x + 1, places.pitch - 1);
        let glyphs = pen.glyphs();
        let Some(value) = cell.value else {
            pen.glyph(x + width / 2, y, glyphs.inactive, self.theme.style(Tone::Rule));
            if selected {
                pen.paint(x, y, width, 1, self.theme.cursor());
            }
            return;
        };
        let ground = match cell.heat {
            Some(level) if self.theme.shades() => self.theme.style(Tone::Heat(level)),
            _ => self.theme.style(Tone::Text),
        };
        pen.line(x, y, width, " ", ground);
        let bold = ground.patch(Theme::bold());
        let end = if places.differences && width >= 5 { x + width - 3 } else { x + width };
        let end = if places.differences || width < 3 { end } else { end - 1 };
        let start = pen.right(end, y, &Num::of(format_args!("{value}")), bold);
        if places.differences && cell.difference != 0 {
            let difference = number::signed(f64::from(cell.difference), 0);
            pen.right(x + width, y, &difference, ground);
        }
        if selected {
            // The brackets are omitted if a mark occupies the column of the opening bracket.
            let is_free = cell.flag == CellFlag::Plan || start - 1 > x;
            let is_roomy = is_free && start > x && end < x + width;
            // Outside the edit layer, the shade around the number stays visible.
            if self.editing {
                pen.paint(x, y, width, 1, self.theme.cursor());
            } else if !is_roomy {
                let line = if self.theme.shades() {
                    Style::new().add_modifier(Modifier::UNDERLINED)
                } else {
                    self.theme.cursor()
                };
                pen.paint(x, y, width, 1, line);
            }
            if is_roomy {
                let ink = if self.editing { self.theme.cursor() } else { bold };
                pen.glyph(start - 1, y, "[", ink);
                pen.glyph(end, y, "]", ink);
            }
        }
        match cell.flag {
            CellFlag::Plan => {}
            CellFlag::Edited => pen.glyph(x, y, "*", self.theme.ink(Tone::Changed, true)),
            CellFlag::Refused => pen.glyph(x, y, "!", self.theme.ink(Tone::Bad, true)),
        }
    }

    fn draw_sum(&self, pen: &mut Pen<'_>, x: i32, y: i32, row: RowSum, sum: Sum) {
        let glyphs = pen.glyphs();
        let text = Self::sum_text(row);
        let over = row.used > row.limit;
        let free = row.limit.saturating_sub(row.used);
        let tone = if over {
            Tone::Bad
        } else if free > 0 {
            Tone::Good
        } else {
            Tone::Text
        };
        let style =
            self.theme.ink(if free > 0 && matches!(sum, Sum::Bar(_)) { Tone::Text } else { tone }, true);
        match sum {
            Sum::None => {}
            Sum::Text(width) => {
                pen.right(x + 2 + width, y, &text, style);
            }
            Sum::Bar(width) => {
                let share = if row.limit == 0 { 0.0 } else { f64::from(row.used) / f64::from(row.limit) };
                let full = ((share * f64::from(BAR)).round() as i32).clamp(0, BAR);
                pen.line(
                    x + 2,
                    y,
                    full,
                    glyphs.used,
                    self.theme.style(if over { Tone::Bad } else { Tone::Text }),
                );
                pen.line(x + 2 + full, y, BAR - full, glyphs.free, self.theme.style(Tone::Rule));
                let end = x + 3 + BAR + width;
                pen.right(end, y, &text, style);
                let tone = if free > 0 { Tone::Good } else { Tone::Muted };
                pen.right(end + 6, y, &Num::of(format_args!("{free}")), self.theme.style(tone));
            }
        }
        if over {
            pen.glyph(x, y, "!", self.theme.ink(Tone::Bad, true));
        }
    }

    fn draw_headings(&self, pen: &mut Pen<'_>, places: MatrixPlaces, state: &MatrixState) {
        let muted = self.theme.style(Tone::Muted);
        let end = self.columns.len().min(state.column_offset + places.shown);
        for (i, name) in (0..).zip(self.columns.get(state.column_offset..end).unwrap_or(&[])) {
            let x = places.names + i * places.pitch;
            let needed = i32::from(text::width(name, pen.glyphs())).min(places.pitch - 1);
            let chosen = state.selected.is_some_and(|(_, column)| column == state.column_offset + i as usize);
            let style = if chosen { self.theme.style(Tone::Answer) } else { muted };
            // The name ends above the last digit of the cells.
            let inset = i32::from(!places.differences && places.pitch > 3 && needed + 1 < places.pitch);
            pen.cut(x + places.pitch - needed - inset, 0, needed, name, Cut::Middle, style);
        }
        let x = places.names + places.shown as i32 * places.pitch;
        match places.sum {
            Sum::None => {}
            Sum::Text(width) => {
                pen.right(x + 2 + width, 0, "used", muted);
            }
            Sum::Bar(width) => {
                pen.text(x + 2, 0, "used", muted);
                pen.right(x + 3 + BAR + width + 6, 0, "free", muted);
            }
        }
    }

    /// Draws only the used amount and the limit, each added up over all rows, for areas that are too small for the
    /// matrix.
    fn draw_headline(&self, pen: &mut Pen<'_>) {
        let used: u64 = self.sums.iter().map(|sum| u64::from(sum.used)).sum();
        let limit: u64 = self.sums.iter().map(|sum| u64::from(sum.limit)).sum();
        let text = Num::of(format_args!("{used}/{limit}"));
        pen.cut(0, 0, pen.width(), &text, Cut::Whole, self.theme.style(Tone::Answer));
    }
}

impl StatefulWidget for &Matrix<'_> {
    type State = MatrixState;

    fn render(self, area: Rect, buf: &mut Buffer, state: &mut MatrixState) {
        state.hits.clear();
        let mut pen = Pen::new(buf, area, self.theme);
        if pen.is_empty() {
            return;
        }
        if area.width < Matrix::MIN_WIDTH || self.columns.is_empty() || self.rows.is_empty() {
            self.draw_headline(&mut pen);
            return;
        }
        let places = self.places(pen.width());
        let top = i32::from(pen.height() > 1);
        let height = (pen.height() - top) as usize;
        let (row_at, column_at) = (state.selected.map(|at| at.0), state.selected.map(|at| at.1));
        state.row_offset = scroll::follow(state.row_offset, row_at, height, self.rows.len());
        state.column_offset =
            scroll::follow(state.column_offset, column_at, places.shown, self.columns.len());
        if top > 0 {
            self.draw_headings(&mut pen, places, state);
        }
        let last_row = self.rows.len().min(state.row_offset + height);
        let last_column = self.columns.len().min(state.column_offset + places.shown);
        for row in state.row_offset..last_row {
            let y = top + (row - state.row_offset) as i32;
            let chosen = row_at == Some(row);
            let tone = if chosen { Tone::Answer } else { Tone::Text };
            pen.cut(0, y, places.names, &self.rows[row], Cut::Middle, self.theme.style(tone));
            for column in state.column_offset..last_column {
                let x = places.names + (column - state.column_offset) as i32 * places.pitch;
                let cell = self.cells.get(row * self.columns.len() + column).copied().unwrap_or_default();
                let selected = chosen && column_at == Some(column);
                self.draw_cell(&mut pen, x, y, &cell, places, selected);
                state.hits.push(pen.rect(x, y, places.pitch, 1), row as u32, column as u32);
            }
            if let Some(&sum) = self.sums.get(row) {
                let x = places.names + places.shown as i32 * places.pitch;
                self.draw_sum(&mut pen, x, y, sum, places.sum);
            }
        }
    }
}
