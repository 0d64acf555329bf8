//! Rows of ports, each with the wiring of one port of a switch, and port maps, which are tables of such rows.

use super::HallFile;
use crate::scenario::{CrossconnectScenario, NAME_REMEDY, Side, wrong_name};
use lightbay_core::cells;
use lightbay_core::problem::{Problem, Problems, printable};
use std::collections::BTreeMap;

/// Columns of a port map.
pub(crate) const COLUMNS: [&str; 7] = ["switch", "port", "side", "pod", "pod_port", "label", "state"];
/// State of a port without a circuit.
pub(crate) const FREE: &str = "free";
/// State of a failed port.
pub(crate) const FAILED: &str = "failed";
/// State of a port that is kept for other purposes.
pub(crate) const RESERVED: &str = "reserved";
/// Word before the number of the port at the other end of a circuit.
pub(crate) const TO: &str = "to";

/// A port of a switch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Row {
    pub side: Option<Side>,
    pub pod: Option<String>,
    pub pod_port: Option<String>,
    pub label: Option<String>,
    pub failed: bool,
    pub reserved: bool,
    /// Number of the port at the other end of the circuit at this port.
    pub to: Option<u32>,
    /// File and line that list the port.
    pub place: (String, usize),
}

/// All ports, switch by switch in order of appearance.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PortRows {
    pub switches: Vec<(String, BTreeMap<u32, Row>)>,
    /// Pods in order of appearance.
    pub pods: Vec<String>,
    /// `true` if the files give the states of ports.
    pub has_states: bool,
}

impl PortRows {
    /// Adds a port; if the switch already has a port with this number, replaces it and returns the previous one as the
    /// error.
    pub fn add(&mut self, switch: &str, number: u32, row: Row) -> Result<(), Row> {
        if let Some(pod) = row.pod.as_ref().filter(|pod| !self.pods.contains(pod)) {
            self.pods.push(pod.clone());
        }
        let at = self.switches.iter().position(|(name, _)| name == switch).unwrap_or_else(|| {
            self.switches.push((switch.to_owned(), BTreeMap::new()));
            self.switches.len() - 1
        });
        match self.switches[at].1.insert(number, row) {
            None => Ok(()),
            Some(first) => Err(first),
        }
    }

    /// Adds the rows of another file.
    pub fn join(&mut self, other: Self) -> Result<(), Problems> {
        let mut problems = Problems::new();
        self.has_states |= other.has_states;
        for (switch, ports) in other.switches {
            for (number, row) in ports {
                let place = format!("line {}", row.place.1);
                if let Err(first) = self.add(&switch, number, row) {
                    problems.push(twice(&place, &switch, &number.to_string(), &first.place));
                }
            }
        }
        problems.into_result(())
    }
}

/// Returns the problem of a port that is listed twice.
pub(super) fn twice(place: &str, switch: &str, port: &str, (file, line): &(String, usize)) -> Problem {
    let message =
        format!("port {} of {} is already listed in {file}, line {line}", printable(port), printable(switch));
    Problem::new(place, message, "list every port once")
}

/// Reads a port map.
pub(super) fn read(file: &HallFile<'_>, base: Option<&CrossconnectScenario>) -> Result<PortRows, Problems> {
    let mut problems = Problems::new();
    let (header, lines) = file.rows();
    let mut at = [None; COLUMNS.len()];
    for (position, name) in header.iter().enumerate() {
        match COLUMNS.iter().position(|known| known.eq_ignore_ascii_case(name)) {
            Some(column) => at[column] = Some(position),
            None => problems.add(
                "line 1",
                format!("has the unknown column '{}'", printable(name)),
                format!("use only the columns {}", COLUMNS.join(",")),
            ),
        }
    }
    problems.into_result(())?;
    let mut problems = Problems::new();
    let mut rows = PortRows { has_states: false, ..PortRows::default() };
    for (number, line) in lines {
        let place = format!("line {number}");
        let cell =
            |column: usize| at[column].and_then(|at| line.get(at)).map_or("", |field| cells::plain(field));
        if line.len() > header.len() {
            problems.add(
                place,
                format!("has {} fields, but the header has {}", line.len(), header.len()),
                "put names with commas in quotes, or leave the commas out",
            );
            continue;
        }
        let switch = base
            .filter(|base| base.panels.is_empty())
            .and_then(|base| {
                Some(format!("ocs-{}", base.ocs_named(cell(0).strip_prefix("ocs-").unwrap_or(cell(0)))?))
            })
            .unwrap_or_else(|| cell(0).to_owned());
        match row(cell, (file.name, number)) {
            Ok((port, row)) => {
                rows.has_states |= !cell(6).is_empty();
                if let Err(first) = rows.add(&switch, port, row) {
                    problems.push(twice(&place, cell(0), cell(1), &first.place));
                }
            }
            Err(wrong) => problems.push(Problem { path: place, ..wrong }),
        }
    }
    problems.into_result(())?;
    gaps(&rows)?;
    circuits(&rows)?;
    if rows.switches.is_empty() {
        return Err(Problem::new("", "has no ports", "list a port in every row").into());
    }
    Ok(rows)
}

