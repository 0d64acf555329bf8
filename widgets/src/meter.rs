//! One bar: parts one after another on a scale, drawn to an eighth of a cell.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::{Color, Style};
use ratatui_core::widgets::Widget;

use crate::pen::Pen;
use crate::theme::{Theme, Tone};

/// One part of a bar.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Part {
    /// Length of the part, in units of the scale; a negative length, or one that is not finite, counts as zero.
    pub amount: f64,
    /// Tone (meaning) of the part, from which the theme chooses the colour.
    pub tone: Tone,
    /// Character that draws the part in ASCII.
    pub letter: char,
}

impl Part {
    /// Creates a part of a bar.
    pub const fn new(amount: f64, tone: Tone, letter: char) -> Self {
        Self { amount, tone, letter }
    }
}

/// Relative difference up to which a bar ends at the limit.
const CLOSE: f64 = 1e-9;

/// A bar of one row.
///
/// ```
/// # use lightbay_widgets::{GlyphSet, Meter, Part, Theme, Tone, text_of};
/// # use ratatui_core::{buffer::Buffer, layout::Rect, widgets::Widget};
/// let theme = Theme::mono(GlyphSet::Ascii);
/// let parts = [Part::new(4.0, Tone::Text, '#'), Part::new(2.0, Tone::Text, 'o')];
/// let area = Rect::new(0, 0, 8, 1);
/// let mut buf = Buffer::empty(area);
/// Meter::new(&theme, &parts, 8.0).track(true).render(area, &mut buf);
/// assert_eq!(text_of(&buf), "####oo--");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Meter<'a> {
    theme: &'a Theme,
    parts: &'a [Part],
    full: f64,
    start: f64,
    track: bool,
    spaced: bool,
    limit: Option<f64>,
}

impl<'a> Meter<'a> {
    /// Creates a bar of parts in order; `full` is the value at the right end.
    pub const fn new(theme: &'a Theme, parts: &'a [Part], full: f64) -> Self {
        Self { theme, parts, full, start: 0.0, track: false, spaced: false, limit: None }
    }

    /// Sets the value at which the first part begins; this start is rounded to a whole cell.
    #[must_use]
    pub const fn start(mut self, start: f64) -> Self {
        self.start = start;
        self
    }

    /// Sets whether the rest of the scale is drawn too, so that the end of the scale is visible.
    #[must_use]
    pub const fn track(mut self, track: bool) -> Self {
        self.track = track;
        self
    }

    /// Leaves a gap above the bar, for bars in consecutive rows; such a bar is drawn in whole cells, not in eighths of
    /// a cell, and uses all rows of its area unless it consists of letters.
    #[must_use]
    pub const fn spaced(mut self, spaced: bool) -> Self {
        self.spaced = spaced;
        self
    }

    /// Draws a line through the bar at a value, such as a bound.
    #[must_use]
    pub const fn limit(mut self, limit: Option<f64>) -> Self {
        self.limit = limit;
        self
    }

    /// Returns the column of the line of [`Meter::limit`] in a bar of a given width; `None` without a limit, or if the
    /// limit is not on the scale.
    pub fn limit_at(&self, width: u16) -> Option<u16> {
        let limit = self.limit?;
        let share = limit / self.full;
        let is_on_scale = share.is_finite() && (0.0..=1.0).contains(&share) && width > 0;
        let end = share * f64::from(width);
        // In whole cells, the line is in the last cell of a bar of this value, and longer bars have a cell beyond it.
        let (at, beyond) = if self.is_in_cells() {
            (end.round() - 1.0, u16::from(limit < self.full))
        } else {
            (end.floor(), 0)
        };
        is_on_scale.then(|| (at.max(0.0) as u16).min(width.saturating_sub(1 + beyond)))
    }

    /// Returns `true` if the bar consists of letters: in ASCII, and for several parts without colours.
    const fn is_lettered(&self) -> bool {
        self.theme.is_ascii() || !self.theme.shades() && self.parts.len() > 1
    }

