//! Better schedules for given circuits if transfers compete before the end of the iteration
//! (docs/methods/training-exact.md, section 9).
//!
//! For a fixed order of the starts and ends of contended tasks, the best rates follow from a linear program over event
//! times and the volumes between events (rows of DELTA Eq. 3-18 without binaries; only intervals in which a task runs
//! have a volume). The search over orders starts from simulated schedules. If several events are at the same time in a
//! solution, the search tries to move one past another, the move with the best price first. If no move helps any more,
//! it restarts from a perturbed order.
//!
//! The result is the best schedule found, not a proof; it is never worse than the starting schedules.

mod competition;
mod events;
mod moves;
mod program;
mod realise;
mod solver;

use crate::search::circuits::{Circuits, Proposal};
use crate::simulate::evaluate::{Evaluator, Scratch};
use crate::simulate::iteration::Trace;
use competition::Competition;
use events::EventOrder;
use lightbay_core::event::{EventBody, SolverStats};
use lightbay_core::method::MethodError;
use lightbay_core::random::{Stream, Streams};
use lightbay_core::watch::{StopTest, Watch};
use moves::Pricing;
use rand::RngExt;
use rustc_hash::FxHashSet;
use solver::{Point, Solver};
use std::sync::Arc;

/// Number of the random stream that perturbs orders; streams 0, 1, ... belong to the islands of the genetic search.
pub const STREAM: u64 = (1 << 32) + 1;

/// Relative difference below which two makespans count as equal. Programs are solved to 1e-9 units at makespans of
/// about 1000 units, so their relative error is a thousandth of this difference.
const SAME: f64 = 1e-9;

/// Number of linear programs between two reports of progress.
const REPORT_EVERY: u64 = 8;

/// Limits of the search.
#[derive(Clone, Debug)]
pub struct OrderLimits {
    /// Maximum number of linear programs.
    pub lps: u64,
    /// Number of moves in a row without improvement that triggers a restart.
    pub swaps: u64,
    /// Number of restarts from a perturbed order.
    pub restarts: u64,
    /// Lower bound on the makespan, seconds; the search ends when it is reached.
    pub target: f64,
    /// Random numbers of the perturbations.
    pub stream: Stream,
}

impl OrderLimits {
    /// Reads the limits that may change while the search runs, by the names of their parameters.
    pub(crate) fn revise(&mut self, live: impl Fn(&str) -> Option<i64>) {
        let limit = |name: &str, default: u64| {
            live(name).and_then(|value| u64::try_from(value).ok()).unwrap_or(default)
        };
        self.lps = limit("lps", self.lps);
        self.restarts = limit("restarts", self.restarts);
    }
}

impl Default for OrderLimits {
    fn default() -> Self {
        Self { lps: 1000, swaps: 40, restarts: 24, target: 0.0, stream: Streams::new(0).stream(STREAM) }
    }
}

/// Result of a search over event orders.
#[derive(Clone, Debug)]
pub struct Improved {
    /// The best schedule: one of the given schedules, or a better schedule.
    pub trace: Arc<Trace>,
    /// Makespan of this schedule, seconds.
    pub makespan: f64,
    /// Number of linear programs solved.
    pub lps: u64,
    /// Number of simplex iterations of the linear programs.
    pub iterations: u64,
    /// Number of moves discarded by their prices, without a linear program.
    pub pruned: u64,
    /// `true` if the limit of linear programs ended the search.
    pub cut_short: bool,
}

