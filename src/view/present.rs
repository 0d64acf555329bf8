//! Engine data to widget data: the only place that knows both.
//!
//! A presenter belongs to one screen. It keeps what was made for a plan (on a helper thread where that takes more
//! than two milliseconds) and refills its own vectors when plan, run or selection change; drawing only reads them.

mod activity;
mod compare;
mod dag;
mod explained;
mod ga;
mod links;
mod pieces;
mod ports;
mod search;

use crate::app::drawn::{Drawn, JobKey, JobResult, PaneDrawn};
use crate::app::pane::{PaneId, PaneInfo, PaneState};
use crate::app::state::App;
pub use compare::{CompareBlocks, CompareRow};
use explained::Explained;
use lightbay_widgets::{Pane, PaneState as Shown, Piece};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::Widget;

/// Panes of kind `training`.
const TRAINING: &[PaneInfo] = &[
    PaneInfo {
        modes: &["folded", "whole", "full graph"],
        zooms: true,
        ..PaneInfo::new(1, "DAG", "Where does the time go, and what dictates it?")
    },
    PaneInfo {
        modes: &["tail, equal columns", "tail, to scale", "all, equal columns", "all, to scale"],
        overlay: "index windows",
        zooms: true,
        steps: "interval",
        ..PaneInfo::new(2, "Activity", "Who waits for whom, and which link is full?")
    },
    PaneInfo {
        modes: &["circuits", "useful circuits", "busy, per cent", "flows at peak"],
        ..PaneInfo::new(3, "Ports", "Who has how many circuits, and who could give some?")
    },
    PaneInfo {
        modes: &["log axes", "even axes"],
        ..PaneInfo::new(4, "GA", "Is the search still improving, or stuck?")
    },
    PaneInfo {
        modes: &["over time", "over nodes or vectors", "solver log"],
        ..PaneInfo::new(5, "Search", "How good is the best plan, provably?")
    },
];

/// The panes of a kind; empty for an unknown one.
pub fn panes(kind: &str) -> &'static [PaneInfo] {
    if kind == "training" { TRAINING } else { &[] }
}

/// What a pane is drawn from.
#[derive(Clone, Debug)]
pub struct PaneInput<'a> {
    /// The state.
    pub app: &'a App,
    /// Which pane.
    pub pane: PaneId,
    /// Its description.
    pub info: &'static PaneInfo,
    /// What a person did to it.
    pub state: PaneState,
    /// Whether it has the focus.
    pub focused: bool,
    /// Whether it is the large one, with room for details.
    pub large: bool,
}

impl PaneInput<'_> {
    /// Name of the present form of the pane.
    fn mode(&self) -> &'static str {
        self.info.modes.get(usize::from(self.state.mode)).copied().unwrap_or("")
    }
}

/// A title line: what is shown, and the one number.
struct Title {
    context: Vec<Piece>,
    value: Vec<Piece>,
}

/// Draws the panes of the kind that is open.
#[derive(Debug, Default)]
pub struct Presenter {
    explained: explained::Cache,
    dag: dag::DagPane,
    activity: activity::ActivityPane,
    ports: ports::PortsPane,
    ga: ga::GaPane,
    search: search::SearchPane,
}

impl Presenter {
    /// Nothing made yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in the result of a job that drawing asked for. Late results for plans nobody shows are dropped.
    pub fn accept(&mut self, key: JobKey, result: JobResult) {
        self.explained.accept(key, result);
    }

    /// Draws a pane with its title, and says what is where.
    pub fn draw(&mut self, input: &PaneInput<'_>, area: Rect, buf: &mut Buffer, out: &mut Drawn) {
        if area.is_empty() {
            return;
        }
        let mut drawn = PaneDrawn::new(input.pane, area);
        match input.info.number {
            4 => self.ga.draw(input, area, buf, &mut drawn),
            5 => self.search.draw(input, area, buf, &mut drawn, out),
            number => self.draw_plan_pane(number, input, area, buf, &mut drawn, out),
        }
        out.panes.push(drawn);
    }

    /// The panes that show a plan: they need it explained first.
    fn draw_plan_pane(
        &mut self,
        number: u8,
        input: &PaneInput<'_>,
        area: Rect,
        buf: &mut Buffer,
        drawn: &mut PaneDrawn,
        out: &mut Drawn,
    ) {
        let explained = match self.explained.of_shown(input.app, &mut out.jobs) {
            explained::Lookup::Ready(explained) => explained,
            explained::Lookup::NoPlan => {
                let failed = input.app.runs.latest(|_| true).and_then(|run| {
                    let why = crate::view::shell::runs::failure(run)?;
                    Some(format!("{} {}: {why}", run.method, run.word().to_lowercase()))
                });
                let state = match &failed {
                    _ if input.app.runs.is_busy() => Shown::Waiting("the first plan"),
                    Some(what) => {
                        Shown::Failed { what, remedy: "L shows the log; change parameters and press r" }
                    }
                    None => Shown::Empty { what: "no plan yet", remedy: "press r to solve" },
                };
                return frame(input, &Title { context: Vec::new(), value: Vec::new() }, state, area, buf);
            }
            explained::Lookup::Making => {
                let state = Shown::Waiting("the plan to be explained");
                return frame(input, &Title { context: Vec::new(), value: Vec::new() }, state, area, buf);
            }
            explained::Lookup::Failed(why) => {
                let state = Shown::Failed { what: &why, remedy: "press V to check the plan" };
                return frame(input, &Title { context: Vec::new(), value: Vec::new() }, state, area, buf);
            }
        };
        match number {
            1 => self.dag.draw(input, &explained, area, buf, drawn, out),
            2 => self.activity.draw(input, &explained, area, buf, drawn, out),
            _ => {
                let baseline = self.explained.of_baseline(input.app, &mut out.jobs);
                self.ports.draw(input, &explained, baseline.as_deref(), area, buf, drawn, out);
            }
        }
    }

    /// What two plans of the kind differ in beyond their figures.
    pub fn compare(
        &mut self,
        app: &App,
        a: &crate::app::plans::PlanEntry,
        b: &crate::app::plans::PlanEntry,
    ) -> CompareBlocks {
        compare::blocks(app, a, b)
    }
}

/// Draws the title line, and the designed state if there is no body to draw.
fn frame(input: &PaneInput<'_>, title: &Title, state: Shown<'_>, area: Rect, buf: &mut Buffer) {
    let stale;
    let state = if state == Shown::Ready && input.app.is_stale() {
        stale = input.app.plans.shown().map_or_else(String::new, |shown| format!("plan {}", shown.number));
        Shown::Stale(&stale)
    } else {
        state
    };
    (&Pane::new(&input.app.look.theme, input.info.name)
        .number(input.info.number)
        .context(&title.context)
        .value(&title.value)
        .focused(input.focused)
        .state(state))
        .render(area, buf);
}

/// The body of a framed pane, without the last row if the sentence goes there.
fn body(area: Rect, reserved: u16) -> Rect {
    let inner = Pane::inner(area);
    Rect { height: inner.height.saturating_sub(reserved), ..inner }
}

/// The row below a body.
fn below(body: Rect) -> Rect {
    Rect { y: body.y.saturating_add(body.height), height: 1, ..body }
}

/// The plan shown together with its explanation.
type Facts = std::sync::Arc<Explained>;
