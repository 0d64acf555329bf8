//! Sweeps over a knob: a curve per method, points as they are solved, a mark at the present value, and a table of the
//! figures of every point below. All kinds of scenario use this pane.

mod before;

use super::rows::{from, line};
use super::{PaneInput, Title, below, body, frame, plain};
use crate::app::action::Command;
use crate::app::drawn::{Drawn, Item, PaneDrawn};
use crate::app::keymap::Keymap;
use crate::app::pane::ItemId;
use crate::app::sweeps::{SweepRun, SweepState};
use crate::view::figures::{Metrics, Room, in_unit, with_unit};
use before::BeforeSweep;
use lightbay_core::event::EndStatus;
use lightbay_core::kind::ObjectiveInfo;
use lightbay_core::param::ParamValue;
use lightbay_core::report::Unit;
use lightbay_engines::sweep::{SweepRow, Walked};
use lightbay_widgets::{Axis, Baseline, Chart, Event, PaneState as Shown, Piece, Series, Tone, number, text};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::Widget;
use std::sync::Arc;

/// Minimum number of rows of the chart; the table gets the rest.
const CHART_ROWS: u16 = 6;

/// Ratio of values above which the axis is logarithmic.
const WIDE: f64 = 3.0;

/// Maximum range (largest minus smallest value) of whole numbers that are spaced evenly.
const COUNTS: f64 = 32.0;

/// Minimum width at which the title names the best point.
const WITH_BEST: u16 = 100;

/// Figure that is drawn against the knob.
#[derive(Clone, Copy, Debug)]
struct ChartedFigure {
    /// Name of the figure of plans that is charted; `None` for the objective.
    metric: Option<&'static str>,
    /// Name of the figure for people.
    label: &'static str,
    unit: Unit,
    /// Room for a number of this figure: all decimals of the unit, or half of them.
    room: Room,
    /// The value that no plan can exceed, with its name.
    best: Option<(&'static str, f64)>,
}

impl ChartedFigure {
    /// Returns the figure that the kind charts, or the objective if the kind declares no figure or `overlay` is true.
    fn of(kind: &str, objective: &ObjectiveInfo, overlay: bool) -> Self {
        let offered = lightbay_engines::sweeps(kind);
        let metric = lightbay_engines::metric(kind, offered.figure).filter(|_| !overlay);
        if let Some(info) = metric {
            return Self {
                metric: Some(info.name),
                label: info.label,
                unit: info.unit,
                room: Room::Long,
                best: offered.best,
            };
        }
        let room = if overlay { Room::Short } else { Room::Long };
        Self { metric: None, label: objective.label, unit: objective.unit, room, best: None }
    }

    /// Returns the figure of a plan with an objective value and metrics, in its base unit.
    fn of_plan(&self, objective: f64, metrics: &Metrics) -> Option<f64> {
        self.metric.map_or(Some(objective), |name| metrics.get(name).copied())
    }

    /// Returns the value that no plan can exceed, as a line of the chart.
    fn baselines(&self) -> Vec<Baseline> {
        self.best.map(|(name, value)| Baseline { name: name.into(), value }).into_iter().collect()
    }

    /// Returns the figure of a row, in its base unit.
    fn raw(&self, row: &SweepRow) -> Option<f64> {
        match self.metric {
            Some(name) => row.metrics.get(name).copied(),
            None => row.value,
        }
    }

    /// Returns the figure of a row, in the displayed unit.
    fn value(&self, row: &SweepRow) -> Option<f64> {
        Some(self.raw(row)? * self.unit.scale)
    }

