//! The pane of sweeps before a sweep: the displayed plan as the first point of a chart, and the parameters that the kind
//! offers, each with its value and the values that a sweep would solve.

use super::{CHART_ROWS, ChartedFigure, x_axis};
use crate::app::action::Command;
use crate::app::drawn::{Drawn, Item, PaneDrawn};
use crate::app::pane::ItemId;
use crate::app::plans::PlanEntry;
use crate::app::state::App;
use crate::app::sweeps::{PaneSweeps, suggested};
use crate::view::figures::{Room, with_unit};
use crate::view::present::rows::{from, line};
use crate::view::present::{PaneInput, Title, below, body, frame, plain};
use lightbay_core::param::ParamValue;
use lightbay_core::problem::counted;
use lightbay_widgets::{
    Axis, Chart, Column, Cut, Event, PaneState as Shown, Piece, Series, Table, TableRow, TableState, Tone,
    number, text,
};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::{StatefulWidget, Widget};
use std::sync::Arc;

/// Maximum width of the column of the suggested values.
const VALUES: u16 = 40;

/// A parameter that the pane offers.
#[derive(Debug)]
struct Offered {
    name: &'static str,
    unit: String,
    help: String,
    now: Option<ParamValue>,
    /// Suggested values; empty until they are computed, or if the present value is not a number.
    values: Vec<f64>,
    /// `true` if all values are whole numbers.
    whole: bool,
}

impl Offered {
    fn of(app: &App, sweeps: &PaneSweeps, with_values: bool) -> Vec<Self> {
        let Some(work) = &app.work else { return Vec::new() };
        let scenario = &work.now.scenario;
        let infos = scenario.knobs();
        let row = |name: &&'static str| {
            let info = infos.iter().find(|info| info.name == *name)?;
            let values = if with_values { suggested(scenario, name) } else { None }.unwrap_or_default();
            let whole = values.iter().all(|value| value.fract() == 0.0);
            let (unit, help) = (info.unit.to_string(), info.help.to_string());
            Some(Self { name, unit, help, now: scenario.knob(name), values, whole })
        };
        sweeps.knobs.iter().filter_map(row).collect()
    }

    /// Returns the present value as a number: of a list, its largest entry.
    fn number(&self) -> Option<f64> {
        match self.now.as_ref()? {
            ParamValue::List(entries) => entries.iter().filter_map(ParamValue::as_f64).reduce(f64::max),
            value => value.as_f64(),
        }
    }

    /// Returns the suggested values as text.
    fn listed(&self) -> String {
        let texts = self.values.iter().map(|value| number::grouped(&value.to_string()));
        texts.collect::<Vec<_>>().join(", ")
    }
}

/// The pane of sweeps before a sweep, refilled when the scenario changes.
#[derive(Debug, Default)]
pub struct BeforeSweep {
    /// Hash of the scenario, and whether the suggested values are computed.
    of: Option<(String, bool)>,
    offered: Vec<Offered>,
    items: Arc<[Item]>,
    state: TableState,
}

