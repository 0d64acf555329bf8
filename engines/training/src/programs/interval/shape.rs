//! Intervals of a model and the tasks that may use them, derived from a schedule that the model must contain.

use super::{Form, GoOn, Grid, IntervalModel, IntervalQuestion, Scope};
use crate::model::network::Network;
use crate::simulate::evaluate::Evaluator;
use crate::simulate::iteration::Trace;
use crate::simulate::windows::IndexWindows;
use lightbay_core::method::MethodError;
use lightbay_highs::model::Model;

/// Restriction of the intervals in which each task may be active.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pruning {
    /// Every task may be active in every interval.
    None,
    /// Tasks stay within the windows that the DAG implies.
    Dag,
    /// The windows that the DAG implies; in addition, tasks with successors stay within this many intervals of their
    /// intervals in a reference run (Alg. 1).
    Anchored(u32),
}

/// Settings for the shape of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Form of the model.
    pub form: Form,
    /// `true` if only tasks that compete with others get intervals (all tasks do if none competes); the durations of
    /// all other tasks follow from the circuits, which requires the rows of [`Form::cuts`].
    pub competing_only: bool,
    /// Restriction of the intervals in which each task may be active.
    pub pruning: Pruning,
    /// Number of intervals K; 0 uses two more than the reference schedule has, or as many as the reference schedule if
    /// `pruning` is `Anchored(0)`.
    pub intervals: u32,
}

/// Scenario and reference schedules that determine the shape of a model.
#[derive(Clone, Copy, Debug)]
pub struct ShapeSubject<'a> {
    /// Input of the model that does not depend on a schedule.
    pub scope: Scope<'a>,
    /// Circuits of the schedule to start from.
    pub circuits: &'a [u32],
    /// The schedule to start from.
    pub start: &'a Trace,
    /// The schedule around which windows are centred.
    pub anchor: &'a Trace,
}

impl<'a> ShapeSubject<'a> {
    /// Returns the request for a model that has a point for every schedule as good as the schedule to start from.
    pub fn question(&self, windows: &'a IndexWindows, form: Form) -> IntervalQuestion<'a> {
        IntervalQuestion { scope: self.scope, limit_s: self.start.makespan * (1.0 + ROOM), windows, form }
    }
}

/// A model with one of its points.
#[derive(Clone, Debug)]
pub struct Shaped {
    /// The written model.
    pub model: IntervalModel,
    /// The point of the starting schedule, or the row that the schedule breaks.
    pub point: Result<Vec<f64>, String>,
    /// Windows of the model.
    pub windows: IndexWindows,
    /// Number of intervals by which windows extend beyond the intervals of the reference schedule, if the windows are
    /// anchored to it.
    pub margin: Option<u32>,
    /// `true` if every schedule has a point: there are enough intervals, windows follow from the DAG only, and no
    /// circuits are fixed.
    pub complete: bool,
}

impl Shaped {
    /// Returns the point of a schedule if the point satisfies the rows of `model`, which is this model or a model with
    /// the same columns.
    ///
    /// # Errors
    /// The broken row, in words.
    pub fn point_of(
        &self,
        model: &Model,
        network: &Network,
        run: &Trace,
        circuits: &[u32],
    ) -> Result<Vec<f64>, String> {
        let counted: Vec<bool> = (0..network.tasks()).map(|task| self.windows.counts(task)).collect();
        Grid::of_trace(network, run, circuits, &counted)
            .and_then(|grid| self.model.point(network, &grid))
            .and_then(|point| unbroken(model, point))
    }
}

fn unbroken(model: &Model, point: Vec<f64>) -> Result<Vec<f64>, String> {
    match model.first_broken(&point, TOLERANCE) {
        Some(broken) => Err(broken.to_string()),
        None => Ok(point),
    }
}

/// Relative margin above the starting schedule within which the model searches for schedules. The limit must exceed the
/// starting schedule, because rounding could make a starting point at the limit infeasible.
const ROOM: f64 = 1e-6;

/// Maximum amount by which a starting point may break a row; the solver allows 1e-6.
const TOLERANCE: f64 = 5e-7;

impl Shape {
    /// Returns, for each task, `true` if it gets intervals.
    pub fn counted(&self, evaluator: &Evaluator) -> Vec<bool> {
        let contended = &evaluator.contention.contended;
        if self.competing_only && self.form.cuts && contended.contains(&true) {
            contended.clone()
        } else {
            vec![true; evaluator.network.tasks()]
        }
    }

