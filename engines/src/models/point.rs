//! Converts the values of a solution file to a point of the model, and reports their problems.

use lightbay_core::param::ParamValue;
use lightbay_core::problem::{Problem, Problems, counted, nearest};
use lightbay_formats::solutions::{Dialect, Key, SolutionFile};
use lightbay_highs::model::{Domain, Model};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum violation of a bound or row, divided by the absolute value of the bound if this absolute value is above 1.
const TOLERANCE: f64 = 1e-6;
/// Maximum violation of a bound or row for files with six digits, relative like [`TOLERANCE`].
const COARSE: f64 = 1e-5;
/// Maximum distance of an integer column's value from a whole number: the default tolerance of Gurobi and CPLEX.
pub(super) const WHOLE: f64 = 1e-5;
/// Maximum difference between the objective of the values and the objective that the file claims, absolute (CBC writes
/// eight decimals).
const OBJECTIVE_ABSOLUTE: f64 = 1e-8;

/// The names of a model in its file.
pub(super) struct PointNames<'a> {
    /// Names of the columns, in the order of the model.
    pub columns: Vec<&'a str>,
    /// Names of the rows, in any order.
    pub rows: BTreeSet<&'a str>,
}

impl PointNames<'_> {
    /// Returns `true` if a name belongs to a row; the LP format splits a row with two bounds into `NAMElo` and
    /// `NAMEup`.
    fn is_row(&self, name: &str) -> bool {
        let half = name.strip_suffix("lo").or_else(|| name.strip_suffix("up"));
        self.rows.contains(name) || half.is_some_and(|half| self.rows.contains(half))
    }
}

/// A point of the model.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Point {
    /// One value per column; values of integer columns are whole.
    pub values: Vec<f64>,
    /// Number of columns that the file leaves out and whose value is taken as zero.
    pub left_out: usize,
    /// Largest change of a value when it was rounded to a whole number.
    pub rounded_by: f64,
    /// Objective of the model at this point.
    pub objective: f64,
}

/// Reads a point from a file.
///
/// # Errors
/// A file without a point, names that the model does not have, columns without a value or with two, and every bound or
/// row that the point breaks. With `strict`, columns that the file leaves out are a problem too.
pub(super) fn point(
    file: &SolutionFile,
    model: &Model,
    names: &PointNames<'_>,
    strict: bool,
) -> Result<Point, Problems> {
    if let Some(none) = &file.no_point {
        return Err(Problem::new(
            format!("line {}", none.line),
            format!("{} says '{}', so the file has no feasible point", file.dialect.solver(), none.what),
            "give the solver more time, or run `lightbay solve` to see why no plan exists",
        )
        .into());
    }
    let given = assigned(file, names)?;
    let left_out = given.iter().filter(|value| value.is_none()).count();
    if left_out > 0 && (strict || !file.dialect.omits_zeros()) {
        return Err(missing(file.dialect, &given, model, names, strict).into());
    }
    let mut values: Vec<f64> = given.into_iter().map(Option::unwrap_or_default).collect();
    let mut rounded_by = 0.0_f64;
    for (value, domain) in values.iter_mut().zip(&model.domains) {
        let off = (*value - value.round()).abs();
        if matches!(domain, Domain::Integer | Domain::SemiInteger) && off <= WHOLE {
            rounded_by = rounded_by.max(off);
            *value = value.round();
        }
    }
    let tolerance = if file.dialect.coarse() { COARSE } else { TOLERANCE };
    if let Some(broken) = model.first_broken(&values, tolerance) {
        let remedy = match file.dialect {
            dialect if dialect.coarse() => {
                "this style keeps only six digits; let HiGHS write the raw style (write_solution_style=0)"
            }
            _ => "check that the file is a solution of this model, solved with tolerances of 1e-6",
        };
        return Err(
            Problem::new("", format!("the point does not satisfy the model: {broken}"), remedy).into()
        );
    }
    let objective = model.objective(&values);
    if let Some(claimed) = &file.objective {
        // GLPK reads the constant of an MPS objective with the opposite sign.
        let turned = objective - 2.0 * model.offset;
        let glpk =
            file.dialect == Dialect::Glpk && agree(claimed.what, claimed.line, turned, tolerance).is_ok();
        if !glpk {
            agree(claimed.what, claimed.line, objective, tolerance)?;
        }
    }
    Ok(Point { values, left_out, rounded_by, objective })
}

