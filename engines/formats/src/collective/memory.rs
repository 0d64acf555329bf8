//! The buffers of all ranks while a program runs; every chunk is represented by the contributions of which it is the
//! sum.

use super::{Buffer, BufferPlace, BufferSizes, CollectiveOp, Contribution, for_each_wanted};
use lightbay_core::problem::{Problem, Problems};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::rc::Rc;

/// Maximum number of chunks in all buffers together.
pub const MOST_SLOTS: u64 = 1 << 24;
/// Maximum total number of contributions in all distinct sums.
const MOST_TERMS: usize = 1 << 25;

/// Index of a sum of contributions.
pub type SumId = u32;
/// Content of a slot that has not been written.
const EMPTY: SumId = SumId::MAX;

/// The buffers of all ranks.
#[derive(Clone, Debug)]
pub struct Memory {
    op: CollectiveOp,
    in_place: bool,
    sizes: Vec<BufferSizes>,
    /// Index of the first slot of each rank.
    first: Vec<usize>,
    slots: Vec<SumId>,
    sums: Sums,
}

/// All distinct sums, each stored once. The first entries are the single contributions.
#[derive(Clone, Debug)]
struct Sums {
    /// Number of the first contribution of each rank; the last entry is the total number of contributions.
    starts: Vec<u32>,
    more: Vec<Rc<[Contribution]>>,
    known: HashMap<Rc<[Contribution]>, SumId>,
    pairs: HashMap<(SumId, SumId), SumId>,
    terms: usize,
}

impl Memory {
    /// Creates the buffers as they are before the program begins: inputs are filled, all other buffers are empty.
    ///
    /// # Errors
    /// More chunks than [`MOST_SLOTS`].
    pub fn new(op: CollectiveOp, in_place: bool, sizes: &[BufferSizes]) -> Result<Self, Problem> {
        let total: u64 =
            sizes.iter().map(|s| u64::from(s.input) + u64::from(s.output) + u64::from(s.scratch)).sum();
        if total > MOST_SLOTS {
            let message = format!("has {total} chunks in its buffers; the maximum is {MOST_SLOTS}");
            return Err(Problem::new(
                "",
                message,
                "lightbay cannot execute programs of this size; use fewer chunks",
            ));
        }
        let mut first = Vec::with_capacity(sizes.len());
        let mut starts = vec![0];
        let (mut slots, mut inputs) = (0, 0);
        for size in sizes {
            first.push(slots);
            let own = if in_place { size.input.max(size.output) } else { size.input + size.output };
            slots += own as usize + size.scratch as usize;
            inputs += size.input;
            starts.push(inputs);
        }
        let sums = Sums { starts, more: Vec::new(), known: HashMap::new(), pairs: HashMap::new(), terms: 0 };
        let mut memory = Self { op, in_place, sizes: sizes.to_vec(), first, slots: vec![EMPTY; slots], sums };
        for (rank, size) in sizes.iter().enumerate() {
            for offset in 0..size.input {
                let place = BufferPlace { buffer: Buffer::Input, offset };
                // An in-place all-gather whose output is too small cannot contain all inputs.
                if let Some(slot) = memory.slot(rank, place) {
                    memory.slots[slot] = memory.sums.starts[rank] + offset;
                }
            }
        }
        Ok(memory)
    }

    /// Returns the number of the slot at `place` in a buffer of a rank; `None` outside of the buffers. If input and
    /// output are one buffer, a place in the input and a place in the output may have the same number.
    pub fn slot(&self, rank: usize, place: BufferPlace) -> Option<usize> {
        let size = self.sizes.get(rank)?;
        let (offset, rank_id) = (u64::from(place.offset), rank as u64);
        let own =
            u64::from(if self.in_place { size.input.max(size.output) } else { size.input + size.output });
        let (inside, at) = match place.buffer {
            Buffer::Input => {
                // In place, the input of an all-gather is the rank's part of the output.
                let gather = self.in_place && self.op == CollectiveOp::AllGather;
                (
                    place.offset < size.input,
                    if gather { rank_id * u64::from(size.input) + offset } else { offset },
                )
            }
            Buffer::Output => {
                let scatter = self.in_place && self.op == CollectiveOp::ReduceScatter;
                let before = match (self.in_place, scatter) {
                    (true, true) => rank_id * u64::from(size.output),
                    (true, false) => 0,
                    (false, _) => u64::from(size.input),
                };
                (place.offset < size.output, before + offset)
            }
            Buffer::Scratch => (place.offset < size.scratch, own + offset),
        };
        let room = own + u64::from(size.scratch);
        (inside && at < room).then(|| self.first[rank] + at as usize)
    }

