//! Reasons that a model is infeasible: rows and bounds that conflict.

use crate::error::Error;
use crate::instance::Instance;
use crate::model::{Domain, Model, Row};
use crate::raw::{Highs, Subsystem};
use crate::settings::Settings;
use crate::solution::Status;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Bounds of a row or column that take part in a conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Sides {
    /// No bound: the row or column takes part only through its coefficients.
    Neither,
    /// The lower bound.
    Lower,
    /// The upper bound.
    Upper,
    /// Both bounds.
    Both,
}

/// A row or column in conflict.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Party {
    /// Position of the row or column.
    pub index: u32,
    /// Name of the row or column.
    pub name: String,
    /// Bounds of the row or column that take part.
    pub sides: Sides,
    /// Lower bound of the row or column.
    pub lower: f64,
    /// Upper bound of the row or column.
    pub upper: f64,
}

/// Rows and bounds that conflict. If `minimal` is true, the rest no longer conflicts when any one of these rows or
/// bounds is removed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Conflict {
    /// The conflicting rows.
    pub rows: Vec<Party>,
    /// The columns whose bounds are part of the conflict.
    pub columns: Vec<Party>,
    /// `true` if the linear relaxation is infeasible; otherwise the conflict depends on integer columns.
    pub relaxed: bool,
    /// `true` if the conflict needs every one of the rows and bounds.
    pub minimal: bool,
}

/// Maximum number of constraints that [`sentence`] names.
const MOST_NAMED: usize = 8;

/// Returns a sentence that names the conflicting constraints: "A cannot hold", "A and B cannot both hold", "A, B and C
/// cannot all hold". `words` are the constraints in terms of the problem; repeated constraints count once.
pub fn sentence(words: impl IntoIterator<Item = String>, conflict: &Conflict) -> String {
    let mut named: Vec<String> = Vec::new();
    for word in words {
        if !named.contains(&word) {
            named.push(word);
        }
    }
    let more = named.len().saturating_sub(MOST_NAMED);
    named.truncate(MOST_NAMED);
    if more > 0 {
        named.push(format!("{more} more constraints"));
    }
    let end = match named.len() {
        0 | 1 => "cannot hold",
        2 => "cannot both hold",
        _ => "cannot all hold",
    };
    let last = named.pop().unwrap_or_default();
    let list = if named.is_empty() { last } else { format!("{} and {last}", named.join(", ")) };
    let whole = if conflict.relaxed { "" } else { " in whole numbers" };
    let part = if conflict.minimal { "" } else { " (a subset of these may already conflict)" };
    format!("{list} {end}{whole}{part}")
}

impl fmt::Display for Party {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.name;
        match self.sides {
            _ if self.lower == self.upper => write!(f, "{name} = {}", self.lower),
            Sides::Neither => f.write_str(name),
            Sides::Lower => write!(f, "{name} >= {}", self.lower),
            Sides::Upper => write!(f, "{name} <= {}", self.upper),
            Sides::Both => write!(f, "{} <= {name} <= {}", self.lower, self.upper),
        }
    }
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parties = self.rows.iter().chain(&self.columns);
        for (position, party) in parties.enumerate() {
            if position > 0 {
                f.write_str("; ")?;
            }
            party.fmt(f)?;
        }
        if self.relaxed { Ok(()) } else { f.write_str(" (in whole numbers)") }
    }
}

/// Searches for the rows and bounds that make a model infeasible, for at most about `seconds` in the linear relaxation
/// and as long again in the integer model; `None` if it finds no conflict.
///
/// Examines the linear relaxation first. If the relaxation is feasible and the model has integer columns, removes rows
/// one after another.
///
/// # Errors
/// If the model is invalid or the solver fails.
pub fn conflict_of(model: &Model, seconds: f64) -> Result<Option<Conflict>, Error> {
    model.check()?;
    if let Some(alone) = broken_by_itself(model) {
        return Ok(Some(alone));
    }
    let mut relaxed = model.clone();
    relaxed.quadratic = None;
    relaxed.costs.fill(0.0);
    for column in 0..relaxed.columns() {
        // A semi-continuous column may also be 0, outside its range.
        if matches!(relaxed.domains[column], Domain::SemiContinuous | Domain::SemiInteger) {
            relaxed.lower[column] = relaxed.lower[column].min(0.0);
            relaxed.upper[column] = relaxed.upper[column].max(0.0);
        }
        relaxed.domains[column] = Domain::Continuous;
    }
    let mut highs = Highs::new()?;
    Settings::new(&mut highs)?;
    // Strategy: start from an elastic linear program and reduce it to an irreducible subsystem.
    highs.set_int("iis_strategy", highs_sys::kHighsIisStrategyFromLpRowPriority)?;
    highs.set_float("iis_time_limit", seconds)?;
    highs.set_bool("output_flag", false)?;
    highs.pass(&relaxed)?;
    if let Some(subsystem) = highs.subsystem()? {
        return Ok(Some(named(model, &subsystem)));
    }
    if !model.is_mip() {
        return Ok(None);
    }
    in_whole_numbers(model, seconds)
}

