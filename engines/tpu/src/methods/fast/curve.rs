//! Curves of the annealing, as panes draw them.

use crate::Tpu;
use crate::model::topology::Topology;
use crate::search::anneal::Progress;
use crate::search::anneal::families::Family;
use crate::series;
use crate::throughput::metrics;
use lightbay_core::context::Context;
use lightbay_core::event::{EventBody, SeriesPoint};

/// Seconds between two points of the curves while annealing.
pub(super) const DRAWN_EVERY_S: f64 = 0.1;

/// The last point that was drawn of the curves of annealing.
#[derive(Clone, Copy, Debug)]
pub(super) struct AnnealingCurve {
    /// Score of the best design drawn so far.
    pub(super) score: f64,
    /// Time at which the score was drawn, s.
    pub(super) drawn_s: f64,
}

impl AnnealingCurve {
    /// Draws the bounds that metrics prove for the best design so far, if its score has improved.
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
