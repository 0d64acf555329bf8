//! The last events, as lines above the footer: one line, or as many as fit. A letter states the severity of an event.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::widgets::Widget;

use crate::number;
use crate::pen::{Label, Pen, Piece, pieces_width};
use crate::text::{self, Cut};
use crate::theme::{Theme, Tone};

/// Severity of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Severity {
    /// Information about an event.
    #[default]
    Info,
    /// The program continues, but not as requested.
    Warning,
    /// The action failed.
    Error,
}

impl Severity {
    /// Returns the letter that is shown.
    pub const fn letter(self) -> &'static str {
        match self {
            Self::Info => "I",
            Self::Warning => "W",
            Self::Error => "E",
        }
    }

    const fn tone(self) -> Tone {
        match self {
            Self::Info => Tone::Muted,
            Self::Warning => Tone::Changed,
            Self::Error => Tone::Bad,
        }
    }
}

/// One event in words.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LogEntry {
    /// Seconds since the session or run began; NaN if the event has no time.
    pub time_s: f64,
    /// Severity of the event.
    pub severity: Severity,
    /// Source of the event: a method, or the workbench.
    pub source: Label,
    /// Sentence about the event.
    pub message: Label,
}

/// The last lines of a log, newest at the bottom.
///
/// ```
/// # use lightbay_widgets::{LogEntry, LogLines, Severity, Theme, text_of};
/// # use ratatui_core::{buffer::Buffer, layout::Rect, widgets::Widget};
/// let theme = Theme::default();
/// let entries = [LogEntry {
///     time_s: 49.9, severity: Severity::Info, source: "delta-joint".into(), message: "done: optimal".into(),
/// }];
/// let area = Rect::new(0, 0, 44, 1);
/// let mut buf = Buffer::empty(area);
/// LogLines::new(&theme, &entries).render(area, &mut buf);
/// assert_eq!(text_of(&buf), " 00:49.9 I delta-joint  done: optimal");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct LogLines<'a> {
    theme: &'a Theme,
    entries: &'a [LogEntry],
    right: &'a [Piece],
}

impl<'a> LogLines<'a> {
    /// Width below which time and source are left out.
    pub const MIN_WIDTH: u16 = 40;

    /// Creates lines from entries in order of time.
    pub const fn new(theme: &'a Theme, entries: &'a [LogEntry]) -> Self {
        Self { theme, entries, right: &[] }
    }

    /// Sets the text at the right end of the last line (`1 of 6  L log`).
    #[must_use]
    pub const fn right(mut self, right: &'a [Piece]) -> Self {
        self.right = right;
        self
    }
}

impl Widget for &LogLines<'_> {
    fn render(self, area: Rect, buf: &mut Buffer) {
        let mut pen = Pen::new(buf, area, self.theme);
        if pen.is_empty() {
            return;
        }
        let height = pen.height() as usize;
        let end = self.entries.len();
        let from = end.saturating_sub(height);
        let shown = self.entries.get(from..end).unwrap_or(&[]);
        let glyphs = pen.glyphs();
        let source_width = shown
            .iter()
            .map(|entry| i32::from(text::width(&entry.source, glyphs)))
            .max()
            .unwrap_or(0)
            .min(24);
        let top = pen.height() - shown.len() as i32;
        for (y, entry) in (top..).zip(shown) {
            let last = y + 1 == pen.height();
            let mut right = pen.width() - 1;
            let note = i32::from(pieces_width(self.right, glyphs));
            if last && note > 0 && note + i32::from(LogLines::MIN_WIDTH) <= pen.width() {
                right = pen.pieces_right(right, y, self.right) - 2;
            }
            let mut x = 1;
            if pen.width() >= i32::from(LogLines::MIN_WIDTH) {
                let muted = self.theme.style(Tone::Muted);
                x += pen.text(x, y, &number::clock(entry.time_s), muted) + 1;
                let severity = self.theme.ink(entry.severity.tone(), entry.severity != Severity::Info);
                x += pen.text(x, y, entry.severity.letter(), severity) + 1;
                if source_width > 0 {
                    let style = self.theme.style(Tone::Text);
                    pen.cut(x, y, source_width, &entry.source, Cut::Middle, style);
                    x += source_width + 2;
                }
            } else if entry.severity != Severity::Info {
                let severity = self.theme.ink(entry.severity.tone(), true);
                x += pen.text(x, y, entry.severity.letter(), severity) + 1;
            }
            let tone = if entry.severity == Severity::Error { Tone::Answer } else { Tone::Text };
            pen.cut(x, y, right - x, &entry.message, Cut::End, self.theme.style(tone));
        }
    }
}
