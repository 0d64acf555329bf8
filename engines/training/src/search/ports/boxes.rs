//! Branch and bound over boxes of allocations for the fewest ports with which the makespan is at most a given limit.
//!
//! More circuits never lengthen an iteration under joint rates, so if an allocation keeps the makespan, every
//! allocation with more circuits also keeps it. A box has a lowest and a highest allocation. A box holds an allocation
//! within the limit only if its highest allocation is within the limit, and no allocation of the box has fewer ports
//! than its lowest allocation. Tightening raises the lowest count of every link to the smallest count with which the
//! highest allocation still keeps the limit. A box whose lowest allocation keeps the limit is decided
//! (docs/methods/training-search.md, section 12).

use crate::search::allocations::VectorTask;
use crate::search::circuits::{Circuits, Proposal};
use crate::search::frontier::Open;
use crate::simulate::evaluate::{Evaluator, Rates, Scratch};
use lightbay_core::method::MethodError;
use lightbay_core::watch::Watch;
use std::collections::BinaryHeap;

/// Lowest and highest number of circuits of every link.
#[derive(Clone, Debug)]
struct Corners {
    low: Vec<u32>,
    high: Vec<u32>,
}

struct PortSearch<'a> {
    evaluator: &'a Evaluator,
    rates: Rates,
    /// Maximum makespan of an allocation, seconds.
    limit_s: f64,
    scratch: Scratch,
    /// Number of makespans computed.
    evaluated: u64,
}

impl PortSearch<'_> {
    fn keeps(&mut self, x: &[u32]) -> bool {
        self.evaluated += 1;
        self.evaluator.makespan(x, self.rates, &mut self.scratch) <= self.limit_s
    }

    /// Tightens a box; returns `false` if none of its allocations fits the ports and keeps the makespan.
    fn tighten(&mut self, corners: &mut Corners) -> bool {
        let budget = &self.evaluator.network.budget;
        let Corners { low, high } = corners;
        loop {
            // Every allocation has at least `low`, so a link can add only what `low` leaves free.
            let free = budget.free(low);
            if free.iter().any(|free| *free < 0) {
                return false;
            }
            for link in 0..low.len() {
                let room = u32::try_from(budget.room(link, &free)).unwrap_or(u32::MAX);
                high[link] = high[link].min(low[link].saturating_add(room));
            }
            let mut x = high.clone();
            if !self.keeps(&x) {
                return false;
            }
            let mut raised = false;
            for link in 0..low.len() {
                // Bisection for the smallest count that keeps the makespan; the highest count keeps it.
                let (mut least, mut most) = (low[link], high[link]);
                while least < most {
                    x[link] = u32::midpoint(least, most);
                    if self.keeps(&x) {
                        most = x[link];
                    } else {
                        least = x[link] + 1;
                    }
                }
                x[link] = high[link];
                raised |= least > low[link];
                low[link] = least;
            }
            // Raising `low` leaves fewer free ports, which may reduce `high` again.
            if !raised {
                return true;
            }
        }
    }
}

/// Minimises the ports of `best` while its makespan is at most `limit_s`. Returns `true` if it is proven that no such
/// allocation has fewer ports.
///
/// # Errors
/// The reason to stop.
pub(super) fn search<W: Watch<Proposal>>(
    task: VectorTask<'_>,
    best: &mut Circuits,
    limit_s: f64,
    most_boxes: u64,
    watch: &mut W,
) -> Result<bool, MethodError> {
    let evaluator = task.evaluator;
    let budget = &evaluator.network.budget;
    let mut search =
        PortSearch { evaluator, rates: task.rates, limit_s, scratch: Scratch::default(), evaluated: 0 };
    let high = task.caps.iter().zip(&best.x).map(|(cap, circuits)| *cap.max(circuits)).collect();
    let corners = Corners { low: vec![1; best.x.len()], high };
    let mut open = BinaryHeap::from([Open { bound: 0.0, depth: 0, number: 0, part: corners }]);
    let (mut done, mut number) = (0, 0);
    while let Some(mut node) = open.pop() {
        watch.checkpoint()?;
        // Bounds are numbers of ports, so the first box that is not below the best plan ends the search.
        if node.bound >= best.ports as f64 {
            return Ok(true);
        }
        if done >= most_boxes {
            return Ok(false);
        }
        done += 1;
        let inside = search.tighten(&mut node.part);
        watch.count(std::mem::take(&mut search.evaluated));
        let Corners { low, high } = &node.part;
        let ports = budget.total(low);
        if !inside || ports >= best.ports {
            continue;
        }
        let makespan = evaluator.makespan(low, task.rates, &mut search.scratch);
        if makespan <= limit_s {
            *best = Circuits { ports, makespan, x: low.clone() };
            continue;
        }
        // Splits the link with the widest range in ports, because this changes the bound or the highest allocation of
        // the halves most.
        let widest = |link: &usize| budget.cost(*link) * u64::from(high[*link] - low[*link]);
        let Some(link) = (0..low.len()).max_by_key(widest).filter(|link| high[*link] > low[*link]) else {
            continue;
        };
        let middle = u32::midpoint(low[link], high[link]);
        let (mut lower, mut upper) = (node.part.clone(), node.part);
        lower.high[link] = middle;
        upper.low[link] = middle + 1;
        for part in [lower, upper] {
            number += 1;
            let bound = budget.total(&part.low) as f64;
            open.push(Open { bound, depth: node.depth + 1, number, part });
        }
    }
    Ok(true)
}
