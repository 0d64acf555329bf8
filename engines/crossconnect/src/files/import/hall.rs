//! Imports the fabric of a user (pods, switches and their wiring) from tables.
//!
//! | file | content |
//! |---|---|
//! | port map (`switch,port,side,pod,pod_port,label,state`) | every port of every switch, with its circuit or state |
//! | list of cables ([`wiring`]) | the port of a pod and the port of a switch that each cable joins |
//! | pods and switches ([`tables`]) | names and numbers of ports; the ports are spread evenly over the switches |
//! | matrix of circuits ([`matrix`]) | target circuits of every pair of pods |
//! | scenario or plan of kind `crossconnect` | target circuits and limits; a port map adds the port numbers |
//!
//! All files are first converted to rows of ports; [`build`] creates the scenario from these rows.

use super::state::{scenario_in, sorted_out};
use super::{Input, in_file, text_of};
use crate::Crossconnect;
use crate::files::devices::naming::USUAL_PORTS_PER_SLOT;
use crate::scenario::{CrossconnectScenario, Wiring};
use lightbay_core::cells;
use lightbay_core::format::{self, FormatInfo, ImportedScenario, SubjectSort, scenario_name};
use lightbay_core::param::{ParamInfo, Params};
use lightbay_core::problem::{Problem, Problems, counted, printable};
use lightbay_core::scenario::{Assumed, Scenario};
use rows::PortRows;
use serde_json::json;

mod build;
mod matrix;
mod numbers;
mod rows;
mod tables;
mod wiring;

pub(crate) use rows::{COLUMNS, FAILED, FREE, RESERVED, TO};

#[cfg(test)]
mod tests;

/// Name of the format of port maps.
pub(crate) const PORT_MAP: &str = "port_map";
/// Name of the format that reads all tables of a fabric.
pub(crate) const HALL: &str = "hall";

/// Maximum size of a table, in bytes.
const MAX_BYTES: u64 = 64 << 20;
/// Maximum number of ports of a panel, also where a table or a parameter gives the number.
const MOST_PORTS: i64 = 1 << 16;

/// Returns the descriptions of both formats.
pub(super) fn formats() -> Vec<FormatInfo> {
    let words: Vec<&'static str> = Wiring::ALL.iter().map(|(word, _)| *word).collect();
    let wiring = || {
        let help = "Pairs of ports that a switch may connect. Default: 'single_sided', or 'two_sided' if a port map names sides.";
        ParamInfo::choice("wiring", &words, Wiring::SingleSided.word(), help).derived()
    };
    vec![
        FormatInfo::new(
            PORT_MAP,
            "Port maps with a row for every port of every switch, plus a matrix of target circuits or the scenario whose ports the maps list.",
            SubjectSort::Scenario,
            "csv",
        )
        .with(vec![wiring()]),
        FormatInfo::new(
            HALL,
            "Fabrics as tables: pods and switches, lists of cables (plain, from NetBox or from OCDAI), port maps, matrices of target circuits.",
            SubjectSort::Scenario,
            "csv",
        )
        .leaving_out(&["types, labels and status of cables"])
        .with(vec![
            wiring(),
            ParamInfo::text(
                "switches",
                "Optical switches in a list of cables: names or a role, separated by commas. Default: the devices in the columns of the second end (EndDevice, or side_b_device of NetBox); in OCDAI lists, the devices with the role 'spine'.",
            ),
            ParamInfo::int(
                "panel_ports",
                1,
                MOST_PORTS,
                1,
                "Number of ports of every switch in a list of cables; ports without a cable are spare. \
                 Default: the largest port number in use.",
            )
            .derived(),
            ParamInfo::int(
                "ports_per_slot",
                1,
                MOST_PORTS,
                USUAL_PORTS_PER_SLOT,
                "Number of ports per slot, if a list of cables names ports by slot and port, such as 1.2.3 or E1/2/3. \
                 Default: 8.",
            )
            .derived(),
        ]),
    ]
}

/// Type of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TableSort {
    PortMap,
    Cables(wiring::CableForm),
    Pods,
    Switches,
    Matrix,
    Json,
}

/// A table with its name and its lines: number from 1 and text.
struct HallFile<'a> {
    name: &'a str,
    text: String,
}

