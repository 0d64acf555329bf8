//! Schedules as execution plans of MSCCL++.
//!
//! The sends of a schedule form levels: first the sends of data that ranks have from the beginning, then the sends of
//! data that arrived in the level before. On every rank, one thread block per peer puts its data of a level, signals
//! once, and waits for the data of the peer; all blocks synchronise before the next level. Data to be reduced arrives
//! in separate buffer space, and one of the blocks adds this data to the sum. The exporter executes the plan as a test
//! before it returns the file.

use super::places::{ChunkPlaces, size_knobs, size_range};
use super::transfers::transfers;
use crate::plan::CollectiveResult;
use crate::scenario::CollectiveScenario;
use lightbay_core::format::{FormatInfo, SubjectSort};
use lightbay_core::param::{ParamInfo, Params};
use lightbay_core::problem::{Problem, Problems};
use lightbay_formats::collective::{Buffer, BufferPlace};
use lightbay_formats::mscclpp::{
    ChannelSort, ExecutionPlan, MOST_CHANNELS_OF_OPERATION, MOST_OPERATIONS, PlanAction, PlanChannel,
    PlanGpu, PlanOperation, PlanProtocol, Span, execute,
};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// Name of the format.
pub const NAME: &str = "mscclpp";

/// Value of the knob `channel` that selects memory channels inside a group of GPUs and port channels between groups.
const BY_GROUP: &str = "by_group";

/// Returns the description of the format.
pub(super) fn format() -> FormatInfo {
    let [min_bytes, max_bytes] = size_knobs();
    FormatInfo::new(
        NAME,
        "The schedule as an execution plan of MSCCL++ (JSON); lightbay first executes it as a test.",
        SubjectSort::Plan,
        "json",
    )
    .leaving_out(&["the epochs of the sends", "the switches between the ranks", "the bound"])
    .with(vec![
        ParamInfo::choice(
            "channel",
            &[BY_GROUP, "memory", "port"],
            BY_GROUP,
            "Channels between ranks: memory channels inside a chassis and port channels between chassis, \
             or one type for all.",
        ),
        min_bytes,
        max_bytes,
    ])
}

/// Converts a schedule to an execution plan, and executes it once as a test.
///
/// # Errors
/// Parts of chunks, demands that are not a named collective, GPUs that pass data on without being a rank, more
/// operations than executors support, and an empty range of sizes.
pub fn plan(
    name: &str,
    scenario: &CollectiveScenario,
    result: &CollectiveResult,
    params: &Params,
) -> Result<ExecutionPlan, Problems> {
    let (min_bytes, max_bytes) =
        size_range(scenario, result, params, ["an execution plan", "execution plans"])?;
    let buffers = ChunkPlaces::of(scenario, result.time.pieces_per_chunk);
    let levels = Levels::of(scenario, result, &buffers)?;
    let channel = params.text("channel").unwrap_or(BY_GROUP);
    let nodes = &scenario.topology.nodes;
    let group = |rank: u32| buffers.ranks.get(rank as usize).and_then(|node| nodes[*node as usize].group);
    let sort_of = |a: u32, b: u32| match ChannelSort::ALL.iter().find(|(name, _)| *name == channel) {
        Some((_, sort)) => *sort,
        None if group(a) == group(b) => ChannelSort::Memory,
        None => ChannelSort::Port,
    };
    let mut gpus = Vec::with_capacity(buffers.ranks.len());
    for rank in 0..buffers.ranks.len() as u32 {
        let gpu = levels.gpu(rank, &buffers, sort_of);
        if let Some((block, operations)) =
            gpu.blocks.iter().enumerate().find(|(_, operations)| operations.len() > MOST_OPERATIONS)
        {
            let message = format!(
                "needs {} operations in thread block {block} of rank {rank}, but executors support at most \
                 {MOST_OPERATIONS}",
                operations.len()
            );
            return Err(Problem::new("to", message, "use fewer ranks or chunks, or export to msccl").into());
        }
        gpus.push(gpu);
    }
    let plan = ExecutionPlan {
        name: name.to_owned(),
        collective: buffers.op,
        protocol: PlanProtocol::Simple,
        in_place: buffers.in_place,
        min_bytes,
        max_bytes,
        gpus,
    };
    let done = execute(&plan, scenario.demand.root, &buffers.wanted())?;
    done.findings.into_result(plan)
}

