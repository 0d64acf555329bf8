//! The input: the model and its parallelism, the region with its NICs, the trace of the gates, the cluster, the prices.

mod knobs;
pub mod presets;
pub mod prices;
mod read;
pub mod shapes;
pub mod trace;
mod validate;

#[cfg(test)]
mod tests;

pub use knobs::knobs;
pub use prices::{PriceList, PriceRow};
pub use shapes::{MoeModel, MoeModelChoice, MoeModelPreset};
pub use trace::{CountedMatrix, CountedTrace, GateTrace, SyntheticTrace};

use schemars::JsonSchema;
use serde::Serialize;

/// Most servers of a region.
pub const MAX_REGION: u32 = 64;
/// Most NICs of a server.
pub const MAX_NICS: u32 = 64;
/// Most experts of a layer.
pub const MAX_EXPERTS: u32 = 512;
/// Most slots beyond one for each expert.
pub const MAX_REDUNDANT: u32 = 4096;
/// Most servers of a cluster.
pub const MAX_SERVERS: u32 = 1 << 20;

/// Delays of switching circuits by name, ms.
pub const DELAY_PROFILES: [(&str, f64); 5] = [
    ("silicon_photonics", 0.007),
    ("fast", 0.025),
    ("ideal", 25.0),
    ("control_path", 46.75),
    ("with_nic", 5670.0),
];

/// Fields of a scenario of kind `moe`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct MoeScenario {
    /// The servers of one expert-parallel group and their NICs.
    pub region: MoeRegion,
    /// The model and its parallelism: the name of a preset, or its fields.
    pub model: MoeModelChoice,
    /// Tokens that the gates send to the experts.
    pub trace: GateTrace,
    /// Room for a placement of the experts; without it they stand in blocks, as many on each rank, in order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placement: Option<PlacementRoom>,
    /// The cluster that the regions are part of.
    pub cluster: MoeCluster,
    /// Times of computing that were measured, in place of those of the closed forms.
    #[serde(skip_serializing_if = "MeasuredTimes::is_empty")]
    pub measured: MeasuredTimes,
    /// Prices of the parts.
    pub prices: PriceList,
}

/// The servers of one expert-parallel group and their NICs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct MoeRegion {
    /// Servers, S: ranks times tensor-parallel GPUs by GPUs of a server.
    pub servers: u32,
    /// GPUs of a server.
    pub gpus_per_server: u32,
    /// NICs of a server.
    pub nics_per_server: u32,
    /// NICs that end at the optical switch of the region.
    pub ocs_nics: Vec<u32>,
    /// NICs that end at packet switches (EPS).
    pub eps_nics: Vec<u32>,
    /// NUMA node of every NIC.
    pub numa_of_nic: Vec<u32>,
    /// Rate of a NIC.
    pub link_gbps: f64,
    /// Rate of all packet-switched NICs of a server together; that of their links if it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub eps_total_gbps: Option<f64>,
    /// Rate between the GPUs of a server, per GPU and direction, 1e9 byte/s.
    pub nvlink_gbytes_per_s: f64,
    /// Pieces of an all-to-all whose steps overlap; 1 for strictly one step after the other.
    pub pipeline_chunks: u32,
}

/// Room for a placement of the experts on the ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PlacementRoom {
    /// Slots of all ranks together beyond one for each expert, for copies of busy experts.
    pub redundant_experts: u32,
    /// Groups of experts; those of a group stay on one server if every server holds as many groups.
    pub expert_groups: u32,
}

impl Default for PlacementRoom {
    fn default() -> Self {
        Self { redundant_experts: 0, expert_groups: 1 }
    }
}

/// The cluster that the regions are part of.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct MoeCluster {
    /// Servers.
    pub servers: u32,
    /// Time in which the switch of a region sets other circuits, ms.
    pub reconfiguration_delay_ms: f64,
    /// Sustained rate of computing of a GPU, 1e12 operations per second.
    pub sustained_tflops: f64,
    /// Micro-batches of an iteration.
    pub micro_batches: u32,
}

