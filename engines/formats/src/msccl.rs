//! Collective schedules in the XML of MSCCL, as its executors and RCCL read it.
//!
//! A schedule has one program per rank, which consists of thread blocks. A thread block runs its steps in order. It
//! sends to at most one rank and receives from at most one rank. The k-th send from rank A to rank B on a channel is
//! received by the k-th receive of rank B from rank A on that channel. [`read`] reads such a file, [`check`] finds
//! problems for every executor, [`execute`] runs it chunk by chunk.

mod build;
mod check;
mod execute;
mod read;
#[cfg(test)]
mod tests;

pub use crate::collective::{Buffer, BufferPlace, CollectiveOp};
pub use build::{ChunkTransfer, ProgramBuilder, StepPlace};
pub use check::{check, limits};
pub use execute::{ExecuteOptions, Execution, Passage, execute};
pub use read::read;

use crate::collective::BufferSizes;
use crate::graph::xml;
use std::fmt::Write as _;

/// Maximum number of steps of a thread block in the public executors.
pub const MOST_STEPS: usize = 256;
/// Maximum number of thread blocks of a rank in the public executors.
pub const MOST_BLOCKS: usize = 216;
/// Maximum number of thread blocks of a rank on one channel in the public executors.
pub const MOST_BLOCKS_OF_CHANNEL: usize = 32;
/// A step must move fewer chunks than this at once.
pub const MOST_COUNT: u32 = 72;
/// Maximum number of characters of a name in the public executors.
pub const MOST_NAME: usize = 63;

/// Transport protocol of NCCL on the connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// Protocol for large messages.
    Simple,
    /// Protocol for low latency.
    Ll,
    /// Protocol for low latency, 128 bytes at a time.
    Ll128,
}

impl Protocol {
    /// All protocols, with their names in files.
    pub const ALL: [(&'static str, Self); 3] =
        [("Simple", Self::Simple), ("LL", Self::Ll), ("LL128", Self::Ll128)];

    /// Returns the name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Simple => "Simple",
            Self::Ll => "LL",
            Self::Ll128 => "LL128",
        }
    }
}

/// Operation of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Sends the source.
    Send,
    /// Receives into the destination.
    Receive,
    /// Receives into the destination and sends the received chunks on.
    ReceiveCopySend,
    /// Receives, reduces with the source and sends the result on.
    ReceiveReduceSend,
    /// Receives, reduces with the source and puts the result into the destination.
    ReceiveReduceCopy,
    /// Receives, reduces with the source, puts the result into the destination and sends it on.
    ReceiveReduceCopySend,
    /// Copies the source to the destination.
    Copy,
    /// Reduces the source into the destination.
    Reduce,
    /// Moves nothing; only waits.
    Nothing,
}

impl Action {
    /// All operations, with their names in files.
    pub const ALL: [(&'static str, Self); 9] = [
        ("s", Self::Send),
        ("r", Self::Receive),
        ("rcs", Self::ReceiveCopySend),
        ("rrs", Self::ReceiveReduceSend),
        ("rrc", Self::ReceiveReduceCopy),
        ("rrcs", Self::ReceiveReduceCopySend),
        ("cpy", Self::Copy),
        ("re", Self::Reduce),
        ("nop", Self::Nothing),
    ];

    /// Returns the name in files.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, action)| *action == self).map_or("nop", |(name, _)| name)
    }

    /// Returns `true` if the operation sends data.
    pub const fn sends(self) -> bool {
        matches!(
            self,
            Self::Send | Self::ReceiveCopySend | Self::ReceiveReduceSend | Self::ReceiveReduceCopySend
        )
    }

    /// Returns `true` if the operation receives data.
    pub const fn receives(self) -> bool {
        !matches!(self, Self::Send | Self::Copy | Self::Reduce | Self::Nothing)
    }

    /// Returns `true` if the operation reads the source.
    pub const fn reads(self) -> bool {
        !matches!(self, Self::Receive | Self::ReceiveCopySend | Self::Nothing)
    }

    /// Returns `true` if the operation writes to the destination.
    pub const fn writes(self) -> bool {
        !matches!(self, Self::Send | Self::ReceiveReduceSend | Self::Nothing)
    }
}

/// A step of a thread block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Operation of the step.
    pub action: Action,
    /// Source: place of the first chunk.
    pub source: BufferPlace,
    /// Destination: place of the first chunk.
    pub destination: BufferPlace,
    /// Number of chunks that the step moves; 0 for [`Action::Nothing`].
    pub count: u32,
    /// Thread block and step of the same rank that must finish before this step.
    pub after: Option<(u32, u32)>,
    /// `true` if another step waits for this step.
    pub awaited: bool,
}

impl Step {
    /// Makes a step that moves nothing and waits for `after`. A step can have only one dependency, so each further
    /// dependency of a step needs a waiting step before that step.
    pub const fn waiting(after: (u32, u32)) -> Self {
        Self {
            action: Action::Nothing,
            source: BufferPlace { buffer: Buffer::Input, offset: 0 },
            destination: BufferPlace { buffer: Buffer::Output, offset: 0 },
            count: 0,
            after: Some(after),
            awaited: false,
        }
    }
}

