//! One sentence about the selected item, which can be copied.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::widgets::Widget;

use crate::glyphs::Glyphs;
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

    /// Sets whether all rows of the area are used, with line breaks at spaces.
    #[must_use]
    pub const fn wrap(mut self, wrap: bool) -> Self {
        self.wrap = wrap;
        self
    }
}

impl Sentence<'_> {
    /// Draws the sentence into the area of a pen.
    pub(crate) fn draw(&self, pen: &mut Pen<'_>) {
        if pen.is_empty() {
            return;
        }
        if !self.wrap || pen.height() == 1 {
            match whole_clauses(self.pieces, pen.area().width, self.theme.glyphs) {
                Some(clauses) => pen.pieces(0, 0, pen.width(), &clauses),
                None => pen.pieces(0, 0, pen.width(), self.pieces),
            };
            return;
        }
        let glyphs = pen.glyphs();
        let (width, height) = (pen.width(), pen.height());
        let dots = i32::from(text::width_of_ellipsis(glyphs));
        let (mut x, mut y) = (0, 0);
        // The last group in the row.
        let (mut start, mut end) = (0, 0);
        for group in groups(self.pieces) {
            let text: String = group.iter().map(|(word, _)| *word).collect();
            let visible = i32::from(text::width(text.trim_end(), glyphs));
            if x > 0 && x + visible > width {
                if y + 1 == height {
                    let at = match width - dots - end {
                        1.. => end + 1,
                        0 => end,
                        // The last group is omitted as a whole, because it may be a number.
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
            if x == 0 && visible == 0 {
                continue;
            }
            if visible > 0 {
                (start, end) = (x, (x + visible).min(width));
            }
            for (word, piece) in group {
                let style = self.theme.ink(piece.tone, piece.bold);
                // The blanks after the last word of a row are omitted: drawn, they would cut this word.
                let fits = x + i32::from(text::width(word, glyphs)) <= width;
                let word = if fits { word } else { word.trim_end_matches(' ') };
                x += if word.is_empty() { 0 } else { pen.text(x, y, word, style) };
            }
        }
    }
}

impl Widget for &Sentence<'_> {
    fn render(self, area: Rect, buf: &mut Buffer) {
        self.draw(&mut Pen::new(buf, area, self.theme));
    }
}

/// Returns the clauses of a text that fit in a width, if the whole text does not. Clauses are separated by at least two
/// blanks, by a semicolon or by a comma, most important first. `None` if the text fits, or if its first clause does not.
pub(crate) fn whole_clauses(pieces: &[Piece], width: u16, glyphs: &'static Glyphs) -> Option<Vec<Piece>> {
    if pieces_width(pieces, glyphs) <= width {
        return None;
    }
    let text: String = pieces.iter().map(|piece| piece.text.as_ref()).collect();
    let ends = ["  ", "; ", ", "].into_iter().flat_map(|between| text.match_indices(between));
    let fits = |end: &usize| text.get(..*end).is_some_and(|clauses| text::width(clauses, glyphs) <= width);
    let mut left = ends.map(|(at, _)| at).filter(|end| *end > 0 && fits(end)).max()?;
    let mut clauses = Vec::new();
    for piece in pieces {
        let shown = piece.text.len().min(left);
        left -= shown;
        if let Some(text) = piece.text.get(..shown).filter(|text| !text.is_empty()) {
            clauses.push(Piece { text: text.to_owned().into(), ..piece.clone() });
        }
    }
    Some(clauses)
}

/// Units that stay in the row of their number.
const UNITS: [&str; 17] = [
    "%", "x", "s", "ms", "µs", "us", "ns", "h", "B", "KB", "MB", "GB", "TB", "GB/s", "Gb/s", "TFLOP/s",
    "GFLOP",
];

/// Divides pieces into groups of words with their blanks, at whose ends a row may end: after a blank, but not within a
/// number with grouped digits and not between a number and its unit.
fn groups(pieces: &[Piece]) -> Vec<Vec<(&str, &Piece)>> {
    let words =
        pieces.iter().flat_map(|piece| piece.text.split_inclusive(' ').map(move |word| (word, piece)));
    let mut groups: Vec<Vec<(&str, &Piece)>> = Vec::new();
    let (mut open, mut tail) = (false, "");
    for (word, piece) in words {
        let text = word.trim();
        let blank = text.is_empty();
        match groups.last_mut() {
            Some(group) if open || blank || is_bound(tail, text) => group.push((word, piece)),
            _ => groups.push(vec![(word, piece)]),
        }
        open = !word.ends_with(' ');
        if !blank {
            tail = text;
        }
    }
    groups
}

/// Returns `true` if `next` continues the number at the end of `before`: three more digits, or its unit.
fn is_bound(before: &str, next: &str) -> bool {
    let digits = next.bytes().take_while(u8::is_ascii_digit).count();
    let unit = next.trim_end_matches(['.', ',', ';', ':', ')']);
    before.ends_with(|last: char| last.is_ascii_digit()) && (digits == 3 || UNITS.contains(&unit))
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
        let pieces = [Piece::answer("> DP s2"), Piece::muted("  12.257 to 12.830 s")];
        assert_eq!(drawn(&pieces, 20), "> DP s2", "a number is never left without its unit");
    }

    #[test]
    fn a_long_first_clause_is_cut() {
        assert_eq!(drawn(&[Piece::text("one clause without an end")], 10), "one …");
        assert_eq!(drawn(&[Piece::text("a clause, without an end")], 10), "a clause");
    }

    #[test]
    fn rows_break_neither_words_nor_numbers() {
        let wrapped = |pieces: &[Piece], width: u16, height: u16| {
            let area = Rect::new(0, 0, width, height);
            let mut buf = Buffer::empty(area);
            Sentence::new(&Theme::default(), pieces).wrap(true).render(area, &mut buf);
            text_of(&buf)
        };
        // The word ends at the edge, and its blank does not cut it.
        assert_eq!(wrapped(&[Piece::text("at most 0.03 % shorter")], 14, 2), "at most 0.03 %\nshorter");
        assert_eq!(
            wrapped(&[Piece::text("finish 40 468.750 µs late")], 13, 3),
            "finish\n40 468.750 µs\nlate"
        );
        let pieces = [Piece::text("stalls "), Piece::answer("0.0"), Piece::muted(" % of it")];
        assert_eq!(wrapped(&pieces, 10, 2), "stalls\n0.0 % of …");
        assert_eq!(wrapped(&[Piece::text("5 links, 300 sends")], 9, 2), "5 links,\n300 sends");
    }
}
