//! Conversion of the description of a model or job to a training job: sizes come from the file, all other values (the
//! `run` of the job) from parameters.

use crate::Training;
use crate::scenario::TrainingScenario;
use crate::scenario::job::{Job, Mla, Model, ModelChoice, RunConfig};
use crate::scenario::knobs::{DP, job_knobs, ports_from, replicas};
use crate::scenario::limits::{MAX_ACT_BYTES, MAX_GPUS};
use crate::scenario::workload::params::{LayerParams, flops_per_token, parameter_total};
use lightbay_core::format::{self, FormatInfo, ImportedScenario, Input, SubjectSort};
use lightbay_core::json;
use lightbay_core::param::{ParamInfo, ParamValue, Params};
use lightbay_core::problem::{Problem, Problems, counted};
use lightbay_core::record::{Record as _, params_of};
use lightbay_core::scenario::{Assumed, Scenario};
use lightbay_formats::model_config::{self, DescribedJob, ModelSizes, WindowSizes, calculon, megatron};
use lightbay_formats::{Imported, Limits};

/// Name of the importer of Hugging Face's files on the command line.
pub(crate) const HF_CONFIG: &str = "hf_config";
/// Name of the importer of Calculon's files.
pub(crate) const CALCULON: &str = "calculon";
/// Name of the importer of Megatron-LM arguments.
pub(crate) const MEGATRON: &str = "megatron";

/// Values of a run that determine times and volumes, and that a user should check.
const DOUBTFUL: [&str; 5] = ["bandwidth_gbps", "peak_tflops", "mfu", "seq", "micro_batch_size"];

/// Values of a run that are derived from other values if they are not given.
const FOLLOWING: [&str; 2] = ["intra_pod_gbps", "gpus_per_pod"];

/// Sizes of the model that a description may lack, or that a family may change.
const OF_MODEL: [&str; 3] = ["vocab", "gated", "tied"];

/// Name of the parameter for the optical ports of a pod.
const PORTS: &str = "ports_per_pod";

/// Returns the descriptions of the importers.
pub(crate) fn formats() -> [FormatInfo; 3] {
    // Models of Calculon have no experts.
    let acts =
        |name: &str, info: &ParamInfo| name != CALCULON || !["ep", "etp"].contains(&info.name.as_ref());
    let of = |name, help, extension| {
        let params = params_of::<RunConfig>().filter(|info| acts(name, info)).map(asked);
        let of_model = params_of::<Model>().filter(|info| OF_MODEL.contains(&info.name.as_ref()));
        let ports = job_knobs().iter().filter(|info| info.name == PORTS).cloned();
        let params = params.chain([replicas()]).chain(of_model.map(ParamInfo::derived)).chain(ports);
        FormatInfo::new(name, help, SubjectSort::Scenario, extension)
            .leaving_out(&["biases, norms, layers for multi-token prediction, and windows of the attention"])
            .with(params.collect())
    };
    [
        of(HF_CONFIG, "The config.json of a Hugging Face model; parameters set the run of the job.", "json"),
        of(
            CALCULON,
            "A model of Calculon, with its execution and system if they are given; parameters set the rest and override the files.",
            "json",
        ),
        of(
            MEGATRON,
            "The arguments of Megatron-LM in a script, or the YAML of NeMo; parameters set the rest and override the files.",
            "sh",
        ),
    ]
}

/// Reads the model and the run that the files describe.
///
/// # Errors
/// Every problem of the files, under the name of the file.
fn described(format: &str, inputs: &[Input]) -> Result<Imported<DescribedJob>, Problems> {
    let limits = Limits::default();
    if format == CALCULON {
        let files: Vec<(&str, &[u8])> =
            inputs.iter().map(|input| (input.name.as_str(), input.bytes.as_slice())).collect();
        return calculon::read(&files, &limits);
    }
    let [input] = inputs else {
        let remedy = "give the description of one model";
        return Err(Problem::new("", format!("{} files are given", inputs.len()), remedy).into());
    };
    let content = input.bytes.as_slice();
    let read = if format == MEGATRON {
        megatron::read(content, &limits)
    } else {
        model_config::read(content, &limits).map(|read| read.map(DescribedJob::of))
    };
    read.map_err(|problems| problems.named(&input.name))
}

