//! Bars in order of their values, with one line through all of them: what nothing can be better than.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::widgets::StatefulWidget;

use crate::hit::Hits;
use crate::number;
use crate::pen::{Label, Pen};
use crate::text::{self, Cut};
use crate::theme::{Theme, Tone};

/// One bar.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RankedRow {
    /// Reported when it is hit.
    pub id: u32,
    /// Its name.
    pub name: Label,
    /// Its value.
    pub value: f64,
    /// Written behind it.
    pub right: Label,
    /// Meaning of the bar.
    pub tone: Tone,
    /// Name and value in bold.
    pub bold: bool,
}

/// The bars. A bar longer than the scale ends in an arrow.
///
/// ```
/// # use lightbay_widgets::{GlyphSet, Hits, Ranked, RankedRow, Theme, Tone, text_of};
/// # use ratatui_core::{buffer::Buffer, layout::Rect, widgets::StatefulWidget};
/// let theme = Theme::mono(GlyphSet::Ascii);
/// let row = |name: &'static str, value| RankedRow { name: name.into(), value, ..RankedRow::default() };
/// let rows = [row("exact", 4.0), row("scratch", 20.0)];
/// let area = Rect::new(0, 0, 22, 2);
/// let mut buf = Buffer::empty(area);
/// Ranked::new(&theme, &rows, 8.0).line(Some(2.0)).render(area, &mut buf, &mut Hits::default());
/// assert_eq!(text_of(&buf), "  exact     4 ##:#\n  scratch  20 ##:####>");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Ranked<'a> {
    theme: &'a Theme,
    rows: &'a [RankedRow],
    full: f64,
    line: Option<f64>,
    selected: Option<u32>,
}

/// Least columns of the bars; without them names and values stand alone.
const BARS: i32 = 6;

impl<'a> Ranked<'a> {
    /// Rows in order, and the value at the right end of the scale.
    pub const fn new(theme: &'a Theme, rows: &'a [RankedRow], full: f64) -> Self {
        Self { theme, rows, full, line: None, selected: None }
    }

    /// The value of the line.
    #[must_use]
    pub const fn line(mut self, line: Option<f64>) -> Self {
        self.line = line;
        self
    }

    /// The row that is chosen.
    #[must_use]
    pub const fn selected(mut self, selected: Option<u32>) -> Self {
        self.selected = selected;
        self
    }

    /// Returns the first column of the bars, their width, and the columns of the words behind them.
    fn places(&self, width: i32) -> (i32, i32, i32) {
        let glyphs = self.theme.glyphs;
        let widest = |of: fn(&RankedRow) -> &Label| {
            self.rows.iter().map(|row| i32::from(text::width(of(row), glyphs))).max().unwrap_or(0)
        };
        let values = self.rows.iter().map(|row| number::fixed(row.value, 0).len() as i32).max().unwrap_or(1);
        let names = widest(|row| &row.name).min((width - values - 3).max(4));
        let right = widest(|row| &row.right);
        let x = 2 + names + 1 + values.max(3) + 1;
        let room = width - x;
        // Words behind the bars go before the bars get short.
        let right = if right > 0 && room - right > BARS + 4 { right + 1 } else { 0 };
        (x, room - right, right)
    }

    /// The column of the line, counted from the left edge, for a heading above it.
    pub fn line_at(&self, width: u16) -> Option<u16> {
        let (x, bars, _) = self.places(i32::from(width));
        let at = self.place(self.line?, bars)?;
        (bars >= BARS).then(|| (x + at).clamp(0, i32::from(u16::MAX)) as u16)
    }

    fn place(&self, value: f64, bars: i32) -> Option<i32> {
        let share = value / self.full;
        (share.is_finite() && (0.0..=1.0).contains(&share))
            .then(|| ((share * f64::from(bars)).floor() as i32).clamp(0, (bars - 1).max(0)))
    }

    fn bar(&self, pen: &mut Pen<'_>, x: i32, y: i32, bars: i32, row: &RankedRow) {
        let glyphs = pen.glyphs();
        let style = self.theme.style(row.tone);
        let steps = if self.theme.is_ascii() { 1 } else { 8 };
        let share = row.value / self.full;
        let over = share > 1.0 + 1e-9;
        if share.is_finite() && share > 0.0 {
            // What is there is seen.
            let length = ((share.min(1.0) * f64::from(bars * steps)).round() as i32).max(1);
            pen.line(x, y, length / steps, glyphs.left_eighths[7], style);
            let rest = length % steps;
            if rest > 0 {
                pen.glyph(x + length / steps, y, glyphs.left_eighths[rest as usize - 1], style);
            }
        }
        if over {
            pen.glyph(x + bars - 1, y, glyphs.forward, self.theme.style(Tone::Answer));
        }
    }
}

