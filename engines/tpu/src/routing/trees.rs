//! Spanning trees whose up/down turns connect every pair (up*/down* routing). If turns added in order of priority leave
//! a pair without a route, the set of turns is built again, beginning with the turns of such trees.

use super::frame::Frame;
use super::turns::Builder;
use crate::model::pod::{self, PORTS, SWITCHES};

/// A spanning tree: the port of every node to its parent; `None` at the root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    /// Root: the node to which all paths lead.
    pub root: u32,
    /// Port to the parent by node.
    pub parent: Vec<Option<u8>>,
}

impl Tree {
    /// The switches that the tree uses.
    pub fn switches(&self) -> [bool; SWITCHES] {
        let mut used = [false; SWITCHES];
        for (node, port) in self.parent.iter().enumerate() {
            if let Some(switch) = port.and_then(|port| pod::switch((node % pod::CHIPS) as u8, port)) {
                used[switch] = true;
            }
        }
        used
    }
}

/// A tree of shortest paths to `root` over working links; `None` if some node has no path.
pub fn breadth_first(frame: &Frame, root: u32) -> Option<Tree> {
    // Breadth-first search.
    let mut parent = vec![None; frame.nodes()];
    let mut seen = vec![false; frame.nodes()];
    let mut queue = vec![root];
    seen[root as usize] = true;
    let mut at = 0;
    while at < queue.len() {
        let node = queue[at];
        at += 1;
        for port in 0..PORTS as u8 {
            let arc = Frame::arc(node, port);
            let next = frame.head(arc);
            if frame.is_open(arc) && !seen[next as usize] {
                seen[next as usize] = true;
                parent[next as usize] = Some(pod::opposite(port));
                queue.push(next);
            }
        }
    }
    // Every node has a path.
    (queue.len() == frame.nodes()).then_some(Tree { root, parent })
}

/// Returns a node with the largest distance from `node`.
pub fn antipode(frame: &Frame, node: u32) -> u32 {
    // The last node of a breadth-first search is a farthest one.
    let mut seen = vec![false; frame.nodes()];
    let mut queue = vec![node];
    seen[node as usize] = true;
    let mut at = 0;
    while at < queue.len() {
        for port in 0..PORTS as u8 {
            let arc = Frame::arc(queue[at], port);
            if frame.is_open(arc) && !std::mem::replace(&mut seen[frame.head(arc) as usize], true) {
                queue.push(frame.head(arc));
            }
        }
        at += 1;
    }
    queue.last().copied().unwrap_or(node)
}

/// Two spanning trees without a common switch. The trees grow alternately from two nodes that are far apart; a switch
/// belongs to the tree that uses it first. `None` if a tree does not reach every node.
pub fn disjoint(frame: &Frame) -> Option<[Tree; 2]> {
    let first = antipode(frame, 0);
    let roots = [first, antipode(frame, first)];
    let mut owner: [Option<usize>; SWITCHES] = [None; SWITCHES];
    let mut parents = [vec![None; frame.nodes()], vec![None; frame.nodes()]];
    let mut seen = [vec![false; frame.nodes()], vec![false; frame.nodes()]];
    let mut queues = roots.map(|root| vec![root]);
    for (seen, root) in seen.iter_mut().zip(roots) {
        seen[root as usize] = true;
    }
    // The trees grow in turn: each grows as far as possible over electrical links and its own switches, then claims one
    // free switch. Only one switch is claimed at a time, because links that the tree may use anyway come first.
    loop {
        let mut grown = false;
        for tree in 0..2 {
            let mut at = 0;
            // A switch without an owner, at the border of the tree.
            let mut claim = None;
            while at < queues[tree].len() {
                let node = queues[tree][at];
                at += 1;
                for port in 0..PORTS as u8 {
                    let arc = Frame::arc(node, port);
                    let next = frame.head(arc);
                    if !frame.is_open(arc) || seen[tree][next as usize] {
                        continue;
                    }
                    let switch = pod::switch((node as usize % pod::CHIPS) as u8, port);
                    // Own and electrical links are free to use.
                    if switch.is_none_or(|switch| owner[switch] == Some(tree)) {
                        seen[tree][next as usize] = true;
                        parents[tree][next as usize] = Some(pod::opposite(port));
                        queues[tree].push(next);
                        grown = true;
                    } else if claim.is_none() && switch.is_some_and(|switch| owner[switch].is_none()) {
                        claim = switch;
                    }
                }
            }
            if let Some(switch) = claim {
                owner[switch] = Some(tree);
                grown = true;
            }
        }
        if !grown {
            break;
        }
    }
    // Both trees reach every node.
    let whole = queues.iter().all(|queue| queue.len() == frame.nodes());
    let [one, other] = parents;
    whole.then_some([Tree { root: roots[0], parent: one }, Tree { root: roots[1], parent: other }])
}

/// Allows the turns of routes that go up a tree and then down, on one virtual channel. Returns `true` if all turns
/// could be allowed.
pub fn seed(builder: &mut Builder<'_>, frame: &Frame, tree: &Tree, vc: usize) -> bool {
    let is_up = |arc: u32| tree.parent[Frame::tail(arc) as usize] == Some(Frame::port(arc));
    // Down arcs lead from parent to child.
    let is_down = |arc: u32| {
        let child = frame.head(arc);
        tree.parent[child as usize] == Some(pod::opposite(Frame::port(arc)))
    };
    let mut all_fit = true;
    for arc in 0..frame.arcs() as u32 {
        let (up, down) = (is_up(arc), is_down(arc));
        if !up && !down {
            continue;
        }
        // U-turns are not allowed.
        for port in (0..PORTS as u8).filter(|port| *port != pod::opposite(Frame::port(arc))) {
            let next = Frame::arc(frame.head(arc), port);
            // Up and up, up and down, down and down; never down and up.
            if is_down(next) || (up && is_up(next)) {
                // One channel is enough for a tree.
                all_fit &= builder.try_allow(frame.class(arc), port, vc, vc);
            }
        }
    }
    all_fit
}

#[cfg(test)]
mod tests;
