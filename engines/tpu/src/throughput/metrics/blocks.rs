//! Distance sums of symmetric pods, two pods at once: wavefronts as in [`super::wavefront`], for groups whose order is
//! a multiple of 8.
//!
//! Such a group has a subgroup H of 8 elements. If cubes are numbered by the cosets H·c, the cubes of a coset fill half
//! a vector of 16 words, and a circuit joins whole cosets: (H·c)·g is the coset of c·g, with its elements permuted by
//! an element of H. So an optical link costs one of 64 shuffles instead of a look-up for every cube. Chips that a
//! symmetry of the design maps to each other have the same distances, so one chip represents all of them as a source.
//! If at most 32 sources remain, one pass computes all distances.
#![allow(
    clippy::inline_always,
    reason = "vector instructions are used only in functions that are inlined into the dispatcher"
)]

mod unit;

use super::Lengths;
use super::wavefront::INLETS;
use crate::model::group::Group;
use crate::model::pod::{CHIPS, LINK_CLASSES, SWITCHES};
use pulp::{Arch, Simd, WithSimd};
#[cfg(target_arch = "x86_64")]
use unit::wide::Wide;
use unit::{Plain, Row, Unit};

/// Number of elements of the subgroup, and of cubes of a block.
const BLOCK: usize = 8;
/// Number of pods in a vector.
pub const PODS: usize = 2;
/// Number of words of a row: 8 words (a block) for each of the pods.
const WORDS: usize = BLOCK * PODS;
/// Number of sources of one pass.
const SOURCES: usize = 32;

/// For each pod, the block from which words arrive over a circuit, and the permutation of the 8 words of this block.
#[derive(Clone, Copy, Debug, Default)]
struct Link {
    from: [u16; PODS],
    turn: [u8; PODS],
}

/// Source chips of one pass, with their multiplicities.
#[derive(Clone, Debug)]
struct Pass {
    chips: Vec<u8>,
    /// For each number of chips that a source can represent (its weight): a mask of the sources with this weight, and
    /// the weight.
    weights: Vec<(u64, u64)>,
}

/// The cubes of a group by cosets of a subgroup of 8 elements.
#[derive(Clone, Debug)]
struct Cosets {
    /// `moves[element * blocks + block]`: the block to which right multiplication by the element maps a block, and the
    /// number of the subgroup element that permutes the cubes of the block.
    moves: Vec<(u16, u8)>,
    /// The shuffles of the words of a row: one shuffle for each pair (subgroup element of the first pod, subgroup
    /// element of the second pod).
    turns: Vec<Row>,
}

/// Buffers for the wavefronts of two symmetric pods of one group.
#[derive(Clone, Debug)]
pub struct Blocks {
    arch: Arch,
    /// Number of blocks of a row: one for every 8 cubes.
    width: usize,
    pods: usize,
    cosets: Cosets,
    passes: Vec<Pass>,
    /// `links[(2 * switch + side) * blocks + block]`: the block, and the permutation of its words, from which words
    /// arrive at the plus (side 0) or minus (side 1) port.
    links: Vec<Link>,
    /// Rows of earlier ticks by slot: `ring[slot][chip * blocks + block]`. One slot after the used slots stays zero; it
    /// represents the time before the start.
    ring: Vec<Vec<Row>>,
}

impl Blocks {
    /// Allocates buffers for one or two pods of a group; `sources` are representative chips of a cube, with the number
    /// of chips that each represents. `None` if the group has no subgroup of 8 elements.
    pub fn new(group: &Group, pods: usize, sources: &[(u8, u8)]) -> Option<Self> {
        // Right multiplication moves whole cosets, so links are stored per block.
        let cosets = Cosets::new(group)?;
        let blocks = group.order() / BLOCK;
        let passes = sources.chunks(SOURCES).map(Pass::new).collect();
        let mut all = Self {
            arch: Arch::new(),
            width: blocks,
            pods: pods.clamp(1, PODS),
            cosets,
            passes,
            links: vec![Link::default(); 2 * SWITCHES * blocks],
            ring: Vec::new(),
        };
        for pod in 0..PODS {
            for switch in 0..SWITCHES {
                all.set(pod, switch, group, 0);
            }
        }
        Some(all)
    }

