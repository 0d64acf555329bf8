//! Bounds from all links together: the hops or epochs that chunks need, compared with the capacity of all links
//! (docs/methods/collective.md, section 4).

use super::{BoundReason, EpochBound};
use crate::model::distances::{EpochDistances, FAR};
use crate::model::task::CollectiveTask;
use lightbay_core::method::MethodError;
use lightbay_core::watch::Watch;

/// Scale of fractional lengths, which are rounded to integers; any lengths give a valid bound, so rounding is safe.
const POINT: u64 = 1 << 8;

/// Replaces `best` by the bound from the data that all links can carry up to an epoch, if that bound is larger.
pub(super) fn raise<W: Watch<S>, S>(
    task: &CollectiveTask,
    best: &mut EpochBound,
    watch: &mut W,
) -> Result<(), MethodError> {
    let network = &task.network;
    let deliveries = task.chunks.deliveries() as u64;
    if deliveries == 0 {
        return Ok(());
    }
    if task.chunks.is_unicast() {
        // Two lengths of links are tried, hops and epochs of occupation; any length gives a valid bound.
        for weighed in [false, true] {
            let lengths: Vec<u32> = task
                .epochs
                .links
                .iter()
                .map(|link| {
                    let starts = u64::from(link.starts);
                    let length = if weighed { u64::from(link.occupied) * POINT / starts } else { POINT };
                    length.min(1 << 20) as u32
                })
                .collect();
            let distances = EpochDistances::new(network, lengths.clone());
            let mut needed = 0u64;
            for chunk in 0..task.chunks.len() {
                let row = distances.from(network, task.chunks.source(chunk));
                // The links that a delivery uses have at least the total length of its shortest path.
                needed += task.chunks.dests(chunk).map(|dest| u64::from(row[dest as usize])).sum::<u64>();
                if chunk % 256 == 0 {
                    watch.checkpoint()?;
                }
            }
            let epochs = least_finish(task, |link| u64::from(lengths[link as usize]), needed);
            best.raise(epochs, || BoundReason::Metric { weighed });
        }
    } else {
        // Even with copies, every delivery needs one send into the destination GPU.
        let into_gpu = |link: u32| u64::from(!network.is_switch(network.links()[link as usize].to));
        best.raise(least_finish(task, into_gpu, deliveries), || BoundReason::Metric { weighed: false });
    }
    Ok(())
}

/// Returns the smallest finish, in epochs, by which the links can make enough transmissions; 0 if they never can. Each
/// transmission counts with the weight of its link, and the sum over all transmissions must be at least `needed`.
fn least_finish(task: &CollectiveTask, weight: impl Fn(u32) -> u64, needed: u64) -> u32 {
    // For each link, the minimum over its lanes of the epochs from a transmission to its delivery: a start that is
    // fewer epochs before the finish delivers nothing.
    let mut after = vec![u32::MAX; task.real.links().len()];
    for model in &task.epochs.links {
        let least = &mut after[model.carrier as usize];
        *least = (*least).min(model.latency + model.shift);
    }
    let room = |finish: u32| {
        // The first lane of a link has the number of the link.
        let of = |(id, after): (u32, &u32)| {
            let epochs = i64::from(finish) - i64::from(*after) + 1;
            weight(id).saturating_mul(task.epochs.links[id as usize].starts_in(epochs))
        };
        (0u32..).zip(&after).map(of).fold(0u64, u64::saturating_add)
    };
    let (mut low, mut high) = (0u32, 1u32);
    while room(high) < needed {
        if high >= FAR {
            return 0;
        }
        (low, high) = (high, high * 2);
    }
    while low < high {
        let middle = low.midpoint(high);
        if room(middle) >= needed {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    high
}
