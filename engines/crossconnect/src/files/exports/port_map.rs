//! `port_map`: every port of every switch by its number, with pod, name, text on the panel and state, in the form that
//! the import reads.

use crate::files::devices::panel_number;
use crate::files::import::hall;
use crate::plan::{Action, Changes, CrossconnectResult};
use crate::scenario::{Circuit, CrossconnectScenario, End, Side, StrayEnd, Wiring};
use lightbay_core::cells;
use lightbay_core::param::{ParamInfo, Params};
use lightbay_core::problem::{Problem, counted};
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

/// Name of the format.
pub const NAME: &str = hall::PORT_MAP;
/// Description of the format.
pub(super) const HELP: &str = "The port map: every port of every switch by its number, with pod, name and state, for spreadsheets and for import.";
/// Parts of a plan or scenario without a column in the port map.
pub(super) const LEAVES_OUT: &[&str] = &[
    "the target circuits",
    "connections of the switches that make no circuit",
    "the batches of a plan",
    "limits of the rollout and pinned circuits",
];

/// States of the ports.
const STATES: [&str; 2] = ["planned", "installed"];

pub(super) fn params() -> Vec<ParamInfo> {
    let help = "State of the ports: after the plan, or as installed now. Default: after the plan; for a scenario, as installed.";
    vec![ParamInfo::choice("state", &STATES, STATES[0], help).derived()]
}

/// Returns the port map of a scenario or plan.
///
/// # Errors
/// The planned state is requested for a scenario or for an order of phases, which have no planned circuits.
pub(crate) fn text(
    scenario: &CrossconnectScenario,
    result: Option<&CrossconnectResult>,
    params: &Params,
) -> Result<String, Problem> {
    let changes = result.and_then(CrossconnectResult::changes);
    let asked = params.text("state");
    if asked == Some(STATES[0]) && changes.is_none() {
        return Err(Problem::new(
            "state",
            "is 'planned', but the export is of a scenario, not of a plan",
            "leave it out, or export a plan",
        ));
    }
    Ok(table(scenario, changes.filter(|_| asked != Some(STATES[1]))))
}

/// Returns the port map of the installed state of a scenario, for tests.
#[cfg(test)]
pub(crate) fn written(scenario: &CrossconnectScenario) -> String {
    table(scenario, None)
}

fn table(scenario: &CrossconnectScenario, changes: Option<&Changes>) -> String {
    let mut text = hall::COLUMNS.join(",");
    text.push('\n');
    for row in lines(scenario, changes) {
        // Writing to text cannot fail.
        let _ = writeln!(text, "{}", row.map(|field| cells::csv(&field)).join(","));
    }
    text
}

/// Returns a remark if circuits of switches without sides begin at the port with the higher number: a port map does not
/// state where a circuit begins, and the import takes the port with the lower number.
pub(crate) fn reversed(
    scenario: &CrossconnectScenario,
    result: Option<&CrossconnectResult>,
) -> Option<String> {
    if scenario.wiring != Wiring::SingleSided {
        return None;
    }
    let number =
        |ocs, pod, port_index| panel_number(scenario, ocs, StrayEnd { pod, side: Side::A, port_index });
    let circuits = circuits(scenario, result.and_then(CrossconnectResult::changes)).into_iter();
    let reversed = circuits.filter(|(ocs, circuit)| {
        number(*ocs, circuit.pod_b, circuit.port_b_index) < number(*ocs, circuit.pod_a, circuit.port_a_index)
    });
    let count = reversed.count() as u64;
    (count > 0).then(|| {
        format!(
            "{} at the port with the higher number, which a port map does not state: the import takes the lower \
             number, so names of bidirectional connections can differ from those on the switch",
            counted(count, "circuit begins", "circuits begin")
        )
    })
}

