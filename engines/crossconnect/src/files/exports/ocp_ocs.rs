//! `ocp_ocs`: connections after the optical switch model of the Open Compute Project, as a gNMI request. A server does the
//! deletions of a request before its updates.

use super::Naming;
use super::jobs::Job;
use crate::files::devices::Lane;
use crate::files::devices::template::Role;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Name of the format.
pub const NAME: &str = "ocp_ocs";
/// What it is.
pub const HELP: &str = "gNMI requests after the optical switch model of the Open Compute Project (a draft), a request file for gnmic per switch.";

/// Names of the modules, which the draft may change.
#[derive(Clone, Debug)]
pub(super) struct Modules {
    pub connections: String,
    pub switch: String,
}

pub(super) fn text(job: &Job, naming: &Naming, modules: &Modules) -> String {
    let list = format!("/{}:connections", modules.connections);
    let named = |lane: &Lane| {
        let input = naming.template.name(Role::Ingress, lane.ingress);
        let output = naming.template.name(Role::Egress, lane.egress);
        (format!("{input}_{output}"), input, output)
    };
    let entry = |lane: &Lane| {
        let (name, input, output) = named(lane);
        let config = json!({ "name": name, "input-port-name": input, "output-port-name": output });
        json!({ "name": name, "config": config })
    };
    let place = |lane: &Lane| format!("{list}/port-connection[name={}]", named(lane).0);
    let mut request = serde_json::Map::new();
    if let Some(whole) = &job.whole {
        let entries: Vec<Value> = whole.iter().map(entry).collect();
        let value = json!({ "port-connection": entries });
        request.insert("replaces".into(), json!([{ "path": list, "value": value, "encoding": "json_ietf" }]));
    }
    if !job.removes.is_empty() {
        request.insert("deletes".into(), job.removes.iter().map(place).collect());
    }
    if !job.adds.is_empty() {
        let update = |lane| json!({ "path": place(lane), "value": entry(lane), "encoding": "json_ietf" });
        request.insert("updates".into(), job.adds.iter().map(update).collect());
    }
    let mut text = format!("# {}\n", job.title());
    for line in job.advice() {
        let _ = writeln!(text, "# {line}");
    }
    let _ = writeln!(
        text,
        "# Needs '/{}:optical-switch/state/bidirectional' to be {}. Entries that cannot be made become INVALID or FAILED.",
        modules.switch, job.bidirectional
    );
    let login = "gnmic --address <switch> --username <user> --password <password>";
    let _ = writeln!(text, "# {login} set --request-file <this file>");
    let listed = job.whole.iter().flatten().chain(&job.removes).chain(&job.adds);
    for lane in listed {
        let _ = writeln!(text, "# {}: {}", named(lane).0, job.label(lane));
    }
    let _ = writeln!(text, "{:#}", Value::Object(request));
    let _ = writeln!(text, "# {login} get --path '{list}'");
    text
}
