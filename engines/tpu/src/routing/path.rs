//! The cheapest route of a pair among all routes whose length exceeds the length of the shortest allowed route by at
//! most a few hops.

use super::frame::Frame;
use super::steps::{FAR, Reach, Steps};
use crate::model::pod::PORTS;

/// Maximum number of hops beyond the slack by which a route may be longer if all walks within the slack pass a node
/// twice.
pub const LONGER: u16 = 8;

/// Maximum number of steps of the search for a route without repeated nodes.
const PATIENCE: u32 = 20_000;

/// A state with a number of remaining hops, as part of a route.
#[derive(Clone, Copy, Debug)]
struct Entry {
    state: u32,
    /// Index of the next entry of the route.
    next: u32,
    cost: f64,
}

/// Searches routes backwards from their target, layer by layer of remaining hops: a state is included if the length of
/// the shortest walk to the state plus the remaining hops is an allowed length of the route. The search never
/// enumerates routes.
#[derive(Clone, Debug)]
pub struct Finder {
    entries: Vec<Entry>,
    /// Entry of a state in the current layer; valid only if its stamp equals the stamp of this layer.
    slot: Vec<u32>,
    stamp: Vec<u32>,
    layer: u32,
    /// The found route: out ports from source to target.
    ports: Vec<u8>,
    /// Nodes of the route being tested or searched.
    nodes: Vec<u32>,
}

impl Finder {
    /// Creates a finder for pods with this number of states.
    pub fn new(states: usize) -> Self {
        Self {
            entries: Vec::new(),
            slot: vec![0; states],
            stamp: vec![0; states],
            layer: 0,
            ports: Vec::new(),
            nodes: Vec::new(),
        }
    }

