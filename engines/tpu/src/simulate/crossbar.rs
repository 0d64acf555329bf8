//! Input-queued routers with a crossbar: the state of a run whose allocator is not ideal.
//!
//! A router has an input and an output for each of the six links and each port of its chip. The lanes of an input are
//! first-in first-out buffers. Every round of a router has two stages, which both see the state before the round:
//! * **Virtual channels**: the head of a packet requests lanes of its output that no other packet holds: the lane of
//!   its planned label if it has room, and the free lanes that are empty or have room for the packet. An allocator
//!   matches input lanes to output lanes. A packet keeps its lane until its last flit has crossed.
//! * **Crossbar**: lanes that hold an output lane with room request their output. Of the lanes of an input that
//!   request the same output, one is chosen by rotating priority. An allocator matches inputs to outputs.
//!
//! A speedup of s means s rounds per cycle; flits that have crossed wait at their output, which sends one flit per
//! cycle. They occupy their slot at the other end of the link since they crossed. The stages are those of an
//! input-queued router with lookahead routing and without speculation (Dally and Towles, chapter 16).
//!
//! # Why it cannot deadlock
//! A packet requests a free lane only if the lane can take all of it, or is empty, so no packet that holds a lane waits
//! for a packet in front of it there. A head that gets no free lane requests its escape lane in every round. Escape
//! labels increase along a route, as in [`super::engine`]. Lanes to the chip always have room.

use super::allocator::{Priorities, Requests, WIDTH, bits};
use super::engine::{Counts, Flit, MAX_LANES, Packet, SOURCE_LIMIT, TAIL};
use super::network::{EJECT, SimulatedPod};
use super::traffic::{Packets, target};
use super::wheel::{Arrival, Wheel};
use crate::model::pod::PORTS;
use crate::model::router::Allocator;
use std::collections::VecDeque;

/// Largest number of ports of a chip to its router.
pub(super) const MAX_CHIP_PORTS: usize = PORTS;
/// Largest number of inputs, and of outputs, of a router.
pub(super) const MAX_ENDS: usize = PORTS + MAX_CHIP_PORTS;
const _: () = assert!(MAX_ENDS * MAX_LANES <= WIDTH, "a word must hold all lanes of a router");
/// Mark for an input that does not request an output.
const NO_LANE: u8 = u8::MAX;

/// The output and the lane there that a packet holds.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    output: u8,
    lane: u8,
}

/// An output of a router.
#[derive(Clone, Debug)]
struct CrossbarOutput {
    /// Free slots of the lanes at the other end of the link.
    room: [u16; MAX_LANES],
    /// Lanes that packets hold, as a bit mask.
    taken: u8,
    /// Flits that have crossed, with their lanes.
    crossed: VecDeque<(u8, Flit)>,
    /// Time in cycles at which the link is free again.
    free_at: f64,
}

/// A port of a chip to its router.
#[derive(Clone, Debug, Default)]
struct ChipPort {
    queue: VecDeque<Packet>,
    /// Lane of the packet that is entering the router, and the lane that the next packet tries first.
    lane: u8,
}

/// One run: a network of input-queued routers under a constant offered rate.
#[derive(Debug)]
pub struct CrossbarSimulator<'a> {
    net: &'a SimulatedPod,
    now: u32,
    /// Number of inputs, and of outputs, of a router.
    ends: usize,
    /// Index `(ends * node + input) * lanes + lane`.
    lanes: Vec<VecDeque<Flit>>,
    /// Meaningful for lanes whose packet holds an output lane.
    held: Vec<Held>,
    /// Lanes of each router whose packet needs an output lane, and lanes whose packet holds one, as bit masks over
    /// `input * lanes + lane`.
    waiting: Vec<u128>,
    holding: Vec<u128>,
    /// Index `ends * node + output`.
    outputs: Vec<CrossbarOutput>,
    /// The lane of each input that is chosen first.
    turns: Vec<u8>,
    /// Priorities of both stages, by router.
    channel_priorities: Vec<Priorities>,
    crossbar_priorities: Vec<Priorities>,
    chips: Vec<ChipPort>,
    wheel: Wheel,
    packets: Packets,
    channel_requests: Requests,
    crossbar_requests: Requests,
    found: Vec<(u8, u8)>,
    counts: Counts,
}

