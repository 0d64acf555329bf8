//! Sweeps: scenarios x values of knobs x methods, solved one after the other, with one row for each combination.
//!
//! This module does not depend on any kind and does not access files. A [`Sweep`] lists the cells and makes a job for
//! each cell; a [`Walker`] solves the cells and returns a [`SweepRow`] and the checked plan of every cell. The plan for
//! one value of a knob starts the run for the next value if the method accepts hot starts and the knob permits reuse.

use crate::catalogue::{kind, method, methods};
use crate::solve::{idle, job, parse_entry, parse_param, unknown_method};
use crate::subject::AnyScenario;
use crate::subject::name::{NAME, name_param};
use crate::{KindInfo, Request};
use lightbay_core::checked::SharedPlan;
use lightbay_core::json::sha256_hex;
use lightbay_core::kind::ObjectiveInfo;
use lightbay_core::method::MethodInfo;
use lightbay_core::param::{ParamInfo, ParamValue, Setting};
use lightbay_core::problem::{Problem, Problems, suggestion};
use lightbay_core::run::{Common, Job, common_params};
use serde_json::json;

mod axis;
mod cells;
mod effects;
mod row;
mod walk;

#[cfg(test)]
mod tests;

pub use axis::{Axis, AxisOf};
pub use cells::{Cell, Shard};
pub use row::{FoundRow, SweepRow, TableForm};
pub use walk::{Starts, Walked, Walker};

/// Maximum number of cells of one sweep.
pub const MAX_CELLS: usize = 100_000;

/// A change of a knob: name, entry of its list, value.
type SettingChange = (String, Option<usize>, ParamValue);

/// A sweep: scenarios, axes and methods, to be solved cell by cell.
#[derive(Clone, Debug)]
pub struct Sweep {
    kind: KindInfo,
    scenarios: Vec<AnyScenario>,
    /// Changes of every scenario. These changes are applied together with the changes of the axes, because one change
    /// may be invalid without the other changes.
    changes: Vec<SettingChange>,
    axes: Vec<Axis>,
    requests: Vec<Request>,
    infos: Vec<MethodInfo>,
    cold: bool,
}

impl Sweep {
    /// Creates a sweep over scenarios of one kind, without axes and methods yet.
    ///
    /// # Errors
    /// Scenarios of several kinds, or none at all.
    pub fn of(scenarios: Vec<AnyScenario>) -> Result<Self, Problem> {
        let first = scenarios.first().and_then(|scenario| kind(scenario.kind()));
        let Some(kind) = first else {
            return Err(Problem::new("", "no scenario was given", "give at least one scenario"));
        };
        if let Some(other) = scenarios.iter().find(|scenario| scenario.kind() != kind.name) {
            let message = format!(
                "'{}' is of kind {}, but the first scenario is of kind {}",
                other.name(),
                other.kind(),
                kind.name
            );
            return Err(Problem::new("", message, "sweep over scenarios of one kind at a time"));
        }
        let (changes, axes, requests, infos) = Default::default();
        Ok(Self { kind, scenarios, changes, axes, requests, infos, cold: false })
    }

    /// Sets the methods; an empty list means the method that suits the first scenario.
    ///
    /// # Errors
    /// Names that are not methods, or that are given twice.
    pub fn methods(mut self, names: &[String]) -> Result<Self, Problems> {
        let suited = self.scenarios.first().map(|scenario| scenario.suited_method().to_owned());
        let names: Vec<String> = if names.is_empty() { suited.into_iter().collect() } else { names.to_vec() };
        let mut problems = Problems::new();
        for (at, name) in names.iter().enumerate() {
            match method(self.kind.name, name) {
                None => problems.push(unknown_method(self.kind.name, name)),
                Some(_) if names.iter().take(at).any(|other| other == name) => {
                    problems.add("", format!("method '{name}' is given twice"), "give it once");
                }
                Some(info) => {
                    self.infos.push(info);
                    self.requests.push(Request::of(name));
                }
            }
        }
        problems.into_result(self)
    }

    /// Adds settings for every cell: knobs of the scenario, and parameters for the methods that have them.
    ///
    /// # Errors
    /// Names that are unknown to the scenarios and to all methods, and values that are not valid.
    pub fn set(mut self, settings: &[Setting]) -> Result<Self, Problems> {
        let mut problems = Problems::new();
        for setting in settings {
            let knob = if setting.name == NAME { Some(name_param()) } else { self.knob(&setting.name) };
            if let Some(knob) = knob {
                match parse_entry(&knob, setting) {
                    Ok(value) => self.changes.push((setting.name.clone(), setting.index, value)),
                    Err(problem) => problems.push(problem),
                }
                continue;
            }
            let mut having = 0;
            for (info, request) in self.infos.iter().zip(&mut self.requests) {
                let own = parameters(info);
                let Some(param) = own.iter().find(|param| param.name == setting.name) else { continue };
                having += 1;
                match parse_param(param, setting) {
                    Ok(value) => *request = request.clone().with(vec![(setting.name.clone(), value)]),
                    Err(problem) if having == 1 => problems.push(problem),
                    Err(_) => {}
                }
            }
            if having == 0 {
                problems.push(self.never(&setting.name).unwrap_or_else(|| self.unknown(&setting.name)));
            }
        }
        problems.into_result(self)
    }

