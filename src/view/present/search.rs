//! Pane 5: incumbent and bound of a search that proves, the gap in NCT units and in per cent of the objective, and
//! what it went through. A bound that covers only some plans says so in words.

use super::ga::{baselines, nct_of};
use super::{PaneInput, Title, below, body, frame, pieces};
use crate::app::drawn::PaneDrawn;
use crate::app::pane::PaneId;
use crate::app::runs::{Run, SearchRow};
use crate::view::figures::open_percent;
use lightbay_core::event::RunId;
use lightbay_widgets::{
    Axis, Baseline, Chart, Column, Event, PaneState as Shown, Piece, Sentence, Series, Table, TableRow,
    TableState, Tone, number,
};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::{StatefulWidget, Widget};

/// What the vectors were filled for.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Key {
    run: RunId,
    incumbents: u64,
    bounds: u64,
    rows: usize,
    plans: u64,
    baseline: Option<u64>,
    elapsed_tenths: u64,
    over_time: bool,
}

/// Data of the pane, refilled when the run says something.
#[derive(Debug, Default)]
pub struct SearchPane {
    key: Option<Key>,
    series: Vec<Series>,
    baselines: Vec<Baseline>,
    events: Vec<Event>,
    rows: Vec<TableRow>,
    table: TableState,
}

/// The gap of a run in NCT units, if its scenario has communication.
pub fn gap_nct(input: &PaneInput<'_>, run: &Run) -> Option<f64> {
    let (best, bound) = (run.best.as_ref()?.value, run.bound.as_ref()?.value);
    Some(nct_of(input, run, best)? - nct_of(input, run, bound)?)
}

fn gap_words(input: &PaneInput<'_>, run: &Run) -> String {
    let (Some(best), Some(bound)) = (&run.best, &run.bound) else { return "no bound yet".to_owned() };
    let share = lightbay_core::plan::gap(best.value, bound.value);
    match gap_nct(input, run) {
        Some(nct) => format!("gap {} % NCT", open_percent(nct.max(0.0), 1)),
        None => format!("gap {} %", open_percent(share.max(0.0), 2)),
    }
}

impl SearchPane {
    pub fn draw(&mut self, input: &PaneInput<'_>, area: Rect, buf: &mut Buffer, drawn: &mut PaneDrawn) {
        let app = input.app;
        let theme = &app.look.theme;
        let selected = app.pane(PaneId::Solve).selected;
        let chosen = selected.and_then(|id| app.runs.get(RunId(u64::from(id)))).filter(|run| run.searches());
        let Some(run) = chosen.or_else(|| app.runs.latest(Run::searches)) else {
            let state = Shown::Empty {
                what: "no search with a bound yet",
                remedy: "solve with delta-joint or delta-topo",
            };
            return frame(input, &Title { context: Vec::new(), value: Vec::new() }, state, area, buf);
        };
        let over_time = input.state.mode == 0;
        let key = Key {
            run: run.id,
            incumbents: run.incumbents.total(),
            bounds: run.bounds.total(),
            rows: run.rows.len(),
            plans: app.plans.next_number(),
            baseline: app.plans.baseline,
            elapsed_tenths: (run.elapsed_s * 10.0) as u64,
            over_time,
        };
        if self.key != Some(key) {
            self.key = Some(key);
            self.fill(input, run, over_time);
        }
        let mut value = gap_words(input, run);
        if area.width >= 70
            && let (Some(best), Some(bound)) = (&run.best, &run.bound)
        {
            let share = lightbay_core::plan::gap(best.value, bound.value);
            value = format!("{value}  {} % of C", open_percent(share, 2));
        }
        let mut context = vec![Piece::muted(run.method.clone())];
        // A gap to a bound that covers only some plans is never shown without saying which; else the sentence does.
        let only = run.bound.as_ref().and_then(|bound| bound.only.as_ref());
        if let Some(only) = only.filter(|_| area.width >= 70) {
            context.push(Piece::new(format!("  {only}"), Tone::Changed));
        }
        let title = Title { context, value: vec![Piece::answer(value)] };
        frame(input, &title, Shown::Ready, area, buf);
        let inner = body(area, 1);
        // The table comes when the chart has enough.
        let table = if inner.height >= 13 { (self.rows.len() as u16 + 1).min(inner.height - 9) } else { 0 };
        let upper = Rect { height: inner.height - table, ..inner };
        let unit = if over_time { "s" } else { unit(run) };
        let y = self.values().map_or(Axis::linear("s"), |(low, high)| Axis::linear("s").bounds(low, high));
        let x = self.last().map_or(Axis::linear(unit), |last| Axis::linear(unit).bounds(0.0, last));
        Chart::new(theme, &self.series, x, y)
            .baselines(&self.baselines)
            .events(&self.events)
            .render(upper, buf);
        if table > 0 {
            let lower = Rect { y: upper.y + upper.height, height: table, ..inner };
            // The newest rows matter; older ones are reached by scrolling.
            let fits = usize::from(table.saturating_sub(1));
            self.table.offset = self.rows.len().saturating_sub(fits).saturating_sub(input.state.offset);
            Table::new(theme, &columns(unit_of(run)), &self.rows).selectable(false).render(
                lower,
                buf,
                &mut self.table,
            );
        }
        let sentence = sentence(run);
        Sentence::new(theme, &sentence).render(below(inner), buf);
        drawn.sentence = format!("{} {}", run.method, pieces::plain(&sentence));
        drawn.details = details(run);
        drawn.page = usize::from(table.saturating_sub(1));
    }

