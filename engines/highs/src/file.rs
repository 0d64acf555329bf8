//! Models as files of other solvers: MPS, written by HiGHS itself, and the LP format in a dialect that other solvers
//! read in the same way. HiGHS reads both.
//!
//! Names in such files cannot contain spaces or special characters, so this module rewrites the names of the model, and
//! a [`NameMap`] restores them. The formats lose a few details: numbers in MPS files have only 15 digits, and rows
//! without bounds are left out. The LP format writes a row with two bounds as two rows, and the constant of the
//! objective as a column; [`NameMap::restore`] undoes these two changes.

mod lp;

pub use lp::CONSTANT;

use crate::error::Error;
use crate::model::{Model, Row};
use crate::raw::Highs;
use crate::settings::Settings;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::io::Write as _;

/// A format of model files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ModelFormat {
    /// MPS, free format: read by every solver.
    Mps,
    /// The LP format: reads like algebra.
    Lp,
}

impl ModelFormat {
    /// Returns the ending of the names of files in this format.
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Mps => "mps",
            Self::Lp => "lp",
        }
    }
}

/// A name in a file and the name in the model that it replaces.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Name {
    /// The name in the file.
    pub file: String,
    /// The name in the model.
    pub words: String,
}

/// Maps the names in a file to the names in the model; columns and rows are in the order of the model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NameMap {
    /// Names of the columns.
    pub columns: Vec<Name>,
    /// Names of the rows.
    pub rows: Vec<Name>,
    /// `true` if the file has [`CONSTANT`] as last column, for the constant of the objective.
    pub constant: bool,
}

/// A model as a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelFile {
    /// Content of the file.
    pub text: Vec<u8>,
    /// Map from the names in the file to the original names.
    pub names: NameMap,
}

/// Writes a model.
///
/// # Errors
/// If the model is invalid, or the format cannot express it: crossed bounds, and in the LP format columns that may also
/// be zero outside their bounds.
pub fn write(model: &Model, format: ModelFormat) -> Result<ModelFile, Error> {
    model.check()?;
    let crossed = |lower: &[f64], upper: &[f64]| lower.iter().zip(upper).position(|(low, up)| low > up);
    if let Some(column) = crossed(&model.lower, &model.upper) {
        let name = &model.column_names[column];
        return Err(Error::File(format!(
            "the lower bound of '{name}' is above its upper bound, which no model format can express"
        )));
    }
    if let Some(row) = crossed(&model.row_lower, &model.row_upper) {
        let name = &model.row_names[row];
        return Err(Error::File(format!(
            "the lower bound of '{name}' is above its upper bound, which no model format can express"
        )));
    }
    let names = NameMap {
        columns: spell(&model.column_names, 'c'),
        rows: spell(&model.row_names, 'r'),
        constant: format == ModelFormat::Lp && lp::needs_constant(model),
    };
    if format == ModelFormat::Lp {
        return Ok(ModelFile { text: lp::text(model, &names)?.into_bytes(), names });
    }
    let mut model = model.clone();
    let idle = idle(&model);
    if !idle.is_empty() {
        // Without this row, columns that occur in no row would lose integrality or inherit it from their neighbours;
        // readers drop a row without bounds.
        let columns = idle.iter().map(|column| (crate::model::Column(*column), 1.0));
        model.row("unused", f64::NEG_INFINITY, f64::INFINITY, columns.collect::<Vec<_>>());
    }
    let mut highs = Highs::new()?;
    Settings::new(&mut highs)?;
    highs.pass(&model)?;
    for (column, name) in names.columns.iter().enumerate() {
        highs.name_column(column as i32, &name.file)?;
    }
    for (row, name) in names.rows.iter().enumerate() {
        highs.name_row(row as i32, &name.file)?;
    }
    if names.rows.len() < model.rows() {
        highs.name_row(names.rows.len() as i32, "unused_columns")?;
    }
    let file = temporary(format)?;
    let path = file
        .path()
        .to_str()
        .ok_or_else(|| Error::File("the path of the temporary folder is not valid UTF-8".to_owned()))?;
    if !highs.write_model(path)? && model.rows() > 0 && model.columns() > 0 {
        // A warning means that HiGHS replaced our names by its own, or that a model without rows has no names.
        return Err(Error::File("the solver cannot write the names of this model".to_owned()));
    }
    let text = std::fs::read(file.path()).map_err(|error| Error::File(error.to_string()))?;
    Ok(ModelFile { text, names })
}

