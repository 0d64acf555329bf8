//! HiGHS: raw and sparse style (`write_solution_style` 0 and 4) and pretty style (1).
//!
//! From version 1.16, the file of an integer program has lines for bound and gap after the objective, and the sparse
//! style is marked by a word. Unknown lines of a word and a number, and unknown sections, are skipped, so that
//! additions of later versions do no harm.

use std::io::BufRead;

use lightbay_core::problem::{Problem, Problems};

use super::{SolutionFile, Stated, finite, place, strange};
use crate::lines::Lines;

/// Reads a file of raw or sparse style. Sections have headings of at most sixteen words; everything after the columns
/// (rows, duals, basis) is ignored.
pub(super) fn raw(
    lines: &mut Lines<impl BufRead>,
    file: &mut SolutionFile,
    problems: &mut Problems,
) -> Result<(), Problem> {
    let mut expects_status = false;
    let mut expects_point = false;
    while let Some((number, text)) = lines.next_line()? {
        let text = text.trim();
        if text.is_empty() {
            continue;
        }
        if std::mem::take(&mut expects_status) {
            file.ended(text, number);
        } else if std::mem::take(&mut expects_point) {
            // The text is `None`, or `Infeasible` if values follow that violate the model.
            if text != "Feasible" {
                let status = file.status.as_ref().map_or("", |status| &status.what);
                let words = format!("{status}, primal solution: {text}");
                file.no_point = Some(Stated { what: words, line: number });
            }
        } else if text == "Model status" {
            expects_status = true;
        } else if text == "# Primal solution values" {
            expects_point = true;
        } else if let Some(token) = text.strip_prefix("Objective ") {
            file.claims(token.trim(), number, problems);
        } else if let Some(token) = text.strip_prefix("Objective_bound ") {
            // A solver without a bound writes infinity.
            file.bound = finite(token.trim()).ok().map(|what| Stated { what, line: number });
        } else if text.starts_with("MIP_rel_gap ") {
            // The gap follows from objective and bound.
        } else if let Some(token) = text.strip_prefix("# Columns ") {
            let token = token.trim();
            let plain = token.strip_suffix("sparse").map(str::trim_end);
            let Ok(count) = plain.unwrap_or(token).parse::<i64>() else {
                problems.push(strange(number, text, "'# Columns' and the number of columns"));
                return Ok(());
            };
            let sparse = plain.is_some() || count < 0;
            return columns(lines, count.unsigned_abs(), sparse, file, problems);
        } else if text.starts_with("# Dual") || text.starts_with("# Basis") {
            break;
        } else if text.starts_with("# ") || is_figure(text) {
            file.passed_over += 1;
        } else {
            problems.push(strange(number, text, "a section of a HiGHS solution file"));
        }
    }
    if file.no_point.is_none() {
        problems.add("", "has no section '# Columns'", "the file is cut off; copy it again");
    }
    Ok(())
}

/// Returns `true` for a line with a word and a number.
fn is_figure(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let word = words.next().unwrap_or_default();
    let named = word.starts_with(|sign: char| sign.is_ascii_alphabetic())
        && word.chars().all(|sign| sign.is_ascii_alphanumeric() || sign == '_');
    named && words.next().is_some_and(|value| value.parse::<f64>().is_ok()) && words.next().is_none()
}

/// Reads the lines of `count` columns, `name value`, or `name value index` in sparse style.
fn columns(
    lines: &mut Lines<impl BufRead>,
    count: u64,
    sparse: bool,
    file: &mut SolutionFile,
    problems: &mut Problems,
) -> Result<(), Problem> {
    let mut left = count;
    while left > 0 {
        let Some((number, text)) = lines.next_line()? else {
            problems.add(
                "",
                format!("announces {count} columns, but the last {left} are missing"),
                "the file is cut off; copy it again",
            );
            return Ok(());
        };
        left -= 1;
        let named =
            if sparse { text.rsplit_once(char::is_whitespace).map(|(rest, _)| rest) } else { Some(text) };
        if let Some((name, token)) = named.and_then(|named| named.trim().rsplit_once(char::is_whitespace)) {
            file.gives(name.trim(), token, number, problems);
        } else {
            problems.push(strange(number, text, "a column and its value"));
            if text.starts_with('#') {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// Reader of the table of pretty style: index, status, lower, upper, primal, dual, type, name. Status and dual are
/// blank for integer models.
#[derive(Debug, Default)]
pub(super) struct Pretty {
    in_columns: bool,
    /// Line of the first column without a value.
    valueless: Option<usize>,
}

impl Pretty {
    pub(super) fn line(
        &mut self,
        number: usize,
        text: &str,
        file: &mut SolutionFile,
        problems: &mut Problems,
    ) {
        if text == "Columns" {
            self.in_columns = true;
        } else if text == "Rows" {
            self.in_columns = false;
        } else if let Some(words) = text.strip_prefix("Model status:") {
            file.ended(words.trim(), number);
        } else if let Some(token) = text.strip_prefix("Objective value:") {
            file.claims(token.trim(), number, problems);
        } else if self.in_columns && !text.starts_with("Index") {
            match column(text) {
                Some((name, Some(token))) => file.gives(name, token, number, problems),
                Some((_, None)) => self.valueless = self.valueless.or(Some(number)),
                None => problems.push(strange(number, text, "a line of the table of columns")),
            }
        }
    }

    pub(super) fn end(&self, file: &SolutionFile, problems: &mut Problems) {
        if let Some(number) = self.valueless.filter(|_| file.no_point.is_none()) {
            problems.add(place(number), "has no primal value", "let the solver write the file again");
        }
    }
}

/// Returns name and primal value of a line of the table; `None` for the value if the solver found no point. The type is
/// only present for integer models, and status and dual only for linear programs.
fn column(text: &str) -> Option<(&str, Option<&str>)> {
    const TYPES: [&str; 4] = ["Continuous", "Integer", "Semi-conts", "Semi-int"];
    let words: Vec<&str> = text.split_whitespace().collect();
    let typed = words.iter().position(|word| TYPES.contains(word));
    let name = typed.map_or(words.len().checked_sub(1)?, |at| at + 1);
    let numbers = typed.unwrap_or(name);
    let status = usize::from(words.get(1)?.parse::<f64>().is_err());
    let primal = (numbers > 3 + status).then(|| words[3 + status]);
    (numbers >= 3).then_some((*words.get(name)?, primal))
}