    /// The values the chart shows; a plan that meets its bound up to rounding is no range to draw.
    fn values(&self) -> Option<(f64, f64)> {
        let curves = self.series.iter().flat_map(|series| &series.points).map(|point| point.1);
        let values =
            curves.chain(self.baselines.iter().map(|line| line.value)).filter(|value| value.is_finite());
        let (low, high) = values
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        let room = high.abs().max(low.abs()) * 1e-3;
        match high - low {
            range if !range.is_finite() => None,
            range if range < 1e-3 * room => Some((low - room, high + room)),
            _ => Some((low, high)),
        }
    }

    /// Where the curves end.
    fn last(&self) -> Option<f64> {
        let ends = self.series.iter().filter_map(|series| series.points.last()).map(|point| point.0);
        ends.reduce(f64::max).filter(|last| *last > 0.0)
    }

    fn fill(&mut self, input: &PaneInput<'_>, run: &Run, over_time: bool) {
        let x = |point: &crate::app::series::Point| if over_time { point.at_s } else { point.count };
        let now = if over_time {
            run.elapsed_s
        } else {
            run.solver.as_ref().map_or(0.0, |stats| stats.done as f64)
        };
        let curve = |series: &crate::app::series::Series| {
            let mut points: Vec<(f64, f64)> =
                series.points().iter().map(|point| (x(point), point.value)).collect();
            // A curve that has not changed goes on until now.
            if let Some(&(last, value)) = points.last()
                && last < now
            {
                points.push((now, value));
            }
            points
        };
        let decimals = if input.large { 4 } else { 3 };
        let name = |word: &str, value: Option<f64>| {
            format!(
                "{word} {}",
                value.map_or_else(|| "-".to_owned(), |v| number::fixed(v, decimals).as_str().to_owned())
            )
        };
        self.series.clear();
        let best = run.best.as_ref().map(|best| best.value);
        self.series.push(
            Series::new(name("best", best), 'U', Tone::Answer).points(curve(&run.incumbents)).step().bold(),
        );
        let bound = run.bound.as_ref().map(|bound| bound.value);
        self.series
            .push(Series::new(name("bound", bound), 'L', Tone::Good).points(curve(&run.bounds)).step());
        self.baselines.clear();
        if let Some(entry) = baselines(input, run).first() {
            let mark = if input.app.plans.baseline == Some(entry.number) { "B " } else { "" };
            let short = entry.method.split('-').next().unwrap_or("");
            self.baselines.push(Baseline { name: format!("{mark}{short}").into(), value: entry.value });
        }
        self.events.clear();
        if over_time {
            self.events.extend(
                run.markers.iter().map(|marker| Event { at: marker.at_s, name: marker.text.clone().into() }),
            );
            if let Some(report) = run.hot_start.as_ref() {
                self.events.push(Event { at: 0.0, name: format!("hot start {}", report.fate.word()).into() });
            }
        }
        self.rows.clear();
        // As many decimals as tell the rows of a short search apart.
        let decimals = match run.rows.last().map_or(0.0, |row| row.at_s) {
            at if at < 0.1 => 4,
            at if at < 10.0 => 3,
            _ => 1,
        };
        let rows = run.rows.iter().zip(0..);
        self.rows.extend(rows.map(|(row, index)| table_row(input, run, row, index, decimals)));
    }
}

/// What is counted.
fn unit_of(run: &Run) -> String {
    run.solver.as_ref().map_or_else(
        || "nodes".to_owned(),
        |stats| {
            if stats.unit.is_empty() { "nodes".to_owned() } else { stats.unit.clone() }
        },
    )
}

/// The same for an axis, from the words that occur.
fn unit(run: &Run) -> &'static str {
    match unit_of(run).as_str() {
        "vectors" => "vectors",
        "boxes" => "boxes",
        _ => "nodes",
    }
}

