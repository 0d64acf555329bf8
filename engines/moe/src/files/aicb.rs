//! Scenarios from AICB and SimAI workloads: the all-to-alls of their expert groups are the demand of a region.

use crate::Moe;
use crate::scenario::shapes::{MoeModel, MoeModelChoice, MoeModelPreset};
use crate::scenario::{MeasuredTimes, MoeScenario, presets};
use lightbay_core::format::{FormatInfo, ImportedScenario, Input, SubjectSort, scenario_name};
use lightbay_core::param::{ParamInfo, Params};
use lightbay_core::problem::{Problem, Problems};
use lightbay_core::scenario::Scenario;
use lightbay_formats::aicb::simai_text::SimaiText;
use lightbay_formats::aicb::{
    AicbInput, AicbWorkload, CollectiveKind, ComputeSource, Content, Group, MICRO_BATCHES, MergeOptions,
    ParameterGather, merge, read,
};
use lightbay_formats::gz::Limits;
use serde_json::json;

/// Name of the format.
pub const NAME: &str = "aicb_moe";

/// Prefixes of the rows of experts and of attention in a SimAI text.
const EXPERTS: &str = "mlp_moelayer";
const ATTENTION: &str = "attention";
/// Minimum time that counts as measured, ns; generators write 1 if nothing was measured.
const PLACEHOLDER_NS: u64 = 1;

/// Returns all formats.
pub fn formats() -> Vec<FormatInfo> {
    let models: Vec<&'static str> = MoeModelPreset::ALL.iter().map(|(name, _)| *name).collect();
    let info = FormatInfo::new(
        NAME,
        "AICB and SimAI workloads of MoE models: the all-to-alls of the expert groups become the demand of a region.",
        SubjectSort::Scenario,
        "txt",
    );
    vec![
        info.leaving_out(&[
            "tensor-parallel calls, if they differ from those of the model",
            "backward times (twice the forward times)",
            "pipeline and data-parallel bytes",
        ])
        .with(vec![
            ParamInfo::choice(
                "model",
                &models,
                "mixtral_8x7b",
                "Model that sets widths, experts and experts per token.",
            ),
            ParamInfo::int(
                "gpus",
                1,
                1 << 23,
                1,
                "Number of GPUs of the job, if the file does not state \
                 it.",
            )
            .derived(),
        ]),
    ]
}

/// The all-to-alls of one rank.
struct ExpertCalls {
    /// Bytes of one call for each GPU.
    bytes: u64,
    /// Number of layers with experts in a micro-batch of a stage; each layer makes two calls in the forward pass.
    layers: u64,
}

/// Creates a scenario from a workload.
///
/// # Errors
/// Every problem of the files; with `strict`, every assumption.
pub fn import(inputs: &[Input], params: &Params, strict: bool) -> Result<ImportedScenario<Moe>, Problems> {
    let read: Vec<AicbInput> = inputs
        .iter()
        .map(|input| read(input.bytes.as_slice(), &input.name, &Limits::default()))
        .collect::<Result<_, _>>()?;
    let options = MergeOptions {
        gpus: params.int("gpus").and_then(|gpus| u64::try_from(gpus).ok()),
        // The scenario contains no pipeline transfers and no gradient exchanges, so both sizes are set to 0.
        pp_bytes: Some(0),
        dp_bytes: Some(0),
        compute: ComputeSource::Zero,
        parameter_gather: Some(ParameterGather::DataParallel),
        ..MergeOptions::default()
    };
    let workload = merge(&read, &options)?.workload;
    if let Some(doubt) = workload.summary.assumed.iter().find(|assumed| assumed.what == MICRO_BATCHES) {
        // A file that cannot be divided into micro-batches is refused; otherwise the layers of all micro-batches would
        // count as one micro-batch.
        let reason = doubt.value.trim_start_matches("1: ").split(", so ").next().unwrap_or_default();
        let message = format!("cannot be divided into micro-batches: {reason}");
        let remedy = "correct the rows, or ga in the header, or generate the workload again";
        return Err(Problem::new("", message, remedy).into());
    }
    let calls = calls(&workload)?;
    let preset =
        params.text("model").and_then(MoeModelPreset::of_word).unwrap_or(MoeModelPreset::Mixtral8x7b);
    let shape = shape(&workload, &calls, preset.shape())?;
    let text = read.iter().find_map(|input| match &input.content {
        Content::Text(text) => Some(text),
        _ => None,
    });
    let measured = text.and_then(|text| measured(text, &calls, workload.micro_batches)).unwrap_or_default();
    let mut assumed = vec![
        format!(
            "widths, {} experts and {} of them per token, as in the model {} (model=)",
            shape.experts,
            shape.top_k,
            preset.word()
        ),
        "the shares of the experts come from a synthetic trace; counts of a run can replace it (import \
         routing_counts)"
            .to_owned(),
    ];
    if measured == MeasuredTimes::default() {
        assumed.push(
            "compute times come from closed formulas, because the file gives no times of layers".to_owned(),
        );
    }
    if strict {
        let mut problems = Problems::new();
        for text in &assumed {
            problems.add("", format!("is not in the file: {text}"), "leave out --strict to accept it");
        }
        problems.into_result(())?;
    }
    let servers = u32::try_from(workload.gpus / 8).unwrap_or(u32::MAX);
    let mut body: MoeScenario = presets::of(MoeModelChoice::of(shape), servers);
    body.cluster.micro_batches = u32::try_from(workload.micro_batches).unwrap_or(u32::MAX);
    body.measured = measured;
    body.validate()?;
    let summary = json!({
        "bytes_of_an_all_to_all": calls.bytes,
        "layers_of_a_stage": calls.layers,
        "ep": workload.ep,
        "tp": workload.tp,
        "pp": workload.pp,
        "gpus": workload.gpus,
        "micro_batches": workload.micro_batches,
        "assumed": assumed,
    });
    let mut lines = vec![format!(
        "found: {} layers with experts in a stage, all-to-alls of {} bytes per GPU among {} ranks of {} GPUs",
        calls.layers, calls.bytes, workload.ep, workload.tp
    )];
    if let (Some(attention), Some(expert)) = (measured.attention_ms, measured.expert_ms) {
        lines.push(format!("found: forward times of a layer: attention {attention} ms, experts {expert} ms"));
    }
    lines.extend(assumed.iter().map(|text| format!("assumed: {text}")));
    let name = inputs.first().map_or("workload", |input| input.name.as_str());
    Ok(ImportedScenario {
        scenario: Scenario::new(scenario_name(name, NAME), body),
        lines,
        summary,
        assumed: assumed.into_iter().map(super::import::assumption).collect(),
        notes: Vec::new(),
    })
}

