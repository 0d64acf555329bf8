//! Runs a schedule chunk by chunk, as the thread blocks of all ranks would.
//!
//! Connections are first in, first out for each ordered pair of ranks and channel, and hold few messages at a time.
//! Every chunk is represented by the contributions of which it is the sum; at the end, every slot of every output is
//! compared with the content that the collective requires.

use super::{Action, Algorithm, BufferPlace, CollectiveOp, Step, check};
use crate::collective::Wanted;
use crate::collective::memory::{Memory, SumId};
use crate::collective::order::{Clock, Moment, Order};
use lightbay_core::problem::{Problem, Problems};
use std::collections::{HashMap, VecDeque};

/// Maximum number of chunks that all steps together may move.
const MOST_MOVES: u64 = 1 << 26;

/// Options of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct ExecuteOptions {
    /// Rank whose input a broadcast spreads; if missing, the only rank that receives nothing.
    pub root: Option<u32>,
    /// `true` if input and output are one buffer; if missing, `true` if the schedule allows it.
    pub in_place: Option<bool>,
    /// Maximum number of messages that a connection holds at a time; no limit if missing.
    pub in_flight: Option<u32>,
    /// Required content of the outputs for a custom collective.
    pub wanted: Vec<Wanted>,
}

impl Default for ExecuteOptions {
    fn default() -> Self {
        Self { root: None, in_place: None, in_flight: Some(2), wanted: Vec::new() }
    }
}

/// A message that went over a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage {
    /// Rank that sent the message.
    pub from: u32,
    /// Rank that received the message.
    pub to: u32,
    /// Channel of the connection.
    pub channel: u32,
    /// Thread block and step that sent the message.
    pub send: (u32, u32),
    /// Thread block and step that received the message.
    pub receive: (u32, u32),
    /// Location to which the message was written; `None` if the message was only added to other data and sent on.
    pub destination: Option<BufferPlace>,
    /// Contents of the chunks of the message: each is the index of a sum in the memory of the run.
    pub sums: Vec<SumId>,
}

/// Result of a successful run.
#[derive(Clone, Debug)]
pub struct Execution {
    /// Number of steps done.
    pub steps: u64,
    /// Messages sent between ranks, in the order in which they were received.
    pub passages: Vec<Passage>,
    /// All buffers at the end.
    pub memory: Memory,
    /// Number of output slots that were compared.
    pub compared: u64,
    /// `true` if the order of accesses was checked; `false` if there are too many thread blocks for this check.
    pub ordered: bool,
    /// Assumptions, and checks that were omitted, each in one sentence.
    pub notes: Vec<String>,
}

/// Runs a schedule.
///
/// # Errors
/// Everything that [`check()`] finds, a chunk that is sent before it has arrived, accesses without an enforced order, a
/// deadlock with its cycle, a contribution added twice, and every slot with wrong content at the end.
pub fn execute(algorithm: &Algorithm, options: &ExecuteOptions) -> Result<Execution, Problems> {
    check(algorithm)?;
    let moves: u64 =
        blocks_of(algorithm).flat_map(|block| &block.steps).map(|step| u64::from(step.count)).sum();
    if moves > MOST_MOVES {
        let message = format!("moves {moves} chunks; the maximum is {MOST_MOVES}");
        return Err(Problem::new("", message, "lightbay cannot execute schedules of this size").into());
    }
    let in_place = options.in_place.unwrap_or(algorithm.in_place);
    if !(if in_place { algorithm.in_place } else { algorithm.out_of_place }) {
        let (what, remedy) = if in_place {
            ("inplace", "run the schedule out of place")
        } else {
            ("outofplace", "run the schedule in place")
        };
        return Err(Problem::new("", format!("{what} of the schedule is 0"), remedy).into());
    }
    let mut run = Run::new(algorithm, in_place, options.in_flight)?;
    run.go()?;
    let mut notes = Vec::new();
    let compared = run.compare(options, &mut notes)?;
    let ordered = run.order.is_some();
    if !ordered {
        notes.push(
            "the schedule has too many thread blocks, so the order of accesses was not checked".to_owned(),
        );
    }
    Ok(Execution { steps: run.steps, passages: run.passages, memory: run.memory, compared, ordered, notes })
}

fn blocks_of(algorithm: &Algorithm) -> impl Iterator<Item = &super::Block> {
    algorithm.gpus.iter().flat_map(|gpu| &gpu.blocks)
}

#[derive(Default)]
struct Connection {
    sender: usize,
    receiver: usize,
    messages: VecDeque<Message>,
}

struct Message {
    sums: Vec<SumId>,
    send: (u32, u32),
    clock: Option<Clock>,
}

