//! CBC: `Optimal - objective value 12.5`, then `index name value reduced-cost`; lines that violate a bound begin with
//! `**`.

use lightbay_core::problem::Problems;

use super::{SolutionFile, strange};

pub(super) fn line(number: usize, text: &str, file: &mut SolutionFile, problems: &mut Problems) {
    if file.status.is_none() {
        match text.rsplit_once(" - objective value ") {
            Some((words, token)) => {
                file.ended(words.trim(), number);
                file.claims(token.trim(), number, problems);
            }
            None => problems.push(strange(number, text, "how the solve ended, and the objective")),
        }
        return;
    }
    let fields = text.strip_prefix("**").unwrap_or(text);
    match fields.split_whitespace().collect::<Vec<_>>()[..] {
        [_, name, token, _] => file.gives(name, token, number, problems),
        _ => problems.push(strange(number, text, "index, column, value and reduced cost")),
    }
}
