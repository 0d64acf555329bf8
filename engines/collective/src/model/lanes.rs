//! Networks in which the time of a hop does not depend on the hops before it: a cut-through switch is represented once
//! for every pace at which chunks arrive, and each link out of it once for every pace.
//!
//! The pace is the slowest transmission of a chunk on its path through switches so far, in epochs. All paces above the
//! slowest possible later hop of the path count as one pace. Links of a switch with a single pace stay unchanged.

use super::epochs::{EpochModel, LinkEpochs};
use crate::scenario::network::{LinkNetwork, NetworkLink, NetworkNode, Symmetry};
use std::collections::BTreeSet;

/// A network of lanes.
#[derive(Clone, Debug, PartialEq)]
pub struct LaneNetwork {
    /// Nodes, with switches at each pace; the nodes of the real network come first. Links with lanes; the links of the
    /// real network come first.
    pub network: LinkNetwork,
    /// The lanes in epochs.
    pub epochs: EpochModel,
    /// For every node, the node of the real network that it represents.
    pub origins: Vec<u32>,
}

/// Paces at which chunks arrive at every node, ascending; none at GPUs and at store-and-forward switches.
struct Paces {
    of_node: Vec<Vec<u32>>,
    /// For every node, the number of the added node for its second pace; the added nodes for its further paces follow.
    next: Vec<u32>,
    count: u32,
}

impl Paces {
    /// Computes the paces of every node from the transmission time of a chunk on each link, in any unit.
    fn new(network: &LinkNetwork, occupied: &[u32]) -> Self {
        let links = || network.links().iter().zip(occupied.iter().copied());
        let through = |node: u32| network.is_cut_through() && network.is_switch(node);
        // For each switch, the slowest transmission among the hops that a path can take from there.
        let mut caps = vec![0u32; network.node_count()];
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for (ends, occupied) in links().filter(|(ends, _)| through(ends.from)) {
                let after = if through(ends.to) { caps[ends.to as usize] } else { 0 };
                let cap = &mut caps[ends.from as usize];
                changed |= *cap < occupied.max(after);
                *cap = (*cap).max(occupied).max(after);
            }
        }
        let mut sets: Vec<BTreeSet<u32>> = vec![BTreeSet::new(); network.node_count()];
        changed = true;
        while std::mem::take(&mut changed) {
            for (ends, occupied) in links().filter(|(ends, _)| through(ends.to)) {
                let before: Vec<u32> = if through(ends.from) {
                    sets[ends.from as usize].iter().copied().collect()
                } else {
                    vec![0]
                };
                for pace in before {
                    let arrives = pace.max(occupied).min(caps[ends.to as usize]);
                    changed |= sets[ends.to as usize].insert(arrives);
                }
            }
        }
        let of_node: Vec<Vec<u32>> = sets.into_iter().map(|paces| paces.into_iter().collect()).collect();
        let mut count = network.node_count() as u32;
        let mut next = Vec::with_capacity(of_node.len());
        for paces in &of_node {
            next.push(count);
            count += paces.len().saturating_sub(1) as u32;
        }
        Self { of_node, next, count }
    }

    /// Returns the node of the network of lanes that represents a real node at one of its paces; `at` is the position
    /// of the pace in the list of the node.
    fn node(&self, node: u32, at: usize) -> u32 {
        if at == 0 { node } else { self.next[node as usize] + at as u32 - 1 }
    }

    /// Returns the number of the node that a chunk reaches if it arrives at a given pace.
    fn reached(&self, node: u32, pace: u32) -> u32 {
        let paces = &self.of_node[node as usize];
        // A pace above the pace of the slowest later hop counts as the pace of that hop.
        let at = paces.partition_point(|known| *known <= pace).saturating_sub(1);
        self.node(node, at)
    }

    /// Returns the paces at which chunks leave a node, each with the number of the node at this pace.
    fn leaving(&self, node: u32) -> Vec<(u32, u32)> {
        let paces = &self.of_node[node as usize];
        if paces.is_empty() {
            return vec![(node, 0)];
        }
        paces.iter().enumerate().map(|(at, pace)| (self.node(node, at), *pace)).collect()
    }
}

