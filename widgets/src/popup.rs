//! A pop-up with a double frame; the content behind it is dimmed ([`Theme::faded`]).

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::{Position, Rect};
use ratatui_core::widgets::Widget;

use crate::pen::{Pen, Piece, pieces_width};
use crate::text::Cut;
use crate::theme::{Theme, Tone};

/// Frame and background of a pop-up. The caller draws into [`Popup::inner`].
///
/// ```
/// # use lightbay_widgets::{Popup, Theme, text_of};
/// # use ratatui_core::{buffer::Buffer, layout::Rect, widgets::Widget};
/// let theme = Theme::default();
/// let screen = Rect::new(0, 0, 24, 5);
/// let area = Popup::centred(screen, 20, 3);
/// let mut buf = Buffer::empty(screen);
/// Popup::dim(&theme, screen, &mut buf);
/// Popup::new(&theme, "Compare").render(area, &mut buf);
/// assert_eq!(text_of(&buf), "\n  ╔═ Compare ════════╗\n  ║                  ║\n  ╚══════════════════╝\n");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Popup<'a> {
    theme: &'a Theme,
    title: &'a str,
    value: &'a [Piece],
}

impl<'a> Popup<'a> {
    /// Minimum useful width, frame included.
    pub const MIN_WIDTH: u16 = 12;
    /// Minimum useful height, frame included.
    pub const MIN_HEIGHT: u16 = 3;

    /// Creates a pop-up with a title.
    pub const fn new(theme: &'a Theme, title: &'a str) -> Self {
        Self { theme, title, value: &[] }
    }

    /// Adds the most important number, at the right end of the title.
    #[must_use]
    pub const fn value(mut self, value: &'a [Piece]) -> Self {
        self.value = value;
        self
    }

    /// Returns a rectangle of at most the given size in the middle of `screen`.
    pub fn centred(screen: Rect, width: u16, height: u16) -> Rect {
        let (width, height) = (width.min(screen.width), height.min(screen.height));
        Rect {
            x: screen.x + (screen.width - width) / 2,
            y: screen.y + (screen.height - height) / 2,
            width,
            height,
        }
    }

    /// Returns the area inside the frame, with one empty column left and right.
    pub const fn inner(area: Rect) -> Rect {
        let side = if area.width < 4 { 0 } else { 2 };
        let edge = if area.height < 2 { 0 } else { 1 };
        Rect {
            x: area.x.saturating_add(side),
            y: area.y.saturating_add(edge),
            width: area.width - 2 * side,
            height: area.height - 2 * edge,
        }
    }

    /// Dims everything in `area`, with the styles of [`Theme::faded`].
    pub fn dim(theme: &Theme, area: Rect, buf: &mut Buffer) {
        let area = area.intersection(buf.area);
        // Neighbouring cells usually have the same style, so the last result is reused.
        let mut last = None;
        for y in area.top()..area.bottom() {
            for x in area.left()..area.right() {
                if let Some(cell) = buf.cell_mut(Position { x, y }) {
                    let style = cell.style();
                    let faded = match last {
                        Some((seen, faded)) if seen == style => faded,
                        _ => theme.faded(style),
                    };
                    last = Some((style, faded));
                    cell.set_style(faded);
                }
            }
        }
    }
}

impl Widget for &Popup<'_> {
    fn render(self, area: Rect, buf: &mut Buffer) {
        let mut pen = Pen::new(buf, area, self.theme);
        if pen.is_empty() {
            return;
        }
        let (width, height) = (pen.width(), pen.height());
        pen.clear(0, 0, width, height, self.theme.popup());
        if area.width < Popup::MIN_WIDTH || area.height < Popup::MIN_HEIGHT {
            pen.cut(0, 0, width, self.title, Cut::End, self.theme.style(Tone::Answer));
            return;
        }
        let [upper_left, upper_right, lower_right, lower_left, horizontal, vertical] = pen.glyphs().frame;
        let style = self.theme.style(Tone::Text);
        for y in [0, height - 1] {
            pen.line(1, y, width - 2, horizontal, style);
        }
        for y in 1..height - 1 {
            pen.glyph(0, y, vertical, style);
            pen.glyph(width - 1, y, vertical, style);
        }
        pen.glyph(0, 0, upper_left, style);
        pen.glyph(width - 1, 0, upper_right, style);
        pen.glyph(width - 1, height - 1, lower_right, style);
        pen.glyph(0, height - 1, lower_left, style);
        let bold = self.theme.style(Tone::Answer);
        let value_width = i32::from(pieces_width(self.value, pen.glyphs()));
        let mut end = width - 2;
        if value_width > 0 && value_width + 12 <= width {
            let start = end - value_width - 2;
            pen.line(start, 0, value_width + 2, " ", style);
            pen.pieces(start + 1, 0, value_width, self.value);
            end = start;
        }
        if !self.title.is_empty() {
            pen.glyph(2, 0, " ", style);
            let used = pen.cut(3, 0, end - 4, self.title, Cut::End, bold);
            pen.glyph(3 + used, 0, " ", style);
        }
    }
}