impl<'a> CrossbarSimulator<'a> {
    /// Creates an empty network under `rate` flits per cycle and node. Equal seed and stream give an equal run.
    pub fn new(net: &'a SimulatedPod, rate: f64, seed: u64, stream: u64) -> Self {
        let settings = net.settings();
        let chip_ports = usize::from(settings.chip_ports);
        let ends = PORTS + chip_ports;
        let lanes = ends * net.lanes;
        let priorities = |width: usize| match settings.allocator {
            Allocator::Islip => Priorities::islip(width, width, settings.islip_iterations),
            _ => Priorities::wavefront(),
        };
        let output = CrossbarOutput {
            room: [net.buffer; MAX_LANES],
            taken: 0,
            crossed: VecDeque::new(),
            free_at: 0.0,
        };
        Self {
            net,
            now: 0,
            ends,
            lanes: vec![VecDeque::new(); net.nodes * lanes],
            held: vec![Held::default(); net.nodes * lanes],
            waiting: vec![0; net.nodes],
            holding: vec![0; net.nodes],
            outputs: vec![output; net.nodes * ends],
            turns: vec![0; net.nodes * ends],
            channel_priorities: vec![priorities(lanes); net.nodes],
            crossbar_priorities: vec![priorities(ends); net.nodes],
            chips: vec![ChipPort::default(); net.nodes * chip_ports],
            wheel: Wheel::new(net.longest_delay + 1),
            packets: Packets::new(rate, net.packet, seed, stream),
            channel_requests: Requests::new(lanes, lanes),
            crossbar_requests: Requests::new(ends, ends),
            found: Vec::new(),
            counts: Counts::default(),
        }
    }

    /// Number of cycles simulated so far.
    pub const fn now(&self) -> u32 {
        self.now
    }

    /// Returns the counts since the last reset.
    pub const fn counts(&self) -> Counts {
        self.counts
    }

    /// Resets the counts.
    pub fn reset_counts(&mut self) {
        self.counts = Counts::default();
    }

    /// Returns `true` if a source queue has overflowed since the counts were reset.
    pub const fn overflowed(&self) -> bool {
        self.counts.refused > 0
    }

    /// Simulates a number of cycles.
    pub fn run(&mut self, cycles: u32) {
        for _ in 0..cycles {
            self.generate();
            let arrivals = self.wheel.take(self.now);
            for arrival in &arrivals {
                self.store(arrival.at as usize, arrival.flit);
            }
            self.wheel.recycle(arrivals);
            for node in 0..self.net.nodes {
                self.inject(node);
                for _ in 0..self.net.settings().speedup {
                    if self.waiting[node] | self.holding[node] != 0 {
                        self.round(node);
                    }
                }
                self.send(node);
            }
            self.now += 1;
        }
    }

    fn generate(&mut self) {
        let others = self.net.nodes as u64 - 1;
        if self.packets.is_silent() || others == 0 {
            return;
        }
        for node in 0..self.net.nodes {
            let local = node % self.net.sources;
            let (packets, mut draw) = self.packets.of_node();
            for index in 0..packets {
                if index > 0 {
                    draw = self.packets.again();
                }
                self.enqueue(node, local, target(draw, others, local));
            }
        }
    }

    /// Generates a packet at `node` that takes the ports of the stored route from `local` to `target`, in the queue of
    /// the chip's port that serves the first of them.
    pub(super) fn enqueue(&mut self, node: usize, local: usize, target: usize) {
        let net = self.net;
        let flit = Flit::new(self.now, net.starts[local * net.nodes + target]);
        let ports = self.ends - PORTS;
        let queue = &mut self.chips[node * ports + usize::from(flit.code() & 7) % ports].queue;
        self.counts.offered += u64::from(net.packet);
        // All queues of a chip together hold as many packets as with an ideal allocator.
        if queue.len() >= SOURCE_LIMIT * PORTS / ports {
            self.counts.refused += u64::from(net.packet);
        } else {
            queue.push_back(Packet { flit, sent: 0 });
        }
    }

