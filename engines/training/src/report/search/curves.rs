//! Incumbent and bound as curves over time or over nodes.

use super::super::beside::references;
use super::{is_claimed, unit_of};
use lightbay_core::report::session::RunPoint;
use lightbay_core::report::text::number;
use lightbay_core::report::{Curve, Curves, Line, Mark, Point, RunBeside, Surroundings, Tone, Unit};

/// Early bounds and incumbents extend the axis only if they are at most this many gaps away from the current values.
const FAR: f64 = 10.0;

/// Margin above and below the curves, as a fraction of their range.
const ROOM: f64 = 0.05;

/// Minimum gap for the choice of the axis, as a fraction of the objective.
const LEAST: f64 = 1e-3;

/// The curves of a run, with the reference lines of other plans.
pub(super) struct Values<'a> {
    run: &'a RunBeside,
    /// Curves before they are put on an axis: name in JSON, label, tone and points.
    series: Vec<(&'static str, String, Tone, &'a [RunPoint])>,
    lines: Vec<Line>,
    range: Option<(f64, f64)>,
}

impl<'a> Values<'a> {
    pub(super) fn of(run: &'a RunBeside, beside: &Surroundings) -> Self {
        let label = |word: &str, value: Option<f64>| {
            let value =
                value.map_or_else(|| "-".to_owned(), |value| number(value, Unit::SECONDS.with_decimals(4)));
            format!("{word} {value}")
        };
        let (word, tone) =
            if is_claimed(run, beside) { ("claimed", Tone::Muted) } else { ("bound", Tone::Good) };
        let mut series = vec![
            ("best_s", label("best", run.best), Tone::Answer, &run.incumbents[..]),
            ("bound_s", label(word, run.bound), tone, &run.search.bounds[..]),
        ];
        if let Some(partial) = &run.search.partial {
            // A bound that covers other plans is a different statement, so it never shares a curve with the bound on
            // all plans.
            let mut label = label("partial", Some(partial.value));
            // Without a bound on all plans, the title says which plans the shown bound covers.
            if let Some(only) = partial.only.as_ref().filter(|_| run.bound.is_some()) {
                label = format!("{label}, {only}");
            }
            series.push(("partial_bound_s", label, Tone::Muted, &run.search.partial_bounds[..]));
        }
        let near = shown(run);
        let room = (near.1 - near.0) * FAR;
        let in_sight = |line: &&(Line, &str)| {
            !room.is_finite() || (near.0 - room..=near.1 + room).contains(&line.0.value)
        };
        let references = references(beside);
        let lines: Vec<Line> = references
            .first()
            .filter(in_sight)
            .map(|(line, mark)| Line { label: format!("{mark}{}", line.label), ..line.clone() })
            .into_iter()
            .collect();
        let mut values = Self { run, series, lines, range: None };
        values.range = values.range(near);
        values
    }

    /// Returns `true` if there is nothing to draw a chart of.
    pub(super) fn are_empty(&self) -> bool {
        self.series.iter().all(|series| series.3.iter().all(|point| !point.value.is_finite()))
    }

    /// Best and bound over the time of the run.
    pub(super) fn over_time(&self) -> Curves {
        let marks = self.run.markers.iter().map(|(at, name)| Mark { at: *at, name: name.clone() });
        Curves {
            axis: "time_s",
            axis_label: "time",
            axis_unit: Unit::SECONDS.with_decimals(3),
            marks: marks.collect(),
            ..self.curves(|point| point.at_s, self.run.elapsed_s)
        }
    }

    /// Best and bound over the number of nodes, boxes or other units that the search has processed.
    pub(super) fn over_nodes(&self) -> Curves {
        let axis_label = match unit_of(self.run) {
            "allocs" => "allocs",
            "boxes" => "boxes",
            "LPs" => "LPs",
            _ => "nodes",
        };
        let done = self.run.search.stats.as_ref().map_or(0.0, |stats| stats.done as f64);
        Curves { axis: "nodes", axis_label, axis_unit: Unit::COUNT, ..self.curves(|point| point.count, done) }
    }

    fn curves(&self, place: fn(&RunPoint) -> f64, now: f64) -> Curves {
        let curve = |(name, label, tone, points): &(&str, String, Tone, &[RunPoint])| {
            let seen = points.iter().filter(|point| point.value.is_finite());
            let mut points: Vec<Point> =
                seen.map(|point| Point { at: place(point), value: point.value }).collect();
            // A curve that has not changed continues until now.
            if let Some(&last) = points.last()
                && last.at < now
            {
                points.push(Point { at: now, ..last });
            }
            Curve {
                name: (*name).to_owned(),
                label: label.clone(),
                unit: Unit::SECONDS,
                points,
                tone: *tone,
                steps: true,
            }
        };
        let curves: Vec<Curve> = self.series.iter().map(curve).collect();
        let ends = curves.iter().filter_map(|curve| curve.points.last()).map(|point| point.at);
        // A search that took no time still gets an axis.
        let last = ends.fold(1e-3, f64::max);
        Curves {
            axis_range: Some((0.0, last)),
            curves,
            lines: self.lines.clone(),
            range: self.range,
            ..Curves::default()
        }
    }

    /// The range of values that a screen shows, with a margin so that no curve lies on the axis. A bound of zero at the
    /// root would compress all later values into one row, so such a bound is drawn along the edge. `None` without
    /// values.
    fn range(&self, near: (f64, f64)) -> Option<(f64, f64)> {
        let points = self.series.iter().flat_map(|series| series.3).map(|point| point.value);
        let values = points.filter(|value| value.is_finite()).map(|value| value.clamp(near.0, near.1));
        let values = values.chain(self.lines.iter().map(|line| line.value));
        let (low, high) = values
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        let room = high.abs().max(low.abs()) * 1e-3;
        match high - low {
            range if !range.is_finite() => None,
            // A plan that meets its bound up to rounding leaves nothing to draw.
            range if range < 1e-3 * room => Some((low - room, high + room)),
            range => Some((low - ROOM * range, high + ROOM * range)),
        }
    }
}

/// The lowest and the highest value near the current best and bound, which determine the axis; without limits if the
/// best or the bound is unknown.
fn shown(run: &RunBeside) -> (f64, f64) {
    let (Some(best), Some((bound, _))) = (run.best, run.proof()) else {
        return (f64::NEG_INFINITY, f64::INFINITY);
    };
    let (low, high) = (best.min(bound), best.max(bound));
    let room = FAR * (high - low).max(LEAST * high.abs());
    let near = low - room..=high + room;
    let points = run.incumbents.iter().chain(&run.search.bounds).chain(&run.search.partial_bounds);
    points
        .map(|point| point.value)
        .filter(|value| near.contains(value))
        .fold((low, high), |(low, high), value| (low.min(value), high.max(value)))
}
