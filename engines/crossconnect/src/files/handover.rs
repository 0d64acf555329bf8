//! Creates a scenario from the circuits of another plan: spreads the ports of the pods evenly over a set of switches,
//! and takes the installed circuits from a further plan if one is given.

mod failed;
mod made;

use crate::plan::{Action, Changes, Entry};
use crate::rollout::assemble;
use crate::scenario::presets;
use crate::scenario::{
    Circuit, CrossconnectScenario, Installed, InstalledOcs, MAX_OCS, MAX_PODS, MAX_PORTS, Panel, PanelPort,
    Placed, Port, Side, Wiring,
};
use lightbay_core::exchange::{CircuitMatrix, CircuitPlaces, PlacedCircuit, PlacedPort};
use lightbay_core::problem::{Problem, Problems, counted};

pub(crate) use failed::numbers as failed_numbers;
pub(crate) use made::{conversion, convert};

/// Maximum number of switches if no number is requested.
const USUAL_OCS: u32 = 16;

/// The switches that will hold the circuits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SwitchHall {
    /// Number of switches, K.
    pub ocs_count: u32,
    /// Pairs of ports that the switches may connect.
    pub wiring: Wiring,
}

impl SwitchHall {
    /// Returns two-sided switches for the pods of a matrix: the largest number of switches, up to 16, with which every
    /// pod has equal numbers of ports on all switches and sides. If this holds for no number, the number is half of the
    /// fewest ports that a pod has, from 1 to 16.
    pub fn suited(matrix: &CircuitMatrix) -> Self {
        let divisor = matrix.ports_per_pod.iter().copied().filter(|&ports| ports > 0).fold(0, gcd);
        let even = (1..=USUAL_OCS).rev().find(|ocs| divisor > 0 && divisor % (2 * ocs) == 0);
        let least = matrix.ports_per_pod.iter().copied().filter(|&ports| ports > 0).min().unwrap_or(2);
        let ocs_count = even.unwrap_or_else(|| (least / 2).clamp(1, USUAL_OCS));
        Self { ocs_count, wiring: Wiring::TwoSided }
    }

    /// Returns the switches of a scenario.
    pub const fn of(scenario: &CrossconnectScenario) -> Self {
        Self { ocs_count: scenario.ocs_count, wiring: scenario.wiring }
    }
}

const fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// A scenario with remarks on how it was created.
#[derive(Clone, Debug, PartialEq)]
pub struct Handed {
    /// The scenario, which is valid and has no installed circuits.
    pub scenario: CrossconnectScenario,
    /// Remarks, one sentence each.
    pub notes: Vec<String>,
}

