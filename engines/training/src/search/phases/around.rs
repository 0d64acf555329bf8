//! A lower bound on the iteration time for any number of reconfigurations; it follows from the dark time of circuits
//! that change around the end of the iteration.
//!
//! Circuits that carry at some time t after the start must have been set in the last part of the previous iteration,
//! whose length is the dark time minus t. So if every decided link has at most x circuits until t, then the last
//! transfers have only the ports that x leaves in that last part. The minimum iteration time under these two limits,
//! over all x, is a bound. This bound is computed by branch and bound over boxes of x; the result is the best bound
//! over several t.

use super::{Movable, MoveTask};
use crate::simulate::evaluate::{Lit, Scratch};
use lightbay_core::method::MethodError;
use lightbay_core::watch::Watch;

/// Number of times t to try.
const TIMES: u32 = 6;
/// Maximum number of boxes per time t.
const BOXES: usize = 2_000;
/// Maximum number of bisection steps that find the shortest period that is at least the makespan for this period.
const HALVINGS: usize = 40;

/// An open box: ranges of circuits of decided links.
struct OpenBox {
    bound_s: f64,
    low: Vec<u32>,
    high: Vec<u32>,
}

/// Lower bound on the period for any number of reconfigurations, seconds; at least the makespan on the ideal network,
/// and at most `task.known`.
///
/// # Errors
/// The reason to stop.
pub fn least_period<S, W: Watch<S>>(task: MoveTask<'_>, watch: &mut W) -> Result<f64, MethodError> {
    let mut least_s = task.evaluator.ideal.makespan().min(task.known);
    let ready_s = task.evaluator.network.ready_s();
    let movable = Movable::new(task);
    if task.delay_s <= ready_s || movable.decided.is_empty() {
        return Ok(least_s);
    }
    for at in 1..=TIMES {
        let share = f64::from(at) / f64::from(TIMES + 1);
        let until_s = ready_s + share * (task.delay_s - ready_s);
        let mut around =
            Around { task, movable: &movable, until_s, lit: Lit::default(), scratch: Scratch::default() };
        least_s = least_s.max(around.least(least_s, watch)?);
    }
    Ok(least_s)
}

/// Computation of the bound for one time t.
struct Around<'a, 'm> {
    task: MoveTask<'a>,
    movable: &'m Movable,
    until_s: f64,
    lit: Lit,
    scratch: Scratch,
}

impl Around<'_, '_> {
    /// The minimum iteration time over all x, or a lower bound on this minimum; `known_s` is a known lower bound.
    fn least<S, W: Watch<S>>(&mut self, known_s: f64, watch: &mut W) -> Result<f64, MethodError> {
        let high = self.movable.most();
        let low = vec![0; high.len()];
        let mut open = vec![OpenBox { bound_s: self.bound_s(&low, &high), low, high }];
        for _ in 0..BOXES {
            watch.checkpoint()?;
            watch.count(1);
            let first = (0..open.len()).min_by(|a, b| open[*a].bound_s.total_cmp(&open[*b].bound_s));
            let Some(OpenBox { bound_s, low, high }) = first.map(|first| open.swap_remove(first)) else {
                return Ok(self.task.known);
            };
            let width = |link: &usize| high[*link] - low[*link];
            let link = (0..low.len()).max_by_key(width).filter(|link| width(link) > 0);
            let Some(link) = link.filter(|_| bound_s < self.task.known) else {
                return Ok(bound_s.clamp(known_s, self.task.known));
            };
            let middle = u32::midpoint(low[link], high[link]);
            let (mut lower, mut upper) = ((low.clone(), high.clone()), (low, high));
            lower.1[link] = middle;
            upper.0[link] = middle + 1;
            for (low, high) in [lower, upper] {
                let own_s = self.bound_s(&low, &high).max(bound_s);
                open.push(OpenBox { bound_s: own_s, low, high });
            }
        }
        let least_s = open.iter().map(|open| open.bound_s).fold(f64::INFINITY, f64::min);
        Ok(least_s.clamp(known_s, self.task.known))
    }

    /// Lower bound on the iteration time if the circuits until t are within a box; infinite if no circuits of the box
    /// fit the ports.
    fn bound_s(&mut self, low: &[u32], high: &[u32]) -> f64 {
        let network = &self.task.evaluator.network;
        let most = self.movable.most();
        let (mut own, mut widest) = (Vec::new(), Vec::new());
        if self.movable.widest(network, low, high, &mut own).is_none()
            || self.movable.widest(network, &vec![0; most.len()], &most, &mut widest).is_none()
        {
            return f64::INFINITY;
        }
        // At the start of the iteration, only decided links are limited to the counts of the box; at the end, only the
        // other links.
        let (mut start, mut end) = (widest.clone(), own.clone());
        for link in &self.movable.decided {
            (start[*link], end[*link]) = (own[*link], widest[*link]);
        }
        let last_s = self.task.delay_s - self.until_s;
        let mut run = |period_s: f64| {
            let (times, circuits) = (&mut self.lit.times, &mut self.lit.circuits);
            times.clear();
            circuits.clear();
            for (time_s, state) in [(0.0, &start), (self.until_s, &widest), (period_s - last_s, &end)] {
                if times.last().is_none_or(|last| *last < time_s) {
                    times.push(time_s);
                    circuits.extend_from_slice(state);
                }
            }
            self.task.evaluator.model.makespan_over(&self.lit, &mut self.scratch.model)
        };
        // The end of the iteration falls as the period grows, so the shortest feasible period lies between any period
        // and the end that this period gives.
        let (mut low_s, mut high_s) = (run(f64::INFINITY), self.task.known);
        if low_s >= high_s || run(high_s) > high_s {
            return self.task.known;
        }
        for _ in 0..HALVINGS {
            let middle = f64::midpoint(low_s, high_s);
            if high_s - low_s <= 1e-9 * high_s {
                break;
            }
            if run(middle) > middle { low_s = middle } else { high_s = middle }
        }
        low_s
    }
}
