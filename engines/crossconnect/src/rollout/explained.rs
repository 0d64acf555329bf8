//! Counts of a plan for reports: circuits per switch and pair of pods, and the circuits that every batch removes, per
//! pod.

use crate::plan::{Action, Batch, Changes, Entry, EntryRef};
use crate::scenario::{Circuit, CrossconnectScenario, Side, Wiring};
use std::collections::{BTreeMap, HashSet};

#[cfg(test)]
mod tests;

/// Maximum number of switches that are listed by number; more switches are listed with the most changes first.
pub const BY_NUMBER: usize = 16;

/// Circuits of one switch between two pods, with orientation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SwitchCell {
    /// Pod at the A port.
    pub a: u32,
    /// Pod at the B port.
    pub b: u32,
    /// Number of circuits that stay.
    pub keep: u32,
    /// Number of circuits that are set up.
    pub add: u32,
    /// Number of circuits that are removed, including those at failed ports.
    pub remove: u32,
}

/// Changes of one switch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Switch {
    /// Number of circuits that stay.
    pub keep: u32,
    /// Number of circuits that are set up.
    pub add: u32,
    /// Number of circuits that are removed although their ports work.
    pub remove: u32,
    /// Number of removed circuits that end at failed ports.
    pub forced: u32,
    /// Pairs of pods with circuits, sorted.
    pub cells: Vec<SwitchCell>,
}

impl Switch {
    /// Returns the cells with a pod at the A side.
    pub fn of_pod(&self, pod: u32) -> &[SwitchCell] {
        let from = self.cells.partition_point(|cell| cell.a < pod);
        let to = self.cells.partition_point(|cell| cell.a <= pod);
        &self.cells[from..to]
    }
}

/// Changes of one batch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BatchFacts {
    /// Switches that the batch touches, in order.
    pub switches: Vec<u32>,
    /// Number of circuits that the batch removes.
    pub removals: u32,
    /// Number of circuits that the batch adds.
    pub additions: u32,
    /// Number of circuits that are dark during the batch.
    pub dark: u64,
    /// The pod that lacks the most circuits during the batch, the number of circuits that the pod lacks, and the number
    /// of circuits that the pod should have.
    pub worst: Option<(u32, u64, u64)>,
}

/// Number of ports of a pod that a state of the switches uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Degree {
    /// Number of A ports in use.
    pub out: u32,
    /// Number of B ports in use.
    pub into: u32,
}

/// The counts of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangeFacts {
    /// Number of pods.
    pub pods: usize,
    /// Switches of the plan, in order of id.
    pub switches: Vec<Switch>,
    /// Number of circuits of each pair before the change, row by row, both directions; without circuits at failed
    /// ports.
    pub before: Vec<u32>,
    /// Number of target circuits of each pair, row by row, both directions.
    pub after: Vec<u32>,
    /// Ports in use before the change, by pod.
    pub degrees_before: Vec<Degree>,
    /// Ports in use after the change, by pod.
    pub degrees_after: Vec<Degree>,
    /// Working ports of each pod.
    pub ports: Vec<Degree>,
    /// Batches in execution order.
    pub batches: Vec<BatchFacts>,
    /// `true` if nothing is installed.
    pub green_field: bool,
}

