//! Stacked areas over time: the rates of the tasks on one link, exact to an eighth of a cell, below a line for its
//! circuits.
//!
//! Without colour every layer is filled with its letter.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::{Color, Style};
use ratatui_core::widgets::Widget;

use crate::axis::{Range, Scale};
use crate::number;
use crate::pen::{Label, Pen};
use crate::text::{self, Cut};
use crate::theme::{Theme, Tone};

/// One layer; layers are stacked from the bottom up.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StackLayer {
    /// Name of the layer, written into its longest run of full cells in a row.
    pub name: Label,
    /// Number of the layer's colour, 0 to 3.
    pub shade: u8,
    /// Character that fills the layer if colours are missing.
    pub letter: char,
    /// One amount per interval; NaN, infinite amounts and negative amounts count as 0.
    pub amounts: Vec<f64>,
}

/// A time marked by a vertical line.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StackMark {
    /// Time of the mark, seconds.
    pub at_s: f64,
    /// Text above the line, aligned with it.
    pub name: Label,
    /// Tone (meaning) of the mark, from which the theme chooses the colour.
    pub tone: Tone,
    /// `true` for a dotted line, which marks a reference.
    pub dotted: bool,
}

/// Stacked areas with a limit.
///
/// ```
/// # use lightbay_widgets::{GlyphSet, Stack, StackLayer, Theme, text_of};
/// # use ratatui_core::{buffer::Buffer, layout::Rect, widgets::Widget};
/// let theme = Theme::mono(GlyphSet::Ascii);
/// let layers = [
///     StackLayer { letter: 'a', amounts: vec![2.0, 1.0], ..StackLayer::default() },
///     StackLayer { letter: 'b', amounts: vec![0.0, 1.0], ..StackLayer::default() },
/// ];
/// let area = Rect::new(0, 0, 14, 5);
/// let mut buf = Buffer::empty(area);
/// Stack::new(&theme, &[0.0, 1.0, 2.0], &layers).limit(2.0, "2 circuits").render(area, &mut buf);
/// assert_eq!(text_of(&buf), "  2 circuits__\n  aaaaaabbbbbb\n0 aaaaaaaaaaaa\n  +-----+-----\n  0     1 s");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Stack<'a> {
    theme: &'a Theme,
    times_s: &'a [f64],
    layers: &'a [StackLayer],
    limit: Option<(f64, &'a str)>,
    cap: Option<f64>,
    marks: &'a [StackMark],
    top: Option<f64>,
    span_s: Option<(f64, f64)>,
    selected: Option<usize>,
    letters: bool,
}

/// Scale from amounts to rows.
#[derive(Clone, Copy)]
struct Rows {
    /// Number of rows of the plot, without the row above the plot in which the limit is named.
    count: i32,
    per_unit: f64,
}

/// Content of one cell: the layer in its lower part, the layer above, and the height of the lower part in eighths.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Split {
    lower: Option<usize>,
    upper: Option<usize>,
    eighths: usize,
}

impl<'a> Stack<'a> {
    /// Width below which only the limit is written.
    pub const MIN_WIDTH: u16 = 12;
    /// Height below which only the limit is written.
    pub const MIN_HEIGHT: u16 = 4;

    /// Creates a chart of these layers. `times_s` has the boundaries of the intervals in ascending order: one more than
    /// there are intervals.
    pub const fn new(theme: &'a Theme, times_s: &'a [f64], layers: &'a [StackLayer]) -> Self {
        Self {
            theme,
            times_s,
            layers,
            limit: None,
            cap: None,
            marks: &[],
            top: None,
            span_s: None,
            selected: None,
            letters: false,
        }
    }

    /// Sets the limit for the sum of the layers, and the name of the limit. The limit is drawn as a line.
    #[must_use]
    pub const fn limit(mut self, limit: f64, name: &'a str) -> Self {
        self.limit = Some((limit, name));
        self
    }

