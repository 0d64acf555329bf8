//! The integer model over intervals of variable length (DELTA Eq. 3-18; docs/methods/training-exact.md, section 11).
//!
//! Time is cut at events into K intervals; in each of them every task is active or not and sends some volume. Circuits,
//! events, activities and volumes are decided together. Rates are constant within an interval, so the volumes and the
//! lengths of the intervals determine the rates. The unit of time is near a thousandth of the makespan; the unit of
//! volume is what one NIC sends in a unit of time.
//!
//! The model can be written as in the paper, or in stronger forms that make it solvable: tight bounds, unary instead of
//! binary circuit counts, durations and contention in terms of the selected count, and intervals only for tasks that
//! compete with others.

mod columns;
mod cuts;
mod grid;
mod names;
mod point;
mod rows;
mod shape;

pub use columns::Columns;
pub use grid::Grid;
pub use names::Names;
pub use shape::{Pruning, Shape, ShapeSubject, Shaped};

use crate::simulate::evaluate::Evaluator;
use crate::simulate::windows::{IndexWindows, Windows};
use lightbay_core::method::MethodError;
use lightbay_highs::model::{Column, Model};

/// Form of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form {
    /// `true` if active tasks of a link send equal volumes per flow (Eq. 17).
    pub fair: bool,
    /// `true` if bounds are derived from time windows instead of one large constant.
    pub tighten: bool,
    /// `true` if circuit counts are unary, with rows for durations and contention.
    pub cuts: bool,
}

/// Input of a model, without its intervals.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'a> {
    /// The scenario, prepared for evaluation.
    pub evaluator: &'a Evaluator,
    /// Names of links and tasks.
    pub names: &'a Names,
    /// Maximum number of circuits of every link.
    pub caps: &'a [u32],
    /// Fixed circuits, if any.
    pub fixed: Option<&'a [u32]>,
    /// Lower bound on the end of the iteration, seconds.
    pub least_s: f64,
}

/// Request for a model.
#[derive(Clone, Copy, Debug)]
pub struct IntervalQuestion<'a> {
    /// Input of the model, without its intervals.
    pub scope: Scope<'a>,
    /// Upper limit on the end of the iteration, seconds.
    pub limit_s: f64,
    /// Intervals of every task.
    pub windows: &'a IndexWindows,
    /// Form of the model.
    pub form: Form,
}

/// The model and the positions of its columns.
#[derive(Clone, Debug)]
pub struct IntervalModel {
    /// The model; its objective is the makespan in units.
    pub model: Model,
    /// Columns of the model.
    pub columns: Columns,
    /// Seconds per unit.
    pub unit_s: f64,
    windows: IndexWindows,
    form: Form,
}

/// Function that checks whether to stop; it is called with the number of rows written.
pub type GoOn<'g> = dyn FnMut(u64) -> Result<(), MethodError> + 'g;

/// Number of rows between two stop checks; writing them takes well under 5 ms.
const ASKED: u64 = 64;

/// State that the parts of the generator share.
struct Writer<'a> {
    ask: IntervalQuestion<'a>,
    go_on: &'a mut GoOn<'a>,
    model: Model,
    columns: Columns,
    /// Seconds per unit.
    unit: f64,
    /// Earliest start of each task, units; `lct` has the latest finishes.
    est: Vec<f64>,
    lct: Vec<f64>,
    /// Shortest duration of each task, units.
    tau: Vec<f64>,
    /// Latest end of the iteration, units: the large constant of the paper.
    limit: f64,
    /// Earliest and latest time of every event, units.
    earliest: Vec<f64>,
    latest: Vec<f64>,
}

impl IntervalModel {
    /// Writes the model.
    ///
    /// # Errors
    /// The error of `go_on`; it is called every 64 rows and every few columns.
    pub fn new<'a>(ask: IntervalQuestion<'a>, go_on: &'a mut GoOn<'a>) -> Result<Self, MethodError> {
        let mut writer = Writer::new(ask, go_on);
        // Columns first: rows refer to them by number.
        writer.columns()?;
        writer.circuits()?;
        writer.capacities()?;
        writer.activities()?;
        writer.times()?;
        if ask.form.fair {
            writer.fairness()?;
        }
        if ask.form.cuts {
            writer.cuts()?;
        }
        Ok(Self {
            model: writer.model,
            columns: writer.columns,
            unit_s: writer.unit,
            windows: ask.windows.clone(),
            form: ask.form,
        })
    }

    /// The same model for the second objective (Eq. 4): minimise ports at a makespan of at most `makespan_s`.
    pub fn fewest_ports(&self, evaluator: &Evaluator, makespan_s: f64) -> Model {
        // Lexicographic objectives in two solves: the first objective becomes a bound of its column, the second becomes
        // the objective.
        let mut model = self.model.clone();
        model.costs[self.columns.end.index()] = 0.0;
        model.upper[self.columns.end.index()] = makespan_s / self.unit_s;
        for (link, column) in self.columns.circuits.iter().enumerate() {
            model.costs[column.index()] = evaluator.network.budget.cost(link) as f64;
        }
        model
    }
}

