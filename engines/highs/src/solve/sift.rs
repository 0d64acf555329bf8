//! Filter for the useful lines of the solver's log. A long search prints a table row five times a second, which is too
//! much for a log that a person reads.

use std::collections::HashSet;

/// Number of different texts outside tables that are stored without a minimum interval; later copies of these texts are
/// dropped.
const REMEMBERED: usize = 500;

/// Minimum seconds between two lines of a table.
const PACE_S: f64 = 1.0;

/// Minimum seconds between a line that announces a better point and the line of a table that was stored before it.
const FOUND_PACE_S: f64 = 0.25;

/// From one minute on, the minimum interval between table lines is the duration of the search divided by this number:
/// about two hundred lines in the first ten minutes.
const STRETCH: f64 = 60.0;

/// Filter that decides for every line of the log whether it is stored.
#[derive(Debug, Default)]
pub(super) struct Sift {
    said: HashSet<String>,
    last_s: Option<f64>,
}

impl Sift {
    /// Returns `true` if a line that came at `now_s` is stored.
    pub(super) fn keeps(&mut self, line: &str, now_s: f64) -> bool {
        let words = line.trim();
        if words.is_empty() {
            return false;
        }
        let pace = match row(words) {
            // Table headings repeat.
            None if self.said.contains(words) => return false,
            None if self.said.len() < REMEMBERED => {
                self.said.insert(words.to_owned());
                return true;
            }
            Some(Row::Found) => FOUND_PACE_S,
            None | Some(Row::Figures) => PACE_S.max(now_s / STRETCH),
        };
        let due = self.last_s.is_none_or(|last| now_s >= last + pace);
        if due {
            self.last_s = Some(now_s);
        }
        due
    }
}

enum Row {
    /// The line has only figures.
    Figures,
    /// The line announces a better point.
    Found,
}

/// Returns the kind of a table line: only figures, or figures after the letter of the heuristic that found a point;
/// `None` for any other line.
fn row(words: &str) -> Option<Row> {
    let mut columns = words.split_whitespace();
    let first = columns.next()?;
    let figure = |word: &str| word.starts_with(|c: char| c.is_ascii_digit());
    if figure(first) {
        // A sentence may also begin with a number: `12 rows, 30 cols`.
        return columns
            .next()
            .filter(|second| second.starts_with(|c: char| !c.is_alphabetic()))
            .map(|_| Row::Figures);
    }
    (first.len() == 1 && columns.next().is_some_and(figure)).then_some(Row::Found)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROW: &str = "      13       4         4   0.10%   -12.5           -9.0              38.89%       70      9     11      1301     2.1s";
    const FOUND: &str = " H     0       0         0   0.00%   -inf            8280.0            Large         0      0      0         0     0.2s";
    const HEADING: &str = "Src  Proc. InQueue |  Leaves   Expl. | BestBound       BestSol              Gap |   Cuts   InLp Confl. | LpIters     Time";

    #[test]
    fn a_long_search_leaves_a_log_that_can_be_read() {
        let mut sift = Sift::default();
        let mut kept = 0;
        // Ten minutes at five lines a second, with the heading every twenty.
        for line in 0..3000 {
            let now_s = f64::from(line) / 5.0;
            if line % 20 == 0 {
                kept += usize::from(sift.keeps(HEADING, now_s));
            }
            kept += usize::from(sift.keeps(&ROW.replace("2.1s", &format!("{now_s:.1}s")), now_s));
        }
        assert!((150..250).contains(&kept), "{kept}");
    }

    #[test]
    fn sentences_are_kept_once_and_better_points_come_sooner() {
        let mut sift = Sift::default();
        assert!(sift.keeps("Presolving model", 0.0));
        assert!(sift.keeps("12 rows, 30 cols, 80 nonzeros", 0.0));
        assert!(!sift.keeps("  ", 0.0));
        assert!(!sift.keeps("Presolving model", 1.0));
        assert!(sift.keeps(ROW, 1.0));
        assert!(!sift.keeps(ROW, 1.5));
        assert!(sift.keeps(FOUND, 1.5));
        assert!(!sift.keeps(FOUND, 1.6));
    }

    #[test]
    fn a_solver_that_never_says_the_same_twice_is_thinned_too() {
        let mut sift = Sift::default();
        let kept = (0..5000).filter(|n| sift.keeps(&format!("Warning: entry {n} is tiny"), 1.0)).count();
        assert_eq!(kept, REMEMBERED + 1);
    }
}
