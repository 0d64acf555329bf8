//! The input: GPUs, switches and links, the chunks and their destinations, and the division of time into epochs.

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
pub use knobs::KNOBS;

use lightbay_core::exchange::DerivedFrom;
use lightbay_core::record::{any, index, list, usual, within};
use lightbay_core::{record, words};

/// Maximum number of nodes of a scenario.
pub const MAX_NODES: usize = 16_384;
/// Maximum number of links of a scenario.
pub const MAX_LINKS: usize = 1 << 20;
/// Maximum number of chunks that a demand represents.
pub const MAX_CHUNKS: usize = 1 << 21;
/// Maximum number of deliveries of chunks to destinations that a demand represents.
pub const MAX_DELIVERIES: usize = 1 << 25;
/// Largest number in a file: bytes, microseconds, GB/s.
const HUGE: f64 = 1e18;
/// Maximum number of chunks of a rank.
const MAX_PER_RANK: i64 = 1 << 16;
/// Minimum and maximum rate, GB/s.
const RATES: [f64; 2] = [1e-9, 1e9];
/// Largest latency, µs.
const MAX_ALPHA: f64 = 1e12;
/// Minimum and maximum factor of a straggler.
const SCALES: [f64; 2] = [1e-6, 1e6];

record! {
    /// Fields of a scenario of kind `collective`.
    pub struct CollectiveScenario {
        /// GPUs, switches and links.
        pub topology: Topology = any(),
        /// Chunks with their sources and destinations.
        pub demand: Demand = any(),
        /// Length of an epoch.
        pub time: TimeRule = any().or(TimeRule::default()),
        /// Failed links, as pairs of nodes.
        pub failed_links: Vec<[u32; 2]> = index().or(Vec::new()).omitted(),
        /// Maximum number of chunks that a GPU may hold at a time, not counting chunks that it starts with or needs; no
        /// limit if missing.
        pub buffer_limit_chunks: Option<u32> = within(1..=1 << 30),
        /// Family of networks to which the topology belongs, so that another size can be generated.
        pub family: Option<NetworkFamily> = any(),
        /// The plan from which the network comes.
        pub derived_from: Option<DerivedFrom> = any(),
    }
}

record! {
    /// A directed graph of GPUs and switches.
    pub struct Topology, ignoring "format" {
        /// Name of the network, for people.
        pub name: String = any().or("own".to_owned()),
        /// GPUs and switches, in order of id.
        pub nodes: Vec<NodeRecord> = any().by(read::nodes, read::nodes_schema),
        /// Directed links, at most one for each ordered pair of nodes.
        pub links: Vec<LinkRecord> = any(),
        /// Capabilities of the switches.
        pub switch_model: SwitchModel = any().or(SwitchModel { copy: true, hop: SwitchHop::StoreAndForward, reduce: false }),
        /// Permutations of the nodes that map every link to a link of equal capacity and latency.
        pub symmetry_generators: Vec<Vec<u32>> = index().or(Vec::new()),
        /// Remarks on the network, for people.
        pub notes: String = any().or(String::new()).omitted(),
    }
}

words! {
    /// GPU or switch.
    pub enum NodeSort {
        /// GPU: keeps data that it receives and may copy it.
        Gpu = "gpu",
        /// Switch: forwards data in the epoch in which it arrives.
        Switch = "switch",
    }
}

record! {
    /// A node of a topology.
    #[derive(Eq)]
    pub struct NodeRecord {
        /// Position of the node in the list, from 0.
        pub id: u32 = within(0..=MAX_NODES as i64),
        /// Name, for people.
        pub name: String = any().or(String::new()),
        /// GPU or switch.
        pub kind: NodeSort = any().or(NodeSort::Gpu),
        /// Chassis, box or pod to which the node belongs.
        pub group: Option<u32> = within(0..=MAX_NODES as i64).or_null(),
    }
}