/// Creates a scenario whose target is the circuits of `matrix` on the switches of `hall`. The ports of every pod are
/// spread as evenly as possible over switches and sides. Ports that failed in the plan are failed ports of the
/// scenario, and circuits at failed ports are not part of the target.
///
/// If the number of ports of a pod is not a multiple of 2K (of K if ports have no sides), the remainder goes to the
/// first switches, an A and a B port each. Pods with equal, even numbers of ports then have equal numbers of ports on
/// every switch. If all pods are equal and a group of switches is split in two, dividing the circuits of every pair in
/// proportion to the ports of the two parts is therefore a fractional solution, so halving cannot fail.
///
/// # Errors
/// Too many pods, switches or ports, circuits of a pod to itself, pods with more circuits than ports.
pub fn scenario(matrix: &CircuitMatrix, hall: SwitchHall) -> Result<Handed, Problems> {
    let pods = matrix.pods.len();
    let mut problems = Problems::new();
    if pods == 0 || pods > MAX_PODS {
        problems.add("from", format!("has {pods} pods"), format!("give a plan of 1 to {MAX_PODS} pods"));
    }
    if !(1..=MAX_OCS as u32).contains(&hall.ocs_count) {
        problems.add(
            "ocs_count",
            format!("is {}", hall.ocs_count),
            format!("give a number from 1 to {MAX_OCS}"),
        );
    }
    let mut logical_circuits = vec![vec![0u32; pods]; pods];
    let dead = matrix.places.as_ref().map(failed::dead_circuits).unwrap_or_default();
    for &(a, b, count) in &matrix.circuits {
        let count = count.saturating_sub(dead.get(&(a, b)).copied().unwrap_or_default());
        let (i, j) = (a as usize, b as usize);
        if i >= pods || j >= pods || i == j {
            problems.add(
                "from",
                format!(
                    "has {} between pods {a} and {b}, which are not two different pods of the plan",
                    counted(count.into(), "circuit", "circuits")
                ),
                format!("give a plan whose circuits join different pods, 0 to {}", pods.saturating_sub(1)),
            );
            continue;
        }
        logical_circuits[i][j] += count;
        logical_circuits[j][i] += count;
    }
    problems.into_result(())?;
    let (ports_a, ports_b): (Vec<_>, Vec<_>) = (0..pods)
        .map(|pod| spread(matrix.ports_per_pod.get(pod).copied().unwrap_or_default(), pod, hall))
        .unzip();
    if let Some(pod) = (0..pods).find(|&pod| ports_a[pod].iter().any(|&ports| ports > MAX_PORTS)) {
        let problem = Problem::new(
            "ocs_count",
            format!(
                "is {}: {} would have more than {MAX_PORTS} ports on a switch",
                hall.ocs_count, matrix.pods[pod]
            ),
            "give more switches",
        );
        return Err(problem.into());
    }
    let mut notes = Vec::new();
    let per_switch = hall.ocs_count * if hall.wiring == Wiring::SingleSided { 1 } else { 2 };
    let uneven: Vec<u32> =
        matrix.ports_per_pod.iter().copied().filter(|ports| ports % per_switch != 0).collect();
    if let Some(ports) = uneven.first() {
        notes.push(format!(
            "{} a number of ports that is not a multiple of {per_switch} (the first such pod has {ports} ports), so the first switches get more ports \
             than the others; the methods use the exact model if halving fails",
            counted(uneven.len() as u64, "pod has", "pods have")
        ));
    }
    let mut scenario = CrossconnectScenario {
        pods: pods as u32,
        ocs_count: hall.ocs_count,
        wiring: hall.wiring,
        ports_a,
        ports_b,
        logical_circuits,
        pod_names: Some(matrix.pods.clone()),
        ..presets::bare()
    };
    let failed = failed::of_plan(matrix);
    failed::fail(&mut scenario, &failed, "from")?;
    scenario.validate()?;
    notes.extend(failed::note(&scenario));
    let dead: u64 = dead.into_values().map(u64::from).sum();
    if dead > 0 {
        let dead = counted(dead, "circuit of the plan ends", "circuits of the plan end");
        notes.push(format!("{dead} at failed ports: not part of the target"));
    }
    Ok(Handed { scenario, notes })
}

