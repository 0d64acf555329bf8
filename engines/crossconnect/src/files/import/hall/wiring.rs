//! Reads lists of cables: each row has a device and a port for both ends of a cable. One of the devices is an optical
//! switch.
//!
//! | columns | source of the list, and the optical switches in it |
//! |---|---|
//! | `StartDevice,StartPort,EndDevice,EndPort` | planning tools; the optical switch is `EndDevice`, unless `switches` names it |
//! | `side_a_device,side_a_type,side_a_name,side_b_device,…` | NetBox; the parameter `switches` must name the optical switches |
//! | `plan_id,cable_id,…,a_device,a_interface,a_role,b_device,b_interface,b_role` | OCDAI; devices with the role `spine`, unless `switches` names other devices or another role |

use super::HallFile;
use super::numbers::{self, NumberRule};
use super::rows::{PortRows, Row, twice};
use crate::files::devices::naming::USUAL_PORTS_PER_SLOT;
use crate::scenario::{NAME_REMEDY, wrong_name};
use lightbay_core::param::Params;
use lightbay_core::problem::{Problem, Problems, counted, few, printable};
use lightbay_core::scenario::Assumed;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Columns of a list of cables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CableForm {
    Plain,
    NetBox,
    Ocdai,
}

impl CableForm {
    /// Returns the columns of device and port at both ends, and of the roles if there are any.
    const fn columns(self) -> ([&'static str; 4], Option<[&'static str; 2]>) {
        match self {
            Self::Plain => (["startdevice", "startport", "enddevice", "endport"], None),
            Self::NetBox => (["side_a_device", "side_a_name", "side_b_device", "side_b_name"], None),
            Self::Ocdai => {
                (["a_device", "a_interface", "b_device", "b_interface"], Some(["a_role", "b_role"]))
            }
        }
    }

    /// Returns the form whose columns a header has; `None` if the header belongs to no list of cables. Column names are
    /// in lower case.
    pub fn of(header: &[&str]) -> Option<Self> {
        [Self::Plain, Self::NetBox, Self::Ocdai].into_iter().find(|form| {
            let (columns, roles) = form.columns();
            columns.iter().chain(roles.iter().flatten()).all(|column| header.contains(column))
        })
    }
}

/// A device at one end of a cable, with its port.
#[derive(Clone, Debug)]
struct End {
    device: String,
    port: String,
    role: String,
}

/// A cable between a pod and a switch.
struct Cable {
    line: usize,
    pod: End,
    switch: End,
}

/// Content of a list of cables.
pub(super) struct Cabling {
    pub rows: PortRows,
    /// Lines about the cables that were left out.
    pub lines: Vec<String>,
    /// Values that the list does not give.
    pub assumed: Vec<Assumed>,
}

/// Reads a list of cables.
pub(super) fn read(file: &HallFile<'_>, form: CableForm, params: &Params) -> Result<Cabling, Problems> {
    let named: Vec<&str> = params
        .text("switches")
        .map(|names| names.split(',').map(str::trim).filter(|name| !name.is_empty()).collect())
        .unwrap_or_default();
    if form == CableForm::NetBox && named.is_empty() {
        let remedy = "give the names of the optical switches: switches=ocs-east,ocs-west";
        return Err(Problem::new(
            "switches",
            "is missing, and the list of cables does not show which devices are switches",
            remedy,
        )
        .into());
    }
    let (cables, [others, management]) = cables(file, form, &named)?;
    let mut lines = Vec::new();
    if management > 0 {
        let cables = counted(management as u64, "management cable", "management cables");
        lines.push(format!("{}: {cables} left out (their names contain oob or bmc)", file.name));
    }
    if others > 0 {
        let cables = counted(others as u64, "cable", "cables");
        lines.push(format!("{}: {cables} left out: neither end is an optical switch", file.name));
    }
    let mut assumed = Vec::new();
    let rows = numbered(file, cables, params, &mut assumed)?;
    if named.is_empty() {
        let names: Vec<String> = rows.switches.iter().map(|(name, _)| printable(name)).collect();
        let why =
            if form == CableForm::Ocdai { "the devices with the role spine" } else { "the end devices" };
        assumed.insert(
            0,
            Assumed {
                what: "optical switches".to_owned(),
                value: format!("{why}: {}", few(&names)),
                set_with: "switches=".to_owned(),
            },
        );
    }
    Ok(Cabling { rows, lines, assumed })
}

