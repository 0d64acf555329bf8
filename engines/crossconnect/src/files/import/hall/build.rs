//! Builds the scenario from rows of ports and target circuits.

use super::matrix::Matrix;
use super::rows::{PortRows, Row};
use crate::scenario::{
    Circuit, CrossconnectScenario, End, Installed, InstalledOcs, Panel, PanelPort, Port, Side, Wiring,
    presets,
};
use lightbay_core::param::Params;
use lightbay_core::problem::{Problem, Problems, printable};
use lightbay_core::scenario::Assumed;
use std::collections::{BTreeMap, HashMap};

/// A scenario with the values that no file gives.
pub(super) struct Built {
    pub scenario: CrossconnectScenario,
    pub assumed: Vec<Assumed>,
}

/// Builds the scenario. A given scenario keeps its pods, its limits and, without a matrix, its target circuits; its
/// switches get the ports and numbers of the rows.
pub(super) fn scenario(
    base: Option<&CrossconnectScenario>,
    rows: Option<&PortRows>,
    wanted: Option<&Matrix>,
    params: &Params,
) -> Result<Built, Problems> {
    let mut built = Built { scenario: base.cloned().unwrap_or_else(presets::bare), assumed: Vec::new() };
    let hall = &mut built.scenario;
    hall.family = None;
    if let Some(rows) = rows {
        hall.wiring = wiring(base, rows, params)?;
        if base.is_none() && params.get("wiring").is_none() {
            built.assumed.push(Assumed {
                what: "pairs of ports that a switch may connect".to_owned(),
                value: hall.wiring.word().to_owned(),
                set_with: "wiring=".to_owned(),
            });
        }
        lay(hall, base, rows)?;
    } else if base.is_none() {
        let remedy = "add a port map, a list of cables, or lists of pods and switches";
        return Err(Problem::new("", "the files describe no pods and no switches", remedy).into());
    } else if params.get("wiring").is_some() {
        return Err(Problem::new("wiring", "has no effect: no file lists ports", "leave it out").into());
    }
    if let Some(matrix) = wanted {
        if base.is_some_and(CrossconnectScenario::is_placed) {
            let remedy = "give a scenario without 'placed'";
            return Err(Problem::new(
                "",
                "the scenario gives its target circuits port by port, so a matrix cannot replace them",
                remedy,
            )
            .into());
        }
        hall.set_target(of_pods(hall, matrix)?);
    } else if base.is_none() {
        let mut counts = vec![vec![0; hall.pods as usize]; hall.pods as usize];
        for (_, circuit) in hall.installed_circuits() {
            counts[circuit.pod_a as usize][circuit.pod_b as usize] += 1;
            counts[circuit.pod_b as usize][circuit.pod_a as usize] += 1;
        }
        hall.logical_circuits = counts;
        built.assumed.push(Assumed::fact(
            "no file gives target circuits, so the installed circuits become the target; add a matrix of circuits, or set circuits=",
        ));
    }
    built.scenario.validate()?;
    Ok(built)
}

/// Returns the wiring that the parameter `wiring` or else the given scenario sets; otherwise, rows with sides make
/// two-sided switches, and rows without sides make single-sided ones.
fn wiring(base: Option<&CrossconnectScenario>, rows: &PortRows, params: &Params) -> Result<Wiring, Problem> {
    let wired = || {
        rows.switches
            .iter()
            .flat_map(|(_, ports)| ports.values())
            .filter(|row| row.pod.is_some() && !row.reserved)
    };
    let with = wired().find(|row| row.side.is_some());
    let without = wired().find(|row| row.side.is_none());
    if let (Some(with), Some(without)) = (with, without) {
        return Err(Problem::new(
            format!("{}, line {}", without.place.0, without.place.1),
            format!("has no side, but the port in line {} has a side", with.place.1),
            "give a side for every port that belongs to a pod, or for none",
        ));
    }
    let asked = params.text("wiring").and_then(|word| Wiring::ALL.iter().find(|(known, _)| *known == word));
    let wiring = asked.map(|(_, wiring)| *wiring).or_else(|| base.map(|base| base.wiring));
    let wiring = wiring.unwrap_or(if with.is_some() { Wiring::TwoSided } else { Wiring::SingleSided });
    let place = |row: &Row| format!("{}, line {}", row.place.0, row.place.1);
    match (wiring, with, without) {
        (Wiring::SingleSided, Some(row), _) => Err(Problem::new(
            place(row),
            "has a side, but with single_sided wiring ports have no sides",
            "leave the column side empty, or set wiring=two_sided",
        )),
        (Wiring::TwoSided | Wiring::CrossWired, _, Some(row)) => Err(Problem::new(
            place(row),
            format!("has no side, but switches with {} wiring join side A to side B", wiring.word()),
            "give a or b, or set wiring=single_sided",
        )),
        _ => Ok(wiring),
    }
}