impl BeforeSweep {
    /// Draws the parameters, and above them the displayed plan at the present value of the chosen parameter.
    pub fn draw(
        &mut self,
        input: &PaneInput<'_>,
        area: Rect,
        buf: &mut Buffer,
        drawn: &mut PaneDrawn,
        out: &mut Drawn,
    ) {
        let Some((sweeps, work)) = input.info.sweeps.zip(input.app.work.as_ref()) else { return };
        // Suggested values take some milliseconds for large scenarios, so they are computed when the pane is used.
        let with_values = input.focused || self.of.as_ref().is_some_and(|(_, with)| *with);
        let key = (work.now.sha256.clone(), with_values);
        if self.of.as_ref() != Some(&key) {
            self.offered = Offered::of(input.app, sweeps, with_values);
            let item = |at: usize| Item { id: at as ItemId, row: at as u32, place: 0.0 };
            self.items = (0..self.offered.len()).map(item).collect();
            self.of = Some(key);
        }
        let form = usize::from(input.state.mode);
        let chosen = input.state.selected.map_or(form, |id| id as usize);
        let Some(knob) = self.offered.get(chosen.min(self.offered.len().saturating_sub(1))) else {
            let what = "no parameter is offered for a sweep";
            let state = Shown::Empty { what, remedy: ":sweep NAME=VALUES solves a list of values" };
            return frame(input, &Title::default(), state, area, buf);
        };
        let at = chosen.min(self.offered.len() - 1);
        let figure = ChartedFigure::of(work.kind, &work.objective, input.state.overlay);
        let context = vec![Piece::muted(format!("{} over {}", figure.label, knob.name))];
        let title = Title { context, value: vec![Piece::answer("no sweep yet")] };
        frame(input, &title, Shown::Ready, area, buf);
        let inner = body(area, u16::from(area.height >= 5));
        if inner.is_empty() {
            return;
        }
        let rows = self.offered.len() as u16 + 1;
        let chart = inner.height.saturating_sub(rows + 1);
        let point = Self::point(input, knob, figure);
        let chart = if chart >= CHART_ROWS && point.is_some() { chart } else { 0 };
        if let Some(point) = point.filter(|_| chart > 0) {
            let place = Rect { height: chart, ..inner };
            Self::draw_point(input, knob, figure, point, place, buf);
        }
        let sentence = Self::sentence(input, sweeps, knob, figure, point);
        drawn.details = vec![format!("{}  {}", knob.name, knob.help)];
        let below_chart = from(inner, if chart > 0 { chart + 1 } else { 0 });
        self.draw_knobs(input, sweeps, at, below_chart, buf, out);
        drawn.items = Arc::clone(&self.items);
        drawn.page = usize::from(below_chart.height).max(1);
        drawn.chosen = Some(at as ItemId).filter(|_| input.state.selected != Some(at as ItemId));
        (drawn.steps, drawn.steps_through) = (drawn.items.len() as u32, Some((input.pane, at as ItemId)));
        if area.height >= 5 {
            line(&input.app.look.theme, &sentence, below(inner), buf);
        }
        drawn.sentence = plain(&sentence);
    }

    /// Returns the displayed plan as a point: the present value of the parameter, and the figure of the plan in its base
    /// unit.
    fn point(input: &PaneInput<'_>, knob: &Offered, figure: ChartedFigure) -> Option<(f64, f64)> {
        let is_of_now = |entry: &&PlanEntry| entry.competes() && !input.app.is_of_another_scenario(entry);
        let entry = input.app.plans.shown().filter(is_of_now)?;
        Some((knob.number()?, figure.of_plan(entry.value, &entry.metrics)?))
    }

    fn draw_point(
        input: &PaneInput<'_>,
        knob: &Offered,
        figure: ChartedFigure,
        point: (f64, f64),
        area: Rect,
        buf: &mut Buffer,
    ) {
        let Some(entry) = input.app.plans.shown() else { return };
        let value = with_unit(point.1, figure.unit, Room::Long);
        let name = format!("plan {} {}  {} {value}", entry.number, entry.method, figure.label);
        let place = (point.0, point.1 * figure.unit.scale);
        // The values of a sweep are the ticks.
        let ticks = knob.values.iter().map(|at| (*at, f64::NAN)).collect();
        let series = [
            Series::new(name, '*', Tone::Answer).points(vec![place]).bold().marked(),
            Series::new("", ' ', Tone::Muted).points(ticks).marked(),
        ];
        let values = knob.values.iter().copied().chain([point.0]);
        let x = x_axis(values, knob.whole, &knob.unit);
        let y = Axis::linear(figure.unit.symbol);
        let now = [Event { at: point.0, name: "now".into(), cursor: false }];
        let best = figure.baselines();
        Chart::new(&input.app.look.theme, &series, x, y).baselines(&best).events(&now).render(area, buf);
    }

