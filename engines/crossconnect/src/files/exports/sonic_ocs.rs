//! `sonic_ocs`: changes of the cross-connects of SONiC on an optical circuit switch. The A side is ingress, the B side
//! egress.

use super::Naming;
use super::jobs::BoxJob;
use super::script::{LineSort, Script, restconf_requests};
use crate::files::devices::Lane;
use crate::files::devices::template::Role;
use lightbay_core::param::{ParamInfo, Params};
use serde_json::{Value, json};

/// Name of the format.
pub const NAME: &str = "sonic_ocs";
/// Description of the format.
pub const HELP: &str = "Changes of the table OCS_CROSS_CONNECT for switches with SONiC, a file per switch: a script that you run on the switch, RESTCONF requests, a JSON patch or a bulk update.";

/// Interface of SONiC that a file is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SonicInterface {
    /// Shell commands of the SONiC design text.
    DesignCommands,
    /// Shell commands generated from the YANG model.
    GeneratedCommands,
    /// A shell script of RESTCONF requests.
    Restconf,
    /// A JSON patch (RFC 6902) of CONFIG_DB.
    Patch,
    /// Input of the RPC `bulk-update`.
    Bulk,
}

/// Name of the parameter for the interface.
const FORM: &str = "form";

/// Values of [`FORM`].
const NAMES: [&str; 5] = ["cli1", "cli2", "restconf", "patch", "bulk"];

impl SonicInterface {
    /// Returns the parameter that chooses the interface.
    pub fn param() -> ParamInfo {
        ParamInfo::choice(
            FORM,
            &NAMES,
            NAMES[1],
            "Interface of the switch: shell commands as in the SONiC design text (cli1, with 'safe', \
             which fails if a port is busy), or as generated from its model (cli2); a script of \
             RESTCONF requests that takes address and login from OCS_URL, OCS_USER and OCS_PASSWORD \
             (restconf); a JSON patch for 'config apply-patch' (patch); or the input of the RPC \
             bulk-update (bulk).",
        )
    }

    /// Returns the interface that the parameters choose.
    pub fn of(params: &Params) -> Self {
        match params.text(FORM) {
            Some("cli1") => Self::DesignCommands,
            Some("restconf") => Self::Restconf,
            Some("patch") => Self::Patch,
            Some("bulk") => Self::Bulk,
            _ => Self::GeneratedCommands,
        }
    }

    /// Returns the extension of the files.
    pub const fn extension(self) -> &'static str {
        match self {
            Self::DesignCommands | Self::GeneratedCommands | Self::Restconf => "sh",
            Self::Patch | Self::Bulk => "json",
        }
    }
}

/// A connection by the names of its ports. SONiC names connections `A-B` by convention.
struct NamedConnection<'a> {
    id: String,
    a: String,
    b: String,
    label: &'a str,
}

impl NamedConnection<'_> {
    /// Returns the entry of the connection in a list of the model.
    fn entry(&self) -> Value {
        json!({ "cross_connect_id": self.id, "a_side": self.a, "b_side": self.b })
    }
}

/// Returns the text with the changes of one device.
pub(super) fn text(job: &BoxJob, naming: &Naming, form: SonicInterface) -> Script {
    let connection = |lane: &Lane| {
        let a = naming.template.name(Role::Ingress, lane.ingress);
        let b = naming.template.name(Role::Egress, lane.egress);
        NamedConnection { id: format!("{a}-{b}"), a, b, label: job.label(lane) }
    };
    let removes: Vec<NamedConnection<'_>> = job.removes.iter().map(connection).collect();
    let adds: Vec<NamedConnection<'_>> = job.adds.iter().map(connection).collect();
    match form {
        SonicInterface::Patch => patch(&removes, &adds, job.starts_empty),
        SonicInterface::Bulk => bulk(&removes, &adds),
        SonicInterface::DesignCommands | SonicInterface::GeneratedCommands | SonicInterface::Restconf => {
            let mut text = Script::plain("#!/bin/sh");
            text.push(LineSort::Comment, format!("# {}", job.title()));
            for line in job.advice() {
                text.push(LineSort::Comment, format!("# {line}"));
            }
            if form == SonicInterface::Restconf {
                requests(&mut text, &removes, &adds);
            } else {
                commands(&mut text, &removes, &adds, form == SonicInterface::GeneratedCommands);
            }
            text
        }
    }
}

