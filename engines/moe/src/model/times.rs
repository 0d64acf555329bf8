//! Times of compute and of tensor-parallel exchanges of one layer and micro-batch, in closed form
//! (docs/methods/moe-cost.md, section 3).

use crate::scenario::MoeScenario;

/// Forward times of one layer; backward times are twice as long.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LayerTimes {
    /// Time of attention.
    pub attention_ms: f64,
    /// Time of the gate.
    pub gate_ms: f64,
    /// Time of the experts.
    pub expert_ms: f64,
    /// Time of the tensor-parallel exchanges.
    pub tensor_parallel_ms: f64,
}

impl LayerTimes {
    /// Returns the times of a scenario: measured times where the scenario gives them, otherwise computed times.
    pub fn of(scenario: &MoeScenario) -> Self {
        let shape = scenario.shape();
        let tokens = shape.tokens();
        let (hidden, tp) = (f64::from(shape.hidden), f64::from(shape.tp));
        // Operations per ms of all GPUs of a rank.
        let rate = tp * scenario.cluster.sustained_tflops * 1e9;
        let kv = f64::from(shape.kv_width);
        let attention =
            tokens * (4.0 * hidden * hidden + 4.0 * hidden * kv + 2.0 * f64::from(shape.seq) * hidden) / rate;
        let gate = 2.0 * tokens * hidden * f64::from(shape.experts) / rate;
        let routed = f64::from(shape.top_k) * f64::from(shape.ffn);
        let expert = 6.0 * tokens * hidden * (routed + f64::from(shape.shared_ffn)) / rate;
        let nvlink = scenario.region.nvlink_gbytes_per_s * 1e6;
        let tensor_parallel = 4.0 * (tp - 1.0) / tp * tokens * shape.token_bytes() / nvlink;
        let measured = scenario.measured;
        Self {
            attention_ms: measured.attention_ms.unwrap_or(attention),
            gate_ms: measured.gate_ms.unwrap_or(gate),
            expert_ms: measured.expert_ms.unwrap_or(expert),
            tensor_parallel_ms: tensor_parallel,
        }
    }

    /// Returns the compute time of a layer, forward and backward.
    pub fn compute_ms(&self) -> f64 {
        3.0 * (self.attention_ms + self.gate_ms + self.expert_ms)
    }
}
