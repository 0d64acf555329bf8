//! Uses ports that a solution leaves free, after failures, for target circuits that count as lost.
//!
//! The lost circuits are chosen before circuits are placed on switches, so a search may leave ports free at both ends
//! of a lost circuit. Such a plan could set more circuits. The lost circuit is therefore added to the plan, and removed
//! again before a search starts from the plan.

use crate::model::assignment::{Assignment, Cell};
use crate::model::task::{Task, merged};

impl Task {
    /// Returns a solution with every lost circuit for which a switch has free ports at both ends. Ports at which a lost
    /// circuit is installed are used last, because bounds count this circuit as removed.
    pub(crate) fn completed(&self, found: &Assignment) -> Assignment {
        if self.lost.is_empty() {
            return found.clone();
        }
        let mut plan = found.clone();
        // Greedy completion, pair by pair. Invariant: `plan` respects all ports, because a circuit is only added where both
        // of its ends are free.
        for cell in &self.lost {
            for _ in 0..cell.count {
                let Some((ocs, one)) = self.room(&plan, cell) else { break };
                let cells = std::mem::take(&mut plan.ocs[ocs]);
                plan.ocs[ocs] = merged(cells.into_iter().chain([one]));
            }
        }
        plan
    }

    /// Returns a switch with free ports for one more circuit of a pair, and that circuit; `None` if no switch has such
    /// ports.
    fn room(&self, plan: &Assignment, pair: &Cell) -> Option<(usize, Cell)> {
        let orientations: &[(u32, u32)] =
            if self.single_sided { &[(pair.a, pair.b)] } else { &[(pair.a, pair.b), (pair.b, pair.a)] };
        let all = (0..plan.ocs.len()).flat_map(|ocs| orientations.iter().map(move |&(a, b)| (ocs, a, b)));
        let fitting = all.filter(|&(ocs, a, b)| {
            let used = |pod: u32, on_a: bool| -> u32 {
                let ends = plan.ocs[ocs].iter().map(|cell| {
                    let (near, far) = (cell.a == pod, cell.b == pod);
                    let here = if self.single_sided {
                        near || far
                    } else if on_a {
                        near
                    } else {
                        far
                    };
                    if here { cell.count } else { 0 }
                });
                ends.sum()
            };
            let far = if self.single_sided { &self.ports_a } else { &self.ports_b };
            used(a, true) < self.ports_a[ocs][a as usize] && used(b, false) < far[ocs][b as usize]
        });
        let installed = |ocs: usize, a: u32, b: u32| {
            let count = |cells: &[Cell]| -> u32 {
                cells.iter().filter(|cell| (cell.a, cell.b) == (a, b)).map(|cell| cell.count).sum()
            };
            self.installed.ocs.get(ocs).is_some_and(|cells| count(cells) > count(&plan.ocs[ocs]))
        };
        let (ocs, a, b) = fitting.min_by_key(|&(ocs, a, b)| installed(ocs, a, b))?;
        Some((ocs, Cell { a, b, count: 1 }))
    }

    /// Returns a solution without the circuits that [`Task::completed`] adds.
    pub(crate) fn trimmed(&self, found: Assignment) -> Assignment {
        let mut plan = found;
        for lost in &self.lost {
            let is_of = |cell: &Cell| (cell.a.min(cell.b), cell.a.max(cell.b)) == (lost.a, lost.b);
            let wanted: u32 = self.wanted.iter().filter(|cell| is_of(cell)).map(|cell| cell.count).sum();
            let set: u32 = plan.ocs.iter().flatten().filter(|cell| is_of(cell)).map(|cell| cell.count).sum();
            // Removes only circuits beyond the target and at most the lost ones, so target circuits stay.
            let mut surplus = set.saturating_sub(wanted).min(lost.count);
            for cell in plan.ocs.iter_mut().flatten().filter(|cell| is_of(cell)) {
                let gone = surplus.min(cell.count);
                cell.count -= gone;
                surplus -= gone;
            }
        }
        for cells in &mut plan.ocs {
            cells.retain(|cell| cell.count > 0);
        }
        plan
    }
}