impl ChangeFacts {
    /// Computes all counts that panes show. Takes time linear in the number of entries and quadratic in the number of
    /// pods.
    pub fn of(scenario: &CrossconnectScenario, changes: &Changes) -> Self {
        let pods = scenario.pods as usize;
        let failed: HashSet<(u32, Side, u32, u32)> = scenario
            .failed_ports
            .iter()
            .map(|port| (port.ocs_id, port.side, port.pod, port.port_index))
            .collect();
        let single = scenario.wiring == Wiring::SingleSided;
        let far = if single { Side::A } else { Side::B };
        let is_failed = |ocs: u32, (pod_a, index_a): (u32, u32), (pod_b, index_b): (u32, u32)| {
            !failed.is_empty()
                && (failed.contains(&(ocs, Side::A, pod_a, index_a))
                    || failed.contains(&(ocs, far, pod_b, index_b)))
        };
        let mut facts = Self {
            pods,
            after: scenario.logical_circuits.iter().flatten().copied().collect(),
            before: vec![0; pods * pods],
            degrees_before: vec![Degree::default(); pods],
            degrees_after: vec![Degree::default(); pods],
            ports: vec![Degree::default(); pods],
            green_field: scenario.installed_circuits().next().is_none(),
            ..Self::default()
        };
        for (ocs, circuit) in scenario.installed_circuits() {
            let Circuit { pod_a, port_a_index, pod_b, port_b_index } = circuit;
            if !is_failed(ocs, (pod_a, port_a_index), (pod_b, port_b_index)) {
                let (a, b) = (pod_a as usize, pod_b as usize);
                // The table is symmetric: a circuit counts for both orders of its pods.
                for at in [a * pods + b, b * pods + a] {
                    if let Some(count) = facts.before.get_mut(at) {
                        *count += 1;
                    }
                }
                raise(&mut facts.degrees_before, (a, b), single);
            }
        }
        for ocs in &changes.ocs {
            facts.add_switch(ocs.ocs_id, &ocs.cross_connects, single, &is_failed);
        }
        facts.count_ports(scenario);
        facts.batches = batches(scenario, changes);
        facts
    }

    fn add_switch(
        &mut self,
        ocs: u32,
        entries: &[Entry],
        single: bool,
        is_failed: &impl Fn(u32, (u32, u32), (u32, u32)) -> bool,
    ) {
        let mut switch = Switch::default();
        let mut cells: BTreeMap<(u32, u32), SwitchCell> = BTreeMap::new();
        for entry in entries {
            let (mut a, mut b) = (entry.pod_a, entry.pod_b);
            // Without sides a circuit has no direction, so the lower pod comes first.
            if single && a > b {
                std::mem::swap(&mut a, &mut b);
            }
            let cell = cells.entry((a, b)).or_insert(SwitchCell { a, b, ..SwitchCell::default() });
            match entry.action {
                Action::Keep => {
                    cell.keep += 1;
                    switch.keep += 1;
                }
                Action::Add => {
                    cell.add += 1;
                    switch.add += 1;
                }
                Action::Remove => {
                    cell.remove += 1;
                    let ends = ((entry.pod_a, entry.port_a_index), (entry.pod_b, entry.port_b_index));
                    if is_failed(ocs, ends.0, ends.1) {
                        switch.forced += 1;
                    } else {
                        switch.remove += 1;
                    }
                }
            }
            if entry.action != Action::Remove {
                raise(&mut self.degrees_after, (entry.pod_a as usize, entry.pod_b as usize), single);
            }
        }
        switch.cells = cells.into_values().collect();
        self.switches.push(switch);
    }

    fn count_ports(&mut self, scenario: &CrossconnectScenario) {
        for (pod, ports) in self.ports.iter_mut().enumerate() {
            for ocs in 0..scenario.ocs_count as usize {
                ports.out += scenario.ports(Side::A, pod, ocs);
                ports.into += scenario.ports(Side::B, pod, ocs);
            }
        }
        for port in &scenario.failed_ports {
            if let Some(ports) = self.ports.get_mut(port.pod as usize) {
                let side = if port.side == Side::A { &mut ports.out } else { &mut ports.into };
                *side = side.saturating_sub(1);
            }
        }
    }

    /// Returns the number of removed circuits whose ports work.
    pub fn removed(&self) -> u64 {
        self.switches.iter().map(|switch| u64::from(switch.remove)).sum()
    }

    /// Returns the number of switches on which something changes.
    pub fn touched(&self) -> usize {
        self.switches.iter().filter(|switch| switch.add + switch.remove + switch.forced > 0).count()
    }

    /// Returns the number of removed circuits of every switch, without circuits at failed ports.
    pub fn per_switch(&self) -> Vec<u32> {
        self.switches.iter().map(|switch| switch.remove).collect()
    }

