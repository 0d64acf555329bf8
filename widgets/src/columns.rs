//! Distribution of values as vertical bars: one column per bin, with marks on the axis at the mean and the largest
//! value.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::Modifier;
use ratatui_core::widgets::Widget;

use crate::number::Num;
use crate::pen::{Label, Pen};
use crate::text;
use crate::theme::{Theme, Tone};

/// A distribution: counts of values by bin, their mean and the largest value.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Spread {
    /// Number of values in each bin, in ascending order of the bins.
    pub amounts: Vec<f64>,
    /// The value at the right end of the last bin; the first bin begins at zero.
    pub end: f64,
    /// Mean of the values.
    pub mean: f64,
    /// Largest value.
    pub most: f64,
}

impl Spread {
    /// Counts values in `bins` bins from zero to `end`. Larger values go into the last bin, negative values into the
    /// first; values that are not finite are ignored.
    pub fn of(values: impl Iterator<Item = f64>, end: f64, bins: usize) -> Self {
        let bins = bins.max(1);
        let mut spread = Self { amounts: vec![0.0; bins], end, mean: 0.0, most: 0.0 };
        let mut count = 0u64;
        for value in values.filter(|value| value.is_finite()) {
            let share = if end > 0.0 { value / end } else { 0.0 };
            // A value on the right end of the scale belongs to the last bin.
            let at = ((share * bins as f64).floor().max(0.0) as usize).min(bins - 1);
            spread.amounts[at] += 1.0;
            spread.mean += value;
            spread.most = spread.most.max(value);
            count += 1;
        }
        spread.mean /= count.max(1) as f64;
        spread
    }

    /// Returns the largest amount of a bin.
    pub fn tallest(&self) -> f64 {
        self.amounts.iter().copied().fold(0.0, f64::max)
    }
}

/// The columns, with an axis and its labels below.
///
/// ```
/// # use lightbay_widgets::{Columns, GlyphSet, Spread, Theme, Tone, text_of};
/// # use ratatui_core::{buffer::Buffer, layout::Rect, widgets::Widget};
/// let theme = Theme::mono(GlyphSet::Ascii);
/// let spread = Spread::of([2.0, 3.0, 3.0, 7.0].into_iter(), 10.0, 10);
/// let area = Rect::new(0, 0, 12, 4);
/// let mut buf = Buffer::empty(area);
/// Columns::new(&theme, &spread, 2.0, Tone::Series(1), '#').ticks(&[(0.0, "0".into()), (5.0, "5".into())]).render(area, &mut buf);
/// assert_eq!(text_of(&buf), "   #\n  ##    #\n----+---!---\n0     5");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Columns<'a> {
    theme: &'a Theme,
    spread: &'a Spread,
    top: f64,
    tone: Tone,
    letter: char,
    ticks: &'a [(f64, Label)],
    unit: &'static str,
}

impl<'a> Columns<'a> {
    /// Height below which there is no axis.
    pub const MIN_HEIGHT: u16 = 3;

    /// Creates a chart of a distribution, in which a column of the amount `top` fills the height. In ASCII, columns are
    /// drawn with `letter`.
    pub const fn new(theme: &'a Theme, spread: &'a Spread, top: f64, tone: Tone, letter: char) -> Self {
        Self { theme, spread, top, tone, letter, ticks: &[], unit: "" }
    }

    /// Sets the values that are written below the axis.
    #[must_use]
    pub const fn ticks(mut self, ticks: &'a [(f64, Label)]) -> Self {
        self.ticks = ticks;
        self
    }

    /// Sets the unit of the amounts. A column higher than the chart shows its amount as a number, with this unit.
    #[must_use]
    pub const fn unit(mut self, unit: &'static str) -> Self {
        self.unit = unit;
        self
    }

    /// Returns the first column of a bin in an area of `width` columns, of which the bins use all: their widths differ by
    /// at most one. More bins than columns get one column each.
    fn start(&self, bin: i32, width: i32) -> i32 {
        let bins = self.spread.amounts.len().max(1) as i32;
        if bins > width { bin } else { bin * width / bins }
    }

    const fn is_over(&self, amount: f64) -> bool {
        amount > self.top * (1.0 + 1e-9) && self.top > 0.0
    }

    /// Writes the amount of a column beyond the scale into blank cells next to it, in the highest row with such cells; of
    /// adjacent columns, the largest amount.
    fn draw_amounts(&self, pen: &mut Pen<'_>, rows: i32, start: impl Fn(i32) -> i32) {
        let mut first = 0;
        for run in self.spread.amounts.chunk_by(|a, b| self.is_over(*a) == self.is_over(*b)) {
            let (from, until) = (start(first), start(first + run.len() as i32));
            first += run.len() as i32;
            let most = run.iter().copied().fold(0.0, f64::max);
            if !self.is_over(most) {
                continue;
            }
            let label = Num::of(format_args!("{most:.0}{}", self.unit));
            let wide = label.len() as i32;
            let mut is_blank = |&(at, row): &(i32, i32)| {
                let mut cells = at - 1..=at + wide;
                let inside = at >= 0 && at + wide <= pen.width();
                inside
                    && cells.all(|x| {
                        (from..until).contains(&x) || pen.cell(x, row).is_none_or(|cell| cell.symbol() == " ")
                    })
            };
            let mut places = (0..rows).flat_map(|row| [(from - wide, row), (until, row)]);
            if let Some((at, row)) = places.find(|place| is_blank(place)) {
                pen.text(at, row, &label, self.theme.style(Tone::Text));
            }
        }
    }

