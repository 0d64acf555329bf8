//! Formats of plans for the controllers of switches, with the knobs of each format.
//!
//! | format | reader of the files |
//! |---|---|
//! | `polatis_tl1`, `calient_tl1`, `glimmerglass_tl1` | the TL1 port of a switch |
//! | `polatis_restconf` | the HTTP interface: a script of `curl` requests |
//! | `polatis_netconf` | the same model over NETCONF: a session to be piped into `ssh` |
//! | `ocp_ocs` | gNMI, model of the Open Compute Project: a request file |
//! | `sonic_ocs` | the shell, the RESTCONF server, CONFIG_DB or an RPC of SONiC |
//! | `runtime` | a controller that repeats a change in every iteration of a job |
//! | `csv` | people, spreadsheets |
//! | `port_map` | people, spreadsheets, and the importer of the same name |
//! | `run_sheet` | people who make the change |
//! | `svg` | people in a review |
//!
//! The formats for controllers of switches (the first five rows) write one file with commands for every switch that
//! changes: removals first, at the end the command that reads the state back. A second file per switch rolls the change
//! back. If a plan has several batches, there is one file per batch and switch: a batch must be complete on all
//! switches before the next batch begins, and TL1 has no comments that could mark the batches. The files of a batch are
//! adjacent when sorted by name. These formats also write the list of all ports (`.ports.csv`).

use crate::files::devices::naming::{Naming, labels_agree, naming, port_knobs, ports_of, text_knob};
use crate::files::devices::{Device, devices};
use crate::plan::{Changes, CrossconnectResult};
use crate::rollout::caveat;
use crate::scenario::{CrossconnectScenario, Wiring};
use jobs::{BoxJob, Told, Whole};
use lightbay_core::format::{FormatInfo, SubjectSort, file_stem};
use lightbay_core::param::{ParamInfo, Params};
use lightbay_core::problem::{Problem, Problems, counted, suggestion};

pub mod calient_tl1;
pub mod csv;
mod entry;
pub mod glimmerglass_tl1;
mod jobs;
pub mod laid;
pub mod ocp_ocs;
mod picture;
pub mod polatis_netconf;
pub mod polatis_restconf;
pub mod polatis_tl1;
pub mod port_list;
pub mod port_map;
mod run_sheet;
mod runtime;
mod script;
pub mod sonic_ocs;

pub use entry::preview;
pub(crate) use entry::{export, exporters, remarks};
pub use script::{LineSort, Script};

#[cfg(test)]
pub(crate) mod tests;

/// A plan that is written to files, with its scenario.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// Name for comments.
    pub name: &'a str,
    /// Scenario of the plan.
    pub scenario: &'a CrossconnectScenario,
    /// Result of the plan.
    pub result: &'a CrossconnectResult,
    /// SHA-256 of the plan, for comments.
    pub sha256: Option<&'a str>,
}

/// A file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Name of the file without the name of the plan: format, batch, switch, extension.
    pub name: String,
    /// Text of the file.
    pub script: Script,
    /// For an additional file: the suffix that is appended to the name of the first file.
    pub beside: Option<&'static str>,
    /// Number of the [`Device`] that the commands are for; the two devices of a simplex pair have different numbers.
    pub switch: Option<u32>,
    /// Number of the batch, from 1; for a rollback file, the number of the rollback step.
    pub batch: usize,
    /// `true` for a rollback file, which restores the state before the change.
    pub rollback: bool,
    /// Number of connections that the file removes.
    pub removes: usize,
    /// Number of connections that the file adds.
    pub adds: usize,
}

impl File {
    /// Returns the text of the file.
    pub fn text(&self) -> &str {
        self.script.text()
    }
}

/// Names of the formats of switches, in the order of [`formats`].
pub const NAMES: [&str; 8] = [
    polatis_tl1::NAME,
    calient_tl1::NAME,
    glimmerglass_tl1::NAME,
    polatis_restconf::NAME,
    polatis_netconf::NAME,
    ocp_ocs::NAME,
    sonic_ocs::NAME,
    csv::NAME,
];