    /// The cheapest route from `source` to `target` at a price for each arc class, as out ports. The route passes no
    /// node twice. The length of the route exceeds the length of the shortest allowed walk by at most `slack` hops; if
    /// all routes of these lengths pass a node twice, the route may be longer. `None` if no route exists.
    #[allow(
        clippy::too_many_arguments,
        reason = "the arguments describe one pair of chips and its surroundings"
    )]
    pub fn cheapest(
        &mut self,
        frame: &Frame,
        steps: &Steps,
        reach: &Reach,
        source: u32,
        target: u32,
        slack: u16,
        prices: &[f64],
    ) -> Option<&[u8]> {
        let shortest = reach.to(frame, steps, target);
        if shortest == FAR {
            return None;
        }
        // First the cheapest walk without the constraint on repeated nodes; only a walk longer than the shortest path
        // can pass a node twice.
        let found = self.sweep(frame, steps, reach, (source, target), shortest, slack, prices);
        if found && self.is_simple(frame, source) {
            return Some(&self.ports);
        }
        // The cheapest walk repeats a node, so search for routes without repeated nodes.
        self.without_repeats(frame, steps, reach, (source, target), shortest, slack, prices)
            .then_some(&self.ports[..])
    }

    /// Finds the cheapest walk whose length is between `shortest` and `shortest + slack` and has the parity of
    /// `shortest`. Returns `false` if no such walk exists.
    #[allow(clippy::too_many_arguments, reason = "as above")]
    fn sweep(
        &mut self,
        frame: &Frame,
        steps: &Steps,
        reach: &Reach,
        (source, target): (u32, u32),
        shortest: u16,
        slack: u16,
        prices: &[f64],
    ) -> bool {
        // Backward dynamic program over (state, remaining hops). Only lengths of one parity occur.
        let longest = shortest + slack;
        self.entries.clear();
        self.next_layer();
        let mut best = (f64::INFINITY, u32::MAX);
        for port in 0..PORTS as u8 {
            let arc = frame.into(target, port);
            let cost = prices[frame.class(arc)];
            for vc in 0..steps.vcs() {
                let state = steps.state(arc, vc);
                let hops = reach.hops[state as usize];
                // Every pod is bipartite: lengths of the wrong parity do not occur. Adds the entries of the last hop;
                // at a distance of 1, the last hop is a complete route.
                if hops <= longest {
                    self.entries.push(Entry { state, next: u32::MAX, cost });
                    if hops == 1 && cost < best.0 {
                        best = (cost, self.entries.len() as u32 - 1);
                    }
                }
            }
        }
        let (mut from, mut to_go) = (0, 1);
        // Builds the layers in the order of remaining hops; each state of a layer stores its cheapest continuation.
        while from < self.entries.len() && to_go < longest {
            self.next_layer();
            let end = self.entries.len();
            for at in from..end {
                let Entry { state, cost, .. } = self.entries[at];
                let tail = Frame::tail(steps.arc(state));
                // Prunes walks that cost at least as much as a complete walk, or that pass an end node twice. Prices
                // are positive, so costs only grow along a walk.
                if cost >= best.0 || tail == source || tail == target {
                    continue;
                }
                for before in steps.before(frame, state) {
                    let hops = reach.hops[before as usize];
                    if hops == FAR || hops + to_go > longest {
                        continue;
                    }
                    let cost = cost + prices[frame.class(steps.arc(before))];
                    // Because of the stamps, the table of states need not be cleared for every layer.
                    let (stamp, slot) = (&mut self.stamp[before as usize], &mut self.slot[before as usize]);
                    if *stamp == self.layer {
                        let known = &mut self.entries[*slot as usize];
                        if cost < known.cost {
                            known.cost = cost;
                            known.next = at as u32;
                        }
                    } else {
                        *stamp = self.layer;
                        *slot = self.entries.len() as u32;
                        self.entries.push(Entry { state: before, next: at as u32, cost });
                    }
                }
            }
            to_go += 1;
            // Entries whose state is the first hop complete a route.
            for at in end..self.entries.len() {
                let entry = self.entries[at];
                if reach.hops[entry.state as usize] == 1 && entry.cost < best.0 {
                    best = (entry.cost, at as u32);
                }
            }
            from = end;
        }
        // Follows the chosen entries forwards.
        self.ports.clear();
        let mut at = best.1;
        while at != u32::MAX {
            let entry = self.entries[at as usize];
            self.ports.push(Frame::port(steps.arc(entry.state)));
            at = entry.next;
        }
        best.1 != u32::MAX
    }

    fn next_layer(&mut self) {
        if self.layer == u32::MAX {
            self.stamp.fill(0);
            self.layer = 0;
        }
        self.layer += 1;
    }

    /// Returns `true` if the route found passes every node at most once. Takes quadratic time in the number of hops,
    /// which is small.
    fn is_simple(&mut self, frame: &Frame, source: u32) -> bool {
        self.nodes.clear();
        self.nodes.push(source);
        let mut node = source;
        for &port in &self.ports {
            node = frame.head(Frame::arc(node, port));
            if self.nodes.contains(&node) {
                return false;
            }
            self.nodes.push(node);
        }
        true
    }

    /// Finds the cheapest route without repeated nodes by depth-first search backwards, length by length; returns
    /// `false` if none was found. This search is rarely needed: a cycle has at least four hops, so only pairs whose
    /// shortest allowed walk is a detour can need this search.
    #[allow(clippy::too_many_arguments, reason = "as above")]
    fn without_repeats(
        &mut self,
        frame: &Frame,
        steps: &Steps,
        reach: &Reach,
        (source, target): (u32, u32),
        shortest: u16,
        slack: u16,
        prices: &[f64],
    ) -> bool {
        let mut best: Option<(f64, Vec<u8>)> = None;
        // Iterative deepening by two hops, because all walks of a pair have the same parity.
        for longest in (shortest..=shortest + slack + LONGER).step_by(2) {
            // Routes within the slack come first; longer routes are tried only if no route is within the slack.
            if best.is_some() && longest > shortest + slack {
                break;
            }
            // The limit on steps may miss the cheapest route, but the search terminates.
            let mut patience = PATIENCE;
            self.nodes.clear();
            self.nodes.push(target);
            self.ports.clear();
            let search = RouteSearch { frame, steps, reach, source, longest, prices };
            for port in 0..PORTS as u8 {
                for vc in 0..steps.vcs() {
                    let state = steps.state(frame.into(target, port), vc);
                    search.descend(state, 0.0, &mut self.nodes, &mut self.ports, &mut best, &mut patience);
                }
            }
        }
        match best {
            Some((_, ports)) => {
                self.ports = ports;
                true
            }
            None => false,
        }
    }
}

/// Inputs of a search for a route without repeated nodes.
struct RouteSearch<'a> {
    frame: &'a Frame,
    steps: &'a Steps,
    reach: &'a Reach,
    source: u32,
    longest: u16,
    prices: &'a [f64],
}

impl RouteSearch<'_> {
    /// Follows walks backwards into `state` and stores the cheapest complete route in `best`. `nodes` and `ports`
    /// contain the rest of the route in reverse order.
    fn descend(
        &self,
        state: u32,
        cost: f64,
        nodes: &mut Vec<u32>,
        ports: &mut Vec<u8>,
        best: &mut Option<(f64, Vec<u8>)>,
        patience: &mut u32,
    ) {
        let hops = self.reach.hops[state as usize];
        // Branch and bound: distances prune by length, the best cost by price.
        let arc = self.steps.arc(state);
        let tail = Frame::tail(arc);
        let cost = cost + self.prices[self.frame.class(arc)];
        // Prune by cost.
        let dear = best.as_ref().is_some_and(|(known, _)| cost >= *known);
        if hops == FAR
            || hops as usize + ports.len() > self.longest as usize
            || dear
            || *patience == 0
            || nodes.contains(&tail)
        {
            return;
        }
        *patience -= 1;
        ports.push(Frame::port(arc));
        if tail == self.source {
            *best = Some((cost, ports.iter().rev().copied().collect()));
        } else {
            nodes.push(tail);
            for before in self.steps.before(self.frame, state) {
                self.descend(before, cost, nodes, ports, best, patience);
            }
            nodes.pop();
        }
        ports.pop();
    }
}

#[cfg(test)]
mod tests;
