//! Trees grown hop by hop from prices of links: the heuristic pricing step of the column generation
//! (docs/methods/collective-trees.md, section 11).

use super::tree::{ROOT, Tree};
use crate::scenario::network::LinkNetwork;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Prices and latencies for growing trees.
#[derive(Clone, Copy, Debug)]
pub struct Growth<'n> {
    /// The network.
    pub network: &'n LinkNetwork,
    /// GPUs that a tree must reach, by node.
    pub ranks: &'n [bool],
    /// Price of each link.
    pub prices: &'n [f64],
    /// Latency of each link, µs.
    pub latencies: &'n [f64],
    /// Price of a microsecond of latency from the root.
    pub per_us: f64,
}

/// An entry of the frontier: a node that data could reach next.
#[derive(Clone, Copy, Debug)]
struct Reach {
    /// GPU of the tree from which the data would leave, and the hop that brought the data to it.
    from: u32,
    parent: u32,
    price: f64,
    latency: f64,
    /// Index of the entry for the previous switch on the path, and the link from this switch.
    before: u32,
    link: u32,
}

impl Growth<'_> {
    /// Grows a tree by always adding the next hop with the lowest cost: the price of its path plus the price of the
    /// latency so far. `None` if the tree cannot span the ranks. Drops relays that forward nothing.
    pub fn tree(&self, root: u32) -> Option<Tree> {
        let mut tree = Tree::new(root);
        let mut joined = vec![false; self.network.node_count()];
        let mut best = vec![f64::INFINITY; self.network.node_count()];
        let mut entries: Vec<Reach> = Vec::new();
        let mut heap: BinaryHeap<Reverse<(u64, u32, u32)>> = BinaryHeap::new();
        let mut missing =
            // Ranks that the tree does not reach yet.
            self.ranks.iter().filter(|rank| **rank).count() - usize::from(self.ranks[root as usize]);
        joined[root as usize] = true;
        let start =
            Reach { from: root, parent: ROOT, price: 0.0, latency: 0.0, before: u32::MAX, link: u32::MAX };
        // The tree grows from the root.
        self.relax(root, start, u32::MAX, &joined, &mut best, &mut entries, &mut heap);
        let mut links = Vec::new();
        while missing > 0 {
            let Reverse((_, node, entry)) = heap.pop()?;
            let reach = entries[entry as usize];
            // Stale entry: a cheaper hop has already reached the node.
            if joined[node as usize] {
                continue;
            }
            // A switch forwards at once, so its entry represents the path to it.
            if self.network.is_switch(node) {
                if self.key(&reach) <= best[node as usize] {
                    self.relax(node, reach, entry, &joined, &mut best, &mut entries, &mut heap);
                }
                continue;
            }
            // The links back to the last GPU.
            links.clear();
            let mut step = reach;
            loop {
                links.push(step.link);
                if step.before == u32::MAX {
                    break;
                }
                step = entries[step.before as usize];
            }
            links.reverse();
            let hop = tree.add(reach.parent, reach.from, node, &links);
            joined[node as usize] = true;
            missing -= usize::from(self.ranks[node as usize]);
            // A path from the new GPU pays only for the links after this GPU, but its latency includes the path from
            // the root.
            let start = Reach {
                from: node,
                parent: hop,
                price: 0.0,
                latency: reach.latency,
                before: u32::MAX,
                link: u32::MAX,
            };
            self.relax(node, start, u32::MAX, &joined, &mut best, &mut entries, &mut heap);
        }
        Some(trimmed(&tree, self.ranks).unwrap_or(tree))
    }

    fn key(&self, reach: &Reach) -> f64 {
        reach.price + self.per_us * reach.latency
    }

    /// Adds to the frontier the neighbours of a node that the data has reached.
    #[expect(
        clippy::too_many_arguments,
        reason = "the arguments are parts of one search, borrowed separately"
    )]
    fn relax(
        &self,
        node: u32,
        at: Reach,
        entry: u32,
        joined: &[bool],
        best: &mut [f64],
        entries: &mut Vec<Reach>,
        heap: &mut BinaryHeap<Reverse<(u64, u32, u32)>>,
    ) {
        for &link in self.network.out_links(node) {
            let head = self.network.links()[link as usize].to;
            let latency = at.latency + self.latencies[link as usize];
            // A GPU in the tree needs no other hop.
            if joined[head as usize] {
                continue;
            }
            let price = at.price + self.prices[link as usize];
            // Prices are summed from the forwarding GPU, latencies from the root.
            let reach = Reach { price, latency, before: entry, link, ..at };
            let key = self.key(&reach);
            if key < best[head as usize] {
                best[head as usize] = key;
                // Keys are finite and not negative, so their bits sort in the same order as the numbers.
                heap.push(Reverse((key.to_bits(), head, entries.len() as u32)));
                entries.push(reach);
            }
        }
    }
}

/// Returns the tree without relays (GPUs that are not ranks) that forward nothing; `None` if every relay forwards data.
pub fn trimmed(tree: &Tree, ranks: &[bool]) -> Option<Tree> {
    // A hop is useful if it ends at a rank or if one of its children is useful. Goes through the hops in reverse, so
    // that children come before parents.
    let mut useful: Vec<bool> = tree.hops().iter().map(|hop| ranks[hop.to as usize]).collect();
    for (place, hop) in tree.hops().iter().enumerate().rev() {
        if useful[place] && hop.parent != ROOT {
            useful[hop.parent as usize] = true;
        }
    }
    if useful.iter().all(|useful| *useful) {
        return None;
    }
    let mut trimmed = Tree::new(tree.root);
    let mut places = vec![ROOT; useful.len()];
    for (place, hop) in tree.hops().iter().enumerate().filter(|(place, _)| useful[*place]) {
        let parent = if hop.parent == ROOT { ROOT } else { places[hop.parent as usize] };
        places[place] = trimmed.add(parent, hop.from, hop.to, tree.links_of(hop));
    }
    Some(trimmed)
}
