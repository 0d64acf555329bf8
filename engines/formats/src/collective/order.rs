//! Detects races: accesses to one slot whose order is not enforced (vector clocks).
//!
//! Every thread block counts its steps. Every block also stores, for every other block, the last step of the other
//! block that certainly happened before the current step of this block (a vector clock). Two accesses to one slot, at
//! least one of them a write, must be ordered by these clocks.

use std::rc::Rc;

/// Maximum number of thread blocks for which order is checked: the clocks need memory proportional to the square of
/// this number.
pub const MOST_BLOCKS: usize = 4096;

/// A step that has been executed: index of its thread block, and number of the step in that block.
pub type Moment = (u32, u32);

/// For each thread block, the number of its last step that certainly happened before a given step.
pub type Clock = Rc<[u32]>;

/// Clocks of all thread blocks, and the last accesses of all slots.
#[derive(Debug)]
pub struct Order {
    clocks: Vec<Vec<u32>>,
    writes: Vec<Option<Moment>>,
    reads: Vec<Vec<Moment>>,
}

impl Order {
    /// Creates the state before any step; `None` for more than [`MOST_BLOCKS`] thread blocks.
    pub fn new(blocks: usize, slots: usize) -> Option<Self> {
        (blocks <= MOST_BLOCKS).then(|| Self {
            clocks: vec![vec![0; blocks]; blocks],
            writes: vec![None; slots],
            reads: vec![Vec::new(); slots],
        })
    }

    /// Advances the clock of a block to its next step.
    pub fn tick(&mut self, block: usize) {
        if let Some(time) = self.clocks.get_mut(block).and_then(|clock| clock.get_mut(block)) {
            *time += 1;
        }
    }

    /// Returns the current clock of a block.
    pub fn clock(&self, block: usize) -> Clock {
        self.clocks.get(block).map_or_else(|| Rc::from([]), |clock| Rc::from(clock.as_slice()))
    }

    /// Merges another clock into the clock of a block, because the steps that the other clock counts happened before
    /// the block's next step.
    pub fn learn(&mut self, block: usize, known: &Clock) {
        if let Some(clock) = self.clocks.get_mut(block) {
            for (own, other) in clock.iter_mut().zip(known.iter()) {
                *own = (*own).max(*other);
            }
        }
    }

    fn before(&self, (block, time): Moment, now: usize) -> bool {
        self.clocks.get(now).and_then(|clock| clock.get(block as usize)).is_some_and(|known| *known >= time)
    }

    fn moment(&self, block: usize) -> Moment {
        let time = self.clocks.get(block).and_then(|clock| clock.get(block)).copied().unwrap_or(0);
        (block as u32, time)
    }

    /// Records that a block reads a slot. Returns the last write to the slot if this write is not ordered before the
    /// read.
    pub fn read(&mut self, block: usize, slot: usize) -> Option<Moment> {
        let now = self.moment(block);
        let clash = self.writes.get(slot).copied().flatten().filter(|write| !self.before(*write, block));
        if let Some(reads) = self.reads.get_mut(slot) {
            // Only the last read of each block matters.
            reads.retain(|read| read.0 != now.0);
            reads.push(now);
        }
        clash
    }

    /// Records that a block writes to a slot. Returns an earlier access to the slot that is not ordered before this
    /// write.
    pub fn write(&mut self, block: usize, slot: usize) -> Option<Moment> {
        let now = self.moment(block);
        let reads = self.reads.get_mut(slot).map(std::mem::take).unwrap_or_default();
        let write = self.writes.get_mut(slot).and_then(|write| write.replace(now));
        reads.into_iter().chain(write).find(|access| !self.before(*access, block))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_passed_on_is_known() {
        let mut order = Order::new(2, 1).unwrap();
        order.tick(0);
        assert_eq!(order.write(0, 0), None);
        let clock = order.clock(0);
        order.tick(1);
        assert_eq!(order.read(1, 0), Some((0, 1)));
        order.learn(1, &clock);
        assert_eq!(order.read(1, 0), None);
        // The first block does not know of the read.
        order.tick(0);
        assert_eq!(order.write(0, 0), Some((1, 1)));
        assert!(Order::new(MOST_BLOCKS + 1, 1).is_none());
    }
}
