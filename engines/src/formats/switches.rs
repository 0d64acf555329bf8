//! Importers of what is set on switches: their answers become the installed state of a scenario.

use super::import::{Imported, Input, Product};
use super::{FormatInfo, SubjectSort, parse_settings};
use crate::files::{AnyFile, read_value};
use crate::subject::AnyScenario;
use lightbay_core::param::Setting;
use lightbay_core::problem::{Problem, Problems, counted};
use lightbay_core::read::read_json;
use lightbay_core::scenario::Scenario;
use lightbay_crossconnect::Crossconnect;
use lightbay_crossconnect::files::import;
use lightbay_formats::{Format, Limits, detect};
use serde_json::json;
use std::sync::Arc;

/// Answers of switches are small.
const LIMITS: Limits = Limits { content_bytes: 64 << 20, line_bytes: 1 << 16, rows: 1_000_000 };

pub(super) fn importers() -> Vec<FormatInfo> {
    let info = |format: import::Format| FormatInfo {
        name: format.name,
        help: format.help,
        of: SubjectSort::Scenario,
        leaves_out: format.leaves_out,
        against: None,
        extension: format.extension,
        folder: false,
        params: format.params,
    };
    import::formats().into_iter().map(info).collect()
}

/// Reads the state of the switches of a scenario, which is one of the inputs (or a plan for it), into it.
///
/// # Errors
/// No scenario among the inputs or several, and every problem of the files. With `strict`, what the files do not say
/// themselves is a problem too, and so is `strict` for a format that leaves nothing to be assumed.
pub(super) fn import(
    info: &FormatInfo,
    inputs: &[Input],
    settings: &[Setting],
    strict: bool,
) -> Result<Imported, Problems> {
    if strict && !import::may_assume(info.name) {
        let message = format!("has no effect: files of format {} leave nothing to be assumed", info.name);
        return Err(Problem::new("--strict", message, "leave it out").into());
    }
    let params = parse_settings(&info.params, settings, info.name)?;
    let (scenario, files) = sorted(info.name, inputs)?;
    let files: Vec<import::Input<'_>> =
        files.iter().map(|input| import::Input { name: &input.name, bytes: &input.bytes }).collect();
    let read = import::installed(info.name, &files, &scenario.body, &params)?;
    if strict {
        let mut problems = Problems::new();
        for line in &read.assumed {
            problems.add("", line.clone(), "add files that say it, or leave out --strict");
        }
        problems.into_result(())?;
    }
    let before = scenario.body.installed_circuits().count();
    let mut changed = Scenario::clone(&scenario);
    changed.body.installed = read.installed;
    // It is no random instance any more: drawing another one would forget what was read.
    changed.body.family = None;
    changed.body.validate()?;
    let installed = changed.body.installed_circuits().count();
    let mut lines = read.lines;
    lines.push(format!(
        "{} installed instead of {before}",
        counted(installed as u64, "circuit is", "circuits are")
    ));
    Ok(Imported {
        summary: json!({ "installed_circuits": installed, "installed_circuits_before": before, "lines": lines }),
        lines,
        product: Product::Scenario(AnyScenario::Crossconnect(Arc::new(changed))),
    })
}

/// The scenario among the inputs, and the others.
fn sorted<'i>(
    format: &str,
    inputs: &'i [Input],
) -> Result<(Arc<Scenario<Crossconnect>>, Vec<&'i Input>), Problems> {
    let (mut scenario, mut files) = (None, Vec::new());
    for input in inputs {
        let opened = detect::open(input.bytes.as_slice(), &LIMITS);
        if !opened.is_ok_and(|opened| matches!(opened.format, Format::Scenario | Format::Plan)) {
            files.push(input);
            continue;
        }
        let found = read(input).map_err(|problems| problems.named(&input.name))?;
        if scenario.replace(found).is_some() {
            let problem = Problem::new("", "is the second scenario", "name one scenario or plan");
            return Err(Problems::from(problem).named(&input.name));
        }
    }
    let scenario = scenario.ok_or_else(|| {
        Problem::new(
            "",
            "none of the files is a scenario; the state of switches does not say which circuits are wanted",
            format!(
                "add the scenario of these switches, or a plan for it: `lightbay import {format} SCENARIO FILE… -o \
                 installed.json`; `lightbay new crossconnect --set from=PLAN -o SCENARIO` makes one from the plan of a job"
            ),
        )
    })?;
    Ok((scenario, files))
}

fn read(input: &Input) -> Result<Arc<Scenario<Crossconnect>>, Problems> {
    let value = read_json(input.bytes.as_slice())?;
    let scenario = match read_value(&value)? {
        AnyFile::Scenario(scenario) => Some(scenario),
        AnyFile::Plan(plan) => plan.scenario(),
    };
    match scenario {
        Some(AnyScenario::Crossconnect(scenario)) => Ok(scenario),
        Some(other) => {
            let message = format!("is of kind {}", other.kind());
            Err(Problem::new("kind", message, "give a scenario of kind crossconnect").into())
        }
        None => Err(Problem::new("result", "cannot be read", "see `lightbay check`").into()),
    }
}
