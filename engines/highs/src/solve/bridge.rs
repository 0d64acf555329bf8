//! Converts events of the solver into events of a run.

use super::Reader;
use super::sift::Sift;
use crate::event::{Flow, MipProgress, SolverEvent, SolverListener, StartFate, source_words};
use crate::solution::Solution;
use lightbay_core::context::Context;
use lightbay_core::event::{EventBody, LogLine, ModelSize, Severity, SolverStats};
use lightbay_core::kind::Kind;
use lightbay_core::method::MethodError;

/// Minimum time between two reports of figures, seconds of the run's clock.
const PACE_S: f64 = 0.25;

/// Listener that passes the events of a solve on to a run.
pub(super) struct Bridge<'b, 'c, K: Kind> {
    reader: &'b mut dyn Reader<K>,
    pub(super) cx: &'b mut Context<'c, K>,
    maximise: bool,
    /// `true` if the solver runs in a solver process, which must be suspended while the run is paused.
    helper: bool,
    /// `true` if the solver process is suspended, so that a checkpoint may block.
    held: bool,
    stats: SolverStats,
    /// Time of the last report of figures, seconds.
    reported_s: Option<f64>,
    sift: Sift,
    /// Objective of the best reported point.
    best: Option<f64>,
    bound: Option<f64>,
    /// Number of nodes already counted as work.
    counted: u64,
    failed: Option<MethodError>,
    /// `true` if the best plan of the run meets a bound of this or another run, so that the search can end.
    closed: bool,
}

/// Process in which the solver runs, in words.
const HELPER: &str = "solver process";
const OWN: &str = "own process";

impl<'b, 'c, K: Kind> Bridge<'b, 'c, K> {
    pub(super) fn new(
        reader: &'b mut dyn Reader<K>,
        cx: &'b mut Context<'c, K>,
        maximise: bool,
        helper: bool,
    ) -> Self {
        Self {
            reader,
            cx,
            maximise,
            helper,
            held: false,
            stats: SolverStats {
                unit: "nodes".to_owned(),
                process: if helper { HELPER } else { OWN }.to_owned(),
                ..SolverStats::default()
            },
            reported_s: None,
            sift: Sift::default(),
            best: None,
            bound: None,
            counted: 0,
            failed: None,
            closed: false,
        }
    }

    /// Records that the solver runs inside lightbay, because no solver process could be started.
    pub(super) fn own_process(&mut self) {
        self.helper = false;
        OWN.clone_into(&mut self.stats.process);
    }

    /// Returns the error with which the solve ends: the stored error (a stop, or a failure of the reader or the
    /// context), or, if none is stored, a failure of the solver with the text `why`.
    pub(super) fn failed(&mut self, why: String) -> MethodError {
        self.failed_by(MethodError::Failed(why))
    }

    /// Returns the error with which the solve ends: the stored error, or `error` if none is stored.
    pub(super) fn failed_by(&mut self, error: MethodError) -> MethodError {
        self.failed.take().unwrap_or(error)
    }

    /// Reports that the solver process ended without a request; `how` describes its end. Returns the error for this
    /// case.
    pub(super) fn cut_short(&mut self, how: &str) -> MethodError {
        let kept =
            if self.cx.best().is_some() { "the best plan found so far is kept" } else { "no plan was found" };
        let text = format!("the solver process {how}; {kept}");
        self.cx.note(Severity::Warning, text.clone());
        MethodError::CutShort(text)
    }

    /// Reports the point and the bound of the solution, each if it is better than those reported so far.
    pub(super) fn last(&mut self, solution: &Solution) {
        if let (Some(objective), Some(values)) = (solution.objective, &solution.values) {
            self.point(objective, values, "end of the search");
        }
        if let Some(bound) = solution.bound {
            self.bound(bound);
        }
    }

    /// Returns `true` if the search was stopped because the best plan of the run meets a bound.
    pub(super) const fn is_closed(&self) -> bool {
        self.closed
    }

    /// Reports the last figures. Returns the stored error, or the reason that the run must stop, if there is one.
    pub(super) fn end(mut self) -> Result<(), MethodError> {
        self.figures(true);
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        self.cx.checkpoint()
    }

    fn beats(&self, new: f64, old: f64) -> bool {
        if self.maximise { new > old } else { new < old }
    }

    /// Stores the error with which the solve ends: a stop only if no error is stored yet, any other error always,
    /// because a refused plan is a defect that a stop must not hide.
    fn keep(&mut self, outcome: Result<(), MethodError>) {
        let Err(error) = outcome else { return };
        if self.failed.is_none() || !matches!(error, MethodError::Stopped(_)) {
            self.failed = Some(error);
        }
    }

    fn point(&mut self, objective: f64, values: &[f64], source: &str) {
        if self.best.is_some_and(|best| !self.beats(objective, best)) {
            return;
        }
        self.best = Some(objective);
        let taken = self.reader.incumbent(self.cx, objective, values, source);
        self.keep(taken);
    }

