//! The network simplex method with strongly feasible trees and block search (docs/methods/crossconnect.md, section 3).
//!
//! The tree has an artificial root with an arc to every node. These arcs cost so much that they carry flow only if no
//! other arc can. Ties of the leaving arc go to the last candidate along the cycle, from the join in the direction of
//! the flow. This keeps the tree strongly feasible, so the method terminates although most pivots of such networks are
//! degenerate.

use super::{Arc, CheapestFlow, FlowError};
use lightbay_core::method::MethodError;

/// Marker for a missing arc or node.
const NONE: u32 = u32::MAX;
/// Number of steps and inspected arcs between two stop checks: well below 5 ms of work.
const WORK_PER_QUESTION: usize = 1 << 17;
/// Minimum number of arcs that are priced before the best of them enters; with fewer, worse pivots would cost more time
/// than the shorter pricing saves.
const SMALLEST_BLOCK: usize = 20;

/// State of an arc: at a bound, or in the tree. The number multiplies the reduced cost; a negative product means that a
/// change of flow lowers the cost.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Lower = 1,
    Tree = 0,
    Upper = -1,
}

#[derive(Clone, Copy)]
struct ResidualArc {
    from: u32,
    to: u32,
    state: State,
    capacity: i64,
    cost: i64,
    flow: i64,
}

#[derive(Clone, Copy)]
struct Node {
    parent: u32,
    /// The edge to the parent.
    edge: u32,
    /// `true` if that edge leads to the parent.
    up: bool,
    depth: u32,
    potential: i64,
    first_child: u32,
    next: u32,
    previous: u32,
}

pub(super) struct Simplex<'n> {
    arcs: &'n [Arc],
    nodes: Vec<Node>,
    edges: Vec<ResidualArc>,
    /// Cost of an artificial edge into a node.
    dear: i64,
    /// Position at which the search for an entering edge continues.
    next: usize,
    work: usize,
    stack: Vec<u32>,
}

/// Result of a step: the flow that is moved and the edge that leaves.
struct Leaving {
    /// Flow around the cycle.
    delta: i64,
    /// The node whose edge to its parent leaves, and `true` if the node is on the side where flow enters the new edge;
    /// `None` if the entering edge only moves to its other bound.
    out: Option<(u32, bool)>,
}

impl<'n> Simplex<'n> {
    /// Creates the first tree by the big-M method: artificial arcs carry all supplies, so the tree is feasible.
    pub(super) fn new(supply: &[i64], arcs: &'n [Arc]) -> Self {
        let root = supply.len() as u32;
        let largest = arcs.iter().map(|arc| arc.cost.abs()).max().unwrap_or(0);
        // More expensive than any path of real arcs, so artificial arcs are used only if no other arc can carry the
        // flow.
        let dear = (largest + 1) * (i64::from(root) + 1);
        let mut excess = supply.to_vec();
        let mut edges = Vec::with_capacity(arcs.len() + supply.len());
        for arc in arcs {
            // Lower bounds are sent beforehand; the remaining flow starts at zero.
            excess[arc.from as usize] -= arc.lower;
            excess[arc.to as usize] += arc.lower;
            edges.push(ResidualArc {
                from: arc.from,
                to: arc.to,
                state: State::Lower,
                capacity: arc.upper - arc.lower,
                cost: arc.cost,
                flow: 0,
            });
        }
        let mut nodes = Vec::with_capacity(supply.len() + 1);
        for (node, &excess) in (0..root).zip(&excess) {
            let up = excess >= 0;
            let (from, to) = if up { (node, root) } else { (root, node) };
            nodes.push(Node {
                parent: root,
                edge: edges.len() as u32,
                up,
                depth: 1,
                // Potentials make the reduced costs of tree arcs 0.
                potential: if up { 0 } else { dear },
                first_child: NONE,
                next: if node + 1 < root { node + 1 } else { NONE },
                previous: if node > 0 { node - 1 } else { NONE },
            });
            edges.push(ResidualArc {
                from,
                to,
                state: State::Tree,
                capacity: i64::MAX,
                cost: if up { 0 } else { dear },
                flow: excess.abs(),
            });
        }
        nodes.push(Node {
            parent: NONE,
            edge: NONE,
            up: false,
            depth: 0,
            potential: 0,
            first_child: if root > 0 { 0 } else { NONE },
            next: NONE,
            previous: NONE,
        });
        Self { arcs, nodes, edges, dear, next: 0, work: 0, stack: Vec::new() }
    }

