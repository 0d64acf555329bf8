//! Follows every piece from send to send: no node sends data before it has arrived, and every destination gets its data
//! exactly once.

use super::links::CheckedLinks;
use super::pieces::{Part, PieceParts};
use super::{Findings, code, sums};
use crate::plan::CollectiveResult;
use crate::scenario::CollectiveScenario;
use std::collections::{BTreeMap, HashMap};

/// A send of a piece: epoch in which it starts, epoch from which the piece is usable at the other end, and link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hop {
    pub(super) epoch: u32,
    pub(super) arrival: u32,
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) link: u32,
}

/// Epochs in which the pieces are delivered and reduced, as found by following the pieces.
#[derive(Debug, Default)]
pub(super) struct Deliveries {
    /// Epoch of the last delivery.
    pub(super) finish: u32,
    /// Epochs until all reductions are complete.
    pub(super) sums_finish: u32,
}

/// Follows all pieces, checks the buffers of GPUs, and returns the epochs of the last delivery and of the last
/// reduction.
pub(super) fn follow(
    scenario: &CollectiveScenario,
    result: &CollectiveResult,
    parts: &PieceParts,
    links: &CheckedLinks,
    found: &mut Findings,
) -> Deliveries {
    let mut hops: Vec<Vec<Hop>> = vec![Vec::new(); parts.parts.len()];
    for ((send, &link), &arrival) in result.sends.iter().zip(&links.of_send).zip(&links.times.arrivals) {
        hops[send.piece as usize].push(Hop {
            epoch: send.epoch,
            arrival,
            from: send.from,
            to: send.to,
            link,
        });
    }
    let mut deliveries = Deliveries::default();
    let mut held: BTreeMap<u32, Vec<(u32, i32)>> = BTreeMap::new();
    // Reductions first, because their results are spread afterwards.
    let mut complete: HashMap<u32, u32> = HashMap::new();
    for (piece, part) in parts.parts.iter().enumerate().filter(|(_, part)| part.adds_up) {
        let end =
            sums::follow(piece, part, &hops[piece], links, scenario.topology.switch_model.reduce, found);
        deliveries.sums_finish = deliveries.sums_finish.max(end);
        let known = complete.entry(part.chunk).or_default();
        *known = end.max(*known);
        relays(part, &hops[piece], links, &mut held);
    }
    deliveries.finish = deliveries.sums_finish;
    for (piece, part) in parts.parts.iter().enumerate().filter(|(_, part)| !part.adds_up) {
        let begin = complete.get(&part.chunk).copied().unwrap_or(0);
        let end = spread(piece, part, begin, &hops[piece], links, result.time.switch_copy, found);
        deliveries.finish = deliveries.finish.max(end);
        relays(part, &hops[piece], links, &mut held);
    }
    if let Some(limit) = scenario.buffer_limit_chunks {
        for (node, mut changes) in held {
            changes.sort_unstable();
            let mut now = 0;
            for (epoch, change) in changes {
                now += change;
                if i64::from(now) > i64::from(limit) * i64::from(result.time.pieces_per_chunk) {
                    found.add_with(code::BUFFER, || {
                        format!(
                            "node {node} holds {now} pieces of chunks for others in epoch {epoch}, but its \
                             buffer holds at most {limit} chunks"
                        )
                    });
                    break;
                }
            }
        }
    }
    deliveries
}

/// Adds the times at which GPUs hold a piece for other GPUs: GPUs that neither start with the piece nor need it. Data
/// that is reduced at a GPU counts as one piece from the arrival of its first part.
fn relays(part: &Part, hops: &[Hop], links: &CheckedLinks, held: &mut BTreeMap<u32, Vec<(u32, i32)>>) {
    let mut last: HashMap<u32, u32> = HashMap::new();
    let mut first: BTreeMap<u32, u32> = BTreeMap::new();
    for hop in hops {
        let leaves = last.entry(hop.from).or_default();
        *leaves = hop.epoch.max(*leaves);
        let arrives = first.entry(hop.to).or_insert(hop.arrival);
        *arrives = hop.arrival.min(*arrives);
    }
    for (node, arrival) in first {
        if !links.is_switch[node as usize] && node != part.root && !part.ends.contains(&node) {
            let until = last.get(&node).copied().unwrap_or(arrival);
            // The buffer is free again after the epoch in which the piece leaves for the last time.
            held.entry(node).or_default().extend([(arrival, 1), (until.max(arrival) + 1, -1)]);
        }
    }
}

