//! Switches replaced by links from GPU to GPU that keep all flows between GPUs (Bang-Jensen, Frank and Jackson;
//! docs/methods/collective.md, section 11).

use crate::floors::digraph::Digraph;
use crate::floors::maxflow::FlowNetwork;
use std::collections::BTreeMap;

/// A way over links of the network with a part of the capacity of a logical link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SplitWay {
    /// Links of the network in order.
    pub links: Vec<u32>,
    /// Capacity.
    pub amount: i128,
}

/// Links between GPUs, made of links of the network and of ways through switches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Split {
    /// Ways of each logical link, by its ends.
    pub ways: BTreeMap<(u32, u32), Vec<SplitWay>>,
    /// `true` if flows of the wanted value still reach every GPU.
    pub keeps: bool,
}

/// A graph while its switches are taken out.
struct Splitting<'g> {
    nodes: usize,
    gpus: &'g [u32],
    roots: &'g [i128],
    total: i128,
    capacity: BTreeMap<(u32, u32), i128>,
    ways: BTreeMap<(u32, u32), Vec<SplitWay>>,
}

/// Takes out the switches of a graph (all nodes but `gpus`) such that, as far as that is possible, a flow of the sum of
/// `roots` still gets from a source with `roots[u]` to each `u` to every GPU. Where the capacities into and out of
/// every switch are equal it is possible; where they are not, what cannot be split is dropped.
pub fn split(graph: &Digraph, gpus: &[u32], roots: &[i128]) -> Split {
    let mut capacity: BTreeMap<(u32, u32), i128> = BTreeMap::new();
    let mut ways: BTreeMap<(u32, u32), Vec<SplitWay>> = BTreeMap::new();
    // Each link is its own only way at first.
    for (link, arc) in graph.arcs().iter().enumerate() {
        if arc.from != arc.to && arc.capacity > 0 {
            *capacity.entry((arc.from, arc.to)).or_default() += arc.capacity;
            let way = SplitWay { links: vec![link as u32], amount: arc.capacity };
            ways.entry((arc.from, arc.to)).or_default().push(way);
        }
    }
    let total = roots.iter().sum();
    let mut splitting = Splitting { nodes: graph.nodes(), gpus, roots, total, capacity, ways };
    // One switch after the other: ways may lead through several.
    for switch in (0..graph.nodes() as u32).filter(|node| !gpus.contains(node)) {
        splitting.take_out(switch);
    }
    let keeps = splitting.reaches_all();
    Split { ways: splitting.ways, keeps }
}

