//! Lists of circuits that share a line, with one block of memory for all lists.

/// Lists of fixed capacity, from which entries are removed in constant time.
#[derive(Clone, Debug)]
pub(super) struct Lines {
    /// Position of the first entry of each list; there is one position more than there are lists.
    starts: Vec<u32>,
    lengths: Vec<u32>,
    items: Vec<u32>,
}

impl Lines {
    /// Creates empty lists with these capacities.
    pub(super) fn new(rooms: impl Iterator<Item = u32>) -> Self {
        let mut starts = vec![0];
        let mut end = 0;
        for room in rooms {
            end += room;
            starts.push(end);
        }
        Self { lengths: vec![0; starts.len() - 1], items: vec![0; end as usize], starts }
    }

    /// Returns the entries of a list.
    pub(super) fn of(&self, line: usize) -> &[u32] {
        let start = self.starts[line] as usize;
        &self.items[start..start + self.lengths[line] as usize]
    }

    /// Adds an entry; returns its position in the list.
    pub(super) fn push(&mut self, line: usize, item: u32) -> u32 {
        let place = self.lengths[line];
        debug_assert!(self.starts[line] + place < self.starts[line + 1], "a list is full");
        self.items[(self.starts[line] + place) as usize] = item;
        self.lengths[line] = place + 1;
        place
    }

    /// Removes the entry at a position; returns the entry that moved there, if any.
    pub(super) fn remove(&mut self, line: usize, place: u32) -> Option<u32> {
        let last = self.lengths[line] - 1;
        self.lengths[line] = last;
        let start = self.starts[line];
        let moved = self.items[(start + last) as usize];
        self.items[(start + place) as usize] = moved;
        (place < last).then_some(moved)
    }

    /// Replaces the entry at a position.
    pub(super) fn rename(&mut self, line: usize, place: u32, item: u32) {
        self.items[(self.starts[line] + place) as usize] = item;
    }
}
