//! The state of a simulation run and the work of a cycle.
//!
//! All state is in flat arrays, indexed by node, output (`6 * node + port`) or lane
//! (`(6 * node + input port) << shift | lane`), small enough that the data of one cycle stays in the cache:
//! * flits on links wait in the calendar of arrivals, which is written and read in sequence;
//! * the first flit of a lane is stored in the record of the lane, the other flits in a ring buffer that restarts when
//!   it is empty;
//! * an output stores the free space of its downstream lanes and, as a bit mask, the lanes whose head requests it. The
//!   simulator therefore spends no time on lanes whose first flit is blocked.

use super::network::{EJECT, SimulatedPod};
use super::traffic::{Packets, target};
use super::wheel::{Arrival, Wheel};
use crate::model::pod::PORTS;
use std::collections::VecDeque;

/// Capacity of a source queue in packets; if one more arrives, the run counts as saturated.
pub(super) const SOURCE_LIMIT: usize = 2048;
/// Mark for an output or packet without a reserved or free virtual channel.
const NO_LANE: u8 = u8::MAX;
/// Mark of the last flit of a packet: a bit in the birth cycle of this flit.
pub(super) const TAIL: u32 = 1 << 31;
/// Maximum number of labels: a label is the virtual channel of a hop in the route of a packet.
pub(super) const MAX_LABELS: usize = 4;
/// Maximum number of lanes of a link.
pub(super) const MAX_LANES: usize = 8;
/// Number of adjacent slots of a ring buffer: the largest power of two whose flits (12 bytes each) fit into a cache
/// line.
const BLOCK: usize = 4;

/// A flit with the rest of its route.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flit {
    /// Cycle in which the packet of the flit joined its source queue; in the last flit of a packet, the bit [`TAIL`] is
    /// also set.
    pub(super) birth: u32,
    /// Rest of the route of the flit, in the encoding of the network; split into halves, so that a flit has 12 bytes.
    codes: [u32; 2],
}

impl Flit {
    pub(super) const fn new(birth: u32, codes: u64) -> Self {
        Self { birth, codes: [codes as u32, (codes >> 32) as u32] }
    }

    /// Port and label of the next hop of the flit.
    pub(super) const fn code(self) -> u8 {
        self.codes[0] as u8 & 31
    }

    /// Returns the flit as it is after one hop.
    pub(super) fn advanced(self, net: &SimulatedPod) -> Self {
        let codes = u64::from(self.codes[0]) | u64::from(self.codes[1]) << 32;
        Self::new(self.birth, net.after_hop(codes))
    }
}

/// A lane: a first-in first-out buffer of one virtual channel.
#[derive(Clone, Copy, Debug, Default)]
struct LaneBuffer {
    first: Flit,
    /// Slot of the second flit in the ring.
    next: u16,
    /// Number of flits of the lane that have arrived.
    present: u16,
}

/// An output port of a node.
#[derive(Clone, Copy, Debug)]
struct Output {
    /// For each label, a bit mask of the lanes whose first flit requests this output: bit `input port << shift | lane`,
    /// and the last bit for the source queue.
    heads: [u64; MAX_LABELS],
    /// Free slots of the downstream lanes; flits on the link count as occupied slots.
    room: [u16; MAX_LANES],
    /// Index of the output at the other end of the link: the output of the receiving node at the port where the flits
    /// arrive. If output a has the pair b, output b has the pair a.
    pair: u32,
    /// Number of cycles from a send to the arrival.
    delay: u16,
    /// Request bit at which the next round-robin arbitration starts.
    turn: u8,
    /// Downstream lanes that packets have reserved, as a bit mask.
    taken: u8,
}

/// A packet in a source queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packet {
    pub(super) flit: Flit,
    /// Number of flits of the packet that have been sent.
    pub(super) sent: u32,
}

/// Numbers of flits and packets since the last [`Simulator::reset_counts`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Number of generated flits, including those that full source queues refused.
    pub offered: u64,
    /// Number of flits that left the network.
    pub delivered: u64,
    /// Number of packets whose last flit left the network.
    pub packets: u64,
    /// Sum of the latencies of the packets whose last flit left the network, cycles. The injection latency is equal for
    /// all packets, so this latency is added to the sum here instead of delaying packets.
    pub latency_cycles: u64,
    /// Number of flits sent over links.
    pub hops: u64,
    /// Number of flits that found their source queue full.
    pub refused: u64,
}