impl LaneNetwork {
    /// Returns `true` if chunks arrive at some switch at several paces.
    pub fn has_lanes(&self) -> bool {
        self.origins.iter().zip(0u32..).any(|(origin, node)| *origin != node)
    }

    /// Creates the lanes of a network whose links are given in epochs, each link considered separately.
    pub fn new(network: &LinkNetwork, mut epochs: EpochModel) -> Self {
        let occupied: Vec<u32> = epochs.links.iter().map(|link| link.occupied).collect();
        let paces = Paces::new(network, &occupied);
        let lane = |link: u32, model: &LinkEpochs, pace: u32| LinkEpochs {
            carrier: link,
            pace,
            early: model.occupied.min(pace),
            latency: model.delay + model.occupied.saturating_sub(pace),
            ..model.clone()
        };
        let (mut links, mut models) = (network.links().to_vec(), Vec::with_capacity(epochs.links.len()));
        let (mut more_links, mut more_models): (Vec<NetworkLink>, Vec<LinkEpochs>) = (Vec::new(), Vec::new());
        for (link, model) in (0u32..).zip(&epochs.links) {
            let (from, to) = (network.links()[link as usize].from, network.links()[link as usize].to);
            let leaving = paces.leaving(from);
            let first = leaving.iter().map(|(_, pace)| model.occupied.min(*pace)).min().unwrap_or(0);
            for (place, &(tail, pace)) in leaving.iter().enumerate() {
                let head = paces.reached(to, pace.max(model.occupied));
                let lane = LinkEpochs { shift: model.occupied.min(pace) - first, ..lane(link, model, pace) };
                if place == 0 {
                    (links[link as usize].from, links[link as usize].to) = (tail, head);
                    models.push(lane);
                } else {
                    let ends = NetworkLink { from: tail, to: head, ..network.links()[link as usize].clone() };
                    more_links.push(ends);
                    more_models.push(lane);
                }
            }
        }
        models.extend(more_models);
        epochs.links = models;
        let mut origins: Vec<u32> = (0..network.node_count() as u32).collect();
        if paces.count as usize == origins.len() {
            return Self { network: network.clone(), epochs, origins };
        }
        links.extend(more_links);
        for (node, paces) in (0u32..).zip(&paces.of_node) {
            origins.extend(std::iter::repeat_n(node, paces.len().saturating_sub(1)));
        }
        let nodes: Vec<NetworkNode> =
            origins.iter().map(|node| network.nodes()[*node as usize].clone()).collect();
        let mut lanes = network.with_parts(nodes, links);
        let generators: Vec<Symmetry> =
            network.generators().iter().filter_map(|one| extended(&lanes, &paces, one)).collect();
        lanes.add_generators(generators);
        Self { network: lanes, epochs, origins }
    }
}

/// Returns the rank of each link by rate, the fastest first. Ranks serve as transmission times, because the paces
/// depend only on the order of the rates.
fn by_rate(network: &LinkNetwork) -> Vec<u32> {
    let mut rates: Vec<f64> = network.links().iter().map(|link| link.capacity_gbyte_per_s).collect();
    rates.sort_unstable_by(|a, b| b.total_cmp(a));
    rates.dedup();
    let place = |rate: f64| rates.partition_point(|known| *known > rate) as u32 + 1;
    network.links().iter().map(|link| place(link.capacity_gbyte_per_s)).collect()
}

/// Assumes that links of different rates transmit a chunk in different numbers of epochs. Returns `true` if chunks then
/// arrive at some switch at several paces, or if [`slides`] returns `true` for these numbers.
pub fn differ_by_rate(network: &LinkNetwork) -> bool {
    let occupied = by_rate(network);
    Paces::new(network, &occupied).count as usize > network.node_count() || slides(network, &occupied)
}

/// Returns `true` if some link between cut-through switches transmits faster than the hops before and after the link,
/// and the shift of its transmission, which [`super::mirror`] defines, is not the same for all chains. The arguments
/// give the transmission time of a chunk on each link.
pub fn slides(network: &LinkNetwork, occupied: &[u32]) -> bool {
    let (there, back) = (Paces::new(network, occupied), Paces::new(&network.reversed(), occupied));
    network.links().iter().zip(occupied).any(|(link, occupied)| {
        let (before, after) = (&there.of_node[link.from as usize], &back.of_node[link.to as usize]);
        let mut held =
            before.iter().flat_map(|before| after.iter().map(|after| *occupied.max(before.min(after))));
        held.next().is_some_and(|first| held.any(|other| other != first))
    })
}

