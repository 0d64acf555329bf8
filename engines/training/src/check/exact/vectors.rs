//! All ways to spend the ports of the pods on circuits.

use crate::check::case::Case;

/// Number of partial allocations after which a search is given up without a result.
const MOST_STEPS: usize = 2_000_000;

/// The set of circuit allocations that fit the ports, described by the ports that circuits need and the free ports of
/// pods.
#[derive(Debug)]
pub(super) struct Space {
    /// Per link, the real pods at its ends with the ports that one circuit needs.
    pub ends: Vec<Vec<(usize, u64)>>,
    /// Per link, the largest count worth trying.
    pub most: Vec<u32>,
    /// Ports of each pod after one circuit on every link.
    pub free: Vec<u64>,
}

impl Space {
    /// Describes the allocations of a scenario in which every pod has ports for one circuit on each of its links.
    pub fn of(case: &Case<'_>, useful: &[u32]) -> Self {
        let pods = &case.net.pods;
        let mut free: Vec<u64> = pods.iter().map(|pod| u64::from(pod.ports)).collect();
        let mut ends = Vec::new();
        for link in &case.net.links {
            let costs = [(link.pod_a.index(), link.ports_a), (link.pod_b.index(), link.ports_b)];
            let real: Vec<(usize, u64)> = costs
                .into_iter()
                .filter(|(pod, cost)| !pods[*pod].mirror && *cost > 0)
                .map(|(pod, cost)| (pod, u64::from(cost)))
                .collect();
            for (pod, cost) in &real {
                free[*pod] = free[*pod].saturating_sub(*cost);
            }
            ends.push(real);
        }
        Self { ends, most: useful.to_vec(), free }
    }

    /// Allocations to which no useful circuit can be added; `None` if there are more than `limit` such allocations, or
    /// if the search takes too many steps.
    pub fn maximal(&self, limit: usize) -> Option<Vec<Vec<u32>>> {
        self.search(limit, true)
    }

    /// All circuit allocations; `None` if there are more than `limit`, or if the search takes too many steps.
    pub fn all(&self, limit: usize) -> Option<Vec<Vec<u32>>> {
        self.search(limit, false)
    }

    fn search(&self, limit: usize, only_maximal: bool) -> Option<Vec<Vec<u32>>> {
        let mut search = Search {
            space: self,
            only_maximal,
            limit,
            steps: 0,
            free: self.free.clone(),
            circuits: vec![1; self.ends.len()],
            complete: Vec::new(),
        };
        search.extend(0).then_some(search.complete)
    }

    /// Returns `true` if no link after `link` shares a pod with `link`.
    fn last_at_its_pods(&self, link: usize) -> bool {
        let pods = &self.ends[link];
        !self.ends[link + 1..].iter().flatten().any(|(pod, _)| pods.iter().any(|(own, _)| own == pod))
    }

    /// Ports of each pod that `circuits` leave free; `None` if a pod has too few.
    pub fn free_after(&self, circuits: &[u32]) -> Option<Vec<u64>> {
        let used = self.used(circuits);
        self.free.iter().zip(used).map(|(free, used)| free.checked_sub(used)).collect()
    }

    /// Ports that each pod lacks for `circuits`.
    pub fn lacking(&self, circuits: &[u32]) -> Vec<u64> {
        let used = self.used(circuits);
        used.into_iter().zip(&self.free).map(|(used, free)| used.saturating_sub(*free)).collect()
    }

    /// Ports that each pod needs for `circuits`, without the first circuit of every link.
    fn used(&self, circuits: &[u32]) -> Vec<u64> {
        let mut used = vec![0; self.free.len()];
        for (ends, circuits) in self.ends.iter().zip(circuits) {
            for (pod, cost) in ends {
                used[*pod] += cost * u64::from(circuits - 1);
            }
        }
        used
    }

    /// Number of circuits that the `free` ports allow for a link, in addition to its `circuits` present circuits.
    pub fn room(&self, link: usize, circuits: u32, free: &[u64]) -> u32 {
        let by_ports =
            self.ends[link].iter().map(|(pod, cost)| free[*pod] / cost).min().unwrap_or(u64::from(u32::MAX));
        by_ports.min(u64::from(self.most[link].saturating_sub(circuits))) as u32
    }
}

struct Search<'a> {
    space: &'a Space,
    only_maximal: bool,
    limit: usize,
    steps: usize,
    free: Vec<u64>,
    circuits: Vec<u32>,
    complete: Vec<Vec<u32>>,
}

impl Search<'_> {
    /// Tries every possible number of circuits on `link` and all later links; returns `false` if the search is given
    /// up.
    fn extend(&mut self, link: usize) -> bool {
        self.steps += 1;
        if self.steps > MOST_STEPS {
            return false;
        }
        if link == self.circuits.len() {
            let grows = |link: usize| self.space.room(link, self.circuits[link], &self.free) > 0;
            if !(self.only_maximal && (0..link).any(grows)) {
                self.complete.push(self.circuits.clone());
            }
            return self.complete.len() <= self.limit;
        }
        let room = self.space.room(link, 1, &self.free);
        // The last link at a pod gets all that remains, because no other link can use it.
        let fewest = if self.only_maximal && self.space.last_at_its_pods(link) { room } else { 0 };
        for added in (fewest..=room).rev() {
            self.take(link, added);
            let going_on = self.extend(link + 1);
            self.give_back(link, added);
            if !going_on {
                return false;
            }
        }
        true
    }

    fn take(&mut self, link: usize, added: u32) {
        self.circuits[link] = 1 + added;
        for (pod, cost) in &self.space.ends[link] {
            self.free[*pod] -= cost * u64::from(added);
        }
    }

    fn give_back(&mut self, link: usize, added: u32) {
        for (pod, cost) in &self.space.ends[link] {
            self.free[*pod] += cost * u64::from(added);
        }
    }
}
