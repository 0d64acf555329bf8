//! The normal form of a scenario that methods solve: without failed ports and pinned circuits.
//!
//! Its ports are the working ports that no pinned circuit uses; its target and installed circuits do not contain pinned
//! circuits. Solutions of the task become an [`Assignment`] of the whole scenario by [`Task::assignment`].

use crate::model::assignment::{Assignment, Cell};
use crate::scenario::{CrossconnectScenario, Side, Wiring};

#[cfg(test)]
mod tests;

/// A scenario without its pinned circuits and failed ports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// Number of pods, P.
    pub pods: usize,
    /// Number of switches, K.
    pub ocs_count: usize,
    /// `ports_a[k][i]`: free A ports of pod i on switch k; all free ports if [`Task::single_sided`].
    pub ports_a: Vec<Vec<u32>>,
    /// `ports_b[k][i]`: free B ports of pod i on switch k.
    pub ports_b: Vec<Vec<u32>>,
    /// Target circuits, one cell for each unordered pair that has any, `a < b`, sorted.
    pub wanted: Vec<Cell>,
    /// Target circuits that the working ports cannot carry, in the same form as `wanted`, which does not contain them.
    pub lost: Vec<Cell>,
    /// Installed oriented circuits of every switch, sorted.
    pub installed: Assignment,
    /// Pinned oriented circuits of every switch, sorted.
    pub pinned: Assignment,
    /// `true` if ports have no sides, so that flow models do not apply.
    pub single_sided: bool,
    /// `true` if every pod has the same number of ports on all switches; halving then cannot fail.
    pub uniform: bool,
}

impl Task {
    /// Builds the task with every target circuit, even if the working ports do not suffice.
    pub(crate) fn of_all(scenario: &CrossconnectScenario) -> Self {
        let (pods, ocs_count) = (scenario.pods as usize, scenario.ocs_count as usize);
        let mut ports: [Vec<Vec<u32>>; 2] = [Side::A, Side::B].map(|side| {
            (0..ocs_count).map(|ocs| (0..pods).map(|pod| scenario.ports(side, pod, ocs)).collect()).collect()
        });
        let mut take = |side: Side, ocs: u32, pod: u32| {
            let table = &mut ports[usize::from(side == Side::B)];
            if let Some(free) = table.get_mut(ocs as usize).and_then(|row| row.get_mut(pod as usize)) {
                *free = free.saturating_sub(1);
            }
        };
        for port in &scenario.failed_ports {
            take(port.side, port.ocs_id, port.pod);
        }
        let single_sided = scenario.wiring == Wiring::SingleSided;
        let mut kept = vec![0u32; pods * pods];
        let pinned = Assignment::of(
            ocs_count,
            scenario.pinned.iter().map(|pin| {
                let (a, b) = (pin.circuit.pod_a, pin.circuit.pod_b);
                for (side, pod, _) in scenario.ends(pin.circuit) {
                    take(side, pin.ocs_id, pod);
                }
                let (low, high) = (a.min(b), a.max(b));
                kept[low as usize * pods + high as usize] += 1;
                if single_sided { (pin.ocs_id as usize, low, high) } else { (pin.ocs_id as usize, a, b) }
            }),
        );
        let mut wanted = Vec::new();
        for (a, row) in scenario.logical_circuits.iter().enumerate() {
            for (b, &count) in row.iter().enumerate().skip(a + 1) {
                let count = count.saturating_sub(kept[a * pods + b]);
                if count > 0 {
                    wanted.push(Cell { a: a as u32, b: b as u32, count });
                }
            }
        }
        let [ports_a, ports_b] = ports;
        let even = |table: &[Vec<u32>]| table.windows(2).all(|pair| pair[0] == pair[1]);
        Self {
            pods,
            ocs_count,
            uniform: even(&ports_a) && even(&ports_b),
            ports_a,
            ports_b,
            wanted,
            lost: Vec::new(),
            installed: without(&Assignment::installed(scenario), &pinned),
            pinned,
            single_sided,
        }
    }

    /// Returns a solution of the task together with the pinned circuits: an assignment of the scenario.
    pub fn assignment(&self, found: &Assignment) -> Assignment {
        let ocs = (0..self.ocs_count).map(|ocs| {
            let cells = [&self.pinned, found].into_iter().filter_map(|part| part.ocs.get(ocs)).flatten();
            merged(cells.copied())
        });
        Assignment { ocs: ocs.collect() }
    }

    /// Returns an assignment of this scenario, or of another scenario with the same pods, as circuits of the task:
    /// without pinned circuits, and with `a < b` if ports have no sides. The result may violate the task.
    pub fn part(&self, assignment: &Assignment) -> Assignment {
        let mut ocs: Vec<Vec<Cell>> = assignment.ocs.clone();
        ocs.resize(self.ocs_count, Vec::new());
        for cells in &mut ocs {
            let inside =
                cells.iter().filter(|cell| (cell.a.max(cell.b) as usize) < self.pods && cell.a != cell.b);
            let ordered = |cell: &Cell| {
                if self.single_sided {
                    Cell { a: cell.a.min(cell.b), b: cell.a.max(cell.b), count: cell.count }
                } else {
                    *cell
                }
            };
            *cells = merged(inside.map(ordered));
        }
        without(&Assignment { ocs }, &self.pinned)
    }

