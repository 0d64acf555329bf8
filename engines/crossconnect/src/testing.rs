//! Sound plans for tests, made without any method: random old and new states of the switches, the demand that the new
//! one meets, and random safe batches.

use crate::plan::{Action, Batch, Changes, CrossconnectResult, Entry, EntryRef, OcsChanges, Totals};
use crate::scenario::presets;
use crate::scenario::{Circuit, CrossconnectScenario, Family, Installed, InstalledOcs, Port, Side, Wiring};
use lightbay_core::random::{Stream, Streams};
use rand::RngExt;
use rand::seq::SliceRandom;
use std::collections::{BTreeMap, BTreeSet};

/// Size and sort of a random plan.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub wiring: Wiring,
    pub pods: u32,
    pub ocs_count: u32,
    /// Maximum number of ports of a pod on one side of one switch.
    pub most_ports: u32,
    pub failed_ports: usize,
    pub batches: usize,
    pub seed: u64,
}

/// The worked example and a plan for it that removes two circuits.
pub(crate) fn example() -> (CrossconnectScenario, Changes) {
    let scenario = presets::scenario("crossconnect-example").unwrap();
    let circuit = |(pod_a, pod_b)| Circuit { pod_a, port_a_index: 0, pod_b, port_b_index: 0 };
    let target = [
        vec![(0, 1), (1, 2), (2, 3), (3, 0)].into_iter().map(circuit).collect(),
        vec![(0, 2), (1, 3), (2, 1), (3, 0)].into_iter().map(circuit).collect(),
    ];
    let changes = changes(&scenario, &target, 1, &mut Streams::new(1).stream(0));
    (scenario, changes)
}

/// A random scenario and a plan for it.
pub(crate) fn random(sample: Sample) -> (CrossconnectScenario, Changes) {
    let stream = &mut Streams::new(sample.seed).stream(0);
    let (pods, ocs_count) = (sample.pods as usize, sample.ocs_count as usize);
    let mut table = |most: u32| -> Vec<Vec<u32>> {
        (0..pods).map(|_| (0..ocs_count).map(|_| stream.random_range(0..=most)).collect()).collect()
    };
    let ports_a = table(sample.most_ports);
    let ports_b = table(if sample.wiring == Wiring::SingleSided { 0 } else { sample.most_ports });
    let base = presets::random(2, 1, Family { changed_percent: 0, instance_seed: 1 });
    let mut scenario = CrossconnectScenario {
        pods: sample.pods,
        ocs_count: sample.ocs_count,
        wiring: sample.wiring,
        ports_a,
        ports_b,
        logical_circuits: vec![vec![0; pods]; pods],
        installed: Installed::default(),
        family: None,
        ..base
    };
    let old: Vec<Vec<Circuit>> = (0..sample.ocs_count)
        .map(|ocs| {
            let ports = healthy(&scenario, ocs);
            matched(&scenario, ports, &BTreeSet::new(), stream)
        })
        .collect();
    let mut all: Vec<Port> = (0..sample.ocs_count).flat_map(|ocs| healthy(&scenario, ocs)).collect();
    all.shuffle(stream);
    scenario.failed_ports = all.into_iter().take(sample.failed_ports).collect();
    scenario.failed_ports.sort_unstable();
    scenario.installed = Installed {
        ocs: (0u32..)
            .zip(&old)
            .map(|(ocs_id, circuits)| InstalledOcs { ocs_id, cross_connects: circuits.clone() })
            .collect(),
    };
    let target: Vec<Vec<Circuit>> =
        (0u32..).zip(&old).map(|(ocs, old)| changed(&scenario, ocs, old, stream)).collect();
    for circuit in target.iter().flatten() {
        let (a, b) = (circuit.pod_a as usize, circuit.pod_b as usize);
        scenario.logical_circuits[a][b] += 1;
        scenario.logical_circuits[b][a] += 1;
    }
    scenario.validate().unwrap();
    let changes = changes(&scenario, &target, sample.batches, stream);
    (scenario, changes)
}

/// All ports of a switch that are in order.
fn healthy(scenario: &CrossconnectScenario, ocs_id: u32) -> Vec<Port> {
    let mut ports = Vec::new();
    for pod in 0..scenario.pods {
        for (_, side) in Side::ALL {
            let count = scenario.ports(side, pod as usize, ocs_id as usize);
            ports.extend((0..count).map(|port_index| Port { ocs_id, pod, side, port_index }));
        }
    }
    ports.retain(|port| !scenario.failed_ports.contains(port));
    ports
}