/// Values that a file of Calculon or Megatron-LM may give, although a run has a default for them.
const FROM_FILES: [&str; 9] =
    ["cp", "ep", "etp", "virtual_stages", "zero", "recompute", "act_bytes", "grad_bytes", "gather_bytes"];

/// Removes the default of a parameter of the importer if the file may contain the value, or if the import reports the
/// value that it assumes.
fn asked(info: ParamInfo) -> ParamInfo {
    let name = info.name.as_ref();
    let asked = info.default.is_none() || DOUBTFUL.contains(&name) || FROM_FILES.contains(&name);
    if asked { info.derived() } else { info }
}

/// Builds the job that trains a model.
///
/// # Errors
/// Every problem of the file, every missing value of the run, and every problem of the job; with `strict` also every
/// assumption.
pub(crate) fn scenario(
    format: &str,
    inputs: &[Input],
    params: &Params,
    strict: bool,
) -> Result<ImportedScenario<Training>, Problems> {
    let mut read = described(format, inputs)?;
    let mut model = model_of(&read.value.sizes);
    for name in OF_MODEL {
        // The values of parameters have been checked, so the fields accept them.
        let _ = params.get(name).and_then(|value| model.set_field(name, value));
    }
    let told = run_of(params, &read.value)?;
    // A parameter replaces the value that would be assumed.
    read.assumed.retain(|one| params.get(one.set_with.trim_end_matches('=')).is_none());
    read.assumed.extend(told.assumed);
    read.notes.extend(told.notes);
    read.notes.extend(tables(&model, told.value.pp));
    let mut job = Job {
        model: Some(ModelChoice::Inline(model)),
        run: told.value,
        pods: None,
        ports_per_pod: params.get(PORTS).and_then(ports_from),
        failed_ports: Vec::new(),
        reverse: false,
        measured: None,
        reconfiguration: None,
    };
    read.assumed.extend(placed(&mut job));
    if let Some(assumed) = windowed(&job, read.value.sizes.window) {
        // A given `mfu` may already allow for the window.
        if params.get("mfu").is_some() {
            read.notes.push(format!("{}: the import counts {}", assumed.what, assumed.value));
        } else {
            read.assumed.push(assumed);
        }
    }
    let assumed = read.assumed;
    let Some(ModelChoice::Inline(model)) = &job.model else {
        return Err(Problem::new("model", "is missing", "give a file with a model").into());
    };
    if strict {
        let mut problems = Problems::new();
        for assumed in &assumed {
            let message = format!("is not in the file; {} would be assumed", assumed.value);
            problems.add(
                assumed.what.clone(),
                message,
                format!("set '{}', or leave out --strict", assumed.set_with),
            );
        }
        problems.into_result(())?;
    }
    let parameters = parameter_total(model);
    let mut lines = vec![format!(
        "model: {} layers of {}, {} heads, {:.3} billion parameters",
        model.layers,
        model.hidden,
        model.heads,
        parameters / 1e9
    )];
    lines.extend(read.notes.iter().cloned());
    lines.extend(
        assumed
            .iter()
            .map(|one| format!("assumed: {} {}; set it with {}", one.what, one.value, one.set_with)),
    );
    let summary = json::to_value(&serde_json::json!({
        "model": model, "parameters": parameters, "notes": &read.notes, "assumed": &assumed,
    }))?;
    let scenario = TrainingScenario::Job(job);
    scenario.validate()?;
    let named = inputs.iter().map(|input| format::scenario_name(&input.name, format));
    let name = named.reduce(|name, _| name).unwrap_or_else(|| format.to_owned());
    Ok(ImportedScenario {
        scenario: Scenario::new(name, scenario),
        lines,
        summary,
        assumed,
        notes: read.notes,
    })
}