    /// Sets a fainter line below the limit, at the maximum amount that a single layer may have. Areas are drawn over
    /// this line.
    #[must_use]
    pub const fn cap(mut self, cap: Option<f64>) -> Self {
        self.cap = cap;
        self
    }

    /// Sets the times to mark.
    #[must_use]
    pub const fn marks(mut self, marks: &'a [StackMark]) -> Self {
        self.marks = marks;
        self
    }

    /// Sets the amount at the top, so that two stacks side by side share an axis.
    #[must_use]
    pub const fn top(mut self, top: f64) -> Self {
        self.top = Some(top);
        self
    }

    /// Sets the displayed time, so that two stacks side by side share an axis.
    #[must_use]
    pub const fn span_s(mut self, from_s: f64, to_s: f64) -> Self {
        self.span_s = Some((from_s, to_s));
        self
    }

    /// Sets the layer whose name is bold.
    #[must_use]
    pub const fn selected(mut self, layer: Option<usize>) -> Self {
        self.selected = layer;
        self
    }

    /// Sets whether the letter of a layer stands for its name where the name does not fit.
    #[must_use]
    pub const fn letters(mut self, letters: bool) -> Self {
        self.letters = letters;
        self
    }

    fn amount(&self, layer: usize, interval: usize) -> f64 {
        let amount =
            self.layers.get(layer).and_then(|layer| layer.amounts.get(interval)).copied().unwrap_or(0.0);
        if amount.is_finite() { amount.max(0.0) } else { 0.0 }
    }

    fn scale(&self, rows: i32) -> Rows {
        let intervals = self.times_s.len().saturating_sub(1);
        let sum = |interval| (0..self.layers.len()).map(|layer| self.amount(layer, interval)).sum::<f64>();
        let limit = self.limit.map_or(0.0, |limit| limit.0).max(0.0);
        let limit = if limit.is_finite() { limit } else { 0.0 };
        let wish = self.top.filter(|top| top.is_finite()).unwrap_or(0.0);
        let top = (0..intervals).map(sum).fold(limit.max(wish), f64::max);
        if top <= 0.0 || !top.is_finite() {
            return Rows { count: rows, per_unit: 0.0 };
        }
        // The limit is exactly on an edge between two rows. A rounded sum just above the limit does not cost a row.
        let edge = (limit / top * f64::from(rows) + 1e-6).floor();
        // The line of a single layer is on an edge too, unless that would cost a third of the rows.
        let step =
            self.cap.filter(|cap| *cap > 0.0 && *cap < limit).map_or(1.0, |cap| rows_of_limit(limit, cap));
        let whole = (edge / step).floor() * step;
        let edge = if whole * 3.0 >= edge * 2.0 { whole } else { edge };
        let per_unit = if edge >= 1.0 { edge / limit } else { f64::from(rows) / top };
        // Rows that no amount reaches are left out above.
        Rows { count: rows.min((top * per_unit - 1e-6).ceil() as i32), per_unit }
    }

    /// Returns the maximum amount of a single layer, and the row at whose lower edge its line is drawn; `None` if no
    /// such amount is set, or if its line is on the axis, inside a row or above the plot.
    fn cap_row(&self, rows: Rows) -> Option<(f64, i32)> {
        let cap = self.cap.filter(|cap| cap.is_finite() && *cap > 0.0)?;
        let height = cap * rows.per_unit;
        let up = height.round() as i32;
        let is_on_edge = (height - height.round()).abs() < 1e-6;
        (is_on_edge && up > 0 && up <= rows.count).then_some((cap, rows.count - up))
    }

    fn range(&self) -> Range {
        match self.span_s {
            Some((from, to)) => Range::new(from, to, Scale::Linear),
            None => Range::of(self.times_s.iter().copied(), Scale::Linear),
        }
    }

    /// Returns the index of the interval in the middle of a column.
    fn interval(&self, column: i32, width: i32, range: Range) -> Option<usize> {
        let share = (f64::from(column) + 0.5) / f64::from(width);
        let time = range.low + share * (range.high - range.low);
        let after = self.times_s.partition_point(|end| *end <= time);
        (after > 0 && after < self.times_s.len()).then(|| after - 1)
    }

