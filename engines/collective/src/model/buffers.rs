//! Chunks that are on their way to other GPUs and occupy the buffers of the GPUs that relay them.

use super::schedule::ChunkStart;
use super::task::CollectiveTask;
use std::collections::BTreeMap;

/// Time that a chunk spends at a GPU that neither starts with this chunk nor needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stay {
    /// The GPU.
    pub node: u32,
    /// Epoch in which the chunk arrives.
    pub from: u32,
    /// Epoch in which the chunk leaves for the last time.
    pub until: u32,
}

/// Returns the stays of all chunks of a schedule at GPUs that neither start with them nor need them.
pub fn stays(task: &CollectiveTask, starts: &[ChunkStart]) -> Vec<Stay> {
    let mut arrivals: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    let mut departures: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    for start in starts {
        let link = &task.network.links()[start.link as usize];
        let arrival = start.epoch + task.epochs.latency(start.link);
        let first = arrivals.entry((link.to, start.chunk)).or_insert(arrival);
        *first = arrival.min(*first);
        let last = departures.entry((link.from, start.chunk)).or_insert(start.epoch);
        *last = start.epoch.max(*last);
    }
    let is_held = |&(node, chunk): &(u32, u32)| {
        let chunk = chunk as usize;
        !task.network.is_switch(node)
            && task.chunks.source(chunk) != node
            && task.chunks.dests(chunk).all(|dest| dest != node)
    };
    let stay = |(place, from): ((u32, u32), u32)| {
        let until = departures.get(&place).map_or(from, |until| from.max(*until));
        Stay { node: place.0, from, until }
    };
    arrivals.into_iter().filter(|(place, _)| is_held(place)).map(stay).collect()
}

/// Returns the maximum number of chunks that a GPU holds at a time for other GPUs: chunks with which this GPU does not
/// start and which it does not need.
pub fn most_held(task: &CollectiveTask, starts: &[ChunkStart]) -> usize {
    let mut changes: BTreeMap<u32, Vec<(u32, i32)>> = BTreeMap::new();
    for stay in stays(task, starts) {
        changes.entry(stay.node).or_default().extend([(stay.from, 1), (stay.until + 1, -1)]);
    }
    let most = |mut changes: Vec<(u32, i32)>| {
        changes.sort_unstable();
        let sums = changes.iter().scan(0, |now, (_, change)| {
            *now += change;
            Some(*now)
        });
        sums.max().unwrap_or(0)
    };
    changes.into_values().map(most).max().unwrap_or(0) as usize
}
