//! A topological order that is maintained while edges are added (Pearce and Kelly 2006): the part of the order between
//! the ends of a turn shows whether the turn closes a cycle of channels.

/// An acyclic directed graph with a topological order.
#[derive(Clone, Debug)]
pub struct TopologicalOrder {
    /// Rank of every node in the order.
    rank: Vec<u32>,
    ahead: Vec<Vec<u32>>,
    behind: Vec<Vec<u32>>,
    /// Round of the search in which each node was last seen.
    seen: Vec<u32>,
    round: u32,
    /// Nodes found backwards from the tail and forwards from the head of a new edge, and a stack.
    before: Vec<u32>,
    after: Vec<u32>,
    places: Vec<u32>,
    stack: Vec<u32>,
}

impl TopologicalOrder {
    /// Creates an order of `nodes` nodes without edges.
    pub fn new(nodes: usize) -> Self {
        Self {
            rank: (0..nodes as u32).collect(),
            ahead: vec![Vec::new(); nodes],
            behind: vec![Vec::new(); nodes],
            seen: vec![0; nodes],
            round: 0,
            before: Vec::new(),
            after: Vec::new(),
            places: Vec::new(),
            stack: Vec::new(),
        }
    }

    /// Rank of a node: every edge leads to a larger rank.
    pub fn rank(&self, node: u32) -> u32 {
        self.rank[node as usize]
    }

    /// Adds an edge unless it would close a cycle; returns whether it was added. An existing edge may be added again.
    pub fn try_add(&mut self, from: u32, to: u32) -> bool {
        if from == to {
            return false;
        }
        // Invariant: every edge leads to a larger rank. An edge against the order requires a repair of the part between
        // its ends.
        let (low, high) = (self.rank[to as usize], self.rank[from as usize]);
        if low < high {
            self.round += 1;
            if !self.search_ahead(to, from, high) {
                return false;
            }
            self.search_behind(from, low);
            self.reorder();
        }
        self.ahead[from as usize].push(to);
        self.behind[to as usize].push(from);
        true
    }

    /// Collects the nodes that can be reached from `start` over nodes with ranks below `high`, the rank of `end`;
    /// returns `false` if `end` can be reached. Ranks increase along every edge, so a path to `end` has only ranks
    /// below `high`.
    fn search_ahead(&mut self, start: u32, end: u32, high: u32) -> bool {
        self.after.clear();
        self.stack.clear();
        self.stack.push(start);
        self.seen[start as usize] = self.round;
        while let Some(node) = self.stack.pop() {
            self.after.push(node);
            for &next in &self.ahead[node as usize] {
                if next == end {
                    return false;
                }
                if self.rank[next as usize] < high && self.seen[next as usize] != self.round {
                    self.seen[next as usize] = self.round;
                    self.stack.push(next);
                }
            }
        }
        true
    }

    /// Collects the nodes with ranks above `low` from which `start` can be reached. These nodes are disjoint from the
    /// nodes of the forward search, because otherwise there would be a cycle.
    fn search_behind(&mut self, start: u32, low: u32) {
        self.before.clear();
        self.stack.clear();
        self.stack.push(start);
        self.seen[start as usize] = self.round;
        while let Some(node) = self.stack.pop() {
            self.before.push(node);
            for &previous in &self.behind[node as usize] {
                if self.rank[previous as usize] > low && self.seen[previous as usize] != self.round {
                    self.seen[previous as usize] = self.round;
                    self.stack.push(previous);
                }
            }
        }
    }

    /// Distributes the ranks of the collected nodes among them: the lowest ranks to the nodes found backwards, the
    /// other ranks to the nodes found forwards, each in their old order. All other nodes keep their ranks.
    fn reorder(&mut self) {
        let rank = &mut self.rank;
        self.before.sort_unstable_by_key(|node| rank[*node as usize]);
        self.after.sort_unstable_by_key(|node| rank[*node as usize]);
        self.places.clear();
        self.places.extend(self.before.iter().chain(&self.after).map(|node| rank[*node as usize]));
        self.places.sort_unstable();
        for (node, place) in self.before.iter().chain(&self.after).zip(&self.places) {
            rank[*node as usize] = *place;
        }
    }
}

#[cfg(test)]
mod tests;
