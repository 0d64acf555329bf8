//! Checks the NICs of circuits (each used once, parallel circuits spread over NUMA nodes), the actions of circuits, and
//! the order of changes.

use super::{Findings, code};
use crate::plan::{CircuitAction, LayerPhase, LayerPlan, MoeResult, RegionCircuit};
use crate::scenario::{MoeRegion, MoeScenario};
use lightbay_core::problem::counted;
use std::collections::{BTreeMap, BTreeSet};

/// Ends of a circuit: server and NIC at each end.
type CircuitPlace = (u32, u32, u32, u32);

const fn place(circuit: &RegionCircuit) -> CircuitPlace {
    (circuit.server_a, circuit.nic_a, circuit.server_b, circuit.nic_b)
}

fn set(circuits: &[RegionCircuit]) -> BTreeSet<CircuitPlace> {
    circuits.iter().filter(|circuit| circuit.action != CircuitAction::Remove).map(place).collect()
}

/// Checks the circuits of all layers.
pub(super) fn check(scenario: &MoeScenario, result: &MoeResult, found: &mut Findings) {
    let mut before: BTreeSet<CircuitPlace> = BTreeSet::new();
    for layer in &result.layers {
        let name = format!("layer {}", layer.layer);
        lists(scenario, &name, &layer.circuits, found);
        let now = set(&layer.circuits);
        for circuit in &layer.circuits {
            let right = match circuit.action {
                CircuitAction::Keep => before.contains(&place(circuit)),
                CircuitAction::Add => !before.contains(&place(circuit)),
                CircuitAction::Remove => before.contains(&place(circuit)) && !now.contains(&place(circuit)),
            };
            if !right {
                let text = format!(
                    "{name}: the action '{}' of circuit {:?} does not follow from the circuits of the previous layer",
                    circuit.action.word(),
                    place(circuit)
                );
                found.add(code::ACTION, text);
            }
        }
        let named: BTreeSet<CircuitPlace> = layer.circuits.iter().map(place).collect();
        for gone in before.difference(&named) {
            found.add(
                code::ACTION,
                format!("{name}: circuit {gone:?} of the previous layer is neither kept nor removed"),
            );
        }
        others(scenario, &name, layer, &now, found);
        before = now;
    }
}

fn others(
    scenario: &MoeScenario,
    name: &str,
    layer: &LayerPlan,
    now: &BTreeSet<CircuitPlace>,
    found: &mut Findings,
) {
    let allowed = [LayerPhase::A2a1, LayerPhase::A2a3, LayerPhase::A2a4];
    let phases: Vec<LayerPhase> = layer.other_exchanges.iter().map(|other| other.phase).collect();
    if phases.windows(2).any(|pair| pair[0] >= pair[1]) || phases.iter().any(|phase| !allowed.contains(phase))
    {
        found.add(
            code::CIRCUIT,
            format!("{name}: other exchanges must be some of a2a_1, a2a_3 and a2a_4, in this order"),
        );
    }
    for other in &layer.other_exchanges {
        let name = format!("{name}, {}", other.phase.word());
        lists(scenario, &name, &other.circuits, found);
        if set(&other.circuits) == *now {
            found.add(
                code::CIRCUIT,
                format!(
                    "{name}: the circuits equal the circuits of the layer, so this exchange must have no \
                     separate entry"
                ),
            );
        }
        for circuit in &other.circuits {
            let kept = now.contains(&place(circuit));
            let wanted = if kept { CircuitAction::Keep } else { CircuitAction::Add };
            if circuit.action != wanted {
                let text = format!(
                    "{name}: the action of circuit {:?} is '{}', but must be '{}', compared with the circuits of the layer",
                    place(circuit),
                    circuit.action.word(),
                    wanted.word()
                );
                found.add(code::ACTION, text);
            }
        }
    }
}

/// Checks one list of circuits.
fn lists(scenario: &MoeScenario, name: &str, circuits: &[RegionCircuit], found: &mut Findings) {
    let region = &scenario.region;
    if !circuits.is_sorted_by(|one, other| place(one) < place(other)) {
        found.add(code::CIRCUIT, format!("{name}: circuits are not sorted, or a circuit is listed twice"));
    }
    let mut used: BTreeSet<(u32, u32)> = BTreeSet::new();
    let mut nodes: BTreeMap<(u32, u32), [[i64; 2]; 2]> = BTreeMap::new();
    for circuit in circuits.iter().filter(|circuit| circuit.action != CircuitAction::Remove) {
        let (a, b) = (circuit.server_a, circuit.server_b);
        if a >= b || b >= region.servers {
            found.add(code::CIRCUIT, format!("{name}: a circuit joins server {a} to server {b}; it must join two servers of the region, the smaller number first"));
            continue;
        }
        for (end, (server, nic)) in [(a, circuit.nic_a), (b, circuit.nic_b)].into_iter().enumerate() {
            if !region.ocs_nics.contains(&nic) {
                found.add(
                    code::NIC,
                    format!("{name}: NIC {nic} of server {server} is not connected to the optical switch"),
                );
            }
            if region.failed_nics.iter().any(|failed| (failed.server, failed.nic) == (server, nic)) {
                found.add(code::NIC, format!("{name}: NIC {nic} of server {server} has failed"));
            }
            if !used.insert((server, nic)) {
                found.add(code::NIC, format!("{name}: NIC {nic} of server {server} holds two circuits"));
            }
            let node = region.numa_of_nic.get(nic as usize).copied().unwrap_or(0);
            nodes.entry((a, b)).or_default()[end][usize::from(node != 0)] += 1;
        }
    }
    let one_node = region.numa_of_nic.windows(2).all(|pair| pair[0] == pair[1]);
    if !one_node {
        balanced(region, name, &nodes, found);
    }
}

