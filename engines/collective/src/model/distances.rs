//! Shortest paths between nodes: earliest arrivals, and distances in epochs that are computed when they are needed.

use crate::scenario::network::LinkNetwork;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::OnceLock;

/// Distance to an unreachable node.
pub const FAR: u32 = u32::MAX / 4;

/// Shortest times from and to every node.
#[derive(Clone, Debug)]
pub struct EpochDistances {
    from: Vec<OnceLock<Box<[u32]>>>,
    to: Vec<OnceLock<Box<[u32]>>>,
    lengths: Vec<u32>,
}

impl EpochDistances {
    /// Creates the distances in a network whose links have the given lengths.
    pub fn new(network: &LinkNetwork, lengths: Vec<u32>) -> Self {
        let rows = || (0..network.node_count()).map(|_| OnceLock::new()).collect();
        Self { from: rows(), to: rows(), lengths }
    }

    /// Returns the distances from a node to all nodes.
    pub fn from(&self, network: &LinkNetwork, node: u32) -> &[u32] {
        self.from[node as usize].get_or_init(|| distances(network, &self.lengths, node, false))
    }

    /// Returns the distances from all nodes to a node.
    pub fn to(&self, network: &LinkNetwork, node: u32) -> &[u32] {
        self.to[node as usize].get_or_init(|| distances(network, &self.lengths, node, true))
    }
}

/// Returns the distances from a node to all nodes, or (with `towards`) from all nodes to this node.
fn distances(network: &LinkNetwork, lengths: &[u32], node: u32, towards: bool) -> Box<[u32]> {
    let ways = arrivals(network, node, towards, |link, at| at + f64::from(lengths[link as usize]));
    // Sums of epochs are integers, so the conversion is exact; infinity becomes `FAR`.
    ways.into_iter().map(|way| (way as u32).min(FAR)).collect()
}

/// Returns, for every node, the earliest time at which this node can have the data that `node` has at time 0, by
/// Dijkstra's algorithm; infinite for unreachable nodes. With `towards`, links are followed backwards: the shortest
/// paths from all nodes to `node`.
///
/// `arrival(link, at)` is the time at which data that is at one end of a link at time `at` reaches the other end, or
/// infinity. The arrival must not be before `at`, and data that starts later must not arrive earlier.
///
/// petgraph's `dijkstra` does not support costs that depend on the time. For constant costs, `dijkstra` takes 1.3 to
/// 2.0 times as long on the presets (584 to 16 nodes).
pub fn arrivals(
    network: &LinkNetwork,
    node: u32,
    towards: bool,
    arrival: impl Fn(u32, f64) -> f64,
) -> Vec<f64> {
    let mut best = vec![f64::INFINITY; network.node_count()];
    best[node as usize] = 0.0;
    // Times are not negative, so their bits sort in the same order as the numbers.
    let mut open = BinaryHeap::from([Reverse((0_u64, node))]);
    while let Some(Reverse((bits, node))) = open.pop() {
        let at = f64::from_bits(bits);
        // The node was reached earlier by another path.
        if at > best[node as usize] {
            continue;
        }
        for &link in if towards { network.in_links(node) } else { network.out_links(node) } {
            let ends = &network.links()[link as usize];
            let next = if towards { ends.from } else { ends.to };
            let time = arrival(link, at);
            if time < best[next as usize] {
                best[next as usize] = time;
                open.push(Reverse((time.to_bits(), next)));
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::presets;
    use petgraph::algo::dijkstra;
    use petgraph::graph::DiGraph;
    use petgraph::visit::{EdgeRef as _, Reversed};

    /// Distances of a library, for links of unequal lengths.
    #[test]
    fn distances_are_those_of_petgraph() {
        let network = LinkNetwork::of(&presets::scenario("ndv2x2-allgather-1gb").unwrap().topology).unwrap();
        let lengths: Vec<u32> = (0..network.links().len() as u32).map(|link| link * 7919 % 13).collect();
        let graph = DiGraph::<(), u32>::from_edges(
            network.links().iter().zip(&lengths).map(|(link, length)| (link.from, link.to, *length)),
        );
        let known = EpochDistances::new(&network, lengths);
        for node in graph.node_indices() {
            let from = dijkstra(&graph, node, None, |edge| *edge.weight());
            let to = dijkstra(Reversed(&graph), node, None, |edge| *edge.weight());
            let at = node.index() as u32;
            for other in graph.node_indices() {
                let reached = |found: Option<&u32>| found.copied().unwrap_or(FAR);
                assert_eq!(known.from(&network, at)[other.index()], reached(from.get(&other)));
                assert_eq!(known.to(&network, at)[other.index()], reached(to.get(&other)));
            }
        }
    }

    /// A link that is up late holds data back; one that was up too early never carries it.
    #[test]
    fn arrivals_wait_for_links() {
        let network = LinkNetwork::of(&presets::scenario("ndv2x2-allgather-1gb").unwrap().topology).unwrap();
        let first = network.out_links(0)[0];
        let next = network.links()[first as usize].to;
        // Only the first link carries data, from time 5 on.
        let late =
            arrivals(
                &network,
                0,
                false,
                |link, at| if link == first { at.max(5.0) + 1.0 } else { f64::INFINITY },
            );
        assert_eq!((late[0], late[next as usize]), (0.0, 6.0));
        assert_eq!(late.iter().filter(|time| time.is_finite()).count(), 2);
    }
}