record! {
    /// A directed link of a topology.
    pub struct LinkRecord {
        /// Node that the link leaves.
        pub from: u32 = within(0..=MAX_NODES as i64),
        /// Node that the link enters.
        pub to: u32 = within(0..=MAX_NODES as i64),
        /// Rate, GB/s.
        pub capacity_gbyte_per_s: f64 = within(RATES[0]..=RATES[1]),
        /// Fixed latency, µs.
        pub alpha_us: f64 = within(0.0..=MAX_ALPHA).or(0.0),
        /// Type of the link, such as `nvlink`, `infiniband` or `ocs`.
        pub kind: String = any().or("link".to_owned()),
        /// Factor by which the latency is multiplied, for a straggler.
        pub alpha_scale: f64 = within(0.0..=SCALES[1]).or(1.0).omitted(),
        /// Factor by which the time per byte is multiplied, for a straggler: 2 halves the rate.
        pub beta_scale: f64 = within(SCALES[0]..=SCALES[1]).or(1.0).omitted(),
        /// Intervals in which the link carries data, µs from the start, ascending and disjoint; if there are none, the
        /// link always carries data.
        pub up_us: Vec<[f64; 2]> = list(),
    }
}

words! {
    /// How a switch forwards data.
    pub enum SwitchHop {
        /// Store-and-forward: both the link into the switch and the link out of it add their transmission times.
        StoreAndForward = "store_and_forward",
        /// Cut-through: of all transmissions on a path through switches, only the slowest adds its time.
        CutThrough = "cut_through",
    }
}

record! {
    /// Capabilities of the switches.
    #[derive(Copy, Eq)]
    pub struct SwitchModel {
        /// `true` if switches copy an incoming chunk to several links.
        pub copy: bool = any().or(true),
        /// How switches forward data.
        pub hop: SwitchHop = any().or(SwitchHop::StoreAndForward),
        /// `true` if switches reduce incoming chunks: a switch then combines several incoming chunks of a reduction
        /// into one outgoing chunk.
        pub reduce: bool = any().or(false).omitted(),
    }
}

words! {
    /// Rule for the length of an epoch.
    pub enum EpochRule {
        /// The fastest link carries one chunk in an epoch.
        FastestLink = "fastest_link",
        /// The slowest link carries one chunk in an epoch.
        SlowestLink = "slowest_link",
        /// The epoch length is given in `epoch_us`.
        Fixed = "fixed",
    }
}

record! {
    /// Length of an epoch.
    #[derive(Copy)]
    pub struct TimeRule {
        /// Rule that gives the epoch length.
        pub epoch: EpochRule = any().or(EpochRule::FastestLink),
        /// Epoch length if the rule is `fixed`, µs.
        pub epoch_us: Option<f64> = within(1e-9..=HUGE).unit("us"),
        /// Factor by which the epoch length of the rule is multiplied; 1 with `fixed`.
        pub epoch_multiplier: f64 = within(SCALES[0]..=SCALES[1]).or(1.0).omitted(),
        /// Fraction of an epoch up to which a latency is ignored.
        pub alpha_threshold: f64 = within(0.0..=1e6).or(0.1),
    }
}

impl Default for TimeRule {
    fn default() -> Self {
        usual()
    }
}

impl TimeRule {
    /// Returns `true` if the scenario sets its epochs: schedules are then searched only in these epochs. A threshold of
    /// 0, with which no latency is omitted, does not count as such a setting.
    pub fn is_chosen(&self) -> bool {
        let usual = Self::default();
        let as_usual = Self { alpha_threshold: usual.alpha_threshold, ..*self } == usual;
        !as_usual || ![0.0, usual.alpha_threshold].contains(&self.alpha_threshold)
    }
}

impl LinkRecord {
    /// Creates a link that is always up and not a straggler.
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
    /// Returns the ids of the GPUs, ascending.
    pub fn gpus(&self) -> impl Iterator<Item = u32> + Clone + '_ {
        self.nodes.iter().filter(|node| node.kind == NodeSort::Gpu).map(|node| node.id)
    }
}
