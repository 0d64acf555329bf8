use super::*;
use proptest::prelude::*;

fn both_ways(pairs: &[(u32, u32, i128)]) -> Vec<(u32, u32, i128)> {
    pairs.iter().flat_map(|&(a, b, capacity)| [(a, b, capacity), (b, a, capacity)]).collect()
}

fn floor(nodes: usize, arcs: Vec<(u32, u32, i128)>, shards: &[i128]) -> SpreadFloor {
    let graph = Digraph::with_arcs(nodes, arcs);
    let destinations: Vec<u32> = (0..nodes as u32).filter(|node| shards[*node as usize] >= 0).collect();
    let shards: Vec<i128> = shards.iter().map(|shard| (*shard).max(0)).collect();
    spread_floor(&SpreadData { graph: &graph, shards: &shards, destinations: &destinations })
        .unwrap()
        .unwrap()
}

fn inside(floor: &SpreadFloor) -> Vec<usize> {
    (0..floor.cut.len()).filter(|node| floor.cut[*node]).collect()
}

fn rate(numerator: i128, denominator: i128) -> Rational {
    Rational::new(numerator, denominator).unwrap()
}

/// A ring of four, both ways and one path.
#[test]
fn a_ring_is_bound_by_the_links_into_one_gpu() {
    let pairs: Vec<(u32, u32, i128)> = (0..4).map(|node| (node, (node + 1) % 4, 1)).collect();
    let both = floor(4, both_ways(&pairs), &[1; 4]);
    assert_eq!((both.rate, inside(&both)), (rate(2, 3), vec![1, 2, 3]));
    assert_eq!(floor(4, pairs, &[1; 4]).rate, rate(1, 3));
}

/// Four GPUs on a switch, which has no data and wants none.
#[test]
fn a_star_is_bound_by_its_spokes() {
    let spokes = both_ways(&[(0, 4, 1), (1, 4, 1), (2, 4, 1), (3, 4, 1)]);
    assert_eq!(floor(5, spokes, &[1, 1, 1, 1, -1]).rate, rate(1, 3));
}

/// Two boxes of two GPUs, joined by a thin link: the cut is found by a flow, not at a single node.
#[test]
fn the_thin_link_between_boxes_binds() {
    let arcs = both_ways(&[(0, 4, 10), (1, 4, 10), (2, 5, 10), (3, 5, 10), (0, 2, 1)]);
    let found = floor(6, arcs.clone(), &[1, 1, 1, 1, -1, -1]);
    assert_eq!((found.rate, inside(&found)), (rate(1, 2), vec![2, 3, 5]));
    // Broadcast from 1.
    let graph = Digraph::with_arcs(6, arcs);
    let spread = SpreadData { graph: &graph, shards: &[0, 1, 0, 0, 0, 0], destinations: &[0, 1, 2, 3] };
    assert_eq!(spread_floor(&spread).unwrap().unwrap().rate, rate(1, 1));
}

#[test]
fn larger_shards_count_more() {
    let chain = both_ways(&[(0, 1, 1), (1, 2, 3)]);
    let even = floor(3, chain.clone(), &[1, 1, 1]);
    assert_eq!((even.rate, inside(&even)), (rate(1, 2), vec![1, 2]));
    assert_eq!(floor(3, chain, &[2, 1, 1]).rate, rate(1, 2));
}

#[test]
fn a_directed_ring_has_the_same_floor_turned_round() {
    let ring = Digraph::with_arcs(3, [(0, 1, 2), (1, 2, 1), (2, 0, 4)]);
    for graph in [ring.reversed(), ring] {
        let spread = SpreadData { graph: &graph, shards: &[1; 3], destinations: &[0, 1, 2] };
        assert_eq!(spread_floor(&spread).unwrap().unwrap().rate, rate(1, 2));
    }
}

/// The butterfly of network coding: the bound says 2, though routing alone reaches only 3/2.
#[test]
fn the_butterfly_is_bound_by_its_flows() {
    let arcs =
        [(0, 1, 1), (0, 2, 1), (1, 3, 1), (1, 5, 1), (2, 3, 1), (2, 6, 1), (3, 4, 1), (4, 5, 1), (4, 6, 1)];
    let graph = Digraph::with_arcs(7, arcs);
    let spread = SpreadData { graph: &graph, shards: &[1, 0, 0, 0, 0, 0, 0], destinations: &[5, 6] };
    assert_eq!(spread_floor(&spread).unwrap().unwrap().rate, rate(2, 1));
}

