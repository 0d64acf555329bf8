//! The input: the model and its parallelism, the region with its NICs, the trace of the gates, the cluster, the prices.

mod failures;
mod knobs;
pub mod presets;
pub mod prices;
pub mod shapes;
pub mod trace;
mod validate;

#[cfg(test)]
mod tests;

pub use failures::FailedNic;
pub use knobs::KNOBS;
pub use prices::{PriceList, PriceRow};
pub use shapes::{MoeModel, MoeModelChoice, MoeModelPreset};
pub use trace::{CountedMatrix, CountedTrace, GateTrace, SyntheticTrace};

use lightbay_core::record;
use lightbay_core::record::{any, list, usual, within};
use std::fmt;

/// Maximum number of servers of a region.
pub const MAX_REGION: u32 = 64;
/// Maximum number of NICs of a server.
pub const MAX_NICS: u32 = 64;
/// Maximum number of experts of a layer.
pub const MAX_EXPERTS: u32 = 512;
/// Maximum number of slots in addition to one per expert.
pub const MAX_REDUNDANT: u32 = 4096;
/// Maximum number of servers of a cluster.
pub const MAX_SERVERS: u32 = 1 << 20;
/// Maximum width of a model, and maximum length of sequences.
const MAX_WIDTH: i64 = 1 << 20;
/// Maximum time in a scenario, ms.
const MAX_MS: f64 = 1e9;
/// Maximum rate in a scenario.
const MAX_RATE: f64 = 1e7;
/// Largest iteration number.
const MAX_ITERATION: i64 = 1_000_000;

/// Named reconfiguration delays, ms.
pub const DELAY_PROFILES: [(&str, f64); 5] = [
    ("silicon_photonics", 0.007),
    ("fast", 0.025),
    ("ideal", 25.0),
    ("control_path", 46.75),
    ("with_nic", 5670.0),
];

record! {
    /// Fields of a scenario of kind `moe`.
    pub struct MoeScenario {
        /// The servers of one expert-parallel group and their NICs.
        pub region: MoeRegion = any(),
        /// The model and its parallelism: the name of a preset, or its fields.
        pub model: MoeModelChoice = any(),
        /// Tokens that the gates send to the experts.
        pub trace: GateTrace = any(),
        /// Limits of a free placement of the experts. Without these limits, experts are in consecutive blocks of equal
        /// size, one block per rank.
        pub placement: Option<PlacementRoom> = any(),
        /// The cluster that the regions are part of.
        pub cluster: MoeCluster = any(),
        /// Measured compute times, which replace the times from the closed formulas.
        pub measured: MeasuredTimes = any().or(MeasuredTimes::default()).omitted(),
        /// Prices of the parts.
        pub prices: PriceList = any().or(PriceList::default()),
    }
}

record! {
    /// The servers of one expert-parallel group and their NICs.
    pub struct MoeRegion {
        /// Number of servers, S: ranks times tensor-parallel GPUs, divided by the GPUs of a server.
        pub servers: u32 = within(1..=i64::from(MAX_REGION)),
        /// GPUs of a server.
        pub gpus_per_server: u32 = within(1..=64),
        /// NICs of a server.
        pub nics_per_server: u32 = within(1..=i64::from(MAX_NICS)),
        /// NICs that are connected to the optical switch of the region.
        pub ocs_nics: Vec<u32> = any(),
        /// NICs that are connected to packet switches (EPS).
        pub eps_nics: Vec<u32> = any(),
        /// NUMA node of every NIC.
        pub numa_of_nic: Vec<u32> = any(),
        /// Rate of a NIC.
        pub link_gbps: f64 = within(1e-3..=MAX_RATE).unit("Gb/s"),
        /// Total rate of all packet-switched NICs of a server. Default: the sum of their link rates.
        pub eps_total_gbps: Option<f64> = within(0.0..=MAX_RATE).unit("Gb/s"),
        /// Rate between the GPUs of a server, per GPU and direction.
        pub nvlink_gbytes_per_s: f64 = within(1e-3..=MAX_RATE).unit("GB/s"),
        /// Number of pieces into which the data of an all-to-all is split, so that its steps overlap.
        pub pipeline_chunks: u32 = within(1..=1 << 16),
        /// NICs that have failed; no circuit and no packet uses them.
        pub failed_nics: Vec<FailedNic> = list(),
    }
}

record! {
    /// Limits of a free placement of the experts on the ranks.
    #[derive(Copy, Eq)]
    pub struct PlacementRoom {
        /// Number of slots, over all ranks, in addition to one slot per expert; a free placement fills them with
        /// replicas of busy experts.
        pub redundant_experts: u32 = within(0..=i64::from(MAX_REDUNDANT)).or(0),
        /// Number of expert groups in a free placement. Each group stays on one server if all servers hold equally many
        /// groups.
        pub expert_groups: u32 = within(1..=i64::from(MAX_EXPERTS)).or(1),
    }
}

impl Default for PlacementRoom {
    fn default() -> Self {
        usual()
    }
}

record! {
    /// The cluster that the regions are part of.
    pub struct MoeCluster {
        /// Number of servers of the cluster. If the model changes, this number is raised to the next whole number of
        /// replicas of the model.
        pub servers: u32 = within(1..=i64::from(MAX_SERVERS)),
        /// Time to change circuits.
        pub reconfiguration_delay_ms: f64 = within(0.0..=MAX_MS).unit("ms"),
        /// Sustained compute rate of a GPU.
        pub sustained_tflops: f64 = within(1e-6..=1e9).unit("Tflop/s"),
        /// Number of micro-batches per iteration.
        pub micro_batches: u32 = within(1..=1 << 20),
    }
}

