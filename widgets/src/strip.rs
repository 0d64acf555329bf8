//! Demand against capacity over time, one row: a shade and a glyph per column.
//!
//! If the mean demand of a column is at most the capacity, the column is a bar whose height is demand divided by capacity,
//! marked if the demand exceeds the capacity at some time within the column; the mark is a dot if the mean is small.
//! If the mean is above the capacity, a digit shows the ratio of demand to capacity, rounded up; `+` stands for more
//! than 9. With shades, equal digits in a row are written once, and no digit follows another, because both
//! would read as one number; of two adjacent ones, the larger is written.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::Style;
use ratatui_core::widgets::Widget;

use crate::pen::Pen;
use crate::theme::{HEAT_STEPS, Theme, Tone};

/// The heat step (strength of the shade) of a full column.
const FULL: u8 = 4;

/// Mean fraction of the capacity below which a short overload is a dot: a column with little demand.
const BRIEF: f64 = 1.0 / 16.0;

/// Tolerance for rounding errors of sums, which are not an overload.
const OVER: f64 = 1e-9;

/// A row of fractions of a capacity.
///
/// ```
/// # use lightbay_widgets::{GlyphSet, Strip, Theme, text_of};
/// # use ratatui_core::{buffer::Buffer, layout::Rect, widgets::Widget};
/// let area = Rect::new(0, 0, 6, 1);
/// let mut buf = Buffer::empty(area);
/// Strip::new(&Theme::mono(GlyphSet::Ascii), &[0.0, 0.3, 1.0, 1.1, 2.0, 40.0]).render(area, &mut buf);
/// assert_eq!(text_of(&buf), ".-=22+");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Strip<'a> {
    theme: &'a Theme,
    shares: &'a [f64],
    peaks: &'a [f64],
}

impl<'a> Strip<'a> {
    /// Creates a strip with one fraction of the capacity per column; negative values, and values that are not finite,
    /// count as zero.
    pub const fn new(theme: &'a Theme, shares: &'a [f64]) -> Self {
        Self { theme, shares, peaks: &[] }
    }

    /// Sets the maximum fraction within each column; columns without a maximum are even.
    #[must_use]
    pub const fn peaks(mut self, peaks: &'a [f64]) -> Self {
        self.peaks = peaks;
        self
    }

    /// Returns the glyph and shade of a fraction, given the maximum fraction within the column.
    fn cell(&self, share: f64, peak: f64) -> (&'static str, Tone) {
        const DIGITS: [&str; 8] = ["2", "3", "4", "5", "6", "7", "8", "9"];
        let glyphs = self.theme.glyphs;
        if !(share.is_finite() && share > 0.0) {
            return (glyphs.inactive, Tone::Rule);
        }
        if share < BRIEF && peak > 1.0 + OVER {
            let dot = if self.theme.shades() { glyphs.inactive } else { glyphs.limit };
            return (dot, Tone::Bad);
        }
        if share <= 1.0 + OVER && peak > 1.0 + OVER && !self.theme.shades() {
            return ("!", Tone::Bad);
        }
        if share <= 1.0 + OVER {
            let heat = Tone::Heat((share * f64::from(FULL)).ceil() as u8);
            if self.theme.is_ascii() {
                if peak > 1.0 + OVER {
                    return ("!", Tone::Bad);
                }
                return (if share <= 0.5 { "-" } else { "=" }, heat);
            }
            let eighth = ((share * 8.0).round() as usize).clamp(1, 8);
            return (glyphs.eighths[eighth - 1], if peak > 1.0 + OVER { Tone::Bad } else { heat });
        }
        let times = times(share) as usize;
        let heat = (FULL as usize + times - 1).min(usize::from(HEAT_STEPS) - 1) as u8;
        (DIGITS.get(times - 2).copied().unwrap_or("+"), Tone::Heat(heat))
    }
}

/// Returns how many capacities a fraction needs.
fn times(share: f64) -> f64 {
    (share - OVER).ceil()
}

impl Widget for &Strip<'_> {
    fn render(self, area: Rect, buf: &mut Buffer) {
        let mut pen = Pen::new(buf, Rect { height: area.height.min(1), ..area }, self.theme);
        if pen.is_empty() {
            return;
        }
        let (mut digit, mut follows) = ("", false);
        for (at, (x, share)) in (0..pen.width()).zip(self.shares).enumerate() {
            let (glyph, tone) = self.cell(*share, self.peaks.get(at).copied().unwrap_or(*share));
            let is_over = *share > 1.0 + OVER && self.theme.shades();
            let rises = at + 1 < usize::from(pen.area().width)
                && self.shares.get(at + 1).is_some_and(|next| times(*next) > times(*share));
            let is_hidden = is_over && (glyph == digit || follows || rises);
            follows = is_over && !is_hidden;
            if !is_hidden {
                digit = if is_over { glyph } else { "" };
            }
            let glyph = if is_hidden { " " } else { glyph };
            let style = self.theme.style(tone);
            // A bar is drawn in its shade, a digit on a background of its shade.
            let bar = *share <= 1.0 + OVER && !self.theme.is_ascii();
            let style = match style.bg.filter(|_| bar) {
                Some(shade) => Style::new().fg(shade),
                None => style,
            };
            pen.glyph(x, 0, glyph, style);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::glyphs::GlyphSet;
    use crate::text_of;

    fn drawn(theme: &Theme, shares: &[f64]) -> String {
        let area = Rect::new(0, 0, shares.len() as u16, 1);
        let mut buf = Buffer::empty(area);
        Strip::new(theme, shares).render(area, &mut buf);
        text_of(&buf)
    }

    #[test]
    fn only_what_exceeds_the_capacity_is_a_digit() {
        let theme = Theme::mono(GlyphSet::Braille);
        assert_eq!(drawn(&theme, &[0.0, 0.01, 0.5, 1.0, 1.0 + 1e-12]), "·▁▄██");
        assert_eq!(drawn(&theme, &[1.01, 2.0, 2.1, 9.0, 9.1]), "2239+");
        assert_eq!(drawn(&theme, &[f64::NAN, f64::INFINITY, -1.0]), "···");
        assert_eq!(
            drawn(&Theme::default(), &[1.5, 2.5, 1.5, 1.5, 1.0]),
            " 3 2█",
            "the digit of the highest cell"
        );
    }

    #[test]
    fn a_short_overload_is_marked_without_filling_the_column() {
        let theme = Theme::default();
        let strip = Strip::new(&theme, &[]);
        assert_eq!(strip.cell(0.1, 2.0), (theme.glyphs.eighths[0], Tone::Bad));
        assert_eq!(strip.cell(0.1, 1.0).1, Tone::Heat(1));
        let mono = Theme::mono(GlyphSet::Braille);
        assert_eq!(Strip::new(&mono, &[]).cell(0.1, 2.0).0, "!");
    }

    #[test]
    fn shades_grow_with_the_share() {
        let strip = |share| Strip::new(&Theme::default(), &[]).cell(share, share).1;
        let heat = [0.2, 1.0, 1.5, 2.5, 30.0].map(strip);
        assert_eq!(heat, [1, 4, 5, 6, 7].map(Tone::Heat));
    }
}