    fn bound(&mut self, bound: f64) {
        // Bounds improve in the opposite direction to the objective.
        if !bound.is_finite() || self.bound.is_some_and(|known| !self.beats(known, bound)) {
            return;
        }
        self.bound = Some(bound);
        let taken = self.reader.bound(self.cx, bound);
        self.keep(taken);
    }

    fn progress(&mut self, progress: &MipProgress) {
        self.cx.count_work(progress.nodes.saturating_sub(self.counted));
        self.counted = self.counted.max(progress.nodes);
        self.stats.done = progress.nodes;
        self.stats.open = progress.open;
        self.stats.cuts = progress.cuts;
        self.stats.lp_iterations = Some(progress.lp_iterations);
        self.stats.next_bound = progress.bound.and_then(|bound| self.reader.meaning(bound));
        if let Some(bound) = progress.bound {
            self.bound(bound);
        }
        self.figures(false);
    }

    /// Reports the figures if they are due or `now` is true.
    fn figures(&mut self, now: bool) {
        let elapsed = self.cx.elapsed_s();
        if !now && self.reported_s.is_some_and(|last| elapsed < last + PACE_S) {
            return;
        }
        self.reported_s = Some(elapsed);
        self.cx.report(EventBody::Solver(self.stats.clone()));
    }

    /// Notes whether the start point of the method was used. The method itself reports on the hot start of the run,
    /// because the start point may differ from the hot start, and the objective of the model may differ from the
    /// objective of plans.
    fn start(&mut self, fate: &StartFate) {
        let at = |value: f64| {
            self.reader.meaning(value).map_or_else(String::new, |value| format!(", at {value:.6}"))
        };
        let text = match fate {
            StartFate::Accepted(value) => {
                format!("the solver starts from the given point{}", at(*value))
            }
            StartFate::Completed(value) => {
                format!("the solver completed the given point and starts from it{}", at(*value))
            }
            StartFate::Rejected(why) => format!("the solver cannot start from the given point: {why}"),
        };
        self.cx.note(Severity::Info, text);
    }

    fn hear(&mut self, event: &SolverEvent) {
        if !matches!(event, SolverEvent::Silent(_)) {
            self.stats.silent_s = None;
        }
        match event {
            SolverEvent::Log(text) => {
                if self.sift.keeps(text, self.cx.elapsed_s()) {
                    self.cx.report(EventBody::Line(LogLine { text: text.clone() }));
                }
            }
            SolverEvent::Stage(stage) => {
                stage.words().clone_into(&mut self.stats.stage);
                self.figures(true);
            }
            SolverEvent::Presolved(size) => self.cx.report(EventBody::Model(ModelSize {
                after: "presolve".to_owned(),
                columns: u64::from(size.columns),
                rows: u64::from(size.rows),
                nonzeros: u64::from(size.nonzeros),
                integers: u64::from(size.integers),
            })),
            SolverEvent::Simplex(iterations) | SolverEvent::Ipm(iterations) => {
                self.stats.lp_iterations = Some(*iterations);
                self.figures(false);
            }
            SolverEvent::Mip(progress) => self.progress(progress),
            SolverEvent::Incumbent { objective, values, source } => {
                self.point(*objective, values, source_words(*source));
            }
            SolverEvent::Start(fate) => self.start(fate),
            SolverEvent::Silent(seconds) => {
                self.stats.silent_s = Some(*seconds);
                self.figures(true);
            }
        }
    }

    /// Returns whether to continue or to stop. Blocks while the run is paused; if the solver runs in a solver process,
    /// only once this process is suspended.
    fn checkpoint(&mut self) -> Flow {
        let may_block = !self.helper || self.held || !self.cx.control().is_paused();
        if self.failed.is_none() && may_block {
            let outcome = self.cx.checkpoint();
            self.keep(outcome);
            // If the model has another goal, such as fewer ports, the search continues.
            if !self.closed && self.reader.meaning(0.0).is_some() && self.cx.closed() {
                self.closed = true;
                let text = "the best plan meets the bound, so the solver stops";
                self.cx.note(Severity::Info, text);
            }
        }
        if self.failed.is_some() || self.closed { Flow::Stop } else { Flow::Continue }
    }
}

impl<K: Kind> SolverListener for Bridge<'_, '_, K> {
    fn event(&mut self, event: &SolverEvent) -> Flow {
        self.hear(event);
        self.checkpoint()
    }

    fn tick(&mut self) -> Flow {
        self.checkpoint()
    }

    fn pausing(&mut self) -> bool {
        self.held = self.failed.is_none() && self.cx.control().is_paused();
        self.held
    }

    fn better(&mut self) -> Option<Vec<f64>> {
        if self.failed.is_some() || self.closed {
            return None;
        }
        self.reader.better(self.cx)
    }
}
