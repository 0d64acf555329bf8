//! Maximum flows by Dinic's algorithm, on capacities that may be changed between flows. Capacities and flows are
//! integers, so nothing is rounded.

use std::collections::VecDeque;

/// A network for maximum flows. Add all arcs first, then compute any number of flows; capacities may be changed in
/// between.
#[derive(Clone, Debug)]
pub struct FlowNetwork {
    /// Head of each directed edge; arc `a` has the edges `2a` and, reversed, `2a + 1`.
    heads: Vec<u32>,
    capacities: Vec<i128>,
    residual: Vec<i128>,
    /// Edges sorted by tail, and the position at which each tail's edges begin.
    edges: Vec<u32>,
    starts: Vec<u32>,
    sorted: bool,
    nodes: usize,
    levels: Vec<u32>,
    current: Vec<u32>,
    queue: VecDeque<u32>,
    path: Vec<u32>,
}

impl FlowNetwork {
    /// Creates a network of `nodes` nodes without arcs.
    pub fn new(nodes: usize) -> Self {
        Self {
            heads: Vec::new(),
            capacities: Vec::new(),
            residual: Vec::new(),
            edges: Vec::new(),
            starts: Vec::new(),
            sorted: false,
            nodes,
            levels: vec![u32::MAX; nodes],
            current: vec![0; nodes],
            queue: VecDeque::new(),
            path: Vec::new(),
        }
    }

    /// Adds an arc and returns its position.
    pub fn add(&mut self, from: u32, to: u32, capacity: i128) -> usize {
        // Edges 2a and 2a + 1 are each other's reverse.
        let position = self.heads.len() / 2;
        self.heads.extend([to, from]);
        self.capacities.extend([capacity, 0]);
        self.sorted = false;
        position
    }

    /// Sets the capacity of an arc for the flows that follow.
    pub fn set(&mut self, arc: usize, capacity: i128) {
        self.capacities[2 * arc] = capacity;
    }

    /// Returns the capacity of an arc.
    pub fn capacity(&self, arc: usize) -> i128 {
        self.capacities[2 * arc]
    }

    /// Returns the flow on an arc after [`FlowNetwork::max_flow`].
    pub fn flow(&self, arc: usize) -> i128 {
        self.residual[2 * arc + 1]
    }

    /// Sorts the edges by tail, with counting sort.
    fn sort(&mut self) {
        // The reverse edge ends at the tail.
        let tail = |edge: usize| self.heads[edge ^ 1] as usize;
        let mut starts = vec![0_u32; self.nodes + 1];
        for edge in 0..self.heads.len() {
            starts[tail(edge) + 1] += 1;
        }
        for node in 0..self.nodes {
            starts[node + 1] += starts[node];
        }
        let mut next = starts.clone();
        let mut edges = vec![0; self.heads.len()];
        for edge in 0..self.heads.len() {
            let place = &mut next[tail(edge)];
            edges[*place as usize] = edge as u32;
            *place += 1;
        }
        (self.starts, self.edges, self.sorted) = (starts, edges, true);
    }

    /// Returns the maximum flow from `source` to `sink`, or `limit` if the maximum flow is larger. The flow from a node
    /// to itself counts as `limit`.
    pub fn max_flow(&mut self, source: u32, sink: u32, limit: i128) -> i128 {
        if !self.sorted {
            self.sort();
        }
        // Every flow starts from the unused capacities.
        self.residual.clear();
        self.residual.extend_from_slice(&self.capacities);
        if source == sink {
            return limit;
        }
        let mut total = 0;
        // Phases: layers of shortest paths, then a blocking flow in them.
        while total < limit && self.layers(source, sink) {
            self.current.copy_from_slice(&self.starts[..self.nodes]);
            loop {
                let pushed = self.augment(source, sink, limit - total);
                if pushed == 0 {
                    break;
                }
                total += pushed;
                if total >= limit {
                    return limit;
                }
            }
        }
        total
    }