fn circuits(scenario: &CrossconnectScenario, changes: Option<&Changes>) -> Vec<(u32, Circuit)> {
    match changes {
        None => scenario.installed_circuits().collect(),
        Some(changes) => {
            let entries = changes
                .ocs
                .iter()
                .flat_map(|ocs| ocs.cross_connects.iter().map(move |entry| (ocs.ocs_id, entry)));
            let staying = entries.filter(|(_, entry)| entry.action != Action::Remove);
            staying.map(|(ocs, entry)| (ocs, entry.circuit())).collect()
        }
    }
}

/// Returns the fields of every row: the state after the changes, or as installed.
pub(crate) fn lines(scenario: &CrossconnectScenario, changes: Option<&Changes>) -> Vec<[String; 7]> {
    let mut far: HashMap<(u32, End), End> = HashMap::new();
    for (ocs, circuit) in circuits(scenario, changes) {
        let [a, b] = scenario.ends(circuit);
        far.extend([((ocs, a), b), ((ocs, b), a)]);
    }
    let failed: HashSet<(u32, End)> = scenario
        .failed_ports
        .iter()
        .map(|port| (port.ocs_id, (port.side, port.pod, port.port_index)))
        .collect();
    let has_sides = scenario.wiring != Wiring::SingleSided;
    let mut lines = Vec::new();
    for ocs in 0..scenario.ocs_count {
        let (name, rows) = rows(scenario, ocs);
        let numbers: HashMap<End, u32> = rows.iter().filter_map(|row| Some((row.end?, row.number))).collect();
        for row in &rows {
            let [side, index, state] = match row.end {
                None => [
                    String::new(),
                    String::new(),
                    if row.reserved { hall::RESERVED.to_owned() } else { String::new() },
                ],
                Some(end) => {
                    let joined = far.get(&(ocs, end)).and_then(|far| numbers.get(far));
                    let state = match (failed.contains(&(ocs, end)), joined) {
                        (false, None) => hall::FREE.to_owned(),
                        (true, None) => hall::FAILED.to_owned(),
                        (false, Some(to)) => format!("{} {to}", hall::TO),
                        (true, Some(to)) => format!("{} {} {to}", hall::FAILED, hall::TO),
                    };
                    let side = if has_sides { end.0.word().to_owned() } else { String::new() };
                    [side, end.2.to_string(), state]
                }
            };
            let pod = row.pod.map_or_else(String::new, |pod| scenario.pod_name(pod as usize));
            let text = |text: Option<&str>| text.unwrap_or("").to_owned();
            let pod_port = row.pod_port.map_or(index, str::to_owned);
            lines.push([name.clone(), row.number.to_string(), side, pod, pod_port, text(row.label), state]);
        }
    }
    lines
}

struct Row<'s> {
    number: u32,
    pod: Option<u32>,
    end: Option<End>,
    pod_port: Option<&'s str>,
    label: Option<&'s str>,
    reserved: bool,
}

/// Returns the name of a switch and its ports in order of their numbers: A ports before B ports if the switch has no
/// own port numbers.
fn rows(scenario: &CrossconnectScenario, ocs: u32) -> (String, Vec<Row<'_>>) {
    if let Some(panel) = scenario.panel(ocs) {
        let rows = panel.ports.iter().map(|port| Row {
            number: port.number,
            pod: port.pod,
            end: port.end(),
            pod_port: port.pod_port.as_deref(),
            label: port.label.as_deref(),
            reserved: port.reserved,
        });
        return (panel.name.clone(), rows.collect());
    }
    let ends = Side::ALL.into_iter().flat_map(|(_, side)| {
        (0..scenario.pods).flat_map(move |pod| {
            (0..scenario.ports(side, pod as usize, ocs as usize)).map(move |index| (side, pod, index))
        })
    });
    let row = |(number, end): (u32, End)| Row {
        number,
        pod: Some(end.1),
        end: Some(end),
        pod_port: None,
        label: None,
        reserved: false,
    };
    (format!("ocs-{ocs}"), (1..).zip(ends).map(row).collect())
}
