//! Allowed turns, stored for searches along routes in both directions, and the distances along walks with allowed
//! turns.

use super::frame::Frame;
use super::turns::{self, Turns};
use crate::model::pod::{self, PORTS};

/// Distance of a state or node that no allowed walk reaches.
pub const FAR: u16 = u16::MAX;

/// Allowed turns as lists, forwards and backwards. A *state* is an arc of the pod with a virtual channel, numbered `arc
/// << shift | vc`. A *channel* is an arc class with a virtual channel, numbered `class << shift | vc`; there is one
/// list for each channel.
#[derive(Clone, Debug)]
pub struct Steps {
    vcs: usize,
    shift: u32,
    /// For every channel: out port and virtual channel of the next hop, as `port << shift | vc`.
    ahead: Lists,
    /// For every channel: in port at the tail and virtual channel of the previous hop, as `port << shift | vc`.
    behind: Lists,
}

/// One list of small numbers for each channel.
#[derive(Clone, Debug)]
struct Lists {
    starts: Vec<u32>,
    entries: Vec<u8>,
}

impl Lists {
    fn new(lists: &[Vec<u8>]) -> Self {
        let mut starts = vec![0];
        let mut entries = Vec::new();
        for list in lists {
            entries.extend_from_slice(list);
            starts.push(entries.len() as u32);
        }
        Self { starts, entries }
    }

    fn of(&self, channel: usize) -> &[u8] {
        &self.entries[self.starts[channel] as usize..self.starts[channel + 1] as usize]
    }
}

impl Steps {
    /// Builds the lists of the allowed turns over working switches.
    pub fn new(frame: &Frame, allowed: &Turns) -> Self {
        let vcs = allowed.vcs();
        let shift = vcs.next_power_of_two().trailing_zeros();
        // A list for each channel, flattened at the end.
        let mut ahead = vec![Vec::new(); frame.classes() << shift];
        let mut behind = ahead.clone();
        // Both directions of the lists, for searches from sources and from targets.
        for (class, port) in turns::all(frame) {
            if allowed.versions(class, port) == 0 {
                continue;
            }
            let next = Turns::next_class(frame, class, port);
            // An arc arrives at the port opposite to the port it leaves by.
            let arrival = pod::opposite(Frame::port(class as u32));
            for first in 0..vcs {
                for second in (0..vcs).filter(|second| allowed.allows(class, port, first, *second)) {
                    ahead[class << shift | first].push(port << shift | second as u8);
                    behind[next << shift | second].push(arrival << shift | first as u8);
                }
            }
        }
        Self { vcs, shift, ahead: Lists::new(&ahead), behind: Lists::new(&behind) }
    }

    /// Number of virtual channels of a link.
    pub const fn vcs(&self) -> usize {
        self.vcs
    }

    /// Number of states of a pod.
    pub const fn states(&self, frame: &Frame) -> usize {
        frame.arcs() << self.shift
    }

    /// State of an arc and a virtual channel.
    pub const fn state(&self, arc: u32, vc: usize) -> u32 {
        arc << self.shift | vc as u32
    }

    /// Arc of a state.
    pub const fn arc(&self, state: u32) -> u32 {
        state >> self.shift
    }

    /// Virtual channel of a state.
    pub const fn vc(&self, state: u32) -> usize {
        state as usize & ((1 << self.shift) - 1)
    }

    const fn channel(&self, frame: &Frame, state: u32) -> usize {
        frame.class(state >> self.shift) << self.shift | (state as usize & ((1 << self.shift) - 1))
    }

    /// Predecessors of a state.
    pub fn before<'a>(&'a self, frame: &'a Frame, state: u32) -> impl Iterator<Item = u32> + 'a {
        let tail = Frame::tail(self.arc(state));
        // The low bits hold the virtual channel.
        let mask = (1 << self.shift) - 1;
        self.behind
            .of(self.channel(frame, state))
            .iter()
            .map(move |entry| frame.into(tail, entry >> self.shift) << self.shift | u32::from(entry & mask))
    }

    /// States that follow a state.
    pub fn after<'a>(&'a self, frame: &'a Frame, state: u32) -> impl Iterator<Item = u32> + 'a {
        let base = Frame::arc(frame.head(self.arc(state)), 0) << self.shift;
        self.ahead.of(self.channel(frame, state)).iter().map(move |entry| base + u32::from(*entry))
    }

    /// Hops of the shortest allowed walk from `source` that ends in each state, including the hop of the state; [`FAR`]
    /// if no such walk exists.
    pub fn distances(&self, frame: &Frame, source: u32, reach: &mut Reach) {
        reach.hops.clear();
        reach.hops.resize(self.states(frame), FAR);
        // Breadth-first search over states; the first hop may use any channel.
        reach.queue.clear();
        for port in 0..PORTS as u8 {
            let arc = Frame::arc(source, port);
            if frame.is_open(arc) {
                for vc in 0..self.vcs {
                    reach.hops[self.state(arc, vc) as usize] = 1;
                    reach.queue.push(self.state(arc, vc));
                }
            }
        }
        let mut at = 0;
        while at < reach.queue.len() {
            let state = reach.queue[at];
            at += 1;
            let hops = reach.hops[state as usize] + 1;
            // The first visit is the shortest in breadth-first search.
            for next in self.after(frame, state) {
                let known = &mut reach.hops[next as usize];
                if *known == FAR {
                    *known = hops;
                    reach.queue.push(next);
                }
            }
        }
    }
}

/// Distances of all states from one source.
#[derive(Clone, Debug, Default)]
pub struct Reach {
    /// Number of hops to each state.
    pub hops: Vec<u16>,
    queue: Vec<u32>,
}

impl Reach {
    /// Hops of the shortest allowed walk to a node; [`FAR`] if no such walk exists.
    pub fn to(&self, frame: &Frame, steps: &Steps, target: u32) -> u16 {
        (0..PORTS as u8)
            // The last hop may use any port and channel into the target.
            .flat_map(|port| (0..steps.vcs).map(move |vc| steps.state(frame.into(target, port), vc)))
            .map(|state| self.hops[state as usize])
            .min()
            .unwrap_or(FAR)
    }

    /// Drops the queue, which is not needed any more.
    #[must_use]
    pub fn sealed(mut self) -> Self {
        self.queue = Vec::new();
        self
    }
}
