//! Runs an execution plan chunk by chunk, as the thread blocks of all GPUs would.
//!
//! A block continues until it waits for a signal or for other blocks. A signal that a block received, and the block's
//! own writes, are known to all of its threads only after its next `nop` or barrier. Accesses whose order is not
//! enforced by a signal, barrier or `nop` are reported.

use super::{ChannelSort, ExecutionPlan, PlanAction, PlanOperation, Span};
use crate::collective::memory::{Memory, SumId};
use crate::collective::order::{Clock, Order};
use crate::collective::{BufferPlace, CollectiveOp, Wanted};
use lightbay_core::problem::{Problem, Problems};
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

/// Maximum number of chunks that all operations together may move.
const MOST_MOVES: u64 = 1 << 26;

/// Index of an operation: rank, thread block and operation in that block.
pub type OperationPlace = (u32, u32, u32);

/// Chunks that moved from the buffer of one GPU to the buffer of another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanPassage {
    /// Rank whose buffer was read; for sums, the rank that reduced them.
    pub from: u32,
    /// Rank whose buffer was written.
    pub to: u32,
    /// The operation that moved the chunks.
    pub operation: OperationPlace,
    /// Contents of the chunks: each is the index of a sum in the memory of the run.
    pub sums: Vec<SumId>,
}

/// Result of a completed run.
#[derive(Clone, Debug)]
pub struct PlanExecution {
    /// Number of operations done.
    pub operations: u64,
    /// Chunks that moved from GPU to GPU, in order.
    pub passages: Vec<PlanPassage>,
    /// Signals, each with the operation that waited for it.
    pub signals: Vec<[OperationPlace; 2]>,
    /// Operations that met at each barrier, one per thread block.
    pub meetings: Vec<Vec<OperationPlace>>,
    /// All buffers at the end.
    pub memory: Memory,
    /// Number of output slots with the content that the collective requires.
    pub compared: u64,
    /// `true` if the order of accesses was checked; `false` if there are too many thread blocks for this check.
    pub ordered: bool,
    /// Output slots with wrong content, and checks that were omitted.
    pub findings: Problems,
}

/// Runs a plan. `root` is the rank whose input a broadcast spreads, `wanted` the required content of the outputs of a
/// custom collective.
///
/// # Errors
/// Channels without a counterpart, locations outside buffers, a chunk that is read before it has arrived, accesses
/// without an enforced order, blocks that wait for each other, signals without a wait, and a contribution added twice.
pub fn execute(
    plan: &ExecutionPlan,
    root: Option<u32>,
    wanted: &[Wanted],
) -> Result<PlanExecution, Problems> {
    let operations = || plan.gpus.iter().flat_map(|gpu| &gpu.blocks).flatten();
    let moves: u64 = operations().flat_map(|one| &one.destinations).map(|span| u64::from(span.size)).sum();
    if moves > MOST_MOVES {
        let message = format!("moves {moves} chunks; the maximum is {MOST_MOVES}");
        return Err(Problem::new("", message, "lightbay cannot execute plans of this size").into());
    }
    let mut run = PlanRun::new(plan)?;
    run.go()?;
    let mut findings = Problems::new();
    let mut compared = 0;
    if plan.collective == CollectiveOp::Custom {
        for one in wanted {
            let before = findings.total();
            run.memory.compare_one(one.rank, one.offset, &one.sum, &mut findings);
            compared += u64::from(findings.total() == before);
        }
    } else {
        match run.memory.compare(root) {
            Ok(slots) => compared = slots,
            Err(problems) => findings = problems,
        }
    }
    Ok(PlanExecution {
        operations: run.done_operations,
        passages: run.passages,
        signals: run.signals,
        meetings: run.meetings,
        ordered: run.order.is_some(),
        memory: run.memory,
        compared,
        findings,
    })
}

/// A pending signal: the operation that sent it, and the clock of that operation's block.
struct Signalled {
    by: OperationPlace,
    clock: Option<Clock>,
}

/// State of a thread block during the run.
#[derive(Default)]
struct Running {
    rank: usize,
    number: usize,
    done: usize,
    /// Slots that the block has read since its threads were last synchronised.
    read: HashSet<usize>,
    written: HashSet<usize>,
    /// `true` if the writes include stores to other GPUs.
    stores: bool,
    /// Clocks received with signals since the last synchronisation.
    learned: Vec<Clock>,
}

