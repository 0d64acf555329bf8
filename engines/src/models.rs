//! Models that methods export for other solvers: the model of a scenario, its file, and the plan from a solution.

use crate::catalogue::{kind, method};
use crate::envelope;
use crate::formats::Subject;
use crate::solve::apply_own;
use crate::subject::{AnyPlan, AnyScenario, Variants};
use lightbay_core::checked::{Checked, Violation};
use lightbay_core::kind::Depth;
use lightbay_core::method::MethodError;
use lightbay_core::param::{ParamInfo, Params, Setting};
use lightbay_core::plan::{Objective, Plan, Provenance, Status};
use lightbay_core::problem::{Problem, Problems, suggestion};
use lightbay_core::run::common_params;
use lightbay_core::scenario::Scenario;
use lightbay_highs::model::{Model, Size};
use lightbay_highs::modelled::Modelled;
use std::sync::Arc;

mod export;
mod foreign;
mod import;
mod names;
mod point;

pub use export::is_model;
pub(crate) use export::{export, exporters};
pub use foreign::{ModelAnswer, ModelOutcome, is_foreign_model, solve_foreign_model};
pub(crate) use import::{SOL, import, importer};
pub use names::SCHEMA as NAMES_SCHEMA;

/// A method whose model can be written.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelledMethod {
    /// Name of the method.
    pub name: &'static str,
    /// Parameters of the method that change the model.
    pub params: Vec<ParamInfo>,
}

/// Returns the methods of a kind whose model can be written; none for an unknown kind.
pub fn modelled(kind: &str) -> Vec<ModelledMethod> {
    fn infos<K: Variants>() -> Vec<ModelledMethod> {
        K::models().iter().map(|one| ModelledMethod { name: one.name(), params: one.params() }).collect()
    }
    named_kind!(kind, K => infos::<K>(), Vec::new())
}

/// Origin of a model: a scenario, a method and the parameters that change the model.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// The scenario.
    pub scenario: AnyScenario,
    /// The method.
    pub method: String,
    /// The parameters that change the model, defaults filled in.
    pub params: Params,
}

impl Question {
    /// Applies settings to a scenario, or to the scenario of a plan with the parameters of that plan. The setting
    /// `method` names the method; the default is the method of the plan, or the first method whose model can be
    /// written.
    ///
    /// # Errors
    /// A method without a model, settings that are not valid for it, and every problem of the scenario that results.
    pub fn of(subject: Subject<'_>, settings: &[Setting]) -> Result<Self, Problems> {
        match subject {
            Subject::Scenario(scenario) => Self::asked(scenario, None, settings),
            Subject::Plan(plan) => {
                let header = plan.header();
                Self::asked(&plan.scenario(), Some((&header.method, &header.parameters)), settings)
            }
        }
    }

    /// Applies settings like [`Question::of`], with method and parameters of a plan if there is one.
    pub(crate) fn asked(
        scenario: &AnyScenario,
        plan: Option<(&str, &Params)>,
        settings: &[Setting],
    ) -> Result<Self, Problems> {
        let kind = scenario.kind();
        let all = modelled(kind);
        let named = settings.iter().rev().find(|setting| setting.name == "method");
        let own = plan.filter(|(method, _)| all.iter().any(|one| one.name == *method));
        let name = match (named, own, all.first()) {
            (Some(setting), _, _) => setting.text.as_str(),
            (None, Some((method, _)), _) => method,
            (None, None, Some(first)) => first.name,
            (None, None, None) => "",
        };
        let Some(chosen) = all.iter().find(|one| one.name == name) else {
            return Err(no_model(kind, name, &all).into());
        };
        let rest: Vec<Setting> =
            settings.iter().filter(|setting| setting.name != "method").cloned().collect();
        without_effect(kind, chosen, &scenario.knobs(), &rest)?;
        let (scenario, given) = apply_own(scenario, chosen.name, &chosen.params, &rest)?;
        let shaping = |name: &str| chosen.params.iter().any(|info| info.name == name);
        let before =
            own.filter(|(method, _)| *method == name).into_iter().flat_map(|(_, params)| params.iter());
        let values = before
            .filter(|(name, _)| shaping(name))
            .chain(given.iter().map(|(name, value)| (name.as_str(), value)));
        let params = Params::resolve(&chosen.params, values)?;
        Ok(Self { scenario, method: chosen.name.to_owned(), params })
    }

    /// Returns the model.
    ///
    /// # Errors
    /// If the scenario or a parameter does not suit the method.
    pub fn model(&self) -> Result<Model, Problems> {
        fn of<K: Variants>(scenario: &Arc<Scenario<K>>, question: &Question) -> Result<Model, Problems> {
            let method = implementation::<K>(&question.method)?;
            method.model(scenario, &question.params).map_err(problems_of)
        }
        each_kind!(&self.scenario, AnyScenario, scenario => of(scenario, self))
    }

