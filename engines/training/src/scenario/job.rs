//! The job form of a training scenario: model, parallelism, placement and, if known, measured times.

mod forms;
mod measured;
mod pods;
mod write;

pub use forms::{ModelChoice, PortsPerPod};
pub use measured::{Measured, MeasuredStage, NotAStep, Order, Step};
pub use pods::{FailedPort, PodMap, PodRange};

use super::limits::{MAX_ACT_BYTES, MAX_GBPS, MAX_GPUS, MAX_LAYERS, MAX_SIZE, MIN_GBPS};
use super::reconfiguration::Reconfiguration;
use lightbay_core::problem::Problem;
use lightbay_core::record::{Spec, any, list, within};
use lightbay_core::{record, words};

record! {
    /// One training job in terms of its model and parallelism. Everything else is computed from it.
    pub struct Job, written by write::job {
        /// The model; may be left out only if `measured` replaces the closed forms.
        pub model: Option<ModelChoice> = any(),
        /// Parallelism, batch and machine.
        pub run: RunConfig = any(),
        /// Pods by the ranks they hold, instead of `gpus_per_pod` and `gpus_per_pod_per_replica`: the GPUs of each pod
        /// in rank order, or ranges of ranks with their pod. Pods may be uneven and hold parts of stages.
        pub pods: Option<PodMap> = any(),
        /// Optical ports of a pod: one number, or one per pod position (with `pods`, one per pod of the list). Default:
        /// the number of the job's GPUs in the pod.
        pub ports_per_pod: Option<PortsPerPod> = any(),
        /// Ports and transceivers that have failed; circuits use only the other ports.
        pub failed_ports: Vec<FailedPort> = list(),
        /// If true, stages are placed on the pods in reverse order.
        pub reverse: bool = any().or(false).cold(),
        /// Measured times and volumes, instead of the closed forms.
        pub measured: Option<Measured> = any(),
        /// Rules for changing circuits within an iteration; if omitted, circuits are static.
        pub reconfiguration: Option<Reconfiguration> = any(),
    }
}

/// Specification of a field for a size in a model.
fn size<T>() -> Spec<T> {
    within(1..=i64::from(MAX_SIZE))
}

/// Specification of a field for a count in a model that may be 0.
fn or_none<T>() -> Spec<T> {
    within(0..=i64::from(MAX_SIZE))
}

record! {
    /// A transformer. Biases and norms are ignored.
    #[derive(Eq)]
    pub struct Model {
        /// Layers of the model.
        pub layers: u32 = within(1..=i64::from(MAX_LAYERS)),
        /// Hidden size.
        pub hidden: u32 = size(),
        /// Width of the dense feed-forward block.
        pub ffn: u32 = size(),
        /// If true, the feed-forward blocks are gated: three matrices instead of two.
        pub gated: bool = any().or(false),
        /// Attention heads.
        pub heads: u32 = size(),
        /// Key and value heads.
        pub kv_heads: u32 = size(),
        /// Width of one head.
        pub head_dim: u32 = size(),
        /// Entries of the vocabulary.
        pub vocab: u32 = size(),
        /// If true, the output table is the embedding table; a job with one stage then holds one table.
        pub tied: bool = any().or(false).omitted(),
        /// Routed experts of a layer, for a mixture-of-experts model.
        pub experts: Option<u32> = size(),
        /// Experts that a token visits.
        pub top_k: Option<u32> = size().formerly("topk"),
        /// Width of one expert.
        pub expert_ffn: Option<u32> = size(),
        /// Experts that every token visits; 0 if not given.
        pub shared_experts: Option<u32> = or_none(),
        /// Number of dense layers at the start of the model; 0 if not given.
        pub dense_layers: Option<u32> = or_none(),
        /// Layers that have experts, from 0, instead of `dense_layers`; all other layers are dense.
        pub moe_layers: Option<Vec<u32>> = within(0..=i64::from(MAX_LAYERS - 1)),
        /// Multi-head latent attention, if the model uses it.
        pub mla: Option<Mla> = any(),
    }
}

impl Model {
    /// Returns `true` if a layer, from 0, has experts.
    pub fn has_experts(&self, layer: u32) -> bool {
        self.moe().is_some_and(|moe| match &self.moe_layers {
            Some(layers) => layers.contains(&layer),
            None => layer >= moe.dense_layers,
        })
    }

    /// The expert layers of a mixture-of-experts model.
    pub fn moe(&self) -> Option<Moe> {
        Some(Moe {
            experts: self.experts?,
            top_k: self.top_k?,
            expert_ffn: self.expert_ffn?,
            shared_experts: self.shared_experts.unwrap_or(0),
            dense_layers: self.dense_layers.unwrap_or(0),
        })
    }
}