    /// Draws the parameters with their present and suggested values.
    fn draw_knobs(
        &mut self,
        input: &PaneInput<'_>,
        sweeps: &PaneSweeps,
        chosen: usize,
        area: Rect,
        buf: &mut Buffer,
        out: &mut Drawn,
    ) {
        let theme = &input.app.look.theme;
        let wide = |texts: &mut dyn Iterator<Item = String>| {
            texts.map(|text| text::width(&text, theme.glyphs)).max().unwrap_or(0)
        };
        let now = |knob: &Offered| {
            let text = knob.now.as_ref().map_or_else(|| number::UNKNOWN.to_owned(), ToString::to_string);
            if knob.number().is_some() { number::grouped(&text) } else { text }
        };
        let named = |knob: &Offered| {
            if knob.unit.is_empty() { knob.name.to_owned() } else { format!("{}, {}", knob.name, knob.unit) }
        };
        let runs = sweeps.methods.len().max(1);
        let columns = [
            Column::left("parameter", wide(&mut self.offered.iter().map(named)).max(9)),
            Column::right("now", wide(&mut self.offered.iter().map(now)).clamp(3, 16)),
            Column::left(
                "values of a sweep",
                wide(&mut self.offered.iter().map(Offered::listed)).clamp(17, VALUES),
            )
            .cut(Cut::End)
            .priority(1),
            Column::right("runs", 4).priority(2),
            Column::right("about", 8).priority(3),
        ];
        let about_s = about_s(input.app, sweeps);
        let row = |(at, knob): (usize, &Offered)| {
            let count = knob.values.len() * runs;
            let (listed, count) = match count {
                0 => ("type them".to_owned(), number::UNKNOWN.to_owned()),
                _ => (knob.listed(), count.to_string()),
            };
            let seconds = about_s.filter(|_| !knob.values.is_empty());
            let about = seconds.map_or_else(
                || number::UNKNOWN.to_owned(),
                |seconds| match seconds * knob.values.len() as f64 {
                    short if short < 1.0 => "< 1 s".to_owned(),
                    long => number::duration(long).into(),
                },
            );
            let cells = vec![
                Piece::text(named(knob)),
                Piece::text(now(knob)),
                Piece::muted(listed),
                Piece::text(count),
                Piece::text(about),
            ];
            TableRow::item(at as u32, cells)
        };
        let rows: Vec<TableRow> = self.offered.iter().enumerate().map(row).collect();
        self.state.selected = Some(chosen as u32);
        let columns = if about_s.is_some() { &columns[..] } else { &columns[..4] };
        (&Table::new(theme, columns, &rows)).render(area, buf, &mut self.state);
        out.hits.extend(self.state.hits.iter().map(|hit| input.hit(hit.rect, hit.id, Command::Inspect)));
    }

    fn sentence(
        input: &PaneInput<'_>,
        sweeps: &PaneSweeps,
        knob: &Offered,
        figure: ChartedFigure,
        point: Option<(f64, f64)>,
    ) -> Vec<Piece> {
        let method = input.app.work.as_ref().map_or("", |work| work.now.method.as_str());
        let with = match sweeps.methods.len() {
            0 => format!("with {method}"),
            count => format!("with {}", counted(count as u64, "method", "methods")),
        };
        let action = input.app.keymap.in_words("  {inspect} suggests values").into_owned();
        let present = point.map_or_else(String::new, |(_, value)| {
            format!("  {} {} now", figure.label, with_unit(value, figure.unit, Room::Long))
        });
        vec![
            Piece::answer(format!("> {}", knob.name)),
            Piece::text(present),
            Piece::muted(format!("{action}, solved {with}; {}", knob.help)),
        ]
    }
}

/// Returns the time that the methods of a sweep last took for one value, s; `None` if one of them was not used yet.
fn about_s(app: &App, sweeps: &PaneSweeps) -> Option<f64> {
    let work = app.work.as_ref()?;
    let own = [work.now.method.as_str()];
    let methods = if sweeps.methods.is_empty() { &own[..] } else { sweeps.methods };
    let took = |method: &&str| {
        let run = app.runs.latest(|run| run.method == **method && run.done.is_some())?;
        Some(app.elapsed_s(run))
    };
    methods.iter().map(took).sum()
}