/// Returns the assumption that layers attend to all tokens, if they attend to fewer tokens than a sequence has: the
/// compute of a job has no windows.
fn windowed(job: &Job, window: Option<WindowSizes>) -> Option<Assumed> {
    let Some(ModelChoice::Inline(model)) = &job.model else { return None };
    let seq = job.run.seq;
    let window = window.filter(|window| window.tokens < seq)?;
    // A causal token attends to half of the sequence on average, and with a window of w of n tokens to w - w^2 / 2n.
    let (tokens, all) = (f64::from(window.tokens), f64::from(seq));
    let saved = 1.0 - 2.0 * (tokens - tokens * tokens / (2.0 * all)) / all;
    let layers = f64::from(window.layers.unwrap_or(model.layers));
    let total = flops_per_token(model, seq);
    let factor = total / (total - layers * LayerParams::of(model).attention_core_flops(seq) * saved);
    let layers =
        window.layers.map_or_else(|| "layers".to_owned(), |count| counted(count.into(), "layer", "layers"));
    let up_to = if window.layers.is_some() { "" } else { "up to " };
    Some(Assumed {
        what: format!("attention of {layers} with a window of {} tokens", window.tokens),
        value: format!("all {seq} tokens, which makes compute times {up_to}{factor:.2} times too long"),
        set_with: "mfu=".to_owned(),
    })
}

/// The run, with assumptions and remarks: each value comes from its parameter; if the parameter is not given, from the
/// file; otherwise it has its default.
fn run_of(params: &Params, file: &DescribedJob) -> Result<Imported<RunConfig>, Problems> {
    let mut made = Imported::new(RunConfig::of(1, 1, 1, 0, 1));
    let mut problems = Problems::new();
    for info in params_of::<RunConfig>() {
        let name = info.name.as_ref();
        let in_file = file.run.iter().find(|(known, _)| *known == name).map(|(_, value)| value);
        match params.get(name).or(in_file) {
            Some(value) => {
                match info.accept(value) {
                    Ok(value) => {
                        // `accept` has already checked the value, so the field accepts it.
                        let _ = made.value.set_field(name, &value);
                    }
                    Err(problem) => problems.push(problem),
                }
            }
            None if DOUBTFUL.contains(&name) => {
                if let Some(value) = made.value.field(name) {
                    made.assume(name, format!("{value} {}", info.unit).trim(), format!("{name}="));
                }
            }
            None if name == "gpus" && params.get(DP).is_some() => {}
            None if info.default.is_none() && !FOLLOWING.contains(&name) => {
                problems.add(
                    name,
                    "is missing: the file describes a model, not a run",
                    format!("give '{name}='"),
                );
            }
            None => {}
        }
    }
    follow_tp(params, file, &mut made);
    let run = &mut made.value;
    if let Some(dp) = params.int(DP) {
        if params.get("gpus").is_some() {
            problems.add(DP, "cannot be combined with 'gpus'", "give one of the two");
        }
        let gpus = i64::try_from(run.stage_gpus() * u64::from(run.pp)).unwrap_or(i64::MAX).saturating_mul(dp);
        if let Some(gpus) = u32::try_from(gpus).ok().filter(|gpus| *gpus <= MAX_GPUS) {
            run.gpus = gpus;
        } else {
            let message = format!("is '{dp}', which gives {gpus} GPUs");
            problems.add(DP, message, format!("give a job of at most {MAX_GPUS} GPUs"));
        }
    }
    problems.into_result(made)
}

