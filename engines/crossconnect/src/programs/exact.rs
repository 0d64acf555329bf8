//! The exact model (docs/methods/crossconnect.md, section 8): which circuits every switch carries, as one integer
//! program.
//!
//! ```text
//! minimise    sum_k,i,j  u[k][i][j] - y[k][i][j]                        (removed circuits)
//! subject to  sum_k x[k][i][j] = A[i][j]                                (a given orientation), or
//!             sum_k x[k][i][j] + x[k][j][i] = C[i][j]                   (orientations chosen jointly)
//!             sum_j x[k][i][j] <= ga[i][k],  sum_i x[k][i][j] <= gb[j][k]
//!             y <= x,  0 <= y <= u,  x whole
//! ```
//!
//! If x cannot exceed u, x replaces y. If a pod needs all of its ports, its rows are equations. If ports have no sides,
//! there is one x\[k\]\[i\]\[j\] for `i < j`, and one row for the ports of each pod on each switch; the problem is then
//! a list edge colouring. On a switch with an odd number of ports, one port then stays unused, which the relaxation
//! alone does not enforce.
//!
//! The model is written as arrays, because it has up to 1.6 million columns (256 pods on 64 switches): passing the
//! finished rows through good_lp's algebra alone takes 1.3 times as long as writing the whole model.

use crate::model::assignment::{Assignment, Cell};
use crate::model::task::Task;
use lightbay_core::building::Building;
use lightbay_core::method::MethodError;
use lightbay_core::watch::Watch;
use lightbay_highs::model::{Column, Domain, Model};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::convert::Infallible;

pub mod reason;
#[cfg(test)]
mod tests;

/// Orientations that a model may choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Orientation<'d> {
    /// All orientations.
    Joint,
    /// Only these oriented circuits, summed over all switches; each pair occurs once.
    Fixed(&'d [Cell]),
}

/// A switch and an oriented pair of pods that may have circuits there, with the columns of the model that count them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Entry {
    ocs: u32,
    a: u32,
    b: u32,
    circuits: Column,
    /// Column of the kept circuits and its upper bound. `None` in two cases: the switch has none of the pair's circuits
    /// installed, so none can be kept; or it has at least as many installed as it can carry, so all circuits of the
    /// pair on this switch are kept circuits.
    kept: Option<(Column, u32)>,
}

/// The model of a task.
#[derive(Clone, Debug)]
pub struct ExactProgram {
    model: Model,
    ocs_count: usize,
    entries: Vec<Entry>,
    places: FxHashMap<(u32, u32, u32), usize>,
}

/// Returns the circuits that each pair's row requires, summed over all switches, and `true` if the circuits of both
/// orientations count towards a row.
fn asked(task: &Task, orientation: Orientation<'_>) -> Vec<(Cell, bool)> {
    match orientation {
        Orientation::Fixed(cells) => cells.iter().map(|&cell| (cell, false)).collect(),
        Orientation::Joint => task.wanted.iter().map(|&cell| (cell, !task.single_sided)).collect(),
    }
}

/// Number of pairs of pods between two progress reports while a model is written.
const REPORTED: u64 = 1024;

/// Number of columns that are written between two stop checks.
const ASKED: usize = 1024;

impl ExactProgram {
    /// Creates the model of a few switches. This takes little time, so the function needs no stop checks.
    pub fn new(task: &Task, orientation: Orientation<'_>) -> Self {
        match Self::write(task, orientation, |_| Ok::<(), Infallible>(())) {
            Ok(program) => program,
            Err(never) => match never {},
        }
    }

    /// Creates the model as part of a run, which may be stopped.
    ///
    /// # Errors
    /// If the run must stop.
    pub fn watched<W: Watch>(
        task: &Task,
        orientation: Orientation<'_>,
        watch: &mut W,
    ) -> Result<Self, MethodError> {
        let total = asked(task, orientation).len() as u64;
        let mut building = Building::new(watch, "pairs of pods", Some(total), REPORTED);
        Self::write(task, orientation, |pairs| building.at(pairs))
    }

