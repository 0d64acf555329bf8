//! Shortest paths from all sources of a network under one length per class, and the loads of flows that are split
//! equally over these paths.

use super::network::Network;
use lightbay_core::method::MethodError;
use lightbay_core::watch::Watch;
use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Number of bits of a node in an entry of the queue. These bits are enough for a million nodes; the other 44 bits
/// store the distance, which is a sum of 32-bit lengths.
const NODE_BITS: u32 = 20;

/// Distance of a node that was not reached.
pub const FAR: u64 = u64::MAX;

/// Buffers that are reused between sources.
#[derive(Debug, Default)]
pub struct Scratch {
    /// Distance of every node from the source.
    pub distance: Vec<u64>,
    /// Reached nodes in ascending order of distance; the source comes first.
    pub order: Vec<u32>,
    queue: BinaryHeap<Reverse<u64>>,
    amount: Vec<f64>,
    tight: Vec<u32>,
}

/// Sums over all sources under some lengths.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// Sum of the distances of all pairs that start at a source; `None` if a pair is not connected.
    pub distance: Option<u64>,
    /// `loads[group * classes + class]`: load of each class if every source of the group sends one unit to every other
    /// node.
    pub loads: Vec<f64>,
}

/// Computes the distances from one source, and stores them in `scratch`.
pub fn distances(network: &Network, lengths: &[u32], source: usize, scratch: &mut Scratch) {
    // Dijkstra with a binary heap; distance and node share a word, so ties break by node.
    let Scratch { distance, order, queue, .. } = scratch;
    distance.clear();
    distance.resize(network.nodes(), FAR);
    order.clear();
    queue.clear();
    distance[source] = 0;
    queue.push(Reverse(source as u64));
    while let Some(Reverse(entry)) = queue.pop() {
        let (at, node) = (entry >> NODE_BITS, (entry & ((1 << NODE_BITS) - 1)) as usize);
        // Stale entry.
        if at > distance[node] {
            continue;
        }
        order.push(node as u32);
        for arc in network.out(node) {
            let head = network.head(arc);
            let there = at + u64::from(lengths[network.class(arc)]);
            if there < distance[head] {
                distance[head] = there;
                queue.push(Reverse((there << NODE_BITS) | head as u64));
            }
        }
    }
}

/// Distributes the demand of every node over all shortest paths to it, split equally at each node, from the target
/// backwards; calls `on` with every arc and its load. `scratch` must contain the distances from the source.
pub fn split(
    network: &Network,
    lengths: &[u32],
    scratch: &mut Scratch,
    want: impl Fn(usize) -> f64,
    mut on: impl FnMut(usize, f64),
) {
    let Scratch { distance, order, amount, tight, .. } = scratch;
    // Nodes are processed in descending order of distance, so that the total load of a node is known when it is
    // processed (Brandes' accumulation).
    amount.clear();
    amount.extend((0..network.nodes()).map(want));
    for &node in order[1..].iter().rev() {
        let node = node as usize;
        let sent = amount[node];
        if sent == 0.0 {
            continue;
        }
        tight.clear();
        // Arcs of shortest paths: the equality is exact, because lengths are integers.
        tight.extend(network.into(node).iter().filter(|&&arc| {
            let tail = network.tail(arc as usize);
            distance[tail] != FAR
                && distance[tail] + u64::from(lengths[network.class(arc as usize)]) == distance[node]
        }));
        let share = sent / tight.len() as f64;
        for &arc in tight.iter() {
            amount[network.tail(arc as usize)] += share;
            on(arc as usize, share);
        }
    }
}

fn of_source(
    network: &Network,
    lengths: &[u32],
    source: usize,
    scratch: &mut Scratch,
    loads: &mut [f64],
) -> Option<u64> {
    distances(network, lengths, source, scratch);
    // An unreachable node makes every throughput 0.
    if scratch.order.len() < network.nodes() {
        return None;
    }
    let sum = scratch.distance.iter().sum();
    split(network, lengths, scratch, |_| 1.0, |arc, load| loads[network.class(arc)] += load);
    Some(sum)
}

/// Computes shortest paths from all sources, on the threads of the run; the result is the same for any number of
/// threads.
///
/// # Errors
/// The reason to stop.
pub fn sweep<W: Watch>(network: &Network, lengths: &[u32], watch: &mut W) -> Result<Sweep, MethodError> {
    let classes = network.class_count();
    let by_group = |group: usize, scratch: &mut Scratch, loads: &mut [f64]| -> Option<u64> {
        // Groups are independent: each thread writes its own rows.
        let mut sum = 0;
        for source in (0..network.sources().len()).filter(|source| network.group_of(*source) == group) {
            sum += of_source(network, lengths, network.sources()[source] as usize, scratch, loads)?;
        }
        Some(sum)
    };
    loop {
        // The results of an interrupted sweep are discarded; it is repeated, or the checkpoint ends the run.
        watch.checkpoint()?;
        let mut loads = vec![0.0; network.groups() * classes];
        let mut sums: Vec<Option<u64>> = vec![None; network.groups()];
        let mut whole = true;
        if watch.threads() > 1 {
            let stop = watch.stop_test();
            watch.parallel(|| {
                loads.par_chunks_mut(classes).zip(sums.par_iter_mut()).enumerate().for_each_init(
                    Scratch::default,
                    |scratch, (group, (loads, sum))| {
                        if !stop() {
                            *sum = by_group(group, scratch, loads);
                        }
                    },
                );
            });
            whole = !stop();
        } else {
            let mut scratch = Scratch::default();
            for (group, (loads, sum)) in loads.chunks_mut(classes).zip(sums.iter_mut()).enumerate() {
                *sum = by_group(group, &mut scratch, loads);
                watch.checkpoint()?;
            }
        }
        if whole {
            watch.count(network.sources().len() as u64);
            return Ok(Sweep { distance: sums.into_iter().sum(), loads });
        }
    }
}

/// Returns the upper bound that a metric proves for all flows. The bound is exact up to the rounding of one division.
pub fn upper(network: &Network, lengths: &[u32], distance: u64) -> f64 {
    let cost: u64 = lengths.iter().map(|length| u64::from(*length)).sum();
    // The factor below covers the rounding of the division.
    if distance == 0 {
        return f64::INFINITY;
    }
    network.capacity() * cost as f64 / distance as f64 * (1.0 + 1e-12)
}