/// Random circuits over free ports that avoid some oriented pairs of pods.
fn matched(
    scenario: &CrossconnectScenario,
    mut free: Vec<Port>,
    avoided: &BTreeSet<(u32, u32)>,
    stream: &mut Stream,
) -> Vec<Circuit> {
    free.shuffle(stream);
    let mut circuits = Vec::new();
    while let Some(first) = free.pop() {
        let fits = |second: &Port| {
            let sides = scenario.wiring == Wiring::SingleSided || first.side != second.side;
            sides && first.pod != second.pod && {
                let circuit = joined(scenario, first, *second);
                !avoided.contains(&(circuit.pod_a, circuit.pod_b))
            }
        };
        let found = free.iter().position(fits);
        if let Some(second) = found.filter(|_| stream.random_bool(0.85)) {
            let second = free.swap_remove(second);
            circuits.push(joined(scenario, first, second));
        }
    }
    circuits.sort_unstable();
    circuits
}

fn joined(scenario: &CrossconnectScenario, first: Port, second: Port) -> Circuit {
    let swap = match scenario.wiring {
        Wiring::SingleSided => first.pod > second.pod,
        Wiring::TwoSided | Wiring::CrossWired => first.side == Side::B,
    };
    let (a, b) = if swap { (second, first) } else { (first, second) };
    Circuit { pod_a: a.pod, port_a_index: a.port_index, pod_b: b.pod, port_b_index: b.port_index }
}

/// The ports of a circuit.
pub(crate) fn ports_of(scenario: &CrossconnectScenario, ocs_id: u32, circuit: Circuit) -> [Port; 2] {
    let far = if scenario.wiring == Wiring::SingleSided { Side::A } else { Side::B };
    [
        Port { ocs_id, pod: circuit.pod_a, side: Side::A, port_index: circuit.port_a_index },
        Port { ocs_id, pod: circuit.pod_b, side: far, port_index: circuit.port_b_index },
    ]
}

/// A new state of a switch: some circuits stay, others are set up between pods that lose none.
fn changed(scenario: &CrossconnectScenario, ocs: u32, old: &[Circuit], stream: &mut Stream) -> Vec<Circuit> {
    let alive = |circuit: &Circuit| {
        ports_of(scenario, ocs, *circuit).iter().all(|port| !scenario.failed_ports.contains(port))
    };
    let mut lost = BTreeSet::new();
    let mut kept = Vec::new();
    for circuit in old.iter().filter(|circuit| alive(circuit)) {
        if stream.random_bool(0.5) {
            kept.push(*circuit);
        } else {
            lost.insert((circuit.pod_a, circuit.pod_b));
        }
    }
    let taken: BTreeSet<Port> = kept.iter().flat_map(|circuit| ports_of(scenario, ocs, *circuit)).collect();
    let free = healthy(scenario, ocs).into_iter().filter(|port| !taken.contains(port)).collect();
    kept.extend(matched(scenario, free, &lost, stream));
    kept.sort_unstable();
    kept
}

/// The entries that lead from what is installed to a target, in random safe batches.
pub(crate) fn changes(
    scenario: &CrossconnectScenario,
    target: &[Vec<Circuit>],
    batches: usize,
    stream: &mut Stream,
) -> Changes {
    let mut ocs = Vec::new();
    for (ocs_id, new) in (0u32..).zip(target) {
        let old = scenario.installed.ocs.get(ocs_id as usize).map_or(&[][..], |ocs| &ocs.cross_connects);
        let mut cross_connects: Vec<Entry> = old
            .iter()
            .map(|circuit| (circuit, if new.contains(circuit) { Action::Keep } else { Action::Remove }))
            .chain(new.iter().filter(|circuit| !old.contains(circuit)).map(|circuit| (circuit, Action::Add)))
            .map(|(circuit, action)| entry(scenario, ocs_id, *circuit, action))
            .collect();
        cross_connects.sort_unstable_by_key(|entry| {
            (entry.pod_a, entry.port_a_index, entry.pod_b, entry.port_b_index, entry.action)
        });
        ocs.push(OcsChanges { ocs_id, cross_connects });
    }
    let mut changes = Changes { ocs, totals: Totals::default(), batches: Vec::new(), prices: None };
    changes.totals = totals(scenario, &changes);
    changes.batches = safe_batches(scenario, &changes, batches, stream);
    recount_dark(scenario, &mut changes);
    changes
}

/// A circuit with its numbers on the panel.
pub(crate) fn entry(scenario: &CrossconnectScenario, ocs: u32, circuit: Circuit, action: Action) -> Entry {
    let [a, b] = ports_of(scenario, ocs, circuit).map(|port| {
        let before: u32 =
            (0..port.pod).map(|pod| scenario.ports(port.side, pod as usize, ocs as usize)).sum();
        1 + before + port.port_index
    });
    Entry {
        action,
        pod_a: circuit.pod_a,
        port_a_index: circuit.port_a_index,
        switch_port_a: a,
        pod_b: circuit.pod_b,
        port_b_index: circuit.port_b_index,
        switch_port_b: b,
    }
}

