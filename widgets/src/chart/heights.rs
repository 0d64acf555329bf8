//! Vertical axis of a chart: rows of values, and ticks at round values in evenly spaced rows.

use super::Axis;
use super::dots::{cell_of, dots_of};
use crate::axis::{Range, Scale, Ticks};
use crate::number::{self, Num};
use crate::pen::Pen;
use crate::text::{self, Cut};
use crate::theme::{Theme, Tone};

/// Maximum number of rows of a chart that has labels at the ends of its axis only.
const ENDS_ONLY: i32 = 4;

/// Factors by which a linear and a logarithmic range may get wider for round ends.
const WIDER: f64 = 1.25;
const WIDER_LOG: f64 = 1.5;

/// Maximum number of ticks.
const MOST_TICKS: i32 = 10;

/// Range of the values and rows of a chart.
#[derive(Debug, Clone)]
pub(super) struct Heights {
    pub range: Range,
    rows: i32,
    per_cell: i32,
    ticks: Ticks,
}

impl Heights {
    /// Returns the axis of a plot. A linear range is widened so that every tick is in the middle of a row and ticks
    /// have the same distance in rows. A range with labels at its ends only is widened to round ends.
    pub fn new(axis: &Axis<'_>, range: Range, rows: i32, theme: &Theme) -> Self {
        let per_cell = dots_of(theme.glyphs.set).1;
        let range = if rows > ENDS_ONLY { range } else { round_ends(range) };
        let even = (rows > ENDS_ONLY && range.scale == Scale::Linear)
            .then(|| even_ticks(range, rows, per_cell, axis.whole))
            .flatten();
        if let Some((wider, first, step, count)) = even {
            let known = |at: &usize| {
                let value = first + step * *at as f64;
                axis.bounds
                    .is_none_or(|(low, high)| value >= low - step * 1e-9 && value <= high + step * 1e-9)
            };
            let inside = (0..count).filter(known).count();
            // A single tick would not show the scale.
            let (from, count) =
                if inside < 2 { (0, count) } else { ((0..count).find(known).unwrap_or(0), inside) };
            let ticks = Ticks::every(first + step * from as f64, step, count);
            return Self { range: wider, rows, per_cell, ticks };
        }
        let ticks = range.ticks((rows / 2).clamp(2, MOST_TICKS) as usize);
        Self { range, rows, per_cell, ticks }
    }

    /// Returns the number of rows.
    pub const fn rows(&self) -> i32 {
        self.rows
    }

    /// Returns the row, counted from the top, of the dot at a fraction of the height, measured from the bottom.
    pub fn row(&self, share: f64) -> i32 {
        cell_of(1.0 - share.clamp(0.0, 1.0), self.rows, self.per_cell)
    }

    /// Returns the position of a value, 0 to 1 inside the range; `None` for a gap.
    pub fn share(&self, value: f64) -> Option<f64> {
        self.range.share(value)
    }

    /// Iterates over the labels, each with its row.
    fn labels(&self) -> impl Iterator<Item = (i32, Num)> {
        let ends = [(0, self.range.high), (self.rows - 1, self.range.low)];
        let short = self.rows <= ENDS_ONLY;
        let ends = ends.into_iter().filter(move |_| short).map(|(row, value)| (row, self.end_label(value)));
        let ticks = self.ticks.clone().filter(move |_| !short);
        let ticks = ticks.filter_map(|value| Some((self.row(self.share(value)?), self.ticks.label(value))));
        ends.chain(ticks)
    }

    /// Returns the label of an end of the axis, with decimals that resolve at least a fifth of the range.
    fn end_label(&self, value: f64) -> Num {
        let range = self.range;
        match range.scale {
            Scale::Linear if range.low.fract() == 0.0 && range.high.fract() == 0.0 => number::fixed(value, 0),
            Scale::Linear => {
                let decimals = (-((range.high - range.low) / 5.0).log10()).ceil().clamp(0.0, 12.0);
                number::fixed(value, decimals as usize)
            }
            Scale::Log | Scale::LogFromZero => range.ticks(2).label(value),
        }
    }

    /// Returns the width of the labels and the unit, with a gap.
    pub fn width(&self, unit: &str, theme: &Theme) -> i32 {
        let widest = self.labels().map(|(_, label)| label.len()).max().unwrap_or(1);
        (widest as i32).max(i32::from(text::width(unit, theme.glyphs))) + 1
    }

    /// Writes the labels into a column of `width` cells left of the plot, and the unit in the first row without a
    /// label.
    pub fn draw(&self, pen: &mut Pen<'_>, unit: &str, width: i32) {
        let muted = pen.style(Tone::Muted);
        let mut taken = [false; 128];
        for (row, label) in self.labels() {
            if let Some(slot) = taken.get_mut(row.max(0) as usize)
                && !*slot
            {
                *slot = true;
                pen.right(width - 1, row, &label, muted);
            }
        }
        if let Some(row) = taken.iter().take(self.rows.max(0) as usize).position(|taken| !taken) {
            pen.cut(0, row as i32, width - 1, unit, Cut::End, muted);
        }
    }
}