    pub(super) fn run(
        mut self,
        go_on: &mut dyn FnMut() -> Result<(), MethodError>,
    ) -> Result<CheapestFlow, FlowError> {
        // Simplex loop: an entering arc with negative reduced cost, a cycle, a leaving arc.
        while let Some(entering) = self.entering() {
            self.pivot(entering);
            if self.work >= WORK_PER_QUESTION {
                self.work = 0;
                go_on().map_err(FlowError::Ended)?;
            }
        }
        let supplies_left = self.edges[self.arcs.len()..].iter().any(|edge| edge.flow > 0);
        // Flow left on an artificial arc proves infeasibility; the nodes beyond the cut are named.
        if supplies_left {
            return Err(FlowError::Infeasible(self.cut()));
        }
        let flow: Vec<i64> =
            self.arcs.iter().zip(&self.edges).map(|(arc, edge)| arc.lower + edge.flow).collect();
        let cost = flow.iter().zip(self.arcs).map(|(flow, arc)| flow * arc.cost).sum();
        Ok(CheapestFlow { flow, cost })
    }

    /// Returns the nodes that only artificial edges can supply.
    fn cut(&self) -> Vec<u32> {
        let real = &self.nodes[..self.nodes.len() - 1];
        // A potential above half of `dear` means that the node hangs from an artificial arc.
        (0u32..).zip(real).filter(|(_, node)| node.potential > self.dear / 2).map(|(node, _)| node).collect()
    }

    /// Returns the edge with the largest gain in the next block that has one; `None` if no edge lowers the cost.
    fn entering(&mut self) -> Option<u32> {
        let all = self.arcs.len();
        // Block search: block size about the square root of the number of arcs, between Bland's and Dantzig's rule.
        let block = all.isqrt().max(SMALLEST_BLOCK);
        let mut best: Option<(i64, usize)> = None;
        let (mut looked, mut in_block) = (0, 0);
        while looked < all {
            if self.next >= all {
                self.next = 0;
            }
            let edge = &self.edges[self.next];
            let (from, to) = (&self.nodes[edge.from as usize], &self.nodes[edge.to as usize]);
            // Reduced cost; the state gives the direction in which a change would lower the cost.
            let gain = edge.state as i64 * (edge.cost + from.potential - to.potential);
            if gain < best.map_or(0, |(gain, _)| gain) {
                best = Some((gain, self.next));
            }
            self.next += 1;
            looked += 1;
            in_block += 1;
            if in_block == block {
                if best.is_some() {
                    break;
                }
                in_block = 0;
            }
        }
        self.work += looked;
        best.map(|(_, edge)| edge as u32)
    }

    fn pivot(&mut self, entering: u32) {
        let edge = self.edges[entering as usize];
        // Flow runs from `first` over the entering edge to `second`, up to the join and down to `first`.
        let (first, second) =
            if edge.state == State::Lower { (edge.from, edge.to) } else { (edge.to, edge.from) };
        let join = self.join(first, second);
        let leaving = self.leaving(edge, first, second, join);
        if leaving.delta > 0 {
            self.send(entering, first, second, join, leaving.delta);
        }
        // The entering arc goes from bound to bound: no tree arc leaves.
        let Some((out, on_first_side)) = leaving.out else {
            let edge = &mut self.edges[entering as usize];
            edge.state = if edge.state == State::Lower { State::Upper } else { State::Lower };
            return;
        };
        // The leaving arc rests at a bound.
        let gone = &mut self.edges[self.nodes[out as usize].edge as usize];
        gone.state = if gone.flow == 0 { State::Lower } else { State::Upper };
        self.edges[entering as usize].state = State::Tree;
        let (inner, outer) = if on_first_side { (first, second) } else { (second, first) };
        self.hang(out, inner, outer, entering);
    }

