//! Growing cuts that a fractional spread of data violates, from maximum flows on the network unrolled over time.

use super::question::{SpreadQuestion, SpreadSource};
use crate::floors::maxflow::FlowNetwork;
use crate::plan::GrowingCut;

/// Integer units of one shard in the flows. Rounding changes which cuts are found, not whether they hold.
const UNITS: f64 = 1e9;

/// A network unrolled over slots, for the flows of one source.
///
/// Every node has a copy for each number of slots before the end. Data waits at nodes for free; a link that carries
/// data in a slot delivers it after its latency, rounded down to whole slots.
#[derive(Debug)]
pub struct UnrolledNetwork {
    flows: FlowNetwork,
    /// Arc of each link and slot: link, slot, arc.
    arcs: Vec<(u32, u32, usize)>,
    slots: u32,
    nodes: u32,
}

impl UnrolledNetwork {
    /// Unrolls a network over `slots` slots; `delays` gives the latency of each link in whole slots.
    pub fn new(question: &SpreadQuestion<'_>, source: &SpreadSource, delays: &[u32], slots: u32) -> Self {
        let (network, layers) = (question.network, slots + 1);
        let nodes = network.node_count() as u32;
        let mut flows = FlowNetwork::new((nodes * layers) as usize);
        let copy = |node: u32, slot: u32| node * layers + slot;
        for node in 0..nodes {
            for slot in 1..=slots {
                flows.add(copy(node, slot), copy(node, slot - 1), i128::MAX / 4);
            }
        }
        // All sources of a set have the data at the start.
        for other in source.nodes.iter().skip(1) {
            flows.add(copy(source.nodes[0], slots), copy(*other, slots), i128::MAX / 4);
        }
        let mut arcs = Vec::new();
        for ((id, link), delay) in (0u32..).zip(network.links()).zip(delays) {
            if !source.nodes.contains(&link.to) {
                for slot in (delay + 1)..=slots {
                    let arc = flows.add(copy(link.from, slot), copy(link.to, slot - delay), 0);
                    arcs.push((id, slot, arc));
                }
            }
        }
        Self { flows, arcs, slots, nodes }
    }

    /// Sets the amounts, in shards, that links carry in slots.
    pub fn set(&mut self, amount: impl Fn(u32, u32) -> f64) {
        for &(link, slot, arc) in &self.arcs {
            self.flows.set(arc, (amount(link, slot).max(0.0) * UNITS).round() as i128);
        }
    }

    /// Returns the cut that limits the flow from a source to a target most, among the cuts that allow less than
    /// `limit` shards; `None` if the flow reaches `limit`.
    pub fn cut(&mut self, source: u32, target: u32, limit: f64) -> Option<GrowingCut> {
        let layers = self.slots + 1;
        let begin = source * layers + self.slots;
        let limit = (limit * UNITS) as i128;
        if self.flows.max_flow(begin, target * layers, limit) >= limit {
            return None;
        }
        let side = self.flows.source_side(begin);
        let joins = |node: u32| {
            (0..=self.slots).rev().find(|slot| side[(node * layers + slot) as usize]).unwrap_or(0)
        };
        Some(GrowingCut { source, target, weight: 0.0, slots: (0..self.nodes).map(joins).collect() })
    }
}
