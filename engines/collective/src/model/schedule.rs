//! Starts of chunks on links: the starts that are needed, and the completion time without epochs.

use super::mirror::{MirroredStart, mirrored, settled};
use super::passing::{Passing, Transmission};
use super::task::CollectiveTask;
use rustc_hash::FxHashMap;

/// A chunk that starts on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ChunkStart {
    /// The epoch at the beginning of which the chunk starts.
    pub epoch: u32,
    /// The link.
    pub link: u32,
    /// The chunk.
    pub chunk: u32,
}

/// Starts that solve a [`CollectiveTask`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EpochSchedule {
    /// The starts by epoch, link and chunk.
    pub starts: Vec<ChunkStart>,
    /// Epochs until the last delivery.
    pub finish: u32,
}

impl EpochSchedule {
    /// Creates a schedule from starts: sorts the starts, and drops starts that no delivery needs.
    pub fn pruned(task: &CollectiveTask, starts: Vec<ChunkStart>) -> Self {
        let (mut kept, mut finish) = (Vec::with_capacity(starts.len()), 0);
        for_each_chunk(starts, |starts| {
            finish = finish.max(prune(task, starts, &mut kept));
        });
        if task.slides {
            finish = settled(task, &mut kept, finish);
        }
        if task.backwards {
            finish = without_wait(task, &mut kept, finish);
        }
        kept.sort_unstable();
        Self { starts: kept, finish }
    }

    /// Returns the time of the last delivery, µs, if the sends are made in the order of their epochs and every send
    /// starts as soon as its data has arrived and its link is free and up. Infinite if a link is not up for long enough
    /// when a send needs it.
    pub fn replay_us(&self, task: &CollectiveTask) -> f64 {
        self.replay_with(task, task.epochs.chunk_bytes)
    }

    /// Returns the completion time as in [`Self::replay_us`], for chunks of `chunk_bytes` bytes.
    pub fn replay_with(&self, task: &CollectiveTask, chunk_bytes: f64) -> f64 {
        replay(task, self, chunk_bytes)
    }
}

/// Moves a reversed schedule forward so that its first transmission begins as early as possible: otherwise epochs
/// without starts would follow the last delivery. Returns the finish.
fn without_wait(task: &CollectiveTask, starts: &mut [ChunkStart], finish: u32) -> u32 {
    let last = mirrored(task, starts, finish).iter().map(|real| real.arrival).max().unwrap_or(finish);
    let first = starts.iter().map(|start| start.epoch - task.epochs.links[start.link as usize].early).min();
    let wait = finish.saturating_sub(last).min(first.unwrap_or(0));
    for start in starts {
        start.epoch -= wait;
    }
    finish - wait
}

/// Calls a function with the starts of each chunk, by epoch.
fn for_each_chunk(mut starts: Vec<ChunkStart>, mut each: impl FnMut(&[ChunkStart])) {
    starts.sort_unstable_by_key(|start| (start.chunk, start.epoch, start.link));
    for of_chunk in starts.chunk_by(|a, b| a.chunk == b.chunk) {
        each(of_chunk);
    }
}

/// Adds to `kept` the starts of a chunk that lie on the path of some delivery; returns the epoch of the chunk's last
/// delivery.
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
                // Without copies, every departure needs a separate arrival.
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

/// A start in the replay.
#[derive(Clone, Copy)]
struct Replayed {
    /// Epoch in which the transmission begins.
    begin: u32,
    /// Epoch at which the data starts, and epoch from which the data is usable.
    epoch: u32,
    arrival: u32,
    start: ChunkStart,
}

/// Returns the starts of a schedule with their epochs; the starts of a reversed schedule are in the order in which they
/// happen.
fn replayed(task: &CollectiveTask, schedule: &EpochSchedule) -> Vec<Replayed> {
    if task.backwards {
        let real = mirrored(task, &schedule.starts, schedule.finish);
        let turned = |(start, real): (&ChunkStart, &MirroredStart)| {
            let begin = schedule.finish.saturating_sub(real.arrival);
            let arrival = schedule.finish.saturating_sub(real.epoch);
            Replayed { begin, epoch: begin, arrival, start: *start }
        };
        return schedule.starts.iter().zip(&real).map(turned).collect();
    }
    let forwards = |start: &ChunkStart| {
        let link = &task.epochs.links[start.link as usize];
        let (begin, arrival) = (start.epoch - link.early, start.epoch + link.latency);
        Replayed { begin, epoch: start.epoch, arrival, start: *start }
    };
    schedule.starts.iter().map(forwards).collect()
}