struct PlanRun<'a> {
    plan: &'a ExecutionPlan,
    memory: Memory,
    order: Option<Order>,
    blocks: Vec<Running>,
    /// Counterpart of every channel, as rank and channel.
    ends: Vec<Vec<(usize, usize)>>,
    waiting: Vec<Vec<VecDeque<Signalled>>>,
    /// Number of thread blocks for which a barrier waits, as the first arrival states it, and the blocks that have
    /// arrived, by rank and number of the barrier.
    barriers: BTreeMap<(usize, u32), (usize, Vec<usize>)>,
    passages: Vec<PlanPassage>,
    signals: Vec<[OperationPlace; 2]>,
    meetings: Vec<Vec<OperationPlace>>,
    done_operations: u64,
    problems: Problems,
}

impl<'a> PlanRun<'a> {
    fn new(plan: &'a ExecutionPlan) -> Result<Self, Problems> {
        let sizes = plan.buffer_sizes();
        let memory = Memory::new(plan.collective, plan.in_place, &sizes)?;
        let mut blocks = Vec::new();
        for (rank, gpu) in plan.gpus.iter().enumerate() {
            blocks.extend((0..gpu.blocks.len()).map(|number| Running { rank, number, ..Running::default() }));
        }
        Ok(Self {
            plan,
            order: Order::new(blocks.len(), memory.slots()),
            memory,
            blocks,
            ends: ends(plan)?,
            waiting: plan
                .gpus
                .iter()
                .map(|gpu| gpu.channels.iter().map(|_| VecDeque::new()).collect())
                .collect(),
            barriers: BTreeMap::new(),
            passages: Vec::new(),
            signals: Vec::new(),
            meetings: Vec::new(),
            done_operations: 0,
            problems: Problems::new(),
        })
    }