/// The expert layers of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moe {
    /// Routed experts E per layer.
    pub experts: u32,
    /// Experts that a token visits.
    pub top_k: u32,
    /// Width of one expert.
    pub expert_ffn: u32,
    /// Experts that every token visits.
    pub shared_experts: u32,
    /// Number of dense layers at the start of the model.
    pub dense_layers: u32,
}

record! {
    /// Ranks and widths of multi-head latent attention.
    #[derive(Copy, Eq)]
    pub struct Mla {
        /// Rank of the query compression.
        pub q_lora: u32 = size(),
        /// Rank of the key and value compression.
        pub kv_lora: u32 = size(),
        /// Width of the rotary part of a head.
        pub rope: u32 = size(),
        /// Width of the part of a head without rotary embedding.
        pub nope: u32 = size(),
        /// Width of a value head.
        pub v: u32 = size(),
    }
}

/// Part of a job in one pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PodShare {
    /// Number of replicas whose ranks of a stage share the pod. These replicas reduce their gradients inside the pod.
    pub replicas: u64,
    /// GPUs of each of these replicas in the pod.
    pub per_replica: u64,
}

/// Default values of the fields of a run.
const USUAL: RunConfig = RunConfig::of(1, 1, 1, 1, 1);

/// Specification of a field for a count in a run that is at least 1.
fn count<T>(most: i64) -> Spec<T> {
    within(1..=most)
}

/// Specification of a field for a rate, Gb/s.
fn rate<T: Clone + PartialEq + lightbay_core::record::FieldType>() -> Spec<T> {
    within(MIN_GBPS..=MAX_GBPS).unit("Gb/s")
}

record! {
    /// Parallelism, batch and machine of a job.
    #[derive(Copy)]
    pub struct RunConfig {
        /// Tensor-parallel size.
        pub tp: u32 = count(4096).cold(),
        /// Context-parallel size: the ranks that share each sequence.
        pub cp: u32 = count(4096).or(USUAL.cp).omitted().cold(),
        /// Pipeline stages of a replica.
        pub pp: u32 = count(4096).cold(),
        /// Expert-parallel size.
        pub ep: u32 = count(4096).or(USUAL.ep).cold(),
        /// Tensor-parallel size inside an expert.
        pub etp: u32 = count(4096).or(USUAL.etp).cold(),
        /// GPUs of the job.
        pub gpus: u32 = count(i64::from(MAX_GPUS)).cold(),
        /// GPUs of one replica in each of its pods, a multiple of the GPUs per stage; 0 if `gpus_per_pod` or the list
        /// of pods sets how replicas share pods.
        pub gpus_per_pod_per_replica: u32 = within(0..=i64::from(MAX_GPUS)).or(0).omitted().cold(),
        /// Number of GPUs of the job in each pod, if replicas share pods; a pod holds consecutive ranks, and so does a
        /// stage. Default: replicas have separate pods.
        pub gpus_per_pod: Option<u32> = count(i64::from(MAX_GPUS)).cold(),
        /// Micro-batches per iteration.
        pub micro_batches: u32 = count(100_000),
        /// Sequences in a micro-batch.
        pub micro_batch_size: u32 = count(1 << 20).or(USUAL.micro_batch_size),
        /// Length of a sequence.
        pub seq: u32 = count(1 << 26).or(USUAL.seq).unit("tokens"),
        /// Rate of one NIC and of one circuit per direction.
        pub bandwidth_gbps: f64 = rate().or(USUAL.bandwidth_gbps),
        /// Peak compute of one GPU.
        pub peak_tflops: f64 = within(0.001..=1e6).or(USUAL.peak_tflops).unit("TFLOP/s"),
        /// Fraction of the peak that compute reaches.
        pub mfu: f64 = within(0.001..=1.0).or(USUAL.mfu),
        /// Backward compute time divided by forward compute time.
        pub bwd_ratio: f64 = within(0.0..=100.0).or(USUAL.bwd_ratio),
        /// Size of one activation value between stages.
        pub act_bytes: f64 = within(0.01..=MAX_ACT_BYTES).or(USUAL.act_bytes).unit("B"),
        /// Size of one gradient value in the reduce-scatter between replicas.
        pub grad_bytes: f64 = within(0.01..=16.0).or(USUAL.grad_bytes).unit("B"),
        /// Size of one weight in the all-gather between replicas.
        pub gather_bytes: f64 = within(0.0..=16.0).or(USUAL.gather_bytes).unit("B"),
        /// Activations that the backward pass computes again: none, those of the attention, or all of a layer.
        pub recompute: Recompute = any().or(USUAL.recompute).omitted(),
        /// ZeRO stage: 0 keeps all states in every replica, 1 shards the optimizer, 2 also gradients, 3 also weights.
        /// For every micro-batch, stage 2 exchanges gradients once; stage 3 exchanges gradients once and weights twice.
        pub zero: u32 = within(0..=3).or(USUAL.zero).omitted(),
        /// If true, a stage waits for its send to finish before it continues.
        pub blocking_p2p: bool = any().or(USUAL.blocking_p2p),
        /// Rate of a transfer inside a pod, per GPU. Default: `bandwidth_gbps`.
        pub intra_pod_gbps: Option<f64> = rate().or_null(),
        /// Compute time of the stages: equal for all, or by their exact layers and embedding tables.
        pub balance: Balance = any().or(USUAL.balance),
        /// Number of virtual stages per pipeline stage; with 2 or more, 1F1B is interleaved over them.
        pub virtual_stages: u32 = count(4096).or(USUAL.virtual_stages).omitted().cold(),
        /// Number of gradient buckets per stage, last layers first; 2 or more overlap with the last backward pass.
        pub dp_buckets: u32 = count(4096).or(USUAL.dp_buckets).omitted().cold(),
    }
}

