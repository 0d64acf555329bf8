//! Replies in TL1 (Telcordia GR-831): a header, `M TAG COMPLD`, quoted lines, and a line `;` at the end. A response that ends
//! with `>` is continued by another one with the same tag.

use super::{Connection, Listing};
use crate::files::exports::calient_tl1::GROUP;
use crate::files::exports::glimmerglass_tl1::{INPUTS, OUTPUTS};
use lightbay_core::problem::{Problem, Problems, printable};
use std::collections::BTreeMap;

/// Position of the reader within a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At<'t> {
    /// Outside responses: the reader skips echoes, prompts and acknowledgements.
    Outside,
    /// In the response with this tag.
    Response(&'t str),
    /// After a `>`, before the next response with this tag.
    Continued(&'t str),
    /// In an autonomous message of the switch.
    Report,
}

/// Returns the quoted lines of a reply with their numbers.
fn quoted<'t>(text: &'t str, command: &str) -> Result<Vec<(usize, &'t str)>, Problem> {
    let at_line = |number: usize| format!("line {number}");
    let mut at = At::Outside;
    let mut completed = false;
    // Tag of the reply whose lines are used.
    let mut listed: Option<&str> = None;
    let mut reply_ended = false;
    let mut lines = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        let mut words = line.split_whitespace();
        let first = words.next();
        match first {
            Some("M") => {
                let (Some(tag), Some(code)) = (words.next(), words.next()) else { continue };
                response_may_begin(at, tag, code, command)
                    .map_err(|(message, remedy)| Problem::new(at_line(number), message, remedy))?;
                completed = true;
                at = At::Response(tag);
            }
            // Alarms and events may come between two responses.
            Some("A" | "*" | "**" | "*C") if matches!(at, At::Outside) => at = At::Report,
            Some(";" | ">") => {
                at = match at {
                    At::Response(tag) if line == ">" => At::Continued(tag),
                    At::Response(tag) => {
                        reply_ended |= listed == Some(tag);
                        At::Outside
                    }
                    At::Report => At::Outside,
                    other => other,
                }
            }
            _ => {
                let Some(content) = line.strip_prefix('"') else { continue };
                let content = content.strip_suffix('"').ok_or_else(|| {
                    Problem::new(at_line(number), "has no closing quote", "was the reply cut off?")
                })?;
                let tag = match at {
                    At::Report => continue,
                    At::Response(tag) => tag,
                    At::Outside | At::Continued(_) => {
                        let message = format!("'{content}' is outside of any reply");
                        let remedy = format!(
                            "give the whole reply to {command}, from the line with COMPLD to the line ';'"
                        );
                        return Err(Problem::new(at_line(number), message, remedy));
                    }
                };
                if reply_ended {
                    let message = format!("begins a second reply (tag {tag}) with connections");
                    return Err(Problem::new(
                        at_line(number),
                        message,
                        "keep the reply that shows the present state",
                    ));
                }
                listed = Some(tag);
                lines.push((number, content));
            }
        }
    }
    let cut = |message: String| {
        Err(Problem::new(
            "",
            message,
            format!("the import ignores this reply; read the state again with {command}"),
        ))
    };
    match at {
        At::Response(tag) => cut(format!("the reply with tag {tag} does not end with a line ';'")),
        At::Continued(tag) => cut(format!(
            "the reply with tag {tag} ends with '>', which announces a continuation that is missing"
        )),
        At::Report => cut("the last message does not end with a line ';'".to_owned()),
        At::Outside if completed => Ok(lines),
        At::Outside => Err(Problem::new(
            "",
            format!("contains no reply to {command} with COMPLD"),
            "check that this is the file you meant",
        )),
    }
}

/// Checks by tag and completion code whether a response may begin here. The error holds the problem and the remedy.
fn response_may_begin(at: At<'_>, tag: &str, code: &str, command: &str) -> Result<(), (String, String)> {
    let again = || format!("the import ignores this reply; read the state again with {command}");
    match (code, at) {
        ("PRTL", _) => Err((
            "the switch answers 'PRTL': it executed only a part of the command, so connections are missing"
                .to_owned(),
            again(),
        )),
        ("COMPLD", At::Continued(first)) if first != tag => Err((
            format!("the reply with tag {first} is to be continued, but the next one has tag {tag}"),
            again(),
        )),
        ("COMPLD", At::Response(open)) => Err((
            format!("the reply with tag {open} does not end with a line ';' before the next one begins"),
            again(),
        )),
        ("COMPLD", _) => Ok(()),
        (other, _) => {
            Err((format!("the switch answers '{other}'"), "log in and send the command again".to_owned()))
        }
    }
}

/// Reads a reply to `RTRV-PATCH`: lines with an ingress and an egress port.
pub(super) fn patches(text: &str) -> Result<Listing, Problems> {
    let mut problems = Problems::new();
    let mut listing = Listing::default();
    for (number, line) in quoted(text, "RTRV-PATCH")? {
        let place = format!("line {number}");
        let pair = line.split_once(',').map(|(from, to)| (from.trim(), to.trim()));
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        match pair.filter(|(from, to)| is_number(from) && is_number(to)) {
            Some((ingress, egress)) => listing.found.push(Connection {
                place,
                ingress: ingress.to_owned(),
                egress: egress.to_owned(),
                both_ways: None,
            }),
            None => problems.add(place, format!("is '{line}'"), "lines look like \"1,13\""),
        }
    }
    problems.into_result(listing)
}

