//! Curves of the annealing, which panes draw.

use crate::Tpu;
use crate::model::topology::Topology;
use crate::search::anneal::Progress;
use crate::search::anneal::families::Family;
use crate::series;
use crate::throughput::metrics;
use lightbay_core::context::Context;
use lightbay_core::event::{EventBody, SeriesPoint};

/// Minimum number of seconds between two points of a curve while annealing.
pub(super) const DRAWN_EVERY_S: f64 = 0.1;

/// Score and time at which points were last added to the curves of the annealing.
#[derive(Clone, Copy, Debug)]
pub(super) struct AnnealingCurve {
    /// Score of the best design at that time.
    pub(super) score: f64,
    /// Time at which these points were added, seconds since the start of the run.
    pub(super) drawn_s: f64,
}

impl AnnealingCurve {
    /// Adds the bounds that metrics prove for the best design so far to the curves, if its score has improved; at most
    /// once in [`DRAWN_EVERY_S`].
    pub(super) fn draw(&mut self, cx: &mut Context<'_, Tpu>, family: &Family, progress: &Progress) {
        let (x, best) = (cx.elapsed_s(), progress.best);
        if best.score >= self.score || x < self.drawn_s + DRAWN_EVERY_S {
            return;
        }
        (self.score, self.drawn_s) = (best.score, x);
        let pod = Topology::symmetric(family.group.clone(), best.voltage);
        let mut point = |name: &str, y: f64| {
            cx.report(EventBody::Series(SeriesPoint { name: name.to_owned(), x, y }));
        };
        point(series::METRIC_UPPER, best.bound);
        for (electrical, optical) in [(1, 2), (1, 3)] {
            if let Some(bound) = metrics::two_length(&pod, electrical, optical) {
                point(&series::two_length(electrical, optical), bound);
            }
        }
        if let Some(hops) = metrics::hops(&pod) {
            point(series::HOP_BOUND, metrics::hop_bound(pod.nodes(), hops.hop_sum));
        }
    }
}