/// Creates a scenario whose target is the circuits of a plan on the same switches and ports. Ports that failed in the
/// plan are failed ports of the scenario.
///
/// # Errors
/// Everything that does not fit.
pub fn placed(matrix: &CircuitMatrix, places: &CircuitPlaces, hall: SwitchHall) -> Result<Handed, Problems> {
    let pods = matrix.pods.len();
    let ocs_count = places.ports_a.first().map_or(0, Vec::len);
    let mut problems = Problems::new();
    if hall.wiring != Wiring::SingleSided && places.single_sided {
        let message = format!("is '{}', but the switch can connect any two ports", hall.wiring.word());
        problems.add("wiring", message, "leave it out, or set keep_ports=false to choose switches and ports");
    }
    if hall.wiring == Wiring::SingleSided && !places.single_sided {
        problems.add(
            "wiring",
            format!("is 'single_sided', but the circuits join {} to {}", places.sides[0], places.sides[1]),
            "give two_sided or cross_wired",
        );
    }
    if hall.ocs_count as usize != ocs_count {
        problems.add(
            "ocs_count",
            format!(
                "is {}, but the plan names the switch of every circuit and has {ocs_count} switches",
                hall.ocs_count
            ),
            "leave it out, or set keep_ports=false to choose new switches and ports",
        );
    }
    problems.into_result(())?;
    let mut logical_circuits = vec![vec![0u32; pods]; pods];
    for &(a, b, count) in &matrix.circuits {
        for (i, j) in [(a, b), (b, a)] {
            if let Some(cell) = logical_circuits.get_mut(i as usize).and_then(|row| row.get_mut(j as usize)) {
                *cell += count;
            }
        }
    }
    let circuit = |placed: &PlacedCircuit| Placed {
        ocs_id: placed.switch,
        circuit: Circuit {
            pod_a: placed.pod_a,
            port_a_index: placed.port_a,
            pod_b: placed.pod_b,
            port_b_index: placed.port_b,
        },
    };
    let port = |port: &PlacedPort| Port {
        ocs_id: port.switch,
        pod: port.pod,
        side: if port.side_b { Side::B } else { Side::A },
        port_index: port.port,
    };
    let mut failed_ports: Vec<Port> = places.failed_ports.iter().map(port).collect();
    failed_ports.sort_unstable();
    let scenario = CrossconnectScenario {
        pods: pods as u32,
        ocs_count: hall.ocs_count,
        wiring: hall.wiring,
        ports_a: places.ports_a.clone(),
        ports_b: places.ports_b.clone(),
        logical_circuits,
        placed: places.circuits.iter().map(circuit).collect(),
        failed_ports,
        panels: panels(places, hall.wiring),
        pod_names: Some(matrix.pods.clone()),
        ..presets::bare()
    };
    scenario.validate()?;
    let loops = places.circuits.iter().filter(|placed| placed.pod_a == placed.pod_b).count() as u64;
    let mut notes = vec![format!(
        "{} on {} keep their switches and ports{}",
        counted(places.circuits.len() as u64, "circuit", "circuits"),
        counted(u64::from(hall.ocs_count), "switch", "switches"),
        if places.single_sided {
            String::new()
        } else {
            format!(": {} are A ports, {} B ports", places.sides[0], places.sides[1])
        }
    )];
    if loops > 0 {
        notes.push(format!(
            "{} a pod to itself: the switches list these circuits, but the matrix of circuits between pods \
             does not",
            counted(loops, "of these circuits joins", "of these circuits join")
        ));
    }
    if !scenario.failed_ports.is_empty() {
        notes.push(format!(
            "{} failed in the plan, so {} at these ports cannot be set",
            counted(scenario.failed_ports.len() as u64, "port has", "ports have"),
            counted(dead_circuits(&scenario), "circuit", "circuits")
        ));
    }
    Ok(Handed { scenario, notes })
}

/// Returns a panel for every switch, with one series of numbers for all of its ports: A ports of the pods in order,
/// then B ports.
fn panels(places: &CircuitPlaces, wiring: Wiring) -> Vec<Panel> {
    let single = wiring == Wiring::SingleSided;
    let ports = |table: &[Vec<u32>], side: Side, ocs: usize| -> Vec<PanelPort> {
        let pods = (0u32..).zip(table);
        let ends = pods
            .flat_map(|(pod, row)| (0..row.get(ocs).copied().unwrap_or(0)).map(move |index| (pod, index)));
        let port = |(pod, index)| PanelPort {
            number: 0,
            pod: Some(pod),
            side: (!single).then_some(side),
            port_index: Some(index),
            pod_port: None,
            label: None,
            reserved: false,
        };
        ends.map(port).collect()
    };
    let count = places.ports_a.first().map_or(0, Vec::len);
    let panel = |ocs: usize| {
        let mut all = ports(&places.ports_a, Side::A, ocs);
        all.extend(ports(&places.ports_b, Side::B, ocs));
        for (number, port) in (1..).zip(&mut all) {
            port.number = number;
        }
        Panel { name: format!("ocs-{ocs}"), ports: all }
    };
    (0..count).map(panel).collect()
}

