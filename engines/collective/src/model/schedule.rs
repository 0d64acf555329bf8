//! Starts of chunks on links: which ones are needed, and when they would end without epochs.

use super::task::CollectiveTask;
use rustc_hash::FxHashMap;

/// A chunk that starts on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ChunkStart {
    /// The epoch at whose beginning it starts.
    pub epoch: u32,
    /// The link.
    pub link: u32,
    /// The chunk.
    pub chunk: u32,
}

/// Starts that answer a [`CollectiveTask`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EpochSchedule {
    /// The starts by epoch, link and chunk.
    pub starts: Vec<ChunkStart>,
    /// Epochs until the last delivery.
    pub finish: u32,
}

impl EpochSchedule {
    /// The starts in order, without those that no delivery needs.
    pub fn pruned(task: &CollectiveTask, starts: Vec<ChunkStart>) -> Self {
        let (mut kept, mut finish) = (Vec::with_capacity(starts.len()), 0);
        for_each_chunk(starts, |starts| {
            finish = finish.max(prune(task, starts, &mut kept));
        });
        kept.sort_unstable();
        Self { starts: kept, finish }
    }

    /// Time of the last delivery if every send starts as soon as its data is there and its link is free, in the order
    /// of epochs, µs.
    pub fn replay_us(&self, task: &CollectiveTask) -> f64 {
        self.replay_with(task, task.epochs.chunk_bytes)
    }

    /// The same with chunks of another size, bytes.
    pub fn replay_with(&self, task: &CollectiveTask, chunk_bytes: f64) -> f64 {
        replay(task, &self.starts, chunk_bytes)
    }
}

/// Calls with the starts of each chunk, by epoch.
fn for_each_chunk(mut starts: Vec<ChunkStart>, mut each: impl FnMut(&[ChunkStart])) {
    starts.sort_unstable_by_key(|start| (start.chunk, start.epoch, start.link));
    for of_chunk in starts.chunk_by(|a, b| a.chunk == b.chunk) {
        each(of_chunk);
    }
}

/// Adds the starts of a chunk that lie on the way of some delivery; the epoch of its last delivery.
fn prune(task: &CollectiveTask, starts: &[ChunkStart], kept: &mut Vec<ChunkStart>) -> u32 {
    let Some(first) = starts.first() else { return 0 };
    let chunk = first.chunk as usize;
    let source = task.chunks.source(chunk);
    let head = |start: &ChunkStart| task.network.links()[start.link as usize].to;
    let arrival = |start: &ChunkStart| start.epoch + task.epochs.latency(start.link);
    // First arrival at every GPU, and all arrivals at switches.
    let mut first_into: FxHashMap<u32, usize> = FxHashMap::default();
    let mut into_switch: FxHashMap<(u32, u32), Vec<usize>> = FxHashMap::default();
    for (at, start) in starts.iter().enumerate() {
        let node = head(start);
        if task.network.is_switch(node) {
            into_switch.entry((node, arrival(start))).or_default().push(at);
        } else {
            let best = first_into.entry(node).or_insert(at);
            if arrival(start) < arrival(&starts[*best]) {
                *best = at;
            }
        }
    }
    let mut marked = vec![false; starts.len()];
    let mut finish = 0;
    for dest in task.chunks.dests(chunk) {
        let Some(&last) = first_into.get(&dest) else { continue };
        finish = finish.max(arrival(&starts[last]));
        let mut at = Some(last);
        while let Some(here) = at {
            if std::mem::replace(&mut marked[here], true) {
                break;
            }
            let start = &starts[here];
            let tail = task.network.links()[start.link as usize].from;
            at = if tail == source {
                None
            } else if task.network.is_switch(tail) {
                let feeding = into_switch.get(&(tail, start.epoch)).map_or(&[][..], Vec::as_slice);
                // Without copies every departure takes an arrival of its own.
                let own = feeding.iter().find(|&&arrived| task.switch_copies && marked[arrived]);
                own.or_else(|| feeding.iter().find(|&&arrived| !marked[arrived])).copied()
            } else {
                first_into.get(&tail).copied()
            };
        }
    }
    kept.extend(starts.iter().zip(&marked).filter(|(_, marked)| **marked).map(|(start, _)| *start));
    finish
}

fn replay(task: &CollectiveTask, starts: &[ChunkStart], chunk_bytes: f64) -> f64 {
    let mut free = vec![0.0f64; task.network.links().len()];
    // Times at which a chunk is at a GPU, and those of arrivals at a switch by the epoch in which it has to leave.
    let mut at_gpu: FxHashMap<(u32, u32), f64> = FxHashMap::default();
    let mut at_switch: FxHashMap<(u32, u32, u32), Vec<f64>> = FxHashMap::default();
    for chunk in 0..task.chunks.len() {
        at_gpu.insert((chunk as u32, task.chunks.source(chunk)), 0.0);
    }
    let mut end = 0.0f64;
    let mut send =
        |start: &ChunkStart, at_gpu: &mut FxHashMap<_, f64>, at_switch: &mut FxHashMap<_, Vec<f64>>| {
            let link = &task.network.links()[start.link as usize];
            let data = if task.network.is_switch(link.from) {
                // Without copies every departure takes an arrival of its own.
                at_switch
                    .get_mut(&(start.chunk, link.from, start.epoch))
                    .and_then(|times| first(times, !task.switch_copies))
            } else {
                at_gpu.get(&(start.chunk, link.from)).copied()
            };
            let Some(data) = data else { return false };
            let transmission = chunk_bytes / (1000.0 * link.capacity_gbyte_per_s);
            let begin = data.max(free[start.link as usize]);
            free[start.link as usize] = begin + transmission;
            let paid = if task.epochs.links[start.link as usize].through { 0.0 } else { transmission };
            let arrival = begin + link.alpha_us + paid;
            if task.network.is_switch(link.to) {
                let leaves = start.epoch + task.epochs.latency(start.link);
                at_switch.entry((start.chunk, link.to, leaves)).or_default().push(arrival);
            } else {
                let entry = at_gpu.entry((start.chunk, link.to)).or_insert(f64::INFINITY);
                *entry = entry.min(arrival);
                end = end.max(arrival);
            }
            true
        };
    // With latencies below the threshold a send may feed another one of its own epoch, so an epoch is swept until
    // nothing is pending before the next one begins.
    for of_epoch in starts.chunk_by(|a, b| a.epoch == b.epoch) {
        let mut pending: Vec<ChunkStart> = of_epoch.to_vec();
        // In the order in which plans list sends: on a link that starts several at once it decides.
        pending.sort_unstable_by_key(|start| {
            let link = &task.network.links()[start.link as usize];
            (link.from, link.to, start.chunk)
        });
        loop {
            let before = pending.len();
            pending.retain(|start| !send(start, &mut at_gpu, &mut at_switch));
            if pending.is_empty() || pending.len() == before {
                break;
            }
        }
    }
    end
}

/// The earliest of some times, which is used up if it is taken.
fn first(times: &mut Vec<f64>, is_taken: bool) -> Option<f64> {
    let (place, time) = times.iter().copied().enumerate().min_by(|a, b| a.1.total_cmp(&b.1))?;
    if is_taken {
        times.swap_remove(place);
    }
    Some(time)
}
