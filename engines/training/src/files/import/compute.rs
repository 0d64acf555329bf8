//! Time of one micro-batch on each stage, from the files or from the FLOPs of a model.

use super::collectives::Coster;
use crate::scenario::job::{Job, ModelChoice, RunConfig};
use crate::scenario::presets;
use crate::scenario::workload::Workload;
use lightbay_core::param::Params;
use lightbay_core::problem::Problems;
use lightbay_formats::aicb::{AicbWorkload, BusBandwidth, ImportSummary};

/// Forward and backward seconds of one micro-batch on every stage, collectives inside the pod included.
pub(super) fn stage_times(
    workload: &AicbWorkload,
    run: &RunConfig,
    params: &Params,
    table: Option<&BusBandwidth>,
    summary: &mut ImportSummary,
    problems: &mut Problems,
) -> Vec<[f64; 2]> {
    if let Some(tflops) = params.float("tflops") {
        return from_flops(workload, run, tflops, params, summary, problems);
    }
    for name in ["mfu", "model", "seq"] {
        if params.get(name).is_some() {
            problems.add(name, "has no effect without 'tflops='", "set 'tflops=', the peak of one GPU");
        }
    }
    if workload.needs_compute() {
        let message = match summary.compute.placeholder_share {
            Some(share) => {
                format!("'{:.1}' % of the times in the file are the placeholder of 1 ns", share * 100.0)
            }
            None => "the file has no measured times for its computations".to_owned(),
        };
        problems.add(
            "compute",
            message,
            "add AICB's kernel times to the files, set 'tflops=' and 'model=', or set 'compute=zero' to ignore compute times",
        );
        return Vec::new();
    }
    let mut coster = Coster::new(params, table);
    let times = workload.stages.iter().map(|stage| {
        let [forward, backward] = coster.pass_seconds(stage, workload.micro_batches);
        [stage.forward_s.unwrap_or(0.0) + forward, stage.backward_s.unwrap_or(0.0) + backward]
    });
    let times = times.collect();
    coster.report(workload, params, summary, problems);
    times
}

/// Computes times from peak rate, MFU and the FLOPs of the model; the MFU includes collectives inside the pod.
fn from_flops(
    workload: &AicbWorkload,
    run: &RunConfig,
    tflops: f64,
    params: &Params,
    summary: &mut ImportSummary,
    problems: &mut Problems,
) -> Vec<[f64; 2]> {
    let Some((name, model)) = params.text("model").and_then(|name| Some((name, presets::model(name)?)))
    else {
        problems.add(
            "model",
            "is missing, but 'tflops=' needs a model",
            format!("name one of {}", presets::model_names().join(", ")),
        );
        return Vec::new();
    };
    if u64::from(model.layers) < workload.pp {
        problems.add(
            "model",
            format!("'{name}' has '{}' layers, but the workload has '{}' stages", model.layers, workload.pp),
            "name the model of the workload",
        );
        return Vec::new();
    }
    let mut run = *run;
    run.peak_tflops = tflops;
    match params.float("mfu") {
        Some(given) => run.mfu = given,
        None => summary.assume("reached share of the peak FLOP/s", run.mfu.to_string(), "mfu="),
    }
    // Data-parallel GPUs of a stage that share a pod process different micro-batches; each of them has the tokens of
    // one micro-batch.
    run.ep = 1;
    run.etp = 1;
    run.gpus = run.tp.saturating_mul(run.pp);
    run.gpus_per_pod_per_replica = run.tp;
    run.micro_batch_size = 1;
    let from_bytes = tokens(workload, model.hidden, run.act_bytes);
    let given = params.int("seq").and_then(|seq| u32::try_from(seq).ok());
    match (given, from_bytes) {
        (Some(seq), _) => run.seq = seq,
        (None, Some(tokens)) => {
            run.seq = tokens;
            summary.notes.push(format!("{tokens} tokens per micro-batch, computed from the pipeline bytes"));
        }
        (None, None) => summary.assume("tokens of one micro-batch", run.seq.to_string(), "seq="),
    }
    let job = Job {
        model: Some(ModelChoice::Inline(model.clone())),
        run,
        pods: None,
        ports_per_pod: None,
        failed_ports: Vec::new(),
        reverse: false,
        measured: None,
        reconfiguration: None,
    };
    let shape = match job.shape() {
        Ok(shape) => shape,
        Err(found) => {
            problems.extend(found);
            return Vec::new();
        }
    };
    let stages = Workload::closed_form(&model, &run, &shape).stages;
    "tflops".clone_into(&mut summary.compute.source);
    summary.compute.forward_s = stages.first().map(|stage| stage.fwd_s);
    summary.compute.backward_s = stages.first().map(|stage| stage.bwd_s);
    summary.notes.push(format!(
        "compute times: FLOPs of '{name}' divided by {:.1} TFLOP/s per GPU; this rate allows for collectives inside the pod",
        run.peak_tflops * run.mfu
    ));
    stages.iter().map(|stage| [stage.fwd_s, stage.bwd_s]).collect()
}

/// Number of tokens of one micro-batch, derived from the bytes that a stage sends: tokens x hidden size x bytes per
/// value, split over its tensor-parallel ranks. `None` if the result is not a plausible whole number.
fn tokens(workload: &AicbWorkload, hidden: u32, act_bytes: f64) -> Option<u32> {
    let tokens = workload.pp_bytes_per_rank as f64 * workload.tp as f64 / (f64::from(hidden) * act_bytes);
    (tokens >= 1.0 && tokens.fract() == 0.0 && tokens <= f64::from(1_u32 << 26)).then_some(tokens as u32)
}
