//! Bound that no plan can beat (docs/methods/crossconnect.md, section 8): the linear relaxation of the exact model over
//! all orientations, by column generation.
//!
//! Counting pairs of pods shows which circuits must be removed, but ignores that a new circuit needs a free A port and
//! a free B port on the same switch. The relaxation includes this constraint and is much closer to the optimum. Most of
//! its columns place a new circuit and stay 0. The restricted program therefore starts with the cells that keep
//! circuits and the cells of a known plan, and adds columns by their reduced costs. Every round yields a bound: by weak
//! duality, the optimum is at least the value of the restricted program plus, for each omitted column with a negative
//! reduced cost, this reduced cost times the upper bound of the column.
//!
//! The restricted program has the rows of the exact model and some of its columns, so it copies parts of the model's
//! arrays.

use crate::model::assignment::Assignment;
use crate::model::task::Task;
use crate::programs::exact::{ExactProgram, Orientation};
use lightbay_core::method::MethodError;
use lightbay_core::watch::Watch;
use lightbay_highs::instance::Instance;
use lightbay_highs::listener::RunListener;
use lightbay_highs::model::{Column, Model, Row};
use lightbay_highs::options::Options;
use lightbay_highs::solution::Status;

#[cfg(test)]
mod tests;

/// Maximum amount that the solver's tolerances may add to a bound, in circuits.
const SLIP: f64 = 1e-5;

/// Reduced cost below which a column can help.
const NEGATIVE: f64 = -1e-7;

/// Number of rows that are processed between two stop checks.
const ROWS_ASKED: u32 = 64;
/// Number of columns that are processed between two stop checks.
const COLUMNS_ASKED: usize = 4096;

/// Rounds a bound up to the next whole number, because removed circuits are whole.
pub fn whole(bound: f64) -> u64 {
    // Rounding up is valid because removals are whole; SLIP covers the solver's tolerances.
    (bound - SLIP).ceil().max(0.0) as u64
}

/// Bounds the removed circuits of all plans from below. `plan` is a solution of the task; the function calls `found`
/// with every better bound, stops when the plan meets the bound, and returns the best bound.
///
/// # Errors
/// The error of the watch or of `found`; [`MethodError::Failed`] if the solver fails.
pub fn relaxation<W: Watch>(
    task: &Task,
    plan: &Assignment,
    watch: &mut W,
    found: &mut dyn FnMut(&mut W, u64) -> Result<(), MethodError>,
) -> Result<u64, MethodError> {
    let program = ExactProgram::watched(task, Orientation::Joint, watch)?;
    let Some(point) = program.point(plan) else {
        return Err(MethodError::Failed("the plan to bound is not a solution of the scenario".to_owned()));
    };
    let removed = task.removed(plan);
    // The counting bound is known before; rounds continue only while they can raise the bound.
    let mut best = task.count_bound();
    let mut master = RestrictedProgram::new(program.model(), &point, watch)?;
    while best < removed {
        let round = master.round(watch)?;
        if whole(round.bound) > best {
            best = whole(round.bound).min(removed);
            found(watch, best)?;
        }
        // The value of the restricted program is an upper bound on the relaxation, so no round can prove a higher
        // bound.
        if round.complete || whole(round.value) <= best {
            break;
        }
    }
    Ok(best)
}

/// The restricted program, which has only some columns of the model.
struct RestrictedProgram<'m> {
    model: &'m Model,
    instance: Instance,
    /// Rows of every column of the model.
    rows: Vec<Vec<(Row, f64)>>,
    /// Columns of the model that the restricted program does not contain.
    outside: Vec<u32>,
}

/// Result of a round of column generation.
struct Round {
    /// Lower bound on the value of the relaxation.
    bound: f64,
    /// Value of the restricted program, an upper bound on the value of the relaxation.
    value: f64,
    /// `true` if no column can improve the restricted program.
    complete: bool,
}

fn failed(error: lightbay_highs::error::Error) -> MethodError {
    MethodError::Failed(error.to_string())
}

