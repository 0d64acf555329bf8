//! Line 1: the panes, with brackets around the focused one.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::widgets::StatefulWidget;

use crate::hit::Hits;
use crate::pen::{Label, Pen, Piece, pieces_width};
use crate::text;
use crate::theme::{Theme, Tone};

/// One pane in the line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tab {
    /// Key that opens the pane.
    pub key: Label,
    /// Name of the pane.
    pub name: Label,
    /// A shorter name for narrow terminals; empty if there is none.
    pub short: Label,
    /// Id that is reported when the tab is clicked.
    pub id: u32,
}

impl Tab {
    /// Creates a tab.
    pub fn new(id: u32, key: impl Into<Label>, name: impl Into<Label>) -> Self {
        Self { key: key.into(), name: name.into(), short: Label::default(), id }
    }

    /// Sets a shorter name, for narrow screens.
    #[must_use]
    pub fn short(mut self, short: impl Into<Label>) -> Self {
        self.short = short.into();
        self
    }
}

/// Form of a tab.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TabForm {
    Full,
    Short,
    /// The tab shows its key and an ellipsis.
    Bare,
}

/// Number of letters of a name on a line that is too narrow for the short names.
const FEWEST: usize = 3;

/// The line of panes.
///
/// ```
/// # use lightbay_widgets::{Hits, Tab, Tabs, Theme, text_of};
/// # use ratatui_core::{buffer::Buffer, layout::Rect, widgets::StatefulWidget};
/// let theme = Theme::default();
/// let tabs = [Tab::new(1, "1", "DAG"), Tab::new(2, "2", "Activity"), Tab::new(3, "3", "Ports")];
/// let area = Rect::new(0, 0, 40, 1);
/// let (mut buf, mut hits) = (Buffer::empty(area), Hits::default());
/// Tabs::new(&theme, &tabs).focused(2).render(area, &mut buf, &mut hits);
/// assert_eq!(text_of(&buf), "  1 DAG  [2 Activity]  3 Ports");
/// assert_eq!(hits.at(10, 0).map(|hit| hit.id), Some(2));
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Tabs<'a> {
    theme: &'a Theme,
    items: &'a [Tab],
    focused: Option<u32>,
    more: &'a [Piece],
    right: &'a [Piece],
}

impl<'a> Tabs<'a> {
    /// Width below which only the focused tab is drawn.
    pub const MIN_WIDTH: u16 = 20;

    /// Creates a line with these tabs in order.
    pub const fn new(theme: &'a Theme, tabs: &'a [Tab]) -> Self {
        Self { theme, items: tabs, focused: None, more: &[], right: &[] }
    }

    /// Puts brackets around the tab with this id.
    #[must_use]
    pub const fn focused(mut self, id: u32) -> Self {
        self.focused = Some(id);
        self
    }

    /// Sets the text after the last tab, such as the number of panes without a tab; it is omitted if the short names of all
    /// tabs or the text at the right end leave no room for it.
    #[must_use]
    pub const fn more(mut self, more: &'a [Piece]) -> Self {
        self.more = more;
        self
    }

    /// Sets the text at the right end (the layout and the state of the screen), which is omitted before any tab is
    /// shortened.
    #[must_use]
    pub const fn right(mut self, right: &'a [Piece]) -> Self {
        self.right = right;
        self
    }

    fn name<'t>(tab: &'t Tab, form: TabForm, ellipsis: &'static str) -> &'t str {
        match form {
            TabForm::Full => &tab.name,
            TabForm::Short if tab.short.is_empty() => &tab.name,
            TabForm::Short => &tab.short,
            TabForm::Bare => ellipsis,
        }
    }

    /// Returns the width of a tab including both brackets.
    fn width(&self, tab: &Tab, form: TabForm) -> i32 {
        let glyphs = self.theme.glyphs;
        let name = Self::name(tab, form, glyphs.ellipsis);
        3 + i32::from(text::width(&tab.key, glyphs)) + i32::from(text::width(name, glyphs))
    }

    /// Returns the short name of a tab with up to `spare` more letters, or its full name if it fits.
    fn longer(tab: &Tab, spare: i32) -> String {
        let (full, short) = (tab.name.chars().count(), tab.short.chars().count());
        let letters = short + usize::try_from(spare).unwrap_or(0);
        if letters >= full {
            return tab.name.to_string();
        }
        let kept: String = tab.name.chars().take(letters.saturating_sub(1)).collect();
        if letters > short && short > 0 { format!("{}.", kept.trim_end()) } else { tab.short.to_string() }
    }

    /// Returns the form of tab `index`: tabs from `short_from` on show their short name, tabs from `bare_from` on an
    /// ellipsis instead of a name. The focused tab always has a name, which may be the short one.
    fn form(&self, index: usize, short_from: usize, bare_from: usize) -> TabForm {
        let focused = self.items.get(index).is_some_and(|tab| Some(tab.id) == self.focused);
        if index >= bare_from && !focused {
            TabForm::Bare
        } else if index >= short_from {
            TabForm::Short
        } else {
            TabForm::Full
        }
    }