fn commands(
    text: &mut Script,
    removes: &[NamedConnection<'_>],
    adds: &[NamedConnection<'_>],
    generated: bool,
) {
    let command = if generated { "ocs-cross-connect" } else { "ocs cross-connect" };
    text.push(LineSort::Other, "set -eu");
    for NamedConnection { id, label, .. } in removes {
        text.push(LineSort::Comment, format!("# {label}"));
        text.push(LineSort::Remove, format!("config {command} delete {id}"));
    }
    for NamedConnection { id, a, b, label } in adds {
        text.push(LineSort::Comment, format!("# {label}"));
        // Without `safe` the switch silently takes ports from other circuits.
        let ports = if generated { format!("--a-side {a} --b-side {b}") } else { "safe".to_owned() };
        text.push(LineSort::Add, format!("config {command} add {id} {ports}"));
    }
    let read_back = if generated { "show ocs-cross-connect" } else { "show ocs cross-connect config" };
    text.push(LineSort::Other, read_back);
}

/// Container of the model, the table in it, and the list in the table.
const MODEL: &str = "sonic-ocs:sonic-ocs";
const TABLE: &str = "OCS_CROSS_CONNECT";
const LIST: &str = "OCS_CROSS_CONNECT_LIST";

/// Writes RESTCONF requests. Deletions are single requests before the additions, because a port can serve only one
/// connection at a time. All additions are one `PATCH`, which merges them into the list.
fn requests(text: &mut Script, removes: &[NamedConnection<'_>], adds: &[NamedConnection<'_>]) {
    text.push(LineSort::Other, restconf_requests("/restconf/data"));
    for NamedConnection { id, label, .. } in removes {
        text.push(LineSort::Comment, format!("# {label}"));
        text.push(LineSort::Remove, format!("request DELETE '{MODEL}/{TABLE}/{LIST}={}'", percent(id)));
    }
    for NamedConnection { id, label, .. } in adds {
        text.push(LineSort::Comment, format!("# {id}: {label}"));
    }
    if !adds.is_empty() {
        // A long list may exceed the maximum length of a command-line argument, so it is read from standard input.
        text.push(LineSort::Add, format!("request PATCH '{MODEL}' @- <<'LIST'"));
        text.push(LineSort::Add, format!("{{\"{MODEL}\":{{\"{TABLE}\":{{\"{LIST}\":["));
        entries(text, "", adds);
        text.push(LineSort::Add, "]}}}\nLIST");
    }
    text.push(LineSort::Other, format!("request GET '{MODEL}/{TABLE}'"));
}

/// Writes the entries of a list of additions, one line each.
fn entries(text: &mut Script, indent: &str, adds: &[NamedConnection<'_>]) {
    for (at, connection) in adds.iter().enumerate() {
        let comma = if at + 1 < adds.len() { "," } else { "" };
        text.push(LineSort::Add, format!("{indent}{}{comma}", connection.entry()));
    }
}

/// Percent-encodes a key for the path of a request: everything but unreserved characters is encoded (RFC 3986, section
/// 2.3).
fn percent(key: &str) -> String {
    let unreserved = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let encoded =
        |byte: u8| if unreserved(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    key.bytes().map(encoded).collect()
}

/// Returns a JSON patch with one operation per line. A patch can add a value only to an existing parent. The patch
/// therefore adds each connection as an empty object before it adds the fields. If the switch has no connections, the
/// patch first adds the table, because SONiC does not keep an empty table.
fn patch(removes: &[NamedConnection<'_>], adds: &[NamedConnection<'_>], starts_empty: bool) -> Script {
    // RFC 6901, section 3: `~` and `/` have escapes in the steps of a path.
    let path = |id: &str| format!("/{TABLE}/{}", id.replace('~', "~0").replace('/', "~1"));
    let mut operations: Vec<(LineSort, Value)> = Vec::new();
    if starts_empty && !adds.is_empty() {
        operations.push((LineSort::Other, json!({ "op": "add", "path": format!("/{TABLE}"), "value": {} })));
    }
    for NamedConnection { id, .. } in removes {
        operations.push((LineSort::Remove, json!({ "op": "remove", "path": path(id) })));
    }
    for NamedConnection { id, a, b, .. } in adds {
        let path = path(id);
        let add = |path: String, value: Value| json!({ "op": "add", "path": path, "value": value });
        let values = [
            add(path.clone(), json!({})),
            add(format!("{path}/a_side"), json!(a)),
            add(format!("{path}/b_side"), json!(b)),
        ];
        operations.extend(values.map(|value| (LineSort::Add, value)));
    }
    let mut text = Script::plain("[");
    for (at, (sort, operation)) in operations.iter().enumerate() {
        let comma = if at + 1 < operations.len() { "," } else { "" };
        text.push(*sort, format!("  {operation}{comma}"));
    }
    text.push(LineSort::Other, "]");
    text
}

/// Returns the input of the RPC `bulk-update`. The switch deletes before it adds, in one transaction.
fn bulk(removes: &[NamedConnection<'_>], adds: &[NamedConnection<'_>]) -> Script {
    let mut text = Script::plain("{\n  \"sonic-ocs:input\": {\n    \"delete\": [");
    for (at, NamedConnection { id, .. }) in removes.iter().enumerate() {
        let comma = if at + 1 < removes.len() { "," } else { "" };
        text.push(LineSort::Remove, format!("      {}{comma}", json!(id)));
    }
    text.push(LineSort::Other, "    ],\n    \"add\": [");
    entries(&mut text, "      ", adds);
    text.push(LineSort::Other, "    ]\n  }\n}");
    text
}