/// State of a thread block during the run.
struct Running<'a> {
    rank: usize,
    number: usize,
    steps: &'a [Step],
    done: usize,
    send: Option<usize>,
    receive: Option<usize>,
    queued: bool,
}

struct Run<'a> {
    algorithm: &'a Algorithm,
    memory: Memory,
    order: Option<Order>,
    blocks: Vec<Running<'a>>,
    /// Index of the first thread block of each rank.
    first: Vec<usize>,
    connections: Vec<Connection>,
    peers: Vec<(u32, u32, u32)>,
    in_flight: usize,
    /// Thread blocks that wait for a step.
    waiting: HashMap<(usize, usize), Vec<usize>>,
    /// Clocks of the steps for which other blocks wait.
    clocks: HashMap<(usize, usize), Clock>,
    ready: VecDeque<usize>,
    passages: Vec<Passage>,
    steps: u64,
    problems: Problems,
}

impl<'a> Run<'a> {
    fn new(algorithm: &'a Algorithm, in_place: bool, in_flight: Option<u32>) -> Result<Self, Problems> {
        let sizes = algorithm.buffer_sizes();
        let memory = Memory::new(algorithm.collective, in_place, &sizes)?;
        let count = blocks_of(algorithm).count();
        let mut run = Self {
            algorithm,
            order: Order::new(count, memory.slots()),
            memory,
            blocks: Vec::with_capacity(count),
            first: Vec::new(),
            connections: Vec::new(),
            peers: Vec::new(),
            in_flight: in_flight.map_or(usize::MAX, |most| most.max(1) as usize),
            waiting: HashMap::new(),
            clocks: HashMap::new(),
            ready: (0..count).collect(),
            passages: Vec::new(),
            steps: 0,
            problems: Problems::new(),
        };
        let mut known: HashMap<(u32, u32, u32), usize> = HashMap::new();
        for (rank, gpu) in algorithm.gpus.iter().enumerate() {
            run.first.push(run.blocks.len());
            for (number, block) in gpu.blocks.iter().enumerate() {
                let here = run.blocks.len();
                let mut connection = |from: u32, to: u32| {
                    let key = (from, to, block.channel);
                    *known.entry(key).or_insert_with(|| {
                        run.connections.push(Connection::default());
                        run.peers.push(key);
                        run.connections.len() - 1
                    })
                };
                let send = block.send.map(|peer| connection(rank as u32, peer));
                let receive = block.receive.map(|peer| connection(peer, rank as u32));
                if let Some(at) = send {
                    run.connections[at].sender = here;
                }
                if let Some(at) = receive {
                    run.connections[at].receiver = here;
                }
                let steps = &block.steps;
                run.blocks.push(Running { rank, number, steps, done: 0, send, receive, queued: true });
            }
            run.copy(rank, in_place);
        }
        let problems = std::mem::take(&mut run.problems);
        problems.into_result(run)
    }

    /// Executes the `<copy>` rows of a rank. If the schedule runs in place, both locations of a row must be the same
    /// slot, so the row moves nothing.
    fn copy(&mut self, rank: usize, in_place: bool) {
        for (input, output) in &self.algorithm.gpus[rank].copies {
            let place = |buffer, offset| BufferPlace { buffer, offset };
            let from = self.memory.slot(rank, place(super::Buffer::Input, *input));
            let to = self.memory.slot(rank, place(super::Buffer::Output, *output));
            if in_place && from != to {
                self.problems.add(
                    format!("gpu {rank}"),
                    format!(
                        "copies input chunk {input} to output chunk {output}, but in place these are \
                         different chunks"
                    ),
                    "correct the <copy>, or set inplace to 0",
                );
            }
            if let (Some(from), Some(to)) = (from, to)
                && let Some(sum) = self.memory.get(from)
            {
                self.memory.set(to, sum);
            }
        }
    }

    fn go(&mut self) -> Result<(), Problems> {
        while let Some(block) = self.ready.pop_front() {
            self.blocks[block].queued = false;
            while self.obstacle(block).is_none_or(|obstacle| self.wait(block, obstacle)) {
                let running = &self.blocks[block];
                let Some(step) = running.steps.get(running.done).copied() else { break };
                if let Err(message) = self.step(block, step) {
                    let place = self.place(block);
                    let remedy =
                        "add a dependency on the step that brings the chunk, or correct the locations";
                    self.problems.add(place, message, remedy);
                    return Err(std::mem::take(&mut self.problems));
                }
            }
        }
        let stuck =
            (0..self.blocks.len()).find(|block| self.blocks[*block].done < self.blocks[*block].steps.len());
        if let Some(block) = stuck {
            let problem = self.circle(block);
            self.problems.push(problem);
        }
        std::mem::take(&mut self.problems).into_result(())
    }

