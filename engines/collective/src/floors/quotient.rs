//! Equitable partition of a graph around one node; flows to that node have the same value as on the graph
//! (docs/methods/collective.md, section 5).
//!
//! Nodes of a cell have equal total capacity to, and from, every other cell. A flow between two cells can be spread
//! over the links between them in proportion to their capacities. The result conserves flow at every node and respects
//! all capacities, so a flow of the quotient is also possible on the graph; conversely, a flow of the graph, summed
//! over the cells, is a flow of the quotient.

use super::digraph::Digraph;
use rustc_hash::FxHashMap;

/// A graph whose nodes are the cells of an equitable partition.
#[derive(Clone, Debug)]
pub struct Quotient {
    /// Cell of each node.
    pub cells: Vec<u32>,
    /// Graph of the cells; its capacities are sums over the links between two cells.
    pub graph: Digraph,
    /// Amount of data of each cell, summed over its nodes.
    pub shards: Vec<i128>,
    /// Cell of the node around which the partition is made; it contains no other node.
    pub alone: u32,
}

/// Returns the coarsest equitable partition that separates nodes with different amounts of data (`shards`, one number
/// per node) and puts `alone` in its own cell.
pub fn quotient(graph: &Digraph, shards: &[i128], alone: u32) -> Quotient {
    // Initial cells: nodes with equal amounts of data, and the cell of `alone`.
    let mut known: FxHashMap<(bool, i128), u32> = FxHashMap::default();
    let mut cells: Vec<u32> = Vec::with_capacity(graph.nodes());
    for (node, &shard) in shards.iter().enumerate() {
        let next = known.len() as u32;
        cells.push(*known.entry((node as u32 == alone, shard)).or_insert(next));
    }
    let mut count = known.len();
    // Colour refinement until nothing changes.
    loop {
        let refined = refine(graph, &cells);
        let cells_now = refined.iter().max().map_or(0, |cell| *cell as usize + 1);
        cells = refined;
        // The partition is stable when a refinement makes no new cell.
        if cells_now == count {
            break;
        }
        count = cells_now;
    }
    let mut sums: FxHashMap<(u32, u32), i128> = FxHashMap::default();
    let mut order = Vec::new();
    // Sums the capacities between cells; links inside a cell do not affect the flow.
    for arc in graph.arcs() {
        let ends = (cells[arc.from as usize], cells[arc.to as usize]);
        if ends.0 != ends.1 {
            *sums.entry(ends).or_insert_with(|| {
                order.push(ends);
                0
            }) += arc.capacity;
        }
    }
    let arcs = order.into_iter().map(|ends| (ends.0, ends.1, sums.get(&ends).copied().unwrap_or(0)));
    let mut cell_shards = vec![0; count];
    for (cell, shard) in cells.iter().zip(shards) {
        cell_shards[*cell as usize] += shard;
    }
    let (graph, alone) = (Digraph::with_arcs(count, arcs), cells[alone as usize]);
    Quotient { cells, graph, shards: cell_shards, alone }
}

/// Refines a partition once: nodes stay in a common cell if they have equal capacity to and from every cell. Returns
/// the new cell of each node.
fn refine(graph: &Digraph, cells: &[u32]) -> Vec<u32> {
    let mut known: FxHashMap<Vec<(u32, i128)>, u32> = FxHashMap::default();
    let mut refined = Vec::with_capacity(cells.len());
    let mut sums: Vec<(u32, i128)> = Vec::new();
    for node in 0..graph.nodes() as u32 {
        // The key: own cell, then capacity to every cell, then from every cell.
        let mut key = vec![(cells[node as usize], 0)];
        for outwards in [true, false] {
            sums.clear();
            for &arc in if outwards { graph.out(node) } else { graph.into(node) } {
                let arc = graph.arcs()[arc as usize];
                let other = if outwards { arc.to } else { arc.from };
                sums.push((cells[other as usize], arc.capacity));
            }
            sums.sort_unstable();
            let begin = key.len() + 1;
            // A number that is not the number of a cell separates the two lists.
            key.push((u32::MAX, 0));
            for &(cell, capacity) in &sums {
                match key[begin..].last() {
                    Some(last) if last.0 == cell => {
                        let place = key.len() - 1;
                        key[place].1 += capacity;
                    }
                    _ => key.push((cell, capacity)),
                }
            }
        }
        let next = known.len() as u32;
        refined.push(*known.entry(key).or_insert(next));
    }
    refined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_of_a_ring_are_the_distances_from_a_node() {
        let ring = Digraph::with_arcs(
            6,
            (0..6).flat_map(|node| [(node, (node + 1) % 6, 2), ((node + 1) % 6, node, 2)]),
        );
        let quotient = quotient(&ring, &[1; 6], 2);
        let cells: Vec<u32> = (0..6).map(|node| quotient.cells[(2 + node) % 6]).collect();
        assert_eq!((cells[1], cells[2]), (cells[5], cells[4]));
        assert_eq!(quotient.graph.nodes(), 4);
        assert_eq!(quotient.graph.in_capacity(quotient.alone), 4);
        assert_eq!(quotient.shards.iter().sum::<i128>(), 6);
        assert_eq!(quotient.shards[quotient.alone as usize], 1);
    }
}
