//! Built-in models and jobs.

use crate::scenario::TrainingScenario;
use crate::scenario::job::{Job, Mla, Model, ModelChoice, RunConfig};
use crate::scenario::shared::{PlacedJob, SharedPods};
use std::sync::LazyLock;

/// A built-in model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelPreset {
    /// Name in scenario files.
    pub name: &'static str,
    /// Sizes of the model.
    pub model: Model,
}

/// A built-in job.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JobPreset {
    /// Name on the command line.
    pub name: &'static str,
    /// Description, in one line.
    pub description: &'static str,
    /// Name of the model of the job.
    pub model: &'static str,
    /// Parallelism, batch and machine of the job.
    pub run: RunConfig,
}

impl JobPreset {
    /// Returns the preset as a job.
    pub fn job(&self) -> Job {
        Job {
            model: Some(ModelChoice::Preset(self.model.to_owned())),
            run: self.run,
            pods: None,
            ports_per_pod: None,
            failed_ports: Vec::new(),
            reverse: false,
            measured: None,
            reconfiguration: None,
        }
    }
}

fn dense(layers: u32, hidden: u32, heads: u32, head_dim: u32, vocab: u32) -> Model {
    Model {
        layers,
        hidden,
        ffn: 4 * hidden,
        gated: false,
        heads,
        kv_heads: heads,
        head_dim,
        vocab,
        tied: false,
        experts: None,
        top_k: None,
        expert_ffn: None,
        shared_experts: None,
        dense_layers: None,
        moe_layers: None,
        mla: None,
    }
}

/// A gated dense model with grouped queries and heads of width 128.
fn grouped(layers: u32, hidden: u32, ffn: u32, (heads, kv_heads): (u32, u32), vocab: u32) -> Model {
    Model { ffn, gated: true, kv_heads, ..dense(layers, hidden, heads, 128, vocab) }
}

/// `model` with experts in every layer: `experts` experts of width `expert_ffn`, of which a token visits `top_k`.
fn with_routed(model: Model, experts: u32, top_k: u32, expert_ffn: u32) -> Model {
    Model {
        experts: Some(experts),
        top_k: Some(top_k),
        expert_ffn: Some(expert_ffn),
        shared_experts: Some(0),
        dense_layers: Some(0),
        ..model
    }
}

/// The built-in models. The parameter count of each model matches the size in its name.
pub static MODELS: LazyLock<Vec<ModelPreset>> = LazyLock::new(|| {
    vec![
        ModelPreset { name: "gpt_7b", model: dense(32, 4096, 32, 128, 51_200) },
        ModelPreset { name: "megatron_177b", model: dense(96, 12_288, 96, 128, 131_072) },
        ModelPreset { name: "megatron_462b", model: dense(112, 18_432, 96, 192, 131_072) },
        ModelPreset {
            name: "mixtral_8x22b",
            model: with_routed(grouped(56, 6144, 16_384, (48, 8), 32_768), 8, 2, 16_384),
        },
        ModelPreset {
            name: "deepseek_671b",
            model: Model {
                layers: 61,
                hidden: 7168,
                ffn: 18_432,
                gated: true,
                heads: 128,
                kv_heads: 128,
                head_dim: 128,
                vocab: 129_280,
                tied: false,
                experts: Some(256),
                top_k: Some(8),
                expert_ffn: Some(2048),
                shared_experts: Some(1),
                dense_layers: Some(3),
                moe_layers: None,
                mla: Some(Mla { q_lora: 1536, kv_lora: 512, rope: 64, nope: 128, v: 128 }),
            },
        },
        ModelPreset { name: "llama_3_1_8b", model: grouped(32, 4096, 14_336, (32, 8), 128_256) },
        ModelPreset { name: "llama_3_1_70b", model: grouped(80, 8192, 28_672, (64, 8), 128_256) },
        ModelPreset { name: "llama_3_1_405b", model: grouped(126, 16_384, 53_248, (128, 8), 128_256) },
        ModelPreset {
            name: "mixtral_8x7b",
            model: with_routed(grouped(32, 4096, 14_336, (32, 8), 32_000), 8, 2, 14_336),
        },
        ModelPreset {
            name: "qwen3_235b_a22b",
            model: with_routed(grouped(94, 4096, 12_288, (64, 4), 151_936), 128, 8, 1536),
        },
        ModelPreset {
            name: "gpt_oss_120b",
            model: Model {
                head_dim: 64,
                ..with_routed(grouped(36, 2880, 2880, (64, 8), 201_088), 128, 4, 2880)
            },
        },
    ]
});

