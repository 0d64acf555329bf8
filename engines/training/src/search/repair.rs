//! Feasible circuit allocations: random (DELTA Alg. 5), repaired (DELTA Alg. 6) and filled up to the ports.

use crate::model::budget::Budget;
use lightbay_core::random::Stream;
use rand::RngExt;
use rand::seq::SliceRandom;

/// Number of the random stream that repairs plans of other runs; streams 0, 1, ... belong to the islands of the genetic
/// search.
pub(crate) const REPAIR_STREAM: u64 = 1 << 32;

/// Limits of every allocation: ports and useful circuits.
#[derive(Clone, Copy, Debug)]
pub struct PortLimits<'a> {
    /// Ports of the pods and port cost of circuits.
    pub budget: &'a Budget,
    /// Maximum number of circuits of every link.
    pub caps: &'a [u32],
}

/// Reused buffers of [`PortLimits::random`] and [`PortLimits::repair`].
#[derive(Clone, Debug, Default)]
pub struct RepairScratch {
    free: Vec<i64>,
    order: Vec<u32>,
    over: Vec<u32>,
}

impl PortLimits<'_> {
    /// Fills `x` with a random feasible allocation: links in random order, each with a count from one to the maximum
    /// that leaves one circuit for every later link.
    pub fn random(&self, x: &mut [u32], random: &mut Stream, scratch: &mut RepairScratch) {
        x.fill(1);
        self.budget.free_into(x, &mut scratch.free);
        scratch.order.clear();
        scratch.order.extend(0..x.len() as u32);
        // In a fixed order the later links would always get only the ports that the earlier ones left.
        scratch.order.shuffle(random);
        for &link in &scratch.order {
            let link = link as usize;
            let room = self.budget.room(link, &scratch.free).clamp(0, i64::from(u32::MAX) - 1) as u32;
            // Every link has one circuit from the start, so all free ports can be used.
            let most = self.caps[link].min(1 + room).max(1);
            x[link] = random.random_range(1..=most);
            self.budget.take(link, i64::from(x[link]) - 1, &mut scratch.free);
        }
    }

    /// Clamps `x` to the limits, then takes circuits from random links of overfull pods (DELTA Alg. 6). Returns `false`
    /// if a pod cannot be brought within its ports.
    pub fn repair(&self, x: &mut [u32], random: &mut Stream, scratch: &mut RepairScratch) -> bool {
        // Clamping first: a gene may have left its range by mutation.
        for (circuits, &cap) in x.iter_mut().zip(self.caps) {
            *circuits = (*circuits).clamp(1, cap.max(1));
        }
        self.budget.free_into(x, &mut scratch.free);
        loop {
            scratch.over.clear();
            scratch.over.extend((0..scratch.free.len() as u32).filter(|pod| scratch.free[*pod as usize] < 0));
            if scratch.over.is_empty() {
                return true;
            }
            // A random pod and a random link: fixed choices would pull all children to the same allocations.
            let pod = scratch.over[random.random_range(0..scratch.over.len())] as usize;
            scratch.order.clear();
            let reducible = self.budget.links_at(pod).iter().map(|(link, _)| *link);
            scratch.order.extend(reducible.filter(|link| x[*link as usize] > 1));
            // One circuit per link is the minimum; a pod that is overfull with these cannot be repaired.
            if scratch.order.is_empty() {
                return false;
            }
            let link = scratch.order[random.random_range(0..scratch.order.len())] as usize;
            x[link] -= 1;
            self.budget.take(link, -1, &mut scratch.free);
        }
    }

    /// Uses free ports, one circuit at a time for the link with the smallest number of circuits divided by its cap.
    pub fn fill(&self, x: &mut [u32], free: &mut Vec<i64>) {
        // Water-filling by circuits divided by the cap; it ends when no link fits, so the allocation is maximal.
        self.budget.free_into(x, free);
        loop {
            let mut next: Option<usize> = None;
            for link in 0..x.len() {
                let share = |l: usize| f64::from(x[l]) / f64::from(self.caps[l]);
                let fits = x[link] < self.caps[link] && self.budget.room(link, free) >= 1;
                if fits && next.is_none_or(|best| share(link) < share(best)) {
                    next = Some(link);
                }
            }
            let Some(link) = next else { return };
            x[link] += 1;
            self.budget.take(link, 1, free);
        }
    }
}

#[cfg(test)]
mod tests;