/// Follows a piece that is sent without reduction, from its source to its destinations; returns the epoch of its last
/// delivery.
fn spread(
    piece: usize,
    part: &Part,
    begin: u32,
    hops: &[Hop],
    links: &CheckedLinks,
    switch_copy: bool,
    found: &mut Findings,
) -> u32 {
    let is_switch = |node: u32| links.is_switch[node as usize];
    // The hop into each GPU; the hops into each switch by epoch of arrival.
    let mut at_gpu: HashMap<u32, usize> = HashMap::new();
    let mut at_switch: HashMap<(u32, u32), Vec<usize>> = HashMap::new();
    for (index, hop) in hops.iter().enumerate() {
        if is_switch(hop.to) {
            at_switch.entry((hop.to, hop.arrival)).or_default().push(index);
        } else if hop.to == part.root {
            found.add_with(code::USELESS, || {
                format!("piece {piece} is sent back to node {}, which has it", hop.to)
            });
        } else if let Some(first) = at_gpu.insert(hop.to, index) {
            found.add_with(code::USELESS, || {
                format!(
                    "piece {piece} reaches node {} in epochs {} and {}",
                    hop.to, hops[first].arrival, hop.arrival
                )
            });
        }
    }
    // A switch that cannot copy forwards a piece as often as it receives the piece.
    let mut departures: HashMap<(u32, u32), usize> = HashMap::new();
    for hop in hops {
        let node = hop.from;
        if is_switch(node) {
            let arrived = at_switch.get(&(node, hop.epoch)).map_or(0, Vec::len);
            let left = departures.entry((node, hop.epoch)).or_default();
            *left += 1;
            if arrived == 0 {
                found.add_with(code::CAUSALITY, || {
                    format!(
                        "piece {piece} leaves switch {node} in epoch {}, but does not arrive there in that \
                         epoch",
                        hop.epoch
                    )
                });
            } else if !switch_copy && *left > arrived {
                found.add_with(code::SWITCH, || {
                    format!("piece {piece} is copied by switch {node} in epoch {}", hop.epoch)
                });
            }
        } else if node == part.root {
            if hop.epoch < begin {
                found.add_with(code::CAUSALITY, || {
                    format!(
                        "piece {piece} leaves node {node} in epoch {}, but its reduction is complete only \
                         in epoch {begin}",
                        hop.epoch
                    )
                });
            }
        } else if at_gpu.get(&node).is_none_or(|first| hops[*first].arrival > hop.epoch) {
            found.add_with(code::CAUSALITY, || {
                format!(
                    "piece {piece} leaves node {node} in epoch {}, before it has arrived there",
                    hop.epoch
                )
            });
        }
    }
    let mut finish = begin;
    let mut needed = vec![false; hops.len()];
    let mut taken: HashMap<(u32, u32), usize> = HashMap::new();
    for end in &part.ends {
        let Some(&last) = at_gpu.get(end) else {
            found.add_with(code::DEMAND, || format!("piece {piece} does not reach node {end}"));
            continue;
        };
        finish = finish.max(hops[last].arrival);
        let mut at = Some(last);
        // Traces the data back towards the root, up to a send that is already known to be needed.
        while let Some(here) = at.filter(|here| !std::mem::replace(&mut needed[*here], true)) {
            let hop = hops[here];
            at = if hop.from == part.root {
                None
            } else if is_switch(hop.from) {
                let arrived = at_switch.get(&(hop.from, hop.epoch)).map_or(&[][..], Vec::as_slice);
                let used = taken.entry((hop.from, hop.epoch)).or_default();
                let place = if switch_copy { 0 } else { *used };
                *used += 1;
                // One of several arrivals at a copying switch is enough.
                arrived.get(place).copied()
            } else {
                at_gpu.get(&hop.from).copied()
            };
        }
    }
    for (hop, _) in hops.iter().zip(&needed).filter(|(_, needed)| !**needed) {
        found.add_with(code::USELESS, || {
            format!(
                "piece {piece} goes {}->{} in epoch {}, but no destination needs this send",
                hop.from, hop.to, hop.epoch
            )
        });
    }
    finish
}
