//! Grid of tasks by intervals: the rate of each task, waiting tasks, and full links.
//!
//! Columns are the intervals between events, equal in width or drawn to scale. The digit in a cell is the amount (rate)
//! of the task, and the shade is the amount per flow; `0` means that the task is paused, `·` that it is not active. A
//! capacity row below the tasks of a link has heavy lines where the link is full.

use std::ops::Range;

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::Style;
use ratatui_core::widgets::StatefulWidget;

use crate::hit::Hits;
use crate::number;
use crate::pen::{Label, Pen};
use crate::scroll;
use crate::text::{self, Cut};
use crate::theme::{Theme, Tone};

/// One column: the time between two events.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Interval {
    /// Start of the interval, seconds.
    pub start_s: f64,
    /// Length of the interval, seconds.
    pub length_s: f64,
}

/// Kind of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ActivityKind {
    /// The row shows a task, and can be selected.
    #[default]
    Task,
    /// The row shows the load of a link, compared with the limit of its circuits.
    Capacity,
}

/// One row of the grid.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ActivityRow {
    /// Id that is reported when the row is clicked, and kept as the selection.
    pub id: u32,
    /// Kind of the row.
    pub kind: ActivityKind,
    /// Name of the task; in the row of a link, the number of circuits, such as `of 3`.
    pub name: Label,
    /// Tone (meaning) of the task, from which the theme chooses the colour.
    pub tone: Tone,
    /// `true` if the task is on the critical path: it is marked with `*`.
    pub critical: bool,
    /// Index of the interval of the first amount.
    pub first: usize,
    /// One amount per interval from `first` on: 0 while the task is paused, NaN while it is not active.
    pub amounts: Vec<f64>,
    /// The amount that gets the strongest shade (1 for each flow of the task), or the limit of a link.
    pub full: f64,
    /// Intervals in which the task may be active.
    pub window: Option<Range<usize>>,
}

impl ActivityRow {
    /// Returns the amount in an interval; `None` if the task is not active.
    pub fn amount(&self, interval: usize) -> Option<f64> {
        let amount = *self.amounts.get(interval.checked_sub(self.first)?)?;
        amount.is_finite().then_some(amount)
    }
}

/// Widths of the columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ActivityScale {
    /// All columns have equal widths, so that every interval is readable.
    #[default]
    Equal,
    /// This many intervals share the width in proportion to their lengths in time; each column is at least one cell
    /// wide.
    Proportional(usize),
}

/// State of the grid, kept from frame to frame.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ActivityState {
    /// Id of the selected task.
    pub selected: Option<u32>,
    /// Index of the selected interval.
    pub interval: Option<usize>,
    /// Index of the first row shown.
    pub row_offset: usize,
    /// Index of the first interval shown.
    pub column_offset: usize,
    /// Rows shown by the last draw.
    pub rows: Range<usize>,
    /// Intervals shown by the last draw.
    pub columns: Range<usize>,
    /// Clickable cells: the `id` of a hit is the id of the row, `part` is the index of the interval.
    pub hits: Hits,
    /// First cell and width of each visible column after the names; set by drawing.
    pub places: Vec<(i32, i32)>,
}

impl ActivityState {
    /// Moves the selection by `steps` tasks, stopping at the ends.
    pub fn step(&mut self, rows: &[ActivityRow], steps: i32) {
        let choices = || rows.iter().filter(|row| row.kind == ActivityKind::Task);
        let at = choices().position(|row| Some(row.id) == self.selected);
        self.selected = scroll::stepped(at, choices().count(), steps)
            .and_then(|index| choices().nth(index))
            .map(|row| row.id);
    }
}

/// Returns the width of the names, including one column in front for the selection and one after them for the mark of
/// the critical path: at least 10 columns, but at most a third of the width.
fn names_width(longest: i32, width: i32) -> i32 {
    (longest + 2).max(10).min(width / 3)
}

/// Returns the distance between columns of equal width: 8 if all columns then fit or `room` is 40 to 71 columns,
/// because wide cells are easier to read, otherwise 6.
fn pitch(room: i32, count: usize) -> i32 {
    if (40..72).contains(&room) || count as i32 * 8 <= room { 8 } else { 6 }
}

