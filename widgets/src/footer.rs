//! The last line: the possible actions. Entries that do not fit are left out as a whole; help and quit always stay.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::widgets::StatefulWidget;

use crate::hit::Hits;
use crate::pen::{Label, Pen};
use crate::text;
use crate::theme::{Theme, Tone};

/// One key with its label.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeyHint {
    /// The key as it is shown.
    pub keys: Label,
    /// Effect of the key, in a word or two.
    pub label: Label,
    /// `true` if the key can be used now; if it cannot, its entry is grey.
    pub enabled: bool,
    /// `true` if the entry is never cut (help, quit).
    pub keep: bool,
    /// Id that is reported when the entry is clicked.
    pub id: u32,
}

impl KeyHint {
    /// Creates the entry of a key that can be used now.
    pub fn new(id: u32, keys: impl Into<Label>, label: impl Into<Label>) -> Self {
        Self { keys: keys.into(), label: label.into(), enabled: true, keep: false, id }
    }

    /// Sets whether the key can be used now; if it cannot, its entry is grey.
    #[must_use]
    pub const fn enabled(mut self, enabled: bool) -> Self {
        self.enabled = enabled;
        self
    }

    /// Sets that the entry is never cut.
    #[must_use]
    pub const fn keep(mut self) -> Self {
        self.keep = true;
        self
    }

    fn width(&self, theme: &Theme) -> i32 {
        let label = i32::from(text::width(&self.label, theme.glyphs));
        i32::from(text::width(&self.keys, theme.glyphs)) + label + i32::from(label > 0)
    }
}

const GAP: i32 = 2;

/// The line of keys.
///
/// ```
/// # use lightbay_widgets::{Footer, Hits, KeyHint, Theme, text_of};
/// # use ratatui_core::{buffer::Buffer, layout::Rect, widgets::StatefulWidget};
/// let theme = Theme::default();
/// let keys = [KeyHint::new(0, "r", "solve"), KeyHint::new(1, "m", "mark"), KeyHint::new(2, "q", "quit").keep()];
/// let area = Rect::new(0, 0, 17, 1);
/// let (mut buf, mut hits) = (Buffer::empty(area), Hits::default());
/// Footer::new(&theme, &keys).render(area, &mut buf, &mut hits);
/// assert_eq!(text_of(&buf), " r solve  q quit");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Footer<'a> {
    theme: &'a Theme,
    hints: &'a [KeyHint],
}

impl<'a> Footer<'a> {
    /// Width in which the entries that are never cut should fit.
    pub const MIN_WIDTH: u16 = 16;

    /// Creates the line from entries, the most useful first: from the first entry that does not fit, all entries are
    /// left out except those that are never cut.
    pub const fn new(theme: &'a Theme, hints: &'a [KeyHint]) -> Self {
        Self { theme, hints }
    }
}

impl StatefulWidget for &Footer<'_> {
    type State = Hits;

    fn render(self, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
        hits.clear();
        let mut pen = Pen::new(buf, Rect { height: area.height.min(1), ..area }, self.theme);
        if pen.is_empty() {
            return;
        }
        pen.clear(0, 0, pen.width(), 1, self.theme.footer());
        let mut kept: i32 =
            self.hints.iter().filter(|hint| hint.keep).map(|hint| hint.width(self.theme) + GAP).sum();
        let right = pen.width();
        let mut x = 1;
        let mut full = false;
        for hint in self.hints {
            let width = hint.width(self.theme);
            if hint.keep {
                kept -= width + GAP;
            } else if full || x + width + kept > right {
                // Later entries are less useful: after the first omitted entry, shorter ones do not replace it.
                full = true;
                continue;
            }
            let (key, label) =
                if hint.enabled { (Tone::Answer, Tone::Muted) } else { (Tone::Rule, Tone::Rule) };
            let used = pen.text(x, 0, &hint.keys, self.theme.style(key));
            if !hint.label.is_empty() {
                pen.text(x + used + 1, 0, &hint.label, self.theme.style(label));
            }
            hits.push(pen.rect(x, 0, width, 1), hint.id, 0);
            x += width + GAP;
        }
    }
}
