//! Edge lists: `u v [rate [latency]]` separated by blanks, tabs or commas; with a header, columns by name.

use super::FileRate;
use super::builder::Builder;
use super::facts::LinkFacts;
use lightbay_core::problem::printable;

/// Names of the column for the first end.
const FROM: [&str; 5] = ["source", "src", "from", "u", "node1"];
const TO: [&str; 5] = ["target", "dst", "to", "v", "node2"];

fn cells(line: &str) -> Vec<&str> {
    if line.contains([',', ';', '\t']) {
        line.split([',', ';', '\t']).map(|cell| cell.trim().trim_matches('"')).collect()
    } else {
        line.split_whitespace().collect()
    }
}

fn content(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.lines().enumerate().map(|(at, line)| (at + 1, line.trim()));
    lines.filter(|(_, line)| !line.is_empty() && !line.starts_with(['#', '%']))
}

/// Finds the columns of both ends by their names.
fn ends(header: &[&str]) -> Option<[usize; 2]> {
    let of = |names: &[&str]| {
        header.iter().position(|cell| names.iter().any(|name| cell.eq_ignore_ascii_case(name)))
    };
    Some([of(&FROM)?, of(&TO)?])
}

/// Returns `true` if the first line names the columns of both ends, but no column of bytes: a table with such a column
/// is a traffic matrix.
pub(super) fn has_header(text: &str) -> bool {
    let Some((_, first)) = content(text).next() else { return false };
    let header = cells(first);
    // A table with a column of bytes is a traffic matrix, not a list of links.
    ends(&header).is_some() && !header.iter().any(|cell| cell.to_ascii_lowercase().contains("bytes"))
}

/// Returns `true` if the first lines have two to four words, of which the third and fourth can be read as rates, with
/// or without a unit.
pub(super) fn may_be(text: &str) -> bool {
    let mut lines = content(text).take(20).peekable();
    lines.peek().is_some()
        && lines.all(|(_, line)| {
            let cells = cells(line);
            (2..=4).contains(&cells.len())
                && cells[2..].iter().all(|cell| LinkFacts::default().take("rate", cell).is_ok())
        })
}

pub(super) fn read(text: &str, directed: Option<bool>) -> Builder {
    let mut builder = Builder::default();
    let both_ways = !directed.unwrap_or(false);
    if directed.is_none() {
        builder.note(
            "each line of the list is a link in both directions; directed=true makes it a link in \
                 one direction",
        );
    }
    let mut lines = content(text).peekable();
    let header = lines.peek().map(|(_, line)| cells(line)).filter(|header| ends(header).is_some());
    if header.is_some() {
        lines.next();
    }
    let names = header.clone().unwrap_or_else(|| vec!["from", "to", "rate", "latency_us"]);
    let [from, to] = ends(&names).unwrap_or([0, 1]);
    for (number, line) in lines {
        let place = format!("line {number}");
        let cells = cells(line);
        let (Some(source), Some(target)) = (cells.get(from), cells.get(to)) else {
            builder.problems.add(
                place,
                format!("is '{}', which is not a link", printable(line)),
                "write two nodes and a rate",
            );
            continue;
        };
        if cells.len() > names.len() {
            let message = format!("has {} cells, but the list has {} columns", cells.len(), names.len());
            builder.problems.add(place, message, "write two nodes, a rate and a latency in us, or a header");
            continue;
        }
        let mut facts = LinkFacts::default();
        for (name, cell) in names.iter().zip(&cells).filter(|(_, cell)| !cell.is_empty()) {
            if let Err(wrong) = facts.take(name, cell) {
                builder.problems.add(place.as_str(), printable(&wrong), "correct the cell");
            }
        }
        debug_assert!(
            !matches!(facts.rate, Some(FileRate::GbytePerSOfTool(_))),
            "only one tool uses this unit"
        );
        let [source, target] = [source, target].map(|name| builder.node(name));
        builder.link(source, target, facts, both_ways, &place);
        if builder.is_full() {
            break;
        }
    }
    builder
}