/// Extends a symmetry of the real network to the network of its lanes; `None` if the symmetry does not preserve the
/// lanes.
fn extended(lanes: &LinkNetwork, paces: &Paces, symmetry: &Symmetry) -> Option<Symmetry> {
    let mut nodes = symmetry.nodes.clone();
    for (node, own) in (0u32..).zip(&paces.of_node) {
        let image = symmetry.nodes[node as usize];
        nodes.extend((1..own.len()).map(|at| paces.node(image, at)));
    }
    lanes.symmetry(&nodes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::SwitchHop;
    use crate::testing::own;

    /// GPUs 0 and 2 at 100 GB/s and GPU 1 at `up` and `down` GB/s to switch 3.
    fn star(up: f64, down: f64) -> LinkNetwork {
        let fast = [(0, 3, 100.0, 0.0), (2, 3, 100.0, 0.0), (3, 0, 100.0, 0.0), (3, 2, 100.0, 0.0)];
        let links: Vec<_> = fast.into_iter().chain([(1, 3, up, 0.0), (3, 1, down, 0.0)]).collect();
        let mut scenario = own(4, &[3], &links, &[]);
        scenario.topology.switch_model.hop = SwitchHop::CutThrough;
        LinkNetwork::of(&scenario.topology).unwrap()
    }

    /// Its lanes in epochs of 10 us for chunks of 1 MB.
    fn lanes(up: f64, down: f64) -> LaneNetwork {
        let network = star(up, down);
        let epochs = EpochModel::new(&network, 10.0, 1e6, 0.0);
        LaneNetwork::new(&network, epochs)
    }

    fn latency(lanes: &LaneNetwork, from: u32, to: u32) -> Option<u32> {
        lanes.network.link_between(from, to).map(|link| lanes.epochs.latency(link))
    }

    #[test]
    fn one_pace_keeps_the_network() {
        let even = lanes(100.0, 100.0);
        assert_eq!((even.network.node_count(), even.network.links().len()), (4, 6));
        assert_eq!((latency(&even, 0, 3), latency(&even, 3, 1)), (Some(1), Some(0)));
        // For fast down links, a slow up link is as good as a fast one.
        let slow_up = lanes(10.0, 100.0);
        assert_eq!((slow_up.network.node_count(), latency(&slow_up, 1, 3)), (4, Some(10)));
        assert_eq!(latency(&slow_up, 3, 0), Some(0));
    }

    #[test]
    fn rates_tell_paces_apart_that_epochs_do_not() {
        let differ = |up, down| differ_by_rate(&star(up, down));
        // 99 and 100 GB/s take an epoch each if epochs are long enough.
        assert!(differ(99.0, 99.0) && !differ(100.0, 100.0));
        // An arrival slower than every down link is as good as one at the rate of the down link.
        assert!(!differ(10.0, 100.0) && differ(10.0, 50.0));
    }

    #[test]
    fn two_paces_make_two_switches() {
        let slow = lanes(10.0, 10.0);
        assert_eq!((slow.network.node_count(), slow.network.links().len()), (5, 9));
        assert_eq!(slow.origins, [0, 1, 2, 3, 3]);
        // From the fast GPUs 10 epochs less what the way up took; from the slow one nothing more.
        assert_eq!((latency(&slow, 3, 1), latency(&slow, 3, 0)), (Some(9), Some(0)));
        assert_eq!(
            (latency(&slow, 1, 4), latency(&slow, 4, 0), latency(&slow, 4, 1)),
            (Some(10), Some(0), Some(0))
        );
        let into_slow: Vec<_> = slow.epochs.links.iter().filter(|link| link.carrier == 5).collect();
        let of = |link: &LinkEpochs| (link.pace, link.early, link.shift);
        assert_eq!(into_slow.into_iter().map(of).collect::<Vec<_>>(), [(1, 1, 0), (10, 10, 9)]);
    }
}