/// Builds pods, switches, panels and states.
fn lay(
    hall: &mut CrossconnectScenario,
    base: Option<&CrossconnectScenario>,
    rows: &PortRows,
) -> Result<(), Problems> {
    let mut problems = Problems::new();
    let switches = switches(base, rows)?;
    match base {
        None => {
            hall.pods = rows.pods.len() as u32;
            hall.pod_names = Some(rows.pods.clone());
            hall.ocs_count = switches.len() as u32;
            hall.logical_circuits = vec![vec![0; rows.pods.len()]; rows.pods.len()];
        }
        Some(base) => {
            for pod in rows.pods.iter().filter(|pod| base.pod_named(pod).is_none()) {
                let known: Vec<String> =
                    (0..base.pods.min(8)).map(|pod| base.pod_name(pod as usize)).collect();
                let more = if base.pods > 8 { ", …" } else { "" };
                problems.add(
                    "",
                    format!("names pod '{}', which the scenario does not have", printable(pod)),
                    format!("its pods are {}{more}", known.join(", ")),
                );
            }
        }
    }
    problems.into_result(())?;
    let at: HashMap<&str, u32> = rows
        .pods
        .iter()
        .enumerate()
        .filter_map(|(at, pod)| {
            Some((pod.as_str(), base.map_or(Some(at as u32), |base| base.pod_named(pod))?))
        })
        .collect();
    let (pods, count) = (hall.pods as usize, switches.len());
    let mut ports = [vec![vec![0u32; count]; pods], vec![vec![0u32; count]; pods]];
    hall.panels.clear();
    for (ocs, (name, listed)) in switches.iter().enumerate() {
        let indices = indices(listed);
        let mut panel = Panel { name: (*name).clone(), ports: Vec::with_capacity(listed.len()) };
        for (&number, row) in *listed {
            let pod = row.pod.as_deref().and_then(|pod| at.get(pod)).copied();
            let index = indices.get(&number).copied();
            if let (Some(pod), Some(_)) = (pod, index) {
                ports[usize::from(row.side == Some(Side::B))][pod as usize][ocs] += 1;
            }
            let is_index = |text: &String| index.is_some_and(|index| *text == index.to_string());
            panel.ports.push(PanelPort {
                number,
                pod,
                side: row.side.filter(|_| pod.is_some()),
                port_index: index,
                pod_port: row.pod_port.clone().filter(|text| !is_index(text)),
                label: row.label.clone(),
                reserved: row.reserved,
            });
        }
        hall.panels.push(panel);
    }
    [hall.ports_a, hall.ports_b] = ports;
    if rows.has_states {
        states(hall, &switches);
    }
    Ok(())
}

type SwitchRows<'r> = (&'r String, &'r BTreeMap<u32, Row>);

/// Returns the switches of the rows in the order of the scenario.
fn switches<'r>(
    base: Option<&CrossconnectScenario>,
    rows: &'r PortRows,
) -> Result<Vec<SwitchRows<'r>>, Problems> {
    let all = || rows.switches.iter().map(|(name, ports)| (name, ports));
    let Some(base) = base else { return Ok(all().collect()) };
    // A scenario whose switches have no names takes the names of the rows, in their order.
    let own = |ocs: u32| base.panel(ocs).map_or_else(|| format!("ocs-{ocs}"), |panel| panel.name.clone());
    let named: Vec<String> = (0..base.ocs_count).map(own).collect();
    let is_known = all().any(|(name, _)| named.contains(name));
    if rows.switches.len() != named.len() {
        let message =
            format!("the rows list {} switches, but the scenario has {}", rows.switches.len(), named.len());
        return Err(Problem::new("", message, "list the ports of every switch of the scenario").into());
    }
    if base.panels.is_empty() && !is_known {
        return Ok(all().collect());
    }
    let mut problems = Problems::new();
    let mut found = Vec::new();
    for name in &named {
        match all().find(|(known, _)| *known == name) {
            Some(listed) => found.push(listed),
            None => problems.add(
                "",
                format!("no row lists switch {}", printable(name)),
                "list the ports of every switch",
            ),
        }
    }
    problems.into_result(found)
}

