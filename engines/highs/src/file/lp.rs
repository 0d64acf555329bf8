//! The LP format in the dialect that HiGHS, SCIP, CBC and GLPK all read in the same way.
//!
//! CBC reads the short names of sections (`bin`, `gen`, `semi`) as variables and silently drops a constant in the
//! objective; GLPK rejects both. So sections have their long names and are never empty, the constant is the cost of a
//! column fixed at 1, the objective and the rows have at least one term, and columns under `Binaries` have no bounds.
//! The objective names every column, even those without cost, so that readers number the columns as in the model.

use super::NameMap;
use crate::error::Error;
use crate::model::{Domain, Model, Row};
use std::fmt::Write as _;

/// Name of the column of an LP file that is fixed at 1 and has the constant of the objective as its cost.
pub const CONSTANT: &str = "constant_term";
/// Name of the row that an LP file contains if the model has no rows.
pub(super) const NO_ROW: &str = "r_none";
/// Width in characters after which an expression continues on the next line: CBC and HiGHS read only lines of up to a
/// few hundred characters.
const WIDTH: usize = 100;

/// Writes a model whose bounds do not cross.
///
/// # Errors
/// A column that may also be zero outside its bounds.
pub(super) fn text(model: &Model, names: &NameMap) -> Result<String, Error> {
    let semi = |domain: &Domain| matches!(domain, Domain::SemiContinuous | Domain::SemiInteger);
    if let Some(column) = model.domains.iter().position(semi) {
        let (name, values) = (
            &model.column_names[column],
            if model.domains[column] == Domain::SemiInteger {
                "zero or a whole number"
            } else {
                "zero or between its bounds"
            },
        );
        return Err(Error::File(format!(
            "'{name}' is {values}, which the LP format of most solvers cannot express\nuse MPS"
        )));
    }
    let column = |column: usize| names.columns[column].file.as_str();
    let rows: Vec<usize> = rows(model).collect();
    let constant = names.constant;

    let mut out = WrappedText::default();
    out.line(if model.maximise { "Maximize" } else { "Minimize" });
    out.open(" obj:");
    for (index, cost) in model.costs.iter().enumerate() {
        out.term(*cost, column(index));
    }
    if constant {
        out.term(model.offset, CONSTANT);
    }
    quadratic(model, column, &mut out);
    out.close();

    out.line("Subject To");
    for &row in &rows {
        let (name, lower, upper) = (&names.rows[row].file, model.row_lower[row], model.row_upper[row]);
        let mut side = |end: &str, sign: &str, value: f64| {
            out.open(&format!(" {name}{end}:"));
            let mut terms = model.terms(Row(row as u32)).peekable();
            if terms.peek().is_none() {
                // A row without terms cannot be written.
                out.term(0.0, if model.columns() > 0 { column(0) } else { CONSTANT });
            }
            terms.for_each(|(at, value)| out.term(value, column(at.index())));
            out.close_with(&format!("{sign} {}", number(value)));
        };
        match (lower, upper) {
            _ if lower == upper => side("", "=", lower),
            (f64::NEG_INFINITY, _) => side("", "<=", upper),
            (_, f64::INFINITY) => side("", ">=", lower),
            _ => {
                side("lo", ">=", lower);
                side("up", "<=", upper);
            }
        }
    }
    if rows.is_empty() {
        out.line(&format!(" {NO_ROW}: {CONSTANT} = 1"));
    }

    let binary = |index: &usize| {
        model.domains[*index] == Domain::Integer && model.lower[*index] == 0.0 && model.upper[*index] == 1.0
    };
    let (binaries, others): (Vec<usize>, Vec<usize>) = (0..model.columns()).partition(|index| binary(index));
    let mut bounds: Vec<String> = others
        .iter()
        .filter_map(|index| bound(column(*index), model.lower[*index], model.upper[*index]))
        .collect();
    if constant {
        bounds.push(format!("{CONSTANT} = 1"));
    }
    let whole = others.iter().filter(|index| model.domains[**index] == Domain::Integer);
    let list = |columns: &mut dyn Iterator<Item = &usize>| -> Vec<String> {
        columns.map(|index| column(*index).to_owned()).collect()
    };
    let sections = [
        ("Bounds", bounds),
        ("Binaries", list(&mut binaries.iter())),
        ("Generals", list(&mut whole.into_iter())),
    ];
    for (title, lines) in sections.into_iter().filter(|(_, lines)| !lines.is_empty()) {
        out.line(title);
        for line in lines {
            out.line(&format!(" {line}"));
        }
    }
    out.line("End");
    Ok(out.text)
}

/// Iterates over the rows with a finite bound.
fn rows(model: &Model) -> impl Iterator<Item = usize> + '_ {
    let free =
        |row: usize| model.row_lower[row] == f64::NEG_INFINITY && model.row_upper[row] == f64::INFINITY;
    (0..model.rows()).filter(move |row| !free(*row))
}

/// Returns `true` if the file needs the column of the constant: the objective has a constant, or the model has no
/// columns, or no row with a finite bound.
pub(super) fn needs_constant(model: &Model) -> bool {
    model.offset != 0.0 || model.columns() == 0 || rows(model).next().is_none()
}