/// Source of a copy in the buffer of the sender, and destination in the buffer of the receiver.
type PlacePair = [BufferPlace; 2];

/// A sum at a rank: its location, and the buffer space of the parts that arrive.
type SumParts = (BufferPlace, Vec<u32>);

/// Sends by level.
struct Levels {
    /// Puts by sender, level and receiver.
    puts: BTreeMap<(u32, u32, u32), Vec<PlacePair>>,
    /// Ranks from which a rank receives, by receiver and level.
    from: BTreeMap<(u32, u32), BTreeSet<u32>>,
    /// Sums by rank and level.
    sums: BTreeMap<(u32, u32), Vec<SumParts>>,
    /// Peers of every rank.
    peers: Vec<BTreeSet<u32>>,
    /// Chunks of additional buffer space at every rank.
    scratch: Vec<u32>,
    /// Last level.
    last: u32,
}

impl Levels {
    fn of(
        scenario: &CollectiveScenario,
        result: &CollectiveResult,
        buffers: &ChunkPlaces,
    ) -> Result<Self, Problems> {
        let ranks = buffers.ranks.len();
        let mut levels = Self {
            puts: BTreeMap::new(),
            from: BTreeMap::new(),
            sums: BTreeMap::new(),
            peers: vec![BTreeSet::new(); ranks],
            scratch: vec![0; ranks],
            last: 0,
        };
        let mut passing: FxHashMap<(u32, u32), u32> = FxHashMap::default();
        // Level from which each place can be sent: one more than the highest level of the sends into it.
        let mut there: FxHashMap<(u32, BufferPlace), u32> = FxHashMap::default();
        // Level of the first put of each piece into the scratch space of a rank that only passes the piece on.
        let mut relayed: FxHashMap<(u32, u32), u32> = FxHashMap::default();
        for transfer in transfers(scenario, result)? {
            let mut place = |rank: u32, scratch: &mut Vec<u32>| {
                buffers.place(result, transfer.piece, rank).unwrap_or_else(|| {
                    let room = &mut scratch[rank as usize];
                    let offset = *passing.entry((transfer.piece, rank)).or_insert_with(|| {
                        *room += 1;
                        *room - 1
                    });
                    BufferPlace { buffer: Buffer::Scratch, offset }
                })
            };
            let (from, to) = (transfer.from, transfer.to);
            let source = place(from, &mut levels.scratch);
            let destination = place(to, &mut levels.scratch);
            let mut level = there.get(&(from, source)).copied().unwrap_or(0);
            let mut adds = result.pieces[transfer.piece as usize].adds_up;
            if adds && buffers.place(result, transfer.piece, to).is_none() {
                // The first part that arrives at a relay is put there; later parts are added to it.
                if let Some(first) = relayed.get(&(transfer.piece, to)) {
                    level = level.max(*first);
                } else {
                    relayed.insert((transfer.piece, to), level);
                    adds = false;
                }
            }
            let known = there.entry((to, destination)).or_default();
            *known = (*known).max(level + 1);
            let mut written = destination;
            if adds {
                let room = &mut levels.scratch[to as usize];
                written = BufferPlace { buffer: Buffer::Scratch, offset: *room };
                *room += 1;
                let sums = levels.sums.entry((to, level)).or_default();
                match sums.iter_mut().find(|(place, _)| *place == destination) {
                    Some((_, parts)) => parts.push(written.offset),
                    None => sums.push((destination, vec![written.offset])),
                }
            }
            levels.puts.entry((from, level, to)).or_default().push([source, written]);
            levels.from.entry((to, level)).or_default().insert(from);
            levels.peers[from as usize].insert(to);
            levels.peers[to as usize].insert(from);
            levels.last = levels.last.max(level);
        }
        Ok(levels)
    }

