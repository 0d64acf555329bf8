//! Parses the lines of HiGHS's log that contain more information than the callbacks of HiGHS.
//!
//! No result depends on these lines; unknown lines are ignored. The texts belong to the version of HiGHS that this
//! crate is built with, and tests verify that HiGHS still writes these texts.

use crate::model::Size;

/// A parsed line.
#[derive(Clone, Debug, PartialEq)]
pub enum Line {
    /// Presolve begins.
    Presolving,
    /// Size of a linear program after presolve.
    Presolved(Size),
    /// The heading of the lines with the size of an integer model after presolve.
    MipHeading,
    /// Number of remaining rows.
    Rows(u32),
    /// Number of remaining columns, and how many of them are integer.
    Columns(u32, u32),
    /// Number of remaining nonzero entries.
    Nonzeros(u32),
    /// The simplex or interior point method starts to solve a linear program.
    SolvingLp,
    /// A restricted problem is solved to complete the start.
    Completing {
        /// `true` if the restricted problem is a linear program, because all integer values were given.
        linear: bool,
    },
    /// Whether the start, completed or not, is feasible, and the objective of the start.
    StartIs(bool, f64),
    /// The start cannot be completed.
    StartUseless,
    /// The report at the end of a tree search.
    Report,
    /// A line of figures of the tree search.
    Figures(DisplayLine),
}

/// The figures in a log line of the tree search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DisplayLine {
    /// Letter of the heuristic or step that found the announced point; a space if the line announces no point.
    pub source: char,
    /// Number of open nodes.
    pub open: u64,
    /// Number of cuts in the LP.
    pub cuts: u64,
}

/// Parses a line; `None` for an unknown line.
pub fn read(line: &str) -> Option<Line> {
    if let Some(figures) = display_line(line) {
        return Some(Line::Figures(figures));
    }
    let words = line.trim();
    if let Some(rest) = words.strip_prefix("Presolve reductions: ") {
        return reductions(rest).map(Line::Presolved);
    }
    if let Some(rest) = words.strip_prefix("MIP start solution is ") {
        let feasible = rest.starts_with("feasible");
        let objective = rest.rsplit(' ').next()?.parse().ok()?;
        return Some(Line::StartIs(feasible, objective));
    }
    if words.contains("Attempting to find feasible solution by solving") {
        return Some(Line::Completing { linear: words.contains("by solving LP") });
    }
    if words.contains("User-supplied values fix only") {
        return Some(Line::Completing { linear: false });
    }
    if words.starts_with("User-supplied values of discrete variables cannot yield") {
        return Some(Line::StartUseless);
    }
    if ["Solving the presolved LP", "Solving LP with", "Solving unconstrained LP", "Solving the original LP"]
        .iter()
        .any(|beginning| words.starts_with(beginning))
    {
        return Some(Line::SolvingLp);
    }
    match words {
        "Presolving model" => Some(Line::Presolving),
        "Solving MIP model with:" => Some(Line::MipHeading),
        "Solving report" => Some(Line::Report),
        _ => part_of_size(words),
    }
}

/// Reads a line of figures, such as ` H       0       0         0   0.00%   -inf   12   Large   0   0   0   0   0.1s`:
/// source letter, nodes done and open, leaves, explored, bound, best, gap, cuts, cuts in the LP, conflicts, iterations,
/// time.
fn display_line(line: &str) -> Option<DisplayLine> {
    let mut letters = line.chars();
    if letters.next()? != ' ' {
        return None;
    }
    let source = letters.next()?;
    if letters.next()? != ' ' {
        return None;
    }
    let fields: Vec<&str> = letters.as_str().split_whitespace().collect();
    let [nodes, open, _, explored, _, _, _, _, cuts, _, iterations, ..] = fields[..] else {
        return None;
    };
    if !explored.ends_with('%') || whole(nodes).is_none() || whole(iterations).is_none() {
        return None;
    }
    Some(DisplayLine { source, open: whole(open)?, cuts: whole(cuts)? })
}

/// Reads a count; large counts end in `k` or `m`.
fn whole(word: &str) -> Option<u64> {
    let (digits, factor) = match word.strip_suffix('k') {
        Some(digits) => (digits, 1_000),
        None => word.strip_suffix('m').map_or((word, 1), |digits| (digits, 1_000_000)),
    };
    digits.parse::<u64>().ok()?.checked_mul(factor)
}

