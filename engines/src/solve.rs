//! Makes a job for the run board from settings and a scenario.

use crate::catalogue::{implementation, method, methods};
use crate::subject::name::{NAME, name_param};
use crate::subject::{AnyScenario, Variants};
use lightbay_core::checked::SharedPlan;
use lightbay_core::method::without_effect;
use lightbay_core::param::{ParamInfo, ParamValue, Params, Setting};
use lightbay_core::problem::{Problem, Problems, suggestion};
use lightbay_core::run::{Common, Job, Request as Typed, TypedJob, common_params};
use lightbay_core::scenario::Scenario;
use std::sync::Arc;

/// A method with its settings: the part of a request that does not depend on the scenario; forms, command lines, sweeps
/// and sessions use this part.
#[derive(Clone, Debug)]
pub struct Request {
    /// Name of the method.
    pub method: String,
    /// Values of the method's own knobs; all other knobs have their defaults.
    pub settings: Vec<(String, ParamValue)>,
    /// Seed and limits; [`job`] refuses a gap for a method that has no bound to compare with.
    pub common: Common,
    /// A plan to start from, of this or a similar scenario; [`job`] refuses the plan if the method does not accept a
    /// hot start.
    pub hot_start: Option<SharedPlan>,
}

impl Request {
    /// Makes a request for a method with its defaults and seed 1.
    pub fn of(method: impl Into<String>) -> Self {
        Self { method: method.into(), settings: Vec::new(), common: Common::default(), hot_start: None }
    }

    /// Adds the settings that [`apply`] returned; the common settings (`time_limit_s`, `gap`, `seed`) go to their own
    /// fields.
    #[must_use]
    pub fn with(mut self, settings: Vec<(String, ParamValue)>) -> Self {
        for (name, value) in settings {
            if !self.common.set(&name, &value) {
                self.settings.push((name, value));
            }
        }
        self
    }
}

/// Applies settings by name: values of knobs of the scenario change the scenario, values of parameters of the method
/// are returned.
///
/// # Errors
/// Every unknown name, invalid value and problem of the resulting scenario.
pub fn apply(
    scenario: &AnyScenario,
    method_name: &str,
    settings: &[Setting],
) -> Result<(AnyScenario, Vec<(String, ParamValue)>), Problems> {
    let Some(info) = method(scenario.kind(), method_name) else {
        return Err(unknown_method(scenario.kind(), method_name).into());
    };
    let mut own = info.params;
    own.extend(common_params());
    apply_own(scenario, method_name, &own, settings)
}

/// Returns the method that suits a scenario after the settings of scenario parameters have been applied to it.
pub fn suited(scenario: &AnyScenario, settings: &[Setting]) -> &'static str {
    let knobs = scenario.knobs();
    let own: Vec<Setting> = settings
        .iter()
        .filter(|setting| knobs.iter().any(|info| info.name == setting.name))
        .cloned()
        .collect();
    // The code that applies all settings reports the problems of each.
    change(scenario, &own).map_or_else(|_| scenario.suited_method(), |(changed, _)| changed.suited_method())
}

/// Applies settings like [`apply`], for a scenario file that any method may solve later: the settings may contain a
/// knob that only some methods use. Returns the changed scenario, and the values that the settings give to parameters
/// of the method that suits the scenario.
///
/// # Errors
/// As for [`apply`].
pub fn change(
    scenario: &AnyScenario,
    settings: &[Setting],
) -> Result<(AnyScenario, Vec<(String, ParamValue)>), Problems> {
    let method_name = scenario.suited_method();
    let mut own = method(scenario.kind(), method_name).map_or_else(Vec::new, |info| info.params);
    own.extend(common_params());
    change_own(scenario, method_name, &own, settings)
}

