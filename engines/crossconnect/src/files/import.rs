//! Imports connections of switches from tables, and from the replies to the commands that read the state back.
//!
//! | format | file |
//! |---|---|
//! | `polatis_tl1`, `calient_tl1`, `glimmerglass_tl1` | the reply to `RTRV-PATCH`, to `RTRV-CRS`, to `rtrv-crs-fiber` |
//! | `polatis_restconf` | the JSON of a `GET` of the list |
//! | `polatis_netconf` | the reply to `get-config` |
//! | `ocp_ocs` | the JSON of the connections, also as gnmic prints it |
//! | `sonic_ocs` | CONFIG_DB as JSON, or a table of cross connects as its commands print it |
//! | `csv` | the table of the export; several files are read as one |
//!
//! The import also reads connections that make no circuit ([`circuits`]), because the plan deletes them. It refuses
//! incomplete replies.
//!
//! All formats except `csv` need exactly one file for every switch, so that the state of one switch is not mistaken for
//! the state of another switch. The switch of a file is the number in `ocs-NUMBER` in the file name, or the value of
//! the parameter `ocs_ids`.

use crate::files::devices::naming::{
    Naming, USUAL_PORTS_PER_SLOT, labels_agree, naming, port_knobs, ports_of,
};
use crate::files::devices::template::Role;
use crate::files::devices::{Device, Joint, Lane, devices};
use crate::files::exports::{
    calient_tl1, csv as csv_table, glimmerglass_tl1, ocp_ocs, polatis_netconf, polatis_restconf, polatis_tl1,
    sonic_ocs, whole_remedy,
};
use crate::scenario::{CrossconnectScenario, Installed, MAX_OCS, Stray};
use lightbay_core::format::{FormatInfo, SubjectSort};
use lightbay_core::param::{ParamInfo, Params};
use lightbay_core::problem::{Problem, Problems, counted, few, suggestion};
use lightbay_core::read::read_within;

mod circuits;
mod csv;
mod files;
pub(crate) mod hall;
mod json;
mod netconf;
mod state;
mod table;
mod tl1;

pub(crate) use state::import;

#[cfg(test)]
mod tests;

/// A file to import.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// Name of the file, for messages; the name may contain the number of a switch.
    pub name: &'a str,
    /// Content of the file, plain or gzip-compressed.
    pub bytes: &'a [u8],
}

/// Result of an import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// Circuits on the switches of the scenario, sorted.
    pub installed: Installed,
    /// Connections that make no circuit, sorted.
    pub strays: Vec<Stray>,
    /// Number of stray connections that are one direction of a circuit whose ports no other connection uses.
    pub half: usize,
    /// Lines for people that state what was read and what was left out.
    pub lines: Vec<String>,
    /// The lines for people that state assumptions of the import.
    pub assumed: Vec<String>,
}

/// A connection that a file lists, given by the names of its ports.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Connection {
    /// Line or key in the file.
    place: String,
    ingress: String,
    egress: String,
    /// `true` if the switch says that the connection carries both directions; `None` if the switch does not report
    /// this.
    both_ways: Option<bool>,
}

/// All connections of a file, and lines for people.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Listing {
    found: Vec<Connection>,
    /// Remarks on connections whose state the file leaves unclear, each with the state that the import assumes.
    notes: Vec<String>,
}

/// Information that the imported scenario does not get from the reply of a switch.
const SWITCH_ALONE: &[&str] =
    &["names, states and power levels of the connections on the switch", "the target circuits"];

/// Returns all formats.
pub fn formats() -> Vec<FormatInfo> {
    let format = |name, help, extension| {
        let mut params: Vec<ParamInfo> = ports_of(name).iter().flat_map(port_knobs).collect();
        params.push(ParamInfo::int_list(
            "ocs_ids",
            0,
            2 * MAX_OCS as i64 - 1,
            "Switch of each file, in the order of the files. Default: the number in 'ocs-NUMBER' of the \
             file name.",
        ));
        FormatInfo::new(name, help, SubjectSort::Scenario, extension).leaving_out(SWITCH_ALONE).with(params)
    };
    let mut all = vec![
        format(
            polatis_tl1::NAME,
            "Replies of Polatis-class switches to RTRV-PATCH, a file per switch.",
            "txt",
        ),
        format(calient_tl1::NAME, "Replies of Calient switches to RTRV-CRS, a file per switch.", "txt"),
        format(
            glimmerglass_tl1::NAME,
            "Replies of Glimmerglass switches to rtrv-crs-fiber, a file per switch.",
            "txt",
        ),
        format(
            polatis_restconf::NAME,
            "Cross-connects of Polatis-class switches as RESTCONF JSON, a file per switch.",
            "json",
        ),
        format(
            polatis_netconf::NAME,
            "Replies of Polatis-class switches to get-config, a file per switch.",
            "xml",
        ),
        format(
            ocp_ocs::NAME,
            "Connections in the optical switch model of the Open Compute Project, as JSON, one file per \
             switch.",
            "json",
        ),
        format(
            sonic_ocs::NAME,
            "CONFIG_DB of switches with SONiC as JSON, or the table that `show ocs cross-connect config` or `status` prints, a file per switch.",
            "json",
        ),
        FormatInfo::new(
            csv_table::NAME,
            "Tables as the csv export writes them: circuits by switch, pod and port; switches, pods and ports count from 0.",
            SubjectSort::Scenario,
            "csv",
        )
        .leaving_out(&["the batches", "the circuits of the other state (before or after)"])
        .with(vec![ParamInfo::choice(
            "state",
            &["after", "before"],
            "after",
            "State to read from a table with changes: after the changes (keep and add), or before the changes (keep and remove).",
        )]),
    ];
    all.extend(hall::formats());
    all
}

