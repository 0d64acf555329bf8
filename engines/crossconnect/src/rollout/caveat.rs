//! Warnings about a plan in addition to its objective: target circuits that are not set, and pairs of pods that a batch
//! cuts off; also remarks on exceeded limits.

use crate::plan::{Action, Changes, Entry, EntryRef};
use crate::rollout::assemble::limits_note;
use crate::rollout::batches;
use crate::rollout::ports::Wired;
use crate::scenario::{CrossconnectScenario, Port, Rollout};
use lightbay_core::problem::counted;
use std::collections::{BTreeMap, BTreeSet, HashSet};

#[cfg(test)]
mod tests;

/// Value of `min_pair_share` that the warning suggests: the fraction of its circuits that every pair of pods keeps.
const GENTLER_SHARE: f64 = 0.5;
/// Maximum number of changes for which the batches with this value are computed; a larger change would take too long.
const MOST_CHANGES: usize = 4000;
/// Number of pairs that are named before the rest is only counted.
const NAMED: usize = 6;

/// A pair of pods, the smaller first.
pub type Pair = (u32, u32);

/// Returns the remarks on unmet target circuits, on pairs of pods that a batch cuts off and on exceeded limits as one
/// text; `None` if there are none.
pub fn of(
    scenario: &CrossconnectScenario,
    changes: &Changes,
    metrics: &BTreeMap<String, f64>,
) -> Option<String> {
    let said: Vec<String> = [unmet(scenario, changes), cut_off(scenario, changes), limits_note(metrics)]
        .into_iter()
        .flatten()
        .collect();
    (!said.is_empty()).then(|| said.join("; "))
}

/// A warning about a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The warning in a few words, for titles.
    pub short: String,
    /// The warning in one sentence.
    pub text: String,
}

impl Warning {
    /// Returns all warnings of a change.
    pub fn all(scenario: &CrossconnectScenario, changes: &Changes) -> Vec<Self> {
        let unmet = unmet(scenario, changes).map(|text| {
            let count = changes.totals.unmet_circuits.unwrap_or(0);
            Self { short: format!("{} cannot be set", counted(count, "circuit", "circuits")), text }
        });
        let cut = cut_off(scenario, changes).map(|text| {
            let pairs = cut_pairs(scenario, changes).into_iter().flat_map(|(_, pairs)| pairs);
            let count = pairs.collect::<BTreeSet<_>>().len();
            let word = if count == 1 { "pair" } else { "pairs" };
            Self { short: format!("{count} {word} cut off"), text }
        });
        unmet.into_iter().chain(cut).collect()
    }
}

/// Returns the pairs of pods with unmet target circuits: pair, circuits that are set, target circuits.
pub fn unmet_pairs(scenario: &CrossconnectScenario, changes: &Changes) -> Vec<(Pair, u32, u32)> {
    // Circuits that are set, by pair.
    let mut set: BTreeMap<Pair, u32> = BTreeMap::new();
    for (_, entry) in entries(changes).filter(|(_, entry)| entry.action != Action::Remove) {
        *set.entry(pair(entry)).or_default() += 1;
    }
    let short = scenario.wanted_pairs().into_iter().map(|(pair, wanted)| {
        let set = set.get(&pair).copied().unwrap_or(0);
        (pair, set, wanted)
    });
    short.filter(|&(_, set, wanted)| set < wanted).collect()
}

/// Returns the warning about target circuits that are not set; `None` if all target circuits are set.
pub fn unmet(scenario: &CrossconnectScenario, changes: &Changes) -> Option<String> {
    let unmet = changes.totals.unmet_circuits?;
    let least = changes.totals.lower_bound_unmet_circuits.unwrap_or(0);
    let short = unmet_pairs(scenario, changes);
    let name = |&((i, j), set, wanted): &(Pair, u32, u32)| {
        format!("{}-{} {set} of {wanted}", scenario.pod_name(i as usize), scenario.pod_name(j as usize))
    };
    Some(format!(
        "{unmet} of {} target circuits cannot be set because {} failed (counting working ports proves at least \
         {least}): {}; the removals and their bound cover the circuits that are set",
        scenario.wanted_circuits(),
        counted(scenario.failed_ports.len() as u64, "port", "ports"),
        few(short.iter().map(name))
    ))
}

