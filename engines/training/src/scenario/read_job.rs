//! Reading a job from JSON, all problems at once.

use super::check_job::{MAX_LAYERS, MAX_SIZE};
use super::job::{
    Job, Measured, MeasuredStage, Mla, Model, ModelChoice, Moe, Order, PortsPerPod, RunConfig, Step,
};
use super::knobs::{RUN_KNOBS, RunKnob};
use super::limits::{MAX_BYTES, MAX_GPUS, MAX_PORTS, MAX_SECONDS};
use super::reconfiguration;
use lightbay_core::param::ParamValue;
use lightbay_core::problem::Problems;
use lightbay_core::read::{Fields, brief};
use serde_json::Value;

/// Reads the job at `path`.
pub(super) fn job(value: &Value, path: &str, problems: &mut Problems) -> Option<Job> {
    let mut fields = Fields::of(value, path, problems)?;
    let model_path = fields.path_of("model");
    let model = fields.optional("model").map(|value| model_choice(value, &model_path, problems));
    let run_path = fields.path_of("run");
    let run = fields.required("run", problems).and_then(|value| run_config(value, &run_path, problems));
    let ports_path = fields.path_of("ports_per_pod");
    let ports = fields.optional("ports_per_pod").map(|value| ports(value, &ports_path, problems));
    let reverse = fields.bool_or("reverse", false, problems);
    let measured_path = fields.path_of("measured");
    let measured = fields.optional("measured").map(|value| measured(value, &measured_path, problems));
    let reconfiguration = reconfiguration::read(&mut fields, problems);
    fields.finish(problems);

    Some(Job {
        model: flip(model)?,
        run: run?,
        ports_per_pod: flip(ports)?,
        reverse: reverse?,
        measured: flip(measured)?,
        reconfiguration: reconfiguration?,
    })
}

/// Absent is fine; present but wrong is not.
#[expect(clippy::option_option, reason = "absent, wrong and right are three cases")]
pub(super) fn flip<T>(value: Option<Option<T>>) -> Option<Option<T>> {
    match value {
        None => Some(None),
        Some(None) => None,
        Some(value) => Some(value),
    }
}

fn model_choice(value: &Value, path: &str, problems: &mut Problems) -> Option<ModelChoice> {
    if let Value::String(name) = value {
        // Whether there is such a model is checked with the rest of the job.
        return Some(ModelChoice::Preset(name.clone()));
    }
    let mut fields = Fields::of(value, path, problems)?;
    let mut size = |key, most: u32, problems: &mut Problems| count(&mut fields, key, 1, most, problems);
    let layers = size("layers", MAX_LAYERS, problems);
    let hidden = size("hidden", MAX_SIZE, problems);
    let ffn = size("ffn", MAX_SIZE, problems);
    let heads = size("heads", MAX_SIZE, problems);
    let kv_heads = size("kv_heads", MAX_SIZE, problems);
    let head_dim = size("head_dim", MAX_SIZE, problems);
    let vocab = size("vocab", MAX_SIZE, problems);
    let gated = fields.bool_or("gated", false, problems);
    let moe = experts(&mut fields, problems);
    let mla = fields.optional_object("mla", problems).map(|fields| latent_attention(fields, problems));
    fields.finish(problems);
    Some(ModelChoice::Inline(Model {
        layers: layers?,
        hidden: hidden?,
        ffn: ffn?,
        gated: gated?,
        heads: heads?,
        kv_heads: kv_heads?,
        head_dim: head_dim?,
        vocab: vocab?,
        moe: flip(moe)?,
        mla: flip(mla)?,
    }))
}

