//! Execution plans of MSCCL++, as JSON.
//!
//! Every GPU has a program of thread blocks that read and write the buffers of this GPU and of other GPUs. There are no
//! receives: the GPU that writes into the buffer of another GPU signals on a channel, and the other GPU waits for the
//! signal. The k-th channel of a type from GPU A to GPU B is the counterpart of the k-th channel of that type from B to
//! A. [`read`] resolves the indices of a file, which lead from an operation through its thread block to its GPU;
//! [`execute`] runs a plan chunk by chunk.

mod execute;
mod read;
#[cfg(test)]
mod tests;
mod write;

pub use execute::{PlanExecution, PlanPassage, execute};
pub use read::read;
pub use write::write;

use crate::collective::{Buffer, BufferSizes, CollectiveOp};

/// Maximum number of operations of a thread block in the executor.
pub const MOST_OPERATIONS: usize = 64;
/// Maximum number of channels of one type that a thread block has in the executor.
pub const MOST_CHANNELS: usize = 16;
/// Maximum number of channels of an operation in the executor.
pub const MOST_CHANNELS_OF_OPERATION: usize = 8;
/// Maximum number of barriers of a GPU in the executor.
pub const MOST_BARRIERS: u32 = 16;

/// Protocol of the transfers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PlanProtocol {
    /// Data, followed by signals.
    Simple,
    /// Data with flags between the words.
    LowLatency,
}

/// Type of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChannelSort {
    /// Loads and stores in the memory of the other GPU.
    Memory,
    /// Transfers through a NIC or a copy engine.
    Port,
}

impl ChannelSort {
    /// Both types, with their names in files.
    pub const ALL: [(&'static str, Self); 2] = [("memory", Self::Memory), ("port", Self::Port)];

    /// Returns the name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Port => "port",
        }
    }
}

/// Operation of a thread block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PlanAction {
    /// Waits until all threads of the block have done the preceding operations.
    Synchronize,
    /// Waits for other thread blocks of the GPU.
    Barrier,
    /// Writes sources of this GPU into the buffer of another GPU.
    Put,
    /// Writes as [`Self::Put`], then signals.
    PutWithSignal,
    /// Writes as [`Self::Put`], then signals, and waits until the data has been sent.
    PutWithSignalAndFlush,
    /// Reads the buffer of another GPU.
    Get,
    /// Copies inside the GPU.
    Copy,
    /// Reduces sources of this GPU.
    Reduce,
    /// Reduces sources and writes the sum into buffers of this GPU and of other GPUs.
    ReduceSend,
    /// Reduces sources of this GPU and of other GPUs.
    ReadReduce,
    /// Reduces as [`Self::ReadReduce`], and writes the sum into buffers of this GPU and of other GPUs.
    ReadReduceSend,
    /// Signals to the other end of channels that data has arrived.
    Signal,
    /// Waits for the signal from the other end of channels.
    Wait,
    /// Signals to the other end of channels that this GPU has begun.
    RelaxedSignal,
    /// Waits until the other end of channels has begun.
    RelaxedWait,
    /// Waits until the data of earlier put operations has been sent.
    Flush,
}

impl PlanAction {
    /// All operations, with their names in files.
    pub const ALL: [(&'static str, Self); 16] = [
        ("nop", Self::Synchronize),
        ("barrier", Self::Barrier),
        ("put", Self::Put),
        ("pws", Self::PutWithSignal),
        ("pwsf", Self::PutWithSignalAndFlush),
        ("get", Self::Get),
        ("copy", Self::Copy),
        ("re", Self::Reduce),
        ("res", Self::ReduceSend),
        ("rre", Self::ReadReduce),
        ("rres", Self::ReadReduceSend),
        ("signal", Self::Signal),
        ("wait", Self::Wait),
        ("rlxsignal", Self::RelaxedSignal),
        ("rlxwait", Self::RelaxedWait),
        ("flush", Self::Flush),
    ];

    /// Returns the name in files.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, action)| *action == self).map_or("nop", |(name, _)| name)
    }

