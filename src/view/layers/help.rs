//! Help: the focused pane with its terms, the concepts, the panes, and all keys of the focused pane or layer, from the
//! action table.

use super::read::wrapped;
use super::{Layers, field, line, popup, top};
use crate::app::drawn::Drawn;
use crate::app::layer::{Filtered, LayerKind};
use crate::app::palette::{self, Line};
use crate::app::pane::PaneInfo;
use crate::app::possible::Possible;
use crate::app::state::App;
use crate::app::table;
use lightbay_core::problem::counted;
use lightbay_engines::glossary::{self, GlossaryEntry};
use lightbay_widgets::{Column, Cut, ListItem, Piece, RowKind, Sentence, Table, TableRow, Tone};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::{StatefulWidget, Widget};

/// Columns of a row of the help: blank columns at both sides, width from which the keys have more room, blank columns
/// between two texts, columns for the names of actions, minimum for explanations.
const MARGINS: u16 = 3;
const WIDE: u16 = 90;
const GAP: u16 = 2;
const NAMES: u16 = 18;
const LEAST_TEXT: u16 = 30;

/// Purpose of the program, for new users.
const IDEA: [&str; 4] = [
    "A scenario is a problem to plan; a plan is a checked solution.",
    "Change parameters and solve; plans and bounds improve while methods run.",
    "Panes explain where the time goes; {set_baseline} sets a baseline plan for comparison.",
    "Every plan has passed an independent checker; all work is saved at once.",
];

/// Maximum number of terms that the help of a pane explains.
const TERMS: usize = 5;

/// Number of columns of the frame of the pop-up and of the indentation of its text.
const MARGIN: usize = 8;

impl Layers {
    pub(super) fn help(&mut self, app: &App, list: &Filtered, area: Rect, buf: &mut Buffer, out: &mut Drawn) {
        let lines = palette::help(app, list.field.text());
        let count = [Piece::answer(counted(lines.len() as u64, "action", "actions"))];
        let inner = popup(app, "Help", &count, (104, area.height.min(44)), area, buf);
        let (input, body) = top(inner, 2);
        field(app, &list.field, "/", "type to filter by key or word", input, buf);
        let below = app.layers.iter().any(|layer| !matches!(layer.kind(), LayerKind::Help));
        let intro = list.field.text().trim().is_empty() && !below;
        self.fill_help(app, &lines, intro, body.width);
        let at = |wanted: usize| self.rows.iter().position(|row| row.id as usize == wanted && !is_fixed(row));
        let height = usize::from(body.height);
        let selected = list.selected.min(lines.len().saturating_sub(1));
        // Line numbers skip headings; the heading of the first line is shown with it.
        let offset = match list.offset.min(selected) {
            0 => 0,
            first => at(first).map_or(0, |row| row.saturating_sub(1)),
        };
        let offset = if selected == 0 { 0 } else { offset };
        self.table.selected = Some(selected as u32);
        self.table.offset = offset;
        if selected == 0 && at(0).is_some_and(|row| row >= height) {
            // The introduction fills the screen, so the selected first entry is below the visible rows: highlight none.
            self.table.selected = None;
        }
        (&Table::new(&app.look.theme, &self.columns, &self.rows).header(false)).render(
            body,
            buf,
            &mut self.table,
        );
        out.hits.extend(self.table.hits.iter().map(|hit| line(hit.rect, hit.id as usize)));
        let visible = self.rows.get(self.table.visible.clone()).unwrap_or(&[]);
        out.layer_page = visible.iter().filter(|row| !is_fixed(row)).count().max(1);
        out.layer_rows = lines.len();
    }