impl RunConfig {
    /// A run of the given sizes, with defaults for everything else.
    pub const fn of(tp: u32, pp: u32, gpus: u32, gpus_per_pod_per_replica: u32, micro_batches: u32) -> Self {
        Self {
            tp,
            cp: 1,
            pp,
            ep: 1,
            etp: 1,
            gpus,
            gpus_per_pod_per_replica,
            gpus_per_pod: None,
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
            recompute: Recompute::None,
            zero: 1,
            blocking_p2p: true,
            intra_pod_gbps: None,
            balance: Balance::Uniform,
            virtual_stages: 1,
            dp_buckets: 1,
        }
    }

    /// Number of GPUs that run one stage of one replica.
    pub fn stage_gpus(&self) -> u64 {
        (u64::from(self.tp) * u64::from(self.cp)).max(u64::from(self.ep) * u64::from(self.etp))
    }

    /// Number of replicas whose ranks of a stage share a pod, and GPUs of each of these replicas in the pod.
    ///
    /// # Errors
    /// `gpus_per_pod` does not fit the ranks of a stage.
    pub fn pod(&self) -> Result<PodShare, Problem> {
        let Some(given) = self.gpus_per_pod else {
            return Ok(PodShare { replicas: 1, per_replica: u64::from(self.gpus_per_pod_per_replica) });
        };
        // Ranks are numbered (stage x DP + replica) x GPUs of a stage + rank, as Megatron-LM does.
        let (pod, stage) = (u64::from(given), self.stage_gpus());
        let ranks = u64::from(self.gpus) / u64::from(self.pp).max(1);
        if ranks >= stage && ranks.is_multiple_of(stage) {
            if pod.is_multiple_of(ranks) && pod <= u64::from(self.gpus) {
                let replicas = ranks / stage;
                return Ok(PodShare { replicas, per_replica: pod / replicas });
            }
            if pod.is_multiple_of(stage) && ranks.is_multiple_of(pod) {
                return Ok(PodShare { replicas: pod / stage, per_replica: stage });
            }
        }
        let message = format!(
            "is '{given}', which does not divide the {ranks} GPUs of a stage into pods of whole groups of {stage} GPUs (a stage of one replica)"
        );
        let remedy = format!(
            "give a multiple of {stage} that divides {ranks}, or give a multiple of {ranks} up to {}, or set \
             `gpus_per_pod_per_replica` instead",
            self.gpus
        );
        Err(Problem::new("gpus_per_pod", message, remedy))
    }

    /// Number of replicas; 0 if there are too few GPUs for one replica.
    pub fn replicas(&self) -> u32 {
        // The quotient is at most `gpus`, so it fits into u32.
        (u64::from(self.gpus) / (self.stage_gpus() * u64::from(self.pp)).max(1)) as u32
    }

    /// Bytes that an iteration exchanges between replicas per parameter: the bytes of gradients and of weights.
    pub fn exchanged_bytes(&self) -> f64 {
        let batches = f64::from(self.micro_batches);
        match self.zero {
            // An all-reduce sends as much as a reduce-scatter and an all-gather.
            0 => 2.0 * self.grad_bytes,
            1 => self.grad_bytes + self.gather_bytes,
            2 => batches * self.grad_bytes + self.gather_bytes,
            _ => batches * (self.grad_bytes + 2.0 * self.gather_bytes),
        }
    }

    /// Rate of a transfer inside a pod per GPU, Gb/s.
    pub fn intra_pod_rate_gbps(&self) -> f64 {
        self.intra_pod_gbps.unwrap_or(self.bandwidth_gbps)
    }
}

words! {
    /// Activations that are computed again.
    pub enum Recompute {
        /// None: all are kept.
        None = "none",
        /// Scores and weighted sums of the attention.
        Selective = "selective",
        /// Everything in the layers.
        Full = "full",
    }
}

words! {
    /// Distribution of compute over the stages.
    pub enum Balance {
        /// Every stage computes for the same time: a balanced pipeline.
        Uniform = "uniform",
        /// Every stage computes its own layers; the last stage also computes the output table.
        Exact = "exact",
    }
}
