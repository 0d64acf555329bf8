//! The first steps: the three most important keys, over the panes of the first scenario that a user opens.

use crate::app::state::App;
use lightbay_widgets::{Piece, Popup, Sentence, text};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::Widget;

/// The most important actions, each with its effect.
const STEPS: [(&str, &str); 3] =
    [("solve_warm", "solve this scenario"), ("edit", "change a parameter"), ("help", "help, with all keys")];

/// Draws the box at the lower right, where it hides least.
pub fn draw(app: &App, area: Rect, buf: &mut Buffer) {
    // A result is not covered, and a run needs no first step.
    if !app.plans.is_empty() || app.runs.is_busy() {
        return;
    }
    let theme = &app.look.theme;
    let last = "The next key closes this box for good.";
    let steps = STEPS.map(|(action, effect)| (app.keymap.hint(action), effect));
    let keys = steps.iter().map(|(key, _)| text::width(key, theme.glyphs)).max().unwrap_or(0);
    let width = text::width(last, theme.glyphs) + 4;
    let height = STEPS.len() as u16 + 3;
    if area.width < width + 2 || area.height < height + 2 {
        return;
    }
    let rect = Rect { x: area.right() - width - 1, y: area.bottom() - height, width, height };
    (&Popup::new(theme, "First steps")).render(rect, buf);
    let inner = Popup::inner(rect);
    let row = |at: usize| Rect { y: inner.y + at as u16, height: 1, ..inner };
    for (at, (key, effect)) in steps.iter().enumerate() {
        let blanks = " ".repeat(usize::from(keys - text::width(key, theme.glyphs) + 2));
        let pieces = [Piece::answer(key.clone()), Piece::text(format!("{blanks}{effect}"))];
        (&Sentence::new(theme, &pieces)).render(row(at), buf);
    }
    (&Sentence::new(theme, &[Piece::muted(last)])).render(row(STEPS.len()), buf);
}
