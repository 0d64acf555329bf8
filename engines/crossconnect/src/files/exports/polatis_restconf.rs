//! `polatis_restconf`: requests to the HTTP interface of Polatis-class switches, as a shell script.
//!
//! Changes are single requests, `DELETE` and `POST`. The whole state is one `PUT`, which users report to be safer than
//! single requests.

use super::jobs::BoxJob;
use super::script::{LineSort, Script, restconf_requests};
use crate::files::devices::Lane;
use serde_json::{Value, json};

/// Name of the format.
pub const NAME: &str = "polatis_restconf";
/// Description of the format.
pub const HELP: &str = "RESTCONF requests for Polatis-class switches, a shell script per switch that reads \
                        address and login from OCS_URL, OCS_USER and OCS_PASSWORD.";

const LIST: &str = "optical-switch:cross-connects";

pub(super) fn text(job: &BoxJob) -> Script {
    let mut text = Script::plain("#!/bin/sh");
    text.push(LineSort::Comment, format!("# {}", job.title()));
    for line in job.advice() {
        text.push(LineSort::Comment, format!("# {line}"));
    }
    if job.whole.is_none() {
        text.push(
            LineSort::Comment,
            "# One lab reports that a connection set by POST disappeared after seconds and a connection set \
             by PUT stayed. full=true writes a PUT of the whole list.",
        );
    }
    text.push(LineSort::Other, restconf_requests("/api/data"));
    if let Some(whole) = &job.whole {
        for lane in whole {
            let line = format!("# {} to {}: {}", lane.ingress, lane.egress, job.label(lane));
            text.push(LineSort::Comment, line);
        }
        let body = json!({ LIST: { "pair": pairs(whole) } });
        // The whole list may exceed the maximum length of a command-line argument, so it is read from standard input.
        text.push(LineSort::Add, format!("request PUT '{LIST}' @- <<'LIST'\n{body}\nLIST"));
    }
    for lane in &job.removes {
        text.push(LineSort::Comment, format!("# {}", job.label(lane)));
        text.push(LineSort::Remove, format!("request DELETE '{LIST}/pair={}'", lane.ingress));
    }
    for lane in &job.adds {
        let body = json!({ "optical-switch:pair": pairs(std::slice::from_ref(lane)) });
        text.push(LineSort::Comment, format!("# {}", job.label(lane)));
        text.push(LineSort::Add, format!("request POST '{LIST}' '{body}'"));
    }
    text.push(LineSort::Other, format!("request GET '{LIST}'"));
    text
}

fn pairs(lanes: &[Lane]) -> Vec<Value> {
    lanes.iter().map(|lane| json!({ "ingress": lane.ingress, "egress": lane.egress })).collect()
}
