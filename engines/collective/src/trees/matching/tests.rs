//! Matchings against loads that no schedule can go below.

use super::*;
use crate::scenario::presets;
use crate::testing::own;
use lightbay_core::watch::Unwatched;

fn network(name: &str) -> LinkNetwork {
    LinkNetwork::of(&presets::scenario(name).unwrap().topology).unwrap()
}

fn matched(
    network: &LinkNetwork,
    fold: &Fold,
    bytes: f64,
    pieces: u32,
    order: MatchOrder,
) -> Option<Matching> {
    let timing = PieceTiming::new(network, bytes / f64::from(pieces)).unwrap();
    let roots = fold.representatives();
    matching((network, fold), roots, &timing, pieces, order, &mut Unwatched::default()).unwrap()
}

/// Follows every hop: parents first, one start at a time on the links of a class.
fn follow(network: &LinkNetwork, fold: &Fold, timing: &PieceTiming, matching: &Matching) {
    let mut of_class: Vec<Vec<u32>> = vec![Vec::new(); fold.class_links().len()];
    let mut last = 0;
    for (tree, starts) in matching.trees.iter().zip(&matching.starts) {
        let mut there = vec![None; network.node_count()];
        there[tree.root as usize] = Some(0);
        for (hop, &start) in tree.hops().iter().zip(starts) {
            assert!(there[hop.from as usize].is_some_and(|there| there <= start), "{hop:?}");
            assert_eq!(there[hop.to as usize], None);
            let link = tree.links_of(hop)[0];
            there[hop.to as usize] =
                Some(start + timing.delays[link as usize] + timing.occupies[link as usize]);
            last = last.max(start + timing.delays[link as usize] + timing.occupies[link as usize]);
            of_class[fold.classes()[link as usize] as usize].push(start);
        }
        assert!(there.iter().all(Option::is_some));
    }
    assert_eq!(last, matching.finish);
    for (class, starts) in of_class.iter_mut().enumerate() {
        starts.sort_unstable();
        let occupies = timing.occupies[fold.class_links()[class] as usize];
        assert!(starts.windows(2).all(|pair| pair[1] >= pair[0] + occupies), "class {class}");
    }
}

#[test]
fn links_of_tori_are_busy_until_shortly_before_the_end() {
    let network = network("torus4x4x4-allgather-6.4mb");
    let fold = Fold::of(&network);
    for pieces in [1, 2, 4, 8] {
        for order in MatchOrder::ALL {
            let found = matched(&network, &fold, 1e6, pieces, order).unwrap();
            let timing = PieceTiming::new(&network, 1e6 / f64::from(pieces)).unwrap();
            follow(&network, &fold, &timing, &found);
            // 63 GPUs get every piece of a root over six classes of links; a hop takes two epochs.
            let load = (63 * pieces).div_ceil(6);
            assert!((load + 1..=load + 3).contains(&found.finish), "{pieces} {order:?}: {}", found.finish);
        }
    }
}

#[test]
fn networks_without_symmetries_and_with_unlike_links_are_matched() {
    // A chain 0-1 (1 GB/s), 1-2 (3 GB/s): two shards of 1 MB enter GPU 0 at 1 GB/s.
    let links = [(0, 1, 1.0, 0.0), (1, 0, 1.0, 0.0), (1, 2, 3.0, 0.0), (2, 1, 3.0, 0.0)];
    let network = LinkNetwork::of(&own(3, &[], &links, &[]).topology).unwrap();
    let fold = Fold::trivial(&network);
    let found = matched(&network, &fold, 1e6, 1, MatchOrder::Near).unwrap();
    let timing = PieceTiming::new(&network, 1e6).unwrap();
    follow(&network, &fold, &timing, &found);
    assert_eq!(f64::from(found.finish) * timing.epoch_us, 2000.0);
    let dgx1 = self::network("dgx1-allgather-1mb");
    let fold = Fold::of(&dgx1);
    let found = matched(&dgx1, &fold, 125e3, 4, MatchOrder::Random).unwrap();
    follow(&dgx1, &fold, &PieceTiming::new(&dgx1, 125e3 / 4.0).unwrap(), &found);
}

#[test]
fn gpus_that_no_link_enters_have_no_matching() {
    let network =
        LinkNetwork::of(&own(3, &[], &[(0, 1, 1.0, 0.0), (1, 0, 1.0, 0.0), (2, 0, 1.0, 0.0)], &[]).topology);
    let network = network.unwrap();
    assert_eq!(matched(&network, &Fold::trivial(&network), 1e6, 2, MatchOrder::Far), None);
}
