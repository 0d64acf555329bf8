//! Converts engine data to widget data; only this module depends on both.
//!
//! Each kind has a folder here and a row in [`KINDS`]: its panes as data, and the code that draws them ([`KindPanes`]).
//! Each screen has its own instance of the drawing code. This instance keeps results for a plan (computed on a helper
//! thread if this takes more than two milliseconds), and refills its rows and curves when plan, run or selection
//! change; drawing only reads the rows and curves.

mod crossconnect;
mod explained;
mod job_results;
pub mod rows;
mod section;
mod tpu;
mod training;
mod whatif;

use crate::app::action::{Action, Command};
use crate::app::drawn::{Drawn, Hit, Item, JobKey, JobResult, PaneDrawn};
use crate::app::pane::{ItemId, PaneId, PaneInfo, PaneState};
use crate::app::state::App;
use explained::{Explain, Explanations};
use lightbay_core::report::{RunSort, SectionInfo};
use lightbay_widgets::{Pane, PaneState as Shown, Piece, Sentence, Tone};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::Widget;
use section::panes::SectionPanes;
pub use section::tone;
use std::fmt;
use std::sync::Arc;
use whatif::WhatIfPane;

/// The kinds whose panes have their own drawing code; the panes of other kinds are sections.
const KINDS: &[KindScreens] = &[training::SCREENS, tpu::SCREENS, crossconnect::SCREENS];

/// Panes of a kind.
#[derive(Clone, Copy)]
struct KindScreens {
    /// Name of the kind.
    kind: &'static str,
    /// Panes of the kind, in the order of their numbers.
    panes: &'static [PaneInfo],
    /// Sections of the kind's report that become further panes, because no other pane shows them.
    sections: &'static [&'static str],
    /// Creates the panes, which have no stored results yet.
    make: fn() -> Box<dyn KindPanes>,
}

/// Draws the panes of one kind.
trait KindPanes: fmt::Debug {
    /// Stores the result of a job that drawing requested. Late results for content that is not displayed are dropped.
    fn accept(&mut self, key: JobKey, result: JobResult);

    /// Draws a pane with its title, and returns the places of its items.
    fn draw(
        &mut self,
        input: &PaneInput<'_>,
        area: Rect,
        buf: &mut Buffer,
        drawn: &mut PaneDrawn,
        out: &mut Drawn,
    );
}

fn screens(kind: &str) -> Option<&'static KindScreens> {
    KINDS.iter().find(|screens| screens.kind == kind)
}

/// Returns the panes of a kind: its own panes, then panes of sections (of all sections if it has no own panes); empty
/// for an unknown kind.
pub fn panes(kind: &str) -> &'static [PaneInfo] {
    section::panes::with_sections(kind, screens(kind).map(|screens| (screens.panes, screens.sections)))
}

/// Input for drawing a pane.
#[derive(Clone, Debug)]
pub struct PaneInput<'a> {
    /// The state of the workbench.
    pub app: &'a App,
    /// Id of the pane.
    pub pane: PaneId,
    /// Description of the pane.
    pub info: &'static PaneInfo,
    /// State of the pane, as the user left it.
    pub state: PaneState,
    /// `true` if the pane has the focus.
    pub focused: bool,
    /// `true` if the pane is the large one, with room for details.
    pub large: bool,
}

impl PaneInput<'_> {
    /// Returns the name of the present form of the pane.
    fn mode(&self) -> &'static str {
        self.info.modes.get(usize::from(self.state.mode)).copied().unwrap_or("")
    }

    /// Makes a clickable place of the pane: a click selects its item, a double click opens the item.
    fn hit(&self, rect: Rect, item: ItemId, open: Command) -> Hit {
        let click = Action::Select { pane: self.pane, item: Some(item) };
        Hit { rect, click, open: Some(Action::Do(open)) }
    }
}

/// A title line: the subject, and the most important number.
#[derive(Default)]
struct Title {
    context: Vec<Piece>,
    value: Vec<Piece>,
}

