//! Sends replayed without epochs.

use super::links::CheckedLinks;
use crate::plan::{CollectiveResult, Discipline};
use crate::scenario::{CollectiveScenario, CollectiveSort};
use std::collections::HashMap;

/// A send as it is replayed: from the rank that has the data or collects it, whichever way it was played.
#[derive(Clone, Copy)]
struct Replayed {
    epoch: u32,
    from: u32,
    to: u32,
    piece: u32,
    link: u32,
}

/// Time of the last delivery if every send starts as soon as its data is there and its link is free, µs.
///
/// Pieces are `scale` times as large as the plan says. Collectives that are played backwards are replayed as they are planned, with all links turned round; AllReduce takes
/// the sum of both halves.
pub(super) fn replay_us(
    scenario: &CollectiveScenario,
    result: &CollectiveResult,
    links: &CheckedLinks,
    scale: f64,
) -> Option<f64> {
    let sort = scenario.demand.collective;
    let half = |backwards: bool, adds_up: bool| {
        let of_half = |at: &usize| result.pieces[result.sends[*at].piece as usize].adds_up == adds_up;
        replay_part(scenario, result, links, (backwards, scale), of_half)
    };
    match sort {
        CollectiveSort::AllReduce => Some(half(true, true)? + half(false, false)?),
        sort => replay_part(scenario, result, links, (sort.starts_backwards(), scale), |_| true),
    }
}

fn replay_part(
    scenario: &CollectiveScenario,
    result: &CollectiveResult,
    links: &CheckedLinks,
    (backwards, scale): (bool, f64),
    belongs: impl Fn(&usize) -> bool,
) -> Option<f64> {
    let chunks = scenario.demand.expand(&scenario.topology);
    let taken: Vec<usize> = (0..result.sends.len()).filter(belongs).collect();
    let arrival = |at: usize| result.sends[at].epoch + links.links[links.of_send[at] as usize].latency;
    let end = taken.iter().map(|at| arrival(*at)).max().unwrap_or(0);
    let mut sends: Vec<Replayed> = taken
        .iter()
        .map(|&at| {
            let (send, link) = (result.sends[at], links.of_send[at]);
            let (epoch, from, to) = if backwards {
                (end - arrival(at), send.to, send.from)
            } else {
                (send.epoch, send.from, send.to)
            };
            Replayed { epoch, from, to, piece: send.piece, link }
        })
        .collect();
    sends.sort_unstable_by_key(|send| (send.epoch, send.from, send.to, send.piece));
    let source = |piece: u32| chunks.source(result.pieces[piece as usize].chunk as usize);
    let adds = backwards && scenario.demand.collective.reduces();
    let mut replay = Replay {
        links,
        switch_copies: if adds { scenario.topology.switch_model.reduce } else { result.time.switch_copy },
        source: &source,
        there_us: HashMap::new(),
        free_us: vec![0.0; links.links.len()],
        end_us: 0.0,
    };
    let bytes = |piece: u32| scale * result.pieces[piece as usize].size_bytes;
    if result.time.discipline == Discipline::Fluid {
        // Parts that pass several links in one epoch go on in the order of their links.
        let steps = replay.steps(&sends)?;
        let mut order: Vec<(Replayed, u32)> = sends.into_iter().zip(steps).collect();
        order.sort_by_key(|(send, step)| (send.epoch, *step, send.piece));
        let done = order.iter().all(|(send, _)| replay.send(send, bytes(send.piece)));
        return done.then_some(replay.end_us);
    }
    for of_epoch in sends.chunk_by(|a, b| a.epoch == b.epoch) {
        // A send may feed another one of its own epoch, so the epoch is swept until nothing is left of it.
        let mut waiting = of_epoch.to_vec();
        while !waiting.is_empty() {
            let before = waiting.len();
            waiting.retain(|send| !replay.send(send, bytes(send.piece)));
            if waiting.len() == before {
                return None;
            }
        }
    }
    Some(replay.end_us)
}

struct Replay<'a> {
    links: &'a CheckedLinks,
    /// Node that a piece begins at.
    source: &'a dyn Fn(u32) -> u32,
    /// `true` if one arrival at a switch serves all departures, `false` if each takes an arrival of its own.
    switch_copies: bool,
    /// Times at which a piece is at a node: at a switch by the epoch in which it has to leave, at a GPU from then on.
    there_us: HashMap<(u32, u32, u32), Vec<f64>>,
    free_us: Vec<f64>,
    end_us: f64,
}

impl Replay<'_> {
    fn place(&self, piece: u32, node: u32, epoch: u32) -> (u32, u32, u32) {
        (piece, node, if self.links.is_switch[node as usize] { epoch } else { u32::MAX })
    }

    /// Replays a send; `false` if its data is not there yet.
    fn send(&mut self, send: &Replayed, bytes: f64) -> bool {
        let link = &self.links.links[send.link as usize];
        let at_source = ((self.source)(send.piece) == send.from).then_some(0.0);
        let is_taken = self.links.is_switch[send.from as usize] && !self.switch_copies;
        let place = self.place(send.piece, send.from, send.epoch);
        let there = || first(self.there_us.get_mut(&place)?, is_taken);
        let Some(data_us) = at_source.or_else(there) else { return false };
        let takes_us = bytes / link.bytes_per_us;
        let free_us = &mut self.free_us[send.link as usize];
        let start_us = free_us.max(data_us);
        *free_us = start_us + takes_us;
        let arrival_us = start_us + link.alpha_us + if link.is_paid { 0.0 } else { takes_us };
        let leaves = self.place(send.piece, send.to, send.epoch + link.latency);
        self.there_us.entry(leaves).or_default().push(arrival_us);
        if !self.links.is_switch[send.to as usize] {
            self.end_us = self.end_us.max(arrival_us);
        }
        true
    }

    /// Number of links that a piece has passed before each send; `None` if one leaves from where its piece never is.
    fn steps(&self, sends: &[Replayed]) -> Option<Vec<u32>> {
        let mut passed: HashMap<(u32, u32, u32), u32> = HashMap::new();
        let mut steps: Vec<Option<u32>> = vec![None; sends.len()];
        for _ in 0..=self.links.is_switch.len() {
            let mut changed = false;
            for (at, send) in
                sends.iter().enumerate().filter(|(at, _)| steps[*at].is_none()).collect::<Vec<_>>()
            {
                let first = ((self.source)(send.piece) == send.from).then_some(0);
                let Some(step) =
                    first.or_else(|| passed.get(&self.place(send.piece, send.from, send.epoch)).copied())
                else {
                    continue;
                };
                steps[at] = Some(step);
                let latency = self.links.links[send.link as usize].latency;
                passed.insert(self.place(send.piece, send.to, send.epoch + latency), step + 1);
                changed = true;
            }
            if !changed {
                break;
            }
        }
        steps.into_iter().collect()
    }
}

/// The earliest of some times, which is used up if it is taken.
fn first(times: &mut Vec<f64>, is_taken: bool) -> Option<f64> {
    let (place, time) = times.iter().copied().enumerate().min_by(|a, b| a.1.total_cmp(&b.1))?;
    if is_taken {
        times.swap_remove(place);
    }
    Some(time)
}