    /// Returns the content of the cell `up` rows above the axis in an interval.
    fn split(&self, interval: usize, up: i32, rows: Rows) -> Split {
        let (low, high) = (f64::from(up), f64::from(up + 1));
        let none = Split { lower: None, upper: None, eighths: 0 };
        // The two largest parts of the cell, in order from the bottom.
        let (mut first, mut second) = ((0.0, None, 0usize), (0.0, None, 0usize));
        let mut place = |share: f64, layer: Option<usize>, order: usize| {
            if share > first.0 {
                second = first;
                first = (share, layer, order);
            } else if share > second.0 {
                second = (share, layer, order);
            }
        };
        let mut ground = 0.0;
        for layer in 0..self.layers.len() {
            let above = ground + self.amount(layer, interval) * rows.per_unit;
            place(above.min(high) - f64::max(ground, low), Some(layer), layer);
            ground = above;
        }
        place(high - f64::max(ground, low), None, self.layers.len());
        let (lower, upper) =
            if first.2 <= second.2 || second.0 <= 0.0 { (first, second) } else { (second, first) };
        let whole = lower.0 + upper.0.max(0.0);
        if whole <= 0.0 {
            return none;
        }
        let eighths = if upper.0 <= 0.0 { 8 } else { (lower.0 / whole * 8.0).round() as usize };
        Split { lower: lower.1, upper: if eighths >= 8 { None } else { upper.1 }, eighths }
    }

    fn ground_of(&self, layer: usize) -> (Style, char) {
        let (shade, letter) = self.layers.get(layer).map_or((0, ' '), |layer| (layer.shade, layer.letter));
        (self.theme.style(Tone::Stack(shade)), letter)
    }

    fn draw_cell(&self, pen: &mut Pen<'_>, x: i32, y: i32, split: Split) {
        if !self.theme.shades() {
            let owner = if split.eighths >= 4 { split.lower } else { split.upper };
            if let Some(layer) = owner
                && let Some(cell) = pen.cell(x, y)
            {
                let letter = self.ground_of(layer).1;
                cell.set_char(if letter.is_ascii_graphic() { letter } else { '#' });
            }
            return;
        }
        let colour = |layer: Option<usize>| layer.and_then(|layer| self.ground_of(layer).0.bg);
        match (split.eighths, colour(split.lower), colour(split.upper)) {
            (8.., Some(lower), _) => pen.glyph(x, y, " ", Style::new().bg(lower)),
            (0, _, Some(upper)) => pen.glyph(x, y, " ", Style::new().bg(upper)),
            (1..=7, Some(lower), upper) => {
                let style = Style::new().fg(lower).bg(upper.unwrap_or(Color::Reset));
                pen.glyph(x, y, pen.glyphs().eighths[split.eighths - 1], style);
            }
            _ => {}
        }
    }

