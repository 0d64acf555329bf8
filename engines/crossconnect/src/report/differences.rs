//! Differences of two plans beyond their figures: removals on the switches on which they differ most.

use crate::Crossconnect;
use crate::plan::{Action, Changes};
use lightbay_core::plan::Plan;
use lightbay_core::report::differences::{CountPair, Differences};

/// Maximum number of switches that are compared.
const SWITCHES: usize = 12;

/// Returns the removals of two plans by switch; empty unless both plans change circuits and have equal numbers of
/// switches.
pub(crate) fn of(a: &Plan<Crossconnect>, b: &Plan<Crossconnect>) -> Differences {
    let removed = |plan: &Plan<Crossconnect>| plan.result.changes().map(removed);
    let counts = removed(a).zip(removed(b)).and_then(|(a, b)| counts(&a, &b));
    counts.map_or_else(Differences::default, |counts| Differences::of_counts("removed, by switch", counts))
}

fn removed(changes: &Changes) -> Vec<i64> {
    let of = |entries: &[crate::plan::Entry]| {
        entries.iter().filter(|entry| entry.action == Action::Remove).count() as i64
    };
    changes.ocs.iter().map(|ocs| of(&ocs.cross_connects)).collect()
}

/// Returns the counts of the switches that differ most, in order of id; `None` if the plans have different numbers of
/// switches.
fn counts(a: &[i64], b: &[i64]) -> Option<Vec<CountPair>> {
    if a.len() != b.len() {
        return None;
    }
    let mut switches: Vec<usize> = (0..a.len()).collect();
    switches.sort_by_key(|&at| (std::cmp::Reverse((a[at] - b[at]).abs()), at));
    switches.truncate(SWITCHES);
    switches.sort_unstable();
    let pair = |at: usize| CountPair { name: format!("OCS {at}"), values: [a[at], b[at]] };
    Some(switches.into_iter().map(pair).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_switches_that_differ_most_come_in_order() {
        let a: Vec<i64> = (0..20).collect();
        let mut b = a.clone();
        (b[3], b[17]) = (0, 99);
        let pairs = counts(&a, &b).unwrap();
        assert_eq!(pairs.len(), SWITCHES);
        let at = |name: &str| pairs.iter().position(|pair| pair.name == name).unwrap();
        assert!(at("OCS 3") < at("OCS 17"));
        assert_eq!((pairs[at("OCS 3")].values, pairs[at("OCS 17")].values), ([3, 0], [17, 99]));
        assert!(counts(&a, &b[1..]).is_none());
    }
}
