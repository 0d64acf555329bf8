//! A list to choose from: commands, sessions, examples, panes. Matched letters are bold.

use std::ops::Range;

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::Modifier;
use ratatui_core::widgets::StatefulWidget;
use unicode_segmentation::UnicodeSegmentation;

use crate::hit::Hits;
use crate::pen::{Label, Pen};
use crate::scroll;
use crate::text::{self, Cut};
use crate::theme::{Theme, Tone};

/// One line of a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListItem {
    /// Id that is reported when the item is clicked, and kept as the selection.
    pub id: u32,
    /// Name of the item.
    pub text: Label,
    /// One sentence about the item, in grey.
    pub detail: Label,
    /// Key of the item or another short text, at the right end.
    pub right: Label,
    /// Positions of the graphemes of `text` that the search matched, ascending.
    pub matches: Vec<u32>,
    /// `true` if the item can be chosen now; if it cannot, it is grey.
    pub enabled: bool,
    /// `true` for a heading between items, which cannot be selected.
    pub heading: bool,
}

impl ListItem {
    /// Creates an item that can be chosen.
    pub fn new(id: u32, text: impl Into<Label>) -> Self {
        Self { id, text: text.into(), enabled: true, ..Self::default() }
    }

    /// Creates a heading.
    pub fn heading(text: impl Into<Label>) -> Self {
        Self { text: text.into(), heading: true, ..Self::default() }
    }

    /// Adds a sentence after the name.
    #[must_use]
    pub fn detail(mut self, detail: impl Into<Label>) -> Self {
        self.detail = detail.into();
        self
    }

    /// Sets the text at the right end.
    #[must_use]
    pub fn right(mut self, right: impl Into<Label>) -> Self {
        self.right = right.into();
        self
    }

    /// Sets the positions of the graphemes that match the search text.
    #[must_use]
    pub fn matches(mut self, matches: Vec<u32>) -> Self {
        self.matches = matches;
        self
    }

    /// Sets whether the item can be chosen now; if it cannot, it is grey.
    #[must_use]
    pub const fn enabled(mut self, enabled: bool) -> Self {
        self.enabled = enabled;
        self
    }
}

/// State of a list, kept from frame to frame.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListState {
    /// Id of the selected item; the item keeps the selection when rows move.
    pub selected: Option<u32>,
    /// Index of the first row shown.
    pub offset: usize,
    /// Rows shown by the last draw.
    pub visible: Range<usize>,
    /// Clickable rows.
    pub hits: Hits,
}

impl ListState {
    /// Moves the selection by `steps` items, stopping at the ends and skipping headings.
    pub fn step(&mut self, items: &[ListItem], steps: i32) {
        let choices = || items.iter().filter(|item| !item.heading);
        let at = choices().position(|item| Some(item.id) == self.selected);
        self.selected = scroll::stepped(at, choices().count(), steps)
            .and_then(|index| choices().nth(index))
            .map(|item| item.id);
    }
}

/// The list.
///
/// ```
/// # use lightbay_widgets::{List, ListItem, ListState, Theme, text_of};
/// # use ratatui_core::{buffer::Buffer, layout::Rect, widgets::StatefulWidget};
/// let theme = Theme::default();
/// let items = [ListItem::new(1, "mark_plan").detail("mark the plan").right("m"), ListItem::new(2, "quit")];
/// let mut state = ListState { selected: Some(1), ..ListState::default() };
/// let area = Rect::new(0, 0, 36, 2);
/// let mut buf = Buffer::empty(area);
/// List::new(&theme, &items).render(area, &mut buf, &mut state);
/// assert_eq!(text_of(&buf), ">  mark_plan   mark the plan       m\n   quit");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct List<'a> {
    theme: &'a Theme,
    items: &'a [ListItem],
}

impl<'a> List<'a> {
    /// Width below which details are left out.
    pub const MIN_WIDTH: u16 = 30;

    /// Creates a list of these items, in order.
    pub const fn new(theme: &'a Theme, items: &'a [ListItem]) -> Self {
        Self { theme, items }
    }

    fn draw_item(&self, pen: &mut Pen<'_>, y: i32, item: &ListItem, name_width: i32, selected: bool) {
        let width = pen.width();
        let glyphs = pen.glyphs();
        if item.heading {
            pen.cut(1, y, width - 1, &item.text, Cut::End, self.theme.style(Tone::Muted));
            return;
        }
        if selected {
            pen.paint(0, y, width, 1, self.theme.selected());
            pen.glyph(0, y, ">", self.theme.style(Tone::Answer));
        }
        let name = match (item.enabled, selected) {
            (false, _) => self.theme.style(Tone::Muted),
            (true, false) => self.theme.style(Tone::Text),
            (true, true) => self.theme.style(Tone::Answer),
        };
        let right_width = i32::from(text::width(&item.right, glyphs));
        let mut end = width - 1;
        if right_width > 0 && right_width + 8 <= width {
            end = pen.right(width, y, &item.right, self.theme.style(Tone::Muted)) - 2;
        }
        let room = name_width.min(end - 3);
        let used = pen.cut(3, y, room, &item.text, Cut::Middle, name);
        // In a name that is cut in its middle, the matched positions are not valid.
        if i32::from(text::width(&item.text, glyphs)) <= room {
            self.draw_matches(pen, y, item);
        }
        if !item.detail.is_empty() && width >= i32::from(List::MIN_WIDTH) {
            let x = 3 + name_width.max(used) + 3;
            pen.cut(x, y, end - x, &item.detail, Cut::End, self.theme.style(Tone::Muted));
        }
    }

    fn draw_matches(&self, pen: &mut Pen<'_>, y: i32, item: &ListItem) {
        let hit = self.theme.style(Tone::Answer).add_modifier(Modifier::BOLD | Modifier::UNDERLINED);
        let mut x = 3;
        let mut wanted = item.matches.iter().copied().peekable();
        for (index, grapheme) in item.text.graphemes(true).enumerate() {
            let Some(&next) = wanted.peek() else { break };
            let width = i32::from(text::clean(grapheme, pen.glyphs()).width);
            if next as usize == index {
                pen.paint(x, y, width, 1, hit);
                wanted.next();
            }
            x += width;
        }
    }
}

impl StatefulWidget for &List<'_> {
    type State = ListState;

    fn render(self, area: Rect, buf: &mut Buffer, state: &mut ListState) {
        state.hits.clear();
        let mut pen = Pen::new(buf, area, self.theme);
        if pen.is_empty() {
            state.visible = 0..0;
            return;
        }
        let height = pen.height() as usize;
        let at = self.items.iter().position(|item| !item.heading && Some(item.id) == state.selected);
        state.offset = scroll::follow(state.offset, at, height, self.items.len());
        let end = (state.offset + height).min(self.items.len());
        state.visible = state.offset..end;
        let glyphs = pen.glyphs();
        let shown = self.items.get(state.offset..end).unwrap_or(&[]);
        // Computed over all items, not only the visible ones, so that columns do not move while scrolling.
        let name_width = self
            .items
            .iter()
            .filter(|item| !item.heading)
            .map(|item| i32::from(text::width(&item.text, glyphs)))
            .max()
            .unwrap_or(0)
            .min((pen.width() / 2).max(12));
        for (y, item) in (0..).zip(shown) {
            let selected = !item.heading && Some(item.id) == state.selected;
            self.draw_item(&mut pen, y, item, name_width, selected);
            if !item.heading {
                state.hits.push(pen.rect(0, y, pen.width(), 1), item.id, 0);
            }
        }
    }
}
