//! Sizes, rates and times of a scenario, recomputed.

use crate::scenario::{MoeModel, MoeScenario};

/// Sizes, rates in bytes per ms, and times in ms.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    pub(super) model: MoeModel,
    pub(super) layers: usize,
    pub(super) servers: usize,
    pub(super) gpus: usize,
    /// NICs of a server that are connected to the optical switch and to packet switches.
    pub(super) nics: [f64; 2],
    /// Rate of a link.
    pub(super) link: f64,
    /// Rate of all packet-switched NICs of a server.
    pub(super) packet: f64,
    pub(super) nvlink: f64,
    pub(super) chunks: f64,
    /// Forward times of attention, gate and experts.
    pub(super) compute: [f64; 3],
    /// Time of the tensor-parallel exchanges of a layer, forward.
    pub(super) tensor: f64,
    pub(super) delay: f64,
    /// Replicas of the model.
    pub(super) replicas: f64,
}

impl Sizes {
    pub(super) fn of(scenario: &MoeScenario) -> Self {
        let model = scenario.shape();
        let region = &scenario.region;
        let [hidden, kv, seq, tp] = [model.hidden, model.kv_width, model.seq, model.tp].map(f64::from);
        let tokens = seq * f64::from(model.micro_batch);
        let per_ms = scenario.cluster.sustained_tflops * 1e12 / 1e3 * tp;
        let attention = tokens * hidden * (4.0 * hidden + 4.0 * kv + 2.0 * seq) / per_ms;
        let gate = tokens * 2.0 * hidden * f64::from(model.experts) / per_ms;
        let inner = f64::from(model.top_k) * f64::from(model.ffn) + f64::from(model.shared_ffn);
        let expert = tokens * 6.0 * hidden * inner / per_ms;
        let measured = scenario.measured;
        let nvlink = region.nvlink_gbytes_per_s * 1e9 / 1e3;
        let link = region.link_gbps * 1e9 / 8e3;
        let nics = [region.ocs_nics.len() as f64, region.eps_nics.len() as f64];
        let packet = region.eps_total_gbps.map_or(nics[1] * link, |rate| rate * 1e9 / 8e3);
        let gpus = f64::from(region.gpus_per_server);
        let one = f64::from(model.ep) * tp * f64::from(model.pp);
        Self {
            model,
            layers: model.layers.div_ceil(model.pp.max(1)) as usize,
            servers: region.servers as usize,
            gpus: region.gpus_per_server as usize,
            nics,
            link,
            packet,
            nvlink,
            chunks: f64::from(region.pipeline_chunks),
            compute: [
                measured.attention_ms.unwrap_or(attention),
                measured.gate_ms.unwrap_or(gate),
                measured.expert_ms.unwrap_or(expert),
            ],
            tensor: 4.0 * (tp - 1.0) / tp * tokens * 2.0 * hidden / nvlink,
            delay: scenario.cluster.reconfiguration_delay_ms,
            replicas: f64::from(scenario.cluster.servers) * gpus / one,
        }
    }

    /// Total rate of the NICs of a server, with the packet-switched ones at their rate in the region.
    pub(super) fn regional(&self) -> f64 {
        self.nics[0] * self.link + self.packet
    }

    /// The largest rate of all NICs of a server on any of the networks.
    pub(super) fn fastest(&self) -> f64 {
        self.nics[0] * self.link + self.packet.max(self.nics[1] * self.link)
    }
}
