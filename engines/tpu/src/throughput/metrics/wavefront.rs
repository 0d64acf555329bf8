//! Distance sums by bit-parallel wavefronts: bit s of the word of a chip is set once the wave from chip s of the source
//! cube has reached the chip (docs/methods/tpu.md, section 3).
//!
//! Words are stored in rows: one row for each chip of a cube, with one lane for each cube (and pod, if several pods of
//! a size are measured together). Electrical links join whole rows, which are vector operations; only optical links
//! need look-ups of lanes.
#![allow(
    clippy::inline_always,
    reason = "vector instructions are used only in functions that are inlined into the dispatcher"
)]

use super::Lengths;
use crate::model::group::Group;
use crate::model::pod::{self, CHIPS, LINK_CLASSES, PORTS, SWITCHES};
use crate::model::topology::Topology;
use pulp::{Arch, Simd, WithSimd};

/// Sum and maximum of the distances from the 64 chips of one cube, computed by the wavefronts of one pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WavefrontSums {
    /// Sum of the distances from the 64 chips to all chips.
    pub sum: u64,
    /// Largest distance from the 64 chips to any chip.
    pub longest: u32,
}

/// Buffers for the wavefronts of several pods of one size, wired independently.
#[derive(Clone, Debug)]
pub struct Wavefront {
    arch: Arch,
    cubes: usize,
    pods: usize,
    lanes: usize,
    /// `lane[(2 * switch + side) * lanes + at]`: lane whose word arrives at lane `at` over the plus (side 0) or minus
    /// (side 1) port.
    lane: Vec<u8>,
    /// Words of earlier ticks by slot: `ring[slot][chip * lanes + lane]`, with padding so that a row can be read with a
    /// power of two as width. One slot after the used slots stays zero; it represents the time before the start.
    ring: Vec<Vec<u64>>,
    found: Vec<Option<WavefrontSums>>,
}

/// Number of padding words after the last row of a slot.
const ROOM: usize = 256;

/// Row widths for which the wavefront is compiled.
const WIDTHS: [usize; 9] = [8, 16, 24, 32, 48, 64, 96, 128, 256];

impl Wavefront {
    /// Allocates buffers for `pods` pods of `cubes` cubes each; the pods are not wired yet.
    ///
    /// # Panics
    /// If the cubes of all pods are more than 256.
    pub fn new(cubes: usize, pods: usize) -> Self {
        let wanted = cubes * pods;
        assert!(cubes > 0 && pods > 0 && wanted <= 256, "{pods} pods of {cubes} cubes are too many at once");
        // The smallest compiled width that holds all lanes.
        let lanes = WIDTHS.into_iter().find(|&width| width >= wanted).unwrap_or(256);
        let lane = (0..2 * SWITCHES * lanes).map(|at| (at % lanes) as u8).collect();
        Self { arch: Arch::new(), cubes, pods, lanes, lane, ring: Vec::new(), found: vec![None; pods] }
    }

    /// Returns the best number of pods of `cubes` cubes to measure together: as many as fit into a vector, at least
    /// one.
    pub fn best_pods(cubes: usize) -> usize {
        match cubes {
            0 | 1 => 16,
            // Up to 16 cubes, several pods fit into a vector of 16 lanes.
            2..=16 => 16 / cubes,
            _ => 1,
        }
    }

    /// Number of pods measured together.
    pub const fn pods(&self) -> usize {
        self.pods
    }

    /// Wires one pod according to a topology.
    pub fn wire(&mut self, which: usize, topology: &Topology) {
        for switch in 0..SWITCHES {
            for cube in 0..self.cubes {
                self.patch(which, switch, cube, topology.to(switch, cube));
            }
        }
    }

    /// Sets one switch of one pod to a group element.
    pub fn set(&mut self, which: usize, switch: usize, group: &Group, voltage: usize) {
        for cube in 0..self.cubes {
            self.patch(which, switch, cube, group.times(cube, voltage));
        }
    }

