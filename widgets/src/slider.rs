//! A slider: the present value of a parameter on its logarithmic scale, one row.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::widgets::Widget;

use crate::axis::{Range, Scale};
use crate::chart::{cell_of, dots_of};
use crate::pen::Pen;
use crate::text;
use crate::theme::{Theme, Tone};

/// Minimum number of columns of the scale; the words at its right are omitted first.
const LEAST: i32 = 40;

/// A slider on one row.
///
/// ```
/// # use lightbay_widgets::{GlyphSet, Slider, Theme, text_of};
/// # use ratatui_core::{buffer::Buffer, layout::Rect, widgets::Widget};
/// let theme = Theme::mono(GlyphSet::Ascii);
/// let ticks = [(1.0, "1 ms"), (1000.0, "1 s")];
/// let area = Rect::new(0, 0, 44, 1);
/// let mut buf = Buffer::empty(area);
/// let slider = Slider::new(&theme, "delay", (0.1, 1e4), (20.0, "20 ms"));
/// slider.ticks(&ticks).turn(Some((500.0, "500 ms"))).render(area, &mut buf);
/// assert_eq!(text_of(&buf), "delay -------+1 ms-----o20 ms----^500 ms----");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Slider<'a> {
    theme: &'a Theme,
    label: &'a str,
    range: (f64, f64),
    now: (f64, &'a str),
    ticks: &'a [(f64, &'a str)],
    turn: Option<(f64, &'a str)>,
    words: &'a str,
    plot: Option<(u16, u16)>,
}

impl<'a> Slider<'a> {
    /// Creates a slider over the values `range`, at the value `now` with its name.
    pub const fn new(theme: &'a Theme, label: &'a str, range: (f64, f64), now: (f64, &'a str)) -> Self {
        Self { theme, label, range, now, ticks: &[], turn: None, words: "", plot: None }
    }

    /// Sets named values on the scale; a name without room is omitted.
    #[must_use]
    pub const fn ticks(mut self, ticks: &'a [(f64, &'a str)]) -> Self {
        self.ticks = ticks;
        self
    }

    /// Marks a value with its name.
    #[must_use]
    pub const fn turn(mut self, turn: Option<(f64, &'a str)>) -> Self {
        self.turn = turn;
        self
    }

    /// Sets words at the right of the scale.
    #[must_use]
    pub const fn words(mut self, words: &'a str) -> Self {
        self.words = words;
        self
    }
}

impl Slider<'_> {
    /// Sets first column and number of columns of the scale, for a scale above a chart with the same axis.
    #[must_use]
    pub const fn plot(mut self, left: u16, width: u16) -> Self {
        self.plot = Some((left, width));
        self
    }
}

