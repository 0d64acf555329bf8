//! Scrolling and stepping through rows: arithmetic for all lists.

/// Returns the first row to show so that row `selected` is visible and the last page is full.
pub fn follow(offset: usize, selected: Option<usize>, height: usize, len: usize) -> usize {
    if height == 0 {
        return 0;
    }
    let mut offset = offset;
    if let Some(selected) = selected.filter(|&selected| selected < len) {
        if selected < offset {
            offset = selected;
        } else if selected >= offset + height {
            offset = selected + 1 - height;
        }
    }
    offset.min(len.saturating_sub(height))
}

/// Returns the index `steps` away from `at` in a list of `len`, stopping at the ends. Without a selection the first
/// step forward selects the first item and the first step back the last one.
pub fn stepped(at: Option<usize>, len: usize, steps: i32) -> Option<usize> {
    let last = len.checked_sub(1)?;
    let at = match at {
        Some(at) => at,
        None if steps >= 0 => return Some(0),
        None => return Some(last),
    };
    let moved = if steps < 0 {
        at.saturating_sub(steps.unsigned_abs() as usize)
    } else {
        at.saturating_add(steps as usize)
    };
    Some(moved.min(last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_selected_row_stays_visible_and_pages_stay_full() {
        assert_eq!(follow(0, Some(12), 10, 100), 3);
        assert_eq!(follow(50, Some(12), 10, 100), 12);
        assert_eq!(follow(95, None, 10, 100), 90);
        assert_eq!(follow(5, Some(2), 10, 4), 0);
        assert_eq!(follow(5, Some(2), 0, 4), 0);
        assert_eq!(follow(3, Some(99), 10, 20), 3);
    }

    #[test]
    fn steps_stop_at_the_ends() {
        assert_eq!(stepped(Some(3), 5, 10), Some(4));
        assert_eq!(stepped(Some(3), 5, i32::MIN), Some(0));
        assert_eq!(stepped(None, 5, 1), Some(0));
        assert_eq!(stepped(None, 5, -1), Some(4));
        assert_eq!(stepped(Some(0), 0, 1), None);
    }
}