    fn operation(&self, block: usize) -> Option<&'a PlanOperation> {
        let running = &self.blocks[block];
        self.plan.gpus[running.rank].blocks[running.number].get(running.done)
    }

    fn place(&self, block: usize) -> OperationPlace {
        let running = &self.blocks[block];
        (running.rank as u32, running.number as u32, running.done as u32)
    }

    fn named(&self, block: usize) -> String {
        let (rank, number, done) = self.place(block);
        format!("gpu {rank}, threadblock {number}, op {done}")
    }

    fn go(&mut self) -> Result<(), Problems> {
        loop {
            let before = self.done_operations;
            for block in 0..self.blocks.len() {
                while let Some(operation) = self.operation(block) {
                    if !self.step(block, operation) {
                        break;
                    }
                    if !self.problems.is_empty() {
                        return Err(std::mem::take(&mut self.problems));
                    }
                }
            }
            if self.done_operations == before {
                break;
            }
        }
        self.stuck();
        for (rank, channels) in self.waiting.iter().enumerate() {
            for (channel, left) in channels.iter().enumerate().filter(|(_, left)| !left.is_empty()) {
                let peer = self.plan.gpus[rank].channels[channel].peer;
                let message = format!("{} signals of rank {peer} have no matching wait", left.len());
                self.problems.add(
                    format!("gpu {rank}, channel {channel}"),
                    message,
                    "use as many waits as signals",
                );
            }
        }
        std::mem::take(&mut self.problems).into_result(())
    }

    /// Reports the operations that never run.
    fn stuck(&mut self) {
        const MOST: usize = 12;
        let stuck: Vec<usize> =
            (0..self.blocks.len()).filter(|block| self.operation(*block).is_some()).collect();
        let named = |block: &usize| {
            let name = self.operation(*block).map_or("", |operation| operation.action.name());
            format!("{} ({name})", self.named(*block))
        };
        let mut text: Vec<String> = stuck.iter().take(MOST).map(named).collect();
        if stuck.len() > MOST {
            text.push(format!("{} more", stuck.len() - MOST));
        }
        if !stuck.is_empty() {
            let message =
                format!("some operations never run, because they wait for each other: {}", text.join("; "));
            self.problems.add(
                "",
                message,
                "signal before other blocks wait, and let all blocks of a barrier reach the barrier",
            );
        }
    }

    /// Performs an operation; returns `false` if it has to wait.
    fn step(&mut self, block: usize, operation: &PlanOperation) -> bool {
        let rank = self.blocks[block].rank;
        if operation.action.waits()
            && operation.channels.iter().any(|channel| self.waiting[rank][*channel as usize].is_empty())
        {
            return false;
        }
        if let (PlanAction::Barrier, Some((number, blocks))) = (operation.action, operation.barrier) {
            return self.meet(block, number, blocks as usize);
        }
        if let Some(order) = &mut self.order {
            order.tick(block);
        }
        if operation.action == PlanAction::Synchronize {
            self.together(block);
        }
        if operation.action.moves() {
            self.moves(block, operation);
        }
        if operation.action.signals() {
            self.signal(block, operation);
        }
        if operation.action.waits() {
            for channel in &operation.channels {
                let Some(signal) = self.waiting[rank][*channel as usize].pop_front() else { continue };
                self.signals.push([signal.by, self.place(block)]);
                if operation.action == PlanAction::Wait {
                    self.blocks[block].learned.extend(signal.clock);
                }
            }
        }
        self.blocks[block].done += 1;
        self.done_operations += 1;
        true
    }

    /// Synchronises the threads of a block: after that, every thread knows the writes of all threads and the clocks
    /// that they received with signals.
    fn together(&mut self, block: usize) {
        let running = &mut self.blocks[block];
        running.read.clear();
        running.written.clear();
        running.stores = false;
        for clock in std::mem::take(&mut running.learned) {
            if let Some(order) = &mut self.order {
                order.learn(block, &clock);
            }
        }
    }

    fn meet(&mut self, block: usize, number: u32, blocks: usize) -> bool {
        let rank = self.blocks[block].rank;
        let (expected, here) = self.barriers.entry((rank, number)).or_insert((blocks, Vec::new()));
        let differs = *expected != blocks && !here.contains(&block);
        if !here.contains(&block) {
            here.push(block);
        }
        let met = if here.len() < *expected { None } else { Some(std::mem::take(here)) };
        if differs {
            let message = format!(
                "waits at barrier {number} for {blocks} thread blocks, but another block waits there for {expected}"
            );
            let remedy = "set the same num_threadblocks in all operations of a barrier";
            self.problems.add(self.named(block), message, remedy);
        }
        let Some(met) = met else { return false };
        self.barriers.remove(&(rank, number));
        for one in &met {
            if let Some(order) = &mut self.order {
                order.tick(*one);
            }
            self.together(*one);
        }
        let clocks: Vec<Clock> =
            met.iter().filter_map(|one| self.order.as_ref().map(|order| order.clock(*one))).collect();
        self.meetings.push(met.iter().map(|one| self.place(*one)).collect());
        for one in &met {
            for clock in &clocks {
                if let Some(order) = &mut self.order {
                    order.learn(*one, clock);
                }
            }
            self.blocks[*one].done += 1;
            self.done_operations += 1;
        }
        true
    }

    fn signal(&mut self, block: usize, operation: &PlanOperation) {
        if self.blocks[block].stores && operation.action != PlanAction::RelaxedSignal {
            let message = "signals while other threads of its block may still be storing";
            self.problems.add(self.named(block), message, "put a nop before the signal");
        }
        let by = self.place(block);
        let rank = self.blocks[block].rank;
        for channel in &operation.channels {
            let (peer, end) = self.ends[rank][*channel as usize];
            let clock = self.order.as_ref().map(|order| order.clock(block));
            self.waiting[peer][end].push_back(Signalled { by, clock });
        }
    }

    fn moves(&mut self, block: usize, operation: &PlanOperation) {
        let place = self.place(block);
        let rank = self.blocks[block].rank;
        let at = |span: &Span| span.rank.unwrap_or(rank as u32);
        let mut read = Vec::with_capacity(operation.sources.len());
        for span in &operation.sources {
            let Some(sums) = self.read(block, span) else { return };
            read.push(sums);
        }
        let reduces = operation.action.reduces();
        if reduces {
            let mut sources = read.into_iter();
            let mut total = sources.next().unwrap_or_default();
            for more in sources {
                for (sum, other) in total.iter_mut().zip(more) {
                    match self.memory.add(*sum, other) {
                        Ok(added) => *sum = added,
                        Err(message) => {
                            self.problems.add(self.named(block), message, "correct the places");
                            return;
                        }
                    }
                }
            }
            read = vec![total; operation.destinations.len()];
            // Sums that are read from another GPU move from that GPU to this one.
            for span in operation.sources.iter().filter(|span| span.rank.is_some()) {
                let passage =
                    PlanPassage { from: at(span), to: rank as u32, operation: place, sums: Vec::new() };
                self.passages.push(passage);
            }
        }
        for (index, (span, sums)) in operation.destinations.iter().zip(read).enumerate() {
            let from = if reduces { rank as u32 } else { operation.sources.get(index).map_or(0, at) };
            if from != at(span) {
                let passage = PlanPassage { from, to: at(span), operation: place, sums: sums.clone() };
                self.passages.push(passage);
            }
            self.write(block, operation.sort, span, &sums);
        }
    }

    fn slot(&mut self, block: usize, span: &Span, at: u32) -> Option<usize> {
        let rank = span.rank.map_or(self.blocks[block].rank, |rank| rank as usize);
        let place = BufferPlace { buffer: span.buffer, offset: span.index.saturating_add(at) };
        let slot = self.memory.slot(rank, place);
        if slot.is_none() {
            let message =
                format!("uses chunk {} of buffer {} of rank {rank}", place.offset, span.buffer.letter());
            self.problems.add(self.named(block), message, "the buffer has fewer chunks");
        }
        slot
    }

    fn read(&mut self, block: usize, span: &Span) -> Option<Vec<SumId>> {
        let mut sums = Vec::with_capacity(span.size as usize);
        for at in 0..span.size {
            let slot = self.slot(block, span, at)?;
            let own = self.blocks[block].written.contains(&slot);
            let clash = self.order.as_mut().and_then(|order| order.read(block, slot)).is_some();
            let what = format!("chunk {} of buffer {}", span.index + at, span.buffer.letter());
            if own || clash {
                self.unordered(block, own, &format!("reads {what}"));
            }
            let Some(sum) = self.memory.get(slot) else {
                let message = format!("reads {what}, which has not been written");
                self.problems.add(self.named(block), message, "wait for the signal that follows the data");
                return None;
            };
            self.blocks[block].read.insert(slot);
            sums.push(sum);
        }
        Some(sums)
    }

    fn write(&mut self, block: usize, sort: Option<ChannelSort>, span: &Span, sums: &[SumId]) {
        for (at, sum) in (0..).zip(sums) {
            let Some(slot) = self.slot(block, span, at) else { return };
            let running = &self.blocks[block];
            let own = running.written.contains(&slot);
            let clash = self.order.as_mut().and_then(|order| order.write(block, slot)).is_some();
            if own || clash {
                let what = format!("writes chunk {} of buffer {}", span.index + at, span.buffer.letter());
                self.unordered(block, own, &what);
            }
            self.memory.set(slot, *sum);
            let running = &mut self.blocks[block];
            running.written.insert(slot);
            running.stores |= span.rank.is_some() && sort != Some(ChannelSort::Port);
        }
    }

    fn unordered(&mut self, block: usize, own: bool, what: &str) {
        let (message, remedy) = if own {
            (
                format!("{what}, but an operation before it writes the same chunk"),
                "put a nop between the two operations",
            )
        } else {
            let message = format!("{what}, but nothing enforces the order with another access to this chunk");
            (message, "signal, wait and put a nop after the wait, or use a barrier")
        };
        self.problems.add(self.named(block), message, remedy);
    }
}

