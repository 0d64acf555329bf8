//! The input: GPUs, switches and links, who wants which chunks, and how time is cut into epochs.

mod demand;
pub mod families;
mod knobs;
pub mod network;
pub mod presets;
pub mod rational;
mod read;
mod sizes;
mod validate;

#[cfg(test)]
mod tests;

pub use demand::{ChunkList, ChunkWish, CollectiveSort, Demand, TenantDemand};
pub use families::NetworkFamily;
pub use knobs::knobs;

use lightbay_core::exchange::DerivedFrom;
use schemars::JsonSchema;
use serde::Serialize;

/// Most nodes of a scenario.
pub const MAX_NODES: usize = 16_384;
/// Most links of a scenario.
pub const MAX_LINKS: usize = 1 << 20;
/// Most chunks that a demand stands for.
pub const MAX_CHUNKS: usize = 1 << 21;
/// Most deliveries of chunks to destinations that a demand stands for.
pub const MAX_DELIVERIES: usize = 1 << 25;

/// Fields of a scenario of kind `collective`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CollectiveScenario {
    /// GPUs, switches and links.
    pub topology: Topology,
    /// Chunks with their sources and destinations.
    pub demand: Demand,
    /// Length of an epoch.
    pub time: TimeRule,
    /// Links out of order, as pairs of nodes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed_links: Vec<[u32; 2]>,
    /// Chunks that a GPU may hold at a time beside those that it has from the beginning or wants; no limit if missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffer_limit_chunks: Option<u32>,
    /// Family of networks that the topology is a member of, so that another one can be made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub family: Option<NetworkFamily>,
    /// The plan that the network comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub derived_from: Option<DerivedFrom>,
}

/// A directed graph of GPUs and switches.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Topology {
    /// Name, for people.
    pub name: String,
    /// GPUs and switches, in order of id.
    pub nodes: Vec<NodeRecord>,
    /// Directed links, at most one for each ordered pair of nodes.
    pub links: Vec<LinkRecord>,
    /// Abilities of the switches.
    pub switch_model: SwitchModel,
    /// Permutations of the nodes that map every link to one of equal capacity and latency.
    pub symmetry_generators: Vec<Vec<u32>>,
    /// Remarks.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub notes: String,
}

/// GPU or switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NodeSort {
    /// Keeps what it receives and may copy it.
    Gpu,
    /// Passes on what arrives at once.
    Switch,
}

/// A node of a topology.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NodeRecord {
    /// Its place in the list, from 0.
    pub id: u32,
    /// Name, for people.
    pub name: String,
    /// GPU or switch.
    pub kind: NodeSort,
    /// Chassis, box or pod that it belongs to.
    pub group: Option<u32>,
}

/// A directed link of a topology.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LinkRecord {
    /// Node that it leaves.
    pub from: u32,
    /// Node that it enters.
    pub to: u32,
    /// Rate, GB/s.
    pub capacity_gbyte_per_s: f64,
    /// Fixed latency, µs.
    pub alpha_us: f64,
    /// Sort of the link, such as `nvlink`, `infiniband` or `ocs`.
    pub kind: String,
    /// Factor of a straggler's latency.
    #[serde(skip_serializing_if = "is_one")]
    pub alpha_scale: f64,
    /// Factor of a straggler's time per byte: 2 halves the rate.
    #[serde(skip_serializing_if = "is_one")]
    pub beta_scale: f64,
    /// Times at which the link carries data, µs from the start, ascending and apart; always if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub up_us: Vec<[f64; 2]>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_one(number: &f64) -> bool {
    *number == 1.0
}

/// Way in which a switch passes data on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SwitchHop {
    /// Transmission time is paid on the way in and on the way out.
    StoreAndForward,
    /// Transmission time is paid on the way in only.
    CutThrough,
}

/// Abilities of the switches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SwitchModel {
    /// `true` if one arrival may leave over several links.
    pub copy: bool,
    /// Way in which they pass data on.
    pub hop: SwitchHop,
    /// `true` if they add arrivals up, as ReduceScatter through copying switches needs.
    #[serde(skip_serializing_if = "is_false")]
    pub reduce: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_false(truth: &bool) -> bool {
    !*truth
}

/// Rule for the length of an epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EpochRule {
    /// The fastest link carries one chunk in an epoch.
    FastestLink,
    /// The slowest link carries one chunk in an epoch.
    SlowestLink,
    /// As given.
    Fixed,
}

/// Length of an epoch.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TimeRule {
    /// Rule.
    pub epoch: EpochRule,
    /// Length if the rule is `fixed`, µs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epoch_us: Option<f64>,
    /// Factor of what the rule gives; 1 with `fixed`.
    #[serde(skip_serializing_if = "is_one")]
    pub epoch_multiplier: f64,
    /// Share of an epoch up to which latencies are left out.
    pub alpha_threshold: f64,
}

impl Default for TimeRule {
    fn default() -> Self {
        Self { epoch: EpochRule::FastestLink, epoch_us: None, epoch_multiplier: 1.0, alpha_threshold: 0.1 }
    }
}

impl NodeSort {
    /// Both, with their names in files.
    pub const ALL: [(&'static str, Self); 2] = [("gpu", Self::Gpu), ("switch", Self::Switch)];
}

impl SwitchHop {
    /// Both, with their names in files.
    pub const ALL: [(&'static str, Self); 2] =
        [("store_and_forward", Self::StoreAndForward), ("cut_through", Self::CutThrough)];

    /// The name in files.
    pub const fn word(self) -> &'static str {
        match self {
            Self::StoreAndForward => "store_and_forward",
            Self::CutThrough => "cut_through",
        }
    }
}

impl EpochRule {
    /// All, with their names in files.
    pub const ALL: [(&'static str, Self); 3] =
        [("fastest_link", Self::FastestLink), ("slowest_link", Self::SlowestLink), ("fixed", Self::Fixed)];

    /// The name in files.
    pub const fn word(self) -> &'static str {
        match self {
            Self::FastestLink => "fastest_link",
            Self::SlowestLink => "slowest_link",
            Self::Fixed => "fixed",
        }
    }
}

impl LinkRecord {
    /// A link that is always up and no straggler.
    pub fn new(from: u32, to: u32, capacity_gbyte_per_s: f64, alpha_us: f64, kind: &str) -> Self {
        let kind = kind.to_owned();
        Self {
            from,
            to,
            capacity_gbyte_per_s,
            alpha_us,
            kind,
            alpha_scale: 1.0,
            beta_scale: 1.0,
            up_us: Vec::new(),
        }
    }
}

impl Topology {
    /// Ids of the GPUs, ascending.
    pub fn gpus(&self) -> impl Iterator<Item = u32> + Clone + '_ {
        self.nodes.iter().filter(|node| node.kind == NodeSort::Gpu).map(|node| node.id)
    }
}