    /// Joins the plus port of a cube to the minus port of another.
    pub fn patch(&mut self, which: usize, switch: usize, cube: usize, far: usize) {
        let (cube, far) = (which * self.cubes + cube, which * self.cubes + far);
        self.lane[2 * switch * self.lanes + cube] = far as u8;
        self.lane[(2 * switch + 1) * self.lanes + far] = cube as u8;
    }

    /// Runs the wavefronts of all pods from the chips of the cube `source`; `None` for pods where some chip is
    /// never reached.
    pub fn run(&mut self, lengths: &Lengths, source: usize) -> &[Option<WavefrontSums>] {
        // One slot for each tick of the longest link, and the current one.
        let slots = usize::from(lengths.longest()) + 1;
        let size = CHIPS * self.lanes + ROOM;
        while self.ring.len() <= slots {
            self.ring.push(vec![0; size]);
        }
        self.ring[slots].fill(0);
        let start = &mut self.ring[0];
        start.fill(0);
        for chip in 0..CHIPS {
            let row = &mut start[chip * self.lanes..(chip + 1) * self.lanes];
            for which in 0..self.pods {
                row[which * self.cubes + source] = 1 << chip;
            }
            // Lanes without a cube count as reached, so that they do not count as missing.
            row[self.pods * self.cubes..].fill(u64::MAX);
        }
        let job = WavefrontSweep {
            lengths,
            cubes: self.cubes,
            slots,
            lane: &self.lane,
            ring: &mut self.ring,
            found: &mut self.found,
        };
        // Widths are constants, so that inner loops have no remainder.
        match self.lanes {
            8 => self.arch.dispatch(Sized::<8, 8>(job)),
            16 => self.arch.dispatch(Sized::<16, 16>(job)),
            24 => self.arch.dispatch(Sized::<24, 32>(job)),
            32 => self.arch.dispatch(Sized::<32, 32>(job)),
            48 => self.arch.dispatch(Sized::<48, 64>(job)),
            64 => self.arch.dispatch(Sized::<64, 64>(job)),
            96 => self.arch.dispatch(Sized::<96, 128>(job)),
            128 => self.arch.dispatch(Sized::<128, 128>(job)),
            _ => self.arch.dispatch(Sized::<256, 256>(job)),
        }
        &self.found
    }
}

/// State of one run of the wavefronts.
struct WavefrontSweep<'a> {
    lengths: &'a Lengths,
    cubes: usize,
    slots: usize,
    lane: &'a [u8],
    ring: &'a mut [Vec<u64>],
    found: &'a mut [Option<WavefrontSums>],
}

/// Dispatches the computation with the number of lanes of a row, and the next power of two, as compile-time constants.
struct Sized<'a, const LANES: usize, const POWER: usize>(WavefrontSweep<'a>);

/// A port of a chip, for the wavefront.
#[derive(Clone, Copy)]
pub(super) struct Inlet {
    /// Chip at the other end.
    pub(super) chip: u8,
    /// Class of the link.
    pub(super) class: u8,
}

/// The links of a chip; the first electrical link fills the places of missing electrical links.
#[derive(Clone, Copy)]
pub(super) struct Inlets {
    /// The electrical links, padded with copies of the first link.
    pub(super) electrical: [Inlet; PORTS],
    /// The optical links.
    pub(super) optical: [Inlet; 3],
    /// Table of lanes of each optical port: `2 * switch + side`.
    pub(super) table: [u8; 3],
    /// Number of optical links.
    pub(super) optical_count: usize,
}

/// The links of the chips of a cube.
pub(super) const INLETS: [Inlets; CHIPS] = inlets();