    /// Returns the number of circuits that a solution of the task removes: Σ max(0, u − x).
    pub fn removed(&self, found: &Assignment) -> u64 {
        found.lacks(&self.installed)
    }

    /// Returns the number of removed circuits on each switch.
    pub fn removed_by_ocs(&self, found: &Assignment) -> Vec<u64> {
        let one = |cells: &Vec<Cell>| Assignment { ocs: vec![cells.clone()] };
        found.ocs.iter().zip(&self.installed.ocs).map(|(found, old)| one(found).lacks(&one(old))).collect()
    }

    /// Returns the counting bound, a sum over pairs of pods: Σ max(0, old − wanted).
    pub fn count_bound(&self) -> u64 {
        let old = merged(self.installed.ocs.iter().flatten().map(|cell| Cell {
            a: cell.a.min(cell.b),
            b: cell.a.max(cell.b),
            count: cell.count,
        }));
        Assignment { ocs: vec![self.wanted.clone()] }.lacks(&Assignment { ocs: vec![old] })
    }

    /// Converts a lower bound on the number of circuits that a solution of the task removes to a lower bound on the
    /// number that a plan removes. A plan may keep installed circuits that the task counts as lost, if ports remain
    /// free for them; the bound is reduced by the number of such circuits.
    pub fn bound_of_plans(&self, bound: u64) -> u64 {
        let installed = |pair: &Cell| -> u32 {
            let cells = self.installed.ocs.iter().flatten();
            let of_pair = cells.filter(|cell| (cell.a.min(cell.b), cell.a.max(cell.b)) == (pair.a, pair.b));
            of_pair.map(|cell| cell.count).sum()
        };
        let kept: u64 = self.lost.iter().map(|pair| u64::from(pair.count.min(installed(pair)))).sum();
        bound.saturating_sub(kept)
    }

    /// Returns a sentence on why an assignment is not a solution of the task; `None` if the assignment respects all
    /// ports and sets exactly the target circuits.
    pub fn misfit(&self, found: &Assignment) -> Option<String> {
        if found.ocs.len() != self.ocs_count {
            return Some(format!("it has {} switches instead of {}", found.ocs.len(), self.ocs_count));
        }
        for (ocs, cells) in found.ocs.iter().enumerate() {
            let (mut a, mut b) = (self.ports_a[ocs].clone(), self.ports_b[ocs].clone());
            for cell in cells {
                let far = if self.single_sided { &mut a } else { &mut b };
                let free = far[cell.b as usize].checked_sub(cell.count);
                far[cell.b as usize] = free.unwrap_or_default();
                let near = a[cell.a as usize].checked_sub(cell.count);
                a[cell.a as usize] = near.unwrap_or_default();
                let short = near.map_or(Some(cell.a), |_| free.map_or(Some(cell.b), |_| None));
                if let Some(pod) = short {
                    return Some(format!("pod {pod} has more circuits than free ports on switch {ocs}"));
                }
            }
        }
        let realised = merged(found.ocs.iter().flatten().map(|cell| Cell {
            a: cell.a.min(cell.b),
            b: cell.a.max(cell.b),
            count: cell.count,
        }));
        (realised != self.wanted).then(|| "its circuits are not the target circuits".to_owned())
    }
}

/// Sorts cells and merges cells of the same pair.
pub fn merged(cells: impl IntoIterator<Item = Cell>) -> Vec<Cell> {
    let mut all: Vec<Cell> = cells.into_iter().filter(|cell| cell.count > 0).collect();
    all.sort_unstable();
    all.dedup_by(|next, kept| {
        let same = (next.a, next.b) == (kept.a, kept.b);
        if same {
            kept.count += next.count;
        }
        same
    });
    all
}

/// Returns the circuits of one assignment that another assignment does not have.
fn without(all: &Assignment, some: &Assignment) -> Assignment {
    let less = |(ocs, cells): (usize, &Vec<Cell>)| {
        let taken = some.ocs.get(ocs).map_or(&[][..], Vec::as_slice);
        let left = cells.iter().map(|cell| {
            let found = taken.binary_search_by_key(&(cell.a, cell.b), |taken| (taken.a, taken.b));
            let gone = found.map_or(0, |place| taken[place].count);
            Cell { count: cell.count.saturating_sub(gone), ..*cell }
        });
        left.filter(|cell| cell.count > 0).collect()
    };
    Assignment { ocs: all.ocs.iter().enumerate().map(less).collect() }
}