/// Returns the value of each column that the file names.
fn assigned(file: &SolutionFile, names: &PointNames<'_>) -> Result<Vec<Option<f64>>, Problems> {
    let index: BTreeMap<&str, usize> =
        names.columns.iter().enumerate().map(|(column, name)| (*name, column)).collect();
    let mut values = vec![None; names.columns.len()];
    let mut lines = vec![0; names.columns.len()];
    let mut problems = Problems::new();
    for entry in &file.entries {
        let path = format!("line {}", entry.line);
        let column = match &entry.key {
            Key::Place(place) => Some(*place).filter(|place| *place < values.len()),
            Key::Name(name) => index.get(name.as_str()).copied(),
        };
        let Some(column) = column else {
            match &entry.key {
                Key::Place(place) => problems.push(beyond(entry.line, *place, values.len())),
                Key::Name(name) if file.dialect.mixes_rows() && names.is_row(name) => {}
                Key::Name(name) => {
                    let near = nearest(name, names.columns.iter().copied().take(NEAREST_OF));
                    let remedy = near.map_or_else(
                        || "check that the file is a solution of this model".to_owned(),
                        |near| {
                            format!("did you mean '{near}'? check that the file is a solution of this model")
                        },
                    );
                    problems.add(path, format!("the model has no column '{name}'"), remedy);
                }
            }
            continue;
        };
        if values[column].is_some() {
            problems.add(
                path,
                format!(
                    "gives '{}' a second value, {}",
                    names.columns[column],
                    ParamValue::Float(entry.value)
                ),
                format!("line {} gives the first value; let the solver write the file again", lines[column]),
            );
        }
        values[column] = Some(entry.value);
        lines[column] = entry.line;
    }
    problems.into_result(values)
}

/// Returns the problem of a column number that the model does not have.
pub(super) fn beyond(line: usize, place: usize, columns: usize) -> Problem {
    Problem::new(
        format!("line {line}"),
        format!("gives a value to column {}, but the model has {columns} columns", place + 1),
        "check that the file is a solution of this model",
    )
}

/// Maximum number of columns that are compared with a misspelt name; comparing with all columns of a large model would
/// take long.
const NEAREST_OF: usize = 2000;

fn missing(
    dialect: Dialect,
    given: &[Option<f64>],
    model: &Model,
    names: &PointNames<'_>,
    strict: bool,
) -> Problem {
    let absent: Vec<usize> = (0..given.len()).filter(|column| given[*column].is_none()).collect();
    let first = absent.first().copied().unwrap_or_default();
    let message = format!(
        "has no value for {}, the first of them '{}' ({})",
        counted(absent.len() as u64, "column", "columns"),
        names.columns[first],
        model.column_names[first]
    );
    let remedy = if strict && dialect.omits_zeros() {
        format!("{} leaves out zeros; without --strict, missing values are taken as zero", dialect.solver())
    } else {
        "the file is cut short, or it is the solution of another model".to_owned()
    };
    Problem::new("", message, remedy)
}

fn agree(claimed: f64, line: usize, objective: f64, tolerance: f64) -> Result<(), Problem> {
    let slack = tolerance * claimed.abs().max(objective.abs()) + OBJECTIVE_ABSOLUTE;
    if (claimed - objective).abs() <= slack {
        return Ok(());
    }
    Err(Problem::new(
        format!("line {line}"),
        format!("the file claims the objective {claimed}, but its values give {objective}"),
        "check that the file is the complete solution of this model",
    ))
}
