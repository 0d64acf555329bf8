//! The result: circuits, routes and times of every layer of a stage, the time of an iteration, and the cost of the
//! network.

use lightbay_core::record::{any, index, list};
use lightbay_core::{record, words};

record! {
    /// Fields of `result` in a plan of kind `moe`. All times come from an analytic model.
    pub struct MoeResult {
        /// The layers of the stage with the most layers, in order.
        pub layers: Vec<LayerPlan> = any(),
        /// The iteration.
        pub iteration: IterationPlan = any(),
        /// The network.
        pub cost: CostPlan = any(),
    }
}

record! {
    /// One layer: circuits and routes of its all-to-alls, and the times of its events.
    pub struct LayerPlan {
        /// The layer.
        pub layer: u32 = index(),
        /// Bytes that each server sends to each other server in the dispatch; the combine and the backward exchanges
        /// carry the same bytes or their transpose. The diagonal stays inside the server.
        pub demand_bytes: Vec<Vec<f64>> = any(),
        /// Experts of the ranks, if they are not in blocks.
        pub placement: Option<ExpertPlacement> = any(),
        /// Circuits of the exchanges of the layer, and circuits that were removed before these exchanges.
        pub circuits: Vec<RegionCircuit> = any(),
        /// Routes of the bytes of the dispatch.
        pub routes: Vec<RegionRoute> = any(),
        /// Times of an all-to-all on these routes.
        pub all_to_all: AllToAll = any(),
        /// Exchanges whose circuits differ from the circuits of the layer.
        pub other_exchanges: Vec<OtherExchange> = list(),
        /// The order of events, forward and backward.
        pub timeline: LayerTimeline = any(),
    }
}

record! {
    /// Experts of the ranks in a layer.
    pub struct ExpertPlacement {
        /// Expert in every slot, rank by rank; all ranks have the same number of slots. Replicas of an expert share its
        /// tokens evenly.
        pub physical_to_logical: Vec<u32> = index(),
        /// Number of replicas of every expert.
        pub replicas: Vec<u32> = index(),
        /// Load of the busiest rank relative to the mean.
        pub busiest_rank: f64 = any(),
    }
}

record! {
    /// An exchange whose circuits differ from the circuits of its layer.
    pub struct OtherExchange {
        /// The exchange.
        pub phase: LayerPhase = any(),
        /// The circuits.
        pub circuits: Vec<RegionCircuit> = any(),
        /// Routes of the bytes, in the direction of the dispatch.
        pub routes: Vec<RegionRoute> = any(),
        /// Times of the exchange.
        pub all_to_all: AllToAll = any(),
    }
}

words! {
    /// Change of a circuit.
    pub enum CircuitAction {
        /// The circuit stays.
        Keep = "keep",
        /// The circuit is set.
        Add = "add",
        /// The circuit is removed.
        Remove = "remove",
    }
}

record! {
    /// A circuit between two servers.
    #[derive(Copy, Eq, Hash, PartialOrd, Ord)]
    pub struct RegionCircuit {
        /// The server with the smaller number.
        pub server_a: u32 = index(),
        /// NIC of the circuit at `server_a`.
        pub nic_a: u32 = index(),
        /// The other server.
        pub server_b: u32 = index(),
        /// NIC of the circuit at `server_b`.
        pub nic_b: u32 = index(),
        /// Change of the circuit.
        pub action: CircuitAction = any(),
    }
}

words! {
    /// Network that a route uses.
    pub enum RoutePath {
        /// A circuit.
        Ocs = "ocs",
        /// Packet switches.
        Eps = "eps",
    }
}

record! {
    /// Bytes from one server to another over a pair of NICs.
    #[derive(Copy)]
    pub struct RegionRoute {
        /// The server that sends.
        pub src_server: u32 = index(),
        /// The server that receives.
        pub dst_server: u32 = index(),
        /// The network.
        pub path: RoutePath = any(),
        /// The NIC that sends; the GPU of this NIC gathers the bytes.
        pub delegate_nic_src: u32 = index(),
        /// The NIC that receives; the GPU of this NIC scatters the bytes.
        pub delegate_nic_dst: u32 = index(),
        /// The bytes.
        pub bytes: f64 = any(),
    }
}

record! {
    /// Times of one all-to-all, ms.
    #[derive(Copy, Default)]
    pub struct AllToAll {
        /// Time of the busiest circuit.
        pub step3_ocs_ms: f64 = any(),
        /// Time of the busiest packet-switched NIC.
        pub step3_eps_ms: f64 = any(),
        /// Time for gathering bytes at the GPUs of the NICs.
        pub gather_ms: f64 = any(),
        /// Time for scattering bytes from the GPUs of the NICs.
        pub scatter_ms: f64 = any(),
        /// Time of the exchange inside the servers, which overlaps the exchange between servers.
        pub local_ms: f64 = any(),
        /// Time of the all-to-all, whose data is sent in pieces so that the steps overlap.
        pub all_to_all_ms: f64 = any(),
    }
}