/// Draws the panes of the kind that is open.
#[derive(Debug, Default)]
pub struct Presenter {
    /// Panes of the open kind; created when a scenario is first drawn, and replaced when another scenario is drawn,
    /// because panes store results by plan number, and these numbers restart with every scenario.
    open: Option<Open>,
}

/// Panes of the kind that is open.
#[derive(Debug)]
struct Open {
    /// Number of the scenario that is open.
    opened: u64,
    /// Panes with their own drawing code, if the kind has any.
    own: Option<Box<dyn KindPanes>>,
    /// The panes of the kind's sections.
    sections: SectionPanes,
    /// The pane of sweeps.
    what_if: WhatIfPane,
}

impl Presenter {
    /// Creates a presenter without panes.
    pub fn new() -> Self {
        Self::default()
    }

    fn of(&mut self, app: &App) -> Option<&mut Open> {
        let kind = app.work.as_ref()?.kind;
        if self.open.as_ref().is_none_or(|open| open.opened != app.opened) {
            let own = screens(kind).map(|screens| (screens.make)());
            self.open = Some(Open {
                opened: app.opened,
                own,
                sections: SectionPanes::default(),
                what_if: WhatIfPane::default(),
            });
        }
        self.open.as_mut()
    }

    /// Stores the result of a job that drawing requested.
    pub fn accept(&mut self, key: JobKey, result: JobResult) {
        let Some(open) = &mut self.open else { return };
        if let Err(result) = open.sections.accept(key, result)
            && let Some(own) = &mut open.own
        {
            own.accept(key, result);
        }
    }

    /// Draws a pane with its title, and returns the places of its items.
    pub fn draw(&mut self, input: &PaneInput<'_>, area: Rect, buf: &mut Buffer, out: &mut Drawn) {
        if area.is_empty() {
            return;
        }
        let mut drawn = PaneDrawn::new(input.pane, area);
        if let Some(open) = self.of(input.app) {
            match (input.info.section, &mut open.own) {
                (Some(info), _) => open.sections.draw(input, info, area, buf, (&mut drawn, out)),
                (None, _) if input.info.sweeps.is_some() => {
                    open.what_if.draw(input, area, buf, &mut drawn, out);
                }
                (None, Some(own)) => own.draw(input, area, buf, &mut drawn, out),
                (None, None) => {}
            }
        }
        if drawn.steps == 0 && drawn.items.len() > 1 {
            // Panes without steps of their own step through their items.
            let has = |id: &ItemId| drawn.items.iter().any(|item| item.id == *id);
            let at = drawn.chosen.or(input.state.selected).filter(has);
            let at = at.or_else(|| drawn.items.first().map(|item| item.id));
            drawn.steps = drawn.items.len() as u32;
            drawn.steps_through = at.map(|item| (input.pane, item));
        }
        if input.app.preview().is_some() {
            // A preview cannot be edited, because edits start from a plan of the table.
            drawn.edit = None;
        }
        out.panes.push(drawn);
    }
}

/// Draws the title line, or only a message if the body is missing.
fn frame(input: &PaneInput<'_>, title: &Title, state: Shown<'_>, area: Rect, buf: &mut Buffer) {
    frame_in_sight(input, title, "", state, area, buf);
}