/// Reads the size in `rows 12(-3); columns 8(-2); nonzeros 33(-4) - Reduced`.
fn reductions(rest: &str) -> Option<Size> {
    let left = |name: &str| -> Option<u32> {
        let from = rest.find(name)? + name.len();
        rest[from..].split('(').next()?.trim().parse().ok()
    };
    Some(Size { rows: left("rows ")?, columns: left("columns ")?, nonzeros: left("nonzeros ")?, integers: 0 })
}

/// Reads a line such as `31 rows`, `40 cols (20 binary, 3 integer, 1 implied int., 16 continuous, 0 domain fixed)` or
/// `120 nonzeros`.
fn part_of_size(words: &str) -> Option<Line> {
    let (number, rest) = words.split_once(' ')?;
    let number: u32 = number.parse().ok()?;
    if rest == "row" || rest == "rows" {
        return Some(Line::Rows(number));
    }
    if rest == "nonzero" || rest == "nonzeros" {
        return Some(Line::Nonzeros(number));
    }
    let kinds = rest.strip_prefix("cols (").or_else(|| rest.strip_prefix("col ("))?;
    let of = |kind: &str| -> u32 {
        kinds
            .split(',')
            .filter_map(|part| part.trim().strip_suffix(kind))
            .find_map(|count| count.trim().parse().ok())
            .unwrap_or(0)
    };
    Some(Line::Columns(number, of("binary") + of("integer") + of("implied int.")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_figures_give_letter_open_nodes_and_cuts() {
        let line = " L       0       0         0   0.00%   8488.791657     8164               3.98%      275     10      4        48     0.6s";
        assert_eq!(read(line), Some(Line::Figures(DisplayLine { source: 'L', open: 0, cuts: 10 })));
        let line = "       66k     12k        30  10.00%   8164            inf                  inf      472      9    559      210m     1.7s";
        // Two blanks before the nodes, or it is no line of figures.
        assert_eq!(read(line), Some(Line::Figures(DisplayLine { source: ' ', open: 12_000, cuts: 9 })));
        assert_eq!(
            read(
                "Src  Proc. InQueue |  Leaves   Expl. | BestBound  BestSol  Gap | Cuts InLp Confl. | LpIters Time"
            ),
            None
        );
        assert_eq!(read(" z       0       0"), None);
        assert_eq!(read("  Matrix  [1e+00, 1e+03]"), None);
    }

    #[test]
    fn sizes_after_presolve_are_read() {
        let line = "Presolve reductions: rows 10(-2); columns 30(-0); nonzeros 300(-17) - Reduced";
        let size = Size { rows: 10, columns: 30, nonzeros: 300, integers: 0 };
        assert_eq!(read(line), Some(Line::Presolved(size)));
        let line = "   40 cols (20 binary, 3 integer, 1 implied int., 16 continuous, 0 domain fixed)";
        assert_eq!(read(line), Some(Line::Columns(40, 24)));
        assert_eq!(read("   1 row"), Some(Line::Rows(1)));
        assert_eq!(read("   1 col (1 binary, 0 integer)"), Some(Line::Columns(1, 1)));
        assert_eq!(read("   120 nonzeros"), Some(Line::Nonzeros(120)));
        assert_eq!(read("10 rows, 30 cols, 300 nonzeros 0s"), None);
    }

    #[test]
    fn lines_about_the_start_are_read() {
        let line = "MIP start solution is feasible, objective value is 698.35";
        assert_eq!(read(line), Some(Line::StartIs(true, 698.35)));
        let line = "MIP start solution is infeasible, objective value is -1e+30";
        assert_eq!(read(line), Some(Line::StartIs(false, -1e30)));
        let line = "WARNING: User-supplied values fix only 4 / 118 discrete variables, so attempt";
        assert_eq!(read(line), Some(Line::Completing { linear: false }));
        let line = "Attempting to find feasible solution by solving LP for user-supplied values";
        assert_eq!(read(line), Some(Line::Completing { linear: true }));
    }

    #[test]
    fn any_line_is_taken() {
        for line in [
            "",
            " ",
            "\u{e4} \u{1F600}",
            " \u{e4} 1 1 1 1% 1 1 1 1 1 1 1",
            "99999999999999999999 rows",
            "Presolve reductions: rows",
        ] {
            let _ = read(line);
        }
        assert_eq!(whole("99999999999999999999m"), None);
        assert_eq!(whole("18446744073709551615m"), None);
    }
}
