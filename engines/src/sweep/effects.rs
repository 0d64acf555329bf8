//! Detects sweeps whose rows could not differ: knobs without effect, and values that describe the same problem.

use super::{Axis, AxisOf, Cell, Sweep};
use crate::solve::{Request, idle};
use crate::subject::AnyScenario;
use lightbay_core::problem::{Problem, Problems};
use std::collections::BTreeMap;

impl Sweep {
    /// Returns the reason that a knob of the kind can never have an effect on the first scenario.
    pub(super) fn never(&self, name: &str) -> Option<Problem> {
        self.scenarios.first()?.idle().into_iter().find(|problem| problem.path == name)
    }

    /// Finds axes and settings without effect in any cell, and values of an axis that describe the same problem. Each
    /// axis is tested on its own, with every other axis at its first value.
    pub(super) fn check_effects(&self) -> Problems {
        let mut problems = Problems::new();
        for (at, axis) in self.axes.iter().enumerate() {
            match self.idle_along(&axis.info.name, Some(at)) {
                Some(problem) => problems.push(problem),
                None if axis.turns == AxisOf::Scenario => problems.extend(self.alike(at, axis)),
                None => {}
            }
        }
        for (name, _, _) in &self.changes {
            let acts = |at: Option<usize>| self.idle_along(name, at).is_none();
            if !acts(None)
                && !(0..self.axes.len()).any(|at| acts(Some(at)))
                && let Some(problem) = self.idle_along(name, None)
            {
                problems.push(problem);
            }
        }
        problems
    }

    /// Checks a cell: every setting and axis that has no effect in the cell is a problem.
    pub(super) fn check_cell(
        &self,
        cell: &Cell,
        scenario: &AnyScenario,
        request: &Request,
    ) -> Result<(), Problems> {
        let turned = self.axes.iter().map(|axis| axis.info.name.as_ref());
        let names: Vec<&str> =
            turned.chain(self.changes_at(cell).into_iter().map(|(name, _, _)| name)).collect();
        let mut problems = Problems::new();
        for problem in idle(scenario, &request.method, &request.settings) {
            let name = problem.path.as_str();
            if names.contains(&name) && !scenario.is_usual(name) && !self.is_usual(cell, request, name) {
                problems.push(problem);
            }
        }
        problems.into_result(())
    }

    /// Returns `true` if a parameter has its default in a cell.
    fn is_usual(&self, cell: &Cell, request: &Request, name: &str) -> bool {
        let params = self.infos.get(cell.method).map(|info| info.params.as_slice()).unwrap_or_default();
        let default = params.iter().find(|info| info.name == name).and_then(|info| info.default.as_ref());
        request
            .settings
            .iter()
            .rev()
            .find(|(given, _)| given == name)
            .is_some_and(|(_, value)| Some(value) == default)
    }

    /// Iterates, for every scenario and method, over the cells along the axis `at`, or only the first cell if `at` is
    /// `None`.
    fn cells_along(&self, at: Option<usize>) -> impl Iterator<Item = Cell> + '_ {
        let values = at.and_then(|at| self.axes.get(at)).map_or(1, |axis| axis.values.len());
        let scenarios = 0..self.scenarios.len();
        scenarios.flat_map(move |scenario| {
            (0..self.requests.len()).flat_map(move |method| {
                (0..values).map(move |value| {
                    let mut cell = Cell { number: 0, scenario, at: vec![0; self.axes.len()], method };
                    if let Some(turned) = at.and_then(|at| cell.at.get_mut(at)) {
                        *turned = value;
                    }
                    cell
                })
            })
        })
    }

    /// Returns the reason that a knob has no effect in any cell along an axis. `None` if the knob has an effect in at
    /// least one cell.
    fn idle_along(&self, name: &str, at: Option<usize>) -> Option<Problem> {
        let mut reason = None;
        for cell in self.cells_along(at) {
            let turned =
                self.scenarios.get(cell.scenario).and_then(|one| one.turned(&self.changes_at(&cell)).ok());
            let Some((scenario, request)) = turned.zip(self.request_at(&cell)) else { continue };
            let found = idle(&scenario, &request.method, &request.settings);
            reason = Some(found.into_iter().find(|problem| problem.path == name)?);
        }
        // If no cell along the axis is valid, `never` may still give a reason why the knob cannot have an effect.
        reason.or_else(|| self.never(name))
    }

    /// Reports values of a scenario axis that describe the same problem to the methods.
    fn alike(&self, at: usize, axis: &Axis) -> Problems {
        let mut problems = Problems::new();
        for scenario in 0..self.scenarios.len() {
            let mut seen: BTreeMap<String, usize> = BTreeMap::new();
            for cell in
                self.cells_along(Some(at)).filter(|cell| cell.scenario == scenario && cell.method == 0)
            {
                let turned =
                    self.scenarios.get(scenario).and_then(|one| one.turned(&self.changes_at(&cell)).ok());
                let Some(question) = turned.and_then(|turned| turned.question()) else { continue };
                let value = cell.at.get(at).copied().unwrap_or_default();
                let first = *seen.entry(question).or_insert(value);
                if let (Some(one), Some(other)) = (axis.values.get(first), axis.values.get(value))
                    && first != value
                {
                    let label = axis.label();
                    let message = format!(
                        "{one} and {other} describe the same problem, so their rows cannot \
                             differ"
                    );
                    problems.add(label, message, "leave one of them out");
                }
            }
        }
        problems
    }
}