/// Returns the remark on connections of the switches that make no circuit; `None` if there are no such connections.
pub fn strays(scenario: &CrossconnectScenario) -> Option<String> {
    let count = scenario.strays.len() as u64;
    let connections = counted(count, "connection on the switches makes", "connections on the switches make");
    (count > 0).then(|| {
        format!(
            "{connections} no circuit: exported commands delete such connections first, except a connection that is one direction of a circuit \
             that the plan sets up; rollback files do not restore them."
        )
    })
}

/// For each batch that cuts off pairs of pods, returns the number of the batch, from 0, and these pairs: they have
/// circuits before and after the change, but none during the batch.
pub fn cut_pairs(scenario: &CrossconnectScenario, changes: &Changes) -> Vec<(usize, Vec<Pair>)> {
    // Circuits at failed ports carry nothing, so removing them cuts off no pair.
    let dead = dead_removals(scenario, changes);
    let mut counts: BTreeMap<Pair, [u32; 2]> = BTreeMap::new();
    for (at, entry) in entries(changes) {
        let [old, new] = counts.entry(pair(entry)).or_default();
        // Live circuits before and after the whole change.
        *old += u32::from(entry.action != Action::Add && !dead.contains(&at));
        *new += u32::from(entry.action != Action::Remove);
    }
    let mut live: BTreeMap<Pair, u32> = counts.iter().map(|(&pair, &[old, _])| (pair, old)).collect();
    let mut found = Vec::new();
    for (number, batch) in changes.batches.iter().enumerate() {
        let all = || batch.changes.iter().filter_map(|at| Some((*at, entry(changes, *at)?)));
        // Pairs that lose a circuit in this batch.
        let mut touched = BTreeSet::new();
        for (at, entry) in all().filter(|(_, entry)| entry.action == Action::Remove) {
            if !dead.contains(&at) {
                let live = live.entry(pair(entry)).or_default();
                *live = live.saturating_sub(1);
                touched.insert(pair(entry));
            }
        }
        // Only pairs with circuits before and after can be cut off.
        let served = |pair: &Pair| counts.get(pair).is_some_and(|&[old, new]| old > 0 && new > 0);
        let cut = touched.into_iter().filter(|pair| served(pair) && live.get(pair) == Some(&0));
        let cut: Vec<Pair> = cut.collect();
        if !cut.is_empty() {
            found.push((number, cut));
        }
        for (_, entry) in all().filter(|(_, entry)| entry.action == Action::Add) {
            *live.entry(pair(entry)).or_default() += 1;
        }
    }
    found
}

/// Returns the warning about pairs of pods that a batch cuts off, with the number of batches of an order that cuts off
/// fewer pairs, if one is known; `None` if no pair is cut off.
pub fn cut_off(scenario: &CrossconnectScenario, changes: &Changes) -> Option<String> {
    let cut = cut_pairs(scenario, changes);
    let (first, pairs) = cut.first()?;
    let all: BTreeSet<Pair> = cut.iter().flat_map(|(_, pairs)| pairs).copied().collect();
    let count = all.len() as u64;
    let name = |(i, j): Pair| format!("{}-{}", scenario.pod_name(i as usize), scenario.pod_name(j as usize));
    let when = match cut.len() {
        1 => format!("during batch {} of {}", first + 1, changes.batches.len()),
        several => format!("in {several} of {} batches", changes.batches.len()),
    };
    let advice = || {
        "; set min_pair_share to keep a fraction of the circuits of every pair, in more batches".to_owned()
    };
    let asked = scenario.rollout.min_pair_share > 0.0;
    let gentler = gentler(scenario, changes);
    let gentler = gentler.map_or_else(
        || if asked { String::new() } else { advice() },
        |(batches, left)| {
            let left = match left {
                0 => "leaves every pair a circuit".to_owned(),
                left => format!("still cuts off {}", counted(left as u64, "pair", "pairs")),
            };
            format!(
                "; with min_pair_share={GENTLER_SHARE}, the change {left}, in {}",
                counted(batches as u64, "batch", "batches")
            )
        },
    );
    Some(format!(
        "{} of pods {} no circuit {when}: {}{gentler}",
        counted(count, "pair", "pairs"),
        if count == 1 { "keeps" } else { "keep" },
        few(pairs.iter().copied().map(name))
    ))
}

