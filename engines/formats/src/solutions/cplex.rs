//! CPLEX: XML with one `<CPLEXSolution>`, or several in `<CPLEXSolutions>`, of which only the first is read.

use std::io::BufRead;

use lightbay_core::problem::{Problem, Problems};

use super::{SolutionFile, place};
use crate::lines::Lines;

/// Reads the file tag by tag; CPLEX writes every tag with values on one line, but the header has one attribute per
/// line.
pub(super) fn read(
    lines: &mut Lines<impl BufRead>,
    file: &mut SolutionFile,
    problems: &mut Problems,
) -> Result<(), Problem> {
    let most = lines.rows();
    let mut solutions = 0_usize;
    let mut finished = false;
    // The tag that is open at the end of a line, with the line on which it began.
    let mut open = String::new();
    let mut began = 0;
    while let Some((number, text)) = lines.next_line()? {
        let mut rest = text;
        loop {
            if open.is_empty() {
                let Some(start) = rest.find('<') else { break };
                rest = &rest[start + 1..];
                began = number;
                open.push('<');
            }
            let Some(end) = closing(&open, rest) else {
                open.push_str(rest);
                open.push(' ');
                break;
            };
            open.push_str(&rest[..end]);
            rest = &rest[end + 1..];
            let tag = std::mem::take(&mut open);
            let tag = &tag[1..];
            let name = tag.split(|c: char| c.is_whitespace() || c == '/').next().unwrap_or_default();
            match name {
                "CPLEXSolution" => solutions += 1,
                "header" if solutions == 1 => header(tag, began, file, problems),
                "variable" if solutions == 1 && file.entries.len() > most => {
                    // The general reader reports that there are too many values.
                    return Ok(());
                }
                "variable" if solutions == 1 => variable(tag, began, file, problems),
                "" if tag.starts_with("/CPLEXSolution") => finished = true,
                _ => {}
            }
        }
        if open.len() > MAX_TAG_BYTES {
            problems.add(place(began), "has a tag without an end", "the file is damaged; copy it again");
            return Ok(());
        }
    }
    file.further_points = solutions.saturating_sub(1);
    if !finished {
        problems.add("", "ends without '</CPLEXSolution>'", "the file is cut off; copy it again");
    }
    Ok(())
}

const MAX_TAG_BYTES: usize = 1 << 16;

/// Returns the position in `rest` of the end of the tag that began with `open`: the first `>` outside quotes.
fn closing(open: &str, rest: &str) -> Option<usize> {
    let mut quote = None;
    let mut ends = |c: char| {
        match quote {
            Some(mark) if mark == c => quote = None,
            None if c == '"' || c == '\'' => quote = Some(c),
            _ => return quote.is_none() && c == '>',
        }
        false
    };
    // The part that is already open does not contain the end; it only determines whether a quote is open.
    for c in open.chars() {
        ends(c);
    }
    rest.char_indices().find(|(_, c)| ends(*c)).map(|(at, _)| at)
}

fn header(tag: &str, line: usize, file: &mut SolutionFile, problems: &mut Problems) {
    if let Some(words) = attribute(tag, "solutionStatusString") {
        file.ended(&words, line);
    }
    if let Some(token) = attribute(tag, "objectiveValue") {
        file.claims(&token, line, problems);
    }
}

fn variable(tag: &str, line: usize, file: &mut SolutionFile, problems: &mut Problems) {
    match (attribute(tag, "name"), attribute(tag, "value")) {
        (Some(name), Some(token)) => file.gives(&name, &token, line, problems),
        _ => problems.add(
            place(line),
            "is a variable without name or value",
            "let the solver write the file again",
        ),
    }
}

/// Returns the value of an attribute, entities resolved.
fn attribute(tag: &str, wanted: &str) -> Option<String> {
    let mut rest = tag.split_once(char::is_whitespace)?.1;
    loop {
        let (name, after) = rest.split_once('=')?;
        let after = after.trim_start();
        let mark = after.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        let (value, after) = after[1..].split_once(mark)?;
        if name.trim() == wanted {
            return Some(resolved(value));
        }
        rest = after;
    }
}

fn resolved(value: &str) -> String {
    if !value.contains('&') {
        return value.to_owned();
    }
    const ENTITIES: [(&str, &str); 5] =
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")];
    ENTITIES.iter().fold(value.to_owned(), |text, (entity, sign)| text.replace(entity, sign))
}
