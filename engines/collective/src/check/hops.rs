//! Times of sends: the time of a hop out of a cut-through switch depends on the hops before it.

use super::links::{CheckedLink, CheckedLinks};
use super::{Findings, code};
use crate::plan::CollectiveResult;
use std::collections::HashMap;

/// For each send of a plan, the epoch from which its data is usable and the epoch in which it begins to transmit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SendTimes {
    /// Epoch from which the data of each send is usable at its head.
    pub arrivals: Vec<u32>,
    /// First epoch in which each send occupies its link.
    pub begins: Vec<u32>,
}

impl CheckedLink {
    /// Returns the number of epochs from a start on this link until the data is usable, if the slowest earlier
    /// transmission of the data on its path through switches took `pace` epochs. A hop out of a cut-through switch
    /// begins to transmit when the first byte arrives at the switch. The hop ends when its transmission is over, but
    /// not before the last byte has arrived at the switch.
    pub(super) const fn latency(&self, pace: u32) -> u32 {
        self.delay + if self.is_through { self.window.saturating_sub(pace) } else { self.window }
    }

    /// Returns the number of epochs from the first epoch in which the hop transmits to the start of the hop, the epoch
    /// at which the last byte has arrived at the node that the hop leaves; `pace` as in [`Self::latency`].
    pub(super) fn early(&self, pace: u32) -> u32 {
        if self.is_through { self.window.min(pace) } else { 0 }
    }

    /// Returns the transmission time of the slowest hop up to and including this hop, epochs; `before` is the
    /// transmission time of the slowest earlier hop.
    pub(super) fn pace(&self, before: u32) -> u32 {
        if self.is_through { self.window.max(before) } else { self.window }
    }
}

/// For each switch and epoch, the largest and the smallest pace of the arrivals of a piece; the pace is the number of
/// epochs that the slowest transmission on the path through switches took.
type Paces = HashMap<(u32, u32), (u32, u32)>;

/// Returns the times of all sends, computed by following every piece through its switches. Reports a violation if two
/// arrivals of different pace could feed a departure and the time of the departure depends on the choice; if the switch
/// reduces the arrivals, the smaller pace is used and no violation is reported.
pub(super) fn times(
    result: &CollectiveResult,
    links: &CheckedLinks,
    switches_add: bool,
    found: &mut Findings,
) -> SendTimes {
    let mut paces = vec![0u32; result.sends.len()];
    if links.links.iter().any(|link| link.is_through) {
        let mut by_piece: Vec<usize> = (0..result.sends.len()).collect();
        by_piece.sort_by_key(|at| result.sends[*at].piece);
        for of_piece in by_piece.chunk_by(|a, b| result.sends[*a].piece == result.sends[*b].piece) {
            follow(result, links, switches_add, of_piece, &mut paces, found);
        }
    }
    let of_send = |at: usize| (&links.links[links.of_send[at] as usize], result.sends[at].epoch, paces[at]);
    let each = (0..result.sends.len()).map(of_send);
    let (arrivals, begins) = each
        .map(|(link, epoch, pace)| {
            (epoch.saturating_add(link.latency(pace)), epoch.saturating_sub(link.early(pace)))
        })
        .unzip();
    SendTimes { arrivals, begins }
}

fn follow(
    result: &CollectiveResult,
    links: &CheckedLinks,
    switches_add: bool,
    of_piece: &[usize],
    paces: &mut [u32],
    found: &mut Findings,
) {
    let link = |at: usize| &links.links[links.of_send[at] as usize];
    let arrived = |paces: &[u32]| -> Paces {
        let mut all = Paces::new();
        for &at in of_piece {
            let (send, link) = (&result.sends[at], link(at));
            if links.is_switch[send.to as usize] {
                let (pace, arrival) =
                    (link.pace(paces[at]), send.epoch.saturating_add(link.latency(paces[at])));
                let known = all.entry((send.to, arrival)).or_insert((pace, pace));
                *known = (known.0.min(pace), known.1.max(pace));
            }
        }
        all
    };
    // A chain passes each switch once, so every sweep determines one more hop of each chain.
    for _ in 0..=links.is_switch.len() {
        let all = arrived(paces);
        let mut changed = false;
        for &at in of_piece.iter().filter(|at| link(**at).is_through) {
            let send = &result.sends[at];
            let pace = all.get(&(send.from, send.epoch)).map_or(0, |(least, _)| *least);
            changed |= std::mem::replace(&mut paces[at], pace) != pace;
        }
        if !changed {
            break;
        }
    }
    let all = arrived(paces);
    for &at in of_piece.iter().filter(|at| link(**at).is_through) {
        let (send, link) = (&result.sends[at], link(at));
        let Some(&(least, most)) = all.get(&(send.from, send.epoch)) else { continue };
        let adds = switches_add && result.pieces[send.piece as usize].adds_up;
        if paces[at] != least || (!adds && link.latency(least) != link.latency(most)) {
            found.add_with(code::SWITCH, || {
                format!(
                    "piece {} arrives at switch {} in epoch {} over links of different rates, so it is \
                     ambiguous which arrival continues to node {}",
                    send.piece, send.from, send.epoch, send.to
                )
            });
        }
    }
}
