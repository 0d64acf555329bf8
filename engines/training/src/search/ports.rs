//! The fewest ports that keep the makespan.
//!
//! The result is exact if the search over through links is exact ([`crate::search::allocations`]) and the allocations
//! can be listed: for every allocation that can keep the makespan, each sink link is independent of the others, and
//! bisection gives its minimum number of circuits. Otherwise circuits are dropped one at a time while the makespan is
//! kept. If the path model is exact for joint rates, a search over [`boxes`] follows that proves the minimum or finds
//! fewer ports (docs/methods/training-search.md, section 12).

use crate::search::allocations::{Split, VectorTask, Vectors};
use crate::search::circuits::{Circuits, Proposal};
use crate::simulate::evaluate::{Rates, Scratch};
use lightbay_core::event::{EventBody, SolverStats};
use lightbay_core::method::MethodError;
use lightbay_core::watch::Watch;

mod boxes;

/// Relative loss of makespan that counts as zero. This slack of DELTA Eq. 4 (C <= C*) is above the tolerances of the
/// solver (5e-10) and far below the differences of plans.
pub const TOLERANCE: f64 = 1e-7;

/// Maximum number of evaluations of the path model in the search over boxes. An evaluation of megatron_462b takes 3.5 us
/// (docs/figures.md), so the search ends there within a second.
const EVALUATIONS: u64 = 200_000;

/// Minimum number of ports found.
#[derive(Clone, Debug)]
pub struct Fewest {
    /// The plan, never with more ports than the given plan.
    pub found: Circuits,
    /// `true` if no plan with fewer ports keeps the makespan.
    pub proven: bool,
}

/// Minimises the ports while the makespan of `from` is kept.
///
/// # Errors
/// The reason to stop.
pub fn fewest<W: Watch<Proposal>>(
    task: VectorTask<'_>,
    from: &Circuits,
    watch: &mut W,
) -> Result<Fewest, MethodError> {
    let split = Split::new(task);
    let limit = from.makespan * (1.0 + TOLERANCE);
    if split.modelled
        && let Some(odometer) = Vectors::odometer(&split, task.listed, watch)?
    {
        let found = listed(&split, odometer, from, limit, watch)?;
        return Ok(Fewest { found, proven: true });
    }
    let mut scratch = Scratch::default();
    // If the allocations cannot be listed: greedy descent. The result keeps the makespan, but fewer ports may be
    // possible.
    let budget = &task.evaluator.network.budget;
    let mut best = from.clone();
    loop {
        // Links whose circuits need most ports first; ties by id.
        let mut links: Vec<usize> = (0..best.x.len()).filter(|&link| best.x[link] > 1).collect();
        links.sort_by_key(|&link| std::cmp::Reverse(budget.cost(link)));
        let mut dropped = false;
        for link in links {
            watch.checkpoint()?;
            // Circuits of one link are dropped until the makespan would grow; the last good count stays.
            let mut x = best.x.clone();
            while x[link] > 1 {
                x[link] -= 1;
                watch.count(1);
                let makespan = task.evaluator.makespan(&x, task.rates, &mut scratch);
                if makespan > limit {
                    break;
                }
                best = Circuits { ports: budget.total(&x), makespan, x: x.clone() };
                dropped = true;
            }
        }
        // A pass without a drop is a local optimum: no single circuit can be dropped.
        if !dropped {
            break;
        }
    }
    // Other circuits may need fewer ports. The search over boxes is valid only if more circuits cannot lengthen an
    // iteration, so it does not apply to fair rates.
    let monotone = task.rates != Rates::Fair && task.evaluator.exact(task.rates);
    // Tightening a box takes about four evaluations per link (bisection).
    let boxes = task.boxes.min(EVALUATIONS / (4 * best.x.len().max(1) as u64));
    let proven = monotone && boxes::search(task, &mut best, limit, boxes, watch)?;
    Ok(Fewest { found: best, proven })
}

fn listed<W: Watch<Proposal>>(
    split: &Split<'_>,
    mut odometer: crate::search::allocations::Odometer<'_>,
    from: &Circuits,
    limit: f64,
    watch: &mut W,
) -> Result<Circuits, MethodError> {
    let task = split.task;
    let (budget, model) = (&task.evaluator.network.budget, &task.evaluator.model);
    let rates = split.rates();
    let mut scratch = Scratch::default();
    let mut best = from.clone();
    let mut done = 0u64;
    loop {
        // An allocation costs a few evaluations of single links, so eight allocations fit between two checkpoints.
        if done.is_multiple_of(8) {
            watch.checkpoint()?;
        }
        done += 1;
        // Leaves have one circuit here, so this is the minimum number of ports of the allocation.
        if budget.total(&odometer.x) <= best.ports {
            let mut x = odometer.x.clone();
            watch.count(1);
            // Ends of the decided links do not depend on the leaves, so an allocation that misses the limit is
            // discarded at once.
            let mut end = model.start(&x, &mut scratch.model);
            for &link in &split.decided {
                end = end.max(model.link_end(link, x[link as usize], rates, &mut scratch.model));
            }
            if end <= limit
                // For given start times leaves are independent, so the minima of all leaves together are the minimum of
                // the allocation.
                && let Some(leaves) = split.fewest(&mut x, limit, &mut scratch)
                && budget.fits(&x)
            {
                let found = Circuits { ports: budget.total(&x), makespan: end.max(leaves), x };
                // Compare ports first, because the makespan is already within the limit.
                if (found.ports, found.makespan) < (best.ports, best.makespan) {
                    best = found;
                }
            }
        }
        if done.is_multiple_of(512) {
            let unit = "allocs".to_owned();
            watch.report(EventBody::Solver(SolverStats { unit, done, ..SolverStats::default() }));
        }
        if !odometer.advance() {
            return Ok(best);
        }
    }
}
