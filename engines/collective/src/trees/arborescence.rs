//! Cheapest arborescence by the algorithm of Chu, Liu and Edmonds, with heaps that are merged as nodes are contracted
//! (Tarjan, Finding optimum branchings, 1977; corrected by Camerini, Fratta and Maffioli, 1979).

/// Node of a skew heap: an arc with a lazily added offset.
#[derive(Clone, Copy, Debug)]
struct Entry {
    arc: u32,
    key: f64,
    offset: f64,
    left: u32,
    right: u32,
}

/// Marker for a missing node.
const NONE: u32 = u32::MAX;

#[derive(Debug)]
struct Heaps(Vec<Entry>);

impl Heaps {
    /// Adds the lazy offset of an entry to its children, which must happen before the entry leaves the top.
    fn push_down(&mut self, at: u32) {
        let Entry { offset, left, right, .. } = self.0[at as usize];
        if offset != 0.0 {
            for child in [left, right] {
                if child != NONE {
                    self.0[child as usize].offset += offset;
                    self.0[child as usize].key += offset;
                }
            }
            self.0[at as usize].offset = 0.0;
        }
    }

    /// Merges two heaps, along their right spines, without recursion; returns the top of the merged heap.
    fn merge(&mut self, one: u32, other: u32) -> u32 {
        let (mut a, mut b) = (one, other);
        let mut spine = Vec::new();
        while a != NONE && b != NONE {
            // Skew heap: the smaller top stays, its children change sides, so merges take logarithmic time on average.
            let before = |x: &Entry, y: &Entry| (x.key, x.arc) <= (y.key, y.arc);
            if !before(&self.0[a as usize], &self.0[b as usize]) {
                std::mem::swap(&mut a, &mut b);
            }
            // The offset of `a` must not apply to what is merged below it.
            self.push_down(a);
            spine.push(a);
            a = self.0[a as usize].right;
        }
        let mut rest = if a == NONE { b } else { a };
        // Goes back up the spine: the merged part becomes the left child.
        for at in spine.into_iter().rev() {
            let left = self.0[at as usize].left;
            self.0[at as usize].left = rest;
            self.0[at as usize].right = left;
            rest = at;
        }
        rest
    }

    fn pop(&mut self, at: u32) -> u32 {
        self.push_down(at);
        let Entry { left, right, .. } = self.0[at as usize];
        self.merge(left, right)
    }
}

/// Returns the arcs of a cheapest arborescence that spans all nodes from `root`, by the node that each arc enters; the
/// entry of the root is `None`. The whole result is `None` if a node cannot be reached. Arcs are `(from, to, price)`.
pub fn cheapest_arborescence(nodes: usize, root: u32, arcs: &[(u32, u32, f64)]) -> Option<Vec<Option<u32>>> {
    let mut heaps = Heaps(
        arcs.iter()
            .enumerate()
            .map(|(arc, (_, _, price))| Entry {
                arc: arc as u32,
                key: *price,
                offset: 0.0,
                left: NONE,
                right: NONE,
            })
            .collect(),
    );
    // Contracted nodes are numbered after the given ones.
    // Each contraction joins at least two nodes, so there are fewer than `nodes` of them.
    let most = 2 * nodes;
    let mut heap = vec![NONE; most];
    for (arc, (from, to, _)) in arcs.iter().enumerate() {
        // Arcs into the root, and from a node to itself, are never chosen.
        if from != to && *to != root {
            heap[*to as usize] = heaps.merge(heap[*to as usize], arc as u32);
        }
    }
    // Contraction to which each node belongs; union-find of representative nodes. petgraph's `UnionFind` chooses
    // representatives itself; here the representative must be the contraction.
    let mut above: Vec<u32> = vec![NONE; most];
    let mut leader: Vec<u32> = (0..most as u32).collect();
    let mut chosen: Vec<u32> = vec![NONE; most];
    let mut mark = vec![0_u32; most];
    let mut count = nodes;
    mark[root as usize] = 1;
    let mut round = 1;
    // Walks from every node against the arcs, until the walk meets the root, an earlier walk, or itself.
    for start in 0..nodes as u32 {
        let mut node = find(&mut leader, start);
        if mark[node as usize] != 0 {
            continue;
        }
        round += 1;
        let mut path = Vec::new();
        loop {
            mark[node as usize] = round;
            path.push(node);
            // The cheapest arc from another contracted node; arcs inside the contraction are dropped permanently.
            let arc = loop {
                let top = heap[node as usize];
                if top == NONE {
                    return None;
                }
                let (from, _, _) = arcs[heaps.0[top as usize].arc as usize];
                if find(&mut leader, from) == node {
                    heap[node as usize] = heaps.pop(top);
                } else {
                    break top;
                }
            };
            chosen[node as usize] = heaps.0[arc as usize].arc;
            // Later choices pay only the difference from this arc: an arc that enters the cycle later replaces it.
            let paid = heaps.0[arc as usize].key;
            heap[node as usize] = heaps.pop(arc);
            if heap[node as usize] != NONE {
                let rest = heap[node as usize] as usize;
                heaps.0[rest].offset -= paid;
                heaps.0[rest].key -= paid;
            }
            let next = find(&mut leader, arcs[chosen[node as usize] as usize].0);
            // A new node: the walk continues.
            if mark[next as usize] == 0 {
                node = next;
            // A node of an earlier walk, from which arcs lead to the root.
            } else if mark[next as usize] < round {
                break;
            } else {
                // A cycle of this walk becomes one node.
                let cycle = count as u32;
                count += 1;
                let mut merged = NONE;
                while let Some(&member) = path.last() {
                    if mark[member as usize] != round {
                        break;
                    }
                    path.pop();
                    // All members of the cycle share one heap.
                    above[member as usize] = cycle;
                    leader[member as usize] = cycle;
                    merged = heaps.merge(merged, heap[member as usize]);
                    if member == next {
                        break;
                    }
                }
                heap[cycle as usize] = merged;
                node = cycle;
            }
        }
    }
    Some(expanded(nodes, root, arcs, &above, &chosen, count))
}

