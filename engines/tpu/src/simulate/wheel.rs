//! A calendar of arrivals within a bounded number of cycles.

use super::engine::Flit;

/// A flit on a link.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    /// The lane in which the flit arrives.
    pub(super) at: u32,
    pub(super) flit: Flit,
}

/// Slots of a circular calendar; an arrival is at most `slots - 1` cycles in the future.
#[derive(Clone, Debug)]
pub(super) struct Wheel {
    slots: Vec<Vec<Arrival>>,
    mask: u32,
    /// An empty list whose memory is reused.
    spare: Vec<Arrival>,
}

impl Wheel {
    /// Creates a calendar for delays of up to `longest` cycles.
    pub(super) fn new(longest: u32) -> Self {
        let slots = (longest + 1).next_power_of_two();
        Self { slots: vec![Vec::new(); slots as usize], mask: slots - 1, spare: Vec::new() }
    }

    pub(super) fn schedule(&mut self, cycle: u32, arrival: Arrival) {
        self.slots[(cycle & self.mask) as usize].push(arrival);
    }

    /// Removes and returns the arrivals of a cycle; pass the list to [`Self::recycle`] afterwards.
    pub(super) fn take(&mut self, cycle: u32) -> Vec<Arrival> {
        std::mem::replace(&mut self.slots[(cycle & self.mask) as usize], std::mem::take(&mut self.spare))
    }

    pub(super) fn recycle(&mut self, mut list: Vec<Arrival>) {
        list.clear();
        self.spare = list;
    }

    /// Returns the number of arrivals to come.
    #[cfg(test)]
    pub(super) fn pending(&self) -> usize {
        self.slots.iter().map(Vec::len).sum()
    }
}
