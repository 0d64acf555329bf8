//! Replies of switches to the commands that read their state.

use super::{Numbering, State};
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// A file for every switch.
pub(super) fn files(numbering: Numbering, state: &State) -> Vec<(String, String)> {
    let reply = |connections| match numbering.format {
        "calient_tl1" => calient(connections, numbering.bidirectional),
        format => text(format, connections),
    };
    state.iter().map(|(id, connections)| (format!("run.7/ocs-{id:03}.reply"), reply(connections))).collect()
}

fn calient(connections: &BTreeMap<String, String>, both: bool) -> String {
    let mut text = String::from("\r\n   S320 26-11-22 10:00:00\r\nM  1 COMPLD\r\n");
    let (kind, sign) = if both { ("2WAY", '-') } else { ("1WAY", '>') };
    for (from, to) in connections {
        let _ = write!(
            text,
            "   \"SRCPORT={from},DSTPORT={to},GRPNAME=lightbay,CONNNAME={from}{sign}{to},CONNTYPE={kind}:AS=IS,OS=IS\"\r\n"
        );
    }
    text + ";\r\n"
}

/// The answer of a switch that holds these connections.
pub(super) fn text(format: &str, connections: &BTreeMap<String, String>) -> String {
    match format {
        "polatis_tl1" => {
            let mut text = String::from("\n\n   SWITCH 26-11-22 10:00:00\nM  9 COMPLD\n");
            for (from, to) in connections {
                let _ = writeln!(text, "   \"{from},{to}\"");
            }
            text + ";\n"
        }
        "calient_tl1" => calient(connections, false),
        "glimmerglass_tl1" => {
            let mut text =
                String::from("rtrv-crs-fiber::all:31;\n\n   hall-ocs0 26-03-02 09:41:07\nM  31 COMPLD\n");
            for (from, to) in connections {
                let (from, to): (u64, u64) = (from.parse().unwrap(), to.parse().unwrap());
                let _ = writeln!(
                    text,
                    "   \"GGN:IPORTID={},IPORTNAME=,OPORTID={},OPORTNAME=,CONNID=0,CONNSTATE=steady,CONNCAUSE=none\"",
                    10_000 + from,
                    20_000 + to
                );
            }
            text + "   \"GGN:IPORTID=19999,IPORTNAME=,OPORTID=0,OPORTNAME=,CONNID=0,CONNSTATE=single,CONNCAUSE=none\"\n;\n"
        }
        "polatis_restconf" => {
            let pairs: Vec<_> = connections
                .iter()
                .map(|(from, to)| json!({"ingress": from.parse::<u64>().unwrap(), "egress": to.parse::<u64>().unwrap()}))
                .collect();
            let inner = if pairs.is_empty() { json!({}) } else { json!({ "pair": pairs }) };
            json!({ "optical-switch:cross-connects": inner }).to_string()
        }
        "polatis_netconf" => {
            let mut list = String::new();
            for (from, to) in connections {
                let _ = writeln!(
                    list,
                    "<os:pair><os:ingress>{from}</os:ingress><os:egress> {to} </os:egress></os:pair>"
                );
            }
            let list = if list.is_empty() {
                list
            } else {
                format!(
                    "<os:cross-connects xmlns:os=\"http://www.polatis.com/yang/optical-switch\">{list}</os:cross-connects>"
                )
            };
            format!(
                "<hello xmlns=\"urn:ietf:params:xml:ns:netconf:base:1.0\"/>]]>]]>\n<?xml version=\"1.0\"?>\n\
                 <rpc-reply xmlns=\"urn:ietf:params:xml:ns:netconf:base:1.0\"><data>\n{list}</data></rpc-reply>]]>]]>\n"
            )
        }
        "ocp_ocs" => {
            let entry = |(index, (from, to)): (usize, (&String, &String))| {
                let name = format!("{from}_{to}");
                let ports = json!({"name": name, "input-port-name": from, "output-port-name": to});
                let mut state = ports.clone();
                state["status"] = ["CONNECTED", "PENDING_CONNECTION", "FAILED"][index % 3].into();
                json!({"name": name, "config": ports, "state": state})
            };
            let mut entries: Vec<_> = connections.iter().enumerate().map(entry).collect();
            entries.push(json!({"name": "old", "config": {}, "state": {"input-port-name": "port-1", "output-port-name": "port-2", "status": "INVALID"}}));
            json!([{"source": "ocs", "updates": [{"values": {"connections": {"m:port-connection": entries}}}]}]).to_string()
        }
        "sonic_ocs" => {
            let table: serde_json::Map<_, _> = connections
                .iter()
                .map(|(a, b)| (format!("{a}-{b}"), json!({"a_side": a, "b_side": b})))
                .collect();
            json!({"OCS_PORT": {}, "OCS_CROSS_CONNECT": table}).to_string()
        }
        other => panic!("no switch speaks {other}"),
    }
}
