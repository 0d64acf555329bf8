//! Schedules from other programs: converts their steps to epochs.
//!
//! Every step begins when its predecessors have begun and its inputs have arrived. Each chunk of the step then starts
//! in the first epoch in which its links are free.

use super::construct::{ChainTable, LinkTracks, NEVER};
use crate::model::distances::FAR;
use crate::model::mirror::mirrored;
use crate::model::schedule::{ChunkStart, EpochSchedule};
use crate::model::task::CollectiveTask;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Chunks that a step sends, one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GivenSend {
    /// GPU that sends.
    pub from: u32,
    /// GPU that receives.
    pub to: u32,
    /// The chunks.
    pub chunks: Vec<u32>,
}

/// A step of a schedule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GivenStep {
    /// Steps that must begin before this step.
    pub after: Vec<u32>,
    /// Steps whose chunks must arrive before this step begins.
    pub receives: Vec<u32>,
    /// Chunks that the step sends.
    pub send: Option<GivenSend>,
}

/// A schedule in epochs, and the changes that were necessary.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GivenSchedule {
    /// Schedule of the task; reversed if the task is reversed.
    pub schedule: EpochSchedule,
    /// Number of transmissions that other GPUs relay, because no direct link or chain of switches joins the two GPUs.
    pub detours: usize,
    /// Number of omitted sends: the destination already had the chunk.
    pub repeated: usize,
}

/// Converts steps to epochs.
///
/// # Errors
/// A sentence about steps that wait for each other, chunks that are sent before they have arrived, and GPUs without a
/// path between them.
pub fn in_epochs(task: &CollectiveTask, steps: &[GivenStep]) -> Result<GivenSchedule, String> {
    // If the task is planned backwards, the steps are placed in their real order in time, and the schedule is reversed
    // at the end.
    let turned;
    let forward = if task.backwards {
        turned = task.turned();
        &turned
    } else {
        task
    };
    let mut run = GivenRun::new(forward, task.adds);
    // Topological order by Kahn's algorithm; ready steps by their time.
    let mut waits: Vec<u32> = vec![0; steps.len()];
    let mut next: Vec<Vec<u32>> = vec![Vec::new(); steps.len()];
    for (at, step) in (0u32..).zip(steps) {
        for before in step.after.iter().chain(&step.receives) {
            next[*before as usize].push(at);
            waits[at as usize] += 1;
        }
    }
    // Steps without predecessors.
    let first = (0u32..).zip(&waits).filter(|(_, waits)| **waits == 0);
    let mut open: BinaryHeap<Reverse<(u32, u32)>> = first.map(|(at, _)| Reverse((0, at))).collect();
    let mut times = vec![StepTime::default(); steps.len()];
    let mut done = 0;
    while let Some(Reverse((ready, at))) = open.pop() {
        let step = &steps[at as usize];
        times[at as usize] = match &step.send {
            Some(send) => run.send(send, ready)?,
            None => StepTime { begins: ready, arrives: ready },
        };
        done += 1;
        for &later in &next[at as usize] {
            // A step is ready when its last predecessor has begun, and its inputs have arrived.
            let left = &mut waits[later as usize];
            *left -= 1;
            if *left == 0 {
                let step = &steps[later as usize];
                let begun = step.after.iter().map(|before| times[*before as usize].begins);
                let there = step.receives.iter().map(|before| times[*before as usize].arrives);
                open.push(Reverse((begun.chain(there).max().unwrap_or(0), later)));
            }
        }
    }
    // A cycle: no step of it ever became ready.
    if done < steps.len() {
        return Err(format!(
            "{} steps never run, because steps wait for each other in a cycle",
            steps.len() - done
        ));
    }
    let (mut starts, finish) = (run.starts, run.finish);
    if task.backwards {
        // Reverses the schedule: epochs and links of the network on which the task is planned.
        let turned = mirrored(forward, &starts, finish);
        for (start, mirrored) in starts.iter_mut().zip(turned) {
            (start.epoch, start.link) = (mirrored.epoch, task.lane(mirrored.link, mirrored.pace));
        }
    }
    // Every part of a sum must be sent, so no start may be pruned.
    let schedule = if task.adds {
        starts.sort_unstable();
        EpochSchedule { starts, finish }
    } else {
        EpochSchedule::pruned(task, starts)
    };
    Ok(GivenSchedule { schedule, detours: run.detours, repeated: run.repeated })
}

/// Epochs of a step: the epoch in which its last chunk starts (for a step without chunks, the epoch in which the step
/// begins), and the epoch in which all of its data has arrived.
#[derive(Clone, Copy, Debug, Default)]
struct StepTime {
    begins: u32,
    arrives: u32,
}

/// Links and chunks during the conversion.
struct GivenRun<'a> {
    task: &'a CollectiveTask,
    chains: ChainTable,
    tracks: LinkTracks,
    /// `true` if chunks are reduced: every rank has a part of each chunk, and sends its part to one other rank.
    adds: bool,
    /// Epoch from which each GPU has each chunk.
    there: FxHashMap<(u32, u32), u32>,
    /// Parts of sums that have been sent, by chunk and GPU.
    sent: FxHashSet<(u32, u32)>,
    starts: Vec<ChunkStart>,
    used: FxHashSet<ChunkStart>,
    finish: u32,
    detours: usize,
    repeated: usize,
}

