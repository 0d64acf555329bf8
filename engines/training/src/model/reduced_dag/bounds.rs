//! Lower bounds on the time between tasks that are still a nearest ancestor of some node.

use super::{Ancestor, EPSILON_S};

/// Bound between tasks without a path between them.
const UNRELATED: f64 = f64::NEG_INFINITY;

/// A square table with a row and a column (together a slot) for each task that is still a nearest ancestor of some
/// node. Later, other tasks reuse the slot. Slot 0 is the start of the iteration.
pub(super) struct Bounds {
    prunes: bool,
    /// `between[u * size + w]`: minimum time from the finish of u to the start of w.
    between: Vec<f64>,
    size: usize,
    /// Shortest duration of the task in a slot.
    shortest_s: Vec<f64>,
    /// Number of nodes that have the task of a slot as a nearest ancestor (use count).
    holders: Vec<u32>,
    unused: Vec<u32>,
    /// Scratch of `merge`: index + 1 of a slot in `joined`, 0 = absent.
    place: Vec<u32>,
    /// Scratch of `merge`: ancestors, each after the index of the list from which its delay comes.
    joined: Vec<(u32, Ancestor)>,
}

impl Bounds {
    /// Maximum number of tasks with bounds at the same time; the table then takes 128 MiB.
    pub(super) const MAX_SLOTS: usize = 4096;

    pub(super) fn new(prunes: bool) -> Self {
        let mut bounds = Self {
            prunes,
            between: Vec::new(),
            size: 0,
            shortest_s: Vec::new(),
            holders: Vec::new(),
            unused: Vec::new(),
            place: Vec::new(),
            joined: Vec::new(),
        };
        bounds.grow(64);
        // The slot of the start is never freed.
        bounds.unused.retain(|slot| *slot != 0);
        bounds.holders[0] = 1;
        bounds
    }

    fn grow(&mut self, size: usize) {
        let old = self.size;
        if self.prunes {
            let mut between = vec![UNRELATED; size * size];
            for u in 0..old {
                between[u * size..u * size + old].copy_from_slice(&self.between[u * old..(u + 1) * old]);
            }
            self.between = between;
        }
        self.size = size;
        self.shortest_s.resize(size, 0.0);
        self.holders.resize(size, 0);
        self.place.resize(size, 0);
        self.unused.extend((old as u32..size as u32).rev());
    }

    /// Joins the ancestors of several predecessors and keeps the longest delay of each. If edges are dropped, also
    /// drops ancestors that another ancestor dominates. A node without predecessors has the start of the iteration as
    /// ancestor.
    pub(super) fn merge<'a>(
        &mut self,
        lists: impl Iterator<Item = &'a [Ancestor]>,
        merged: &mut Vec<Ancestor>,
    ) {
        self.joined.clear();
        let mut count = 0;
        for list in lists {
            for ancestor in list {
                let place = &mut self.place[ancestor.slot as usize];
                if *place == 0 {
                    self.joined.push((count, *ancestor));
                    *place = self.joined.len() as u32;
                } else {
                    let known = &mut self.joined[*place as usize - 1];
                    if ancestor.delay_s > known.1.delay_s {
                        *known = (count, *ancestor);
                    }
                }
            }
            count += 1;
        }
        for (_, ancestor) in &self.joined {
            self.place[ancestor.slot as usize] = 0;
        }
        merged.clear();
        if count == 0 {
            merged.push(Ancestor { slot: 0, task: None, delay_s: 0.0 });
            return;
        }
        if !self.prunes {
            merged.extend(self.joined.iter().map(|(_, ancestor)| *ancestor));
            return;
        }
        // A delay that is added to a whole list changes no comparison within it, so only ancestors from different lists
        // can dominate each other. There are few lists, of very different sizes.
        self.joined.sort_by_key(|(list, _)| *list);
        for group in self.joined.chunk_by(|a, b| a.0 == b.0) {
            merged.extend(group.iter().filter(|(list, u)| !self.is_covered(*list, u)).map(|(_, u)| *u));
        }
    }

    /// Returns `true` if `u` is dominated: a path from `u` through an ancestor of another list takes at least the delay
    /// of `u`, even with the shortest durations of all tasks.
    fn is_covered(&self, list: u32, u: &Ancestor) -> bool {
        let row = &self.between[u.slot as usize * self.size..][..self.size];
        let covers = |(_, w): &(u32, Ancestor)| {
            let slot = w.slot as usize;
            row[slot] + self.shortest_s[slot] + w.delay_s >= u.delay_s - EPSILON_S
        };
        let start = self.joined.partition_point(|(other, _)| *other < list);
        let end = self.joined.partition_point(|(other, _)| *other <= list);
        self.joined[..start].iter().any(covers) || self.joined[end..].iter().any(covers)
    }

    /// Assigns a slot with a use count of 1 to a new task. If edges are dropped, also fills in lower bounds on the path
    /// lengths from the tasks in all other slots to this task. Returns the slot, or `None` if no slot is left.
    pub(super) fn enter(&mut self, shortest_s: f64, preds: &[Ancestor]) -> Option<u32> {
        if self.unused.is_empty() {
            // Without pruning there is no table, only lists that grow linearly.
            if self.prunes && self.size >= Self::MAX_SLOTS {
                return None;
            }
            self.grow(self.size * 2);
        }
        let slot = self.unused.pop()?;
        let new = slot as usize;
        self.holders[new] = 1;
        self.shortest_s[new] = shortest_s;
        if !self.prunes {
            return Some(slot);
        }
        let size = self.size;
        self.between[new * size..(new + 1) * size].fill(UNRELATED);
        for u in 0..size {
            let row = &mut self.between[u * size..(u + 1) * size];
            let longest = preds.iter().map(|pred| {
                let via = pred.slot as usize;
                if via == u { pred.delay_s } else { row[via] + self.shortest_s[via] + pred.delay_s }
            });
            row[new] = longest.fold(UNRELATED, f64::max);
        }
        Some(slot)
    }

    /// Increments the number of nodes that have the task of the slot as a nearest ancestor.
    pub(super) fn hold(&mut self, slot: u32) {
        self.holders[slot as usize] += 1;
    }

    /// Decrements the number of nodes that have the task of the slot as a nearest ancestor; frees the slot if the
    /// number is 0.
    pub(super) fn let_go(&mut self, slot: u32) {
        let holders = &mut self.holders[slot as usize];
        *holders -= 1;
        if *holders == 0 {
            self.unused.push(slot);
        }
    }
}