/// The circuit of an entry.
pub(crate) const fn circuit(entry: &Entry) -> Circuit {
    Circuit {
        pod_a: entry.pod_a,
        port_a_index: entry.port_a_index,
        pod_b: entry.pod_b,
        port_b_index: entry.port_b_index,
    }
}

fn is_dead(scenario: &CrossconnectScenario, ocs: u32, entry: &Entry) -> bool {
    ports_of(scenario, ocs, circuit(entry)).iter().any(|port| scenario.failed_ports.contains(port))
}

/// Numbers of circuits of every unordered pair before (dead ones aside) and after.
fn counts(scenario: &CrossconnectScenario, changes: &Changes) -> BTreeMap<(u32, u32), (u64, u64)> {
    let mut counts: BTreeMap<(u32, u32), (u64, u64)> = BTreeMap::new();
    for ocs in &changes.ocs {
        for entry in &ocs.cross_connects {
            let count =
                counts.entry((entry.pod_a.min(entry.pod_b), entry.pod_a.max(entry.pod_b))).or_default();
            count.0 += u64::from(entry.action != Action::Add && !is_dead(scenario, ocs.ocs_id, entry));
            count.1 += u64::from(entry.action != Action::Remove);
        }
    }
    counts
}

/// The sums of entries.
pub(crate) fn totals(scenario: &CrossconnectScenario, changes: &Changes) -> Totals {
    let mut totals = Totals {
        forced_removed_circuits: (!scenario.failed_ports.is_empty()).then_some(0),
        ..Totals::default()
    };
    for ocs in &changes.ocs {
        for entry in &ocs.cross_connects {
            match (entry.action, &mut totals.forced_removed_circuits) {
                (Action::Keep, _) => totals.kept_circuits += 1,
                (Action::Add, _) => totals.added_circuits += 1,
                (Action::Remove, Some(forced)) if is_dead(scenario, ocs.ocs_id, entry) => *forced += 1,
                (Action::Remove, _) => totals.removed_circuits += 1,
            }
        }
    }
    totals.lower_bound_removed_circuits =
        counts(scenario, changes).values().map(|(old, new)| old.saturating_sub(*new)).sum();
    totals
}

/// Every removal in a random batch, every addition in one that is not before those that free its ports.
fn safe_batches(
    scenario: &CrossconnectScenario,
    changes: &Changes,
    batches: usize,
    stream: &mut Stream,
) -> Vec<Batch> {
    let batches = batches.max(1);
    let mut freed: BTreeMap<Port, usize> = BTreeMap::new();
    let mut lists = vec![(Vec::new(), Vec::new()); batches];
    for action in [Action::Remove, Action::Add] {
        for ocs in &changes.ocs {
            for (index, entry) in
                (0u32..).zip(&ocs.cross_connects).filter(|(_, entry)| entry.action == action)
            {
                let ports = ports_of(scenario, ocs.ocs_id, circuit(entry));
                let first = ports.iter().filter_map(|port| freed.get(port)).max().copied().unwrap_or(0);
                let batch = stream.random_range(first..batches);
                let reference = EntryRef { ocs_id: ocs.ocs_id, entry: index };
                if action == Action::Remove {
                    freed.extend(ports.map(|port| (port, batch)));
                    lists[batch].0.push(reference);
                } else {
                    lists[batch].1.push(reference);
                }
            }
        }
    }
    let listed = lists.into_iter().map(|(mut removals, mut additions)| {
        removals.sort_unstable();
        additions.sort_unstable();
        removals.extend(additions);
        Batch { changes: removals, dark_circuits: 0 }
    });
    listed.filter(|batch| !batch.changes.is_empty()).collect()
}

/// Counts what is missing during every batch, from the beginning each time.
pub(crate) fn recount_dark(scenario: &CrossconnectScenario, changes: &mut Changes) {
    let counts = counts(scenario, changes);
    let (old, new) = counts.values().fold((0, 0), |sum, &(old, new)| (sum.0 + old, sum.1 + new));
    for number in 0..changes.batches.len() {
        let mut live = old;
        for (other, batch) in changes.batches.iter().enumerate().take(number + 1) {
            for reference in &batch.changes {
                let ocs = &changes.ocs[reference.ocs_id as usize];
                let entry = &ocs.cross_connects[reference.entry as usize];
                match entry.action {
                    Action::Remove if !is_dead(scenario, ocs.ocs_id, entry) => live -= 1,
                    Action::Add if other < number => live += 1,
                    _ => {}
                }
            }
        }
        changes.batches[number].dark_circuits = old.min(new).saturating_sub(live);
    }
}

/// As the result of a plan.
pub(crate) const fn result(changes: Changes) -> CrossconnectResult {
    CrossconnectResult::Changes(changes)
}
