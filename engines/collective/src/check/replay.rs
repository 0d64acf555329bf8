//! Sends replayed without epochs.

use super::links::CheckedLinks;
use crate::plan::{CollectiveResult, Discipline, PieceSend};
use crate::scenario::CollectiveScenario;
use std::collections::HashMap;

/// Time of the last delivery if every send starts as soon as its data is there and its link is free, µs.
///
/// Nothing is said of collectives that are planned backwards: their replay runs backwards too.
pub(super) fn replay_us(
    scenario: &CollectiveScenario,
    result: &CollectiveResult,
    links: &CheckedLinks,
) -> Option<f64> {
    if result.time.discipline == Discipline::Fluid || scenario.demand.collective.starts_backwards() {
        return None;
    }
    let chunks = scenario.demand.expand(&scenario.topology);
    // When data is at a node: at a switch by the epoch in which it has to leave, at a GPU from then on.
    let mut there: HashMap<(u32, u32, u32), f64> = HashMap::new();
    let place = |piece: u32, node: u32, epoch: u32| {
        (piece, node, if links.is_switch[node as usize] { epoch } else { u32::MAX })
    };
    for piece in &result.pieces {
        there.insert(place(piece.id, chunks.source(piece.chunk as usize), 0), 0.0);
    }
    let mut free_us = vec![0.0f64; links.links.len()];
    let mut end_us = 0.0f64;
    let mut index = 0;
    while index < result.sends.len() {
        let epoch = result.sends[index].epoch;
        let mut waiting: Vec<(PieceSend, u32)> = Vec::new();
        while let Some(send) = result.sends.get(index).filter(|send| send.epoch == epoch) {
            waiting.push((*send, links.of_send[index]));
            index += 1;
        }
        // A send may feed another one of its own epoch, so the epoch is swept until nothing is left of it.
        while !waiting.is_empty() {
            let mut still = Vec::new();
            for &(send, id) in &waiting {
                let link = &links.links[id as usize];
                let Some(&data_us) = there.get(&place(send.piece, send.from, epoch)) else {
                    still.push((send, id));
                    continue;
                };
                let takes_us = result.pieces[send.piece as usize].size_bytes / link.bytes_per_us;
                let start_us = free_us[id as usize].max(data_us);
                free_us[id as usize] = start_us + takes_us;
                let arrival_us = start_us + link.alpha_us + if link.is_paid { 0.0 } else { takes_us };
                let known =
                    there.entry(place(send.piece, send.to, epoch + link.latency)).or_insert(arrival_us);
                *known = known.min(arrival_us);
                if !links.is_switch[send.to as usize] {
                    end_us = end_us.max(arrival_us);
                }
            }
            if still.len() == waiting.len() {
                return None;
            }
            waiting = still;
        }
    }
    Some(end_us)
}
