//! Tables of cross connects as the commands of SONiC print them: `show ocs cross-connect config`, `show ocs
//! cross-connect status`, and the generated `show ocs-cross-connect`. Two spaces separate columns, and a line of dashes
//! follows the header.

use super::{Connection, Listing};
use lightbay_core::problem::{Problem, Problems, printable};
use std::collections::HashSet;

/// First columns of every table.
const COLUMNS: [&str; 3] = ["id", "a_side", "b_side"];

/// States of a port in which its connection works; an empty text means that the table does not give the state.
const GOOD: [&str; 6] = ["", "normal", "tuned", "connected", "enabled", "n/a"];

/// Adds remarks on a connection: a port in another state than [`GOOD`], and an id that exported commands would not
/// match.
pub(super) fn remarks(listing: &mut Listing, id: &str, [a, b]: [&str; 2], states: &[Option<&str>]) {
    let bad = |state: &&str| !GOOD.iter().any(|good| good.eq_ignore_ascii_case(state));
    for (side, state) in ["A", "B"].into_iter().zip(states) {
        if let Some(state) = state.filter(bad) {
            listing.notes.push(format!(
                "{}: the port on side {side} is {}; the import treats the connection as set",
                printable(id),
                printable(state)
            ));
        }
    }
    if id != format!("{a}-{b}") {
        let id = printable(id);
        listing.notes.push(format!(
            "{id} is the id of the connection {a}-{b}, but exported commands use the id {a}-{b}; rename it before you run them"
        ));
    }
}

/// Returns the words of a header as column names.
fn names(header: &str) -> Vec<String> {
    let cells = header.trim().split("  ").map(str::trim).filter(|cell| !cell.is_empty());
    cells.map(|cell| cell.to_ascii_lowercase().replace(' ', "_")).collect()
}

/// Returns `true` for the prompt of a shell, with or without a command.
fn is_prompt(line: &str) -> bool {
    let first = line.split_whitespace().next().unwrap_or_default();
    first.contains('@') || first.ends_with(['#', '$', '>'])
}

/// Reads the connections of a table.
pub(super) fn cross_connects(text: &str) -> Result<Listing, Problems> {
    let mut problems = Problems::new();
    let mut listing = Listing::default();
    let mut columns: Option<Vec<String>> = None;
    let mut ids = HashSet::new();
    let mut before = "";
    for (number, line) in (1..).zip(text.lines()) {
        let place = format!("line {number}");
        let is_rule = !line.trim().is_empty() && line.chars().all(|c| c == '-' || c.is_whitespace());
        if is_rule {
            let mut named = names(before);
            if let Some(first) = named.first_mut().filter(|first| first.as_str() == "cross_connect_id") {
                "id".clone_into(first);
            }
            if !named.iter().map(String::as_str).take(3).eq(COLUMNS) {
                let message =
                    format!("comes after a header with the wrong columns '{}'", printable(before.trim()));
                problems.add(place, message, "give a table with id, a_side and b_side");
            } else if columns.replace(named).is_some() {
                problems.add(place, "begins a second table", "give one table per file");
            }
        } else if let Some(columns) = &columns {
            if line.trim().is_empty() || is_prompt(line) {
                before = line;
                continue;
            }
            let id = line.split_whitespace().next();
            if let Some(id) = id.filter(|id| !ids.insert(*id)) {
                problems.add(place, format!("repeats the id {}", printable(id)), "list it once");
            } else {
                row(&mut listing, columns, line, place, &mut problems);
            }
        }
        before = line;
    }
    if columns.is_none() && problems.is_empty() {
        return Err(Problem::new(
            "",
            "holds neither JSON nor a table of cross connects",
            "give CONFIG_DB, or what `show ocs cross-connect config` prints",
        )
        .into());
    }
    problems.into_result(listing)
}

fn row(listing: &mut Listing, columns: &[String], line: &str, place: String, problems: &mut Problems) {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [id, ingress, egress, ..] = words.as_slice() else {
        let message = format!("is '{}'", printable(line.trim()));
        problems.add(
            place,
            message,
            "give rows with id, a_side and b_side; check that the table was not cut off",
        );
        return;
    };
    if words.len() > columns.len() {
        problems.add(
            place,
            format!("is '{}'", printable(line.trim())),
            format!("give at most {} values, one for each column", columns.len()),
        );
        return;
    }
    let state = |name: &str| {
        let at = columns.iter().position(|column| column == name)?;
        words.get(at).copied()
    };
    remarks(listing, id, [ingress, egress], &[state("a_side_status"), state("b_side_status")]);
    listing.found.push(Connection {
        place,
        ingress: (*ingress).to_owned(),
        egress: (*egress).to_owned(),
        both_ways: None,
    });
}