    /// Moves at most one flit from every queue of a chip into its router.
    fn inject(&mut self, node: usize) {
        let net = self.net;
        let ports = self.ends - PORTS;
        for port in 0..ports {
            let chip = &mut self.chips[node * ports + port];
            let Some(packet) = chip.queue.front_mut() else { continue };
            let first = (node * self.ends + PORTS + port) * net.lanes;
            let tries = if packet.sent == 0 { net.lanes } else { 1 };
            let has_room = |lane: &usize| self.lanes[first + lane].len() < usize::from(net.buffer);
            let order = (0..tries).map(|step| (usize::from(chip.lane) + step) % net.lanes);
            let Some(lane) = order.into_iter().find(has_room) else { continue };
            chip.lane = lane as u8;
            packet.sent += 1;
            let mut flit = packet.flit;
            if packet.sent == net.packet {
                flit.birth |= TAIL;
                chip.queue.pop_front();
                chip.lane = ((lane + 1) % net.lanes) as u8;
            }
            self.store(first + lane, flit);
        }
    }

    /// Stores a flit in its lane.
    fn store(&mut self, at: usize, flit: Flit) {
        let width = self.ends * self.net.lanes;
        let (node, bit) = (at / width, at % width);
        self.lanes[at].push_back(flit);
        if self.holding[node] >> bit & 1 == 0 {
            self.waiting[node] |= 1 << bit;
        }
    }

    /// Output that a flit needs next. A flit whose route ends leaves by the port of the chip that serves its input.
    fn output_of(&self, flit: Flit, input: usize) -> usize {
        let port = usize::from(flit.code() & 7);
        if port == usize::from(EJECT) { PORTS + input % (self.ends - PORTS) } else { port }
    }

    /// One round of a router. Both stages are decided before either changes the state.
    fn round(&mut self, node: usize) {
        let width = self.ends * self.net.lanes;
        self.request_channels(node);
        let chosen = self.request_crossings(node);
        let mut found = std::mem::take(&mut self.found);
        found.clear();
        self.channel_priorities[node].allocate(&self.channel_requests, &mut found);
        for &(from, to) in &found {
            let (output, lane) = (usize::from(to) / self.net.lanes, usize::from(to) % self.net.lanes);
            self.held[node * width + usize::from(from)] = Held { output: output as u8, lane: lane as u8 };
            self.outputs[node * self.ends + output].taken |= 1 << lane;
            self.waiting[node] &= !(1 << from);
            self.holding[node] |= 1 << from;
        }
        found.clear();
        self.crossbar_priorities[node].allocate(&self.crossbar_requests, &mut found);
        for &(input, output) in &found {
            let (input, output) = (usize::from(input), usize::from(output));
            self.cross(node, input, usize::from(chosen[input][output]));
        }
        self.found = found;
    }

    fn request_channels(&mut self, node: usize) {
        let net = self.net;
        let width = self.ends * net.lanes;
        self.channel_requests.clear();
        for from in bits(self.waiting[node]) {
            let Some(&flit) = self.lanes[node * width + from].front() else { continue };
            let to = self.output_of(flit, from / net.lanes);
            let output = &self.outputs[node * self.ends + to];
            for lane in 0..net.lanes {
                let room = output.room[lane];
                let may_enter = if to >= PORTS {
                    true
                } else if lane < net.escapes {
                    lane == usize::from(flit.code() >> 3) && room > 0
                } else {
                    room == net.buffer || u32::from(room) >= net.packet
                };
                if may_enter && output.taken >> lane & 1 == 0 {
                    self.channel_requests.add(from, to * net.lanes + lane);
                }
            }
        }
    }

    /// Requests the crossbar. Returns, by input and output, the lane of the input that was chosen.
    fn request_crossings(&mut self, node: usize) -> [[u8; MAX_ENDS]; MAX_ENDS] {
        let net = self.net;
        let width = self.ends * net.lanes;
        let mut chosen = [[NO_LANE; MAX_ENDS]; MAX_ENDS];
        self.crossbar_requests.clear();
        for from in bits(self.holding[node]) {
            let at = node * width + from;
            let Held { output, lane } = self.held[at];
            let (input, output) = (from / net.lanes, usize::from(output));
            let has_room =
                output >= PORTS || self.outputs[node * self.ends + output].room[usize::from(lane)] > 0;
            // The next flit of the packet may still be on its way.
            if self.lanes[at].is_empty() || !has_room {
                continue;
            }
            let turn = self.turns[node * self.ends + input];
            let rank = |lane: u8| (lane + net.lanes as u8 - turn) % net.lanes as u8;
            let (mine, best) = ((from % net.lanes) as u8, &mut chosen[input][output]);
            if *best == NO_LANE {
                self.crossbar_requests.add(input, output);
                *best = mine;
            } else if rank(mine) < rank(*best) {
                *best = mine;
            }
        }
        chosen
    }

