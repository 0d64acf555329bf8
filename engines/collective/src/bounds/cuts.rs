//! Cuts with heads and tails: the one-machine bound with release and delivery times, for several entry links
//! (docs/methods/collective.md, section 4).

use super::{BoundReason, EpochBound, sets};
use crate::model::distances::FAR;
use crate::model::task::CollectiveTask;
use lightbay_core::method::MethodError;
use lightbay_core::watch::Watch;
use std::collections::BTreeMap;

/// Maximum number of distinct values that are tried as thresholds for heads (epochs until a chunk can start to cross)
/// and for tails (epochs from this start to the delivery). Any choice of thresholds gives a valid bound; more
/// thresholds can only raise the bound.
const MOST_THRESHOLDS: usize = 12;

/// Replaces `best` by the best bound from the cuts of all candidate sets, if that bound is larger.
pub(super) fn raise<W: Watch<S>, S>(
    task: &CollectiveTask,
    best: &mut EpochBound,
    watch: &mut W,
) -> Result<(), MethodError> {
    for inside in sets::candidates(task) {
        raise_by(task, &inside, best);
        watch.checkpoint()?;
    }
    Ok(())
}

/// Returns the bound that the links into one set of nodes give; the nodes are ascending.
pub fn cut_bound(task: &CollectiveTask, inside: &[u32]) -> EpochBound {
    let mut best = EpochBound { epochs: 0, reason: BoundReason::Nothing };
    raise_by(task, inside, &mut best);
    best
}

/// Chunks from one source that must cross into the set for one target.
struct Item {
    source: u32,
    target: u32,
    count: u64,
    head: u32,
    tail: u32,
}

fn raise_by(task: &CollectiveTask, inside: &[u32], best: &mut EpochBound) {
    let is_in = task.membership(inside);
    // Links into the set; the lanes of a link share its capacity.
    let lanes = entry_lanes(task, &is_in);
    if lanes.is_empty() {
        return;
    }
    let entries: Vec<u32> = lanes.iter().map(|lanes| lanes[0].link).collect();
    // Starts on the lanes of a link are comparable only after their shifts are subtracted, because this gives the
    // epochs in which the link transmits.
    let before = |at: usize, source: u32| {
        let of = |lane: &EntryLane<'_>| lane.to_tail[source as usize].saturating_sub(lane.shift);
        lanes[at].iter().map(of).min().unwrap_or(FAR)
    };
    let after = |at: usize, target: u32| {
        let of = |lane: &EntryLane<'_>| (lane.after + lane.from_head[target as usize]).min(FAR);
        lanes[at].iter().map(of).min().unwrap_or(FAR)
    };
    let tail_of = |target: u32| (0..entries.len()).map(|at| after(at, target)).min().unwrap_or(FAR);
    let head_of = |source: u32| (0..entries.len()).map(|at| before(at, source)).min().unwrap_or(FAR);
    // Omits items whose source reaches no entry link, or whose destination is reached from no entry link.
    let mut items = items(task, &is_in, &tail_of, &head_of);
    items.retain(|item| item.head < FAR && item.tail < FAR);
    if items.is_empty() {
        return;
    }
    let all: u64 = items.iter().map(|item| item.count).sum();
    // Quick test: computes the bound with the maximum head and the maximum tail on every link. If this does not raise
    // the known bound, no subset of the items can raise it.
    let latest = |at: usize| {
        let head = items.iter().map(|item| before(at, item.source)).max().unwrap_or(0);
        let tail = items.iter().map(|item| after(at, item.target)).max().unwrap_or(0);
        (head, tail)
    };
    let worst: Vec<(u32, u32)> = (0..entries.len()).map(latest).collect();
    if least_finish(task, &entries, &worst, all) <= best.epochs {
        return;
    }
    let heads = thresholds(items.iter().map(|item| item.head));
    let tails = thresholds(items.iter().map(|item| item.tail));
    // Items with at least a given head and at least a given tail: the Pareto thresholds of the one-machine bound.
    for &tail in &tails {
        for &head in &heads {
            let taken: Vec<&Item> =
                items.iter().filter(|item| item.head >= head && item.tail >= tail).collect();
            let count: u64 = taken.iter().map(|item| item.count).sum();
            if count == 0 {
                continue;
            }
            // Minimum head and tail of these items on each link. This is a relaxation, so the bound stays valid.
            let limits: Vec<(u32, u32)> = (0..entries.len())
                .map(|at| {
                    let first = taken.iter().map(|item| before(at, item.source)).min().unwrap_or(FAR);
                    let last = taken.iter().map(|item| after(at, item.target)).min().unwrap_or(FAR);
                    (first, last)
                })
                .collect();
            let epochs = least_finish(task, &entries, &limits, count);
            best.raise(epochs, || BoundReason::Cut { inside: inside.to_vec(), items: count, head, tail });
        }
    }
}

