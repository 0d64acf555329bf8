//! Importers and exporters by name, and what they need described as data.

use crate::catalogue::kinds;
use crate::listed::Listed;
use crate::models;
use crate::subject::{AnyPlan, AnyScenario};
use lightbay_core::checked::Checked;
use lightbay_core::kind::Kind;
use lightbay_core::param::{ParamInfo, ParamValue, Params, Setting};
use lightbay_core::problem::{Problem, Problems, printable, suggestion};
use lightbay_core::scenario::Scenario;
use schemars::JsonSchema;
use serde::Serialize;
use std::any::Any;
use std::sync::Arc;

pub(crate) mod crossconnect;
mod import;
mod report;
mod switches;
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

/// The second subject that a format can take: another scenario or plan of the same kind, such as the state before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SecondSubject {
    /// What it may be.
    pub of: SubjectSort,
    /// What it is to the first one, in a few words.
    pub help: &'static str,
    /// Knob whose place it takes, so that both cannot be given.
    pub replaces: Option<&'static str>,
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
    /// What of the subject is not in the file (exporters), or what of the file is not in the result (importers); none where
    /// everything gets through.
    pub leaves_out: &'static [&'static str],
    /// The second subject that it can take (exporters); `null` for most.
    pub against: Option<SecondSubject>,
    /// Usual ending of file names, without the dot.
    pub extension: &'static str,
    /// Writes a file for each of several things, all in one folder, unless a knob asks for one of them (exporters).
    pub folder: bool,
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

    /// As one of a kind that is known; `None` if it is of another kind.
    fn typed<K: Listed>(&self) -> Option<SubjectOf<'_, K>> {
        match self {
            Self::Scenario(scenario) => each_kind!(scenario, AnyScenario, scenario => {
                let any: &dyn Any = scenario;
                any.downcast_ref().map(SubjectOf::Scenario)
            }),
            Self::Plan(plan) => each_kind!(plan, AnyPlan, plan => {
                let any: &dyn Any = plan;
                any.downcast_ref().map(SubjectOf::Plan)
            }),
        }
    }
}

/// A scenario or plan of one kind: what a format takes as its second subject.
#[derive(Debug)]
pub(crate) enum SubjectOf<'a, K: Kind> {
    /// A scenario.
    Scenario(&'a Arc<Scenario<K>>),
    /// A plan.
    Plan(&'a Arc<Checked<K>>),
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
        leaves_out: &[],
        against: None,
        extension: "json",
        folder: false,
        params: Vec::new(),
    }];
    let mut own = own_exporters(kind);
    report::exporters(kind, &mut own);
    formats.extend(own);
    formats.extend(models::exporters(kind));
    formats
}

/// The formats that a kind writes itself.
fn own_exporters(kind: &str) -> Vec<FormatInfo> {
    named_kind!(kind, K => K::exporters(), Vec::new())
}

/// Writes a subject in a format.
///
/// # Errors
/// An unknown format, settings that are not valid for it, or a subject it cannot express.
pub fn export(subject: Subject<'_>, format: &str, settings: &[Setting]) -> Result<Vec<Artifact>, Problems> {
    export_against(subject, None, format, settings)
}

