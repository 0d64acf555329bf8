//! From the description of a model to a job that trains it: the file has the sizes, parameters say the rest.

use crate::Training;
use crate::scenario::TrainingScenario;
use crate::scenario::job::{Job, Mla, Model, ModelChoice, RunConfig};
use crate::scenario::workload::params::parameter_total;
use lightbay_core::format::{self, FormatInfo, ImportedScenario, Input, SubjectSort};
use lightbay_core::json;
use lightbay_core::param::{ParamInfo, Params};
use lightbay_core::problem::{Problem, Problems};
use lightbay_core::record::{Record as _, params_of};
use lightbay_core::scenario::{Assumed, Scenario};
use lightbay_formats::Limits;
use lightbay_formats::model_config::{self, ModelSizes};

/// Name of the importer on the command line.
pub(crate) const HF_CONFIG: &str = "hf_config";

/// Values of a run that decide times and volumes, and that nobody should take without a look.
const DOUBTFUL: [&str; 5] = ["bandwidth_gbps", "peak_tflops", "mfu", "seq", "micro_batch_size"];

/// Values of a run that follow from others where they are not given.
const FOLLOWING: [&str; 2] = ["intra_pod_gbps", "gpus_per_pod"];

/// The importer.
pub(crate) fn format() -> FormatInfo {
    let help = "The config.json of a Hugging Face model; parameters set the run of the job.";
    FormatInfo::new(HF_CONFIG, help, SubjectSort::Scenario, "json")
        .leaving_out(&["biases, norms, and layers that predict further tokens"])
        .with(params_of::<RunConfig>().map(asked).collect())
}

/// A parameter of the importer: without a default where a run has to give it, or where it is assumed with a word.
fn asked(info: ParamInfo) -> ParamInfo {
    let asked = info.default.is_none() || DOUBTFUL.contains(&info.name.as_ref());
    if asked { info.derived() } else { info }
}

/// The job that trains a model.
///
/// # Errors
/// Every problem of the file, every value of the run that is missing, and those of the job; with `strict` also what was
/// assumed.
pub(crate) fn scenario(
    inputs: &[Input],
    params: &Params,
    strict: bool,
) -> Result<ImportedScenario<Training>, Problems> {
    let [input] = inputs else {
        let remedy = "give the config.json of one model";
        return Err(Problem::new("", format!("{} files are given", inputs.len()), remedy).into());
    };
    let read = model_config::read(input.bytes.as_slice(), &Limits::default())
        .map_err(|problems| problems.named(&input.name))?;
    let model = model_of(&read.value);
    let (run, assumed) = run_of(params)?;
    if strict {
        let mut problems = Problems::new();
        for assumed in &assumed {
            let message = format!("{} would be assumed", assumed.value);
            problems.add(
                assumed.what.clone(),
                message,
                format!("set '{}', or leave out --strict", assumed.set_with),
            );
        }
        problems.into_result(())?;
    }
    let parameters = parameter_total(&model);
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
        "model": &model, "parameters": parameters, "notes": &read.notes, "assumed": &assumed,
    }))?;
    let job = Job {
        model: Some(ModelChoice::Inline(model)),
        run,
        ports_per_pod: None,
        reverse: false,
        measured: None,
        reconfiguration: None,
    };
    let scenario = TrainingScenario::Job(job);
    scenario.validate()?;
    let name = format::scenario_name(&input.name, HF_CONFIG);
    Ok(ImportedScenario {
        scenario: Scenario::new(name, scenario),
        lines,
        summary,
        assumed,
        notes: read.notes,
    })
}

/// The run that the parameters say, with what was assumed of it.
fn run_of(params: &Params) -> Result<(RunConfig, Vec<Assumed>), Problems> {
    let mut run = RunConfig::of(1, 1, 1, 0, 1);
    let (mut problems, mut assumed) = (Problems::new(), Vec::new());
    for info in params_of::<RunConfig>() {
        let name = info.name.as_ref();
        match params.get(name) {
            Some(value) => {
                // The range of the parameter has accepted the value.
                let _ = run.set_field(name, value);
            }
            None if DOUBTFUL.contains(&name) => assumed.extend(run.field(name).map(|value| Assumed {
                what: name.to_owned(),
                value: format!("{value} {}", info.unit).trim().to_owned(),
                set_with: format!("{name}="),
            })),
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
    problems.into_result(())?;
    if run.gpus_per_pod.is_none() && run.gpus_per_pod_per_replica == 0 {
        let stage = u32::try_from(run.stage_gpus()).unwrap_or(u32::MAX);
        run.gpus_per_pod_per_replica = stage;
        assumed.push(Assumed {
            what: "gpus_per_pod_per_replica".to_owned(),
            value: format!("{stage}, one stage in each pod"),
            set_with: "gpus_per_pod_per_replica=".to_owned(),
        });
    }
    Ok((run, assumed))
}

/// The model of a job with these sizes.
fn model_of(sizes: &ModelSizes) -> Model {
    let experts = sizes.experts.as_ref();
    // The first layers may be dense, and all others have experts; any other pattern is a list.
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
        experts: experts.map(|experts| experts.experts),
        topk: experts.map(|experts| experts.top_k),
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
