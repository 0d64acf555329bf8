//! Edge lists: `u v [rate [latency]]` separated by blanks, tabs or commas; with a header, columns by name.

use super::MOST_LINKS;
use super::builder::Builder;
use super::facts::{LinkFacts, LinkReader};
use lightbay_core::problem::printable;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Names of the column for the first end.
const FROM: [&str; 5] = ["source", "src", "from", "u", "node1"];
const TO: [&str; 5] = ["target", "dst", "to", "v", "node2"];

/// Splits a line at commas, semicolons and tabs, or else at blanks. A cell in double quotes may contain separators; two
/// quotes in it are one.
fn cells(line: &str) -> Vec<Cow<'_, str>> {
    if !line.contains([',', ';', '\t']) {
        return line.split_whitespace().map(Cow::Borrowed).collect();
    }
    let mut is_quoted = false;
    let parts = line.split(|sign| {
        is_quoted ^= sign == '"';
        !is_quoted && matches!(sign, ',' | ';' | '\t')
    });
    let unquoted =
        |cell: &'_ str| cell.strip_prefix('"')?.strip_suffix('"').map(|inner| inner.replace("\"\"", "\""));
    parts.map(str::trim).map(|cell| unquoted(cell).map_or(Cow::Borrowed(cell), Cow::Owned)).collect()
}

/// Returns the lines with their numbers, without empty lines and comments. After a header, a line that begins with a
/// comment sign is a row if it has as many cells as the header, because names of nodes may begin with this sign.
fn content(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.lines().enumerate().map(|(at, line)| (at + 1, line.trim()));
    let is_comment = |line: &str| line.starts_with(['#', '%']);
    let mut columns = None;
    lines.filter(move |(_, line)| {
        if line.is_empty() {
            return false;
        }
        if is_comment(line) {
            return columns.flatten().is_some_and(|columns| cells(line).len() == columns);
        }
        columns.get_or_insert_with(|| {
            let header = cells(line);
            ends(&header).is_some().then_some(header.len())
        });
        true
    })
}

/// Finds the columns of both ends by their names.
fn ends(header: &[Cow<'_, str>]) -> Option<[usize; 2]> {
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
                && cells[2..].iter().all(|cell| LinkReader::default().take("rate", cell).is_ok())
        })
}

/// Column that states for each line whether the link is directed, as in tables of Gephi.
const DIRECTION: &str = "type";

/// Reads a cell of the column [`DIRECTION`]; `None` if it states something else.
fn direction(cell: &str) -> Option<bool> {
    match cell.to_ascii_lowercase().as_str() {
        "directed" => Some(true),
        "undirected" => Some(false),
        _ => None,
    }
}

fn place(line: usize) -> String {
    format!("line {line}")
}

/// A line of the list.
struct EdgeLine {
    ends: [u32; 2],
    facts: LinkFacts,
    line: usize,
    /// Value of the column [`DIRECTION`].
    directed: Option<bool>,
}

pub(super) fn read(text: &str, directed: Option<bool>) -> Builder {
    let mut builder = Builder::default();
    let rows = rows(text, &mut builder);
    let stated = rows.iter().any(|row| row.directed.is_some());
    let directed = if directed.is_some() && stated {
        let message = "has no effect: the column 'type' states which links are directed";
        builder.problems.add("directed", message, "leave it out");
        directed
    } else {
        directed.or_else(|| assumed_direction(&rows, &mut builder))
    };
    for row in rows {
        let directed = row.directed.or(directed).unwrap_or(false);
        builder.link(row.ends[0], row.ends[1], row.facts, !directed, &place(row.line));
        if builder.is_full() {
            break;
        }
    }
    builder
}

/// Returns the direction of lines that do not state it. If the list has every pair of nodes in both orders, each line is
/// a link in one direction; if it has every pair in one order, each line is a link in both directions. Lists with pairs
/// of both types are a problem.
fn assumed_direction(rows: &[EdgeLine], builder: &mut Builder) -> Option<bool> {
    let pairs: BTreeSet<[u32; 2]> = rows
        .iter()
        .filter(|row| row.directed.is_none() && row.ends[0] != row.ends[1])
        .map(|row| row.ends)
        .collect();
    let twice = pairs.iter().filter(|[from, to]| from < to && pairs.contains(&[*to, *from])).count();
    let all = pairs.len() - twice;
    if all == 0 {
        return None;
    }
    const SET: &str = "directed=";
    let what = "direction of each line";
    if twice == 0 {
        builder.assume(what, "a link in both directions", SET);
        return Some(false);
    }
    if twice < all {
        let message = format!(
            "is not set, but the list has {twice} of {all} pairs of nodes in both orders, so a line may be a link in \
             one direction or in both"
        );
        let remedy = "set directed=true (each line is a link in one direction) or directed=false (in both)";
        builder.problems.add("directed", message, remedy);
        return Some(true);
    }
    builder.assume(
        what,
        "a link in one direction, because the list has every pair of nodes in both orders",
        SET,
    );
    Some(true)
}

/// Reads the lines; lines without two nodes, and cells that cannot be read, are problems.
fn rows(text: &str, builder: &mut Builder) -> Vec<EdgeLine> {
    let mut lines = content(text).peekable();
    let header = lines.peek().map(|(_, line)| cells(line)).filter(|header| ends(header).is_some());
    if header.is_some() {
        lines.next();
    }
    let names = header.unwrap_or_else(|| ["from", "to", "rate", "latency_us"].map(Cow::Borrowed).to_vec());
    let [from, to] = ends(&names).unwrap_or([0, 1]);
    let mut rows = Vec::new();
    for (number, line) in lines {
        let place = place(number);
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
        let mut directed = None;
        let others = names
            .iter()
            .zip(&cells)
            .enumerate()
            .filter(|(at, (_, cell))| ![from, to].contains(at) && !cell.is_empty());
        let mut attributes = Vec::new();
        for (_, (name, cell)) in others {
            match direction(cell).filter(|_| name.eq_ignore_ascii_case(DIRECTION)) {
                Some(stated) => directed = Some(stated),
                None => attributes.push((&**name, &**cell)),
            }
        }
        let facts = builder.facts(attributes.into_iter(), &place);
        let ends = [source, target].map(|name| builder.node(name));
        rows.push(EdgeLine { ends, facts, line: number, directed });
        if builder.is_full() || rows.len() > MOST_LINKS {
            break;
        }
    }
    rows
}