    /// Writes the model. Calls `go_on` after each pair of pods, and often while the rows of ports are written, with the
    /// number of pairs whose columns and rows are written.
    fn write<E>(
        task: &Task,
        orientation: Orientation<'_>,
        mut go_on: impl FnMut(u64) -> Result<(), E>,
    ) -> Result<Self, E> {
        let name = if orientation == Orientation::Joint { "joint" } else { "fixed" };
        let mut program = Self {
            model: Model::new(format!("cross_connects_{name}")),
            ocs_count: task.ocs_count,
            entries: Vec::new(),
            places: FxHashMap::default(),
        };
        // Removals are installed minus kept circuits, so kept circuits cost -1.
        program.model.offset = task.installed.circuits() as f64;
        let asked = asked(task, orientation);
        for (pair, &(cell, both)) in asked.iter().enumerate() {
            go_on(pair as u64)?;
            // Only cells with ports on both sides get a column.
            let mut terms = Vec::new();
            for ocs in 0..task.ocs_count {
                terms.extend(program.entry(task, ocs, cell));
                if both {
                    terms.extend(program.entry(task, ocs, Cell { a: cell.b, b: cell.a, count: cell.count }));
                }
            }
            // Demand: the circuits of a pair over all switches, and over both orientations if both are allowed.
            let Cell { a, b, count } = cell;
            let name = format!("circuits_{a}_{b}");
            program.model.equal(name, f64::from(count), terms.into_iter().map(|column| (column, 1.0)));
        }
        let mut go_on = || go_on(asked.len() as u64);
        program.port_rows(task, &asked, &mut go_on)?;
        for at in 0..program.entries.len() {
            if at.is_multiple_of(ASKED) {
                go_on()?;
            }
            let Entry { ocs, a, b, circuits, kept } = program.entries[at];
            // Kept circuits are at most the circuits of the cell: with `y <= u`, y is min(x, u) at the optimum.
            if let Some((kept, _)) = kept {
                program.model.at_most(format!("kept_{ocs}_{a}_{b}"), 0.0, [(kept, 1.0), (circuits, -1.0)]);
            }
        }
        Ok(program)
    }

    /// Returns the column of a cell; `None` if the cell cannot hold a circuit.
    fn entry(&mut self, task: &Task, ocs: usize, cell: Cell) -> Option<Column> {
        let Cell { a, b, count } = cell;
        let far = if task.single_sided { &task.ports_a } else { &task.ports_b };
        // Bound tightening: no cell exceeds the demand or the ports of either end.
        let most = count.min(task.ports_a[ocs][a as usize]).min(far[ocs][b as usize]);
        if most == 0 {
            return None;
        }
        let cells = &task.installed.ocs[ocs];
        let old =
            cells.binary_search_by_key(&(a, b), |cell| (cell.a, cell.b)).map_or(0, |at| cells[at].count);
        let counts = old >= most;
        // If a cell cannot exceed its installed circuits, all of its circuits are kept, so x replaces y.
        let cost = if counts { -1.0 } else { 0.0 };
        let circuits = self.model.integer(format!("x_{ocs}_{a}_{b}"), 0.0, f64::from(most), cost);
        let kept = (old > 0 && !counts)
            .then(|| (self.model.column(format!("y_{ocs}_{a}_{b}"), 0.0, f64::from(old), -1.0), old));
        self.places.insert((ocs as u32, a, b), self.entries.len());
        self.entries.push(Entry { ocs: ocs as u32, a, b, circuits, kept });
        Some(circuits)
    }

    fn port_rows<E>(
        &mut self,
        task: &Task,
        asked: &[(Cell, bool)],
        go_on: &mut impl FnMut() -> Result<(), E>,
    ) -> Result<(), E> {
        let lines = task.ocs_count * task.pods;
        let mut terms: [Vec<Vec<(Column, f64)>>; 2] = [vec![Vec::new(); lines], vec![Vec::new(); lines]];
        let second = usize::from(!task.single_sided);
        for (at, entry) in self.entries.iter().enumerate() {
            if at.is_multiple_of(ASKED) {
                go_on()?;
            }
            let line = |pod: u32| entry.ocs as usize * task.pods + pod as usize;
            terms[0][line(entry.a)].push((entry.circuits, 1.0));
            terms[second][line(entry.b)].push((entry.circuits, 1.0));
        }
        // Circuits that must end at each side of a pod; if both orientations are allowed, at the two sides together.
        // Rows of pods that need all ports are equations, which tightens the relaxation.
        let mut needed = [vec![0u64; task.pods], vec![0; task.pods]];
        let mut either = vec![0u64; task.pods];
        for &(cell, both) in asked {
            let count = u64::from(cell.count);
            if both {
                either[cell.a as usize] += count;
                either[cell.b as usize] += count;
            } else {
                needed[0][cell.a as usize] += count;
                needed[second][cell.b as usize] += count;
            }
        }
        for side in 0..=second {
            let ports = if side == 0 { &task.ports_a } else { &task.ports_b };
            let letter = if side == 0 { "a" } else { "b" };
            for pod in 0..task.pods {
                go_on()?;
                // A demand equal to all ports of a pod leaves none free on any switch.
                let all = |table: &[Vec<u32>]| table.iter().map(|row| u64::from(row[pod])).sum::<u64>();
                let full = if either[pod] > 0 {
                    either[pod] == all(&task.ports_a) + all(&task.ports_b)
                } else {
                    needed[side][pod] == all(ports)
                };
                for ocs in 0..task.ocs_count {
                    let terms = std::mem::take(&mut terms[side][ocs * task.pods + pod]);
                    let most = f64::from(ports[ocs][pod]);
                    let least = if full { most } else { f64::NEG_INFINITY };
                    if !terms.is_empty() || full {
                        self.model.row(format!("ports_{letter}_{pod}_{ocs}"), least, most, terms);
                    }
                }
            }
        }
        if task.single_sided {
            self.odd_switches(task);
        }
        Ok(())
    }

