//! Models of other programs (MPS, LP), solved by the HiGHS that is built in.

use lightbay_core::problem::{Problem, Problems, counted};
use lightbay_formats::detect::{detect, unpacked_head};
use lightbay_formats::solutions::HIGHS_PAIRS;
use lightbay_formats::{Format, Limits, gz};
use lightbay_highs::file::{self, ModelFormat};
use lightbay_highs::instance::solve_here;
use lightbay_highs::model::Domain;
use lightbay_highs::options::Options;
use lightbay_highs::solution::{Solution, Start, Status};
use std::fmt::Write as _;

/// Maximum size of the text of a model, bytes.
const MOST_BYTES: u64 = 256 << 20;

/// The outcome of solving a model.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelAnswer {
    /// Kind of result.
    pub outcome: ModelOutcome,
    /// The summary as lines for a person.
    pub lines: Vec<String>,
    /// The values of all columns in the format of Gurobi's solutions, if there is a point.
    pub solution: Option<String>,
}

/// Kind of outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelOutcome {
    /// The solver found a point, which may not be optimal.
    Point,
    /// No point exists, or the objective is unbounded.
    NoOptimum,
    /// No point was found within the limits.
    NoPoint,
}

/// Returns `true` if a file that begins with `head`, possibly compressed, is a model.
pub fn is_foreign_model(head: &[u8]) -> bool {
    unpacked_head(head).is_ok_and(|head| detect(&head) == Format::Model)
}

/// Solves the model of a file, possibly compressed.
///
/// # Errors
/// Text that is not a model, and failures of the solver.
pub fn solve_foreign_model(
    content: &[u8],
    time_limit_s: Option<f64>,
    gap: Option<f64>,
    threads: usize,
) -> Result<ModelAnswer, Problems> {
    let text = gz::text(content, &Limits::default(), MOST_BYTES)?;
    let problem = |error: lightbay_highs::error::Error| {
        Problem::new("", error.to_string(), "check that this is a model in MPS or LP format")
    };
    let form = if is_lp(&text) { ModelFormat::Lp } else { ModelFormat::Mps };
    let model = file::read(text.as_bytes(), form).map_err(problem)?;
    let mut options = Options::new().set("threads", i32::try_from(threads).unwrap_or(1));
    if let Some(limit) = time_limit_s {
        options = options.time_limit_s(limit);
    }
    if let Some(gap) = gap {
        options = options.relative_gap(gap);
    }
    let mut silent = lightbay_highs::event::NoListener;
    let solved = solve_here(&model, &options, &Start::None, &mut silent).map_err(problem)?;
    let integers = model.domains.iter().filter(|domain| **domain != Domain::Continuous).count();
    let size = format!(
        "model: {}, {}, {integers} of them integer, {}",
        counted(model.rows() as u64, "row", "rows"),
        counted(model.columns() as u64, "column", "columns"),
        counted(model.indices.len() as u64, "entry", "entries")
    );
    Ok(answer(&solved, &model.column_names, size))
}

/// Returns `true` if a text is in the LP format, which begins with the sense of the objective.
fn is_lp(text: &str) -> bool {
    let first = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with(['*', '\\']));
    first.is_some_and(|line| {
        line.get(..3).is_some_and(|word| ["min", "max"].contains(&&*word.to_ascii_lowercase()))
    })
}

fn answer(solved: &Solution, names: &[String], size: String) -> ModelAnswer {
    let status = match solved.status {
        Status::Optimal | Status::Empty => "optimal",
        Status::Infeasible => "infeasible",
        Status::Unbounded => "unbounded",
        Status::InfeasibleOrUnbounded => "infeasible or unbounded",
        Status::TimeLimit => "time limit",
        Status::WorkLimit => "limit of the solver",
        Status::ObjectiveLimit => "limit of the objective",
        Status::Interrupted => "interrupted",
        Status::Trouble => "numerical trouble",
    };
    let mut lines = vec![size, format!("status: {status}")];
    if let Some(objective) = solved.objective {
        lines.push(format!("objective: {objective}"));
    }
    if let Some(bound) = solved.bound.filter(|bound| bound.is_finite()) {
        lines.push(format!("bound: {bound}"));
    }
    lines.push(format!(
        "{}, {}, {:.2} s with HiGHS {}",
        counted(solved.simplex_iterations, "simplex iteration", "simplex iterations"),
        counted(solved.nodes, "node", "nodes"),
        solved.elapsed_s,
        lightbay_highs::instance::version()
    ));
    let outcome = match (&solved.values, solved.status) {
        (_, Status::Infeasible | Status::Unbounded | Status::InfeasibleOrUnbounded) => {
            ModelOutcome::NoOptimum
        }
        (Some(_), _) => ModelOutcome::Point,
        (None, _) => ModelOutcome::NoPoint,
    };
    let solution = solved.values.as_ref().filter(|_| outcome == ModelOutcome::Point).map(|values| {
        let mut text = format!("{HIGHS_PAIRS}\n# Objective value = {}\n", solved.objective.unwrap_or(0.0));
        for (name, value) in names.iter().zip(values) {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{name} {value}");
        }
        text
    });
    ModelAnswer { outcome, lines, solution }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed expectation should fail the test")]
    use super::*;

    const LP: &str = "Maximize\n obj: 3 x + 2 y\nSubject To\n c: x + y <= 4\n d: x + 3 y <= 6\nBounds\n x <= 3\nGeneral\n x y\nEnd\n";

    #[test]
    fn a_model_in_lp_format_is_solved() {
        assert!(is_foreign_model(LP.as_bytes()));
        let found = solve_foreign_model(LP.as_bytes(), None, None, 1).unwrap();
        // x = 3, y = 1.
        assert_eq!(found.outcome, ModelOutcome::Point);
        assert_eq!(
            found.solution.as_deref(),
            Some("# Solution of HiGHS\n# Objective value = 11\nx 3\ny 1\n")
        );
        assert!(found.lines.contains(&"status: optimal".to_owned()), "{:?}", found.lines);
    }

    #[test]
    fn models_without_an_optimum_are_told_apart() {
        let none = LP.replace("x <= 3", "x >= 7");
        let found = solve_foreign_model(none.as_bytes(), None, None, 1).unwrap();
        assert_eq!((found.outcome, found.solution), (ModelOutcome::NoOptimum, None));
        assert!(solve_foreign_model(b"NAME m\nROWS\n N obj\n?\n", None, None, 1).is_err());
    }
}
