//! The order in which changes are made (docs/methods/crossconnect.md, section 10).
//!
//! A batch removes circuits, then adds circuits on ports that are free after the removals, so no addition uses a busy
//! port. Without limits, one batch makes all changes, unless this batch would cut off a pair of pods or remove more
//! than half of a pod's circuits. Such a change is split into several batches if this avoids the loss for at least one
//! of these pods or pairs, except a very large change and a change within an iteration. With limits on dark circuits,
//! the changes form components: chains and rings in which a removal frees a port for an addition, which needs another
//! removal. A component that is made in one batch leaves no dark circuit behind, so whole components are packed first,
//! the largest first. A component that is too large for any batch is cut: moves that make one more addition possible
//! are made one by one as far as the limits allow, and the rest follows in the next batches. If no move respects the
//! limits, the move with the smallest violation is made and counted.

use crate::plan::{Action, Batch, Entry, EntryRef};
use crate::rollout::ports::Wired;
use crate::scenario::CrossconnectScenario;

mod components;
mod pack;
mod traffic;

use components::ChangeComponents;
use pack::Care;
use rustc_hash::FxHashSet;
use traffic::Traffic;

/// Maximum number of removals and additions of a change that is split although no limits are set; packing takes
/// quadratic time.
const MOST_SPLIT: usize = 4000;

/// Batches, and the circuits that are dark during them.
#[derive(Clone, Debug, PartialEq)]
pub struct Schedule {
    /// The batches, in execution order; none if nothing changes.
    pub batches: Vec<Batch>,
    /// Number of batches that violate a limit.
    pub broken: u64,
    /// Number of pods and pairs of pods for which some batch violates a limit.
    pub spoiled: u64,
    /// Maximum number of circuits that are dark during a batch.
    pub max_dark_circuits: u64,
    /// Maximum number of circuits that a pod lacks during a batch.
    pub max_dark_per_pod: u64,
    /// Smallest fraction of its circuits that a pair of pods keeps during a batch.
    pub least_pair_share: f64,
}

/// Returns the changes in batches. If no limits are set, several batches are made only if fewer pods and pairs of pods
/// then lose too many circuits than in one batch.
pub fn schedule(scenario: &CrossconnectScenario, wired: &Wired) -> Schedule {
    let work = ChangeComponents::of(scenario, wired);
    let traffic = Traffic::of(scenario, wired);
    // With default limits, one batch makes all changes, unless several batches leave fewer pods and pairs of pods below
    // their limits.
    if scenario.rollout.is_usual() {
        let all: Vec<u32> = (0..work.changes.len() as u32).collect();
        let order = if all.is_empty() { Vec::new() } else { vec![all] };
        let traffic = traffic.spared(&work);
        let whole = replay(&work, traffic.clone(), order);
        // Circuits that change within an iteration change in one batch.
        if whole.spoiled == 0 || work.changes.len() > MOST_SPLIT || scenario.switching.is_some() {
            return whole;
        }
        let split = packed(&work, &traffic);
        return if split.spoiled < whole.spoiled { split } else { whole };
    }
    packed(&work, &traffic)
}

/// Returns the changes in batches, within the limits if such batches are found.
fn packed(work: &ChangeComponents, traffic: &Traffic) -> Schedule {
    // Opening several long components at once takes fewer batches, but their dark circuits use up the same limits, so
    // the components may block each other.
    let eager = replay(work, traffic.clone(), pack::pack(work, traffic.clone(), Care::Eager));
    if eager.broken == 0 {
        return eager;
    }
    let careful = replay(work, traffic.clone(), pack::pack(work, traffic.clone(), Care::OneAtATime));
    // The order in which fewer batches violate a limit wins; ties go to the eager order.
    if careful.broken < eager.broken { careful } else { eager }
}

/// Counts the circuits that are dark during the batches of an order.
fn replay(work: &ChangeComponents, mut traffic: Traffic, order: Vec<Vec<u32>>) -> Schedule {
    let mut schedule = Schedule {
        batches: Vec::with_capacity(order.len()),
        broken: 0,
        spoiled: 0,
        max_dark_circuits: 0,
        max_dark_per_pod: 0,
        least_pair_share: 1.0,
    };
    let mut spoiled = FxHashSet::default();
    for mut changes in order {
        // Removals first, then additions, each in order of the switches.
        changes.sort_unstable_by_key(|&change| {
            let change = &work.changes[change as usize];
            (!change.removal, change.at)
        });
        let additions = changes.partition_point(|&change| work.changes[change as usize].removal);
        for &change in &changes[..additions] {
            traffic.take(&work.changes[change as usize]);
        }
        // The number of dark circuits is largest between removals and additions.
        let dark = traffic.dark();
        schedule.broken += u64::from(dark.broken);
        spoiled.extend(traffic.short());
        schedule.max_dark_circuits = schedule.max_dark_circuits.max(dark.circuits);
        schedule.max_dark_per_pod = schedule.max_dark_per_pod.max(dark.of_a_pod);
        schedule.least_pair_share = schedule.least_pair_share.min(dark.least_pair_share);
        for &change in &changes[additions..] {
            traffic.give(&work.changes[change as usize]);
        }
        let changes = changes.iter().map(|&change| work.changes[change as usize].at).collect();
        schedule.batches.push(Batch { changes, dark_circuits: dark.circuits });
    }
    schedule.spoiled = spoiled.len() as u64;
    schedule
}

/// Returns the entries of a plan with the references by which batches name them.
fn entries(wired: &Wired) -> impl Iterator<Item = (EntryRef, &Entry)> {
    wired.ocs.iter().flat_map(|ocs| {
        let named = |(entry, listed): (u32, _)| (EntryRef { ocs_id: ocs.ocs_id, entry }, listed);
        (0u32..).zip(&ocs.cross_connects).map(named)
    })
}

/// Returns the pods of an entry, the smaller first.
fn pair(entry: &Entry) -> (u32, u32) {
    (entry.pod_a.min(entry.pod_b), entry.pod_a.max(entry.pod_b))
}

const fn is_change(entry: &Entry) -> bool {
    !matches!(entry.action, Action::Keep)
}

#[cfg(test)]
mod tests;
