//! The last line: the possible actions, from the action table.

use crate::app::action::Action;
use crate::app::drawn::{Drawn, Hit};
use crate::app::hints;
use crate::app::key;
use crate::app::state::App;
use crate::app::table::{self, Make};
use lightbay_widgets::{Footer, Hits, KeyHint};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::StatefulWidget;

/// Identity of the leader key among the entries.
const LEADER: u32 = u32::MAX;

/// The last line of the screen, with the keys that it shows.
#[derive(Debug, Default)]
pub struct FooterLine {
    hints: Vec<KeyHint>,
    hits: Hits,
}

impl FooterLine {
    pub fn draw(&mut self, app: &App, area: Rect, buf: &mut Buffer, out: &mut Drawn) {
        self.hints.clear();
        self.hints.extend(hints::footer(app).into_iter().map(|hint| KeyHint {
            keys: hint.keys.into(),
            label: hint.label.into(),
            enabled: hint.possible,
            keep: hint.keep,
            id: hint.action.map_or(LEADER, |action| action as u32),
        }));
        (&Footer::new(&app.look.theme, &self.hints)).render(area, buf, &mut self.hits);
        out.hits.extend(self.hits.iter().filter_map(|hit| {
            if hit.id == LEADER {
                let click = Action::Key(app.keymap.leader()?);
                return Some(Hit { rect: hit.rect, click, open: None });
            }
            let info = table::all().get(hit.id as usize)?;
            let click = match &info.make {
                Make::Plain(command) => Action::Do(command.clone()),
                // Requests the argument, as if the key had been pressed.
                Make::With(_) => {
                    match key::sequence(app.keymap.keys(hit.id as usize).first()?).ok()?.as_slice() {
                        [key] => Action::Key(*key),
                        _ => return None,
                    }
                }
            };
            Some(Hit { rect: hit.rect, click, open: None })
        }));
    }
}
