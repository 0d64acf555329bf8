//! The result: circuits, routes and times of every layer of a stage, the time of an iteration, and what the network
//! costs.

mod read;

use schemars::JsonSchema;
use serde::Serialize;

/// Fields of `result` in a plan of kind `moe`. All times are those of an analytic model.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct MoeResult {
    /// The layers of the fullest stage, in order.
    pub layers: Vec<LayerPlan>,
    /// The iteration.
    pub iteration: IterationPlan,
    /// The network.
    pub cost: CostPlan,
}

/// One layer: circuits and routes of its all-to-alls, and when everything happens.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LayerPlan {
    /// The layer.
    pub layer: u32,
    /// Bytes that each server sends to each other one in the dispatch; the combine and the gradients carry the
    /// transpose or the same again. The diagonal stays inside the server.
    pub demand_bytes: Vec<Vec<f64>>,
    /// Experts of the ranks, where they do not stand in blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placement: Option<ExpertPlacement>,
    /// Circuits of its exchanges, and those that were taken down for them.
    pub circuits: Vec<RegionCircuit>,
    /// Ways of the bytes of the dispatch.
    pub routes: Vec<RegionRoute>,
    /// Times of an all-to-all on them.
    pub all_to_all: AllToAll,
    /// Exchanges that run on other circuits.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub other_exchanges: Vec<OtherExchange>,
    /// The order of events, forward and backward.
    pub timeline: LayerTimeline,
}

/// Experts of the ranks in a layer.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ExpertPlacement {
    /// Expert in every slot, rank by rank; all ranks have as many slots. Copies of an expert share its tokens evenly.
    pub physical_to_logical: Vec<u32>,
    /// Copies of every expert.
    pub replicas: Vec<u32>,
    /// Load of the busiest rank relative to the mean.
    pub busiest_rank: f64,
}

/// An exchange that runs on circuits of its own.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct OtherExchange {
    /// The exchange.
    pub phase: LayerPhase,
    /// The circuits.
    pub circuits: Vec<RegionCircuit>,
    /// Ways of the bytes, in the direction of the dispatch.
    pub routes: Vec<RegionRoute>,
    /// Times of the exchange.
    pub all_to_all: AllToAll,
}

/// Change of a circuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CircuitAction {
    /// It stays.
    Keep,
    /// It is set.
    Add,
    /// It is taken down.
    Remove,
}

/// A circuit between two servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct RegionCircuit {
    /// The server of the smaller number.
    pub server_a: u32,
    /// Its NIC.
    pub nic_a: u32,
    /// The other server.
    pub server_b: u32,
    /// Its NIC.
    pub nic_b: u32,
    /// Change of the circuit.
    pub action: CircuitAction,
}

/// Network that a route uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RoutePath {
    /// A circuit.
    Ocs,
    /// Packet switches.
    Eps,
}

/// Bytes from one server to another over a pair of NICs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RegionRoute {
    /// The server that sends.
    pub src_server: u32,
    /// The server that receives.
    pub dst_server: u32,
    /// The network.
    pub path: RoutePath,
    /// The NIC that sends; its GPU gathers.
    pub delegate_nic_src: u32,
    /// The NIC that receives; its GPU scatters.
    pub delegate_nic_dst: u32,
    /// The bytes.
    pub bytes: f64,
}

/// Times of one all-to-all, ms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct AllToAll {
    /// Busiest circuit.
    pub step3_ocs_ms: f64,
    /// Busiest packet-switched NIC.
    pub step3_eps_ms: f64,
    /// Gathering at the GPUs of the NICs.
    pub gather_ms: f64,
    /// Scattering from them.
    pub scatter_ms: f64,
    /// Exchange inside the servers, beside the exchange between them.
    pub local_ms: f64,
    /// All steps in chunks.
    pub all_to_all_ms: f64,
}

impl AllToAll {
    /// The total of steps in `chunks` pieces: the exchange between servers and that inside them overlap, and
    /// gathering and scattering stand out by one piece each.
    #[must_use]
    pub fn totalled(self, chunks: f64) -> Self {
        let exchange = self.step3_ocs_ms.max(self.step3_eps_ms).max(self.local_ms);
        Self { all_to_all_ms: exchange + (self.gather_ms + self.scatter_ms) / chunks, ..self }
    }
}

/// Order of events of a layer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct LayerTimeline {
    /// Events, one after the other from 0 on; forward and backward pass joined.
    pub events: Vec<LayerEvent>,
    /// Changes of circuits.
    pub reconfigurations: Vec<Reconfiguration>,
}

