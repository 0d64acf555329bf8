//! Rows of text inside panes.

use lightbay_widgets::{Piece, Sentence, Theme, pieces_width};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::Widget;
use std::fmt;

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

/// The visible rows and columns of a picture or list, of which some are hidden.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InSight {
    rows: VisiblePart,
    columns: VisiblePart,
    /// For rows of one of several lists, the number of rows of further lists below, of which no row is visible.
    below: Option<usize>,
}

/// Visible part of rows or columns: the first, the number shown, and the number of all.
pub type VisiblePart = (usize, usize, usize);

/// Returns the visible rows and columns if some are hidden.
pub fn in_sight(rows: VisiblePart, columns: VisiblePart) -> Option<InSight> {
    (hides(rows) || hides(columns)).then_some(InSight { rows, columns, below: None })
}

const fn hides((_, shown, all): VisiblePart) -> bool {
    shown > 0 && shown < all
}

/// Returns a range as text: `1-31 of 64`.
fn range((first, shown, all): VisiblePart) -> String {
    format!("{}-{} of {all}", first + 1, (first + shown).min(all))
}

impl InSight {
    /// Returns the visible rows of a list among others, and the number of rows of further lists below it, if some are
    /// hidden.
    pub fn of_list(rows: VisiblePart, below: usize) -> Option<Self> {
        (hides(rows) || below > 0).then_some(Self { rows, columns: (0, 0, 0), below: Some(below) })
    }

    /// Returns the visible part for a title line: `4 of 8` for the first four rows, `4-7 of 8` for later ones, and
    /// `3 x 3 of 4 x 4` if rows and columns are hidden; for several lists, the number of rows that are hidden below.
    pub fn brief(self) -> String {
        let from_start = |part: VisiblePart| match part {
            (0, shown, all) => format!("{shown} of {all}"),
            part => range(part),
        };
        let (first, shown, all) = self.rows;
        if let Some(below) = self.below.map(|below| below + all - first - shown).filter(|below| *below > 0) {
            return format!("{below} below");
        }
        match (hides(self.rows), hides(self.columns)) {
            (true, true) => {
                let ((row, rows, all), (column, columns, of)) = (self.rows, self.columns);
                format!("{} x {} of {all} x {of}", rows.min(all - row), columns.min(of - column))
            }
            (true, false) => from_start(self.rows),
            (false, _) => format!("columns {}", from_start(self.columns)),
        }
    }
}

impl fmt::Display for InSight {
    /// Writes the visible part in full: `rows 1-31 of 64, columns 2-9 of 16`, `rows 1-3 of 5, 48 below`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = [("rows", self.rows), ("columns", self.columns)];
        let parts = named.into_iter().filter(|(_, part)| hides(*part));
        let text = |(name, part): (&str, VisiblePart)| match part {
            (first, 1, all) => format!("{} {} of {all}", name.trim_end_matches('s'), first + 1),
            part => format!("{name} {}", range(part)),
        };
        let mut parts: Vec<String> = parts.map(text).collect();
        match (self.below.unwrap_or(0), parts.is_empty()) {
            (0, _) => {}
            (1, true) => parts.push("1 row below".to_owned()),
            (below, is_first) => parts.push(format!("{below} {}below", if is_first { "rows " } else { "" })),
        }
        f.write_str(&parts.join(", "))
    }
}

/// Writes pieces at both ends of a row; if room is short, the left pieces are cut.
pub fn ends(theme: &Theme, left: &[Piece], right: &[Piece], area: Rect, buf: &mut Buffer) {
    let width = pieces_width(right, theme.glyphs).min(area.width);
    let (first, _) = beside(area, area.width.saturating_sub(width + u16::from(width > 0)), 0);
    line(theme, left, first, buf);
    line(theme, right, Rect { x: area.right() - width, width, ..area }, buf);
}