/// Returns the formats of switches. All of them need a plan.
pub fn formats() -> Vec<FormatInfo> {
    let format = |name, help, extension, more: Vec<ParamInfo>| {
        let mut params = vec![ParamInfo::bool("full", false, full_help(name))];
        params.extend(ports_of(name).iter().flat_map(port_knobs));
        params.extend(more);
        let info = FormatInfo::new(name, help, SubjectSort::Plan, extension);
        FormatInfo { folder: whole(name).is_some(), ..info.leaving_out(leaves_out(name)).with(params) }
    };
    vec![
        format(polatis_tl1::NAME, polatis_tl1::HELP, "tl1", vec![ctag()]),
        format(
            calient_tl1::NAME,
            calient_tl1::HELP,
            "tl1",
            vec![
                ctag(),
                text_knob("group", calient_tl1::GROUP, "Name of the connection group on the switch."),
            ],
        ),
        format(glimmerglass_tl1::NAME, glimmerglass_tl1::HELP, "tl1", vec![ctag()]),
        format(polatis_restconf::NAME, polatis_restconf::HELP, "sh", Vec::new()),
        format(
            polatis_netconf::NAME,
            polatis_netconf::HELP,
            "xml",
            vec![ParamInfo::choice(
                "list_name",
                &["pair", "pairs"],
                "pair",
                "Name of the list of cross-connects; 'pairs' in older firmware.",
            )],
        ),
        format(
            ocp_ocs::NAME,
            ocp_ocs::HELP,
            "yaml",
            vec![
                text_knob(
                    "connections_module",
                    "ocp-ocs-optical-switch-connections",
                    "YANG module that defines the connections; the model is a draft.",
                ),
                text_knob(
                    "switch_module",
                    "ocp-ocs-optical-switch",
                    "YANG module that defines the capabilities of the switch; the model is a draft.",
                ),
                text_knob(
                    "connection_name",
                    ocp_ocs::CONNECTION_NAME,
                    "Template for names of connections, with the ports {input} and {output}; deletions \
                     use these names.",
                ),
            ],
        ),
        format(sonic_ocs::NAME, sonic_ocs::HELP, "sh", vec![sonic_ocs::SonicInterface::param()]),
        format(csv::NAME, csv::HELP, "csv", Vec::new()),
    ]
}

/// Returns the parts of a plan that the files of a format omit.
fn leaves_out(format: &str) -> &'static [&'static str] {
    match whole(format) {
        Some(_) => &[
            "circuits that stay, unless full=true",
            "the bound of the removals",
            "the target circuits that are not set",
        ],
        None => &[
            "circuits that stay, unless full=true",
            "the bound of the removals",
            "circuits dark during a batch",
        ],
    }
}

fn full_help(format: &str) -> &'static str {
    match whole(format) {
        Some(Whole::Replaces) => {
            "If true, replaces the complete connection list of the switch; if false, sends only the changes."
        }
        Some(Whole::Fills) => {
            "If true, writes the complete new state, for a switch without connections; if false, only \
             the changes."
        }
        None => "If true, also writes circuits that stay; if false, only the changes.",
    }
}

fn ctag() -> ParamInfo {
    ParamInfo::int(
        "ctag",
        1,
        999_999,
        1,
        "Correlation tag of the first command; each later command has the next number.",
    )
}

/// Returns how a format uses the whole state of a switch; `None` for a format that writes only changes, such as `csv`.
fn whole(format: &str) -> Option<Whole> {
    match format {
        polatis_restconf::NAME | polatis_netconf::NAME | ocp_ocs::NAME => Some(Whole::Replaces),
        polatis_tl1::NAME | calient_tl1::NAME | glimmerglass_tl1::NAME | sonic_ocs::NAME => {
            Some(Whole::Fills)
        }
        _ => None,
    }
}

/// Returns the remedy for connections that the commands of a format would not delete, because the switch gives them
/// other names.
pub(crate) fn whole_remedy(format: &str) -> &'static str {
    match whole(format) {
        Some(Whole::Replaces) => {
            "rename them on the switch, or export with full=true, which replaces the whole list"
        }
        _ => "rename them on the switch first",
    }
}

/// Returns `true` if the commands of a format name a connection by its ingress port alone.
fn is_keyed_by_ingress(format: &str) -> bool {
    [polatis_tl1::NAME, glimmerglass_tl1::NAME, polatis_restconf::NAME, polatis_netconf::NAME]
        .contains(&format)
}