/// Writes the quadratic part: half of the sum over all entries of the matrix, of which the model stores only the lower
/// triangle.
fn quadratic<'n>(model: &Model, column: impl Fn(usize) -> &'n str, out: &mut WrappedText) {
    let Some(part) = &model.quadratic else { return };
    out.word(" + [");
    for (at, start) in part.starts.iter().enumerate() {
        let end = part.starts.get(at + 1).map_or(part.values.len(), |end| *end as usize);
        for entry in *start as usize..end {
            let (other, value) = (part.indices[entry] as usize, part.values[entry]);
            if other == at {
                out.term(value, &format!("{} ^2", column(at)));
            } else {
                out.term(2.0 * value, &format!("{} * {}", column(at), column(other)));
            }
        }
    }
    out.word(" ] / 2");
}

/// Returns the bounds of a column as text, if they differ from the defaults of the format (at least 0).
fn bound(name: &str, lower: f64, upper: f64) -> Option<String> {
    Some(match (lower, upper) {
        (f64::NEG_INFINITY, f64::INFINITY) => format!("{name} free"),
        _ if lower == upper => format!("{name} = {}", number(lower)),
        (0.0, f64::INFINITY) => return None,
        (0.0, _) => format!("{name} <= {}", number(upper)),
        (_, f64::INFINITY) => format!("{name} >= {}", number(lower)),
        (f64::NEG_INFINITY, _) => format!("-inf <= {name} <= {}", number(upper)),
        _ => format!("{} <= {name} <= {}", number(lower), number(upper)),
    })
}

/// Formats a number with all its digits, with an exponent if it would be long.
fn number(value: f64) -> String {
    // Zero is written without a sign, because not every reader accepts `- 0`.
    let value = if value == 0.0 { 0.0 } else { value };
    let size = value.abs();
    if size != 0.0 && !(1e-5..1e16).contains(&size) { format!("{value:e}") } else { format!("{value}") }
}

/// Text whose long expressions continue on further lines.
#[derive(Default)]
struct WrappedText {
    text: String,
    /// Start of the current line.
    start: usize,
    /// `true` if the expression has a term.
    begun: bool,
}

impl WrappedText {
    fn line(&mut self, text: &str) {
        self.text.push_str(text);
        self.close();
    }

    fn open(&mut self, text: &str) {
        self.text.push_str(text);
        self.begun = false;
    }

    fn word(&mut self, text: &str) {
        self.text.push_str(text);
        self.begun = !text.ends_with('[');
    }

    /// Writes a term with its sign; a leading plus is omitted.
    fn term(&mut self, factor: f64, name: &str) {
        if self.text.len() - self.start > WIDTH {
            self.text.push_str("\n  ");
            self.start = self.text.len();
        }
        let sign = match (factor < 0.0, self.begun) {
            (true, true) => "- ",
            (false, true) => "+ ",
            (true, false) => "-",
            (false, false) => "",
        };
        // Writing to a string cannot fail.
        let _ = write!(self.text, " {sign}{} {name}", number(factor.abs()));
        self.begun = true;
    }

    fn close_with(&mut self, text: &str) {
        self.text.push(' ');
        self.text.push_str(text);
        self.close();
    }

    fn close(&mut self) {
        self.text.push('\n');
        self.start = self.text.len();
    }
}

/// Returns the model with the column of the constant merged into its objective, without rows that contain only that
/// column.
pub(super) fn with_constant(read: &Model) -> Model {
    let Some(at) = read.column_names.iter().position(|name| name == CONSTANT) else { return read.clone() };
    let mut model = Model::new(read.name.clone());
    model.maximise = read.maximise;
    model.offset = read.offset + read.costs[at] * read.lower[at];
    let kept = |column: usize| column - usize::from(column > at);
    for column in (0..read.columns()).filter(|column| *column != at) {
        let (lower, upper) = (read.lower[column], read.upper[column]);
        model.column_of(read.domains[column], &read.column_names[column], lower, upper, read.costs[column]);
    }
    for row in 0..read.rows() {
        let terms: Vec<_> = read.terms(Row(row as u32)).collect();
        if read.row_names[row] == NO_ROW {
            continue;
        }
        let terms = terms
            .into_iter()
            .filter(|(column, _)| column.index() != at)
            .map(|(column, value)| (crate::model::Column(kept(column.index()) as u32), value));
        model.row(&read.row_names[row], read.row_lower[row], read.row_upper[row], terms.collect::<Vec<_>>());
    }
    if let Some(part) = &read.quadratic {
        let mut entries = Vec::with_capacity(part.values.len());
        for (column, start) in part.starts.iter().enumerate() {
            let end = part.starts.get(column + 1).map_or(part.values.len(), |end| *end as usize);
            entries.extend((*start as usize..end).map(|entry| {
                let row = kept(part.indices[entry] as usize);
                (row as u32, kept(column) as u32, part.values[entry])
            }));
        }
        model.set_quadratic(entries);
    }
    model
}
