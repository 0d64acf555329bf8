//! Nodes and links with exact capacities, and the symmetries of the network.

use super::rational::Rational;
use crate::scenario::{CollectiveScenario, NodeSort, SwitchHop, Topology};
use lightbay_core::problem::{Problem, Problems};
use petgraph::unionfind::UnionFind;
use rustc_hash::FxHashMap;

/// A node of a [`LinkNetwork`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetworkNode {
    /// Name for people.
    pub name: String,
    /// GPU or switch.
    pub kind: NodeSort,
    /// Chassis, box or pod to which the node belongs.
    pub group: Option<u32>,
}

/// A directed link of a [`LinkNetwork`].
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkLink {
    /// Node that the link leaves.
    pub from: u32,
    /// Node that the link enters.
    pub to: u32,
    /// Rate in GB/s after stragglers, exact.
    pub capacity: Rational,
    /// Rate in GB/s after stragglers, as a float.
    pub capacity_gbyte_per_s: f64,
    /// Fixed latency after stragglers, µs.
    pub alpha_us: f64,
    /// Intervals in which the link carries data, µs; if there are none, the link always carries data.
    pub up_us: Vec<[f64; 2]>,
}

/// A permutation of nodes that preserves links, capacities, latencies and kinds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symmetry {
    /// Image of every node.
    pub nodes: Vec<u32>,
    /// Image of every link.
    pub links: Vec<u32>,
}

/// Network of GPUs, switches and directed links.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkNetwork {
    nodes: Vec<NetworkNode>,
    links: Vec<NetworkLink>,
    gpus: Vec<u32>,
    out_links: Adjacency,
    in_links: Adjacency,
    generators: Vec<Symmetry>,
    by_ends: FxHashMap<(u32, u32), u32>,
    switch_copies: bool,
    switch_reduces: bool,
    cut_through: bool,
}

/// Links of every node, in one list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Adjacency {
    first: Vec<u32>,
    links: Vec<u32>,
}

impl Adjacency {
    fn new(nodes: usize, ends: impl Iterator<Item = u32> + Clone) -> Self {
        let mut first = vec![0u32; nodes + 1];
        for node in ends.clone() {
            first[node as usize + 1] += 1;
        }
        for node in 0..nodes {
            first[node + 1] += first[node];
        }
        let mut next = first.clone();
        let mut links = vec![0; first[nodes] as usize];
        for (link, node) in (0u32..).zip(ends) {
            links[next[node as usize] as usize] = link;
            next[node as usize] += 1;
        }
        Self { first, links }
    }

    fn of(&self, node: u32) -> &[u32] {
        let at = node as usize;
        &self.links[self.first[at] as usize..self.first[at + 1] as usize]
    }
}

