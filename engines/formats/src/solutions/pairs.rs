//! Names and values line by line: Gurobi (and the collections that write `=obj=`), and SCIP.

use std::io::BufRead;

use lightbay_core::problem::{Problem, Problems};

use super::{SolutionFile, strange};
use crate::lines::Lines;

/// `# Objective value = 12.5`, then `name value`.
pub(super) fn gurobi(
    lines: &mut Lines<impl BufRead>,
    file: &mut SolutionFile,
    problems: &mut Problems,
) -> Result<(), Problem> {
    while let Some((number, text)) = lines.next_line()? {
        let text = text.trim();
        if let Some(comment) = text.strip_prefix('#') {
            if let Some((what, token)) = comment.split_once('=')
                && what.trim().eq_ignore_ascii_case("objective value")
            {
                file.claims(token.trim(), number, problems);
            }
        } else if let Some(token) = text.strip_prefix("=obj=") {
            file.claims(token.trim(), number, problems);
        } else if let Some((name, token)) = text.rsplit_once(char::is_whitespace) {
            file.gives(name.trim(), token, number, problems);
        } else if !text.is_empty() {
            problems.push(strange(number, text, "a column and its value"));
        }
    }
    Ok(())
}

/// `solution status: …`, `objective value: …`, then `name value (obj:cost)`.
pub(super) fn scip(
    lines: &mut Lines<impl BufRead>,
    file: &mut SolutionFile,
    problems: &mut Problems,
) -> Result<(), Problem> {
    while let Some((number, text)) = lines.next_line()? {
        let text = text.trim();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        if let Some(words) = text.strip_prefix("solution status:") {
            file.ended(words.trim(), number);
        } else if let Some(token) = text.strip_prefix("objective value:") {
            file.claims(token.trim(), number, problems);
        } else if text == "no solution available" {
            let words = file.status.as_ref().map_or_else(|| text.to_owned(), |status| status.what.clone());
            file.no_point = Some(super::Stated { what: words, line: number });
        } else {
            let named = text.split_once("(obj:").map_or(text, |(named, _)| named).trim();
            match named.rsplit_once(char::is_whitespace) {
                Some((name, token)) => file.gives(name.trim(), token, number, problems),
                None => problems.push(strange(number, text, "a column and its value")),
            }
        }
    }
    Ok(())
}