/// Draws the title line with the visible part of the body, such as `4 of 8`.
fn frame_in_sight(
    input: &PaneInput<'_>,
    title: &Title,
    sight: &str,
    state: Shown<'_>,
    area: Rect,
    buf: &mut Buffer,
) {
    let keymap = &input.app.keymap;
    let (stale, words);
    let state = match state {
        Shown::Empty { what, remedy } => {
            words = keymap.in_words(remedy);
            Shown::Empty { what, remedy: &words }
        }
        Shown::Failed { what, remedy } => {
            words = keymap.in_words(remedy);
            Shown::Failed { what, remedy: &words }
        }
        state => state,
    };
    let is_present = input.info.section.is_some_and(SectionInfo::is_of_present);
    let is_stale = input.app.is_stale();
    let state = if state == Shown::Ready && is_stale && !is_present && !draws_run(input.info) {
        stale = input.app.plans.shown().map_or_else(String::new, |shown| format!("plan {} *", shown.number));
        Shown::Stale(&stale)
    } else {
        state
    };
    let shows_plan = state == Shown::Ready && input.info.sweeps.is_none();
    let preview = input.app.preview().filter(|_| shows_plan && !is_present);
    let edit = input.app.cell_edit().filter(|edit| edit.is_changed() && edit.plan().is_some());
    let edit = edit.filter(|_| shows_plan && !draws_run(input.info));
    let mut context = Vec::new();
    if is_stale && is_present && state == Shown::Ready {
        context.push(Piece::new("present parameters  ", Tone::Changed));
    }
    if let Some(of) = edit.and_then(|_| input.app.plans.shown()) {
        context.push(Piece::new(format!("edit of {}  ", of.number), Tone::Changed));
    }
    if let Some(preview) = preview {
        context.push(Piece::new("preview", Tone::Changed));
        context.push(Piece::muted(format!(" by {}  ", preview.0.header().method)));
    }
    context.extend_from_slice(&title.context);
    (&Pane::new(&input.app.look.theme, input.info.name)
        .number(input.info.number)
        .context(&context)
        .value(&title.value)
        .sight(sight)
        .focused(input.focused)
        .state(state))
        .render(area, buf);
    // A large empty pane also says which question it will answer.
    if matches!(state, Shown::Empty { .. }) && area.height >= ASKED {
        let (theme, question) = (&input.app.look.theme, [Piece::muted(input.info.help)]);
        let body = body(area, 0);
        // In a low pane, the message is right below the second row.
        let height = Sentence::new(theme, &question).rows(body.width, 3);
        let place = rows::row(body, u16::from(height < 2 || area.height >= LOW));
        if height <= 2 {
            rows::wrapped(theme, &question, Rect { height, ..place }, buf);
        }
    }
}

/// Returns `true` for a pane whose figures are those of a search, which may have found another plan than the displayed
/// one.
fn draws_run(info: &PaneInfo) -> bool {
    info.section.is_some_and(|section| section.run != RunSort::OfPlan)
}

/// Minimum height at which an empty pane shows its question.
const ASKED: u16 = 12;

/// Height of an empty pane below which its question of two rows begins right below the title.
const LOW: u16 = 16;

/// Returns the names of items for a search; none unless a search needs them.
fn labels(
    input: &PaneInput<'_>,
    items: &[Item],
    name: impl Fn(ItemId) -> Option<String>,
) -> Arc<[(ItemId, String)]> {
    /// Maximum number of items that are searched, so that a frame stays short.
    const MOST: usize = 20_000;
    if !input.focused || !input.app.wants_labels() {
        return Arc::default();
    }
    items.iter().take(MOST).filter_map(|item| Some((item.id, name(item.id)?))).collect()
}

/// Returns the name of the plan, such as `plan 5`, if a pane shows another plan than the header.
fn other_plan(app: &App, number: u64) -> Option<Piece> {
    let is_other = number != app.shown_key() && app.plans.get(number).is_some();
    is_other.then(|| Piece::new(format!("plan {number}"), Tone::Changed))
}

/// Returns the area inside the frame of a pane, without its last `reserved` rows.
fn body(area: Rect, reserved: u16) -> Rect {
    let inner = Pane::inner(area);
    Rect { height: inner.height.saturating_sub(reserved), ..inner }
}

/// Returns the row below a body.
fn below(body: Rect) -> Rect {
    Rect { y: body.y.saturating_add(body.height), height: 1, ..body }
}

/// Joins the pieces of a row to plain text, for copying.
fn plain(pieces: &[Piece]) -> String {
    pieces.iter().map(|piece| piece.text.as_ref()).collect()
}
