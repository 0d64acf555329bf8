//! Branch and bound over boxes of circuit allocations, for instances with many links.
//!
//! A box has a lowest and a highest allocation of decided circuits. The bound of the box is the makespan if every link
//! has the maximum number of circuits that it can have while all other links have their minimum. This bound is valid
//! because, at joint rates, more circuits never increase the makespan. A link is open if its lowest and highest count
//! differ. Under joint rates a box is decided as soon as the highest counts of all links fit the ports of every pod
//! with open links, because these counts are then the best ones of the box.

use super::{Split, State, cautious};
use crate::search::circuits::Proposal;
use crate::search::frontier::Open;
use crate::simulate::evaluate::{Rates, Scratch};
use lightbay_core::event::{EventBody, SolverStats};
use lightbay_core::method::MethodError;
use lightbay_core::watch::Watch;
use std::collections::BinaryHeap;

/// Maximum number of open boxes that are kept sorted; above it, the search is depth-first. The default of `boxes` is
/// the same number, so the search becomes depth-first only if `boxes` is larger; a depth-first search keeps the memory
/// bounded.
const SORTED: usize = 200_000;

/// Lowest and highest number of circuits of every decided link.
#[derive(Clone, Debug)]
struct Corners {
    low: Box<[u32]>,
    high: Box<[u32]>,
}

/// Result of evaluating a box.
enum BoxOutcome {
    /// The box must be split: its bound, and the position of the decided link to split.
    Open(f64, usize),
    /// The box is decided: makespan of its best allocation.
    Closed(f64),
}

struct BoxSearch<'a, 'b> {
    split: &'a Split<'b>,
    scratch: Scratch,
    free: Vec<i64>,
    x: Vec<u32>,
}

impl BoxSearch<'_, '_> {
    /// Lowers `high` to what fits the ports that `low` leaves free, and computes the bound of the box. If the box is
    /// decided, `self.x` has its best allocation of the decided links afterwards.
    fn look(&mut self, low: &[u32], high: &mut [u32]) -> BoxOutcome {
        // Invariant of a box: its allocations have at least `low`, so they can add at most the ports that `low` leaves
        // free.
        let split = self.split;
        let task = split.task;
        let budget = &task.evaluator.network.budget;
        self.x.fill(1);
        for (&link, &circuits) in split.decided.iter().zip(low) {
            self.x[link as usize] = circuits;
        }
        budget.free_into(&self.x, &mut self.free);
        let most = |link: u32, from: u32, cap: u32, free: &[i64]| {
            let room = u32::try_from(budget.room(link as usize, free).max(0)).unwrap_or(u32::MAX);
            cap.min(from.saturating_add(room))
        };
        for (position, &link) in split.decided.iter().enumerate() {
            high[position] = most(link, low[position], high[position], &self.free);
        }
        let leaf_most: Vec<u32> = split
            .leaves
            .iter()
            .map(|&link| most(link, 1, task.caps[link as usize], &self.free).max(1))
            .collect();
        // `x` now holds the upper corner, which may not fit.
        for (&link, &circuits) in split.decided.iter().zip(high.iter()) {
            self.x[link as usize] = circuits;
        }
        // Level-first ends are also lower bounds of fair ends, so one bound holds for both rates.
        let bound = if split.modelled {
            let model = &task.evaluator.model;
            let mut bound = model.start(&self.x, &mut self.scratch.model);
            for &link in &split.decided {
                let circuits = self.x[link as usize];
                bound = bound.max(model.link_end(link, circuits, Rates::Level, &mut self.scratch.model));
            }
            for (&link, &circuits) in split.leaves.iter().zip(&leaf_most) {
                bound = bound.max(model.link_end(link, circuits, Rates::Level, &mut self.scratch.model));
            }
            bound
        } else {
            task.evaluator.bound(&self.x, &mut self.scratch)
        };
        // If the highest allocation of the box fits, it is the best one, because more circuits never lengthen an
        // iteration at scheduled rates. Otherwise only links at a pod that this allocation overfills need to be split.
        // Find the pods with too few ports for the upper counts of all their links.
        for (&link, &circuits) in split.leaves.iter().zip(&leaf_most) {
            self.x[link as usize] = circuits;
        }
        budget.free_into(&self.x, &mut self.free);
        // If ends never grow with circuits, the upper corner represents the box; fair ends may grow with circuits.
        let monotone = split.modelled && split.rates() != Rates::Fair;
        let open = split.decided.iter().enumerate().position(|(position, &link)| {
            let contested = budget.ends(link as usize).iter().any(|end| self.free[end.pod as usize] < 0);
            low[position] < high[position] && (contested || !monotone)
        });
        for &link in &split.leaves {
            self.x[link as usize] = 1;
        }
        match open {
            Some(position) => BoxOutcome::Open(bound, position),
            None => BoxOutcome::Closed(bound),
        }
    }
}