    /// Registers what a block waits for. Always returns `false`: the block cannot continue.
    fn wait(&mut self, block: usize, obstacle: Obstacle) -> bool {
        if let Obstacle::Step(other, step) = obstacle {
            self.waiting.entry((other, step)).or_default().push(block);
        }
        false
    }

    /// Returns the obstacle that keeps a block from its next step.
    fn obstacle(&self, block: usize) -> Option<Obstacle> {
        let running = &self.blocks[block];
        let step = running.steps.get(running.done)?;
        if let Some((other, before)) = step.after {
            let other = self.first[running.rank] + other as usize;
            if self.blocks[other].done <= before as usize {
                return Some(Obstacle::Step(other, before as usize));
            }
        }
        if let Some(at) = running.receive.filter(|_| step.action.receives())
            && self.connections[at].messages.is_empty()
        {
            return Some(Obstacle::Empty(at));
        }
        let at = running.send.filter(|_| step.action.sends())?;
        (self.connections[at].messages.len() >= self.in_flight).then_some(Obstacle::Full(at))
    }

    fn step(&mut self, block: usize, step: Step) -> Result<(), String> {
        let Running { rank, number, done, send, receive, .. } = self.blocks[block];
        let here = (number as u32, done as u32);
        if let Some(order) = &mut self.order {
            order.tick(block);
            if let Some((other, before)) = step.after {
                let other = self.first[rank] + other as usize;
                if let Some(clock) = self.clocks.get(&(other, before as usize)) {
                    order.learn(block, clock);
                }
            }
        }
        let mut sums: Option<Vec<SumId>> = None;
        if step.action.receives()
            && let Some(at) = receive
            && let Some(message) = self.connections[at].messages.pop_front()
        {
            if let (Some(order), Some(clock)) = (&mut self.order, &message.clock) {
                order.learn(block, clock);
            }
            let (from, to, channel) = self.peers[at];
            let destination = step.action.writes().then_some(step.destination);
            let passage = Passage {
                from,
                to,
                channel,
                send: message.send,
                receive: here,
                destination,
                sums: message.sums.clone(),
            };
            self.passages.push(passage);
            sums = Some(message.sums);
            self.wake(self.connections[at].sender);
        }
        if step.action.reads() {
            let own = self.read(block, rank, step.source, step.count)?;
            sums = Some(match sums {
                Some(received) => self.added(received, &own)?,
                None => own,
            });
        }
        if step.action == Action::Reduce {
            let held = self.read(block, rank, step.destination, step.count)?;
            sums = Some(self.added(sums.unwrap_or_default(), &held)?);
        }
        let sums = sums.unwrap_or_default();
        if step.action.writes() {
            self.write(block, rank, step.destination, &sums)?;
        }
        if let Some(at) = send.filter(|_| step.action.sends()) {
            let clock = self.order.as_ref().map(|order| order.clock(block));
            self.connections[at].messages.push_back(Message { sums, send: here, clock });
            self.wake(self.connections[at].receiver);
        }
        if step.awaited
            && let Some(order) = &self.order
        {
            self.clocks.insert((block, done), order.clock(block));
        }
        self.blocks[block].done += 1;
        self.steps += 1;
        for other in self.waiting.remove(&(block, done)).unwrap_or_default() {
            self.wake(other);
        }
        Ok(())
    }

    fn wake(&mut self, block: usize) {
        if !std::mem::replace(&mut self.blocks[block].queued, true) {
            self.ready.push_back(block);
        }
    }

    fn slot(&self, rank: usize, place: BufferPlace, at: u32) -> Result<usize, String> {
        let place = BufferPlace { offset: place.offset + at, ..place };
        self.memory.slot(rank, place).ok_or_else(|| format!("leaves buffer {}", place.buffer.letter()))
    }

    fn read(
        &mut self,
        block: usize,
        rank: usize,
        place: BufferPlace,
        count: u32,
    ) -> Result<Vec<SumId>, String> {
        let mut sums = Vec::with_capacity(count as usize);
        for at in 0..count {
            let slot = self.slot(rank, place, at)?;
            let clash = self.order.as_mut().and_then(|order| order.read(block, slot));
            let name = format!("{}[{}]", place.buffer.letter(), place.offset + at);
            let Some(sum) = self.memory.get(slot) else {
                return Err(format!("reads {name}, which has not been written"));
            };
            self.clash(block, clash, &format!("reads {name}"));
            sums.push(sum);
        }
        Ok(sums)
    }

    fn write(&mut self, block: usize, rank: usize, place: BufferPlace, sums: &[SumId]) -> Result<(), String> {
        for (at, sum) in (0..).zip(sums) {
            let slot = self.slot(rank, place, at)?;
            let clash = self.order.as_mut().and_then(|order| order.write(block, slot));
            self.clash(block, clash, &format!("writes {}[{}]", place.buffer.letter(), place.offset + at));
            self.memory.set(slot, *sum);
        }
        Ok(())
    }