/// Improves schedules on circuits `x`. `starts` are complete schedules on these circuits, at least one.
///
/// # Errors
/// The reason to stop, a failure of the solver, or no schedule to start from; schedules found until then have been
/// reported to `watch`.
pub fn improve<W: Watch<Proposal>>(
    evaluator: &Evaluator,
    x: &[u32],
    starts: &[Trace],
    limits: OrderLimits,
    watch: &mut W,
) -> Result<Improved, MethodError> {
    let Some(shortest) = starts.iter().min_by(|a, b| a.makespan.total_cmp(&b.makespan)) else {
        return Err(MethodError::Failed("no schedule was given to start from".to_owned()));
    };
    let best = Arc::new(shortest.clone());
    // Only contended tasks can gain from another order; the others have fixed durations.
    let competition = Competition::new(evaluator, x, best.makespan);
    let bound = evaluator.bound(x, &mut Scratch::default());
    // Three lower bounds on all orders; the search ends when the largest one is reached.
    let target = limits.target.max(bound).max(competition.floor * competition.unit_s);
    let mut search = OrderSearch {
        evaluator,
        x,
        competition,
        target,
        best,
        limits,
        solver: Solver::new(StopTest::from(watch.stop_test())),
        pricing: Pricing::default(),
        seen: FxHashSet::default(),
        reported: 0,
        watch,
    };
    let cut_short = if search.competition.rivals.is_empty() { false } else { search.run(starts)? };
    search.report();
    Ok(Improved {
        makespan: search.best.makespan,
        lps: search.solver.effort.lps,
        iterations: search.solver.effort.iterations,
        pruned: search.pricing.pruned,
        cut_short,
        trace: search.best,
    })
}

struct OrderSearch<'a, W: Watch<Proposal>> {
    evaluator: &'a Evaluator,
    x: &'a [u32],
    competition: Competition,
    target: f64,
    best: Arc<Trace>,
    limits: OrderLimits,
    solver: Solver,
    pricing: Pricing,
    seen: FxHashSet<u64>,
    reported: u64,
    watch: &'a mut W,
}

