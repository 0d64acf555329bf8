//! Closed forms for the compute time of a stage and the bytes that it exchanges, from model and run.
//!
//! Arithmetic is done in `f64`: the largest parameter counts stay below 2^53, so counts are exact.

mod buckets;
pub(crate) mod params;
mod places;
mod shape;

pub use buckets::Bucket;
pub use params::{LayerParams, layer_split, parameter_total};
pub use places::{Hop, ReplicaGroup, Ring, StagePlaces};
pub use shape::{Shape, node_count};

use crate::scenario::job::{Balance, Job, Measured, Model, Recompute, RunConfig};

/// Compute and traffic of the stages of a job in one iteration.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// Load of each pipeline stage.
    pub stages: Vec<StageLoad>,
    /// Bytes that cross one stage boundary per micro-batch and direction, summed over all GPUs of the stage.
    pub pp_volume_bytes: f64,
}

/// Load of one stage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StageLoad {
    /// Layers that the stage holds, in all its chunks; 0 if only measured times are known.
    pub layers: u32,
    /// Forward time of one micro-batch through all chunks of the stage; each chunk takes an equal share.
    pub fwd_s: f64,
    /// Backward time of one micro-batch through all chunks of the stage; each chunk takes an equal share.
    pub bwd_s: f64,
    /// Bytes that one GPU of the stage sends over the data-parallel ring in one iteration.
    pub dp_bytes_per_gpu: f64,
}

impl Workload {
    /// The workload of a valid job: its measured figures, or else the closed forms. `None` if the job has neither
    /// a known model nor measured figures.
    pub fn of(job: &Job, shape: &Shape) -> Option<Self> {
        match &job.measured {
            Some(measured) => Some(Self::measured(measured, job, shape)),
            None => Some(Self::closed_form(&job.resolved_model()?, &job.run, shape)),
        }
    }

    fn measured(measured: &Measured, job: &Job, shape: &Shape) -> Self {
        let layers =
            job.resolved_model().map_or_else(Vec::new, |model| layer_split(model.layers, shape.stages));
        // Replicas that share pods add up their gradients first, and each of their GPUs sends a part of the sum.
        let together = f64::from(shape.replicas_per_pod);
        let ring = measured.ring_factor(shape.replicas * shape.replicas_per_pod, shape.replicas) / together;
        let stages = measured.stages.iter().enumerate().map(|(s, stage)| StageLoad {
            layers: layers.get(s).copied().unwrap_or(0),
            fwd_s: stage.fwd_s,
            bwd_s: stage.bwd_s,
            dp_bytes_per_gpu: stage.dp_bytes_per_gpu * ring,
        });
        Self {
            stages: stages.collect(),
            pp_volume_bytes: measured.pp_bytes_per_rank * f64::from(shape.gpus_per_stage),
        }
    }

    /// Derives the compute time from FLOPs, and the volumes from tensor sizes.
    pub fn closed_form(model: &Model, run: &RunConfig, shape: &Shape) -> Self {
        let params = LayerParams::of(model);
        let g = f64::from(shape.gpus_per_stage);
        let tokens = f64::from(shape.dp_in) * f64::from(run.micro_batch_size) * f64::from(run.seq);
        let split = layer_split(model.layers, shape.stages);

        // The GPUs of a stage may form several expert groups, each of which holds all experts of the stage.
        let expert_group = f64::from(run.ep) * f64::from(run.etp);
        let expert_shards = expert_group * (g / expert_group).floor().max(1.0);
        // Ranks that share a sequence hold the same weights; their gradients are reduced inside the pod.
        let other_shards = f64::from(run.tp) * f64::from(run.cp) * f64::from(shape.dp_in);
        let replicas = f64::from(shape.replicas);
        let ring_bytes = (replicas - 1.0) / replicas * run.exchanged_bytes();
        let table = f64::from(model.vocab) * f64::from(model.hidden);

        let mut first_layer = 0;
        let mut flops = Vec::with_capacity(split.len());
        let mut again = Vec::with_capacity(split.len());
        let mut dp_bytes = Vec::with_capacity(split.len());
        for (stage, &layers) in split.iter().enumerate() {
            let dense = dense_layers(&params, shape, stage as u32, first_layer, layers);
            let (dense, experts) = (f64::from(dense), f64::from(layers - dense));
            first_layer += layers;
            let last = stage + 1 == split.len();

            let mut per_token = dense * params.dense_flops(run.seq) + experts * params.moe_flops(run.seq);
            let mut others = dense * params.dense_layer() + experts * params.moe_layer_without_experts();
            again.push(match run.recompute {
                Recompute::None => 0.0,
                Recompute::Selective => f64::from(layers) * params.attention_core_flops(run.seq),
                Recompute::Full => per_token,
            });
            if stage == 0 {
                others += table;
            }
            if last {
                per_token += 2.0 * table;
                // One stage holds a tied table once; several stages hold a copy in the first and in the last.
                if !model.tied || stage > 0 {
                    others += table;
                }
            }
            flops.push(per_token);
            let shard = experts * params.experts() / expert_shards + others / other_shards;
            dp_bytes.push(shard * ring_bytes);
        }
        if run.balance == Balance::Uniform {
            for of_stages in [&mut flops, &mut again] {
                let mean = of_stages.iter().sum::<f64>() / of_stages.len() as f64;
                of_stages.fill(mean);
            }
        }
        let stage_rate = g * run.peak_tflops * 1e12 * run.mfu;
        let stages = split.iter().zip(flops).zip(again).zip(dp_bytes);
        let stages = stages.map(|(((&layers, per_token), again), dp_bytes_per_gpu)| {
            let fwd_s = per_token * tokens / stage_rate;
            let bwd_s = run.bwd_ratio * fwd_s + again * tokens / stage_rate;
            StageLoad { layers, fwd_s, bwd_s, dp_bytes_per_gpu }
        });
        Self { stages: stages.collect(), pp_volume_bytes: tokens * f64::from(model.hidden) * run.act_bytes }
    }
}

/// Number of dense layers of a stage. Its layers are consecutive from `first`, unless it holds several chunks: chunk c
/// of stage s is then part `c * stages + s` of the model.
fn dense_layers(params: &LayerParams, shape: &Shape, stage: u32, first: u32, layers: u32) -> u32 {
    let chunks = shape.virtual_stages;
    if chunks == 1 {
        return params.dense_layers_in(first, layers);
    }
    let part = layers / chunks;
    (0..chunks).map(|chunk| params.dense_layers_in((chunk * shape.stages + stage) * part, part)).sum()
}

#[cfg(test)]
mod tests;