    fn added(&mut self, mut sums: Vec<SumId>, more: &[SumId]) -> Result<Vec<SumId>, String> {
        for (sum, other) in sums.iter_mut().zip(more) {
            *sum = self.memory.add(*sum, *other)?;
        }
        Ok(sums)
    }

    /// Reports two accesses to a slot without an enforced order.
    fn clash(&mut self, block: usize, clash: Option<Moment>, what: &str) {
        let Some((other, time)) = clash else { return };
        let other = &self.blocks[other as usize];
        let message = format!(
            "{what}, but nothing enforces the order with step {} of tb {} of gpu {}, which uses the same \
             chunk",
            time.saturating_sub(1),
            other.number,
            other.rank
        );
        self.problems.add(self.place(block), message, "add a dependency between the two steps");
    }

    fn place(&self, block: usize) -> String {
        let running = &self.blocks[block];
        format!("gpu {}, tb {}, step {}", running.rank, running.number, running.done)
    }

    /// Returns the problem of a cycle of thread blocks that wait for each other, found by starting at a blocked thread
    /// block.
    fn circle(&self, stuck: usize) -> Problem {
        let mut trail: Vec<(usize, String)> = Vec::new();
        let mut block = stuck;
        let start = loop {
            if let Some(at) = trail.iter().position(|(seen, _)| *seen == block) {
                break at;
            }
            let Some(obstacle) = self.obstacle(block) else { break 0 };
            let (next, why) = match obstacle {
                Obstacle::Step(other, step) => {
                    (other, format!("waits for step {step} of tb {}", self.blocks[other].number))
                }
                Obstacle::Empty(at) => (
                    self.connections[at].sender,
                    format!("waits for a message from rank {}", self.peers[at].0),
                ),
                Obstacle::Full(at) => (
                    self.connections[at].receiver,
                    format!(
                        "waits for rank {} to receive one of {} messages under way",
                        self.peers[at].1, self.in_flight
                    ),
                ),
            };
            trail.push((block, why));
            block = next;
        };
        const MOST: usize = 12;
        let circle = &trail[start..];
        let mut text: Vec<String> =
            circle.iter().take(MOST).map(|(block, why)| format!("{} {why}", self.place(*block))).collect();
        if circle.len() > MOST {
            text.push(format!("{} more", circle.len() - MOST));
        }
        let place = circle.first().map_or_else(String::new, |(block, _)| self.place(*block));
        let message = format!("never runs, because these steps wait for each other: {}", text.join("; "));
        let full = self.in_flight < usize::MAX
            && circle.iter().any(|(block, _)| matches!(self.obstacle(*block), Some(Obstacle::Full(_))));
        let remedy = if full {
            "let the ranks receive earlier, before they send more; connections hold few messages at a time"
        } else {
            "change the order of the steps, or remove a dependency"
        };
        Problem::new(place, message, remedy)
    }

    fn compare(&self, options: &ExecuteOptions, notes: &mut Vec<String>) -> Result<u64, Problems> {
        let mut problems = Problems::new();
        let mut compared = 0;
        if self.algorithm.collective == CollectiveOp::Custom {
            if options.wanted.is_empty() {
                notes.push(
                    "the file does not define what a custom collective must do, so its outputs are not \
                     checked"
                        .into(),
                );
            }
            for wanted in &options.wanted {
                self.memory.compare_one(wanted.rank, wanted.offset, &wanted.sum, &mut problems);
                compared += 1;
            }
            return problems.into_result(compared);
        }
        let mut root = options.root;
        if self.algorithm.collective == CollectiveOp::Broadcast && root.is_none() {
            let receives = |gpu: &super::Gpu| {
                gpu.blocks.iter().flat_map(|block| &block.steps).any(|step| step.action.receives())
            };
            let mut silent = self.algorithm.gpus.iter().enumerate().filter(|(_, gpu)| !receives(gpu));
            root = silent.next().map(|(rank, _)| rank as u32).filter(|_| silent.next().is_none());
            if let Some(root) = root {
                notes.push(format!(
                    "the file does not name the root of the broadcast; assumed: rank {root}, which \
                     receives nothing"
                ));
            }
        }
        self.memory.compare(root)
    }
}

/// Obstacle that keeps a thread block from its next step.
#[derive(Clone, Copy)]
enum Obstacle {
    /// A step of another thread block of the rank has not finished.
    Step(usize, usize),
    /// A connection has no messages.
    Empty(usize),
    /// A connection holds its maximum number of messages.
    Full(usize),
}