/// Finds the counterpart of every channel: the k-th channel of a type from A to B belongs to the k-th channel of that
/// type from B to A.
fn ends(plan: &ExecutionPlan) -> Result<Vec<Vec<(usize, usize)>>, Problems> {
    let mut by_pair: HashMap<(usize, u32, ChannelSort), Vec<usize>> = HashMap::new();
    for (rank, gpu) in plan.gpus.iter().enumerate() {
        for (channel, one) in gpu.channels.iter().enumerate() {
            by_pair.entry((rank, one.peer, one.sort)).or_default().push(channel);
        }
    }
    let mut problems = Problems::new();
    let mut ends = Vec::with_capacity(plan.gpus.len());
    for (rank, gpu) in plan.gpus.iter().enumerate() {
        let mut turns: HashMap<(u32, ChannelSort), usize> = HashMap::new();
        let mut of_rank = Vec::with_capacity(gpu.channels.len());
        for (channel, one) in gpu.channels.iter().enumerate() {
            let turn = turns.entry((one.peer, one.sort)).or_default();
            let back = by_pair.get(&(one.peer as usize, rank as u32, one.sort));
            match back.and_then(|back| back.get(*turn)) {
                Some(end) => of_rank.push((one.peer as usize, *end)),
                None => problems.add(
                    format!("gpu {rank}, channel {channel}"),
                    format!(
                        "has type {} and leads to rank {}, but no channel leads back",
                        one.sort.name(),
                        one.peer
                    ),
                    "use the same number of channels of a type in both directions",
                ),
            }
            *turn += 1;
        }
        ends.push(of_rank);
    }
    problems.into_result(ends)
}
