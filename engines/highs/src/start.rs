//! Checks starts and converts them into the form that HiGHS accepts.
//!
//! HiGHS fixes the given integer values and solves for the remaining columns before the actual search. HiGHS would also
//! fix a value outside the bounds of its column, and solving for the remaining columns takes seconds without benefit if
//! few values are given. If a start contains such a value, or too few values, this module therefore rejects it and
//! gives the reason.

use crate::model::{Domain, Model};
use crate::solution::Start;

/// Tolerance on bounds and integrality that HiGHS uses for integer models.
const TOLERANCE: f64 = 1e-6;

/// A start in the form that HiGHS accepts.
#[derive(Clone, Debug, PartialEq)]
pub enum Given {
    /// One value per column.
    Full(Vec<f64>),
    /// Some columns and their values.
    Partial(Vec<u32>, Vec<f64>),
}

/// Returns the start in the form for HiGHS; `None` if no start is given.
///
/// # Errors
/// The reason that the start is rejected.
pub fn prepare(model: &Model, start: &Start, min_share: f64) -> Result<Option<Given>, String> {
    let given = match start {
        Start::None => return Ok(None),
        Start::Full(values) => {
            if values.len() != model.columns() {
                return Err(format!(
                    "it has {} values, but the model has {} columns",
                    values.len(),
                    model.columns()
                ));
            }
            check(model, values.iter().copied().enumerate())?;
            Given::Full(values.clone())
        }
        Start::Partial(_) if !model.is_mip() => {
            return Err("a linear program needs a start value for every column, or a basis".to_owned());
        }
        Start::Partial(pairs) => {
            let mut pairs = pairs.clone();
            pairs.sort_by_key(|(column, _)| *column);
            if let Some(twice) = pairs.windows(2).find(|pair| pair[0].0 == pair[1].0) {
                return Err(match model.column_names.get(twice[0].0 as usize) {
                    Some(name) => format!("it names '{name}' twice"),
                    None => format!("it names column {} twice", twice[0].0),
                });
            }
            check(model, pairs.iter().map(|(column, value)| (*column as usize, *value)))?;
            let (columns, values): (Vec<u32>, Vec<f64>) = pairs.into_iter().unzip();
            Given::Partial(columns, values)
        }
    };
    let whole = |column: usize| matches!(model.domains[column], Domain::Integer | Domain::SemiInteger);
    let integers = (0..model.columns()).filter(|column| whole(*column)).count();
    let fits = |column: usize, value: f64| whole(column) && (value - value.round()).abs() <= TOLERANCE;
    let named = match &given {
        Given::Full(values) => {
            values.iter().enumerate().filter(|(column, value)| fits(*column, **value)).count()
        }
        Given::Partial(columns, values) => {
            columns.iter().zip(values).filter(|(column, value)| fits(**column as usize, **value)).count()
        }
    };
    if integers > 0 && (named as f64) < min_share * integers as f64 {
        return Err(format!(
            "it gives whole values to {named} of {integers} integer columns, but at least {:.0} are required",
            (min_share * integers as f64).ceil()
        ));
    }
    Ok(Some(given))
}

fn check(model: &Model, mut values: impl Iterator<Item = (usize, f64)>) -> Result<(), String> {
    let wrong = values.find_map(|(column, value)| {
        let Some(name) = model.column_names.get(column) else {
            return Some(format!("it names column {column}, but the model has {} columns", model.columns()));
        };
        if !value.is_finite() {
            return Some(format!("'{name}' is {value}"));
        }
        let zero =
            matches!(model.domains[column], Domain::SemiContinuous | Domain::SemiInteger) && value == 0.0;
        if zero {
            None
        } else if value < model.lower[column] - TOLERANCE {
            Some(format!("'{name}' is {value}, below its lower bound {}", model.lower[column]))
        } else if value > model.upper[column] + TOLERANCE {
            Some(format!("'{name}' is {value}, above its upper bound {}", model.upper[column]))
        } else {
            None
        }
    });
    wrong.map_or(Ok(()), Err)
}
