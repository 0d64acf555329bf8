//! A pod prepared for routing: numbered arcs and their classes.

use crate::model::pod::{self, ARC_CLASSES, CHIPS, PORTS, SWITCHES};
use crate::model::topology::Topology;

/// Maximum number of virtual channels of a link: a turn has one version for each pair of virtual channels, and the
/// versions must fit into the 64 bits of a word.
pub const MAX_VCS: u8 = 8;

/// Arcs of a pod and their classes. A symmetric frame has 384 classes, one for each chip and port of a cube. Its
/// sources are the chips of cube 0; the group translates every result for these sources to all cubes. In a full frame
/// every arc is its own class and every node a source.
#[derive(Clone, Debug)]
pub struct Frame {
    nodes: usize,
    symmetric: bool,
    /// Node at the end of every arc, by arc.
    head: Vec<u32>,
    /// `into[6 * node + port]`: the arc that arrives at the node through the port.
    into: Vec<u32>,
    /// `true` for arc classes of a cube whose switch has failed.
    failed: [bool; ARC_CLASSES],
}

impl Frame {
    /// A pod without its failed switches. The frame is full if the pod is not symmetric or `full` is true.
    pub fn new(topology: &Topology, failed: &[u8], full: bool) -> Self {
        let nodes = topology.nodes();
        let head: Vec<u32> = topology.neighbours().concat();
        // Arcs come in pairs: the arc into a node is opposite to the arc out of the node through the same port.
        let into = (0..PORTS * nodes).map(|end| Self::arc(head[end], pod::opposite((end % PORTS) as u8)));
        let into = into.collect();
        // A failed switch closes the same classes of arcs in every cube.
        let mut frame = Self {
            nodes,
            symmetric: topology.symmetry().is_some() && !full,
            head,
            into,
            failed: [false; ARC_CLASSES],
        };
        for &switch in failed {
            frame.fail(usize::from(switch));
        }
        frame
    }

    /// Marks a switch as failed.
    pub fn fail(&mut self, switch: usize) {
        if switch < SWITCHES {
            for plus in [true, false] {
                // Both ends of the switch's circuits: the plus and the minus port.
                let class = pod::arc_class(pod::face_chip(switch, plus), pod::face_port(switch, plus));
                self.failed[class] = true;
            }
        }
    }

    /// Number of chips.
    pub const fn nodes(&self) -> usize {
        self.nodes
    }

    /// Number of arcs of the pod.
    pub const fn arcs(&self) -> usize {
        PORTS * self.nodes
    }

    /// Returns `true` if cube 0 represents all cubes.
    pub const fn is_symmetric(&self) -> bool {
        self.symmetric
    }

    /// Number of sources whose routes are computed: the chips of cube 0 in a symmetric frame, otherwise all nodes.
    pub const fn sources(&self) -> usize {
        if self.symmetric { CHIPS } else { self.nodes }
    }

    /// Number of classes of arcs.
    pub const fn classes(&self) -> usize {
        PORTS * self.sources()
    }

    /// Number of arcs of a class: the number of cubes in a symmetric frame, otherwise 1.
    pub const fn copies(&self) -> usize {
        self.nodes / self.sources()
    }

    /// Class of an arc.
    pub const fn class(&self, arc: u32) -> usize {
        if self.symmetric { arc as usize % ARC_CLASSES } else { arc as usize }
    }

    /// Returns `true` if the switch of an arc works; electrical links always do.
    pub const fn is_open(&self, arc: u32) -> bool {
        !self.failed[arc as usize % ARC_CLASSES]
    }

    /// Node at the end of an arc.
    pub fn head(&self, arc: u32) -> u32 {
        self.head[arc as usize]
    }

    /// Node at the start of an arc.
    pub const fn tail(arc: u32) -> u32 {
        arc / PORTS as u32
    }

    /// Port by which an arc leaves.
    pub const fn port(arc: u32) -> u8 {
        (arc % PORTS as u32) as u8
    }

    /// The arc that leaves a node by a port.
    pub const fn arc(node: u32, port: u8) -> u32 {
        PORTS as u32 * node + port as u32
    }

    /// The arc that arrives at a node through a port.
    pub fn into(&self, node: u32, port: u8) -> u32 {
        self.into[PORTS * node as usize + port as usize]
    }

    /// Calls `hop` with every arc of the route that leaves `source` by these ports.
    pub fn follow(&self, source: u32, ports: &[u8], mut hop: impl FnMut(u32)) {
        let mut node = source;
        for port in ports {
            let arc = Self::arc(node, *port);
            hop(arc);
            node = self.head(arc);
        }
    }
}