/// Reads a model. Names of columns and rows are taken from the file; columns and rows without a name are called `c` or
/// `r` followed by their position.
///
/// # Errors
/// If the text is not a model in this format, or has no columns.
pub fn read(text: &[u8], format: ModelFormat) -> Result<Model, Error> {
    let mut file = temporary(format)?;
    file.write_all(text).and_then(|()| file.flush()).map_err(|error| Error::File(error.to_string()))?;
    let path = file
        .path()
        .to_str()
        .ok_or_else(|| Error::File("the path of the temporary folder is not valid UTF-8".to_owned()))?;
    let mut highs = Highs::new()?;
    Settings::new(&mut highs)?;
    let extension = format.extension();
    highs
        .read_model(path)
        .map_err(|_| Error::File(format!("the text is not a model in {extension} format")))?;
    let mut model = highs.model()?;
    if model.columns() == 0 {
        // The LP reader accepts any text as an empty model.
        return Err(Error::File(format!(
            "the model has no columns; check that the file is in {extension} format"
        )));
    }
    for (names, letter) in [(&mut model.column_names, 'c'), (&mut model.row_names, 'r')] {
        for (position, name) in names.iter_mut().enumerate().filter(|(_, name)| name.is_empty()) {
            *name = format!("{letter}{position}");
        }
    }
    "model".clone_into(&mut model.name);
    model.check()?;
    Ok(model)
}

fn temporary(format: ModelFormat) -> Result<tempfile::NamedTempFile, Error> {
    tempfile::Builder::new()
        .prefix("lightbay-")
        .suffix(&format!(".{}", format.extension()))
        .tempfile()
        .map_err(|error| Error::File(error.to_string()))
}

/// Returns the columns that have no cost and occur in no row.
fn idle(model: &Model) -> Vec<u32> {
    let mut used = vec![false; model.columns()];
    for (index, value) in model.indices.iter().zip(&model.values) {
        used[*index as usize] |= *value != 0.0;
    }
    (0..model.columns() as u32)
        .filter(|column| !used[*column as usize] && model.costs[*column as usize] == 0.0)
        .collect()
}

/// Names that a column or row of the model must not have in a file, in lower case: the keywords of all dialects of the
/// LP format, and the names of the columns and rows that this module adds.
const RESERVED: [&str; 36] = [
    "min",
    "max",
    "minimize",
    "maximize",
    "minimise",
    "maximise",
    "minimum",
    "maximum",
    "obj",
    "cost",
    "st",
    "subject",
    "such",
    "to",
    "that",
    "bounds",
    "bound",
    "free",
    "inf",
    "infinity",
    "bin",
    "binary",
    "binaries",
    "int",
    "integer",
    "integers",
    "gen",
    "general",
    "generals",
    "semi",
    "semis",
    "sos",
    "end",
    lp::CONSTANT,
    lp::NO_ROW,
    "s_t",
];

/// Maximum length of the kept part of a name: CBC accepts at most 100 characters, and a letter and a number may be
/// added.
const LONGEST: usize = 88;

