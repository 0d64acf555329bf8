//! Moving among the items of a pane: rows up and down, places left and right.

use crate::app::action::Motion;
use crate::app::drawn::Item;
use crate::app::pane::ItemId;

/// Returns the item to which a move leads. Items are sorted by row and place. Without a selection, a move forward
/// selects the first item and a move back the last one; a selected item that no longer exists counts as no selection.
pub fn moved(items: &[Item], at: Option<ItemId>, go: Motion, page: usize) -> Option<ItemId> {
    let first = items.first()?;
    let last = items.last()?;
    let Some(here) = at.and_then(|id| items.iter().position(|item| item.id == id)) else {
        return Some(match go {
            Motion::Up | Motion::Left | Motion::Last | Motion::HalfUp | Motion::PageUp => last.id,
            _ => first.id,
        });
    };
    let page = page.max(2);
    let item = match go {
        Motion::First => *first,
        Motion::Last => *last,
        Motion::Left => beside(items, here, false),
        Motion::Right => beside(items, here, true),
        Motion::Up => rows_away(items, here, -1),
        Motion::Down => rows_away(items, here, 1),
        Motion::HalfUp => rows_away(items, here, -((page / 2) as i64)),
        Motion::HalfDown => rows_away(items, here, (page / 2) as i64),
        Motion::PageUp => rows_away(items, here, -((page - 1) as i64)),
        Motion::PageDown => rows_away(items, here, (page - 1) as i64),
    };
    Some(item.id)
}

fn beside(items: &[Item], here: usize, right: bool) -> Item {
    let next = if right { here.checked_add(1) } else { here.checked_sub(1) };
    match next.and_then(|next| items.get(next)) {
        Some(item) if item.row == items[here].row => *item,
        _ => items[here],
    }
}

/// Returns the item `steps` rows away (rows without items do not count), as near as possible to the same place in its
/// row. If all items are in one row, such as the points of a curve, returns the item `steps` places away.
fn rows_away(items: &[Item], here: usize, steps: i64) -> Item {
    if items.iter().all(|item| item.row == items[here].row) {
        let to = (here as i64 + steps).clamp(0, items.len() as i64 - 1);
        return items[to as usize];
    }
    let mut rows: Vec<u32> = items.iter().map(|item| item.row).collect();
    rows.dedup();
    let from = rows.iter().position(|row| *row == items[here].row).unwrap_or(0) as i64;
    let to = (from + steps).clamp(0, rows.len() as i64 - 1);
    let row = rows.get(to as usize).copied().unwrap_or(items[here].row);
    let distance = |item: &Item| (item.place - items[here].place).abs();
    items
        .iter()
        .filter(|item| item.row == row)
        .min_by(|a, b| distance(a).total_cmp(&distance(b)))
        .copied()
        .unwrap_or(items[here])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lanes() -> Vec<Item> {
        [(10, 0, 0.0), (11, 0, 5.0), (12, 0, 9.0), (20, 2, 1.0), (21, 2, 6.0), (30, 3, 4.0)]
            .map(|(id, row, place)| Item { id, row, place })
            .to_vec()
    }

    #[test]
    fn moves_follow_rows_and_keep_the_place() {
        let cases = [
            (Some(10), Motion::Right, 11),
            (Some(12), Motion::Right, 12),
            (Some(10), Motion::Left, 10),
            (Some(12), Motion::Down, 21),
            (Some(21), Motion::Up, 11),
            (Some(21), Motion::Down, 30),
            (Some(30), Motion::Down, 30),
            (Some(11), Motion::PageDown, 30),
            (Some(30), Motion::HalfUp, 21),
            (Some(11), Motion::Last, 30),
            (Some(11), Motion::First, 10),
            (None, Motion::Down, 10),
            (None, Motion::Up, 30),
            (Some(99), Motion::Right, 10),
        ];
        for (at, go, expected) in cases {
            assert_eq!(moved(&lanes(), at, go, 3), Some(expected), "{at:?} {go:?}");
        }
        assert_eq!(moved(&[], None, Motion::Down, 3), None);
        let curve = &lanes()[..3];
        for (at, go, expected) in [(10, Motion::Down, 11), (12, Motion::Up, 11), (12, Motion::Down, 12)] {
            assert_eq!(moved(curve, Some(at), go, 3), Some(expected), "{at} {go:?}");
        }
    }
}