/// Returns the all-to-alls of the expert groups, which must all be alike.
fn calls(workload: &AicbWorkload) -> Result<ExpertCalls, Problem> {
    let Some(stage) = workload.stages.first() else {
        return Err(Problem::new("", "has no stage", "give a workload with layers"));
    };
    let all: Vec<(u64, u64)> = stage
        .forward_collectives
        .iter()
        .filter(|call| call.group == Group::Ep && call.kind == CollectiveKind::AllToAll)
        .map(|call| (call.bytes, call.calls))
        .collect();
    let [(bytes, calls)] = all[..] else {
        let message = match all.len() {
            0 => "has no all-to-alls of expert groups (ALLTOALL_EP)".to_owned(),
            sizes => format!("has all-to-alls of {sizes} different sizes in its expert groups"),
        };
        return Err(Problem::new(
            "",
            message,
            "give a workload of a model in which all layers with experts have the same size",
        ));
    };
    let each = 2 * workload.micro_batches.max(1);
    if !calls.is_multiple_of(each) {
        let message = format!(
            "has {calls} forward all-to-alls of experts, which cannot be two per layer in {} micro-batches",
            workload.micro_batches
        );
        return Err(Problem::new(
            "",
            message,
            "give a workload with a dispatch and a combine in every layer",
        ));
    }
    Ok(ExpertCalls { bytes, layers: calls / each })
}

/// Returns the model with the parallelism of the file and the number of tokens that its all-to-alls carry.
fn shape(workload: &AicbWorkload, calls: &ExpertCalls, model: MoeModel) -> Result<MoeModel, Problem> {
    let number = |value: u64, what: &str| {
        u32::try_from(value)
            .map_err(|_| Problem::new("", format!("has {value} {what}"), "give a smaller workload"))
    };
    let (ep, tp, pp) = (
        number(workload.ep, "expert ranks")?,
        number(workload.tp, "tensor ranks")?,
        number(workload.pp, "stages")?,
    );
    if workload.ep > 1 && workload.expert_tp != workload.tp {
        return Err(Problem::new(
            "",
            format!("has expert groups of single GPUs, but {} tensor-parallel GPUs per rank", workload.tp),
            "give a workload whose DP is a multiple of EP: a region holds whole tensor-parallel ranks",
        ));
    }
    // A rank sends the bytes of all its tensor-parallel GPUs. Each of the `top_k` copies of a token has two bytes for
    // each entry of its hidden vector.
    let rank = calls.bytes.saturating_mul(workload.tp);
    let copy = 2 * u64::from(model.hidden) * u64::from(model.top_k);
    if !rank.is_multiple_of(copy) {
        return Err(Problem::new(
            "model",
            format!(
                "sends {copy} bytes per token, but the {rank} bytes of a rank are not a multiple of this \
                 number"
            ),
            "name the model that the workload was made for",
        ));
    }
    let tokens = number(rank / copy, "tokens of a rank")?;
    let experts = if model.experts.is_multiple_of(ep.max(1)) { model.experts } else { ep };
    let layers = number(calls.layers.saturating_mul(workload.pp), "layers")?;
    Ok(MoeModel { layers, experts, ep, tp, pp, seq: tokens, micro_batch: 1, ..model })
}

/// Returns the times of attention and experts of a layer in a SimAI text; `None` if the text contains only
/// placeholders.
fn measured(text: &SimaiText, calls: &ExpertCalls, micro_batches: u64) -> Option<MeasuredTimes> {
    let layers = (calls.layers * micro_batches) as f64;
    let time = |first: &str| {
        let rows = text.rows.iter().filter(|row| text.name(row).starts_with(first));
        let sum: u64 = rows.map(|row| row.cells[0].ns).filter(|ns| *ns > PLACEHOLDER_NS).sum();
        (sum > 0 && layers > 0.0).then(|| sum as f64 / layers / 1e6)
    };
    let (attention, expert) = (time(ATTENTION)?, time(EXPERTS)?);
    // The gate is part of the rows of the experts.
    Some(MeasuredTimes { attention_ms: Some(attention), gate_ms: Some(0.0), expert_ms: Some(expert) })
}