    /// Returns the program of a rank.
    fn gpu(&self, rank: u32, buffers: &ChunkPlaces, sort_of: impl Fn(u32, u32) -> ChannelSort) -> PlanGpu {
        let peers: Vec<u32> = self.peers[rank as usize].iter().copied().collect();
        let own: Vec<PlacePair> = buffers
            .own(rank)
            .into_iter()
            .map(|(from, to)| {
                [
                    BufferPlace { buffer: Buffer::Input, offset: from },
                    BufferPlace { buffer: Buffer::Output, offset: to },
                ]
            })
            .collect();
        let mut channels: Vec<PlanChannel> =
            peers.iter().map(|peer| PlanChannel { sort: sort_of(rank, *peer), peer: *peer }).collect();
        channels.sort_by_key(|channel| channel.sort);
        let mut program = RankProgram {
            channels: peers
                .iter()
                .map(|peer| {
                    channels.iter().position(|channel| channel.peer == *peer).unwrap_or_default() as u32
                })
                .collect(),
            sorts: peers.iter().map(|peer| sort_of(rank, *peer)).collect(),
            blocks: vec![Vec::new(); peers.len().max(usize::from(!own.is_empty()))],
        };
        program.begin(&own);
        for level in 0..=self.last {
            for (block, peer) in peers.iter().enumerate() {
                let puts = self.puts.get(&(rank, level, *peer));
                let waits = self.from.get(&(rank, level)).is_some_and(|from| from.contains(peer));
                program.exchange(block, puts.map_or(&[][..], Vec::as_slice), *peer, waits);
            }
            let sums = self.sums.get(&(rank, level)).map_or(&[][..], Vec::as_slice);
            let goes_on = self.puts.range((rank, level + 1, 0)..(rank + 1, 0, 0)).next().is_some();
            if self.from.contains_key(&(rank, level)) && (goes_on || !sums.is_empty()) {
                program.meet();
            }
            if !sums.is_empty() {
                program.add(sums);
                if goes_on {
                    program.meet();
                }
            }
        }
        program.end();
        PlanGpu {
            input_chunks: buffers.input,
            output_chunks: buffers.output,
            scratch_chunks: self.scratch[rank as usize],
            channels,
            blocks: program.blocks,
        }
    }
}

/// The program of a rank under construction, with a thread block for each peer.
struct RankProgram {
    /// Channel of each thread block, as a position in the channel list of the GPU.
    channels: Vec<u32>,
    sorts: Vec<ChannelSort>,
    blocks: Vec<Vec<PlanOperation>>,
}

impl RankProgram {
    /// Adds copies of data that the rank keeps, and the signal that the rank has begun.
    fn begin(&mut self, own: &[PlacePair]) {
        for (block, operations) in self.blocks.iter_mut().enumerate() {
            if block == 0 {
                operations.extend(runs(own).into_iter().map(|(pair, size)| PlanOperation {
                    sources: vec![span(None, pair[0], size)],
                    destinations: vec![span(None, pair[1], size)],
                    ..PlanOperation::bare(PlanAction::Copy)
                }));
            }
            if let (Some(sort), Some(channel)) = (self.sorts.get(block), self.channels.get(block)) {
                for action in [PlanAction::RelaxedSignal, PlanAction::RelaxedWait] {
                    operations.push(PlanOperation::on_channel(action, *sort, *channel));
                }
                operations.push(PlanOperation::bare(PlanAction::Synchronize));
            }
        }
    }