/// A lane of a link into a set of nodes; see [`crate::model::lanes`].
struct EntryLane<'t> {
    /// Index of the lane among all lanes of the network.
    link: u32,
    /// Number of epochs by which the start on this lane is later than the earliest start on a lane of the link, if both
    /// transmissions begin in the same epoch.
    shift: u32,
    /// `shift` plus the latency of the lane, epochs.
    after: u32,
    /// Epochs from every node to the tail of the lane.
    to_tail: &'t [u32],
    /// Epochs from the head of the lane to every node.
    from_head: &'t [u32],
}

/// Returns the lanes of every link into a set of nodes, link by link.
fn entry_lanes<'t>(task: &'t CollectiveTask, is_in: &[bool]) -> Vec<Vec<EntryLane<'t>>> {
    let network = &task.network;
    let mut of_link: BTreeMap<u32, Vec<EntryLane<'t>>> = BTreeMap::new();
    for (link, (ends, model)) in (0u32..).zip(network.links().iter().zip(&task.epochs.links)) {
        if !is_in[ends.from as usize] && is_in[ends.to as usize] {
            of_link.entry(model.carrier).or_default().push(EntryLane {
                link,
                shift: model.shift,
                after: model.latency + model.shift,
                to_tail: task.distances.to(network, ends.from),
                from_head: task.distances.from(network, ends.to),
            });
        }
    }
    of_link.into_values().collect()
}

/// Returns the distinct values in ascending order; if there are more than [`MOST_THRESHOLDS`] values, returns only
/// [`MOST_THRESHOLDS`] evenly spaced values, including the smallest and the largest value.
pub(super) fn thresholds(values: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut values: Vec<u32> = values.collect();
    values.sort_unstable();
    values.dedup();
    if values.len() > MOST_THRESHOLDS {
        let last = values.len() - 1;
        values = (0..MOST_THRESHOLDS).map(|at| values[at * last / (MOST_THRESHOLDS - 1)]).collect();
    }
    values
}

/// Returns the items of a cut; chunks with the same source and target form one item.
fn items(
    task: &CollectiveTask,
    is_in: &[bool],
    tail_of: &impl Fn(u32) -> u32,
    head_of: &impl Fn(u32) -> u32,
) -> Vec<Item> {
    let mut items: Vec<Item> = Vec::new();
    for chunk in 0..task.chunks.len() {
        let source = task.chunks.source(chunk);
        if is_in[source as usize] {
            continue;
        }
        // One crossing serves all destinations inside the set, so the destination that is served last counts.
        let dests = task.chunks.dests(chunk).filter(|dest| is_in[*dest as usize]);
        let Some((tail, target)) = dests.map(|dest| (tail_of(dest), dest)).max_by_key(|(tail, _)| *tail)
        else {
            continue;
        };
        // Chunks of a source are listed together, so equal items are neighbours.
        match items.last_mut() {
            Some(last) if last.source == source && last.target == target => last.count += 1,
            _ => items.push(Item { source, target, count: 1, head: head_of(source), tail }),
        }
    }
    items
}

/// Returns the smallest finish by which `count` chunks can start on the entry links and arrive; 0 if this is never
/// possible. `limits` states for each link the first epoch of a start, and the number of epochs that must follow a
/// start. Capacity only grows with the finish, so bisection finds the smallest finish.
fn least_finish(task: &CollectiveTask, entries: &[u32], limits: &[(u32, u32)], count: u64) -> u32 {
    let room = |finish: u32| {
        let of = |(link, (head, tail)): (&u32, &(u32, u32))| {
            // Epochs in which a start on this link can still arrive in time.
            let epochs = i64::from(finish) - i64::from(*head) - i64::from(*tail) + 1;
            task.epochs.links[*link as usize].starts_in(epochs)
        };
        entries.iter().zip(limits).map(of).fold(0u64, u64::saturating_add)
    };
    // Doubles an upper limit first, then bisects.
    let (mut low, mut high) = (0u32, 1u32);
    while room(high) < count {
        if high >= FAR {
            return 0;
        }
        (low, high) = (high, high * 2);
    }
    while low < high {
        let middle = low.midpoint(high);
        if room(middle) >= count {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    high
}
