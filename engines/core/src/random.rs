//! Seeded random streams that do not depend on threads: each stream has a number and is never shared.

use rand::SeedableRng;
pub use rand_chacha::ChaCha8Rng as Stream;

/// The random streams of one run. Equal seed and number give an equal stream, regardless of concurrent work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Streams {
    seed: u64,
}

impl Streams {
    /// Creates the streams that follow from a seed.
    pub const fn new(seed: u64) -> Self {
        Self { seed }
    }

    /// Returns the stream `number`. Parallel parts of a run use the number of their island, restart or chunk.
    pub fn stream(&self, number: u64) -> Stream {
        let mut stream = Stream::seed_from_u64(self.seed);
        stream.set_stream(number);
        stream
    }
}

/// A small, fast source of random numbers for hot loops: SplitMix64 (Steele, Lea and Flood, OOPSLA 2014). The seed of
/// this source comes from a [`Stream`].
#[derive(Clone, Debug)]
pub struct SplitMix(u64);

impl SplitMix {
    /// Creates the source from a seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the next number.
    #[inline]
    pub const fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::Rng;

    #[test]
    fn splitmix_draws_the_published_numbers() {
        // The first numbers of the reference implementation (prng.di.unimi.it/splitmix64.c) for the seed 1234567.
        let mut numbers = SplitMix::new(1_234_567);
        assert_eq!([numbers.draw(), numbers.draw()], [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]);
    }

    #[test]
    fn streams_are_repeatable_and_different() {
        let streams = Streams::new(7);
        let (a, b, c) =
            (streams.stream(1).next_u64(), streams.stream(1).next_u64(), streams.stream(2).next_u64());
        assert_eq!(a, b);
        assert_ne!(a, c);
    }
}
