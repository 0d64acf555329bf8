//! CBC: `Optimal - objective value 12.5`, then `index name value reduced-cost`, lines that break a bound with `**`.

use std::io::BufRead;

use lightbay_core::problem::{Problem, Problems};

use super::{SolutionFile, strange};
use crate::lines::Lines;

pub(super) fn read(
    lines: &mut Lines<impl BufRead>,
    file: &mut SolutionFile,
    problems: &mut Problems,
) -> Result<(), Problem> {
    while let Some((number, text)) = lines.next_line()? {
        let text = text.trim();
        if text.is_empty() {
            continue;
        }
        if file.status.is_none() {
            match text.rsplit_once(" - objective value ") {
                Some((words, token)) => {
                    file.ended(words.trim(), number);
                    file.claims(token.trim(), number, problems);
                }
                None => problems.push(strange(number, text, "how the solve ended, and the objective")),
            }
            continue;
        }
        let fields = text.strip_prefix("**").unwrap_or(text);
        match fields.split_whitespace().collect::<Vec<_>>()[..] {
            [_, name, token, _] => file.gives(name, token, number, problems),
            _ => problems.push(strange(number, text, "index, column, value and reduced cost")),
        }
    }
    Ok(())
}