const fn with_experts(mut run: RunConfig, ep: u32) -> RunConfig {
    run.ep = ep;
    run
}

const fn interleaved(mut run: RunConfig, virtual_stages: u32) -> RunConfig {
    run.virtual_stages = virtual_stages;
    run
}

const fn in_buckets(mut run: RunConfig, dp_buckets: u32) -> RunConfig {
    run.dp_buckets = dp_buckets;
    run
}

/// The built-in jobs: first one of each size, smallest first; then other small jobs, and jobs with schedules other than
/// plain 1F1B.
pub const JOBS: &[JobPreset] = &[
    JobPreset {
        name: "tiny4",
        description: "GPT 7B on 16 GPUs in 4 pods, 4 micro-batches: small enough to follow by eye",
        model: "gpt_7b",
        run: RunConfig::of(2, 4, 16, 4, 4),
    },
    JobPreset {
        name: "small",
        description: "GPT 7B on 128 GPUs in 16 pods, 4 replicas in a ring",
        model: "gpt_7b",
        run: RunConfig::of(4, 8, 128, 8, 16),
    },
    JobPreset {
        name: "megatron_177b",
        description: "Megatron 177B on 384 GPUs in 24 pods, TP 8, PP 6, 8 replicas",
        model: "megatron_177b",
        run: RunConfig::of(8, 6, 384, 16, 48),
    },
    JobPreset {
        name: "mixtral_8x22b",
        description: "Mixtral 8x22B on 128 GPUs in 8 pods, TP 2, PP 8, EP 8, 2 replicas",
        model: "mixtral_8x22b",
        run: with_experts(RunConfig::of(2, 8, 128, 16, 64), 8),
    },
    JobPreset {
        name: "megatron_462b",
        description: "Megatron 462B on 1024 GPUs in 32 pods, TP 8, PP 16, 8 replicas",
        model: "megatron_462b",
        run: RunConfig::of(8, 16, 1024, 32, 128),
    },
    JobPreset {
        name: "deepseek_671b",
        description: "DeepSeek 671B on 256 GPUs in 8 pods, TP 2, PP 16, EP 8, 2 replicas",
        model: "deepseek_671b",
        run: with_experts(RunConfig::of(2, 16, 256, 32, 128), 8),
    },
    JobPreset {
        name: "tiny8",
        description: "GPT 7B on 16 GPUs in 4 pods, 8 micro-batches",
        model: "gpt_7b",
        run: RunConfig::of(2, 4, 16, 4, 8),
    },
    JobPreset {
        name: "tiny32",
        description: "GPT 7B on 16 GPUs in 4 pods, 32 micro-batches: a long steady state",
        model: "gpt_7b",
        run: RunConfig::of(2, 4, 16, 4, 32),
    },
    JobPreset {
        name: "one_stage_per_pod",
        description: "GPT 7B on 32 GPUs in 8 pods, every stage alone: NICs are shared inside the pipeline",
        model: "gpt_7b",
        run: RunConfig::of(4, 4, 32, 4, 8),
    },
    JobPreset {
        name: "tiny_interleaved",
        description: "tiny8 with 2 chunks per stage: transfers compete inside the pipeline",
        model: "gpt_7b",
        run: interleaved(RunConfig::of(2, 4, 16, 4, 8), 2),
    },
    JobPreset {
        name: "small_interleaved",
        description: "small with 2 chunks per stage: the last pod sends to the first",
        model: "gpt_7b",
        run: interleaved(RunConfig::of(4, 8, 128, 8, 16), 2),
    },
    JobPreset {
        name: "megatron_177b_interleaved",
        description: "megatron_177b with 4 chunks per stage",
        model: "megatron_177b",
        run: interleaved(RunConfig::of(8, 6, 384, 16, 48), 4),
    },
    JobPreset {
        name: "tiny_buckets",
        description: "tiny4 with gradients in 2 buckets that overlap the last backward",
        model: "gpt_7b",
        run: in_buckets(RunConfig::of(2, 4, 16, 4, 4), 2),
    },
    JobPreset {
        name: "small_buckets",
        description: "small with gradients in 4 buckets, one for each layer of a stage",
        model: "gpt_7b",
        run: in_buckets(RunConfig::of(4, 8, 128, 8, 16), 4),
    },
    JobPreset {
        name: "megatron_177b_buckets",
        description: "megatron_177b with gradients in 4 buckets of 4 layers",
        model: "megatron_177b",
        run: in_buckets(RunConfig::of(8, 6, 384, 16, 48), 4),
    },
];