/// The grid.
///
/// ```
/// # use lightbay_widgets::{Activity, ActivityRow, ActivityState, GlyphSet, Interval, Theme, text_of};
/// # use ratatui_core::{buffer::Buffer, layout::Rect, widgets::StatefulWidget};
/// let theme = Theme::mono(GlyphSet::Ascii);
/// let intervals = [
///     Interval { start_s: 12.26, length_s: 0.1556 },
///     Interval { start_s: 12.41, length_s: 0.2631 },
/// ];
/// let rows = [ActivityRow {
///     id: 7, name: "DP s1".into(), first: 1, amounts: vec![4.0], full: 4.0, ..ActivityRow::default()
/// }];
/// let mut state = ActivityState { selected: Some(7), ..ActivityState::default() };
/// let area = Rect::new(0, 0, 30, 3);
/// let mut buf = Buffer::empty(area);
/// Activity::new(&theme, &intervals, &rows).render(area, &mut buf, &mut state);
/// assert_eq!(text_of(&buf), "starts s    12.26   12.41\nlasts ms    155.6   263.1\n>DP s1       .    [  4.0]");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Activity<'a> {
    theme: &'a Theme,
    intervals: &'a [Interval],
    rows: &'a [ActivityRow],
    scale: ActivityScale,
    windows: bool,
}

impl<'a> Activity<'a> {
    /// Below this size only the selected task is named.
    pub const MIN_WIDTH: u16 = 24;
    /// Below this size only the selected task is named.
    pub const MIN_HEIGHT: u16 = 3;

    /// Creates a grid with these intervals as columns, in order of time, and these rows, from top to bottom.
    pub const fn new(theme: &'a Theme, intervals: &'a [Interval], rows: &'a [ActivityRow]) -> Self {
        Self { theme, intervals, rows, scale: ActivityScale::Equal, windows: false }
    }

    /// Sets the widths of the columns.
    #[must_use]
    pub const fn scale(mut self, scale: ActivityScale) -> Self {
        self.scale = scale;
        self
    }

    /// Sets whether the intervals in which each task may be active are shown.
    #[must_use]
    pub const fn windows(mut self, windows: bool) -> Self {
        self.windows = windows;
        self
    }

    fn name_width(&self, width: i32) -> i32 {
        let glyphs = self.theme.glyphs;
        let name = |row: &ActivityRow| i32::from(text::width(&row.name, glyphs));
        names_width(self.rows.iter().map(name).max().unwrap_or(0), width)
    }

    /// Returns the number of intervals of equal width, from 1 to `count`, for which an area of `width` columns has
    /// room; the longest name takes `longest` columns. Callers show only the rows that are active in the visible
    /// intervals.
    pub fn fitting(width: u16, longest: u16, count: usize) -> usize {
        let width = i32::from(width);
        let room = width - names_width(i32::from(longest), width);
        (((room + 1) / pitch(room, count)).max(1) as usize).min(count)
    }

    /// Chooses the visible intervals and their positions, and stores them in the state.
    fn place_columns(&self, room: i32, state: &mut ActivityState) {
        state.places.clear();
        let count = self.intervals.len();
        match self.scale {
            ActivityScale::Equal => {
                let pitch = pitch(room, count);
                let fitting = ((room + 1) / pitch).max(1) as usize;
                state.column_offset = scroll::follow(state.column_offset, state.interval, fitting, count);
                let shown = fitting.min(count - state.column_offset);
                state.columns = state.column_offset..state.column_offset + shown;
                state
                    .places
                    .extend((0..shown as i32).map(|i| (i * pitch, (pitch - 1).min(room - i * pitch))));
            }
            ActivityScale::Proportional(span) => {
                let fitting = span.clamp(1, room.max(1) as usize);
                state.column_offset = scroll::follow(state.column_offset, state.interval, fitting, count);
                let shown = fitting.min(count - state.column_offset);
                state.columns = state.column_offset..state.column_offset + shown;
                let intervals = &self.intervals[state.columns.clone()];
                let length = |interval: &Interval| {
                    if interval.length_s.is_finite() { interval.length_s.max(0.0) } else { 0.0 }
                };
                let total: f64 = intervals.iter().map(length).sum();
                // Every interval gets one cell; the remaining cells are distributed by length in time.
                let spare = f64::from(room - shown as i32).max(0.0);
                let (mut before, mut from) = (0.0, 0);
                for (i, interval) in (1..).zip(intervals) {
                    before += length(interval);
                    let share = if total > 0.0 { before / total } else { f64::from(i) / shown as f64 };
                    let to = i + (share * spare).round() as i32;
                    let gap = i32::from(to - from >= 4);
                    state.places.push((from, to - from - gap));
                    from = to;
                }
            }
        }
    }

    /// Returns the number of decimals of the starts: at least two, and up to four if starts are equal otherwise and all
    /// of them fit.
    fn start_decimals(&self, state: &ActivityState) -> usize {
        let shown = self.intervals.get(state.columns.clone()).unwrap_or(&[]);
        let width = state.places.iter().map(|place| place.1.max(5) as usize).min().unwrap_or(5);
        let text = |interval: &Interval, decimals| number::fixed(interval.start_s, decimals);
        let fits = |decimals: &usize| shown.iter().all(|one| text(one, *decimals).len() <= width);
        let differ = |decimals: &usize| {
            shown.windows(2).all(|pair| *text(&pair[0], *decimals) != *text(&pair[1], *decimals))
        };
        let most = (2..=4).rev().find(fits).or_else(|| (0..2).rev().find(fits)).unwrap_or(0);
        (2..=most).find(differ).unwrap_or(most)
    }

