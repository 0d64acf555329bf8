//! The state of switches becomes what is installed in a scenario, which is one of the files (or a plan for it).

use super::{Input, installed, may_assume};
use crate::Crossconnect;
use lightbay_core::format::{self, ImportedScenario};
use lightbay_core::kind::Kind as _;
use lightbay_core::param::Params;
use lightbay_core::plan::read_draft;
use lightbay_core::problem::{Problem, Problems, counted, printable};
use lightbay_core::read::read_json;
use lightbay_core::scenario::{Assumed, Scenario, kind_of};
use lightbay_formats::{Format, Limits, detect};
use serde_json::json;

/// Answers of switches are small.
const LIMITS: Limits = Limits { content_bytes: 64 << 20, line_bytes: 1 << 16, rows: 1_000_000 };

/// Reads the state of the switches of a scenario into it.
///
/// # Errors
/// No scenario among the files or several, and every problem of the files. With `strict`, what the files do not say
/// themselves is a problem too, and so is `strict` for a format that leaves nothing to be assumed.
pub(crate) fn import(
    format: &str,
    inputs: &[format::Input],
    params: &Params,
    strict: bool,
) -> Result<ImportedScenario<Crossconnect>, Problems> {
    if strict && !may_assume(format) {
        let message = format!("has no effect: files of format {format} leave nothing to be assumed");
        return Err(Problem::new("--strict", message, "leave it out").into());
    }
    let (mut scenario, files) = sorted(format, inputs)?;
    let read = installed(format, &files, &scenario.body, params)?;
    if strict {
        let mut problems = Problems::new();
        for line in &read.assumed {
            problems.add("", line.clone(), "add files that say it, or leave out --strict");
        }
        problems.into_result(())?;
    }
    let before = scenario.body.installed_circuits().count();
    scenario.body.installed = read.installed;
    scenario.body.strays = read.strays;
    // It is no random instance any more: drawing another one would forget what was read.
    scenario.body.family = None;
    scenario.body.validate()?;
    let installed = scenario.body.installed_circuits().count();
    let mut lines = read.lines;
    lines.push(format!(
        "{} installed instead of {before}",
        counted(installed as u64, "circuit is", "circuits are")
    ));
    let summary = json!({ "installed_circuits": installed, "installed_circuits_before": before, "lines": lines,
            "surplus_connections": scenario.body.strays.len() - read.half, "half_circuits": read.half });
    let notes = lines.iter().filter(|line| !read.assumed.contains(line)).cloned().collect();
    let assumed = read.assumed.into_iter().map(Assumed::fact).collect();
    Ok(ImportedScenario { scenario, lines, summary, assumed, notes })
}

/// The scenario among the files, and the others.
fn sorted<'i>(
    format: &str,
    inputs: &'i [format::Input],
) -> Result<(Scenario<Crossconnect>, Vec<Input<'i>>), Problems> {
    let (mut scenario, mut files) = (None, Vec::new());
    for input in inputs {
        let opened = detect::open(input.bytes.as_slice(), &LIMITS);
        if !opened.is_ok_and(|opened| matches!(opened.format, Format::Scenario | Format::Plan)) {
            files.push(Input { name: &input.name, bytes: &input.bytes });
            continue;
        }
        let found = scenario_in(input).map_err(|problems| problems.named(&input.name))?;
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
                 installed.json`; `lightbay new {} --set from=PLAN -o SCENARIO` makes one from the plan of a job",
                Crossconnect::NAME
            ),
        )
    })?;
    Ok((scenario, files))
}

/// The scenario of a file, or the one that the plan in it is for.
fn scenario_in(input: &format::Input) -> Result<Scenario<Crossconnect>, Problems> {
    let value = read_json(input.bytes.as_slice())?;
    let kind = kind_of(&value);
    if kind != Some(Crossconnect::NAME) {
        let message =
            kind.map_or_else(|| "is missing".to_owned(), |kind| format!("is '{}'", printable(kind)));
        let remedy = format!("give a scenario of kind {}", Crossconnect::NAME);
        return Err(Problem::new("kind", message, remedy).into());
    }
    let schema = value.get("schema").and_then(serde_json::Value::as_str);
    if !schema.is_some_and(|schema| schema.starts_with("lightbay.plan/")) {
        return Scenario::from_value(&value);
    }
    let plan = read_draft::<Crossconnect>(&value)?.plan;
    let unread = || Problem::new("result", "cannot be read", "see `lightbay check`");
    Ok(Scenario::clone(&plan.ok_or_else(unread)?.scenario))
}
