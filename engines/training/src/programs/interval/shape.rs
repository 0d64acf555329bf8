//! Intervals of a model and the tasks that may use them, from a run that the model is to contain.

use super::{Form, GoOn, Grid, IntervalModel, IntervalQuestion, Scope};
use crate::model::network::Network;
use crate::simulate::evaluate::Evaluator;
use crate::simulate::iteration::Trace;
use crate::simulate::windows::IndexWindows;
use lightbay_core::method::MethodError;
use lightbay_highs::model::Model;

/// Windows of interval indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pruning {
    /// Every task may be active in every interval.
    None,
    /// The windows that the DAG implies.
    Dag,
    /// The DAG, and tasks with successors within this many intervals of a reference run (Alg. 1).
    Anchored(u32),
}

/// Settings for the shape of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Form of the model.
    pub form: Form,
    /// `true` if only tasks that compete with others get intervals; the durations of the others follow from the
    /// circuits, which takes the rows of [`Form::cuts`].
    pub competing_only: bool,
    /// Windows of interval indices.
    pub pruning: Pruning,
    /// Number of intervals K; 0 takes those of the reference run and two more, or none more at margin 0.
    pub intervals: u32,
}

/// Scenario and runs that a model is shaped for.
#[derive(Clone, Copy, Debug)]
pub struct ShapeSubject<'a> {
    /// Subject of the model, known before a run.
    pub scope: Scope<'a>,
    /// Circuits of the run to start from.
    pub circuits: &'a [u32],
    /// The run to start from.
    pub start: &'a Trace,
    /// The run that windows are laid around.
    pub anchor: &'a Trace,
}

impl<'a> ShapeSubject<'a> {
    /// Returns the request for a model that has a point for every schedule as good as the run to start from.
    pub fn question(&self, windows: &'a IndexWindows, form: Form) -> IntervalQuestion<'a> {
        IntervalQuestion { scope: self.scope, limit_s: self.start.makespan * (1.0 + ROOM), windows, form }
    }
}

/// A model with a point of it.
#[derive(Clone, Debug)]
pub struct Shaped {
    /// The model.
    pub model: IntervalModel,
    /// The run it was asked to contain, as a point, or why it is none: the row it breaks.
    pub point: Result<Vec<f64>, String>,
    /// Windows as they became.
    pub windows: IndexWindows,
    /// Margin as it became, where there are anchors.
    pub margin: Option<u32>,
    /// `true` if every schedule has a point: enough intervals, and no windows but those of the DAG.
    pub complete: bool,
}

impl Shaped {
    /// The point of a run, or why it is none: the row that it breaks of `model`, which is this one or has the same
    /// columns.
    ///
    /// # Errors
    /// The row, in words.
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

/// Room above the run to start from within which the model looks for schedules, relative.
/// A start must lie strictly inside, or rounding makes it infeasible.
const ROOM: f64 = 1e-6;

/// Maximum amount by which a start may break a row; the solver allows 1e-6.
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

    /// Writes the model. Where the run to start from does not fit, the margin grows, then the number of intervals.
    ///
    /// # Errors
    /// The error of `go_on` while the model is written.
    pub fn write(&self, subject: ShapeSubject<'_>, go_on: &mut GoOn<'_>) -> Result<Shaped, MethodError> {
        let network = &subject.scope.evaluator.network;
        let counted = self.counted(subject.scope.evaluator);
        // The run to contain fixes how many intervals are needed at least.
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
            // Windows of Alg. 1; where the run does not fit, first the margin grows, then K.
            let windows = match pruning {
                Pruning::None => IndexWindows::open(&counted, intervals),
                Pruning::Dag => IndexWindows::among(network, &counted, intervals),
                Pruning::Anchored(margin) => {
                    IndexWindows::around(network, subject.anchor, &counted, margin, intervals)
                }
            };
            // Invariant at the end: the run to start from is a point of the model, unless no width can hold it.
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
                // Doubling reaches any margin in a few rounds.
                Pruning::Anchored(margin) if margin < intervals => {
                    pruning = Pruning::Anchored((2 * margin).max(1));
                }
                _ if intervals < needed => intervals = needed,
                _ if intervals < enough => intervals = (2 * intervals).min(enough),
                _ => break windows,
            }
        };
        // Written once, for the windows that were found.
        let model = IntervalModel::new(subject.question(&windows, self.form), go_on)?;
        let point =
            grid.and_then(|grid| model.point(network, &grid)).and_then(|point| unbroken(&model.model, point));
        // Complete: every schedule has a point, so a bound of the model is one of the scenario.
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
