use super::*;

/// AllGather of shards of 1 MB on the chain 0-1-2 with 1 GB/s and 1 us per link. GPU 2 needs two shards over one link,
/// from 0 us on, and the last byte takes 1 us: 2001 us.
fn chain() -> GrowingCheck {
    let link = |(from, to)| GrowingLink { from, to, bytes_per_us: 1000.0, alpha_us: 1.0 };
    let links = [(0, 1), (1, 0), (1, 2), (2, 1)].map(link).into_iter().collect();
    let pairs = (0..3).flat_map(|from| (0..3).map(move |to| (from, to))).filter(|(from, to)| from != to);
    GrowingCheck::new(3, links, pairs.map(|pair| (pair, 1e6)).collect())
}

fn cut(source: u32, target: u32, slots: [u32; 3]) -> GrowingCut {
    GrowingCut { source, target, weight: 1.0, slots: slots.to_vec() }
}

/// The cuts into GPU 2: the other nodes join at the start.
fn into_last() -> GrowingCuts {
    let cuts = vec![cut(0, 2, [9999, 9999, 0]), cut(1, 2, [9999, 9999, 0])];
    GrowingCuts { slot_us: 1.0, symmetries: Vec::new(), cuts }
}

#[test]
fn a_chain_by_hand() {
    let proof = into_last();
    assert!(chain().excludes(&proof, 2000.99));
    assert!(!chain().excludes(&proof, 2001.01));
    // The reflection gives each cut an image at the other end of the chain.
    let folded = GrowingCuts { symmetries: vec![vec![2, 1, 0]], ..proof };
    assert!(chain().excludes(&folded, 2000.99));
    assert!(!chain().excludes(&folded, 2001.01));
}

/// A cut that grows: GPU 1 joins later, so data of GPU 0 crosses the first link early or the second one late.
#[test]
fn windows_follow_the_times_at_which_nodes_join() {
    let one = |slots| GrowingCuts { cuts: vec![cut(0, 2, slots)], ..into_last() };
    // Whenever GPU 1 joins, 1 MB crosses two links of which one is open at a time, except for 1 us on each.
    for joins in [1, 10, 500, 900] {
        assert!(chain().excludes(&one([9999, joins, 0]), 1001.5), "{joins}");
        assert!(!chain().excludes(&one([9999, joins, 0]), 1002.5), "{joins}");
    }
}

#[test]
fn forged_proofs_are_refused() {
    let refused = |change: &dyn Fn(&mut GrowingCuts)| {
        let mut proof = into_last();
        change(&mut proof);
        assert!(!chain().excludes(&proof, 2000.99), "{proof:?}");
    };
    // A permutation that is not a symmetry, and one that is not a permutation.
    refused(&|proof| proof.symmetries = vec![vec![1, 0, 2]]);
    refused(&|proof| proof.symmetries = vec![vec![1, 1, 1]]);
    refused(&|proof| proof.cuts[0].slots = vec![0]);
    refused(&|proof| proof.cuts[0].target = 0);
    refused(&|proof| proof.cuts[0].source = 7);
    refused(&|proof| proof.cuts[0].weight = f64::NAN);
    refused(&|proof| proof.cuts.clear());
    // A source counts only once on a link, however many cuts name it.
    refused(&|proof| proof.cuts[1] = proof.cuts[0].clone());
}
