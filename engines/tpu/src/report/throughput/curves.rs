//! Certified throughput over the time of a run, with its bounds and the tori.

use super::mcf;
use super::standing::{PodStanding, certificates};
use crate::series;
use lightbay_core::report::session::RunPoint;
use lightbay_core::report::{Curve, Curves, Line, Mark, Point, RunBeside, Tone, Unit};

/// The first time on a logarithmic time axis, s.
const FIRST_S: f64 = 0.01;

/// Maximum distance of a torus below the other values, relative to their range, at which it is in the range.
const FAR: f64 = 1.0;

/// Curves of a run with their reference values.
pub(super) struct Growth<'a> {
    run: &'a RunBeside,
    standing: &'a PodStanding,
    /// Curves before they are put on an axis: name in JSON, label, tone and points.
    series: Vec<(String, String, Tone, Vec<RunPoint>)>,
}

impl<'a> Growth<'a> {
    pub(super) fn of(run: &'a RunBeside, standing: &'a PodStanding) -> Self {
        let mut growth = Self { run, standing, series: Vec::new() };
        let best = certificates(run);
        let certified = if best.is_empty() {
            run.incumbents.clone()
        } else {
            best.iter().map(|best| best.lower).collect()
        };
        growth.add("certified", "certified", Tone::Good, certified);
        let mut proven: Vec<RunPoint> =
            best.iter().filter_map(|best| Some(RunPoint { value: best.upper?, ..best.lower })).collect();
        // The metrics of the search bound the pods that it tried, until a certificate bounds one of them.
        let first_s = proven.first().map(|first| first.at_s);
        let metrics = run.points(series::METRIC_UPPER).iter().copied();
        let metrics = metrics.filter(|point| first_s.is_none_or(|first_s| point.at_s < first_s)).collect();
        if first_s.is_some() {
            proven.splice(0..0, metrics);
            // The plan of the run may have a lower upper end than the certificates with a new lower end.
            if let Some((upper, last)) = standing.metric.zip(proven.last().copied())
                && upper < last.value
            {
                proven.push(RunPoint { at_s: growth.end_s(), value: upper, ..last });
            }
            growth.add("upper", "upper bound", Tone::Answer, proven);
        } else {
            growth.add("searched_upper", "bound in search", Tone::Answer, metrics);
            // Of the bounds from one length for electrical and one for optical links, the lowest is drawn.
            let of = |name| Some((name, series::lengths_of(name)?, run.last(name)?));
            let lengths = run.series.keys().map(String::as_str).filter_map(of);
            if let Some((name, ..)) = lengths.min_by(|a, b| a.2.total_cmp(&b.2)) {
                growth.add(name, "length bound", Tone::Muted, run.points(name).to_vec());
            }
            growth.add(series::HOP_BOUND, "hop bound", Tone::Muted, run.points(series::HOP_BOUND).to_vec());
        }
        growth
    }

    fn add(&mut self, name: &str, label: &str, tone: Tone, mut points: Vec<RunPoint>) {
        let Some(&last) = points.last() else { return };
        // A curve keeps its last value until the current time, so that its label is next to its end.
        let end_s = self.end_s();
        if last.at_s < end_s {
            points.push(RunPoint { at_s: end_s, ..last });
        }
        let label = format!("{label} {}", mcf(last.value));
        self.series.push((name.to_owned(), label, tone, points));
    }

    fn end_s(&self) -> f64 {
        self.run.elapsed_s.max(FIRST_S * 10.0)
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.series.is_empty()
    }