impl<'a> GivenRun<'a> {
    fn new(task: &'a CollectiveTask, adds: bool) -> Self {
        let sources = (0..task.chunks.len()).map(|chunk| ((chunk as u32, task.chunks.source(chunk)), 0));
        Self {
            task,
            chains: ChainTable::new(task),
            tracks: LinkTracks::new(task.real.links().len()),
            adds,
            // Without reductions, a chunk is at its source from the beginning.
            there: if adds { FxHashMap::default() } else { sources.collect() },
            sent: FxHashSet::default(),
            starts: Vec::new(),
            used: FxHashSet::default(),
            finish: 0,
            detours: 0,
            repeated: 0,
        }
    }

    fn send(&mut self, send: &GivenSend, ready: u32) -> Result<StepTime, String> {
        let mut time = StepTime { begins: ready, arrives: ready };
        for &chunk in &send.chunks {
            // A GPU sends its part of a sum once; otherwise the part would count twice.
            let one = if self.adds {
                if !self.sent.insert((chunk, send.from)) {
                    return Err(format!("{} sends its part of a sum twice", self.name(send.from)));
                }
                self.hop(chunk, send.from, send.to, time.begins)?
            } else {
                self.spread(chunk, send, time.begins)?
            };
            time.begins = time.begins.max(one.begins);
            time.arrives = time.arrives.max(one.arrives);
        }
        Ok(time)
    }

    /// Brings a chunk to a GPU, relayed by other GPUs if no direct chain exists; returns the epochs of the step.
    fn spread(&mut self, chunk: u32, send: &GivenSend, ready: u32) -> Result<StepTime, String> {
        let Some(&held) = self.there.get(&(chunk, send.from)) else {
            return Err(format!("{} sends a chunk that it does not have yet", self.name(send.from)));
        };
        // The send waits until the sender has the chunk.
        let ready = ready.max(held);
        // A repeated send changes nothing, and a plan must not deliver a chunk twice.
        if let Some(&there) = self.there.get(&(chunk, send.to)) {
            self.repeated += 1;
            return Ok(StepTime { begins: ready, arrives: there.max(ready) });
        }
        if self.chains.of(send.from).any(|chain| self.chains.head(chain) == send.to) {
            let time = self.hop(chunk, send.from, send.to, ready)?;
            self.there.insert((chunk, send.to), time.arrives);
            return Ok(time);
        }
        // No direct chain: uses a shortest path over GPUs that store the chunk.
        self.detours += 1;
        let rest = self.task.distances.to(&self.task.network, send.to);
        let (mut at, mut begins, mut there) = (send.from, None, ready);
        while at != send.to {
            let left = |chain: &u32| {
                self.chains.duration(*chain).saturating_add(rest[self.chains.head(*chain) as usize])
            };
            let toward = self.chains.of(at).min_by_key(|chain| (left(chain), *chain));
            let Some(chain) = toward.filter(|chain| left(chain) < FAR) else {
                return Err(self.no_way(send.from, send.to));
            };
            let head = self.chains.head(chain);
            // GPUs on the path that already have the chunk need no transmission.
            if let Some(&held) = self.there.get(&(chunk, head)) {
                there = there.max(held);
            } else {
                let time = self.hop(chunk, at, head, there)?;
                begins.get_or_insert(time.begins);
                there = time.arrives;
                self.there.insert((chunk, head), there);
            }
            at = head;
        }
        Ok(StepTime { begins: begins.unwrap_or(ready), arrives: there })
    }

    /// Starts a chunk on the chain on which it arrives first; returns the epochs of the step.
    fn hop(&mut self, chunk: u32, from: u32, to: u32, ready: u32) -> Result<StepTime, String> {
        let mut best: Option<(u32, u32, u32)> = None;
        // Parallel chains: the one on which the chunk arrives first, ties by start and number.
        for chain in self.chains.of(from).filter(|chain| self.chains.head(*chain) == to) {
            let mut begins = self.tracks.earliest_chain(&self.chains, chain, &self.task.epochs.links, ready);
            // Two messages that carry the same chunk over a shared link are two starts, so they begin in different
            // epochs.
            let is_taken = |begins: u32, used: &FxHashSet<ChunkStart>| {
                self.chains
                    .links(chain)
                    .any(|(link, offset)| used.contains(&ChunkStart { epoch: begins + offset, link, chunk }))
            };
            while begins < NEVER && is_taken(begins, &self.used) {
                begins = self.tracks.earliest_chain(&self.chains, chain, &self.task.epochs.links, begins + 1);
            }
            if begins < NEVER {
                let one = (begins + self.chains.duration(chain), begins, chain);
                best = Some(best.map_or(one, |best| best.min(one)));
            }
        }
        let Some((arrives, begins, chain)) = best else { return Err(self.no_way(from, to)) };
        for (link, offset) in self.chains.links(chain) {
            let model = &self.task.epochs.links[link as usize];
            self.tracks.take(model.carrier, model, begins + offset);
            let start = ChunkStart { epoch: begins + offset, link, chunk };
            self.used.insert(start);
            self.starts.push(start);
        }
        self.finish = self.finish.max(arrives);
        Ok(StepTime { begins, arrives })
    }

    fn name(&self, node: u32) -> &str {
        &self.task.network.nodes()[node as usize].name
    }

    fn no_way(&self, from: u32, to: u32) -> String {
        let (from, to) = (self.name(from), self.name(to));
        if self.adds {
            format!("{from} sends parts of sums to {to}, but no link or chain of switches connects them")
        } else {
            format!("{from} sends to {to}, but no path connects them")
        }
    }
}

#[cfg(test)]
mod tests;