/// A part of a layer's forward or backward pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LayerPhase {
    /// Attention, forward.
    AttentionFwd,
    /// Gate, forward.
    GateFwd,
    /// Dispatch, forward.
    #[serde(rename = "a2a_1")]
    A2a1,
    /// Experts, forward.
    ExpertFwd,
    /// Combine, forward.
    #[serde(rename = "a2a_2")]
    A2a2,
    /// Weighted sum and gate, backward.
    ExpertOutBwd,
    /// Gradients to the experts.
    #[serde(rename = "a2a_3")]
    A2a3,
    /// Experts, backward.
    ExpertBwd,
    /// Gradients from the experts.
    #[serde(rename = "a2a_4")]
    A2a4,
    /// Attention, backward.
    AttentionBwd,
}

impl LayerPhase {
    /// All, in order, with their names in files.
    pub const ALL: [(&'static str, Self); 10] = [
        ("attention_fwd", Self::AttentionFwd),
        ("gate_fwd", Self::GateFwd),
        ("a2a_1", Self::A2a1),
        ("expert_fwd", Self::ExpertFwd),
        ("a2a_2", Self::A2a2),
        ("expert_out_bwd", Self::ExpertOutBwd),
        ("a2a_3", Self::A2a3),
        ("expert_bwd", Self::ExpertBwd),
        ("a2a_4", Self::A2a4),
        ("attention_bwd", Self::AttentionBwd),
    ];

    /// The all-to-alls, in order.
    pub const EXCHANGES: [Self; 4] = [Self::A2a1, Self::A2a2, Self::A2a3, Self::A2a4];

    /// The name in files.
    pub fn word(self) -> &'static str {
        Self::ALL.iter().find(|(_, phase)| *phase == self).map_or("", |(name, _)| name)
    }

    /// The phase of a name.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, phase)| *phase)
    }
}

/// An interval of a layer's timeline.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LayerEvent {
    /// Name of the phase, or `stall_before_` and the name.
    pub phase: String,
    /// Start.
    pub start_ms: f64,
    /// End.
    pub end_ms: f64,
}

/// First words of the name of a stall.
pub const STALL: &str = "stall_before_";

/// A change of circuits before an exchange.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Reconfiguration {
    /// The exchange.
    pub before: LayerPhase,
    /// The phase that hides it, or `none`.
    pub window: String,
    /// Delay of the switch.
    pub delay_ms: f64,
    /// Length of the phase that hides it.
    pub window_ms: f64,
    /// Time that is not hidden.
    pub stall_ms: f64,
}

/// Networks that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FabricKind {
    /// Regional circuits beside packet switches.
    Mfabric,
    /// Packet switches without blocking, a NIC for each GPU.
    FatTree,
    /// The same, with a hop inside the server to the rail of the destination.
    Rail,
    /// A circulant patch panel with forwarding and without packet switches.
    Topoopt,
    /// All NICs of a server as one, and no hop inside a server: a bound over the others, no network.
    Pooled,
}

/// Plans that the bounds of methods that lay circuits cover.
pub const ON_CIRCUITS: &str = "plans with circuits of the region";
/// Plans that the bound of an integer program with strict routing covers.
pub const ON_STRICT_CIRCUITS: &str = "plans with circuits of the region and strict routing";

impl FabricKind {
    /// All, with their names in files.
    pub const ALL: [(&'static str, Self); 5] = [
        ("mfabric", Self::Mfabric),
        ("fat_tree", Self::FatTree),
        ("rail", Self::Rail),
        ("topoopt", Self::Topoopt),
        ("pooled", Self::Pooled),
    ];

    /// The name in files.
    pub fn word(self) -> &'static str {
        Self::ALL.iter().find(|(_, fabric)| *fabric == self).map_or("", |(name, _)| name)
    }
}

/// The time of an iteration, and its parts per micro-batch.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct IterationPlan {
    /// The network.
    pub fabric: FabricKind,
    /// Changes of circuits in a micro-batch that are not charged: the paper charges those before the dispatch alone.
    pub free_changes: u32,
    /// Computing of a micro-batch in the stage, forward and backward.
    pub compute_ms: f64,
    /// Tensor-parallel exchanges of a micro-batch in the stage.
    pub tensor_parallel_ms: f64,
    /// All-to-alls of a micro-batch in the stage.
    pub all_to_all_ms: f64,
    /// Stalls of a micro-batch in the stage.
    pub stall_ms: f64,
    /// Exchange of the gradients between replicas, once in an iteration.
    pub data_parallel_ms: f64,
    /// All micro-batches through all stages, and the gradients.
    pub iteration_ms: f64,
    /// Bytes of a micro-batch in the stage that go over packet switches between the servers of a region.
    pub eps_bytes: f64,
}

/// Cost of the network, $.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CostPlan {
    /// Parts of one server.
    pub server_usd: f64,
    /// Parts of the cluster.
    pub cluster_usd: f64,
    /// Cost of a fat-tree for this cluster.
    pub fat_tree_usd: f64,
    /// Time of an iteration on that fat-tree, with the experts at the same places.
    pub fat_tree_ms: f64,
    /// Iterations per time and dollar, relative to that fat-tree.
    pub performance_per_dollar: f64,
}