fn replay(task: &CollectiveTask, schedule: &EpochSchedule, chunk_bytes: f64) -> f64 {
    let mut free = vec![0.0f64; task.real.links().len()];
    // Times at which a GPU has a chunk, and arrival times at a switch, by the epoch in which the chunk must leave.
    let mut at_gpu: FxHashMap<(u32, u32), Passing> = FxHashMap::default();
    let mut at_switch: FxHashMap<(u32, u32, u32), Vec<Passing>> = FxHashMap::default();
    for chunk in 0..task.chunks.len() {
        at_gpu.insert((chunk as u32, task.chunks.source(chunk)), Passing::whole(0.0));
    }
    let mut end = 0.0f64;
    // On the reversed network, a switch that reduces serves several departures with one arrival, even if the searches
    // do not plan this.
    let shares = if task.adds { task.real.switch_reduces() } else { task.switch_copies };
    // Departures from a switch to another switch are served before departures to GPUs; otherwise parts that cross
    // between two switches could circulate.
    let ends = |send: &Replayed| &task.network.links()[send.start.link as usize];
    let goes_on =
        |send: &Replayed| task.network.is_switch(ends(send).from) && task.network.is_switch(ends(send).to);
    let place = |send: &Replayed| (send.start.chunk, task.origins[ends(send).from as usize], send.epoch);
    let mut onward: FxHashMap<(u32, u32, u32), u32> = FxHashMap::default();
    let mut order = replayed(task, schedule);
    for send in order.iter().filter(|send| goes_on(send)) {
        *onward.entry(place(send)).or_default() += 1;
    }
    let mut send = |send: &Replayed, at_gpu: &mut FxHashMap<_, Passing>, at_switch: &mut FxHashMap<_, _>| {
        let start = send.start;
        let link = &task.network.links()[start.link as usize];
        let model = &task.epochs.links[start.link as usize];
        let waits = onward.get_mut(&place(send)).filter(|waiting| **waiting > 0);
        if !shares && waits.is_some() && task.network.is_switch(link.from) && !goes_on(send) {
            return false;
        }
        let data = if task.network.is_switch(link.from) {
            // Without copies, every departure needs a separate arrival.
            at_switch.get_mut(&place(send)).and_then(|pieces| first(pieces, !shares))
        } else {
            at_gpu.get(&(start.chunk, link.from)).copied()
        };
        let Some(data) = data else { return false };
        if let (true, Some(waiting)) = (goes_on(send), waits) {
            *waiting -= 1;
        }
        let transmission = chunk_bytes / (1000.0 * link.capacity_gbyte_per_s);
        let free = &mut free[model.carrier as usize];
        let hop = Transmission {
            through: model.through,
            takes_us: transmission,
            alpha_us: link.alpha_us,
            up_us: &task.real.links()[model.carrier as usize].up_us,
            up_after_us: link.alpha_us,
        };
        let arrival = data.over(&hop, free);
        if task.network.is_switch(link.to) {
            let switch = task.origins[link.to as usize];
            at_switch.entry((start.chunk, switch, send.arrival)).or_insert_with(Vec::new).push(arrival);
        } else {
            let entry = at_gpu.entry((start.chunk, link.to)).or_insert(arrival);
            if arrival.last_us < entry.last_us {
                *entry = arrival;
            }
            end = end.max(arrival.last_us);
        }
        true
    };
    // Sorts by the epoch of transmission; if several starts on a link transmit in the same epoch, they keep the order
    // in which plans list sends.
    order.sort_unstable_by_key(|send| {
        let link = &task.real.links()[task.epochs.links[send.start.link as usize].carrier as usize];
        (send.begin, link.from, link.to, send.start.chunk)
    });
    // A transmission may feed another one of the same epoch, so an epoch is processed until nothing changes before the
    // next one begins. A hop that must wait for its data stays pending: a fast hop between two slow hops begins to
    // transmit later than the slow hop that it feeds.
    let mut pending: Vec<Replayed> = Vec::new();
    for of_epoch in order.chunk_by(|a, b| a.begin == b.begin) {
        pending.extend(of_epoch);
        loop {
            let before = pending.len();
            pending.retain(|one| !send(one, &mut at_gpu, &mut at_switch));
            if pending.is_empty() || pending.len() == before {
                break;
            }
        }
    }
    end
}

/// Returns the arrival that is complete first; `None` if the list is empty. If `is_taken`, also removes this arrival
/// from the list.
fn first(pieces: &mut Vec<Passing>, is_taken: bool) -> Option<Passing> {
    let earlier =
        |a: &Passing, b: &Passing| a.last_us.total_cmp(&b.last_us).then(a.first_us.total_cmp(&b.first_us));
    let (place, piece) = pieces.iter().copied().enumerate().min_by(|a, b| earlier(&a.1, &b.1))?;
    if is_taken {
        pieces.swap_remove(place);
    }
    Some(piece)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::task::CollectiveTasks;
    use crate::scenario::CollectiveSort;
    use crate::testing::preset;

    #[test]
    fn what_is_played_backwards_ends_with_its_last_delivery() {
        let mut scenario = preset("dgx1-allgather-200kb");
        scenario.demand.collective = CollectiveSort::Gather;
        let task = CollectiveTasks::of(&scenario, None).unwrap().tasks.remove(0);
        assert!(task.backwards);
        // Every GPU beside the root sends its chunk over a link to the root, one after the other.
        let root = task.chunks.source(0);
        let to =
            (0..task.chunks.len()).flat_map(|chunk| task.chunks.dests(chunk).map(move |dest| (chunk, dest)));
        let starts: Vec<ChunkStart> = to
            .filter_map(|(chunk, dest)| {
                let mut links = task.network.links().iter();
                let link = links.position(|link| (link.from, link.to) == (root, dest))?;
                Some(ChunkStart { epoch: 0, link: link as u32, chunk: chunk as u32 })
            })
            .collect();
        assert!(!starts.is_empty());
        let late = starts.iter().map(|start| ChunkStart { epoch: 6, ..*start }).collect();
        assert_eq!(EpochSchedule::pruned(&task, late), EpochSchedule::pruned(&task, starts));
    }
}
