//! Layers above the panes: pop-ups, the bar of an edit, the keys that may follow a pending key.
//!
//! Layers are drawn from the bottom up; a pop-up dims the content behind it and receives its clicks. Rows are numbered
//! as in the list that the state makes, so that keys and clicks refer to the same line.

mod cell;
mod choose;
mod compare;
mod first_steps;
mod help;
mod menu;
mod read;
mod typed;

use super::layout::Layout;
use crate::app::action::{Action, Command, LayerCommand};
use crate::app::drawn::{Drawn, Hit};
use crate::app::layer::{Layer, TextField};
use crate::app::state::App;
use lightbay_widgets::{
    Column, Hits, Input, List, ListItem, ListState, Piece, Popup, TableRow, TableState, text,
};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::{StatefulWidget, Widget};

/// State of layers that stays from frame to frame.
#[derive(Debug, Default)]
pub struct Layers {
    items: Vec<ListItem>,
    list: ListState,
    columns: Vec<Column>,
    rows: Vec<TableRow>,
    table: TableState,
    hits: Hits,
    compare: compare::Comparison,
}

impl Layers {
    pub fn draw(&mut self, app: &App, layout: &Layout, buf: &mut Buffer, out: &mut Drawn) {
        for layer in &app.layers {
            if layer.kind().is_transparent() {
                match layer {
                    Layer::EditCell(edit) => cell::draw(app, edit, layout.log, buf),
                    Layer::Search(field) => search(app, field, layout.log, buf),
                    _ => {}
                }
                continue;
            }
            Popup::dim(&app.look.theme, layout.content, buf);
            out.hits.clear();
            out.layer_page = 0;
            out.layer_rows = 0;
            let area = layout.content;
            match layer {
                Layer::Help(list) => self.help(app, list, area, buf, out),
                Layer::Palette(list) => self.palette(app, list, area, buf, out),
                Layer::EditKnob(edit) => self.knob(app, edit, area, buf, out),
                Layer::Export(edit) => self.export(app, edit, area, buf, out),
                Layer::Confirm(question) => self.confirm(app, question, area, buf, out),
                Layer::Compare(view) => self.compare.draw(app, view, area, buf, out),
                Layer::Log(view) => self.log(app, view, area, buf, out),
                Layer::Runs(view) => self.runs(app, view, area, buf, out),
                Layer::Panes(view) => self.panes(app, view, area, buf, out),
                Layer::Text(view) => read::text(app, view, area, buf, out),
                Layer::EditCell(_) | Layer::Search(_) => {}
            }
        }
        if app.first_steps && app.work.is_some() && app.layers.is_empty() {
            first_steps::draw(app, layout.content, buf);
        }
        if app.menu {
            menu::draw(app, layout, buf, out);
        }
    }

    /// Draws `items` as a list of lines that can be chosen.
    fn list(
        &mut self,
        app: &App,
        selected: usize,
        offset: usize,
        area: Rect,
        buf: &mut Buffer,
        out: &mut Drawn,
    ) {
        self.list.selected = Some(selected as u32);
        self.list.offset = offset;
        (&List::new(&app.look.theme, &self.items)).render(area, buf, &mut self.list);
        out.hits.extend(self.list.hits.iter().map(|hit| line(hit.rect, hit.id as usize)));
        out.layer_page = usize::from(area.height);
        out.layer_rows = self.items.len();
    }
}

/// Makes a clickable line: a click chooses it, and a double click accepts it.
fn line(rect: Rect, index: usize) -> Hit {
    let accept = Action::Do(Command::Layer(LayerCommand::Accept));
    Hit { rect, click: Action::SelectLine(index), open: Some(accept) }
}

/// Draws the frame of a pop-up of at most this size inside `area`. Returns the area inside the frame.
fn popup(app: &App, title: &str, value: &[Piece], size: (u16, u16), area: Rect, buf: &mut Buffer) -> Rect {
    let width = size.0.min(area.width.saturating_sub(2)).max(area.width.min(Popup::MIN_WIDTH));
    let rect = Popup::centred(area, width, size.1);
    (&Popup::new(&app.look.theme, title).value(value)).render(rect, buf);
    Popup::inner(rect)
}

/// Splits `rows` rows off at the top of an area; returns these rows and the rest.
fn top(area: Rect, rows: u16) -> (Rect, Rect) {
    let rows = rows.min(area.height);
    (Rect { height: rows, ..area }, Rect { y: area.y + rows, height: area.height - rows, ..area })
}

/// Draws the search field in the last line of the log.
fn search(app: &App, text: &TextField, area: Rect, buf: &mut Buffer) {
    let line = Rect { y: area.bottom().saturating_sub(1), height: area.height.min(1), ..area };
    buf.set_style(line, app.look.theme.popup());
    for x in line.left()..line.right() {
        if let Some(cell) = buf.cell_mut((x, line.y)) {
            cell.set_symbol(" ");
        }
    }
    let inner = Rect { x: line.x + 1, width: line.width.saturating_sub(2), ..line };
    field(app, text, "/", "a part of a name; Enter goes to the next match", inner, buf);
}

/// Draws a field with its prompt, hint and problem, in two rows.
fn field(app: &App, field: &TextField, prompt: &str, hint: &str, area: Rect, buf: &mut Buffer) {
    let text = field.text();
    let before: String = text.chars().take(field.input.cursor()).collect();
    let cursor = text::cleaned(&before, app.look.theme.glyphs).count();
    let input = Input::new(&app.look.theme, text, cursor).prompt(prompt).hint(hint).problem(&field.problem);
    (&input).render(area, buf);
    if field.fresh {
        // Like selected text: typing replaces it.
        let glyphs = app.look.theme.glyphs;
        let at = text::width(prompt, glyphs) + 1;
        let width = text::width(text, glyphs).min(area.width.saturating_sub(at));
        buf.set_style(
            Rect { x: area.x + at, width, height: 1.min(area.height), ..area },
            app.look.theme.selected(),
        );
    }
}
