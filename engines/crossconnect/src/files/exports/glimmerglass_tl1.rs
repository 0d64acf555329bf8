//! `glimmerglass_tl1`: TL1 commands of Glimmerglass switches. Input n has the number 10000 + n, output n 20000 + n.

use super::jobs::BoxJob;
use super::polatis_tl1::Tags;
use super::script::{LineSort, Script};

/// Name of the format.
pub const NAME: &str = "glimmerglass_tl1";
/// Description of the format.
pub const HELP: &str = "TL1 commands for Glimmerglass switches, a file per switch; log in first.";

/// Offset that the switch adds to the number of an input.
pub(crate) const INPUTS: u64 = 10_000;
/// Offset that the switch adds to the number of an output.
pub(crate) const OUTPUTS: u64 = 20_000;

pub(super) fn text(job: &BoxJob, ctag: u64) -> Script {
    let mut tags = Tags::from(ctag);
    let mut text = Script::default();
    for lane in &job.removes {
        let line = format!("dlt-crs-fiber::{}:{};", INPUTS + lane.ingress, tags.next());
        text.push(LineSort::Remove, line);
    }
    for lane in &job.adds {
        let (from, to) = (INPUTS + lane.ingress, OUTPUTS + lane.egress);
        text.push(LineSort::Add, format!("ent-crs-fiber::{from},{to}:{};", tags.next()));
    }
    text.push(LineSort::Other, format!("rtrv-crs-fiber::all:{};", tags.next()));
    text
}
