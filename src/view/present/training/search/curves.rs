//! Incumbent and bound as curves over time or over nodes.

use super::super::ga::baselines;
use crate::app::plans::PlanEntry;
use crate::app::runs::Run;
use crate::view::present::PaneInput;
use lightbay_widgets::{Baseline, Event, Series, Tone, number};

/// A first bound or incumbent further than this many gaps from the present ones is not what the axis is made for.
const FAR: f64 = 10.0;

/// Room above and below the curves, as a share of their range.
const ROOM: f64 = 0.05;

/// Least part of the objective that counts as a gap for the axis.
const LEAST: f64 = 1e-3;

/// The curves with what is drawn beside them.
#[derive(Debug, Default)]
pub struct Curves {
    pub series: Vec<Series>,
    pub baselines: Vec<Baseline>,
    pub events: Vec<Event>,
}

impl Curves {
    /// Returns `true` if there is nothing to draw a chart of.
    pub fn are_empty(&self) -> bool {
        self.baselines.is_empty() && self.series.iter().all(|series| series.points.is_empty())
    }

    /// The values the chart shows, with room above and below, so that no curve runs on the axis; a plan that meets
    /// its bound up to rounding is no range to draw.
    pub fn values(&self) -> Option<(f64, f64)> {
        let curves = self.series.iter().flat_map(|series| &series.points).map(|point| point.1);
        let values =
            curves.chain(self.baselines.iter().map(|line| line.value)).filter(|value| value.is_finite());
        let (low, high) = values
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        let room = high.abs().max(low.abs()) * 1e-3;
        match high - low {
            range if !range.is_finite() => None,
            range if range < 1e-3 * room => Some((low - room, high + room)),
            range => Some((low - ROOM * range, high + ROOM * range)),
        }
    }

    /// Right end of the curves.
    pub fn last(&self) -> Option<f64> {
        let ends = self.series.iter().filter_map(|series| series.points.last()).map(|point| point.0);
        // A search that took no time has an axis all the same.
        ends.reduce(f64::max).map(|last| last.max(1e-3))
    }

    pub fn fill(&mut self, input: &PaneInput<'_>, run: &Run, over_nodes: bool) {
        let x = |point: &crate::app::series::Point| if over_nodes { point.count } else { point.at_s };
        let now = if over_nodes {
            run.solver.as_ref().map_or(0.0, |stats| stats.done as f64)
        } else {
            // The clock alone does not move the picture: that would be drawn anew every second.
            run.elapsed_s
        };
        let near = shown(run);
        let curve = |series: &crate::app::series::Series| {
            let seen = series.points().iter().filter(|point| point.value.is_finite());
            // A bound of zero at the root would press everything that happens later into one row.
            let mut points: Vec<(f64, f64)> =
                seen.map(|point| (x(point), point.value.clamp(near.0, near.1))).collect();
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
            let value =
                value.map_or_else(|| number::UNKNOWN.to_owned(), |v| number::fixed(v, decimals).into());
            format!("{word} {value}")
        };
        let best = run.best.as_ref().map(|best| best.value);
        self.series.clear();
        self.series.push(
            Series::new(name("best", best), 'U', Tone::Answer).points(curve(&run.incumbents)).step().bold(),
        );
        self.series
            .push(Series::new(name("bound", run.bound), 'L', Tone::Good).points(curve(&run.bounds)).step());
        if let Some(partial) = &run.partial {
            // Another statement about other plans: never one curve with the bound on all.
            let mut label = name("partial", Some(partial.value));
            // Without a bound on all plans the title says what this one covers.
            if let Some(only) = partial.only.as_ref().filter(|_| run.bound.is_some()) {
                label = format!("{label}, {only}");
            }
            self.series
                .push(Series::new(label, 'w', Tone::Muted).points(curve(&run.partial_bounds)).dotted());
        }
        self.baselines.clear();
        let room = (near.1 - near.0) * FAR;
        let in_sight = |entry: &&&PlanEntry| (near.0 - room..=near.1 + room).contains(&entry.value);
        if let Some(entry) = baselines(input, run).first().filter(in_sight) {
            let mark = if input.app.plans.baseline == Some(entry.number) { "B " } else { "" };
            let short = entry.method.split('-').next().unwrap_or("");
            self.baselines.push(Baseline { name: format!("{mark}{short}").into(), value: entry.value });
        }
        self.events.clear();
        if !over_nodes {
            self.events.extend(
                run.markers.iter().map(|marker| Event { at: marker.at_s, name: marker.text.clone().into() }),
            );
        }
    }
}

/// The values that the axis is made for: those near enough to the present best and bound to be told apart beside
/// them. Others run along its edge.
fn shown(run: &Run) -> (f64, f64) {
    let (Some(best), Some((bound, _))) = (&run.best, run.proof()) else {
        return (f64::NEG_INFINITY, f64::INFINITY);
    };
    let (low, high) = (best.value.min(bound), best.value.max(bound));
    let room = FAR * (high - low).max(LEAST * high.abs());
    let near = low - room..=high + room;
    let points = run.incumbents.points().iter().chain(run.bounds.points()).chain(run.partial_bounds.points());
    points
        .map(|point| point.value)
        .filter(|value| near.contains(value))
        .fold((low, high), |(low, high), value| (low.min(value), high.max(value)))
}
