//! `sonic_ocs`: commands of SONiC on an optical circuit switch. The A side is ingress, the B side egress.

use super::Naming;
use super::jobs::BoxJob;
use super::script::{LineSort, Script};
use crate::files::devices::Lane;
use crate::files::devices::template::Role;

/// Name of the format.
pub const NAME: &str = "sonic_ocs";
/// Its description.
pub const HELP: &str = "Shell commands for switches with SONiC (table OCS_CROSS_CONNECT), a script per switch that you run on the switch.";

/// Grammars of the commands: the grammar of the design text, and the grammar generated from the model.
pub(super) const FORMS: [&str; 2] = ["cli1", "cli2"];

pub(super) fn text(job: &BoxJob, naming: &Naming, generated: bool) -> Script {
    let command = if generated { "ocs-cross-connect" } else { "ocs cross-connect" };
    let sides = |lane: &Lane| {
        (naming.template.name(Role::Ingress, lane.ingress), naming.template.name(Role::Egress, lane.egress))
    };
    let mut text = Script::plain("#!/bin/sh");
    text.push(LineSort::Comment, format!("# {}", job.title()));
    for line in job.advice() {
        text.push(LineSort::Comment, format!("# {line}"));
    }
    text.push(LineSort::Other, "set -eu");
    for lane in &job.removes {
        let (a, b) = sides(lane);
        text.push(LineSort::Comment, format!("# {}", job.label(lane)));
        text.push(LineSort::Remove, format!("config {command} delete {a}-{b}"));
    }
    for lane in &job.adds {
        let (a, b) = sides(lane);
        text.push(LineSort::Comment, format!("# {}", job.label(lane)));
        // Without `safe` the switch silently takes ports from other circuits.
        let ports = if generated { format!("--a-side {a} --b-side {b}") } else { "safe".to_owned() };
        let line = format!("config {command} add {a}-{b} {ports}");
        text.push(LineSort::Add, line);
    }
    text.push(
        LineSort::Other,
        if generated { "show ocs-cross-connect" } else { "show ocs cross-connect config" },
    );
    text
}
