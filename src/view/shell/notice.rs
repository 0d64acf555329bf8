//! Messages that replace other content: on a terminal that is too small, or in an empty log.

use crate::app::action::Command;
use crate::app::pane::SMALLEST;
use crate::app::state::App;
use crate::view::figures::{Goal, Room};
use lightbay_widgets::{Piece, Sentence, TooSmall};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::Widget;

/// Draws the only content of a screen below the smallest size.
pub fn too_small(app: &App, area: Rect, buf: &mut Buffer) {
    let best = app.work.as_ref().zip(app.plans.shown()).map(|(work, shown)| {
        format!("best {}", Goal::of(work.objective).with_unit(shown.value, Room::Short))
    });
    let best = match (&app.session.failing, best) {
        (Some(_), Some(best)) => Some(format!("{best}, ! not saved")),
        (Some(_), None) => Some("! not saved".to_owned()),
        (None, best) => best,
    };
    let state = match (app.runs.is_busy(), best) {
        (true, Some(best)) => format!("still solving, {best}"),
        (true, None) => "still solving".to_owned(),
        (false, best) => best.unwrap_or_default(),
    };
    let hint = format!("{} to leave", super::key_of(app, &Command::Quit));
    (&TooSmall::new(&app.look.theme, SMALLEST.0, SMALLEST.1).state(&state).hint(&hint)).render(area, buf);
}

/// Draws the word `idle` instead of the log while the log is empty.
pub fn quiet(app: &App, area: Rect, buf: &mut Buffer) {
    let words = [Piece::muted(" idle")];
    let last = Rect { y: area.bottom().saturating_sub(1), height: area.height.min(1), ..area };
    (&Sentence::new(&app.look.theme, &words)).render(last, buf);
}
