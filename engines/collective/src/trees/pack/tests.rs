use super::*;
use crate::floors::spread::{SpreadData, spread_floor};
use proptest::prelude::*;

/// Checks that trees span, start at their roots, keep within capacities and are as many as wanted.
fn check(graph: &Digraph, roots: &[i128], classes: &[TreeClass]) {
    let mut load = vec![0; graph.arcs().len()];
    let mut made = vec![0; graph.nodes()];
    for class in classes {
        let mut reached = vec![false; graph.nodes()];
        reached[class.root as usize] = true;
        for &arc in &class.arcs {
            let ends = graph.arcs()[arc as usize];
            assert!(reached[ends.from as usize] && !reached[ends.to as usize]);
            reached[ends.to as usize] = true;
            load[arc as usize] += class.multiplicity;
        }
        assert!(reached.iter().all(|reached| *reached));
        made[class.root as usize] += class.multiplicity;
    }
    assert_eq!(made, roots);
    for (arc, load) in graph.arcs().iter().zip(load) {
        assert!(load <= arc.capacity);
    }
}

#[test]
fn a_ring_is_packed_with_two_trees_per_link_and_root() {
    // Rate 2/3 of a link per shard: capacities times 3, two trees per root.
    let arcs = (0..4).flat_map(|node| [(node, (node + 1) % 4, 3), ((node + 1) % 4, node, 3)]);
    let graph = Digraph::with_arcs(4, arcs);
    let classes = pack(&graph, &[2; 4], &[1.0; 8]).unwrap();
    check(&graph, &[2; 4], &classes);
    assert!(pack(&graph, &[3; 4], &[1.0; 8]).is_err());
}

proptest! {
    /// Directed graphs without switches pack at the rate of their floor, whatever their capacities (Edmonds).
    #[test]
    fn the_floor_is_reached(
        (nodes, links, shards) in (2_usize..7).prop_flat_map(|nodes| {
            let links = proptest::collection::vec(0_i128..9, nodes * nodes);
            (Just(nodes), links, proptest::collection::vec(0_i128..3, nodes))
        })
    ) {
        let arcs = links.iter().enumerate().filter_map(|(place, capacity)| {
            let (from, to) = ((place / nodes) as u32, (place % nodes) as u32);
            (from != to && *capacity > 3).then_some((from, to, *capacity - 3))
        });
        let graph = Digraph::with_arcs(nodes, arcs);
        let destinations: Vec<u32> = (0..nodes as u32).collect();
        let floor = spread_floor(&SpreadData { graph: &graph, shards: &shards, destinations: &destinations }).unwrap();
        if let Some(floor) = floor.filter(|floor| !floor.rate.is_zero()) {
            let (p, q) = (floor.rate.numerator(), floor.rate.denominator());
            let scaled = graph.arcs().iter().map(|arc| (arc.from, arc.to, arc.capacity * q));
            let scaled = Digraph::with_arcs(nodes, scaled);
            let roots: Vec<i128> = shards.iter().map(|shard| shard * p).collect();
            let classes = pack(&scaled, &roots, &vec![1.0; scaled.arcs().len()]).unwrap();
            check(&scaled, &roots, &classes);
        }
    }
}
