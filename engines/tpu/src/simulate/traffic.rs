//! Random packets of a constant offered rate to uniformly random targets.

use lightbay_core::random::{Stream, Streams};
use rand::Rng;

/// Source of random packets; equal seed, stream and order of calls give equal packets.
#[derive(Debug)]
pub(super) struct Packets {
    random: Stream,
    /// Packets per node and cycle: the integer part, and the probability of one additional packet, in units of 2⁻³².
    whole: u32,
    chance: u64,
}

impl Packets {
    /// Packets of `flits` flits at `rate` flits per cycle and node.
    pub(super) fn new(rate: f64, flits: u32, seed: u64, stream: u64) -> Self {
        let per_cycle = (rate / f64::from(flits)).clamp(0.0, 1e6);
        Self {
            random: Streams::new(seed).stream(stream),
            whole: per_cycle as u32,
            chance: (per_cycle.fract() * 4_294_967_296.0) as u64,
        }
    }

    /// Returns `true` if no packet will be generated.
    pub(super) const fn is_silent(&self) -> bool {
        self.whole == 0 && self.chance == 0
    }

    /// Returns the number of packets of a node in a cycle, and the draw for the target of the first of them.
    #[inline]
    pub(super) fn of_node(&mut self) -> (u32, u64) {
        let draw = self.random.next_u64();
        (self.whole + u32::from((draw & 0xffff_ffff) < self.chance), draw)
    }

    /// Returns the draw for the target of a further packet.
    #[inline]
    pub(super) fn again(&mut self) -> u64 {
        self.random.next_u64()
    }

    /// Stops generating packets, so that the network drains.
    #[cfg(test)]
    pub(super) const fn stop(&mut self) {
        self.whole = 0;
        self.chance = 0;
    }
}

/// Returns the target of a draw: one of `others` nodes other than `local`, with equal probability.
#[inline]
pub(super) fn target(draw: u64, others: u64, local: usize) -> usize {
    let pick = (((draw >> 32) * others) >> 32) as usize;
    pick + usize::from(pick >= local)
}