/// Counts the circuits given port by port that end at failed ports.
fn dead_circuits(scenario: &CrossconnectScenario) -> u64 {
    let failed: std::collections::HashSet<Port> = scenario.failed_ports.iter().copied().collect();
    let dead = |placed: &&Placed| {
        scenario.ends(placed.circuit).into_iter().any(|(side, pod, port_index)| {
            failed.contains(&Port { ocs_id: placed.ocs_id, pod, side, port_index })
        })
    };
    scenario.placed.iter().filter(dead).count() as u64
}

/// Returns the numbers of A ports and of B ports of a pod on every switch.
fn spread(ports: u32, pod: usize, hall: SwitchHall) -> (Vec<u32>, Vec<u32>) {
    let ocs = hall.ocs_count;
    if hall.wiring == Wiring::SingleSided {
        let row = (0..ocs).map(|k| ports / ocs + u32::from(k < ports % ocs)).collect();
        return (row, vec![0; ocs as usize]);
    }
    let (whole, rest) = (ports / (2 * ocs), ports % (2 * ocs));
    // If the number of ports is odd, the extra port is an A port in one pod and a B port in the next pod, so that both
    // sides stay in balance.
    let of = |odd: u32| (0..ocs).map(move |k| whole + u32::from(k < rest / 2 + odd)).collect();
    let odd = rest % 2;
    if pod.is_multiple_of(2) { (of(odd), of(0)) } else { (of(0), of(odd)) }
}

/// Makes the kept and added circuits of a plan the installed circuits of the scenario; the failed ports of the plan
/// remain failed.
///
/// # Errors
/// A plan for switches with other ports, or failed ports that leave a pod with fewer ports than target circuits.
pub fn install(handed: Handed, from: &CrossconnectScenario, changes: &Changes) -> Result<Handed, Problems> {
    let Handed { mut scenario, mut notes } = handed;
    let renamed =
        (0..scenario.pods as usize).filter(|&pod| scenario.pod_name(pod) != from.pod_name(pod)).count();
    if from.panels.is_empty() {
        same_ports("installed_from", &scenario, from)?;
    } else {
        on_panels(&mut scenario, from)?;
    }
    let staying = |action: Action| action != Action::Remove;
    scenario.installed = Installed {
        ocs: changes
            .ocs
            .iter()
            .map(|ocs| InstalledOcs {
                ocs_id: ocs.ocs_id,
                cross_connects: ocs
                    .cross_connects
                    .iter()
                    .filter(|entry| staying(entry.action))
                    .map(Entry::circuit)
                    .collect(),
            })
            .collect(),
    };
    if !from.failed_ports.is_empty() {
        let here: std::collections::BTreeSet<Port> = scenario.failed_ports.iter().copied().collect();
        let there = from.failed_ports.iter().filter(|port| !here.contains(port)).copied();
        scenario.failed_ports.extend(there);
        scenario.failed_ports.sort_unstable();
        scenario.failed_before.extend(&from.failed_before);
        scenario.failed_before.sort_unstable();
        scenario.failed_before.dedup();
        let failed = counted(from.failed_ports.len() as u64, "port", "ports");
        notes.push(format!("{failed} failed in the installed plan and count as failed here"));
    }
    if renamed > 0 {
        notes.push(format!(
            "{} another name than in the installed plan; pods are matched by number",
            counted(renamed as u64, "pod has", "pods have")
        ));
    }
    scenario.validate()?;
    let wanted = scenario.wanted_circuits();
    let bound = assemble::counting_bound(&scenario);
    notes.push(format!(
        "at least {} of {} installed circuits must be removed; the target has {wanted} circuits",
        bound,
        scenario.installed_circuits().count()
    ));
    Ok(Handed { scenario, notes })
}