/// Returns the number of batches of the same change if every pair of pods keeps half of its circuits, and the number of
/// pairs that are still cut off. `None` if the scenario already requires this, if a gentler order helps no pair, or if
/// the change is too large for a quick answer.
pub fn gentler(scenario: &CrossconnectScenario, changes: &Changes) -> Option<(usize, usize)> {
    let size: usize = changes.batches.iter().map(|batch| batch.changes.len()).sum();
    if scenario.rollout.min_pair_share >= GENTLER_SHARE || size > MOST_CHANGES {
        return None;
    }
    let rollout = Rollout { min_pair_share: GENTLER_SHARE, ..scenario.rollout };
    let asked = CrossconnectScenario { rollout, ..scenario.clone() };
    // The same changes in another order.
    let wired = Wired { ocs: changes.ocs.clone(), forced: dead_removals(scenario, changes) };
    let schedule = batches::schedule(&asked, &wired);
    let careful = Changes { batches: schedule.batches, ..changes.clone() };
    let pairs = |changes: &Changes| -> usize {
        cut_pairs(scenario, changes).into_iter().flat_map(|(_, pairs)| pairs).collect::<BTreeSet<_>>().len()
    };
    let left = pairs(&careful);
    // Only an order that cuts off fewer pairs is reported.
    (left < pairs(changes)).then_some((careful.batches.len(), left))
}

/// Returns the removals of circuits that end at failed ports.
pub fn dead_removals(scenario: &CrossconnectScenario, changes: &Changes) -> BTreeSet<EntryRef> {
    let failed: HashSet<Port> = scenario.failed_ports.iter().copied().collect();
    // A removal is dead if one of the ports of its circuit has failed.
    let dead = |(at, entry): &(EntryRef, &Entry)| {
        let ends = scenario.ends(entry.circuit());
        let is_failed =
            |(side, pod, port_index)| failed.contains(&Port { ocs_id: at.ocs_id, pod, side, port_index });
        entry.action == Action::Remove && ends.into_iter().any(is_failed)
    };
    if failed.is_empty() {
        return BTreeSet::new();
    }
    entries(changes).filter(dead).map(|(at, _)| at).collect()
}

pub(super) fn entries(changes: &Changes) -> impl Iterator<Item = (EntryRef, &Entry)> {
    changes.ocs.iter().flat_map(|ocs| {
        let named = |(entry, listed): (u32, _)| (EntryRef { ocs_id: ocs.ocs_id, entry }, listed);
        (0u32..).zip(&ocs.cross_connects).map(named)
    })
}

pub(super) fn entry(changes: &Changes, at: EntryRef) -> Option<&Entry> {
    changes.ocs.get(at.ocs_id as usize)?.cross_connects.get(at.entry as usize)
}

pub(super) fn pair(entry: &Entry) -> Pair {
    (entry.pod_a.min(entry.pod_b), entry.pod_a.max(entry.pod_b))
}

/// Lists the first names and the number of the remaining names.
pub fn few(names: impl Iterator<Item = String>) -> String {
    let mut names: Vec<String> = names.collect();
    let more = names.len().saturating_sub(NAMED);
    names.truncate(NAMED);
    if more > 0 {
        names.push(format!("{more} more"));
    }
    names.join(", ")
}
