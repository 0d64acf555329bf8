//! A sparse matrix of kept, added and removed circuits as a small picture without names, so that several fit on a
//! screen: two rows of cells per row of the screen, or one sign per cell where colours are missing.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::Style;
use ratatui_core::widgets::Widget;

use crate::pen::Pen;
use crate::signs::{Sign, SignRows};
use crate::theme::{Theme, Tone};

/// The picture.
///
/// ```
/// # use lightbay_widgets::{GlyphSet, Sign, SignCell, SignMap, SignRows, Theme, text_of};
/// # use ratatui_core::{buffer::Buffer, layout::Rect, widgets::Widget};
/// let mut rows = SignRows::default();
/// for (column, sign) in [(0, Sign::Keep(1)), (2, Sign::Add(1)), (1, Sign::Remove(1))] {
///     rows.push(SignCell { column, sign, ..SignCell::default() });
///     rows.end_row();
/// }
/// let theme = Theme::mono(GlyphSet::Ascii);
/// let map = SignMap::new(&theme, &rows, 3);
/// assert_eq!(map.size(), (3, 3));
/// let area = Rect::new(0, 0, 3, 3);
/// let mut buf = Buffer::empty(area);
/// map.render(area, &mut buf);
/// assert_eq!(text_of(&buf), "o..\n..+\n.-.");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct SignMap<'a> {
    theme: &'a Theme,
    rows: &'a SignRows,
    columns: u16,
    scale: u16,
}

impl<'a> SignMap<'a> {
    /// Creates a picture of these rows with `columns` columns.
    pub const fn new(theme: &'a Theme, rows: &'a SignRows, columns: u16) -> Self {
        Self { theme, rows, columns, scale: 1 }
    }

    /// Sets the number of columns of the screen for each cell; a cell of several columns has half as many rows.
    #[must_use]
    pub const fn scale(mut self, scale: u16) -> Self {
        self.scale = if scale == 0 { 1 } else { scale };
        self
    }

    /// Returns `true` if a row of the screen shows two rows of cells.
    const fn halves(&self) -> bool {
        self.scale == 1 && self.theme.shades() && !self.theme.is_ascii()
    }

    /// Returns the number of rows of the screen for each cell of a picture without half rows.
    const fn tall(&self) -> u16 {
        if self.scale > 1 { self.scale / 2 } else { 1 }
    }

    /// Returns the width and height of the whole picture.
    pub fn size(&self) -> (u16, u16) {
        let rows = self.rows.rows() as u16;
        let height = if self.halves() { rows.div_ceil(2) } else { rows.saturating_mul(self.tall()) };
        (self.columns.saturating_mul(self.scale), height)
    }

    /// Draws every cell as an area, with its sign where colours are missing.
    fn draw_large(&self, pen: &mut Pen<'_>) {
        let glyphs = pen.glyphs();
        let [wide, tall] = [self.scale, self.tall()].map(i32::from);
        let shades = self.theme.shades() && !self.theme.is_ascii();
        for row in 0..self.rows.rows() {
            for column in 0..self.columns {
                let (x, y) = (i32::from(column) * wide, row as i32 * tall);
                if x >= pen.width() || y >= pen.height() {
                    continue;
                }
                let tone = self.tone(row, column);
                if shades {
                    let colour = tone.and_then(|tone| self.theme.style(tone).fg);
                    let style = colour.map_or(self.theme.track(), |colour| Style::new().bg(colour));
                    pen.clear(x, y, wide, tall, style);
                    continue;
                }
                let glyph = match tone {
                    Some(Tone::Muted) => glyphs.dot,
                    Some(Tone::Good) => glyphs.plus,
                    Some(_) => glyphs.minus,
                    None => glyphs.inactive,
                };
                pen.glyph(
                    x + (wide - 1) / 2,
                    y + (tall - 1) / 2,
                    glyph,
                    self.theme.style(tone.unwrap_or(Tone::Rule)),
                );
            }
        }
    }

    /// Returns the tone of a cell; `None` for an empty cell, and for a cell outside of the matrix.
    fn tone(&self, row: usize, column: u16) -> Option<Tone> {
        let cell = self.rows.get(row, usize::from(column)).filter(|_| row < self.rows.rows())?;
        match cell.sign {
            Sign::None | Sign::Never => None,
            Sign::Keep(_) | Sign::Count(..) => Some(Tone::Muted),
            Sign::Add(_) => Some(Tone::Good),
            Sign::Remove(_) | Sign::Alarm(_) => Some(Tone::Bad),
        }
    }
}

impl Widget for &SignMap<'_> {
    fn render(self, area: Rect, buf: &mut Buffer) {
        let mut pen = Pen::new(buf, area, self.theme);
        if !self.halves() {
            return self.draw_large(&mut pen);
        }
        let glyphs = pen.glyphs();
        let (width, height) = self.size();
        let (width, height) = (i32::from(width).min(pen.width()), i32::from(height).min(pen.height()));
        let track = self.theme.track();
        for y in 0..height {
            for x in 0..width {
                let column = x as u16;
                let [upper, lower] = [0, 1].map(|half| self.tone(2 * y as usize + half, column));
                let colour = |tone: Tone| self.theme.style(tone).fg;
                let (glyph, style) = match (upper, lower) {
                    (None, None) => (" ", track),
                    (Some(upper), None) => (glyphs.half_upper, track.patch(self.theme.style(upper))),
                    (None, Some(lower)) => (glyphs.half_lower, track.patch(self.theme.style(lower))),
                    (Some(upper), Some(lower)) => {
                        let style = Style { fg: colour(upper), bg: colour(lower), ..Style::new() };
                        (glyphs.half_upper, style)
                    }
                };
                pen.glyph(x, y, glyph, style);
            }
        }
    }
}

impl Widget for SignMap<'_> {
    fn render(self, area: Rect, buf: &mut Buffer) {
        (&self).render(area, buf);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::glyphs::GlyphSet;
    use crate::signs::SignCell;
    use crate::text_of;
    use crate::theme::{Background, ColorDepth, Palette};

    #[test]
    fn two_rows_share_a_row_of_the_screen_and_keep_their_colours() {
        let mut rows = SignRows::default();
        for (column, sign) in [(0, Sign::Add(1)), (0, Sign::Remove(1)), (1, Sign::Keep(1))] {
            rows.push(SignCell { column, sign, ..SignCell::default() });
            rows.end_row();
        }
        let theme = Theme::new(Palette::Okabe, ColorDepth::TrueColor, Background::Dark, GlyphSet::Block);
        let map = SignMap::new(&theme, &rows, 2);
        assert_eq!(map.size(), (2, 2));
        let area = Rect::new(0, 0, 2, 2);
        let mut buf = Buffer::empty(area);
        map.render(area, &mut buf);
        assert_eq!(text_of(&buf), "▀\n ▀");
        let [good, bad] = [Tone::Good, Tone::Bad].map(|tone| theme.style(tone).fg);
        assert_eq!((Some(buf[(0, 0)].fg), Some(buf[(0, 0)].bg)), (good, bad));
        assert_eq!(Some(buf[(1, 1)].fg), theme.style(Tone::Muted).fg);
        let large = map.scale(4);
        assert_eq!(large.size(), (8, 6));
        let area = Rect::new(0, 0, 8, 6);
        let mut buf = Buffer::empty(area);
        large.render(area, &mut buf);
        assert!((0..4).all(|x| (0..2).all(|y| Some(buf[(x, y)].bg) == good)));
        assert!((4..8).all(|x| Some(buf[(x, 5)].bg) == theme.style(Tone::Muted).fg));
    }
}
