//! The steps of a change for operators: live circuits of every pod and pair of pods before, during and after each step,
//! and the circuits between two steps.

use crate::plan::{Action, Batch, Changes, Entry};
use crate::rollout::caveat::{Pair, dead_removals, entries, entry, pair};
use crate::scenario::{Circuit, CrossconnectScenario, End};
use std::collections::{BTreeMap, BTreeSet};

/// Live circuits before, during and after a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LiveAround {
    /// Number of circuits before the step.
    pub before: u32,
    /// Number of circuits during the step, between its removals and its additions.
    pub during: u32,
    /// Number of circuits after the step.
    pub after: u32,
}

impl LiveAround {
    /// Returns the fraction of the circuits before the step that are live during the step.
    pub fn share(&self) -> f64 {
        if self.before == 0 { 1.0 } else { f64::from(self.during) / f64::from(self.before) }
    }
}

/// One step of a change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// Entries of every switch that the step touches, removals first.
    pub switches: BTreeMap<u32, Vec<Entry>>,
    /// Circuits of the pods that lose or get a circuit.
    pub pods: BTreeMap<u32, LiveAround>,
    /// Circuits of the pairs of pods that lose or get a circuit.
    pub pairs: BTreeMap<Pair, LiveAround>,
    /// All circuits.
    pub all: LiveAround,
}

impl Step {
    /// Returns the numbers of circuits that the step removes and adds.
    pub fn counts(&self) -> [usize; 2] {
        let entries = || self.switches.values().flatten();
        [Action::Remove, Action::Add].map(|action| entries().filter(|entry| entry.action == action).count())
    }

    /// Returns the pod that keeps the smallest fraction of its circuits; `None` if no pod loses a circuit during the
    /// step.
    pub fn worst_pod(&self) -> Option<(u32, LiveAround)> {
        let least = self.pods.iter().min_by(|a, b| a.1.share().total_cmp(&b.1.share()));
        least.map(|(pod, live)| (*pod, *live)).filter(|(_, live)| live.during < live.before)
    }

    /// Returns the pairs of pods that have circuits before and after the step but none during it.
    pub fn cut(&self) -> impl Iterator<Item = Pair> + '_ {
        let is_cut = |live: &LiveAround| live.before > 0 && live.during == 0 && live.after > 0;
        self.pairs.iter().filter(move |(_, live)| is_cut(live)).map(|(pair, _)| *pair)
    }
}

/// Live circuits at one time.
#[derive(Default)]
struct LiveCounts {
    all: u32,
    pods: Vec<u32>,
    pairs: BTreeMap<Pair, u32>,
}

impl LiveCounts {
    fn change(&mut self, (a, b): Pair, by: i32) {
        self.all = self.all.saturating_add_signed(by);
        // A circuit of a pod to itself is one circuit of that pod.
        for pod in BTreeSet::from([a, b]) {
            if let Some(count) = self.pods.get_mut(pod as usize) {
                *count = count.saturating_add_signed(by);
            }
        }
        let count = self.pairs.entry((a, b)).or_default();
        *count = count.saturating_add_signed(by);
    }

    /// Records the counts of all pods and pairs that a step changes.
    fn note(&self, step: &mut Step, at: fn(&mut LiveAround) -> &mut u32) {
        *at(&mut step.all) = self.all;
        for (pod, live) in &mut step.pods {
            *at(live) = self.pods.get(*pod as usize).copied().unwrap_or(0);
        }
        for (pair, live) in &mut step.pairs {
            *at(live) = self.pairs.get(pair).copied().unwrap_or(0);
        }
    }
}