impl<'m> RestrictedProgram<'m> {
    fn new(model: &'m Model, point: &[f64], watch: &mut impl Watch) -> Result<Self, MethodError> {
        // Column-wise copy of the model for pricing.
        let mut rows = vec![Vec::new(); model.columns()];
        for row in 0..model.rows() as u32 {
            if row.is_multiple_of(ROWS_ASKED) {
                watch.checkpoint()?;
            }
            for (column, value) in model.terms(Row(row)) {
                rows[column.index()].push((Row(row), value));
            }
        }
        let mut first = Model::new(model.name.clone());
        first.offset = model.offset;
        let mut places = vec![None; model.columns()];
        let mut outside = Vec::new();
        for column in 0..model.columns() {
            if column.is_multiple_of(COLUMNS_ASKED) {
                watch.checkpoint()?;
            }
            // Includes columns of kept circuits, columns x in a row `y <= x` with a column of kept circuits, and
            // columns of the plan.
            let linked = rows[column].iter().any(|(_, value)| *value < 0.0);
            if model.costs[column] < 0.0 || linked || point[column] > 0.0 {
                let name = model.column_names[column].clone();
                let (upper, cost) = (model.upper[column], model.costs[column]);
                places[column] = Some(first.column(name, 0.0, upper, cost));
            } else {
                outside.push(column as u32);
            }
        }
        for row in 0..model.rows() {
            if (row as u32).is_multiple_of(ROWS_ASKED) {
                watch.checkpoint()?;
            }
            let terms = model.terms(Row(row as u32));
            let inside: Vec<(Column, f64)> =
                terms.filter_map(|(column, value)| places[column.index()].map(|at| (at, value))).collect();
            let (lower, upper) = (model.row_lower[row], model.row_upper[row]);
            first.row(model.row_names[row].clone(), lower, upper, inside);
        }
        // Simplex from the last basis; presolve would lose it.
        let mut instance = Instance::new(&first).map_err(failed)?;
        instance.apply(&Options::new().set("solver", "simplex").set("presolve", "off")).map_err(failed)?;
        Ok(Self { model, instance, rows, outside })
    }

    /// Solves the restricted program, adds the columns that can improve it, and returns the bounds of this round.
    fn round(&mut self, watch: &mut impl Watch) -> Result<Round, MethodError> {
        let mut listener = RunListener::new(watch);
        let solution = self.instance.run(&mut listener);
        listener.finish()?;
        let solution = solution.map_err(failed)?;
        let (Status::Optimal, Some(value)) = (solution.status, solution.objective) else {
            return Err(MethodError::Failed(format!(
                "the relaxation ended with status {:?}",
                solution.status
            )));
        };
        let duals = &solution.row_duals;
        // Reduced cost of a column outside the restricted program.
        let reduced = |column: u32| {
            let prices = self.rows[column as usize].iter().map(|(row, value)| value * duals[row.index()]);
            self.model.costs[column as usize] - prices.sum::<f64>()
        };
        let mut bound = value;
        let mut chosen: Vec<(f64, u32)> = Vec::new();
        // Lagrangian bound: each column outside could rise to its upper bound.
        for &column in &self.outside {
            let cost = reduced(column);
            if cost < 0.0 {
                bound += cost * self.model.upper[column as usize];
            }
            if cost < NEGATIVE {
                chosen.push((cost, column));
            }
        }
        // The columns with the lowest reduced cost come first; ties by number, so that runs are reproducible.
        chosen.sort_unstable_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
        // At most as many columns as rows, because more would slow the next solve without changing its basis.
        chosen.truncate(self.model.rows().max(100));
        let columns: Vec<(f64, Vec<(Row, f64)>)> = chosen
            .iter()
            .map(|&(_, column)| (self.model.costs[column as usize], self.rows[column as usize].clone()))
            .collect();
        if !columns.is_empty() {
            // The new columns need no upper bounds, because the rows imply them.
            self.instance.add_columns("new", 0.0, f64::INFINITY, &columns).map_err(failed)?;
        }
        let taken: std::collections::HashSet<u32> = chosen.iter().map(|(_, column)| *column).collect();
        self.outside.retain(|column| !taken.contains(column));
        Ok(Round { bound, value, complete: columns.is_empty() })
    }
}
