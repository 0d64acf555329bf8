//! Pane 5: incumbent and bound of a search that proves, the gap in NCT units and in per cent of the objective, what
//! it went through, how large its models were, where its solver stands and what it says. A bound that covers only
//! some plans says so in words.

mod curves;
mod facts;
mod solver_log;
mod steps;

use super::ga::nct_of;
use crate::app::action::{Action, Command};
use crate::app::drawn::{Drawn, Hit, PaneDrawn};
use crate::app::pane::PaneId;
use crate::app::runs::Run;
use crate::view::figures::Gap;
use crate::view::present::{PaneInput, Title, below, body, frame, plain};
use crate::view::shell::runs::standing;
use curves::Curves;
use lightbay_core::event::RunId;
use lightbay_widgets::{Axis, Chart, PaneState as Shown, Piece, Sentence, Tone};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::Widget;
use solver_log::SolverLog;
use steps::Steps;

/// The forms of the pane, in the order of its modes.
const OVER_NODES: u8 = 1;
const SOLVER_LOG: u8 = 2;

/// From this height of the body on there is room for lines about models and hot start.
const FACTS_FROM: u16 = 11;

/// Least rows of the chart beside other things: with its axis, and with room for details.
const CHART_ROWS: (u16, u16) = (6, 9);

/// A body of this height has room for a higher chart beside the table.
const TALL: u16 = 20;

/// Key of the state that the curves and rows were filled for.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Key {
    run: RunId,
    incumbents: u64,
    bounds: u64,
    row: Option<u32>,
    plans: u64,
    baseline: Option<u64>,
    elapsed_tenths: u64,
    over_nodes: bool,
    nodes: u64,
}

/// Columns of a title that are taken by its rules, number and name.
const FRAME: usize = 18;

/// Data of the pane, refilled when the run says something.
#[derive(Debug, Default)]
pub struct SearchPane {
    key: Option<Key>,
    curves: Curves,
    steps: Steps,
    log: SolverLog,
}

/// The run that the pane is about: the one selected in the strip, else the newest one that searches.
fn run_of<'a>(input: &PaneInput<'a>) -> Option<&'a Run> {
    let app = input.app;
    let selected = app.pane(PaneId::Solve).selected;
    let chosen = selected.and_then(|id| app.runs.get(RunId(u64::from(id)))).filter(|run| run.searches());
    chosen.or_else(|| app.runs.latest(Run::searches))
}

/// Unit of the counts of a run.
fn unit_of(run: &Run) -> &str {
    run.solver.as_ref().map(|stats| stats.unit.as_str()).filter(|unit| !unit.is_empty()).unwrap_or("nodes")
}

/// A gap of the objective, and in units of communication if the scenario has any.
#[derive(Clone, Copy, Debug)]
struct GapOf {
    nct: Option<f64>,
    share: f64,
}

impl GapOf {
    fn of(input: &PaneInput<'_>, run: &Run, best: f64, bound: f64) -> Self {
        let nct = nct_of(input, run, best).zip(nct_of(input, run, bound)).map(|(best, bound)| best - bound);
        Self { nct: nct.map(|gap| gap.max(0.0)), share: lightbay_core::plan::gap(best, bound).max(0.0) }
    }

    /// `0.07 %` of the objective, as everywhere.
    fn short(self) -> String {
        self.gap().words()
    }

    /// The same with per cent of the ideal communication time behind.
    fn long(self) -> String {
        let gap = self.gap();
        match gap.second() {
            Some(second) => format!("{}  {second}", gap.words()),
            None => gap.words(),
        }
    }

    fn gap(self) -> Gap {
        Gap { second: self.nct.map(|nct| (nct, "of ideal comm.")), share: self.share }
    }
}

impl SearchPane {
    pub fn draw(
        &mut self,
        input: &PaneInput<'_>,
        area: Rect,
        buf: &mut Buffer,
        drawn: &mut PaneDrawn,
        out: &mut Drawn,
    ) {
        let Some(run) = run_of(input) else {
            let state = Shown::Empty {
                what: "no search with a bound yet",
                remedy: "solve with delta-joint or delta-select",
            };
            return frame(input, &Title { context: Vec::new(), value: Vec::new() }, state, area, buf);
        };
        let title = Self::title(input, run, area.width);
        drawn.details = facts::details(run);
        if input.state.mode == SOLVER_LOG {
            return self.draw_log(input, run, &title, area, buf, drawn, out);
        }
        self.refill(input, run);
        let inner = body(area, 1);
        let waiting = self.curves.are_empty().then(|| facts::awaited(input, run));
        let state = match &waiting {
            None => Shown::Ready,
            Some(_) if !run.state.is_active() => Shown::Empty {
                what: "the run ended without a plan and without a bound",
                remedy: "L shows the log; change parameters and press r",
            },
            Some(what) => Shown::Waiting(what),
        };
        frame(input, &title, state, area, buf);
        let theme = &input.app.look.theme;
        let lines = facts::lines(run, usize::from(inner.width));
        // What there is to read gives way to the curves, and the table to both.
        let above = if inner.height >= FACTS_FROM { lines.len() as u16 } else { 0 };
        let rest = inner.height - above;
        let least = if inner.height >= TALL { CHART_ROWS.1 } else { CHART_ROWS.0 };
        // A heading over one row is worth less than two rows of the chart.
        let table = Some(rest.saturating_sub(least)).filter(|rows| *rows >= 3 && inner.height >= FACTS_FROM);
        let table = table.map_or(0, |rows| rows.min(self.steps.len() as u16 + 1));
        let chart = Rect { y: inner.y + above, height: rest - table, ..inner };
        let lower = Rect { y: chart.y + chart.height, height: table, ..inner };
        let selected = (table > 1).then(|| self.steps.selected(input.state.selected)).flatten();
        let sentence = match selected {
            Some(row) => steps::sentence(input, run, row),
            None => facts::sentence(input, run),
        };
        if waiting.is_none() {
            for (y, line) in (inner.y..).zip(lines.iter().take(usize::from(above))) {
                Sentence::new(theme, line).render(Rect { y, height: 1, ..inner }, buf);
            }
            self.draw_curves(input, run, chart, buf);
            self.steps.draw(theme, unit_of(run), input.state.selected, lower, buf);
            self.steps.report(input.pane, drawn, out, table);
        }
        Sentence::new(theme, &sentence).render(below(inner), buf);
        drawn.sentence = format!("{} {}", run.method, plain(&sentence));
    }

