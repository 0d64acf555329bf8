//! Open parts of a best-first search, in the order in which they are looked at.

use std::cmp::Ordering;

/// A part of the plans that was not looked into; the greatest comes first in a heap.
#[derive(Clone, Debug)]
pub(crate) struct Open<T> {
    /// No plan in it is shorter, seconds.
    pub bound: f64,
    /// Decisions that lead to it.
    pub depth: u32,
    /// Parts found before it.
    pub number: u64,
    /// The part.
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
