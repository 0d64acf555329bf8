//! Converts schedules that are planned on the reversed network to the actual network.
//!
//! A hop out of a cut-through switch begins to transmit before its start, which is the epoch at which its last byte has
//! arrived at the switch. A fast link between two switches therefore transmits late if a slow hop precedes it, in
//! either direction of the network. On the actual network, its transmission is later than the reversed epochs of the
//! plan by `min(slowest hop before, slowest hop after)` minus the transmission time of the link. If this shift is the
//! same for everything that a link carries, no new conflicts arise; otherwise the starts are scheduled again: see
//! [`settled`].

use super::passing::passages;
use super::schedule::ChunkStart;
use super::task::CollectiveTask;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// A start on a link of the actual network, converted from a schedule that is planned backwards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MirroredStart {
    /// The epoch at the beginning of which the data starts.
    pub epoch: u32,
    /// The epoch from which the data is usable.
    pub arrival: u32,
    /// The link of the real network.
    pub link: u32,
    /// Slowest transmission before the link on the path through switches, epochs.
    pub pace: u32,
}

/// Returns, for each start of a chunk on a link into a switch, the starts on links out of the switch by which the chunk
/// leaves without a wait. If switches do not copy, each arrival feeds a separate departure.
fn following(task: &CollectiveTask, starts: &[ChunkStart]) -> Vec<Vec<usize>> {
    let mut after: Vec<Vec<usize>> = vec![Vec::new(); starts.len()];
    if !task.real.is_cut_through() {
        return after;
    }
    let ends = |start: &ChunkStart| &task.network.links()[start.link as usize];
    // Departures from every switch, by chunk, node and epoch.
    let mut leaving: FxHashMap<(u32, u32, u32), Vec<usize>> = FxHashMap::default();
    for (at, start) in starts.iter().enumerate().filter(|(_, start)| task.network.is_switch(ends(start).from))
    {
        leaving.entry((start.chunk, ends(start).from, start.epoch)).or_default().push(at);
    }
    for (start, after) in
        starts.iter().zip(&mut after).filter(|(start, _)| task.network.is_switch(ends(start).to))
    {
        let key = (start.chunk, ends(start).to, start.epoch + task.epochs.latency(start.link));
        let Some(leaving) = leaving.get_mut(&key) else { continue };
        if task.switch_copies {
            after.clone_from(leaving);
        } else {
            after.extend(leaving.pop());
        }
    }
    after
}

/// Returns the starts of a schedule that ends at `finish`, each reversed in time and converted to the actual network.
/// Paths begin in the mirrored epochs; a hop out of a switch starts when the last byte has arrived.
pub fn mirrored(task: &CollectiveTask, starts: &[ChunkStart], finish: u32) -> Vec<MirroredStart> {
    let model = |at: usize| &task.epochs.links[starts[at].link as usize];
    let after = following(task, starts);
    let mut known: Vec<Option<MirroredStart>> = vec![None; starts.len()];
    for first in 0..starts.len() {
        // Hops that follow each other without a wait; there are at most as many as switches.
        let mut open = vec![first];
        while let Some(&at) = open.last() {
            let unknown =
                after[at].iter().copied().filter(|next| known[*next].is_none() && !open.contains(next));
            let unknown: Vec<usize> = unknown.collect();
            if !unknown.is_empty() {
                open.extend(unknown);
                continue;
            }
            open.pop();
            let before = after[at].iter().filter_map(|next| {
                let real = known[*next]?;
                Some((real.pace.max(model(*next).occupied), real.arrival))
            });
            let link = model(at);
            let transmitted = (starts[at].epoch - link.early).saturating_add(link.occupied + link.delay);
            let (pace, epoch) = before.min().unwrap_or((0, finish.saturating_sub(transmitted)));
            let arrival = epoch + link.delay + link.occupied.saturating_sub(pace);
            known[at] = Some(MirroredStart { epoch, arrival, link: link.carrier, pace });
        }
    }
    known.into_iter().map(Option::unwrap_or_default).collect()
}

/// Transmissions that occupy links, by the epoch in which they begin.
struct Taken(Vec<BTreeMap<u32, u32>>);

impl Taken {
    /// Returns the first epoch, from `begin` on, at which a link has capacity.
    fn free_from(&self, task: &CollectiveTask, link: u32, begin: u32) -> u32 {
        let (model, taken) = (&task.epochs.links[link as usize], &self.0[link as usize]);
        // If a chunk occupies several epochs, `starts` is 1, so every start within `occupied` epochs is a conflict.
        let near = taken.range((begin + 1).saturating_sub(model.occupied)..begin + model.occupied);
        let meets = near.filter(|(_, count)| **count >= model.starts).map(|(at, _)| at + model.occupied);
        meets.max().unwrap_or(begin)
    }