/// Makes names that are valid in both formats and differ even if case is ignored.
fn spell(words: &[String], letter: char) -> Vec<Name> {
    let mut taken: HashSet<String> = HashSet::with_capacity(words.len());
    words
        .iter()
        .enumerate()
        .map(|(position, words)| {
            let mut file = String::with_capacity(words.len());
            for sign in words.chars().take(LONGEST) {
                if sign.is_ascii_alphanumeric() {
                    file.push(sign);
                } else if !file.ends_with('_') {
                    file.push('_');
                }
            }
            let mut file = file.trim_matches('_').to_owned();
            // `e5` would be read as a number, and `xlo` as half of a row with two bounds.
            let first = file.chars().next();
            if !first.is_some_and(|first| first.is_ascii_alphabetic() && !matches!(first, 'e' | 'E')) {
                file = if file.is_empty() { letter.to_string() } else { format!("{letter}_{file}") };
            }
            let lower = file.to_ascii_lowercase();
            if RESERVED.contains(&lower.as_str()) || lower.ends_with("lo") || lower.ends_with("up") {
                file.push('_');
            }
            if taken.contains(&file.to_ascii_lowercase()) {
                file = format!("{file}_{position}");
                while taken.contains(&file.to_ascii_lowercase()) {
                    file.push('_');
                }
            }
            taken.insert(file.to_ascii_lowercase());
            Name { file, words: words.clone() }
        })
        .collect()
}

impl NameMap {
    /// Returns the position of each column, by the name of the column in the file.
    fn columns_by_name(&self) -> HashMap<&str, u32> {
        self.columns.iter().enumerate().map(|(column, name)| (name.file.as_str(), column as u32)).collect()
    }

    /// Restores the written model from a model that was read: names, order of columns and rows, rows with two bounds,
    /// and the constant. Columns and rows that are not in the map keep their names and come last.
    pub fn restore(&self, read: &Model) -> Model {
        let read = &lp::with_constant(read);
        let known = self.columns_by_name();
        let mut order: Vec<usize> = (0..read.columns()).collect();
        let place = |column: usize| known.get(read.column_names[column].as_str()).copied();
        order.sort_by_key(|column| place(*column).map_or((1, *column), |at| (0, at as usize)));
        let mut model = Model::new(read.name.clone());
        model.maximise = read.maximise;
        model.offset = read.offset;
        let mut columns = vec![crate::model::Column(0); read.columns()];
        for column in order {
            let name = match place(column) {
                Some(at) => &self.columns[at as usize].words,
                None => &read.column_names[column],
            };
            columns[column] = model.column_of(
                read.domains[column],
                name,
                read.lower[column],
                read.upper[column],
                read.costs[column],
            );
        }
        // Row of the map, and whether the read row is its lower or upper half.
        let known: HashMap<&str, usize> =
            self.rows.iter().enumerate().map(|(row, name)| (name.file.as_str(), row)).collect();
        let mut rows: Vec<(usize, usize)> = (0..read.rows())
            .map(|row| {
                let name = read.row_names[row].as_str();
                let half = name.strip_suffix("lo").or_else(|| name.strip_suffix("up"));
                let at = known.get(name).or_else(|| known.get(half?));
                (at.copied().unwrap_or(self.rows.len() + row), row)
            })
            .collect();
        rows.sort_unstable();
        let mut last = None;
        for (at, row) in rows {
            let (lower, upper) = (read.row_lower[row], read.row_upper[row]);
            if last == Some(at) {
                let end = model.rows() - 1;
                model.row_lower[end] = model.row_lower[end].max(lower);
                model.row_upper[end] = model.row_upper[end].min(upper);
                continue;
            }
            last = Some(at);
            let name = self.rows.get(at).map_or(&read.row_names[row], |name| &name.words);
            let terms: Vec<_> =
                read.terms(Row(row as u32)).map(|(column, value)| (columns[column.index()], value)).collect();
            model.row(name, lower, upper, terms);
        }
        if let Some(part) = &read.quadratic {
            let mut entries: Vec<(u32, u32, f64)> = Vec::with_capacity(part.values.len());
            for column in 0..part.starts.len() {
                let from = part.starts[column] as usize;
                let to = part.starts.get(column + 1).map_or(part.indices.len(), |start| *start as usize);
                for entry in from..to {
                    let (one, other) = (columns[part.indices[entry] as usize].0, columns[column].0);
                    entries.push((one.min(other), one.max(other), part.values[entry]));
                }
            }
            model.set_quadratic(entries);
        }
        model
    }
}
