//! Replies in TL1: a header, `M TAG COMPLD`, quoted lines, and a semicolon at the end.

use super::{Connection, Listing};
use lightbay_core::problem::{Problem, Problems};

/// The quoted lines of a reply with their numbers.
fn quoted<'t>(text: &'t str, command: &str) -> Result<Vec<(usize, &'t str)>, Problem> {
    let mut completed = false;
    let mut lines = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        let mut words = line.split_whitespace();
        if words.next() == Some("M") {
            match words.nth(1) {
                Some("COMPLD" | "PRTL") => completed = true,
                Some(other) => {
                    return Err(Problem::new(
                        format!("line {number}"),
                        format!("the switch answers '{other}'"),
                        "log in and send the command again",
                    ));
                }
                None => {}
            }
        } else if let Some(content) = line.strip_prefix('"') {
            let content = content.strip_suffix('"').ok_or_else(|| {
                Problem::new(format!("line {number}"), "ends without a quote", "was the reply cut off?")
            })?;
            lines.push((number, content));
        }
    }
    if completed {
        Ok(lines)
    } else {
        Err(Problem::new(
            "",
            format!("holds no reply to {command}, which has COMPLD in it"),
            "check that this is the file you meant",
        ))
    }
}

/// `RTRV-PATCH`: lines of ingress and egress port.
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

/// `RTRV-CRS`: lines of keys and values.
pub(super) fn cross_connects(text: &str) -> Result<Listing, Problems> {
    let mut problems = Problems::new();
    let mut listing = Listing::default();
    for (number, line) in quoted(text, "RTRV-CRS")? {
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
                problems.add(place, format!("has CONNTYPE={other}"), "1WAY and 2WAY are known");
                continue;
            }
        };
        match value("SRCPORT").zip(value("DSTPORT")) {
            Some((ingress, egress)) => {
                listing.found.push(Connection {
                    place,
                    ingress: ingress.to_owned(),
                    egress: egress.to_owned(),
                    both_ways,
                });
            }
            None => problems.add(place, format!("is '{line}'"), "lines have SRCPORT=…,DSTPORT=…"),
        }
    }
    problems.into_result(listing)
}