const fn inlets() -> [Inlets; CHIPS] {
    const NONE: Inlet = Inlet { chip: 0, class: 0 };
    const EMPTY: Inlets =
        Inlets { electrical: [NONE; PORTS], optical: [NONE; 3], table: [0; 3], optical_count: 0 };
    let mut all = [EMPTY; CHIPS];
    let mut chip = 0;
    while chip < CHIPS {
        let (mut port, mut electrical) = (0, 0);
        while port < PORTS as u8 {
            let at = &mut all[chip];
            let class = pod::LINK_OF_ARC[pod::arc_class(chip as u8, port)];
            if let Some(near) = pod::electrical(chip as u8, port) {
                at.electrical[electrical] = Inlet { chip: near, class };
                electrical += 1;
            } else if let Some(switch) = pod::switch(chip as u8, port) {
                let plus = pod::is_plus(port);
                at.optical[at.optical_count] = Inlet { chip: pod::face_chip(switch, !plus), class };
                at.table[at.optical_count] = 2 * switch as u8 + !plus as u8;
                at.optical_count += 1;
            }
            port += 1;
        }
        let at = &mut all[chip];
        let mut rest = electrical;
        while rest < PORTS {
            at.electrical[rest] = at.electrical[0];
            rest += 1;
        }
        chip += 1;
    }
    all
}

impl<const LANES: usize, const POWER: usize> WithSimd for Sized<'_, LANES, POWER> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let vectors = LANES / S::U64_LANES;
        let WavefrontSweep { lengths, cubes, slots, lane, ring, found } = self.0;
        let mut missing = [0u64; LANES];
        let mut sums = [0u64; LANES];
        let mut ticks = [0u64; LANES];
        let mut now = 0usize;
        let mut left = u64::MAX;
        let mut since_change = 0;
        let mut tick = 0usize;
        let mut slot_of = [0u8; LINK_CLASSES];
        loop {
            // The sum over ticks of missing bits is the sum of distances (each chip is missing once per tick before it
            // is reached).
            count_missing(simd, S::as_simd_u64s(&ring[now]).0, vectors, &mut missing);
            let mut total = 0;
            for at in 0..LANES {
                total += missing[at];
                sums[at] += missing[at];
                ticks[at] += u64::from(missing[at] != 0);
            }
            since_change = if total == left { since_change + 1 } else { 0 };
            left = total;
            // No bit changed for the duration of the longest link, so no bit will change later.
            if total == 0 || since_change >= slots {
                break;
            }
            let before = now;
            now = if now + 1 == slots { 0 } else { now + 1 };
            tick += 1;
            // A link of length l reads the row of l ticks ago; before the start, it reads the row of zeros.
            for (slot, &length) in slot_of.iter_mut().zip(lengths.classes()) {
                let length = usize::from(length);
                let past = if now >= length { now - length } else { now + slots - length };
                *slot = if length <= tick { past } else { slots } as u8;
            }
            let mut current = std::mem::take(&mut ring[now]);
            for (chip, inlets) in INLETS.iter().enumerate() {
                let slot = |inlet: Inlet| &ring[usize::from(slot_of[usize::from(inlet.class)])];
                let read_from = |which: usize| {
                    let inlet = inlets.electrical[which];
                    (S::as_simd_u64s(slot(inlet)).0, usize::from(inlet.chip) * vectors)
                };
                let (a, b, c) = (read_from(0), read_from(1), read_from(2));
                let (d, e, f) = (read_from(3), read_from(4), read_from(5));
                let (old, _) = S::as_simd_u64s(&ring[before]);
                let (now, _) = S::as_mut_simd_u64s(&mut current);
                // Electrical links: whole rows, at most six; missing links repeat the first one.
                for at in 0..vectors {
                    let one =
                        simd.or_u64s(old[chip * vectors + at], simd.or_u64s(a.0[a.1 + at], b.0[b.1 + at]));
                    let two = simd.or_u64s(c.0[c.1 + at], d.0[d.1 + at]);
                    let three = simd.or_u64s(e.0[e.1 + at], f.0[f.1 + at]);
                    now[chip * vectors + at] = simd.or_u64s(one, simd.or_u64s(two, three));
                }
                // Words are updated one by one in place, because reading a vector directly after its words were written
                // would stall.
                let row: &mut [u64; LANES] = chunk_mut(&mut current[chip * LANES..]);
                for (&inlet, &table) in inlets.optical[..inlets.optical_count].iter().zip(&inlets.table) {
                    let other: &[u64; POWER] = chunk(&slot(inlet)[usize::from(inlet.chip) * LANES..]);
                    let lane: &[u8; LANES] = chunk(&lane[usize::from(table) * LANES..]);
                    for at in 0..LANES {
                        row[at] |= other[usize::from(lane[at]) & (POWER - 1)];
                    }
                }
            }
            ring[now] = current;
        }
        for (which, found) in found.iter_mut().enumerate() {
            let lanes = which * cubes..(which + 1) * cubes;
            *found = (missing[lanes.clone()].iter().all(|&missing| missing == 0)).then(|| WavefrontSums {
                sum: sums[lanes.clone()].iter().sum(),
                longest: ticks[lanes].iter().max().copied().unwrap_or(0) as u32,
            });
        }
    }
}

