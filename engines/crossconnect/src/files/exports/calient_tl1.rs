//! `calient_tl1`: TL1 commands of Calient S-series switches. To add a connection, the commands enter and then activate
//! the connection; to remove a connection, they cancel and then delete it.

use super::Naming;
use super::jobs::BoxJob;
use super::polatis_tl1::Tags;
use super::script::{LineSort, Script};
use crate::files::devices::Lane;
use crate::files::devices::template::Role;

/// Name of the format.
pub const NAME: &str = "calient_tl1";
/// Description of the format.
pub const HELP: &str =
    "TL1 commands for Calient S-series switches, a file per switch; fill in user and password.";

/// Default group of connections.
pub(crate) const GROUP: &str = "lightbay";

pub(super) fn text(job: &BoxJob, naming: &Naming, ctag: u64, group: &str) -> Script {
    let mut tags = Tags::from(ctag);
    let (way, sign) = if job.bidirectional { ("2WAY", '-') } else { ("1WAY", '>') };
    let ports = |lane: &Lane| {
        let source = naming.template.name(Role::Ingress, lane.ingress);
        let target = naming.template.name(Role::Egress, lane.egress);
        let name = format!("{source}{sign}{target}");
        (source, target, name)
    };
    let mut text = Script::default();
    text.push(LineSort::Other, format!("ACT-USER::<user>:{}::<password>;", tags.next()));
    for lane in &job.removes {
        let (source, target, name) = ports(lane);
        for verb in ["CANC-CRS", "DLT-CRS"] {
            let line = format!("{verb}::{source},{target}:{}::,{group},{name};", tags.next());
            text.push(LineSort::Remove, line);
        }
    }
    for lane in &job.adds {
        let (source, target, name) = ports(lane);
        text.push(LineSort::Add, format!("ENT-CRS::{source},{target}:{}::{group},{way};", tags.next()));
        text.push(LineSort::Add, format!("ACT-CRS::{source},{target}:{}::{name},{group};", tags.next()));
    }
    text.push(LineSort::Other, format!("RTRV-CRS:::{}::ALL;", tags.next()));
    text
}