    /// Sets one switch of one pod to an element of the group.
    pub fn set(&mut self, pod: usize, switch: usize, group: &Group, voltage: usize) {
        // The minus port of a switch uses the inverse.
        for (side, element) in [voltage, group.inverse(voltage)].into_iter().enumerate() {
            let moves = &self.cosets.moves[element * self.width..][..self.width];
            let links = &mut self.links[(2 * switch + side) * self.width..][..self.width];
            for (link, &(from, turn)) in links.iter_mut().zip(moves) {
                (link.from[pod], link.turn[pod]) = (from, turn);
            }
        }
    }

    /// Sum of the distances from the 64 chips of a cube to all chips, for each pod; `None` if some chip is never
    /// reached.
    pub fn run(&mut self, lengths: &Lengths) -> [Option<u64>; PODS] {
        self.run_on(lengths, self.arch)
    }

    fn run_on(&mut self, lengths: &Lengths, arch: Arch) -> [Option<u64>; PODS] {
        // A ring of earlier rows: one for each tick of the longest link, and a row of zeros for the time before the
        // start.
        let slots = usize::from(lengths.longest()) + 1;
        while self.ring.len() <= slots {
            self.ring.push(vec![Row::NONE; CHIPS * self.width]);
        }
        let mut sums = [Some(0u64); PODS];
        // More than 32 orbits of chips need a second pass.
        for pass in &self.passes {
            self.ring[slots].fill(Row::NONE);
            let start = &mut self.ring[0];
            // If the second pod is missing, all its chips count as reached.
            let idle: [u32; WORDS] =
                std::array::from_fn(|at| if at < BLOCK * self.pods { 0 } else { u32::MAX });
            start.fill(Row::new(idle));
            for (bit, &chip) in pass.chips.iter().enumerate() {
                for pod in 0..self.pods {
                    let row = &mut start[usize::from(chip) * self.width];
                    let mut words = row.words();
                    words[pod * BLOCK] |= 1 << bit;
                    *row = Row::new(words);
                }
            }
            let job = BlockSweep {
                lengths,
                blocks: self.width,
                slots,
                links: &self.links,
                turns: &self.cosets.turns,
                weights: &pass.weights,
                ring: &mut self.ring,
            };
            // The widest vectors that the machine supports.
            let found = match arch {
                #[cfg(target_arch = "x86_64")]
                Arch::V4(simd) => Simd::vectorize(simd, On { unit: Wide(simd), job }),
                arch => arch.dispatch(On { unit: Plain, job }),
            };
            for (sum, found) in sums.iter_mut().zip(found) {
                *sum = sum.zip(found).map(|(sum, found)| sum + found);
            }
        }
        sums
    }
}

impl Pass {
    fn new(sources: &[(u8, u8)]) -> Self {
        let mut weights: Vec<(u64, u64)> = Vec::new();
        // Bits of equal weight are counted together.
        for (bit, &(_, weight)) in sources.iter().enumerate() {
            // A source has the same bit in both halves of a 64-bit word.
            let bits = 1 << bit | 1 << (bit + SOURCES);
            match weights.iter_mut().find(|(_, of)| *of == u64::from(weight)) {
                Some((mask, _)) => *mask |= bits,
                None => weights.push((bits, u64::from(weight))),
            }
        }
        Self { chips: sources.iter().map(|&(chip, _)| chip).collect(), weights }
    }
}