    fn column(&self, pen: &mut Pen<'_>, x: i32, width: i32, rows: i32, amount: f64) {
        if !(amount > 0.0 && self.top > 0.0) {
            return;
        }
        let glyphs = pen.glyphs();
        let style = self.theme.style(self.tone);
        let ascii = self.theme.is_ascii();
        let over = self.is_over(amount);
        let steps = if ascii { 1 } else { 8 };
        let height = ((amount / self.top).min(1.0) * f64::from(rows * steps)).round() as i32;
        // Every non-empty bin is visible.
        let height = height.max(1);
        let mut letter = [0; 4];
        let full = if ascii { &*self.letter.encode_utf8(&mut letter) } else { glyphs.eighths[7] };
        for at in 0..width {
            for row in 0..height / steps {
                pen.glyph(x + at, rows - 1 - row, full, style);
            }
            let rest = height % steps;
            if rest > 0 {
                pen.glyph(x + at, rows - 1 - height / steps, glyphs.eighths[rest as usize - 1], style);
            }
        }
        if over {
            // The cell stays full, so that the column is not lower than its neighbours.
            pen.glyph(x, 0, glyphs.up, style.add_modifier(Modifier::REVERSED));
        }
    }
}

impl Widget for &Columns<'_> {
    fn render(self, area: Rect, buf: &mut Buffer) {
        let mut pen = Pen::new(buf, area, self.theme);
        if pen.is_empty() {
            return;
        }
        let width = pen.width();
        let start = |bin: i32| self.start(bin, width);
        let used = start(self.spread.amounts.len() as i32).min(width);
        let axis = pen.height() >= i32::from(Columns::MIN_HEIGHT);
        let labels = axis && !self.ticks.is_empty() && pen.height() >= 4;
        let rows = pen.height() - i32::from(axis) - i32::from(labels);
        for (at, amount) in (0..).zip(&self.spread.amounts) {
            self.column(&mut pen, start(at), start(at + 1) - start(at), rows, *amount);
        }
        let glyphs = pen.glyphs();
        let place = |value: f64| {
            let share = if self.spread.end > 0.0 { value / self.spread.end } else { 0.0 };
            ((share * f64::from(used)).floor() as i32).clamp(0, (used - 1).max(0))
        };
        if axis {
            pen.line(0, rows, pen.width(), glyphs.rule, self.theme.style(Tone::Rule));
            let answer = self.theme.style(Tone::Answer);
            pen.glyph(place(self.spread.mean), rows, glyphs.mean, answer);
            pen.glyph(place(self.spread.most), rows, glyphs.most, answer);
        }
        if labels {
            let mut free = 0;
            for (value, label) in self.ticks {
                let width = i32::from(text::width(label, glyphs));
                let at = place(*value).min(pen.width() - width);
                if at >= free {
                    pen.text(at, rows + 1, label, self.theme.style(Tone::Muted));
                    free = at + width + 1;
                }
            }
        }
        self.draw_amounts(&mut pen, rows, start);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::glyphs::GlyphSet;
    use crate::text_of;

    #[test]
    fn values_are_counted_from_zero_to_the_end() {
        let spread = Spread::of([0.0, 9.99, 10.0, 20.0, f64::NAN].into_iter(), 10.0, 5);
        assert_eq!(spread.amounts, [1.0, 0.0, 0.0, 0.0, 3.0]);
        assert_eq!((spread.mean, spread.most, spread.tallest()), (39.99 / 4.0, 20.0, 3.0));
        assert_eq!(
            Spread::of(std::iter::empty(), 0.0, 0),
            Spread { amounts: vec![0.0], ..Spread::default() }
        );
    }

    #[test]
    fn columns_stand_on_the_axis_and_say_what_lies_beyond_the_scale() {
        let theme = Theme::mono(GlyphSet::Braille);
        let spread = Spread { amounts: vec![1.0, 0.0, 0.0, 9.0], end: 4.0, mean: 2.5, most: 3.9 };
        let area = Rect::new(0, 0, 8, 4);
        let mut buf = Buffer::empty(area);
        let ticks = [(0.0, "0".into()), (3.0, "3".into())];
        Columns::new(&theme, &spread, 4.0, Tone::Series(1), '#').ticks(&ticks).render(area, &mut buf);
        assert_eq!(text_of(&buf), "     9▲█\n▄▄    ██\n─────┴─╵\n0     3");
    }
}
