//! Sizes, rates and times of a scenario, recomputed.

use crate::scenario::{MoeModel, MoeScenario};

/// Sizes, rates in bytes per ms, and times in ms.
#[derive(Clone, Debug)]
pub(super) struct Sizes {
    pub(super) model: MoeModel,
    pub(super) layers: usize,
    pub(super) servers: usize,
    pub(super) gpus: usize,
    /// NICs of a server, failed ones included.
    pub(super) built: f64,
    /// For every server, the number of working NICs that are connected to the optical switch, and the number that are
    /// connected to packet switches.
    pub(super) nics: Vec<[f64; 2]>,
    /// Rate of a link.
    pub(super) link: f64,
    /// Rate of one packet-switched NIC.
    pub(super) packet: f64,
    pub(super) nvlink: f64,
    pub(super) chunks: f64,
    /// Forward times of attention, gate and experts, ms.
    pub(super) compute: [f64; 3],
    /// Time of the tensor-parallel exchanges of a layer, forward, ms.
    pub(super) tensor: f64,
    pub(super) delay: f64,
    /// Number of replicas of the model.
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
        let mut nics =
            vec![[region.ocs_nics.len() as f64, region.eps_nics.len() as f64]; region.servers as usize];
        for failed in &region.failed_nics {
            // A NIC is connected either to the optical switch or to packet switches.
            let kind = usize::from(!region.ocs_nics.contains(&failed.nic));
            if let Some(left) = nics.get_mut(failed.server as usize) {
                left[kind] -= 1.0;
            }
        }
        let all = region.eps_nics.len().max(1) as f64;
        let packet = region.eps_total_gbps.map_or(link, |rate| rate * 1e9 / 8e3 / all);
        let gpus = f64::from(region.gpus_per_server);
        let one = f64::from(model.ep) * tp * f64::from(model.pp);
        Self {
            model,
            layers: model.layers.div_ceil(model.pp.max(1)) as usize,
            servers: region.servers as usize,
            gpus: region.gpus_per_server as usize,
            built: f64::from(region.nics_per_server),
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

    /// Returns the number of working NICs of a server.
    pub(super) fn working(&self, server: usize) -> f64 {
        self.nics[server].iter().sum()
    }

    /// Returns the total rate of the working packet-switched NICs of a server.
    pub(super) fn packets(&self, server: usize) -> f64 {
        self.nics[server][1] * self.packet
    }

    /// Returns the total rate of the working NICs of a server; packet-switched NICs have the rate that they have in the
    /// region.
    pub(super) fn regional(&self, server: usize) -> f64 {
        self.nics[server][0] * self.link + self.packets(server)
    }

    /// Returns the largest total rate that the working NICs of a server have on any of the networks.
    pub(super) fn fastest(&self, server: usize) -> f64 {
        self.nics[server][0] * self.link + self.nics[server][1] * self.packet.max(self.link)
    }

    /// Returns the smallest of the values that `of` gives for the servers.
    pub(super) fn least(&self, of: impl Fn(usize) -> f64) -> f64 {
        (0..self.servers).map(of).fold(f64::INFINITY, f64::min)
    }
}