    /// Moves the first flit of a lane through the crossbar to the output that its packet holds.
    fn cross(&mut self, node: usize, input: usize, lane: usize) {
        let net = self.net;
        let bit = input * net.lanes + lane;
        let at = node * self.ends * net.lanes + bit;
        let Held { output, lane: to } = self.held[at];
        let Some(flit) = self.lanes[at].pop_front() else { return };
        self.turns[node * self.ends + input] = ((lane + 1) % net.lanes) as u8;
        let record = &mut self.outputs[node * self.ends + usize::from(output)];
        record.crossed.push_back((to, flit));
        if usize::from(output) < PORTS {
            record.room[usize::from(to)] -= 1;
        }
        if flit.birth & TAIL != 0 {
            record.taken &= !(1 << to);
            self.holding[node] &= !(1 << bit);
            if !self.lanes[at].is_empty() {
                self.waiting[node] |= 1 << bit;
            }
        }
        if input < PORTS {
            let sender = net.pairs[node * PORTS + input] as usize;
            self.outputs[sender / PORTS * self.ends + sender % PORTS].room[lane] += 1;
        }
    }

    /// Lets every output send one flit that has crossed: to the next router, or to the chip.
    fn send(&mut self, node: usize) {
        let net = self.net;
        for port in 0..self.ends {
            let output = &mut self.outputs[node * self.ends + port];
            if output.free_at >= f64::from(self.now) + 1.0 {
                continue;
            }
            let Some((lane, flit)) = output.crossed.pop_front() else { continue };
            if port >= PORTS {
                self.counts.delivered += 1;
                if flit.birth & TAIL != 0 {
                    self.counts.packets += 1;
                    let cycles = self.now - (flit.birth & !TAIL) + net.injection;
                    self.counts.latency_cycles += u64::from(cycles);
                }
                continue;
            }
            if net.cycles_per_flit > 1.0 {
                output.free_at = output.free_at.max(f64::from(self.now)) + net.cycles_per_flit;
            }
            let arc = node * PORTS + port;
            let receiver = net.pairs[arc] as usize;
            let at = (receiver / PORTS * self.ends + receiver % PORTS) * net.lanes + usize::from(lane);
            let arrival = Arrival { at: at as u32, flit: flit.advanced(net) };
            self.wheel.schedule(self.now + u32::from(net.delays[arc]), arrival);
            self.counts.hops += 1;
        }
    }
}

#[cfg(test)]
impl CrossbarSimulator<'_> {
    /// Stops generating packets, so that the network drains.
    pub(super) const fn stop_sources(&mut self) {
        self.packets.stop();
    }

    /// Number of flits in source queues.
    pub(super) fn at_sources(&self) -> u64 {
        let queued = |packet: &Packet| u64::from(self.net.packet - packet.sent);
        self.chips.iter().flat_map(|chip| &chip.queue).map(queued).sum()
    }

    /// Number of flits in routers and on links.
    pub(super) fn in_network(&self) -> u64 {
        let (own, links) = self.places();
        own + links
    }

    /// Returns `true` if the slots that outputs count as occupied are the flits on links, behind them, and at outputs.
    pub(super) fn is_balanced(&self) -> bool {
        let net = self.net;
        let links = self.outputs.chunks(self.ends).flat_map(|router| &router[..PORTS]);
        let used = |output: &CrossbarOutput| -> u64 {
            output.room[..net.lanes].iter().map(|&room| u64::from(net.buffer - room)).sum()
        };
        links.map(used).sum::<u64>() == self.places().1
    }

    /// Number of flits between a chip and its router, and of flits between routers.
    fn places(&self) -> (u64, u64) {
        let count = |ends: std::ops::Range<usize>| -> usize {
            let lanes = self.lanes.chunks(self.ends * self.net.lanes);
            let span = ends.start * self.net.lanes..ends.end * self.net.lanes;
            let buffered: usize = lanes.flat_map(|router| &router[span.clone()]).map(VecDeque::len).sum();
            let outputs = self.outputs.chunks(self.ends).flat_map(|router| &router[ends.clone()]);
            buffered + outputs.map(|output| output.crossed.len()).sum::<usize>()
        };
        let links = count(0..PORTS) + self.wheel.pending();
        (count(PORTS..self.ends) as u64, links as u64)
    }
}

#[cfg(test)]
mod tests;
