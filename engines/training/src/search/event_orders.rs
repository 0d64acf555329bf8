//! Bounds and proofs where tasks compete before the last transfers (docs/methods/training-exact.md, section 10).
//!
//! If rates are free, only the window of each contended task has to be decided: the two time points between which it is
//! served. For given windows, it is a maximum-flow problem to decide if a link can serve its tasks. The answer depends
//! on the windows only through the lengths of their overlaps. The lengths of overlaps are linear in the time points
//! once the order of the time points is known. So the search branches on orders, and bounds each node by a small linear
//! program. The rows of the program come from energetic reasoning: if tasks must use a link within some stretch of
//! time, this stretch needs a minimum length. If the solution of this program violates no capacity, it is the best plan
//! of the node.
//!
//! If tasks compete for a link and a NIC at the same time, one linear program gives the rates on all links and NICs of
//! a component. If there are no such rates, the multipliers of the program give the capacity violation.

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
    /// Maximum number of contended tasks for which the search is started.
    pub jobs: usize,
}

impl Default for ProofLimits {
    fn default() -> Self {
        Self { nodes: 20_000, jobs: 200 }
    }
}
