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
    /// Returns whether these are to be preferred: shorter, or equally long (to a nanosecond) with fewer ports.
    pub fn better_than(&self, other: &Self) -> bool {
        rank(self.makespan, self.ports) < rank(other.makespan, other.ports)
    }
}

/// The order of the genetic search: makespan in whole nanoseconds, then ports.
pub fn rank(makespan: f64, ports: u64) -> (u64, u64) {
    ((makespan * 1e9).round() as u64, ports)
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