    /// Returns the figure of a row as text, without its unit.
    fn text(&self, row: &SweepRow) -> Option<String> {
        Some(in_unit(self.raw(row)?, self.unit, self.room).into())
    }
}

/// Key of the state for which the curves were computed.
#[derive(Clone, Debug, PartialEq)]
struct Key {
    sweep: u64,
    rows: usize,
    overlay: bool,
}

/// Data of the pane, refilled when a point arrives.
#[derive(Debug, Default)]
pub struct WhatIfPane {
    key: Option<Key>,
    series: Vec<Series>,
    baselines: Vec<Baseline>,
    items: Arc<[Item]>,
    cells: Vec<Vec<String>>,
    before: BeforeSweep,
}

impl WhatIfPane {
    pub fn draw(
        &mut self,
        input: &PaneInput<'_>,
        area: Rect,
        buf: &mut Buffer,
        drawn: &mut PaneDrawn,
        out: &mut Drawn,
    ) {
        let Some(run) = input.app.shown_sweep() else {
            return self.before.draw(input, area, buf, drawn, out);
        };
        let overlay = input.state.overlay && !input.info.overlay.is_empty();
        let figure = ChartedFigure::of(run.sweep.kind().name, &run.sweep.objective(), overlay);
        self.refill(run, figure, overlay);
        let unit = run.axis().map_or("", |axis| axis.info.unit.as_ref());
        let knob = run.knob();
        let context = vec![Piece::muted(format!("{} over {knob}", figure.label))];
        let mut value =
            if area.width >= WITH_BEST && input.large { Self::best(run, figure) } else { Vec::new() };
        value.push(Piece::answer(progress(run)));
        let title = Title { context, value };
        let first = run.rows.is_empty() && run.state.is_active();
        frame(input, &title, if first { Shown::Waiting("the first point") } else { Shown::Ready }, area, buf);
        let inner = body(area, u16::from(area.height >= 5));
        if first || inner.is_empty() {
            return;
        }
        let table = Some(inner.height.saturating_sub(CHART_ROWS)).filter(|rows| *rows >= 2);
        let table = table.map_or(0, |rows| rows.min(self.cells.len() as u16 + 1));
        // With room, a blank row separates the table from the axis.
        let gap = u16::from(table > 0 && inner.height > table + CHART_ROWS + 2);
        let chart = Rect { height: inner.height - table - gap, ..inner };
        let is_cell = |cell: &usize| (1..=run.sweep.len()).contains(cell);
        let own = input.state.selected.map(|cell| cell as usize).filter(is_cell);
        let selected = own.or_else(|| cursor(input, run));
        self.draw_chart(input, run, (unit, figure), selected, chart, buf);
        self.draw_table(input, run, selected, from(inner, chart.height + gap), buf, out);
        drawn.items = Arc::clone(&self.items);
        drawn.page = usize::from(table.saturating_sub(1)).max(1);
        if let Some(cell) = selected {
            drawn.chosen = Some(cell as ItemId).filter(|_| own.is_none());
            (drawn.steps, drawn.steps_through) = (run.sweep.len() as u32, Some((input.pane, cell as ItemId)));
        }
        let has_ended = matches!(run.state, SweepState::Ended(_));
        let sentence = match selected.filter(|_| own.is_some() || has_ended) {
            Some(cell) => sentence(&input.app.keymap, run, cell, unit, figure),
            None => Self::summary(&input.app.keymap, run),
        };
        if area.height >= 5 {
            line(&input.app.look.theme, &sentence, below(inner), buf);
        }
        drawn.sentence = plain(&sentence);
        drawn.details = selected.and_then(|cell| run.row(cell)).map(details).unwrap_or_default();
    }