impl Splitting<'_> {
    fn of(&self, from: u32, to: u32) -> i128 {
        self.capacity.get(&(from, to)).copied().unwrap_or(0)
    }

    /// Ends of the links into and out of a node.
    fn ports(&self, node: u32) -> (Vec<u32>, Vec<u32>) {
        let into = self.capacity.iter().filter(|(ends, room)| ends.1 == node && **room > 0);
        let out = self.capacity.iter().filter(|(ends, room)| ends.0 == node && **room > 0);
        (into.map(|(ends, _)| ends.0).collect(), out.map(|(ends, _)| ends.1).collect())
    }

    fn take_out(&mut self, switch: u32) {
        // Even shares first: they keep ways short and plans symmetric.
        if !self.take_out_evenly(switch) {
            let (into, out) = self.ports(switch);
            // First a share of each link for each pair, so that no pair takes what others need to stay near; then all
            // that is left.
            for even in [true, false] {
                for (turn, &from) in into.iter().enumerate() {
                    for step in 0..out.len() {
                        let to = out[(turn + step) % out.len()];
                        if from == to {
                            continue;
                        }
                        let mut most = self.of(from, switch).min(self.of(switch, to));
                        if even {
                            let ports = (into.len().max(out.len()) as i128 - 1).max(1);
                            most = most.min((most + ports - 1) / ports);
                        }
                        // Splitting off is safe up to the slack of the tightest cut.
                        let room = if most > 0 { self.room(from, switch, to, most) } else { 0 };
                        self.replace(from, switch, to, room);
                    }
                }
            }
        }
        // What could not be split off is dropped.
        self.capacity.retain(|ends, _| ends.0 != switch && ends.1 != switch);
        self.ways.retain(|ends, _| ends.0 != switch && ends.1 != switch);
    }

    /// Tries ways between all pairs of ports that differ by one unit at most; whether all flows are kept.
    fn take_out_evenly(&mut self, switch: u32) -> bool {
        let (into, out) = self.ports(switch);
        let ports = into.len();
        let Some(&first) = into.first() else { return true };
        let capacity = self.of(first, switch);
        // Equal ports on both sides of the switch.
        let equal = into == out
            && ports > 1
            && into
                .iter()
                .all(|port| self.of(*port, switch) == capacity && self.of(switch, *port) == capacity);
        if !equal {
            return false;
        }
        // The split is tried as a whole and undone if a flow is lost.
        let before = (self.capacity.clone(), self.ways.clone());
        let (share, more) = (capacity / (ports as i128 - 1), capacity % (ports as i128 - 1));
        for step in 1..ports {
            // Every pair gets the rounded share; the first steps take the rest.
            let amount = share + i128::from((step as i128) <= more);
            for (place, &from) in into.iter().enumerate() {
                self.replace(from, switch, into[(place + step) % ports], amount);
            }
        }
        if self.reaches_all() {
            return true;
        }
        (self.capacity, self.ways) = before;
        false
    }

    /// A flow network with the source as node `nodes`; terminals are merged by unlimited arcs.
    fn network(&self) -> (FlowNetwork<i128>, i128) {
        let mut network = FlowNetwork::new(self.nodes + 1);
        let mut all = self.total + 1;
        for (&(from, to), &room) in &self.capacity {
            network.add(from, to, room);
            all += room;
        }
        for (node, &root) in self.roots.iter().enumerate() {
            if root > 0 {
                network.add(self.nodes as u32, node as u32, root);
            }
        }
        (network, all)
    }

    /// Edmonds: trees exist if this flow reaches every GPU.
    fn reaches_all(&self) -> bool {
        let (mut network, _) = self.network();
        self.gpus.iter().all(|gpu| network.max_flow(self.nodes as u32, *gpu, self.total) == self.total)
    }

    /// Largest amount, at most `most`, of the way over a switch that can become a link without a loss of flow.
    /// Flows with merged terminals find the least of the two kinds of cuts that lose capacity when the way becomes a
    /// link.
    fn room(&self, from: u32, switch: u32, to: u32, most: i128) -> i128 {
        let mut room = most;
        let source = self.nodes as u32;
        for &gpu in self.gpus {
            if gpu != from && gpu != to {
                // Cuts with both ends of the new link on the source's side and the switch on the other.
                let (mut network, all) = self.network();
                network.add(source, from, all);
                network.add(source, to, all);
                network.add(switch, gpu, all);
                room = room.min(network.max_flow(source, gpu, self.total + room) - self.total);
            }
            // Cuts with the switch on the source's side and both ends on the other.
            let (mut network, all) = self.network();
            network.add(source, switch, all);
            network.add(from, gpu, all);
            network.add(to, gpu, all);
            room = room.min(network.max_flow(source, gpu, self.total + room) - self.total);
            if room <= 0 {
                return 0;
            }
        }
        room
    }

    /// Replaces an amount of the way over a switch by a link.
    fn replace(&mut self, from: u32, switch: u32, to: u32, amount: i128) {
        if amount <= 0 {
            return;
        }
        let mut left = amount;
        while left > 0 {
            // The last ways of both links, joined.
            let (Some(first), Some(second)) = (self.pick(from, switch, left), self.pick(switch, to, left))
            else {
                break;
            };
            let taken = first.amount.min(second.amount);
            self.shrink(from, switch, taken);
            self.shrink(switch, to, taken);
            let links = [first.links, second.links].concat();
            let ways = self.ways.entry((from, to)).or_default();
            // Equal ways are one.
            match ways.iter_mut().find(|way| way.links == links) {
                Some(way) => way.amount += taken,
                None => ways.push(SplitWay { links, amount: taken }),
            }
            *self.capacity.entry((from, to)).or_default() += taken;
            left -= taken;
        }
    }

    /// The last way of a link, with at most `most`.
    fn pick(&self, from: u32, to: u32, most: i128) -> Option<SplitWay> {
        let way = self.ways.get(&(from, to))?.last()?;
        Some(SplitWay { links: way.links.clone(), amount: way.amount.min(most) })
    }

    fn shrink(&mut self, from: u32, to: u32, amount: i128) {
        if let Some(room) = self.capacity.get_mut(&(from, to)) {
            *room -= amount;
        }
        if let Some(ways) = self.ways.get_mut(&(from, to)) {
            if let Some(way) = ways.last_mut() {
                way.amount -= amount;
            }
            ways.retain(|way| way.amount > 0);
        }
    }
}

#[cfg(test)]
mod tests;