    /// The curves over a logarithmic or a linear time axis.
    pub(super) fn curves(&self, is_log: bool) -> Curves {
        let at = |at_s: f64| if is_log { at_s.max(FIRST_S) } else { at_s };
        let curve = |(name, label, tone, points): &(String, String, Tone, Vec<RunPoint>)| Curve {
            name: name.clone(),
            label: label.clone(),
            unit: Unit::NUMBER,
            points: points.iter().map(|point| Point { at: at(point.at_s), value: point.value }).collect(),
            tone: *tone,
            steps: true,
        };
        let line = |name: &str, value: f64| Line {
            name: name.to_owned(),
            label: format!("{name} {}", mcf(value)),
            value,
        };
        let mut lines = vec![line("any pod", self.standing.any)];
        lines.extend(self.standing.tori.iter().map(|(name, value)| line(name, *value)));
        // A search repeats its phases; the first of each is marked.
        let phases = &self.run.phases;
        let is_first = |at: usize| phases[..at].iter().all(|(_, phase)| phase.name != phases[at].1.name);
        let marks = (0..phases.len()).filter(|at| is_first(*at)).map(|at| &phases[at]);
        // A tenth of the time is at least visible on a logarithmic axis, so that it has several ticks.
        let points = self.series.iter().flat_map(|series| &series.3).map(|point| at(point.at_s));
        let first_s = points.fold(self.end_s() / 10.0, f64::min);
        Curves {
            axis_knob: "",
            axis: "time_s",
            axis_label: "time",
            axis_unit: Unit::SECONDS.with_decimals(2),
            axis_range: is_log.then(|| (first_s, self.end_s())),
            axis_is_log: is_log,
            values_are_log: false,
            curves: self.series.iter().map(curve).collect(),
            range: self.range(),
            lines,
            marks: marks.map(|(at_s, phase)| Mark { at: at(*at_s), name: phase.name.clone() }).collect(),
        }
    }

    /// The range of shown values: from slightly below the lowest near torus or last point of a curve to slightly above
    /// the bound on any pod. A first certificate far below this range is drawn along the lower edge.
    fn range(&self) -> Option<(f64, f64)> {
        let shown = self.series.iter().filter(|series| series.0 != "searched_upper");
        let ends = shown.filter_map(|series| series.3.last()).map(|point| point.value);
        let best = self.standing.tori.first().map(|torus| torus.1);
        let near = || ends.clone().chain(best).filter(|value| value.is_finite() && *value > 0.0);
        let low = near().reduce(f64::min)?;
        let high = near().reduce(f64::max)?.max(self.standing.any).min(self.standing.any * 1.05);
        // A torus far below the others would compress them into a few rows.
        let is_near = |torus: &f64| torus.is_finite() && *torus > 0.0 && low - torus < FAR * (high - low);
        let low = self.standing.tori.iter().map(|torus| torus.1).filter(is_near).fold(low, f64::min);
        if high < low * 1.01 {
            // Equal values are in the middle.
            return Some((low * 0.99, high * 1.01));
        }
        Some((low - (high - low) * 0.08, high + (high - low) * 0.1))
    }
}

#[cfg(test)]
mod tests {
    use super::super::standing::tests::run;
    use super::*;
    use crate::analysis::Yardsticks;

    #[test]
    fn a_certificate_takes_over_from_the_metrics_and_every_curve_ends_now() {
        let run = run();
        let standing = PodStanding::of(Some(&run), None, None, &Yardsticks::of(4, None));
        let growth = Growth::of(&run, &standing);
        let names: Vec<&str> = growth.series.iter().map(|series| series.0.as_str()).collect();
        assert_eq!(names, ["certified", "upper"]);
        let values =
            |number: usize| growth.series[number].3.iter().map(|point| point.value).collect::<Vec<f64>>();
        let even = growth.curves(false);
        let end = |curve: &Curve| curve.points.last().map(|last| last.at);
        assert_eq!([end(&even.curves[0]), end(&even.curves[1])], [Some(5.0); 2]);
        assert_eq!(values(1), [0.0061, 0.006_34, 0.006_36, 0.006_329]);
        assert!(growth.curves(true).curves.iter().all(|curve| curve.points[0].at >= FIRST_S));
        let (low, high) = even.range.unwrap();
        assert!(low > standing.tori[1].1 && low < standing.tori[0].1, "PT is far below");
        assert!(high > standing.any);
    }
}
