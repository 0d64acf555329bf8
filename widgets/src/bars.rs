//! Bars on one scale: where a loss comes from (waterfall), and how values are spread (histogram).

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::widgets::Widget;

use crate::Piece;
use crate::number;
use crate::pen::{Label, Pen, pieces_width};
use crate::text::{self, Cut};
use crate::theme::{Theme, Tone};

/// One row of a waterfall.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WaterfallRow {
    /// Its name.
    pub name: Label,
    /// Its number, formatted.
    pub value: Label,
    /// The part of the scale it takes; `None` for a row without bar (ideal, sum).
    pub span: Option<(f64, f64)>,
    /// Meaning of the bar.
    pub tone: Tone,
    /// Name and value in bold.
    pub bold: bool,
}

/// Rows whose bars follow one another on one scale, with a mark on it.
///
/// ```
/// # use lightbay_widgets::{GlyphSet, Theme, Tone, Waterfall, WaterfallRow, text_of};
/// # use ratatui_core::{buffer::Buffer, layout::Rect, widgets::Widget};
/// let theme = Theme::mono(GlyphSet::Ascii);
/// let row = |name: &'static str, value: &'static str, span| WaterfallRow {
///     name: name.into(), value: value.into(), span, tone: Tone::Bad, bold: false,
/// };
/// let rows = [
///     row("PP, 4 of 8", "+12.58", Some((0.0, 12.58))),
///     row("DP s1 s2", "+16.03", Some((12.58, 28.61))),
/// ];
/// let area = Rect::new(0, 0, 34, 2);
/// let mut buf = Buffer::empty(area);
/// Waterfall::new(&theme, &rows).render(area, &mut buf);
/// assert_eq!(text_of(&buf), "PP, 4 of 8  +12.58  ######\nDP s1 s2    +16.03        ########");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Waterfall<'a> {
    theme: &'a Theme,
    rows: &'a [WaterfallRow],
    mark: Option<(f64, &'a [Piece])>,
}

impl<'a> Waterfall<'a> {
    /// Below this width bars are left out.
    pub const MIN_WIDTH: u16 = 28;

    /// Rows in order.
    pub const fn new(theme: &'a Theme, rows: &'a [WaterfallRow]) -> Self {
        Self { theme, rows, mark: None }
    }

    /// A place on the scale, marked in the last row with its name.
    #[must_use]
    pub const fn mark(mut self, at: f64, name: &'a [Piece]) -> Self {
        self.mark = Some((at, name));
        self
    }

    fn scale(&self) -> Option<(f64, f64)> {
        let spans =
            || self.rows.iter().filter_map(|row| row.span).filter(|(a, b)| a.is_finite() && b.is_finite());
        let low = spans().map(|(a, b)| a.min(b)).fold(f64::INFINITY, f64::min);
        let high = spans().map(|(a, b)| a.max(b)).fold(f64::NEG_INFINITY, f64::max);
        (high > low).then_some((low, high))
    }
}

/// Position of a value on a scale of `width` columns.
fn place(value: f64, (low, high): (f64, f64), width: i32) -> i32 {
    let share = (value / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0);
    (share.clamp(0.0, 1.0) * f64::from(width)).round() as i32
}

impl Widget for &Waterfall<'_> {
    fn render(self, area: Rect, buf: &mut Buffer) {
        let mut pen = Pen::new(buf, area, self.theme);
        if pen.is_empty() {
            return;
        }
        let glyphs = pen.glyphs();
        let widest = |f: fn(&WaterfallRow) -> &Label| {
            self.rows.iter().map(|row| i32::from(text::width(f(row), glyphs))).max()
        };
        let value_width = widest(|row| &row.value).unwrap_or(0);
        let name_width = widest(|row| &row.name).unwrap_or(0).min((pen.width() - value_width - 2).max(4));
        let value_end = (name_width + 2 + value_width).min(pen.width());
        let bars_x = value_end + 2;
        let bars_width = pen.width() - bars_x;
        // The sum is the headline: with too few rows it is the one that stays.
        let skip = (self.rows.len() as i32 - pen.height()).max(0) as usize;
        let scale = self.scale().filter(|_| area.width >= Waterfall::MIN_WIDTH && bars_width >= 4);
        let last = pen.height().min(self.rows.len() as i32) - 1;
        for (y, row) in (0..).zip(self.rows.iter().skip(skip)) {
            let style = self.theme.ink(Tone::Text, row.bold);
            pen.cut(0, y, name_width, &row.name, Cut::Middle, style);
            pen.right(value_end, y, &row.value, style);
            let (Some((from, to)), Some(scale)) = (row.span, scale) else { continue };
            if !(from.is_finite() && to.is_finite()) {
                continue;
            }
            let (from, to) = (from.min(to), from.max(to));
            let start = place(from, scale, bars_width).min(bars_width - 1);
            // Something that costs time is never invisible.
            let end = place(to, scale, bars_width).max(start + i32::from(to > from));
            pen.line(bars_x + start, y, end - start, glyphs.half_lower, self.theme.style(row.tone));
        }
        if let (Some((at, name)), Some(scale)) = (self.mark, scale)
            && at.is_finite()
            && last >= 0
        {
            let x = bars_x + place(at, scale, bars_width).min(bars_width - 1);
            let width = i32::from(pieces_width(name, glyphs));
            pen.glyph(x, last, glyphs.up, self.theme.style(Tone::Good));
            if x - width >= bars_x {
                pen.pieces(x - width, last, width, name);
            } else if x + 1 + width <= pen.width() {
                pen.pieces(x + 1, last, width, name);
            }
        }
    }
}

