//! Branch and bound over boxes of circuit allocations, for scenarios with too many allocations to try one by one.
//!
//! A box has a range of circuits for every link. More circuits never lengthen an iteration, so the value of the largest
//! counts bounds every allocation of the box from below.

use super::vectors::Space;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Result of a search over boxes.
pub(super) struct Searched {
    /// No allocation has a lower value, seconds.
    pub least_s: f64,
    /// An allocation with this value, if the search ended with one.
    pub circuits: Option<Vec<u32>>,
    /// Number of evaluated allocations.
    pub evaluated: usize,
}

/// SearchEnd of a search over boxes.
pub(super) struct SearchEnd<'a> {
    /// Allocations of at least this value are not distinguished, seconds.
    pub within_s: f64,
    /// Maximum number of evaluated allocations.
    pub evaluations: usize,
    /// `true` once the time limit is reached.
    pub is_over: &'a dyn Fn() -> bool,
}

/// Smallest value over all allocations, or `within_s` if no allocation has a lower value. A search that a limit ends
/// returns the smallest bound of its open boxes.
pub(super) fn least(space: &Space, limits: &SearchEnd<'_>, value_s: &dyn Fn(&[u32]) -> f64) -> Searched {
    let mut search = BoxSearch { space, limits, value_s, evaluated: 0 };
    let whole = AllocationBox { value_s: 0.0, low: vec![1; space.most.len()], high: space.most.clone() };
    let mut open = BinaryHeap::new();
    open.extend(search.shrunk(whole));
    // Best first. Invariant: every allocation below `within_s` lies in an open box, whose value bounds it.
    while let Some(lowest) = open.pop() {
        let split = search.branch(&lowest);
        if split.is_none() || search.is_out() {
            let circuits = split.is_none().then_some(lowest.high);
            return Searched { least_s: lowest.value_s, circuits, evaluated: search.evaluated };
        }
        let Some((link, middle)) = split else { continue };
        let mut few = AllocationBox { value_s: 0.0, low: lowest.low.clone(), high: lowest.high.clone() };
        few.high[link] = middle;
        let mut many = lowest;
        many.low[link] = middle + 1;
        open.extend(search.shrunk(many));
        open.extend(search.shrunk(few));
    }
    Searched { least_s: limits.within_s, circuits: None, evaluated: search.evaluated }
}

struct BoxSearch<'a> {
    space: &'a Space,
    limits: &'a SearchEnd<'a>,
    value_s: &'a dyn Fn(&[u32]) -> f64,
    evaluated: usize,
}

impl BoxSearch<'_> {
    fn is_out(&self) -> bool {
        self.evaluated >= self.limits.evaluations || (self.limits.is_over)()
    }

    fn value(&mut self, circuits: &[u32]) -> f64 {
        self.evaluated += 1;
        (self.value_s)(circuits)
    }

    /// Tightens the ranges of a box until nothing changes; `None` if no allocation of the box fits the ports and has a
    /// value below `within_s`.
    fn shrunk(&mut self, mut of: AllocationBox) -> Option<AllocationBox> {
        let within_s = self.limits.within_s;
        loop {
            // Ports: the fewest circuits of all other links leave this room.
            let free = self.space.free_after(&of.low)?;
            for link in 0..of.low.len() {
                let room = self.space.room(link, of.low[link], &free);
                of.high[link] = of.high[link].min(of.low[link] + room);
            }
            if of.low.iter().zip(&of.high).any(|(low, high)| low > high) {
                return None;
            }
            of.value_s = self.value(&of.high);
            if of.value_s >= within_s {
                return None;
            }
            // Time: the fewest circuits with which the link still ends in time if all other links have the most.
            let mut raised = false;
            for link in 0..of.low.len() {
                let (mut below, most) = (of.low[link], of.high[link]);
                if below == most || within_s.is_infinite() || self.is_out() {
                    continue;
                }
                let mut with = |search: &mut Self, count: u32| {
                    of.high[link] = count;
                    let value_s = search.value(&of.high);
                    of.high[link] = most;
                    value_s < within_s
                };
                if with(self, below) {
                    continue;
                }
                let mut enough = most;
                while enough - below > 1 {
                    let middle = below.midpoint(enough);
                    if with(self, middle) { enough = middle } else { below = middle }
                }
                of.low[link] = enough;
                raised = true;
            }
            if !raised {
                return Some(of);
            }
        }
    }

    /// A link with its count at which the box is split: the widest range at the pod that lacks most ports; `None` if the
    /// largest counts fit the ports.
    fn branch(&self, of: &AllocationBox) -> Option<(usize, u32)> {
        let lacking = self.space.lacking(&of.high);
        let (pod, _) =
            lacking.iter().enumerate().filter(|(_, lack)| **lack > 0).max_by_key(|(_, lack)| **lack)?;
        let at_pod = |link: &usize| self.space.ends[*link].iter().any(|(of, _)| *of == pod);
        let link = (0..of.low.len()).filter(at_pod).max_by_key(|link| of.high[*link] - of.low[*link])?;
        Some((link, of.low[link].midpoint(of.high[link])))
    }
}