/// Applies settings like [`apply`], with `own` as the parameters of the method.
pub(crate) fn apply_own(
    scenario: &AnyScenario,
    method_name: &str,
    own: &[ParamInfo],
    settings: &[Setting],
) -> Result<(AnyScenario, Vec<(String, ParamValue)>), Problems> {
    let (changed, params) = change_own(scenario, method_name, own, settings)?;
    let knob = |name: &str| {
        let set = settings.iter().any(|setting| setting.name == name);
        set && !changed.is_usual(name)
    };
    let param = |name: &str| {
        let default = find(own, name).and_then(|param| param.default.as_ref());
        params.iter().any(|(given, value)| given == name && default != Some(value))
    };
    let mut problems = Problems::new();
    for problem in idle_for(&changed, method_name, &params) {
        if knob(&problem.path) || param(&problem.path) {
            problems.push(problem);
        }
    }
    problems.into_result((changed, params))
}

/// Applies settings like [`apply_own`], but allows settings without effect on the method.
fn change_own(
    scenario: &AnyScenario,
    method_name: &str,
    own: &[ParamInfo],
    settings: &[Setting],
) -> Result<(AnyScenario, Vec<(String, ParamValue)>), Problems> {
    // A knob without effect now may have an effect together with other changes, so the resulting scenario is judged.
    let knobs = scenario.every_knob();
    let never = scenario.idle();
    let mut problems = Problems::new();
    let mut changes: Vec<(&str, Option<usize>, ParamValue)> = Vec::new();
    let mut params: Vec<(String, ParamValue)> = Vec::new();
    let name = name_param();
    for setting in settings {
        let knob = find(&knobs, &setting.name).or((setting.name == NAME).then_some(&name));
        if let Some(knob) = knob {
            match parse_entry(knob, setting) {
                Ok(value) => changes.push((&setting.name, setting.index, value)),
                Err(problem) => problems.push(problem),
            }
        } else if let Some(param) = find(own, &setting.name) {
            match parse_param(param, setting) {
                Ok(value) => params.push((setting.name.clone(), value)),
                Err(problem) => problems.push(problem),
            }
        } else if let Some(problem) = never.iter().find(|problem| problem.path == setting.name) {
            problems.push(problem.clone());
        } else {
            problems.push(unknown_setting(
                scenario.kind(),
                method_name,
                &setting.name,
                &scenario.knobs(),
                own,
            ));
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let changes: Vec<(&str, Option<usize>, &ParamValue)> =
        changes.iter().map(|(name, index, value)| (*name, *index, value)).collect();
    let changed = if changes.is_empty() { scenario.clone() } else { scenario.with_all(&changes)? };
    Ok((changed, params))
}

/// Returns every setting that has no effect when a method is given a scenario and values of its parameters: knobs of
/// the scenario and parameters by name, each with the reason and the remedy.
pub fn idle(scenario: &AnyScenario, method: &str, settings: &[(String, ParamValue)]) -> Vec<Problem> {
    let mut idle = scenario.idle();
    idle.extend(idle_for(scenario, method, settings));
    idle
}

/// Returns the parameters that have no effect on the method. Returns nothing for invalid values, because they are
/// refused elsewhere.
fn idle_for(scenario: &AnyScenario, method: &str, settings: &[(String, ParamValue)]) -> Vec<Problem> {
    fn of<K: Variants>(scenario: &Scenario<K>, name: &str, given: &[(String, ParamValue)]) -> Vec<Problem> {
        let Ok(method) = implementation::<K>(name) else { return Vec::new() };
        let info = method.info();
        let own = given.iter().filter(|(name, _)| find(&info.params, name).is_some());
        Params::resolve(&info.params, own.map(|(name, value)| (name.as_str(), value)))
            .map_or_else(|_| Vec::new(), |params| method.idle(&scenario.body, &params))
    }
    each_kind!(scenario, AnyScenario, scenario => of(scenario, method, settings))
}

fn find<'a>(infos: &'a [ParamInfo], name: &str) -> Option<&'a ParamInfo> {
    infos.iter().find(|info| info.name == name)
}