    /// Sets the axes, beginning with the axis whose value changes least often.
    ///
    /// # Errors
    /// Names that the scenarios or one of the methods do not know, values that are not valid, and more cells than
    /// [`MAX_CELLS`].
    pub fn over(mut self, axes: &[Setting]) -> Result<Self, Problems> {
        let mut problems = Problems::new();
        for setting in axes {
            let knob = self.axis_knob(setting).map_err(Problems::from);
            let found = knob.and_then(|(info, turns)| Axis::parse(setting, &info, turns));
            match found {
                Ok(axis) if self.axes.iter().any(|other| other.label() == axis.label()) => {
                    problems.add(axis.label(), "is given twice", "give all its values at once");
                }
                Ok(axis) => self.axes.push(axis),
                Err(found) => problems.extend(found),
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        if self.len() > MAX_CELLS {
            let message = format!("the sweep has {} cells, but the maximum is {MAX_CELLS}", self.len());
            return Err(Problem::new("", message, "give fewer values, or sweep in parts").into());
        }
        self.check_effects().into_result(self)
    }

    /// Sets limits for every cell; limits that are not given stay unchanged.
    #[must_use]
    pub fn limited(mut self, time_limit_s: Option<f64>, gap: Option<f64>, seed: Option<u64>) -> Self {
        for request in &mut self.requests {
            request.common = request.common.with(seed, time_limit_s, gap);
        }
        self
    }

    /// Returns `true` if a gap has an effect on any method of the sweep. The other methods solve their cells without
    /// the gap.
    pub fn heeds_gap(&self) -> bool {
        let acts =
            |request: &Request| self.scenarios.first().is_some_and(|scenario| acts_on(scenario, request));
        self.requests.iter().any(acts)
    }

    /// Sets whether every cell is solved from scratch, without the plan of another cell.
    #[must_use]
    pub fn cold(mut self, cold: bool) -> Self {
        self.cold = cold;
        self
    }

    /// Returns the kind of the scenarios.
    pub fn kind(&self) -> KindInfo {
        self.kind
    }

    /// Returns the description of the objective.
    pub fn objective(&self) -> ObjectiveInfo {
        self.kind.objective
    }

    /// Returns the axes, beginning with the axis whose value changes least often.
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// Iterates over the names of the methods.
    pub fn method_names(&self) -> impl Iterator<Item = &str> {
        self.requests.iter().map(|request| request.method.as_str())
    }

    /// Iterates over the names of the scenarios.
    pub fn scenario_names(&self) -> impl Iterator<Item = &str> {
        self.scenarios.iter().map(AnyScenario::name)
    }

    /// Returns `true` if a method starts from plans.
    fn takes_plans(&self, method: usize) -> bool {
        self.infos.get(method).is_some_and(|info| info.hot_start)
    }

    /// Iterates over the values of all axes at a cell.
    pub fn values_at<'a>(&'a self, cell: &'a Cell) -> impl Iterator<Item = &'a ParamValue> {
        self.axes.iter().zip(&cell.at).filter_map(|(axis, at)| axis.values.get(*at))
    }

    /// Returns sixteen hexadecimal digits that differ between sweeps of different problems. The number of threads is
    /// ignored, because it does not change any plan.
    pub fn id(&self) -> String {
        let scenarios: Vec<_> = self
            .scenarios
            .iter()
            .map(|scenario| (scenario.name(), scenario.sha256().unwrap_or_default()))
            .collect();
        let axes: Vec<_> = self.axes.iter().map(|axis| (axis.label(), &axis.values)).collect();
        let requests: Vec<_> = self
            .requests
            .iter()
            .map(|request| {
                json!([
                    request.method,
                    request.settings,
                    request.common.seed,
                    request.common.time_limit_s,
                    request.common.gap
                ])
            })
            .collect();
        let asked = json!([self.kind.name, scenarios, self.changes, axes, requests, self.cold]);
        sha256_hex(asked.to_string().as_bytes()).chars().take(16).collect()
    }

    /// Returns the scenario of a cell.
    ///
    /// # Errors
    /// Returns the problems of the scenario.
    pub fn scenario(&self, cell: &Cell) -> Result<AnyScenario, Problems> {
        let Some(scenario) = self.scenarios.get(cell.scenario) else {
            return Err(Problem::new("", "there is no such cell", "").into());
        };
        let changes = self.changes_at(cell);
        if changes.is_empty() { Ok(scenario.clone()) } else { scenario.acting(&changes) }
    }

    /// Returns the changes that make the scenario of a cell.
    fn changes_at<'a>(&'a self, cell: &'a Cell) -> Vec<(&'a str, Option<usize>, &'a ParamValue)> {
        let fixed = self.changes.iter().map(|(name, index, value)| (name.as_str(), *index, value));
        let turned = self.axes.iter().zip(self.values_at(cell));
        let turned = turned.filter(|(axis, _)| axis.turns == AxisOf::Scenario);
        fixed.chain(turned.map(|(axis, value)| (axis.info.name.as_ref(), axis.index, value))).collect()
    }

    /// Returns the request to the method of a cell, without the scenario and a plan to start from.
    fn request_at(&self, cell: &Cell) -> Option<Request> {
        let turned = self.axes.iter().zip(self.values_at(cell));
        let turned = turned.filter(|(axis, _)| axis.turns == AxisOf::Method);
        let settings = turned.map(|(axis, value)| (axis.info.name.to_string(), value.clone())).collect();
        Some(self.requests.get(cell.method)?.clone().with(settings))
    }

    /// Makes the job of a cell, starting from a plan if one is given.
    ///
    /// # Errors
    /// Returns the problems of the cell's scenario or parameters.
    pub fn job(&self, cell: &Cell, start: Option<SharedPlan>) -> Result<Box<dyn Job>, Problems> {
        let scenario = self.scenario(cell)?;
        let Some(request) = self.request_at(cell) else {
            return Err(Problem::new("", "there is no such cell", "").into());
        };
        let gap = request.common.gap.filter(|_| acts_on(&scenario, &request));
        let common = Common { gap, ..request.common };
        let request = Request { hot_start: start, common, ..request };
        self.check_cell(cell, &scenario, &request)?;
        job(&scenario, &request)
    }

    fn knob(&self, name: &str) -> Option<ParamInfo> {
        let knobs = self.scenarios.first().map(AnyScenario::every_knob).unwrap_or_default();
        knobs.into_iter().find(|knob| knob.name == name)
    }

    /// Returns the knob that an axis varies, and its owner. If the axis varies a parameter of methods, every method of
    /// the sweep must have this parameter, because every method is run with every value.
    fn axis_knob(&self, setting: &Setting) -> Result<(ParamInfo, AxisOf), Problem> {
        let name = setting.name.as_str();
        if self.changes.iter().any(|(other, index, _)| other == name && *index == setting.index)
            || self.requests.iter().any(|request| request.settings.iter().any(|(other, _)| other == name))
        {
            return Err(Problem::new(name, "is also set for all cells", "give it once"));
        }
        if row::FIXED.contains(&name) {
            return Err(Problem::new(
                name,
                "is a column of every table already",
                "sweep over another parameter",
            ));
        }
        if name == NAME {
            return Err(Problem::new(
                name,
                "changes no plan",
                "sweep over another parameter, or set this one once",
            ));
        }
        if let Some(knob) = self.knob(name) {
            return Ok((knob, AxisOf::Scenario));
        }
        if let Some(idle) = self.never(name) {
            return Err(idle);
        }
        let mut found = None;
        for info in &self.infos {
            let own = parameters(info).into_iter().find(|param| param.name == name);
            match own {
                Some(param) => found = Some(param),
                None if self.known_to_any(name) => {
                    let message = format!("is not a parameter of {}", info.name);
                    return Err(Problem::new(
                        name,
                        message,
                        "sweep only over methods that have this parameter",
                    ));
                }
                None => return Err(self.unknown(name)),
            }
        }
        found.map(|param| (param, AxisOf::Method)).ok_or_else(|| self.unknown(name))
    }

    fn known_to_any(&self, name: &str) -> bool {
        self.infos.iter().any(|info| parameters(info).iter().any(|param| param.name == name))
    }

    fn unknown(&self, name: &str) -> Problem {
        let knobs = self.scenarios.first().map(AnyScenario::knobs).unwrap_or_default();
        let own: Vec<ParamInfo> = self.infos.iter().flat_map(parameters).collect();
        let elsewhere = methods(self.kind.name);
        if let Some(other) = elsewhere.iter().find(|info| info.params.iter().any(|param| param.name == name))
        {
            let remedy = format!("it belongs to {}", other.name);
            return Problem::new(name, "is not a parameter of these methods", remedy);
        }
        let names: Vec<&str> = knobs.iter().chain(&own).map(|info| info.name.as_ref()).collect();
        Problem::new(
            name,
            "is neither a parameter of the scenario nor of the methods",
            suggestion(name, &names),
        )
    }
}

/// Returns `true` if a gap has an effect on a method with its present parameters.
fn acts_on(scenario: &AnyScenario, request: &Request) -> bool {
    idle(scenario, &request.method, &request.settings).iter().all(|problem| problem.path != "gap")
}

fn parameters(info: &MethodInfo) -> Vec<ParamInfo> {
    let mut own = info.params.clone();
    own.extend(common_params());
    own
}
