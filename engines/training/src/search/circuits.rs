//! Solutions that searches over circuits hand over.

use crate::simulate::iteration::Trace;
use std::sync::Arc;

/// The circuits of every link and what they are worth.
#[derive(Clone, Debug, PartialEq)]
pub struct Circuits {
    /// Circuits per link.
    pub x: Vec<u32>,
    /// Makespan under the rates of the search, seconds.
    pub makespan: f64,
    /// Ports over real pods.
    pub ports: u64,
}

impl Circuits {
    /// Returns whether these are to be preferred: shorter, or equally long (as [`rank`] sees it) with fewer ports
    /// (DELTA Eq. 4 as a second key).
    pub fn better_than(&self, other: &Self) -> bool {
        // Lexicographic order of DELTA Eq. 3 and 4; rounding the first key lets the second one decide among equals.
        rank(self.makespan, self.ports) < rank(other.makespan, other.ports)
    }
}

/// The order of the genetic search: makespan in whole nanoseconds, then ports. Of iterations below a second, a part in
/// 2^30 is told apart, about 1e-9: a nanosecond would be much of a short one.
pub fn rank(makespan: f64, ports: u64) -> (u64, u64) {
    // Bits of a positive number are in its order; without the last 22 of 52 its 30 leading binary digits are left.
    const DROPPED: u32 = 22;
    let size = if makespan < 1.0 {
        makespan.max(0.0).to_bits() >> DROPPED
    } else {
        (1.0_f64.to_bits() >> DROPPED) + (makespan * 1e9).round() as u64
    };
    (size, ports)
}

/// Circuits that a search hands over to its run, see [`Watch::found`](lightbay_core::watch::Watch::found).
#[derive(Clone, Debug, PartialEq)]
pub struct Proposal {
    /// The circuits.
    pub circuits: Circuits,
    /// A schedule that no simulation gives, because its plan decides the rates; without one the circuits are simulated.
    pub schedule: Option<Arc<Trace>>,
}

impl From<Circuits> for Proposal {
    fn from(circuits: Circuits) -> Self {
        Self { circuits, schedule: None }
    }
}

#[cfg(test)]
mod tests {
    use super::rank;

    #[test]
    fn makespans_are_told_apart_to_a_nanosecond_and_short_ones_to_a_part_in_a_billion() {
        assert!(rank(12.0, 9) < rank(12.000_000_002, 1), "shorter by two nanoseconds");
        assert!(rank(12.0 + 1e-10, 1) < rank(12.0, 9), "the same nanosecond");
        assert!(rank(0.999_999_999, 9) < rank(1.0, 1));
        // 100 and 100.1 ns: the same nanosecond, and not as long.
        assert!(rank(1e-7, 9) < rank(1.001e-7, 1));
        assert!(rank(1e-7 * (1.0 + 1e-15), 1) < rank(1e-7, 9), "rounding");
    }
}
