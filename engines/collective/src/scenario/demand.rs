//! Demands: named collectives, lists of chunks, and several tenants.

mod expand;

pub use expand::ChunkList;

use super::{HUGE, MAX_NODES, MAX_PER_RANK, Topology};
use lightbay_core::record::{any, index, list, within};
use lightbay_core::{record, words};

words! {
    /// Type of a collective: a named one, a list of chunks, or several tenants.
    pub enum CollectiveSort {
        /// Every rank sends its chunks to every other rank.
        AllGather = "all_gather",
        /// Data is summed over all ranks; each rank gets a part of the sum.
        ReduceScatter = "reduce_scatter",
        /// Data is summed over all ranks; each rank gets the whole sum.
        AllReduce = "all_reduce",
        /// Every rank sends different chunks to every other rank.
        AllToAll = "all_to_all",
        /// The root sends its chunks to every other rank.
        Broadcast = "broadcast",
        /// The root sends different chunks to every other rank.
        Scatter = "scatter",
        /// Every rank sends its chunks to the root.
        Gather = "gather",
        /// Chunks listed in `chunks` or counted in `matrix`.
        Custom = "custom",
        /// Collectives listed in `tenants`.
        MultiTenant = "multi_tenant",
    }
}

record! {
    /// Chunks with their sources and destinations.
    ///
    /// The algorithm bandwidth is computed from the size of the buffer: with R ranks of p chunks each, the buffer
    /// contains p chunks for Broadcast and R·p chunks for all other named collectives.
    pub struct Demand, ignoring "format", "name" {
        /// Type of the collective.
        pub collective: CollectiveSort = any(),
        /// Size of the buffer, bytes; replaces `chunk_bytes` for named collectives.
        pub output_buffer_bytes: Option<f64> = within(0.0..=HUGE).unit("bytes"),
        /// Size of a chunk, bytes; replaces `output_buffer_bytes`.
        pub chunk_bytes: Option<f64> = within(0.0..=HUGE).unit("bytes"),
        /// Further buffer sizes for which schedules are planned in addition to `output_buffer_bytes`, ascending, bytes;
        /// for named collectives.
        pub sizes_bytes: Vec<u64> = index().or(Vec::new()).omitted(),
        /// Number of chunks of every rank, or of every pair of ranks.
        pub chunks_per_rank: u32 = within(1..=MAX_PER_RANK).or(1).cold(),
        /// GPUs that take part, in order of rank; all GPUs if missing.
        pub ranks: Option<Vec<u32>> = index(),
        /// Rank that sends or receives everything.
        pub root: Option<u32> = within(0..=MAX_NODES as i64).cold(),
        /// `true` if GPUs and switches may copy data on the way. Otherwise the source sends a separate chunk to every
        /// destination.
        pub copy: bool = any().or(true),
        /// The chunks of a custom demand.
        pub chunks: Vec<ChunkWish> = list(),
        /// Number of chunks from rank to rank of a custom demand; replaces `chunks`.
        pub matrix: Vec<Vec<u32>> = index().or(Vec::new()).omitted(),
        /// Collectives of several tenants at once.
        pub tenants: Vec<TenantDemand> = list(),
    }
}

record! {
    /// A chunk and its destinations.
    pub struct ChunkWish, ignoring "id", "local" {
        /// GPU that has the chunk at the start.
        pub source: u32 = within(0..=MAX_NODES as i64),
        /// GPUs that need the chunk.
        pub dests: Vec<u32> = index(),
        /// Tenant to which the chunk belongs.
        pub tenant: u32 = within(0..=1 << 20).or(0).omitted(),
        /// Priority: larger values go first.
        pub priority: f64 = within(1e-6..=1e6).or(1.0).omitted(),
    }
}

