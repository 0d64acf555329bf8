//! Places of chunks in the buffers of executors: input, output, and space for chunks that pass through.

use crate::plan::{ChunkPiece, CollectiveResult, Discipline};
use crate::scenario::{ChunkList, CollectiveScenario, CollectiveSort};
use lightbay_core::param::{ParamInfo, Params};
use lightbay_core::problem::{Problem, Problems};
use lightbay_formats::collective::{Buffer, BufferPlace, CollectiveOp, Contribution, Wanted};
use rustc_hash::FxHashMap;

/// Default maximum buffer size for which a schedule is written, bytes.
const LARGEST: u64 = 1 << 40;

/// Returns the knobs of the minimum and the maximum buffer size for which a schedule is written.
pub(super) fn size_knobs() -> [ParamInfo; 2] {
    let smallest = "Minimum buffer size for which the runtime uses the schedule. Default: no limit; for a \
         plan of several sizes, the limit of each range.";
    let largest = "Maximum buffer size for which the runtime uses the schedule. Default: no limit; for a \
         plan of several sizes, the limit of each range.";
    [
        ParamInfo::int("min_bytes", 0, 1 << 50, 0, smallest).unit("B").derived(),
        ParamInfo::int("max_bytes", 0, 1 << 50, LARGEST as i64, largest).unit("B").derived(),
    ]
}

/// Returns the minimum and the maximum buffer size for which a schedule is written, bytes. `what` names the files in
/// singular and plural: `["a program of MSCCL", "programs of MSCCL"]`.
///
/// # Errors
/// An empty range, demands that are not a named collective, and parts of chunks of unequal sizes.
pub(super) fn size_range(
    scenario: &CollectiveScenario,
    result: &CollectiveResult,
    params: &Params,
    what: [&str; 2],
) -> Result<(u64, u64), Problems> {
    let bytes = |name: &str, usual: u64| params.int(name).map_or(usual, i64::unsigned_abs);
    let range = (bytes("min_bytes", 0), bytes("max_bytes", LARGEST));
    if range.0 > range.1 {
        let message = format!("is {}, below min_bytes {}", range.1, range.0);
        return Err(Problem::new("max_bytes", message, "set at least min_bytes").into());
    }
    let sort = scenario.demand.collective;
    if !sort.is_named() {
        let message = format!("is {}, but {} supports only one named collective", sort.word(), what[0]);
        return Err(Problem::new("demand.collective", message, "export it as sends or chakra").into());
    }
    if result.time.discipline == Discipline::Fluid {
        let message = format!(
            "the schedule sends parts of chunks of unequal sizes, but {} needs whole chunks",
            what[1]
        );
        return Err(Problem::new("to", message, "solve with construct or teccl-milp").into());
    }
    Ok(range)
}

/// Places of chunks in the buffers of the ranks.
pub(super) struct ChunkPlaces {
    sort: CollectiveSort,
    pub(super) op: CollectiveOp,
    pub(super) in_place: bool,
    /// Number of pieces of all chunks of a rank, or of a pair of ranks.
    per_rank: u32,
    /// Number of input chunks of every rank.
    pub(super) input: u32,
    /// Number of output chunks of every rank.
    pub(super) output: u32,
    pub(super) ranks: Vec<u32>,
    rank_of: FxHashMap<u32, u32>,
    root: u32,
    /// Number of pieces of every chunk.
    pieces: u32,
    chunks: ChunkList,
}

impl ChunkPlaces {
    /// Returns the places of the chunks of a program for a scenario. Each chunk of the program is a piece of a chunk of
    /// the scenario.
    pub(super) fn of(scenario: &CollectiveScenario, pieces: u32) -> Self {
        let demand = &scenario.demand;
        let (sort, per_rank) = (demand.collective, demand.chunks_per_rank * pieces);
        let ranks = demand.rank_nodes(&scenario.topology);
        let all = ranks.len() as u32 * per_rank;
        let (op, input, output) = match sort {
            CollectiveSort::AllGather => (CollectiveOp::AllGather, per_rank, all),
            CollectiveSort::ReduceScatter => (CollectiveOp::ReduceScatter, all, per_rank),
            CollectiveSort::AllReduce => (CollectiveOp::AllReduce, all, all),
            CollectiveSort::AllToAll => (CollectiveOp::AllToAll, all, all),
            CollectiveSort::Broadcast => (CollectiveOp::Broadcast, per_rank, per_rank),
            CollectiveSort::Scatter => (CollectiveOp::Custom, all, per_rank),
            _ => (CollectiveOp::Custom, per_rank, all),
        };
        Self {
            sort,
            op,
            in_place: !matches!(op, CollectiveOp::AllToAll | CollectiveOp::Custom),
            per_rank,
            input,
            output,
            rank_of: ranks.iter().copied().zip(0..).collect(),
            ranks,
            root: demand.root.unwrap_or(0),
            pieces,
            chunks: demand.expand(&scenario.topology),
        }
    }

