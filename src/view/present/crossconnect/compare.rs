//! Differences of two plans of a rewiring beyond their figures: removals of the switches on which they differ most.

use super::changes_of;
use crate::app::plans::PlanEntry;
use crate::view::present::{CompareBlocks, CompareRow};
use lightbay_engines::crossconnect::plan::{Action, Changes};

/// Switches that are set side by side.
const SWITCHES: usize = 12;

/// Removals of two plans by switch. Empty where they are not in memory, or no changes of as many switches.
pub fn blocks(a: &PlanEntry, b: &PlanEntry) -> CompareBlocks {
    let changes = |entry: &PlanEntry| changes_of(&entry.plan.as_ref()?.0).map(removed);
    let (Some(a), Some(b)) = (changes(a), changes(b)) else { return CompareBlocks::default() };
    CompareBlocks { row: row(&a, &b).map(|row| ("removed, by switch", row)), bars: None }
}

fn removed(changes: &Changes) -> Vec<i64> {
    let of = |entries: &[lightbay_engines::crossconnect::plan::Entry]| {
        entries.iter().filter(|entry| entry.action == Action::Remove).count() as i64
    };
    changes.ocs.iter().map(|ocs| of(&ocs.cross_connects)).collect()
}

/// The switches that differ most, in order of id.
fn row(a: &[i64], b: &[i64]) -> Option<CompareRow> {
    if a.len() != b.len() {
        return None;
    }
    let mut switches: Vec<usize> = (0..a.len()).collect();
    switches.sort_by_key(|&at| (std::cmp::Reverse((a[at] - b[at]).abs()), at));
    switches.truncate(SWITCHES);
    switches.sort_unstable();
    Some(CompareRow {
        names: switches.iter().map(|at| format!("OCS {at}")).collect(),
        a: switches.iter().map(|&at| a[at]).collect(),
        b: switches.iter().map(|&at| b[at]).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_switches_that_differ_most_come_in_order() {
        let a: Vec<i64> = (0..20).collect();
        let mut b = a.clone();
        (b[3], b[17]) = (0, 99);
        let row = row(&a, &b).unwrap();
        assert_eq!(row.names.len(), SWITCHES);
        let at = |name: &str| row.names.iter().position(|known| known == name).unwrap();
        assert_eq!((row.a[at("OCS 3")], row.b[at("OCS 17")]), (3, 99));
        assert!(super::row(&a, &b[1..]).is_none());
    }
}
