//! Turns from one channel to the next that a route may take, such that the channel dependencies have no cycle
//! (docs/methods/tpu-routes.md, section 7, steps 1 and 2).
//!
//! A *turn* leads from an arc to an out port of its head, and has one *version* for each pair of virtual channels. The
//! set of all allowed versions is safe if the graph of channels (arc class, virtual channel) has no cycle. For a
//! symmetric pod, it is enough to check the 384 classes: a cycle of the pod projects to a closed walk of classes, and a
//! cycle of classes, repeated as often as the group has elements, closes in the pod.

use super::frame::Frame;
use super::order::TopologicalOrder;
use crate::model::pod::{self, PORTS};

/// The allowed versions of all turns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turns {
    vcs: usize,
    /// Bit `v1 * vcs + v2` of `versions[6 * class + port]` is set if the turn from an arc of `class` to the out port is
    /// allowed from virtual channel `v1` to `v2`.
    versions: Vec<u64>,
}

impl Turns {
    /// Creates a set in which no turn is allowed.
    pub fn none(classes: usize, vcs: u8) -> Self {
        Self { vcs: usize::from(vcs), versions: vec![0; PORTS * classes] }
    }

    /// Returns all turns except U-turns, on one virtual channel: the possible routes without regard to deadlock.
    pub fn free(frame: &Frame) -> Self {
        let mut turns = Self::none(frame.classes(), 1);
        for (class, port) in all(frame) {
            turns.allow(class, port, 0, 0);
        }
        turns
    }

    /// Number of virtual channels of a link.
    pub const fn vcs(&self) -> usize {
        self.vcs
    }

    /// The versions of a turn as bits `v1 * vcs + v2`.
    pub fn versions(&self, class: usize, port: u8) -> u64 {
        self.versions[PORTS * class + usize::from(port)]
    }

    /// Returns `true` if a version is allowed.
    pub fn allows(&self, class: usize, port: u8, first: usize, second: usize) -> bool {
        self.versions(class, port) >> (first * self.vcs + second) & 1 == 1
    }

    /// Allows a version.
    pub fn allow(&mut self, class: usize, port: u8, first: usize, second: usize) {
        self.versions[PORTS * class + usize::from(port)] |= 1 << (first * self.vcs + second);
    }

    /// Returns the number of allowed versions.
    pub fn count(&self) -> usize {
        self.versions.iter().map(|bits| bits.count_ones() as usize).sum()
    }

    /// The class of the arc to which a turn leads.
    pub fn next_class(frame: &Frame, class: usize, port: u8) -> usize {
        // The first arc of a class has the number of the class.
        frame.class(Frame::arc(frame.head(class as u32), port))
    }

    /// Returns `true` if the channel dependencies have no cycle, found by a search that does not use the order of the
    /// builder.
    #[cfg(test)]
    pub fn is_safe(&self, frame: &Frame) -> bool {
        let channels = self.versions.len() / PORTS * self.vcs;
        let mut ahead: Vec<Vec<u32>> = vec![Vec::new(); channels];
        let mut open = vec![0u32; channels];
        for (class, port) in all(frame) {
            let next = Self::next_class(frame, class, port);
            for first in 0..self.vcs {
                for second in (0..self.vcs).filter(|second| self.allows(class, port, first, *second)) {
                    ahead[class * self.vcs + first].push((next * self.vcs + second) as u32);
                    // Edges into each channel.
                    open[next * self.vcs + second] += 1;
                }
            }
        }
        // Kahn's algorithm: a channel that is never ready lies on a cycle.
        let mut ready: Vec<usize> = (0..channels).filter(|channel| open[*channel] == 0).collect();
        let mut done = 0;
        while let Some(channel) = ready.pop() {
            done += 1;
            for &next in &ahead[channel] {
                open[next as usize] -= 1;
                if open[next as usize] == 0 {
                    ready.push(next as usize);
                }
            }
        }
        done == channels
    }
}

/// All turns of a frame as (class of the arc, out port), except U-turns and turns over failed switches.
pub fn all(frame: &Frame) -> impl Iterator<Item = (usize, u8)> + '_ {
    (0..frame.classes() as u32).filter(|class| frame.is_open(*class)).flat_map(move |class| {
        // A route never reverses, so U-turns are not needed.
        (0..PORTS as u8)
            .filter(move |port| *port != pod::opposite(Frame::port(class)))
            .filter(move |port| frame.is_open(Frame::arc(frame.head(class), *port)))
            .map(move |port| (class as usize, port))
    })
}

/// Grows a safe set of turns.
pub struct Builder<'f> {
    frame: &'f Frame,
    turns: Turns,
    order: TopologicalOrder,
}

impl<'f> Builder<'f> {
    /// Creates a builder with an empty set of turns.
    pub fn new(frame: &'f Frame, vcs: u8) -> Self {
        let order = TopologicalOrder::new(frame.classes() * usize::from(vcs));
        // No edges yet: any order is topological.
        Self { frame, turns: Turns::none(frame.classes(), vcs), order }
    }

    /// Allows a version unless it closes a cycle; returns whether it is now allowed.
    pub fn try_allow(&mut self, class: usize, port: u8, first: usize, second: usize) -> bool {
        // Invariant: the allowed versions are acyclic.
        let vcs = self.turns.vcs;
        if self.turns.allows(class, port, first, second) {
            return true;
        }
        let next = Turns::next_class(self.frame, class, port);
        // Pearce and Kelly: repairs the order of channels, or detects a cycle.
        let fits = self.order.try_add((class * vcs + first) as u32, (next * vcs + second) as u32);
        if fits {
            self.turns.allow(class, port, first, second);
        }
        fits
    }

    /// Processes the turns in order of priority twice: first allows one version of each turn if possible, with
    /// alternating virtual channels, then all versions that are still possible.
    pub fn fill(mut self, by_priority: &[(usize, u8)]) -> Turns {
        let vcs = self.turns.vcs;
        // Step 1 of section 7: one version of every turn; versions that keep the channel are tried first.
        for (at, &(class, port)) in by_priority.iter().enumerate() {
            // The channels alternate, so that both are used.
            let first = at % vcs;
            let staying = (0..vcs).map(|step| (first + step) % vcs).map(|vc| (vc, vc));
            let rising = (0..vcs).flat_map(|low| (low + 1..vcs).map(move |high| (low, high)));
            let falling = (0..vcs).flat_map(|high| (0..high).map(move |low| (high, low)));
            let mut versions = staying.chain(rising).chain(falling);
            // The first version that closes no cycle.
            let _ = versions.any(|(first, second)| self.try_allow(class, port, first, second));
        }
        // Step 2: every version that closes no cycle.
        for &(class, port) in by_priority {
            for first in 0..vcs {
                for second in 0..vcs {
                    self.try_allow(class, port, first, second);
                }
            }
        }
        self.turns
    }
}

#[cfg(test)]
mod tests;