/// Writes a subject in a format, with a second subject for formats that take one.
///
/// # Errors
/// Like [`export`]; a second subject of another kind, or one that the format has no use for.
pub fn export_against(
    subject: Subject<'_>,
    against: Option<Subject<'_>>,
    format: &str,
    settings: &[Setting],
) -> Result<Vec<Artifact>, Problems> {
    let formats = exporters(subject.kind());
    let Some(info) = formats.iter().find(|info| info.name == format) else {
        let names: Vec<&str> = formats.iter().map(|info| info.name).collect();
        return Err(Problem::new(
            "to",
            format!("export format '{format}' does not exist"),
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
    if let Some(against) = &against {
        check_second(info, &formats, &subject, against, settings)?;
    }
    if let Some(written) = models::export(subject, format, settings) {
        return written;
    }
    let params = parse_settings(&info.params, settings, format)?;
    if let Some(written) = report::export(subject, &own_exporters(subject.kind()), format, &params, settings)
    {
        return written;
    }
    let remarks = remarks(subject, info);
    let bytes = match (format, subject) {
        ("json", Subject::Scenario(scenario)) => scenario.to_json().map_err(write_problem)?,
        ("json", Subject::Plan(plan)) => plan.to_json().map_err(write_problem)?,
        (_, Subject::Scenario(scenario)) => {
            return Ok(commented(format, export_scenario(scenario, against, format, &params)?, &remarks));
        }
        (_, Subject::Plan(plan)) => {
            return Ok(commented(format, export_plan(plan, against, format, &params)?, &remarks));
        }
    };
    let (name, what) = match subject {
        Subject::Scenario(scenario) => (scenario.name().to_owned(), "scenario"),
        Subject::Plan(plan) => (plan.header().name, "plan"),
    };
    Ok(vec![Artifact { name: format!("{}.{what}.json", file_stem(&name)), bytes, beside: None }])
}

/// What a person should know of a file in a format beside its content: what of the subject is not in it, and what has to be
/// told of the plan. One sentence each.
pub fn remarks(subject: Subject<'_>, info: &FormatInfo) -> Vec<String> {
    let mut remarks: Vec<String> = listed("not in the file", info.leaves_out).into_iter().collect();
    if let Subject::Plan(plan) = subject {
        remarks.extend(plan.caveat());
    }
    remarks
}

/// `what: one, another and a third`; nothing if nothing is listed.
pub(crate) fn listed(what: &str, parts: &[impl AsRef<str>]) -> Option<String> {
    let (last, others) = parts.split_last()?;
    let others: Vec<&str> = others.iter().map(AsRef::as_ref).collect();
    let last = last.as_ref();
    Some(if others.is_empty() {
        format!("{what}: {last}")
    } else {
        format!("{what}: {} and {last}", others.join(", "))
    })
}

/// The files with the remarks as comments behind their content, where a format has comments and does not write them itself.
fn commented(format: &str, artifacts: Vec<Artifact>, remarks: &[String]) -> Vec<Artifact> {
    let comment = |remark: &String| {
        let remark = printable(remark).replace("--", "- -");
        match format {
            "dot" => Some(format!("// {remark}\n")),
            "graphml" => Some(format!("<!-- {remark} -->\n")),
            _ => None,
        }
    };
    let text: String = remarks.iter().filter_map(comment).collect();
    let with = |mut artifact: Artifact| {
        artifact.bytes.extend_from_slice(text.as_bytes());
        artifact
    };
    artifacts.into_iter().map(with).collect()
}

fn export_scenario(
    scenario: &AnyScenario,
    against: Option<Subject<'_>>,
    format: &str,
    params: &Params,
) -> Result<Vec<Artifact>, Problems> {
    fn of<K: Listed>(
        scenario: &Arc<Scenario<K>>,
        against: Option<SubjectOf<'_, K>>,
        format: &str,
        params: &Params,
    ) -> Result<Vec<Artifact>, Problems> {
        K::export_scenario(scenario, against, format, params)
    }
    let against = against.as_ref();
    each_kind!(scenario, AnyScenario, scenario => {
        of(scenario, against.and_then(Subject::typed), format, params)
    })
}

fn export_plan(
    plan: &AnyPlan,
    against: Option<Subject<'_>>,
    format: &str,
    params: &Params,
) -> Result<Vec<Artifact>, Problems> {
    fn of<K: Listed>(
        plan: &Arc<Checked<K>>,
        against: Option<SubjectOf<'_, K>>,
        format: &str,
        params: &Params,
    ) -> Result<Vec<Artifact>, Problems> {
        K::export_plan(plan, against, format, params)
    }
    let against = against.as_ref();
    each_kind!(plan, AnyPlan, plan => of(plan, against.and_then(Subject::typed), format, params))
}

/// Refuses a second subject that a format has no use for, or that says twice what a knob says.
fn check_second(
    info: &FormatInfo,
    formats: &[FormatInfo],
    subject: &Subject<'_>,
    against: &Subject<'_>,
    settings: &[Setting],
) -> Result<(), Problem> {
    let refused = |message: String, remedy: &str| Err(Problem::new("against", message, remedy.to_owned()));
    let Some(second) = info.against else {
        let able: Vec<&str> =
            formats.iter().filter(|info| info.against.is_some()).map(|info| info.name).collect();
        let remedy = if able.is_empty() {
            "leave it out".to_owned()
        } else {
            format!("leave it out, or export to {}", able.join(" or "))
        };
        return refused(format!("has no effect: format {} compares with nothing", info.name), &remedy);
    };
    if subject.kind() != against.kind() {
        let message = format!("is of kind {}, but the export is of kind {}", against.kind(), subject.kind());
        return refused(message, "give two of the same kind");
    }
    if second.of != SubjectSort::Either && second.of != against.sort() {
        return match second.of {
            SubjectSort::Plan => refused("is a scenario".to_owned(), "give a plan"),
            _ => refused("is a plan".to_owned(), "give a scenario"),
        };
    }
    let twice = second.replaces.filter(|knob| settings.iter().any(|setting| setting.name == *knob));
    match twice {
        Some(knob) => Err(Problem::new(knob, "is given by --against already", "give one of the two")),
        None => Ok(()),
    }
}

pub(crate) fn write_problem(error: lightbay_core::json::WriteError) -> Problem {
    Problem::new("", error.to_string(), "correct the input")
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
                    format!("is not a parameter of format {format}"),
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
