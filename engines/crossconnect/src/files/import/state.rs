//! Imports the state of switches as the installed circuits of a scenario. The scenario, or a plan for it, is one of the
//! files.

use super::{Imported, Input, hall, installed, may_assume, numbering};
use crate::Crossconnect;
use crate::plan::Changes;
use crate::rollout::steps::{self, ChangeProgress};
use crate::scenario::{CrossconnectScenario, End, Port};
use lightbay_core::format::{self, ImportedScenario};
use lightbay_core::kind::Kind as _;
use lightbay_core::param::Params;
use lightbay_core::plan::read_draft;
use lightbay_core::problem::{Problem, Problems, counted, printable};
use lightbay_core::read::read_json;
use lightbay_core::scenario::{Assumed, Scenario, kind_of};
use lightbay_formats::{Format, Limits, detect};
use serde_json::json;
use std::collections::BTreeSet;

/// Limits of the input; replies of switches are small.
const LIMITS: Limits = Limits { content_bytes: 64 << 20, line_bytes: 1 << 16, rows: 1_000_000 };
/// Maximum number of ports that a line names, so that it stays readable.
const NAMED_PORTS: usize = 8;

/// Reads the state of the switches as the installed circuits of their scenario.
///
/// # Errors
/// The files contain no scenario, or more than one; and every problem of the files. With `strict`, every assumption is
/// a problem too; `strict` is refused for a format that never needs assumptions.
pub(crate) fn import(
    format: &str,
    inputs: &[format::Input],
    params: &Params,
    strict: bool,
) -> Result<ImportedScenario<Crossconnect>, Problems> {
    if [hall::PORT_MAP, hall::HALL].contains(&format) {
        return hall::import(format, inputs, params, strict);
    }
    let (mut scenario, change, files) = sorted(format, inputs)?;
    let numbers = numbering(format, &scenario.body, params);
    if strict && !may_assume(format) {
        let uses =
            numbers.map_or_else(String::new, |numbers| format!("; for the ports, the import uses {numbers}"));
        let message =
            format!("has no effect, because files of format {format} state every connection in full{uses}");
        let remedy = "leave it out, and set these parameters if the switches differ";
        return Err(Problem::new("--strict", message, remedy).into());
    }
    let read = installed(format, &files, &scenario.body, params)?;
    if strict {
        let mut problems = Problems::new();
        for line in &read.assumed {
            problems.add("", line.clone(), "add files with this information, or leave out --strict");
        }
        problems.into_result(())?;
    }
    let before = scenario.body.installed_circuits().count();
    let progress = change.map(|changes| progress(&scenario.body, &changes, &read));
    scenario.body.installed = read.installed;
    scenario.body.strays = read.strays;
    // The scenario stops being a random instance, because sampling it again would discard the imported state.
    scenario.body.family = None;
    scenario.body.validate()?;
    let installed = scenario.body.installed_circuits().count();
    let mut lines = read.lines;
    lines.extend(numbers.map(|numbers| format!("ports are read with {numbers}")));
    lines.push(format!(
        "{} installed instead of {before}",
        counted(installed as u64, "circuit is", "circuits are")
    ));
    lines.extend(progress.iter().map(|progress| progress_line(&scenario.body, progress)));
    let progress = progress.map(|progress| json!({ "steps_done": progress.done, "steps": progress.of, "ports_waiting": progress.waiting.len(), "ports_differ": progress.differ.len() }));
    let summary = json!({ "progress": progress, "installed_circuits": installed, "installed_circuits_before": before, "lines": lines,
            "surplus_connections": scenario.body.strays.len() - read.half, "half_circuits": read.half });
    let notes = lines.iter().filter(|line| !read.assumed.contains(line)).cloned().collect();
    let assumed = read.assumed.into_iter().map(Assumed::fact).collect();
    Ok(ImportedScenario { scenario, lines, summary, assumed, notes })
}

/// A scenario, the changes of the plan if the scenario came with a plan, and the other files.
type SortedInputs<'i> = (Scenario<Crossconnect>, Option<Changes>, Vec<Input<'i>>);

/// Returns the scenario among the files, and the other files.
fn sorted<'i>(format: &str, inputs: &'i [format::Input]) -> Result<SortedInputs<'i>, Problems> {
    let (input, files) = sorted_out(inputs)?;
    let change = input.map(changes_in).transpose()?.flatten();
    let scenario =
        input.map(|input| scenario_in(input).map_err(|problems| problems.named(&input.name))).transpose()?;
    let scenario = scenario.ok_or_else(|| {
        Problem::new(
            "",
            "none of the files is a scenario; the state of switches does not include the target circuits",
            format!(
                "add the scenario of these switches, or a plan for it: `lightbay import {format} SCENARIO FILE… -o \
                 installed.json`; `lightbay new {} --set from=PLAN -o SCENARIO` creates a scenario from the plan of a job",
                Crossconnect::NAME
            ),
        )
    })?;
    Ok((scenario, change, files))
}

