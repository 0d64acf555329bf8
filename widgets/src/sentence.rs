//! One sentence about the selected item, which can be copied.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::widgets::Widget;

use crate::pen::{Pen, Piece, pieces_width};
use crate::text;
use crate::theme::{Theme, Tone};

/// Pieces of text in one row, or in several rows that are broken between pieces or words.
///
/// ```
/// # use lightbay_widgets::{Piece, Sentence, Theme, text_of};
/// # use ratatui_core::{buffer::Buffer, layout::Rect, widgets::Widget};
/// let theme = Theme::default();
/// let pieces = [Piece::answer("> DP s2*"), Piece::muted("  slack "), Piece::answer("0.0")];
/// let area = Rect::new(0, 0, 30, 1);
/// let mut buf = Buffer::empty(area);
/// Sentence::new(&theme, &pieces).render(area, &mut buf);
/// assert_eq!(text_of(&buf), "> DP s2*  slack 0.0");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Sentence<'a> {
    theme: &'a Theme,
    pieces: &'a [Piece],
    wrap: bool,
}

impl<'a> Sentence<'a> {
    /// Width below which only the beginning is readable.
    pub const MIN_WIDTH: u16 = 20;

    /// Creates a sentence in one row. If it does not fit, its last clauses are omitted, or a long first clause is cut.
    pub const fn new(theme: &'a Theme, pieces: &'a [Piece]) -> Self {
        Self { theme, pieces, wrap: false }
    }

    /// Returns the number of rows, at most `most`, that the sentence needs in a width with line breaks at spaces.
    pub fn rows(&self, width: u16, most: u16) -> u16 {
        // Each break leaves some cells blank.
        let cells = pieces_width(self.pieces, self.theme.glyphs);
        let rows = if cells <= width { 1 } else { cells.saturating_add(cells / 8).div_ceil(width.max(1)) };
        rows.clamp(1, most.max(1))
    }

    /// Returns the clauses of a sentence that fit in a width, if the whole sentence does not. Clauses are separated by at
    /// least two blanks or by a semicolon, most important first. `None` if the sentence fits, or if its first clauses would
    /// leave most of the width blank.
    fn whole_clauses(&self, width: u16) -> Option<Vec<Piece>> {
        let glyphs = self.theme.glyphs;
        if pieces_width(self.pieces, glyphs) <= width {
            return None;
        }
        let text: String = self.pieces.iter().map(|piece| piece.text.as_ref()).collect();
        let ends = text.match_indices("  ").chain(text.match_indices("; ")).map(|(at, _)| at);
        let fits = |end: &usize| {
            let columns = text.get(..*end).map_or(0, |clauses| text::width(clauses, glyphs));
            columns <= width && columns >= width / 5 * 3
        };
        let mut left = ends.filter(fits).max()?;
        let mut clauses = Vec::new();
        for piece in self.pieces {
            let shown = piece.text.len().min(left);
            left -= shown;
            if let Some(text) = piece.text.get(..shown).filter(|text| !text.is_empty()) {
                clauses.push(Piece { text: text.to_owned().into(), ..piece.clone() });
            }
        }
        Some(clauses)
    }

    /// Sets whether all rows of the area are used, with line breaks at spaces.
    #[must_use]
    pub const fn wrap(mut self, wrap: bool) -> Self {
        self.wrap = wrap;
        self
    }
}

impl Widget for &Sentence<'_> {
    fn render(self, area: Rect, buf: &mut Buffer) {
        let mut pen = Pen::new(buf, area, self.theme);
        if pen.is_empty() {
            return;
        }
        if !self.wrap || pen.height() == 1 {
            match self.whole_clauses(area.width) {
                Some(clauses) => pen.pieces(0, 0, pen.width(), &clauses),
                None => pen.pieces(0, 0, pen.width(), self.pieces),
            };
            return;
        }
        let glyphs = pen.glyphs();
        let (width, height) = (pen.width(), pen.height());
        let dots = i32::from(text::width_of_ellipsis(glyphs));
        let (mut x, mut y) = (0, 0);
        // The last word in the row.
        let (mut start, mut end) = (0, 0);
        for piece in self.pieces {
            let style = self.theme.ink(piece.tone, piece.bold);
            for word in piece.text.split_inclusive(' ') {
                let visible = i32::from(text::width(word.trim_end(), glyphs));
                if x > 0 && x + visible > width {
                    if y + 1 == height {
                        let at = match width - dots - end {
                            1.. => end + 1,
                            0 => end,
                            // The last word is omitted as a whole, because it may be a number.
                            _ => {
                                pen.line(start, y, width - start, " ", self.theme.style(Tone::Text));
                                start
                            }
                        };
                        pen.text(at, y, glyphs.ellipsis, self.theme.style(Tone::Muted));
                        return;
                    }
                    y += 1;
                    x = 0;
                }
                if x == 0 && word.trim().is_empty() {
                    continue;
                }
                if visible > 0 {
                    (start, end) = (x, (x + visible).min(width));
                }
                x += pen.text(x, y, word, style);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text_of;

    fn drawn(pieces: &[Piece], width: u16) -> String {
        let area = Rect::new(0, 0, width, 1);
        let mut buf = Buffer::empty(area);
        Sentence::new(&Theme::default(), pieces).render(area, &mut buf);
        text_of(&buf)
    }

    #[test]
    fn clauses_are_shown_whole_or_not_at_all() {
        let pieces = [
            Piece::answer("> DP s2"),
            Piece::muted("  slack "),
            Piece::answer("0.0; late"),
            Piece::text("  x"),
        ];
        assert_eq!(drawn(&pieces, 30), "> DP s2  slack 0.0; late  x");
        assert_eq!(drawn(&pieces, 26), "> DP s2  slack 0.0; late");
        assert_eq!(drawn(&pieces, 22), "> DP s2  slack 0.0");
        assert_eq!(drawn(&pieces, 11), "> DP s2");
    }

    #[test]
    fn a_long_first_clause_is_cut() {
        assert_eq!(drawn(&[Piece::text("one clause without an end")], 10), "one …");
        assert_eq!(drawn(&[Piece::text("a  clause without an end")], 10), "a …");
    }
}