/// Checks that, at both ends of every pair with `c` circuits, each NUMA node serves at least `c/2` of them, rounded
/// down. If a node of a server has too few working NICs for this, the other node may serve as many circuits more as
/// NICs are missing.
fn balanced(
    region: &MoeRegion,
    name: &str,
    nodes: &BTreeMap<(u32, u32), [[i64; 2]; 2]>,
    found: &mut Findings,
) {
    for server in 0..region.servers {
        let mut left = [0_i64; 2];
        for nic in &region.ocs_nics {
            if region.failed_nics.iter().all(|failed| (failed.server, failed.nic) != (server, *nic)) {
                let node = region.numa_of_nic.get(*nic as usize).copied().unwrap_or(0);
                left[usize::from(node != 0)] += 1;
            }
        }
        let (mut halves, mut missing, mut worst) = (0, 0, None);
        for ((a, b), ends) in nodes.iter().filter(|((a, b), _)| [*a, *b].contains(&server)) {
            let [first, second] = ends[usize::from(*b == server)];
            let all = first + second;
            let half = all / 2;
            let lacks = half - first.min(second);
            halves += half;
            missing += lacks;
            if lacks > 0 {
                worst = Some((a, b, first, second));
            }
        }
        let allowed = (halves - left[0].min(left[1])).max(0);
        if let Some((a, b, first, second)) = worst.filter(|_| missing > allowed) {
            let text = format!(
                "{name}: of the circuits {a}-{b}, {first} use NUMA node 0 of server {server} and {second} use node 1; the maximum difference is 1, unless the working NICs of a node are too few"
            );
            found.add(code::NUMA, text);
        }
    }
}

/// Walks through the exchanges of a micro-batch with the circuits that are installed. All micro-batches are alike, so
/// the first exchange starts with the circuits of the last exchange.
pub(super) fn walk(result: &MoeResult, found: &mut Findings, remarks: &mut Vec<String>) {
    let of = |layer: &LayerPlan, phase: LayerPhase| {
        let other = layer.other_exchanges.iter().find(|other| other.phase == phase);
        other.map_or_else(|| set(&layer.circuits), |other| set(&other.circuits))
    };
    let Some(first) = result.layers.first() else { return };
    let mut installed = of(first, LayerPhase::A2a4);
    let (mut free, mut early) = (0, 0);
    let forward = result.layers.iter().map(|layer| (layer, [LayerPhase::A2a1, LayerPhase::A2a2]));
    let backward = result.layers.iter().rev().map(|layer| (layer, [LayerPhase::A2a3, LayerPhase::A2a4]));
    for (layer, phases) in forward.chain(backward) {
        for phase in phases {
            let now = of(layer, phase);
            let listed = layer.timeline.reconfigurations.iter().find(|change| change.before == phase);
            match listed {
                Some(change) => {
                    let whole = phase == LayerPhase::A2a1 && change.window == "none";
                    if now == installed && !whole {
                        let text = format!(
                            "layer {}: the change listed before {} changes no circuit",
                            layer.layer,
                            phase.word()
                        );
                        found.add(code::CHANGE, text);
                    }
                    early += u32::from(phase == LayerPhase::A2a1 && change.window != "none");
                }
                None if now != installed => free += 1,
                None => {}
            }
            installed = now;
        }
    }
    if free != result.iteration.free_changes {
        let text = format!(
            "the delay of {free} changes of circuits is ignored, but free_changes is {}",
            result.iteration.free_changes
        );
        found.add(code::CHANGE, text);
    }
    let charged = |layer: &LayerPlan| {
        let mut changes = layer.timeline.reconfigurations.iter();
        changes.any(|change| change.before == LayerPhase::A2a1 && change.window == "none")
    };
    // A dispatch without circuits, such as the dispatch of a layer without tokens, does not wait.
    let bare = |layer: &LayerPlan| of(layer, LayerPhase::A2a1).is_empty();
    if free > 0 && !result.layers.iter().all(|layer| charged(layer) || bare(layer)) {
        let text = "the delay of a change may be ignored only if every dispatch with circuits waits for the \
                    whole \
                    delay";
        found.add(code::CHANGE, text);
    }
    if free > 0 {
        let changes = counted(u64::from(free), "change of circuits", "changes of circuits");
        remarks.push(format!("the policy 'paper' ignores the delay of {changes} in a micro-batch"));
    }
    if early > 0 {
        remarks.push(format!(
            "the plan claims that the circuits of {early} dispatches are known before the gate, because they \
             are predicted or come from an earlier layer"
        ));
    }
}
