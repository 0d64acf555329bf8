//! Search over circuit allocations with a proof: every allocation is evaluated or has a lower bound that is not better
//! than the best plan (docs/methods/training-search.md, section 7).
//!
//! A *sink* is a task without successors, and a *sink link* carries only sinks. If only sinks compete for links and
//! NICs, a sink link delays no other task. So it is enough to decide the circuits of the other (*through*) links. The
//! best circuits of the sink links follow from them, because the end of each sink link depends only on its own circuits
//! and never grows with them: repeatedly give a circuit to the sink link that ends last. Allocations of through links
//! are enumerated if they are few, else searched by branch and bound over boxes of allocations. If other tasks compete,
//! all links are decided and simulated.

mod boxes;
mod leaves;
mod vectors;

use crate::search::circuits::{Circuits, Proposal};
use crate::simulate::evaluate::{Evaluator, Rates, Scratch};
pub(crate) use leaves::Split;
use lightbay_core::event::{EventBody, SolverStats};
use lightbay_core::method::MethodError;
use lightbay_core::watch::Watch;
pub(crate) use vectors::{Odometer, Vectors};

/// Maximum number of circuit allocations that are listed and sorted; above it, boxes of allocations are searched. An
/// allocation takes some tens of bytes, so the list takes some megabytes; all presets stay below a hundredth of this
/// number.
pub const LISTED: u64 = 100_000;

/// Maximum number of boxes that are evaluated. If this limit ends the search, the result has the minimum bound of the
/// open boxes.
pub const BOXES: u64 = 200_000;

/// Input of the search.
#[derive(Clone, Copy, Debug)]
pub struct VectorTask<'a> {
    /// The scenario, prepared for evaluation.
    pub evaluator: &'a Evaluator,
    /// Rate rule: fair rates, or joint rates if the path model is exact for joint rates. If the path model is not
    /// exact, `relaxed` gives a bound for joint rates.
    pub rates: Rates,
    /// Maximum number of circuits that the search tries on each link.
    pub caps: &'a [u32],
    /// `true` to search a relaxation instead of the scenario itself: only the sinks of the same directed link compete
    /// with each other. The optimum of the relaxation is a lower bound for any rates.
    pub relaxed: bool,
    /// Maximum number of allocations to list.
    pub listed: u64,
    /// Maximum number of boxes to evaluate if there are too many allocations to list.
    pub boxes: u64,
}

impl<'a> VectorTask<'a> {
    /// A task with the default limits.
    pub const fn new(evaluator: &'a Evaluator, rates: Rates, caps: &'a [u32]) -> Self {
        Self { evaluator, rates, caps, relaxed: false, listed: LISTED, boxes: BOXES }
    }

    /// A task that searches the relaxation, whose optimum is a bound for any rates.
    pub const fn relaxed(evaluator: &'a Evaluator, caps: &'a [u32]) -> Self {
        Self { relaxed: true, ..Self::new(evaluator, Rates::Level, caps) }
    }
}

/// Result of a search that was not stopped.
#[derive(Clone, Debug, Default)]
pub struct AllocationProof {
    /// The best allocation, if it is better than the given allocation.
    pub best: Option<Circuits>,
    /// Lower bound over all allocations, seconds; the makespan of the best plan if the search was complete.
    pub bound: f64,
    /// `true` if the limit of boxes ended the search before it was complete.
    pub cut_short: bool,
    /// Number of allocations evaluated.
    pub evaluated: u64,
    /// Number of all allocations, if they were listed.
    pub total: Option<u64>,
}

/// Searches until the best allocation is proven optimal, or until the limit of boxes is reached. `known` is the best
/// plan so far.
///
/// # Errors
/// The reason to stop; plans found until then have been reported to `watch`.
pub fn search<W: Watch<Proposal>>(
    task: VectorTask<'_>,
    known: Option<&Circuits>,
    watch: &mut W,
) -> Result<AllocationProof, MethodError> {
    // Splits the links into decided links and leaves; the list and the boxes use the same split.
    let split = Split::new(task);
    let mut state = State { best: known.cloned(), improved: false, evaluated: 0, task, watch };
    let vectors = Vectors::list(&split, task, state.watch)?;
    let (bound, total, cut_short) = if let Some(vectors) = vectors {
        (state.listed(&split, &vectors)?, Some(vectors.len() as u64), false)
    } else {
        let (bound, cut_short) = boxes::search(&split, &mut state)?;
        (bound, None, cut_short)
    };
    let State { best, improved, evaluated, .. } = state;
    // If the search is complete, its best plan is the bound.
    let bound = best.as_ref().map_or(bound, |best| bound.min(best.makespan));
    Ok(AllocationProof { best: best.filter(|_| improved), bound, cut_short, evaluated, total })
}