    /// Computes distances from the source over edges with residual capacity; returns whether the sink is reached.
    fn layers(&mut self, source: u32, sink: u32) -> bool {
        // Breadth first.
        self.levels.fill(u32::MAX);
        self.levels[source as usize] = 0;
        self.queue.clear();
        self.queue.push_back(source);
        while let Some(node) = self.queue.pop_front() {
            let level = self.levels[node as usize];
            for place in self.starts[node as usize]..self.starts[node as usize + 1] {
                let edge = self.edges[place as usize] as usize;
                let head = self.heads[edge] as usize;
                if self.levels[head] == u32::MAX && self.residual[edge] > 0 {
                    self.levels[head] = level + 1;
                    self.queue.push_back(head as u32);
                }
            }
        }
        self.levels[sink as usize] != u32::MAX
    }

    /// Pushes flow along one path of the layers; returns the amount, which is 0 if all paths are blocked.
    fn augment(&mut self, source: u32, sink: u32, limit: i128) -> i128 {
        self.path.clear();
        let mut node = source;
        loop {
            if node == sink {
                // Bottleneck of the path.
                let room = self.path.iter().map(|edge| self.residual[*edge as usize]).fold(limit, i128::min);
                for &edge in &self.path {
                    let edge = edge as usize;
                    self.residual[edge] -= room;
                    // The reverse edge can take the flow back.
                    self.residual[edge ^ 1] += room;
                }
                return room;
            }
            let (level, end) = (self.levels[node as usize], self.starts[node as usize + 1]);
            // Current-arc rule: edges that failed in this phase are not tried again.
            let mut place = self.current[node as usize];
            let step = loop {
                if place == end {
                    break None;
                }
                let edge = self.edges[place as usize];
                let head = self.heads[edge as usize];
                if self.residual[edge as usize] > 0 && self.levels[head as usize] == level + 1 {
                    break Some((edge, head));
                }
                place += 1;
            };
            self.current[node as usize] = place;
            if let Some((edge, head)) = step {
                self.path.push(edge);
                node = head;
            } else {
                // A dead end: no path leads through this node any more.
                self.levels[node as usize] = u32::MAX;
                let Some(edge) = self.path.pop() else { return 0 };
                node = self.heads[(edge ^ 1) as usize];
            }
        }
    }

    /// Returns the nodes that are reachable from the source after the last flow: the smallest source side of a minimum
    /// cut, unless the flow ended at `limit`.
    pub fn source_side(&mut self, source: u32) -> Vec<bool> {
        // Dead ends lost their level in the last layers, so the levels are computed again.
        self.layers(source, source);
        self.levels.iter().map(|level| *level != u32::MAX).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(arcs: &[(u32, u32, i128)], nodes: usize) -> FlowNetwork {
        let mut network = FlowNetwork::new(nodes);
        for &(from, to, capacity) in arcs {
            network.add(from, to, capacity);
        }
        network
    }

    #[test]
    fn a_flow_is_as_large_as_the_smallest_cut() {
        let arcs = [
            (0, 1, 16),
            (0, 2, 13),
            (1, 2, 10),
            (2, 1, 4),
            (1, 3, 12),
            (3, 2, 9),
            (2, 4, 14),
            (4, 3, 7),
            (3, 5, 20),
            (4, 5, 4),
        ];
        let mut network = network(&arcs, 6);
        assert_eq!(network.max_flow(0, 5, i128::MAX), 23);
        let side = network.source_side(0);
        assert_eq!(side, [true, true, true, false, true, false]);
        let leaving: i128 =
            arcs.iter().filter(|(a, b, _)| side[*a as usize] && !side[*b as usize]).map(|arc| arc.2).sum();
        assert_eq!(leaving, 23);
    }

    #[test]
    fn a_limit_ends_the_flow_and_capacities_can_be_changed() {
        let mut network = network(&[(0, 1, 5), (1, 2, 3), (0, 2, 4)], 3);
        assert_eq!(network.max_flow(0, 2, 5), 5);
        assert_eq!(network.max_flow(0, 2, 100), 7);
        network.set(2, 0);
        assert_eq!(network.max_flow(0, 2, 100), 3);
        assert_eq!(network.max_flow(2, 0, 100), 0);
        assert_eq!(network.max_flow(1, 1, 100), 100);
    }
}