    /// Makes the rows; explanations that do not fit continue in rows below.
    fn fill_help(&mut self, app: &App, lines: &[Line], intro: bool, width: u16) {
        let most = if width < WIDE { 10 } else { 16 };
        let keys =
            lines.iter().map(|line| line.keys.chars().count()).max().unwrap_or(0).clamp(8, most) as u16;
        self.columns.clear();
        self.columns.push(Column::left("", keys).cut(Cut::End));
        self.columns.push(Column::left("", LEAST_TEXT).cut(Cut::End).grow());
        self.columns.push(Column::left("", NAMES).priority(1));
        self.rows.clear();
        let theme = &app.look.theme;
        let rest = width.saturating_sub(MARGINS + keys + GAP);
        let room = match rest.checked_sub(GAP + NAMES) {
            Some(room) if room >= LEAST_TEXT => room,
            _ => rest,
        };
        let mut add = |mut row: TableRow| {
            let cells = std::mem::take(&mut row.cells);
            let heading = row.kind == RowKind::Heading;
            let parts: Vec<Vec<Piece>> = cells
                .into_iter()
                .zip([keys, room, NAMES])
                .map(|(cell, width)| {
                    if heading {
                        return vec![cell];
                    }
                    let lines = wrapped(&cell.text, width, theme);
                    lines.iter().map(|line| Piece::new(line.trim_end().to_owned(), cell.tone)).collect()
                })
                .collect();
            let height = parts.iter().map(Vec::len).max().unwrap_or(0).max(1);
            let line = |at: usize| -> Vec<Piece> {
                parts.iter().map(|part| part.get(at).cloned().unwrap_or_else(|| Piece::text(""))).collect()
            };
            row.cells = line(0);
            self.rows.push(row);
            self.rows.extend((1..height).map(|at| TableRow::fixed(line(at))));
        };
        if intro {
            for row in about_pane(app, usize::from(width).saturating_sub(MARGIN)) {
                add(row);
            }
            for words in IDEA {
                let words = app.keymap.in_words(words);
                for line in wrapped(&words, width.saturating_sub(1), theme) {
                    add(heading(line.trim_end(), Tone::Text));
                }
            }
            add(TableRow::gap());
            let panes = app.kind_panes();
            if !panes.is_empty() {
                add(heading(" Panes and the questions that they answer", Tone::Muted));
                for info in panes {
                    add(pane(info));
                }
                add(TableRow::gap());
            }
        }
        let mut last = "";
        for (index, line) in lines.iter().enumerate() {
            let group = table::all()[line.action].group.title();
            if group != last {
                if !last.is_empty() {
                    add(TableRow::gap());
                }
                add(heading(&format!(" {group}"), Tone::Muted));
                last = group;
            }
            let possible = line.possible == Possible::Yes;
            let tone = if possible { Tone::Text } else { Tone::Muted };
            let keys = if line.keys.is_empty() { ":" } else { &line.keys };
            add(TableRow::item(
                index as u32,
                vec![
                    Piece::new(keys.to_owned(), if possible { Tone::Answer } else { Tone::Muted }),
                    Piece::new(line.help.clone(), tone),
                    Piece::muted(line.text.clone()),
                ],
            ));
        }
    }

    pub(super) fn palette(
        &mut self,
        app: &App,
        list: &Filtered,
        area: Rect,
        buf: &mut Buffer,
        out: &mut Drawn,
    ) {
        let lines = palette::lines(app, list.field.text());
        let count = [Piece::answer(format!("{} of {}", lines.len(), table::all().len()))];
        let inner = popup(app, "Commands", &count, (104, area.height.min(26)), area, buf);
        let (input, body) = top(inner, 2);
        field(app, &list.field, ":", "type a part of a name; Enter runs it", input, buf);
        let selected = list.selected.min(lines.len().saturating_sub(1));
        let why = match lines.get(selected).map(|line| &line.possible) {
            Some(Possible::No(why)) => app.keymap.in_words(why).into_owned(),
            _ => String::new(),
        };
        self.items.clear();
        self.items.extend(lines.into_iter().enumerate().map(|(index, line)| {
            ListItem::new(index as u32, line.text)
                .detail(line.help)
                .right(line.keys)
                .matches(line.matches)
                .enabled(line.possible.is_yes())
        }));
        if self.items.is_empty() {
            let words = [Piece::muted("no action has this name; C-u clears the line")];
            (&Sentence::new(&app.look.theme, &words)).render(body, buf);
            return;
        }
        let foot = u16::from(body.height > 4);
        let rows = Rect { height: body.height - foot, ..body };
        self.list(app, selected, list.offset, rows, buf, out);
        if !why.is_empty() && foot > 0 {
            let words = [Piece::new("not now: ", Tone::Bad), Piece::text(why)];
            (&Sentence::new(&app.look.theme, &words))
                .render(Rect { y: rows.bottom(), height: 1, ..body }, buf);
        }
    }
}

