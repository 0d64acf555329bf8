//! Line 1: the names and numbers of the panes with the focus in brackets, then layout and display state as words.

use crate::app::action::{Action, Command};
use crate::app::drawn::{Drawn, Hit};
use crate::app::pane::{PaneId, PaneInfo};
use crate::app::state::App;
use crate::view::layout::LayoutForm;
use lightbay_widgets::{Hits, Piece, Tab, Tabs, Tone};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::StatefulWidget;

/// Maximum length of a name without a short form.
const SHORT: usize = 6;

/// The line with its tabs.
#[derive(Debug, Default)]
pub struct TabLine {
    tabs: Vec<Tab>,
    /// Panes from which `tabs` was made.
    panes: &'static [PaneInfo],
    /// A pane without a key that is shown because it has the focus.
    extra: Option<u8>,
    /// Number of panes without a tab, and the key that lists all panes.
    more: Vec<Piece>,
    right: Vec<Piece>,
    hits: Hits,
}

impl TabLine {
    pub fn draw(&mut self, app: &App, form: LayoutForm, area: Rect, buf: &mut Buffer, out: &mut Drawn) {
        if form == LayoutForm::Start {
            return;
        }
        self.fill_tabs(app);
        self.right.clear();
        self.fill_right(app, form, area.width >= 160);
        let theme = &app.look.theme;
        let mut line = Tabs::new(theme, &self.tabs).more(&self.more).right(&self.right);
        if let PaneId::Kind(number) = app.focus.pane {
            line = line.focused(u32::from(number));
        }
        (&line).render(area, buf, &mut self.hits);
        out.hits.extend(self.hits.iter().map(|hit| Hit {
            rect: hit.rect,
            click: Action::Do(Command::Focus(PaneId::Kind(hit.id as u8))),
            open: Some(Action::Do(Command::Zoom)),
        }));
    }

    fn fill_tabs(&mut self, app: &App) {
        let extra = match app.focus.pane {
            PaneId::Kind(number) => Some(number),
            _ => None,
        };
        let panes = app.kind_panes();
        if std::ptr::eq(self.panes, panes) && self.extra == extra && !self.tabs.is_empty() {
            return;
        }
        (self.panes, self.extra) = (panes, extra);
        self.tabs.clear();
        // Panes without a key are in the list of panes; here only the focused one is shown.
        let shown =
            panes.iter().filter(|info| (info.number <= 9 && info.home <= 9) || Some(info.number) == extra);
        self.tabs.extend(shown.map(|info| {
            let tab = Tab::new(u32::from(info.number), info.number.to_string(), info.name);
            if info.name.len() <= SHORT {
                return tab;
            }
            let short: String = info.name.chars().take(SHORT - 2).collect();
            tab.short(format!("{}.", short.trim_end()))
        }));
        let hidden = panes.len().saturating_sub(self.tabs.len());
        let words = format!("+{hidden} {}", app.keymap.hint("list_panes"));
        self.more = if hidden > 0 { vec![Piece::muted(words)] } else { Vec::new() };
    }

    fn fill_right(&mut self, app: &App, form: LayoutForm, wide: bool) {
        let right = &mut self.right;
        let region = match app.focus.pane {
            PaneId::Params => "[Parameters]",
            PaneId::Plans => "[Plans]",
            PaneId::Solve => "[Solve]",
            _ => "",
        };
        if !region.is_empty() {
            right.push(Piece::answer(format!("{region}  ")));
        }
        if wide && !app.session.name.is_empty() {
            right.push(Piece::muted(format!("session {}   ", app.session.name)));
        } else if wide && !app.session.followed.is_empty() {
            right.push(Piece::muted(format!("reads session {}   ", app.session.followed)));
        }
        right.push(Piece::muted(form.word()));
        for (so, word) in [(app.focus.pinned, "  pinned"), (app.auto, "  auto")] {
            if so {
                right.push(Piece::text(word));
            }
        }
        right.push(Piece::muted(if wide { "   display: " } else { "  " }));
        right.push(if app.frozen {
            Piece::new(format!("frozen, {} behind", app.held.len()), Tone::Changed).bold()
        } else {
            Piece::muted("live")
        });
        if wide {
            let theme = &app.look.theme;
            right.push(Piece::muted(format!(
                "   palette: {}   glyphs: {}",
                theme.palette.name(),
                app.look.glyphs.name()
            )));
        }
    }
}