fn columns(counted: String) -> Vec<Column> {
    vec![
        Column::left("src", 12),
        Column::right(counted, 9),
        Column::right("open", 7).priority(2),
        Column::right("pruned", 7).priority(3),
        Column::right("best bound", 11),
        Column::right("best sol", 11),
        Column::right("gap NCT", 8).priority(1),
        Column::right("time s", 7),
    ]
}

fn table_row(input: &PaneInput<'_>, run: &Run, row: &SearchRow, index: u32, decimals: usize) -> TableRow {
    let seconds = |value: Option<f64>| {
        value.map_or_else(|| "-".to_owned(), |value| number::seconds6(value).as_str().to_owned())
    };
    let count = |value: Option<u64>| {
        value.map_or_else(|| "-".to_owned(), |value| number::short(value).as_str().to_owned())
    };
    let gap = row
        .best
        .zip(row.bound)
        .and_then(|(best, bound)| Some(nct_of(input, run, best)? - nct_of(input, run, bound)?))
        .map_or_else(|| "-".to_owned(), |gap| format!("{} %", open_percent(gap.max(0.0), 1)));
    let source = if row.source.is_empty() { row.what.to_owned() } else { row.source.clone() };
    let (bound, best) =
        if row.what == "bound" { (Tone::Good, Tone::Muted) } else { (Tone::Muted, Tone::Answer) };
    TableRow::item(
        index,
        vec![
            Piece::muted(source),
            Piece::text(number::short(row.stats.done).as_str().to_owned()),
            Piece::muted(count(row.stats.open)),
            Piece::muted(count(row.stats.pruned)),
            Piece::new(seconds(row.bound), bound),
            Piece::new(seconds(row.best), best),
            Piece::text(gap),
            Piece::muted(number::fixed(row.at_s, decimals).as_str().to_owned()),
        ],
    )
}

/// Where the search is, and what its bound covers.
fn sentence(run: &Run) -> Vec<Piece> {
    let mut line = Vec::new();
    // What is proven comes before how.
    if let Some(only) = run.bound.as_ref().and_then(|bound| bound.only.as_ref()) {
        line.push(Piece::new(format!("bound: {only}  "), Tone::Changed));
    } else if let (Some(best), Some(bound)) = (&run.best, &run.bound)
        && lightbay_core::plan::gap(best.value, bound.value) <= lightbay_core::plan::OPTIMAL_GAP
    {
        line.push(Piece::new("proven: no plan is better  ", Tone::Good));
    }
    if let Some(stats) = &run.solver {
        let counted = unit_of(run);
        let done = number::count(stats.done);
        match stats.total {
            Some(total) => line.push(Piece::text(format!(
                "{counted} {} of {}",
                done.as_str(),
                number::count(total).as_str()
            ))),
            None => line.push(Piece::text(format!("{counted} {}", done.as_str()))),
        }
        if let Some(open) = stats.open {
            line.push(Piece::muted(format!("  open {}", number::count(open).as_str())));
        }
        if let Some(pruned) = stats.pruned {
            line.push(Piece::muted(format!("  pruned {}", number::count(pruned).as_str())));
        }
        if let Some(iterations) = stats.lp_iterations {
            line.push(Piece::muted(format!("  LP it {}", number::short(iterations).as_str())));
        }
        if let Some(next) = stats.next_bound.filter(|next| next.is_finite()) {
            line.push(Piece::muted(format!("  next bound {}", number::seconds6(next).as_str())));
        }
        if let Some(silent) = stats.silent_s.filter(|silent| *silent >= 1.0) {
            line.push(Piece::muted(format!("  silent for {} s", number::fixed(silent, 0).as_str())));
        }
    }
    if line.is_empty() {
        line.push(Piece::muted(run.phase.as_ref().map_or_else(String::new, |phase| phase.detail.clone())));
    }
    line
}

fn details(run: &Run) -> Vec<String> {
    let mut lines = vec![format!("{} run {}: {}", run.method, run.id, run.word())];
    if let Some(phase) = &run.phase {
        lines.push(format!("{}: {}", phase.name, phase.detail));
    }
    if let Some(report) = &run.hot_start {
        let value = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.6}"));
        lines.push(format!(
            "hot start {}, {} s before, {} s here: {}",
            report.fate.word(),
            value(report.before),
            value(report.after),
            report.why
        ));
    }
    if let Some(offer) = &run.offer {
        lines.push(format!(
            "offer of {} with {:.6} s {}",
            offer.from,
            offer.value,
            if offer.taken { "taken" } else { "not better here" }
        ));
    }
    lines.extend(run.markers.iter().map(|marker| format!("{:.1} s  {}", marker.at_s, marker.text)));
    lines
}