/// Returns the file with the scenario, if there is one, and the other files.
pub(super) fn sorted_out(
    inputs: &[format::Input],
) -> Result<(Option<&format::Input>, Vec<Input<'_>>), Problems> {
    let (mut scenario, mut files) = (None, Vec::new());
    for input in inputs {
        let opened = detect::open(input.bytes.as_slice(), &LIMITS);
        if !opened.is_ok_and(|opened| matches!(opened.format, Format::Scenario | Format::Plan)) {
            files.push(Input { name: &input.name, bytes: &input.bytes });
        } else if scenario.replace(input).is_some() {
            let problem = Problem::new("", "is the second scenario", "name one scenario or plan");
            return Err(Problems::from(problem).named(&input.name));
        }
    }
    Ok((scenario, files))
}

/// Returns the changes of a plan in a file; `None` for a scenario and for an order of phases.
fn changes_in(input: &format::Input) -> Result<Option<Changes>, Problems> {
    let value = read_json(input.bytes.as_slice())?;
    if !is_plan(&value) || kind_of(&value) != Some(Crossconnect::NAME) {
        return Ok(None);
    }
    Ok(read_draft::<Crossconnect>(&value)?.plan.and_then(|plan| plan.result.changes().cloned()))
}

fn is_plan(value: &serde_json::Value) -> bool {
    let schema = value.get("schema").and_then(serde_json::Value::as_str);
    schema.is_some_and(|schema| schema.starts_with("lightbay.plan/"))
}

/// Returns the number of completed steps of a plan, from the state of the switches.
fn progress(scenario: &CrossconnectScenario, changes: &Changes, read: &Imported) -> ChangeProgress {
    let circuits = read
        .installed
        .ocs
        .iter()
        .flat_map(|ocs| ocs.cross_connects.iter().map(move |circuit| (ocs.ocs_id, *circuit)));
    // Connections that make no circuit and were not there before the change.
    let strays = read.strays.iter().filter(|stray| !scenario.strays.contains(stray));
    let ports = strays.flat_map(|stray| {
        [stray.from, stray.to].map(|end| (stray.ocs_id, (end.side, end.pod, end.port_index)))
    });
    steps::progress(scenario, changes, &circuits.collect(), &ports.collect())
}

/// Returns a line such as `step 2 of 5 done, step 3 has begun: 4 ports are not yet in their state after it: ocs-east:5, …`.
fn progress_line(scenario: &CrossconnectScenario, progress: &ChangeProgress) -> String {
    let ChangeProgress { done, of, waiting, differ } = progress;
    let named = |ports: &BTreeSet<(u32, End)>| {
        let text =
            |&(ocs_id, (side, pod, port_index))| scenario.port_text(Port { ocs_id, pod, side, port_index });
        let more = if ports.len() > NAMED_PORTS { ", …" } else { "" };
        let names: Vec<String> = ports.iter().take(NAMED_PORTS).map(text).collect();
        format!("{}{more}", names.join(", "))
    };
    let mut parts = vec![format!("step {done} of {of} done")];
    if !waiting.is_empty() {
        let ports = counted(waiting.len() as u64, "port is", "ports are");
        let next = done + 1;
        let named = named(waiting);
        parts.push(format!("step {next} has begun: {ports} not yet in the state after it: {named}"));
    }
    if !differ.is_empty() {
        let next = if done < of { " in a way that the next step does not explain" } else { "" };
        let ports = counted(differ.len() as u64, "port differs", "ports differ");
        parts.push(format!("{ports} from the state after this step{next}: {}", named(differ)));
    }
    if parts.len() == 1 {
        parts.push("every port is in its state after this step".to_owned());
    }
    parts.join(", ")
}

/// Returns the scenario of a file, or the scenario of the plan in it.
pub(super) fn scenario_in(input: &format::Input) -> Result<Scenario<Crossconnect>, Problems> {
    let value = read_json(input.bytes.as_slice())?;
    let kind = kind_of(&value);
    if kind != Some(Crossconnect::NAME) {
        let message =
            kind.map_or_else(|| "is missing".to_owned(), |kind| format!("is '{}'", printable(kind)));
        let remedy = format!("give a scenario of kind {}", Crossconnect::NAME);
        return Err(Problem::new("kind", message, remedy).into());
    }
    if !is_plan(&value) {
        return Scenario::from_value(&value);
    }
    let plan = read_draft::<Crossconnect>(&value)?.plan;
    let unread = || Problem::new("result", "cannot be read", "see `lightbay check`");
    Ok(Scenario::clone(&plan.ok_or_else(unread)?.scenario))
}
