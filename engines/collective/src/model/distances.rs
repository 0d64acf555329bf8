//! Shortest times between nodes, in epochs, worked out when they are asked for.

use crate::scenario::network::LinkNetwork;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::OnceLock;

/// Distance to what no path leads to.
pub const FAR: u32 = u32::MAX / 4;

/// Shortest times from and to every node.
#[derive(Clone, Debug)]
pub struct EpochDistances {
    from: Vec<OnceLock<Box<[u32]>>>,
    to: Vec<OnceLock<Box<[u32]>>>,
    lengths: Vec<u32>,
}

impl EpochDistances {
    /// Distances for a length of every link.
    pub fn new(network: &LinkNetwork, lengths: Vec<u32>) -> Self {
        let rows = || (0..network.node_count()).map(|_| OnceLock::new()).collect();
        Self { from: rows(), to: rows(), lengths }
    }

    /// Distances from a node to all.
    pub fn from(&self, network: &LinkNetwork, node: u32) -> &[u32] {
        self.from[node as usize].get_or_init(|| dijkstra(network, &self.lengths, node, false))
    }

    /// Distances from all nodes to one.
    pub fn to(&self, network: &LinkNetwork, node: u32) -> &[u32] {
        self.to[node as usize].get_or_init(|| dijkstra(network, &self.lengths, node, true))
    }
}

/// Distances from a node, or to it.
fn dijkstra(network: &LinkNetwork, lengths: &[u32], node: u32, backwards: bool) -> Box<[u32]> {
    let mut distances = vec![FAR; network.node_count()].into_boxed_slice();
    distances[node as usize] = 0;
    let mut open = BinaryHeap::from([(Reverse(0u32), node)]);
    while let Some((Reverse(distance), at)) = open.pop() {
        if distance > distances[at as usize] {
            continue;
        }
        let links = if backwards { network.in_links(at) } else { network.out_links(at) };
        for &link in links {
            let ends = &network.links()[link as usize];
            let next = if backwards { ends.from } else { ends.to };
            let reached = distance.saturating_add(lengths[link as usize]).min(FAR);
            if reached < distances[next as usize] {
                distances[next as usize] = reached;
                open.push((Reverse(reached), next));
            }
        }
    }
    distances
}
