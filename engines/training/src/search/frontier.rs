//! Open nodes of a best-first search, in the order in which they are processed.

use std::cmp::Ordering;

/// An open node. Its order puts the lowest bound first in a heap, then the deepest node, then the oldest node.
#[derive(Clone, Debug)]
pub(crate) struct Open<T> {
    /// Lower bound on the objective of the plans in the node.
    pub bound: f64,
    /// Number of decisions that lead to the node.
    pub depth: u32,
    /// Number of nodes created before this node.
    pub number: u64,
    /// Part of the search space that the node represents.
    pub part: T,
}

impl<T> PartialEq for Open<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<T> Eq for Open<T> {}

impl<T> Ord for Open<T> {
    // Lowest bound, then deepest, then oldest.
    fn cmp(&self, other: &Self) -> Ordering {
        let by_bound = other.bound.total_cmp(&self.bound);
        by_bound.then(self.depth.cmp(&other.depth)).then(other.number.cmp(&self.number))
    }
}

impl<T> PartialOrd for Open<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
