//! Bounds and proofs where tasks compete before the last transfers (docs/methods/training.md, section 10).
//!
//! If rates are free, only the window of each contended task has to be decided: the two time points between which it is
//! served. For given windows every link is a flow problem. The feasibility of this problem depends on the windows only
//! through the lengths of their overlaps. The lengths of overlaps are linear in the time points once the order of the
//! time points is known. So the search branches on orders, and bounds each node by a small linear program. The rows of
//! the program come from energetic reasoning: if tasks must use a link within some stretch of time, this stretch needs
//! a minimum length. A node without capacity violations gives the best plan of the node.
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
    /// Maximum number of contended tasks for which the search is started.
    pub jobs: usize,
}

impl Default for ProofLimits {
    fn default() -> Self {
        Self { nodes: 20_000, jobs: 200 }
    }
}
