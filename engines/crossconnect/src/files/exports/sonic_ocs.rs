//! `sonic_ocs`: commands of SONiC on an optical circuit switch. A is for ingress, B for egress.

use super::Naming;
use super::jobs::BoxJob;
use super::script::{LineSort, Script};
use crate::files::devices::Lane;
use crate::files::devices::template::Role;

/// Name of the format.
pub const NAME: &str = "sonic_ocs";
/// Its sort.
pub const HELP: &str =
    "Shell commands for switches with SONiC (table OCS_CROSS_CONNECT), a script per switch to be run on it.";

pub(super) fn text(job: &BoxJob, naming: &Naming) -> Script {
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
        text.push(LineSort::Remove, format!("config ocs-cross-connect delete {a}-{b}"));
    }
    for lane in &job.adds {
        let (a, b) = sides(lane);
        text.push(LineSort::Comment, format!("# {}", job.label(lane)));
        let line = format!("config ocs-cross-connect add {a}-{b} --a-side {a} --b-side {b}");
        text.push(LineSort::Add, line);
    }
    text.push(LineSort::Other, "show ocs-cross-connect");
    text
}