impl HallFile<'_> {
    /// Returns the trimmed fields of the header and of the other lines, without empty lines and comments.
    fn rows(&self) -> (Vec<String>, impl Iterator<Item = (usize, Vec<String>)>) {
        let trimmed = |line: &str| -> Vec<String> {
            cells::fields(line).iter().map(|field| field.trim().to_owned()).collect()
        };
        let mut lines = (1..)
            .zip(self.text.lines())
            .filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'))
            .map(move |(number, line)| (number, trimmed(line)));
        let header = lines.next().map(|(_, header)| header).unwrap_or_default();
        (header, lines)
    }

    fn table(&self) -> Result<TableSort, Problem> {
        if self.text.trim_start().starts_with('{') {
            return Ok(TableSort::Json);
        }
        let (header, rows) = self.rows();
        let header: Vec<String> = header.iter().map(|name| name.to_ascii_lowercase()).collect();
        let names: Vec<&str> = header.iter().map(String::as_str).collect();
        if names.starts_with(&["switch", "port"]) && names.contains(&"pod") {
            return Ok(TableSort::PortMap);
        }
        if let Some(form) = wiring::CableForm::of(&names) {
            return Ok(TableSort::Cables(form));
        }
        if names.starts_with(&["node_type", "node_id"]) {
            let remedy = "give the connectivity map, which begins with plan_id,cable_id";
            return Err(Problem::new("", "is the OCDAI list of ports, not the OCDAI list of cables", remedy));
        }
        // The rows of a matrix have the names of its columns, in any order.
        let mut firsts = rows.filter_map(|(_, row)| row.first().map(|name| name.to_ascii_lowercase()));
        match names.as_slice() {
            [_, columns @ ..] if firsts.any(|name| columns.contains(&name.as_str())) => Ok(TableSort::Matrix),
            ["pod", ..] => Ok(TableSort::Pods),
            ["switch", ..] => Ok(TableSort::Switches),
            _ => Err(Problem::new(
                "",
                format!("has the columns '{}'", printable(&header.join(","))),
                "give a port map (switch,port,side,pod,pod_port,label,state), pods (pod,ports), switches (switch,ports), cables \
                 (StartDevice,StartPort,EndDevice,EndPort) or a matrix (pod and the names of the pods)",
            )),
        }
    }
}

/// Reads the tables of a fabric.
///
/// # Errors
/// Every problem of the files. With `strict`, every assumption is a problem too.
pub(super) fn import(
    format: &str,
    inputs: &[format::Input],
    params: &Params,
    strict: bool,
) -> Result<ImportedScenario<Crossconnect>, Problems> {
    let (base, files) = sorted_out(inputs)?;
    let base =
        base.map(|input| scenario_in(input).map_err(|problems| problems.named(&input.name))).transpose()?;
    let mut found = HallFiles::default();
    let mut problems = Problems::new();
    for file in files {
        if let Err(wrong) = found.read(format, &file, params, base.as_ref().map(|base| &base.body)) {
            for problem in wrong.list() {
                problems.push(in_file(file.name, problem.clone()));
            }
        }
    }
    problems.into_result(())?;
    if !found.has_cables
        && let Some(knob) =
            ["switches", "panel_ports", "ports_per_slot"].into_iter().find(|knob| params.get(knob).is_some())
    {
        return Err(Problem::new(knob, "has no effect: no file is a list of cables", "leave it out").into());
    }
    let name = base.as_ref().map_or_else(
        || scenario_name(inputs.first().map_or("", |input| &input.name), "hall"),
        |base| base.name.clone(),
    );
    let rows = found.rows(params)?;
    let before = base.as_ref().map(|base| &base.body);
    let built = build::scenario(before, rows.as_ref(), found.wanted.as_ref(), params)?;
    let mut assumed = built.assumed;
    assumed.extend(found.assumed);
    if strict {
        refuse(&assumed)?;
    }
    let (mut lines, mut notes) = (found.lines.clone(), found.lines);
    lines.extend(assumed.iter().map(line));
    let body = built.scenario;
    let (installed, ports) = (body.installed_circuits().count(), ports_of(&body));
    let counts = format!(
        "{} on {}: {}, {}, {installed} installed",
        counted(u64::from(body.pods), "pod", "pods"),
        counted(u64::from(body.ocs_count), "switch", "switches"),
        counted(ports, "port", "ports"),
        counted(body.wanted_circuits(), "target circuit", "target circuits"),
    );
    lines.push(counts.clone());
    notes.push(counts);
    let summary = json!({ "pods": body.pods, "switches": body.ocs_count, "ports": ports,
        "wanted_circuits": body.wanted_circuits(), "installed_circuits": installed, "lines": lines });
    let scenario = match base {
        Some(base) => Scenario { body, ..base },
        None => Scenario::new(name, body),
    };
    Ok(ImportedScenario { scenario, lines, summary, assumed, notes })
}

/// Returns an assumption as a line for people.
fn line(assumed: &Assumed) -> String {
    let Assumed { what, value, set_with } = assumed;
    match (value.as_str(), set_with.as_str()) {
        ("", "") => what.clone(),
        (value, "") => format!("assumed: {what} = {value}"),
        (value, param) if param.ends_with('=') => format!("assumed: {what} = {value} (set with '{param}')"),
        (value, remedy) => format!("assumed: {what} = {value} ({remedy} gives it)"),
    }
}

