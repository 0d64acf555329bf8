//! Targets of the mouse: every clickable widget registers rectangles while it draws.

use ratatui_core::layout::{Position, Rect};

/// A clickable rectangle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hit {
    /// Cells of the rectangle.
    pub rect: Rect,
    /// Id of the item (row, key, tab or task), as the caller gave it.
    pub id: u32,
    /// Part of the item: the column of a grid, the lane of a time chart, otherwise 0.
    pub part: u32,
}

/// Clickable rectangles of one drawing, reused from frame to frame.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hits(Vec<Hit>);

impl Hits {
    /// Clears the rectangles of the last drawing; keeps the memory.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds a rectangle unless it is empty.
    pub fn push(&mut self, rect: Rect, id: u32, part: u32) {
        if !rect.is_empty() {
            self.0.push(Hit { rect, id, part });
        }
    }

    /// Returns the item at a cell. The rectangle drawn last is on top.
    pub fn at(&self, x: u16, y: u16) -> Option<Hit> {
        self.0.iter().rev().find(|hit| hit.rect.contains(Position { x, y })).copied()
    }

    /// Iterates over all rectangles in drawing order.
    pub fn iter(&self) -> impl Iterator<Item = &Hit> {
        self.0.iter()
    }

    /// Returns the number of rectangles.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns `true` if nothing is clickable.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_drawn_rectangle_wins() {
        let mut hits = Hits::default();
        hits.push(Rect::new(0, 0, 10, 10), 1, 0);
        hits.push(Rect::new(2, 2, 2, 2), 2, 7);
        hits.push(Rect::new(5, 5, 0, 3), 3, 0);
        assert_eq!(hits.len(), 2);
        assert_eq!(hits.at(3, 3).map(|hit| (hit.id, hit.part)), Some((2, 7)));
        assert_eq!(hits.at(5, 5).map(|hit| hit.id), Some(1));
        assert_eq!(hits.at(10, 10), None);
    }
}
