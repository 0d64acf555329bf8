//! A directed network for the flow problems of this crate. Arcs are divided into classes; the arcs of a class share one
//! capacity.

use crate::model::pod::{CHIPS, ELECTRICAL_LINKS, LINK_CLASSES, LINK_OF_ARC, PORTS};
use crate::model::topology::Topology;

/// Mean to which lengths are scaled before they are rounded to integers. With integers, sums are exact, so ties and
/// bounds are exact.
pub const MEAN_LENGTH: f64 = 65536.0;

/// Mark for a missing arc.
const NONE: u32 = u32::MAX;

/// Arcs with classes that share capacity, and the sources of the flows.
#[derive(Clone, Debug)]
pub struct Network {
    nodes: usize,
    /// First arc of each node in `heads`, followed by the number of arcs.
    starts: Vec<u32>,
    heads: Vec<u32>,
    tails: Vec<u32>,
    classes: Vec<u32>,
    class_count: usize,
    /// Total capacity of the arcs of each class.
    capacity: f64,
    /// First entry of each node in `into`, followed by the number of entries.
    into_starts: Vec<u32>,
    /// Arcs that arrive at each node, node by node.
    into: Vec<u32>,
    sources: Vec<u32>,
    /// Number of consecutive sources that share a column of the linear program.
    group: usize,
}

impl Network {
    /// Creates a network from its arcs `(tail, head, class)`, with all nodes as sources, each with its own column.
    pub fn new(nodes: usize, arcs: &[(u32, u32, u32)], class_count: usize, capacity: f64) -> Self {
        let mut order: Vec<usize> = (0..arcs.len()).collect();
        // Arcs sorted by tail, so that the arcs out of a node are adjacent.
        order.sort_by_key(|at| arcs[*at].0);
        let mut starts = vec![0_u32; nodes + 1];
        // Numbers of the arcs by head, by counting sort, so that the arcs into a node are adjacent.
        let mut into_starts = vec![0_u32; nodes + 1];
        for (tail, head, _) in arcs {
            starts[*tail as usize + 1] += 1;
            into_starts[*head as usize + 1] += 1;
        }
        for node in 0..nodes {
            starts[node + 1] += starts[node];
            into_starts[node + 1] += into_starts[node];
        }
        let tails: Vec<u32> = order.iter().map(|at| arcs[*at].0).collect();
        let heads: Vec<u32> = order.iter().map(|at| arcs[*at].1).collect();
        let classes = order.iter().map(|at| arcs[*at].2).collect();
        let mut next = into_starts.clone();
        let mut into = vec![NONE; arcs.len()];
        for (arc, head) in heads.iter().enumerate() {
            let place = &mut next[*head as usize];
            into[*place as usize] = arc as u32;
            *place += 1;
        }
        let sources = (0..nodes as u32).collect();
        Self {
            nodes,
            starts,
            heads,
            tails,
            classes,
            class_count,
            capacity,
            into_starts,
            into,
            sources,
            group: 1,
        }
    }

    /// Returns the same network, with only the first `count` sources.
    #[must_use]
    pub fn of_sources(mut self, count: usize) -> Self {
        self.sources.truncate(count);
        self
    }

    /// Creates the network of a pod. With symmetry: the 64 sources of cube 0 and the 192 link classes. Without
    /// symmetry: all sources, in groups of `group` consecutive sources, and one class for each link (`3 * node + axis`
    /// of its plus arc). A link carries one unit in each direction, and a reversed flow is also a flow, so a class of
    /// links has one length and capacity 2 per link. Links across failed switches are omitted, together with their
    /// classes ([`Network::working`]).
    pub fn pod(pod: &Topology, group: usize) -> Self {
        let symmetric = pod.symmetry().is_some();
        let working = Self::working(pod);
        // Classes across failed switches get no number.
        let mut place = vec![NONE; if symmetric { LINK_CLASSES } else { 3 * pod.nodes() }];
        for (at, &class) in (0u32..).zip(&working) {
            place[class] = at;
        }
        let mut arcs = Vec::with_capacity(PORTS * pod.nodes());
        for (node, near) in pod.neighbours().into_iter().enumerate() {
            // The class of an arc is the class of its link (symmetric pods) or the link itself.
            for (port, head) in near.into_iter().enumerate() {
                let class = if symmetric {
                    usize::from(LINK_OF_ARC[PORTS * (node % CHIPS) + port])
                } else {
                    let plus = if port % 2 == 0 { node } else { head as usize };
                    3 * plus + port / 2
                };
                if place[class] != NONE {
                    arcs.push((node as u32, head, place[class]));
                }
            }
        }
        let class_count = working.len();
        let mut network = Self::new(pod.nodes(), &arcs, class_count, 2.0);
        // The automorphisms map cube 0 to every other cube, so its 64 chips load the classes in the same proportion as
        // all chips.
        if symmetric {
            network.sources.truncate(CHIPS);
        } else {
            network.group = group.max(1);
        }
        network
    }

