//! Time of an iteration: micro-batches through the pipeline, and the exchange of the gradients
//! (docs/methods/moe-cost.md, section 3).

use super::fabrics::TOPOOPT_DEGREE;
use super::rates::RegionRates;
use super::times::LayerTimes;
use crate::plan::{FabricKind, IterationPlan};
use crate::scenario::MoeScenario;

/// Bytes of gradients of one GPU of the stage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gradients {
    /// Bytes of the gradients of the experts on the GPU; every replica of the model has a copy of these gradients.
    pub expert_bytes: f64,
    /// Bytes of the gradients of all other parameters; every rank of every replica has a copy of these gradients.
    pub dense_bytes: f64,
}

impl Gradients {
    /// Returns the gradients of a scenario, two bytes for each parameter.
    pub fn of(scenario: &MoeScenario) -> Self {
        let shape = scenario.shape();
        let (hidden, tp) = (f64::from(shape.hidden), f64::from(shape.tp));
        let layers = f64::from(scenario.stage_layers());
        let attention = 2.0 * hidden * (hidden + f64::from(shape.kv_width));
        let dense =
            attention + hidden * f64::from(shape.experts) + 3.0 * hidden * f64::from(shape.shared_ffn);
        let expert = shape.experts_per_rank() * 3.0 * hidden * f64::from(shape.ffn);
        Self { expert_bytes: 2.0 * layers * expert / tp, dense_bytes: 2.0 * layers * dense / tp }
    }
}

/// Returns the bytes that each of `members` sends in a ring all-reduce.
fn ring(members: f64, bytes: f64) -> f64 {
    if members > 1.0 { 2.0 * (members - 1.0) / members * bytes } else { 0.0 }
}

/// Returns the time of the exchange of the gradients, once in an iteration, ms; `None` if the gradients have no path.
pub fn data_parallel_ms(scenario: &MoeScenario, fabric: FabricKind, rates: &RegionRates) -> Option<f64> {
    let shape = scenario.shape();
    let gradients = Gradients::of(scenario);
    let replicas = scenario.replicas() as f64;
    let ranks = replicas * f64::from(shape.ep);
    let gpus = f64::from(rates.gpus);
    // Gradients by server: the ranks of a server first reduce the dense gradients among themselves, so a server sends
    // these gradients only once.
    // All servers send equally many bytes, so the ring waits for the server with the lowest rate.
    let in_server = (gpus / f64::from(shape.tp)).min(f64::from(shape.ep)).max(1.0);
    let used = in_server * f64::from(shape.tp);
    let by_server = |rate: f64| {
        let bytes = used * ring(replicas, gradients.expert_bytes)
            + f64::from(shape.tp) * ring(ranks / in_server, gradients.dense_bytes);
        if bytes == 0.0 { Some(0.0) } else { (rate > 0.0).then(|| bytes / rate) }
    };
    match fabric {
        FabricKind::FatTree | FabricKind::Rail => {
            let rate = rates.slowest(|server| rates.nics(server)) * rates.circuit / gpus;
            let bytes = ring(replicas, gradients.expert_bytes) + ring(ranks, gradients.dense_bytes);
            if bytes == 0.0 { Some(0.0) } else { (rate > 0.0).then(|| bytes / rate) }
        }
        FabricKind::Mfabric => by_server(rates.slowest(|server| rates.eps[server])),
        FabricKind::Topoopt => {
            let nics = rates.slowest(|server| rates.nics(server)) - f64::from(TOPOOPT_DEGREE);
            by_server(nics.max(0.0) * rates.circuit)
        }
        FabricKind::Pooled => by_server(rates.slowest(|server| rates.fastest(server))),
    }
}

/// Totals of a stage for one micro-batch, without compute.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StageSums {
    /// Time of the all-to-alls of all layers.
    pub all_to_all_ms: f64,
    /// Time of the stalls of all layers.
    pub stall_ms: f64,
    /// Bytes over packet switches between the servers of a region.
    pub eps_bytes: f64,
}

/// Returns the time of an iteration; `None` if the gradients have no path.
pub fn iteration(
    scenario: &MoeScenario,
    fabric: FabricKind,
    sums: StageSums,
    free_changes: u32,
) -> Option<IterationPlan> {
    let times = LayerTimes::of(scenario);
    let layers = f64::from(scenario.stage_layers());
    let compute_ms = layers * times.compute_ms();
    let tensor_parallel_ms = layers * 3.0 * times.tensor_parallel_ms;
    let data_parallel_ms = data_parallel_ms(scenario, fabric, &RegionRates::of(scenario))?;
    let steps = f64::from(scenario.cluster.micro_batches) + f64::from(scenario.shape().pp) - 1.0;
    let one = compute_ms + tensor_parallel_ms + sums.all_to_all_ms + sums.stall_ms;
    Some(IterationPlan {
        fabric,
        free_changes,
        compute_ms,
        tensor_parallel_ms,
        all_to_all_ms: sums.all_to_all_ms,
        stall_ms: sums.stall_ms,
        data_parallel_ms,
        iteration_ms: steps * one + data_parallel_ms,
        eps_bytes: sums.eps_bytes,
    })
}