/// Returns the steps of a change. Circuits at failed ports are never live.
pub fn steps(scenario: &CrossconnectScenario, changes: &Changes) -> Vec<Step> {
    let dead = dead_removals(scenario, changes);
    let mut now = LiveCounts { pods: vec![0; scenario.pods as usize], ..LiveCounts::default() };
    for (at, entry) in entries(changes) {
        if entry.action != Action::Add && !dead.contains(&at) {
            now.change(pair(entry), 1);
        }
    }
    let mut found = Vec::new();
    for Batch { changes: references, .. } in &changes.batches {
        let mut step = Step::default();
        let listed: Vec<_> = references.iter().filter_map(|at| Some((*at, entry(changes, *at)?))).collect();
        for (_, entry) in &listed {
            let (a, b) = pair(entry);
            step.pods.extend([(a, LiveAround::default()), (b, LiveAround::default())]);
            step.pairs.insert((a, b), LiveAround::default());
        }
        now.note(&mut step, |live| &mut live.before);
        for (at, entry) in listed.iter().filter(|(_, entry)| entry.action == Action::Remove) {
            step.switches.entry(at.ocs_id).or_default().push(**entry);
            if !dead.contains(at) {
                now.change(pair(entry), -1);
            }
        }
        now.note(&mut step, |live| &mut live.during);
        for (at, entry) in listed.iter().filter(|(_, entry)| entry.action == Action::Add) {
            step.switches.entry(at.ocs_id).or_default().push(**entry);
            now.change(pair(entry), 1);
        }
        now.note(&mut step, |live| &mut live.after);
        found.push(step);
    }
    found
}

/// Returns the circuits on the switches after this number of steps.
pub fn standing(changes: &Changes, steps: usize) -> BTreeSet<(u32, Circuit)> {
    let mut standing: BTreeSet<(u32, Circuit)> = entries(changes)
        .filter(|(_, entry)| entry.action != Action::Add)
        .map(|(at, entry)| (at.ocs_id, entry.circuit()))
        .collect();
    let made = changes.batches.iter().take(steps).flat_map(|batch| &batch.changes);
    for (at, entry) in made.filter_map(|at| Some((at, entry(changes, *at)?))) {
        let circuit = (at.ocs_id, entry.circuit());
        if entry.action == Action::Remove {
            standing.remove(&circuit);
        } else {
            standing.insert(circuit);
        }
    }
    standing
}

/// Progress of a change, from the circuits on the switches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangeProgress {
    /// Number of steps that are done.
    pub done: usize,
    /// Number of all steps.
    pub of: usize,
    /// If the next step has begun, the ports that are not yet in their state after it: switch, side, pod and index.
    pub waiting: BTreeSet<(u32, End)>,
    /// Ports whose state fits neither the state after `done` steps nor the next step.
    pub differ: BTreeSet<(u32, End)>,
}

/// Returns the number of completed steps: the largest number for which the fewest ports differ both from the state after
/// these steps and from the next step.
///
/// A state fits the next step if it contains every circuit that this step leaves alone, and apart from these only circuits
/// that the step removes or adds.
pub fn progress(
    scenario: &CrossconnectScenario,
    changes: &Changes,
    stands: &BTreeSet<(u32, Circuit)>,
    strays: &BTreeSet<(u32, End)>,
) -> ChangeProgress {
    // Without sides either end of a circuit may be named first.
    let ends = |set: &BTreeSet<(u32, Circuit)>| -> BTreeSet<(u32, [End; 2])> {
        let sorted = |(ocs, circuit): &(u32, Circuit)| {
            let mut ends = scenario.ends(*circuit);
            ends.sort_unstable();
            (*ocs, ends)
        };
        set.iter().map(sorted).collect()
    };
    let here = ends(stands);
    let of = changes.batches.len();
    let between = |done: usize| -> ChangeProgress {
        let [before, after] = [done, (done + 1).min(of)].map(|steps| ends(&standing(changes, steps)));
        let is_wrong = |circuit: &&(u32, [End; 2])| before.contains(*circuit) == after.contains(*circuit);
        let differ: BTreeSet<(u32, End)> = ports(here.symmetric_difference(&before).filter(is_wrong))
            .chain(strays.iter().copied())
            .collect();
        let begun = here.symmetric_difference(&before).any(|circuit| !is_wrong(&circuit));
        let waiting = here.symmetric_difference(&after).filter(|circuit| begun && !is_wrong(circuit));
        ChangeProgress { done, of, waiting: ports(waiting).collect(), differ }
    };
    (0..=of).rev().map(between).min_by_key(|found| found.differ.len()).unwrap_or_default()
}

fn ports<'a>(circuits: impl Iterator<Item = &'a (u32, [End; 2])>) -> impl Iterator<Item = (u32, End)> {
    circuits.flat_map(|(ocs, ends)| ends.map(|end| (*ocs, end)))
}
