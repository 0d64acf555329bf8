//! Values over one axis as a chart.

use super::{item_id, tone};
use crate::app::drawn::{Drawn, Item};
use crate::app::pane::ItemId;
use crate::app::state::App;
use crate::view::present::PaneInput;
use lightbay_core::report::{Cell, Curves, Line, Mark, Phrase, Tone as Meaning, Unit, text};
use lightbay_widgets::{Axis, Baseline, Chart, Event, Series, Tone, number};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::Widget;

/// Minimum number of rows of each chart, if there are several charts.
const ROWS: u16 = 6;

/// Height below which a chart shows only the curves with a meaning, if it has an answer.
const BRIEF: u16 = 6;

/// Maximum number of points that are marked individually; more marks would hide the curve.
const SAMPLES: usize = 16;

/// Maximum number of positions at which a cursor stops.
const STOPS: usize = 64;

/// Curves on the screen: a chart for every unit, one below the other.
#[derive(Debug)]
pub struct CurvesView {
    block: usize,
    curves: Curves,
    /// Positions at which the cursor stops, in the unit of the data.
    stops: Vec<f64>,
    charts: Vec<UnitChart>,
    marks: Vec<Event>,
    axis_unit: String,
    axis_range: Option<(f64, f64)>,
    axis_is_log: bool,
    /// `true` if positions on the axis are whole numbers.
    axis_is_whole: bool,
    values_are_log: bool,
}

/// The curves of one unit.
#[derive(Debug)]
struct UnitChart {
    unit: Unit,
    series: Vec<Series>,
    lines: Vec<Baseline>,
    range: Option<(f64, f64)>,
}

