//! Conversion of workloads of other tools to a training job: AICB and SimAI files become a job with measured figures.
//!
//! The formats crate reads the files. This module places stages in pods, computes the time of tensor- and
//! expert-parallel collectives (which stay in the pod and count as compute of a micro-batch), and computes the gradient
//! bytes that cross between replicas. Values that no file states come from a parameter, or are assumed and reported.

mod collectives;
mod compute;
mod knobs;
pub(crate) mod model;
mod placement;
pub(crate) mod pod_map;
pub(crate) mod traces;

use crate::Training;
use crate::model::full_dag::one_forward_one_backward;
use crate::scenario::TrainingScenario;
use crate::scenario::job::{Job, Measured, MeasuredStage, Order, RunConfig, Step};
use lightbay_core::format::{self, FormatInfo, ImportedScenario, SubjectSort};
use lightbay_core::json;
use lightbay_core::param::Params;
use lightbay_core::problem::{Problem, Problems};
use lightbay_core::scenario::Scenario;
use lightbay_formats::Limits;
use lightbay_formats::aicb::{
    self, AicbInput, AicbWorkload, ComputeSource, ImportSummary, MergeOptions, ParameterGather, Pass, Slot,
};

pub use knobs::aicb_knobs;

/// Name of the importer on the command line.
pub const AICB: &str = "aicb";

/// One sentence about the importer.
pub const AICB_HELP: &str =
    "AICB and SimAI workloads: SimAI text or per-call CSV, with kernel times and bus bandwidths.";

/// A file to import.
#[derive(Clone, Copy, Debug)]
pub struct ImportFile<'a> {
    /// Name as the user wrote it, for messages.
    pub name: &'a str,
    /// Content of the file, possibly gzip-compressed.
    pub bytes: &'a [u8],
}

/// Returns the description of the importer.
pub(crate) fn aicb_format() -> FormatInfo {
    FormatInfo::new(AICB, AICB_HELP, SubjectSort::Scenario, "txt")
        .leaving_out(&[
            "differences between ranks and between iterations (one rank and one iteration represent all)",
        ])
        .with(aicb_knobs())
}

/// Reads the scenario that per-call CSV or SimAI text describes.
///
/// # Errors
/// As [`import_aicb`].
pub(crate) fn scenario(
    inputs: &[format::Input],
    params: &Params,
    strict: bool,
) -> Result<ImportedScenario<Training>, Problems> {
    let files: Vec<ImportFile<'_>> =
        inputs.iter().map(|input| ImportFile { name: &input.name, bytes: &input.bytes }).collect();
    let imported = import_aicb(&files, params, strict)?;
    Ok(ImportedScenario {
        scenario: Scenario::new(imported.name, TrainingScenario::Job(imported.job)),
        lines: imported.summary.to_text().lines().map(str::to_owned).collect(),
        summary: json::to_value(&imported.summary)?,
        notes: imported.summary.remarks().collect(),
        assumed: imported.summary.assumed,
    })
}

/// A job made from other tools' files.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedJob {
    /// Name for the scenario, derived from the name of the workload file.
    pub name: String,
    /// The job, with measured figures.
    pub job: Job,
    /// Summary of the import: parts found, parts skipped, values assumed.
    pub summary: ImportSummary,
}

