//! Distance sums by bit-parallel wavefronts: bit s of the word of a chip says whether chip s of the source cube
//! has reached it (algorithm 5.1 for hops, 5.2 for integer lengths).
//!
//! Words are kept in rows, one row for each chip of a cube, one lane in it for each cube (and pod, if several pods
//! of a size are looked at together). Electrical links then join whole rows, which is vector work; only optical
//! links have to look lanes up.
#![allow(
    clippy::inline_always,
    reason = "vector instructions are only used in what is inlined into the dispatcher"
)]

use super::Lengths;
use crate::group::Group;
use crate::pod::{self, CHIPS, PORTS, SWITCHES};
use crate::topology::Topology;
use pulp::{Arch, Simd, WithSimd};

/// What the wavefronts of one pod found from the 64 chips of one cube.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// Sum of the distances from the 64 chips to all chips.
    pub sum: u64,
    /// Largest of them.
    pub longest: u32,
}

/// Room for the wavefronts of several pods of one size, wired independently.
#[derive(Clone, Debug)]
pub struct Wavefront {
    arch: Arch,
    cubes: usize,
    pods: usize,
    lanes: usize,
    /// `lane[(2 * switch + side) * lanes + at]`: lane whose word arrives at lane `at` by the plus (side 0) or
    /// minus (side 1) port.
    lane: Vec<u8>,
    /// Words of the past: `ring[(slot * 64 + chip) * lanes + lane]`, and some room so that a row can be read as
    /// a power of two.
    ring: Vec<u64>,
    found: Vec<Option<Found>>,
}

/// Row widths that the wavefront is compiled for.
const WIDTHS: [usize; 9] = [8, 16, 24, 32, 48, 64, 96, 128, 256];

impl Wavefront {
    /// Room for `pods` pods of `cubes` cubes each; the pods are not wired yet.
    ///
    /// # Panics
    /// If the cubes of all pods are more than 256.
    pub fn new(cubes: usize, pods: usize) -> Self {
        let wanted = cubes * pods;
        assert!(cubes > 0 && pods > 0 && wanted <= 256, "{pods} pods of {cubes} cubes are too many at once");
        let lanes = WIDTHS.into_iter().find(|&width| width >= wanted).unwrap_or(256);
        let lane = (0..2 * SWITCHES * lanes).map(|at| (at % lanes) as u8).collect();
        Self { arch: Arch::new(), cubes, pods, lanes, lane, ring: Vec::new(), found: vec![None; pods] }
    }

    /// How many pods of `cubes` cubes are best looked at together: as many as fill a vector.
    pub fn best_pods(cubes: usize) -> usize {
        match cubes {
            0 | 1 => 16,
            2..=16 => 16 / cubes,
            _ => 1,
        }
    }

    /// Pods looked at together.
    pub const fn pods(&self) -> usize {
        self.pods
    }

    /// Wires one pod as a topology says.
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

    /// Patches the plus port of a cube to the minus port of another.
    pub fn patch(&mut self, which: usize, switch: usize, cube: usize, far: usize) {
        let (cube, far) = (which * self.cubes + cube, which * self.cubes + far);
        self.lane[2 * switch * self.lanes + cube] = far as u8;
        self.lane[(2 * switch + 1) * self.lanes + far] = cube as u8;
    }

    /// Runs the wavefronts of all pods from the chips of the cube `source`; `None` for pods where some chip is
    /// never reached.
    pub fn run(&mut self, lengths: &Lengths, source: usize) -> &[Option<Found>] {
        let slots = usize::from(lengths.longest()) + 1;
        let needed = slots * CHIPS * self.lanes + 256;
        if self.ring.len() < needed {
            self.ring.resize(needed, 0);
        }
        let start = &mut self.ring[..CHIPS * self.lanes];
        start.fill(0);
        for chip in 0..CHIPS {
            let row = &mut start[chip * self.lanes..(chip + 1) * self.lanes];
            for which in 0..self.pods {
                row[which * self.cubes + source] = 1 << chip;
            }
            // Lanes of no cube count as reached.
            row[self.pods * self.cubes..].fill(u64::MAX);
        }
        let job = Job {
            lengths,
            cubes: self.cubes,
            slots,
            lane: &self.lane,
            ring: &mut self.ring,
            found: &mut self.found,
        };
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

/// What one run of the wavefronts works on.
struct Job<'a> {
    lengths: &'a Lengths,
    cubes: usize,
    slots: usize,
    lane: &'a [u8],
    ring: &'a mut [u64],
    found: &'a mut [Option<Found>],
}

/// A job with the lanes of a row, and the power of two at or above, known to the compiler.
struct Sized<'a, const LANES: usize, const POWER: usize>(Job<'a>);