/// A built-in job and its mirror image on the same pods: the second job has its stages in reverse order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairPreset {
    /// Name on the command line.
    pub name: &'static str,
    /// Description, in one line.
    pub description: &'static str,
    /// Name of the job.
    pub job: &'static str,
}

impl PairPreset {
    /// Both jobs; the job with reversed stages is the second. `None` if the job does not exist.
    pub fn shared(&self) -> Option<SharedPods> {
        let job = job(self.job)?.job();
        let reversed = Job { reverse: true, ..job.clone() };
        let placed = |name: String, job| PlacedJob { name, weight: 1, first_pod: 0, job };
        let jobs = vec![placed(self.job.to_owned(), job), placed(format!("{}_reversed", self.job), reversed)];
        Some(SharedPods { jobs, ports_per_pod: None })
    }
}

/// The built-in pairs of jobs, smallest first.
pub const PAIRS: &[PairPreset] = &[
    PairPreset {
        name: "tiny4_pair",
        description: "tiny4 and the same job with its stages reversed, on the same 4 pods",
        job: "tiny4",
    },
    PairPreset {
        name: "small_pair",
        description: "small and the same job with its stages reversed, on the same 16 pods",
        job: "small",
    },
    PairPreset {
        name: "megatron_177b_pair",
        description: "Megatron 177B and the same job with its stages reversed, on the same 24 pods",
        job: "megatron_177b",
    },
    PairPreset {
        name: "mixtral_8x22b_pair",
        description: "Mixtral 8x22B and the same job with its stages reversed, on the same 8 pods",
        job: "mixtral_8x22b",
    },
    PairPreset {
        name: "deepseek_671b_pair",
        description: "DeepSeek 671B and the same job with its stages reversed, on the same 8 pods",
        job: "deepseek_671b",
    },
];

/// The built-in scenario called `name`: a job or a pair of jobs.
pub fn scenario(name: &str) -> Option<TrainingScenario> {
    if let Some(preset) = job(name) {
        return Some(TrainingScenario::Job(preset.job()));
    }
    PAIRS.iter().find(|preset| preset.name == name)?.shared().map(TrainingScenario::Shared)
}

/// The built-in model called `name`.
pub fn model(name: &str) -> Option<Model> {
    MODELS.iter().find(|preset| preset.name == name).map(|preset| preset.model.clone())
}

/// Instruction for giving a custom model.
pub const OWN_MODEL: &str = "set the sizes of a model of your own (layers, hidden, ffn, gated, heads, kv_heads, head_dim, \
    vocab), import its config.json (`lightbay import hf_config`), or give it in the file, such as \
    \"model\": {\"layers\": 80, \"hidden\": 8192, \"ffn\": 28672, \"gated\": true, \"heads\": 64, \"kv_heads\": 8, \
    \"head_dim\": 128, \"vocab\": 128256}";

/// The built-in job called `name`.
pub fn job(name: &str) -> Option<&'static JobPreset> {
    JOBS.iter().find(|preset| preset.name == name)
}

/// The names of the built-in models.
pub fn model_names() -> Vec<&'static str> {
    MODELS.iter().map(|preset| preset.name).collect()
}
