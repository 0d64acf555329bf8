//! Replays sends without epochs.

use super::links::{CheckedLink, CheckedLinks};
use crate::plan::{CollectiveResult, Discipline};
use crate::scenario::{CollectiveScenario, CollectiveSort, SwitchHop};
use std::collections::HashMap;

/// A transmission in the replay, in the direction of planning: away from the rank that has the data or, if data is
/// reduced, away from the rank that collects the result.
#[derive(Clone, Copy)]
struct Replayed {
    /// Epoch in which the link begins to transmit; sends are replayed in this order.
    begin: u32,
    /// Epoch of the start: from this epoch on, all of the data is at the node `from`.
    epoch: u32,
    /// Epoch at which the data of the transmission is usable.
    arrival: u32,
    from: u32,
    to: u32,
    piece: u32,
    link: u32,
}

/// Times at which a node has the first and the last byte of a piece, µs.
#[derive(Clone, Copy)]
struct Passing {
    first_us: f64,
    last_us: f64,
}

/// Returns the time of the last delivery if every send starts as soon as its data has arrived and its link is free, µs.
/// `None` if a send leaves a node that its piece never reaches; infinite if a link is not up for long enough when a send
/// needs it.
///
/// Pieces are `scale` times as large as in the plan. A collective that is planned backwards is replayed in the
/// direction of planning, with all links reversed; for an AllReduce, the result is the sum of both halves.
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
    let times = &links.times;
    let end = taken.iter().map(|at| times.arrivals[*at]).max().unwrap_or(0);
    let mut sends: Vec<Replayed> = taken
        .iter()
        .map(|&at| {
            let (send, link, arrival) = (result.sends[at], links.of_send[at], times.arrivals[at]);
            if backwards {
                let (from, to, epoch) = (send.to, send.from, end - arrival);
                Replayed { begin: epoch, epoch, arrival: end - send.epoch, from, to, piece: send.piece, link }
            } else {
                let (from, to, epoch) = (send.from, send.to, send.epoch);
                Replayed { begin: times.begins[at], epoch, arrival, from, to, piece: send.piece, link }
            }
        })
        .collect();
    sends.sort_unstable_by_key(|send| (send.begin, send.from, send.to, send.piece));
    let source = |piece: u32| chunks.source(result.pieces[piece as usize].chunk as usize);
    let adds = backwards && scenario.demand.collective.reduces();
    let mut replay = PieceReplay {
        links,
        switch_copies: if adds { scenario.topology.switch_model.reduce } else { result.time.switch_copy },
        cuts_through: result.time.switch_hop == SwitchHop::CutThrough,
        is_fluid: result.time.discipline == Discipline::Fluid,
        source: &source,
        there_us: HashMap::new(),
        onward: HashMap::new(),
        free_us: vec![0.0; links.links.len()],
        end_us: 0.0,
    };
    for send in &sends {
        if replay.goes_on(send) {
            *replay.onward.entry(replay.place(send.piece, send.from, send.epoch)).or_default() += 1;
        }
    }
    let bytes = |piece: u32| scale * result.pieces[piece as usize].size_bytes;
    if result.time.discipline == Discipline::Fluid {
        // Parts that pass several links in one epoch continue in the order of their links.
        let steps = replay.steps(&sends)?;
        let mut order: Vec<(Replayed, u32)> = sends.into_iter().zip(steps).collect();
        order.sort_by_key(|(send, step)| (send.begin, *step, send.piece));
        let done = order.iter().all(|(send, _)| replay.send(send, bytes(send.piece)));
        return done.then_some(replay.end_us);
    }
    let mut waiting: Vec<Replayed> = Vec::new();
    for of_epoch in sends.chunk_by(|a, b| a.begin == b.begin) {
        // A transmission may feed another transmission of the same epoch, so the epoch is processed until nothing
        // changes. A hop out of a switch may have to wait for a fast hop that follows a slow hop, because a fast hop
        // transmits only in the last of the epochs in which the slow hop transmits.
        waiting.extend(of_epoch);
        loop {
            let before = waiting.len();
            waiting.retain(|send| !replay.send(send, bytes(send.piece)));
            if waiting.is_empty() || waiting.len() == before {
                break;
            }
        }
    }
    waiting.is_empty().then_some(replay.end_us)
}

