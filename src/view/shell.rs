//! The regions that are the same for all kinds: header, tabs, parameters, plans, solve strip, log, footer, start
//! screen.

mod against;
mod footer;
mod header;
mod log_lines;
pub mod notice;
mod params;
mod plans;
pub mod runs;
mod solve;
mod start;
mod tabs;

use crate::app::action::{Action, Command};
use crate::app::drawn::{Hit, PaneDrawn};
use crate::app::pane::{ItemId, PaneId};
use crate::app::state::App;
use crate::app::table;
use crate::view::layout::Placed;
use lightbay_widgets::{Pane, PaneState, Piece, Popup};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::Widget;

pub use log_lines::line as log_line;
pub use params::shown as params_shown;

/// All regions with their rows.
#[derive(Debug, Default)]
pub struct Shell {
    pub header: header::HeaderLine,
    pub tabs: tabs::TabLine,
    pub params: params::Params,
    pub plans: plans::Plans,
    pub solve: solve::Solve,
    pub log: log_lines::Log,
    pub footer: footer::FooterLine,
    pub start: start::StartList,
}

/// Name and number at the two ends of a title.
struct Title<'a> {
    name: &'a str,
    value: &'a [Piece],
    state: PaneState<'a>,
}

/// Draws the title of a pane of the shell, as a rule or as the frame of a pop-up. Returns the room for the body.
fn title(app: &App, placed: &Placed, title: &Title<'_>, buf: &mut Buffer) -> Rect {
    let theme = &app.look.theme;
    let area = placed.area;
    if placed.popup {
        (&Popup::new(theme, title.name).value(title.value)).render(area, buf);
        let inner = Popup::inner(area);
        if title.state != PaneState::Ready {
            // The title row of the pane would lie on the frame of the pop-up and is not copied, so that only the
            // message of the pane is visible.
            let message = Rect { y: inner.y.saturating_sub(1), height: inner.height + 1, ..inner };
            let mut scratch = Buffer::empty(message);
            (&Pane::new(theme, title.name).state(title.state)).render(message, &mut scratch);
            for y in inner.top()..inner.bottom() {
                for x in inner.left()..inner.right() {
                    if let (Some(to), Some(from)) = (buf.cell_mut((x, y)), scratch.cell((x, y))) {
                        to.set_symbol(from.symbol()).set_fg(from.fg).modifier = from.modifier;
                    }
                }
            }
        }
        return inner;
    }
    let focused = app.focus.pane == placed.pane;
    (&Pane::new(theme, title.name).value(title.value).focused(focused).state(title.state)).render(area, buf);
    Rect { y: area.y + 1.min(area.height), height: area.height.saturating_sub(1), ..area }
}

/// Returns the body indented by one column, like text below a title.
fn indented(body: Rect, placed: &Placed) -> Rect {
    if placed.popup || body.width < 2 { body } else { Rect { x: body.x + 1, width: body.width - 1, ..body } }
}

/// Makes a rectangle whose click selects an item of a pane, with a further command for a double click.
fn select(pane: PaneId, item: ItemId, rect: Rect, open: Option<Command>) -> Hit {
    Hit { rect, click: Action::Select { pane, item: Some(item) }, open: open.map(Action::Do) }
}

/// Returns the description of a drawn pane whose items are in the state.
fn drawn(placed: &Placed, page: usize, offset: usize, sentence: String) -> PaneDrawn {
    PaneDrawn { page: page.max(1), offset, sentence, ..PaneDrawn::new(placed.pane, placed.area) }
}

/// Returns the first key of a command, for hints; a command without keys has the name that the palette runs.
pub fn key_of(app: &App, command: &Command) -> String {
    table::of(command).map_or_else(String::new, |info| app.keymap.hint(info.name))
}

/// Returns the key that solves from the best plan.
pub fn solve_key(app: &App) -> String {
    key_of(app, &Command::Solve { method: None, warm: true })
}