/// Returns `true` if the allocations of a task are few enough to be listed.
///
/// # Errors
/// The reason to stop.
pub fn can_list<W: Watch<Proposal>>(task: VectorTask<'_>, watch: &mut W) -> Result<bool, MethodError> {
    let split = Split::new(task);
    Ok(Vectors::odometer(&split, task.listed, watch)?.is_some())
}

/// A bound minus a rounding margin, for reports before the proof is complete. The relative margin of 1e-12 is some
/// thousand times the rounding error of one operation, so that a reported bound holds in spite of rounding.
fn cautious(bound: f64) -> f64 {
    bound * (1.0 - 1e-12)
}

/// State of a search, used for listed allocations and for boxes.
struct State<'a, W: Watch<Proposal>> {
    best: Option<Circuits>,
    improved: bool,
    evaluated: u64,
    task: VectorTask<'a>,
    watch: &'a mut W,
}

impl<W: Watch<Proposal>> State<'_, W> {
    /// Makespan that a plan must beat, seconds.
    fn target(&self) -> f64 {
        self.best.as_ref().map_or(f64::INFINITY, |best| best.makespan)
    }

    /// Counts an evaluated allocation and keeps it if it is the best.
    fn offer(&mut self, x: &[u32], makespan: f64, source: impl Fn() -> String) -> Result<bool, MethodError> {
        self.evaluated += 1;
        self.watch.count(1);
        self.keep(x, makespan, source)
    }

    fn keep(&mut self, x: &[u32], makespan: f64, source: impl Fn() -> String) -> Result<bool, MethodError> {
        // Strict improvement: among allocations with equal makespans, the one that comes first in the order of bounds
        // stays.
        if makespan >= self.target() {
            return Ok(false);
        }
        let found = Circuits { x: x.to_vec(), makespan, ports: self.task.evaluator.network.budget.total(x) };
        self.watch.found(found.clone().into(), &source())?;
        self.best = Some(found);
        self.improved = true;
        Ok(true)
    }

    /// Reads plans that other runs offer.
    fn take_offers(&mut self, scratch: &mut Scratch) -> Result<(), MethodError> {
        if self.task.relaxed {
            return Ok(());
        }
        if let Some(offer) = self.watch.offered() {
            let x = offer.circuits.x;
            let makespan = self.task.evaluator.makespan(&x, self.task.rates, scratch);
            let taken = self.offer(&x, makespan, || "offer".to_owned())?;
            self.watch.judged(makespan, taken);
        }
        Ok(())
    }

    /// Evaluates listed allocations in ascending order of their bounds; returns the final bound.
    fn listed(&mut self, split: &Split<'_>, vectors: &Vectors) -> Result<f64, MethodError> {
        let mut scratch = Scratch::default();
        let mut free = Vec::new();
        // Best-first over the list. Invariant: every allocation before `position` is evaluated, and every later one has
        // a bound of at least `bound`; so `bound` holds for all plans that are not evaluated.
        let mut x = vec![1; self.task.caps.len()];
        let total = vectors.len() as u64;
        let first = self.evaluated;
        for (position, &(bound, index)) in vectors.by_bound().iter().enumerate() {
            self.watch.checkpoint()?;
            self.take_offers(&mut scratch)?;
            let target = self.target();
            if !self.task.relaxed {
                self.watch.bound(cautious(bound).min(target));
                if position % 16 == 0 || bound >= target {
                    self.watch.report(EventBody::Solver(SolverStats {
                        unit: "allocs".to_owned(),
                        done: self.evaluated - first,
                        open: Some(if bound >= target { 0 } else { total - position as u64 }),
                        total: Some(total),
                        pruned: Some(if bound >= target { total - position as u64 } else { 0 }),
                        next_bound: Some(bound),
                        ..SolverStats::default()
                    }));
                }
            }
            // Fathoming: bounds ascend in the list, so neither this nor a later allocation can beat the best plan.
            if bound >= target {
                return Ok(bound);
            }
            // The circuits of the leaf links (see `Split`) are chosen optimally for the decided links, so one
            // evaluation gives the best makespan of this allocation.
            vectors.load(index, split, &mut x);
            let makespan = split.solve(&mut x, &mut free, &mut scratch);
            if self.best.as_ref().is_some_and(|best| best.x == x) {
                continue;
            }
            self.offer(&x, makespan, || format!("allocation {}", position + 1))?;
        }
        if !self.task.relaxed {
            let evaluated = self.evaluated - first;
            self.watch.report(EventBody::Solver(SolverStats {
                unit: "allocs".to_owned(),
                done: evaluated,
                open: Some(0),
                total: Some(total),
                pruned: Some(0),
                ..SolverStats::default()
            }));
        }
        Ok(self.target())
    }
}

#[cfg(test)]
mod tests;