    /// Returns `true` if the bar consists of whole cells.
    const fn is_in_cells(&self) -> bool {
        self.spaced || self.is_lettered()
    }

    /// Returns the parts that are drawn.
    fn drawn(&self) -> impl Iterator<Item = &Part> {
        let is_drawn = |part: &&Part| part.amount.is_finite() && part.amount > 0.0 && self.full > 0.0;
        self.parts.iter().filter(is_drawn)
    }

    /// Returns the end of a bar of length `sum`, in cells or eighths. A bar below the limit ends before the line of the
    /// limit; in whole cells, a bar at the limit ends with the cell of the line, and a longer bar after it.
    fn end(&self, sum: f64, width: i32, per_cell: i32) -> i32 {
        let to = (sum / self.full * f64::from(width * per_cell)).round() as i32;
        let Some((at, limit)) = self.limit_at(width as u16).map(i32::from).zip(self.limit) else { return to };
        if sum < limit * (1.0 - CLOSE) {
            to.min(at * per_cell)
        } else if per_cell > 1 {
            to
        } else if sum > limit * (1.0 + CLOSE) {
            to.max(at + 2)
        } else {
            at + 1
        }
    }
}

impl Widget for &Meter<'_> {
    fn render(self, area: Rect, buf: &mut Buffer) {
        let mut pen = Pen::new(buf, area, self.theme);
        if pen.is_empty() {
            return;
        }
        let width = pen.width();
        let glyphs = pen.glyphs();
        let ascii = self.is_lettered();
        if self.track {
            let empty = if self.theme.shades() && !ascii { " " } else { glyphs.free };
            pen.line(0, 0, width, empty, self.theme.style(Tone::Faint).patch(self.theme.track()));
        }
        let per_cell = if self.is_in_cells() { 1 } else { 8 };
        let start = if self.start.is_finite() { self.start.max(0.0) } else { 0.0 };
        let share = if self.full > 0.0 { start / self.full } else { 0.0 };
        let first = ((share * f64::from(width)).round() as i32).min(width - 1);
        // End of the parts drawn so far, in eighths, and style of the last part.
        let (mut end, mut last) = (first * per_cell, None);
        let limit_at = self.limit_at(width as u16).map(i32::from);
        // The whole bar has the length of the sum, so bars of unlike sums end apart.
        let mut later = self.drawn().count() as i32;
        let length: f64 = self.drawn().map(|part| part.amount).sum();
        // A bar of less than a cell keeps its length although its start is rounded.
        let cell = self.full / f64::from(width);
        let mut sum = if length < cell { f64::from(first) * cell } else { start };
        let whole = self.end(sum + length, width, per_cell);
        let rows = if self.spaced && !ascii { pen.height() } else { 1 };
        for part in self.drawn() {
            (sum, later) = (sum + part.amount, later - 1);
            // A part with a positive length is always visible; longer parts make room for it.
            let to = (sum / self.full * f64::from(width * per_cell)).round() as i32;
            let to = if later == 0 { whole } else { to.min(whole.min(width * per_cell) - later) };
            let to = to.max(end + 1).min(width * per_cell);
            let style = self.theme.style(part.tone);
            let mut letter = [0; 4];
            let full = if ascii { &*part.letter.encode_utf8(&mut letter) } else { glyphs.left_eighths[7] };
            let mut first = end / per_cell;
            if end % per_cell > 0 {
                // A cell shared with the previous part keeps its glyph; this part sets its background.
                if let Some(colour) = style.fg
                    && let Some(last) = last
                {
                    let shared: Style = last;
                    pen.paint(first, 0, 1, 1, shared.bg(colour));
                }
                first += 1;
            }
            for y in 0..rows {
                let full = if y == 0 && self.spaced && !ascii { glyphs.eighths[5] } else { full };
                pen.line(first, y, to / per_cell - first, full, style);
            }
            let rest = to % per_cell;
            if rest > 0 && to / per_cell >= first {
                pen.glyph(to / per_cell, 0, glyphs.left_eighths[rest as usize - 1], style);
            }
            end = to;
            last = Some(style);
        }
        if let Some(at) = limit_at {
            let is_inside = end >= (at + 1) * per_cell && self.theme.shades() && !ascii;
            let bar = pen.cell(at, 0).map(|cell| cell.fg).filter(|_| is_inside);
            let answer = self.theme.style(Tone::Answer);
            let marks = [Tone::Muted, Tone::Answer].map(|tone| self.theme.style(tone).fg);
            // A bar never has a hole: the line is a mark in the gap above it, or dark on its colour; without colours, a bar
            // that ends at the line keeps its last cell.
            match (bar, marks.into_iter().find(|mark| *mark != bar).flatten()) {
                (Some(_), Some(mark)) if self.spaced => pen.paint(at, 0, 1, 1, Style::new().bg(mark)),
                (Some(Color::Reset), _) => pen.glyph(at, 0, glyphs.vertical_dotted, self.theme.cursor()),
                (Some(bar), _) => pen.glyph(at, 0, glyphs.vertical_dotted, answer.bg(bar).fg(Color::Black)),
                (None, _) if per_cell == 1 && end == at + 1 => {}
                (None, _) => (0..rows).for_each(|y| pen.glyph(at, y, glyphs.vertical_dotted, answer)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::glyphs::GlyphSet;
    use crate::text_of;

    fn drawn(theme: &Theme, parts: &[Part], full: f64, width: u16) -> String {
        let area = Rect::new(0, 0, width, 1);
        let mut buf = Buffer::empty(area);
        Meter::new(theme, parts, full).render(area, &mut buf);
        text_of(&buf)
    }

    #[test]
    fn lengths_are_exact_to_an_eighth() {
        let theme = Theme::mono(GlyphSet::Braille);
        let bar = |amount: f64| drawn(&theme, &[Part::new(amount, Tone::Text, '#')], 10.0, 10);
        assert_eq!(bar(3.0), "███");
        assert_eq!(bar(3.5), "███▌");
        assert_eq!(bar(3.125), "███▏");
        assert_eq!(bar(1e-9), "▏", "what is there is seen");
        assert_eq!(bar(99.0), "██████████");
        assert_eq!(bar(f64::NAN), "");
        assert_eq!(bar(-1.0), "");
    }

    #[test]
    fn the_line_of_a_limit_goes_through_long_and_short_bars() {
        let theme = Theme::mono(GlyphSet::Ascii);
        let bar = |amount: f64| {
            let area = Rect::new(0, 0, 10, 1);
            let mut buf = Buffer::empty(area);
            let parts = [Part::new(amount, Tone::Text, '#')];
            Meter::new(&theme, &parts, 20.0).limit(Some(8.0)).render(area, &mut buf);
            text_of(&buf)
        };
        assert_eq!(bar(20.0), "###:######");
        assert_eq!(bar(4.0), "## :");
        assert_eq!(bar(7.9), "###:", "below the limit");
        assert_eq!(bar(8.0), "####", "at the limit");
        assert_eq!(bar(8.1), "###:#", "above the limit");
        assert_eq!(Meter::new(&theme, &[], 20.0).limit(Some(30.0)).limit_at(10), None);
    }

    #[test]
    fn a_bar_that_begins_later_follows_the_one_before() {
        let theme = Theme::mono(GlyphSet::Braille);
        let parts = [Part::new(4.0, Tone::Text, '#')];
        let bar = |start: f64| {
            let area = Rect::new(0, 0, 10, 1);
            let mut buf = Buffer::empty(area);
            Meter::new(&theme, &parts, 10.0).start(start).render(area, &mut buf);
            text_of(&buf)
        };
        assert_eq!((bar(0.0), bar(3.0)), ("████".to_owned(), "   ████".to_owned()));
        assert_eq!(bar(10.0), "         █", "what is there is seen");
        assert_eq!(bar(f64::NAN), "████");
        let area = Rect::new(0, 0, 10, 1);
        let mut buf = Buffer::empty(area);
        Meter::new(&theme, &[Part::new(0.5, Tone::Text, '#')], 10.0).start(9.5).render(area, &mut buf);
        assert_eq!(text_of(&buf), "         ▌", "a rounded start does not change the length");
    }

    #[test]
    fn spaced_bars_leave_a_gap_and_end_with_a_whole_cell() {
        let theme = Theme::mono(GlyphSet::Braille);
        let bar = |amounts: &[f64]| {
            let parts: Vec<Part> = amounts.iter().map(|amount| Part::new(*amount, Tone::Text, '#')).collect();
            let area = Rect::new(0, 0, 10, 1);
            let mut buf = Buffer::empty(area);
            Meter::new(&theme, &parts, 10.0).spaced(true).render(area, &mut buf);
            text_of(&buf)
        };
        assert_eq!(bar(&[3.4]), "▆▆▆");
        assert_eq!(bar(&[0.01]), "▆", "what is there is seen");
        assert_eq!(bar(&[0.0]), "");
    }

    #[test]
    fn bars_of_parts_have_the_length_of_their_sum() {
        let theme = Theme::mono(GlyphSet::Ascii);
        let bar = |first: f64| {
            let parts = [(first, '#'), (0.1, '='), (0.1, '+')];
            let parts = parts.map(|(amount, letter)| Part::new(amount, Tone::Text, letter));
            let area = Rect::new(0, 0, 12, 1);
            let mut buf = Buffer::empty(area);
            Meter::new(&theme, &parts, 12.0).spaced(true).limit(Some(8.0)).render(area, &mut buf);
            text_of(&buf)
        };
        assert_eq!([bar(9.4), bar(10.4), bar(11.6)], ["#######:=+", "#######:#=+", "#######:##=+"]);
    }

    #[test]
    fn a_spaced_bar_fills_the_rows_of_its_area() {
        let theme = Theme::default();
        let area = Rect::new(0, 0, 4, 2);
        let mut buf = Buffer::empty(area);
        Meter::new(&theme, &[Part::new(3.0, Tone::Text, '#')], 4.0).spaced(true).render(area, &mut buf);
        assert_eq!(text_of(&buf), "▆▆▆\n███");
    }

    #[test]
    fn a_spaced_bar_keeps_its_cells_at_a_limit() {
        let (theme, area) = (Theme::default(), Rect::new(0, 0, 10, 1));
        let mut buf = Buffer::empty(area);
        let parts = [Part::new(6.0, Tone::Answer, '#')];
        Meter::new(&theme, &parts, 10.0).spaced(true).limit(Some(5.0)).render(area, &mut buf);
        assert_eq!(text_of(&buf), "▆▆▆▆▆▆");
        assert_eq!(Some(buf[(4, 0)].bg), theme.style(Tone::Muted).fg);
    }

    #[test]
    fn a_shared_cell_shows_both_parts() {
        let theme = Theme::default();
        let parts = [Part::new(1.5, Tone::Series(1), '#'), Part::new(1.5, Tone::Series(2), 'o')];
        let area = Rect::new(0, 0, 4, 1);
        let mut buf = Buffer::empty(area);
        Meter::new(&theme, &parts, 4.0).render(area, &mut buf);
        assert_eq!(text_of(&buf), "█▌█");
        assert_eq!(buf[(1, 0)].fg, theme.style(Tone::Series(1)).fg.unwrap());
        assert_eq!(buf[(1, 0)].bg, theme.style(Tone::Series(2)).fg.unwrap());
    }
}