    /// Returns the number of slots.
    pub fn slots(&self) -> usize {
        self.slots.len()
    }

    /// Returns the sum that a slot holds; `None` if nothing has been written to it.
    pub fn get(&self, slot: usize) -> Option<SumId> {
        self.slots.get(slot).copied().filter(|sum| *sum != EMPTY)
    }

    /// Writes to a slot.
    pub fn set(&mut self, slot: usize, sum: SumId) {
        if let Some(held) = self.slots.get_mut(slot) {
            *held = sum;
        }
    }

    /// Returns the sum of two sums.
    ///
    /// # Errors
    /// A contribution is in both sums, or there are too many distinct sums; the error is the end of a sentence about
    /// the addition.
    pub fn add(&mut self, a: SumId, b: SumId) -> Result<SumId, String> {
        self.sums.add(a, b)
    }

    /// Returns the contributions of a sum, in order.
    pub fn terms(&self, sum: SumId) -> Vec<Contribution> {
        self.sums.terms(sum)
    }

    /// Compares every slot of every output with the content that the operation requires. Returns the number of slots
    /// compared.
    ///
    /// # Errors
    /// Every slot that holds something else, and buffers that do not suit the operation.
    pub fn compare(&self, root: Option<u32>) -> Result<u64, Problems> {
        let mut problems = Problems::new();
        let mut slots = 0;
        for_each_wanted(self.op, &self.sizes, root, |wanted| {
            slots += 1;
            self.compare_one(wanted.rank, wanted.offset, &wanted.sum, &mut problems);
        })?;
        problems.into_result(slots)
    }

    /// Compares one slot of an output with the required sum, and adds a problem if slot and sum differ.
    pub fn compare_one(&self, rank: u32, offset: u32, sum: &[Contribution], problems: &mut Problems) {
        let place = BufferPlace { buffer: Buffer::Output, offset };
        let slot = self.slot(rank as usize, place);
        let held = slot.and_then(|slot| self.get(slot));
        if held.is_some_and(|held| self.sums.is(held, sum)) {
            return;
        }
        let held = match (slot, held) {
            (None, _) => "does not exist".to_owned(),
            (_, None) => "was never written".to_owned(),
            (_, Some(held)) => format!("holds {}", shown(&self.terms(held))),
        };
        problems.add(
            format!("gpu {rank}, output chunk {offset}"),
            format!("{held}, but it should contain {}", shown(sum)),
            "this program does not implement its collective",
        );
    }
}

/// Formats a sum as text.
fn shown(terms: &[Contribution]) -> String {
    const MOST: usize = 4;
    let one = |term: &Contribution| format!("chunk {} of rank {}", term.chunk, term.rank);
    let mut text = terms.iter().take(MOST).map(one).collect::<Vec<_>>().join(" + ");
    if terms.len() > MOST {
        let _ = write!(text, " + {} more", terms.len() - MOST);
    }
    text
}

impl Sums {
    fn singles(&self) -> u32 {
        self.starts.last().copied().unwrap_or(0)
    }

    fn single(&self, sum: SumId) -> Contribution {
        let rank = self.starts.partition_point(|start| *start <= sum).saturating_sub(1);
        Contribution { rank: rank as u32, chunk: sum - self.starts.get(rank).copied().unwrap_or(0) }
    }

    fn terms(&self, sum: SumId) -> Vec<Contribution> {
        match sum.checked_sub(self.singles()) {
            None => vec![self.single(sum)],
            Some(at) => self.more.get(at as usize).map(|terms| terms.to_vec()).unwrap_or_default(),
        }
    }

