//! The trace of one rank of a job: computations, messages and collectives with their dependencies.
//!
//! Readers of Chakra, of the PyTorch profiler and of PyTorch execution traces fill this record. A trace has one entry
//! for each node and one list of dependencies for all nodes, because a rank may have millions of them.

mod builder;
pub mod groups;
pub mod profiler;
pub mod pytorch;
pub mod task_graph;

pub use builder::{NodeFacts, TraceBuilder};

use lightbay_core::problem::Problem;
use std::collections::BTreeMap;

/// Maximum number of nodes of the trace of a rank.
pub const MOST_NODES: usize = 4_000_000;
/// Maximum size of the data of a node, and maximum number of its operations.
pub const MOST: f64 = 1e18;

/// Operation of a collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TracedCollective {
    /// Every rank gets the sum.
    AllReduce,
    /// One rank gets the sum.
    Reduce,
    /// Every rank gets all parts.
    AllGather,
    /// One rank gets all parts.
    Gather,
    /// One rank sends a part to each rank.
    Scatter,
    /// One rank sends the same data to all ranks.
    Broadcast,
    /// Every rank sends a part to every rank.
    AllToAll,
    /// Every rank gets one part of the sum.
    ReduceScatter,
    /// The ranks wait for each other.
    Barrier,
}

impl TracedCollective {
    /// All collectives with their numbers in Chakra, their names for people, and a word in names of kernels and calls.
    const ALL: [(u64, Self, &'static str, &'static str); 10] = [
        (0, Self::AllReduce, "all-reduce", "allreduce"),
        (7, Self::ReduceScatter, "reduce-scatter", "reducescatter"),
        (8, Self::ReduceScatter, "reduce-scatter", "reducescatter"),
        (2, Self::AllGather, "all-gather", "allgather"),
        (6, Self::AllToAll, "all-to-all", "alltoall"),
        (5, Self::Broadcast, "broadcast", "broadcast"),
        (4, Self::Scatter, "scatter", "scatter"),
        (3, Self::Gather, "gather", "gather"),
        (9, Self::Barrier, "barrier", "barrier"),
        (1, Self::Reduce, "reduce", "reduce"),
    ];

    /// Returns the collective that has this number in Chakra.
    pub fn of_number(number: u64) -> Option<Self> {
        Self::ALL.iter().find(|(own, ..)| *own == number).map(|(_, kind, ..)| *kind)
    }

    /// Returns the collective that a name contains, in any spelling: `_allgather_base`,
    /// `ncclDevKernel_AllReduce_Sum_f32_RING_LL`.
    pub fn of_name(name: &str) -> Option<Self> {
        let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
        let plain = plain.to_ascii_lowercase();
        Self::ALL.iter().find(|(.., word)| plain.contains(word)).map(|(_, kind, ..)| *kind)
    }

    /// Returns the name for people.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, kind, ..)| *kind == self).map_or("", |(_, _, name, _)| name)
    }
}

/// Work of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TracedWork {
    /// Nothing: the node only passes dependencies on.
    Nothing,
    /// Computation.
    Compute(Lane),
    /// Message to a rank.
    Send {
        /// Receiving rank.
        to: u32,
        /// Distinguishes the messages of a pair of ranks.
        tag: i64,
    },
    /// Message from a rank.
    Receive {
        /// Sending rank.
        from: u32,
        /// Distinguishes the messages of a pair of ranks.
        tag: i64,
    },
    /// Part of this rank in a collective.
    Collective {
        /// Operation.
        kind: TracedCollective,
        /// Group of ranks, an index of [`RankTrace::groups`].
        group: u32,
    },
}

/// The device of a rank on which a node runs. Computations on the GPU run one after another, and so do computations on
/// the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Lane {
    /// The GPU.
    Gpu,
    /// The CPU.
    Host,
    /// No device: only the dependencies of the node determine when it runs.
    Free,
}

/// A node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TracedNode {
    /// Number in the file.
    pub id: u64,
    /// Work of the node.
    pub work: TracedWork,
    /// Measured duration, µs; 0 if the file has none.
    pub micros: f64,
    /// Operations of a computation; 0 if the file has none.
    pub operations: f64,
    /// Size of a message or collective, or of the tensor of a computation, in the unit of the file; negative if the
    /// file has none.
    pub size: f64,
    /// Index in [`RankTrace::deps`] at which the dependencies of the node end.
    deps_end: u32,
    /// Index in [`RankTrace::names`] at which the name of the node ends.
    name_end: u32,
}

/// A group of ranks.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TracedGroup {
    /// Name in the file.
    pub name: String,
    /// Ranks of the group as listed, if the trace lists them; the first is the root of collectives with a root.
    pub ranks: Option<Vec<u32>>,
}