    fn join(&mut self, first: u32, second: u32) -> u32 {
        // Lowest common ancestor by depths.
        let (mut one, mut other) = (first, second);
        while one != other {
            self.work += 1;
            if self.nodes[one as usize].depth >= self.nodes[other as usize].depth {
                one = self.nodes[one as usize].parent;
            } else {
                other = self.nodes[other as usize].parent;
            }
        }
        one
    }

    fn leaving(&self, entering: ResidualArc, first: u32, second: u32, join: u32) -> Leaving {
        let mut leaving = Leaving { delta: entering.capacity, out: None };
        // On this side, the flow runs from the join down to `first`, so edges that lead up lose flow. The edge nearest
        // to `first` wins ties on this side.
        let mut at = first;
        while at != join {
            let node = &self.nodes[at as usize];
            let edge = &self.edges[node.edge as usize];
            let room = if node.up { edge.flow } else { edge.capacity - edge.flow };
            if room < leaving.delta {
                leaving = Leaving { delta: room, out: Some((at, true)) };
            }
            at = node.parent;
        }
        // From `second` up to the join: on ties, the edge nearest to the join wins, also against edges on the other
        // side.
        let mut at = second;
        while at != join {
            let node = &self.nodes[at as usize];
            let edge = &self.edges[node.edge as usize];
            let room = if node.up { edge.capacity - edge.flow } else { edge.flow };
            if room <= leaving.delta {
                leaving = Leaving { delta: room, out: Some((at, false)) };
            }
            at = node.parent;
        }
        leaving
    }

    fn send(&mut self, entering: u32, first: u32, second: u32, join: u32, delta: i64) {
        let edge = &mut self.edges[entering as usize];
        // Changes the flow around the cycle.
        edge.flow += edge.state as i64 * delta;
        for (start, downwards) in [(first, true), (second, false)] {
            let mut at = start;
            while at != join {
                let node = &self.nodes[at as usize];
                let edge = &mut self.edges[node.edge as usize];
                if node.up == downwards {
                    edge.flow -= delta;
                } else {
                    edge.flow += delta;
                }
                at = node.parent;
            }
        }
    }

    /// Cuts off the subtree of `out` and attaches its node `inner` to `outer` by the entering edge.
    fn hang(&mut self, out: u32, inner: u32, outer: u32, entering: u32) {
        // The path from `inner` to `out` is reversed; the subtrees below it stay attached.
        let (mut child, mut parent, mut edge) = (inner, outer, entering);
        loop {
            let Node { parent: old_parent, edge: old_edge, .. } = self.nodes[child as usize];
            self.detach(child);
            let up = self.edges[edge as usize].from == child;
            self.attach(child, parent, edge, up);
            if child == out {
                break;
            }
            (parent, child, edge) = (child, old_parent, old_edge);
        }
        let ResidualArc { cost, .. } = self.edges[entering as usize];
        let (node, far) = (&self.nodes[inner as usize], self.nodes[outer as usize].potential);
        // One shift of potentials for the whole subtree keeps reduced costs of tree arcs at 0.
        let wanted = if node.up { far - cost } else { far + cost };
        let shift = wanted - node.potential;
        self.stack.push(inner);
        while let Some(at) = self.stack.pop() {
            self.work += 1;
            let depth = self.nodes[self.nodes[at as usize].parent as usize].depth + 1;
            let node = &mut self.nodes[at as usize];
            node.potential += shift;
            node.depth = depth;
            let mut child = node.first_child;
            while child != NONE {
                self.stack.push(child);
                child = self.nodes[child as usize].next;
            }
        }
    }

    fn detach(&mut self, child: u32) {
        let Node { parent, next, previous, .. } = self.nodes[child as usize];
        if previous == NONE {
            self.nodes[parent as usize].first_child = next;
        } else {
            self.nodes[previous as usize].next = next;
        }
        if next != NONE {
            self.nodes[next as usize].previous = previous;
        }
    }

    fn attach(&mut self, child: u32, parent: u32, edge: u32, up: bool) {
        let first = std::mem::replace(&mut self.nodes[parent as usize].first_child, child);
        if first != NONE {
            self.nodes[first as usize].previous = child;
        }
        let node = &mut self.nodes[child as usize];
        (node.parent, node.edge, node.up, node.next, node.previous) = (parent, edge, up, first, NONE);
    }
}