    fn is(&self, sum: SumId, terms: &[Contribution]) -> bool {
        match sum.checked_sub(self.singles()) {
            None => terms == [self.single(sum)],
            Some(at) => self.more.get(at as usize).is_some_and(|own| **own == *terms),
        }
    }

    fn add(&mut self, a: SumId, b: SumId) -> Result<SumId, String> {
        let key = (a.min(b), a.max(b));
        if let Some(known) = self.pairs.get(&key) {
            return Ok(*known);
        }
        let mut terms = self.terms(a);
        terms.extend(self.terms(b));
        terms.sort_unstable();
        if let Some(twice) = terms.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(format!("adds chunk {} of rank {} a second time", twice[0].chunk, twice[0].rank));
        }
        self.terms += terms.len();
        if self.terms > MOST_TERMS {
            return Err("makes more different sums than the executor supports".to_owned());
        }
        let terms: Rc<[Contribution]> = terms.into();
        let next = self.singles() + self.more.len() as u32;
        let sum = *self.known.entry(Rc::clone(&terms)).or_insert(next);
        if sum == next {
            self.more.push(terms);
        }
        self.pairs.insert(key, sum);
        Ok(sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZES: [BufferSizes; 2] = [BufferSizes { input: 2, output: 2, scratch: 1 }; 2];

    fn at(buffer: Buffer, offset: u32) -> BufferPlace {
        BufferPlace { buffer, offset }
    }

    #[test]
    fn sums_do_not_depend_on_the_order() {
        let mut memory = Memory::new(CollectiveOp::AllReduce, true, &[SIZES[0]; 3]).unwrap();
        let one =
            |memory: &Memory, rank| memory.get(memory.slot(rank, at(Buffer::Input, 1)).unwrap()).unwrap();
        let [a, b, c] = [0, 1, 2].map(|rank| one(&memory, rank));
        let ab = memory.add(a, b).unwrap();
        let cb = memory.add(c, b).unwrap();
        assert_eq!(memory.add(ab, c).unwrap(), memory.add(a, cb).unwrap());
        assert_ne!(ab, cb);
        assert_eq!(memory.add(ab, a).unwrap_err(), "adds chunk 1 of rank 0 a second time");
        let expected = [Contribution { rank: 1, chunk: 1 }, Contribution { rank: 2, chunk: 1 }];
        assert_eq!(memory.terms(cb), expected);
    }

    #[test]
    fn buffers_in_place_are_one() {
        let reduce = Memory::new(CollectiveOp::AllReduce, true, &SIZES).unwrap();
        assert_eq!(reduce.slot(1, at(Buffer::Input, 1)), reduce.slot(1, at(Buffer::Output, 1)));
        assert_eq!(reduce.slots(), 6);
        let sizes = [BufferSizes { input: 1, output: 2, scratch: 0 }; 2];
        let gather = Memory::new(CollectiveOp::AllGather, true, &sizes).unwrap();
        assert_eq!(gather.slot(1, at(Buffer::Input, 0)), gather.slot(1, at(Buffer::Output, 1)));
        assert_eq!(gather.slot(1, at(Buffer::Input, 1)), None);
        let sizes = [BufferSizes { input: 2, output: 1, scratch: 1 }; 2];
        let scatter = Memory::new(CollectiveOp::ReduceScatter, true, &sizes).unwrap();
        assert_eq!(scatter.slot(1, at(Buffer::Output, 0)), scatter.slot(1, at(Buffer::Input, 1)));
        let apart = Memory::new(CollectiveOp::AllToAll, false, &SIZES).unwrap();
        assert_eq!(apart.slots(), 10);
        let problems = apart.compare(None).unwrap_err();
        assert!(
            problems
                .to_string()
                .contains("gpu 0, output chunk 0: was never written, but it should contain chunk 0")
        );
        assert_eq!(problems.total(), 4);
    }

    #[test]
    fn too_many_chunks_are_refused() {
        let huge = [BufferSizes { input: u32::MAX, output: u32::MAX, scratch: u32::MAX }; 3];
        assert!(Memory::new(CollectiveOp::AllReduce, true, &huge).is_err());
    }
}