    fn rank(&self, node: u32) -> u32 {
        self.rank_of.get(&node).copied().unwrap_or(0)
    }

    /// Returns the rank that has a piece in the direction of planning, and the ranks that need it.
    fn ends(&self, result: &CollectiveResult, piece: u32) -> (u32, Vec<u32>) {
        let piece = &result.pieces[piece as usize];
        let chunk = piece.chunk as usize;
        let dests: Vec<u32> = match &piece.dests {
            Some(dests) => dests.iter().map(|node| self.rank(*node)).collect(),
            None => self.chunks.dests(chunk).map(|node| self.rank(node)).collect(),
        };
        (self.rank(self.chunks.source(chunk)), dests)
    }

    /// Returns the place of a piece at a rank before the first step, or at the end; `None` if the piece only passes
    /// through the rank.
    pub(super) fn place(&self, result: &CollectiveResult, piece: u32, rank: u32) -> Option<BufferPlace> {
        let (source, dests) = self.ends(result, piece);
        let (begins, ends) = (rank == source, dests.contains(&rank));
        if !begins && !ends {
            return None;
        }
        let ChunkPiece { chunk, offset_bytes, size_bytes, .. } = result.pieces[piece as usize];
        let turn = if self.pieces > 1 { (offset_bytes / size_bytes).round() as u32 } else { 0 };
        let local = self.chunks.local(chunk as usize) * self.pieces + turn;
        let at = |buffer, place: u32| BufferPlace { buffer, offset: place * self.per_rank + local };
        let only = dests.first().copied().unwrap_or(0);
        Some(match self.sort {
            CollectiveSort::AllGather => at(Buffer::Output, source),
            CollectiveSort::ReduceScatter | CollectiveSort::AllReduce => at(Buffer::Input, source),
            CollectiveSort::AllToAll if begins => at(Buffer::Input, only),
            CollectiveSort::AllToAll => at(Buffer::Output, source),
            CollectiveSort::Scatter if begins => at(Buffer::Input, only),
            // Gathered data travels in the other direction.
            CollectiveSort::Gather if begins => at(Buffer::Output, only),
            CollectiveSort::Gather => at(Buffer::Input, 0),
            _ => at(Buffer::Output, 0),
        })
    }

    /// Returns the copies, from input to output, of data that a rank keeps for itself.
    pub(super) fn own(&self, rank: u32) -> Vec<(u32, u32)> {
        let (own, root) = (rank * self.per_rank, rank == self.root);
        let pair = |local: u32| match self.sort {
            CollectiveSort::AllToAll => Some((own + local, own + local)),
            CollectiveSort::Scatter if root => Some((own + local, local)),
            CollectiveSort::Gather if root => Some((local, own + local)),
            _ => None,
        };
        (0..self.per_rank).filter_map(pair).collect()
    }

    /// Returns the content of the outputs at the end, for collectives whose name does not define this content.
    pub(super) fn wanted(&self) -> Vec<Wanted> {
        let p = self.per_rank;
        let one = |rank: u32, offset: u32, from: u32, chunk: u32| Wanted {
            rank,
            offset,
            sum: vec![Contribution { rank: from, chunk }],
        };
        let ranks = 0..self.ranks.len() as u32;
        let each = ranks.flat_map(|rank| (0..p).map(move |local| (rank, local)));
        match self.sort {
            CollectiveSort::Scatter => {
                each.map(|(rank, local)| one(rank, local, self.root, rank * p + local)).collect()
            }
            CollectiveSort::Gather => {
                each.map(|(rank, local)| one(self.root, rank * p + local, rank, local)).collect()
            }
            _ => Vec::new(),
        }
    }
}
