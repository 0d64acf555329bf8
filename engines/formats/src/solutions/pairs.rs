//! Names and values line by line: Gurobi, SCIP, and collections of test problems, whose files have a line `=obj=`.

use lightbay_core::problem::Problems;

use super::{SolutionFile, Stated, strange};

/// Reads a line of a Gurobi file: `# Objective value = 12.5`, then `name value`.
pub(super) fn gurobi(number: usize, text: &str, file: &mut SolutionFile, problems: &mut Problems) {
    if let Some(comment) = text.strip_prefix('#') {
        if let Some((what, token)) = comment.split_once('=')
            && what.trim().eq_ignore_ascii_case("objective value")
        {
            file.claims(token.trim(), number, problems);
        }
    } else if let Some(token) = text.strip_prefix("=obj=") {
        file.claims(token.trim(), number, problems);
    } else {
        pair(number, text, text, file, problems);
    }
}

/// Reads a line of a SCIP file: `solution status: …`, `objective value: …`, then `name value (obj:cost)`.
pub(super) fn scip(number: usize, text: &str, file: &mut SolutionFile, problems: &mut Problems) {
    if text.starts_with('#') {
        return;
    }
    if let Some(words) = text.strip_prefix("solution status:") {
        file.ended(words.trim(), number);
    } else if let Some(token) = text.strip_prefix("objective value:") {
        file.claims(token.trim(), number, problems);
    } else if text == "no solution available" {
        let words = file.status.as_ref().map_or_else(|| text.to_owned(), |status| status.what.clone());
        file.no_point = Some(Stated { what: words, line: number });
    } else {
        let named = text.split_once("(obj:").map_or(text, |(named, _)| named).trim();
        pair(number, text, named, file, problems);
    }
}

/// Reads a name and its value from a line.
fn pair(number: usize, text: &str, named: &str, file: &mut SolutionFile, problems: &mut Problems) {
    match named.rsplit_once(char::is_whitespace) {
        Some((name, token)) => file.gives(name.trim(), token, number, problems),
        None => problems.push(strange(number, text, "a column and its value")),
    }
}