/// Returns the cables between pods and switches, and two numbers of omitted cables: cables that end at no switch, and
/// management cables.
fn cables(
    file: &HallFile<'_>,
    form: CableForm,
    named: &[&str],
) -> Result<(Vec<Cable>, [usize; 2]), Problems> {
    let mut problems = Problems::new();
    let (header, lines) = file.rows();
    let header: Vec<String> = header.iter().map(|name| name.to_ascii_lowercase()).collect();
    let (columns, roles) = form.columns();
    let at = |name: &str| header.iter().position(|column| column == name);
    let mut all: Vec<(usize, [End; 2])> = Vec::new();
    for (line, row) in lines {
        let cell = |name: &str| at(name).and_then(|at| row.get(at)).cloned().unwrap_or_default();
        let role = |end: usize| roles.map_or_else(String::new, |roles| cell(roles[end]));
        let ends = [0, 1].map(|end| End {
            device: cell(columns[2 * end]),
            port: cell(columns[2 * end + 1]),
            role: role(end),
        });
        if ends.iter().any(|end| end.device.is_empty() || end.port.is_empty()) {
            problems.add(
                format!("line {line}"),
                "has a cable with no device or no port at one end",
                "give device and port at both ends",
            );
        } else {
            all.push((line, ends));
        }
    }
    let is_named = |end: &End| named.iter().any(|name| *name == end.device || *name == end.role);
    let known: BTreeSet<&str> =
        all.iter().flat_map(|(_, ends)| ends).flat_map(|end| [&*end.device, &*end.role]).collect();
    for name in named.iter().filter(|name| !known.contains(**name)) {
        problems.add(
            "switches",
            format!("names '{}', but no cable ends at that device", printable(name)),
            "give names of devices from the list",
        );
    }
    problems.into_result(())?;
    let mut problems = Problems::new();
    let ends: BTreeSet<String> = all.iter().map(|(_, [_, end])| end.device.clone()).collect();
    let is_switch = |end: &End| match form {
        _ if !named.is_empty() => is_named(end),
        CableForm::Ocdai => end.role.eq_ignore_ascii_case("spine"),
        CableForm::Plain | CableForm::NetBox => ends.contains(&end.device),
    };
    let (mut found, mut others, mut management) = (Vec::new(), 0, 0);
    for (line, [a, b]) in all {
        let place = format!("line {line}");
        // Cables of the management network are left out: it has its own switches, and the spines have ports for it.
        let manages = |end: &End| {
            ["oob", "bmc"].iter().any(|word| end.device.starts_with(word) || end.port.starts_with(word))
        };
        if form == CableForm::Ocdai && named.is_empty() && (manages(&a) || manages(&b)) {
            management += 1;
            continue;
        }
        let (pod, switch) = match (is_switch(&a), is_switch(&b)) {
            (false, false) => {
                others += 1;
                continue;
            }
            (true, true) => {
                let message = format!(
                    "joins {} to {}, and both are switches",
                    printable(&a.device),
                    printable(&b.device)
                );
                problems.add(
                    place,
                    message,
                    "leave the cable out, or name the optical switches: switches=NAME,NAME",
                );
                continue;
            }
            (false, true) => (a, b),
            (true, false) => (b, a),
        };
        for name in [&pod.device, &switch.device] {
            if let Some(wrong) = wrong_name(name) {
                problems.add(place.clone(), format!("the name '{}' {wrong}", printable(name)), NAME_REMEDY);
            }
        }
        found.push(Cable { line, pod, switch });
    }
    if found.is_empty() && problems.is_empty() {
        problems.add("", "has no cable to an optical switch", "name the switches: switches=NAME,NAME");
    }
    problems.into_result((found, [others, management]))
}