    fn draw_heads(&self, pen: &mut Pen<'_>, left: i32, state: &ActivityState) {
        let muted = self.theme.style(Tone::Muted);
        pen.cut(0, 0, left - 1, "starts s", Cut::Whole, muted);
        let proportional = matches!(self.scale, ActivityScale::Proportional(_));
        // To scale, lengths may not fit anywhere.
        let has_lengths = !proportional || state.places.iter().any(|place| place.1 >= 5);
        if has_lengths {
            pen.cut(0, 1, left - 1, "lasts ms", Cut::Whole, muted);
        }
        let decimals = self.start_decimals(state);
        let mut free_from = left;
        for (interval, &(x, width)) in state.columns.clone().zip(&state.places) {
            let Some(data) = self.intervals.get(interval) else { continue };
            let chosen = state.interval == Some(interval);
            let (start_style, length_style) = if chosen {
                (self.theme.style(Tone::Answer), self.theme.style(Tone::Answer))
            } else {
                (muted, self.theme.style(Tone::Text))
            };
            let end = left + x + width;
            let start = number::fixed(data.start_s, decimals);
            if proportional {
                // To scale, a start is written at its place.
                let size = start.len() as i32;
                if left + x >= free_from && left + x + size <= pen.width() {
                    pen.text(left + x, 0, &start, start_style);
                    free_from = left + x + size + 2;
                }
            } else if start.len() as i32 <= width {
                pen.right(end, 0, &start, start_style);
            }
            if width >= 5 {
                let length = number::fit(data.length_s * 1e3, 1, width as usize);
                if length.len() as i32 <= width {
                    pen.right(end, 1, &length, length_style);
                }
            } else if has_lengths && proportional && width <= 1 {
                // The interval is drawn wider than its length in time, which the dotted line shows.
                pen.glyph(left + x, 1, pen.glyphs().vertical_dotted, muted);
            } else if has_lengths && chosen {
                pen.line(left + x, 1, width, pen.glyphs().used, length_style);
            }
        }
    }

    fn draw_task(&self, pen: &mut Pen<'_>, left: i32, y: i32, row: &ActivityRow, state: &ActivityState) {
        let selected = state.selected == Some(row.id);
        let glyphs = pen.glyphs();
        let rule = self.theme.style(Tone::Rule);
        // Narrow cells of one amount in a row have one digit, so that they do not read as a number.
        let mut before = None;
        for (interval, &(x, width)) in state.columns.clone().zip(&state.places) {
            let x = left + x;
            let amount = row.amount(interval);
            let repeats = width < 3 && amount.is_some() && amount == before && self.theme.shades();
            before = amount;
            let inside =
                row.window.as_ref().filter(|_| self.windows).map(|window| window.contains(&interval));
            match (amount, inside) {
                (Some(amount), _) => {
                    self.draw_amount(&mut pen.part(x, y, width, 1), amount, row.full, selected);
                    if repeats && let Some(cell) = pen.cell(x, y) {
                        cell.set_char(' ');
                    }
                }
                (None, None) => pen.glyph(x + width / 2, y, glyphs.inactive, rule),
                (None, Some(true)) => {
                    let margin = i32::from(width >= 5);
                    pen.line(x + margin, y, width - 2 * margin, glyphs.window, rule);
                }
                (None, Some(false)) => {}
            }
            if selected && state.interval == Some(interval) {
                pen.paint(x, y, width, 1, self.theme.cursor());
            }
        }
    }

    /// Draws one cell; the area of the pen is the cell.
    fn draw_amount(&self, pen: &mut Pen<'_>, amount: f64, full: f64, bold: bool) {
        let width = pen.width();
        let shades = self.theme.shades();
        let level = if full > 0.0 { Theme::heat_level(amount / full) } else { 0 };
        let style = if shades { self.theme.style(Tone::Heat(level)) } else { Style::new() };
        let style = if bold { style.patch(Theme::bold()) } else { style };
        pen.line(0, 0, width, " ", style);
        let held = amount <= 0.0;
        if width < 3 {
            // One digit for a narrow cell, a sign for amounts above nine. A shade alone is an amount between two digits.
            if shades && (amount - amount.round()).abs() > 0.05 {
                return;
            }
            let digit = [if amount.round() > 9.0 { b'+' } else { b'0' + amount.round().max(0.0) as u8 }];
            pen.text(0, 0, std::str::from_utf8(&digit).unwrap_or("?"), style);
            return;
        }
        if !shades {
            pen.glyph(0, 0, "[", style);
            pen.glyph(width - 1, 0, "]", style);
        }
        let room = (width - 2).max(1) as usize;
        if held && width >= if shades { 7 } else { 8 } {
            pen.right(width - 1, 0, "paused", style);
        } else if held {
            pen.right(width / 2 + 1, 0, "0", style);
        } else {
            // Without brackets a number of four characters may start at the edge.
            let room = if shades { room + 1 } else { room };
            let num = number::fit(amount, 1, room);
            let is_exact = num.contains('.') || num.contains('k') || (amount - amount.round()).abs() <= 0.05;
            if num.len() <= room && (is_exact || !shades) {
                pen.right(width - 1, 0, &num, style);
            }
        }
    }

