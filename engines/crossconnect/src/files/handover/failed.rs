//! Failed ports of a plan whose circuits get new switches and ports.
//!
//! The ports of a pod count from 0, switch by switch; on a switch, A ports and B ports alternate.

use crate::scenario::{CrossconnectScenario, Port, Side, Wiring};
use lightbay_core::exchange::{CircuitMatrix, CircuitPlaces, PlacedCircuit, PlacedPort};
use lightbay_core::problem::{Problem, counted};
use std::collections::{BTreeMap, HashSet};

/// Returns the switch, side and index of every port of a pod, in the order of the port numbers.
fn numbered(ports_a: &[u32], ports_b: &[u32]) -> Vec<(u32, Side, u32)> {
    let mut all = Vec::new();
    for (ocs, (&a, &b)) in (0..).zip(ports_a.iter().zip(ports_b)) {
        for index in 0..a.max(b) {
            all.extend((index < a).then_some((ocs, Side::A, index)));
            all.extend((index < b).then_some((ocs, Side::B, index)));
        }
    }
    all
}

/// Returns pod and number of the failed ports of a scenario, sorted.
pub(crate) fn numbers(scenario: &CrossconnectScenario) -> Vec<(u32, u32)> {
    let ports = scenario.failed_ports.iter();
    let ports = ports.map(|port| (port.pod, (port.ocs_id, port.side, port.port_index)));
    numbers_of(&scenario.ports_a, &scenario.ports_b, ports)
}

fn numbers_of(
    ports_a: &[Vec<u32>],
    ports_b: &[Vec<u32>],
    failed: impl Iterator<Item = (u32, (u32, Side, u32))>,
) -> Vec<(u32, u32)> {
    let mut pods: BTreeMap<u32, Vec<(u32, Side, u32)>> = BTreeMap::new();
    for (pod, port) in failed {
        pods.entry(pod).or_default().push(port);
    }
    let mut numbers = Vec::new();
    for (pod, failed) in pods {
        let (Some(a), Some(b)) = (ports_a.get(pod as usize), ports_b.get(pod as usize)) else { continue };
        let failed: HashSet<_> = failed.into_iter().collect();
        let all = (0..).zip(numbered(a, b));
        numbers.extend(all.filter(|(_, port)| failed.contains(port)).map(|(number, _)| (pod, number)));
    }
    numbers
}

/// Returns pod and number of the failed ports of a plan, sorted.
pub(super) fn of_plan(matrix: &CircuitMatrix) -> Vec<(u32, u32)> {
    let Some(places) = &matrix.places else { return matrix.failed_ports.clone() };
    let side = |port: &PlacedPort| if port.side_b { Side::B } else { Side::A };
    let ports = places.failed_ports.iter().map(|port| (port.pod, (port.switch, side(port), port.port)));
    numbers_of(&places.ports_a, &places.ports_b, ports)
}

/// Makes the ports with these numbers the failed ports of a scenario.
///
/// # Errors
/// A pod that has fewer ports than the number of a failed port; `name` is the parameter that gives the ports.
pub(super) fn fail(
    scenario: &mut CrossconnectScenario,
    numbers: &[(u32, u32)],
    name: &str,
) -> Result<(), Problem> {
    let mut failed = Vec::with_capacity(numbers.len());
    for of_pod in numbers.chunk_by(|one, next| one.0 == next.0) {
        let pod = of_pod[0].0;
        let at = pod as usize;
        let ports = match (scenario.ports_a.get(at), scenario.ports_b.get(at)) {
            (Some(a), Some(b)) => numbered(a, b),
            _ => Vec::new(),
        };
        for (_, number) in of_pod {
            let Some(&(ocs_id, side, port_index)) = ports.get(*number as usize) else {
                let message = format!(
                    "gives {} {}, but its port {} has failed",
                    scenario.pod_name(at),
                    counted(ports.len() as u64, "port", "ports"),
                    number + 1
                );
                return Err(Problem::new(name, message, "give a plan with as many ports in every pod"));
            };
            failed.push(Port { ocs_id, pod, side, port_index });
        }
    }
    failed.sort_unstable();
    scenario.failed_ports = failed;
    Ok(())
}

