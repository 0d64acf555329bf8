//! Programs of thread blocks, built transfer by transfer.

use super::{Action, Block, BufferPlace, Gpu, MOST_BLOCKS, MOST_STEPS, Step};
use std::collections::HashMap;

/// Index of a thread block, and of a step in it.
pub type StepPlace = (u32, u32);

/// The programs of all ranks so far: one thread block for each rank, peer, direction and channel.
#[derive(Clone, Debug)]
pub struct ProgramBuilder {
    gpus: Vec<Gpu>,
    /// Number of each thread block by rank, peer, direction (`true`: sends) and channel.
    blocks: HashMap<(u32, u32, bool, u32), u32>,
}

/// A transfer of one chunk between two ranks.
#[derive(Clone, Copy, Debug)]
pub struct ChunkTransfer {
    /// Rank that sends.
    pub from: u32,
    /// Rank that receives.
    pub to: u32,
    /// Channel of both thread blocks.
    pub channel: u32,
    /// Location of the chunk on the sending rank.
    pub source: BufferPlace,
    /// Location of the chunk on the receiving rank.
    pub destination: BufferPlace,
    /// The earlier step at which the sending rank itself received the chunk; none if the chunk is an input of the
    /// sending rank.
    pub brought: Option<StepPlace>,
    /// If the chunk is added to the content of its destination: the step on the receiving rank that wrote that content
    /// last.
    pub adds_after: Option<Option<StepPlace>>,
}

impl ProgramBuilder {
    /// Starts the programs of ranks that have no thread blocks yet.
    pub fn new(gpus: Vec<Gpu>) -> Self {
        Self { gpus, blocks: HashMap::new() }
    }

    /// Adds thread blocks that copy chunks of a rank before anything is sent; `copies` are pairs (source, destination).
    pub fn copies(&mut self, rank: u32, copies: &[(BufferPlace, BufferPlace)]) {
        for copies in copies.chunks(MOST_STEPS) {
            let copy = |&(source, destination): &(BufferPlace, BufferPlace)| Step {
                action: Action::Copy,
                source,
                destination,
                count: 1,
                after: None,
                awaited: false,
            };
            let steps = copies.iter().map(copy).collect();
            self.gpus[rank as usize].blocks.push(Block { send: None, receive: None, channel: 0, steps });
        }
    }

    /// Reserves a chunk of buffer space on a rank and returns its number.
    pub fn scratch(&mut self, rank: u32) -> u32 {
        let room = &mut self.gpus[rank as usize].scratch_chunks;
        *room += 1;
        *room - 1
    }

    /// Adds a transfer; returns its step on the receiving rank.
    pub fn transfer(&mut self, transfer: &ChunkTransfer) -> StepPlace {
        let ChunkTransfer { from, to, channel, source, destination, .. } = *transfer;
        let sending = self.block(from, to, true, channel);
        self.push(from, sending, Action::Send, [source, destination], transfer.brought);
        let receiving = self.block(to, from, false, channel);
        // A reduction waits for the step that wrote its destination last; a chunk that is not added to anything waits
        // for nothing.
        let step = match transfer.adds_after {
            Some(before) => {
                self.push(to, receiving, Action::ReceiveReduceCopy, [destination, destination], before)
            }
            None => self.push(to, receiving, Action::Receive, [source, destination], None),
        };
        (receiving, step)
    }

    /// Returns the number of a thread block, which is created if it does not exist.
    fn block(&mut self, rank: u32, peer: u32, sends: bool, channel: u32) -> u32 {
        let blocks = &mut self.gpus[rank as usize].blocks;
        *self.blocks.entry((rank, peer, sends, channel)).or_insert_with(|| {
            let (send, receive) = if sends { (Some(peer), None) } else { (None, Some(peer)) };
            blocks.push(Block { send, receive, channel, steps: Vec::new() });
            blocks.len() as u32 - 1
        })
    }

    fn push(
        &mut self,
        rank: u32,
        block: u32,
        action: Action,
        [source, destination]: [BufferPlace; 2],
        waits: Option<StepPlace>,
    ) -> u32 {
        let blocks = &mut self.gpus[rank as usize].blocks;
        // Within a thread block, the order of its steps is sufficient.
        let after = waits.filter(|before| before.0 != block);
        if let Some((before, step)) = after {
            blocks[before as usize].steps[step as usize].awaited = true;
        }
        let steps = &mut blocks[block as usize].steps;
        steps.push(Step { action, source, destination, count: 1, after, awaited: false });
        steps.len() as u32 - 1
    }

    /// Returns the programs of all ranks.
    ///
    /// # Errors
    /// A rank has more thread blocks than executors support.
    pub fn finish(self) -> Result<Vec<Gpu>, String> {
        match self.gpus.iter().position(|gpu| gpu.blocks.len() > MOST_BLOCKS) {
            None => Ok(self.gpus),
            Some(rank) => {
                let needed = self.gpus[rank].blocks.len();
                Err(format!(
                    "needs {needed} thread blocks on rank {rank}, but executors accept at most {MOST_BLOCKS}"
                ))
            }
        }
    }
}
