//! Seeded random streams that do not depend on threads: a stream is named, never shared.

use rand::SeedableRng;
pub use rand_chacha::ChaCha8Rng as Stream;

/// The random streams of one run. Equal seed and number, equal stream, whatever runs beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Streams {
    seed: u64,
}

impl Streams {
    /// Streams of a seed.
    pub const fn new(seed: u64) -> Self {
        Self { seed }
    }

    /// The stream with a number; parallel parts number their pieces (island, restart, chunk).
    pub fn stream(&self, number: u64) -> Stream {
        let mut stream = Stream::seed_from_u64(self.seed);
        stream.set_stream(number);
        stream
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::Rng;

    #[test]
    fn streams_are_repeatable_and_different() {
        let streams = Streams::new(7);
        let (a, b, c) =
            (streams.stream(1).next_u64(), streams.stream(1).next_u64(), streams.stream(2).next_u64());
        assert_eq!(a, b);
        assert_ne!(a, c);
    }
}