impl CurvesView {
    /// Prepares the curves of a block, given by its index.
    pub fn new(block: usize, curves: &Curves) -> Self {
        let mut letters: Vec<char> = Vec::new();
        let mut numbers = 0..;
        let mut series = |curve: &lightbay_core::report::Curve| {
            // Curves without a meaning are distinguished by number.
            let tone = match curve.tone {
                Meaning::Text => Tone::Series(numbers.next().unwrap_or(0)),
                meaning => tone(meaning),
            };
            // Each curve gets a different letter.
            let mut own = curve.label.chars().filter(char::is_ascii_alphanumeric);
            let letter = own.find(|letter| !letters.contains(letter)).unwrap_or('*');
            letters.push(letter);
            let points = curve
                .points
                .iter()
                .map(|point| (point.at * curves.axis_unit.scale, point.value * curve.unit.scale));
            let series = Series::new(curve.label.clone(), letter, tone).points(points.collect());
            let series = if curve.steps { series.step() } else { series };
            let few = !curve.steps && curve.points.len() <= SAMPLES;
            let series = if few { series.marked() } else { series };
            // Less important curves look different even without colour.
            let series = if curve.tone == Meaning::Muted { series.dotted() } else { series };
            if curve.tone == Meaning::Answer { series.bold() } else { series }
        };
        let mut charts: Vec<UnitChart> = Vec::new();
        for curve in &curves.curves {
            let drawn = series(curve);
            if let Some(chart) = charts.iter_mut().find(|chart| chart.unit.symbol == curve.unit.symbol) {
                chart.series.push(drawn);
            } else {
                let (lines, range) = (Vec::new(), None);
                charts.push(UnitChart { unit: curve.unit, series: vec![drawn], lines, range });
            }
        }
        if let Some(first) = charts.first_mut() {
            let scale = first.unit.scale;
            let line = |line: &Line| Baseline { name: line.label.clone().into(), value: line.value * scale };
            first.lines = curves.lines.iter().map(line).collect();
            first.range = curves.range.map(|(low, high)| (low * scale, high * scale));
        }
        let mark = |mark: &Mark| Event {
            at: mark.at * curves.axis_unit.scale,
            name: mark.name.clone().into(),
            cursor: false,
        };
        let marks = curves.marks.iter().map(mark).collect();
        let scale = curves.axis_unit.scale;
        let axis_unit = match (curves.axis_label, curves.axis_unit.symbol) {
            (label, "") => label.to_owned(),
            // The ticks have the unit.
            _ if is_bytes(curves.axis_unit) => String::new(),
            (label, _) if curves.axis_is_log && is_time(curves.axis_unit) => label.to_owned(),
            // The values have the same unit, so the axis needs its name too.
            (label, symbol) if curves.curves.iter().any(|curve| curve.unit.symbol == symbol) => {
                format!("{label}, {symbol}")
            }
            (_, symbol) => symbol.to_owned(),
        };
        let points = curves.curves.iter().flat_map(|curve| &curve.points).map(|point| point.at);
        let mut stops: Vec<f64> = points.collect();
        stops.sort_by(f64::total_cmp);
        stops.dedup();
        // Of more positions, evenly distributed ones.
        let every = stops.len().div_ceil(STOPS).max(1);
        let mut number = 0;
        stops.retain(|_| {
            number += 1;
            (number - 1) % every == 0
        });
        Self {
            block,
            stops,
            curves: curves.clone(),
            charts,
            marks,
            axis_unit,
            axis_range: curves.axis_range.map(|(from, to)| (from * scale, to * scale)),
            axis_is_log: curves.axis_is_log,
            axis_is_whole: curves.axis_unit == Unit::COUNT,
            values_are_log: curves.values_are_log,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.charts.iter().flat_map(|chart| &chart.series).all(|series| series.points.is_empty())
    }

    /// Iterates over the positions at which the cursor stops, as items in row `row`.
    pub fn items(&self, row: u32) -> impl Iterator<Item = Item> {
        (0..self.stops.len()).map(move |at| Item { id: item_id(self.block, at), row, place: at as f32 })
    }

    /// Returns the item at the position nearest to a curve of one point, else to the present value of the parameter that
    /// the axis shows, else to the first mark.
    pub fn marked(&self, app: &App) -> Option<ItemId> {
        let single = self.curves.curves.iter().find_map(|curve| match curve.points[..] {
            [point] => Some(point.at),
            _ => None,
        });
        let present = || app.setting(self.curves.axis_knob)?.as_f64();
        let mark = single.or_else(present).or_else(|| Some(self.curves.marks.first()?.at))?;
        let apart = |at: f64| if self.axis_is_log { (at / mark).ln().abs() } else { (at - mark).abs() };
        let stops = self.stops.iter().enumerate().filter(|(_, at)| apart(**at).is_finite());
        let nearest = stops.min_by(|a, b| apart(*a.1).total_cmp(&apart(*b.1)))?;
        Some(item_id(self.block, nearest.0))
    }

    /// Returns the position of an item.
    fn stop(&self, id: ItemId) -> Option<f64> {
        self.stops.get(id.checked_sub(item_id(self.block, 0))? as usize).copied()
    }

    /// Returns the setting of the parameter that the axis shows, at an item; `None` if the axis shows no parameter.
    pub fn setting(&self, id: ItemId) -> Option<String> {
        let knob = Some(self.curves.axis_knob).filter(|knob| !knob.is_empty())?;
        Some(format!("{knob}={}", self.stop(id)?))
    }

    /// Returns the values of the curves at an item: `> buffer 1 MB  trees 24.1 GB/s  ring 13.9 GB/s`.
    pub fn sentence(&self, id: ItemId) -> Option<Phrase> {
        let at = self.stop(id)?;
        let unit = self.curves.axis_unit;
        let grouped = |value: f64, unit: Unit| number::grouped(&text::cell(&Cell::new(value), unit));
        let place = if is_bytes(unit) { number::bytes(at).into() } else { grouped(at, unit) };
        let mut phrase = Phrase::new().answer(format!("> {} {place}", self.curves.axis_label));
        for curve in &self.curves.curves {
            let Some(point) = curve.points.iter().rfind(|point| point.at <= at) else { continue };
            if point.at < at && !curve.steps {
                continue;
            }
            let value = grouped(point.value, curve.unit);
            phrase = phrase.muted(format!("  {} ", curve.label)).with(value, curve.tone);
        }
        Some(phrase)
    }

    /// Draws as many charts as have room, in their order, with a line at the selected item.
    pub fn draw(
        &self,
        input: &PaneInput<'_>,
        selected: Option<ItemId>,
        area: Rect,
        buf: &mut Buffer,
        out: &mut Drawn,
    ) {
        let mut marks = self.marks.clone();
        if let Some(at) = selected.and_then(|id| self.stop(id)) {
            marks.push(Event { at: at * self.curves.axis_unit.scale, cursor: true, ..Event::default() });
        }
        let shown = usize::from(area.height / ROWS).clamp(1, self.charts.len().max(1));
        let height = area.height / shown as u16;
        let has_answer = |chart: &UnitChart| chart.series.iter().any(|series| series.tone == Tone::Answer);
        let is_named = |series: &&Series| !matches!(series.tone, Tone::Series(_));
        let brief =
            |chart: &UnitChart| -> Vec<Series> { chart.series.iter().filter(is_named).cloned().collect() };
        let is_brief = |chart: &UnitChart| height < BRIEF && has_answer(chart);
        let briefs: Vec<Option<Vec<Series>>> =
            self.charts.iter().map(|chart| is_brief(chart).then(|| brief(chart))).collect();
        let mut drawn: Vec<(Chart<'_>, Rect)> = Vec::new();
        for (at, (chart, brief)) in self.charts.iter().zip(&briefs).take(shown).enumerate() {
            let first = at as u16 * height;
            // The last chart gets the remaining rows; blank rows separate the others.
            let last = at + 1 == shown;
            let height = if last { area.height - first } else { height - 1 };
            let x = match self.axis_is_log {
                true if self.begins_at_zero() => Axis::log_from_zero(&self.axis_unit),
                true => Axis::log(&self.axis_unit),
                false => Axis::linear(&self.axis_unit).whole(self.axis_is_whole),
            };
            let x = x
                .bytes(is_bytes(self.curves.axis_unit))
                .times(self.axis_is_log && is_time(self.curves.axis_unit));
            let x = match self.window(input).or(self.axis_range) {
                Some((from, to)) => x.bounds(from, to),
                None => x,
            };
            let unit = chart.unit.symbol;
            let y = if self.values_are_log { Axis::log(unit) } else { Axis::linear(unit) };
            let y = y.whole(chart.unit.decimals == Some(0));
            let y = match chart.range.filter(|_| !self.values_are_log) {
                Some((low, high)) => y.bounds(low, high),
                None => y,
            };
            let place = Rect { y: area.y + first, height, ..area };
            let series = brief.as_ref().unwrap_or(&chart.series);
            let chart = Chart::new(&input.app.look.theme, series, x, y)
                .baselines(&chart.lines)
                .events(if at == 0 { &marks } else { &[] });
            drawn.push((chart, place));
        }
        // The axes of several charts begin and end in the same columns.
        let plots = drawn.iter().filter_map(|(chart, place)| chart.axis_place(*place));
        let margins = plots.fold((0, 0), |(left, right), plot| {
            (
                plot.left().saturating_sub(area.x).max(left),
                area.right().saturating_sub(plot.right()).max(right),
            )
        });
        for (chart, place) in drawn {
            let chart = if shown > 1 { chart.margins(margins.0, margins.1) } else { chart };
            out.axes.extend(chart.axis_place(place).map(|place| (input.pane, place)));
            (&chart).render(place, buf);
        }
    }

    /// Iterates over every position at which a curve has a point.
    fn places(&self) -> impl Iterator<Item = f64> {
        let points = self.charts.iter().flat_map(|chart| &chart.series).flat_map(|series| &series.points);
        points.map(|point| point.0)
    }

    /// Returns `true` if a point is at 0, which a logarithmic axis cannot show.
    fn begins_at_zero(&self) -> bool {
        self.places().any(|at| at == 0.0)
    }

    /// Returns the visible ends of the axis in the unit of the data, if the axis is the parameter of the section's slider.
    pub fn slider_axis(&self, input: &PaneInput<'_>) -> Option<(f64, f64)> {
        let slides = input.info.section.and_then(|section| section.slides)?;
        let is_knob = slides.knob == self.curves.axis_knob && self.axis_is_log;
        let (low, high) = self.window(input).or(self.axis_range).filter(|_| is_knob)?;
        let scale = self.curves.axis_unit.scale;
        Some((low / scale, high / scale))
    }

    /// Returns the visible range of an axis that the user stretched; `None` if the whole axis is visible.
    fn window(&self, input: &PaneInput<'_>) -> Option<(f64, f64)> {
        if input.state.zoom == 0 {
            return None;
        }
        let places = self.places().filter(|at| !self.axis_is_log || *at > 0.0);
        let (first, last) = self.axis_range.unwrap_or_else(|| {
            places.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), at| (low.min(at), high.max(at)))
        });
        let (start, stop) = input.state.window();
        let at = |share: f64| {
            if self.axis_is_log {
                (first.ln() + (last.ln() - first.ln()) * share).exp()
            } else {
                first + (last - first) * share
            }
        };
        (last > first).then(|| (at(start), at(stop)))
    }
}

/// Returns `true` if the unit is the second.
fn is_time(unit: Unit) -> bool {
    unit.symbol == Unit::SECONDS.symbol
}

/// Returns `true` for sizes in bytes, which are shown with decimal prefixes.
fn is_bytes(unit: Unit) -> bool {
    unit.symbol == "bytes"
}