/// Returns the files that a format writes for a plan.
///
/// # Errors
/// An unknown format, parameters that contradict the scenario, an order of phases, which changes no switch, or a plan
/// that changes nothing (unless the whole state is requested or stray connections must be deleted).
pub fn write(format: &str, subject: &Subject<'_>, params: &Params) -> Result<Vec<File>, Problems> {
    let all = formats();
    let Some(known) = all.iter().find(|known| known.name == format) else {
        let names: Vec<&str> = all.iter().map(|known| known.name).collect();
        return Err(Problem::new(
            "to",
            format!("'{format}' is not a format of switches"),
            suggestion(format, &names),
        )
        .into());
    };
    let changes = changed(subject.result)?;
    let full = params.bool("full");
    if !full && changes.batches.is_empty() && subject.scenario.strays.is_empty() {
        return Err(Problem::new(
            "",
            "the plan changes nothing, so there is nothing to write",
            "set full=true for the whole state",
        )
        .into());
    }
    let (Some(ports), Some(means)) = (ports_of(format), whole(format)) else {
        return Ok(csv::files(subject.scenario, changes, full));
    };
    let reserved = subject.scenario.panels.iter().flat_map(|panel| &panel.ports).filter(|port| port.reserved);
    let reserved = reserved.count() as u64;
    if full && means == Whole::Replaces && reserved > 0 {
        let ports = counted(reserved, "port is reserved", "ports are reserved");
        let message = format!(
            "replaces the whole list of a switch, but {ports}: connections at reserved ports would be deleted"
        );
        return Err(Problem::new("full", message, "leave it out").into());
    }
    let naming = naming(&ports, params)?;
    let mut devices = devices(subject.scenario, &naming.numbers)?;
    labels_agree(subject.scenario, &devices, &naming)?;
    let failed = subject.scenario.failed_ocs();
    // Failed switches get no commands, because they cannot execute any.
    devices.retain(|device| !failed.contains(&device.ocs));
    let writer = writer(format, &naming, params)?;
    let scenario = subject.scenario;
    let mut remarks: Vec<String> =
        [caveat::unmet(scenario, changes), caveat::cut_off(scenario, changes), caveat::strays(scenario)]
            .into_iter()
            .flatten()
            .collect();
    if !failed.is_empty() {
        let names: Vec<String> = failed.iter().map(|ocs| scenario.ocs_name(*ocs)).collect();
        let verb = if failed.len() == 1 { "has failed and gets" } else { "have failed and get" };
        remarks.push(format!("{} {verb} no commands.", names.join(", ")));
    }
    remarks.extend(origin(subject));
    remarks.push(format!(
        "The file NAME.{format}{} lists every port by pod, side and index, with the names that these commands use.",
        port_list::ENDING
    ));
    let told =
        Told { scenario, name: subject.name, remarks: &remarks, by_ingress: is_keyed_by_ingress(format) };
    let extension = match format {
        sonic_ocs::NAME => sonic_ocs::SonicInterface::of(params).extension(),
        _ => known.extension,
    };
    let full = full.then_some(means);
    let mut files = files((format, extension), told, changes, &devices, full, writer.as_ref());
    files.push(File {
        name: format!("{format}{}", port_list::ENDING),
        script: Script::plain(&port_list::text(scenario, &devices, &naming)),
        beside: Some(port_list::ENDING),
        switch: None,
        batch: 0,
        rollback: false,
        removes: 0,
        adds: 0,
    });
    Ok(files)
}

/// Returns a text with two hashes, as far as they are known: of the plan, and of the plan from which the scenario was
/// created. `None` if neither is known.
fn origin(subject: &Subject<'_>) -> Option<String> {
    let own = subject.sha256.map(|sha256| format!("Plan content SHA-256 {sha256}"));
    let from = subject.scenario.derived_from.as_ref();
    let from = from.map(|from| format!("made from a {} plan with SHA-256 {}", from.kind, from.plan_sha256));
    let parts: Vec<String> = own.into_iter().chain(from).collect();
    (!parts.is_empty()).then(|| format!("{}.", parts.join(", ")))
}