    /// The classes of the links of a pod that carry traffic: all except those across failed switches, in order.
    pub fn working(pod: &Topology) -> Vec<usize> {
        if pod.symmetry().is_some() {
            let open = |class: &usize| *class < ELECTRICAL_LINKS || !pod.is_failed(class - ELECTRICAL_LINKS);
            return (0..LINK_CLASSES).filter(open).collect();
        }
        (0..3 * pod.nodes()).filter(|link| pod.is_open((link / 3) as u32, 2 * (link % 3) as u8)).collect()
    }

    /// Number of nodes.
    pub const fn nodes(&self) -> usize {
        self.nodes
    }

    /// Number of classes.
    pub const fn class_count(&self) -> usize {
        self.class_count
    }

    /// Capacity of each class.
    pub const fn capacity(&self) -> f64 {
        self.capacity
    }

    /// The sources of the flows.
    pub fn sources(&self) -> &[u32] {
        &self.sources
    }

    /// Number of groups of sources.
    pub fn groups(&self) -> usize {
        self.sources.len().div_ceil(self.group)
    }

    /// Number of the group that contains the source at this position in [`Self::sources`].
    pub const fn group_of(&self, source: usize) -> usize {
        source / self.group
    }

    /// The arcs that leave a node. The arcs of a pod whose switches all work have the numbers `6 * node + port`.
    pub fn out(&self, node: usize) -> std::ops::Range<usize> {
        self.starts[node] as usize..self.starts[node + 1] as usize
    }

    /// The arcs that arrive at a node.
    pub fn into(&self, node: usize) -> &[u32] {
        &self.into[self.into_starts[node] as usize..self.into_starts[node + 1] as usize]
    }

    /// The node at the end of an arc.
    pub fn head(&self, arc: usize) -> usize {
        self.heads[arc] as usize
    }

    /// The node at the beginning of an arc.
    pub fn tail(&self, arc: usize) -> usize {
        self.tails[arc] as usize
    }

    /// The class of an arc.
    pub fn class(&self, arc: usize) -> usize {
        self.classes[arc] as usize
    }

    /// Number of arcs.
    pub fn arcs(&self) -> usize {
        self.heads.len()
    }

    /// Integers of at least 1 that are proportional to the lengths and have the mean [`MEAN_LENGTH`], up to rounding.
    /// Lengths that are all integers of at least 1 are unchanged.
    pub fn whole(lengths: &[f64]) -> Vec<u32> {
        // Integer lengths are unchanged, so that a certificate is reproduced bit for bit.
        let fits = |length: &f64| *length >= 1.0 && *length <= f64::from(u32::MAX) && length.fract() == 0.0;
        if lengths.iter().all(fits) {
            return lengths.iter().map(|length| *length as u32).collect();
        }
        let clean = |length: f64| if length.is_finite() { length.max(0.0) } else { 0.0 };
        let sum: f64 = lengths.iter().map(|length| clean(*length)).sum();
        // Scaling to the mean length limits the relative rounding error to about 1e-5.
        let factor = if sum > 0.0 { MEAN_LENGTH * lengths.len() as f64 / sum } else { 0.0 };
        lengths
            .iter()
            .map(|length| (clean(*length) * factor).round().clamp(1.0, f64::from(u32::MAX)) as u32)
            .collect()
    }
}
