//! Compares the old and the new state of the switches with the scenario.

use super::entries::{End, Judged, named};
use super::{Findings, code};
use crate::plan::Action;
use crate::scenario::{Circuit, CrossconnectScenario, Side, Wiring};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Numbers of circuits of an unordered pair of pods: before the change (without circuits at failed ports), after the
/// change, and in the target.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PairCircuits {
    pub old: u64,
    pub new: u64,
    pub wanted: u64,
}

/// Circuits of all pairs of pods that have any; the smaller pod comes first in the key.
pub(super) type PairCounts = BTreeMap<(u32, u32), PairCircuits>;

/// Returns both ends of an installed circuit, sorted if ports have no sides.
fn ends_of(circuit: Circuit, wiring: Wiring) -> [End; 2] {
    let (a, b) = ((circuit.pod_a, circuit.port_a_index), (circuit.pod_b, circuit.port_b_index));
    match wiring {
        Wiring::SingleSided => {
            let (first, second) = (a.min(b), a.max(b));
            [(Side::A, first.0, first.1), (Side::A, second.0, second.1)]
        }
        Wiring::TwoSided | Wiring::CrossWired => [(Side::A, a.0, a.1), (Side::B, b.0, b.1)],
    }
}

fn ends(judged: &Judged, wiring: Wiring) -> [End; 2] {
    let entry = judged.entry;
    let circuit = Circuit {
        pod_a: entry.pod_a,
        port_a_index: entry.port_a_index,
        pod_b: entry.pod_b,
        port_b_index: entry.port_b_index,
    };
    ends_of(circuit, wiring)
}

fn shown([(_, pod_a, port_a), (_, pod_b, port_b)]: [End; 2]) -> String {
    format!("pod {pod_a} port {port_a} to pod {pod_b} port {port_b}")
}

/// Checks port by port that the kept and removed circuits are exactly the installed circuits, that pinned circuits
/// stay, and that no switch removes a circuit that could have stayed.
pub(super) fn compare(scenario: &CrossconnectScenario, switches: &[Vec<Judged>], found: &mut Findings) {
    let wiring = scenario.wiring;
    for (ocs, switch) in switches.iter().enumerate() {
        let listed = scenario.installed.ocs.iter().find(|listed| listed.ocs_id as usize == ocs);
        let installed: HashSet<[End; 2]> = listed
            .into_iter()
            .flat_map(|listed| &listed.cross_connects)
            .map(|&circuit| ends_of(circuit, wiring))
            .collect();
        let mut missing = installed.clone();
        for (index, judged) in switch.iter().enumerate().filter(|(_, judged)| judged.was()) {
            let ends = ends(judged, wiring);
            missing.remove(&ends);
            if !installed.contains(&ends) {
                found.add(
                    code::INSTALLED,
                    format!("{} is '{}' but not installed", named(ocs, index), judged.entry.action.word()),
                );
            }
        }
        let mut missing: Vec<_> = missing.into_iter().collect();
        missing.sort_unstable();
        for circuit in missing {
            found.add(
                code::INSTALLED,
                format!("ocs[{ocs}] neither keeps nor removes {}, which is installed", shown(circuit)),
            );
        }
        let kept: HashSet<[End; 2]> = switch
            .iter()
            .filter(|judged| judged.entry.action == Action::Keep)
            .map(|judged| ends(judged, wiring))
            .collect();
        for pin in scenario.pinned.iter().filter(|pin| pin.ocs_id as usize == ocs) {
            let circuit = ends_of(pin.circuit, wiring);
            if !kept.contains(&circuit) {
                found.add(
                    code::PINNED,
                    format!("ocs[{ocs}] does not keep {}, which is pinned", shown(circuit)),
                );
            }
        }
        if scenario.is_placed() {
            placed(scenario, ocs, switch, found);
        } else {
            moved(scenario, ocs, switch, found);
        }
    }
}

/// Checks that the new circuits of a switch are exactly the circuits that the scenario gives port by port, except
/// circuits at failed ports.
fn placed(scenario: &CrossconnectScenario, ocs: usize, switch: &[Judged], found: &mut Findings) {
    let failed: HashSet<End> = scenario
        .failed_ports
        .iter()
        .filter(|port| port.ocs_id as usize == ocs)
        .map(|port| (port.side, port.pod, port.port_index))
        .collect();
    let mut missing: HashSet<[End; 2]> = scenario
        .placed
        .iter()
        .filter(|placed| placed.ocs_id as usize == ocs)
        .map(|placed| ends_of(placed.circuit, scenario.wiring))
        .filter(|ends| !ends.iter().any(|end| failed.contains(end)))
        .collect();
    for (index, judged) in switch.iter().enumerate().filter(|(_, judged)| judged.will_be()) {
        let ends = ends(judged, scenario.wiring);
        if !missing.remove(&ends) {
            found.add(
                code::PLACED,
                format!(
                    "{} sets {}, which the scenario does not place on this switch",
                    named(ocs, index),
                    shown(ends)
                ),
            );
        }
    }
    let mut missing: Vec<_> = missing.into_iter().collect();
    missing.sort_unstable();
    for circuit in missing {
        found.add(
            code::PLACED,
            format!("ocs[{ocs}] lacks {}, which the scenario places on this switch", shown(circuit)),
        );
    }
}

/// Checks that a switch does not both add and remove a circuit of the same oriented pair of pods, because the circuit
/// could have stayed. Removals at failed ports are allowed.
fn moved(scenario: &CrossconnectScenario, ocs: usize, switch: &[Judged], found: &mut Findings) {
    let oriented = |judged: &Judged| match scenario.wiring {
        Wiring::SingleSided => judged.pair(),
        Wiring::TwoSided | Wiring::CrossWired => (judged.entry.pod_a, judged.entry.pod_b),
    };
    let removed: HashMap<(u32, u32), usize> = switch
        .iter()
        .enumerate()
        .filter(|(_, judged)| judged.entry.action == Action::Remove && !judged.is_forced())
        .map(|(index, judged)| (oriented(judged), index))
        .collect();
    for (index, judged) in switch.iter().enumerate().filter(|(_, judged)| judged.entry.action == Action::Add)
    {
        if let Some(&other) = removed.get(&oriented(judged)) {
            let (a, b) = oriented(judged);
            found.add(
                code::CHURN,
                format!(
                    "{} adds a circuit from pod {a} to pod {b}, but {} removes one between the same pods",
                    named(ocs, index),
                    named(ocs, other)
                ),
            );
        }
    }
}

/// Counts the circuits of all pairs. Circuits at failed ports carry nothing, so they do not count as old circuits.
pub(super) fn pairs(scenario: &CrossconnectScenario, switches: &[Vec<Judged>]) -> PairCounts {
    let mut pairs = PairCounts::new();
    for judged in switches.iter().flatten() {
        let pair = pairs.entry(judged.pair()).or_default();
        pair.old += u64::from(judged.was() && !judged.at_failed_port);
        pair.new += u64::from(judged.will_be());
    }
    for (pair, wanted) in scenario.wanted_pairs() {
        pairs.entry(pair).or_default().wanted = u64::from(wanted);
    }
    pairs
}