    fn refill(&mut self, run: &SweepRun, figure: ChartedFigure, overlay: bool) {
        let key = Key { sweep: run.key, rows: run.rows.len(), overlay };
        if self.key.as_ref() == Some(&key) {
            return;
        }
        self.key = Some(key);
        let values = run.axis().map_or(&[][..], |axis| &axis.values);
        let names: Vec<&str> = run.sweep.method_names().collect();
        let letters = letters(&names);
        (self.series, self.cells) = (Vec::new(), Vec::new());
        let mut items = Vec::new();
        for (method, name) in names.iter().enumerate() {
            let mut points = Vec::new();
            let mut cells = Vec::new();
            for at in 0..values.len() {
                let cell = run.cell_at(at, method);
                items.push(Item { id: cell as u32, row: method as u32, place: at as f32 });
                let row = run.row(cell);
                points.extend(row.and_then(|row| figure.value(row)).map(|value| (place(values, at), value)));
                cells.push(match (row, row.and_then(|row| figure.text(row))) {
                    (_, Some(text)) => text,
                    (Some(row), None) => short_of(row).to_owned(),
                    (None, None) => String::new(),
                });
            }
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            let proves =
                lightbay_engines::method(run.sweep.kind().name, name).is_some_and(|info| info.proves);
            let last = method + 1 == names.len();
            let tone = if last { Tone::Answer } else { Tone::Series(method as u8) };
            let letter = letters.get(method).copied().unwrap_or('*');
            let series = Series::new(short_name(name, &names).to_owned(), letter, tone).points(points);
            let series = if last { series.bold() } else { series };
            // At the end of a sweep, equal curves have one label.
            let is_equal = |other: &Series| {
                let pair = |(a, b): (&(f64, f64), &(f64, f64))| {
                    a.0.total_cmp(&b.0).is_eq() && (a.1 - b.1).abs() <= 1e-9 * a.1.abs()
                };
                run.rows.len() == run.sweep.len()
                    && other.points.len() == series.points.len()
                    && other.points.iter().zip(&series.points).all(pair)
            };
            let equal = self.series.iter().position(is_equal).map(|at| self.series.remove(at));
            let joined = equal.map(|other| format!("{} = {}", &*other.name, &*series.name));
            let series = Series { name: joined.map_or_else(|| series.name.clone(), Into::into), ..series };
            self.series.push(if proves { series } else { series.dotted() }.marked());
            self.cells.push(cells);
        }
        // The chart draws the first series on top.
        self.series.reverse();
        self.items = items.into();
        self.baselines = figure.baselines();
    }

    fn draw_chart(
        &self,
        input: &PaneInput<'_>,
        run: &SweepRun,
        (unit, figure): (&str, ChartedFigure),
        selected: Option<usize>,
        area: Rect,
        buf: &mut Buffer,
    ) {
        let values = run.axis().map_or(&[][..], |axis| &axis.values);
        let counts = values.iter().all(|value| matches!(value, ParamValue::Int(_)));
        let x = x_axis((0..values.len()).map(|at| place(values, at)), counts, unit);
        let y = Axis::linear(figure.unit.symbol);
        let mut events = Vec::new();
        if let Some(at) = present(input, run) {
            events.push(Event { at, name: "now".into(), cursor: false });
        }
        let chosen = selected.map(|cell| run.sweep.cell(cell));
        if let Some(at) = chosen.and_then(|cell| cell.at.first().copied()).filter(|at| *at < values.len()) {
            events.push(Event { at: place(values, at), name: "".into(), cursor: true });
        }
        Chart::new(&input.app.look.theme, &self.series, x, y)
            .baselines(&self.baselines)
            .events(&events)
            .render(area, buf);
    }

