use super::*;
use crate::floors::spread::{SpreadData, spread_floor};
use proptest::prelude::*;

/// Load of the ways on the links of the graph.
fn load(graph: &Digraph, split: &Split) -> Vec<i128> {
    let mut load = vec![0; graph.arcs().len()];
    for (ends, ways) in &split.ways {
        for way in ways {
            let first = graph.arcs()[way.links[0] as usize];
            let last = graph.arcs()[*way.links.last().unwrap() as usize];
            assert_eq!((first.from, last.to), *ends);
            way.links.iter().for_each(|link| load[*link as usize] += way.amount);
        }
    }
    load
}

#[test]
fn a_star_becomes_links_of_a_third_between_all_pairs() {
    let arcs = (0..4).flat_map(|gpu| [(gpu, 4, 3), (4, gpu, 3)]);
    let graph = Digraph::with_arcs(5, arcs);
    let split = split(&graph, &[0, 1, 2, 3], &[1, 1, 1, 1, 0]);
    assert!(split.keeps);
    assert_eq!(split.ways.len(), 12);
    assert!(
        split.ways.values().all(|ways| ways.len() == 1 && ways[0].amount == 1 && ways[0].links.len() == 2)
    );
}

proptest! {
    /// Balanced switches can be taken out without a loss.
    #[test]
    fn balanced_switches_keep_all_flows(
        gpus in 2_u32..5,
        switches in 1_u32..3,
        pairs in proptest::collection::vec((0_u32..7, 0_u32..7, 1_i128..6), 4..14),
    ) {
        let nodes = gpus + switches;
        // Both directions of equal capacity balance every node.
        let arcs = pairs
            .into_iter()
            .map(|(a, b, capacity)| (a % nodes, b % nodes, capacity))
            .filter(|(a, b, _)| a != b)
            .flat_map(|(a, b, capacity)| [(a, b, capacity), (b, a, capacity)]);
        let graph = Digraph::with_arcs(nodes as usize, arcs);
        let gpus: Vec<u32> = (0..gpus).collect();
        let shards: Vec<i128> = (0..nodes).map(|node| i128::from(gpus.contains(&node))).collect();
        let floor = spread_floor(&SpreadData { graph: &graph, shards: &shards, destinations: &gpus }).unwrap().unwrap();
        if !floor.rate.is_zero() {
            let (p, q) = (floor.rate.numerator(), floor.rate.denominator());
            let scaled = graph.arcs().iter().map(|arc| (arc.from, arc.to, arc.capacity * q));
            let scaled = Digraph::with_arcs(nodes as usize, scaled);
            let roots: Vec<i128> = shards.iter().map(|shard| shard * p).collect();
            let split = split(&scaled, &gpus, &roots);
            prop_assert!(split.keeps);
            for (arc, load) in scaled.arcs().iter().zip(load(&scaled, &split)) {
                prop_assert!(load <= arc.capacity);
            }
        }
    }
}
