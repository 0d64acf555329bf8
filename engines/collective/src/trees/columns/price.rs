//! Pricing: finds trees with a negative reduced cost (docs/methods/collective-trees.md, section 11).

use super::TreeQuestion;
use crate::trees::arborescence::cheapest_arborescence;
use crate::trees::grow::Growth;
use crate::trees::hops::hops;
use crate::trees::tree::{ROOT, Tree};
use rustc_hash::FxHashSet;

/// Prices of links and latencies.
pub struct Pricing<'p> {
    pub question: &'p TreeQuestion<'p>,
    /// Price of one use of each link.
    pub prices: &'p [f64],
    /// Price of a microsecond of latency of one GPU.
    pub per_us: f64,
    /// Price of a microsecond of a tree's depth.
    pub per_depth_us: f64,
    /// Maximum number of hops for which cheapest arborescences are computed.
    pub hops: usize,
}

/// Weights of latency with which trees are grown, in addition to the weight in the objective; relative to the mean
/// price of a link divided by the largest latency.
const BETAS: [f64; 5] = [0.0, 0.1, 1.0, 10.0, 1000.0];

impl Pricing<'_> {
    /// Returns new trees of an orbit's representative whose price is below `below`.
    pub fn trees(&self, orbit: usize, below: f64, known: &FxHashSet<Tree>) -> Vec<Tree> {
        let question = self.question;
        let root = question.fold.representatives()[orbit];
        // Unit of the latency weights: the mean price of a link divided by the largest latency.
        let mean = self.prices.iter().sum::<f64>() / self.prices.len().max(1) as f64;
        let slowest = question.latencies.iter().copied().fold(0.0, f64::max);
        let usual = if slowest > 0.0 { mean / slowest } else { 0.0 };
        let mut trees: Vec<Tree> = Vec::new();
        let mut take = |tree: Option<Tree>| {
            let Some(tree) = tree else { return };
            // Takes new trees with a negative reduced cost.
            if self.cost(&tree) < below && !known.contains(&tree) && !trees.contains(&tree) {
                trees.push(tree);
            }
        };
        let growth = Growth {
            network: question.network,
            ranks: question.ranks,
            prices: self.prices,
            latencies: question.latencies,
            per_us: 0.0,
        };
        // Several weights of latency give several trees of about the same price.
        for beta in BETAS {
            // A small weight on latency decides between paths of equal price.
            take(Growth { per_us: self.per_us + (beta + 1e-6) * usual, ..growth }.tree(root));
        }
        // Exact pricing if latency is not in the objective: a cheapest arborescence ignores depth.
        if self.per_us == 0.0 {
            take(self.arborescence(root, 1e-6 * usual));
        }
        trees
    }

    /// Returns the price of the links and the latencies of a tree.
    fn cost(&self, tree: &Tree) -> f64 {
        let links: f64 = tree.links().iter().map(|link| self.prices[*link as usize]).sum();
        links + self.latency_cost(tree)
    }

    /// Returns the price of the latencies of a tree: of their sum over all GPUs, plus the price of the largest latency.
    pub fn latency_cost(&self, tree: &Tree) -> f64 {
        if self.per_us == 0.0 && self.per_depth_us == 0.0 {
            return 0.0;
        }
        let reached = tree.reached(|link| self.question.latencies[link as usize]);
        let deepest = reached.iter().copied().fold(0.0, f64::max);
        self.per_us * reached.iter().sum::<f64>() + self.per_depth_us * deepest
    }

    /// Returns the cheapest tree from a root, with `per_us` as the price of latency; `None` if there are too many hops,
    /// or if some GPU is not a rank or cannot be reached.
    fn arborescence(&self, root: u32, per_us: f64) -> Option<Tree> {
        let question = self.question;
        let gpus = question.network.gpus();
        // A tree may omit GPUs that are not ranks, but an arborescence spans all GPUs.
        if !gpus.iter().all(|gpu| question.ranks[*gpu as usize]) {
            return None;
        }
        let hops = hops(question.network, self.prices, question.latencies, per_us, self.hops)?;
        // GPUs have separate numbers here, because hops end only at GPUs.
        let mut number = vec![u32::MAX; question.network.node_count()];
        gpus.iter().enumerate().for_each(|(place, gpu)| number[*gpu as usize] = place as u32);
        let arcs: Vec<(u32, u32, f64)> =
            hops.iter().map(|hop| (number[hop.from as usize], number[hop.to as usize], hop.price)).collect();
        // Cheapest arborescence over hops (Chu and Liu, Edmonds).
        let entering = cheapest_arborescence(gpus.len(), number[root as usize], &arcs)?;
        let mut children: Vec<Vec<u32>> = vec![Vec::new(); gpus.len()];
        for arc in entering.into_iter().flatten() {
            children[arcs[arc as usize].0 as usize].push(arc);
        }
        // From the root outwards, parents first.
        let mut tree = Tree::new(root);
        let mut reached = vec![(number[root as usize], ROOT)];
        let mut place = 0;
        while let Some(&(node, parent)) = reached.get(place) {
            place += 1;
            for &arc in &children[node as usize] {
                let hop = &hops[arc as usize];
                let position = tree.add(parent, hop.from, hop.to, &hop.links);
                reached.push((arcs[arc as usize].1, position));
            }
        }
        Some(tree)
    }
}
