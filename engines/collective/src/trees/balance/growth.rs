//! Growth of one tree while every hop raises the prices of its links.
//!
//! Prices only rise while a tree grows, so the keys of candidates only rise, too: a candidate at the top of a heap whose
//! key is outdated returns to the heap with its present key (lazy evaluation). The candidates of a switch are the
//! paths from GPUs of the tree to this switch, and its links to GPUs outside the tree; the best hop through the switch
//! joins the best of both.

use super::{BalanceLimits, LoadPrices, OVER_DEPTH};
use crate::trees::columns::TreeQuestion;
use crate::trees::grow::trimmed;
use crate::trees::tree::{ROOT, Tree};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A heap of candidates by key. Keys are finite and not negative, so their bits sort in the same order as the numbers.
type KeyHeap = BinaryHeap<Reverse<(u64, u32)>>;

/// A path from a GPU of the tree to a switch, or to a GPU outside the tree.
#[derive(Clone, Copy, Debug)]
struct TreePath {
    from: u32,
    /// Hop that brought the data to `from`.
    parent: u32,
    /// Latency from the root to the end of the path, µs.
    latency_us: f64,
    /// Last link, and the path before this link, or `NONE`.
    link: u32,
    before: u32,
    /// `true` if a hop of the tree follows the path, and the switch at its end can copy what arrives.
    is_used: bool,
}

/// Marker for a missing path.
const NONE: u32 = u32::MAX;

/// Grows trees under prices of links.
pub(super) struct PricedGrowth<'q> {
    question: &'q TreeQuestion<'q>,
    per_us: f64,
    depth_us: f64,
    copies: bool,
    ranks: usize,
    joined: Vec<bool>,
    paths: Vec<TreePath>,
    /// Paths to each switch.
    sources: Vec<KeyHeap>,
    /// Links from each switch to GPUs.
    targets: Vec<KeyHeap>,
    /// Best hops: through the switch with this number or, above the numbers of the nodes, along this path.
    heap: KeyHeap,
    /// For each switch, the last GPU from which a path to the switch was added.
    seen: Vec<u32>,
}

impl<'q> PricedGrowth<'q> {
    pub(super) fn new(question: &'q TreeQuestion<'q>, per_us: f64, limits: &BalanceLimits) -> Self {
        let nodes = question.network.node_count();
        Self {
            question,
            per_us,
            depth_us: limits.depth_us,
            copies: limits.copies,
            ranks: question.ranks.iter().filter(|rank| **rank).count(),
            joined: vec![false; nodes],
            paths: Vec::new(),
            sources: vec![BinaryHeap::new(); nodes],
            targets: vec![BinaryHeap::new(); nodes],
            heap: BinaryHeap::new(),
            seen: vec![NONE; nodes],
        }
    }

    /// Returns a tree from a root to all ranks whose loads are added to `prices`; `None` if a rank cannot be reached.
    pub(super) fn tree(&mut self, root: u32, prices: &mut LoadPrices) -> Option<Tree> {
        let network = self.question.network;
        self.joined.fill(false);
        self.seen.fill(NONE);
        self.paths.clear();
        self.heap.clear();
        self.sources.iter_mut().for_each(BinaryHeap::clear);
        for switch in (0..network.node_count() as u32).filter(|node| network.is_switch(*node)) {
            let links = network.out_links(switch).iter().copied();
            let to_gpus = links.filter(|link| !network.is_switch(network.links()[*link as usize].to));
            let keyed = to_gpus.map(|link| Reverse((self.link_key(link, prices).to_bits(), link)));
            self.targets[switch as usize] = keyed.collect::<Vec<_>>().into();
        }
        let mut tree = Tree::new(root);
        let mut missing = self.ranks - usize::from(self.question.ranks[root as usize]);
        self.join(root, ROOT, 0.0, prices);
        let mut links = Vec::new();
        while missing > 0 {
            let Reverse((key, candidate)) = self.heap.pop()?;
            let Some((now, path, last)) = self.best_hop(candidate, prices) else { continue };
            // The hop costs more than when it entered the heap.
            if now.to_bits() > key {
                self.heap.push(Reverse((now.to_bits(), candidate)));
                continue;
            }
            links.clear();
            links.extend(last);
            let mut crossed = links.len();
            let mut at = path;
            while at != NONE {
                let step = &mut self.paths[at as usize];
                links.push(step.link);
                // The first links of a path are used if a later one is.
                if !std::mem::replace(&mut step.is_used, self.copies && last.is_some()) {
                    crossed = links.len();
                }
                at = step.before;
            }
            for link in &links[..crossed] {
                prices.shift(self.question.fold.classes()[*link as usize], 1.0);
            }
            links.reverse();
            let TreePath { from, parent, latency_us, .. } = self.paths[path as usize];
            let to = links.last().map_or(from, |link| network.links()[*link as usize].to);
            let hop = tree.add(parent, from, to, &links);
            missing -= usize::from(self.question.ranks[to as usize]);
            let last_us = last.map_or(0.0, |link| self.question.latencies[link as usize]);
            self.join(to, hop, latency_us + last_us, prices);
            // The next hop through the same switch; a path that is used costs nothing more.
            if self.copies && last.is_some() {
                let key = self.path_key(path, prices).to_bits();
                self.sources[candidate as usize].push(Reverse((key, path)));
            }
            if (candidate as usize) < network.node_count()
                && let Some((next, ..)) = self.best_hop(candidate, prices)
            {
                self.heap.push(Reverse((next.to_bits(), candidate)));
            }
        }
        let whole = trimmed(&tree, self.question.ranks);
        if let Some(trimmed) = whole {
            // Hops to relays that forward nothing were priced, but are not part of the tree.
            let class = |link: &u32| self.question.fold.classes()[*link as usize];
            tree.transmissions(self.copies).iter().for_each(|link| prices.shift(class(link), -1.0));
            trimmed.transmissions(self.copies).iter().for_each(|link| prices.shift(class(link), 1.0));
            return Some(trimmed);
        }
        Some(tree)
    }

