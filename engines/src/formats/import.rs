//! Importers: files of other tools become scenarios, with a summary of what was found and what was assumed.

use super::{FormatInfo, SubjectSort, parse_settings, write_problem};
use crate::subject::AnyScenario;
use lightbay_core::json;
use lightbay_core::param::Setting;
use lightbay_core::problem::{Problem, Problems, suggestion};
use lightbay_core::scenario::Scenario;
use lightbay_training::{TrainingScenario, import as aicb};
use std::sync::Arc;
/// A file to import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// Its name, for messages.
    pub name: String,
    /// Its content, perhaps gzip-compressed.
    pub bytes: Vec<u8>,
}

/// What an import gave.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The scenario.
    pub scenario: AnyScenario,
    /// What was found, skipped and assumed, as lines for a person.
    pub lines: Vec<String>,
    /// The same as data.
    pub summary: serde_json::Value,
}

/// All importers.
pub fn importers() -> Vec<FormatInfo> {
    vec![FormatInfo {
        name: aicb::AICB,
        help: aicb::AICB_HELP,
        of: SubjectSort::Scenario,
        extension: "txt",
        params: aicb::aicb_knobs(),
    }]
}

/// Turns files of another tool into a scenario.
///
/// # Errors
/// An unknown format, settings that are not valid for it, or every problem of the files. With `strict`, everything
/// that had to be assumed is a problem too.
pub fn import(
    format: &str,
    inputs: &[Input],
    settings: &[Setting],
    strict: bool,
) -> Result<Imported, Problems> {
    let formats = importers();
    let Some(info) = formats.iter().find(|info| info.name == format) else {
        let names: Vec<&str> = formats.iter().map(|info| info.name).collect();
        return Err(
            Problem::new("", format!("'{format}' is no import format"), suggestion(format, &names)).into()
        );
    };
    let params = parse_settings(&info.params, settings, format)?;
    let files: Vec<aicb::ImportFile<'_>> =
        inputs.iter().map(|input| aicb::ImportFile { name: &input.name, bytes: &input.bytes }).collect();
    let job = aicb::import_aicb(&files, &params, strict)?;
    let summary = json::to_value(&job.summary).map_err(write_problem)?;
    Ok(Imported {
        lines: job.summary.to_text().lines().map(str::to_owned).collect(),
        summary,
        scenario: AnyScenario::Training(Arc::new(Scenario {
            name: job.name,
            body: TrainingScenario::Job(job.job),
        })),
    })
}