    /// Writes the model. If the starting schedule does not fit, first the margin grows, then the number of intervals.
    ///
    /// # Errors
    /// The error of `go_on` while the model is written.
    pub fn write(&self, subject: ShapeSubject<'_>, go_on: &mut GoOn<'_>) -> Result<Shaped, MethodError> {
        let network = &subject.scope.evaluator.network;
        let counted = self.counted(subject.scope.evaluator);
        // The starting schedule determines the minimum number of intervals.
        let grid = Grid::of_trace(network, subject.start, subject.circuits, &counted);
        let needed = grid.as_ref().map_or(1, |grid| grid.intervals).max(1);
        // 2n - 1 intervals contain every schedule: n starts and n finishes have at most that many gaps.
        let enough = (2 * counted.iter().filter(|counted| **counted).count() as u32).saturating_sub(1).max(1);
        let pinned = self.pruning == Pruning::Anchored(0);
        let mut intervals = if self.intervals > 0 {
            self.intervals
        } else {
            let anchor = subject.anchor.event_times_among(&counted).len().saturating_sub(1).max(1) as u32;
            anchor.max(needed) + if pinned { 0 } else { 2 }
        };
        if self.intervals == 0 {
            intervals = intervals.min(enough.max(needed));
        }
        let mut pruning = self.pruning;
        let windows = loop {
            // Windows of Alg. 1; if the schedule does not fit, first the margin grows, then K.
            let windows = match pruning {
                Pruning::None => IndexWindows::open(&counted, intervals),
                Pruning::Dag => IndexWindows::among(network, &counted, intervals),
                Pruning::Anchored(margin) => {
                    IndexWindows::around(network, subject.anchor, &counted, margin, intervals)
                }
            };
            // Invariant at the end: the starting schedule is a point of the model, unless no margin can contain it.
            let fits = grid.as_ref().map_or(true, |grid| {
                grid.intervals <= intervals
                    && (0..counted.len()).filter(|task| counted[*task]).all(|task| {
                        grid.first[task] >= windows.first[task] && grid.last(task) <= windows.last[task]
                    })
            });
            if fits && windows.empty_window().is_none() {
                break windows;
            }
            match pruning {
                // Doubling reaches every margin in a few rounds.
                Pruning::Anchored(margin) if margin < intervals => {
                    pruning = Pruning::Anchored((2 * margin).max(1));
                }
                _ if intervals < needed => intervals = needed,
                _ if intervals < enough => intervals = (2 * intervals).min(enough),
                _ => break windows,
            }
        };
        // The model is written once, for the final windows.
        let model = IntervalModel::new(subject.question(&windows, self.form), go_on)?;
        let point =
            grid.and_then(|grid| model.point(network, &grid)).and_then(|point| unbroken(&model.model, point));
        // If every schedule has a point, a bound of the model is a bound of the scenario.
        let dag = IndexWindows::among(network, &counted, intervals);
        let wide = (0..counted.len())
            .all(|task| windows.first[task] <= dag.first[task] && windows.last[task] >= dag.last[task]);
        Ok(Shaped {
            complete: intervals >= enough && wide && subject.scope.fixed.is_none(),
            margin: match pruning {
                Pruning::Anchored(margin) => Some(margin),
                Pruning::None | Pruning::Dag => None,
            },
            model,
            point,
            windows,
        })
    }
}
