//! Schedules of trees in compact form.

use super::fold::Fold;
use super::library::{ListPlan, TreeLibrary, TreePlan, TreePlanSort};
use super::tree::Tree;
use crate::floors::scale::gcd;
pub use crate::plan::compact::{CompactDiscipline, CompactPlan, CompactTree, FORMAT};
use crate::scenario::network::LinkNetwork;
use std::fmt;

/// The fraction of a root's data that a tree carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Numerator.
    pub parts: u64,
    /// Denominator.
    pub of: u64,
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let divisor = u64::try_from(gcd(i128::from(self.parts), i128::from(self.of))).unwrap_or(1).max(1);
        write!(f, "{}/{}", self.parts / divisor, self.of / divisor)
    }
}

/// Denominator of shares without a small common denominator: a power of two, so that parts are exact in floating point.
const PARTS: u64 = 1 << 30;
/// Maximum denominator that is assumed for shares of an LP model: the values at a vertex are quotients of small
/// determinants.
const SMALL: u64 = 20_000;

/// Returns fractions that are close to the shares and add up to exactly 1. Their common denominator is the smallest
/// number up to `SMALL` with which every share is nearly a whole number of parts, at least one; such a number exists if
/// the shares are a vertex of an LP model; otherwise the denominator is a power of two.
pub fn exact_shares(shares: &[f64]) -> Vec<Share> {
    // All shares are close to multiples of 1 / denominator, and none becomes 0.
    let fits = |of: &u64| {
        shares.iter().all(|share| {
            let parts = share * *of as f64;
            (parts - parts.round()).abs() < 1e-6 && parts.round() >= 1.0
        })
    };
    if let Some(of) = (1..=SMALL).find(fits) {
        let parts: Vec<u64> = shares.iter().map(|share| (share * of as f64).round() as u64).collect();
        if parts.iter().sum::<u64>() == of {
            return parts.into_iter().map(|parts| Share { parts, of }).collect();
        }
    }
    // Rounds down; the largest share takes the remainder.
    let mut parts: Vec<u64> = shares.iter().map(|share| (share * PARTS as f64) as u64).collect();
    let missing = PARTS.saturating_sub(parts.iter().sum());
    if let Some(largest) = (0..parts.len()).max_by_key(|place| parts[*place]) {
        parts[largest] += missing;
    }
    parts.into_iter().map(|parts| Share { parts, of: PARTS }).collect()
}

/// Returns a plan in compact form; `None` if its schedule has too many epochs. Epochs of periodic schedules last at
/// least `least_epoch_us`.
pub fn compact(
    network: &LinkNetwork,
    library: &TreeLibrary<'_>,
    plan: &TreePlan,
    shard_bytes: f64,
    least_epoch_us: f64,
) -> Option<CompactPlan> {
    let generators = library.fold().generators().to_vec();
    let format = FORMAT.to_owned();
    match &plan.sort {
        TreePlanSort::List { .. } | TreePlanSort::Matched(_) => {
            let list = library.whole_pieces(plan, shard_bytes)?;
            let pieces = plan.sort.pieces();
            let trees = listed(network, &list, pieces);
            Some(CompactPlan {
                format,
                discipline: CompactDiscipline::WholeChunk,
                adds_up: None,
                epoch_us: list.timing.epoch_us,
                shard_bytes,
                pieces_per_tree: pieces,
                finish_epochs: u64::from(list.schedule.finish),
                trees,
                generators,
            })
        }
        TreePlanSort::Periodic(figures) => {
            let packing = library.variants().get(plan.variant)?;
            let mut trees = Vec::new();
            let mut shared: Vec<(&Tree, f64)> = Vec::new();
            // One tree after the other, with shares as exact fractions.
            for of_root in packing.trees.iter().filter(|trees| !trees.is_empty()) {
                let shares: Vec<f64> = of_root.iter().map(|(_, share)| *share).collect();
                for ((tree, _), share) in of_root.iter().zip(exact_shares(&shares)) {
                    shared.push((tree, share.parts as f64 / share.of as f64));
                    let edges = edges(network, tree);
                    trees.push(CompactTree {
                        root: tree.root,
                        share: share.to_string(),
                        dests: Vec::new(),
                        edges,
                        starts: Vec::new(),
                    });
                }
            }
            // The busiest link under the rounded shares determines the epoch.
            let round_us = round_us(network, library.fold(), &shared, shard_bytes)
                .max(figures.epoch_us.max(least_epoch_us) * f64::from(figures.pieces));
            // Recomputes the figures for the rounded shares.
            let exact = super::periodic::periodic(
                network,
                shared.iter().map(|(tree, _)| *tree),
                round_us,
                figures.pieces,
            );
            Some(CompactPlan {
                format,
                discipline: CompactDiscipline::Fluid,
                adds_up: None,
                epoch_us: exact.epoch_us,
                shard_bytes,
                pieces_per_tree: figures.pieces,
                finish_epochs: exact.finish_epochs,
                trees,
                generators,
            })
        }
    }
}

/// Returns the time that the busiest link needs for all data, µs.
fn round_us(network: &LinkNetwork, fold: &Fold, trees: &[(&Tree, f64)], shard_bytes: f64) -> f64 {
    let mut sizes = vec![0_u32; fold.class_links().len()];
    // The load of a representative is divided by the size of its orbit.
    for class in fold.classes() {
        sizes[*class as usize] += 1;
    }
    let mut load = vec![0.0; fold.class_links().len()];
    for (tree, share) in trees {
        for link in tree.transmissions(network.switch_copies()) {
            let class = fold.classes()[link as usize] as usize;
            load[class] += share * fold.order() as f64 / f64::from(sizes[class]);
        }
    }
    let time = |(class, load): (usize, f64)| {
        let link = &network.links()[fold.class_links()[class] as usize];
        load * shard_bytes / (1000.0 * link.capacity_gbyte_per_s)
    };
    load.into_iter().enumerate().map(time).fold(0.0, f64::max)
}

/// Returns the trees of a list schedule, with the starts of their pieces.
fn listed(network: &LinkNetwork, list: &ListPlan<'_>, pieces: u32) -> Vec<CompactTree> {
    let batches = list.batches.iter().zip(&list.schedule.starts);
    batches
        .map(|(batch, starts)| CompactTree {
            root: batch.tree.root,
            share: Share { parts: u64::from(batch.pieces), of: u64::from(pieces) }.to_string(),
            dests: Vec::new(),
            edges: edges(network, batch.tree),
            starts: starts.chunks(batch.tree.hops().len().max(1)).map(<[u32]>::to_vec).collect(),
        })
        .collect()
}

/// Returns the nodes of each hop of a tree.
fn edges(network: &LinkNetwork, tree: &Tree) -> Vec<Vec<u32>> {
    let nodes = |hop| {
        let links = tree.links_of(hop).iter().map(|link| &network.links()[*link as usize]);
        let first = links.clone().next().map(|link| link.from);
        first.into_iter().chain(links.map(|link| link.to)).collect()
    };
    tree.hops().iter().map(nodes).collect()
}