/// Reads a workload and its tables, and makes a job of them. `params` are values of [`aicb_knobs`]; with `strict`,
/// every assumption is a problem.
///
/// # Errors
/// Every problem of every file, of the parameters, and of the job.
pub fn import_aicb(files: &[ImportFile<'_>], params: &Params, strict: bool) -> Result<ImportedJob, Problems> {
    let inputs = read_all(files)?;
    let options = merge_options(params)?;
    job_of(&inputs, &options, params, strict).map_err(|problems| match workload_file(&inputs) {
        // Missing values of the whole import are reported at the workload.
        Some(file) if problems.source.is_empty() => problems.named(&file.name),
        _ => problems,
    })
}

fn job_of(
    inputs: &[AicbInput],
    options: &MergeOptions,
    params: &Params,
    strict: bool,
) -> Result<ImportedJob, Problems> {
    let merged = aicb::merge(inputs, options)?;
    let mut workload = merged.workload;
    let mut summary = std::mem::take(&mut workload.summary);
    let mut problems = Problems::new();

    let run = placement::run(&workload, params, &mut summary, &mut problems);
    let Some(run) = run else { return Err(problems) };
    let times = compute::stage_times(
        &workload,
        &run,
        params,
        merged.bus_bandwidth.as_ref(),
        &mut summary,
        &mut problems,
    );
    let stages = workload.stages.iter().zip(times).map(|(stage, [fwd_s, bwd_s])| {
        let mut crossing = |calls| placement::crossing_bytes(calls, run.replicas().into(), &mut problems);
        let (all, recurring) = (crossing(&stage.dp_collectives), crossing(&stage.dp_recurring));
        let bytes = params.int("dp_bytes").map_or(all, |given| u64::try_from(given).unwrap_or(0)) as f64;
        // If a parameter replaces the bytes of the file, the fraction that every micro-batch sends is still taken from
        // the file.
        let share = if all > 0 { recurring as f64 / all as f64 } else { 0.0 };
        MeasuredStage { fwd_s, bwd_s, dp_bytes_per_gpu: bytes, dp_bytes_per_micro_batch: bytes * share }
    });
    let stages: Vec<MeasuredStage> = stages.collect();
    if !problems.is_empty() {
        return Err(problems);
    }
    if let Some(stage) = stages.iter().find(|stage| stage.dp_bytes_per_micro_batch > 0.0) {
        summary.notes.push(format!(
            "replicas exchange gradients or parameters in every micro-batch, {} bytes per GPU: `micro_batches` \
             changes the total",
            stage.dp_bytes_per_micro_batch.round()
        ));
    }
    let measured = Measured {
        stages,
        pp_bytes_per_rank: workload.pp_bytes_per_rank as f64,
        order: order(&workload, params, &mut summary),
        replicas: Some(run.replicas()),
    };
    let job = Job {
        model: None,
        run,
        pods: None,
        ports_per_pod: None,
        failed_ports: Vec::new(),
        reverse: false,
        measured: Some(measured),
        reconfiguration: None,
    };
    if strict {
        summary.strict_problems().into_result(())?;
    }
    TrainingScenario::Job(job.clone()).validate()?;
    Ok(ImportedJob {
        name: format::scenario_name(workload_file(inputs).map_or("", |input| input.name.as_str()), AICB),
        job,
        summary,
    })
}

/// Reads every file; if several files have problems, the path of each problem begins with the name of its file.
fn read_all(files: &[ImportFile<'_>]) -> Result<Vec<AicbInput>, Problems> {
    if files.is_empty() {
        return Err(Problem::new(
            "",
            "no file is given",
            "give a SimAI text workload or an AICB per-call CSV",
        )
        .into());
    }
    let mut inputs = Vec::with_capacity(files.len());
    let mut failed: Vec<Problems> = Vec::new();
    for file in files {
        match aicb::read(file.bytes, file.name, &Limits::default()) {
            Ok(input) => inputs.push(input),
            Err(problems) => failed.push(problems),
        }
    }
    if failed.len() > 1 {
        let mut all = Problems::new();
        for problems in failed {
            for problem in problems.list() {
                let mut problem = problem.clone();
                problem.path = match problem.path.as_str() {
                    "" => problems.source.clone(),
                    path => format!("{}: {path}", problems.source),
                };
                all.push(problem);
            }
        }
        return Err(all);
    }
    failed.pop().map_or(Ok(inputs), Err)
}

fn merge_options(params: &Params) -> Result<MergeOptions, Problems> {
    let size = |name: &str| params.int(name).and_then(|value| u64::try_from(value).ok());
    let by_tflops = params.float("tflops").is_some();
    let compute = match params.text("compute") {
        Some("file") => ComputeSource::File,
        Some("aiob") => ComputeSource::Kernels,
        Some("zero") => ComputeSource::Zero,
        _ => ComputeSource::Auto,
    };
    if by_tflops && compute != ComputeSource::Auto {
        let problem = Problem::new(
            "tflops",
            "cannot be combined with another source of compute times",
            "leave out 'tflops=' or 'compute='",
        );
        return Err(problem.into());
    }
    Ok(MergeOptions {
        gpus: size("gpus"),
        pp_bytes: size("pp_bytes"),
        dp_bytes: size("dp_bytes"),
        layers_per_stage: size("layers"),
        compute,
        parameter_gather: params.text("parameter_gather").map(|choice| match choice {
            "column" => ParameterGather::ByColumn,
            _ => ParameterGather::DataParallel,
        }),
    })
}

/// The order of the computations of the stages: the order in the workload if it is given for every stage, differs from
/// 1F1B, and the user has not requested 1F1B; otherwise 1F1B.
fn order(workload: &AicbWorkload, params: &Params, summary: &mut ImportSummary) -> Order {
    if params.text("order") == Some("1f1b") {
        if workload.stages.iter().any(|stage| stage.order.is_some()) {
            summary.skip("literal order", workload.pp, 0, "1F1B was requested");
            summary.notes.retain(|note| !note.starts_with("the order in the file is used"));
        }
        return Order::OneForwardOneBackward;
    }
    let lists: Option<Vec<Vec<Step>>> = workload
        .stages
        .iter()
        .map(|stage| Some(stage.order.as_ref()?.iter().copied().map(step).collect()))
        .collect();
    let usual = || one_forward_one_backward(workload.pp as u32, workload.micro_batches as u32);
    match lists {
        Some(lists) if lists != usual() => Order::Lists(lists),
        _ => Order::OneForwardOneBackward,
    }
}

fn step(slot: Slot) -> Step {
    Step { backward: slot.pass == Pass::Backward, micro_batch: slot.micro_batch.saturating_sub(1) }
}

/// Returns the workload among the files; the other files only complete this workload.
fn workload_file(inputs: &[AicbInput]) -> Option<&AicbInput> {
    inputs.iter().find(|input| matches!(input.content, aicb::Content::Text(_) | aicb::Content::Calls(_)))
}

/// Converts a value of the run to `u32`; a larger value is a problem of the field `name`.
fn narrow(name: &str, value: u64, problems: &mut Problems) -> u32 {
    u32::try_from(value).unwrap_or_else(|_| {
        problems.add(name, format!("'{value}' is too large"), format!("give at most {}", u32::MAX));
        0
    })
}

/// Returns the run before measured values are added: sizes only, everything else at its default.
fn base_run(sizes: [u32; 3], gpus: u32, per_pod: u32, micro_batches: u32) -> RunConfig {
    let [tp, pp, ep] = sizes;
    let mut run = RunConfig::of(tp, pp, gpus, per_pod, micro_batches);
    run.ep = ep;
    run
}

#[cfg(test)]
mod tests;
