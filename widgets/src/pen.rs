//! Widgets change a buffer only through this module, which clips to an area, cleans text and does not allocate.
//!
//! Coordinates are relative to the upper left corner of the area and may be outside it; content outside is not drawn.
//! With the ASCII set nothing above 0x7E passes.

use std::borrow::Cow;

use ratatui_core::buffer::{Buffer, Cell};
use ratatui_core::layout::{Position, Rect};
use ratatui_core::style::Style;

use crate::glyphs::Glyphs;
use crate::text::{self, Cut, Shares};
use crate::theme::{Theme, Tone};

/// Text of a row, cell or title: static, or owned by the view's cached data.
pub type Label = Cow<'static, str>;

/// A piece of text with its meaning.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Piece {
    /// The text of the piece.
    pub text: Label,
    /// Tone (meaning) of the text, from which the theme chooses the colour.
    pub tone: Tone,
    /// `true` if the text is in bold.
    pub bold: bool,
}

impl Piece {
    /// Creates a piece of any tone.
    pub fn new(text: impl Into<Label>, tone: Tone) -> Self {
        Self { text: text.into(), tone, bold: false }
    }

    /// Creates a piece of ordinary text.
    pub fn text(text: impl Into<Label>) -> Self {
        Self::new(text, Tone::Text)
    }

    /// Creates a label or unit, in grey.
    pub fn muted(text: impl Into<Label>) -> Self {
        Self::new(text, Tone::Muted)
    }

    /// Creates an answer, in bold.
    pub fn answer(text: impl Into<Label>) -> Self {
        Self::new(text, Tone::Answer)
    }

    /// Makes the piece bold.
    #[must_use]
    pub fn bold(mut self) -> Self {
        self.bold = true;
        self
    }

    /// Sets the meaning of the piece.
    #[must_use]
    pub const fn tone(mut self, tone: Tone) -> Self {
        self.tone = tone;
        self
    }
}

impl From<&'static str> for Piece {
    fn from(text: &'static str) -> Self {
        Self::text(text)
    }
}

impl From<String> for Piece {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

/// Returns the width of a row of pieces, in columns.
pub fn pieces_width(pieces: &[Piece], glyphs: &'static Glyphs) -> u16 {
    pieces.iter().fold(0u16, |sum, piece| sum.saturating_add(text::width(&piece.text, glyphs)))
}

/// Minimum width of a word that counts as a name and may be cut in its middle if it does not fit.
const LONG_WORD: i32 = 12;

/// Draws into one area of a buffer.
#[derive(Debug)]
pub struct Pen<'a> {
    buf: &'a mut Buffer,
    area: Rect,
    clip: Rect,
    theme: &'a Theme,
}

impl<'a> Pen<'a> {
    /// Creates a pen for `area`. Parts of the area outside the buffer are clipped.
    pub fn new(buf: &'a mut Buffer, area: Rect, theme: &'a Theme) -> Self {
        let clip = area.intersection(buf.area);
        Self { buf, area, clip, theme }
    }

    /// Returns `true` if nothing can be drawn.
    pub const fn is_empty(&self) -> bool {
        self.clip.is_empty()
    }

    /// Returns the number of columns of the area.
    pub const fn width(&self) -> i32 {
        self.area.width as i32
    }

    /// Returns the number of rows of the area.
    pub const fn height(&self) -> i32 {
        self.area.height as i32
    }

    /// Returns the area as given.
    pub const fn area(&self) -> Rect {
        self.area
    }

