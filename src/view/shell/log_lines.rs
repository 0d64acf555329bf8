//! The last events above the footer.

use crate::app::action::{Action, Command};
use crate::app::drawn::{Drawn, Hit};
use crate::app::log::LogEntry as Line;
use crate::app::state::App;
use lightbay_core::event::Severity as Level;
use lightbay_widgets::{LogEntry, LogLines, Piece, Sentence, Severity, Tone, pieces_width, text};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::Widget;

/// Columns around a message without its source and the note at the right: margins, clock, severity and gaps.
const MESSAGE_AT: u16 = 15;

/// The displayed lines of the log.
#[derive(Debug, Default)]
pub struct Log {
    /// Number of the newest line, and number of rows for which `lines` was made.
    made: Option<(u64, u16)>,
    lines: Vec<LogEntry>,
    right: Vec<Piece>,
}

/// Converts a line of the log to the entry that is drawn.
pub fn line(line: &Line) -> LogEntry {
    LogEntry {
        time_s: line.at_s,
        severity: match line.severity {
            Level::Info => Severity::Info,
            Level::Warning => Severity::Warning,
            Level::Error => Severity::Error,
        },
        source: line.source.clone().into(),
        message: line.text.clone().into(),
    }
}

impl Log {
    pub fn draw(&mut self, app: &App, area: Rect, buf: &mut Buffer, out: &mut Drawn) {
        if app.log.is_empty() {
            if app.work.is_none() {
                super::notice::quiet(app, area, buf);
            }
            return;
        }
        let made = (app.log.total(), area.height);
        if self.made != Some(made) {
            self.made = Some(made);
            self.lines.clear();
            let from = app.log.len().saturating_sub(usize::from(area.height));
            self.lines.extend(app.log.iter().skip(from).map(line));
        }
        self.right.clear();
        let mut lines = area;
        if app.session.failing.is_some() {
            // Drawn in its own place, so that a long message does not hide it.
            let sign = [Piece::new("! not saved", Tone::Bad).bold()];
            let width = pieces_width(&sign, app.look.theme.glyphs) + 1;
            lines.width = lines.width.saturating_sub(width);
            let rect = Rect {
                x: lines.right(),
                y: area.bottom().saturating_sub(1),
                width,
                height: area.height.min(1),
            };
            (&Sentence::new(&app.look.theme, &sign)).render(rect, buf);
        }
        let count = app.log.total();
        if count > u64::from(area.height) {
            let key = super::key_of(app, &Command::Log);
            self.right.push(Piece::muted(format!("{} of {count}  {key} log", self.lines.len())));
        }
        let newest = app.log.last().map_or(0, |entry| text::width(&entry.text, app.look.theme.glyphs));
        match app.unread.len() {
            0 => {}
            1 => self.right.insert(0, Piece::answer("Enter reads it  ")),
            count => self.right.insert(0, Piece::answer(format!("Enter reads {count} messages  "))),
        }
        let taken = pieces_width(&self.right, app.look.theme.glyphs);
        let sources = self.lines.iter().map(|entry| text::width(&entry.source, app.look.theme.glyphs));
        let before = MESSAGE_AT + sources.max().unwrap_or(0).min(24) + taken;
        out.message_cut = newest > lines.width.saturating_sub(before);
        (&LogLines::new(&app.look.theme, &self.lines).right(&self.right)).render(lines, buf);
        out.hits.push(Hit { rect: area, click: Action::Do(Command::Log), open: None });
    }
}
