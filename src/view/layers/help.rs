//! Help: the concepts, the panes, and all keys of the focused pane or layer, from the action table.

use super::{Layers, field, line, popup, top};
use crate::app::drawn::Drawn;
use crate::app::layer::{Filtered, LayerKind};
use crate::app::palette::{self, Line};
use crate::app::pane::PaneInfo;
use crate::app::possible::Possible;
use crate::app::state::App;
use crate::app::table;
use lightbay_widgets::{Column, Cut, ListItem, Piece, Sentence, Table, TableRow, Tone};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::{StatefulWidget, Widget};

/// Purpose of the program, for new users.
const IDEA: [&str; 4] = [
    "A scenario is a problem to plan; a plan is a checked solution.",
    "Change parameters and solve; plans and bounds improve while methods run.",
    "Panes explain where the time goes; {set_baseline} sets a baseline plan for comparison.",
    "Every plan has passed an independent checker; all work is saved at once.",
];

impl Layers {
    pub(super) fn help(&mut self, app: &App, list: &Filtered, area: Rect, buf: &mut Buffer, out: &mut Drawn) {
        let lines = palette::help(app, list.field.text());
        let count = [Piece::answer(format!("{} keys", lines.len()))];
        let inner = popup(app, "Help", &count, (104, area.height.min(44)), area, buf);
        let (input, body) = top(inner, 2);
        field(app, &list.field, "/", "type to filter by key or word", input, buf);
        let below = app.layers.iter().any(|layer| !matches!(layer.kind(), LayerKind::Help));
        let intro = list.field.text().trim().is_empty() && !below;
        self.fill_help(app, &lines, intro);
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

    fn fill_help(&mut self, app: &App, lines: &[Line], intro: bool) {
        let keys = lines.iter().map(|line| line.keys.chars().count()).max().unwrap_or(0).clamp(8, 16) as u16;
        self.columns.clear();
        self.columns.push(Column::left("", keys).cut(Cut::End));
        self.columns.push(Column::left("", 30).cut(Cut::End).grow());
        self.columns.push(Column::left("", 18).priority(1));
        self.rows.clear();
        if intro {
            self.rows.extend(IDEA.iter().map(|words| heading(&app.keymap.in_words(words), Tone::Text)));
            self.rows.push(TableRow::gap());
            let panes = app.kind_panes();
            if !panes.is_empty() {
                self.rows.push(heading(" Panes and the questions that they answer", Tone::Muted));
                self.rows.extend(panes.iter().map(pane));
                self.rows.push(TableRow::gap());
            }
        }
        let mut last = "";
        for (index, line) in lines.iter().enumerate() {
            let group = table::all()[line.action].group.title();
            if group != last {
                if !last.is_empty() {
                    self.rows.push(TableRow::gap());
                }
                self.rows.push(heading(&format!(" {group}"), Tone::Muted));
                last = group;
            }
            let possible = line.possible == Possible::Yes;
            let tone = if possible { Tone::Text } else { Tone::Muted };
            let keys = if line.keys.is_empty() { ":" } else { &line.keys };
            self.rows.push(TableRow::item(
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

fn is_fixed(row: &TableRow) -> bool {
    row.kind != lightbay_widgets::RowKind::Item
}