/// Times of one layer that were measured, ms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct MeasuredTimes {
    /// Attention, forward.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attention_ms: Option<f64>,
    /// Gate, forward.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gate_ms: Option<f64>,
    /// Experts, forward.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expert_ms: Option<f64>,
}

impl MeasuredTimes {
    /// Returns `true` if nothing was measured.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl MoeRegion {
    /// A region with the NICs shared out as the paper does: packet-switched ones alternately from the end of each NUMA
    /// node, half of the NICs to a node.
    pub fn usual(servers: u32, nics: u32, optical: u32) -> Self {
        let mut region = Self {
            servers,
            gpus_per_server: 8,
            nics_per_server: nics,
            ocs_nics: Vec::new(),
            eps_nics: Vec::new(),
            numa_of_nic: (0..nics).map(|nic| nic / nics.div_ceil(2).max(1)).collect(),
            link_gbps: 400.0,
            eps_total_gbps: None,
            nvlink_gbytes_per_s: 450.0,
            pipeline_chunks: 8,
        };
        region.share_nics(optical);
        region
    }

    /// Gives `optical` NICs of every server to the optical switch and the others to packet switches, which are taken
    /// alternately from the end of each NUMA node.
    pub fn share_nics(&mut self, optical: u32) {
        let mut nodes: Vec<Vec<u32>> = Vec::new();
        for (nic, node) in (0..self.nics_per_server).zip(&self.numa_of_nic) {
            let node = *node as usize;
            if node >= nodes.len() {
                nodes.resize(node.min(MAX_NICS as usize) + 1, Vec::new());
            }
            if let Some(list) = nodes.get_mut(node) {
                list.push(nic);
            }
        }
        let electrical = self.nics_per_server.saturating_sub(optical) as usize;
        self.eps_nics.clear();
        while self.eps_nics.len() < electrical && nodes.iter().any(|node| !node.is_empty()) {
            for node in &mut nodes {
                if self.eps_nics.len() < electrical {
                    self.eps_nics.extend(node.pop());
                }
            }
        }
        self.eps_nics.sort_unstable();
        let eps = &self.eps_nics;
        self.ocs_nics = (0..self.nics_per_server).filter(|nic| !eps.contains(nic)).collect();
    }

    /// Rate of all packet-switched NICs of a server together, Gb/s.
    pub fn eps_gbps(&self) -> f64 {
        self.eps_total_gbps.unwrap_or(self.eps_nics.len() as f64 * self.link_gbps)
    }

    /// Returns `true` if all NICs are at one NUMA node, so that there is nothing to spread them over.
    pub fn has_one_node(&self) -> bool {
        self.numa_of_nic.windows(2).all(|pair| pair[0] == pair[1])
    }

    /// NUMA node of a NIC.
    pub fn numa(&self, nic: u32) -> u32 {
        self.numa_of_nic.get(nic as usize).copied().unwrap_or(0)
    }
}

impl MoeScenario {
    /// The model with its parallelism.
    pub fn shape(&self) -> MoeModel {
        self.model.shape()
    }

    /// Layers of the fullest pipeline stage, which the plan is about.
    pub fn stage_layers(&self) -> u32 {
        let shape = self.shape();
        shape.layers.div_ceil(shape.pp.max(1))
    }

    /// Data-parallel replicas of the model in the cluster.
    pub fn replicas(&self) -> u64 {
        let shape = self.shape();
        let one = u64::from(shape.ep) * u64::from(shape.tp) * u64::from(shape.pp);
        u64::from(self.cluster.servers) * u64::from(self.region.gpus_per_server) / one.max(1)
    }

    /// Regions of the cluster, all alike.
    pub fn regions(&self) -> u32 {
        self.cluster.servers / self.region.servers.max(1)
    }

    /// Makes the region as large as the model asks for, if its GPUs fill whole servers.
    pub fn fit_region(&mut self) {
        let shape = self.shape();
        let gpus = u64::from(shape.ep) * u64::from(shape.tp);
        let per_server = u64::from(self.region.gpus_per_server.max(1));
        self.region.servers = u32::try_from(gpus.div_ceil(per_server)).unwrap_or(u32::MAX);
    }
}
