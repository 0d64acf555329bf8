//! Distances between time points that follow from resources: work that must be done between two time points keeps them
//! apart (energetic reasoning).

use super::distances::Distances;
use super::problem::{Point, Problem};
use crate::search::circuits::Proposal;
use lightbay_core::method::MethodError;
use lightbay_core::watch::Watch;

/// A pass over a resource checks for a stop request if the resource has at least this many tasks, because the pass
/// takes cubic time.
const MANY: usize = 30;

/// Minimum rise of a distance that counts: smaller rises would repeat rounds without moving the bound that is reported.
const WORTHWHILE: f64 = 1e-9;

impl Distances {
    /// Returns the lower bound on `to - from`, where both points include their constants.
    pub(super) fn between(&self, from: Point, to: Point) -> f64 {
        self.least(from.moment, to.moment) + to.plus - from.plus
    }
}

/// For every resource, and every pair of a start and an end of its jobs, requires a distance in which the resource can
/// do the work that must be done between this start and this end. Repeats until no distance rises or `rounds` are over.
/// Returns `false` if the distances become infeasible.
pub(super) fn propagate<W: Watch<Proposal>>(
    problem: &Problem,
    distances: &mut Distances,
    rounds: usize,
    watch: &mut W,
) -> Result<bool, MethodError> {
    // The fixpoint may need more rounds; the children of the node continue the propagation.
    for _ in 0..rounds {
        let mut rose = false;
        for resource in &problem.resources {
            for &(first, _) in &resource.shares {
                if resource.shares.len() > MANY {
                    watch.checkpoint()?;
                }
                // Left-shift/right-shift argument (Artigues and Lopez 2015): only the part of each job that fits
                // neither before `from` nor after `to` must be done between them.
                let from = problem.jobs[first as usize].start;
                for &(last, _) in &resource.shares {
                    let to = problem.jobs[last as usize].end;
                    let known = distances.between(from, to);
                    let mut inside = 0.0;
                    for &(job, weight) in &resource.shares {
                        let job = &problem.jobs[job as usize];
                        // Maximum work of the job before `from` and after `to`: it may run at full speed for all the
                        // time that remains there.
                        let before = (-distances.between(from, job.start)).max(0.0);
                        let after = (-distances.between(job.end, to)).max(0.0);
                        inside += weight * (job.work - before - after).max(0.0);
                    }
                    // The resource must do the work `inside` between the two time points, which is a lower bound on
                    // their distance.
                    let apart = inside / resource.capacity;
                    if inside > 0.0 && apart > known + WORTHWHILE {
                        rose = true;
                        if !distances.demand(from.moment, to.moment, apart + from.plus - to.plus) {
                            return Ok(false);
                        }
                    }
                }
            }
        }
        if !rose {
            return Ok(true);
        }
    }
    Ok(true)
}