/// Ranges of circuits that are not searched yet.
struct AllocationBox {
    /// Value of the largest counts, seconds.
    value_s: f64,
    low: Vec<u32>,
    high: Vec<u32>,
}

impl Ord for AllocationBox {
    /// The box with the lowest value comes first out of a heap; equal values are ordered by their ranges.
    fn cmp(&self, other: &Self) -> Ordering {
        let by_value = other.value_s.total_cmp(&self.value_s);
        by_value.then_with(|| (&self.low, &self.high).cmp(&(&other.low, &other.high)))
    }
}

impl PartialOrd for AllocationBox {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for AllocationBox {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for AllocationBox {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ALL: SearchEnd<'static> =
        SearchEnd { within_s: f64::INFINITY, evaluations: usize::MAX, is_over: &|| false };

    /// Spaces of four pods, each with some links to other pods and the weight of each link.
    fn spaces() -> impl Strategy<Value = (Space, Vec<f64>)> {
        let link = (0..3_usize, 1..4_usize, 1..3_u64, 1..7_u32, 0.1..10.0_f64);
        (prop::collection::vec(link, 1..6), prop::collection::vec(0..6_u64, 4)).prop_map(|(links, free)| {
            let ends =
                links.iter().map(|(a, step, cost, ..)| vec![(*a, *cost), ((a + step) % 4, 1)]).collect();
            let most = links.iter().map(|link| link.3).collect();
            (Space { ends, most, free }, links.iter().map(|link| link.4).collect())
        })
    }

    /// A value that more circuits never raise: the slowest link, and a chain of the first two.
    fn value_s(weights: &[f64], circuits: &[u32]) -> f64 {
        let times_s: Vec<f64> = weights.iter().zip(circuits).map(|(w, x)| w / f64::from(*x)).collect();
        times_s.iter().copied().fold(times_s.iter().take(2).sum(), f64::max)
    }

    proptest! {
        #[test]
        fn the_least_value_is_that_of_all_allocations((space, weights) in spaces()) {
            let value = |circuits: &[u32]| value_s(&weights, circuits);
            let all = space.maximal(usize::MAX).ok_or_else(|| TestCaseError::fail("too many allocations"))?;
            let least_s = all.iter().map(|circuits| value(circuits)).fold(f64::INFINITY, f64::min);
            let searched = least(&space, &ALL, &value);
            prop_assert_eq!(searched.least_s, least_s);
            let best = searched.circuits.ok_or_else(|| TestCaseError::fail("no allocation"))?;
            prop_assert_eq!(value(&best), least_s);
            // Nothing is below the least value, and something is below a larger one.
            let at = least(&space, &SearchEnd { within_s: least_s, ..ALL }, &value);
            prop_assert_eq!((at.least_s, at.circuits), (least_s, None));
            let above = least(&space, &SearchEnd { within_s: least_s * 1.5, ..ALL }, &value);
            prop_assert_eq!((above.least_s, above.circuits.is_some()), (least_s, true));
            // A search that is cut short never claims more than the least value.
            for evaluations in 0..4 {
                let cut = least(&space, &SearchEnd { within_s: least_s * 1.5, evaluations, ..ALL }, &value);
                prop_assert!(cut.least_s <= least_s);
            }
        }
    }
}
