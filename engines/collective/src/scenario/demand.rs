//! Demands: collectives by name, lists of chunks, and several tenants.

mod expand;

pub use expand::ChunkList;

use super::Topology;
use schemars::JsonSchema;
use serde::Serialize;

/// A collective by name, or a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CollectiveSort {
    /// Every rank's chunks to every other rank.
    AllGather,
    /// Sums of what every rank has, a part to each rank.
    ReduceScatter,
    /// Sums of what every rank has, all of them to each rank.
    AllReduce,
    /// From every rank other chunks to every other rank.
    AllToAll,
    /// The root's chunks to every other rank.
    Broadcast,
    /// From the root other chunks to every other rank.
    Scatter,
    /// Every rank's chunks to the root.
    Gather,
    /// As listed in `chunks` or counted in `matrix`.
    Custom,
    /// As listed in `tenants`.
    MultiTenant,
}

/// Chunks with their sources and destinations.
///
/// The buffer is what the figure for bandwidth counts: with R ranks of p chunks each, Broadcast has p chunks in it, all
/// other collectives by name have R·p.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Demand {
    /// Collective.
    pub collective: CollectiveSort,
    /// Size of the buffer, bytes; for collectives by name, in place of `chunk_bytes`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_buffer_bytes: Option<f64>,
    /// Size of a chunk, bytes, in place of `output_buffer_bytes`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chunk_bytes: Option<f64>,
    /// Sizes of the buffer, ascending, bytes, for which schedules are planned beside that of `output_buffer_bytes`; for
    /// collectives by name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sizes_bytes: Vec<u64>,
    /// Chunks of every rank, or of every pair of ranks, p; for collectives by name.
    pub chunks_per_rank: u32,
    /// GPUs that take part, in order of rank; all if missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ranks: Option<Vec<u32>>,
    /// Rank that sends or receives everything, as its place in `ranks`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root: Option<u32>,
    /// `true` if data is copied on the way. Without copies every destination gets a chunk of its own from the source.
    pub copy: bool,
    /// The chunks of a custom demand.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub chunks: Vec<ChunkWish>,
    /// Chunks from rank to rank of a custom demand, in place of `chunks`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub matrix: Vec<Vec<u32>>,
    /// Collectives of several tenants at once.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tenants: Vec<TenantDemand>,
}

/// A chunk and who wants it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ChunkWish {
    /// GPU that has it.
    pub source: u32,
    /// GPUs that want it.
    pub dests: Vec<u32>,
    /// Tenant that it belongs to.
    #[serde(skip_serializing_if = "is_zero")]
    pub tenant: u32,
    /// Weight against others: larger goes first.
    #[serde(skip_serializing_if = "super::is_one")]
    pub priority: f64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// The collective of a tenant.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TenantDemand {
    /// Name, for people.
    pub name: String,
    /// Collective; none that adds up, and none made of others.
    pub collective: CollectiveSort,
    /// Chunks of every rank, or of every pair of ranks.
    pub chunks_per_rank: u32,
    /// GPUs that take part, in order of rank.
    pub ranks: Vec<u32>,
    /// Rank that sends or receives everything, as its place in `ranks`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root: Option<u32>,
    /// Weight against other tenants: larger goes first.
    #[serde(skip_serializing_if = "super::is_one")]
    pub priority: f64,
}

impl CollectiveSort {
    /// All, with their names in files.
    pub const ALL: [(&'static str, Self); 9] = [
        ("all_gather", Self::AllGather),
        ("reduce_scatter", Self::ReduceScatter),
        ("all_reduce", Self::AllReduce),
        ("all_to_all", Self::AllToAll),
        ("broadcast", Self::Broadcast),
        ("scatter", Self::Scatter),
        ("gather", Self::Gather),
        ("custom", Self::Custom),
        ("multi_tenant", Self::MultiTenant),
    ];

    /// The name in files.
    pub const fn word(self) -> &'static str {
        match self {
            Self::AllGather => "all_gather",
            Self::ReduceScatter => "reduce_scatter",
            Self::AllReduce => "all_reduce",
            Self::AllToAll => "all_to_all",
            Self::Broadcast => "broadcast",
            Self::Scatter => "scatter",
            Self::Gather => "gather",
            Self::Custom => "custom",
            Self::MultiTenant => "multi_tenant",
        }
    }

    /// The usual way to write it.
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

    /// Returns `true` if ranks, chunks per rank and a buffer say all of it.
    pub const fn is_named(self) -> bool {
        !matches!(self, Self::Custom | Self::MultiTenant)
    }

    /// Returns `true` if the first part is planned on the network with all links turned round, and played backwards.
    pub const fn starts_backwards(self) -> bool {
        matches!(self, Self::ReduceScatter | Self::AllReduce | Self::Gather)
    }

    /// Returns `true` if data is added up on the way.
    pub const fn reduces(self) -> bool {
        matches!(self, Self::ReduceScatter | Self::AllReduce)
    }

    /// Chunks in the buffer of a number of ranks with p chunks each.
    pub const fn buffer_chunks(self, ranks: u64, per_rank: u64) -> u64 {
        match self {
            Self::Broadcast => per_rank,
            _ => ranks * per_rank,
        }
    }
}

impl Demand {
    /// A collective by name among all GPUs.
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

    /// Chunks that somebody lists, of one size.
    pub fn custom(chunk_bytes: f64, chunks: Vec<ChunkWish>) -> Self {
        Self {
            output_buffer_bytes: None,
            chunk_bytes: Some(chunk_bytes),
            chunks,
            ..Self::named(CollectiveSort::Custom, 0.0)
        }
    }

    /// Size of a chunk, bytes.
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
    /// A chunk of the first tenant with the usual weight.
    pub fn new(source: u32, dests: impl Into<Vec<u32>>) -> Self {
        Self { source, dests: dests.into(), tenant: 0, priority: 1.0 }
    }
}