/// Gives every target circuit the switch and ports that the circuit has in the plan that the parameter `returns_to`
/// names. That plan must have the same target circuits as this scenario.
///
/// # Errors
/// The plan has other ports or other target circuits than the scenario.
pub fn return_to(handed: Handed, from: &CrossconnectScenario, changes: &Changes) -> Result<Handed, Problems> {
    const NAME: &str = "returns_to";
    let Handed { mut scenario, mut notes } = handed;
    same_ports(NAME, &scenario, from)?;
    if scenario.is_placed() {
        let message = "cannot be given together with keep_ports=true";
        return Err(Problem::new(NAME, message, "leave one of them out").into());
    }
    if scenario.logical_circuits != from.logical_circuits {
        let message = "has another target than this scenario";
        let remedy = "give the plan of the change that ends with the same circuits, or leave it out";
        return Err(Problem::new(NAME, message, remedy).into());
    }
    let staying = changes.ocs.iter().flat_map(|ocs| {
        let entries = ocs.cross_connects.iter().filter(|entry| entry.action != Action::Remove);
        entries.map(|entry| Placed { ocs_id: ocs.ocs_id, circuit: entry.circuit() })
    });
    scenario.placed = staying.collect();
    scenario.validate()?;
    let circuits = counted(scenario.placed.len() as u64, "circuit gets", "circuits get");
    notes.push(format!("{circuits} the switch and ports of the plan to which the change returns"));
    Ok(Handed { scenario, notes })
}

/// Replaces the evenly spread ports by the switches, ports and panels of `from`; if the target circuits are given port
/// by port, the ports must be equal, and only the panels are replaced.
fn on_panels(scenario: &mut CrossconnectScenario, from: &CrossconnectScenario) -> Result<(), Problem> {
    if scenario.pods != from.pods {
        let message = format!("is for {} pods, but {} are planned", from.pods, scenario.pods);
        return Err(Problem::new("installed_from", message, "give a plan for the same pods"));
    }
    if scenario.is_placed() {
        return same_ports("installed_from", scenario, from)
            .map(|()| scenario.panels.clone_from(&from.panels));
    }
    let failed = failed::numbers(scenario);
    scenario.ocs_count = from.ocs_count;
    scenario.wiring = from.wiring;
    scenario.ports_a.clone_from(&from.ports_a);
    scenario.ports_b.clone_from(&from.ports_b);
    scenario.panels.clone_from(&from.panels);
    scenario.pod_names.clone_from(&from.pod_names);
    failed::fail(scenario, &failed, "installed_from")
}

/// Checks that `from`, the scenario of the plan that the parameter `name` gives, has the same pods, switches and ports
/// as `scenario`.
fn same_ports(
    name: &str,
    scenario: &CrossconnectScenario,
    from: &CrossconnectScenario,
) -> Result<(), Problem> {
    let differs = |what: String, remedy: String| Err(Problem::new(name, what, remedy));
    if scenario.pods != from.pods {
        return differs(
            format!("is for {} pods, but {} are planned", from.pods, scenario.pods),
            "give a plan for the same pods".to_owned(),
        );
    }
    if scenario.ocs_count != from.ocs_count {
        return differs(
            format!("is for {} switches, but 'ocs_count' is {}", from.ocs_count, scenario.ocs_count),
            "leave 'ocs_count' out, or give a plan for that number of switches".to_owned(),
        );
    }
    if scenario.wiring != from.wiring {
        return differs(
            format!("has {} wiring, but {} is requested", from.wiring.word(), scenario.wiring.word()),
            "give a plan for switches of the same wiring".to_owned(),
        );
    }
    for pod in 0..scenario.pods as usize {
        for ocs in 0..scenario.ocs_count as usize {
            for (letter, side) in Side::ALL {
                let (there, here) = (from.ports(side, pod, ocs), scenario.ports(side, pod, ocs));
                if there != here {
                    let side = letter.to_uppercase();
                    return differs(
                        format!(
                            "has another port map: {} has {there} {side} ports on switch {ocs} in that plan and {here} in this scenario",
                            scenario.pod_name(pod)
                        ),
                        "give a plan whose pods have the same ports, or edit 'ports_a' and 'ports_b'"
                            .to_owned(),
                    );
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