/// Widens a range a little so that its ends are round: multiples of 1, 2 or 5 times a power of ten, on a
/// logarithmic axis these numbers themselves. Returns the range as it is if it would have to be wider.
fn round_ends(range: Range) -> Range {
    let Range { low, high, scale } = range;
    let least = ((high - low) / 100.0).log10().floor();
    let steps =
        (0..=2).rev().flat_map(|more| [5.0, 2.0, 1.0].map(|m| m * 10_f64.powf(least + f64::from(more))));
    let wider: Option<Range> = match scale {
        Scale::Linear => steps
            .map(|step| Range { low: (low / step).floor() * step, high: (high / step).ceil() * step, scale })
            .find(|wider| wider.high - wider.low <= WIDER * (high - low)),
        Scale::Log if low > 0.0 => {
            let round = |value: f64, up: bool| {
                let power = 10_f64.powf(value.log10().floor());
                let all = [1.0, 2.0, 5.0, 10.0].map(|m| m * power);
                let fits = |end: &f64| if up { *end >= value } else { *end <= value };
                if up { all.into_iter().find(fits) } else { all.into_iter().rfind(fits) }
            };
            let ends = round(low, false).zip(round(high, true));
            ends.map(|(low, high)| Range { low, high, scale })
                .filter(|wider| (wider.high / wider.low).ln() <= WIDER_LOG * (high / low).ln())
        }
        Scale::Log | Scale::LogFromZero => None,
    };
    wider.filter(|wider| wider.low.is_finite() && wider.high.is_finite()).unwrap_or(range)
}

/// Widens a linear range so that rows and ticks match: the distance of the ticks is 1, 2 or 5 times a power of ten, and
/// the same number of rows lies between any two adjacent ticks. Returns the range, the first tick, the distance of the
/// ticks, and their number; `None` if the numbers are too large or too close. With `whole`, ticks are at
/// whole numbers only.
fn even_ticks(range: Range, rows: i32, per_cell: i32, whole: bool) -> Option<(Range, f64, f64, usize)> {
    let least = (rows + MOST_TICKS - 1) / MOST_TICKS;
    let apart = least.max(2)..=(3 * least.max(2)).min(rows - 1);
    let (below, above) = (per_cell - 1 - per_cell / 2, per_cell / 2);
    let dot = 1.0 / f64::from(per_cell);
    let power = ((range.high - range.low) / f64::from(rows)).log10().floor();
    let mut best: Option<(f64, Range, f64, f64, usize)> = None;
    let power = if whole { power.max(0.0) } else { power };
    for step in (0..=2).flat_map(|more| [1.0, 2.0, 5.0].map(|m| m * 10_f64.powf(power + f64::from(more)))) {
        for every in apart.clone() {
            let of_row = step / f64::from(every);
            let lowest = (range.low / of_row + f64::from(below) * dot + 1e-9).floor();
            let low = (lowest - f64::from(below) * dot) * of_row;
            let high = (lowest + f64::from(rows - 1) + f64::from(above) * dot) * of_row;
            let first = (lowest / f64::from(every)).ceil();
            let count = ((lowest + f64::from(rows - 1)) / f64::from(every)).floor() - first + 1.0;
            let fits = high >= range.high - 1e-9 * of_row && count >= 2.0;
            if fits && best.as_ref().is_none_or(|(known, ..)| of_row < known * (1.0 - 1e-9)) {
                let wider = Range { low, high, scale: range.scale };
                best = Some((of_row, wider, first * step, step, count as usize));
            }
        }
    }
    let (of_row, wider, first, step, count) = best?;
    let finite = [of_row, wider.low, wider.high, first].iter().all(|value| value.is_finite());
    // Rows must differ by more than the rounding of their values.
    let distinct = of_row > 1e-12 * wider.low.abs().max(wider.high.abs());
    (finite && distinct).then_some((wider, first, step, count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::glyphs::GlyphSet;

    #[test]
    fn a_short_axis_has_round_ends() {
        let ends = |low: f64, high: f64, scale| {
            let wider = round_ends(Range::new(low, high, scale));
            (wider.low, wider.high)
        };
        assert_eq!(ends(1.0, 3.0, Scale::Linear), (1.0, 3.0));
        assert_eq!(ends(28.6, 1345.0, Scale::Log), (20.0, 2000.0));
        assert_eq!(ends(28.6, 31.0, Scale::Log), (28.6, 31.0), "20 to 50 would flatten the curve");
        let (low, high) = ends(12.8094, 12.8931, Scale::Linear);
        assert!((low - 12.80).abs() < 1e-9 && (high - 12.90).abs() < 1e-9, "{low} {high}");
    }

    #[test]
    fn ticks_are_round_and_evenly_spaced_in_rows() {
        for set in [GlyphSet::Ascii, GlyphSet::Block, GlyphSet::Braille] {
            let theme = Theme::mono(set);
            for rows in 5..70 {
                for (low, high) in
                    [(0.0, 62.0), (12.801, 12.889), (-3.0, 400.0), (154.0, 466.0), (1e-7, 9e-7)]
                {
                    let range = Range::new(low, high, Scale::Linear);
                    let heights = Heights::new(&Axis::linear(""), range, rows, &theme);
                    assert!(
                        heights.range.low <= low && heights.range.high >= high - 1e-9 * high,
                        "{heights:?}"
                    );
                    assert!(
                        heights.range.high - heights.range.low < 2.2 * (high - low),
                        "{rows}: {heights:?}"
                    );
                    let at: Vec<i32> = heights.labels().map(|(row, _)| row).collect();
                    assert!((2..=11).contains(&at.len()), "{rows}: {at:?} {heights:?}");
                    let distances: Vec<i32> = at.windows(2).map(|pair| pair[0] - pair[1]).collect();
                    assert!(distances.iter().all(|rows| *rows == distances[0]), "{rows}: {at:?} {heights:?}");
                }
            }
        }
    }
}
