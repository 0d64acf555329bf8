//! Importers: files of other tools become scenarios or plans, with a summary of what was found and what was assumed.

use super::{FormatInfo, SubjectSort, listed, parse_settings, switches, write_problem};
use crate::models;
use crate::subject::{AnyPlan, AnyScenario};
use lightbay_core::json;
use lightbay_core::param::Setting;
use lightbay_core::problem::{Problem, Problems, suggestion};
use lightbay_core::scenario::Scenario;
use lightbay_training::TrainingScenario;
use lightbay_training::files::import as aicb;
use std::sync::Arc;

/// A file to import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// Its name, for messages.
    pub name: String,
    /// Its content, perhaps gzip-compressed.
    pub bytes: Vec<u8>,
}

/// What files of another tool become.
#[derive(Clone, Debug)]
pub enum Product {
    /// Something to solve.
    Scenario(AnyScenario),
    /// A plan that passed the checker.
    Plan(AnyPlan),
}

impl Product {
    /// The scenario, or the one that the plan is for.
    pub fn scenario(&self) -> AnyScenario {
        match self {
            Self::Scenario(scenario) => scenario.clone(),
            Self::Plan(plan) => plan.scenario(),
        }
    }

    /// As a JSON tree in file order.
    ///
    /// # Errors
    /// A number that is not finite.
    pub fn to_value(&self) -> Result<serde_json::Value, json::WriteError> {
        match self {
            Self::Scenario(scenario) => scenario.to_value(),
            Self::Plan(plan) => plan.shared().to_value(),
        }
    }

    /// As file content.
    ///
    /// # Errors
    /// A number that is not finite.
    pub fn to_json(&self) -> Result<Vec<u8>, json::WriteError> {
        match self {
            Self::Scenario(scenario) => scenario.to_json(),
            Self::Plan(plan) => plan.to_json(),
        }
    }
}

/// What an import gave.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The scenario or plan.
    pub product: Product,
    /// What was found, skipped and assumed, as lines for a person.
    pub lines: Vec<String>,
    /// The same as data.
    pub summary: serde_json::Value,
}

/// All importers.
pub fn importers() -> Vec<FormatInfo> {
    let mut formats = vec![FormatInfo {
        name: aicb::AICB,
        help: aicb::AICB_HELP,
        of: SubjectSort::Scenario,
        leaves_out: &["differences between ranks and between iterations (one of each represents all)"],
        against: None,
        extension: "txt",
        folder: false,
        params: aicb::aicb_knobs(),
    }];
    formats.extend(switches::importers());
    formats.extend(models::importer());
    formats
}

/// Turns files of another tool into a scenario or plan.
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
        return Err(Problem::new(
            "",
            format!("import format '{format}' does not exist"),
            suggestion(format, &names),
        )
        .into());
    };
    let mut imported = if format == models::SOL {
        models::import(inputs, settings, strict)?
    } else if format == aicb::AICB {
        workload(info, inputs, settings, strict)?
    } else {
        switches::import(info, inputs, settings, strict)?
    };
    imported.lines.extend(listed("not taken over", info.leaves_out));
    Ok(imported)
}

/// What calls or a text of SimAI describe.
fn workload(
    info: &FormatInfo,
    inputs: &[Input],
    settings: &[Setting],
    strict: bool,
) -> Result<Imported, Problems> {
    let format = info.name;
    let params = parse_settings(&info.params, settings, format)?;
    let files: Vec<aicb::ImportFile<'_>> =
        inputs.iter().map(|input| aicb::ImportFile { name: &input.name, bytes: &input.bytes }).collect();
    let job = aicb::import_aicb(&files, &params, strict)?;
    let summary = json::to_value(&job.summary).map_err(write_problem)?;
    Ok(Imported {
        lines: job.summary.to_text().lines().map(str::to_owned).collect(),
        summary,
        product: Product::Scenario(AnyScenario::Training(Arc::new(Scenario {
            name: job.name,
            body: TrainingScenario::Job(job.job),
        }))),
    })
}
