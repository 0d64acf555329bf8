//! Pop-ups to read: the log, and text.

use super::{Layers, line, popup};
use crate::app::drawn::Drawn;
use crate::app::layer::{ListView, TextView};
use crate::app::state::App;
use crate::view::shell::log_line;
use lightbay_widgets::{
    Column, Cut, Pen, Piece, Sentence, Severity, Table, TableRow, Tone, number, scroll, text as words,
};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::{StatefulWidget, Widget};

impl Layers {
    /// Draws the log, newest line first, with the selected line in full below.
    pub(super) fn log(&mut self, app: &App, view: &ListView, area: Rect, buf: &mut Buffer, out: &mut Drawn) {
        let count = [Piece::answer(format!("{} lines", app.log.total()))];
        let inner = popup(app, "Log, newest first", &count, (140, area.height.min(40)), area, buf);
        let foot = if inner.height >= 8 { 2 } else { 0 };
        let rows = Rect { height: inner.height - foot, ..inner };
        let height = usize::from(rows.height);
        let selected = view.selected.min(app.log.len().saturating_sub(1));
        let offset = scroll::follow(view.offset, Some(selected), height, app.log.len());
        self.columns.clear();
        self.columns.push(Column::right("", 7).priority(1));
        self.columns.push(Column::left("", 1).gap(1));
        self.columns.push(Column::left("", 14).gap(1).priority(2));
        self.columns.push(Column::left("", 20).cut(Cut::End).grow());
        self.rows.clear();
        // Only the visible lines are laid out.
        self.rows.extend(app.log.iter().rev().enumerate().skip(offset).take(height).map(|(index, entry)| {
            let entry = log_line(entry);
            let tone = match entry.severity {
                Severity::Info => Tone::Muted,
                Severity::Warning => Tone::Changed,
                Severity::Error => Tone::Bad,
            };
            TableRow::item(
                index as u32,
                vec![
                    Piece::muted(number::clock(entry.time_s)),
                    Piece::new(entry.severity.letter(), tone).bold(),
                    Piece::text(entry.source),
                    Piece::text(entry.message),
                ],
            )
        }));
        self.table.selected = Some(selected as u32);
        self.table.offset = 0;
        (&Table::new(&app.look.theme, &self.columns, &self.rows).header(false)).render(
            rows,
            buf,
            &mut self.table,
        );
        out.hits.extend(self.table.hits.iter().map(|hit| line(hit.rect, hit.id as usize)));
        if let Some(entry) = app.log.iter().rev().nth(selected).filter(|_| foot > 0) {
            let pieces = [Piece::answer("> "), Piece::text(entry.text.clone())];
            let below = Rect { y: rows.bottom(), height: foot, ..inner };
            (&Sentence::new(&app.look.theme, &pieces).wrap(true)).render(below, buf);
        }
        out.layer_page = height.max(1);
        out.layer_rows = app.log.len();
    }
}

/// Draws a text; long lines are wrapped.
pub fn text(app: &App, view: &TextView, area: Rect, buf: &mut Buffer, out: &mut Drawn) {
    let theme = &app.look.theme;
    let longest = view.lines.iter().map(|line| words::width(line, theme.glyphs)).max().unwrap_or(0);
    let width = longest.saturating_add(4).clamp(48, 116);
    let inside = width.min(area.width.saturating_sub(2)).saturating_sub(4).max(1);
    let rows: u16 = view.lines.iter().map(|line| rows_of(line, inside, theme)).fold(0, u16::saturating_add);
    let count = view.lines.len();
    let value = [Piece::answer(format!("{} of {count}", (view.offset + 1).min(count)))];
    let fits = rows.saturating_add(2) <= area.height;
    let value = if fits { &[][..] } else { &value };
    let inner = popup(app, &view.title, value, (width, rows.saturating_add(2)), area, buf);
    let mut pen = Pen::new(buf, inner, theme);
    let mut y = 0;
    let mut shown = 0;
    for line in view.lines.iter().skip(view.offset) {
        if y >= pen.height() {
            break;
        }
        let tone = if line.trim_start().starts_with('!') { Tone::Bad } else { Tone::Text };
        y += wrapped(&mut pen, y, line, tone);
        shown += 1;
    }
    out.layer_page = shown.max(1);
    out.layer_rows = count;
}

/// Returns the number of rows of a line at a given width.
fn rows_of(line: &str, width: u16, theme: &lightbay_widgets::Theme) -> u16 {
    let mut rows = 1;
    let mut at = 0;
    for word in line.split_inclusive(' ') {
        let size = words::width(word.trim_end(), theme.glyphs);
        if at > 0 && at + size > width {
            rows += 1;
            at = 0;
        }
        at = at.saturating_add(words::width(word, theme.glyphs));
    }
    rows
}

/// Writes a line, broken at spaces. Returns the number of rows used.
fn wrapped(pen: &mut Pen<'_>, y: i32, line: &str, tone: Tone) -> i32 {
    let glyphs = pen.glyphs();
    let style = pen.style(tone);
    let width = pen.width();
    let (mut x, mut row) = (0, 0);
    for word in line.split_inclusive(' ') {
        let size = i32::from(words::width(word.trim_end(), glyphs));
        if x > 0 && x + size > width {
            row += 1;
            x = 0;
        }
        x += pen.cut(x, y + row, width - x, word, Cut::End, style);
    }
    row + 1
}