/// Sets the values that follow from the tensor-parallel size, if the parameters do not set them: the tensor-parallel
/// size inside an expert, and the bytes of an activation if every rank sends whole activations.
fn follow_tp(params: &Params, file: &DescribedJob, made: &mut Imported<RunConfig>) {
    let RunConfig { tp, pp, act_bytes, .. } = made.value;
    if tp == 1 {
        return;
    }
    if file.etp_is_tp && params.get("etp").is_none() {
        made.value.etp = tp;
        made.note(format!(
            "expert_tensor_parallel_size is not set; Megatron-LM then uses tensor_model_parallel_size, so etp={tp}"
        ));
    }
    if !file.whole_sends || pp == 1 || params.get("act_bytes").is_some() {
        return;
    }
    let whole = act_bytes * f64::from(tp);
    let reason = format!(
        "without sequence parallelism, each of the {tp} tensor-parallel ranks sends all activations to the next \
         stage: {act_bytes} B x {tp} = {whole} B for each value"
    );
    let is_valid = |info: ParamInfo| info.accept(&ParamValue::Float(whole)).is_ok();
    if RunConfig::param("act_bytes").is_some_and(is_valid) {
        made.value.act_bytes = whole;
        made.note(format!("{reason}, so act_bytes={whole}"));
    } else {
        made.value.act_bytes = MAX_ACT_BYTES;
        made.assume("act_bytes", format!("{MAX_ACT_BYTES} B, the maximum, but {reason}"), "act_bytes=");
    }
}

/// Returns the remark on the embedding table of a model whose output table is the same.
fn tables(model: &Model, pp: u32) -> Option<String> {
    model.tied.then(|| {
        if pp == 1 {
            return "the token embedding is tied to the output; the only stage holds one table".to_owned();
        }
        "the token embedding is tied to the output; the first and the last stage each hold a copy, whose gradients are \
         exchanged between replicas; the exchange between the two stages is left out"
            .to_owned()
    })
}

/// Places the stages of a job without placement, and returns this assumption: the smallest number of stages per pod
/// that divides the pipeline into equal pods and gives every pod a port for each of its links; one stage per pod if no
/// number does.
fn placed(job: &mut Job) -> Option<Assumed> {
    if job.run.gpus_per_pod.is_some() || job.run.gpus_per_pod_per_replica != 0 {
        return None;
    }
    let stage = u32::try_from(job.run.stage_gpus()).unwrap_or(u32::MAX);
    let pp = job.run.pp;
    let fits = |stages: &u32| {
        let mut tried = job.clone();
        tried.run.gpus_per_pod_per_replica = stage.saturating_mul(*stages);
        TrainingScenario::Job(tried).validate().is_ok()
    };
    let stages = (1..=pp).filter(|stages| pp.is_multiple_of(*stages)).find(fits).unwrap_or(1);
    job.run.gpus_per_pod_per_replica = stage.saturating_mul(stages);
    let words = if stages == 1 { "one stage".to_owned() } else { format!("{stages} stages") };
    Some(Assumed {
        what: "gpus_per_pod_per_replica".to_owned(),
        value: format!("{}, {words} in each pod", job.run.gpus_per_pod_per_replica),
        set_with: "gpus_per_pod_per_replica=".to_owned(),
    })
}

/// The model of a job with these sizes.
fn model_of(sizes: &ModelSizes) -> Model {
    let experts = sizes.experts.as_ref();
    // If only the first layers are dense, their number describes the pattern; any other pattern of layers with experts
    // is written as a list.
    let first = experts.and_then(|experts| experts.layers.first().copied()).unwrap_or(0);
    let is_tail = experts.is_some_and(|experts| experts.layers.iter().copied().eq(first..sizes.layers));
    Model {
        layers: sizes.layers,
        hidden: sizes.hidden,
        ffn: sizes.ffn,
        gated: sizes.gated,
        heads: sizes.heads,
        kv_heads: sizes.kv_heads,
        head_dim: sizes.head_dim,
        vocab: sizes.vocab,
        tied: sizes.tied,
        experts: experts.map(|experts| experts.experts),
        top_k: experts.map(|experts| experts.top_k),
        expert_ffn: experts.map(|experts| experts.width),
        shared_experts: experts.map(|experts| experts.shared),
        dense_layers: experts.filter(|_| is_tail).map(|_| first),
        moe_layers: experts.filter(|_| !is_tail).map(|experts| experts.layers.clone()),
        mla: sizes.latent.map(|latent| Mla {
            q_lora: latent.q_lora,
            kv_lora: latent.kv_lora,
            rope: latent.rope,
            nope: latent.nope,
            v: latent.v,
        }),
    }
}

#[cfg(test)]
mod tests;
