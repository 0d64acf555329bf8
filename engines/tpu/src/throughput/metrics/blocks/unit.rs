//! Vectors of 16 words, and their operations on each instruction set.
#![allow(
    clippy::inline_always,
    reason = "vector instructions are used only in functions that are inlined into the dispatcher"
)]

use super::{BLOCK, WORDS};
use pulp::{cast, u32x16};

/// One vector of words.
#[repr(align(64))]
#[derive(Clone, Copy, Debug)]
pub(super) struct Row(u32x16);

impl Row {
    /// A row without any set bit.
    pub(super) const NONE: Self = Self(u32x16(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0));

    /// Creates a row from its words.
    #[inline(always)]
    pub(super) fn new(words: [u32; WORDS]) -> Self {
        Self(cast(words))
    }

    /// Returns the words of the row.
    #[inline(always)]
    pub(super) fn words(self) -> [u32; WORDS] {
        cast(self.0)
    }
}

/// Operations on rows, for one set of vector instructions.
pub(super) trait Unit: Copy {
    fn or(self, a: Row, b: Row) -> Row;
    fn and(self, a: Row, b: Row) -> Row;
    fn xor(self, a: Row, b: Row) -> Row;
    fn not(self, a: Row) -> Row;
    /// Selects words by `turn`: 0 to 15 from `a`, 16 to 31 from `b`.
    fn shuffle(self, a: Row, b: Row, turn: Row) -> Row;
}

/// Instructions that every machine supports.
#[derive(Clone, Copy)]
pub(super) struct Plain;

impl Unit for Plain {
    #[inline(always)]
    fn or(self, a: Row, b: Row) -> Row {
        let (a, b) = (a.words(), b.words());
        Row::new(std::array::from_fn(|at| a[at] | b[at]))
    }

    #[inline(always)]
    fn and(self, a: Row, b: Row) -> Row {
        let (a, b) = (a.words(), b.words());
        Row::new(std::array::from_fn(|at| a[at] & b[at]))
    }

    #[inline(always)]
    fn xor(self, a: Row, b: Row) -> Row {
        let (a, b) = (a.words(), b.words());
        Row::new(std::array::from_fn(|at| a[at] ^ b[at]))
    }

    #[inline(always)]
    fn not(self, a: Row) -> Row {
        Row::new(a.words().map(|word| !word))
    }

    #[inline(always)]
    fn shuffle(self, a: Row, b: Row, turn: Row) -> Row {
        let (a, b, turn) = (a.words(), b.words(), turn.words());
        Row::new(std::array::from_fn(|at| {
            let rows = if at < BLOCK { &a } else { &b };
            rows[turn[at] as usize % WORDS]
        }))
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) mod wide {
    use super::{Row, Unit};
    use pulp::x86::V4;
    use pulp::{Simd, cast};

    /// Instructions for vectors of 64 bytes.
    #[derive(Clone, Copy)]
    pub(in super::super) struct Wide(pub(in super::super) V4);

    impl Unit for Wide {
        #[inline(always)]
        fn or(self, a: Row, b: Row) -> Row {
            Row(self.0.or_u32s(a.0, b.0))
        }

        #[inline(always)]
        fn and(self, a: Row, b: Row) -> Row {
            Row(self.0.and_u32s(a.0, b.0))
        }

        #[inline(always)]
        fn xor(self, a: Row, b: Row) -> Row {
            Row(self.0.xor_u32s(a.0, b.0))
        }

        #[inline(always)]
        fn not(self, a: Row) -> Row {
            Row(self.0.not_u32s(a.0))
        }

        #[inline(always)]
        fn shuffle(self, a: Row, b: Row, turn: Row) -> Row {
            Row(cast(self.0.avx512f._mm512_permutex2var_epi32(cast(a.0), cast(turn.0), cast(b.0))))
        }
    }
}
