//! `polatis_netconf`: a NETCONF session with Polatis-class switches, messages ended as in RFC 6242 for version 1.0.

use super::jobs::Job;
use crate::files::devices::Lane;
use std::fmt::Write as _;

/// Name of the format.
pub const NAME: &str = "polatis_netconf";
/// What it is.
pub const HELP: &str = "A NETCONF session for Polatis-class switches, a file per switch to be piped into 'ssh -s -p 830 <user>@<switch> netconf'.";

const BASE: &str = "urn:ietf:params:xml:ns:netconf:base:1.0";
const MODEL: &str = "http://www.polatis.com/yang/optical-switch";

/// End of a message.
pub(super) const END: &str = "]]>]]>";

pub(super) fn text(job: &Job, list: &str) -> String {
    let mut text = format!("<hello xmlns=\"{BASE}\">\n  <!-- {}\n", job.title());
    for line in job.advice() {
        let _ = writeln!(text, "       {line}");
    }
    let _ = writeln!(
        text,
        "  -->\n  <capabilities><capability>urn:ietf:params:netconf:base:1.0</capability></capabilities>\n</hello>\n{END}"
    );
    let mut message = 0;
    let mut edit = |lanes: &[Lane], attribute: &str, item: &dyn Fn(&Lane) -> String| {
        message += 1;
        let _ = writeln!(text, "<rpc message-id=\"{message}\" xmlns=\"{BASE}\">");
        text.push_str("  <edit-config><target><running/></target><config>\n");
        let _ = writeln!(text, "    <cross-connects xmlns=\"{MODEL}\" xmlns:nc=\"{BASE}\"{attribute}>");
        for lane in lanes {
            let _ = writeln!(text, "      {} <!-- {} -->", item(lane), job.label(lane));
        }
        let _ = writeln!(text, "    </cross-connects>\n  </config></edit-config>\n</rpc>\n{END}");
    };
    let added = |lane: &Lane| {
        format!("<{list}><ingress>{}</ingress><egress>{}</egress></{list}>", lane.ingress, lane.egress)
    };
    if let Some(whole) = &job.whole {
        edit(whole, " nc:operation=\"replace\"", &added);
    }
    if !job.removes.is_empty() {
        edit(&job.removes, "", &|lane: &Lane| {
            format!("<{list} nc:operation=\"delete\"><ingress>{}</ingress></{list}>", lane.ingress)
        });
    }
    if !job.adds.is_empty() {
        edit(&job.adds, "", &added);
    }
    let _ = writeln!(
        text,
        "<rpc message-id=\"{}\" xmlns=\"{BASE}\">\n  <get-config><source><running/></source><filter type=\"subtree\">\
         <cross-connects xmlns=\"{MODEL}\"/></filter></get-config>\n</rpc>\n{END}",
        message + 1
    );
    text
}