    /// Returns the switch that is shown by default: the first one that changes, which seldom differs from plan to plan.
    /// Of more than [`BY_NUMBER`] switches, returns the one with the most changes, which is the first of their list.
    pub fn usual_switch(&self) -> usize {
        let changes = |at: usize| self.switches[at].remove + self.switches[at].forced + self.switches[at].add;
        let mut all = 0..self.switches.len();
        let usual = if all.len() > BY_NUMBER {
            all.rev().max_by_key(|&at| changes(at))
        } else {
            all.find(|&at| changes(at) > 0)
        };
        usual.unwrap_or(0)
    }

    /// Returns the counting bound for these target circuits, a lower bound on the number of removed circuits: Σ max(0,
    /// before − wanted) over pairs of pods.
    pub fn counting_bound(&self, wanted: impl Fn(usize, usize) -> i64) -> u64 {
        let pairs = (0..self.pods).flat_map(|a| (a + 1..self.pods).map(move |b| (a, b)));
        pairs.map(|(a, b)| (i64::from(self.before[a * self.pods + b]) - wanted(a, b)).max(0) as u64).sum()
    }
}

fn raise(degrees: &mut [Degree], (a, b): (usize, usize), single: bool) {
    if let Some(degree) = degrees.get_mut(a) {
        degree.out += 1;
    }
    if let Some(degree) = degrees.get_mut(b) {
        if single {
            degree.out += 1;
        } else {
            degree.into += 1;
        }
    }
}

/// Returns the entry that a batch names; `None` if the entry does not exist.
pub fn entry(changes: &Changes, at: EntryRef) -> Option<&Entry> {
    changes.ocs.get(at.ocs_id as usize)?.cross_connects.get(at.entry as usize)
}

/// Returns the changes of every batch, with the pod that lacks the most circuits during the batch. The number of
/// circuits that a pod lacks is the smaller of its old and its new number of circuits, minus its live circuits.
fn batches(scenario: &CrossconnectScenario, changes: &Changes) -> Vec<BatchFacts> {
    let pods = scenario.pods as usize;
    let mut live: Vec<i64> = vec![0; pods];
    let mut goal: Vec<i64> = vec![0; pods];
    let ends = |entry: &Entry| [entry.pod_a as usize, entry.pod_b as usize];
    for entry in changes.ocs.iter().flat_map(|ocs| &ocs.cross_connects) {
        for pod in ends(entry) {
            if let (Some(live), Some(goal)) = (live.get_mut(pod), goal.get_mut(pod)) {
                *live += i64::from(entry.action != Action::Add);
                *goal += i64::from(entry.action != Action::Remove);
            }
        }
    }
    let before = live.clone();
    // Live circuits are compared with the smaller of the old and the new number, so a pod that only loses circuits
    // lacks none.
    let least = |pod: usize| before[pod].min(goal[pod]);
    let mut all = Vec::with_capacity(changes.batches.len());
    for Batch { changes: entries, dark_circuits } in &changes.batches {
        let mut facts = BatchFacts { dark: *dark_circuits, ..BatchFacts::default() };
        let mut seen = HashSet::new();
        let mut added = Vec::new();
        for at in entries {
            let Some(entry) = entry(changes, *at) else { continue };
            if seen.insert(at.ocs_id) {
                facts.switches.push(at.ocs_id);
            }
            if entry.action == Action::Remove {
                facts.removals += 1;
                for pod in ends(entry) {
                    // Removals count from the start of the batch, additions from its end.
                    live[pod] -= 1;
                }
            } else {
                facts.additions += 1;
                added.push(ends(entry));
            }
        }
        facts.switches.sort_unstable();
        let missing = |pod: usize| (least(pod) - live[pod]).max(0) as u64;
        // Ties go to the first pod.
        let worst = (0..pods).rev().max_by_key(|&pod| missing(pod)).filter(|&pod| missing(pod) > 0);
        facts.worst = worst.map(|pod| (pod as u32, missing(pod), least(pod).max(0) as u64));
        for pod in added.into_iter().flatten() {
            live[pod] += 1;
        }
        all.push(facts);
    }
    all
}