/// A thread block of a rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Rank to which the thread block sends; `None` if the block sends nothing.
    pub send: Option<u32>,
    /// Rank from which the thread block receives; `None` if the block receives nothing.
    pub receive: Option<u32>,
    /// Channel of the connections of the thread block.
    pub channel: u32,
    /// Steps in order.
    pub steps: Vec<Step>,
}

/// The program of a rank.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gpu {
    /// Number of chunks of the input.
    pub input_chunks: u32,
    /// Number of chunks of the output.
    pub output_chunks: u32,
    /// Number of chunks of scratch space.
    pub scratch_chunks: u32,
    /// Copies before the first step: position of a chunk in the input, and its position in the output.
    pub copies: Vec<(u32, u32)>,
    /// Thread blocks by number.
    pub blocks: Vec<Block>,
}

/// A schedule of a collective.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Algorithm {
    /// Name; the first 63 characters are written.
    pub name: String,
    /// Collective operation that the schedule implements.
    pub collective: CollectiveOp,
    /// Transport protocol on the connections.
    pub protocol: Protocol,
    /// Number of chunks of the whole buffer of a rank.
    pub chunks_per_loop: u32,
    /// `true` if the schedule may be used in place, with input and output in one buffer.
    pub in_place: bool,
    /// `true` if the schedule may be used out of place, with input and output in two buffers.
    pub out_of_place: bool,
    /// Minimum buffer size for which the schedule is used.
    pub min_bytes: u64,
    /// Maximum buffer size for which the schedule is used.
    pub max_bytes: u64,
    /// Programs of the ranks, by rank.
    pub gpus: Vec<Gpu>,
}

impl Algorithm {
    /// Returns the number of chunks in the buffers of each rank.
    pub fn buffer_sizes(&self) -> Vec<BufferSizes> {
        let sizes = |gpu: &Gpu| BufferSizes {
            input: gpu.input_chunks,
            output: gpu.output_chunks,
            scratch: gpu.scratch_chunks,
        };
        self.gpus.iter().map(sizes).collect()
    }
}

impl Algorithm {
    /// Returns the number of channels that the schedule uses.
    pub fn channels(&self) -> u32 {
        let channels = self.gpus.iter().flat_map(|gpu| &gpu.blocks).map(|block| block.channel + 1);
        channels.max().unwrap_or(1)
    }
}

/// Writes a schedule.
pub fn write(algorithm: &Algorithm) -> String {
    let name: String = algorithm.name.chars().take(MOST_NAME).collect();
    let mut text = format!(
        "<algo name=\"{}\" proto=\"{}\" nchannels=\"{}\" nchunksperloop=\"{}\" ngpus=\"{}\" coll=\"{}\" \
         inplace=\"{}\" outofplace=\"{}\" minBytes=\"{}\" maxBytes=\"{}\" redop=\"nop\">\n",
        xml(&name),
        algorithm.protocol.name(),
        algorithm.channels(),
        algorithm.chunks_per_loop,
        algorithm.gpus.len(),
        algorithm.collective.name(),
        u8::from(algorithm.in_place),
        u8::from(algorithm.out_of_place),
        algorithm.min_bytes,
        algorithm.max_bytes,
    );
    let peer = |rank: Option<u32>| rank.map_or(-1, i64::from);
    for (id, gpu) in algorithm.gpus.iter().enumerate() {
        let _ = writeln!(
            text,
            "  <gpu id=\"{id}\" i_chunks=\"{}\" o_chunks=\"{}\" s_chunks=\"{}\">",
            gpu.input_chunks, gpu.output_chunks, gpu.scratch_chunks
        );
        for (input, output) in &gpu.copies {
            let _ = writeln!(text, "    <copy i_off=\"{input}\" o_off=\"{output}\"/>");
        }
        for (number, block) in gpu.blocks.iter().enumerate() {
            let _ = writeln!(
                text,
                "    <tb id=\"{number}\" send=\"{}\" recv=\"{}\" chan=\"{}\">",
                peer(block.send),
                peer(block.receive),
                block.channel
            );
            for (index, step) in block.steps.iter().enumerate() {
                write_step(&mut text, index, step);
            }
            text.push_str("    </tb>\n");
        }
        text.push_str("  </gpu>\n");
    }
    text.push_str("</algo>\n");
    text
}

fn write_step(text: &mut String, index: usize, step: &Step) {
    let (block, before) = step.after.map_or((-1, -1), |(block, step)| (i64::from(block), i64::from(step)));
    let idle = step.action == Action::Nothing;
    let offset = |place: BufferPlace| if idle { -1 } else { i64::from(place.offset) };
    let _ = writeln!(
        text,
        "      <step s=\"{index}\" type=\"{}\" srcbuf=\"{}\" srcoff=\"{}\" dstbuf=\"{}\" dstoff=\"{}\" \
         cnt=\"{}\" depid=\"{block}\" deps=\"{before}\" hasdep=\"{}\"/>",
        step.action.name(),
        step.source.buffer.letter(),
        offset(step.source),
        step.destination.buffer.letter(),
        offset(step.destination),
        if idle { 0 } else { step.count },
        u8::from(step.awaited),
    );
}
