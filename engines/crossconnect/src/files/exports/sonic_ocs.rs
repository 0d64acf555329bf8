//! `sonic_ocs`: commands of SONiC on an optical circuit switch. A is for ingress, B for egress.

use super::Naming;
use super::jobs::Job;
use crate::files::devices::Lane;
use crate::files::devices::template::Role;
use std::fmt::Write as _;

/// Name of the format.
pub const NAME: &str = "sonic_ocs";
/// What it is.
pub const HELP: &str =
    "Shell commands for switches with SONiC (table OCS_CROSS_CONNECT), a script per switch to be run on it.";

pub(super) fn text(job: &Job, naming: &Naming) -> String {
    let sides = |lane: &Lane| {
        (naming.template.name(Role::Ingress, lane.ingress), naming.template.name(Role::Egress, lane.egress))
    };
    let mut text = format!("#!/bin/sh\n# {}\n", job.title());
    for line in job.advice() {
        let _ = writeln!(text, "# {line}");
    }
    text.push_str("set -eu\n");
    for lane in &job.removes {
        let (a, b) = sides(lane);
        let _ = writeln!(text, "# {}", job.label(lane));
        let _ = writeln!(text, "config ocs-cross-connect delete {a}-{b}");
    }
    for lane in &job.adds {
        let (a, b) = sides(lane);
        let _ = writeln!(text, "# {}", job.label(lane));
        let _ = writeln!(text, "config ocs-cross-connect add {a}-{b} --a-side {a} --b-side {b}");
    }
    text.push_str("show ocs-cross-connect\n");
    text
}