impl Cosets {
    fn new(group: &Group) -> Option<Self> {
        let inner = subgroup(group)?;
        let (order, blocks) = (group.order(), group.order() / BLOCK);
        // `place[element]`: block and number in it.
        let mut place = vec![None; order];
        let mut block = 0;
        let mut firsts = Vec::with_capacity(blocks);
        // Right cosets H c: greedy over the elements.
        for first in 0..order {
            if place[first].is_none() {
                for (number, &element) in inner.iter().enumerate() {
                    place[group.times(element, first)] = Some((block, number));
                }
                firsts.push(first);
                block += 1;
            }
        }
        let mut moves = Vec::with_capacity(order * blocks);
        for element in 0..order {
            for &first in &firsts {
                let (to, number) = place[group.times(first, element)]?;
                moves.push((to as u16, number as u8));
            }
        }
        let number_of = |element: usize| inner.iter().position(|&inside| inside == element);
        let mut turns = Vec::with_capacity(BLOCK * BLOCK);
        // All pairs of elements for the two pods: 64 shuffle patterns.
        for pair in 0..BLOCK * BLOCK {
            let by = [inner[pair % BLOCK], inner[pair / BLOCK]];
            let mut row = [0; WORDS];
            for (at, word) in row.iter_mut().enumerate() {
                let (pod, number) = (at / BLOCK, at % BLOCK);
                // Words of the second pod come from the second operand, which the shuffle numbers from 16.
                *word = (number_of(group.times(inner[number], by[pod]))? + pod * (WORDS + BLOCK)) as u32;
            }
            turns.push(Row::new(row));
        }
        Some(Self { moves, turns })
    }
}

/// A subgroup of 8 elements, the identity first; there is one if 8 divides the order (Sylow).
fn subgroup(group: &Group) -> Option<Vec<usize>> {
    let mut inside = vec![0];
    while inside.len() < BLOCK {
        // Searches for an element outside the subgroup that normalises the subgroup and whose square lies inside: a
        // subgroup of order 2^k can be extended by such an element (Sylow).
        let fits = |x: usize| {
            !inside.contains(&x)
                && inside.contains(&group.times(x, x))
                && inside.iter().all(|&e| inside.contains(&group.times(group.times(x, e), group.inverse(x))))
        };
        let x = (0..group.order()).find(|&x| fits(x))?;
        let coset: Vec<usize> = inside.iter().map(|&e| group.times(e, x)).collect();
        inside.extend(coset);
    }
    Some(inside)
}

/// State of one run of the wavefronts.
struct BlockSweep<'a> {
    lengths: &'a Lengths,
    blocks: usize,
    slots: usize,
    links: &'a [Link],
    turns: &'a [Row],
    weights: &'a [(u64, u64)],
    ring: &'a mut [Vec<Row>],
}

/// Dispatches the computation to the supported vector instructions.
struct On<'a, U> {
    unit: U,
    job: BlockSweep<'a>,
}

impl<U: Unit> WithSimd for On<'_, U> {
    type Output = [Option<u64>; PODS];

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Self::Output {
        let Self { unit, job } = self;
        let mut sums = [0; PODS];
        let mut left = [u64::MAX; PODS];
        let (mut now, mut tick, mut since_change) = (0usize, 0usize, 0);
        let mut slot_of = [0u8; LINK_CLASSES];
        loop {
            // Missing bits before this tick: their sum over all ticks is the sum of distances.
            let missing = missing(unit, &job.ring[now], job.weights);
            for pod in 0..PODS {
                sums[pod] += missing[pod];
            }
            since_change = if missing == left { since_change + 1 } else { 0 };
            left = missing;
            // No bit changed for the duration of the longest link, so no bit will change later.
            if missing == [0; PODS] || since_change >= job.slots {
                break;
            }
            let before = now;
            now = if now + 1 == job.slots { 0 } else { now + 1 };
            tick += 1;
            // Slot of the ring from which each class reads at this tick.
            for (slot, &length) in slot_of.iter_mut().zip(job.lengths.classes()) {
                let length = usize::from(length);
                let past = if now >= length { now - length } else { now + job.slots - length };
                *slot = if length <= tick { past } else { job.slots } as u8;
            }
            let mut current = std::mem::take(&mut job.ring[now]);
            for chip in 0..CHIPS {
                let to = &mut current[chip * job.blocks..][..job.blocks];
                // The number of optical links is a constant of each branch, so inner loops unroll.
                match INLETS[chip].optical_count {
                    0 => join::<U, 6, 0>(unit, &job, &slot_of, before, chip, to),
                    1 => join::<U, 5, 1>(unit, &job, &slot_of, before, chip, to),
                    2 => join::<U, 4, 2>(unit, &job, &slot_of, before, chip, to),
                    _ => join::<U, 3, 3>(unit, &job, &slot_of, before, chip, to),
                }
            }
            job.ring[now] = current;
        }
        std::array::from_fn(|pod| (left[pod] == 0).then_some(sums[pod]))
    }
}