    /// Returns the theme in use. The returned reference does not borrow the pen, so it can be used while the pen draws.
    pub const fn theme(&self) -> &'a Theme {
        self.theme
    }

    /// Returns the characters in use.
    pub const fn glyphs(&self) -> &'static Glyphs {
        self.theme.glyphs
    }

    /// Returns the style of a tone.
    pub fn style(&self, tone: Tone) -> Style {
        self.theme.style(tone)
    }

    /// Returns a pen for a part of the area, in its own coordinates.
    pub fn part(&mut self, x: i32, y: i32, width: i32, height: i32) -> Pen<'_> {
        let area = self.rect(x, y, width, height);
        let clip = area.intersection(self.clip);
        Pen { buf: self.buf, area, clip, theme: self.theme }
    }

    /// Returns the rectangle on screen of a part of the area, cut at the edges of the area.
    pub fn rect(&self, x: i32, y: i32, width: i32, height: i32) -> Rect {
        let (ax, ay) = (i32::from(self.area.x), i32::from(self.area.y));
        let left = (ax + x.max(0)).clamp(ax, ax + self.width());
        let top = (ay + y.max(0)).clamp(ay, ay + self.height());
        let right = (ax + x.saturating_add(width.max(0))).clamp(left, (ax + self.width()).max(left));
        let bottom = (ay + y.saturating_add(height.max(0))).clamp(top, (ay + self.height()).max(top));
        Rect {
            x: left.min(i32::from(u16::MAX)) as u16,
            y: top.min(i32::from(u16::MAX)) as u16,
            width: (right - left) as u16,
            height: (bottom - top) as u16,
        }
    }

    /// Returns the cell at a position, if the cell may be drawn.
    pub fn cell(&mut self, x: i32, y: i32) -> Option<&mut Cell> {
        if x < 0 || y < 0 || x >= self.width() || y >= self.height() {
            return None;
        }
        let x = u16::try_from(i32::from(self.area.x) + x).ok()?;
        let y = u16::try_from(i32::from(self.area.y) + y).ok()?;
        let position = Position { x, y };
        if self.clip.contains(position) { self.buf.cell_mut(position) } else { None }
    }

    /// Writes a glyph that is one column wide. The glyph must belong to the character set in use, because it is not
    /// cleaned.
    pub fn glyph(&mut self, x: i32, y: i32, glyph: &str, style: Style) {
        if let Some(cell) = self.cell(x, y) {
            cell.set_symbol(glyph).set_style(style);
        }
    }

    /// Writes `text` from `x`, cut to `room` columns. Returns the columns used.
    pub fn cut(&mut self, x: i32, y: i32, room: i32, text: &str, cut: Cut, style: Style) -> i32 {
        let room = room.min(self.width() - x).clamp(0, i32::from(u16::MAX)) as u16;
        let glyphs = self.glyphs();
        self.divided(x, y, text, text::shares(text::width(text, glyphs), room, cut, glyphs), style)
    }

    /// Writes a name from `x`, cut to `room` columns so that it stays distinguishable from the other names.
    /// Returns the columns used.
    pub fn name_among<'t>(
        &mut self,
        x: i32,
        y: i32,
        room: i32,
        name: &str,
        others: impl Iterator<Item = &'t str> + Clone,
        style: Style,
    ) -> i32 {
        let room = room.min(self.width() - x).clamp(0, i32::from(u16::MAX)) as u16;
        let parts = text::shares_among(name, room, others, self.glyphs());
        self.divided(x, y, name, parts, style)
    }

    fn divided(&mut self, x: i32, y: i32, text: &str, parts: Shares, style: Style) -> i32 {
        let glyphs = self.glyphs();
        let mut at = self.run(x, y, i32::from(parts.head), text, style);
        if parts.ellipsis {
            at += self.run(x + at, y, 3, glyphs.ellipsis, style);
            at += self.run(x + at, y, i32::from(parts.tail), text::tail(text, parts.tail, glyphs), style);
        }
        at
    }

    /// Writes `text` from `x`, cut at the end by the right edge. Returns the columns used.
    pub fn text(&mut self, x: i32, y: i32, text: &str, style: Style) -> i32 {
        self.cut(x, y, self.width() - x, text, Cut::End, style)
    }

    /// Writes `text` so that it ends before column `right`, or writes nothing if the text does not fit. Returns the
    /// first column of the text (0 if it does not fit).
    pub fn right(&mut self, right: i32, y: i32, text: &str, style: Style) -> i32 {
        let width = i32::from(text::width(text, self.glyphs()));
        let x = right - width;
        if x >= 0 {
            self.run(x, y, width, text, style);
        }
        x.max(0)
    }

    /// Writes pieces from `x` in at most `room` columns. If the pieces do not fit, they are cut before a word, so that
    /// numbers do not lose digits, and an ellipsis marks the cut; only long names are cut inside. Returns the columns
    /// used.
    pub fn pieces(&mut self, x: i32, y: i32, room: i32, pieces: &[Piece]) -> i32 {
        let room = room.min(self.width() - x);
        let glyphs = self.glyphs();
        if i32::from(pieces_width(pieces, glyphs)) <= room {
            let mut at = 0;
            for piece in pieces {
                let style = self.theme.ink(piece.tone, piece.bold);
                at += self.run(x + at, y, room - at, &piece.text, style);
            }
            return at;
        }
        // A blank precedes the ellipsis, because otherwise it would look like a missing digit.
        let available = (room - i32::from(text::width_of_ellipsis(glyphs)) - 1).max(0);
        // Columns used, and end of the last word.
        let (mut at, mut end) = (0, 0);
        'pieces: for piece in pieces {
            let style = self.theme.ink(piece.tone, piece.bold);
            for word in piece.text.split_inclusive(' ') {
                let visible = word.trim_end();
                let width = i32::from(text::width(visible, glyphs));
                if at + width > available {
                    let number = visible.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
                    let long = at == 0 || width >= LONG_WORD && available - at >= LONG_WORD / 2;
                    if long && !number {
                        end = at + self.run(x + at, y, available + 1 - at, visible, style);
                    }
                    break 'pieces;
                }
                self.run(x + at, y, available - at, word, style);
                if width > 0 {
                    end = at + width;
                }
                at += i32::from(text::width(word, glyphs));
            }
        }
        let gap = i32::from(end > 0 && end <= available);
        if gap > 0 {
            self.run(x + end, y, gap, " ", self.style(Tone::Text));
        }
        end + gap + self.run(x + end + gap, y, room - end - gap, glyphs.ellipsis, self.style(Tone::Muted))
    }

    /// Writes pieces so that they end before column `right`. Returns their first column. Writes nothing and returns
    /// `right` if the pieces do not fit.
    pub fn pieces_right(&mut self, right: i32, y: i32, pieces: &[Piece]) -> i32 {
        let width = i32::from(pieces_width(pieces, self.glyphs()));
        let x = right - width;
        if x < 0 {
            return right;
        }
        self.pieces(x, y, width, pieces);
        x
    }

    /// Repeats a glyph of one column over `width` columns.
    pub fn line(&mut self, x: i32, y: i32, width: i32, glyph: &str, style: Style) {
        for at in x.max(0)..x.saturating_add(width).min(self.width()) {
            self.glyph(at, y, glyph, style);
        }
    }

    /// Empties a block of cells and gives it a style.
    pub fn clear(&mut self, x: i32, y: i32, width: i32, height: i32, style: Style) {
        for row in y.max(0)..y.saturating_add(height).min(self.height()) {
            for column in x.max(0)..x.saturating_add(width).min(self.width()) {
                if let Some(cell) = self.cell(column, row) {
                    cell.reset();
                    cell.set_style(style);
                }
            }
        }
    }

    /// Adds a style to a block of cells and keeps their content.
    pub fn paint(&mut self, x: i32, y: i32, width: i32, height: i32, style: Style) {
        for row in y.max(0)..y.saturating_add(height).min(self.height()) {
            for column in x.max(0)..x.saturating_add(width).min(self.width()) {
                if let Some(cell) = self.cell(column, row) {
                    cell.set_style(style);
                }
            }
        }
    }

    /// Writes the cleaned graphemes of `text` that fit into `room` columns. Returns the columns used.
    fn run(&mut self, x: i32, y: i32, room: i32, text: &str, style: Style) -> i32 {
        let glyphs = self.glyphs();
        let ascii = self.theme.is_ascii();
        let mut at = 0;
        for part in text::cleaned(text, glyphs) {
            let width = i32::from(part.width);
            if at + width > room {
                break;
            }
            if ascii {
                for i in 0..part.text.len() {
                    self.glyph(x + at + i as i32, y, &part.text[i..=i], style);
                }
            } else if width == 2 && (x + at < 0 || x + at + 1 >= self.width()) {
                // Half of a wide character cannot be drawn.
                self.glyph(x + at, y, " ", style);
            } else {
                self.glyph(x + at, y, part.text, style);
                if width == 2 {
                    // The second cell of a wide character stays empty, because otherwise the terminal would shift the
                    // row.
                    self.glyph(x + at + 1, y, " ", style);
                }
            }
            at += width;
        }
        at
    }
}
