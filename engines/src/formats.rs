//! Importers and exporters by name, with their inputs and parameters described as data.

use crate::catalogue::kind as kind_info;
use crate::models;
use crate::subject::{AnyPlan, AnyScenario, Variants};
use lightbay_core::format::{SubjectOf, enumerated, file_stem};
use lightbay_core::kind::Kind;
use lightbay_core::listed::Listed as _;
use lightbay_core::param::{Params, Setting};
use lightbay_core::problem::{Problem, Problems, printable, suggestion};
use std::any::Any;

mod import;
mod laid;
mod report;

pub(crate) use import::origin;
pub use import::{ImportReport, Product, import, import_sources, importers, recognised};
pub use lightbay_core::format::{Artifact, FileSource, FormatInfo, Input, SecondSubject, SubjectSort};

/// Name of the format that writes the scenario or plan itself.
const JSON: &str = "json";

/// Scenario or plan to be exported.
#[derive(Clone, Copy, Debug)]
pub enum Subject<'a> {
    /// A scenario.
    Scenario(&'a AnyScenario),
    /// A plan.
    Plan(&'a AnyPlan),
}

impl Subject<'_> {
    /// Returns the name of the subject's kind.
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

    /// Returns the scenario or plan in the types of kind `K`; `None` if the subject is of another kind.
    fn typed<K: Kind>(&self) -> Option<SubjectOf<'_, K>> {
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

/// Returns the exporters of a kind; none for an unknown kind.
pub fn exporters(kind: &str) -> Vec<FormatInfo> {
    if kind_info(kind).is_none() {
        return Vec::new();
    }
    let mut formats = vec![FormatInfo::new(
        JSON,
        "The scenario or plan itself, for scripts and the fabric controller.",
        SubjectSort::Either,
        "json",
    )];
    let mut own = own_exporters(kind);
    report::exporters(kind, &mut own);
    formats.extend(own);
    formats.extend(laid::exporters(kind));
    formats.extend(models::exporters(kind));
    formats
}

/// Returns the formats that a kind declares, without the formats that every kind has.
fn own_exporters(kind: &str) -> Vec<FormatInfo> {
    named_kind!(kind, K => K::exporters(), Vec::new())
}

/// Writes a subject in a format.
///
/// # Errors
/// An unknown format, settings that are not valid for the format, or a subject that the format cannot express.
pub fn export(subject: Subject<'_>, format: &str, settings: &[Setting]) -> Result<Vec<Artifact>, Problems> {
    export_against(subject, None, format, settings)
}

/// Writes a subject in a format, with a second subject for formats that accept one.
///
/// # Errors
/// Like [`export`]; also a second subject of another kind, or one that the format does not use.
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
        return Err(
            Problem::new("to", format!("'{format}' can be written only from {wanted}"), remedy).into()
        );
    }
    if let Some(against) = &against {
        check_second(info, &formats, &subject, against, settings)?;
    }
    if let Some(written) = models::export(subject, format, settings) {
        return written;
    }
    let params = info.values(settings)?;
    if let Some(written) = report::export(subject, &own_exporters(subject.kind()), format, &params, settings)
    {
        return written;
    }
    if let Some(written) = laid::export(subject, against, format, &params) {
        return written;
    }
    if format != JSON {
        let written = export_own(subject, against, format, &params)?;
        return Ok(commented(format, written, &remarks(subject, info)));
    }
    Ok(vec![match subject {
        Subject::Scenario(scenario) => {
            Artifact::new(format!("{}.scenario.json", file_stem(scenario.name())), scenario.to_json()?)
        }
        Subject::Plan(plan) => {
            Artifact::new(format!("{}.plan.json", file_stem(&plan.header().name)), plan.to_json()?)
        }
    }])
}

/// Returns remarks for the user on a written file, one sentence each: the parts of the subject that the format omits,
/// and a soft requirement that the plan does not meet.
pub fn remarks(subject: Subject<'_>, info: &FormatInfo) -> Vec<String> {
    fn of<K: Variants>(subject: SubjectOf<'_, K>, format: &str) -> Vec<String> {
        K::export_remarks(subject, format)
    }
    let mut remarks: Vec<String> =
        enumerated("left out of this format", info.leaves_out).into_iter().collect();
    remarks.extend(match subject {
        Subject::Scenario(scenario) => each_kind!(scenario, AnyScenario, scenario => {
            of(SubjectOf::Scenario(scenario), info.name)
        }),
        Subject::Plan(plan) => each_kind!(plan, AnyPlan, plan => of(SubjectOf::Plan(plan), info.name)),
    });
    if let Subject::Plan(plan) = subject {
        remarks.extend(plan.caveat());
    }
    remarks
}

/// Returns the files with the remarks appended as comments, for formats that have comments and do not write the remarks
/// themselves.
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

/// Writes a subject in a format that the kind of the subject declares.
fn export_own(
    subject: Subject<'_>,
    against: Option<Subject<'_>>,
    format: &str,
    params: &Params,
) -> Result<Vec<Artifact>, Problems> {
    fn of<K: Variants>(
        subject: SubjectOf<'_, K>,
        against: Option<Subject<'_>>,
        format: &str,
        params: &Params,
    ) -> Result<Vec<Artifact>, Problems> {
        let against = against.as_ref().and_then(Subject::typed);
        K::export(subject, against, format, params)
    }
    match subject {
        Subject::Scenario(scenario) => each_kind!(scenario, AnyScenario, scenario => {
            of(SubjectOf::Scenario(scenario), against, format, params)
        }),
        Subject::Plan(plan) => each_kind!(plan, AnyPlan, plan => {
            of(SubjectOf::Plan(plan), against, format, params)
        }),
    }
}

/// Refuses the second subject `against` if the format does not use a second subject, if `against` has the wrong kind or
/// type, or if `settings` contains the parameter that a second subject replaces.
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
        return refused(
            format!("has no effect: format {} does not take a second scenario or plan", info.name),
            &remedy,
        );
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
        Some(knob) => Err(Problem::new(knob, "is already given by --against", "give one of the two")),
        None => Ok(()),
    }
}
