//! Help: keys with their sentences, in as many columns as fit.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::widgets::StatefulWidget;

use crate::pen::{Label, Pen};
use crate::text::{self, Cut};
use crate::theme::{Theme, Tone};

/// One line of help.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HelpLine {
    /// Heading: name of a group of keys.
    Heading(Label),
    /// A key and its effect.
    Key {
        /// The key as it is shown.
        keys: Label,
        /// Effect of the key, starting with a verb.
        sentence: Label,
    },
    /// Text over the whole width of the column.
    Words(Label),
    /// An empty line.
    Gap,
}

/// State of the help, kept from frame to frame.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HelpState {
    /// First visible row; corrected by drawing.
    pub offset: usize,
    /// Total number of rows in the last drawing.
    pub rows: usize,
}

/// Lines of help in columns: the first column is filled first.
///
/// ```
/// # use lightbay_widgets::{Help, HelpLine, HelpState, Theme, text_of};
/// # use ratatui_core::{buffer::Buffer, layout::Rect, widgets::StatefulWidget};
/// let theme = Theme::default();
/// let lines = [
///     HelpLine::Heading("solve".into()),
///     HelpLine::Key { keys: "r".into(), sentence: "solve again from the best plan".into() },
/// ];
/// let area = Rect::new(0, 0, 44, 2);
/// let mut buf = Buffer::empty(area);
/// Help::new(&theme, &lines).render(area, &mut buf, &mut HelpState::default());
/// assert_eq!(text_of(&buf), " solve\n   r  solve again from the best plan");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Help<'a> {
    theme: &'a Theme,
    lines: &'a [HelpLine],
}

impl<'a> Help<'a> {
    /// Minimum width of one column; in an area of at least twice this width, there are two columns.
    pub const MIN_WIDTH: u16 = 40;

    /// Creates help with these lines, in order.
    pub const fn new(theme: &'a Theme, lines: &'a [HelpLine]) -> Self {
        Self { theme, lines }
    }
}

impl StatefulWidget for &Help<'_> {
    type State = HelpState;

    fn render(self, area: Rect, buf: &mut Buffer, state: &mut HelpState) {
        let mut pen = Pen::new(buf, area, self.theme);
        if pen.is_empty() {
            return;
        }
        let columns = usize::from((area.width / Help::MIN_WIDTH).clamp(1, 2));
        let per_column = self.lines.len().div_ceil(columns);
        let height = pen.height() as usize;
        state.rows = per_column;
        state.offset = state.offset.min(per_column.saturating_sub(height));
        let glyphs = pen.glyphs();
        let key_width = self
            .lines
            .iter()
            .map(|line| match line {
                HelpLine::Key { keys, .. } => i32::from(text::width(keys, glyphs)),
                _ => 0,
            })
            .max()
            .unwrap_or(0)
            .min(14);
        let column_width = pen.width() / columns as i32;
        for column in 0..columns {
            let x = column as i32 * column_width;
            let from = column * per_column + state.offset;
            let to = ((column + 1) * per_column).min(self.lines.len());
            for (y, line) in (0..).zip(self.lines.get(from..to).unwrap_or(&[]).iter().take(height)) {
                let room = column_width - 1;
                match line {
                    HelpLine::Heading(name) => {
                        pen.cut(x + 1, y, room - 1, name, Cut::End, self.theme.style(Tone::Muted));
                    }
                    HelpLine::Key { keys, sentence } => {
                        pen.cut(
                            x + 3,
                            y,
                            key_width.min(room - 3),
                            keys,
                            Cut::End,
                            self.theme.style(Tone::Answer),
                        );
                        let at = 3 + key_width + 2;
                        pen.cut(x + at, y, room - at, sentence, Cut::End, self.theme.style(Tone::Text));
                    }
                    HelpLine::Words(words) => {
                        pen.cut(x + 1, y, room - 1, words, Cut::End, self.theme.style(Tone::Text));
                    }
                    HelpLine::Gap => {}
                }
            }
        }
    }
}