/// Computes the words of one chip in all cubes: its words of the previous tick, combined with the words that arrive
/// over electrical and optical links.
#[inline(always)]
fn join<U: Unit, const ELECTRICAL: usize, const OPTICAL: usize>(
    unit: U,
    job: &BlockSweep<'_>,
    slot_of: &[u8; LINK_CLASSES],
    before: usize,
    chip: usize,
    to: &mut [Row],
) {
    let blocks = to.len();
    let inlets = &INLETS[chip];
    let rows = |slot: usize, chip: usize| &job.ring[slot][chip * blocks..][..blocks];
    let near: [&[Row]; ELECTRICAL] = std::array::from_fn(|at| {
        let inlet = inlets.electrical[at];
        rows(usize::from(slot_of[usize::from(inlet.class)]), usize::from(inlet.chip))
    });
    let far: [(&[Row], &[Link]); OPTICAL] = std::array::from_fn(|at| {
        let inlet = inlets.optical[at];
        let words = rows(usize::from(slot_of[usize::from(inlet.class)]), usize::from(inlet.chip));
        (words, &job.links[usize::from(inlets.table[at]) * blocks..][..blocks])
    });
    let old = rows(before, chip);
    for (block, to) in to.iter_mut().enumerate() {
        let mut words = old[block];
        for near in &near {
            words = unit.or(words, near[block]);
        }
        for (from, links) in &far {
            // An optical word: the block of the far cube with permuted elements.
            let Link { from: [a, b], turn } = links[block];
            let turn = job.turns[usize::from(turn[0]) | usize::from(turn[1]) << 3];
            words = unit.or(words, unit.shuffle(from[usize::from(a)], from[usize::from(b)], turn));
        }
        *to = words;
    }
}

/// Counts the missing bits of all rows, by weight. Carry-save adders reduce 16 rows to one vector of weight 16.
#[inline(always)]
fn missing<U: Unit>(unit: U, rows: &[Row], weights: &[(u64, u64)]) -> [u64; PODS] {
    let mut counts = [0; PODS];
    // Full adder on vectors of bits: stores the sum, returns the carry.
    let add = |sum: &mut Row, a: Row, b: Row| {
        let half = unit.xor(*sum, a);
        let carry = unit.or(unit.and(*sum, a), unit.and(half, b));
        *sum = unit.xor(half, b);
        carry
    };
    let none = Row::NONE;
    let (mut ones, mut twos, mut fours, mut eights) = (none, none, none, none);
    for rows in rows.chunks_exact(16) {
        let read = |at: usize| unit.not(rows[at]);
        let mut eight = [none; 2];
        for (half, eight) in eight.iter_mut().enumerate() {
            let mut four = [none; 2];
            for (quarter, four) in four.iter_mut().enumerate() {
                let at = 8 * half + 4 * quarter;
                // Carry-save adder tree.
                let two_a = add(&mut ones, read(at), read(at + 1));
                let two_b = add(&mut ones, read(at + 2), read(at + 3));
                *four = add(&mut twos, two_a, two_b);
            }
            *eight = add(&mut fours, four[0], four[1]);
        }
        tally(add(&mut eights, eight[0], eight[1]), 16, weights, &mut counts);
    }
    for (vector, times) in [(ones, 1), (twos, 2), (fours, 4), (eights, 8)] {
        tally(vector, times, weights, &mut counts);
    }
    counts
}

/// Counts the bits of a vector by weight and adds them, multiplied by `times`, to the counts of the pods.
#[inline(always)]
fn tally(vector: Row, times: u64, weights: &[(u64, u64)], counts: &mut [u64; PODS]) {
    let words = vector.words();
    let pair = |at: usize| u64::from(words[at]) | u64::from(words[at + 1]) << SOURCES;
    for (pod, count) in counts.iter_mut().enumerate() {
        let words = [0, 2, 4, 6].map(|at| pair(pod * BLOCK + at));
        for &(mask, weight) in weights {
            let mut bits = 0;
            for word in words {
                bits += (word & mask).count_ones();
            }
            *count += times * weight * u64::from(bits);
        }
    }
}

#[cfg(test)]
mod tests;