/// Number of a port on its panel, and its index within the pod if the port name at the pod is a number.
type NumberedPort = (u32, Option<u32>);

/// Returns, for every port, its index within pod and side. If the port names at the pod are the numbers 0, 1, 2, …,
/// each once, these are the indices; otherwise the ports are counted in order of their panel numbers.
fn indices(listed: &BTreeMap<u32, Row>) -> HashMap<u32, u32> {
    let mut groups: HashMap<(&str, Option<Side>), Vec<NumberedPort>> = HashMap::new();
    for (&number, row) in listed.iter().filter(|(_, row)| !row.reserved) {
        if let Some(pod) = &row.pod {
            let said = row.pod_port.as_ref().and_then(|text| text.parse().ok());
            groups.entry((pod, row.side)).or_default().push((number, said));
        }
    }
    let mut indices = HashMap::new();
    for group in groups.into_values() {
        let mut said: Vec<u32> = group.iter().filter_map(|(_, said)| *said).collect();
        said.sort_unstable();
        let says_all = said.iter().copied().eq(0..group.len() as u32);
        for (order, (number, said)) in (0u32..).zip(group) {
            indices.insert(number, said.filter(|_| says_all).unwrap_or(order));
        }
    }
    indices
}

/// Sets the state that the rows give: installed circuits and failed ports.
fn states(hall: &mut CrossconnectScenario, switches: &[SwitchRows<'_>]) {
    let far = if hall.wiring == Wiring::SingleSided { Side::A } else { Side::B };
    let (mut installed, mut failed) = (Vec::new(), Vec::new());
    for (ocs, (_, listed)) in (0u32..).zip(switches) {
        let mut cross_connects = Vec::new();
        let end = |number: u32| -> Option<End> {
            let near = hall.port_at(Side::A, ocs, number).map(|(pod, index)| (Side::A, pod, index));
            near.or_else(|| hall.port_at(Side::B, ocs, number).map(|(pod, index)| (Side::B, pod, index)))
        };
        for (&number, row) in *listed {
            let Some((side, pod, port_index)) = end(number) else { continue };
            if row.failed {
                failed.push(Port { ocs_id: ocs, pod, side, port_index });
            }
            let Some((other, pod_b, port_b_index)) = row.to.and_then(end) else { continue };
            // Every circuit is listed at both ends; the A port, or the lower number, names it.
            let is_first =
                if far == Side::A { row.to.is_some_and(|to| number < to) } else { side == Side::A };
            if is_first && other == far {
                cross_connects.push(Circuit { pod_a: pod, port_a_index: port_index, pod_b, port_b_index });
            }
        }
        cross_connects.sort_unstable();
        installed.push(InstalledOcs { ocs_id: ocs, cross_connects });
    }
    failed.sort_unstable();
    hall.failed_before.clear();
    (hall.installed, hall.failed_ports, hall.strays) = (Installed { ocs: installed }, failed, Vec::new());
}

/// Returns the circuits of a matrix, in the order of the pods of the scenario.
fn of_pods(hall: &CrossconnectScenario, matrix: &Matrix) -> Result<Vec<Vec<u32>>, Problems> {
    let mut problems = Problems::new();
    let mut counts = vec![vec![0; hall.pods as usize]; hall.pods as usize];
    let pods: Vec<Option<u32>> = matrix.pods.iter().map(|name| hall.pod_named(name)).collect();
    for (name, _) in matrix.pods.iter().zip(&pods).filter(|(_, pod)| pod.is_none()) {
        problems.add(
            "",
            format!("the matrix names pod '{}', but no port belongs to that pod", printable(name)),
            "name the pods as in the list of ports",
        );
    }
    for (i, a) in pods.iter().enumerate() {
        for (j, b) in pods.iter().enumerate() {
            if let (Some(a), Some(b)) = (a, b) {
                counts[*a as usize][*b as usize] = matrix.circuits[i][j];
            }
        }
    }
    problems.into_result(counts)
}