/// Returns every assumption as a problem.
fn refuse(assumed: &[Assumed]) -> Result<(), Problems> {
    let mut problems = Problems::new();
    for one in assumed {
        let remedy = match one.set_with.as_str() {
            "" => "add a file with this information, or leave out --strict".to_owned(),
            param if param.ends_with('=') => format!("set '{param}', or leave out --strict"),
            remedy => format!("give {remedy}, or leave out --strict"),
        };
        problems.add("", line(one), remedy);
    }
    problems.into_result(())
}

fn ports_of(body: &CrossconnectScenario) -> u64 {
    body.ports_a.iter().chain(&body.ports_b).flatten().map(|&ports| u64::from(ports)).sum()
}

/// Content of the files.
#[derive(Default)]
struct HallFiles {
    rows: Option<PortRows>,
    pods: Option<tables::Pods>,
    switches: Option<Vec<tables::Sized>>,
    wanted: Option<matrix::Matrix>,
    has_cables: bool,
    lines: Vec<String>,
    assumed: Vec<Assumed>,
}

impl HallFiles {
    fn read(
        &mut self,
        format: &str,
        file: &Input<'_>,
        params: &Params,
        base: Option<&CrossconnectScenario>,
    ) -> Result<(), Problems> {
        let read = HallFile { name: file.name, text: text_of(file, MAX_BYTES)? };
        let table = read.table()?;
        if format == PORT_MAP && !matches!(table, TableSort::PortMap | TableSort::Matrix) {
            let remedy = format!("import it as {HALL}");
            return Err(Problem::new("", "is neither a port map nor a matrix of circuits", remedy).into());
        }
        match table {
            TableSort::PortMap => self.more_rows(rows::read(&read, base)?),
            TableSort::Cables(form) => {
                let wiring::Cabling { rows, lines, assumed } = wiring::read(&read, form, params)?;
                self.lines.extend(lines);
                self.assumed.extend(assumed);
                self.has_cables = true;
                self.more_rows(rows)
            }
            TableSort::Matrix => once(&mut self.wanted, matrix::read(&read)?, "a matrix of circuits"),
            TableSort::Pods => once(&mut self.pods, tables::pods(&read)?, "a list of pods"),
            TableSort::Switches => once(&mut self.switches, tables::switches(&read)?, "a list of switches"),
            TableSort::Json => {
                let tables::Hall { pods, switches, wanted } = tables::json(&read)?;
                once(&mut self.pods, pods, "a list of pods")?;
                once(&mut self.switches, switches, "a list of switches")?;
                wanted.map_or(Ok(()), |wanted| once(&mut self.wanted, wanted, "a set of circuits"))
            }
        }
    }

    /// Adds the rows of one more file.
    fn more_rows(&mut self, rows: PortRows) -> Result<(), Problems> {
        match &mut self.rows {
            None => self.rows = Some(rows),
            Some(known) => known.join(rows)?,
        }
        Ok(())
    }

    /// Returns the rows of ports of all files; `None` if there is only a matrix.
    fn rows(&mut self, params: &Params) -> Result<Option<PortRows>, Problems> {
        let missing = |what: &str, other: &str| {
            let message = format!("there is a list of {other}, but no list of {what}");
            Problems::from(Problem::new("", message, format!("add the list of {what}")))
        };
        match (self.rows.take(), self.pods.take(), self.switches.take()) {
            (Some(rows), None, None) => Ok(Some(rows)),
            (None, Some(pods), Some(switches)) => {
                let shares = if pods.switches.is_empty() {
                    "spread in proportion to the sizes of the switches, and "
                } else {
                    ""
                };
                self.assumed.push(Assumed {
                    what: "switch and panel number of every port".to_owned(),
                    value: format!("{shares}numbered in the order of the pods"),
                    set_with: "a port map or a list of cables".to_owned(),
                });
                tables::spread(&pods, &switches, params).map(Some)
            }
            (None, None, None) => Ok(None),
            (None, Some(_), None) => Err(missing("switches", "pods")),
            (None, None, Some(_)) => Err(missing("pods", "switches")),
            (Some(_), ..) => Err(Problem::new(
                "",
                "the files contain both a list of single ports and a list of pods or switches",
                "give only the list of ports, which includes the pods and switches",
            )
            .into()),
        }
    }
}

fn once<T>(place: &mut Option<T>, value: T, what: &str) -> Result<(), Problems> {
    if place.is_some() {
        return Err(Problem::new("", format!("is the second file with {what}"), "give one such file").into());
    }
    *place = Some(value);
    Ok(())
}