impl<'a> Writer<'a> {
    fn new(ask: IntervalQuestion<'a>, go_on: &'a mut GoOn<'a>) -> Self {
        let network = &ask.scope.evaluator.network;
        let unit = unit_of(ask.limit_s);
        let windows = Windows::new(network, ask.limit_s);
        let scale = |times: Vec<f64>| -> Vec<f64> { times.into_iter().map(|time| time / unit).collect() };
        let mut writer = Self {
            model: Model::new(format!("circuits and schedule, times in {unit:e} s")),
            columns: Columns::new(),
            unit,
            est: scale(windows.est),
            lct: scale(windows.lct),
            tau: scale(network.tau.clone()),
            limit: ask.limit_s / unit,
            earliest: Vec::new(),
            latest: Vec::new(),
            ask,
            go_on,
        };
        writer.bound_events();
        writer
    }

    /// Adds rows: within its window, a task is active for at least its minimum duration `tau`, between its earliest
    /// start and its latest finish.
    // Window bounds instead of the paper's large constant: event k-1 is no later than the latest start of a task whose
    // window begins with interval k, and event k is no earlier than the earliest finish of a task whose window ends
    // with interval k.
    fn bound_events(&mut self) {
        let windows = self.ask.windows;
        let k = windows.intervals as usize;
        self.earliest = vec![0.0; k + 1];
        self.latest = vec![self.limit; k + 1];
        if !self.ask.form.tighten {
            return;
        }
        for task in (0..self.tau.len()).filter(|task| windows.counts(*task)) {
            let (first, last) = (windows.first[task] as usize, windows.last[task] as usize);
            // The task ends by event `last`, and no earlier than its earliest start plus its shortest duration.
            self.earliest[last] = self.earliest[last].max(self.est[task] + self.tau[task]);
            self.latest[first - 1] = self.latest[first - 1].min(self.lct[task] - self.tau[task]);
        }
        // Events are ordered, so bounds propagate forward and backward.
        for event in 1..=k {
            self.earliest[event] = self.earliest[event].max(self.earliest[event - 1]);
        }
        for event in (0..k).rev() {
            self.latest[event] = self.latest[event].min(self.latest[event + 1]);
        }
    }

    /// Maximum length of an interval (1-based), units.
    fn longest(&self, interval: u32) -> f64 {
        // Latest time of the last event of the interval minus earliest time of its first event; products with the
        // length use this bound.
        (self.latest[interval as usize] - self.earliest[interval as usize - 1]).max(0.0)
    }

    /// Checks whether to stop.
    fn go_on(&mut self) -> Result<(), MethodError> {
        (self.go_on)(self.model.row_lower.len() as u64)
    }

    /// Adds a row. No column may occur twice in `terms`; all rows of this model satisfy this condition.
    fn row(
        &mut self,
        name: String,
        lower: f64,
        upper: f64,
        terms: &[(Column, f64)],
    ) -> Result<(), MethodError> {
        if (self.model.row_lower.len() as u64).is_multiple_of(ASKED) {
            self.go_on()?;
        }
        let model = &mut self.model;
        model.starts.push(model.indices.len() as u32);
        // Rows are written directly into the arrays, because the model can have millions of entries.
        model.row_lower.push(lower);
        model.row_upper.push(upper);
        model.row_names.push(name);
        for (column, value) in terms.iter().filter(|(_, value)| *value != 0.0) {
            model.indices.push(column.0);
            model.values.push(*value);
        }
        Ok(())
    }

    fn at_most(&mut self, name: String, upper: f64, terms: &[(Column, f64)]) -> Result<(), MethodError> {
        self.row(name, f64::NEG_INFINITY, upper, terms)
    }

    fn at_least(&mut self, name: String, lower: f64, terms: &[(Column, f64)]) -> Result<(), MethodError> {
        self.row(name, lower, f64::INFINITY, terms)
    }

    fn equal(&mut self, name: String, value: f64, terms: &[(Column, f64)]) -> Result<(), MethodError> {
        self.row(name, value, value, terms)
    }
}

/// Unit of time of the model, seconds: 1e-3, or, if milliseconds would make numbers of the model very small or large,
/// the power of ten in which the makespan has three digits.
fn unit_of(limit_s: f64) -> f64 {
    if (0.005..=100.0).contains(&limit_s) || limit_s <= 0.0 || !limit_s.is_finite() {
        1e-3
    } else {
        10f64.powi(limit_s.log10().floor() as i32 - 2)
    }
}

#[cfg(test)]
mod tests;
