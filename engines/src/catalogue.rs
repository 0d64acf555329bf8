//! Kinds, methods, presets and knobs by name.

use crate::subject::AnyScenario;
use lightbay_core::kind::{Kind, ObjectiveInfo};
use lightbay_core::method::{Method, MethodInfo};
use lightbay_core::param::ParamInfo;
use lightbay_core::problem::{Problem, suggestion};
use lightbay_core::scenario::Scenario;
use lightbay_highs::options::has_hipo;
use lightbay_training::{Training, presets as training_presets};
use std::sync::Arc;

/// A kind of scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KindInfo {
    /// Name in files and on the command line.
    pub name: &'static str,
    /// What it is for, in one line.
    pub help: &'static str,
    /// What is optimised.
    pub objective: ObjectiveInfo,
    /// Method used when none is named.
    pub default_method: &'static str,
}

/// A built-in scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PresetInfo {
    /// Its kind.
    pub kind: &'static str,
    /// Name after `preset:`.
    pub name: &'static str,
    /// What it is, in one line.
    pub help: &'static str,
}

fn kind_info<K: Kind>(help: &'static str) -> KindInfo {
    KindInfo { name: K::NAME, help, objective: K::OBJECTIVE, default_method: K::DEFAULT_METHOD }
}

/// All kinds.
pub fn kinds() -> Vec<KindInfo> {
    vec![kind_info::<Training>("optical circuits between the pods of one LLM training job")]
}

/// The solver of linear and integer programs that is built in: its version, and what it can use on this machine.
pub fn solver() -> String {
    let hipo = if has_hipo() { "with HiPO" } else { "without HiPO (no libhighs_extras of this version)" };
    format!("HiGHS {}, {hipo}", lightbay_highs::instance::version())
}

/// One kind by name.
pub fn kind(name: &str) -> Option<KindInfo> {
    kinds().into_iter().find(|kind| kind.name == name)
}

/// The methods of a kind; empty for an unknown one.
pub fn methods(kind: &str) -> Vec<MethodInfo> {
    if kind == Training::NAME {
        lightbay_training::methods::all().iter().map(|method| method.info()).collect()
    } else {
        Vec::new()
    }
}

/// One method by name.
pub fn method(kind: &str, name: &str) -> Option<MethodInfo> {
    methods(kind).into_iter().find(|method| method.name == name)
}

/// The implementation of a method.
pub(crate) fn implementation<K: Kind>(
    all: Vec<Arc<dyn Method<K>>>,
    name: &str,
) -> Result<Arc<dyn Method<K>>, Problem> {
    let names: Vec<&str> = all.iter().map(|method| method.info().name).collect();
    match names.iter().position(|known| *known == name) {
        Some(index) => Ok(Arc::clone(&all[index])),
        None => Err(Problem::new(
            "method",
            format!("'{name}' is no method of kind {}", K::NAME),
            suggestion(name, &names),
        )),
    }
}

/// The scenario knobs of a kind; empty for an unknown one.
pub fn knobs(kind: &str) -> Vec<ParamInfo> {
    if kind == Training::NAME { Training::knobs(None) } else { Vec::new() }
}

/// All built-in scenarios.
pub fn presets() -> Vec<PresetInfo> {
    training_presets::JOBS
        .iter()
        .map(|preset| PresetInfo { kind: Training::NAME, name: preset.name, help: preset.description })
        .collect()
}

/// One built-in scenario.
///
/// # Errors
/// An unknown name, with the nearest valid one.
pub fn preset(name: &str) -> Result<AnyScenario, Problem> {
    let Some(preset) = training_presets::job(name) else {
        let names: Vec<&str> = presets().iter().map(|preset| preset.name).collect();
        return Err(Problem::new("", format!("'{name}' is no preset"), suggestion(name, &names)));
    };
    let body = lightbay_training::TrainingScenario::Job(preset.job());
    Ok(AnyScenario::Training(Arc::new(Scenario { name: preset.name.to_owned(), body })))
}
