//! Checks pieces that are reduced on the way: every part arrives exactly once, and a node sends only after all of its
//! parts have arrived.

use super::flow::Hop;
use super::links::CheckedLinks;
use super::pieces::Part;
use super::{Findings, code};
use std::collections::{HashMap, HashSet};

/// Follows a piece that is reduced; returns the epoch at which the reduction is complete.
pub(super) fn follow(
    piece: usize,
    part: &Part,
    hops: &[Hop],
    links: &CheckedLinks,
    switches_add: bool,
    found: &mut Findings,
) -> u32 {
    let is_switch = |node: u32| links.is_switch[node as usize];
    let mut departure: HashMap<u32, Hop> = HashMap::new();
    let mut last_arrival: HashMap<u32, u32> = HashMap::new();
    // Arrivals and departures of switches by epoch: data leaves a switch in the epoch in which it arrives.
    let mut through: HashMap<(u32, u32), (usize, usize)> = HashMap::new();
    for hop in hops {
        if is_switch(hop.to) {
            through.entry((hop.to, hop.arrival)).or_default().0 += 1;
        } else {
            let last = last_arrival.entry(hop.to).or_default();
            *last = hop.arrival.max(*last);
        }
        if is_switch(hop.from) {
            through.entry((hop.from, hop.epoch)).or_default().1 += 1;
        } else if hop.from == part.root {
            found.add_with(code::USELESS, || {
                format!("piece {piece} leaves node {}, the destination of its reduction", hop.from)
            });
        } else if let Some(first) = departure.insert(hop.from, *hop) {
            found.add_with(code::USELESS, || {
                format!(
                    "node {} sends its part of piece {piece} twice, in epochs {} and {}",
                    hop.from, first.epoch, hop.epoch
                )
            });
        }
    }
    for ((node, epoch), (arrived, left)) in &through {
        if *arrived == 0 || *left == 0 {
            found.add_with(code::CAUSALITY, || {
                format!(
                    "piece {piece} only arrives at switch {node} in epoch {epoch}, or only leaves it; both must happen in one epoch"
                )
            });
        } else if left > arrived || (!switches_add && left < arrived) {
            found.add_with(code::SWITCH, || {
                format!(
                    "{arrived} parts of piece {piece} reach switch {node} in epoch {epoch}, but {left} \
                     leave it"
                )
            });
        }
    }
    let parts: HashSet<u32> = part.ends.iter().copied().collect();
    for end in &part.ends {
        if !departure.contains_key(end) {
            found.add_with(code::DEMAND, || format!("node {end} never sends its part of piece {piece}"));
        }
    }
    for (node, hop) in &departure {
        let last = last_arrival.get(node).copied();
        if last.is_some_and(|last| last > hop.epoch) {
            found.add_with(code::CAUSALITY, || {
                format!(
                    "node {node} sends piece {piece} in epoch {}, before all of its parts have arrived",
                    hop.epoch
                )
            });
        }
        if last.is_none() && !parts.contains(node) {
            found.add_with(code::USELESS, || {
                format!("node {node} sends piece {piece}, but has no part of it")
            });
        }
    }
    // Only the root may receive parts without sending the sum on.
    for node in last_arrival.keys().filter(|node| **node != part.root && !departure.contains_key(node)) {
        found.add_with(code::DEMAND, || format!("parts of piece {piece} are not sent on from node {node}"));
    }
    last_arrival.get(&part.root).copied().unwrap_or(0)
}