    fn title(input: &PaneInput<'_>, run: &Run, width: u16) -> Title {
        let mut value = match (&run.best, run.proof()) {
            (Some(best), Some((bound, only))) => {
                let gap = GapOf::of(input, run, best.value, bound);
                // What is proven of some plans only is no gap of the plan.
                let name = if only.is_some() { "partial gap" } else { "gap" };
                format!("{name} {}", if width >= 70 { gap.long() } else { gap.short() })
            }
            (None, Some(_)) => "no plan yet".to_owned(),
            _ => "no bound yet".to_owned(),
        };
        if input.state.mode == SOLVER_LOG && width >= 70 {
            value = format!("solver log  {value}");
        }
        let mut context = vec![Piece::muted(run.method.clone())];
        let mut room = usize::from(width).saturating_sub(FRAME + run.method.len() + value.len());
        let mut add = |text: &str, tone: Tone| {
            if let Some(rest) = room.checked_sub(text.chars().count() + 2) {
                room = rest;
                context.push(Piece::new(format!("  {text}"), tone));
            }
        };
        // The sentence says the same wherever it does not fit here.
        if let Some(only) = facts::only(run) {
            add(only, Tone::Changed);
        }
        if let Some(process) = &run.process {
            add(process, Tone::Muted);
        }
        Title { context, value: vec![Piece::answer(value)] }
    }

    fn refill(&mut self, input: &PaneInput<'_>, run: &Run) {
        let over_nodes = input.state.mode == OVER_NODES;
        let key = Key {
            run: run.id,
            incumbents: run.incumbents.total(),
            bounds: run.bounds.total() + run.partial_bounds.total(),
            row: run.rows.last().map(|row| row.number),
            plans: input.app.plans.next_number(),
            baseline: input.app.plans.baseline,
            elapsed_tenths: (run.elapsed_s * 10.0) as u64,
            over_nodes,
            nodes: run.solver.as_ref().map_or(0, |stats| stats.done),
        };
        if self.key != Some(key) {
            self.key = Some(key);
            self.curves.fill(input, run, over_nodes);
            self.steps.fill(input, run);
        }
    }

    fn draw_curves(&self, input: &PaneInput<'_>, run: &Run, area: Rect, buf: &mut Buffer) {
        let unit = if input.state.mode == OVER_NODES { unit_of(run) } else { "s" };
        let y =
            self.curves.values().map_or(Axis::linear("s"), |(low, high)| Axis::linear("s").bounds(low, high));
        let x = self.curves.last().map_or(Axis::linear(unit), |last| Axis::linear(unit).bounds(0.0, last));
        Chart::new(&input.app.look.theme, &self.curves.series, x, y)
            .baselines(&self.curves.baselines)
            .events(&self.curves.events)
            .render(area, buf);
    }

    #[allow(clippy::too_many_arguments, reason = "where it goes and what is said of it")]
    fn draw_log(
        &mut self,
        input: &PaneInput<'_>,
        run: &Run,
        title: &Title,
        area: Rect,
        buf: &mut Buffer,
        drawn: &mut PaneDrawn,
        out: &mut Drawn,
    ) {
        let silent = standing(input.app, run).filter(|_| run.state.is_active());
        let remedy = match &silent {
            Some(standing) => format!("the solver stands at: {standing}"),
            None => "only methods with a solver have one; v shows the curves".to_owned(),
        };
        let state = if run.lines.is_empty() {
            Shown::Empty { what: "no line of a solver's log", remedy: &remedy }
        } else {
            Shown::Ready
        };
        frame(input, title, state, area, buf);
        if run.lines.is_empty() {
            return;
        }
        let inner = body(area, 1);
        let theme = &input.app.look.theme;
        self.log.draw(theme, run, input.state.selected, inner, buf);
        self.log.report(input.pane, drawn, out, inner.height);
        let sentence = match SolverLog::selected(run, input.state.selected) {
            Some(line) => SolverLog::sentence(line),
            None => facts::sentence(input, run),
        };
        Sentence::new(theme, &sentence).render(below(inner), buf);
        drawn.sentence = format!("{} {}", run.method, plain(&sentence));
    }
}

/// A row that can be clicked.
fn hit(pane: PaneId, rect: Rect, id: u32) -> Hit {
    Hit { rect, click: Action::Select { pane, item: Some(id) }, open: Some(Action::Do(Command::Inspect)) }
}