    /// Returns the size of the model.
    ///
    /// # Errors
    /// Like [`Question::model`].
    pub fn size(&self) -> Result<Size, Problems> {
        Ok(self.model()?.size())
    }

    /// Returns the checked plan that a point of the model represents. The point proves nothing, so the plan claims no
    /// bound.
    ///
    /// # Errors
    /// If the point does not belong to the model, or the checker finds a rule that the plan breaks.
    pub fn plan(&self, values: &[f64], provenance: Provenance) -> Result<AnyPlan, Problems> {
        fn of<K: Variants>(
            scenario: &Arc<Scenario<K>>,
            question: &Question,
            values: &[f64],
            provenance: Provenance,
        ) -> Result<AnyPlan, Problems> {
            let method = implementation::<K>(&question.method)?;
            let checked = planned(&*method, scenario, &question.params, values, provenance)?;
            Ok(K::plan(Arc::new(checked)))
        }
        each_kind!(&self.scenario, AnyScenario, scenario => of(scenario, self, values, provenance))
    }
}

fn implementation<K: Variants>(name: &str) -> Result<Arc<dyn Modelled<K>>, Problem> {
    match K::models().iter().find(|one| one.name() == name) {
        Some(one) => Ok(Arc::clone(one)),
        None => Err(no_model(K::NAME, name, &modelled(K::NAME))),
    }
}

fn planned<K: Variants>(
    method: &dyn Modelled<K>,
    scenario: &Arc<Scenario<K>>,
    params: &Params,
    values: &[f64],
    mut provenance: Provenance,
) -> Result<Checked<K>, Problems> {
    let candidate = method.plan(scenario, params, values).map_err(problems_of)?;
    let proves =
        K::methods().iter().map(|one| one.info()).any(|info| info.name == method.name() && info.proves);
    provenance.scenario_sha256 =
        scenario.sha256().map_err(|error| Problem::new("", error.to_string(), "correct the scenario"))?;
    let plan = Plan {
        scenario: Arc::clone(scenario),
        name: scenario.name.clone(),
        method: method.name().to_owned(),
        parameters: params.clone(),
        seed: 1,
        threads: 1,
        status: if proves { Status::Feasible } else { Status::Heuristic },
        limit: None,
        objective: Objective::of::<K>(candidate.value, None),
        metrics: candidate.metrics,
        provenance,
        derived_from: None,
        notes: None,
        result: candidate.result,
    };
    let invalid = |violations: Vec<Violation>| {
        let mut problems = Problems::new();
        for violation in violations {
            problems.add(
                "",
                format!("the plan of this solution is invalid: {violation}"),
                "please report this",
            );
        }
        problems
    };
    // `lightbay check` applies the same rules to the plan when it is read from a file.
    let broken = envelope::violations(&plan);
    if !broken.is_empty() {
        return Err(invalid(broken));
    }
    Checked::verify(plan, Depth::Usual).map_err(|rejected| invalid(rejected.violations))
}

/// Converts the error of a method to problems of an input.
fn problems_of(error: MethodError) -> Problems {
    match error {
        MethodError::Invalid(problems) => problems,
        other => Problem::new("", other.to_string(), "").into(),
    }
}

fn no_model(kind_name: &str, name: &str, all: &[ModelledMethod]) -> Problem {
    let names: Vec<&str> = all.iter().map(|one| one.name).collect();
    if method(kind_name, name).is_some() {
        let remedy = format!("use one of {}", names.join(", "));
        return Problem::new("", format!("method '{name}' has no model to export"), remedy);
    }
    let of = kind(kind_name).map_or_else(String::new, |kind| format!(" for kind {}", kind.name));
    Problem::new("", format!("method '{name}' does not exist{of}"), suggestion(name, &names))
}

/// Refuses parameters that do not change the model of the method, because such parameters would have no effect on the
/// exported model.
fn without_effect(
    kind: &str,
    chosen: &ModelledMethod,
    knobs: &[ParamInfo],
    settings: &[Setting],
) -> Result<(), Problems> {
    let known = |infos: &[ParamInfo], name: &str| infos.iter().any(|info| info.name == name);
    let mut all = method(kind, chosen.name).map_or_else(Vec::new, |info| info.params);
    all.extend(common_params());
    let mut problems = Problems::new();
    for setting in settings {
        let name = setting.name.as_str();
        if !known(knobs, name) && !known(&chosen.params, name) && known(&all, name) {
            problems.add(
                name,
                format!("does not change the model of {}", chosen.name),
                "leave it out; it is an option of `lightbay solve`, and the solver that reads the file has its own options",
            );
        }
    }
    problems.into_result(())
}

#[cfg(test)]
mod tests;