/// One run: a network under a constant offered rate.
#[derive(Debug)]
pub struct Simulator<'a> {
    net: &'a SimulatedPod,
    now: u32,
    lanes: Vec<LaneBuffer>,
    /// All flits of a lane except the first.
    ring: Vec<Flit>,
    outputs: Vec<Output>,
    /// Requested outputs of each node, as a bit mask.
    active: Vec<u8>,
    /// Packets that wait at their source, by output.
    queues: Vec<VecDeque<Packet>>,
    wheel: Wheel,
    /// Requests of flits that are not the first of their packet, by output and reserved lane; used only if packets have
    /// several flits.
    bodies: Vec<u64>,
    /// Lane that the packet at the head of a queue has reserved downstream; first the entries of all lanes, then the
    /// entries of all source queues.
    reserved: Vec<u8>,
    /// Time in cycles at which each output is free again; used only for slow links. An output that becomes free within
    /// a cycle sends in this cycle, and the fraction counts for the next flit, so that a busy link keeps its rate.
    free_at: Vec<f64>,
    /// Number of flits that left each lane for another router.
    #[cfg(test)]
    pub(super) departures: Vec<u64>,
    packets: Packets,
    counts: Counts,
}

impl<'a> Simulator<'a> {
    /// Creates an empty network under `rate` flits per cycle and node. Equal seed and stream give an equal run.
    pub fn new(net: &'a SimulatedPod, rate: f64, seed: u64, stream: u64) -> Self {
        let outputs = net.nodes * PORTS;
        let lanes = outputs << net.shift;
        let multi = net.packet > 1;
        let output = |index: usize| Output {
            heads: [0; MAX_LABELS],
            room: [net.buffer; MAX_LANES],
            pair: net.pairs[index],
            delay: net.delays[index],
            turn: 0,
            taken: 0,
        };
        Self {
            net,
            now: 0,
            lanes: vec![LaneBuffer::default(); lanes],
            ring: vec![Flit::default(); lanes * usize::from(net.buffer).next_multiple_of(BLOCK)],
            outputs: (0..outputs).map(output).collect(),
            active: vec![0; net.nodes],
            queues: vec![VecDeque::new(); outputs],
            wheel: Wheel::new(net.longest_delay + 1),
            bodies: vec![0; if multi { outputs << net.shift } else { 0 }],
            reserved: vec![NO_LANE; if multi { lanes + outputs } else { 0 }],
            free_at: vec![0.0; if net.cycles_per_flit > 1.0 { outputs } else { 0 }],
            #[cfg(test)]
            departures: vec![0; lanes],
            packets: Packets::new(rate, net.packet, seed, stream),
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

    /// Number of flits in buffers and on links.
    #[cfg(test)]
    pub fn in_network(&self) -> u64 {
        let buffered: u64 = self.lanes.iter().map(|lane| u64::from(lane.present)).sum();
        buffered + self.wheel.pending() as u64
    }

    /// Slots that outputs count as occupied; equal to [`Self::in_network`] if no credit was lost.
    #[cfg(test)]
    pub fn credits_in_use(&self) -> u64 {
        let used = |output: &Output| -> u64 {
            output.room[..self.net.lanes].iter().map(|&room| u64::from(self.net.buffer - room)).sum()
        };
        self.outputs.iter().map(used).sum()
    }

    /// Number of flits in source queues.
    #[cfg(test)]
    pub fn at_sources(&self) -> u64 {
        let packet_flits = self.net.packet;
        let queued = |packet: &Packet| u64::from(packet_flits - packet.sent);
        self.queues.iter().flatten().map(queued).sum()
    }

    /// Stops generating packets, so that the network drains.
    #[cfg(test)]
    pub const fn stop_sources(&mut self) {
        self.packets.stop();
    }

    /// Puts one packet into its source queue, in addition to the randomly generated ones. Does nothing if source and
    /// target are equal, or if one of them is not a node of the pod.
    pub fn send(&mut self, source: usize, target: usize) {
        let net = self.net;
        if source >= net.nodes || target >= net.nodes || source == target {
            return;
        }
        // Under translation, only routes from cube 0 are stored: find the route whose image ends at the target.
        let local = source % net.sources;
        let candidate = (0..net.nodes).find(|&at| at != local && self.lands(source, local, at) == target);
        if let Some(at) = candidate {
            self.enqueue::<true>(source, local, at);
        }
    }

    /// Returns the node that one reaches from `source` over the ports of the stored route from `local` to `at`.
    fn lands(&self, source: usize, local: usize, at: usize) -> usize {
        let net = self.net;
        let (mut node, mut codes) = (source, net.starts[local * net.nodes + at]);
        while codes as u8 & 7 != EJECT {
            node = net.pairs[node * PORTS + (codes & 7) as usize] as usize / PORTS;
            codes = net.after_hop(codes);
        }
        node
    }

    /// Simulates a number of cycles.
    pub fn run(&mut self, cycles: u32) {
        for _ in 0..cycles {
            if self.net.packet > 1 || self.net.cycles_per_flit > 1.0 {
                self.cycle::<true>();
            } else {
                self.cycle::<false>();
            }
        }
    }

    /// Simulates one cycle. `GENERAL`: packets of several flits or slow links; otherwise the fast path for single
    /// flits.
    fn cycle<const GENERAL: bool>(&mut self) {
        self.generate::<GENERAL>();
        let arrivals = self.wheel.take(self.now);
        for &arrival in &arrivals {
            self.arrive::<GENERAL>(arrival);
        }
        self.wheel.recycle(arrivals);
        for node in 0..self.net.nodes {
            if self.active[node] != 0 {
                self.switch::<GENERAL>(node);
            }
        }
        self.now += 1;
    }

    fn generate<const GENERAL: bool>(&mut self) {
        let others = self.net.nodes as u64 - 1;
        if self.packets.is_silent() || others == 0 {
            return;
        }
        let mut local = 0;
        for node in 0..self.net.nodes {
            let (packets, mut draw) = self.packets.of_node();
            for index in 0..packets {
                if index > 0 {
                    draw = self.packets.again();
                }
                self.enqueue::<GENERAL>(node, local, target(draw, others, local));
            }
            local += 1;
            if local == self.net.sources {
                local = 0;
            }
        }
    }

    /// Generates a packet at `node` that takes the ports of the stored route from `local` to `target`.
    fn enqueue<const GENERAL: bool>(&mut self, node: usize, local: usize, target: usize) {
        let net = self.net;
        let start = net.starts[local * net.nodes + target];
        let flit = Flit::new(self.now, start);
        let output = node * PORTS + usize::from(flit.code() & 7);
        self.counts.offered += u64::from(self.net.packet);
        if self.queues[output].len() >= SOURCE_LIMIT {
            self.counts.refused += u64::from(self.net.packet);
            return;
        }
        self.queues[output].push_back(Packet { flit, sent: 0 });
        if self.queues[output].len() == 1 {
            self.request_source::<GENERAL>(output);
        }
    }

    /// Stores an arriving flit in its lane.
    fn arrive<const GENERAL: bool>(&mut self, arrival: Arrival) {
        let at = arrival.at as usize;
        let lane = &mut self.lanes[at];
        lane.present += 1;
        if lane.present == 1 {
            lane.first = arrival.flit;
            lane.next = 0;
            self.expose::<GENERAL>(at);
        } else {
            let mut slot = usize::from(lane.next) + usize::from(lane.present) - 2;
            if slot >= usize::from(self.net.buffer) {
                slot -= usize::from(self.net.buffer);
            }
            let place = self.place(at, slot);
            self.ring[place] = arrival.flit;
        }
    }

    /// Processes the head of a nonempty lane: flits that end here leave, and a flit that continues requests its output.
    fn expose<const GENERAL: bool>(&mut self, at: usize) {
        let net = self.net;
        loop {
            let flit = self.lanes[at].first;
            let code = flit.code();
            if code & 7 != EJECT {
                self.request::<GENERAL>(at, code);
                return;
            }
            self.counts.delivered += 1;
            if flit.birth & TAIL != 0 {
                self.counts.packets += 1;
                self.counts.latency_cycles += u64::from(self.now - (flit.birth & !TAIL) + net.injection);
            }
            if !self.pop(at) {
                return;
            }
        }
    }

    /// Returns the position of a slot of a lane's ring buffer. The first slots of all lanes are adjacent in memory, so
    /// that short queues share few pages.
    fn place(&self, at: usize, slot: usize) -> usize {
        ((slot / BLOCK) * self.lanes.len() + at) * BLOCK + slot % BLOCK
    }

    /// Takes the head from a lane and returns its slot to the sender. Returns `true` if the lane contains another flit.
    fn pop(&mut self, at: usize) -> bool {
        let net = self.net;
        let pair = self.outputs[at >> net.shift].pair as usize;
        self.outputs[pair].room[at & net.lane_mask] += 1;
        let place = self.place(at, usize::from(self.lanes[at].next));
        let lane = &mut self.lanes[at];
        lane.present -= 1;
        if lane.present == 0 {
            return false;
        }
        lane.first = self.ring[place];
        lane.next += 1;
        if lane.next == net.buffer {
            lane.next = 0;
        }
        true
    }

    fn request<const GENERAL: bool>(&mut self, at: usize, code: u8) {
        let net = self.net;
        let (node, port) = ((at >> net.shift) / PORTS, usize::from(code & 7));
        let output = node * PORTS + port;
        let bit = 1u64 << (at - ((node * PORTS) << net.shift));
        if GENERAL && net.packet > 1 && self.reserved[at] != NO_LANE {
            self.bodies[(output << net.shift) + usize::from(self.reserved[at])] |= bit;
        } else {
            self.outputs[output].heads[usize::from(code >> 3)] |= bit;
        }
        self.active[node] |= 1 << port;
    }

    /// Requests the output for the first packet of a source queue.
    fn request_source<const GENERAL: bool>(&mut self, output: usize) {
        let net = self.net;
        let Some(packet) = self.queues[output].front() else { return };
        let label = usize::from(packet.flit.code() >> 3);
        let bit = 1u64 << (PORTS << net.shift);
        let lane = if GENERAL && net.packet > 1 { self.reserved[self.lanes.len() + output] } else { NO_LANE };
        if lane == NO_LANE {
            self.outputs[output].heads[label] |= bit;
        } else {
            self.bodies[(output << net.shift) + usize::from(lane)] |= bit;
        }
        self.active[output / PORTS] |= 1 << (output % PORTS);
    }

    /// Lets every requested output of a node send the flit of one request, if some request is eligible. A different
    /// output chooses first in every cycle.
    fn switch<const GENERAL: bool>(&mut self, node: usize) {
        let net = self.net;
        let sources = PORTS << net.shift;
        let mut free = u64::MAX;
        let first = self.now as usize % PORTS;
        let active = u32::from(self.active[node]);
        // The mask is rotated so that bit 0 is the first output to choose.
        let mut waiting = (active >> first | active << (PORTS - first)) & 0x3f;
        while waiting != 0 {
            let at = first + waiting.trailing_zeros() as usize;
            waiting &= waiting - 1;
            let output = node * PORTS + if at >= PORTS { at - PORTS } else { at };
            if GENERAL && net.cycles_per_flit > 1.0 && self.free_at[output] >= f64::from(self.now) + 1.0 {
                continue;
            }
            let (lane, eligible) = if GENERAL && net.packet > 1 {
                self.eligible_of_packets(output)
            } else {
                eligible(&self.outputs[output], net)
            };
            let eligible = eligible & free;
            if eligible == 0 {
                continue;
            }
            let turn = &mut self.outputs[output].turn;
            let after = eligible & (u64::MAX << *turn);
            let winner = if after == 0 { eligible } else { after }.trailing_zeros() as usize;
            *turn = winner as u8 + 1;
            if winner == sources {
                self.send_from_source::<GENERAL>(output, lane);
            } else {
                // An input port sends at most one flit per cycle, so all its lanes are done.
                let input = winner >> net.shift << net.shift;
                free &= !(net.port_bits << input);
                self.send_from_lane::<GENERAL>(output, ((node * PORTS) << net.shift) + winner, winner, lane);
            }
        }
    }

    /// Like [`eligible`], for packets of several flits: a head needs an unreserved lane: one that any packet may use
    /// and that is empty or has space for the whole packet, or the lane of its label with any space; a later flit needs
    /// space in the lane of its head.
    fn eligible_of_packets(&self, output: usize) -> (u8, u64) {
        let net = self.net;
        let Output { heads, room, taken, .. } = &self.outputs[output];
        let (mut best, mut most) = (NO_LANE, 0);
        for (lane, &room) in room.iter().enumerate().take(net.lanes).skip(net.escapes) {
            let fits = room == net.buffer || u32::from(room) >= net.packet;
            if taken >> lane & 1 == 0 && fits && room > most {
                (best, most) = (lane as u8, room);
            }
        }
        let mut eligible = 0;
        for label in 0..net.escapes {
            if best != NO_LANE || (taken >> label & 1 == 0 && room[label] > 0) {
                eligible |= heads[label];
            }
        }
        let bodies = &self.bodies[output << net.shift..(output + 1) << net.shift];
        for (mask, &room) in bodies.iter().zip(room) {
            if room > 0 {
                eligible |= mask;
            }
        }
        (best, eligible)
    }

    /// Sends the head of a lane. `bit` is the request bit of the lane; `free_lane` is the free lane of the output, if
    /// there is one.
    fn send_from_lane<const GENERAL: bool>(&mut self, output: usize, from: usize, bit: usize, free_lane: u8) {
        let flit = self.lanes[from].first;
        self.transfer::<GENERAL>(output, from, bit, flit, free_lane);
        #[cfg(test)]
        {
            self.departures[from] += 1;
        }
        if self.pop(from) {
            // A flit that ends here leaves in the next cycle at the earliest: one flit per input port and cycle.
            self.expose::<GENERAL>(from);
        }
    }

    fn send_from_source<const GENERAL: bool>(&mut self, output: usize, free_lane: u8) {
        let net = self.net;
        let Some(packet) = self.queues[output].front_mut() else { return };
        packet.sent += 1;
        let mut flit = packet.flit;
        let last = !GENERAL || packet.sent == net.packet;
        if last {
            flit.birth |= TAIL;
            self.queues[output].pop_front();
        }
        let holder = self.lanes.len() + output;
        self.transfer::<GENERAL>(output, holder, PORTS << net.shift, flit, free_lane);
        self.request_source::<GENERAL>(output);
    }

    /// Puts a flit on the link of an output and withdraws its request.
    fn transfer<const GENERAL: bool>(
        &mut self,
        output: usize,
        holder: usize,
        bit: usize,
        flit: Flit,
        free_lane: u8,
    ) {
        let net = self.net;
        let multi = GENERAL && net.packet > 1;
        let record = &mut self.outputs[output];
        let label = flit.code() >> 3;
        let mut lane = if free_lane == NO_LANE { label } else { free_lane };
        let reserved = if multi { self.reserved[holder] } else { NO_LANE };
        let mut left;
        if reserved == NO_LANE {
            record.heads[usize::from(label)] &= !(1 << bit);
            left = record.heads.iter().fold(0, |all, mask| all | mask);
        } else {
            lane = reserved;
            self.bodies[(output << net.shift) + usize::from(lane)] &= !(1 << bit);
            left = record.heads.iter().fold(0, |all, mask| all | mask);
        }
        if multi {
            let last = flit.birth & TAIL != 0;
            self.reserved[holder] = if last { NO_LANE } else { lane };
            record.taken = if last { record.taken & !(1 << lane) } else { record.taken | 1 << lane };
            let bodies = &self.bodies[output << net.shift..(output + 1) << net.shift];
            left |= bodies.iter().fold(0, |all, mask| all | mask);
        }
        record.room[usize::from(lane)] -= 1;
        if left == 0 {
            self.active[output / PORTS] &= !(1 << (output % PORTS));
        }
        if GENERAL && net.cycles_per_flit > 1.0 {
            self.free_at[output] = self.free_at[output].max(f64::from(self.now)) + net.cycles_per_flit;
        }
        let at = (record.pair << net.shift) + u32::from(lane);
        let arrival = Arrival { at, flit: flit.advanced(net) };
        self.wheel.schedule(self.now + u32::from(record.delay), arrival);
        self.counts.hops += 1;
    }
}

/// Of the lanes that any packet may use, regardless of its label, returns the lane with the most space, or [`NO_LANE`]
/// if none has space. Also returns the requests that may be granted: all requests if such a lane has space, otherwise
/// the requests whose own label is a lane with space.
#[inline]
fn eligible(output: &Output, net: &SimulatedPod) -> (u8, u64) {
    let (mut best, mut most) = (NO_LANE, 0);
    for lane in net.escapes..net.lanes {
        let room = output.room[lane];
        if room > most {
            (best, most) = (lane as u8, room);
        }
    }
    if best != NO_LANE {
        return (best, output.heads.iter().fold(0, |all, mask| all | mask));
    }
    let mut eligible = 0;
    for (mask, &room) in output.heads.iter().zip(&output.room) {
        if room > 0 {
            eligible |= mask;
        }
    }
    (best, eligible)
}