struct PieceReplay<'a> {
    links: &'a CheckedLinks,
    cuts_through: bool,
    /// `true` for parts of chunks, whose latency may continue after the link is up.
    is_fluid: bool,
    /// Node at which a piece begins.
    source: &'a dyn Fn(u32) -> u32,
    /// `true` if one arrival at a switch serves all departures, `false` if every departure needs its own arrival.
    switch_copies: bool,
    /// Times at which a node has a piece, by piece, node and epoch; the epoch is the one in which the piece leaves the
    /// node if this is a switch, and `u32::MAX` if it is a GPU, which keeps the piece.
    there_us: HashMap<(u32, u32, u32), Vec<Passing>>,
    /// Departures from a switch to another switch that are not replayed yet. Each arrival serves these departures first
    /// and departures to GPUs afterwards; otherwise parts that cross between two switches would wait for each other in
    /// a cycle.
    onward: HashMap<(u32, u32, u32), u32>,
    free_us: Vec<f64>,
    end_us: f64,
}

impl PieceReplay<'_> {
    fn place(&self, piece: u32, node: u32, epoch: u32) -> (u32, u32, u32) {
        (piece, node, if self.links.is_switch[node as usize] { epoch } else { u32::MAX })
    }

    /// Returns `true` if a send leads from a switch to another switch.
    fn goes_on(&self, send: &Replayed) -> bool {
        self.links.is_switch[send.from as usize] && self.links.is_switch[send.to as usize]
    }

    /// Replays a send; returns `false` if its data has not arrived at the sender yet, or if departures to other
    /// switches must take the data first.
    fn send(&mut self, send: &Replayed, bytes: f64) -> bool {
        let link = &self.links.links[send.link as usize];
        let at_source =
            ((self.source)(send.piece) == send.from).then_some(Passing { first_us: 0.0, last_us: 0.0 });
        let is_taken = self.links.is_switch[send.from as usize] && !self.switch_copies;
        let place = self.place(send.piece, send.from, send.epoch);
        let goes_on = self.goes_on(send);
        if is_taken && !goes_on && self.onward.get(&place).is_some_and(|waiting| *waiting > 0) {
            return false;
        }
        let there = || first(self.there_us.get_mut(&place)?, is_taken);
        let Some(data) = at_source.or_else(there) else { return false };
        if let (true, Some(waiting)) = (goes_on, self.onward.get_mut(&place)) {
            *waiting -= 1;
        }
        let takes_us = bytes / link.bytes_per_us;
        let is_through = self.cuts_through && self.links.is_switch[send.from as usize];
        let free_us = &mut self.free_us[send.link as usize];
        let ready_us = free_us.max(if is_through { data.first_us } else { data.last_us });
        let start_us = within(link, ready_us, |start_us| {
            (start_us + takes_us).max(data.last_us) + if self.is_fluid { 0.0 } else { link.alpha_us }
        });
        *free_us = start_us + takes_us;
        // The hop ends with its own transmission, but not before the last byte has arrived.
        let end_us = (start_us + takes_us).max(data.last_us);
        let passing = Passing { first_us: start_us + link.alpha_us, last_us: end_us + link.alpha_us };
        let leaves = self.place(send.piece, send.to, send.arrival);
        self.there_us.entry(leaves).or_default().push(passing);
        if !self.links.is_switch[send.to as usize] {
            self.end_us = self.end_us.max(passing.last_us);
        }
        true
    }

    /// Returns the number of links that a piece has passed before each send; `None` if a send leaves a node that its
    /// piece never reaches.
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
                passed.insert(self.place(send.piece, send.to, send.arrival), step + 1);
                changed = true;
            }
            if !changed {
                break;
            }
        }
        steps.into_iter().collect()
    }
}

/// Returns the first time, from `ready_us` on, at which a transmission can start so that one interval in which the link
/// is up holds all of it; infinite without such an interval. `end_us` returns the end of a transmission.
fn within(link: &CheckedLink, ready_us: f64, end_us: impl Fn(f64) -> f64) -> f64 {
    if link.up_us.is_empty() {
        return ready_us;
    }
    for &[up_us, down_us] in &link.up_us {
        let start_us = f64::max(ready_us, up_us);
        // Rounding of sums must not move a transmission that fits exactly.
        if end_us(start_us) <= down_us + SLACK * down_us {
            return start_us;
        }
    }
    f64::INFINITY
}

/// Tolerance for the end of an interval in which a link is up, relative.
const SLACK: f64 = 1e-9;

/// Returns the arrival that is complete first; `None` if the list is empty. If `is_taken`, also removes this arrival
/// from the list.
fn first(pieces: &mut Vec<Passing>, is_taken: bool) -> Option<Passing> {
    let earlier =
        |a: &Passing, b: &Passing| a.last_us.total_cmp(&b.last_us).then(a.first_us.total_cmp(&b.first_us));
    let (place, piece) = pieces.iter().copied().enumerate().min_by(|a, b| earlier(&a.1, &b.1))?;
    if is_taken {
        pieces.swap_remove(place);
    }
    Some(piece)
}