    /// Draws the table: methods are rows and values are columns; the present value has a star, the selected point has
    /// brackets, and the best entry of every column is bold.
    fn draw_table(
        &self,
        input: &PaneInput<'_>,
        run: &SweepRun,
        selected: Option<usize>,
        area: Rect,
        buf: &mut Buffer,
        out: &mut Drawn,
    ) {
        if area.height < 2 {
            return;
        }
        let theme = &input.app.look.theme;
        let values = run.axis().map_or(&[][..], |axis| &axis.values);
        let names: Vec<&str> = run.sweep.method_names().collect();
        let now = input.app.work.as_ref().and_then(|work| work.now.scenario.knob(&run.axis()?.info.name));
        let heads: Vec<String> = values
            .iter()
            .map(|value| {
                let text = value.to_string();
                let text = if value.as_f64().is_some() { number::grouped(&text) } else { text };
                format!("{text}{}", if now.as_ref() == Some(value) { "*" } else { "" })
            })
            .collect();
        let longest =
            |texts: &[String]| texts.iter().map(|text| text::width(text, theme.glyphs)).max().unwrap_or(0);
        let cells = self.cells.iter().map(|cells| longest(cells)).max().unwrap_or(0);
        let width = longest(&heads).max(cells).max(4) + 3;
        let head = names.iter().map(|name| text::width(name, theme.glyphs)).max().unwrap_or(0).min(14);
        let shown = usize::from(area.width.saturating_sub(head) / width).max(1);
        let chosen = selected.map(|cell| run.sweep.cell(cell));
        let at = chosen.as_ref().and_then(|cell| cell.at.first().copied());
        let first = at.map_or(0, |at| at.saturating_sub(shown.saturating_sub(1)));
        let visible = first..values.len().min(first + shown);
        let pad = |text: &str, width: u16| {
            let own = text::width(text, theme.glyphs);
            format!("{}{text}", " ".repeat(usize::from(width.saturating_sub(own))))
        };
        let more = if visible.end < values.len() || first > 0 {
            format!("{}-{}", first + 1, visible.end)
        } else {
            String::new()
        };
        let mut pieces = vec![Piece::muted(format!("{more:<w$}", w = usize::from(head)))];
        pieces.extend(
            heads
                .get(visible.clone())
                .unwrap_or(&[])
                .iter()
                .map(|head| Piece::muted(pad(head, width - 1) + " ")),
        );
        line(theme, &pieces, area, buf);
        let rows = area.height - 1;
        let chosen_method = chosen.as_ref().map_or(0, |cell| cell.method);
        let top = (chosen_method + 1).saturating_sub(usize::from(rows));
        for (y, (method, name)) in (area.y + 1..area.bottom()).zip(names.iter().enumerate().skip(top)) {
            let mut pieces = vec![Piece::text(format!("{name:<w$.w$}", w = usize::from(head)))];
            for at in visible.clone() {
                let cell = run.cell_at(at, method);
                let text = self.cells.get(method).and_then(|cells| cells.get(at)).map_or("", String::as_str);
                let working = run.state.is_active() && run.rows.len() + 1 == cell;
                let text = if text.is_empty() { if working { "..." } else { number::UNKNOWN } } else { text };
                let piece = if selected == Some(cell) {
                    Piece::answer(pad(&format!("[{text}]"), width))
                } else {
                    let text = pad(text, width - 1) + " ";
                    if self.is_best(run, at, method) { Piece::answer(text) } else { Piece::text(text) }
                };
                pieces.push(piece);
                let x = area.x + head + width * (at - first) as u16;
                let rect = Rect { x, y, width, height: 1 }.intersection(area);
                if !rect.is_empty() {
                    out.hits.push(input.hit(rect, cell as u32, Command::Inspect));
                }
            }
            line(theme, &pieces, Rect { y, height: 1, ..area }, buf);
        }
    }

    /// Returns `true` if `method` has a result at the value with index `at`, and no method has a better result there.
    fn is_best(&self, run: &SweepRun, at: usize, method: usize) -> bool {
        let sense = run.sweep.objective().sense;
        let value = |method: usize| run.row(run.cell_at(at, method)).filter(|row| !row.failed())?.value;
        let Some(own) = value(method) else { return false };
        // Results that are equal up to rounding are all best.
        let beaten = |other: f64| sense.better(other, own) && (other - own).abs() > 1e-9 * own.abs();
        !(0..self.cells.len()).filter_map(value).any(beaten)
    }