    fn total(&self, short_from: usize, bare_from: usize) -> i32 {
        self.items
            .iter()
            .enumerate()
            .map(|(index, tab)| self.width(tab, self.form(index, short_from, bare_from)))
            .sum()
    }
}

impl StatefulWidget for &Tabs<'_> {
    type State = Hits;

    fn render(self, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
        hits.clear();
        let mut pen = Pen::new(buf, Rect { height: area.height.min(1), ..area }, self.theme);
        if pen.is_empty() {
            return;
        }
        let count = self.items.len();
        let width = pen.width();
        let right_width = i32::from(pieces_width(self.right, pen.glyphs()));
        let more = i32::from(pieces_width(self.more, pen.glyphs()));
        let has_right = |room: i32| right_width > 0 && self.total(count, count) + right_width + 3 <= room;
        // The text at the right end is more important than the number of panes without a tab.
        let keeps_right = !has_right(width - 1) || has_right(width - 3 - more);
        let has_more = more > 0 && keeps_right && self.total(0, count) + more + 3 <= width;
        let more = if has_more { more + 2 } else { 0 };
        let room = width - 1 - more;
        if has_right(room) {
            pen.pieces_right(width - 1, 0, self.right);
        }
        // Three letters of every name are better than no name at some tabs.
        let first = |tab: &Tab| tab.name.chars().take(FEWEST).collect::<String>();
        if self.total(0, count) > room && self.items.iter().any(|tab| *tab.short != *first(tab)) {
            let items: Vec<Tab> = self.items.iter().map(|tab| tab.clone().short(first(tab))).collect();
            return (&Tabs { items: &items, ..*self }).render(area, buf, hits);
        }
        let spread = i32::from(self.total(count, count) + right_width + 7 + count as i32 <= room);
        let (mut short_from, mut bare_from) = (count, count);
        while short_from > 0 && self.total(short_from, bare_from) > room {
            short_from -= 1;
        }
        while bare_from > 0 && self.total(short_from, bare_from) > room {
            bare_from -= 1;
        }
        // Names are shortened only as much as necessary: those that need the fewest letters get them first.
        let missing = |tab: &Tab| (tab.name.chars().count() as i32 - tab.short.chars().count() as i32).max(0);
        let has_short = |index: &usize| !self.items[*index].short.is_empty();
        let mut order: Vec<usize> = (short_from..bare_from).filter(has_short).collect();
        order.sort_by_key(|index| missing(&self.items[*index]));
        let mut spare = (room - self.total(short_from, bare_from)).max(0);
        let mut gains = vec![0; count];
        for index in order {
            gains[index] = missing(&self.items[index]).min(spare);
            spare -= gains[index];
        }
        let narrow = width < i32::from(Tabs::MIN_WIDTH);
        let mut x = 1;
        for (index, tab) in self.items.iter().enumerate() {
            let focused = Some(tab.id) == self.focused;
            if narrow && !focused {
                continue;
            }
            let form = self.form(index, short_from, bare_from);
            let mut name = Label::from(Tabs::name(tab, form, pen.glyphs().ellipsis).to_owned());
            let mut tab_width = self.width(tab, form);
            if form == TabForm::Short && !tab.short.is_empty() && !narrow {
                name = Tabs::longer(tab, gains[index]).into();
                tab_width += i32::from(text::width(&name, pen.glyphs()))
                    - i32::from(text::width(&tab.short, pen.glyphs()));
            }
            if x + tab_width > width && !focused {
                break;
            }
            let (key_tone, name_tone) =
                if focused { (Tone::Answer, Tone::Answer) } else { (Tone::Text, Tone::Muted) };
            let mut at = x;
            if focused {
                pen.glyph(at, 0, "[", self.theme.style(Tone::Answer));
            }
            at += 1;
            at += pen.text(at, 0, &tab.key, self.theme.style(key_tone)) + 1;
            at += pen.text(at, 0, &name, self.theme.style(name_tone));
            if focused {
                pen.glyph(at, 0, "]", self.theme.style(Tone::Answer));
            }
            hits.push(pen.rect(x, 0, tab_width, 1), tab.id, 0);
            x += tab_width + spread;
        }
        if more > 0 {
            pen.pieces(x + 1, 0, more, self.more);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text_of;

    #[test]
    fn names_are_shortened_only_as_much_as_necessary() {
        let theme = Theme::default();
        let tabs = [
            Tab::new(1, "1", "Demand and circuits").short("Dema."),
            Tab::new(2, "2", "Layers"),
            Tab::new(3, "3", "Predictor").short("Pred."),
        ];
        let more = [Piece::muted("+2 p")];
        let drawn = |width: u16| {
            let area = Rect::new(0, 0, width, 1);
            let (mut buf, mut hits) = (Buffer::empty(area), Hits::default());
            Tabs::new(&theme, &tabs).more(&more).render(area, &mut buf, &mut hits);
            text_of(&buf)
        };
        assert_eq!(drawn(36), "  1 Dema.  2 Layers  3 Predi.  +2 p");
        assert_eq!(drawn(30), "  1 Dema.  2 Layers  3 Predi.");
    }
}
