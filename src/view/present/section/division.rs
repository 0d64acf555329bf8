//! Places of a section and of the details of its chosen item: next to each other, one below the other, or one of them.

use super::{BELOW, SectionView, from, rows};
use ratatui::layout::Rect;

/// Minimum number of columns of the details of an item next to its section, and the gap between them.
const DETAIL: u16 = 36;
const GAP: u16 = 2;

/// Minimum number of rows of a list above the details of its item.
const LISTED: u16 = 4;

/// Number of blank rows below a list from which on part of the details of its item is drawn.
const HOLE: u16 = 4;

/// Minimum number of rows of long details below a section, with their heading.
const DETAILS: u16 = 5;

/// Parts of a pane: the section, and the details of its chosen item.
pub(super) struct Division {
    pub(super) section: Rect,
    pub(super) detail: Rect,
}

impl SectionView {
    /// Divides the body into room for the section and for the details of the chosen item: next to the section, else
    /// below it, else none. `details_first`: a small pane shows the details alone.
    pub(super) fn divide(&self, inner: Rect, details_first: bool) -> Division {
        // Details that are not computed yet are assumed to need all rows below two rows of the list.
        if details_first && self.detail.is_empty() && inner.height >= BELOW {
            return Division { section: Rect { height: 3, ..inner }, detail: from(inner, 4) };
        }
        let wish = self.content.wish();
        let beside_it = self.detail.wish().clamp(DETAIL, (inner.width / 2).max(DETAIL));
        // Next to a list with bars, all signs of a matrix are visible, next to a list without them most.
        let half = self.detail.matrix().map_or(0, |_| self.detail.wish() / 2);
        let close = self.detail.matrix().and_then(|matrix| matrix.close(false));
        let beside_bars = beside_it.max(close.unwrap_or(half));
        let beside_it = beside_it.max(close.map_or(half, |close| close.saturating_mul(3) / 4));
        // Long details of a short list use the whole width below it.
        let is_long = self.detail.rows() > inner.height && self.content.rows() <= inner.height / 4;
        if !is_long && wish.saturating_add(GAP + beside_bars) <= inner.width {
            let (section, detail) = rows::beside(inner, wish, GAP);
            return Division { section, detail };
        }
        if inner.height < BELOW {
            return Division { section: inner, detail: Rect::ZERO };
        }
        // A picture of the item gets its rows first, below its heading; the list keeps the rest, which may be none if the
        // details come first.
        let least = self.detail.least_pictured().saturating_add(1);
        let kept = if details_first { 2 } else { LISTED.min(self.content.rows()) };
        let height = match self.detail.pictured().saturating_add(1) {
            // A short list of details takes only its rows.
            1 => (inner.height / 2).max(inner.height.saturating_sub(self.detail.rows() + 2)).max(5),
            rows if rows + kept < inner.height => inner.height - rows - 1,
            rows if details_first && rows <= inner.height && least == rows => 0,
            _ if least + kept < inner.height => inner.height - least - 1,
            _ if details_first && least <= inner.height => 0,
            _ if details_first && self.detail.matrix().is_some() => 3,
            // A matrix that is cut uses rows that the list leaves.
            _ if self.detail.matrix().is_some()
                && self.content.rows_in(inner.height) + HOLE <= inner.height =>
            {
                (inner.height / 2).max(LISTED)
            }
            _ if self.content.rows() > inner.height / 3 => inner.height,
            _ => 3,
        };
        let height = self.content.rows_in(height);
        // A list without its bars may fit next to the details.
        let (bare, _) = self.content.widths();
        let rest = inner.height.saturating_sub(height + 1);
        // A heading with one or two rows of details says less than these rows of the list, unless they are a whole picture.
        let is_whole = least > 1 && least <= rest;
        let is_dropped = height > 0 && self.detail.rows() > 3 && rest < DETAILS && !is_whole;
        let is_cut = height < self.content.rows() || is_dropped || rest == 0;
        let is_cut = is_cut && self.content.pictured() == 0 && !is_long;
        if is_cut && bare.saturating_add(GAP + beside_it) <= inner.width {
            let columns = inner.width.saturating_sub(GAP + self.detail.wish()).max(bare);
            let (section, detail) = rows::beside(inner, columns, GAP);
            return Division { section, detail };
        }
        if is_dropped {
            return Division { section: inner, detail: Rect::ZERO };
        }
        let detail = from(inner, if height == 0 { 0 } else { height + 1 });
        Division { section: Rect { height, ..inner }, detail }
    }
}