/// Returns rows of ports. Port numbers come from the port names of the list ([`numbers::of`]).
fn numbered(
    file: &HallFile<'_>,
    cables: Vec<Cable>,
    params: &Params,
    assumed: &mut Vec<Assumed>,
) -> Result<PortRows, Problems> {
    let mut problems = Problems::new();
    let mut of_switch: Vec<(String, Vec<Cable>)> = Vec::new();
    let mut seen: HashMap<(String, String), usize> = HashMap::new();
    for cable in cables {
        let place = format!("line {}", cable.line);
        for end in [&cable.switch, &cable.pod] {
            let key = (end.device.clone(), end.port.clone());
            if let Some(first) = seen.insert(key, cable.line) {
                problems.push(twice(&place, &end.device, &end.port, &(file.name.to_owned(), first)));
            }
        }
        match of_switch.iter_mut().find(|(name, _)| *name == cable.switch.device) {
            Some((_, list)) => list.push(cable),
            None => of_switch.push((cable.switch.device.clone(), vec![cable])),
        }
    }
    problems.into_result(())?;
    let mut problems = Problems::new();
    let size = params.int("panel_ports").and_then(|size| u32::try_from(size).ok());
    let given = params.int("ports_per_slot").and_then(|ports| u32::try_from(ports).ok());
    let per_slot = given.unwrap_or(USUAL_PORTS_PER_SLOT as u32);
    let mut rows = PortRows { pods: pods_in_order(&of_switch), ..PortRows::default() };
    let (mut rules, mut largest): (Vec<NumberRule>, Vec<String>) = (Vec::new(), Vec::new());
    for (switch, list) in &of_switch {
        let names: Vec<&str> = list.iter().map(|cable| cable.switch.port.as_str()).collect();
        let numbers = match numbers::of(&names, per_slot) {
            Ok((numbers, rule)) => {
                if rule.is_assumed() && !rules.contains(&rule) {
                    let ports = || names.iter().zip(&numbers);
                    let differs = ports().find(|(name, number)| !name.ends_with(&number.to_string()));
                    let example =
                        differs.or_else(|| ports().find(|(name, number)| **name != number.to_string()));
                    let (name, number) = example.map_or(("", 0), |(name, number)| (*name, *number));
                    assumed.push(rule.assumed(switch, (name, number), per_slot));
                }
                rules.push(rule);
                numbers
            }
            Err((message, remedy)) => {
                problems.add("", format!("the ports of {}: {message}", printable(switch)), remedy);
                continue;
            }
        };
        let mut ports = BTreeMap::new();
        for (cable, &number) in list.iter().zip(&numbers) {
            let label = Some(cable.switch.port.clone()).filter(|port| *port != number.to_string());
            let row = Row {
                pod: Some(cable.pod.device.clone()),
                pod_port: Some(cable.pod.port.clone()),
                label,
                place: (file.name.to_owned(), cable.line),
                ..Row::default()
            };
            ports.insert(number, row);
        }
        let last = ports.keys().next_back().copied().unwrap_or(0);
        largest.push(format!("{last} on {}", printable(switch)));
        let size = size.unwrap_or(last);
        if size < last {
            let message = format!("is {size}, but a cable ends at port {last} of {}", printable(switch));
            problems.add("panel_ports", message, format!("give {last} or more, or leave it out"));
        }
        for number in 1..=size {
            ports.entry(number).or_default();
        }
        rows.switches.push((switch.clone(), ports));
    }
    problems.into_result(())?;
    if given.is_some() && !rules.contains(&NumberRule::Slots) {
        let remedy = "leave it out";
        return Err(Problem::new(
            "ports_per_slot",
            "has no effect: no port is named by slot and port",
            remedy,
        )
        .into());
    }
    if size.is_none() {
        assumed.push(Assumed {
            what: "ports of a switch, from the largest number in use".to_owned(),
            value: few(&largest),
            set_with: "panel_ports=".to_owned(),
        });
    }
    Ok(rows)
}

/// Returns the pods in the order of the file, not in the order of the switches.
fn pods_in_order(of_switch: &[(String, Vec<Cable>)]) -> Vec<String> {
    let all = of_switch.iter().flat_map(|(_, list)| list);
    let mut order: Vec<(usize, &str)> = all.map(|cable| (cable.line, cable.pod.device.as_str())).collect();
    order.sort_unstable();
    let mut seen = HashSet::new();
    order.into_iter().filter(|(_, pod)| seen.insert(*pod)).map(|(_, pod)| pod.to_owned()).collect()
}
