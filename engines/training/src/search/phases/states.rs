//! Links whose circuits a search decides in every state (*decided links*, with *decided counts* of circuits), and links
//! that get the remaining ports.

use super::MoveTask;
use crate::model::network::Network;

/// A link that gets the ports of its pod that decided links leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Rest {
    link: usize,
    pod: usize,
    cost: u32,
}

/// Partition of the links of a scenario into decided links and the rest.
#[derive(Clone, Debug)]
pub struct Movable {
    /// Decided links, ascending.
    pub decided: Vec<usize>,
    rest: Vec<Rest>,
    ports: Vec<Option<u32>>,
    caps: Vec<u32>,
}

impl Movable {
    /// Divides the links of the scenario into decided links and the rest.
    pub fn new(task: MoveTask<'_>) -> Self {
        let network = &task.evaluator.network;
        let budget = &network.budget;
        let leaves = task.evaluator.model.leaves();
        let ends_at = |link: u32| match budget.ends(link as usize) {
            [end] => Some((end.pod as usize, end.cost)),
            _ => None,
        };
        let alone = |link: u32, pod: usize| {
            let here = |other: &&u32| budget.ends(**other as usize).iter().any(|end| end.pod as usize == pod);
            leaves.iter().filter(here).all(|other| *other == link)
        };
        let rest: Vec<Rest> = leaves
            .iter()
            .filter_map(|&link| {
                let (pod, cost) = ends_at(link)?;
                alone(link, pod).then_some(Rest { link: link as usize, pod, cost })
            })
            .collect();
        let used = |link: &usize| !idle(network, *link) && rest.iter().all(|rest| rest.link != *link);
        Self {
            decided: (0..network.links()).filter(used).collect(),
            rest,
            ports: (0..budget.pods()).map(|pod| budget.ports(pod)).collect(),
            caps: task.caps.to_vec(),
        }
    }

    /// Maximum number of circuits of every decided link.
    pub fn most(&self) -> Vec<u32> {
        self.decided.iter().map(|link| self.caps[*link]).collect()
    }

    /// All combinations of circuit counts of the decided links, with at least 1 circuit on each link; `None` if there
    /// are more than `limit`.
    pub fn vectors(&self, limit: usize) -> Option<Vec<Vec<u32>>> {
        let most = self.most();
        let all = most.iter().map(|most| *most as usize).try_fold(1_usize, usize::checked_mul);
        if all.is_none_or(|all| all > limit || all == 0) {
            return None;
        }
        let (mut vectors, mut counts) = (Vec::new(), vec![1; most.len()]);
        loop {
            vectors.push(counts.clone());
            let Some(link) = (0..counts.len()).find(|link| counts[*link] < most[*link]) else {
                return Some(vectors);
            };
            counts[..link].fill(1);
            counts[link] += 1;
        }
    }

    /// Writes to `out`, for every link, its maximum number of circuits over all states whose decided counts are within
    /// `low..=high`; `None` if some pod has too few ports for `low`.
    pub fn widest(&self, network: &Network, low: &[u32], high: &[u32], out: &mut Vec<u32>) -> Option<()> {
        let budget = &network.budget;
        let mut free: Vec<i64> =
            self.ports.iter().map(|ports| ports.map_or(i64::MAX / 4, i64::from)).collect();
        for (&link, &circuits) in self.decided.iter().zip(low) {
            budget.take(link, i64::from(circuits), &mut free);
        }
        if free.iter().any(|free| *free < 0) {
            return None;
        }
        out.clear();
        out.resize(network.links(), 0);
        for ((&link, &low), &high) in self.decided.iter().zip(low).zip(high) {
            let room = u32::try_from(budget.room(link, &free)).unwrap_or(u32::MAX);
            out[link] = high.min(low.saturating_add(room));
        }
        for rest in &self.rest {
            let left = u32::try_from(free[rest.pod]).unwrap_or(u32::MAX) / rest.cost;
            out[rest.link] = left.min(self.caps[rest.link]);
        }
        Some(())
    }

    /// Writes the ports that decided counts use in every pod to `out`.
    pub fn used(&self, network: &Network, counts: &[u32], out: &mut Vec<u32>) {
        out.clear();
        out.resize(self.ports.len(), 0);
        for (&link, &circuits) in self.decided.iter().zip(counts) {
            for end in network.budget.ends(link) {
                out[end.pod as usize] += end.cost * circuits;
            }
        }
    }

    /// Number of ports of a pod; `None` for a mirror pod, which has no port limit.
    pub fn ports(&self, pod: usize) -> Option<u32> {
        self.ports[pod]
    }

    /// The link that gets the remaining ports of a pod, and the ports of this pod that one circuit of the link needs.
    pub fn rest_at(&self, pod: usize) -> Option<(usize, u32)> {
        self.rest.iter().find(|rest| rest.pod == pod).map(|rest| (rest.link, rest.cost))
    }

    /// Circuits of a link that gets the remaining ports, if `left` ports remain.
    pub fn rest_circuits(&self, (link, cost): (usize, u32), left: u32) -> u32 {
        (left / cost).min(self.caps[link])
    }

    /// Returns `true` if a decided link can get another circuit without taking one from another link.
    pub fn has_room(&self, network: &Network, counts: &[u32]) -> bool {
        let budget = &network.budget;
        let mut free: Vec<i64> =
            self.ports.iter().map(|ports| ports.map_or(i64::MAX / 4, i64::from)).collect();
        for (&link, &circuits) in self.decided.iter().zip(counts) {
            budget.take(link, i64::from(circuits), &mut free);
        }
        let rest = |pod: usize, free: i64| {
            let (Some(rest), Ok(free)) = (self.rest_at(pod), u32::try_from(free)) else { return 0 };
            self.rest_circuits(rest, free)
        };
        self.decided.iter().zip(counts).any(|(&link, &circuits)| {
            circuits < self.caps[link]
                && budget.ends(link).iter().all(|end| {
                    let (pod, cost) = (end.pod as usize, i64::from(end.cost));
                    free[pod] >= cost && rest(pod, free[pod]) == rest(pod, free[pod] - cost)
                })
        })
    }

    /// Reduces decided counts from `high`, but not below `low`, until every pod has enough ports; `None` if a pod has
    /// too few ports for `low`.
    pub fn fitting(&self, network: &Network, low: &[u32], high: &[u32]) -> Option<Vec<u32>> {
        let budget = &network.budget;
        let mut counts = high.to_vec();
        loop {
            let mut free: Vec<i64> =
                self.ports.iter().map(|ports| ports.map_or(i64::MAX / 4, i64::from)).collect();
            for (&link, &circuits) in self.decided.iter().zip(&counts) {
                budget.take(link, i64::from(circuits), &mut free);
            }
            let Some(pod) = free.iter().position(|free| *free < 0) else { return Some(counts) };
            let here = |index: &usize| {
                budget.ends(self.decided[*index]).iter().any(|end| end.pod as usize == pod)
                    && counts[*index] > low[*index]
            };
            let most = (0..counts.len()).filter(here).max_by_key(|index| counts[*index])?;
            counts[most] -= 1;
        }
    }
}

fn idle(network: &Network, link: usize) -> bool {
    network.carried[2 * link].is_empty() && network.carried[2 * link + 1].is_empty()
}
