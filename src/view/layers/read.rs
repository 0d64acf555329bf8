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

/// Draws a text; long lines are wrapped, and the box scrolls by rows.
pub fn text(app: &App, view: &TextView, area: Rect, buf: &mut Buffer, out: &mut Drawn) {
    let theme = &app.look.theme;
    let longest = view.lines.iter().map(|line| words::width(line, theme.glyphs)).max().unwrap_or(0);
    let width = longest.saturating_add(4).clamp(48, 116);
    let inside = width.min(area.width.saturating_sub(2)).saturating_sub(4).max(1);
    let rows: Vec<(String, Tone)> = view
        .lines
        .iter()
        .flat_map(|line| {
            let tone = if line.trim_start().starts_with('!') { Tone::Bad } else { Tone::Text };
            // A blank at the end of a row would not fit, and the row would be cut.
            wrapped(line, inside, theme).into_iter().map(move |row| (row.trim_end().to_owned(), tone))
        })
        .collect();
    let height = rows.len().min(usize::from(u16::MAX)) as u16;
    let fits = height.saturating_add(2) <= area.height;
    let page = usize::from(area.height.saturating_sub(2)).max(1);
    let offset = if fits { 0 } else { view.offset.min(rows.len().saturating_sub(page)) };
    let last = (offset + page).min(rows.len());
    let value = [Piece::answer(format!("{} to {last} of {}", offset + 1, rows.len()))];
    let value = if fits { &[][..] } else { &value };
    let inner = popup(app, &view.title, value, (width, height.saturating_add(2)), area, buf);
    let mut pen = Pen::new(buf, inner, theme);
    for (y, (row, tone)) in (0..pen.height()).zip(rows.iter().skip(offset)) {
        let style = pen.style(*tone);
        let room = pen.width();
        pen.cut(0, y, room, row, Cut::End, style);
    }
    out.layer_page = page;
    out.layer_rows = rows.len();
}

/// Breaks a line at blanks into rows of at most `width` columns; a word that is longer than a row is broken too, so that
/// paths are shown in full.
pub(super) fn wrapped(line: &str, width: u16, theme: &lightbay_widgets::Theme) -> Vec<String> {
    let glyphs = theme.glyphs;
    let mut rows = vec![String::new()];
    let mut at = 0;
    for word in line.split_inclusive(' ') {
        let size = words::width(word.trim_end(), glyphs);
        if at > 0 && at + size > width {
            rows.push(String::new());
            at = 0;
        }
        for part in word.split_inclusive(|_: char| true) {
            let step = words::width(part, glyphs);
            if at + step > width && part != " " {
                rows.push(String::new());
                at = 0;
            }
            at += step;
            if let Some(row) = rows.last_mut() {
                row.push_str(part);
            }
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::wrapped;
    use lightbay_widgets::Theme;

    #[test]
    fn rows_break_at_blanks_and_long_words_are_broken() {
        let theme = Theme::default();
        assert_eq!(wrapped("one two three", 8, &theme), ["one two ", "three"]);
        assert_eq!(wrapped("/a/very/long/path", 6, &theme), ["/a/ver", "y/long", "/path"]);
        assert_eq!(wrapped("", 6, &theme), [""]);
        let fits = |row: &String| row.trim_end().len() <= 7;
        assert!(wrapped("one two three, four", 7, &theme).iter().all(fits), "a blank may follow a full row");
        let text = "at /some/long/path, which is not there";
        assert_eq!(wrapped(text, 7, &theme).concat(), text);
    }
}
