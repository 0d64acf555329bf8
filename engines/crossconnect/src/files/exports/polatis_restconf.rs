//! `polatis_restconf`: requests to the HTTP interface of Polatis-class switches, as a shell script.
//!
//! Changes are single requests, `DELETE` and `POST`. The whole state is one `PUT`, which users report to be the safer one.

use super::jobs::Job;
use crate::files::devices::Lane;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Name of the format.
pub const NAME: &str = "polatis_restconf";
/// What it is.
pub const HELP: &str = "RESTCONF requests for Polatis-class switches, a shell script per switch that takes address and login from OCS_URL, OCS_USER and OCS_PASSWORD.";

/// What every script begins with.
const REQUEST: &str = r#"set -eu
: "${OCS_URL:?such as http://192.0.2.1}" "${OCS_USER:?}" "${OCS_PASSWORD:?}"
request() { # method, path, body (@- for standard input)
  curl --config /dev/fd/3 --fail --silent --show-error --header 'Content-Type: application/yang-data+json' \
    --header 'Accept: application/yang-data+json' --request "$1" ${3:+--data "$3"} "$OCS_URL/api/data/$2" 3<<LOGIN
user = "$OCS_USER:$OCS_PASSWORD"
LOGIN
}
"#;

const LIST: &str = "optical-switch:cross-connects";

pub(super) fn text(job: &Job) -> String {
    let mut text = format!("#!/bin/sh\n# {}\n", job.title());
    for line in job.advice() {
        let _ = writeln!(text, "# {line}");
    }
    if job.whole.is_none() {
        text.push_str(
            "# A lab note reports that a POST was dropped after seconds while a PUT stayed. full=true writes the PUT of the whole list.\n",
        );
    }
    text.push_str(REQUEST);
    if let Some(whole) = &job.whole {
        for lane in whole {
            let _ = writeln!(text, "# {} to {}: {}", lane.ingress, lane.egress, job.label(lane));
        }
        let body = json!({ LIST: { "pair": pairs(whole) } });
        // The whole list may be longer than an argument.
        let _ = writeln!(text, "request PUT '{LIST}' @- <<'LIST'\n{body}\nLIST");
    }
    for lane in &job.removes {
        let _ = writeln!(text, "# {}", job.label(lane));
        let _ = writeln!(text, "request DELETE '{LIST}/pair={}'", lane.ingress);
    }
    for lane in &job.adds {
        let body = json!({ "optical-switch:pair": pairs(std::slice::from_ref(lane)) });
        let _ = writeln!(text, "# {}", job.label(lane));
        let _ = writeln!(text, "request POST '{LIST}' '{body}'");
    }
    let _ = writeln!(text, "request GET '{LIST}'");
    text
}

fn pairs(lanes: &[Lane]) -> Vec<Value> {
    lanes.iter().map(|lane| json!({ "ingress": lane.ingress, "egress": lane.egress })).collect()
}
