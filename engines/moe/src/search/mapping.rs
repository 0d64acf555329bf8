//! NICs of the circuits of a region, spread over the NUMA nodes of every server (docs/methods/moe.md, section 7).
//!
//! Of c parallel circuits of a pair, half use each node at both ends; an odd one goes to the node with more NICs left.
//! The NICs at the two ends of a circuit are chosen independently. Failed NICs hold no circuits. If most working NICs
//! of a server are on one node, some pairs must use this node for more than half of their circuits; the number of such
//! additional circuits is as small as possible.

use super::circuits::CircuitCounts;
use crate::plan::{CircuitAction, RegionCircuit};
use crate::scenario::MoeRegion;
use std::collections::VecDeque;

/// Returns the circuits with their NICs, all with the action "add". The pairs, and the NICs of a node, are used in
/// order of their numbers.
pub fn mapped(region: &MoeRegion, circuits: &CircuitCounts) -> Vec<RegionCircuit> {
    // Free NICs by server and node; the lowest ones are taken first.
    let mut nics: Vec<[VecDeque<u32>; 2]> = (0..circuits.servers())
        .map(|server| {
            let working = region.optical_of(server as u32);
            let of = |node| working.iter().copied().filter(|nic| region.numa(*nic) == node).collect();
            [of(0), of(1)]
        })
        .collect();
    let mut found = Vec::new();
    for (a, b, count) in circuits.pairs() {
        // A circuit has one NIC at each end; the n-th NIC of one end is joined to the n-th NIC of the other end.
        let ends =
            [a, b].map(|server| nics.get_mut(server).map(|nics| taken(nics, count)).unwrap_or_default());
        let [from, to] = ends;
        for (nic_a, nic_b) in from.into_iter().zip(to) {
            found.push(RegionCircuit {
                server_a: a as u32,
                nic_a,
                server_b: b as u32,
                nic_b,
                action: CircuitAction::Add,
            });
        }
    }
    found
}

/// Takes the NICs of one server for `count` circuits of a pair, alternating between the nodes.
fn taken(nics: &mut [VecDeque<u32>; 2], count: u16) -> Vec<u32> {
    // The first circuit goes to the node with more NICs left (ties: node 0), so this node gets one more circuit if
    // their number is odd.
    let mut node = usize::from(nics[1].len() > nics[0].len());
    let mut taken = Vec::with_capacity(usize::from(count));
    for _ in 0..count {
        // If a node has no NICs left, its circuits go to the other node.
        let nic = nics[node].pop_front().or_else(|| nics[1 - node].pop_front());
        taken.extend(nic);
        node = 1 - node;
    }
    taken
}

/// Returns the circuits with their actions relative to the previous circuits. Circuits that stay keep their NICs if the
/// nodes stay balanced; if that is not possible, all circuits are mapped again.
pub fn changed(region: &MoeRegion, before: &[RegionCircuit], circuits: &CircuitCounts) -> Vec<RegionCircuit> {
    let old: Vec<RegionCircuit> =
        before.iter().filter(|circuit| circuit.action != CircuitAction::Remove).copied().collect();
    // Kept circuits do not change, so their bytes could continue during the change.
    let mut found = kept(region, &old, circuits).unwrap_or_else(|| mapped(region, circuits));
    let place = |circuit: &RegionCircuit| (circuit.server_a, circuit.nic_a, circuit.server_b, circuit.nic_b);
    for circuit in &mut found {
        // A circuit is kept if an old circuit has the same servers and the same NICs.
        if old.iter().any(|old| place(old) == place(circuit)) {
            circuit.action = CircuitAction::Keep;
        }
    }
    // Old circuits that are not among the new ones are removed.
    let gone = |old: &&RegionCircuit| !found.iter().any(|circuit| place(circuit) == place(old));
    let removed: Vec<RegionCircuit> =
        old.iter().filter(gone).map(|old| RegionCircuit { action: CircuitAction::Remove, ..*old }).collect();
    found.extend(removed);
    found.sort_unstable();
    found
}

/// Number of NICs that one end of a pair's circuits uses, by NUMA node.
#[derive(Clone, Copy, Default)]
struct NodeUse([u16; 2]);

