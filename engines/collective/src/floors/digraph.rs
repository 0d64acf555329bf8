//! A directed graph with integer capacities, so that flows and cuts are computed without rounding.

/// A directed graph with integer capacities. Links keep the order in which they are added.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Digraph {
    nodes: usize,
    arcs: Vec<CapacityArc>,
    out: Vec<Vec<u32>>,
    into: Vec<Vec<u32>>,
}

/// A link of a [`Digraph`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CapacityArc {
    /// Node the link leaves.
    pub from: u32,
    /// Node the link enters.
    pub to: u32,
    /// Capacity in units of the graph.
    pub capacity: i128,
}

impl Digraph {
    /// Creates a graph of `nodes` nodes without links.
    pub fn new(nodes: usize) -> Self {
        Self { nodes, arcs: Vec::new(), out: vec![Vec::new(); nodes], into: vec![Vec::new(); nodes] }
    }

    /// Creates a graph with the given links `(from, to, capacity)`; both ends of a link must be below `nodes`.
    pub fn with_arcs(nodes: usize, arcs: impl IntoIterator<Item = (u32, u32, i128)>) -> Self {
        let mut graph = Self::new(nodes);
        for (from, to, capacity) in arcs {
            graph.add(from, to, capacity);
        }
        graph
    }

    /// Adds a link and returns its position.
    pub fn add(&mut self, from: u32, to: u32, capacity: i128) -> u32 {
        let position = self.arcs.len() as u32;
        self.arcs.push(CapacityArc { from, to, capacity });
        self.out[from as usize].push(position);
        self.into[to as usize].push(position);
        position
    }

    /// Returns the number of nodes.
    pub const fn nodes(&self) -> usize {
        self.nodes
    }

    /// Returns the links.
    pub fn arcs(&self) -> &[CapacityArc] {
        &self.arcs
    }

    /// Returns the positions of the links that leave a node.
    pub fn out(&self, node: u32) -> &[u32] {
        &self.out[node as usize]
    }

    /// Returns the positions of the links that enter a node.
    pub fn into(&self, node: u32) -> &[u32] {
        &self.into[node as usize]
    }

    /// Returns the sum of the capacities of the links that enter a node.
    pub fn in_capacity(&self, node: u32) -> i128 {
        self.into(node).iter().map(|arc| self.arcs[*arc as usize].capacity).sum()
    }

    /// Returns the graph with all links reversed; every link keeps its position.
    #[must_use]
    pub fn reversed(&self) -> Self {
        Self::with_arcs(self.nodes, self.arcs.iter().map(|arc| (arc.to, arc.from, arc.capacity)))
    }

    /// Returns the sum of the capacities of the links from inside a node set to its outside, `B+` of the set.
    pub fn leaving(&self, inside: &[bool]) -> i128 {
        let leaves = |arc: &&CapacityArc| inside[arc.from as usize] && !inside[arc.to as usize];
        self.arcs.iter().filter(leaves).map(|arc| arc.capacity).sum()
    }
}