    /// Adds a cut for every switch with an odd number of ports: one of its ports stays unused.
    fn odd_switches(&mut self, task: &Task) {
        for (ocs, ports) in task.ports_a.iter().enumerate() {
            // Parity cut: without it, the relaxation would use half a circuit at the odd port.
            let sum: u32 = ports.iter().sum();
            if sum % 2 == 1 {
                let here = self.entries.iter().filter(|entry| entry.ocs as usize == ocs);
                let terms: Vec<_> = here.map(|entry| (entry.circuits, 1.0)).collect();
                self.model.at_most(format!("odd_{ocs}"), f64::from(sum / 2), terms);
            }
        }
    }

    /// Returns a model whose solutions may have fewer circuits than the target. The model maximises the number of
    /// circuits first, then the number of pairs of pods with a circuit and the number of kept circuits.
    #[must_use]
    pub fn of_fewer_circuits(mut self) -> Self {
        self.model.name.push_str("_most");
        self.model.row_lower.fill(f64::NEG_INFINITY);
        // The secondary objectives together weigh less than one circuit. Weights: all kept circuits together weigh less
        // than a quarter, and so do all joined pairs.
        let kept = 0.25 / (1.0 + self.model.offset);
        self.model.offset = 0.0;
        for cost in &mut self.model.costs {
            *cost *= kept;
        }
        let mut pairs: BTreeMap<(u32, u32), Vec<Column>> = BTreeMap::new();
        for entry in &self.entries {
            self.model.costs[entry.circuits.index()] -= 1.0;
            pairs.entry((entry.a.min(entry.b), entry.a.max(entry.b))).or_default().push(entry.circuits);
        }
        let joined = 0.25 / (1.0 + pairs.len() as f64);
        for ((a, b), circuits) in pairs {
            // `any` is at most the circuits of the pair, so it reaches 1 only if the pair has a circuit.
            let any = self.model.column(format!("any_{a}_{b}"), 0.0, 1.0, -joined);
            let terms = circuits.into_iter().map(|column| (column, -1.0)).chain([(any, 1.0)]);
            self.model.at_most(format!("any_{a}_{b}"), 0.0, terms);
        }
        self
    }

    /// Returns the model.
    pub const fn model(&self) -> &Model {
        &self.model
    }

    /// Returns the point of the model for a solution of the task; `None` if the model does not contain the solution.
    pub fn point(&self, plan: &Assignment) -> Option<Vec<f64>> {
        let mut point = vec![0.0; self.model.columns()];
        for (ocs, cells) in plan.ocs.iter().enumerate() {
            for cell in cells {
                let entry = self.entries[*self.places.get(&(ocs as u32, cell.a, cell.b))?];
                point[entry.circuits.index()] = f64::from(cell.count);
                if let Some((kept, old)) = entry.kept {
                    point[kept.index()] = f64::from(cell.count.min(old));
                }
            }
        }
        // The point is checked with the model's own rows before the solver sees it.
        self.model.first_broken(&point, 1e-9).is_none().then_some(point)
    }

    /// Returns the circuits of a point.
    pub fn assignment(&self, point: &[f64]) -> Assignment {
        let mut found = Assignment { ocs: vec![Vec::new(); self.ocs_count] };
        for entry in &self.entries {
            // Values are whole up to the solver's tolerance.
            let count = point[entry.circuits.index()].round() as u32;
            if count > 0 {
                found.ocs[entry.ocs as usize].push(Cell { a: entry.a, b: entry.b, count });
            }
        }
        for cells in &mut found.ocs {
            cells.sort_unstable();
        }
        found
    }

    /// Returns the relaxation: the model without integrality.
    pub fn relaxed(&self) -> Model {
        let mut model = self.model.clone();
        model.domains.fill(Domain::Continuous);
        model
    }
}
