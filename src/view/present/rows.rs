//! Rows of text inside panes.

use lightbay_widgets::{Piece, Sentence, Theme, pieces_width};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::Widget;

/// Returns row `at` of an area, counted from 0; an empty rectangle if the area has fewer rows.
pub fn row(area: Rect, at: u16) -> Rect {
    Rect { y: area.y.saturating_add(at), height: u16::from(at < area.height), ..area }
}

/// Returns the rows of an area from row `at` on.
pub fn from(area: Rect, at: u16) -> Rect {
    let at = at.min(area.height);
    Rect { y: area.y + at, height: area.height - at, ..area }
}

/// Splits an area into its first `columns` columns and the rest, with a gap between them.
pub fn beside(area: Rect, columns: u16, gap: u16) -> (Rect, Rect) {
    let columns = columns.min(area.width);
    let right = (columns + gap).min(area.width);
    (Rect { width: columns, ..area }, Rect { x: area.x + right, width: area.width - right, ..area })
}

/// Divides an area into columns of equal width with gaps between them.
pub fn columns(area: Rect, count: u16, gap: u16) -> impl Iterator<Item = Rect> {
    let width = area.width.saturating_sub(gap * count.saturating_sub(1)) / count.max(1);
    (0..count).map(move |at| Rect { x: area.x + at * (width + gap), width, ..area })
}

/// Writes pieces into the first row of an area.
pub fn line(theme: &Theme, pieces: &[Piece], area: Rect, buf: &mut Buffer) {
    if !area.is_empty() {
        (&Sentence::new(theme, pieces)).render(Rect { height: 1, ..area }, buf);
    }
}

/// Writes pieces into all rows of an area, broken at spaces.
pub fn wrapped(theme: &Theme, pieces: &[Piece], area: Rect, buf: &mut Buffer) {
    if !area.is_empty() {
        (&Sentence::new(theme, pieces).wrap(true)).render(area, buf);
    }
}

/// Returns the visible rows and columns (first, number shown, total) as text, if some are hidden: `rows 1-31 of 64`.
pub fn in_sight(rows: (usize, usize, usize), columns: (usize, usize, usize)) -> Option<String> {
    let part = |name: &str, (first, shown, all): (usize, usize, usize)| {
        let last = (first + shown).min(all);
        (shown > 0 && shown < all).then(|| format!("{name} {}-{last} of {all}", first + 1))
    };
    let parts: Vec<String> = [part("rows", rows), part("columns", columns)].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// Shortens the visible rows and columns for a title line: `rows 1-4 of 8` becomes `4 of 8`, and
/// `rows 2-4 of 4, columns 1-3 of 4` becomes `3 x 3 of 4 x 4`.
pub fn brief(in_sight: &str) -> String {
    let count = |part: &str| -> Option<(usize, String)> {
        let (range, all) = part.split_once(' ')?.1.split_once(" of ")?;
        let (first, last) = range.split_once('-')?;
        Some((last.parse::<usize>().ok()? + 1 - first.parse::<usize>().ok()?, all.to_owned()))
    };
    let both = in_sight.split_once(", ").and_then(|(rows, columns)| count(rows).zip(count(columns)));
    match both {
        Some(((rows, all), (columns, of))) => format!("{rows} x {columns} of {all} x {of}"),
        None => in_sight
            .replace("rows ", "")
            .replace("columns 1-", "columns ")
            .trim_start_matches("1-")
            .to_owned(),
    }
}

/// Writes pieces at both ends of a row; if room is short, the left pieces are cut.
pub fn ends(theme: &Theme, left: &[Piece], right: &[Piece], area: Rect, buf: &mut Buffer) {
    let width = pieces_width(right, theme.glyphs).min(area.width);
    let (first, _) = beside(area, area.width.saturating_sub(width + u16::from(width > 0)), 0);
    line(theme, left, first, buf);
    line(theme, right, Rect { x: area.right() - width, width, ..area }, buf);
}