    /// Returns `true` if the operation reduces sources.
    pub const fn reduces(self) -> bool {
        matches!(self, Self::Reduce | Self::ReduceSend | Self::ReadReduce | Self::ReadReduceSend)
    }

    /// Returns `true` if the operation moves data.
    pub const fn moves(self) -> bool {
        self.reduces()
            || matches!(
                self,
                Self::Put | Self::PutWithSignal | Self::PutWithSignalAndFlush | Self::Get | Self::Copy
            )
    }

    /// Returns `true` if the operation signals.
    pub const fn signals(self) -> bool {
        matches!(self, Self::Signal | Self::RelaxedSignal | Self::PutWithSignal | Self::PutWithSignalAndFlush)
    }

    /// Returns `true` if the operation waits for a signal.
    pub const fn waits(self) -> bool {
        matches!(self, Self::Wait | Self::RelaxedWait)
    }
}

/// Consecutive chunks in a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Span {
    /// Rank that owns the buffer; `None` for the rank of the program.
    pub rank: Option<u32>,
    /// The buffer.
    pub buffer: Buffer,
    /// Index of the first chunk.
    pub index: u32,
    /// Number of chunks.
    pub size: u32,
}

/// An operation of a thread block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanOperation {
    /// Type of the operation.
    pub action: PlanAction,
    /// Chunks that are read.
    pub sources: Vec<Span>,
    /// Chunks that are written.
    pub destinations: Vec<Span>,
    /// Type of the channels of the operation. The operation accesses buffers of other GPUs through channels of the same
    /// type.
    pub sort: Option<ChannelSort>,
    /// Channels of the operation, by their positions among the channels of the GPU.
    pub channels: Vec<u32>,
    /// Number of a barrier, and number of thread blocks that synchronise at the barrier.
    pub barrier: Option<(u32, u32)>,
}

impl PlanOperation {
    /// Makes an operation without data and channels.
    pub const fn bare(action: PlanAction) -> Self {
        Self {
            action,
            sources: Vec::new(),
            destinations: Vec::new(),
            sort: None,
            channels: Vec::new(),
            barrier: None,
        }
    }

    /// Makes a signal or wait on one channel.
    pub fn on_channel(action: PlanAction, sort: ChannelSort, channel: u32) -> Self {
        Self { sort: Some(sort), channels: vec![channel], ..Self::bare(action) }
    }

    /// Makes a barrier for `blocks` thread blocks.
    pub fn barrier(number: u32, blocks: u32) -> Self {
        Self { barrier: Some((number, blocks)), ..Self::bare(PlanAction::Barrier) }
    }
}

/// A channel of a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PlanChannel {
    /// Type of the channel.
    pub sort: ChannelSort,
    /// Rank at the other end.
    pub peer: u32,
}

/// The program of a GPU.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanGpu {
    /// Number of chunks of the input.
    pub input_chunks: u32,
    /// Number of chunks of the output.
    pub output_chunks: u32,
    /// Number of chunks of scratch space.
    pub scratch_chunks: u32,
    /// Channels: memory channels first, then port channels.
    pub channels: Vec<PlanChannel>,
    /// Operations of each thread block.
    pub blocks: Vec<Vec<PlanOperation>>,
}

/// An execution plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecutionPlan {
    /// Name of the plan.
    pub name: String,
    /// Collective operation that the plan implements.
    pub collective: CollectiveOp,
    /// Protocol of the transfers.
    pub protocol: PlanProtocol,
    /// `true` if input and output are one buffer.
    pub in_place: bool,
    /// Minimum buffer size for which the plan is used, bytes.
    pub min_bytes: u64,
    /// Maximum buffer size for which the plan is used, bytes.
    pub max_bytes: u64,
    /// Programs of the GPUs, by rank.
    pub gpus: Vec<PlanGpu>,
}

impl ExecutionPlan {
    /// Returns the number of chunks in the buffers of each rank.
    pub fn buffer_sizes(&self) -> Vec<BufferSizes> {
        let sizes = |gpu: &PlanGpu| BufferSizes {
            input: gpu.input_chunks,
            output: gpu.output_chunks,
            scratch: gpu.scratch_chunks,
        };
        self.gpus.iter().map(sizes).collect()
    }
}
