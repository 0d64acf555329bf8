//! Message in place of a screen that is too small. Solving continues in the background.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::widgets::Widget;

use crate::number::Num;
use crate::pen::Pen;
use crate::text;
use crate::theme::{Theme, Tone};

/// A message with the current size, the needed size, and how to leave.
///
/// ```
/// # use lightbay_widgets::{Theme, TooSmall, text_of};
/// # use ratatui_core::{buffer::Buffer, layout::Rect, widgets::Widget};
/// let theme = Theme::default();
/// let area = Rect::new(0, 0, 30, 3);
/// let mut buf = Buffer::empty(area);
/// TooSmall::new(&theme, 60, 16).hint("q to leave").render(area, &mut buf);
/// assert_eq!(text_of(&buf), "    30 × 3, needs 60 × 16\n          q to leave\n");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct TooSmall<'a> {
    theme: &'a Theme,
    need_width: u16,
    need_height: u16,
    state: &'a str,
    hint: &'a str,
}

impl<'a> TooSmall<'a> {
    /// Minimum readable width.
    pub const MIN_WIDTH: u16 = 8;

    /// Creates a message that names the size that the layout needs.
    pub const fn new(theme: &'a Theme, need_width: u16, need_height: u16) -> Self {
        Self { theme, need_width, need_height, state: "", hint: "" }
    }

    /// Sets the text about active runs (`solving continues, best 12.830 s`).
    #[must_use]
    pub const fn state(mut self, state: &'a str) -> Self {
        self.state = state;
        self
    }

    /// Sets the hint on quitting.
    #[must_use]
    pub const fn hint(mut self, hint: &'a str) -> Self {
        self.hint = hint;
        self
    }
}

impl Widget for &TooSmall<'_> {
    fn render(self, area: Rect, buf: &mut Buffer) {
        let mut pen = Pen::new(buf, area, self.theme);
        if pen.is_empty() {
            return;
        }
        let (width, height) = (pen.width(), pen.height());
        let glyphs = pen.glyphs();
        let times = glyphs.times;
        let sizes = Num::of(format_args!(
            "{} {times} {}, needs {} {times} {}",
            area.width, area.height, self.need_width, self.need_height
        ));
        let short = Num::of(format_args!("{}{times}{}", self.need_width, self.need_height));
        let fits = i32::from(text::width(&sizes, glyphs)) <= width;
        let first = if fits { sizes.as_str() } else { short.as_str() };
        let lines = [(first, Tone::Answer), (self.state, Tone::Text), (self.hint, Tone::Muted)];
        let count = lines.iter().filter(|(line, _)| !line.is_empty()).count() as i32;
        let top = (height - count).max(0) / 2;
        for (y, (line, tone)) in (top..).zip(lines.into_iter().filter(|(line, _)| !line.is_empty())) {
            let x = (width - i32::from(text::width(line, glyphs))).max(0) / 2;
            pen.text(x, y, line, self.theme.style(tone));
        }
    }
}
