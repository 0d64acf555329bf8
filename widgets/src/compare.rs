//! Two schedules on one time scale: the new schedule in the upper half of each row, the old schedule in the lower half.
//!
//! With colour the two halves differ in tone; without colour they differ in shape: `█` both, `▀` only the new, `▄` only
//! the old (`#`, `"`, `_` in ASCII).

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::widgets::Widget;

use crate::axis::{Range, Scale};
use crate::pen::{Label, Pen, Piece};
use crate::text::{self, Cut};
use crate::theme::{Theme, Tone};

/// One task in both schedules.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PairRow {
    /// Name of the task.
    pub name: Piece,
    /// Start and end in the new schedule, seconds.
    pub new_s: Option<(f64, f64)>,
    /// Start and end in the old schedule, seconds.
    pub old_s: Option<(f64, f64)>,
    /// Difference of the ends, formatted.
    pub difference: Piece,
}

/// Rows of paired bars under a time axis.
///
/// ```
/// # use lightbay_widgets::{GlyphSet, PairRow, PairedBars, Piece, Theme, text_of};
/// # use ratatui_core::{buffer::Buffer, layout::Rect, widgets::Widget};
/// let theme = Theme::mono(GlyphSet::Braille);
/// let rows = [PairRow {
///     name: "DP s1".into(), new_s: Some((0.0, 6.0)), old_s: Some((2.0, 8.0)), difference: "-2.0".into(),
/// }];
/// let area = Rect::new(0, 0, 30, 2);
/// let mut buf = Buffer::empty(area);
/// PairedBars::new(&theme, &rows).render(area, &mut buf);
/// assert_eq!(text_of(&buf), "       0        5       end ms\nDP s1  ▀▀▀▀═══════▄▄▄▄    -2.0");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct PairedBars<'a> {
    theme: &'a Theme,
    rows: &'a [PairRow],
    title: &'a str,
    unit: &'a str,
    tone: Tone,
}

impl<'a> PairedBars<'a> {
    /// Width below which only names and differences are drawn.
    pub const MIN_WIDTH: u16 = 24;

    /// Creates paired bars for these rows, in order.
    pub const fn new(theme: &'a Theme, rows: &'a [PairRow]) -> Self {
        Self { theme, rows, title: "", unit: "end ms", tone: Tone::Gradient }
    }

    /// Sets the heading over the names.
    #[must_use]
    pub const fn title(mut self, title: &'a str) -> Self {
        self.title = title;
        self
    }

    /// Sets the heading of the differences (`end ms` by default).
    #[must_use]
    pub const fn unit(mut self, unit: &'a str) -> Self {
        self.unit = unit;
        self
    }

    /// Sets the tone of the new bars; the old bars are grey.
    #[must_use]
    pub const fn tone(mut self, tone: Tone) -> Self {
        self.tone = tone;
        self
    }

    fn draw_row(&self, pen: &mut Pen<'_>, x: i32, y: i32, width: i32, row: &PairRow, range: Range) {
        let cells = |span: Option<(f64, f64)>| {
            let (from, to) = span?;
            let (from, to) = (range.share(from)?, range.share(to)?);
            let start = (from * f64::from(width)).round().clamp(0.0, f64::from(width - 1)) as i32;
            let end = (to * f64::from(width)).round().clamp(0.0, f64::from(width)) as i32;
            Some((start, end.max(start + 1)))
        };
        let (new, old) = (cells(row.new_s), cells(row.old_s));
        let inside = |span: Option<(i32, i32)>, at| span.is_some_and(|(from, to)| (from..to).contains(&at));
        let glyphs = pen.glyphs();
        let (new_style, old_style) = (self.theme.style(self.tone), self.theme.style(Tone::Rule));
        let both = match (new_style.fg, old_style.fg) {
            (Some(_), Some(ground)) => Some(new_style.bg(ground)),
            _ => None,
        };
        let ascii = self.theme.is_ascii();
        let (upper, lower) = shapes(self.theme);
        for at in 0..width {
            match (inside(new, at), inside(old, at)) {
                (true, true) => match both {
                    Some(style) if !ascii => pen.glyph(x + at, y, glyphs.half_upper, style),
                    // Without colour, two lines are both schedules.
                    _ => pen.glyph(x + at, y, glyphs.rule_focus, new_style),
                },
                (true, false) => pen.glyph(x + at, y, upper, new_style),
                (false, true) => pen.glyph(x + at, y, lower, old_style),
                (false, false) => {}
            }
        }
    }
}

