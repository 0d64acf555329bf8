//! From settings and a scenario to a job for the run board.

use crate::catalogue::{implementation, method, methods};
use crate::listed::Listed;
use crate::subject::AnyScenario;
use lightbay_core::checked::SharedPlan;
use lightbay_core::param::{ParamInfo, ParamValue, Params, Setting};
use lightbay_core::problem::{Problem, Problems, suggestion};
use lightbay_core::run::{Job, Request, TypedJob, common_params};
use lightbay_core::scenario::Scenario;
use std::sync::Arc;

/// What is asked of a method, beside the scenario.
#[derive(Clone, Debug)]
pub struct Ask {
    /// Method by name.
    pub method: String,
    /// Values of its own knobs; all others take their defaults.
    pub settings: Vec<(String, ParamValue)>,
    /// Seed of all random choices.
    pub seed: u64,
    /// Seconds after which to return the best plan.
    pub time_limit_s: Option<f64>,
    /// Relative gap at which to stop.
    pub gap: Option<f64>,
    /// A plan to start from, of this or a similar scenario.
    pub hot_start: Option<SharedPlan>,
}

impl Ask {
    /// The method with its defaults and seed 1.
    pub fn of(method: impl Into<String>) -> Self {
        Self {
            method: method.into(),
            settings: Vec::new(),
            seed: 1,
            time_limit_s: None,
            gap: None,
            hot_start: None,
        }
    }

    /// The same, with settings as [`apply`] returns them; the common ones (`time_limit_s`, `gap`, `seed`) go to
    /// their own fields.
    #[must_use]
    pub fn with(mut self, settings: Vec<(String, ParamValue)>) -> Self {
        for (name, value) in settings {
            match name.as_str() {
                "time_limit_s" => self.time_limit_s = lightbay_core::run::limit_of(Some(&value)),
                "gap" => self.gap = lightbay_core::run::limit_of(Some(&value)),
                "seed" => {
                    self.seed = value.as_i64().and_then(|seed| u64::try_from(seed).ok()).unwrap_or(self.seed);
                }
                _ => self.settings.push((name, value)),
            }
        }
        self
    }
}

/// Applies settings by name: knobs of the scenario change it, parameters of the method are returned.
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

/// Like [`apply`], with `own` as the parameters of the method.
pub(crate) fn apply_own(
    scenario: &AnyScenario,
    method_name: &str,
    own: &[ParamInfo],
    settings: &[Setting],
) -> Result<(AnyScenario, Vec<(String, ParamValue)>), Problems> {
    let knobs = scenario.knobs();
    let mut problems = Problems::new();
    let mut changes: Vec<(&str, Option<usize>, ParamValue)> = Vec::new();
    let mut params: Vec<(String, ParamValue)> = Vec::new();
    for setting in settings {
        if let Some(knob) = find(&knobs, &setting.name) {
            match parse_entry(knob, setting) {
                Ok(value) => changes.push((&setting.name, setting.index, value)),
                Err(problem) => problems.push(problem),
            }
        } else if let Some(param) = find(own, &setting.name) {
            if setting.index.is_some() {
                problems.add(setting.to_string(), "has no entries", "write it without [ ]");
                continue;
            }
            match param.parse(&setting.text) {
                Ok(value) => params.push((setting.name.clone(), value)),
                Err(problem) => problems.push(problem),
            }
        } else {
            problems.push(unknown_setting(scenario.kind(), method_name, &setting.name, &knobs, own));
        }
    }
    problems.into_result(())?;
    if changes.is_empty() {
        return Ok((scenario.clone(), params));
    }
    let changes: Vec<(&str, Option<usize>, &ParamValue)> =
        changes.iter().map(|(name, index, value)| (*name, *index, value)).collect();
    Ok((scenario.with_all(&changes)?, params))
}

fn find<'a>(infos: &'a [ParamInfo], name: &str) -> Option<&'a ParamInfo> {
    infos.iter().find(|info| info.name == name)
}

/// The value of a setting; of one entry if it names one.
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

pub(crate) fn unknown_method(kind: &str, name: &str) -> Problem {
    let all = methods(kind);
    let names: Vec<&str> = all.iter().map(|method| method.name).collect();
    Problem::new("method", format!("'{name}' is no method of kind {kind}"), suggestion(name, &names))
}

fn unknown_setting(kind: &str, method: &str, name: &str, knobs: &[ParamInfo], own: &[ParamInfo]) -> Problem {
    let elsewhere = methods(kind).into_iter().find(|other| find(&other.params, name).is_some());
    if let Some(other) = elsewhere {
        return Problem::new(
            name,
            format!("is no parameter of {method}"),
            format!("it belongs to {}; `lightbay methods {kind}` lists all", other.name),
        );
    }
    let names: Vec<&str> = knobs.iter().chain(own).map(|info| info.name.as_ref()).collect();
    Problem::new(
        name,
        format!("is no knob of the scenario and no parameter of {method}"),
        suggestion(name, &names),
    )
}

/// A job for the run board.
///
/// # Errors
/// An unknown method, or parameters that are not valid for it.
pub fn job(scenario: &AnyScenario, ask: &Ask) -> Result<Box<dyn Job>, Problems> {
    each_kind!(scenario, AnyScenario, scenario => typed(scenario, ask))
}

fn typed<K: Listed>(scenario: &Arc<Scenario<K>>, ask: &Ask) -> Result<Box<dyn Job>, Problems> {
    let method = implementation::<K>(&ask.method)?;
    let info = method.info();
    let params =
        Params::resolve(&info.params, ask.settings.iter().map(|(name, value)| (name.as_str(), value)))?;
    let request = Request {
        scenario: Arc::clone(scenario),
        params,
        seed: ask.seed,
        time_limit_s: ask.time_limit_s,
        gap: ask.gap,
        hot_start: ask.hot_start.clone(),
        proves: info.proves,
    };
    let job = TypedJob::new(method, request)
        .map_err(|error| Problem::new("", error.to_string(), "correct the scenario"))?;
    Ok(Box::new(job))
}