/// A port of a chip as the wavefront sees it.
#[derive(Clone, Copy)]
struct Inlet {
    /// Chip at the other end.
    chip: u8,
    class: u8,
}

/// The links of a chip, electrical ones first.
#[derive(Clone, Copy)]
struct Inlets {
    electrical: [Inlet; PORTS],
    electrical_count: usize,
    optical: [Inlet; 3],
    /// Table of lanes of each optical port: `2 * switch + side`.
    table: [u8; 3],
    optical_count: usize,
}

const INLETS: [Inlets; CHIPS] = inlets();

const fn inlets() -> [Inlets; CHIPS] {
    const NONE: Inlet = Inlet { chip: 0, class: 0 };
    const EMPTY: Inlets = Inlets {
        electrical: [NONE; PORTS],
        electrical_count: 0,
        optical: [NONE; 3],
        table: [0; 3],
        optical_count: 0,
    };
    let mut all = [EMPTY; CHIPS];
    let mut chip = 0;
    while chip < CHIPS {
        let mut port = 0;
        while port < PORTS as u8 {
            let at = &mut all[chip];
            let class = pod::LINK_OF_ARC[pod::arc_class(chip as u8, port)];
            if let Some(near) = pod::electrical(chip as u8, port) {
                at.electrical[at.electrical_count] = Inlet { chip: near, class };
                at.electrical_count += 1;
            } else if let Some(switch) = pod::switch(chip as u8, port) {
                let plus = pod::is_plus(port);
                at.optical[at.optical_count] = Inlet { chip: pod::face_chip(switch, !plus), class };
                at.table[at.optical_count] = 2 * switch as u8 + !plus as u8;
                at.optical_count += 1;
            }
            port += 1;
        }
        chip += 1;
    }
    all
}

impl<const LANES: usize, const POWER: usize> WithSimd for Sized<'_, LANES, POWER> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        let Job { lengths, cubes, slots, lane, ring, found } = self.0;
        let lengths_of = lengths.classes();
        let mut missing = [0u64; LANES];
        let mut sums = [0u64; LANES];
        let mut ticks = [0u64; LANES];
        let mut now = 0usize;
        let mut left = u64::MAX;
        let mut since_change = 0;
        let mut tick = 0usize;
        loop {
            count_missing::<LANES>(&ring[now * CHIPS * LANES..(now + 1) * CHIPS * LANES], &mut missing);
            let mut total = 0;
            for at in 0..LANES {
                total += missing[at];
                sums[at] += missing[at];
                ticks[at] += u64::from(missing[at] != 0);
            }
            since_change = if total == left { since_change + 1 } else { 0 };
            left = total;
            // Nothing moved for as long as the longest link takes: nothing ever will.
            if total == 0 || since_change >= slots {
                break;
            }
            let before = now;
            now = if now + 1 == slots { 0 } else { now + 1 };
            tick += 1;
            let slot_of = |class: u8| {
                let length = usize::from(lengths_of[usize::from(class)]);
                let slot = if now >= length { now - length } else { now + slots - length };
                (length <= tick).then_some(slot)
            };
            for (chip, inlets) in INLETS.iter().enumerate() {
                let mut word: [u64; LANES] = *row::<LANES>(ring, before, chip);
                for inlet in &inlets.electrical[..inlets.electrical_count] {
                    if let Some(slot) = slot_of(inlet.class) {
                        let other = row::<LANES>(ring, slot, usize::from(inlet.chip));
                        for at in 0..LANES {
                            word[at] |= other[at];
                        }
                    }
                }
                for (inlet, &table) in inlets.optical[..inlets.optical_count].iter().zip(&inlets.table) {
                    if let Some(slot) = slot_of(inlet.class) {
                        let other = wide_row::<LANES, POWER>(ring, slot, usize::from(inlet.chip));
                        let from = usize::from(table) * LANES;
                        let lane: &[u8; LANES] = chunk(&lane[from..from + LANES]);
                        for at in 0..LANES {
                            word[at] |= other[usize::from(lane[at]) & (POWER - 1)];
                        }
                    }
                }
                let at = (now * CHIPS + chip) * LANES;
                ring[at..at + LANES].copy_from_slice(&word);
            }
        }
        for (which, found) in found.iter_mut().enumerate() {
            let lanes = which * cubes..(which + 1) * cubes;
            *found = (missing[lanes.clone()].iter().all(|&missing| missing == 0)).then(|| Found {
                sum: sums[lanes.clone()].iter().sum(),
                longest: ticks[lanes].iter().max().copied().unwrap_or(0) as u32,
            });
        }
    }
}