impl Widget for &PairedBars<'_> {
    fn render(self, area: Rect, buf: &mut Buffer) {
        let mut pen = Pen::new(buf, area, self.theme);
        if pen.is_empty() {
            return;
        }
        let glyphs = pen.glyphs();
        let widest = |f: fn(&PairRow) -> &Piece| {
            self.rows.iter().map(|row| i32::from(text::width(&f(row).text, glyphs))).max()
        };
        let name_width = widest(|row| &row.name).unwrap_or(0).max(i32::from(text::width(self.title, glyphs)));
        let name_width = name_width.min(pen.width() / 3);
        let end_width =
            widest(|row| &row.difference).unwrap_or(0).max(i32::from(text::width(self.unit, glyphs)));
        let bars_x = name_width + 2;
        let bars_width = pen.width() - bars_x - end_width - 2;
        let ends = |row: &PairRow| {
            let pair = |span: Option<(f64, f64)>| span.map_or([f64::NAN; 2], |(from, to)| [from, to]);
            pair(row.new_s).into_iter().chain(pair(row.old_s))
        };
        let range = Range::of(self.rows.iter().flat_map(ends), Scale::Linear);
        let bars = area.width >= PairedBars::MIN_WIDTH && bars_width >= 8;
        let muted = self.theme.style(Tone::Muted);
        let top = i32::from(pen.height() > 1);
        if top > 0 {
            pen.cut(0, 0, name_width, self.title, Cut::End, muted);
            pen.right(pen.width(), 0, self.unit, muted);
            if bars {
                let ticks = range.ticks((bars_width / 8).max(2) as usize);
                for value in ticks.clone() {
                    let label = ticks.label(value);
                    let at =
                        range.share(value).map_or(0, |share| (share * f64::from(bars_width)).round() as i32);
                    if at + label.len() as i32 <= bars_width {
                        pen.text(bars_x + at, 0, &label, muted);
                    }
                }
            }
        }
        let height = (pen.height() - top) as usize;
        for (y, row) in (top..).zip(self.rows.iter().take(height)) {
            let style = self.theme.ink(row.name.tone, row.name.bold);
            pen.cut(0, y, name_width, &row.name.text, Cut::Middle, style);
            let style = self.theme.ink(row.difference.tone, row.difference.bold);
            pen.right(pen.width(), y, &row.difference.text, style);
            if bars {
                self.draw_row(&mut pen, bars_x, y, bars_width, row, range);
            }
        }
    }
}

/// Returns the glyphs of a cell that only the new schedule covers, and of a cell that only the old schedule covers.
fn shapes(theme: &Theme) -> (&'static str, &'static str) {
    if theme.is_ascii() { ("\"", "_") } else { (theme.glyphs.half_upper, theme.glyphs.half_lower) }
}

/// Returns pieces that explain paired bars by colour or shape, with the names of both schedules: `▀ 6 delta-level   ▄ B
/// 4 iter-halve`.
pub fn pair_legend(theme: &Theme, new: impl Into<Label>, old: impl Into<Label>) -> [Piece; 4] {
    let (upper, lower) = shapes(theme);
    let (upper, lower) = (format!("{upper} "), format!("   {lower} "));
    [Piece::new(upper, Tone::Gradient), Piece::muted(new), Piece::new(lower, Tone::Rule), Piece::muted(old)]
}