/// Finds a row that contains no columns, so that its value is zero, but whose bounds exclude zero. HiGHS does not
/// search for conflicts in a model without columns.
fn broken_by_itself(model: &Model) -> Option<Conflict> {
    let rows = 0..model.rows() as u32;
    let mut bare = rows.filter(|row| model.terms(Row(*row)).next().is_none());
    bare.find_map(|index| {
        let at = index as usize;
        let (lower, upper) = (model.row_lower[at], model.row_upper[at]);
        let sides = match (lower > 0.0, upper < 0.0) {
            (false, false) => return None,
            (true, false) => Sides::Lower,
            (false, true) => Sides::Upper,
            (true, true) => Sides::Both,
        };
        let party = Party { index, name: model.row_names[at].clone(), sides, lower, upper };
        Some(Conflict { rows: vec![party], columns: Vec::new(), relaxed: true, minimal: true })
    })
}

fn named(model: &Model, subsystem: &Subsystem) -> Conflict {
    let sides = |number: i32| match number {
        highs_sys::kHighsIisBoundLower => Sides::Lower,
        highs_sys::kHighsIisBoundUpper => Sides::Upper,
        highs_sys::kHighsIisBoundBoxed => Sides::Both,
        _ => Sides::Neither,
    };
    let party = |(index, bound): &(u32, i32), names: &[String], lower: &[f64], upper: &[f64]| {
        let at = *index as usize;
        let name = names[at].clone();
        Party { index: *index, name, sides: sides(*bound), lower: lower[at], upper: upper[at] }
    };
    let rows =
        subsystem.rows.iter().map(|row| party(row, &model.row_names, &model.row_lower, &model.row_upper));
    let columns =
        subsystem.columns.iter().map(|column| party(column, &model.column_names, &model.lower, &model.upper));
    Conflict {
        rows: rows.collect(),
        columns: columns.filter(|party| party.sides != Sides::Neither).collect(),
        relaxed: true,
        minimal: true,
    }
}

/// Removes rows while the remaining integer model stays infeasible; returns the remaining rows as the conflict. The
/// bounds of all columns apply too, but the conflict does not list them.
fn in_whole_numbers(model: &Model, seconds: f64) -> Result<Option<Conflict>, Error> {
    let began = std::time::Instant::now();
    let mut model_left = model.clone();
    model_left.costs.fill(0.0);
    model_left.quadratic = None;
    let infeasible = |model: &Model, left: f64| -> Result<Option<bool>, Error> {
        let mut instance = Instance::new(model)?;
        instance.apply(&crate::options::Options::new().time_limit_s(left).set("output_flag", false))?;
        let solution = instance.run(&mut crate::event::NoListener)?;
        Ok(match solution.status {
            Status::Infeasible => Some(true),
            Status::Optimal | Status::Empty => Some(false),
            _ => None,
        })
    };
    let left = || seconds - began.elapsed().as_secs_f64();
    if infeasible(&model_left, seconds)? != Some(true) {
        return Ok(None);
    }
    let mut rows: Vec<u32> = (0..model.rows() as u32).collect();
    let mut minimal = true;
    // Removes half of the rows at once if possible, single rows at the end.
    let mut chunk = rows.len().div_ceil(2).max(1);
    loop {
        let mut from = 0;
        while from < rows.len() {
            if left() <= 0.0 {
                minimal = false;
                break;
            }
            let to = (from + chunk).min(rows.len());
            let mut without = model_left.clone();
            let gone: Vec<Row> = (from..to).map(|row| Row(row as u32)).collect();
            without.delete_rows(&gone);
            if infeasible(&without, left().max(0.01))? == Some(true) {
                rows.drain(from..to);
                model_left = without;
            } else {
                from = to;
            }
        }
        if chunk == 1 || !minimal {
            break;
        }
        chunk = chunk.div_ceil(2);
    }
    let parties = rows.iter().map(|row| {
        let (lower, upper) = (model.row_lower[*row as usize], model.row_upper[*row as usize]);
        let sides = match (lower.is_finite(), upper.is_finite()) {
            (true, true) => Sides::Both,
            (true, false) => Sides::Lower,
            (false, true) => Sides::Upper,
            (false, false) => Sides::Neither,
        };
        Party { index: *row, name: model.row_names[*row as usize].clone(), sides, lower, upper }
    });
    Ok(Some(Conflict { rows: parties.collect(), columns: Vec::new(), relaxed: false, minimal }))
}
