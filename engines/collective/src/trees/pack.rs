//! Exact packing of spanning trees at the rate of the floor, on graphs of which every node is a GPU (Edmonds; Bérczi
//! and Frank; docs/methods/collective.md, section 11).

use crate::floors::digraph::Digraph;
use crate::floors::maxflow::FlowNetwork;
use rustc_hash::FxHashSet;
use thiserror::Error;

/// A packing that got stuck: the demand breaks a cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "no link can join node {node} to the trees of root {root}: the capacities do not allow this many trees"
)]
pub struct Stuck {
    /// Root of the trees.
    pub root: u32,
    /// A node that they do not reach.
    pub node: u32,
}

/// Equal trees of a root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeClass {
    /// Root.
    pub root: u32,
    /// Number of trees.
    pub multiplicity: i128,
    /// Links of the graph, each from a node that an earlier one reaches.
    pub arcs: Vec<u32>,
}

/// Trees that have reached the same nodes over the same links.
#[derive(Clone, Debug)]
struct Growing {
    root: u32,
    multiplicity: i128,
    arcs: Vec<u32>,
    /// Latency at which each node is reached; infinite for those that are not.
    reached: Vec<f64>,
    count: usize,
    /// Links that can never join these trees.
    refused: FxHashSet<u32>,
}

/// Returns trees that span all nodes, `roots[u]` of them rooted at `u`, such that no link is in more trees than its
/// capacity. `latencies` are those of the links: those near the root are tried first.
///
/// # Errors
/// If the capacities do not allow it: some node set is left by less capacity than there are roots in it.
pub fn pack(graph: &Digraph, roots: &[i128], latencies: &[f64]) -> Result<Vec<TreeClass>, Stuck> {
    let nodes = graph.nodes();
    let mut left: Vec<i128> = graph.arcs().iter().map(|arc| arc.capacity).collect();
    let mut growing: Vec<Growing> = Vec::new();
    for (root, &multiplicity) in roots.iter().enumerate() {
        if multiplicity > 0 {
            let mut reached = vec![f64::INFINITY; nodes];
            reached[root] = 0.0;
            let (root, arcs, refused) = (root as u32, Vec::new(), FxHashSet::default());
            growing.push(Growing { root, multiplicity, arcs, reached, count: 1, refused });
        }
    }
    let mut done = Vec::new();
    // One class of equal trees at a time grows until it spans.
    while let Some(mut class) = growing.pop() {
        while class.count < nodes {
            // By the theorem some link can always join if the capacities allow the trees at all.
            let Some((arc, most)) = next_link(graph, &left, &class, &growing, latencies) else {
                let node = class.reached.iter().position(|time| time.is_infinite()).unwrap_or(0) as u32;
                return Err(Stuck { root: class.root, node });
            };
            class.refused.extend(most.refused);
            // Part of the class takes the link; the rest goes on without it.
            if most.room < class.multiplicity {
                // The rest goes on without this link.
                growing.push(Growing { multiplicity: class.multiplicity - most.room, ..class.clone() });
                class.multiplicity = most.room;
            }
            let ends = graph.arcs()[arc as usize];
            // The class uses up capacity of the link.
            left[arc as usize] -= class.multiplicity;
            class.reached[ends.to as usize] = class.reached[ends.from as usize] + latencies[arc as usize];
            class.count += 1;
            class.arcs.push(arc);
        }
        done.push(TreeClass { root: class.root, multiplicity: class.multiplicity, arcs: class.arcs });
    }
    Ok(done)
}

/// Room for trees on a link, and the links that were found to have none.
struct Room {
    room: i128,
    refused: Vec<u32>,
}

/// The first link, by the latency of its tail, that can join some of the trees of a class.
fn next_link(
    graph: &Digraph,
    left: &[i128],
    class: &Growing,
    others: &[Growing],
    latencies: &[f64],
) -> Option<(u32, Room)> {
    let mut candidates: Vec<(f64, u32)> = Vec::new();
    // Links that leave the reached nodes and have room.
    for (arc, ends) in graph.arcs().iter().enumerate() {
        let (from, to) = (class.reached[ends.from as usize], class.reached[ends.to as usize]);
        if from.is_finite() && to.is_infinite() && left[arc] > 0 && !class.refused.contains(&(arc as u32)) {
            candidates.push((from + latencies[arc], arc as u32));
        }
    }
    // Near the root first, for shallow trees.
    candidates.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
    let waiting: i128 = others.iter().map(|other| other.multiplicity).sum();
    let mut refused = Vec::new();
    for (_, arc) in candidates {
        let (x, y) = (graph.arcs()[arc as usize].from, graph.arcs()[arc as usize].to);
        // The flow from x to y with the other classes' needs as detours is the least that a cut between them has to
        // spare, plus what the others need.
        let mut network = FlowNetwork::<i128>::new(graph.nodes() + others.len());
        for (place, ends) in graph.arcs().iter().enumerate() {
            if left[place] > 0 {
                network.add(ends.from, ends.to, left[place]);
            }
        }
        // Needs of classes that have not spanned yet, as detours from x.
        for (place, other) in others.iter().enumerate() {
            if other.count == 1 && other.root == x {
                continue;
            }
            let detour = (graph.nodes() + place) as u32;
            network.add(x, detour, other.multiplicity);
            for (node, time) in other.reached.iter().enumerate() {
                if time.is_finite() {
                    network.add(detour, node as u32, other.multiplicity);
                }
            }
        }
        // What the cut can spare beyond the needs of the others.
        let wanted = class.multiplicity.min(left[arc as usize]);
        let room = network.max_flow(x, y, wanted + waiting) - waiting;
        if room > 0 {
            return Some((arc, Room { room: room.min(wanted), refused }));
        }
        // A cut without room between the nodes of these trees and the head stays without.
        refused.push(arc);
    }
    None
}

#[cfg(test)]
mod tests;
