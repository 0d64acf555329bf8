//! Where a pod stands: what is certified of it, what its metrics allow, what any pod could reach, and the tori.

use super::super::{Explained, Yard};
use crate::app::runs::Run;
use crate::app::series::{Point, Series};
use lightbay_engines::tpu::series;

/// What a run has certified by the moments at which it certified more: of every design only while it is the best, so
/// that the certificate of a new one, which begins far below, takes nothing back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Certified {
    /// When, and what a flow is proven to reach.
    pub lower: Point,
    /// What the same certificate says the design cannot exceed.
    pub upper: Option<f64>,
}

/// The certificates of a run that proved more than those before, in order.
pub(super) fn certificates(run: &Run) -> Vec<Certified> {
    let points = |name: &str| run.named.get(name).map_or(&[][..], Series::points);
    let uppers = points(series::MCF_UPPER);
    let mut best: Vec<Certified> = Vec::new();
    for &lower in points(series::MCF_LOWER) {
        if best.last().is_some_and(|last| lower.value <= last.lower.value) {
            continue;
        }
        let known = uppers.partition_point(|upper| upper.count <= lower.count);
        let upper = known.checked_sub(1).map(|at| uppers[at].value);
        best.push(Certified { lower, upper });
    }
    best
}

/// The values that are set against each other, best first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Standing {
    /// What any pod of the size could reach.
    pub any: Option<f64>,
    /// What the metrics of this pod allow.
    pub metric: Option<f64>,
    /// What a flow on this pod is proven to reach.
    pub certified: Option<f64>,
    /// Name and throughput of the tori.
    pub tori: Vec<(String, f64)>,
}

impl Standing {
    /// From a run that works on a pod, or from a plan.
    pub fn of(run: Option<&Run>, plan: Option<&Explained>, bound: Option<f64>, yard: Option<&Yard>) -> Self {
        let last = |name: &str| run.and_then(|run| run.named.get(name)?.last()).map(|point| point.value);
        let claims = plan.map(|plan| plan.facts.claims);
        let tori = yard.iter().flat_map(|yard| &yard.tori);
        let best = run.and_then(|run| certificates(run).pop());
        let mut standing = Self {
            any: [bound, yard.map(|yard| yard.cover)].into_iter().flatten().reduce(f64::min),
            metric: best
                .and_then(|best| best.upper)
                .or_else(|| last(series::METRIC_UPPER))
                .or(claims.map(|claims| claims.mcf_upper)),
            certified: best
                .map(|best| best.lower.value)
                .or_else(|| run.and_then(|run| run.best.as_ref()).map(|best| best.value))
                .or(claims.map(|claims| claims.mcf_lower)),
            tori: tori.map(|torus| (torus.name.clone(), torus.mcf)).collect(),
        };
        if standing.tori.is_empty() {
            for (name, of) in [("PDTT", series::BASELINE_PDTT), ("PT", series::BASELINE_PT)] {
                standing.tori.extend(last(of).map(|value| (name.to_owned(), value)));
            }
        }
        standing
    }

    /// The gap that the certificate leaves.
    pub fn gap(&self) -> Option<f64> {
        let (upper, lower) = (self.metric?, self.certified?);
        (lower > 0.0).then(|| (upper / lower - 1.0).max(0.0))
    }

    /// How many times the throughput of a torus is reached.
    pub fn times(&self, torus: usize) -> Option<f64> {
        Some(self.certified? / self.tori.get(torus)?.1)
    }

    /// How much of what any pod could reach is certified.
    pub fn reached(&self) -> Option<f64> {
        Some(self.certified? / self.any?)
    }
}
