//! Schedules as programs of thread blocks.
//!
//! There is one thread block for each pair of ranks and direction, with its steps in order of epochs. A send waits for
//! the receive of its chunk, and a reduction waits for the previous step that wrote to the same place. All waits follow
//! the order of the schedule, so that they cannot form a cycle. The exporter executes the program as a test before it
//! returns the file.

use super::places::{ChunkPlaces, size_knobs, size_range};
use super::transfers::{Transfer, transfers};
use crate::plan::CollectiveResult;
use crate::scenario::CollectiveScenario;
use lightbay_core::format::{FormatInfo, SubjectSort};
use lightbay_core::param::{ParamInfo, Params};
use lightbay_core::problem::{Problem, Problems};
use lightbay_formats::msccl::{
    Algorithm, Buffer, BufferPlace, ChunkTransfer, ExecuteOptions, Gpu, MOST_BLOCKS_OF_CHANNEL, MOST_STEPS,
    ProgramBuilder, Protocol, StepPlace, execute,
};
use rustc_hash::FxHashMap;

/// Name of the format.
pub const NAME: &str = "msccl";

/// Maximum number of channels over which thread blocks are spread.
const MOST_CHANNELS: u32 = 64;

/// Returns the description of the format.
pub(super) fn format() -> FormatInfo {
    let protocols: Vec<&'static str> = Protocol::ALL.iter().map(|(name, _)| *name).collect();
    let [min_bytes, max_bytes] = size_knobs();
    FormatInfo::new(
        NAME,
        "The schedule as MSCCL XML, for MSCCL and RCCL executors; lightbay first executes it as a test.",
        SubjectSort::Plan,
        "xml",
    )
    .leaving_out(&["the epochs of the sends", "the switches between the ranks", "the bound"])
    .with(vec![
        ParamInfo::choice("protocol", &protocols, "Simple", "Protocol of the connections."),
        min_bytes,
        max_bytes,
    ])
}

/// Converts a schedule to programs of thread blocks, and executes them once as a test.
///
/// # Errors
/// Parts of chunks, demands that are not a named collective, GPUs that pass data on without being a rank, more thread
/// blocks than executors support, and an empty range of sizes.
pub fn algorithm(
    name: &str,
    scenario: &CollectiveScenario,
    result: &CollectiveResult,
    params: &Params,
) -> Result<Algorithm, Problems> {
    let (min_bytes, max_bytes) =
        size_range(scenario, result, params, ["a program of MSCCL", "programs of MSCCL"])?;
    let transfers = transfers(scenario, result)?;
    let buffers = ChunkPlaces::of(scenario, result.time.pieces_per_chunk);
    let mut programs = Programs::new(&buffers, &transfers);
    for transfer in &transfers {
        programs.transfer(&buffers, result, transfer);
    }
    let remedy = "use fewer ranks or chunks";
    let gpus = programs.built.finish().map_err(|why| Problem::new("to", why, remedy))?;
    let protocol = Protocol::ALL
        .iter()
        .find(|(name, _)| Some(*name) == params.text("protocol"))
        .map(|(_, protocol)| *protocol);
    let algorithm = Algorithm {
        name: name.to_owned(),
        collective: buffers.op,
        protocol: protocol.unwrap_or(Protocol::Simple),
        chunks_per_loop: buffers.input.max(buffers.output),
        in_place: buffers.in_place,
        out_of_place: !buffers.in_place,
        min_bytes,
        max_bytes,
        gpus,
    };
    let options =
        ExecuteOptions { root: scenario.demand.root, wanted: buffers.wanted(), ..ExecuteOptions::default() };
    execute(&algorithm, &options)?;
    Ok(algorithm)
}

/// The programs under construction.
struct Programs {
    built: ProgramBuilder,
    /// Number of transfers between each ordered pair of ranks.
    transfers: FxHashMap<(u32, u32), u32>,
    /// Number of channels over which pairs of ranks are spread.
    channels: u32,
    /// The step that last wrote to a place of a rank.
    wrote: FxHashMap<(u32, Buffer, u32), StepPlace>,
    /// Buffer space for pieces that pass through a rank.
    passing: FxHashMap<(u32, u32), u32>,
}

impl Programs {
    fn new(buffers: &ChunkPlaces, transfers: &[Transfer]) -> Self {
        let gpu = Gpu { input_chunks: buffers.input, output_chunks: buffers.output, ..Gpu::default() };
        let mut built = ProgramBuilder::new(vec![gpu; buffers.ranks.len()]);
        for rank in 0..buffers.ranks.len() as u32 {
            let copy = |(from, to): (u32, u32)| {
                let place = |buffer, offset| BufferPlace { buffer, offset };
                (place(Buffer::Input, from), place(Buffer::Output, to))
            };
            let copies: Vec<_> = buffers.own(rank).into_iter().map(copy).collect();
            built.copies(rank, &copies);
        }
        Self {
            built,
            transfers: FxHashMap::default(),
            channels: channels(transfers),
            wrote: FxHashMap::default(),
            passing: FxHashMap::default(),
        }
    }

    fn place(
        &mut self,
        buffers: &ChunkPlaces,
        result: &CollectiveResult,
        piece: u32,
        rank: u32,
    ) -> BufferPlace {
        buffers.place(result, piece, rank).unwrap_or_else(|| {
            let built = &mut self.built;
            let offset = *self.passing.entry((piece, rank)).or_insert_with(|| built.scratch(rank));
            BufferPlace { buffer: Buffer::Scratch, offset }
        })
    }

    fn transfer(&mut self, buffers: &ChunkPlaces, result: &CollectiveResult, transfer: &Transfer) {
        let Transfer { piece, from, to, .. } = *transfer;
        let before = self.transfers.entry((from, to)).or_default();
        let turn = *before / MOST_STEPS as u32;
        *before += 1;
        let channel = (from + to) % self.channels + self.channels * turn;
        let source = self.place(buffers, result, piece, from);
        let destination = self.place(buffers, result, piece, to);
        let brought = self.wrote.get(&(from, source.buffer, source.offset)).copied();
        let key = (to, destination.buffer, destination.offset);
        let before = self.wrote.get(&key).copied();
        // The first part that arrives in scratch space is copied; later parts are added to it.
        let adds = result.pieces[piece as usize].adds_up
            && (destination.buffer != Buffer::Scratch || before.is_some());
        let adds_after = adds.then_some(before);
        let step = self.built.transfer(&ChunkTransfer {
            from,
            to,
            channel,
            source,
            destination,
            brought,
            adds_after,
        });
        self.wrote.insert(key, step);
    }
}

/// Returns the minimum number of channels, up to [`MOST_CHANNELS`], with which no rank has more thread blocks on one
/// channel than executors support.
fn channels(transfers: &[Transfer]) -> u32 {
    let mut pairs: Vec<(u32, u32)> = transfers.iter().map(|one| (one.from, one.to)).collect();
    pairs.sort_unstable();
    pairs.dedup();
    let fits = |channels: &u32| {
        let mut blocks: FxHashMap<(u32, u32), usize> = FxHashMap::default();
        for (from, to) in &pairs {
            for rank in [from, to] {
                *blocks.entry((*rank, (from + to) % channels)).or_default() += 1;
            }
        }
        blocks.values().all(|count| *count < MOST_BLOCKS_OF_CHANNEL)
    };
    (1..MOST_CHANNELS).find(fits).unwrap_or(MOST_CHANNELS)
}
