//! Solution files of solvers: HiGHS, Gurobi, CPLEX, SCIP, CBC and GLPK, each as the solver itself writes it.
//!
//! All these files contain how the solve ended, the objective, and a value for each column by name (GLPK: by number).
//! The files differ in the columns that are omitted and in the number of digits; [`Dialect`] describes these
//! differences.

mod cbc;
mod cplex;
mod glpk;
mod highs;
mod pairs;

use std::io::BufRead;

use lightbay_core::problem::{Problem, Problems};

use crate::detect::{self, Format};
use crate::gz::Limits;
use crate::lines::Lines;

/// Style of a solution file, and the program that wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// HiGHS, raw style, with all columns.
    HighsRaw,
    /// HiGHS, sparse style, without columns at zero.
    HighsSparse,
    /// HiGHS, pretty style: a table with six digits.
    HighsPretty,
    /// HiGHS, names and values line by line, as `lightbay solve` writes the solution of a model.
    HighsPairs,
    /// Gurobi, and other programs that write names and values line by line.
    Gurobi,
    /// CPLEX, XML.
    Cplex,
    /// SCIP.
    Scip,
    /// CBC.
    Cbc,
    /// GLPK, raw style: columns by number.
    Glpk,
}

impl Dialect {
    /// Returns the common name of the solver.
    pub const fn solver(self) -> &'static str {
        match self {
            Self::HighsRaw | Self::HighsSparse | Self::HighsPretty | Self::HighsPairs => "HiGHS",
            Self::Gurobi => "Gurobi",
            Self::Cplex => "CPLEX",
            Self::Scip => "SCIP",
            Self::Cbc => "CBC",
            Self::Glpk => "GLPK",
        }
    }

    /// Returns `true` if the program omits from its file the columns whose value is 0.
    pub const fn omits_zeros(self) -> bool {
        matches!(self, Self::HighsSparse | Self::Scip | Self::Cbc)
    }

    /// Returns `true` if values are rounded to six digits.
    pub const fn coarse(self) -> bool {
        matches!(self, Self::HighsPretty)
    }

    /// Returns `true` if the file may list the rows of the model between its columns, without a heading before the
    /// rows.
    pub const fn mixes_rows(self) -> bool {
        matches!(self, Self::Cbc)
    }
}

/// First line of a file of [`Dialect::HighsPairs`].
pub const HIGHS_PAIRS: &str = "# Solution of HiGHS";

/// Column to which a value applies.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Key {
    /// Column with this name in the model file.
    Name(String),
    /// Column at this position among the columns of the model file, from 0.
    Place(usize),
}

/// One value of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct SolutionEntry {
    /// Column to which the value applies.
    pub key: Key,
    /// Value of the column, a finite number.
    pub value: f64,
    /// Line of the value in the file, from 1.
    pub line: usize,
}

/// A statement on one line of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Stated<T> {
    /// Content of the statement.
    pub what: T,
    /// The line, from 1.
    pub line: usize,
}

/// The content of a solution file.
#[derive(Clone, Debug, PartialEq)]
pub struct SolutionFile {
    /// Dialect, by the solver that wrote it.
    pub dialect: Dialect,
    /// Reason why the solve ended, in the words of the solver.
    pub status: Option<Stated<String>>,
    /// Statement of the file that it has no point, such as "infeasible" or "unbounded"; the values in the file are then
    /// not read.
    pub no_point: Option<Stated<String>>,
    /// The objective that the file states.
    pub objective: Option<Stated<f64>>,
    /// The bound on the objective that the file states.
    pub bound: Option<Stated<f64>>,
    /// Values of columns in the order of the file.
    pub entries: Vec<SolutionEntry>,
    /// Number of further points of the file, which were ignored.
    pub further_points: usize,
    /// Number of unknown lines, which were skipped.
    pub passed_over: usize,
}

impl SolutionFile {
    const fn of(dialect: Dialect) -> Self {
        Self {
            dialect,
            status: None,
            no_point: None,
            objective: None,
            bound: None,
            entries: Vec::new(),
            further_points: 0,
            passed_over: 0,
        }
    }

    /// Stores the statement on how the solve ended. If the statement means that there are no values to read, such as
    /// "infeasible" or "unbounded", also stores it as [`SolutionFile::no_point`].
    fn ended(&mut self, words: &str, line: usize) {
        let stated = Stated { what: words.to_owned(), line };
        let lower = words.to_ascii_lowercase();
        let none = ["infeasible", "unbounded", "no solution", "no integer solution", "no feasible", "empty"];
        if none.iter().any(|word| lower.contains(word)) {
            self.no_point = Some(stated.clone());
        }
        self.status = Some(stated);
    }

    /// Reads the objective from `token` and stores it.
    fn claims(&mut self, token: &str, line: usize, problems: &mut Problems) {
        match finite(token) {
            Ok(what) => self.objective = Some(Stated { what, line }),
            // A solver without a feasible point writes infinity as objective; other lines state that no point exists.
            Err(_) if self.no_point.is_some() => {}
            Err(wrong) => problems.add(
                place(line),
                format!("the objective '{token}' {wrong}"),
                "let the solver write the file again",
            ),
        }
    }

    /// Reads and stores the value of the column `name`.
    fn gives(&mut self, name: &str, token: &str, line: usize, problems: &mut Problems) {
        self.give(Key::Name(name.to_owned()), name, token, line, problems);
    }