/// Expands the contracted cycles from the outermost inwards: the arc that enters a cycle at a node replaces the arc of
/// the cycle into this node. Returns the arc into each node.
fn expanded(
    nodes: usize,
    root: u32,
    arcs: &[(u32, u32, f64)],
    above: &[u32],
    chosen: &[u32],
    count: usize,
) -> Vec<Option<u32>> {
    let mut entering: Vec<u32> = chosen.to_vec();
    // Contractions are numbered from the inside out.
    for node in (0..count as u32).rev() {
        if node == root || (node as usize) < nodes || entering[node as usize] == NONE {
            continue;
        }
        let arc = entering[node as usize];
        // The member of this contraction that the arc enters.
        let mut member = arcs[arc as usize].1;
        while above[member as usize] != node && above[member as usize] != NONE {
            member = above[member as usize];
        }
        entering[member as usize] = arc;
    }
    (0..nodes as u32).map(|node| (node != root).then(|| entering[node as usize])).collect()
}

fn find(leader: &mut [u32], mut node: u32) -> u32 {
    // Path halving.
    while leader[node as usize] != node {
        let next = leader[leader[node as usize] as usize];
        leader[node as usize] = next;
        node = next;
    }
    node
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Cheapest sum over all choices of one entering arc per node that reach every node.
    fn by_enumeration(nodes: usize, arcs: &[(u32, u32, f64)]) -> Option<f64> {
        let entering: Vec<Vec<u32>> = (1..nodes as u32)
            .map(|node| (0..arcs.len() as u32).filter(|arc| arcs[*arc as usize].1 == node).collect())
            .collect();
        let mut best: Option<f64> = None;
        let mut choice = vec![0_usize; nodes - 1];
        'all: loop {
            if entering.iter().zip(&choice).all(|(arcs, choice)| *choice < arcs.len()) {
                let chosen: Vec<u32> =
                    entering.iter().zip(&choice).map(|(arcs, choice)| arcs[*choice]).collect();
                let spans = (1..nodes).all(|node| {
                    let mut at = node as u32;
                    for _ in 0..nodes {
                        if at == 0 {
                            return true;
                        }
                        at = arcs[chosen[at as usize - 1] as usize].0;
                    }
                    at == 0
                });
                let price: f64 = chosen.iter().map(|arc| arcs[*arc as usize].2).sum();
                if spans && best.is_none_or(|best| price < best) {
                    best = Some(price);
                }
            }
            for place in 0..nodes - 1 {
                choice[place] += 1;
                if choice[place] < entering[place].len() {
                    continue 'all;
                }
                choice[place] = 0;
            }
            return best;
        }
    }

    proptest! {
        #[test]
        fn no_arborescence_is_cheaper(
            (nodes, arcs) in (2_usize..6).prop_flat_map(|nodes| {
                let end = 0..nodes as u32;
                (Just(nodes), proptest::collection::vec((end.clone(), end, 0_u32..9), 1..14))
            })
        ) {
            let arcs: Vec<(u32, u32, f64)> =
                arcs.into_iter().filter(|arc| arc.0 != arc.1).map(|(a, b, price)| (a, b, f64::from(price))).collect();
            let found = cheapest_arborescence(nodes, 0, &arcs);
            let wanted = by_enumeration(nodes, &arcs);
            prop_assert_eq!(found.is_some(), wanted.is_some());
            if let (Some(found), Some(wanted)) = (found, wanted) {
                let mut price = 0.0;
                for node in 1..nodes {
                    let arc = arcs[found[node].unwrap() as usize];
                    prop_assert_eq!(arc.1 as usize, node);
                    price += arc.2;
                    let mut at = node as u32;
                    for _ in 0..nodes {
                        at = found[at as usize].map_or(at, |arc| arcs[arc as usize].0);
                    }
                    prop_assert_eq!(at, 0);
                }
                prop_assert_eq!(price, wanted);
            }
        }
    }
}