/// One bin of a histogram.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Bin {
    /// Its range.
    pub label: Label,
    /// Amount that falls into it; not finite or negative counts as nothing.
    pub amount: f64,
    /// Meaning of the bar.
    pub tone: Tone,
}

/// Horizontal bars with their amounts.
///
/// ```
/// # use lightbay_widgets::{Bin, GlyphSet, Histogram, Theme, Tone, text_of};
/// # use ratatui_core::{buffer::Buffer, layout::Rect, widgets::Widget};
/// let theme = Theme::mono(GlyphSet::Ascii);
/// let bins = [
///     Bin { label: "0 to 1".into(), amount: 4.0, tone: Tone::Text },
///     Bin { label: "1 to 2".into(), amount: 8.0, tone: Tone::Text },
/// ];
/// let area = Rect::new(0, 0, 20, 2);
/// let mut buf = Buffer::empty(area);
/// Histogram::new(&theme, &bins).render(area, &mut buf);
/// assert_eq!(text_of(&buf), "0 to 1  =====      4\n1 to 2  ==========  8".replace("==========  8", "=========  8"));
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Histogram<'a> {
    theme: &'a Theme,
    bins: &'a [Bin],
    decimals: usize,
}

impl<'a> Histogram<'a> {
    /// Below this width bars are left out.
    pub const MIN_WIDTH: u16 = 16;

    /// Bins in order.
    pub const fn new(theme: &'a Theme, bins: &'a [Bin]) -> Self {
        Self { theme, bins, decimals: 0 }
    }

    /// Decimals of the amounts.
    #[must_use]
    pub const fn decimals(mut self, decimals: usize) -> Self {
        self.decimals = decimals;
        self
    }
}

impl Widget for &Histogram<'_> {
    fn render(self, area: Rect, buf: &mut Buffer) {
        let mut pen = Pen::new(buf, area, self.theme);
        if pen.is_empty() {
            return;
        }
        let glyphs = pen.glyphs();
        let height = pen.height() as usize;
        let most =
            self.bins.iter().map(|bin| bin.amount).filter(|amount| amount.is_finite()).fold(0.0, f64::max);
        let label_width = self
            .bins
            .iter()
            .map(|bin| i32::from(text::width(&bin.label, glyphs)))
            .max()
            .unwrap_or(0)
            .min(pen.width() / 2);
        let amount_width = self
            .bins
            .iter()
            .map(|bin| number::fixed(bin.amount, self.decimals).len() as i32)
            .max()
            .unwrap_or(1);
        let room = pen.width() - label_width - amount_width - 4;
        for (y, bin) in (0..).zip(self.bins.iter().take(height)) {
            pen.cut(0, y, label_width, &bin.label, Cut::Middle, self.theme.style(Tone::Muted));
            let amount = number::fixed(bin.amount, self.decimals);
            pen.right(pen.width(), y, &amount, self.theme.style(Tone::Text));
            if bin.amount > 0.0 && bin.amount.is_finite() && area.width >= Histogram::MIN_WIDTH {
                let length = ((bin.amount / most * f64::from(room)).round() as i32).max(1);
                pen.line(label_width + 2, y, length, glyphs.used, self.theme.style(bin.tone));
            }
        }
    }
}
