//! Models as files: MPS and LP files of models, with a file of their names.

use super::names::NameFile;
use super::{Question, modelled};
use crate::formats::{Artifact, FormatInfo, Subject, SubjectSort};
use lightbay_core::format::file_stem;
use lightbay_core::json;
use lightbay_core::param::{ParamInfo, Setting};
use lightbay_core::problem::{Problem, Problems};
use lightbay_highs::file::{self, ModelFormat};

/// The formats of models: name, model format and help.
const FORMATS: [(&str, ModelFormat, &str); 2] = [
    (
        "mps",
        ModelFormat::Mps,
        "The integer program of a method for any solver, as a free MPS file; a second file names \
         its rows and columns.",
    ),
    (
        "lp",
        ModelFormat::Lp,
        "The integer program of a method in the readable LP format; a second file names its rows and columns.",
    ),
];

/// Suffix that turns the name of a model file into the name of its file of names.
const NAMES_SUFFIX: &str = ".names.json";

/// Returns `true` if a format writes models, so that `method` is one of its settings.
pub fn is_model(format: &str) -> bool {
    format_of(format).is_some()
}

/// Returns the model format of this name.
fn format_of(name: &str) -> Option<ModelFormat> {
    FORMATS.iter().find(|(known, _, _)| *known == name).map(|(_, format, _)| *format)
}

/// Returns the model exporters of a kind; empty if no method of the kind has a model to export.
pub(crate) fn exporters(kind: &str) -> Vec<FormatInfo> {
    let methods: Vec<&'static str> = modelled(kind).iter().map(|one| one.name).collect();
    let Some(first) = methods.first() else { return Vec::new() };
    let method = ParamInfo::choice(
        "method",
        &methods,
        first,
        "Method whose model is written. Default: the method of the plan; for a scenario, the first of \
         these methods. Use --set for its parameters and those of the scenario.",
    );
    FORMATS
        .iter()
        .map(|(name, _, help)| FormatInfo {
            name,
            help,
            of: SubjectSort::Either,
            leaves_out: &[
                "the plan (the file is a model to be solved)",
                "rules of the checker that the model does not contain",
            ],
            against: None,
            extension: name,
            folder: false,
            streams: false,
            params: vec![method.clone()],
        })
        .collect()
}

/// Writes the model of a method if `format` is a model format: the model first, then its names.
///
/// # Errors
/// Settings that are not valid, or a scenario that does not suit the method.
pub(crate) fn export(
    subject: Subject<'_>,
    format: &str,
    settings: &[Setting],
) -> Option<Result<Vec<Artifact>, Problems>> {
    let known = format_of(format)?;
    Some(write(subject, format, known, settings))
}

fn write(
    subject: Subject<'_>,
    extension: &str,
    format: ModelFormat,
    settings: &[Setting],
) -> Result<Vec<Artifact>, Problems> {
    let question = Question::of(subject, settings)?;
    let model = question.model()?;
    let written = file::write(&model, format).map_err(|error| {
        let other = if extension == "lp" { "mps" } else { "lp" };
        Problem::new(
            "",
            error.to_string().replace('\n', "; "),
            format!("export the model as {other} instead"),
        )
    })?;
    let names = NameFile::of(&question, extension, &written.names);
    let name = format!("{}.{}.{extension}", file_stem(question.scenario.name()), question.method);
    let beside = json::to_pretty(&names.to_value(model.size())?)?;
    Ok(vec![
        Artifact::new(name.clone(), written.text),
        Artifact::beside(format!("{name}{NAMES_SUFFIX}"), beside, NAMES_SUFFIX),
    ])
}
