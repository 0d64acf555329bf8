//! Ports of the pods, port cost of circuits, and the test whether a circuit allocation fits.

use crate::scenario::instance::Instance;

/// A real end of a link: pod and ports per circuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    /// Index of the pod.
    pub pod: u32,
    /// Ports that one circuit of the link needs in this pod, at least 1.
    pub cost: u32,
}

/// Port budgets of real pods and the ends of links; mirrors and ends without port cost are left out.
#[derive(Clone, Debug, Default)]
pub struct Budget {
    ends: Vec<Vec<End>>,
    ports: Vec<Option<u32>>,
    at_pod: Vec<Vec<(u32, u32)>>,
    limit: Vec<u32>,
}

impl Budget {
    /// Ports and ends of `instance`, whose ids must be valid. `flows_over` is, for each link, the total number of flows
    /// of the tasks in its direction with more flows.
    pub(crate) fn new(instance: &Instance, flows_over: &[u64]) -> Self {
        let ports: Vec<Option<u32>> =
            instance.pods.iter().map(|pod| if pod.mirror { None } else { Some(pod.ports) }).collect();
        let mut at_pod = vec![Vec::new(); ports.len()];
        let mut ends = Vec::with_capacity(instance.links.len());
        for (index, link) in instance.links.iter().enumerate() {
            let mut list = Vec::with_capacity(2);
            for (pod, cost) in [(link.pod_a, link.ports_a), (link.pod_b, link.ports_b)] {
                if ports[pod.index()].is_some() && cost > 0 {
                    list.push(End { pod: pod.0, cost });
                    at_pod[pod.index()].push((index as u32, cost));
                }
            }
            ends.push(list);
        }
        // Ports do not limit a link without a real end, but more circuits than flows never help.
        let limit = ends
            .iter()
            .zip(flows_over)
            .map(|(list, flows)| {
                list.iter()
                    .map(|end| ports[end.pod as usize].unwrap_or(0) / end.cost)
                    .min()
                    .unwrap_or_else(|| u32::try_from(*flows).unwrap_or(u32::MAX))
                    .max(1)
            })
            .collect();
        Self { ends, ports, at_pod, limit }
    }

    /// Number of links.
    pub fn links(&self) -> usize {
        self.ends.len()
    }

    /// Number of pods, mirrors included.
    pub fn pods(&self) -> usize {
        self.ports.len()
    }

    /// Real ends of a link.
    pub fn ends(&self, link: usize) -> &[End] {
        &self.ends[link]
    }

    /// Links at a real pod, each with the ports that one circuit of the link needs in this pod.
    pub fn links_at(&self, pod: usize) -> &[(u32, u32)] {
        &self.at_pod[pod]
    }

    /// Ports of a pod; `None` for mirrors.
    pub fn ports(&self, pod: usize) -> Option<u32> {
        self.ports[pod]
    }

    /// Number of circuits of a link that would fit if no other link had any; for a link without a real end, the total
    /// flows of its direction with more flows. At least 1.
    pub fn limit(&self, link: usize) -> u32 {
        self.limit[link]
    }

    /// The same budget with another number of ports in a real pod; the links at this pod can then have more or fewer
    /// circuits.
    #[must_use]
    pub fn with_ports(&self, pod: usize, ports: u32) -> Self {
        let mut other = self.clone();
        if let Some(own) = other.ports.get_mut(pod).and_then(Option::as_mut) {
            *own = ports;
        }
        for &(link, _) in &self.at_pod[pod] {
            let link = link as usize;
            let fits = |end: &End| other.ports[end.pod as usize].unwrap_or(0) / end.cost;
            other.limit[link] = other.ends[link].iter().map(fits).min().unwrap_or(1).max(1);
        }
        other
    }

    /// Removes the port limit of every link, for tests of other limits.
    #[cfg(test)]
    pub(crate) fn lift_limits(&mut self, limit: u32) {
        self.limit.fill(limit);
    }

    /// Ports that `x` uses in each real pod, in pod order.
    pub fn used(&self, x: &[u32]) -> Vec<u32> {
        let mut used = vec![0_u32; self.pods()];
        for (ends, circuits) in self.ends.iter().zip(x) {
            for end in ends {
                used[end.pod as usize] += end.cost * circuits;
            }
        }
        let real = self.ports.iter().zip(used).filter(|(ports, _)| ports.is_some());
        real.map(|(_, used)| used).collect()
    }

    /// Total number of ports of real pods.
    pub fn capacity(&self) -> u64 {
        self.ports.iter().flatten().map(|ports| u64::from(*ports)).sum()
    }

    /// Total ports of real pods that `x` uses.
    pub fn total(&self, x: &[u32]) -> u64 {
        x.iter().enumerate().map(|(link, &circuits)| self.cost(link) * u64::from(circuits)).sum()
    }

    /// Total ports that one circuit of a link uses at its real ends.
    pub fn cost(&self, link: usize) -> u64 {
        self.ends[link].iter().map(|end| u64::from(end.cost)).sum()
    }

    /// Free ports of every pod, negative where `x` uses too many; mirrors have practically unlimited ports.
    pub fn free(&self, x: &[u32]) -> Vec<i64> {
        let mut free = Vec::new();
        self.free_into(x, &mut free);
        free
    }

    /// Writes the result of [`Budget::free`] to a reused vector.
    pub fn free_into(&self, x: &[u32], free: &mut Vec<i64>) {
        free.clear();
        free.extend(self.ports.iter().map(|ports| ports.map_or(i64::MAX / 4, i64::from)));
        for (link, &circuits) in x.iter().enumerate() {
            for end in &self.ends[link] {
                free[end.pod as usize] -= i64::from(end.cost) * i64::from(circuits);
            }
        }
    }

    /// Number of circuits that can be added to a link, given the free ports; negative where a pod is over budget.
    pub fn room(&self, link: usize, free: &[i64]) -> i64 {
        self.ends[link]
            .iter()
            .map(|end| free[end.pod as usize].div_euclid(i64::from(end.cost)))
            .min()
            .unwrap_or(i64::from(u32::MAX))
    }

    /// Returns `true` if `x` has a circuit for every link and fits every pod.
    pub fn fits(&self, x: &[u32]) -> bool {
        x.len() == self.links()
            && x.iter().all(|&circuits| circuits >= 1)
            && self.free(x).iter().all(|free| *free >= 0)
    }

    /// Adds or removes circuits of a link in a free-port vector.
    pub fn take(&self, link: usize, circuits: i64, free: &mut [i64]) {
        for end in &self.ends[link] {
            free[end.pod as usize] -= i64::from(end.cost) * circuits;
        }
    }
}