fn row<'l>(cell: impl Fn(usize) -> &'l str, (file, line): (&str, usize)) -> Result<(u32, Row), Problem> {
    let wrong = |column: usize, message: String, remedy: &str| {
        Err(Problem::new("", format!("{} {message}", COLUMNS[column]), remedy))
    };
    for column in [0, 3, 4, 5] {
        let text = cell(column);
        if let Some(why) = wrong_name(text).filter(|_| column == 0 || !text.is_empty()) {
            // Names of ports and labels may hold slashes and colons, but nothing that ends a line.
            let is_name = column == 0 || column == 3;
            if is_name || text.chars().any(char::is_control) || text.len() > 400 {
                return wrong(column, format!("'{}' {why}", printable(text)), NAME_REMEDY);
            }
        }
    }
    let Some(number) =
        cell(1).parse::<u32>().ok().filter(|number| (1..=super::MOST_PORTS as u32).contains(number))
    else {
        return wrong(
            1,
            format!("is '{}'", printable(cell(1))),
            "ports of a panel have the numbers 1, 2, 3, …",
        );
    };
    let side = match cell(2).to_ascii_lowercase().as_str() {
        "" => None,
        "a" => Some(Side::A),
        "b" => Some(Side::B),
        other => {
            return wrong(
                2,
                format!("is '{}'", printable(other)),
                "give a or b, or leave it empty where ports have no sides",
            );
        }
    };
    let text = |column: usize| Some(cell(column)).filter(|text| !text.is_empty()).map(str::to_owned);
    let (pod, pod_port, label) = (text(3), text(4), text(5));
    let mut row = Row { side, pod, pod_port, label, place: (file.to_owned(), line), ..Row::default() };
    let words: Vec<&str> = cell(6).split_whitespace().collect();
    let mut rest = words.as_slice();
    while let [word, more @ ..] = rest {
        rest = more;
        match *word {
            FREE => {}
            FAILED => row.failed = true,
            RESERVED => row.reserved = true,
            TO => {
                let (number, more) =
                    more.split_first().map_or((None, more), |(number, more)| (number.parse().ok(), more));
                (row.to, rest) = (number, more);
                if row.to.is_none() {
                    return wrong(
                        6,
                        format!("is '{}'", printable(cell(6))),
                        "give the number of the other port after 'to'",
                    );
                }
            }
            _ => {
                let remedy = "give free, failed, reserved, or 'to NUMBER' for a circuit to another port";
                return wrong(6, format!("is '{}'", printable(cell(6))), remedy);
            }
        }
    }
    if row.to.is_some() && (row.pod.is_none() || row.reserved) {
        let remedy = "give the pod of the port; lightbay does not plan circuits of ports without a pod";
        return wrong(6, format!("is '{}' at a port without a pod", printable(cell(6))), remedy);
    }
    if row.pod.is_none() && row.failed {
        return wrong(
            6,
            format!("is '{}' at a port without a pod", printable(cell(6))),
            "leave it empty, or give reserved",
        );
    }
    Ok((number, row))
}

/// Checks that a panel lists every number from 1.
fn gaps(rows: &PortRows) -> Result<(), Problems> {
    let mut problems = Problems::new();
    for (switch, ports) in &rows.switches {
        let missing = (1..).zip(ports.keys()).find(|(expected, number)| expected != *number);
        if let Some((expected, number)) = missing {
            problems.add(
                "",
                format!("has port {number} of {}, but no port {expected}", printable(switch)),
                format!("add a row for port {expected}: without a pod if it is spare"),
            );
        }
    }
    problems.into_result(())
}

/// Checks that circuits are listed at both of their ports.
fn circuits(rows: &PortRows) -> Result<(), Problems> {
    let mut problems = Problems::new();
    for (switch, ports) in &rows.switches {
        let ends: BTreeMap<u32, u32> =
            ports.iter().filter_map(|(&number, row)| Some((number, row.to?))).collect();
        for (&number, &to) in &ends {
            let row = &ports[&number];
            let far = ports.get(&to);
            let same = far.filter(|far| far.pod == row.pod || (row.side.is_some() && far.side == row.side));
            if let Some(far) = same.filter(|_| number < to && ends.get(&to) == Some(&number)) {
                let what = if far.pod == row.pod { "of the same pod" } else { "of the same side" };
                problems.add(
                    format!("line {}", row.place.1),
                    format!("joins port {number} of {} to port {to}, {what}", printable(switch)),
                    "this connection makes no circuit; import the reply of the switch instead, so that the \
                     plan deletes the connection",
                );
            }
            if ends.get(&to) != Some(&number) || number == to {
                let other = match ports.get(&to).map(|row| row.to) {
                    _ if number == to => "which is the port itself".to_owned(),
                    None => "which the switch does not have".to_owned(),
                    Some(None) => "which is not joined to the first port".to_owned(),
                    Some(Some(third)) => format!("which is joined to port {third}"),
                };
                problems.add(
                    format!("line {}", row.place.1),
                    format!("joins port {number} of {} to port {to}, {other}", printable(switch)),
                    "give the state of both ports of a circuit; to include connections in one direction, import the reply of the switch",
                );
            }
        }
    }
    problems.into_result(())
}