/// The trace of one rank.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RankTrace {
    /// The rank, if the content states it.
    pub rank: Option<u32>,
    /// Number of ranks of the job, if the content states it.
    pub world: Option<u32>,
    /// `true` if the format of the file guarantees that sizes are bytes.
    pub in_bytes: bool,
    /// `true` if sizes are numbers of elements, as in traces from STAGE, a generator of synthetic traces.
    pub in_elements: bool,
    /// Groups of ranks in which the collectives of the trace run.
    pub groups: Vec<TracedGroup>,
    /// Number of dependencies on nodes that the file does not contain.
    pub dangling: u64,
    /// Number of computations that have the name of a collective.
    pub labelled: u64,
    /// Remarks, one sentence each.
    pub notes: Vec<String>,
    nodes: Vec<TracedNode>,
    deps: Vec<u32>,
    names: String,
    /// Sizes of the parts of all-to-alls, by the index of the node.
    parts: BTreeMap<u32, Vec<f64>>,
}

impl RankTrace {
    /// Returns all nodes in the order of the file.
    pub fn nodes(&self) -> &[TracedNode] {
        &self.nodes
    }

    /// Returns the indices of the nodes on which a node depends.
    pub fn deps(&self, node: usize) -> &[u32] {
        let start = node.checked_sub(1).map_or(0, |before| self.nodes[before].deps_end);
        &self.deps[start as usize..self.nodes[node].deps_end as usize]
    }

    /// Returns the size of the part that an all-to-all sends to each rank of its group, in the order of the ranks of
    /// the group and in the unit of [`TracedNode::size`]; `None` if the file has no such list, so that the parts are
    /// equal.
    pub fn parts(&self, node: usize) -> Option<&[f64]> {
        self.parts.get(&(node as u32)).map(Vec::as_slice)
    }

    /// Returns the name of a message or collective; empty for computations.
    pub fn name(&self, node: usize) -> &str {
        let start = node.checked_sub(1).map_or(0, |before| self.nodes[before].name_end);
        &self.names[start as usize..self.nodes[node].name_end as usize]
    }
}

/// Splits `size` in the proportions of a list of split sizes, which may count rows of a tensor instead of its elements.
///
/// # Errors
/// A list that does not have one entry for each of `ranks` ranks, and a list of zeros for a size above 0.
fn split(splits: &[u64], size: f64, ranks: Option<usize>, place: &str) -> Result<Vec<f64>, Problem> {
    if let Some(ranks) = ranks.filter(|ranks| *ranks != splits.len()) {
        let message = format!("has {} entries, but the group has {ranks} ranks", splits.len());
        let remedy = format!("give {ranks} split sizes, or an empty list for equal parts");
        return Err(Problem::new(place, message, remedy));
    }
    let sum: f64 = splits.iter().map(|part| *part as f64).sum();
    if sum == 0.0 && size > 0.0 {
        let message = format!("has only zeros, but the input has {size} bytes");
        return Err(Problem::new(place, message, "give split sizes whose sum is the size of the input"));
    }
    Ok(splits.iter().map(|part| if sum > 0.0 { *part as f64 * size / sum } else { 0.0 }).collect())
}

/// Returns the rank in the name of a file: the number that is the last part before the endings, such as 3 in
/// `dense.3.et.gz`, or that follows the word "rank" there; `None` for any other part.
pub fn rank_of_name(file: &str) -> Option<u32> {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    let part = name.split('.').rev().find(|part| !["gz", "et", "json", "pt", "trace"].contains(part))?;
    let digits = part.rsplit(|c: char| !c.is_ascii_digit()).next().filter(|digits| !digits.is_empty())?;
    // A part such as `0` or `rank3`, not a word that happens to end in a number.
    let before = part[..part.len() - digits.len()].trim_end_matches(['-', '_']);
    (before.is_empty() || before.ends_with("rank")).then(|| digits.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn collectives_are_known_by_number_and_name() {
        for (name, kind) in [
            (
                "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
                TracedCollective::AllReduce,
            ),
            ("_allgather_base", TracedCollective::AllGather),
            ("c10d::reduce_scatter_tensor_", TracedCollective::ReduceScatter),
            ("ncclKernel_Broadcast_RING_LL_Sum_int8_t", TracedCollective::Broadcast),
            ("all_to_allv", TracedCollective::AllToAll),
            ("reduce", TracedCollective::Reduce),
        ] {
            assert_eq!(TracedCollective::of_name(name), Some(kind), "{name}");
        }
        assert_eq!(TracedCollective::of_name("wait"), None);
        assert_eq!(TracedCollective::of_number(8), Some(TracedCollective::ReduceScatter));
        assert_eq!(TracedCollective::of_number(10), None);
    }

    #[test]
    fn ranks_are_in_names_of_files() {
        for (name, rank) in [
            ("a/dense.3.et.gz", Some(3)),
            ("all_to_all.15.et", Some(15)),
            ("small_chakra.0.json", Some(0)),
            ("rank7.json", Some(7)),
            ("trace_rank-12.json.gz", Some(12)),
            ("et_0.json", None),
            ("step100.json", None),
            ("trace.json", None),
        ] {
            assert_eq!(rank_of_name(name), rank, "{name}");
        }
    }
}
