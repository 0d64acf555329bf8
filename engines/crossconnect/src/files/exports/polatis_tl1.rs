//! `polatis_tl1`: TL1 commands of Polatis-class switches.

use super::jobs::BoxJob;
use super::script::{LineSort, Script};

/// Name of the format.
pub const NAME: &str = "polatis_tl1";
/// Description of the format.
pub const HELP: &str =
    "TL1 commands for Polatis-class switches (TCP port 3082), a file per switch; fill in user and password.";

/// Correlation tags that count up; TL1 gives them six digits.
pub(super) struct Tags(u64);

impl Tags {
    pub(super) const fn from(first: u64) -> Self {
        Self(first)
    }

    pub(super) const fn next(&mut self) -> u64 {
        let tag = self.0;
        self.0 = tag % 999_999 + 1;
        tag
    }
}

pub(super) fn text(job: &BoxJob, ctag: u64) -> Script {
    let mut tags = Tags::from(ctag);
    let mut text = Script::default();
    text.push(LineSort::Other, format!("ACT-USER::<user>:{}::<password>;", tags.next()));
    for lane in &job.removes {
        text.push(LineSort::Remove, format!("DLT-PATCH::{}:{}:;", lane.ingress, tags.next()));
    }
    for lane in &job.adds {
        text.push(LineSort::Add, format!("ENT-PATCH::{},{}:{}:;", lane.ingress, lane.egress, tags.next()));
    }
    text.push(LineSort::Other, format!("RTRV-PATCH:::{}:;", tags.next()));
    text
}