    /// Adds puts to a peer followed by one signal, then, if `waits` is true, the wait for the puts of the peer.
    fn exchange(&mut self, block: usize, puts: &[PlacePair], peer: u32, waits: bool) {
        let (sort, channel) = (self.sorts[block], self.channels[block]);
        let operations = &mut self.blocks[block];
        let runs = runs(puts);
        let last = runs.len().checked_sub(1);
        for (index, (pair, size)) in runs.into_iter().enumerate() {
            let signals = sort == ChannelSort::Port && Some(index) == last;
            operations.push(PlanOperation {
                sources: vec![span(None, pair[0], size)],
                destinations: vec![span(Some(peer), pair[1], size)],
                sort: Some(sort),
                channels: if sort == ChannelSort::Port { vec![channel] } else { Vec::new() },
                ..PlanOperation::bare(if signals { PlanAction::PutWithSignal } else { PlanAction::Put })
            });
        }
        if last.is_some() && sort == ChannelSort::Memory {
            operations.push(PlanOperation::bare(PlanAction::Synchronize));
            operations.push(PlanOperation::on_channel(PlanAction::Signal, sort, channel));
        }
        if waits {
            operations.push(PlanOperation::on_channel(PlanAction::Wait, sort, channel));
        }
    }

    /// Adds a barrier for all thread blocks.
    fn meet(&mut self) {
        let blocks = self.blocks.len() as u32;
        for operations in &mut self.blocks {
            operations.push(if blocks == 1 {
                PlanOperation::bare(PlanAction::Synchronize)
            } else {
                PlanOperation::barrier(0, blocks)
            });
        }
    }

    /// Adds the operations that sum the parts that have arrived; the sums are distributed over the thread blocks in
    /// turn.
    fn add(&mut self, sums: &[SumParts]) {
        let blocks = self.blocks.len();
        for (turn, (place, parts)) in sums.iter().enumerate() {
            let operations = &mut self.blocks[turn % blocks];
            for (at, parts) in parts.chunks(MOST_CHANNELS_OF_OPERATION - 1).enumerate() {
                if at > 0 {
                    operations.push(PlanOperation::bare(PlanAction::Synchronize));
                }
                let part =
                    |offset: &u32| span(None, BufferPlace { buffer: Buffer::Scratch, offset: *offset }, 1);
                let mut sources = vec![span(None, *place, 1)];
                sources.extend(parts.iter().map(part));
                operations.push(PlanOperation {
                    sources,
                    destinations: vec![span(None, *place, 1)],
                    ..PlanOperation::bare(PlanAction::Reduce)
                });
            }
        }
    }

    /// Adds the flush operations that wait until the port channels have sent their data.
    fn end(&mut self) {
        for (block, operations) in self.blocks.iter_mut().enumerate() {
            let puts = operations.iter().any(|one| one.action == PlanAction::PutWithSignal);
            if let (true, Some(channel)) = (puts, self.channels.get(block)) {
                let flush = PlanOperation::on_channel(PlanAction::Flush, ChannelSort::Port, *channel);
                operations.push(flush);
            }
        }
    }
}

const fn span(rank: Option<u32>, place: BufferPlace, size: u32) -> Span {
    Span { rank, buffer: place.buffer, index: place.offset, size }
}

/// Joins pairs of places that follow each other in both buffers; returns the first pair and the length of each run.
fn runs(pairs: &[PlacePair]) -> Vec<(PlacePair, u32)> {
    let mut sorted = pairs.to_vec();
    sorted.sort_unstable_by_key(|pair| pair.map(|place| (place.buffer, place.offset)));
    let mut runs: Vec<(PlacePair, u32)> = Vec::new();
    for pair in sorted {
        let follows = |(first, size): &(PlacePair, u32)| {
            first.iter().zip(&pair).all(|(a, b)| a.buffer == b.buffer && a.offset + size == b.offset)
        };
        match runs.last_mut() {
            Some(last) if follows(last) => last.1 += 1,
            _ => runs.push((pair, 1)),
        }
    }
    runs
}