record! {
    /// Measured times of one layer, ms.
    #[derive(Copy, Default)]
    pub struct MeasuredTimes {
        /// Measured time of attention, forward.
        pub attention_ms: Option<f64> = within(0.0..=MAX_MS).unit("ms"),
        /// Measured time of the gate, forward.
        pub gate_ms: Option<f64> = within(0.0..=MAX_MS).unit("ms"),
        /// Measured time of the experts, forward.
        pub expert_ms: Option<f64> = within(0.0..=MAX_MS).unit("ms"),
    }
}

/// Reason why packet switches carry nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoPackets {
    /// All NICs of a server are connected to the optical switch; the value is their number.
    Nics(u32),
    /// The packet-switched NICs have rate 0.
    Rate,
    /// All packet-switched NICs of a server have failed.
    Failed {
        /// The server.
        server: u32,
        /// `true` if the optical NICs of the server have failed too.
        all: bool,
    },
}

impl NoPackets {
    /// Returns the parameter change that would let packet switches carry bytes.
    pub const fn remedy(self) -> &'static str {
        match self {
            Self::Nics(_) => "lower optical_degree",
            Self::Rate => "raise eps_total_gbps",
            Self::Failed { .. } => {
                "repair a packet-switched NIC of this server and remove it from failed_nics"
            }
        }
    }
}

impl fmt::Display for NoPackets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nics(all) => write!(f, "optical_degree={all} leaves no NIC for packet switches"),
            Self::Rate => f.write_str("with eps_total_gbps=0, packet switches have no rate"),
            Self::Failed { server, all: false } => {
                write!(f, "failed_nics leaves server {server} no NIC for packet switches")
            }
            Self::Failed { server, all: true } => {
                write!(f, "failed_nics leaves server {server} no working NIC")
            }
        }
    }
}

impl MoeRegion {
    /// Creates a region with the NICs assigned as in the paper: the first half of the NICs, rounded up, belongs to NUMA
    /// node 0, the rest to node 1; packet-switched NICs are taken alternately from the end of each node.
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
            failed_nics: Vec::new(),
        };
        region.share_nics(optical);
        region
    }

    /// Connects `optical` NICs of every server to the optical switch and the other NICs to packet switches; the NICs
    /// for packet switches are taken alternately from the end of each NUMA node.
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

    /// Returns the rate of all packet-switched NICs of a server together, failed NICs included, Gb/s.
    pub fn eps_gbps(&self) -> f64 {
        self.eps_total_gbps.unwrap_or(self.eps_nics.len() as f64 * self.link_gbps)
    }

    /// Returns the reason why packet switches carry nothing even without failures; `None` if they can carry bytes.
    pub fn no_packets(&self) -> Option<NoPackets> {
        if self.eps_nics.is_empty() {
            Some(NoPackets::Nics(self.ocs_nics.len() as u32))
        } else {
            (self.eps_gbps() <= 0.0).then_some(NoPackets::Rate)
        }
    }

    /// Returns `true` if all NICs belong to one NUMA node, so that circuits need not be spread.
    pub fn has_one_node(&self) -> bool {
        self.numa_of_nic.windows(2).all(|pair| pair[0] == pair[1])
    }

    /// Returns the NUMA node of a NIC.
    pub fn numa(&self, nic: u32) -> u32 {
        self.numa_of_nic.get(nic as usize).copied().unwrap_or(0)
    }
}

impl MoeScenario {
    /// Returns the model with its parallelism.
    pub fn shape(&self) -> MoeModel {
        self.model.shape()
    }

    /// Returns the number of layers of the pipeline stage with the most layers, which is planned.
    pub fn stage_layers(&self) -> u32 {
        let shape = self.shape();
        shape.layers.div_ceil(shape.pp.max(1))
    }

    /// Returns the number of data-parallel replicas of the model in the cluster.
    pub fn replicas(&self) -> u64 {
        let shape = self.shape();
        let one = u64::from(shape.ep) * u64::from(shape.tp) * u64::from(shape.pp);
        u64::from(self.cluster.servers) * u64::from(self.region.gpus_per_server) / one.max(1)
    }

    /// Returns the number of regions of the cluster, which are all alike.
    pub fn regions(&self) -> u32 {
        self.cluster.servers / self.region.servers.max(1)
    }

    /// Sets the number of servers of the region to the number that the GPUs of an expert-parallel group need, and
    /// raises the number of servers of the cluster to the next whole number of replicas of the model.
    pub fn fit_region(&mut self) {
        let shape = self.shape();
        let gpus = u64::from(shape.ep) * u64::from(shape.tp);
        let per_server = u64::from(self.region.gpus_per_server.max(1));
        self.region.servers = u32::try_from(gpus.div_ceil(per_server)).unwrap_or(u32::MAX);
        let replica = gpus.saturating_mul(u64::from(shape.pp)).div_ceil(per_server).max(1);
        let cluster = u64::from(self.cluster.servers).max(1).next_multiple_of(replica);
        // A replica larger than any cluster leaves the number as it is, which the validation refuses.
        if let Some(servers) = u32::try_from(cluster).ok().filter(|servers| *servers <= MAX_SERVERS) {
            self.cluster.servers = servers;
        }
    }
}
