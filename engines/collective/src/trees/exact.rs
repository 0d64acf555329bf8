//! Trees at exactly the rate of the floor: switches are split off, and what is left is packed (ForestColl;
//! docs/methods/collective.md, section 11).

use super::pack::{Stuck, pack};
use super::split::{SplitWay, split};
use super::tree::{ROOT, Tree};
use crate::floors::digraph::Digraph;
use crate::floors::floor::whole;
use crate::floors::scale::{Overflow, gcd};
use crate::scenario::network::LinkNetwork;
use crate::scenario::rational::Rational;
use thiserror::Error;

/// Trees of every root at the rate of the floor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExactPacking {
    /// Number of trees of equal size that carry a unit of capacity of the graph together.
    pub units: i128,
    /// Trees with the number of their copies.
    pub trees: Vec<(Tree, i128)>,
}

/// Reasons for which there are no trees at a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PackError {
    /// Numbers beyond 128 bits.
    #[error(transparent)]
    Overflow(#[from] Overflow),
    /// A switch has more capacity on one side than on the other, and without it the rate is lost.
    #[error("the switches cannot be replaced by links between GPUs without a loss of rate")]
    Unbalanced,
    /// The capacities do not allow the trees.
    #[error(transparent)]
    Stuck(#[from] Stuck),
}

/// Returns trees that spread the shards at `rate` GB/s per unit of shard, the rate of the floor. All GPUs are reached.
///
/// # Errors
/// If the trees cannot be packed: see [`PackError`].
pub fn exact_packing(
    network: &LinkNetwork,
    shards: &[i128],
    rate: Rational,
) -> Result<ExactPacking, PackError> {
    // Whole capacities: everything below is exact.
    let (graph, unit) = whole(network)?;
    let rate = rate.over(unit).ok_or(Overflow)?;
    let (numerator, denominator) = (rate.numerator(), rate.denominator());
    // The smallest multiple of all capacities at which every root has a whole number of trees.
    let common = shards.iter().fold(0, |common, shard| gcd(common, *shard));
    let units = denominator / gcd(denominator, common).max(1);
    let per_shard = |shard: i128| {
        let trees = units.checked_mul(numerator).and_then(|all| all.checked_mul(shard)).ok_or(Overflow)?;
        Ok::<i128, Overflow>(trees / denominator)
    };
    let roots = shards.iter().map(|shard| per_shard(*shard)).collect::<Result<Vec<i128>, _>>()?;
    let mut arcs = Vec::with_capacity(graph.arcs().len());
    for arc in graph.arcs() {
        arcs.push((arc.from, arc.to, arc.capacity.checked_mul(units).ok_or(Overflow)?));
    }
    let scaled = Digraph::with_arcs(graph.nodes(), arcs);
    let parts = split(&scaled, network.gpus(), &roots);
    // Flows of the needed value survive the splitting, or there are no such trees.
    if !parts.keeps {
        return Err(PackError::Unbalanced);
    }
    // GPUs are numbered on their own.
    let mut number = vec![u32::MAX; network.node_count()];
    network.gpus().iter().enumerate().for_each(|(place, gpu)| number[*gpu as usize] = place as u32);
    let mut logical = Digraph::new(network.gpus().len());
    let mut latencies = Vec::new();
    let mut ways: Vec<Vec<SplitWay>> = Vec::new();
    // Links between GPUs, each a bundle of ways.
    for ((from, to), parts) in parts.ways {
        logical.add(number[from as usize], number[to as usize], parts.iter().map(|way| way.amount).sum());
        let latency = |way: &SplitWay| {
            way.links.iter().map(|link| network.links()[*link as usize].alpha_us).sum::<f64>()
        };
        latencies.push(parts.iter().map(latency).fold(0.0, f64::max));
        ways.push(parts);
    }
    let gpu_roots: Vec<i128> = network.gpus().iter().map(|gpu| roots[*gpu as usize]).collect();
    let mut trees = Vec::new();
    for class in pack(&logical, &gpu_roots, &latencies)? {
        // Trees that are alike are handled together.
        let mut left = class.multiplicity;
        while left > 0 {
            // As many copies as all links of the tree have room for on their first way; then one of the ways is used
            // up, so the loop ends.
            let first = |arc: &u32| ways[*arc as usize].last().map_or(left, |way| way.amount);
            let copies = class.arcs.iter().map(first).fold(left, i128::min);
            let mut tree = Tree::new(network.gpus()[class.root as usize]);
            let mut hop_into = vec![ROOT; network.gpus().len()];
            for &arc in &class.arcs {
                let ends = logical.arcs()[arc as usize];
                let links = ways[arc as usize].last().map(|way| way.links.clone()).unwrap_or_default();
                let (from, to) = (network.gpus()[ends.from as usize], network.gpus()[ends.to as usize]);
                hop_into[ends.to as usize] = tree.add(hop_into[ends.from as usize], from, to, &links);
                if let Some(way) = ways[arc as usize].last_mut() {
                    way.amount -= copies;
                    if way.amount == 0 {
                        ways[arc as usize].pop();
                    }
                }
            }
            trees.push((tree, copies));
            left -= copies;
        }
    }
    Ok(ExactPacking { units, trees })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::floors::floor::network_floor;
    use crate::scenario::presets;

    /// Packs AllGather exactly and checks that the busiest link is as busy as the floor says.
    fn packed(name: &str) -> ExactPacking {
        let network = LinkNetwork::of(&presets::scenario(name).unwrap().topology).unwrap();
        let shards: Vec<i128> =
            (0..network.node_count() as u32).map(|node| i128::from(!network.is_switch(node))).collect();
        let floor = network_floor(&network, &shards, network.gpus(), true).unwrap().unwrap();
        let packing = exact_packing(&network, &shards, floor.rate).unwrap();
        let mut load = vec![0; network.links().len()];
        let mut of_root = vec![0; network.node_count()];
        for (tree, copies) in &packing.trees {
            let mut reached = vec![false; network.node_count()];
            reached[tree.root as usize] = true;
            for hop in tree.hops() {
                assert!(reached[hop.from as usize] && !reached[hop.to as usize]);
                reached[hop.to as usize] = true;
                let links = tree.links_of(hop);
                assert_eq!(network.links()[links[0] as usize].from, hop.from);
                assert_eq!(network.links()[*links.last().unwrap() as usize].to, hop.to);
                for link in links {
                    load[*link as usize] += copies;
                }
            }
            assert!(network.gpus().iter().all(|gpu| reached[*gpu as usize]));
            of_root[tree.root as usize] += copies;
        }
        let (graph, unit) = whole(&network).unwrap();
        for (arc, load) in graph.arcs().iter().zip(load) {
            assert!(load <= arc.capacity * packing.units);
        }
        let wanted = floor.rate.over(unit).unwrap().times(Rational::whole(packing.units)).unwrap();
        assert!(network.gpus().iter().all(|gpu| Rational::whole(of_root[*gpu as usize]) == wanted));
        packing
    }

    #[test]
    fn networks_without_switches_are_packed_at_their_floor() {
        packed("dgx1-allgather-200kb");
        packed("amdx1-allgather-1mb");
        packed("ndv2x2-allgather-1gb");
    }

    #[test]
    fn networks_with_balanced_switches_are_packed_at_their_floor() {
        packed("dgx2x1-allgather-1mb");
        packed("a100x2-allgather-1gb");
    }
}
