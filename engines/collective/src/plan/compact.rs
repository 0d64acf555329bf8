//! Trees in compact form, `lightbay.ccl_trees/1`: the trees of one root per orbit, and the symmetries that generate the
//! trees of all other roots, so that a plan for thousands of GPUs stays small. In an AllToAll, a tree is the path of
//! the data for one destination.

use super::{HUGE, MOST};
use lightbay_core::record::{any, index, within};
use lightbay_core::{record, words};

/// Name and version of the format.
pub const FORMAT: &str = "lightbay.ccl_trees/1";

words! {
    /// How pieces are sent.
    pub enum CompactDiscipline {
        /// Every tree sends one piece in each epoch; the pieces that a link carries in one epoch share its capacity.
        Fluid = "fluid",
        /// Equal pieces, which a link carries one at a time; the trees list their starts.
        WholeChunk = "whole_chunk",
    }
}

record! {
    /// A plan of trees in compact form.
    pub struct CompactPlan {
        /// Always `lightbay.ccl_trees/1`.
        pub format: String = any(),
        /// How pieces are sent.
        pub discipline: CompactDiscipline = any(),
        /// `true` if the data of the plan is reduced on the way to the root, `false` if the root sends its data to the
        /// receivers; if missing, the position of the part in the plan decides.
        pub adds_up: Option<bool> = any(),
        /// Length of an epoch, µs; no latency is omitted.
        pub epoch_us: f64 = within(1e-12..=HUGE),
        /// Data of each root (for an AllToAll, of each root for each destination), bytes.
        pub shard_bytes: f64 = within(1e-12..=HUGE),
        /// Number of pieces into which the share of each tree (`fluid`), or the data of a root (`whole_chunk`), is
        /// divided.
        pub pieces_per_tree: u32 = within(1..=MOST),
        /// Epochs until everything has arrived.
        pub finish_epochs: u64 = within(0..=MOST),
        /// Trees of one root for each orbit.
        pub trees: Vec<CompactTree> = any(),
        /// Symmetries that generate the trees of the other roots, as images of all nodes.
        pub generators: Vec<Vec<u32>> = index().or(Vec::new()),
    }
}

record! {
    /// A tree of a [`CompactPlan`].
    pub struct CompactTree {
        /// GPU whose data the tree carries.
        pub root: u32 = within(0..=MOST),
        /// Share of the root's data, a fraction such as `13/40`.
        pub share: String = any(),
        /// The only rank that receives the data; none if all ranks receive it.
        pub dests: Vec<u32> = index().or(Vec::new()).omitted(),
        /// Hops from GPU to GPU with the switches between them, parents first.
        pub edges: Vec<Vec<u32>> = index().or(Vec::new()),
        /// Epoch at which each hop of each piece starts (`whole_chunk`): by piece, then hop.
        pub starts: Vec<Vec<u32>> = index().or(Vec::new()).omitted(),
    }
}

impl CompactPlan {
    /// Returns `true` if every root sends separate data to each receiver.
    pub fn is_exchange(&self) -> bool {
        self.trees.iter().any(|tree| !tree.dests.is_empty())
    }
}
