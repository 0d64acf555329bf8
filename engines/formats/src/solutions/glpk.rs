//! GLPK, raw style (`glpsol -w FILE`, HiGHS style 2): columns by number from 1.

use std::io::BufRead;

use lightbay_core::problem::{Problem, Problems};

use super::{Key, SolutionFile, strange};
use crate::lines::Lines;

pub(super) fn read(
    lines: &mut Lines<impl BufRead>,
    file: &mut SolutionFile,
    problems: &mut Problems,
) -> Result<(), Problem> {
    // For a basic solution, each line has a status before the value.
    let mut at = 2;
    while let Some((number, text)) = lines.next_line()? {
        let words: Vec<&str> = text.split_whitespace().collect();
        match words[..] {
            [] | ["c" | "i", ..] => {}
            ["e", "o", "f"] => return Ok(()),
            ["s", "mip" | "ipt", _, _, status, objective] => {
                file.ended(meaning(status), number);
                file.claims(objective, number, problems);
            }
            ["s", "bas", _, _, primal, _, objective] => {
                at = 3;
                file.ended(meaning(primal), number);
                file.claims(objective, number, problems);
            }
            ["j", place, ..] => match (place.parse::<usize>(), words.get(at)) {
                (Ok(place), Some(token)) if place > 0 => {
                    file.give(Key::Place(place - 1), &format!("column {place}"), token, number, problems);
                }
                _ => problems.push(strange(number, text, "'j', the number of a column and its value")),
            },
            _ => problems.push(strange(number, text, "a line that begins with c, s, i, j or e")),
        }
    }
    // Without a point, HiGHS writes neither values nor the last line.
    if file.no_point.is_none() {
        problems.add("", "ends without 'e o f'", "the file is cut off; copy it again");
    }
    Ok(())
}

/// Returns the meaning of a status letter of GLPK.
fn meaning(letter: &str) -> &'static str {
    match letter {
        "o" => "optimal",
        "f" => "feasible",
        "n" => "no feasible solution",
        "i" => "infeasible",
        _ => "no solution: undefined",
    }
}
