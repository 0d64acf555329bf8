//! `ocp_ocs`: connections in the optical switch model of the Open Compute Project, as a gNMI request. A gNMI server
//! executes the deletions of a request before its updates.

use super::Naming;
use super::jobs::BoxJob;
use super::script::{LineSort, Script};
use crate::files::devices::Lane;
use crate::files::devices::template::Role;
use lightbay_core::problem::Problem;
use serde_json::{Value, json};

/// Name of the format.
pub const NAME: &str = "ocp_ocs";
/// Description of the format.
pub const HELP: &str = "gNMI requests for the optical switch model of the Open Compute Project (a draft), a request file for gnmic per switch.";

/// Default template for the name of a connection, from the names of its input and output port.
pub const CONNECTION_NAME: &str = "{input}_{output}";

/// Names of the YANG modules, which may change while the model is a draft, and the template for names of connections.
#[derive(Clone, Debug)]
pub(super) struct Modules {
    pub connections: String,
    pub switch: String,
    pub connection: String,
}

impl Modules {
    /// Checks a template for names of connections, in which each port must occur once, and returns it.
    ///
    /// # Errors
    /// A template that does not name each port exactly once, or contains characters that a path would need to escape.
    pub(super) fn connection_name(template: &str) -> Result<String, Problem> {
        let rest = ["{input}", "{output}"].iter().try_fold(template.to_owned(), |rest, port| {
            (rest.matches(port).count() == 1).then(|| rest.replacen(port, "", 1))
        });
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':');
        match rest {
            Some(rest) if rest.chars().all(fits) => Ok(template.to_owned()),
            _ => Err(Problem::new(
                "connection_name",
                format!("is '{template}'"),
                format!(
                    "use '{{input}}' and '{{output}}' once each, and otherwise only letters, digits and - _ . :, as in '{CONNECTION_NAME}'"
                ),
            )),
        }
    }
}

pub(super) fn text(job: &BoxJob, naming: &Naming, modules: &Modules) -> Script {
    let list = format!("/{}:connections", modules.connections);
    let named = |lane: &Lane| {
        let input = naming.template.name(Role::Ingress, lane.ingress);
        let output = naming.template.name(Role::Egress, lane.egress);
        let name = modules.connection.replace("{input}", &input).replace("{output}", &output);
        (name, input, output)
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
        "The requests need '/{}:optical-switch/state/bidirectional' to be {}.",
        modules.switch, job.bidirectional
    );
    comment(&mut text, needs);
    comment(&mut text, "A connection that the switch cannot make becomes INVALID or FAILED.".to_owned());
    if !job.removes.is_empty() {
        let names = format!(
            "Deletions expect connections named '{}'. A connection with another name stays, and a connection that needs its ports becomes INVALID.",
            modules.connection
        );
        comment(&mut text, names);
        comment(
            &mut text,
            "full=true replaces the list of connections, including connections with other names.".to_owned(),
        );
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

/// Writes a JSON object of lists, indented. The entries of each list are marked with the effect that is given with the
/// list, all other lines with `Other`.
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
