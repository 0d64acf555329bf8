//! Bounds for chunks that are split into any parts and never copied: paths, cuts with heads and tails, and metrics
//! (docs/methods/collective.md, section 4).

use super::cuts::thresholds;
use super::{BoundReason, EpochBound, sets};
use crate::model::distances::{EpochDistances, FAR};
use crate::model::fluid::FluidLinks;
use crate::model::task::CollectiveTask;
use lightbay_core::method::MethodError;
use lightbay_core::watch::Watch;
use rustc_hash::FxHashMap;

/// Scale of fractional lengths, which are rounded to integers; any lengths give a valid bound, so rounding is safe.
const POINT: f64 = 256.0;
/// Relative tolerance for the rounding of sums.
const SLACK: f64 = 1e-9;

/// Data from one source to one destination, as a number of chunks.
struct FluidShare {
    source: u32,
    dest: u32,
    chunks: u64,
}

/// Returns the best bound on the finish of schedules that split chunks into parts and do not copy: every destination
/// gets its own data.
///
/// # Errors
/// If the run must stop.
pub fn fluid_bound<W: Watch<S>, S>(
    task: &CollectiveTask,
    links: &FluidLinks,
    watch: &mut W,
) -> Result<EpochBound, MethodError> {
    let mut best = EpochBound { epochs: 0, reason: BoundReason::Nothing };
    // Path bound: the longest of the shortest paths.
    let shares = shares(task);
    for share in &shares {
        let way = links.distances.from(&task.network, share.source)[share.dest as usize];
        best.raise(way, || BoundReason::Path { from: share.source, to: share.dest });
    }
    for inside in sets::candidates(task) {
        raise_by_cut(task, links, &shares, &inside, &mut best);
        watch.checkpoint()?;
    }
    raise_by_metric(task, links, &shares, &mut best);
    Ok(best)
}

/// Returns the number of chunks for each pair of source and destination.
fn shares(task: &CollectiveTask) -> Vec<FluidShare> {
    let mut counts: FxHashMap<(u32, u32), u64> = FxHashMap::default();
    for chunk in 0..task.chunks.len() {
        for dest in task.chunks.dests(chunk) {
            *counts.entry((task.chunks.source(chunk), dest)).or_default() += 1;
        }
    }
    let mut shares: Vec<FluidShare> =
        counts.into_iter().map(|((source, dest), chunks)| FluidShare { source, dest, chunks }).collect();
    shares.sort_unstable_by_key(|share| (share.source, share.dest));
    shares
}

fn raise_by_cut(
    task: &CollectiveTask,
    links: &FluidLinks,
    shares: &[FluidShare],
    inside: &[u32],
    best: &mut EpochBound,
) {
    // Links into the set.
    let network = &task.network;
    let mut is_in = vec![false; network.node_count()];
    for &node in inside {
        is_in[node as usize] = true;
    }
    let entries: Vec<u32> = (0u32..)
        .zip(network.links())
        .filter(|(_, link)| !is_in[link.from as usize] && is_in[link.to as usize])
        .map(|(id, _)| id)
        .collect();
    let ends = |link: u32| &network.links()[link as usize];
    let before: Vec<&[u32]> = entries.iter().map(|e| links.distances.to(network, ends(*e).from)).collect();
    let behind: Vec<&[u32]> = entries.iter().map(|e| links.distances.from(network, ends(*e).to)).collect();
    let after = |at: usize, dest: u32| {
        links.links[entries[at] as usize].latency.saturating_add(behind[at][dest as usize]).min(FAR)
    };
    let each = 0..entries.len();
    // Head and tail of the data that must cross.
    let items: Vec<(&FluidShare, u32, u32)> = shares
        .iter()
        .filter(|share| !is_in[share.source as usize] && is_in[share.dest as usize])
        .map(|share| {
            let head = each.clone().map(|at| before[at][share.source as usize]).min().unwrap_or(FAR);
            (share, head, each.clone().map(|at| after(at, share.dest)).min().unwrap_or(FAR))
        })
        .filter(|(_, head, tail)| *head < FAR && *tail < FAR)
        .collect();
    let heads = thresholds(items.iter().map(|(_, head, _)| *head));
    let tails = thresholds(items.iter().map(|(_, _, tail)| *tail));
    for &tail in &tails {
        for &head in &heads {
            let taken: Vec<&FluidShare> = items
                .iter()
                // Shares with at least a given head and a given tail: Pareto thresholds as for whole chunks.
                .filter(|(_, earliest, way)| *earliest >= head && *way >= tail)
                .map(|(share, ..)| *share)
                .collect();
            let count: u64 = taken.iter().map(|share| share.chunks).sum();
            if count == 0 {
                continue;
            }
            let room: Vec<(f64, u32)> = each
                .clone()
                // A link can carry useful data only after the epochs of its head and before the epochs of its tail.
                .map(|at| {
                    let first = taken.iter().map(|share| before[at][share.source as usize]).min();
                    let last = taken.iter().map(|share| after(at, share.dest)).min();
                    let lost = first.unwrap_or(FAR).saturating_add(last.unwrap_or(FAR));
                    (links.links[entries[at] as usize].per_epoch, lost)
                })
                .collect();
            let epochs = least_finish(&room, count as f64);
            best.raise(epochs, || BoundReason::Cut { inside: inside.to_vec(), items: count, head, tail });
        }
    }
}

