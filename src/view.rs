//! The screen: draws the state into cells, and returns the places of items.
//!
//! [`draw`] is called once per frame and only if something changed. It never changes the state: data about
//! the screen that the state needs is returned as [`Drawn`]. Vectors of rows and pieces are in [`ViewCache`] and are
//! refilled.
//!
//! A piece is a text with a tone, which is its meaning (such as good or muted); the theme maps tones to colours.
//!
//! | Module | Draws |
//! |---|---|
//! | [`layout`] | nothing: places of all regions |
//! | [`figures`] | nothing: objective, gap and loss as numbers and words, the same in all regions |
//! | `shell` | header, tabs, parameters, plans, solve strip, log lines, footer, start screen |
//! | `layers` | pop-ups and the bar of an edit |
//! | [`present`] | panes of a kind |

pub mod figures;
mod layers;
pub mod layout;
pub mod present;
mod shell;

use crate::app::drawn::{Drawn, JobKey, JobResult};
use crate::app::pane::{PaneId, SizeClass};
use crate::app::state::App;
use layers::Layers;
use layout::{Layout, LayoutForm, Placed};
use lightbay_widgets::Popup;
use present::{PaneInput, Presenter};
use ratatui::Frame;
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier};
use shell::Shell;

/// Data that is kept from frame to frame. The data can be dropped at any time, because the next frame computes it
/// again.
#[derive(Debug, Default)]
pub struct ViewCache {
    presenter: Presenter,
    shell: Shell,
    layers: Layers,
}

impl ViewCache {
    /// Creates the cache before the first frame.
    pub fn new() -> Self {
        Self { presenter: Presenter::new(), ..Self::default() }
    }

    /// Stores the result of a job that a frame requested.
    pub fn accept(&mut self, key: JobKey, result: JobResult) {
        self.presenter.accept(key, result);
    }
}

/// Draws one frame. Returns the clickable areas, the drawn panes and the requested jobs.
pub fn draw(app: &App, cache: &mut ViewCache, frame: &mut Frame<'_>) -> Drawn {
    let area = frame.area();
    let out = draw_into(app, cache, area, frame.buffer_mut());
    if !app.look.theme.is_ascii() {
        keep_ends(frame.buffer_mut());
    }
    out
}

/// Replaces the last painted blank of each row by a no-break space. Terminal multiplexers drop blanks at the end of a
/// row, including their colour, when they copy or restore a screen, but they keep a no-break space.
fn keep_ends(buf: &mut Buffer) {
    let width = usize::from(buf.area.width).max(1);
    for row in buf.content.chunks_mut(width) {
        let painted = |cell: &Cell| cell.bg != Color::Reset || cell.modifier.contains(Modifier::REVERSED);
        let last = row.iter_mut().rev().find(|cell| painted(cell) || cell.symbol() != " ");
        if let Some(cell) = last.filter(|cell| cell.symbol() == " ") {
            cell.set_symbol("\u{a0}");
        }
    }
}

/// Draws into an area of a buffer. Returns the clickable areas, the drawn panes and the requested jobs.
pub fn draw_into(app: &App, cache: &mut ViewCache, area: Rect, buf: &mut Buffer) -> Drawn {
    let mut out = Drawn::default();
    if SizeClass::of(area.width, area.height) == SizeClass::TooSmall {
        shell::notice::too_small(app, area, buf);
        return out;
    }
    let layout = Layout::of(app, area);
    let shell = &mut cache.shell;
    shell.header.draw(app, layout.header, buf, &mut out);
    shell.tabs.draw(app, layout.form, layout.tabs, buf, &mut out);
    if layout.form == LayoutForm::Start {
        shell.start.draw(app, layout.content, buf, &mut out);
    }
    for placed in &layout.panes {
        region(app, cache, placed, buf, &mut out);
    }
    if let Some(placed) = &layout.popup {
        Popup::dim(&app.look.theme, layout.content, buf);
        // Rectangles behind a pop-up must not receive its clicks.
        out.hits.retain(|hit| hit.rect.intersection(placed.area).is_empty());
        region(app, cache, placed, buf, &mut out);
    }
    if let Some(range) = app.range.filter(|range| range.columns.0 != range.columns.1) {
        let (from, to) = (range.columns.0.min(range.columns.1), range.columns.0.max(range.columns.1));
        buf.set_style(Rect { x: from, width: to - from + 1, ..range.axis }, app.look.theme.selected());
    }
    cache.shell.log.draw(app, layout.log, buf, &mut out);
    cache.layers.draw(app, &layout, buf, &mut out);
    cache.shell.footer.draw(app, layout.footer, buf, &mut out);
    out
}

/// Draws one pane, of the shell or of the kind.
fn region(app: &App, cache: &mut ViewCache, placed: &Placed, buf: &mut Buffer, out: &mut Drawn) {
    let shell = &mut cache.shell;
    match placed.pane {
        PaneId::Start => {}
        PaneId::Params => shell.params.draw(app, placed, buf, out),
        PaneId::Plans => shell.plans.draw(app, placed, buf, out),
        PaneId::Solve => shell.solve.draw(app, placed, buf, out),
        pane @ PaneId::Kind(_) => {
            let Some(info) = app.pane_info(pane) else { return };
            let input = PaneInput {
                app,
                pane,
                info,
                state: app.pane(pane),
                focused: app.focus.pane == pane,
                large: placed.large,
            };
            cache.presenter.draw(&input, placed.area, buf, out);
        }
    }
}