impl Widget for Slider<'_> {
    fn render(self, area: Rect, buf: &mut Buffer) {
        let mut pen = Pen::new(buf, area, self.theme);
        if pen.is_empty() {
            return;
        }
        let glyphs = pen.glyphs();
        let wide = |text: &str| i32::from(text::width(text, glyphs));
        let muted = self.theme.style(Tone::Muted);
        let words = if self.words.is_empty() { 0 } else { wide(self.words) + 2 };
        let label = wide(self.label) + 1;
        let (left, plot, has_words) = if let Some((left, plot)) = self.plot {
            let (left, plot) = (i32::from(left), i32::from(plot).max(1));
            (left, plot, pen.width() - left - plot >= words)
        } else {
            let has_words = pen.width() - label - words >= LEAST;
            (label, (pen.width() - label - if has_words { words } else { 0 }).max(1), has_words)
        };
        if left >= label {
            pen.text(0, 0, self.label, muted);
        }
        if has_words {
            pen.right(pen.width(), 0, self.words, muted);
        }
        pen.line(left, 0, plot, glyphs.rule, self.theme.style(Tone::Faint));
        let range = Range::new(self.range.0, self.range.1, Scale::Log);
        let column = |value: f64| {
            let share = range.share(value)?.clamp(0.0, 1.0);
            Some(cell_of(share, plot, dots_of(glyphs.set).0))
        };
        let turn = self.turn.map(|turn| (turn, glyphs.up, Tone::Text));
        let first = std::iter::once((self.now, glyphs.dot, Tone::Answer)).chain(turn);
        let ticks = self.ticks.iter().map(|tick| (*tick, glyphs.tick, Tone::Muted));
        // Columns that are taken; the marks of the present value and of the turn come before all names.
        let mut taken: Vec<(i32, i32)> = Vec::with_capacity(2 * self.ticks.len() + 4);
        for (at, glyph, tone) in
            first.clone().filter_map(|((value, _), glyph, tone)| Some((column(value)?, glyph, tone))).rev()
        {
            pen.glyph(left + at, 0, glyph, self.theme.style(tone));
            taken.push((at, at + 1));
        }
        let marks = taken.len();
        for (number, ((value, name), glyph, tone)) in first.chain(ticks).enumerate() {
            let Some(at) = column(value) else { continue };
            let long = wide(name);
            let is_free = |from: i32, to: i32| {
                let apart =
                    |(known, end): &(i32, i32)| to < *known || from > *end || (*known, *end) == (at, at + 1);
                from >= 0 && to <= plot && taken.iter().all(apart)
            };
            let is_tick = number >= marks;
            let style = self.theme.style(tone);
            // The name follows its mark, precedes it at the right edge, or is left out.
            let behind = is_free(at + 1, at + 1 + long);
            // A letter as mark needs a blank after the name.
            let gap = i32::from(self.theme.is_ascii());
            let before = is_free(at - long - gap, at);
            if is_tick && !(is_free(at, at + 1) && (behind || before)) {
                continue;
            }
            if is_tick {
                pen.glyph(left + at, 0, glyph, style);
                taken.push((at, at + 1));
            }
            if behind || before {
                let from = if behind { at + 1 } else { at - long - gap };
                pen.line(left + from, 0, long + gap * i32::from(!behind), " ", style);
                pen.text(left + from, 0, name, style);
                taken.push((from, if behind { from + long } else { at }));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::glyphs::GlyphSet;
    use crate::text_of;

    fn drawn(width: u16, now: (f64, &str), turn: Option<(f64, &str)>) -> String {
        let theme = Theme::mono(GlyphSet::Ascii);
        let ticks = [(0.001, "1 us"), (1.0, "1 ms"), (1000.0, "1 s"), (1e4, "10 s")];
        let area = Rect::new(0, 0, width, 1);
        let mut buf = Buffer::empty(area);
        let slider = Slider::new(&theme, "delay", (0.001, 1e4), now).ticks(&ticks).turn(turn);
        slider.words("< > moves it").render(area, &mut buf);
        text_of(&buf)
    }

    #[test]
    fn the_present_value_and_the_turn_have_their_names_first() {
        let text = drawn(80, (1.2, "1.2 ms"), Some((900.0, "900 ms")));
        assert!(text.contains("o1.2 ms") && text.contains("^900 ms"), "{text}");
        assert!(text.contains("+1 us") && !text.contains("+1 ms"), "{text}");
        assert!(text.ends_with("< > moves it"), "{text}");
    }

    #[test]
    fn names_at_the_end_stand_before_their_marks() {
        let text = drawn(60, (1e4, "10 s"), None);
        assert!(text.contains("10 s o"), "{text}");
        let text = drawn(30, (0.001, "1 us"), None);
        assert!(text.starts_with("delay o1 us") && !text.contains("moves"), "{text}");
    }

    #[test]
    fn values_outside_are_drawn_at_the_ends_and_zero_is_not_drawn() {
        assert!(drawn(60, (1e9, "x"), None).contains("x o  <"));
        assert!(!drawn(60, (0.0, "x"), None).contains('x'));
    }
}
