//! Hops from GPU to GPU, directly or through switches, by the price of their links: Dijkstra's algorithm from every
//! GPU. Every hop ends at the next GPU, and the result must contain the links of the hop. petgraph's `dijkstra` cannot
//! be used, because it passes through every node and returns only distances.

use crate::scenario::network::LinkNetwork;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The cheapest path from one GPU to another through switches only.
#[derive(Clone, Debug, PartialEq)]
pub struct PricedHop {
    /// GPU that the hop leaves.
    pub from: u32,
    /// GPU that the hop reaches.
    pub to: u32,
    /// Links in order.
    pub links: Vec<u32>,
    /// Sum of prices and priced latencies.
    pub price: f64,
}

/// Returns the cheapest hop for every ordered pair of GPUs that has one; `None` if there are more than `most` hops.
pub fn hops(
    network: &LinkNetwork,
    prices: &[f64],
    latencies: &[f64],
    per_us: f64,
    most: usize,
) -> Option<Vec<PricedHop>> {
    let mut hops = Vec::new();
    let mut best = vec![f64::INFINITY; network.node_count()];
    let mut before = vec![u32::MAX; network.node_count()];
    let mut touched = Vec::new();
    let mut heap = BinaryHeap::new();
    for &gpu in network.gpus() {
        // Clears only the entries that the last search touched.
        for node in touched.drain(..) {
            best[node as usize] = f64::INFINITY;
        }
        best[gpu as usize] = 0.0;
        touched.push(gpu);
        heap.push(Reverse((0_u64, gpu)));
        while let Some(Reverse((bits, node))) = heap.pop() {
            let price = f64::from_bits(bits);
            // A stale entry.
            if price > best[node as usize] {
                continue;
            }
            // A GPU ends a hop; switches are passed through.
            if node != gpu && !network.is_switch(node) {
                let mut links = Vec::new();
                let mut at = node;
                while at != gpu {
                    let link = before[at as usize];
                    links.push(link);
                    at = network.links()[link as usize].from;
                }
                links.reverse();
                hops.push(PricedHop { from: gpu, to: node, links, price });
                if hops.len() > most {
                    return None;
                }
                continue;
            }
            for &link in network.out_links(node) {
                let head = network.links()[link as usize].to;
                let next = price + prices[link as usize] + per_us * latencies[link as usize];
                if next < best[head as usize] {
                    if best[head as usize].is_infinite() {
                        touched.push(head);
                    }
                    best[head as usize] = next;
                    before[head as usize] = link;
                    heap.push(Reverse((next.to_bits(), head)));
                }
            }
        }
    }
    Some(hops)
}
