//! Solutions that searches over circuits report.

use crate::simulate::iteration::Trace;
use std::sync::Arc;

/// The circuits of every link, with makespan and ports.
#[derive(Clone, Debug, PartialEq)]
pub struct Circuits {
    /// Circuits per link.
    pub x: Vec<u32>,
    /// Makespan under the rates of the search, seconds.
    pub makespan: f64,
    /// Number of ports over real pods.
    pub ports: u64,
}

impl Circuits {
    /// Returns `true` if these circuits are better: a shorter makespan, or an equal makespan (as defined by [`rank`])
    /// with fewer ports (DELTA Eq. 4 as a second key).
    pub fn better_than(&self, other: &Self) -> bool {
        // Lexicographic order of DELTA Eq. 3 and 4; the first key is rounded, so that the second one decides between
        // equal makespans.
        rank(self.makespan, self.ports) < rank(other.makespan, other.ports)
    }
}

/// The order of the genetic search: makespan in whole nanoseconds, then ports. For iterations below a second the
/// resolution is 2^-30 of the makespan (about 1e-9), because a nanosecond would be too coarse.
pub fn rank(makespan: f64, ports: u64) -> (u64, u64) {
    // The bits of positive numbers order like the numbers; without the last 22 of 52 bits, 30 binary digits remain.
    const DROPPED: u32 = 22;
    let size = if makespan < 1.0 {
        makespan.max(0.0).to_bits() >> DROPPED
    } else {
        (1.0_f64.to_bits() >> DROPPED) + (makespan * 1e9).round() as u64
    };
    (size, ports)
}

/// Circuits that a search reports to its run, see [`Watch::found`](lightbay_core::watch::Watch::found).
#[derive(Clone, Debug, PartialEq)]
pub struct Proposal {
    /// The circuits.
    pub circuits: Circuits,
    /// The schedule, if the search itself chose its rates; `None` if a simulation of the circuits gives the schedule.
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
