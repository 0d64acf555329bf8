//! Transfers from rank to rank: sends, with the switches between the ranks removed.

use crate::check::{SendTimes, send_times};
use crate::plan::CollectiveResult;
use crate::scenario::{CollectiveScenario, NodeSort};
use lightbay_core::problem::{Problem, Problems};
use rustc_hash::FxHashMap;

/// A piece on its way from one GPU to the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transfer {
    /// The piece.
    pub piece: u32,
    /// Rank that sends.
    pub from: u32,
    /// Rank that receives.
    pub to: u32,
    /// Epoch at the beginning of which the transfer starts.
    pub epoch: u32,
    /// Epoch at the beginning of which the piece has arrived.
    pub arrival: u32,
    /// Size of the piece, bytes.
    pub bytes: f64,
}

/// A send with the epoch in which its data is usable.
#[derive(Clone, Copy)]
struct TimedSend {
    from: u32,
    to: u32,
    epoch: u32,
    arrival: u32,
}

/// Returns for each send the epoch from which its data is usable and the epoch in which it begins to transmit.
///
/// # Errors
/// Sends without a link, or that start before their data has arrived.
pub fn times(scenario: &CollectiveScenario, result: &CollectiveResult) -> Result<SendTimes, Problems> {
    send_times(scenario, result).ok_or_else(|| {
        let why = "has sends without a link, or sends that are not sorted";
        Problems::one(Problem::new("result.sends", why, "run `check` on the plan, and solve again"))
    })
}

/// Returns all transfers by epoch, from, to and piece.
///
/// # Errors
/// As for [`times`], and a GPU that passes data on without being a rank.
pub fn transfers(
    scenario: &CollectiveScenario,
    result: &CollectiveResult,
) -> Result<Vec<Transfer>, Problems> {
    let times = times(scenario, result)?;
    let mut of_piece: Vec<Vec<TimedSend>> = vec![Vec::new(); result.pieces.len()];
    for (send, arrival) in result.sends.iter().zip(times.arrivals) {
        let timed = TimedSend { from: send.from, to: send.to, epoch: send.epoch, arrival };
        of_piece[send.piece as usize].push(timed);
    }
    let nodes = &scenario.topology.nodes;
    let is_switch = |node: u32| nodes[node as usize].kind == NodeSort::Switch;
    let ranks: FxHashMap<u32, u32> =
        scenario.demand.rank_nodes(&scenario.topology).into_iter().zip(0..).collect();
    let mut all = Vec::new();
    for (piece, sends) in result.pieces.iter().zip(&of_piece) {
        let adds = piece.adds_up;
        // Spread data is traced back from its arrivals, reduced data forward from its departures.
        let mut used: FxHashMap<(u32, u32), usize> = FxHashMap::default();
        for send in sends.iter().filter(|send| !is_switch(if adds { send.from } else { send.to })) {
            let (mut first, mut last) = (*send, *send);
            while is_switch(if adds { last.to } else { first.from }) {
                let (node, epoch) = if adds { (last.to, last.arrival) } else { (first.from, first.epoch) };
                let next: Vec<&TimedSend> = if adds {
                    sends.iter().filter(|send| (send.from, send.epoch) == (node, epoch)).collect()
                } else {
                    sends.iter().filter(|send| (send.to, send.arrival) == (node, epoch)).collect()
                };
                let turn = used.entry((node, epoch)).or_default();
                // At switches that copy or reduce, all departures share one arrival.
                let Some(next) = next.get(*turn % next.len().max(1)) else { break };
                *turn += 1;
                if adds {
                    last = **next;
                } else {
                    first = **next;
                }
            }
            let rank = |node: u32| {
                ranks.get(&node).copied().ok_or_else(|| {
                    let name = nodes.get(node as usize).map_or("", |node| node.name.as_str());
                    Problem::new(
                        "demand.ranks",
                        format!(
                            "node {node} ({name}) passes data on but is not a rank, so it runs no program"
                        ),
                        "add it to the ranks, or solve with another method",
                    )
                })
            };
            all.push(Transfer {
                piece: piece.id,
                from: rank(first.from)?,
                to: rank(last.to)?,
                epoch: first.epoch,
                arrival: last.arrival,
                bytes: piece.size_bytes,
            });
        }
    }
    all.sort_unstable_by_key(|one| (one.epoch, one.from, one.to, one.piece));
    Ok(all)
}