fn heading(text: &str, tone: Tone) -> TableRow {
    TableRow { cells: vec![Piece::new(text.to_owned(), tone)], ..TableRow::heading("") }
}

fn pane(info: &PaneInfo) -> TableRow {
    let key = if info.number <= 9 { info.number.to_string() } else { "list".to_owned() };
    TableRow::fixed(vec![Piece::answer(key), Piece::text(info.help), Piece::muted(info.name)])
}

/// Returns rows about the focused pane: its question, its selected item, its views and steps, and the terms that it uses.
fn about_pane(app: &App, room: usize) -> Vec<TableRow> {
    let Some(info) = app.pane_info(app.focus.pane) else { return Vec::new() };
    let drawn = app.drawn_pane(info.id());
    let mut rows = vec![heading(&format!(" {} {}", info.number, info.name), Tone::Answer)];
    let mut add = |text: &str, tone: Tone| {
        rows.extend(broken(text, room).into_iter().map(|line| heading(&format!("  {line}"), tone)));
    };
    add(info.help, Tone::Text);
    if let Some(sentence) = drawn.map(|drawn| drawn.sentence.as_str()).filter(|sentence| !sentence.is_empty())
    {
        add(sentence, Tone::Muted);
    }
    let views: Vec<String> = info.modes.iter().map(|mode| mode.replace('_', " ")).collect();
    if views.len() > 1 {
        add(&app.keymap.in_words(&format!("{{fold}} changes the view: {}", views.join(", "))), Tone::Text);
    }
    if !info.overlay.is_empty() {
        add(&app.keymap.in_words(&format!("{{toggle_overlay}} shows {}", info.overlay)), Tone::Text);
    }
    if drawn.is_some_and(|drawn| drawn.steps > 1) {
        let what = if info.steps.is_empty() { "item" } else { info.steps };
        let keys =
            format!("{{step_back}} {{step_forward}} go to the previous and next {what}, {{play}} plays them");
        add(&app.keymap.in_words(&keys), Tone::Text);
    }
    for term in terms_of(app, info) {
        add(&format!("{}: {}", term.word, term.sentence), Tone::Muted);
    }
    rows.push(TableRow::gap());
    rows
}

/// Returns the terms of the glossary that a pane uses, in the order in which the pane uses them.
fn terms_of(app: &App, info: &PaneInfo) -> Vec<GlossaryEntry> {
    let kind = app.work.as_ref().map_or("", |work| work.kind);
    let mut text = format!("{} {}", info.name, info.help);
    if let Some(drawn) = app.drawn_pane(info.id()) {
        for line in std::iter::once(&drawn.sentence).chain(&drawn.details) {
            text.push(' ');
            text.push_str(line);
        }
    }
    let text = text.to_lowercase();
    let is_end = |letter: Option<char>| letter.is_none_or(|letter| !letter.is_alphanumeric());
    let place_of = |word: &str| {
        let word = word.to_lowercase();
        text.match_indices(&word).map(|(at, _)| at).find(|at| {
            is_end(text[..*at].chars().next_back()) && is_end(text[at + word.len()..].chars().next())
        })
    };
    let place = |entry: &GlossaryEntry| {
        std::iter::once(entry.word.as_str()).chain(entry.also.iter().copied()).filter_map(place_of).min()
    };
    let of_kind = |entry: &GlossaryEntry| entry.kind.is_none_or(|of| of == kind);
    let entries = glossary::entries().into_iter().filter(of_kind);
    let mut found: Vec<(usize, GlossaryEntry)> =
        entries.filter_map(|entry| Some((place(&entry)?, entry))).collect();
    found.sort_by_key(|(at, _)| *at);
    found.dedup_by(|a, b| a.1.word == b.1.word);
    found.into_iter().take(TERMS).map(|(_, entry)| entry).collect()
}

/// Breaks a text into lines of at most `room` columns.
fn broken(text: &str, room: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

fn is_fixed(row: &TableRow) -> bool {
    row.kind != RowKind::Item
}