const EMPTY_ROW: [u64; 256] = [0; 256];

#[inline(always)]
fn chunk<T, const N: usize>(slice: &[T]) -> &[T; N] {
    match slice.first_chunk::<N>() {
        Some(chunk) => chunk,
        None => unreachable!("slices are cut to their length"),
    }
}

#[inline(always)]
fn row<const LANES: usize>(ring: &[u64], slot: usize, chip: usize) -> &[u64; LANES] {
    let at = (slot * CHIPS + chip) * LANES;
    ring[at..].first_chunk::<LANES>().unwrap_or_else(|| chunk(&EMPTY_ROW))
}

#[inline(always)]
fn wide_row<const LANES: usize, const POWER: usize>(ring: &[u64], slot: usize, chip: usize) -> &[u64; POWER] {
    let at = (slot * CHIPS + chip) * LANES;
    ring[at..].first_chunk::<POWER>().unwrap_or_else(|| chunk(&EMPTY_ROW))
}

/// Counts the missing bits of 64 rows by lane. Carry-save adders take eight rows to one word of eights, so that
/// one word in six has its bits counted.
#[inline(always)]
fn count_missing<const LANES: usize>(rows: &[u64], missing: &mut [u64; LANES]) {
    const GROUP: usize = 8;
    for from in (0..LANES).step_by(GROUP) {
        let read = |chip: usize| {
            let at = chip * LANES + from;
            let words: &[u64; GROUP] = chunk(&rows[at..at + GROUP]);
            let mut not = [0; GROUP];
            for lane in 0..GROUP {
                not[lane] = !words[lane];
            }
            not
        };
        let (mut ones, mut twos, mut fours) = ([0u64; GROUP], [0u64; GROUP], [0u64; GROUP]);
        let mut counted = [0u64; GROUP];
        for chip in (0..CHIPS).step_by(8) {
            let two_a = add(&mut ones, read(chip), read(chip + 1));
            let two_b = add(&mut ones, read(chip + 2), read(chip + 3));
            let four_a = add(&mut twos, two_a, two_b);
            let two_a = add(&mut ones, read(chip + 4), read(chip + 5));
            let two_b = add(&mut ones, read(chip + 6), read(chip + 7));
            let four_b = add(&mut twos, two_a, two_b);
            let eight = add(&mut fours, four_a, four_b);
            for lane in 0..GROUP {
                counted[lane] += 8 * u64::from(eight[lane].count_ones());
            }
        }
        for lane in 0..GROUP {
            missing[from + lane] = counted[lane]
                + u64::from(ones[lane].count_ones())
                + 2 * u64::from(twos[lane].count_ones())
                + 4 * u64::from(fours[lane].count_ones());
        }
    }
}

/// Full adders on vectors of bits: keeps the sum, returns the carry.
#[inline(always)]
fn add<const N: usize>(sum: &mut [u64; N], a: [u64; N], b: [u64; N]) -> [u64; N] {
    let mut carry = [0; N];
    for lane in 0..N {
        let half = sum[lane] ^ a[lane];
        carry[lane] = (sum[lane] & a[lane]) | (half & b[lane]);
        sum[lane] = half ^ b[lane];
    }
    carry
}

#[cfg(test)]
mod tests;
