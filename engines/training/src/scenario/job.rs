//! The job form of a training scenario: model, parallelism, placement and, if known, measured times.

mod measured;
mod write;

pub use measured::{Measured, MeasuredStage, NotAStep, Order, Step};

use super::reconfiguration::Reconfiguration;
use schemars::JsonSchema;
use serde::Serialize;

/// One training job as people describe it. Everything else is computed from it.
#[derive(Clone, Debug, PartialEq, JsonSchema)]
pub struct Job {
    /// The model; may be left out only if `measured` replaces the closed forms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelChoice>,
    /// Parallelism, batch and machine.
    pub run: RunConfig,
    /// Optical ports of a pod: one number, or one per pod position. Default: the job's GPUs in the pod.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ports_per_pod: Option<PortsPerPod>,
    /// `true` if the stages are laid over the pods in reverse order.
    pub reverse: bool,
    /// Measured times and volumes, in place of the closed forms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measured: Option<Measured>,
    /// How circuits may move within an iteration; they stay if it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reconfiguration: Option<Reconfiguration>,
}

/// A model by name or spelled out.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum ModelChoice {
    /// Name of a built-in model.
    Preset(String),
    /// The model's own figures.
    Inline(Model),
}

/// A transformer. Biases and norms are ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Model {
    /// Layers L.
    pub layers: u32,
    /// Hidden size h.
    pub hidden: u32,
    /// Width of the dense feed-forward block.
    pub ffn: u32,
    /// `true` if the feed-forward blocks are gated: three matrices in place of two.
    pub gated: bool,
    /// Attention heads a.
    pub heads: u32,
    /// Key and value heads.
    pub kv_heads: u32,
    /// Width of one head.
    pub head_dim: u32,
    /// Vocabulary.
    pub vocab: u32,
    /// Experts, for a mixture-of-experts model.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub moe: Option<Moe>,
    /// Multi-head latent attention, if the model uses it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mla: Option<Mla>,
}

/// The expert layers of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Moe {
    /// Routed experts E per layer.
    pub experts: u32,
    /// Experts that a token visits.
    pub topk: u32,
    /// Width of one expert.
    pub expert_ffn: u32,
    /// Experts that every token visits.
    pub shared_experts: u32,
    /// The first layers of the model that are dense.
    pub dense_layers: u32,
}

/// Ranks and widths of multi-head latent attention.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Mla {
    /// Rank of the query compression.
    pub q_lora: u32,
    /// Rank of the key and value compression.
    pub kv_lora: u32,
    /// Width of the rotary part of a head.
    pub rope: u32,
    /// Width of the other part of a head.
    pub nope: u32,
    /// Width of a value head.
    pub v: u32,
}

/// Parallelism, batch and machine of a job.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(transform = may_lack_what_is_measured)]
pub struct RunConfig {
    /// Tensor-parallel size.
    pub tp: u32,
    /// Pipeline stages.
    pub pp: u32,
    /// Expert-parallel size.
    pub ep: u32,
    /// Tensor-parallel size inside an expert.
    pub etp: u32,
    /// GPUs of the job.
    pub gpus: u32,
    /// GPUs that one replica has in one pod.
    pub gpus_per_pod_per_replica: u32,
    /// Micro-batches n per iteration.
    pub micro_batches: u32,
    /// Sequences b in a micro-batch.
    pub micro_batch_size: u32,
    /// Tokens in a sequence.
    pub seq: u32,
    /// Rate B of one NIC and of one circuit per direction, Gb/s.
    pub bandwidth_gbps: f64,
    /// Peak of one GPU, TFLOP/s.
    pub peak_tflops: f64,
    /// Share of the peak that is reached.
    pub mfu: f64,
    /// Backward time over forward time.
    pub bwd_ratio: f64,
    /// Bytes of one activation value.
    pub act_bytes: f64,
    /// Bytes of one gradient value in the reduce-scatter.
    pub grad_bytes: f64,
    /// Bytes of one weight in the all-gather.
    pub gather_bytes: f64,
    /// `true` if a stage waits for its send to finish before it goes on.
    pub blocking_p2p: bool,
    /// Rate of a transfer inside a pod per GPU, Gb/s; `null` = as `bandwidth_gbps`.
    pub intra_pod_gbps: Option<f64>,
    /// Distribution of compute over the stages.
    pub balance: Balance,
    /// Chunks of layers that a stage holds; from 2 on the schedule is interleaved.
    #[serde(skip_serializing_if = "is_one")]
    pub virtual_stages: u32,
    /// Buckets in which a stage exchanges its gradients; from 2 on the exchange overlaps the last backward.
    #[serde(skip_serializing_if = "is_one")]
    pub dp_buckets: u32,
}

/// Returns `true` if a knob is at the value that files leave out, so that a scenario reads and hashes as it did without
/// it.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_one(value: &u32) -> bool {
    *value == 1
}

/// Beside measured figures a file has none of the values that they replace.
fn may_lack_what_is_measured(schema: &mut schemars::Schema) {
    if let Some(serde_json::Value::Array(required)) = schema.get_mut("required") {
        required.retain(|key| key.as_str().is_none_or(|key| !super::idle::is_replaced(key)));
    }
}

impl RunConfig {
    /// A run of the given sizes, everything else at its default.
    pub const fn of(tp: u32, pp: u32, gpus: u32, gpus_per_pod_per_replica: u32, micro_batches: u32) -> Self {
        Self {
            tp,
            pp,
            ep: 1,
            etp: 1,
            gpus,
            gpus_per_pod_per_replica,
            micro_batches,
            micro_batch_size: 1,
            seq: 4096,
            bandwidth_gbps: 400.0,
            peak_tflops: 989.0,
            mfu: 0.4,
            bwd_ratio: 2.0,
            act_bytes: 2.0,
            grad_bytes: 4.0,
            gather_bytes: 2.0,
            blocking_p2p: true,
            intra_pod_gbps: None,
            balance: Balance::Uniform,
            virtual_stages: 1,
            dp_buckets: 1,
        }
    }

    /// Whole replicas that the GPUs make; 0 if they are too few for one.
    pub fn replicas(&self) -> u32 {
        let stage = u64::from(self.tp).max(u64::from(self.ep) * u64::from(self.etp));
        // At most `gpus`, which fits.
        (u64::from(self.gpus) / (stage * u64::from(self.pp)).max(1)) as u32
    }

    /// Rate of a transfer inside a pod per GPU, Gb/s.
    pub fn intra_pod_rate_gbps(&self) -> f64 {
        self.intra_pod_gbps.unwrap_or(self.bandwidth_gbps)
    }
}

/// Distribution of compute over the stages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Balance {
    /// Every stage computes for the same time: a balanced pipeline.
    #[default]
    Uniform,
    /// Every stage computes its own layers; the output table burdens the last one.
    Exact,
}

impl Balance {
    /// The names in files, in the order of the variants.
    pub const NAMES: [&'static str; 2] = ["uniform", "exact"];

    /// The name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Uniform => Self::NAMES[0],
            Self::Exact => Self::NAMES[1],
        }
    }

    /// The value called `name` in files.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Uniform, Self::Exact].into_iter().find(|balance| balance.name() == name)
    }
}

/// Optical ports of the pods.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum PortsPerPod {
    /// The same for every pod.
    Same(u32),
    /// By pod position within a replica.
    ByPosition(Vec<u32>),
}
