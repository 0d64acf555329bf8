//! The keys that may follow a pending key, shown after a pause in typing.

use super::popup;
use crate::app::action::Action;
use crate::app::drawn::{Drawn, Hit};
use crate::app::hints;
use crate::app::state::App;
use crate::app::table::{self, Make};
use crate::view::layout::Layout;
use lightbay_widgets::{Cut, Pen, Tone};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

const WIDTH: u16 = 64;

pub fn draw(app: &App, layout: &Layout, buf: &mut Buffer, out: &mut Drawn) {
    let next = hints::next_keys(app);
    if next.is_empty() {
        return;
    }
    let title = app.pending.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    let height = (next.len() as u16 + 2).min(layout.content.height);
    // Placed at the bottom, next to the keys of the footer.
    let area = Rect {
        y: layout.content.bottom() - height,
        height,
        x: layout.content.right().saturating_sub(WIDTH + 2),
        width: (WIDTH + 2).min(layout.content.width),
    };
    out.hits.retain(|hit| hit.rect.intersection(area).is_empty());
    let inner = popup(app, &title, &[], (WIDTH, height), area, buf);
    let theme = &app.look.theme;
    let mut pen = Pen::new(buf, inner, theme);
    let room = pen.width();
    for (y, next) in (0..pen.height()).zip(&next) {
        let possible = next.action.is_none_or(|action| (table::all()[action].possible)(app).is_yes());
        let (key, words) = if possible { (Tone::Answer, Tone::Text) } else { (Tone::Rule, Tone::Rule) };
        pen.cut(0, y, 6, &next.key, Cut::End, theme.style(key));
        let help = if next.help.is_empty() { "more keys" } else { next.help };
        pen.cut(8, y, room - 8, help, Cut::End, theme.style(words));
        if let Some(Make::Plain(command)) = next.action.map(|action| &table::all()[action].make) {
            let rect = pen.rect(0, y, room, 1);
            out.hits.push(Hit { rect, click: Action::Do(command.clone()), open: None });
        }
    }
}