    fn give(&mut self, key: Key, name: &str, token: &str, line: usize, problems: &mut Problems) {
        match finite(token) {
            Ok(value) => self.entries.push(SolutionEntry { key, value, line }),
            Err(_) if self.no_point.is_some() => {}
            Err(wrong) => problems.add(
                place(line),
                format!("the value '{token}' of '{name}' {wrong}"),
                "a point needs a finite number for every column; let the solver write the file again",
            ),
        }
    }
}

/// Reads a finite number; otherwise returns the problem of the text, as the second half of a sentence.
fn finite(token: &str) -> Result<f64, &'static str> {
    match token.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        Ok(_) => Err("is not a finite number"),
        Err(_) => Err("is not a number"),
    }
}

fn place(line: usize) -> String {
    format!("line {line}")
}

/// Returns the problem of a line that does not fit the format.
fn strange(line: usize, text: &str, expected: &str) -> Problem {
    let shown: String = text.trim().chars().take(40).collect();
    Problem::new(place(line), format!("'{shown}' cannot be read"), format!("the reader expects {expected}"))
}

/// Returns the dialect of a solution file from its beginning; `None` if the file is not a solution file.
pub(crate) fn dialect(head: &str) -> Option<Dialect> {
    let mut lines = head.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next()?;
    let second = lines.next().unwrap_or_default();
    let word_and_number = |line: &str| {
        let mut words = line.split_whitespace();
        let value = words.nth(1).and_then(|word| word.parse::<f64>().ok());
        value.is_some() && words.next().is_none()
    };
    match first {
        "Model status" => {
            let columns = head.lines().find_map(|line| line.trim().strip_prefix("# Columns "));
            let sparse = columns.is_some_and(|count| count.starts_with('-') || count.ends_with("sparse"));
            Some(if sparse { Dialect::HighsSparse } else { Dialect::HighsRaw })
        }
        "Columns" if second.contains("Primal") => Some(Dialect::HighsPretty),
        _ if first.starts_with("solution status:") || first.starts_with("objective value:") => {
            Some(Dialect::Scip)
        }
        _ if first.contains(" - objective value ") => Some(Dialect::Cbc),
        _ if first.starts_with("c Problem:")
            || first.starts_with("s mip ")
            || first.starts_with("s bas ") =>
        {
            Some(Dialect::Glpk)
        }
        HIGHS_PAIRS => Some(Dialect::HighsPairs),
        _ if first.starts_with("# Solution") || first.starts_with("# Objective") => Some(Dialect::Gurobi),
        _ if first.starts_with("=obj=") => Some(Dialect::Gurobi),
        _ if word_and_number(first) && (second.is_empty() || word_and_number(second)) => {
            Some(Dialect::Gurobi)
        }
        _ => None,
    }
}

/// Reads a solution file, compressed or not. The file may have at most as many values as `limits` allows rows.
///
/// # Errors
/// Every problem of the file, or the actual format of the file.
pub fn read(reader: impl BufRead, limits: &Limits) -> Result<SolutionFile, Problems> {
    let opened = detect::open(reader, limits)?;
    let Format::Solution(dialect) = opened.format else {
        let mut remedy =
            "use a solution file of HiGHS, Gurobi, CPLEX, SCIP, CBC or GLPK (glpsol -w)".to_owned();
        match opened.format.importer() {
            Some(importer) => remedy = format!("read the file with `lightbay import {importer}`; {remedy}"),
            None if opened.format == Format::Model => remedy = format!("solve the model first; {remedy}"),
            None if !opened.format.advice().is_empty() => {
                remedy = format!("{}; {remedy}", opened.format.advice());
            }
            None => {}
        }
        return Err(Problem::new("", format!("this is {}", opened.format.describe()), remedy).into());
    };
    let mut problems = Problems::new();
    let mut file = SolutionFile::of(dialect);
    let mut lines = Lines::new(opened.reader, limits);
    match dialect {
        Dialect::HighsRaw | Dialect::HighsSparse => highs::raw(&mut lines, &mut file, &mut problems),
        Dialect::HighsPretty => {
            let mut table = highs::Pretty::default();
            each(&mut lines, |number, text| table.line(number, text, &mut file, &mut problems))
                .map(|()| table.end(&file, &mut problems))
        }
        Dialect::HighsPairs | Dialect::Gurobi => {
            each(&mut lines, |number, text| pairs::gurobi(number, text, &mut file, &mut problems))
        }
        Dialect::Scip => each(&mut lines, |number, text| pairs::scip(number, text, &mut file, &mut problems)),
        Dialect::Cbc => each(&mut lines, |number, text| cbc::line(number, text, &mut file, &mut problems)),
        Dialect::Glpk => glpk::read(&mut lines, &mut file, &mut problems),
        Dialect::Cplex => cplex::read(&mut lines, &mut file, &mut problems),
    }?;
    if file.entries.len() > limits.rows {
        let message = format!("has more than {} values, which is more than the model has", limits.rows);
        problems.add("", message, "check that the file is a solution of this model");
    }
    if file.no_point.is_some() {
        file.entries.clear();
    }
    problems.into_result(file)
}

/// Calls a function with every line that is not blank, trimmed, and its number.
fn each(lines: &mut Lines<impl BufRead>, mut read: impl FnMut(usize, &str)) -> Result<(), Problem> {
    while let Some((number, text)) = lines.next_line()? {
        let text = text.trim();
        if !text.is_empty() {
            read(number, text);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