/// Returns the first `N` elements of a slice as an array; the caller ensures that the slice has at least `N` elements.
#[inline(always)]
fn chunk<T, const N: usize>(slice: &[T]) -> &[T; N] {
    match slice.first_chunk::<N>() {
        Some(chunk) => chunk,
        None => unreachable!("the padding after the last row keeps slices long enough"),
    }
}

#[inline(always)]
fn chunk_mut<T, const N: usize>(slice: &mut [T]) -> &mut [T; N] {
    match slice.first_chunk_mut::<N>() {
        Some(chunk) => chunk,
        None => unreachable!("the padding after the last row keeps slices long enough"),
    }
}

/// Counts the missing bits of 64 rows by lane. Carry-save adders reduce eight rows to one vector of weight 8, so that
/// the bits of fewer words are counted.
#[inline(always)]
fn count_missing<S: Simd, const LANES: usize>(
    simd: S,
    rows: &[S::u64s],
    vectors: usize,
    missing: &mut [u64; LANES],
) {
    let none = simd.splat_u64s(0);
    for at in 0..vectors {
        let read = |chip: usize| simd.not_u64s(rows[chip * vectors + at]);
        // Full adder on vectors of bits: stores the sum, returns the carry.
        let add = |sum: &mut S::u64s, a: S::u64s, b: S::u64s| {
            let half = simd.xor_u64s(*sum, a);
            let carry = simd.or_u64s(simd.and_u64s(*sum, a), simd.and_u64s(half, b));
            *sum = simd.xor_u64s(half, b);
            carry
        };
        let (mut ones, mut twos, mut fours) = (none, none, none);
        let from = at * S::U64_LANES;
        let counts = &mut missing[from..from + S::U64_LANES];
        counts.fill(0);
        let mut count = |vector: S::u64s, weight: u64| {
            let words: &[u64] = pulp::bytemuck::cast_slice(std::slice::from_ref(&vector));
            for (count, word) in counts.iter_mut().zip(words) {
                *count += weight * u64::from(word.count_ones());
            }
        };
        // Carry-save adders: eight rows give one vector of weight 8.
        for chip in (0..CHIPS).step_by(8) {
            let two_a = add(&mut ones, read(chip), read(chip + 1));
            let two_b = add(&mut ones, read(chip + 2), read(chip + 3));
            let four_a = add(&mut twos, two_a, two_b);
            let two_a = add(&mut ones, read(chip + 4), read(chip + 5));
            let two_b = add(&mut ones, read(chip + 6), read(chip + 7));
            let four_b = add(&mut twos, two_a, two_b);
            count(add(&mut fours, four_a, four_b), 8);
        }
        count(ones, 1);
        count(twos, 2);
        count(fours, 4);
    }
}

#[cfg(test)]
mod tests;