/// Returns `true` if files of a format can omit information that the import then has to assume ([`Imported::assumed`]).
pub fn may_assume(format: &str) -> bool {
    [
        csv_table::NAME,
        ocp_ocs::NAME,
        calient_tl1::NAME,
        glimmerglass_tl1::NAME,
        sonic_ocs::NAME,
        hall::PORT_MAP,
        hall::HALL,
    ]
    .contains(&format)
}

/// Returns the circuits on the switches of a scenario, as the files list them.
///
/// # Errors
/// Every problem of the files with file, line or key, and value: text of another format or cut off, ports that the
/// scenario does not have, connections listed twice, missing switches, and switches of other scenarios.
pub fn installed(
    format: &str,
    files: &[Input<'_>],
    scenario: &CrossconnectScenario,
    params: &Params,
) -> Result<Imported, Problems> {
    if files.is_empty() {
        return Err(Problem::new("", "no file is given", "name at least one file").into());
    }
    if format == csv_table::NAME {
        return csv::read(files, scenario, params.text("state") == Some("before"));
    }
    let Some(ports) = ports_of(format) else {
        let names: Vec<&str> = formats().iter().map(|known| known.name).collect();
        return Err(Problem::new(
            "",
            format!("'{format}' is not a format for the state of switches"),
            suggestion(format, &names),
        )
        .into());
    };
    let naming = naming(&ports, params)?;
    let devices = devices(scenario, &naming.numbers)?;
    labels_agree(scenario, &devices, &naming)?;
    let mut problems = Problems::new();
    let (mut lines, mut assumed) = (Vec::new(), Vec::new());
    let mut connections = circuits::Connections::new(scenario);
    for (device, file) in files::of(scenario, &devices, files, params)? {
        let listing = match text_of(file, MAX_STATE_BYTES).and_then(|text| listing(format, &text)) {
            Ok(listing) => listing,
            Err(found) => {
                for problem in found.list() {
                    problems.push(in_file(file.name, problem.clone()));
                }
                continue;
            }
        };
        let count = counted(listing.found.len() as u64, "connection", "connections");
        lines.push(format!("switch {}: {count} in {}", device.id, file.name));
        let notes = listing.notes.iter().map(|note| format!("{}: {note}", file.name));
        assumed.extend(notes.clone());
        lines.extend(notes);
        let (mut foreign, mut from_b) = (Vec::new(), Vec::new());
        for found in listing.found {
            if lane(&naming, &found).is_ok_and(|lane| device.is_foreign(lane)) {
                foreign.push(format!("{}-{}", found.ingress, found.egress));
                continue;
            }
            if lane(&naming, &found).is_ok_and(|lane| device.is_listed_from_b(lane)) {
                from_b.push(format!("{}-{}", found.ingress, found.egress));
            }
            let added = joint(device, &naming, &found).and_then(|joint| {
                let name = format!("{}-{}", found.ingress, found.egress);
                connections.add(
                    device.ocs,
                    (joint, device.is_bidirectional()),
                    name,
                    (file.name, &found.place),
                )
            });
            if let Err(problem) = added {
                problems.push(in_file(file.name, Problem { path: found.place, ..problem }));
            }
        }
        if !from_b.is_empty() {
            let count = counted(from_b.len() as u64, "connection is", "connections are");
            let remedy = whole_remedy(format);
            let line = format!(
                "{}: {count} listed from side B: {}; exported commands name a connection from side A and would not \
                 delete these; {remedy}",
                file.name,
                few(&from_b)
            );
            lines.push(line.clone());
            assumed.push(line);
        }
        if !foreign.is_empty() {
            let count = counted(foreign.len() as u64, "connection", "connections");
            let named = foreign.iter().take(8).cloned().collect::<Vec<_>>().join(", ");
            lines.push(format!(
                "{}: {count} between ports that belong to no pod, which the plan does not change: {named}",
                file.name
            ));
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let circuits::FoundCircuits { installed, strays, lines: of_strays, doubts, half } = connections.found();
    lines.extend(of_strays);
    lines.extend(doubts);
    Ok(Imported { installed, strays, half, lines, assumed })
}

/// Returns the parameters with which an import reads the numbers of ports, as `bidirectional=false, ingress_base=1,
/// egress_base=13`; `None` for a format without port numbers.
fn numbering(format: &str, scenario: &CrossconnectScenario, params: &Params) -> Option<String> {
    let ports = ports_of(format)?;
    let naming = naming(&ports, params).ok()?;
    let devices = devices(scenario, &naming.numbers).ok()?;
    let mut starts: Vec<u64> = devices.iter().filter_map(Device::first_egress).collect();
    starts.sort_unstable();
    starts.dedup();
    let value = |knob: &ParamInfo| match (params.get(&knob.name), &*knob.name) {
        (Some(value), _) => Some(format!("{}={value}", knob.name)),
        (None, "egress_base") if starts.len() > 1 => {
            Some("egress_base=the number after the last ingress port of each switch".to_owned())
        }
        (None, "egress_base") => Some(format!("egress_base={}", starts.first()?)),
        (None, "ports_per_slot") => {
            naming.template.has_slots().then(|| format!("ports_per_slot={USUAL_PORTS_PER_SLOT}"))
        }
        (None, _) => None,
    };
    let values: Vec<String> = port_knobs(&ports).iter().filter_map(value).collect();
    Some(values.join(", "))
}

/// Returns a problem whose location begins with the name of the file.
fn in_file(file: &str, problem: Problem) -> Problem {
    let path = if problem.path.is_empty() { file.to_owned() } else { format!("{file}, {}", problem.path) };
    Problem { path, ..problem }
}

/// Maximum size of the state of one switch, in bytes: 100 bytes per connection, which suffices for more connections
/// than any switch has ports.
const MAX_STATE_BYTES: u64 = 16 << 20;

fn text_of(file: &Input<'_>, limit: u64) -> Result<String, Problems> {
    let bytes = read_within(file.bytes, limit)?;
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").map(<[u8]>::to_vec).unwrap_or(bytes);
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Problem::new(format!("byte {}", at + 1), "is not UTF-8 text", "save the file as UTF-8 text").into()
    })
}

fn listing(format: &str, text: &str) -> Result<Listing, Problems> {
    match format {
        polatis_tl1::NAME => tl1::patches(text),
        calient_tl1::NAME => tl1::cross_connects(text),
        glimmerglass_tl1::NAME => tl1::fiber_crosses(text),
        polatis_netconf::NAME => netconf::pairs(text),
        polatis_restconf::NAME => json::pairs(text),
        ocp_ocs::NAME => json::connections(text),
        _ if text.trim_start().starts_with(['{', '[']) => json::config_db(text),
        _ => table::cross_connects(text),
    }
}

/// Returns the ports that a connection joins.
fn joint(device: &Device, naming: &Naming, found: &Connection) -> Result<Joint, Problem> {
    if let Some(both_ways) = found.both_ways.filter(|both| *both != naming.numbers.bidirectional) {
        let (is, remedy) = if both_ways { ("bidirectional", "true") } else { ("one-way", "false") };
        return Err(Problem::new(
            "",
            format!(
                "the connection of {} and {} is {is}, which the import does not expect",
                found.ingress, found.egress
            ),
            format!("set bidirectional={remedy}, or read the state of the intended switch"),
        ));
    }
    let lane = lane(naming, found)?;
    device.joint(lane).map_err(|(message, remedy)| Problem::new("", message, remedy))
}

/// Converts the port names of a connection to port numbers.
fn lane(naming: &Naming, found: &Connection) -> Result<Lane, Problem> {
    let number = |role, name: &str| {
        naming.template.number(role, name).ok_or_else(|| {
            let like = naming.template.name(role, naming.numbers.ingress_base.max(1));
            Problem::new(
                "",
                format!("'{name}' is not the name of a port"),
                format!("names look like {like}; if the switch uses other names, set port_template"),
            )
        })
    };
    Ok(Lane { ingress: number(Role::Ingress, &found.ingress)?, egress: number(Role::Egress, &found.egress)? })
}