    fn draw_capacity(&self, pen: &mut Pen<'_>, left: i32, y: i32, row: &ActivityRow, state: &ActivityState) {
        let glyphs = pen.glyphs();
        for (interval, &(x, width)) in state.columns.clone().zip(&state.places) {
            let Some(amount) = row.amount(interval).filter(|amount| *amount > 0.0) else { continue };
            let x = left + x;
            let full = amount >= row.full - 1e-9;
            let (glyph, line, digit) = if full {
                (glyphs.used, Tone::Text, Tone::Text)
            } else {
                (glyphs.free, Tone::Rule, Tone::Muted)
            };
            pen.line(x, y, width, glyph, self.theme.style(line));
            let decimals = usize::from((amount - amount.round()).abs() > 0.05);
            let num = number::fit(amount, decimals, (width - 2).max(0) as usize);
            let size = num.len() as i32;
            if size + 2 <= width {
                let end = if size + 4 <= width { x + width - 1 } else { x + width };
                pen.line(end - size - 2, y, size + 2, " ", Style::new());
                pen.right(end - 1, y, &num, self.theme.style(digit));
            }
        }
    }

    fn draw_name(&self, pen: &mut Pen<'_>, y: i32, left: i32, row: &ActivityRow, selected: bool) {
        if row.kind == ActivityKind::Capacity {
            pen.cut(2, y, left - 2, &row.name, Cut::Middle, self.theme.style(Tone::Muted));
            return;
        }
        let style = if selected {
            pen.glyph(0, y, ">", self.theme.style(Tone::Answer));
            self.theme.style(Tone::Answer)
        } else {
            self.theme.ink(row.tone, row.critical)
        };
        let used = pen.cut(1, y, left - 2, &row.name, Cut::Middle, style);
        if row.critical {
            pen.glyph(1 + used, y, "*", self.theme.style(Tone::Answer));
        }
    }
}

impl StatefulWidget for &Activity<'_> {
    type State = ActivityState;

    fn render(self, area: Rect, buf: &mut Buffer, state: &mut ActivityState) {
        state.hits.clear();
        state.rows = 0..0;
        state.columns = 0..0;
        let mut pen = Pen::new(buf, area, self.theme);
        if pen.is_empty() {
            return;
        }
        let at =
            self.rows.iter().position(|row| row.kind == ActivityKind::Task && Some(row.id) == state.selected);
        if area.width < Activity::MIN_WIDTH || area.height < Activity::MIN_HEIGHT {
            let name = at.and_then(|at| self.rows.get(at)).map_or("", |row| &row.name);
            pen.cut(0, 0, pen.width(), name, Cut::Middle, self.theme.style(Tone::Answer));
            return;
        }
        let left = self.name_width(pen.width());
        self.place_columns(pen.width() - left, state);
        self.draw_heads(&mut pen, left, state);
        let top = 2;
        let height = (pen.height() - top) as usize;
        state.row_offset = scroll::follow(state.row_offset, at, height, self.rows.len());
        let end = (state.row_offset + height).min(self.rows.len());
        state.rows = state.row_offset..end;
        for (y, row) in (top..).zip(self.rows.get(state.row_offset..end).unwrap_or(&[])) {
            let selected = row.kind == ActivityKind::Task && Some(row.id) == state.selected;
            self.draw_name(&mut pen, y, left, row, selected);
            match row.kind {
                ActivityKind::Capacity => self.draw_capacity(&mut pen, left, y, row, state),
                ActivityKind::Task => {
                    self.draw_task(&mut pen, left, y, row, state);
                    let first = state.columns.start as u32;
                    state.hits.push(
                        pen.rect(0, y, left, 1),
                        row.id,
                        state.interval.map_or(first, |at| at as u32),
                    );
                    for (interval, &(x, width)) in state.columns.clone().zip(&state.places) {
                        state.hits.push(pen.rect(left + x, y, width, 1), row.id, interval as u32);
                    }
                }
            }
        }
        let shown = state.columns.end - state.columns.start;
        if shown == 0 {
            pen.cut(left, 0, pen.width() - left, "no intervals", Cut::End, self.theme.style(Tone::Muted));
        }
    }
}