/// Returns the changes of a plan; an error for an order of phases.
fn changed(result: &CrossconnectResult) -> Result<&Changes, Problem> {
    result.changes().ok_or_else(|| {
        Problem::new("result", "is an order of phases, which changes no switch", "export it as json")
    })
}

/// Returns the default port names of a format; `None` for a format without port names.
fn usual_naming(format: &str) -> Option<Naming> {
    let ports = ports_of(format)?;
    let params = Params::resolve(&port_knobs(&ports), std::iter::empty()).ok()?;
    naming(&ports, &params).ok()
}

/// Function that converts one job to the text of a file.
type Writer<'a> = dyn Fn(&BoxJob) -> Script + 'a;

fn writer<'a>(format: &str, naming: &'a Naming, params: &'a Params) -> Result<Box<Writer<'a>>, Problem> {
    let ctag = params.int("ctag").and_then(|ctag| u64::try_from(ctag).ok()).unwrap_or(1);
    let word = |name: &str, usual: &str| name_like(name, params.text(name).unwrap_or(usual));
    Ok(match format {
        polatis_tl1::NAME => Box::new(move |job| polatis_tl1::text(job, ctag)),
        glimmerglass_tl1::NAME => Box::new(move |job| glimmerglass_tl1::text(job, ctag)),
        calient_tl1::NAME => {
            let group = word("group", calient_tl1::GROUP)?;
            Box::new(move |job| calient_tl1::text(job, naming, ctag, &group))
        }
        polatis_restconf::NAME => Box::new(polatis_restconf::text),
        polatis_netconf::NAME => {
            let list = params.text("list_name").unwrap_or("pair").to_owned();
            Box::new(move |job| polatis_netconf::text(job, &list))
        }
        ocp_ocs::NAME => {
            let modules = ocp_ocs::Modules {
                connections: word("connections_module", "ocp-ocs-optical-switch-connections")?,
                switch: word("switch_module", "ocp-ocs-optical-switch")?,
                connection: ocp_ocs::Modules::connection_name(
                    params.text("connection_name").unwrap_or(ocp_ocs::CONNECTION_NAME),
                )?,
            };
            Box::new(move |job| ocp_ocs::text(job, naming, &modules))
        }
        _ => {
            let form = sonic_ocs::SonicInterface::of(params);
            Box::new(move |job| sonic_ocs::text(job, naming, form))
        }
    })
}

/// Returns a name unchanged; an error if the name is empty or contains characters that may have a special meaning in
/// commands or paths.
fn name_like(knob: &str, value: &str) -> Result<String, Problem> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if value.is_empty() || !value.chars().all(fits) {
        return Err(Problem::new(knob, format!("is '{value}'"), "give letters, digits and - _ . only"));
    }
    Ok(value.to_owned())
}

fn files(
    (format, extension): (&str, &str),
    told: Told<'_>,
    changes: &Changes,
    devices: &[Device],
    full: Option<Whole>,
    writer: &Writer<'_>,
) -> Vec<File> {
    let last = devices.iter().map(|device| device.id).max().unwrap_or(0).to_string().len();
    let jobs = jobs::of(told, changes, devices, full);
    let file = |job: &BoxJob| {
        let batch = match (job.rollback, job.batches) {
            (false, 1) => String::new(),
            (true, 1) => "rollback.".to_owned(),
            (rollback, batches) => {
                let width = batches.to_string().len();
                let what = if rollback { "rollback" } else { "batch" };
                format!("{what}-{:0width$}.", job.batch)
            }
        };
        File {
            name: format!("{format}.{batch}{}.{extension}", switch_stem(told.scenario, job.device, last)),
            script: writer(job),
            beside: None,
            switch: Some(job.device),
            batch: job.batch,
            rollback: job.rollback,
            removes: job.removes.len(),
            adds: job.adds.len() + job.whole.as_ref().map_or(0, Vec::len),
        }
    };
    jobs.iter().map(file).collect()
}

/// Returns the part of a file name that identifies the switch: the name of the switch, or `ocs-` and the number of the
/// device.
pub(crate) fn switch_stem(scenario: &CrossconnectScenario, device: u32, digits: usize) -> String {
    match scenario.panel(device) {
        Some(panel) if scenario.wiring != Wiring::CrossWired => file_stem(&panel.name),
        _ => format!("ocs-{device:0digits$}"),
    }
}
