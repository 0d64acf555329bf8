//! `polatis_netconf`: a NETCONF session with Polatis-class switches, messages ended as in RFC 6242 for version 1.0.

use super::jobs::BoxJob;
use super::script::{LineSort, Script};
use crate::files::devices::Lane;

/// Name of the format.
pub const NAME: &str = "polatis_netconf";
/// Description of the format.
pub const HELP: &str = "A NETCONF session for Polatis-class switches, a file per switch to be piped into 'ssh -s -p 830 <user>@<switch> netconf'.";

const BASE: &str = "urn:ietf:params:xml:ns:netconf:base:1.0";
const MODEL: &str = "http://www.polatis.com/yang/optical-switch";

/// End of a message.
pub(super) const END: &str = "]]>]]>";

pub(super) fn text(job: &BoxJob, list: &str) -> Script {
    let mut text = Script::plain(&format!("<hello xmlns=\"{BASE}\">"));
    text.push(LineSort::Comment, format!("  <!-- {}", job.title()));
    for line in job.advice() {
        text.push(LineSort::Comment, format!("       {line}"));
    }
    text.push(LineSort::Comment, "  -->");
    text.push(
        LineSort::Other,
        format!(
            "  <capabilities><capability>urn:ietf:params:netconf:base:1.0</capability></capabilities>\n</hello>\n{END}"
        ),
    );
    let mut message = 0;
    let mut edit = |sort: LineSort, lanes: &[Lane], attribute: &str, item: &dyn Fn(&Lane) -> String| {
        message += 1;
        text.push(
            LineSort::Other,
            format!(
                "<rpc message-id=\"{message}\" xmlns=\"{BASE}\">\n  <edit-config><target><running/></target><config>\n    \
                 <cross-connects xmlns=\"{MODEL}\" xmlns:nc=\"{BASE}\"{attribute}>"
            ),
        );
        for lane in lanes {
            text.push(sort, format!("      {} <!-- {} -->", item(lane), job.label(lane)));
        }
        text.push(
            LineSort::Other,
            format!("    </cross-connects>\n  </config></edit-config>\n</rpc>\n{END}"),
        );
    };
    let added = |lane: &Lane| {
        format!("<{list}><ingress>{}</ingress><egress>{}</egress></{list}>", lane.ingress, lane.egress)
    };
    if let Some(whole) = &job.whole {
        edit(LineSort::Add, whole, " nc:operation=\"replace\"", &added);
    }
    if !job.removes.is_empty() {
        edit(LineSort::Remove, &job.removes, "", &|lane: &Lane| {
            format!("<{list} nc:operation=\"delete\"><ingress>{}</ingress></{list}>", lane.ingress)
        });
    }
    if !job.adds.is_empty() {
        edit(LineSort::Add, &job.adds, "", &added);
    }
    let read = format!(
        "<rpc message-id=\"{}\" xmlns=\"{BASE}\">\n  <get-config><source><running/></source><filter type=\"subtree\">\
         <cross-connects xmlns=\"{MODEL}\"/></filter></get-config>\n</rpc>\n{END}",
        message + 1
    );
    text.push(LineSort::Other, read);
    text
}