    fn take(&mut self, link: u32, begin: u32) {
        *self.0[link as usize].entry(begin).or_default() += 1;
    }
}

/// A path from GPU to GPU on the actual network.
struct MirroredWay {
    /// Epoch in which the path is planned to begin.
    begins: u32,
    /// Hops of the path, in the order of the actual network.
    hops: Vec<usize>,
}

/// Schedules the starts of a reversed schedule again if their transmissions could collide on the actual network, or if
/// chunks could meet in a switch at several paces. List scheduling: takes the paths in the order of their epochs and
/// starts each path as soon as all links of the path are free, but not before its planned epoch, and not before its
/// data has arrived. Returns the finish.
pub fn settled(task: &CollectiveTask, starts: &mut [ChunkStart], finish: u32) -> u32 {
    let ends = |start: &ChunkStart| &task.network.links()[start.link as usize];
    let real = mirrored(task, starts, finish);
    let after = following(task, starts);
    let mut ways: Vec<MirroredWay> = Vec::new();
    for first in (0..starts.len()).filter(|at| !task.network.is_switch(ends(&starts[*at]).from)) {
        let mut hops = vec![first];
        while let Some(&next) = hops.last().and_then(|last| after[*last].first()) {
            hops.push(next);
        }
        hops.reverse();
        ways.push(MirroredWay { begins: real[hops[0]].epoch, hops });
    }
    ways.sort_unstable_by(|a, b| a.begins.cmp(&b.begins).then(a.hops.cmp(&b.hops)));
    let mut taken = Taken(vec![BTreeMap::new(); task.real.links().len()]);
    // Pace of arrivals at switches, by chunk, node and epoch: data that meets there must arrive at one pace.
    let mut paces: FxHashMap<(u32, u32, u32), u32> = FxHashMap::default();
    // First epoch in which a GPU has the whole chunk that it forwards.
    let mut there: FxHashMap<(u32, u32), u32> = FxHashMap::default();
    let mut settled: Vec<(u32, u32)> = Vec::with_capacity(ways.len());
    for way in &ways {
        let model = |at: &usize| &task.epochs.links[starts[*at].link as usize];
        let passed = passages(way.hops.iter().map(|at| model(at).hop()), true);
        let (chunk, from) = (starts[way.hops[0]].chunk, ends(&starts[way.hops[0]]).to);
        let slowest = way.hops.iter().scan(0, |pace, at| {
            *pace = model(at).occupied.max(*pace);
            Some(*pace)
        });
        let slowest: Vec<u32> = slowest.collect();
        let switch = |at: usize| task.origins[ends(&starts[way.hops[at]]).from as usize];
        let entered = 0..way.hops.len() - 1;
        let mut begin = way.begins.max(there.get(&(chunk, from)).copied().unwrap_or(0));
        loop {
            let hops = way.hops.iter().zip(&passed);
            let waits = hops.map(|(at, passage)| {
                let transmits = begin + passage.transmits;
                taken.free_from(task, model(at).carrier, transmits) - transmits
            });
            let meets = |at: usize| {
                let known = paces.get(&(chunk, switch(at), begin + passed[at].arrives));
                known.is_some_and(|pace| *pace != slowest[at])
            };
            let wait = waits.max().unwrap_or(0).max(u32::from(entered.clone().any(meets)));
            if wait == 0 {
                break;
            }
            begin += wait;
        }
        for at in entered {
            paces.insert((chunk, switch(at), begin + passed[at].arrives), slowest[at]);
        }
        for (at, passage) in way.hops.iter().zip(&passed) {
            taken.take(model(at).carrier, begin + passage.transmits);
        }
        let arrival = begin + passed.last().map_or(0, |last| last.arrives);
        if let Some(&last) = way.hops.last() {
            let known = there.entry((chunk, ends(&starts[last]).from)).or_default();
            *known = (*known).max(arrival);
        }
        settled.push((begin, arrival));
    }
    let end = settled.iter().map(|(_, arrival)| *arrival).max().unwrap_or(finish).max(finish);
    for (way, (begin, _)) in ways.iter().zip(settled) {
        for &at in &way.hops {
            // A transmission that is delayed on the actual network begins earlier in the reversed schedule.
            starts[at].epoch = starts[at].epoch + (end - finish) - (begin - way.begins);
        }
    }
    end
}
