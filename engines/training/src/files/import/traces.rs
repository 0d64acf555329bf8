//! Conversion of the traces of a job's ranks to transfers between pods: Chakra, PyTorch profiler, PyTorch execution
//! traces.
//!
//! Each trace is reduced to its messages and collectives and the computations between them ([`program`]). Ranks of a
//! pod with the same program are merged ([`classes`]), and the parts of each message and collective on different ranks
//! are joined ([`joined`]). Collectives become transfers between pods ([`graph`], [`exchange`]), computations of a rank are put in an
//! order ([`order`]), and the result is an explicit instance ([`instance`]).

mod classes;
mod exchange;
mod graph;
mod instance;
mod joined;
mod knobs;
mod order;
mod placement;
mod program;
mod reading;
mod summary;

#[cfg(test)]
mod tests;

use crate::Training;
use crate::scenario::{TrainingScenario, check_instance};
use classes::Classes;
use joined::Joining;
use knobs::TraceOptions;
use lightbay_core::format::{FileSource, FormatInfo, ImportedScenario, Input, SubjectSort, scenario_name};
use lightbay_core::param::Params;
use lightbay_core::problem::{Problem, Problems, counted};
use lightbay_core::scenario::{Assumed, Scenario};
use summary::TraceSummary;

/// Name of the importer.
pub(crate) const TRACES: &str = "traces";

/// Returns the importer.
pub(crate) fn format() -> FormatInfo {
    let help = "Traces of the ranks of a job: Chakra (binary or JSON, with its file of groups), PyTorch profiler (Kineto), PyTorch execution traces, task graphs of FlexFlow and TopoOpt; with a table of pods if there is one.";
    let info = FormatInfo::new(TRACES, help, SubjectSort::Scenario, "et")
        .leaving_out(&["names and operations of computations", "memory", "start times"])
        .with(knobs::knobs());
    FormatInfo { streams: true, ..info }
}

/// As [`scenario`], for files in memory.
///
/// # Errors
/// As [`scenario`].
pub(crate) fn scenario_in_memory(
    inputs: &[Input],
    params: &Params,
    strict: bool,
) -> Result<ImportedScenario<Training>, Problems> {
    let sources: Vec<FileSource> = inputs.iter().map(FileSource::of).collect();
    scenario(&sources, params, strict)
}

/// Returns the transfers between pods that the traces describe.
///
/// # Errors
/// Every problem of the files, ranks that disagree, and traces without a transfer between pods; with `strict` also
/// every assumption.
pub(crate) fn scenario(
    sources: &[FileSource],
    params: &Params,
    strict: bool,
) -> Result<ImportedScenario<Training>, Problems> {
    let mut options = TraceOptions::of(params);
    let files = reading::sorted(sources, &options)?;
    options.bandwidth_gbps = options.bandwidth_gbps.or(files.nic_gbps);
    let mut summary = TraceSummary::default();
    let pods = placement::pods(&files, &options, &mut summary)?;
    let mut classes = Classes::read(&files, &pods, &options, true)?;
    check_times(&classes, &options)?;
    check_effects(&classes, &options)?;
    let joining = match joined::join(&classes, &options)? {
        Joining::JoinedSteps(joined) => joined,
        // Ranks with equal programs whose peers disagree on the order are planned one by one.
        Joining::Conflict => {
            summary
                .notes
                .push("ranks of a pod are not merged: their peers order messages differently".to_owned());
            classes = Classes::read(&files, &pods, &options, false)?;
            match joined::join(&classes, &options)? {
                Joining::JoinedSteps(joined) => joined,
                Joining::Conflict => {
                    let message = "joins two collectives or messages of one rank";
                    return Err(Problem::new("", message, "check that all traces are of one run").into());
                }
            }
        }
    };
    summary.count(&files, &classes, &options);
    if !joining.missing.is_empty() {
        let ranks = counted(joining.missing.len() as u64, "rank has", "ranks have");
        summary.notes.push(format!(
            "{ranks} no trace: collectives and messages do not wait for them (missing_ranks=ready)"
        ));
    }
    let graph = graph::graph(&classes, &joining, &pods, &options, &mut summary)?;
    let ordered = order::ordered(graph, &classes, &joining, &options)?;
    let instance = instance::instance(&ordered, &pods, &options, &mut summary)?;
    check_instance(&instance, "instance").into_result(()).map_err(|problems| by_parameter(&problems))?;
    if strict {
        summary.strict_problems().into_result(())?;
    }
    let first = sources.first().map_or("", |source| source.name.as_str());
    Ok(ImportedScenario {
        scenario: Scenario::new(name_of(first), TrainingScenario::Instance(instance)),
        lines: summary.lines(),
        summary: summary.json(),
        assumed: std::mem::take(&mut summary.assumed),
        notes: summary.notes,
    })
}

/// Converts problems of the instance to problems of the importer: the place and the remedy name parameters of the
/// importer.
fn by_parameter(problems: &Problems) -> Problems {
    let mut named = Problems::new();
    for problem in problems.list() {
        let (path, remedy) = match problem.path.as_str() {
            "instance.tasks" => ("traces", "check elem_bytes=, or lower bandwidth_gbps="),
            path if path.starts_with("instance.pods") => {
                ("ports_per_pod", "raise ports_per_pod=, or form larger pods with gpus_per_pod=")
            }
            path => (path, problem.remedy.as_str()),
        };
        named.add(path, problem.message.clone(), remedy);
    }
    named
}

/// Refuses computations that have a number of operations but no time, unless the user gives the compute rate of a GPU.
fn check_times(classes: &Classes, options: &TraceOptions) -> Result<(), Problem> {
    let untimed = classes.facts.program.untimed;
    if untimed == 0 || options.tflops.is_some() {
        return Ok(());
    }
    let computations = counted(untimed, "computation has", "computations have");
    Err(Problem::new(
        "tflops",
        format!("is missing: {computations} a number of operations, but no time"),
        "set the rate that a GPU reaches, such as tflops=400, or set compute=zero to ignore compute times",
    ))
}

/// Refuses parameters that have no effect on these traces.
fn check_effects(classes: &Classes, options: &TraceOptions) -> Result<(), Problems> {
    let program = &classes.facts.program;
    let mut problems = Problems::new();
    let mut unused = |name: &str, is_unused: bool, why: &str| {
        if is_unused {
            problems.add(name, format!("has no effect, because {why}"), "leave it out");
        }
    };
    unused("size", options.total.is_some() && program.gathers == 0, "the traces have no all-gather");
    let timed = if options.no_compute {
        "compute=zero ignores all compute times"
    } else {
        "no computation of the traces lacks a time"
    };
    unused("tflops", options.tflops.is_some() && program.untimed == 0, timed);
    unused("memory_gbyte_per_s", options.memory_gbyte_per_s.is_some() && program.untimed == 0, timed);
    problems.into_result(())
}

/// Returns the name of a trace file without its suffix and its rank.
fn name_of(file: &str) -> String {
    let name = scenario_name(file, TRACES);
    let name = name.strip_suffix(".et").unwrap_or(&name);
    match name.rsplit_once('.') {
        Some((stem, rank)) if !stem.is_empty() && rank.chars().all(|c| c.is_ascii_digit()) => stem.to_owned(),
        _ => name.to_owned(),
    }
}

/// Returns the record of an assumed value, which the user can set with `parameter`.
fn assumed(what: &str, value: impl Into<String>, parameter: &str) -> Assumed {
    Assumed { what: what.to_owned(), value: value.into(), set_with: format!("{parameter}=") }
}
