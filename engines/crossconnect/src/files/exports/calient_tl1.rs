//! `calient_tl1`: TL1 commands of Calient S-series switches. A connection is entered, then activated; to take it down it is
//! cancelled, then deleted.

use super::Naming;
use super::jobs::Job;
use super::polatis_tl1::Tags;
use crate::files::devices::Lane;
use crate::files::devices::template::Role;
use std::fmt::Write as _;

/// Name of the format.
pub const NAME: &str = "calient_tl1";
/// What it is.
pub const HELP: &str =
    "TL1 commands for Calient S-series switches, a file per switch; fill in user and password.";

pub(super) fn text(job: &Job, naming: &Naming, ctag: u64, group: &str) -> String {
    let mut tags = Tags::from(ctag);
    let (way, sign) = if job.bidirectional { ("2WAY", '-') } else { ("1WAY", '>') };
    let ports = |lane: &Lane| {
        let source = naming.template.name(Role::Ingress, lane.ingress);
        let target = naming.template.name(Role::Egress, lane.egress);
        let name = format!("{source}{sign}{target}");
        (source, target, name)
    };
    let mut text = String::new();
    let _ = writeln!(text, "ACT-USER::<user>:{}::<password>;", tags.next());
    for lane in &job.removes {
        let (source, target, name) = ports(lane);
        for verb in ["CANC-CRS", "DLT-CRS"] {
            let _ = writeln!(text, "{verb}::{source},{target}:{}::,{group},{name};", tags.next());
        }
    }
    for lane in &job.adds {
        let (source, target, name) = ports(lane);
        let _ = writeln!(text, "ENT-CRS::{source},{target}:{}::{group},{way};", tags.next());
        let _ = writeln!(text, "ACT-CRS::{source},{target}:{}::{name},{group};", tags.next());
    }
    let _ = writeln!(text, "RTRV-CRS:::{}::ALL;", tags.next());
    text
}