impl<W: Watch<Proposal>> OrderSearch<'_, W> {
    /// Runs the search; returns `true` if the limit of linear programs was reached.
    fn run(&mut self, starts: &[Trace]) -> Result<bool, MethodError> {
        // One linear program covers one event order; its value is the best of that order (the rows of DELTA Eq. 5-18
        // without binaries). The search is over orders.
        let mut base: Option<Point> = None;
        // Start orders: one per simulated schedule, equal orders are solved once.
        for (index, start) in starts.iter().enumerate() {
            let order = EventOrder::of(start, &self.competition);
            if self.seen.contains(&order.fingerprint()) {
                continue;
            }
            if self.over()? {
                return Ok(self.spent());
            }
            let source = if index == 0 { "event order" } else { "event order of another start" };
            if let Some(point) = self.solve(order, None, source)? {
                let point = self.descend(point)?;
                // The best local optimum becomes the base of the perturbations.
                base = Some(match base {
                    Some(known) if known.makespan <= point.makespan => known,
                    _ => point,
                });
            }
        }
        let Some(mut base) = base else { return Ok(false) };
        let mut restarts = 0;
        // Iterated local search: perturb the order, descend, and keep the better of the two local optima.
        while restarts < self.limits.restarts {
            if self.over()? {
                return Ok(self.spent());
            }
            restarts += 1;
            // If no single move improves an order, several events are moved at once, and the descent restarts.
            let Some(order) = self.disturbed(&base.order) else { return Ok(false) };
            let Some(point) = self.solve(order, Some(&base), "disturbed event order")? else { continue };
            let point = self.descend(point)?;
            // Ties are accepted, so that perturbations do not return to the same neighbourhood.
            if point.makespan <= base.makespan {
                base = point;
            }
        }
        Ok(false)
    }

    /// Returns `true` if the target or the limit of linear programs is reached.
    fn over(&mut self) -> Result<bool, MethodError> {
        self.watch.checkpoint()?;
        self.limits.revise(|name| self.watch.live(name));
        Ok(self.best.makespan <= self.target * (1.0 + SAME) || self.spent())
    }

    fn spent(&self) -> bool {
        self.solver.effort.lps >= self.limits.lps
    }

    /// Solves an order and reports its schedule if this schedule is the best so far.
    fn solve(
        &mut self,
        order: EventOrder,
        near: Option<&Point>,
        source: &str,
    ) -> Result<Option<Point>, MethodError> {
        self.seen.insert(order.fingerprint());
        let standing = near.map(|point| &point.standing);
        let before = self.solver.effort.lps;
        let point = self.solver.solve(&self.competition, order, standing)?;
        self.watch.count(self.solver.effort.lps - before);
        if self.solver.effort.lps >= self.reported + REPORT_EVERY {
            self.report();
        }
        let Some(point) = point else { return Ok(None) };
        // The program's makespan is exact to solver tolerance; the schedule is rebuilt and evaluated by its own times.
        if point.makespan * self.competition.unit_s < self.best.makespan * (1.0 - SAME) {
            let trace = Arc::new(realise::trace(self.evaluator, self.x, &self.competition, &point));
            if trace.makespan < self.best.makespan {
                let found = Circuits {
                    x: self.x.to_vec(),
                    makespan: trace.makespan,
                    ports: self.evaluator.network.budget.total(self.x),
                };
                self.watch.found(Proposal { circuits: found, schedule: Some(Arc::clone(&trace)) }, source)?;
                // The rebuilt schedule is kept, because it is feasible regardless of solver tolerances.
                self.best = trace;
            }
        }
        Ok(Some(point))
    }

    /// Moves events while this helps; continues over equally good orders until too many moves in a row fail.
    fn descend(&mut self, start: Point) -> Result<Point, MethodError> {
        let mut at = start;
        let mut vain = 0;
        'orders: loop {
            // Dual prices of the program show which neighbours may gain; they are tried in that order.
            let moves = self.pricing.moves(&self.competition, self.evaluator, &at);
            let mut level: Option<Point> = None;
            for step in moves {
                if self.seen.contains(&step.order.fingerprint()) {
                    continue;
                }
                if self.over()? || vain >= self.limits.swaps {
                    return Ok(at);
                }
                let Some(point) = self.solve(step.order, Some(&at), "moved event")? else { continue };
                // First improvement: neighbours come in the order of their dual gain, so the first one is usually the
                // best.
                if point.makespan < at.makespan * (1.0 - SAME) {
                    at = point;
                    vain = 0;
                    continue 'orders;
                }
                vain += 1;
                // Many orders are equally good; without crossing such plateaus the descent ends too early.
                if level.is_none() && point.makespan <= at.makespan * (1.0 + SAME) {
                    level = Some(point);
                }
            }
            match level {
                Some(point) => at = point,
                None => return Ok(at),
            }
        }
    }

    /// Returns a new order near a given order: a few events are moved by a few places; `None` if none was found.
    fn disturbed(&mut self, order: &EventOrder) -> Option<EventOrder> {
        let count = order.events.len();
        // 100 attempts: on instances with few events nearly all nearby orders have been seen, which ends the restarts.
        for _ in 0..100 {
            let mut other = order.clone();
            // One to three moves of at most four places: large enough to leave a local optimum, and small enough to
            // keep most of its quality.
            let wanted = self.limits.stream.random_range(1..=3u32);
            let mut done = 0;
            for _ in 0..20 {
                let from = self.limits.stream.random_range(0..count);
                let to =
                    (from + self.limits.stream.random_range(0..=8usize)).saturating_sub(4).min(count - 1);
                if from == to {
                    continue;
                }
                // A move that the DAG forbids is dropped; the others keep the order feasible.
                if let Some(moved) = other.moved(from, to, &self.competition, self.evaluator) {
                    other = moved;
                    done += 1;
                }
                if done >= wanted {
                    break;
                }
            }
            if !self.seen.contains(&other.fingerprint()) {
                return Some(other);
            }
        }
        None
    }

    fn report(&mut self) {
        let effort = self.solver.effort;
        self.reported = effort.lps;
        self.watch.report(EventBody::Solver(SolverStats {
            unit: "LPs".to_owned(),
            stage: "event orders".to_owned(),
            done: effort.lps,
            total: Some(self.limits.lps),
            pruned: Some(self.pricing.pruned),
            lp_iterations: Some(effort.iterations),
            ..SolverStats::default()
        }));
    }
}

#[cfg(test)]
mod tests;
