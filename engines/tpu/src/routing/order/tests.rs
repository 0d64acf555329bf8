use super::*;
use proptest::prelude::*;

/// Returns `true` if `to` reaches `from`: plain depth-first search.
fn reaches(edges: &[(u32, u32)], start: u32, end: u32, nodes: usize) -> bool {
    let mut seen = vec![false; nodes];
    let mut stack = vec![start];
    while let Some(node) = stack.pop() {
        if node == end {
            return true;
        }
        if std::mem::replace(&mut seen[node as usize], true) {
            continue;
        }
        stack.extend(edges.iter().filter(|edge| edge.0 == node).map(|edge| edge.1));
    }
    false
}

#[test]
fn refuses_loops_and_cycles() {
    let mut order = TopologicalOrder::new(3);
    assert!(!order.try_add(1, 1));
    assert!(order.try_add(2, 1));
    assert!(order.try_add(1, 0));
    assert!(!order.try_add(0, 2));
    assert!(order.try_add(2, 0));
    assert!(order.rank(2) < order.rank(1) && order.rank(1) < order.rank(0));
}

proptest! {
    #[test]
    fn accepts_what_plain_search_accepts(
        tried in prop::collection::vec((0u32..24, 0u32..24), 1..200),
    ) {
        let mut order = TopologicalOrder::new(24);
        let mut edges: Vec<(u32, u32)> = Vec::new();
        for (from, to) in tried {
            let fits = !reaches(&edges, to, from, 24);
            prop_assert_eq!(order.try_add(from, to), fits);
            if fits {
                edges.push((from, to));
            }
            for &(from, to) in &edges {
                prop_assert!(order.rank(from) < order.rank(to));
            }
        }
    }
}
