//! Bounds and proofs where tasks compete before the last transfers (docs/methods/training.md, section 10).
//!
//! If rates are free, only windows have to be decided: two time points between which a contended task is served. For
//! given windows every link is a flow problem, and whether it can serve its tasks depends on the windows through the
//! lengths of their overlaps. These are linear in the time points once the order of the time points is known. So the
//! search decides orders, and bounds what is undecided by a small linear program whose rows come from energetic
//! reasoning: the tasks of a link that must be served in some stretch of time need so much of it. A node without any
//! capacity violation is a plan, and the best one of its node.
//!
//! If tasks compete for a link and a NIC at the same time, the rates of a component of links and NICs follow from one
//! linear program, and its capacity violation from the multipliers of that program.

mod cuts;
mod distances;
mod energy;
mod joint;
mod node;
mod problem;
mod rates;
mod schedule;
mod simplex;
mod tree;

pub use tree::{Closed, TreeSearch};

/// Limits of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProofLimits {
    /// Maximum number of nodes that are evaluated.
    pub nodes: u64,
    /// Maximum number of contended tasks with which the search is begun.
    pub jobs: usize,
}

impl Default for ProofLimits {
    fn default() -> Self {
        Self { nodes: 20_000, jobs: 200 }
    }
}