#[test]
fn nothing_to_move_has_no_floor_and_what_cannot_arrive_has_rate_zero() {
    let graph = Digraph::new(1);
    let alone = SpreadData { graph: &graph, shards: &[1], destinations: &[0] };
    assert_eq!(spread_floor(&alone).unwrap(), None);
    let found = floor(3, vec![(0, 1, 5), (1, 0, 5), (2, 0, 5)], &[1, 1, 1]);
    assert_eq!((found.rate.is_zero(), inside(&found)), (true, vec![0, 1]));
}

#[test]
fn numbers_beyond_128_bits_are_refused() {
    let graph = Digraph::with_arcs(2, [(0, 1, i128::MAX / 4), (1, 0, i128::MAX / 4)]);
    let spread = SpreadData { graph: &graph, shards: &[7, 11], destinations: &[0, 1] };
    assert_eq!(spread_floor(&spread), Err(Overflow));
}

/// Smallest rate over all node sets that leave a destination outside.
fn by_enumeration(graph: &Digraph, shards: &[i128], destinations: &[u32]) -> Option<Rational> {
    let nodes = graph.nodes();
    let sets =
        (1_u32..1 << nodes).map(|set| (0..nodes).map(|node| set >> node & 1 == 1).collect::<Vec<bool>>());
    sets.filter(|set| destinations.iter().any(|destination| !set[*destination as usize]))
        .filter_map(|set| {
            let data: i128 =
                shards.iter().zip(&set).filter(|(_, inside)| **inside).map(|(shard, _)| shard).sum();
            (data > 0).then(|| rate(graph.leaving(&set), data))
        })
        .min()
}

/// Graphs of up to seven nodes, of which some may be switches, with any directed links.
fn graphs() -> impl Strategy<Value = (Digraph, Vec<i128>, Vec<u32>)> {
    (2_usize..=7).prop_flat_map(|nodes| {
        let links = proptest::collection::vec(0_i128..9, nodes * nodes);
        let kinds = proptest::collection::vec((0_u32..4, 0_i128..4), nodes);
        (links, kinds).prop_map(move |(links, kinds)| {
            let arcs = links.iter().enumerate().filter_map(|(place, capacity)| {
                let (from, to) = ((place / nodes) as u32, (place % nodes) as u32);
                (from != to && *capacity > 3).then_some((from, to, *capacity - 3))
            });
            let graph = Digraph::with_arcs(nodes, arcs);
            let is_rank = |node: usize| kinds[node].0 > 0 || node < 2;
            let destinations = (0..nodes as u32).filter(|node| is_rank(*node as usize)).collect();
            let shards = (0..nodes).map(|node| if is_rank(node) { kinds[node].1 } else { 0 }).collect();
            (graph, shards, destinations)
        })
    })
}

proptest! {
    #[test]
    fn the_floor_is_that_of_the_worst_set((graph, shards, destinations) in graphs()) {
        let spread = SpreadData { graph: &graph, shards: &shards, destinations: &destinations };
        let found = spread_floor(&spread).unwrap();
        let wanted = by_enumeration(&graph, &shards, &destinations);
        prop_assert_eq!(found.as_ref().map(|found| found.rate), wanted);
        if let Some(found) = found {
            let cut = shards.iter().zip(&found.cut);
            let data: i128 = cut.filter(|(_, inside)| **inside).map(|(shard, _)| shard).sum();
            prop_assert_eq!(found.rate, rate(graph.leaving(&found.cut), data));
        }
    }

    #[test]
    fn a_quotient_has_the_same_flows((graph, shards, destinations) in graphs()) {
        for &destination in &destinations {
            let cells = quotient(&graph, &shards, destination);
            for rate in [rate(1, 3), rate(1, 1), rate(5, 2)] {
                let plain = Destination { graph: &graph, shards: &shards, node: destination }.lower(rate).unwrap();
                let folded = Destination { graph: &cells.graph, shards: &cells.shards, node: cells.alone };
                prop_assert_eq!(plain.map(|floor| floor.rate), folded.lower(rate).unwrap().map(|floor| floor.rate));
            }
        }
    }
}