impl LinkNetwork {
    /// Builds the network of a topology.
    ///
    /// # Errors
    /// Capacities that cannot be represented exactly, links without nodes, and generators that are not symmetries.
    pub fn of(topology: &Topology) -> Result<Self, Problems> {
        let mut problems = Problems::new();
        let nodes: Vec<NetworkNode> = topology
            .nodes
            .iter()
            .map(|node| NetworkNode { name: node.name.clone(), kind: node.kind, group: node.group })
            .collect();
        let mut links = Vec::with_capacity(topology.links.len());
        for (index, link) in topology.links.iter().enumerate() {
            let exact = Rational::of_decimal(link.capacity_gbyte_per_s)
                .zip(Rational::of_decimal(link.beta_scale))
                .and_then(|(capacity, scale)| capacity.over(scale));
            let inside = (link.from as usize) < nodes.len() && (link.to as usize) < nodes.len();
            let Some(capacity) = exact.filter(|_| inside) else {
                problems.add(
                    format!("topology.links[{index}]"),
                    "has a capacity that cannot be represented exactly, or a node that does not exist",
                    "use a rate with fewer digits, and nodes that exist",
                );
                continue;
            };
            links.push(NetworkLink {
                from: link.from,
                to: link.to,
                capacity,
                capacity_gbyte_per_s: capacity.as_f64(),
                alpha_us: link.alpha_us * link.alpha_scale,
                up_us: link.up_us.clone(),
            });
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        let mut network = Self::from_parts(nodes, links);
        network.switch_copies = topology.switch_model.copy;
        network.switch_reduces = topology.switch_model.reduce;
        network.cut_through = topology.switch_model.hop == SwitchHop::CutThrough;
        for (index, nodes) in topology.symmetry_generators.iter().enumerate() {
            match network.symmetry(nodes) {
                Ok(symmetry) => network.generators.push(symmetry),
                Err(why) => problems.push(Problem::new(
                    format!("topology.symmetry_generators[{index}]"),
                    why,
                    "correct or omit the symmetry, because proofs depend on it",
                )),
            }
        }
        problems.into_result(network)
    }

    /// Builds the network of a scenario without the failed links, and with the symmetries that remain.
    ///
    /// # Errors
    /// As for [`Self::of`].
    pub fn in_order(scenario: &CollectiveScenario) -> Result<Self, Problems> {
        let whole = Self::of(&scenario.topology)?;
        if scenario.failed_links.is_empty() {
            return Ok(whole);
        }
        let failed = |link: &NetworkLink| scenario.failed_links.contains(&[link.from, link.to]);
        let links = whole.links.iter().filter(|link| !failed(link)).cloned().collect();
        let mut network = whole.with_parts(whole.nodes.clone(), links);
        network.generators =
            whole.generators.iter().filter_map(|generator| network.symmetry(&generator.nodes).ok()).collect();
        Ok(network)
    }

    /// Builds a network of nodes and links, without symmetries, with store-and-forward switches that copy.
    ///
    /// Both ends of every link must be nodes of the network.
    pub fn from_parts(nodes: Vec<NetworkNode>, links: Vec<NetworkLink>) -> Self {
        let count = nodes.len();
        let gpus =
            (0u32..).zip(&nodes).filter(|(_, node)| node.kind == NodeSort::Gpu).map(|(id, _)| id).collect();
        let by_ends = (0u32..).zip(&links).map(|(id, link)| ((link.from, link.to), id)).collect();
        Self {
            gpus,
            out_links: Adjacency::new(count, links.iter().map(|link| link.from)),
            in_links: Adjacency::new(count, links.iter().map(|link| link.to)),
            generators: Vec::new(),
            by_ends,
            nodes,
            links,
            switch_copies: true,
            switch_reduces: false,
            cut_through: false,
        }
    }

    /// Returns the network with every link reversed.
    #[must_use]
    pub fn reversed(&self) -> Self {
        let turned = |link: &NetworkLink| NetworkLink { from: link.to, to: link.from, ..link.clone() };
        let mut network = self.with_parts(self.nodes.clone(), self.links.iter().map(turned).collect());
        // A permutation that preserves links also preserves reversed links.
        network.generators.clone_from(&self.generators);
        network
    }

    /// Builds a network of the given nodes and links, without symmetries, whose switches have the capabilities of this
    /// network.
    #[must_use]
    pub fn with_parts(&self, nodes: Vec<NetworkNode>, links: Vec<NetworkLink>) -> Self {
        let mut network = Self::from_parts(nodes, links);
        network.switch_copies = self.switch_copies;
        network.switch_reduces = self.switch_reduces;
        network.cut_through = self.cut_through;
        network
    }

    /// Returns `true` if a link leaves a cut-through switch.
    pub fn is_through(&self, link: &NetworkLink) -> bool {
        self.cut_through && self.is_switch(link.from)
    }

    /// Returns the number of nodes.
    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// Returns all nodes, by id.
    pub fn nodes(&self) -> &[NetworkNode] {
        &self.nodes
    }

    /// Returns all links, by id.
    pub fn links(&self) -> &[NetworkLink] {
        &self.links
    }

    /// Returns the ids of the GPUs, ascending.
    pub fn gpus(&self) -> &[u32] {
        &self.gpus
    }

    /// Returns `true` if a node is a switch.
    pub fn is_switch(&self, node: u32) -> bool {
        self.nodes[node as usize].kind == NodeSort::Switch
    }

    /// Returns the links that leave a node.
    pub fn out_links(&self, node: u32) -> &[u32] {
        self.out_links.of(node)
    }

    /// Returns the links that enter a node.
    pub fn in_links(&self, node: u32) -> &[u32] {
        self.in_links.of(node)
    }

    /// Returns the link from one node to another; `None` if no link exists.
    pub fn link_between(&self, from: u32, to: u32) -> Option<u32> {
        self.by_ends.get(&(from, to)).copied()
    }

    /// Returns `true` if switches may send one arrival over several links.
    pub const fn switch_copies(&self) -> bool {
        self.switch_copies
    }

    /// Returns `true` if switches may reduce arrivals.
    pub const fn switch_reduces(&self) -> bool {
        self.switch_reduces
    }

    /// Returns `true` if switches pass data on as soon as its first byte arrives.
    pub const fn is_cut_through(&self) -> bool {
        self.cut_through
    }

    /// Returns the same network, with switches that copy or do not copy.
    #[must_use]
    pub const fn with_copying(mut self, copies: bool) -> Self {
        self.switch_copies = copies;
        self
    }

    /// Returns the declared symmetries; their products are symmetries too.
    pub fn generators(&self) -> &[Symmetry] {
        &self.generators
    }

    /// Adds symmetries to the declared ones.
    pub fn add_generators(&mut self, generators: impl IntoIterator<Item = Symmetry>) {
        self.generators.extend(generators);
    }

    /// Returns the symmetry that a permutation of nodes defines.
    ///
    /// # Errors
    /// The property that the permutation does not preserve, as the end of a sentence.
    pub fn symmetry(&self, nodes: &[u32]) -> Result<Symmetry, String> {
        let count = self.nodes.len();
        let mut hit = vec![false; count];
        if nodes.len() != count {
            return Err(format!("has {} entries, but there are {count} nodes", nodes.len()));
        }
        for &image in nodes {
            match hit.get_mut(image as usize) {
                Some(hit) if !*hit => *hit = true,
                _ => {
                    return Err(format!(
                        "is not a permutation: node {image} appears twice or does not exist"
                    ));
                }
            }
        }
        if let Some(node) =
            (0..count).find(|&node| self.nodes[node].kind != self.nodes[nodes[node] as usize].kind)
        {
            return Err(format!("maps node {node} to node {}, which is of another kind", nodes[node]));
        }
        let mut links = Vec::with_capacity(self.links.len());
        for link in &self.links {
            let ends = (nodes[link.from as usize], nodes[link.to as usize]);
            let image = self.by_ends.get(&ends).copied();
            let alike = image.filter(|&image| {
                let image = &self.links[image as usize];
                (image.capacity, image.alpha_us, &image.up_us) == (link.capacity, link.alpha_us, &link.up_us)
            });
            let Some(image) = alike else {
                let (from, to) = ends;
                return Err(format!(
                    "maps link {}->{} to {from}->{to}, which does not exist or has another capacity or latency, \
                     or other up times",
                    link.from, link.to
                ));
            };
            links.push(image);
        }
        Ok(Symmetry { nodes: nodes.to_vec(), links })
    }

    /// Returns, for every node, the smallest node of its orbit under the declared symmetries.
    pub fn node_orbits(&self) -> Vec<u32> {
        orbits(self.nodes.len(), self.generators.iter().map(|symmetry| symmetry.nodes.as_slice()))
    }

    /// Returns, for every link, the smallest link of its orbit under the declared symmetries.
    pub fn link_orbits(&self) -> Vec<u32> {
        orbits(self.links.len(), self.generators.iter().map(|symmetry| symmetry.links.as_slice()))
    }

    /// Returns the number of groups: the largest group number plus 1.
    pub fn group_count(&self) -> usize {
        self.nodes.iter().filter_map(|node| node.group).max().map_or(0, |group| group as usize + 1)
    }
}

/// Returns, for every point, the smallest member of its orbit under permutations.
fn orbits<'a>(points: usize, permutations: impl Iterator<Item = &'a [u32]>) -> Vec<u32> {
    let mut joined = UnionFind::<u32>::new(points);
    for permutation in permutations {
        for (point, &image) in (0u32..).zip(permutation) {
            joined.union(point, image);
        }
    }
    let label = joined.into_labeling();
    let mut smallest = vec![u32::MAX; points];
    for (point, &label) in (0u32..).zip(&label) {
        let known = &mut smallest[label as usize];
        *known = point.min(*known);
    }
    label.into_iter().map(|label| smallest[label as usize]).collect()
}