/// Returns a sentence on the failed ports of a new scenario; `None` if no port has failed.
pub(super) fn note(scenario: &CrossconnectScenario) -> Option<String> {
    let failed = scenario.failed_ports.len() as u64;
    let turns = if scenario.wiring == Wiring::SingleSided { "" } else { ", A and B ports alternating" };
    (failed > 0).then(|| {
        format!(
            "{} failed in the plan and stay failed: the ports of a pod count switch by switch{turns}; if your \
             cables differ, correct 'failed_ports'",
            counted(failed, "port", "ports")
        )
    })
}

/// Returns, for every pair of different pods with the smaller pod first, the number of circuits that end at failed
/// ports.
pub(super) fn dead_circuits(places: &CircuitPlaces) -> BTreeMap<(u32, u32), u32> {
    let working: HashSet<PlacedCircuit> = places.working().copied().collect();
    let mut pairs = BTreeMap::new();
    for circuit in places.circuits.iter().filter(|circuit| !working.contains(circuit)) {
        let (a, b) = (circuit.pod_a, circuit.pod_b);
        if a != b {
            *pairs.entry((a.min(b), a.max(b))).or_default() += 1;
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::handover::{SwitchHall, scenario};
    use crate::model::assignment::Assignment;
    use crate::rollout::assemble;

    fn matrix() -> CircuitMatrix {
        CircuitMatrix {
            pods: ["r0p0", "r0p1"].map(str::to_owned).to_vec(),
            ports_per_pod: vec![8, 8],
            circuits: vec![(0, 1, 6)],
            ..CircuitMatrix::default()
        }
    }

    const HALL: SwitchHall = SwitchHall { ocs_count: 1, wiring: Wiring::TwoSided };

    #[test]
    fn failed_ports_stay_failed_and_move_no_other_port() {
        let made = scenario(&CircuitMatrix { failed_ports: vec![(1, 0), (1, 1)], ..matrix() }, HALL).unwrap();
        let body = &made.scenario;
        assert_eq!(body.ports_a, [[4], [4]]);
        assert_eq!(body.ports_b, [[4], [4]]);
        let port = |side| Port { ocs_id: 0, pod: 1, side, port_index: 0 };
        assert_eq!(body.failed_ports, [port(Side::A), port(Side::B)]);
        assert_eq!(numbers(body), [(1, 0), (1, 1)]);
        assert!(
            made.notes.iter().any(|note| note.starts_with("2 ports failed in the plan")),
            "{:?}",
            made.notes
        );
        // The installed circuits of a healthy plan fit.
        let old = scenario(&matrix(), HALL).unwrap().scenario;
        let plan = assemble::candidate(&old, &Assignment::of(1, [(0, 0, 1), (0, 1, 0)])).result;
        let made = crate::files::handover::install(made, &old, plan.changes().unwrap()).unwrap();
        assert_eq!(made.scenario.failed_ports.len(), 2);
        let wrong = scenario(&CircuitMatrix { failed_ports: vec![(1, 8)], ..matrix() }, HALL).unwrap_err();
        assert!(wrong.to_string().contains("gives r0p1 8 ports, but its port 9 has failed"), "{wrong}");
    }

    #[test]
    fn ports_that_are_chosen_again_keep_their_failures() {
        let one = vec![vec![1; 2]; 2];
        let circuit = |switch, pod_a, pod_b| PlacedCircuit { switch, pod_a, port_a: 0, pod_b, port_b: 0 };
        let port = |pod, side_b| PlacedPort { switch: 1, pod, side_b, port: 0 };
        let places = CircuitPlaces {
            ports_a: one.clone(),
            ports_b: one,
            circuits: vec![circuit(0, 0, 1), circuit(0, 1, 0), circuit(1, 0, 1), circuit(1, 1, 0)],
            failed_ports: vec![port(0, false), port(0, true), port(1, false), port(1, true)],
            ..CircuitPlaces::default()
        };
        let matrix = CircuitMatrix {
            ports_per_pod: vec![4, 4],
            circuits: vec![(0, 1, 4)],
            places: Some(places),
            ..matrix()
        };
        let made = scenario(&matrix, HALL).unwrap();
        assert_eq!(made.scenario.logical_circuits, [[0, 2], [2, 0]]);
        assert_eq!(numbers(&made.scenario), [(0, 2), (0, 3), (1, 2), (1, 3)]);
        assert!(made.notes.iter().any(|note| note.starts_with("2 circuits of the plan end at failed ports")));
    }
}