impl AllToAll {
    /// Returns these times with the time of the all-to-all if its data is sent in `chunks` pieces: the exchanges
    /// between and inside servers overlap, and gathering and scattering each add the time of one piece.
    #[must_use]
    pub fn totalled(self, chunks: f64) -> Self {
        let exchange = self.step3_ocs_ms.max(self.step3_eps_ms).max(self.local_ms);
        Self { all_to_all_ms: exchange + (self.gather_ms + self.scatter_ms) / chunks, ..self }
    }
}

record! {
    /// Order of events of a layer.
    #[derive(Default)]
    pub struct LayerTimeline {
        /// Events in sequence from time 0; the backward pass follows the forward pass.
        pub events: Vec<LayerEvent> = any(),
        /// Changes of circuits.
        pub reconfigurations: Vec<Reconfiguration> = any(),
    }
}

words! {
    /// A part of a layer's forward or backward pass.
    pub enum LayerPhase {
        /// Attention, forward.
        AttentionFwd = "attention_fwd",
        /// Gate, forward.
        GateFwd = "gate_fwd",
        /// Dispatch, forward.
        A2a1 = "a2a_1",
        /// Experts, forward.
        ExpertFwd = "expert_fwd",
        /// Combine, forward.
        A2a2 = "a2a_2",
        /// Weighted sum of the expert outputs and gate, backward.
        ExpertOutBwd = "expert_out_bwd",
        /// Gradients to the experts.
        A2a3 = "a2a_3",
        /// Experts, backward.
        ExpertBwd = "expert_bwd",
        /// Gradients from the experts.
        A2a4 = "a2a_4",
        /// Attention, backward.
        AttentionBwd = "attention_bwd",
    }
}

impl LayerPhase {
    /// The all-to-alls, in order.
    pub const EXCHANGES: [Self; 4] = [Self::A2a1, Self::A2a2, Self::A2a3, Self::A2a4];
}

record! {
    /// An interval of a layer's timeline.
    pub struct LayerEvent {
        /// Name of the phase, or `stall_before_` and the name.
        pub phase: String = any(),
        /// Start.
        pub start_ms: f64 = any(),
        /// End.
        pub end_ms: f64 = any(),
    }
}

/// Prefix of the name of a stall.
pub const STALL: &str = "stall_before_";

record! {
    /// A change of circuits before an exchange.
    pub struct Reconfiguration {
        /// The exchange.
        pub before: LayerPhase = any(),
        /// The phase that hides the change, or `none`.
        pub window: String = any(),
        /// Delay of the switch.
        pub delay_ms: f64 = any(),
        /// Length of the phase that hides the change.
        pub window_ms: f64 = any(),
        /// Part of the delay that is not hidden.
        pub stall_ms: f64 = any(),
    }
}

words! {
    /// Networks that are compared.
    pub enum FabricKind {
        /// Regional circuits in addition to packet switches.
        Mfabric = "mfabric",
        /// Non-blocking packet switches, with one NIC per GPU.
        FatTree = "fat_tree",
        /// As `fat_tree`, but with a hop inside the server to the rail of the destination.
        Rail = "rail",
        /// A circulant patch panel with forwarding and without packet switches.
        Topoopt = "topoopt",
        /// All NICs of a server as one, and no hop inside a server: a bound for the other networks, not a network.
        Pooled = "pooled",
    }
}

/// Plans that the bound of a method with circuits covers.
pub const ON_CIRCUITS: &str = "plans with circuits of the region";
/// Plans that the bound of an integer program with strict routing covers.
pub const ON_STRICT_CIRCUITS: &str = "plans with circuits of the region and strict routing";

record! {
    /// The time of an iteration, and its parts per micro-batch.
    #[derive(Copy)]
    pub struct IterationPlan {
        /// The network.
        pub fabric: FabricKind = any(),
        /// Number of changes of circuits in a micro-batch whose delay is not counted, because policy `paper` counts
        /// only the delay of changes before the dispatch.
        pub free_changes: u32 = index(),
        /// Compute time of a micro-batch in the stage, forward and backward.
        pub compute_ms: f64 = any(),
        /// Time of the tensor-parallel exchanges of a micro-batch in the stage.
        pub tensor_parallel_ms: f64 = any(),
        /// Time of the all-to-alls of a micro-batch in the stage.
        pub all_to_all_ms: f64 = any(),
        /// Time of the stalls of a micro-batch in the stage.
        pub stall_ms: f64 = any(),
        /// Time of the gradient reduction between replicas, once per iteration.
        pub data_parallel_ms: f64 = any(),
        /// Time of all micro-batches through all stages and of the gradient reduction.
        pub iteration_ms: f64 = any(),
        /// Bytes of a micro-batch in the stage that go over packet switches between the servers of a region.
        pub eps_bytes: f64 = any(),
    }
}

record! {
    /// Cost of the network, $.
    #[derive(Copy)]
    pub struct CostPlan {
        /// Parts of one server.
        pub server_usd: f64 = any(),
        /// Parts of the cluster.
        pub cluster_usd: f64 = any(),
        /// Cost of a fat-tree for this cluster.
        pub fat_tree_usd: f64 = any(),
        /// Time of an iteration on the fat-tree whose cost is `fat_tree_usd`, with the same placement of experts.
        pub fat_tree_ms: f64 = any(),
        /// Iterations per time and dollar, divided by the same figure of the fat-tree whose cost is `fat_tree_usd`.
        pub performance_per_dollar: f64 = any(),
    }
}