impl StatefulWidget for &Ranked<'_> {
    type State = Hits;

    fn render(self, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
        hits.clear();
        let mut pen = Pen::new(buf, area, self.theme);
        if pen.is_empty() {
            return;
        }
        let glyphs = pen.glyphs();
        let (x, bars, right) = self.places(pen.width());
        for (y, row) in (0..pen.height()).zip(self.rows) {
            let chosen = self.selected == Some(row.id);
            if chosen {
                pen.paint(0, y, pen.width(), 1, self.theme.selected());
                pen.glyph(0, y, ">", self.theme.style(Tone::Answer));
            }
            let tone = if row.bold { Tone::Answer } else { Tone::Text };
            let value = number::fixed(row.value, 0);
            let start = pen.right(x - 1, y, &value, self.theme.ink(tone, row.bold));
            pen.cut(2, y, start - 3, &row.name, Cut::Middle, self.theme.style(tone));
            if bars >= BARS {
                self.bar(&mut pen, x, y, bars, row);
                if let Some(at) = self.line.and_then(|line| self.place(line, bars)) {
                    // Inside a bar the line keeps the bar as its ground.
                    let inside = row.value / self.full * f64::from(bars) >= f64::from(at + 1);
                    let ground = self.theme.style(row.tone).fg.filter(|_| inside && self.theme.shades());
                    let mut style = self.theme.style(Tone::Answer);
                    if let Some(ground) = ground {
                        style = style.bg(ground).fg(ratatui_core::style::Color::Black);
                    }
                    pen.glyph(x + at, y, glyphs.vertical_dotted, style);
                }
                if right > 0 {
                    pen.right(pen.width(), y, &row.right, self.theme.style(Tone::Muted));
                }
            }
            hits.push(pen.rect(0, y, pen.width(), 1), row.id, 0);
        }
    }
}

/// Values as one row of small columns, on a scale of their own or a common one; nothing where the value is zero.
///
/// ```
/// # use lightbay_widgets::{GlyphSet, Sparkline, Theme, Tone, text_of};
/// # use ratatui_core::{buffer::Buffer, layout::Rect, widgets::Widget};
/// let theme = Theme::mono(GlyphSet::Braille);
/// let area = Rect::new(0, 0, 6, 1);
/// let mut buf = Buffer::empty(area);
/// Sparkline::new(&theme, &[1, 0, 4, 8], 8, Tone::Text).render(area, &mut buf);
/// assert_eq!(text_of(&buf), "▁ ▄█");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Sparkline<'a> {
    theme: &'a Theme,
    values: &'a [u32],
    most: u32,
    tone: Tone,
}

impl<'a> Sparkline<'a> {
    /// Values and the one that fills a cell. More values than columns share them: the largest of each group shows.
    pub const fn new(theme: &'a Theme, values: &'a [u32], most: u32, tone: Tone) -> Self {
        Self { theme, values, most, tone }
    }
}

impl ratatui_core::widgets::Widget for &Sparkline<'_> {
    fn render(self, area: Rect, buf: &mut Buffer) {
        let mut pen = Pen::new(buf, area, self.theme);
        if pen.is_empty() {
            return;
        }
        let group = self.values.len().div_ceil(pen.width().max(1) as usize).max(1);
        let style = self.theme.style(self.tone);
        for (x, values) in (0..).zip(self.values.chunks(group)) {
            let value = values.iter().copied().max().unwrap_or(0);
            if value == 0 {
                continue;
            }
            if self.theme.is_ascii() {
                // Columns of a row cannot be told apart without blocks: digits can.
                let digit = b'0' + value.min(9) as u8;
                pen.text(x, 0, std::str::from_utf8(&[digit]).unwrap_or("?"), style);
                continue;
            }
            let step = (f64::from(value) / f64::from(self.most.max(1)) * 8.0).round().clamp(1.0, 8.0);
            pen.glyph(x, 0, pen.glyphs().eighths[step as usize - 1], style);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::glyphs::GlyphSet;
    use crate::text_of;
    use ratatui_core::widgets::Widget;

    #[test]
    fn a_bar_beyond_the_scale_ends_in_an_arrow_and_the_line_goes_through_all() {
        let theme = Theme::mono(GlyphSet::Braille);
        let row = |name: &'static str, value, right: &'static str| RankedRow {
            name: name.into(),
            value,
            right: right.into(),
            ..RankedRow::default()
        };
        let rows = [row("lns", 54.0, "4.1 s"), row("halving", 95.0, "0.06 s"), row("scratch", 222.0, "")];
        let area = Rect::new(0, 0, 40, 3);
        let mut buf = Buffer::empty(area);
        let mut hits = Hits::default();
        let bars = Ranked::new(&theme, &rows, 100.0).line(Some(38.0));
        (&bars).render(area, &mut buf, &mut hits);
        let text = text_of(&buf);
        let lines: Vec<Vec<char>> = text.lines().map(|line| line.chars().collect()).collect();
        let at = usize::from(bars.line_at(40).unwrap());
        assert!(lines.iter().all(|line| line[at] == '┊'), "{text}");
        assert!(text.lines().nth(2).unwrap().contains('▸'), "{text}");
        assert!(text.lines().next().unwrap().ends_with("4.1 s"), "{text}");
        assert_eq!(hits.len(), 3);
        assert_eq!(bars.line_at(16), None, "no bars, no line");
    }

    #[test]
    fn many_values_share_the_columns_and_the_largest_shows() {
        let theme = Theme::mono(GlyphSet::Ascii);
        let area = Rect::new(0, 0, 3, 1);
        let mut buf = Buffer::empty(area);
        (&Sparkline::new(&theme, &[1, 7, 0, 0, 12, 3], 12, Tone::Text)).render(area, &mut buf);
        assert_eq!(text_of(&buf), "7 9");
    }
}