    /// Returns the state of a sweep that is active or failed.
    fn summary(keymap: &Keymap, run: &SweepRun) -> Vec<Piece> {
        if let SweepState::Failed(problem) = &run.state {
            return vec![Piece::new(problem.clone(), Tone::Bad)];
        }
        let next = run.sweep.cell(run.rows.len() + 1);
        let method = run.sweep.method_names().nth(next.method).unwrap_or_default();
        let value = run.sweep.values_at(&next).next().map_or_else(String::new, ToString::to_string);
        vec![
            Piece::muted("solving "),
            Piece::text(format!("{method} at {value}")),
            Piece::muted(keymap.in_words("; {stop_solve} stops").into_owned()),
        ]
    }

    /// Returns the best point with its method: `best MCF 0.03 at 1 by tons-fast`.
    fn best(run: &SweepRun, figure: ChartedFigure) -> Vec<Piece> {
        let sense = run.sweep.objective().sense;
        let best =
            run.rows.iter().filter(|row| !row.failed()).filter(|row| figure.raw(row).is_some()).reduce(
                |best, row| {
                    let (a, b) = (figure.raw(row), figure.raw(best));
                    if a.zip(b).is_some_and(|(a, b)| sense.better(a, b)) { row } else { best }
                },
            );
        let Some(row) = best else { return Vec::new() };
        let value = with_unit(figure.raw(row).unwrap_or_default(), figure.unit, Room::Long);
        let at = row.values.first().map_or_else(String::new, ToString::to_string);
        vec![
            Piece::muted("best "),
            Piece::answer(value),
            Piece::muted(format!(" at {} by {}   ", number::grouped(&at), row.method)),
        ]
    }
}

/// Returns the progress of a sweep: `12 of 25`, `25 points`, `stopped, 12 of 25 points`.
fn progress(run: &SweepRun) -> String {
    let (rows, all) = (run.rows.len(), run.sweep.len());
    match &run.state {
        SweepState::Running => format!("{rows} of {all}"),
        SweepState::Stopping => format!("stopping, {rows} of {all} points"),
        SweepState::Ended(Walked::Through) => format!("{all} points"),
        SweepState::Ended(Walked::Stopped) => format!("stopped, {rows} of {all} points"),
        SweepState::Failed(_) => format!("given up, {rows} of {all} points"),
    }
}

/// Returns the position of a value on the axis: the value itself, or its index if not all values are numbers.
fn place(values: &[ParamValue], at: usize) -> f64 {
    let numbers = values.iter().all(|value| value.as_f64().is_some());
    values.get(at).and_then(ParamValue::as_f64).filter(|_| numbers).unwrap_or(at as f64)
}

/// Returns the axis of the knob: logarithmic if the values differ much; a few whole numbers are spaced evenly, with a
/// tick at each.
fn x_axis(places: impl Iterator<Item = f64>, are_whole: bool, unit: &str) -> Axis<'_> {
    let (first, last) =
        places.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), at| (low.min(at), high.max(at)));
    let counts = are_whole && last - first <= COUNTS;
    let x = if first > 0.0 && last / first > WIDE && !counts {
        Axis::log(unit)
    } else {
        Axis::linear(unit).whole(counts)
    };
    x.bounds(first, last)
}

/// Returns the cell at which the cursor is until the user chooses one: the last method at the present value of the knob,
/// else at the first value.
fn cursor(input: &PaneInput<'_>, run: &SweepRun) -> Option<usize> {
    let axis = run.axis()?;
    let last = run.sweep.method_names().count().checked_sub(1)?;
    let now = input.app.work.as_ref().and_then(|work| work.now.scenario.knob(&axis.info.name));
    let at = axis.values.iter().position(|value| now.as_ref() == Some(value)).unwrap_or(0);
    Some(run.cell_at(at, last))
}