#[expect(clippy::option_option, reason = "absent, wrong and right are three cases")]
fn experts(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<Option<Moe>> {
    const KEYS: [&str; 5] = ["experts", "topk", "expert_ffn", "shared_experts", "dense_layers"];
    if !KEYS.iter().any(|key| fields.has(key)) {
        for key in KEYS {
            fields.skip(key);
        }
        return None;
    }
    let experts = count(fields, "experts", 1, MAX_SIZE, problems);
    let topk = count(fields, "topk", 1, MAX_SIZE, problems);
    let expert_ffn = count(fields, "expert_ffn", 1, MAX_SIZE, problems);
    let mut or_zero = |key| {
        fields.int_or(key, 0..=i64::from(MAX_SIZE), 0, problems).and_then(|value| u32::try_from(value).ok())
    };
    let shared_experts = or_zero("shared_experts");
    let dense_layers = or_zero("dense_layers");
    let all = || {
        Some(Moe {
            experts: experts?,
            topk: topk?,
            expert_ffn: expert_ffn?,
            shared_experts: shared_experts?,
            dense_layers: dense_layers?,
        })
    };
    Some(all())
}

fn latent_attention(mut fields: Fields<'_>, problems: &mut Problems) -> Option<Mla> {
    let mut size = |key| count(&mut fields, key, 1, MAX_SIZE, problems);
    let (q_lora, kv_lora) = (size("q_lora"), size("kv_lora"));
    let (rope, nope, v) = (size("rope"), size("nope"), size("v"));
    fields.finish(problems);
    Some(Mla { q_lora: q_lora?, kv_lora: kv_lora?, rope: rope?, nope: nope?, v: v? })
}

fn count(
    fields: &mut Fields<'_>,
    key: &'static str,
    least: u32,
    most: u32,
    problems: &mut Problems,
) -> Option<u32> {
    let value = fields.int(key, i64::from(least)..=i64::from(most), problems)?;
    u32::try_from(value).ok()
}

fn run_config(value: &Value, path: &str, problems: &mut Problems) -> Option<RunConfig> {
    let before = problems.total();
    let mut fields = Fields::of(value, path, problems)?;
    let mut run = RunConfig::of(1, 1, 1, 1, 1);
    for knob in RUN_KNOBS.iter() {
        let value =
            if knob.required { fields.required(knob.key, problems) } else { fields.optional(knob.key) };
        if let Some(value) = value {
            run_value(knob, value, &fields.path_of(knob.key), &mut run, problems);
        }
    }
    fields.finish(problems);
    (problems.total() == before).then_some(run)
}

fn run_value(knob: &RunKnob, value: &Value, path: &str, run: &mut RunConfig, problems: &mut Problems) {
    let typed = match value {
        Value::Bool(value) => Some(ParamValue::Bool(*value)),
        Value::Number(number) => {
            number.as_i64().map(ParamValue::Int).or_else(|| number.as_f64().map(ParamValue::Float))
        }
        Value::String(text) => Some(ParamValue::Text(text.clone())),
        _ => None,
    };
    match typed.and_then(|value| knob.info.accept(&value).ok()) {
        Some(value) => knob.put(run, &value),
        None => problems.add(path, format!("is {}", brief(value)), format!("give {}", knob.info.valid())),
    }
}

pub(super) fn ports(value: &Value, path: &str, problems: &mut Problems) -> Option<PortsPerPod> {
    let port = |value: &Value| {
        value.as_u64().and_then(|ports| u32::try_from(ports).ok()).filter(|p| (1..=MAX_PORTS).contains(p))
    };
    let found = match value {
        Value::Array(list) => {
            let mut ports = Vec::with_capacity(list.len());
            for (index, value) in list.iter().enumerate() {
                match port(value) {
                    Some(value) => ports.push(value),
                    None => problems.add(
                        format!("{path}[{index}]"),
                        format!("is {}", brief(value)),
                        format!("give a whole number from 1 to {MAX_PORTS}"),
                    ),
                }
            }
            return (ports.len() == list.len()).then_some(PortsPerPod::ByPosition(ports));
        }
        value => port(value),
    };
    if found.is_none() {
        let remedy =
            format!("give a whole number from 1 to {MAX_PORTS}, or a list with one for every pod position");
        problems.add(path, format!("is {}", brief(value)), remedy);
    }
    found.map(PortsPerPod::Same)
}

fn measured(value: &Value, path: &str, problems: &mut Problems) -> Option<Measured> {
    let mut fields = Fields::of(value, path, problems)?;
    let mut stages = Vec::new();
    let mut complete = true;
    let stages_path = fields.path_of("stages");
    for (index, value) in fields.list("stages", problems).unwrap_or_default().iter().enumerate() {
        match measured_stage(value, &format!("{stages_path}[{index}]"), problems) {
            Some(stage) => stages.push(stage),
            None => complete = false,
        }
    }
    let pp_bytes_per_rank = fields.float("pp_bytes_per_rank", 0.0..=MAX_BYTES, problems);
    let order_path = fields.path_of("order");
    let order = match fields.optional("order") {
        None => Some(Order::default()),
        Some(value) => order(value, &order_path, problems),
    };
    let given = fields.has("replicas").then(|| fields.int("replicas", 1..=i64::from(MAX_GPUS), problems));
    fields.finish(problems);
    complete.then_some(())?;
    let replicas = flip(given)?.and_then(|replicas| u32::try_from(replicas).ok());
    Some(Measured { stages, pp_bytes_per_rank: pp_bytes_per_rank?, order: order?, replicas })
}

fn measured_stage(value: &Value, path: &str, problems: &mut Problems) -> Option<MeasuredStage> {
    let mut fields = Fields::of(value, path, problems)?;
    let fwd_s = fields.float("fwd_s", 0.0..=MAX_SECONDS, problems);
    let bwd_s = fields.float("bwd_s", 0.0..=MAX_SECONDS, problems);
    let dp_bytes_per_gpu = fields.float("dp_bytes_per_gpu", 0.0..=MAX_BYTES, problems);
    let recurring = fields.float_or("dp_bytes_per_micro_batch", 0.0..=MAX_BYTES, 0.0, problems);
    fields.finish(problems);
    Some(MeasuredStage {
        fwd_s: fwd_s?,
        bwd_s: bwd_s?,
        dp_bytes_per_gpu: dp_bytes_per_gpu?,
        dp_bytes_per_micro_batch: recurring?,
    })
}

fn order(value: &Value, path: &str, problems: &mut Problems) -> Option<Order> {
    let lists = match value {
        Value::String(name) if name == Order::ONE_F_ONE_B => return Some(Order::OneForwardOneBackward),
        Value::Array(lists) => lists,
        _ => {
            let remedy = "give '1f1b', or one list of 'F1', 'B1', … per stage";
            problems.add(path, format!("is {}", brief(value)), remedy);
            return None;
        }
    };
    let before = problems.total();
    let mut read = Vec::with_capacity(lists.len());
    for (stage, list) in lists.iter().enumerate() {
        let path = format!("{path}[{stage}]");
        let Value::Array(steps) = list else {
            problems.add(path, format!("is {}", brief(list)), "give a list of 'F1', 'B1', …");
            continue;
        };
        let mut stage_steps = Vec::with_capacity(steps.len());
        for (place, step) in steps.iter().enumerate() {
            match step.as_str().map(str::parse::<Step>) {
                Some(Ok(step)) => stage_steps.push(step),
                _ => problems.add(
                    format!("{path}[{place}]"),
                    format!("is {}", brief(step)),
                    "write 'F' or 'B' and the micro-batch from 1, such as 'F1'",
                ),
            }
        }
        read.push(stage_steps);
    }
    (problems.total() == before).then_some(Order::Lists(read))
}