record! {
    /// The collective of a tenant.
    pub struct TenantDemand {
        /// Name, for people.
        pub name: String = any(),
        /// Type of the collective; reductions, custom demands and several tenants are not allowed.
        pub collective: CollectiveSort = any(),
        /// Number of chunks of every rank, or of every pair of ranks.
        pub chunks_per_rank: u32 = within(1..=MAX_PER_RANK).or(1),
        /// GPUs that take part, in order of rank.
        pub ranks: Vec<u32> = index(),
        /// Rank that sends or receives everything, as its position in `ranks`.
        pub root: Option<u32> = within(0..=MAX_NODES as i64),
        /// Priority among tenants: larger values go first.
        pub priority: f64 = within(1e-6..=1e6).or(1.0).omitted(),
    }
}

impl Demand {
    /// Creates the demand of a named collective among all GPUs.
    pub fn named(collective: CollectiveSort, output_buffer_bytes: f64) -> Self {
        Self {
            collective,
            output_buffer_bytes: Some(output_buffer_bytes),
            chunk_bytes: None,
            sizes_bytes: Vec::new(),
            chunks_per_rank: 1,
            ranks: None,
            root: collective.has_root().then_some(0),
            copy: true,
            chunks: Vec::new(),
            matrix: Vec::new(),
            tenants: Vec::new(),
        }
    }

    /// Creates a demand of listed chunks, all of one size.
    pub fn custom(chunk_bytes: f64, chunks: Vec<ChunkWish>) -> Self {
        Self {
            output_buffer_bytes: None,
            chunk_bytes: Some(chunk_bytes),
            chunks,
            ..Self::named(CollectiveSort::Custom, 0.0)
        }
    }

    /// Returns the size of a chunk, bytes.
    pub fn chunk_size(&self, topology: &Topology) -> f64 {
        let ranks = self.rank_nodes(topology).len() as u64;
        let chunks = self.collective.buffer_chunks(ranks, u64::from(self.chunks_per_rank)).max(1);
        match (self.chunk_bytes, self.output_buffer_bytes) {
            (Some(bytes), _) => bytes,
            (None, Some(buffer)) => buffer / chunks as f64,
            (None, None) => 0.0,
        }
    }
}

impl ChunkWish {
    /// Creates a chunk of the first tenant with the default weight.
    pub fn new(source: u32, dests: impl Into<Vec<u32>>) -> Self {
        Self { source, dests: dests.into(), tenant: 0, priority: 1.0 }
    }
}

impl CollectiveSort {
    /// Returns the conventional spelling of the collective's name.
    pub const fn label(self) -> &'static str {
        match self {
            Self::AllGather => "AllGather",
            Self::ReduceScatter => "ReduceScatter",
            Self::AllReduce => "AllReduce",
            Self::AllToAll => "AllToAll",
            Self::Broadcast => "Broadcast",
            Self::Scatter => "Scatter",
            Self::Gather => "Gather",
            Self::Custom => "custom demand",
            Self::MultiTenant => "several tenants",
        }
    }

    /// Returns `true` if one rank sends or receives everything.
    pub const fn has_root(self) -> bool {
        matches!(self, Self::Broadcast | Self::Scatter | Self::Gather)
    }

    /// Returns `true` if ranks, chunks per rank and a buffer size define the collective completely.
    pub const fn is_named(self) -> bool {
        !matches!(self, Self::Custom | Self::MultiTenant)
    }

    /// Returns `true` if the first part of the collective is planned on the network with all links reversed, and
    /// reversed in time.
    pub const fn starts_backwards(self) -> bool {
        matches!(self, Self::ReduceScatter | Self::AllReduce | Self::Gather)
    }

    /// Returns `true` if data is reduced on the way.
    pub const fn reduces(self) -> bool {
        matches!(self, Self::ReduceScatter | Self::AllReduce)
    }

    /// Returns the number of chunks in the buffer for a number of ranks with `per_rank` chunks each.
    pub const fn buffer_chunks(self, ranks: u64, per_rank: u64) -> u64 {
        match self {
            Self::Broadcast => per_rank,
            _ => ranks * per_rank,
        }
    }
}
