//! Assignments, the solutions that methods search: the number of circuits between two pods on every switch, without
//! ports.

use crate::scenario::{CrossconnectScenario, Wiring};

/// Circuits of one orientation between two pods on one switch. With `single_sided` wiring `a < b`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cell {
    /// Pod at the A ports.
    pub a: u32,
    /// Pod at the B ports.
    pub b: u32,
    /// Number of circuits, at least 1.
    pub count: u32,
}

/// A solution: oriented circuits x\[k\]\[i\]\[j\] on every switch, pinned ones included.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Assignment {
    /// `ocs[k]`: the cells of switch k, sorted by `a`, then `b`, each pair once.
    pub ocs: Vec<Vec<Cell>>,
}

impl Assignment {
    /// Builds an assignment from single circuits `(switch, a, b)` in any order.
    pub fn of(ocs_count: usize, circuits: impl IntoIterator<Item = (usize, u32, u32)>) -> Self {
        let mut pairs = vec![Vec::new(); ocs_count];
        for (ocs, a, b) in circuits {
            if let Some(list) = pairs.get_mut(ocs) {
                list.push((a, b));
            }
        }
        let cells = |mut list: Vec<(u32, u32)>| {
            list.sort_unstable();
            let runs = list.chunk_by(|first, second| first == second);
            runs.map(|run| Cell { a: run[0].0, b: run[0].1, count: run.len() as u32 }).collect()
        };
        Self { ocs: pairs.into_iter().map(cells).collect() }
    }

    /// Returns the installed circuits u\[k\]\[i\]\[j\], without circuits that end at failed ports.
    pub fn installed(scenario: &CrossconnectScenario) -> Self {
        let failed: std::collections::HashSet<_> = scenario.failed_ports.iter().copied().collect();
        let healthy = scenario.installed_circuits().filter(|&(ocs_id, circuit)| {
            scenario.ends(circuit).into_iter().all(|(side, pod, port_index)| {
                !failed.contains(&crate::scenario::Port { ocs_id, pod, side, port_index })
            })
        });
        let ordered = |a: u32, b: u32| {
            if scenario.wiring == Wiring::SingleSided { (a.min(b), a.max(b)) } else { (a, b) }
        };
        Self::of(
            scenario.ocs_count as usize,
            healthy.map(|(ocs, circuit)| {
                let (a, b) = ordered(circuit.pod_a, circuit.pod_b);
                (ocs as usize, a, b)
            }),
        )
    }

    /// Returns the number of circuits of another assignment that this one lacks: Σ max(0, other − self).
    pub fn lacks(&self, other: &Self) -> u64 {
        let lacks = |mine: &[Cell], theirs: &[Cell]| -> u64 {
            let mut rest = mine.iter().peekable();
            let mut missing = 0;
            for cell in theirs {
                while rest.next_if(|mine| (mine.a, mine.b) < (cell.a, cell.b)).is_some() {}
                let here = rest.peek().filter(|mine| (mine.a, mine.b) == (cell.a, cell.b));
                missing += u64::from(cell.count.saturating_sub(here.map_or(0, |mine| mine.count)));
            }
            missing
        };
        let none: &[Cell] = &[];
        other
            .ocs
            .iter()
            .enumerate()
            .map(|(ocs, theirs)| lacks(self.ocs.get(ocs).map_or(none, Vec::as_slice), theirs))
            .sum()
    }

    /// Returns the number of all circuits.
    pub fn circuits(&self) -> u64 {
        self.ocs.iter().flatten().map(|cell| u64::from(cell.count)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::presets;

    #[test]
    fn circuits_become_sorted_cells() {
        let assignment = Assignment::of(2, [(1, 2, 0), (1, 0, 1), (1, 2, 0), (0, 3, 2)]);
        assert_eq!(assignment.ocs[0], [Cell { a: 3, b: 2, count: 1 }]);
        assert_eq!(assignment.ocs[1], [Cell { a: 0, b: 1, count: 1 }, Cell { a: 2, b: 0, count: 2 }]);
        assert_eq!(assignment.circuits(), 4);
    }

    #[test]
    fn what_is_lacking_is_counted_cell_by_cell() {
        let old = Assignment::of(2, [(0, 0, 1), (0, 0, 1), (0, 1, 2), (1, 2, 0)]);
        let new = Assignment::of(2, [(0, 0, 1), (0, 2, 1), (1, 2, 0), (1, 0, 2)]);
        assert_eq!(new.lacks(&old), 2);
        assert_eq!(old.lacks(&new), 2);
        assert_eq!(old.lacks(&old), 0);
    }

    #[test]
    fn circuits_at_failed_ports_are_not_installed() {
        let mut scenario = presets::scenario("crossconnect-example").unwrap();
        assert_eq!(Assignment::installed(&scenario).circuits(), 8);
        let failed = lightbay_core::param::ParamValue::Text("0:1:b0".into());
        scenario.set("failed_ports", None, &failed).unwrap();
        assert_eq!(Assignment::installed(&scenario).circuits(), 7);
    }
}
