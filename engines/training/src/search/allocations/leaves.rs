//! Links whose circuits the search decides, and the computation of the best circuits of the other links (sink links).

use super::VectorTask;
use crate::simulate::evaluate::{Rates, Scratch};

/// Links, split into links whose circuits are searched (decided links) and links whose circuits follow from the decided
/// circuits.
#[derive(Clone, Debug)]
pub(crate) struct Split<'a> {
    pub task: VectorTask<'a>,
    /// Links decided by the search.
    pub decided: Vec<u32>,
    /// Sink links, whose circuits follow from the circuits of the decided links.
    pub leaves: Vec<u32>,
    /// `true` if no real pod has two sink links, so that each sink link gets all remaining ports.
    private: bool,
    /// `true` if the path model gives the makespan; otherwise a simulation is needed.
    pub modelled: bool,
}

impl<'a> Split<'a> {
    pub fn new(task: VectorTask<'a>) -> Self {
        let evaluator = task.evaluator;
        let modelled = task.relaxed || evaluator.exact(task.rates);
        let model = &evaluator.model;
        let (decided, leaves) = if modelled {
            (model.through().to_vec(), model.leaves().to_vec())
        } else {
            let mut all: Vec<u32> = model.through().iter().chain(model.leaves()).copied().collect();
            all.sort_unstable();
            (all, Vec::new())
        };
        let budget = &evaluator.network.budget;
        // If no pod has two leaves, they cannot compete, and each takes the remaining ports.
        let private = (0..budget.pods())
            .all(|pod| budget.links_at(pod).iter().filter(|(link, _)| leaves.contains(link)).count() <= 1);
        Self { task, decided, leaves, private, modelled }
    }

    pub fn rates(&self) -> Rates {
        if self.task.relaxed { Rates::Level } else { self.task.rates }
    }

    /// Maximum number of circuits of a link if the other links keep their circuits; `free` are the ports that `x`
    /// leaves.
    fn most(&self, link: u32, x: &[u32], free: &[i64]) -> u32 {
        let budget = &self.task.evaluator.network.budget;
        let link = link as usize;
        let room = budget.room(link, free).max(0);
        self.task.caps[link].min(x[link].saturating_add(u32::try_from(room).unwrap_or(u32::MAX))).max(1)
    }

    /// A lower bound on the makespan of all allocations that have the decided circuits of `x`. In `x`, every sink link
    /// must have one circuit.
    pub fn bound(&self, x: &[u32], free: &mut Vec<i64>, scratch: &mut Scratch) -> f64 {
        let evaluator = self.task.evaluator;
        if !self.modelled {
            return evaluator.bound(x, scratch);
        }
        let model = &evaluator.model;
        // The bound is the maximum of the longest path and of the quick bounds of all links.
        let mut bound = model.start(x, &mut scratch.model);
        for &link in &self.decided {
            bound = bound.max(model.link_bound(link, x[link as usize], &mut scratch.model));
        }
        evaluator.network.budget.free_into(x, free);
        // Each leaf gets all free ports of its pods, which is at least what any completion can give it.
        for &link in &self.leaves {
            let most = self.most(link, x, free);
            bound = bound.max(model.link_bound(link, most, &mut scratch.model));
        }
        bound
    }

    /// Chooses the best circuits of the sink links for the decided circuits of `x`, writes them to `x`, and returns the
    /// makespan. At the call, every sink link of `x` must have one circuit.
    pub fn solve(&self, x: &mut [u32], free: &mut Vec<i64>, scratch: &mut Scratch) -> f64 {
        let evaluator = self.task.evaluator;
        if !self.modelled {
            return evaluator.makespan(x, self.task.rates, scratch);
        }
        let (model, rates) = (&evaluator.model, self.rates());
        // Start times depend only on the decided links.
        let mut end = model.start(x, &mut scratch.model);
        for &link in &self.decided {
            end = end.max(model.link_end(link, x[link as usize], rates, &mut scratch.model));
        }
        let budget = &evaluator.network.budget;
        budget.free_into(x, free);
        // No pod has two leaves: every leaf can take the remaining ports without a conflict.
        if self.private {
            for &link in &self.leaves {
                let most = self.most(link, x, free);
                budget.take(link as usize, i64::from(most - x[link as usize]), free);
                x[link as usize] = most;
                end = end.max(model.link_end(link, most, rates, &mut scratch.model));
            }
            return end;
        }
        // The link that ends last must get more circuits in any better completion. So adding a circuit to it never
        // exceeds the counts of the best completion. The loop ends when this link cannot get another circuit.
        let mut ends: Vec<(f64, u32)> = self
            .leaves
            .iter()
            .map(|&link| (model.link_end(link, x[link as usize], rates, &mut scratch.model), link))
            .collect();
        let mut stuck = end;
        while let Some(worst) =
            (0..ends.len()).max_by(|&a, &b| ends[a].0.total_cmp(&ends[b].0).then(ends[b].1.cmp(&ends[a].1)))
        {
            let link = ends[worst].1;
            if self.most(link, x, free) > x[link as usize] {
                x[link as usize] += 1;
                budget.take(link as usize, 1, free);
                ends[worst].0 = model.link_end(link, x[link as usize], rates, &mut scratch.model);
            } else {
                // The end of this leaf is final. Other leaves may still use the remaining ports, although the makespan
                // does not depend on these leaves.
                stuck = stuck.max(ends[worst].0);
                ends.swap_remove(worst);
            }
        }
        stuck
    }

    /// Sets every sink link of `x` to the minimum number of circuits with which it ends by `limit`, and returns the
    /// latest end of these links; `None` if some sink link cannot end by then. Needs the start times of the decided
    /// circuits in `scratch`.
    pub fn fewest(&self, x: &mut [u32], limit: f64, scratch: &mut Scratch) -> Option<f64> {
        let (model, rates) = (&self.task.evaluator.model, self.rates());
        // Ends never grow with circuits, so bisection finds the smallest count that meets the limit.
        let mut latest = 0.0f64;
        for &link in &self.leaves {
            let (mut low, mut high) = (1, self.task.caps[link as usize].max(1));
            let end = model.link_end(link, high, rates, &mut scratch.model);
            if end > limit {
                return None;
            }
            let mut end_at_high = end;
            while low < high {
                let middle = u32::midpoint(low, high);
                let end = model.link_end(link, middle, rates, &mut scratch.model);
                if end <= limit {
                    (high, end_at_high) = (middle, end);
                } else {
                    low = middle + 1;
                }
            }
            x[link as usize] = high;
            latest = latest.max(end_at_high);
        }
        Some(latest)
    }
}