fn raise_by_metric(task: &CollectiveTask, links: &FluidLinks, shares: &[FluidShare], best: &mut EpochBound) {
    // Lengths of links: first hops, then the epochs for which a chunk occupies a link.
    for weighed in [false, true] {
        let length = |per_epoch: f64| if weighed { (POINT / per_epoch).clamp(1.0, 1e6) } else { POINT };
        let lengths: Vec<u32> = links.links.iter().map(|link| length(link.per_epoch) as u32).collect();
        let distances = EpochDistances::new(&task.network, lengths.clone());
        let way = |share: &FluidShare| distances.from(&task.network, share.source)[share.dest as usize];
        // Amounts times lengths of shortest paths: no routing uses less capacity.
        let needed: f64 = shares.iter().map(|share| share.chunks as f64 * f64::from(way(share))).sum();
        let room: Vec<(f64, u32)> = links
            .links
            .iter()
            .zip(&lengths)
            .map(|(link, length)| (link.per_epoch * f64::from(*length), link.latency))
            .collect();
        best.raise(least_finish(&room, needed), || BoundReason::Metric { weighed });
    }
}

/// Returns the smallest finish, in epochs, by which the links can carry an amount of data; 0 if they never can. Each
/// link is given by its rate and by the number of epochs in which it carries no useful data.
fn least_finish(links: &[(f64, u32)], amount: f64) -> u32 {
    let carries = |finish: u32| {
        // A link carries nothing useful during its head and its tail.
        let of = |(rate, lost): &(f64, u32)| rate * (f64::from(finish) - f64::from(*lost) + 1.0).max(0.0);
        links.iter().map(of).sum::<f64>() >= amount * (1.0 - SLACK)
    };
    let (mut low, mut high) = (0u32, 1u32);
    while !carries(high) {
        if high >= FAR {
            return 0;
        }
        (low, high) = (high, high * 2);
    }
    while low < high {
        let middle = low.midpoint(high);
        if carries(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::task::CollectiveTasks;
    use crate::scenario::{EpochRule, presets};
    use lightbay_core::watch::Unwatched;

    fn bound(task: &CollectiveTask) -> EpochBound {
        fluid_bound::<_, ()>(task, &FluidLinks::of(task), &mut Unwatched::default()).unwrap()
    }

    #[test]
    fn the_middle_of_one_dgx1_binds_all_to_all() {
        for (chunks, epoch_us, epochs) in [(1u32, 1.0 / 3.0, 8), (3, 0.5, 16), (8, 1.0 / 3.0, 64)] {
            let mut scenario = presets::scenario("dgx1-alltoall-200kb").unwrap();
            scenario.demand.chunks_per_rank = chunks;
            scenario.demand.output_buffer_bytes = Some(200_000.0 * f64::from(chunks));
            scenario.topology.links.iter_mut().for_each(|link| link.alpha_us = 0.0);
            scenario.time.epoch = EpochRule::Fixed;
            scenario.time.epoch_us = Some(epoch_us);
            let tasks = CollectiveTasks::of(&scenario, None).unwrap();
            let bound = bound(&tasks.tasks[0]);
            assert_eq!(bound.epochs, epochs, "{chunks} chunks: {}", bound.words(&tasks.tasks[0]));
            assert!(matches!(bound.reason, BoundReason::Cut { inside, .. } if inside.len() == 4));
        }
    }

    #[test]
    fn half_a_torus_and_its_hops_bind_alike() {
        let mut scenario = presets::scenario("torus4x4-alltoall-1.6mb").unwrap();
        scenario.topology.links.iter_mut().for_each(|link| link.alpha_us = 0.0);
        let tasks = CollectiveTasks::of(&scenario, None).unwrap();
        let bound = bound(&tasks.tasks[0]);
        assert_eq!(bound.epochs, 8, "{:?}", bound.reason);
        let mut hops = EpochBound { epochs: 0, reason: BoundReason::Nothing };
        raise_by_metric(
            &tasks.tasks[0],
            &FluidLinks::of(&tasks.tasks[0]),
            &shares(&tasks.tasks[0]),
            &mut hops,
        );
        assert_eq!((hops.epochs, hops.reason), (8, BoundReason::Metric { weighed: false }));
    }
}