/// Reads the value of a setting: a value for the whole knob, or for one entry of its list if the setting names an
/// entry.
pub(crate) fn parse_entry(knob: &ParamInfo, setting: &Setting) -> Result<ParamValue, Problem> {
    use lightbay_core::param::Domain;
    match (setting.index, &knob.domain) {
        (None, _) => knob.parse(&setting.text),
        (Some(_), Domain::IntList { min, max } | Domain::IntOrList { min, max }) => {
            let entry = ParamInfo { domain: Domain::Int { min: *min, max: *max }, ..knob.clone() };
            entry.parse(&setting.text)
        }
        (Some(_), _) => Err(Problem::new(setting.to_string(), "has no entries", "write it without [ ]")),
    }
}

/// Reads the value of a parameter of a method.
pub(crate) fn parse_param(param: &ParamInfo, setting: &Setting) -> Result<ParamValue, Problem> {
    match setting.index {
        None => param.parse(&setting.text),
        Some(_) => Err(Problem::new(setting.to_string(), "has no entries", "write it without [ ]")),
    }
}

/// Returns the problem that reports a method that the kind does not have.
pub fn unknown_method(kind: &str, name: &str) -> Problem {
    let all = methods(kind);
    let names: Vec<&str> = all.iter().map(|method| method.name).collect();
    let message = format!("method '{name}' does not exist for kind {kind}");
    Problem::new("", message, suggestion(name, &names))
}

fn unknown_setting(kind: &str, method: &str, name: &str, knobs: &[ParamInfo], own: &[ParamInfo]) -> Problem {
    let elsewhere = methods(kind).into_iter().find(|other| find(&other.params, name).is_some());
    if let Some(other) = elsewhere {
        return Problem::new(
            name,
            format!("is not a parameter of {method}"),
            format!("it belongs to {}; `lightbay methods {kind}` lists all parameters", other.name),
        );
    }
    let names: Vec<&str> = knobs.iter().chain(own).map(|info| info.name.as_ref()).collect();
    Problem::new(
        name,
        format!("is neither a parameter of the scenario nor of {method}"),
        suggestion(name, &names),
    )
}

/// Makes a job for the run board.
///
/// # Errors
/// An unknown method, parameters that are not valid for it, and settings without effect: parameters, a gap or a plan to
/// start from.
pub fn job(scenario: &AnyScenario, request: &Request) -> Result<Box<dyn Job>, Problems> {
    each_kind!(scenario, AnyScenario, scenario => typed(scenario, request))
}

fn typed<K: Variants>(scenario: &Arc<Scenario<K>>, request: &Request) -> Result<Box<dyn Job>, Problems> {
    let method = implementation::<K>(&request.method)?;
    let info = method.info();
    let params =
        Params::resolve(&info.params, request.settings.iter().map(|(name, value)| (name.as_str(), value)))?;
    // The parameters of a plan also list the defaults; a value equal to the default changes nothing, so it does not
    // count as given.
    let given = |name: &str| {
        let default = find(&info.params, name).and_then(|param| param.default.as_ref());
        let own = request.settings.iter().any(|(set, _)| set == name) && params.get(name) != default;
        own || (name == "gap" && request.common.gap.is_some())
    };
    let mut problems = Problems::new();
    for problem in method.idle(&scenario.body, &params) {
        if given(&problem.path) {
            problems.push(problem);
        }
    }
    if request.hot_start.is_some() && !info.hot_start {
        let why = format!("on {}, which does not accept a hot start", info.name);
        let remedy = format!("leave it out, or use a method that accepts one, such as {}", K::DEFAULT_METHOD);
        for problem in without_effect(["hot_start"], &why, &remedy) {
            problems.push(problem);
        }
    }
    problems.into_result(())?;
    let Common { seed, time_limit_s, gap } = request.common;
    let typed = Typed {
        scenario: Arc::clone(scenario),
        params,
        seed,
        time_limit_s,
        gap,
        hot_start: request.hot_start.clone(),
        proves: info.proves,
    };
    let job = TypedJob::new(method, typed)
        .map_err(|error| Problem::new("", error.to_string(), "correct the scenario"))?;
    Ok(Box::new(job))
}
