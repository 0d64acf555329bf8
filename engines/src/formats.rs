//! Importers and exporters by name, and what they need described as data.

use crate::catalogue::kinds;
use crate::listed::Listed;
use crate::models;
use crate::subject::{AnyPlan, AnyScenario};
use lightbay_core::checked::Checked;
use lightbay_core::param::{ParamInfo, ParamValue, Params, Setting};
use lightbay_core::problem::{Problem, Problems, suggestion};
use lightbay_core::scenario::Scenario;
use schemars::JsonSchema;
use serde::Serialize;
use std::sync::Arc;

mod import;
pub(crate) mod tpu;
pub(crate) mod training;

pub use import::{Imported, Input, Product, import, importers};

/// What an exporter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SubjectSort {
    /// Scenarios only.
    Scenario,
    /// Plans only.
    Plan,
    /// Both.
    Either,
}

/// A format that can be written or read.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FormatInfo {
    /// Name after `--to` or `import`.
    pub name: &'static str,
    /// What it is and who reads it, in one sentence.
    pub help: &'static str,
    /// What it is made from (exporters) or becomes (importers).
    pub of: SubjectSort,
    /// Usual ending of file names, without the dot.
    pub extension: &'static str,
    /// Its knobs.
    pub params: Vec<ParamInfo>,
}

/// What is to be exported.
#[derive(Clone, Copy, Debug)]
pub enum Subject<'a> {
    /// A scenario.
    Scenario(&'a AnyScenario),
    /// A plan.
    Plan(&'a AnyPlan),
}

impl Subject<'_> {
    /// Name of its kind.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Scenario(scenario) => scenario.kind(),
            Self::Plan(plan) => plan.scenario().kind(),
        }
    }

    fn sort(&self) -> SubjectSort {
        match self {
            Self::Scenario(_) => SubjectSort::Scenario,
            Self::Plan(_) => SubjectSort::Plan,
        }
    }
}

/// A written file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artifact {
    /// Suggested file name.
    pub name: String,
    /// Content.
    pub bytes: Vec<u8>,
    /// For a file that only makes sense beside the first one: what stands behind the name of that one to name it.
    pub beside: Option<&'static str>,
}

/// The exporters of a kind; empty for an unknown one.
pub fn exporters(kind: &str) -> Vec<FormatInfo> {
    if kinds().iter().all(|known| known.name != kind) {
        return Vec::new();
    }
    let mut formats = vec![FormatInfo {
        name: "json",
        help: "The scenario or plan itself, for scripts and the fabric controller.",
        of: SubjectSort::Either,
        extension: "json",
        params: Vec::new(),
    }];
    formats.extend(named_kind!(kind, K => K::exporters(), Vec::new()));
    formats.extend(models::exporters(kind));
    formats
}

/// Writes a subject in a format.
///
/// # Errors
/// An unknown format, settings that are not valid for it, or a subject it cannot express.
pub fn export(subject: Subject<'_>, format: &str, settings: &[Setting]) -> Result<Vec<Artifact>, Problems> {
    let formats = exporters(subject.kind());
    let Some(info) = formats.iter().find(|info| info.name == format) else {
        let names: Vec<&str> = formats.iter().map(|info| info.name).collect();
        return Err(Problem::new(
            "to",
            format!("'{format}' is no export format"),
            suggestion(format, &names),
        )
        .into());
    };
    if info.of != SubjectSort::Either && info.of != subject.sort() {
        let (wanted, remedy) = match info.of {
            SubjectSort::Plan => ("a plan", "solve the scenario first and export the plan"),
            _ => ("a scenario", "export the scenario instead"),
        };
        return Err(Problem::new("to", format!("'{format}' is written from {wanted}"), remedy).into());
    }
    if let Some(written) = models::export(subject, format, settings) {
        return written;
    }
    let params = parse_settings(&info.params, settings, format)?;
    let bytes = match (format, subject) {
        ("json", Subject::Scenario(scenario)) => scenario.to_json().map_err(write_problem)?,
        ("json", Subject::Plan(plan)) => plan.to_json().map_err(write_problem)?,
        (_, Subject::Scenario(scenario)) => return export_scenario(scenario, format, &params),
        (_, Subject::Plan(plan)) => return export_plan(plan, format, &params),
    };
    let (name, what) = match subject {
        Subject::Scenario(scenario) => (scenario.name().to_owned(), "scenario"),
        Subject::Plan(plan) => (plan.header().name, "plan"),
    };
    Ok(vec![Artifact { name: format!("{}.{what}.json", file_stem(&name)), bytes, beside: None }])
}

fn export_scenario(scenario: &AnyScenario, format: &str, params: &Params) -> Result<Vec<Artifact>, Problems> {
    fn of<K: Listed>(
        scenario: &Arc<Scenario<K>>,
        format: &str,
        params: &Params,
    ) -> Result<Vec<Artifact>, Problems> {
        K::export_scenario(scenario, format, params)
    }
    each_kind!(scenario, AnyScenario, scenario => of(scenario, format, params))
}

fn export_plan(plan: &AnyPlan, format: &str, params: &Params) -> Result<Vec<Artifact>, Problems> {
    fn of<K: Listed>(
        plan: &Arc<Checked<K>>,
        format: &str,
        params: &Params,
    ) -> Result<Vec<Artifact>, Problems> {
        K::export_plan(plan, format, params)
    }
    each_kind!(plan, AnyPlan, plan => of(plan, format, params))
}

pub(crate) fn write_problem(error: lightbay_core::json::WriteError) -> Problem {
    Problem::new("", error.to_string(), "mend the input")
}

/// A name as part of a file name: letters, digits and a few signs.
pub(crate) fn file_stem(name: &str) -> String {
    let stem: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '_' })
        .take(80)
        .collect();
    let stem = stem.trim_matches('.').to_owned();
    if stem.is_empty() { "lightbay".to_owned() } else { stem }
}

/// Values of a format's knobs, defaults filled in.
pub(crate) fn parse_settings(
    infos: &[ParamInfo],
    settings: &[Setting],
    format: &str,
) -> Result<Params, Problems> {
    let mut problems = Problems::new();
    let mut given: Vec<(String, ParamValue)> = Vec::new();
    for setting in settings {
        match infos.iter().find(|info| info.name == setting.name) {
            None => {
                let names: Vec<&str> = infos.iter().map(|info| info.name.as_ref()).collect();
                problems.add(
                    setting.name.clone(),
                    format!("is no parameter of format {format}"),
                    suggestion(&setting.name, &names),
                );
            }
            Some(_) if setting.index.is_some() => {
                problems.add(setting.to_string(), "has no entries", "write it without [ ]");
            }
            Some(info) => match info.parse(&setting.text) {
                Ok(value) => given.push((setting.name.clone(), value)),
                Err(problem) => problems.push(problem),
            },
        }
    }
    problems.into_result(())?;
    Params::resolve(infos, given.iter().map(|(name, value)| (name.as_str(), value)))
}
