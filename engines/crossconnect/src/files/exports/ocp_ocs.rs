//! `ocp_ocs`: connections after the optical switch model of the Open Compute Project, as a gNMI request. A server does
//! the deletions of a request before its updates.

use super::Naming;
use super::jobs::BoxJob;
use super::script::{LineSort, Script};
use crate::files::devices::Lane;
use crate::files::devices::template::Role;
use serde_json::{Value, json};

/// Name of the format.
pub const NAME: &str = "ocp_ocs";
/// Its sort.
pub const HELP: &str = "gNMI requests after the optical switch model of the Open Compute Project (a draft), a request file for gnmic per switch.";

/// Names of the modules, which the draft may change.
#[derive(Clone, Debug)]
pub(super) struct Modules {
    pub connections: String,
    pub switch: String,
}

pub(super) fn text(job: &BoxJob, naming: &Naming, modules: &Modules) -> Script {
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
    let mut request: Vec<(&str, LineSort, Value)> = Vec::new();
    if let Some(whole) = &job.whole {
        let entries: Vec<Value> = whole.iter().map(entry).collect();
        let value = json!({ "port-connection": entries });
        let value = json!([{ "path": list, "value": value, "encoding": "json_ietf" }]);
        request.push(("replaces", LineSort::Add, value));
    }
    if !job.removes.is_empty() {
        request.push(("deletes", LineSort::Remove, job.removes.iter().map(place).collect()));
    }
    if !job.adds.is_empty() {
        let update = |lane| json!({ "path": place(lane), "value": entry(lane), "encoding": "json_ietf" });
        request.push(("updates", LineSort::Add, job.adds.iter().map(update).collect()));
    }
    let mut text = Script::default();
    let comment = |text: &mut Script, words: String| text.push(LineSort::Comment, format!("# {words}"));
    comment(&mut text, job.title());
    for line in job.advice() {
        comment(&mut text, line);
    }
    let needs = format!(
        "Needs '/{}:optical-switch/state/bidirectional' to be {}. Entries that cannot be made become INVALID or FAILED.",
        modules.switch, job.bidirectional
    );
    comment(&mut text, needs);
    if !job.removes.is_empty() {
        let names = "Deletions name connections INPUT_OUTPUT by their ports: one with another name on the switch stays, and what needs \
                     its ports becomes INVALID. full=true replaces the list, whatever the names.";
        comment(&mut text, names.to_owned());
    }
    let login = "gnmic --address <switch> --username <user> --password <password>";
    comment(&mut text, format!("{login} set --request-file <this file>"));
    let listed = job.whole.iter().flatten().chain(&job.removes).chain(&job.adds);
    for lane in listed {
        comment(&mut text, format!("{}: {}", named(lane).0, job.label(lane)));
    }
    object(&mut text, &request);
    comment(&mut text, format!("{login} get --path '{list}'"));
    text
}

/// An object of lists as indented JSON, whose entries do what is said of their list.
fn object(text: &mut Script, lists: &[(&str, LineSort, Value)]) {
    text.push(LineSort::Other, "{");
    for (at, (name, sort, list)) in lists.iter().enumerate() {
        let comma = if at + 1 < lists.len() { "," } else { "" };
        let entries = format!("{list:#}");
        let inner = entries.trim_start_matches("[\n").trim_end_matches("\n]");
        text.push(LineSort::Other, format!("  \"{name}\": ["));
        for line in inner.lines() {
            text.push(*sort, format!("  {line}"));
        }
        text.push(LineSort::Other, format!("  ]{comma}"));
    }
    text.push(LineSort::Other, "}");
}
