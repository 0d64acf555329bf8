//! Balanced trees against the rates of cuts.

use super::*;
use crate::floors::floor::network_floor;
use crate::scenario::network::LinkNetwork;
use crate::testing::{own, preset};
use crate::trees::fold::Fold;
use lightbay_core::param::ParamValue;
use lightbay_core::watch::Unwatched;

/// A network with links that take twice as long for each byte.
fn slowed(name: &str, links: &[&str]) -> LinkNetwork {
    let mut scenario = preset(name);
    let slow: Vec<String> = links.iter().map(|link| format!("{link}:1:2")).collect();
    scenario.set("stragglers", None, &ParamValue::Text(slow.join(","))).unwrap();
    LinkNetwork::in_order(&scenario).unwrap()
}

/// The largest rate, and trees with that rate as the target. Follows the trees: they span, and no link carries more than
/// its capacity.
fn packed(network: &LinkNetwork, units: u32, copies: bool) -> (f64, Packing) {
    let fold = Fold::trivial(network);
    let is_rank: Vec<bool> = (0..network.node_count() as u32).map(|node| !network.is_switch(node)).collect();
    let shards: Vec<i128> = is_rank.iter().map(|rank| i128::from(*rank)).collect();
    let rate = network_floor(network, &shards, network.gpus(), false).unwrap().unwrap().rate.as_f64();
    let latencies: Vec<f64> = network.links().iter().map(|link| link.alpha_us).collect();
    let weights = vec![1.0; network.gpus().len()];
    let question =
        TreeQuestion { network, fold: &fold, ranks: &is_rank, weights: &weights, latencies: &latencies };
    let limits = BalanceLimits { rate, units, passes: 8, latency: 2.0, depth_us: f64::INFINITY, copies };
    let packing = balanced(&question, &limits, &mut Unwatched::default()).unwrap().unwrap();
    let mut loads = vec![0.0; network.links().len()];
    for (orbit, trees) in packing.trees.iter().enumerate() {
        let sum: f64 = trees.iter().map(|(_, share)| share).sum();
        assert!((sum - 1.0).abs() < 1e-9, "{sum}");
        for (tree, share) in trees {
            let mut reached = vec![false; network.node_count()];
            reached[network.gpus()[orbit] as usize] = true;
            for hop in tree.hops() {
                let links = tree.links_of(hop).iter().map(|link| &network.links()[*link as usize]);
                let nodes: Vec<u32> = std::iter::once(hop.from).chain(links.map(|link| link.to)).collect();
                assert!(reached[hop.from as usize] && nodes.last() == Some(&hop.to), "{hop:?} {nodes:?}");
                assert!(!std::mem::replace(&mut reached[hop.to as usize], true), "{hop:?}");
            }
            assert!(network.gpus().iter().all(|gpu| reached[*gpu as usize]));
            for link in tree.transmissions(copies) {
                loads[link as usize] += share * packing.rate;
            }
        }
    }
    let full = loads.iter().zip(network.links()).map(|(load, link)| load / link.capacity_gbyte_per_s);
    let full = full.fold(0.0, f64::max);
    assert!((full - 1.0).abs() < 1e-9, "the fullest link has a load of {full}");
    (rate, packing)
}

#[test]
fn balanced_trees_come_close_to_the_cut() {
    for (name, slow, units, gap) in [
        ("torus4x4-alltoall-1mb", &["0-1"][..], 32, 0.01),
        ("torus4x4-alltoall-1mb", &["0-1", "1-0"][..], 32, 0.01),
        ("mi250x2-allgather-1gb", &["0-1"][..], 32, 0.01),
    ] {
        let network = slowed(name, slow);
        let (rate, packing) = packed(&network, units, network.switch_copies());
        assert!(packing.rate > rate * (1.0 - gap), "{name} {slow:?}: {} of {rate}", packing.rate);
        assert!(packing.rate < rate * (1.0 + 1e-9), "{name} {slow:?}: {} of {rate}", packing.rate);
    }
}

/// The link into the switch is slow: a switch that copies needs it once, another switch once for each receiver.
#[test]
fn switches_that_copy_get_pieces_once() {
    let links = [(0, 1.0), (1, 3.0), (2, 3.0)].map(|(gpu, up)| [(gpu, 3, up, 1.0), (3, gpu, 2.0, 1.0)]);
    let network = LinkNetwork::of(&own(4, &[3], links.as_flattened(), &[]).topology).unwrap();
    // Each GPU receives two shards over 2 GB/s, and GPU 0 sends one shard over 1 GB/s.
    let (rate, packing) = packed(&network, 4, true);
    assert!((rate - 1.0).abs() < 1e-9 && packing.rate > 0.99, "{} of {rate}", packing.rate);
    let (_, packing) = packed(&network, 4, false);
    // Without copies, GPU 0 sends its shard to one GPU, which forwards it.
    assert!(packing.trees[0].iter().all(|(tree, _)| tree.hops().iter().any(|hop| hop.from != 0)));
}

#[test]
fn the_price_of_latency_makes_trees_shallow() {
    let network = slowed("torus4x4-alltoall-1mb", &["0-1"]);
    let (_, packing) = packed(&network, 4, false);
    let depth = |tree: &Tree| tree.reached(|_| 1.0).into_iter().fold(0.0, f64::max);
    let deepest = packing.trees.iter().flatten().map(|(tree, _)| depth(tree)).fold(0.0, f64::max);
    // The farthest GPU is 4 hops away.
    assert!((4.0..=8.0).contains(&deepest), "{deepest}");
}
