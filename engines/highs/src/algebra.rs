//! Models written in good_lp's algebra.
//!
//! good_lp's own HiGHS backend drops options, initial values and the constant of the objective, and pads missing
//! initial values with zero. This module therefore reads the variables and constraints before good_lp consumes them.

use crate::error::Error;
use crate::model::{Column, Model};
use crate::solution::Start;
use good_lp::IntoAffineExpression;
use rustc_hash::{FxBuildHasher, FxHashMap};

pub use good_lp::solvers::ObjectiveDirection;
pub use good_lp::{Constraint, Expression, ProblemVariables, Variable, constraint, variable};

/// A model made of good_lp's variables and constraints.
#[derive(Clone, Debug)]
pub struct Algebra {
    /// The model. Columns are in the order in which the variables were created.
    pub model: Model,
    /// The given initial values, of some or all columns.
    pub start: Start,
    columns: FxHashMap<Variable, Column>,
}

impl Algebra {
    /// Returns the column of a variable, if it belongs to this model.
    pub fn column(&self, variable: Variable) -> Option<Column> {
        self.columns.get(&variable).copied()
    }

    /// Returns the value of an expression at a point with one value per column. Variables of other models count as
    /// zero.
    pub fn value(&self, expression: impl IntoAffineExpression, point: &[f64]) -> f64 {
        let constant = expression.constant();
        let terms = expression.linear_coefficients().into_iter();
        constant
            + terms
                .filter_map(|(variable, factor)| Some(factor * point.get(self.column(variable)?.index())?))
                .sum::<f64>()
    }
}

impl Model {
    /// Makes a model from good_lp's variables, objective and constraints. Keeps bounds, integrality, names, initial
    /// values and the constant of the objective; unnamed rows and columns get names from their positions.
    ///
    /// # Errors
    /// If an expression names a variable that is not among `variables`, or contains NaN.
    pub fn from_good_lp(
        name: impl Into<String>,
        variables: &ProblemVariables,
        direction: ObjectiveDirection,
        objective: impl IntoAffineExpression,
        constraints: impl IntoIterator<Item = Constraint>,
    ) -> Result<Algebra, Error> {
        let mut model = Self::new(name);
        model.maximise = matches!(direction, ObjectiveDirection::Maximisation);
        let mut columns = FxHashMap::with_capacity_and_hasher(variables.len(), FxBuildHasher);
        let mut initial = Vec::new();
        for (variable, definition) in variables.iter_variables_with_def() {
            let position = model.columns();
            let name = match definition.get_name() {
                "" => format!("column {position}"),
                name => name.to_owned(),
            };
            let (lower, upper) = (definition.get_min(), definition.get_max());
            let column = if definition.is_integer() {
                model.integer(name, lower, upper, 0.0)
            } else {
                model.column(name, lower, upper, 0.0)
            };
            if let Some(value) = definition.get_initial() {
                initial.push((column.0, value));
            }
            columns.insert(variable, column);
        }
        let terms = |factors: Vec<(Variable, f64)>| -> Result<Vec<(Column, f64)>, Error> {
            let mut terms = factors
                .into_iter()
                .map(|(variable, factor)| match columns.get(&variable) {
                    Some(column) => Ok((*column, factor)),
                    None => Err(Error::Model("an expression names a variable of another model".to_owned())),
                })
                .collect::<Result<Vec<_>, _>>()?;
            // Terms are sorted, because they come from a hash table.
            terms.sort_by_key(|(column, _)| *column);
            Ok(terms)
        };
        model.offset = objective.constant();
        for (column, factor) in terms(objective.linear_coefficients().into_iter().collect())? {
            model.costs[column.index()] += factor;
        }
        for constraint in constraints {
            let expression = constraint.expression();
            let upper = -expression.constant();
            let lower = if constraint.is_equality() { upper } else { f64::NEG_INFINITY };
            let name = match constraint.name() {
                Some(name) => name.to_owned(),
                None => format!("row {}", model.rows()),
            };
            let terms = terms(expression.linear_coefficients().collect())?;
            model.row(name, lower, upper, terms);
        }
        model.check()?;
        let start = if initial.is_empty() {
            Start::None
        } else if initial.len() == model.columns() {
            Start::Full(initial.into_iter().map(|(_, value)| value).collect())
        } else {
            Start::Partial(initial)
        };
        Ok(Algebra { model, start, columns })
    }
}
