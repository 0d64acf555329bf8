//! Certified throughput over the time of a run, with its bounds and the tori.

use super::mcf;
use super::standing::{PodStanding, certificates};
use crate::series;
use lightbay_core::report::session::RunPoint;
use lightbay_core::report::{Curve, Curves, Line, Mark, Point, RunBeside, Tone, Unit};

/// The first time on a logarithmic time axis, s.
const FIRST_S: f64 = 0.01;

/// Maximum number of two-length bounds (one length for electrical links, one for optical links) that are drawn, each as
/// a series.
const TWO_LENGTH: usize = 2;

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
        growth.add("certified", "this pod, certified", Tone::Good, certified);
        let proven: Vec<RunPoint> =
            best.iter().filter_map(|best| Some(RunPoint { value: best.upper?, ..best.lower })).collect();
        let is_certified = !proven.is_empty();
        let first_s = proven.first().map_or(f64::INFINITY, |point| point.at_s);
        // The curve of the search's metrics ends where the curve of the certificate begins.
        let metrics = run.points(series::METRIC_UPPER).iter().filter(|point| point.at_s < first_s);
        growth.add("upper", "this pod, upper bound", Tone::Answer, metrics.copied().chain(proven).collect());
        // After a certificate is available, the metrics of the search are not informative.
        if !is_certified {
            let lengths = run.series.keys().filter_map(|name| Some((name, series::lengths_of(name)?)));
            for (name, (electrical, optical)) in lengths.take(TWO_LENGTH) {
                let label = format!("lengths {electrical}:{optical}");
                growth.add(name, &label, Tone::Text, run.points(name).to_vec());
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
        let label = format!("{}  {label}", mcf(last.value));
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
            label: format!("{}  {name}", mcf(value)),
            value,
        };
        let mut lines = vec![line("any pod", self.standing.any)];
        lines.extend(self.standing.tori.iter().map(|(name, value)| line(name, *value)));
        let marks = self.run.phases.iter();
        Curves {
            axis_knob: "",
            axis: "time_s",
            axis_label: "time",
            axis_unit: Unit::SECONDS.with_decimals(2),
            axis_range: None,
            axis_is_log: is_log,
            values_are_log: false,
            curves: self.series.iter().map(curve).collect(),
            range: self.range(),
            lines,
            marks: marks.map(|(at_s, phase)| Mark { at: at(*at_s), name: phase.name.clone() }).collect(),
        }
    }

    /// The range of shown values: from slightly below the lowest torus or last point of a curve to slightly above the
    /// bound on any pod. A first certificate far below this range is drawn along the lower edge.
    fn range(&self) -> Option<(f64, f64)> {
        let ends = self.series.iter().filter_map(|series| series.3.last()).map(|point| point.value);
        let tori = self.standing.tori.iter().map(|torus| torus.1);
        let near = || ends.clone().chain(tori.clone()).filter(|value| value.is_finite() && *value > 0.0);
        let low = near().reduce(f64::min)?;
        let high =
            near().reduce(f64::max)?.max(self.standing.any).min(self.standing.any * 1.05).max(low * 1.01);
        Some((low - (high - low) * 0.08, high + (high - low) * 0.02))
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
        let upper: Vec<f64> = growth.series[1].3.iter().map(|point| point.value).collect();
        assert_eq!(upper, [0.0061, 0.006_34, 0.006_36, 0.006_329]);
        let even = growth.curves(false);
        assert!(even.curves.iter().all(|curve| curve.points.last().is_some_and(|last| last.at == 5.0)));
        assert!(growth.curves(true).curves.iter().all(|curve| curve.points[0].at >= FIRST_S));
        let (low, high) = even.range.unwrap();
        assert!(low < standing.tori[1].1 && high > standing.any);
    }
}