/// Reads a reply to `rtrv-crs-fiber`: one line per input and output,
/// `GGN:IPORTID=10002,…,OPORTID=20003,…,CONNSTATE=steady,…`; the id 0 stands for an unconnected end.
pub(super) fn fiber_crosses(text: &str) -> Result<Listing, Problems> {
    let mut problems = Problems::new();
    let mut listing = Listing::default();
    for (number, line) in quoted(text, "rtrv-crs-fiber")? {
        let place = format!("line {number}");
        let value = |key: &str| {
            let mut pairs = line.split([',', ':']).filter_map(|pair| pair.split_once('='));
            pairs.find(|(name, _)| name.trim().eq_ignore_ascii_case(key)).map(|(_, value)| value.trim())
        };
        let port = |key: &str, base: u64| -> Option<u64> {
            let number: u64 = value(key)?.parse().ok()?;
            let counted = number.checked_sub(base).filter(|number| (1..10_000).contains(number));
            if number == 0 { Some(0) } else { counted }
        };
        let (Some(ingress), Some(egress)) = (port("IPORTID", INPUTS), port("OPORTID", OUTPUTS)) else {
            let remedy = "lines have IPORTID=10001 to 19999 or 0, and OPORTID=20001 to 29999 or 0";
            problems.add(place, format!("is '{}'", printable(line)), remedy);
            continue;
        };
        let state = value("CONNSTATE").unwrap_or_default().to_ascii_lowercase();
        if ingress == 0 || egress == 0 {
            if state != "single" && !state.is_empty() {
                let remedy = "read the state again: a port without a connection is 'single'";
                problems.add(place, format!("has one port and CONNSTATE={}", printable(&state)), remedy);
            }
            continue;
        }
        if state != "steady" {
            let cause = value("CONNCAUSE").filter(|cause| !cause.is_empty() && *cause != "none");
            let cause = cause.map_or_else(String::new, |cause| format!(" ({})", printable(cause)));
            let shown = if state.is_empty() { "without CONNSTATE".into() } else { printable(&state) };
            listing.notes.push(format!(
                "{place}: connection {} to {} is {shown}{cause}; the import counts it as set",
                INPUTS + ingress,
                OUTPUTS + egress
            ));
        }
        listing.found.push(Connection {
            place,
            ingress: ingress.to_string(),
            egress: egress.to_string(),
            both_ways: None,
        });
    }
    problems.into_result(listing)
}

/// Reads a reply to `RTRV-CRS`: lines of keys and values. OC is the operational capability of a connection (OK, INIT:
/// in progress, FAIL, NOHW), OS its operational state (RDY, OOS, OOS-NP).
pub(super) fn cross_connects(text: &str) -> Result<Listing, Problems> {
    let mut problems = Problems::new();
    let mut listing = Listing::default();
    let lines = quoted(text, "RTRV-CRS")?;
    let mut groups: BTreeMap<&str, usize> = BTreeMap::new();
    for &(number, line) in &lines {
        let place = format!("line {number}");
        let value = |key: &str| {
            let mut pairs = line.split([',', ':']).filter_map(|pair| pair.split_once('='));
            pairs.find(|(name, _)| name.trim().eq_ignore_ascii_case(key)).map(|(_, value)| value.trim())
        };
        let both_ways = match value("CONNTYPE").map(str::to_ascii_uppercase).as_deref() {
            None => None,
            Some("1WAY") => Some(false),
            Some("2WAY") => Some(true),
            Some(other) => {
                problems.add(place, format!("has CONNTYPE={other}"), "use 1WAY or 2WAY");
                continue;
            }
        };
        let Some((ingress, egress)) = value("SRCPORT").zip(value("DSTPORT")) else {
            problems.add(place, format!("is '{line}'"), "lines have SRCPORT=…,DSTPORT=…");
            continue;
        };
        if let Some(group) = value("GRPNAME").filter(|group| !group.is_empty() && *group != GROUP) {
            groups.entry(group).or_insert(number);
        }
        let usual = ['-', '>'].map(|sign| format!("{ingress}{sign}{egress}"));
        let usual = match both_ways {
            Some(true) => &usual[..1],
            Some(false) => &usual[1..],
            None => &usual[..],
        };
        let other = |name: &&str| !name.is_empty() && usual.iter().all(|usual| usual != name);
        if let Some(name) = value("CONNNAME").filter(other) {
            listing.notes.push(format!(
                "{place}: connection {ingress}-{egress} has CONNNAME={}; exported commands delete connections by the names of \
                 their ports and would not delete this connection; rename the connection first",
                printable(name)
            ));
        }
        let capability = value("OC").filter(|oc| !oc.is_empty() && !oc.eq_ignore_ascii_case("OK"));
        let state = value("OS").filter(|os| os.to_ascii_uppercase().starts_with("OOS"));
        let states = [("OC", capability), ("OS", state)];
        let bad: Vec<String> =
            states.into_iter().filter_map(|(key, value)| Some(format!("{key}={}", value?))).collect();
        if !bad.is_empty() {
            listing.notes.push(format!(
                "{place}: connection {ingress}-{egress} is {}; the import counts it as set",
                bad.join(", ")
            ));
        }
        listing.found.push(Connection {
            place,
            ingress: ingress.to_owned(),
            egress: egress.to_owned(),
            both_ways,
        });
    }
    for (group, number) in groups {
        let group = printable(group);
        listing.notes.push(format!(
            "line {number}: connections are in the group {group}; export with group={group}, because otherwise commands \
             would name the group {GROUP} and would not delete the connections"
        ));
    }
    problems.into_result(listing)
}