    fn link_key(&self, link: u32, prices: &LoadPrices) -> f64 {
        let class = self.question.fold.classes()[link as usize];
        prices.prices[class as usize] + self.per_us * self.question.latencies[link as usize]
    }

    fn path_key(&self, path: u32, prices: &LoadPrices) -> f64 {
        let latency_us = self.paths[path as usize].latency_us;
        let mut key = self.per_us * (latency_us + OVER_DEPTH * (latency_us - self.depth_us).max(0.0));
        let mut at = path;
        while at != NONE {
            let step = &self.paths[at as usize];
            if step.is_used {
                break;
            }
            key += prices.prices[self.question.fold.classes()[step.link as usize] as usize];
            at = step.before;
        }
        key
    }

    /// Returns the present key of the best hop of a candidate, its path, and its last link if the path ends at a switch;
    /// `None` if the candidate has no hop to a GPU outside the tree.
    fn best_hop(&mut self, candidate: u32, prices: &LoadPrices) -> Option<(f64, u32, Option<u32>)> {
        let network = self.question.network;
        if let Some(path) = candidate.checked_sub(network.node_count() as u32) {
            let head = network.links()[self.paths[path as usize].link as usize].to;
            return (!self.joined[head as usize]).then(|| (self.path_key(path, prices), path, None));
        }
        let switch = candidate as usize;
        let (target, link) = loop {
            let Reverse((key, link)) = *self.targets[switch].peek()?;
            if self.joined[network.links()[link as usize].to as usize] {
                self.targets[switch].pop();
                continue;
            }
            let now = self.link_key(link, prices);
            if now.to_bits() <= key {
                break (now, link);
            }
            self.targets[switch].pop();
            self.targets[switch].push(Reverse((now.to_bits(), link)));
        };
        let (source, path) = loop {
            let Reverse((key, path)) = *self.sources[switch].peek()?;
            let now = self.path_key(path, prices);
            if now.to_bits() <= key {
                break (now, path);
            }
            self.sources[switch].pop();
            self.sources[switch].push(Reverse((now.to_bits(), path)));
        };
        Some((source + target, path, Some(link)))
    }

    /// Adds a GPU to the tree, and the paths from it to switches and to other GPUs.
    fn join(&mut self, gpu: u32, parent: u32, latency_us: f64, prices: &LoadPrices) {
        let network = self.question.network;
        self.joined[gpu as usize] = true;
        // Cheapest paths through switches, by Dijkstra's algorithm; each switch is reached once.
        let mut frontier: KeyHeap = BinaryHeap::new();
        self.leave(gpu, (gpu, parent, NONE, latency_us), &mut frontier, prices);
        while let Some(Reverse((key, path))) = frontier.pop() {
            let switch = network.links()[self.paths[path as usize].link as usize].to;
            if std::mem::replace(&mut self.seen[switch as usize], gpu) == gpu {
                continue;
            }
            self.sources[switch as usize].push(Reverse((key, path)));
            // The new path may be the best one to the switch.
            if self.sources[switch as usize].peek().is_some_and(|Reverse((_, top))| *top == path)
                && let Some((best, ..)) = self.best_hop(switch, prices)
            {
                self.heap.push(Reverse((best.to_bits(), switch)));
            }
            let reached_us = self.paths[path as usize].latency_us;
            self.leave(switch, (gpu, parent, path, reached_us), &mut frontier, prices);
        }
    }

    /// Extends a path, which ends at a node, by the links from this node: links to switches enter the frontier, and
    /// links from GPUs to GPUs outside the tree become candidates.
    fn leave(
        &mut self,
        node: u32,
        (from, parent, before, so_far_us): (u32, u32, u32, f64),
        frontier: &mut KeyHeap,
        prices: &LoadPrices,
    ) {
        let network = self.question.network;
        for &link in network.out_links(node) {
            let head = network.links()[link as usize].to;
            let is_switch = network.is_switch(head);
            // The last hop from a switch to a GPU is a candidate of the switch.
            let skips = if is_switch {
                self.seen[head as usize] == from
            } else {
                before != NONE || self.joined[head as usize]
            };
            if skips {
                continue;
            }
            let latency_us = so_far_us + self.question.latencies[link as usize];
            let path = self.paths.len() as u32;
            self.paths.push(TreePath { from, parent, latency_us, link, before, is_used: false });
            let key = self.path_key(path, prices).to_bits();
            if is_switch {
                frontier.push(Reverse((key, path)));
            } else {
                self.heap.push(Reverse((key, network.node_count() as u32 + path)));
            }
        }
    }
}