    /// Writes the name of a layer into its longest run of full cells in a row.
    fn draw_name(&self, pen: &mut Pen<'_>, layer: usize, rows: Rows, range: Range) {
        let Some(StackLayer { name, letter, .. }) = self.layers.get(layer) else { return };
        let width = pen.width();
        let needed = i32::from(text::width(name, pen.glyphs()));
        if needed == 0 {
            return;
        }
        let mut sign = [0; 4];
        let mut best: Option<(i32, i32, i32)> = None;
        let mut same = 0;
        for up in (0..rows.count).rev() {
            let mut start = None;
            for x in 0..=width {
                let own = x < width
                    && self.interval(x, width, range).is_some_and(|interval| {
                        let split = self.split(interval, up, rows);
                        split.lower == Some(layer) && split.eighths >= 8
                    });
                match (own, start) {
                    (true, None) => start = Some(x),
                    (false, Some(from)) => {
                        let length = x - from;
                        let longest = best.map_or(0, |best| best.2);
                        if length > longest {
                            best = Some((up, from, length));
                            same = 0;
                        } else if best.is_some_and(|best| best.2 == length && best.1 == from) {
                            same += 1;
                        }
                        start = None;
                    }
                    _ => {}
                }
            }
        }
        let longest = best.map_or(0, |best| best.2);
        let is_short = longest < needed + 2 && self.letters && self.theme.shades();
        let (name, needed) = if is_short { (&*letter.encode_utf8(&mut sign), 1) } else { (&**name, needed) };
        let margin = if is_short { 0 } else { 2 };
        if let Some((up, from, length)) = best.filter(|best| best.2 >= needed + margin) {
            // The middle of an area several rows high.
            let y = rows.count - up + same / 2;
            let (style, _) = self.ground_of(layer);
            let bold = self.selected == Some(layer);
            let style = if bold { style.patch(Theme::bold()) } else { style };
            let style = if self.theme.shades() { style } else { self.theme.ink(Tone::Text, bold) };
            if !self.theme.shades() {
                pen.line(from + (length - needed) / 2 - 1, y, needed + 2, " ", style);
            }
            pen.text(from + (length - needed) / 2, y, name, style);
        }
    }

    /// Returns the first column of the plot.
    fn left(&self) -> u16 {
        let limit = self.limit.map(|limit| limit.0).filter(|limit| limit.is_finite() && *limit >= 0.0);
        let text = limit.map(|limit| number::fit(limit, 0, 6)).unwrap_or_default();
        (text.len() as u16).max(1) + 1
    }

    /// Returns the columns of the time axis in an area; `None` if the area is too small.
    pub fn axis_place(&self, area: Rect) -> Option<Rect> {
        let left = self.left();
        let fits = area.width >= Stack::MIN_WIDTH.max(left + 1) && area.height >= Stack::MIN_HEIGHT;
        fits.then(|| Rect { x: area.x + left, width: area.width - left, ..area })
    }

    fn draw_time_axis(&self, pen: &mut Pen<'_>, left: i32, y: i32, range: Range) {
        let width = pen.width() - left;
        let glyphs = pen.glyphs();
        let (rule, muted) = (self.theme.style(Tone::Rule), self.theme.style(Tone::Muted));
        pen.line(left, y, width, glyphs.edge, rule);
        let ticks = range.ticks((width / 9).max(2) as usize);
        let mut free_from = left;
        let mut first = true;
        for value in ticks.clone() {
            let Some(share) = range.share(value) else { continue };
            let at = left + (share * f64::from(width)).round() as i32;
            if at >= left + width {
                continue;
            }
            pen.glyph(at, y, glyphs.tick, rule);
            let label = ticks.label(value);
            let size = label.len() as i32;
            let start = (at - size / 2).max(left);
            if start >= free_from && start + size <= left + width {
                pen.text(start, y + 1, &label, muted);
                free_from = start + size + 2;
                if first && free_from < left + width {
                    // The unit is written once, after the first number.
                    first = false;
                }
            }
        }
        if !first && free_from <= left + width {
            pen.text(free_from - 1, y + 1, "s", muted);
        }
    }
}

/// Returns the smallest number of rows up to the limit with which `cap` is a whole number of rows; 1 if there are none.
fn rows_of_limit(limit: f64, cap: f64) -> f64 {
    (1..=64).map(f64::from).find(|rows| cap * rows % limit == 0.0).unwrap_or(1.0)
}