/// Returns the position of the present value of the knob, if this value is within the range of the axis.
fn present(input: &PaneInput<'_>, run: &SweepRun) -> Option<f64> {
    let axis = run.axis()?;
    let now = input.app.work.as_ref()?.now.scenario.knob(&axis.info.name)?;
    if let Some(at) = axis.values.iter().position(|value| *value == now) {
        return Some(place(&axis.values, at));
    }
    let now = now.as_f64()?;
    let places = || (0..axis.values.len()).map(|at| place(&axis.values, at));
    (places().any(|at| at <= now) && places().any(|at| at >= now)).then_some(now)
}

/// Returns the word that the table shows for a row without a figure.
const fn short_of(row: &SweepRow) -> &'static str {
    match row.status {
        EndStatus::Invalid => "invalid",
        EndStatus::Infeasible => "infeas.",
        EndStatus::NoPlan => "no plan",
        EndStatus::Failed | EndStatus::Panicked => "failed",
        _ => number::UNKNOWN,
    }
}

/// Returns the first word of a name that no other name has, else the whole name.
fn short_name<'n>(name: &'n str, all: &[&str]) -> &'n str {
    let others = || all.iter().filter(|other| **other != name);
    let unique = |word: &&str| others().all(|other| other.split('-').all(|part| part != *word));
    name.split('-').find(unique).unwrap_or(name)
}

/// Returns a different letter for every curve.
fn letters(names: &[&str]) -> Vec<char> {
    let mut letters: Vec<char> = Vec::new();
    for name in names {
        let own = short_name(name, names).chars().chain(name.chars()).chain('0'..='9');
        let free = own.filter(char::is_ascii_alphanumeric).find(|letter| !letters.contains(letter));
        letters.push(free.unwrap_or('*'));
    }
    letters
}

fn sentence(keymap: &Keymap, run: &SweepRun, cell: usize, unit: &str, figure: ChartedFigure) -> Vec<Piece> {
    let place = run.sweep.cell(cell);
    let method = run.sweep.method_names().nth(place.method).unwrap_or_default();
    let value = run.sweep.values_at(&place).next().map_or_else(String::new, ToString::to_string);
    let unit = if unit.is_empty() { String::new() } else { format!(" {unit}") };
    let mut pieces = vec![Piece::answer(format!("> {value}{unit}  {method}"))];
    let Some(row) = run.row(cell) else {
        pieces.push(Piece::muted(keymap.in_words("  not solved; {inspect} sets the parameter").into_owned()));
        return pieces;
    };
    let shown = figure.raw(row).filter(|_| figure.metric.is_some());
    if let Some(value) = shown {
        let value = with_unit(value, figure.unit, Room::Long);
        pieces.push(Piece::text(format!("  {} {value}", figure.label)));
    }
    if let Some(value) = row.value {
        let objective = run.sweep.objective();
        let value = with_unit(value, objective.unit, Room::Long);
        pieces.push(Piece::text(format!("  {} {value}", objective.label)));
    }
    pieces.push(Piece::muted(format!("  {}", row.status.word())));
    if !row.reason.is_empty() {
        pieces.push(Piece::muted(format!(": {}", row.reason)));
    } else if let Some(gap) = row.gap {
        pieces.push(Piece::muted(format!("  gap {} %", number::percent(gap, 2))));
    }
    if let Some(fate) = row.hot_start {
        pieces.push(Piece::muted(format!("  start {}", fate.word())));
    }
    pieces.push(Piece::muted(keymap.in_words("  {inspect} sets it").into_owned()));
    pieces
}

fn details(row: &SweepRow) -> Vec<String> {
    let mut lines = vec![format!("{}  {}", row.method, row.status.word())];
    lines.extend(row.value.map(|value| format!("value {value}")));
    lines.extend(row.bound.map(|bound| format!("bound {bound}")));
    lines.extend(row.metrics.iter().map(|(name, value)| format!("{name} {value}")));
    lines.push(format!("elapsed {:.3} s", row.elapsed_s));
    lines
}
