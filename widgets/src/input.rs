//! One line of typed text with a cursor, and the problem of the text.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::widgets::Widget;
use unicode_segmentation::UnicodeSegmentation;

use crate::pen::Pen;
use crate::text::{self, Cut};
use crate::theme::{Theme, Tone};

/// A prompt and a text with a cursor. The second row, if there is one, shows the problem or a hint.
///
/// ```
/// # use lightbay_widgets::{Input, Theme, text_of};
/// # use ratatui_core::{buffer::Buffer, layout::Rect, widgets::Widget};
/// let theme = Theme::default();
/// let area = Rect::new(0, 0, 30, 2);
/// let mut buf = Buffer::empty(area);
/// Input::new(&theme, "solve", 5).prompt(":").problem("no such command").render(area, &mut buf);
/// assert_eq!(text_of(&buf), ": solve\n! no such command");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Input<'a> {
    theme: &'a Theme,
    prompt: &'a str,
    text: &'a str,
    cursor: usize,
    hint: &'a str,
    problem: &'a str,
}

impl<'a> Input<'a> {
    /// Width below which the prompt is left out.
    pub const MIN_WIDTH: u16 = 8;

    /// Creates a field with the text typed so far; `cursor` is the number of graphemes in front of the cursor.
    pub const fn new(theme: &'a Theme, text: &'a str, cursor: usize) -> Self {
        Self { theme, prompt: "", text, cursor, hint: "", problem: "" }
    }

    /// Sets the prompt, in grey in front of the text.
    #[must_use]
    pub const fn prompt(mut self, prompt: &'a str) -> Self {
        self.prompt = prompt;
        self
    }

    /// Sets the hint, in grey after an empty text, and in the second row while no problem is shown.
    #[must_use]
    pub const fn hint(mut self, hint: &'a str) -> Self {
        self.hint = hint;
        self
    }

    /// Sets the problem with the text, which the second row shows.
    #[must_use]
    pub const fn problem(mut self, problem: &'a str) -> Self {
        self.problem = problem;
        self
    }
}

/// Draws `text` with a cursor in `room` columns, scrolled so that the cursor is visible.
pub(crate) fn draw_edit(pen: &mut Pen<'_>, x: i32, y: i32, room: i32, text: &str, cursor: usize) {
    if room <= 0 {
        return;
    }
    let glyphs = pen.glyphs();
    let theme = pen.theme();
    let style = theme.style(Tone::Answer);
    let at = text.grapheme_indices(true).nth(cursor).map_or(text.len(), |(at, _)| at);
    let (before, after) = text.split_at(at);
    // The cursor needs a column of its own, even after the last character.
    let kept = text::tail(before, (room - 1).clamp(0, i32::from(u16::MAX)) as u16, glyphs);
    let used = pen.cut(x, y, room - 1, kept, Cut::End, style);
    let rest = pen.cut(x + used, y, room - used, after, Cut::End, style);
    if rest == 0 {
        pen.glyph(x + used, y, " ", style);
    }
    let width =
        after.graphemes(true).next().map_or(1, |first| i32::from(text::clean(first, glyphs).width.max(1)));
    pen.paint(x + used, y, width.min(room - used), 1, theme.cursor());
}

impl Widget for &Input<'_> {
    fn render(self, area: Rect, buf: &mut Buffer) {
        let mut pen = Pen::new(buf, area, self.theme);
        if pen.is_empty() {
            return;
        }
        let muted = self.theme.style(Tone::Muted);
        let mut x = 0;
        if area.width >= Input::MIN_WIDTH && !self.prompt.is_empty() {
            x += pen.cut(0, 0, pen.width() / 2, self.prompt, Cut::End, muted) + 1;
        }
        let room = pen.width() - x;
        draw_edit(&mut pen, x, 0, room, self.text, self.cursor);
        if self.text.is_empty() && !self.hint.is_empty() {
            pen.cut(x + 2, 0, room - 2, self.hint, Cut::End, muted);
        }
        if !self.problem.is_empty() {
            pen.text(0, 1, "! ", self.theme.ink(Tone::Bad, true));
            pen.cut(2, 1, pen.width() - 2, self.problem, Cut::End, self.theme.style(Tone::Bad));
        } else if !self.text.is_empty() {
            pen.cut(0, 1, pen.width(), self.hint, Cut::End, muted);
        }
    }
}