impl Widget for &Stack<'_> {
    fn render(self, area: Rect, buf: &mut Buffer) {
        let mut pen = Pen::new(buf, area, self.theme);
        if pen.is_empty() {
            return;
        }
        let limit_name = self.limit.map_or("", |limit| limit.1);
        if area.width < Stack::MIN_WIDTH || area.height < Stack::MIN_HEIGHT {
            pen.cut(0, 0, pen.width(), limit_name, Cut::End, self.theme.style(Tone::Answer));
            return;
        }
        // Two rows for the time axis, one above the plot for the limit line, and one for names where there is room.
        let head = i32::from(pen.height() >= 10);
        let rows = self.scale(pen.height() - 3 - head);
        let range = self.range();
        let muted = self.theme.style(Tone::Muted);
        let limit = self.limit.map(|limit| limit.0).filter(|limit| limit.is_finite() && *limit >= 0.0);
        let limit_row = limit.map(|limit| rows.count - (limit * rows.per_unit).round() as i32);
        let limit_text = limit.map(|limit| number::fit(limit, 0, 6)).unwrap_or_default();
        let left = i32::from(self.left());
        let width = pen.width() - left;
        // Names are above the limit line, or on it at the top of the area.
        let name_row = (head + limit_row.unwrap_or(0) - 1).max(0);
        if let Some(row) = limit_row {
            // In the row of its name, the limit has no number.
            if name_row < head + row || limit_name.is_empty() {
                pen.right(left - 1, head + row, &limit_text, self.theme.style(Tone::Answer));
            }
            let height = rows.count - row;
            if let Some((cap, line)) = self.cap_row(rows).filter(|(_, line)| *line > row) {
                pen.right(left - 1, head + line, &number::fit(cap, 0, 6), muted);
            } else if let Some(limit) = limit.filter(|_| height >= 6 && height % 2 == 0) {
                let decimals = usize::from(limit % 2.0 != 0.0);
                pen.right(left - 1, head + row + height / 2, &number::fixed(limit / 2.0, decimals), muted);
            }
        }
        pen.right(left - 1, head + rows.count, "0", muted);
        let mut plot = pen.part(left, head, width, rows.count + 1);
        if let Some((_, line)) =
            self.cap_row(rows).filter(|(_, line)| limit_row.is_none_or(|row| *line > row))
        {
            plot.line(0, line, width, plot.glyphs().limit, self.theme.style(Tone::Rule));
        }
        for x in 0..width {
            let Some(interval) = self.interval(x, width, range) else { continue };
            for up in 0..rows.count {
                let split = self.split(interval, up, rows);
                self.draw_cell(&mut plot, x, rows.count - up, split);
            }
        }
        let glyphs = plot.glyphs();
        if let Some(row) = limit_row {
            plot.line(0, row, width, glyphs.limit, self.theme.style(Tone::Text));
        }
        for mark in self.marks {
            let Some(share) = range.share(mark.at_s).filter(|share| (0.0..=1.0).contains(share)) else {
                continue;
            };
            let at = ((share * f64::from(width)).round() as i32).min(width - 1);
            let glyph = if mark.dotted { glyphs.vertical_dotted } else { glyphs.vertical };
            let interval = self.interval(at, width, range).filter(|_| self.theme.shades());
            for y in limit_row.map_or(0, |row| row + 1)..=rows.count {
                // The exact end of an area stays visible.
                let split = interval.map(|interval| self.split(interval, rows.count - y, rows));
                if split.is_none_or(|split| !(1..8).contains(&split.eighths)) {
                    plot.glyph(at, y, glyph, self.theme.style(mark.tone));
                }
            }
        }
        for layer in 0..self.layers.len() {
            self.draw_name(&mut plot, layer, rows, range);
        }
        let mut names = pen.part(left, 0, width, rows.count);
        let used = names.cut(0, name_row, width, limit_name, Cut::End, self.theme.style(Tone::Text));
        let mut free_to = width;
        for mark in self.marks.iter().rev() {
            let needed = i32::from(text::width(&mark.name, glyphs));
            let Some(share) = range.share(mark.at_s).filter(|share| (0.0..=1.0).contains(share)) else {
                continue;
            };
            let end = ((share * f64::from(width)).round() as i32 + 1).min(free_to);
            if needed > 0 && end - needed > used + 1 {
                names.right(end, name_row, &mark.name, self.theme.ink(mark.tone, true));
                free_to = end - needed - 2;
            }
        }
        self.draw_time_axis(&mut pen, left, head + rows.count + 1, range);
    }
}