/// Searches all boxes. Returns the final bound, and `true` if a limit ended the search before all boxes were evaluated.
pub(super) fn search<W: Watch<Proposal>>(
    split: &Split<'_>,
    state: &mut State<'_, W>,
) -> Result<(f64, bool), MethodError> {
    let mut search =
        BoxSearch { split, scratch: Scratch::default(), free: Vec::new(), x: vec![1; state.task.caps.len()] };
    let mut open: BinaryHeap<Open<Corners>> = BinaryHeap::new();
    let mut dive: Vec<Open<Corners>> = Vec::new();
    let caps: Box<[u32]> = split.decided.iter().map(|&link| state.task.caps[link as usize].max(1)).collect();
    // The root: all allocations between one circuit and the caps.
    let low: Box<[u32]> = split.decided.iter().map(|_| 1).collect();
    if !state.task.evaluator.network.budget.fits(&search.x) {
        return Ok((f64::INFINITY, false));
    }
    let (mut number, mut done, mut pruned) = (0u64, 0u64, 0u64);
    // No plan beats the ideal network if transfers share no NIC. If they do, a plan that delays one of them may end
    // earlier, and so may a relaxed plan, because the relaxation ignores shared NICs.
    let evaluator = state.task.evaluator;
    let shares = !evaluator.network.nic_groups.is_empty();
    let bound = if state.task.relaxed || shares { 0.0 } else { evaluator.ideal.makespan() };
    open.push(Open { bound, depth: 0, number, part: Corners { low, high: caps } });
    // Best-first by bound; deeper nodes first among equals, which finds plans early.
    while let Some(mut node) = dive.pop().or_else(|| open.pop()) {
        state.watch.checkpoint()?;
        state.take_offers(&mut search.scratch)?;
        done += 1;
        let least = dive.iter().map(|node| node.bound).fold(node.bound, f64::min);
        // All open nodes count: the queue, the dive, and the current node.
        let least = open.peek().map_or(least, |top| least.min(top.bound));
        if !state.task.relaxed {
            state.watch.bound(cautious(least).min(state.target()));
            if done % 64 == 1 {
                state.watch.report(EventBody::Solver(SolverStats {
                    unit: "boxes".to_owned(),
                    done,
                    open: Some((open.len() + dive.len()) as u64 + 1),
                    pruned: Some(pruned),
                    next_bound: Some(least),
                    ..SolverStats::default()
                }));
            }
        }
        // Pruned by bound.
        if node.bound >= state.target() {
            pruned += 1;
            continue;
        }
        // The limit of boxes is reached: the minimum bound of the open nodes still holds.
        if done > state.task.boxes {
            return Ok((cautious(least), true));
        }
        match search.look(&node.part.low, &mut node.part.high) {
            BoxOutcome::Open(bound, _) | BoxOutcome::Closed(bound) if bound >= state.target() => pruned += 1,
            BoxOutcome::Closed(_) => {
                // The counts of all decided links are fixed, so only the leaves remain.
                let makespan = split.solve(&mut search.x, &mut search.free, &mut search.scratch);
                state.offer(&search.x, makespan, || format!("box {done}"))?;
            }
            BoxOutcome::Open(bound, position) => {
                // Split in halves: the bound of the lower half rises, and the upper half often does not fit.
                let middle = u32::midpoint(node.part.low[position], node.part.high[position]);
                let mut left = node.clone();
                left.part.high[position] = middle;
                node.part.low[position] = middle + 1;
                // The lower half has the lowest allocation of the box, which is known to fit.
                let upper_fits = fits(split, &node.part.low);
                for (mut child, fits) in [(left, true), (node, upper_fits)] {
                    // Children inherit the bound; their own bound is computed when they are selected.
                    number += 1;
                    (child.bound, child.depth, child.number) = (bound, child.depth + 1, number);
                    // Memory stays bounded: beyond SORTED boxes the search is depth-first.
                    match (fits, open.len() < SORTED) {
                        (false, _) => pruned += 1,
                        (true, true) => open.push(child),
                        (true, false) => dive.push(child),
                    }
                }
            }
        }
    }
    if !state.task.relaxed {
        state.watch.report(EventBody::Solver(SolverStats {
            unit: "boxes".to_owned(),
            done,
            open: Some(0),
            pruned: Some(pruned),
            ..SolverStats::default()
        }));
    }
    // Nothing is open: the best plan is optimal.
    Ok((state.target(), false))
}

fn fits(split: &Split<'_>, low: &[u32]) -> bool {
    let mut x = vec![1; split.task.caps.len()];
    for (&link, &circuits) in split.decided.iter().zip(low) {
        x[link as usize] = circuits;
    }
    split.task.evaluator.network.budget.fits(&x)
}