impl NodeUse {
    /// Returns `true` if the `count` circuits of a pair can still be balanced after one more circuit uses a node; this
    /// always holds if there is only one node.
    fn takes(self, node: usize, count: u16, one_node: bool) -> bool {
        // Half of the circuits, rounded up, may use one node.
        self.0[node] < if one_node { count } else { count.div_ceil(2) }
    }
}

/// Returns how many circuits of a server must use another NUMA node than intended. Half of the circuits of each pair,
/// rounded down, should use each node, but the node with fewer working NICs may have too few of them.
fn excess(region: &MoeRegion, circuits: &CircuitCounts, server: usize) -> u16 {
    let halves: u16 = circuits.row(server).iter().map(|count| count / 2).sum();
    let working = region.optical_of(server as u32);
    let first = working.iter().filter(|nic| region.numa(**nic) == 0).count();
    let fewer = u16::try_from(first.min(working.len() - first)).unwrap_or(u16::MAX);
    halves.saturating_sub(fewer)
}

/// Returns the circuits with their NICs. Old circuits keep their NICs as far as the NUMA nodes stay balanced; `None` if
/// the NICs that are left do not suffice for the new circuits.
fn kept(region: &MoeRegion, old: &[RegionCircuit], circuits: &CircuitCounts) -> Option<Vec<RegionCircuit>> {
    let (n, one_node) = (circuits.servers(), region.has_one_node());
    let node = |nic: u32| usize::from(region.numa(nic) != 0);
    // NICs that no kept circuit uses.
    let mut free: Vec<Vec<u32>> = (0..n).map(|server| region.optical_of(server as u32)).collect();
    // Circuits that may still exceed the halves of their pairs.
    let mut spare: Vec<u16> = (0..n).map(|server| excess(region, circuits, server)).collect();
    let mut found: Vec<RegionCircuit> = Vec::new();
    let mut uses = vec![[NodeUse::default(); 2]; n * n];
    let mut taken = vec![0u16; n * n];
    // First pass: keep old circuits while their pair needs circuits and the nodes stay balanced at both ends.
    for circuit in old {
        let (a, b) = (circuit.server_a as usize, circuit.server_b as usize);
        // The old circuits belong to another region, so none can be kept.
        if a >= n || b >= n {
            return None;
        }
        let (count, at) = (circuits.between(a, b), a * n + b);
        let nodes = [node(circuit.nic_a), node(circuit.nic_b)];
        let within = [0, 1].map(|end| uses[at][end].takes(nodes[end], count, one_node));
        if taken[at] < count && (0..2).all(|end| within[end] || spare[[a, b][end]] > 0) {
            for (end, server) in [a, b].into_iter().enumerate() {
                uses[at][end].0[nodes[end]] += 1;
                spare[server] -= u16::from(!within[end]);
            }
            taken[at] += 1;
            free[a].retain(|nic| *nic != circuit.nic_a);
            free[b].retain(|nic| *nic != circuit.nic_b);
            found.push(RegionCircuit { action: CircuitAction::Keep, ..*circuit });
        }
    }
    // Second pass: adds the missing circuits one by one.
    for (a, b, count) in circuits.pairs() {
        let at = a * n + b;
        while taken[at] < count {
            let mut nics = [0; 2];
            for (end, server) in [a, b].into_iter().enumerate() {
                let left = |which: usize| free[server].iter().filter(|nic| node(**nic) == which).count();
                let within = |which: usize| uses[at][end].takes(which, count, one_node);
                let fits = |which: &usize| left(*which) > 0 && (within(*which) || spare[server] > 0);
                // A node below the half of the pair, then the node with more NICs left; ties go to node 0. If no NIC is
                // left, the kept circuits block the mapping.
                let best =
                    (0..2).filter(fits).max_by_key(|which| (within(*which), left(*which), 1 - *which))?;
                let place = free[server].iter().position(|nic| node(*nic) == best)?;
                spare[server] -= u16::from(!within(best));
                nics[end] = free[server].remove(place);
                uses[at][end].0[best] += 1;
            }
            taken[at] += 1;
            found.push(RegionCircuit {
                server_a: a as u32,
                nic_a: nics[0],
                server_b: b as u32,
                nic_b: nics[1],
                action: CircuitAction::Add,
            });
        }
    }
    Some(found)
}
