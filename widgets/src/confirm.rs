//! A question before a step that cannot be undone. The safe answer is the default.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::widgets::StatefulWidget;

use crate::hit::Hits;
use crate::pane::wrap;
use crate::pen::Pen;
use crate::text;
use crate::theme::{Theme, Tone};

/// A question, its consequence, and its answers.
///
/// ```
/// # use lightbay_widgets::{Confirm, Hits, Theme, text_of};
/// # use ratatui_core::{buffer::Buffer, layout::Rect, widgets::StatefulWidget};
/// let theme = Theme::default();
/// let area = Rect::new(0, 0, 40, 3);
/// let (mut buf, mut hits) = (Buffer::empty(area), Hits::default());
/// Confirm::new(&theme, "Quit while two methods run?", &["n stay", "y quit"]).render(area, &mut buf, &mut hits);
/// assert_eq!(text_of(&buf), "Quit while two methods run?\n\n[n stay]  y quit");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Confirm<'a> {
    theme: &'a Theme,
    question: &'a str,
    meaning: &'a str,
    answers: &'a [&'a str],
    chosen: usize,
}

impl<'a> Confirm<'a> {
    /// Width below which the text about the effect of the answer is left out.
    pub const MIN_WIDTH: u16 = 24;

    /// Creates a question with its answers in order, the safe answer first. A click reports the index of the answer.
    pub const fn new(theme: &'a Theme, question: &'a str, answers: &'a [&'a str]) -> Self {
        Self { theme, question, meaning: "", answers, chosen: 0 }
    }

    /// Sets the text about the effect of the risky answer.
    #[must_use]
    pub const fn meaning(mut self, meaning: &'a str) -> Self {
        self.meaning = meaning;
        self
    }

    /// Sets the answer that Enter selects.
    #[must_use]
    pub const fn chosen(mut self, index: usize) -> Self {
        self.chosen = index;
        self
    }

    /// Returns the number of rows needed at a width.
    pub fn height(&self, width: u16) -> u16 {
        let rows =
            |text: &str| text::width(text, self.theme.glyphs).div_ceil(width.max(1).saturating_sub(8).max(1));
        rows(self.question) + rows(self.meaning) + 2
    }
}

impl StatefulWidget for &Confirm<'_> {
    type State = Hits;

    fn render(self, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
        hits.clear();
        let mut pen = Pen::new(buf, area, self.theme);
        if pen.is_empty() {
            return;
        }
        let width = pen.width();
        // The answers get the last row at any size, because without them the user could not leave the question.
        let last = pen.height() - 1;
        let mut body = pen.part(0, 0, width, last);
        let mut y = wrap(&mut body, 0, 0, width, self.question, Tone::Answer);
        if area.width >= Confirm::MIN_WIDTH && !self.meaning.is_empty() {
            y += wrap(&mut body, 0, y, width, self.meaning, Tone::Muted);
        }
        let y = (y + 1).min(last);
        let mut x = 0;
        for (index, answer) in self.answers.iter().enumerate() {
            let chosen = index == self.chosen;
            let tone = if chosen { Tone::Answer } else { Tone::Text };
            if chosen {
                pen.glyph(x, y, "[", self.theme.style(Tone::Answer));
            }
            let used = pen.text(x + 1, y, answer, self.theme.style(tone));
            if chosen {
                pen.glyph(x + 1 + used, y, "]", self.theme.style(Tone::Answer));
            }
            hits.push(pen.rect(x, y, used + 2, 1), index as u32, 0);
            x += used + 3;
        }
    }
}
