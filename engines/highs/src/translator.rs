//! Converts callbacks of HiGHS into events for a [`SolverListener`]: stages, figures at most ten times a second, better
//! points with the letter of the heuristic that found them, and whether the start was used.
//!
//! HiGHS announces neither stages nor starts in its callbacks; both are read from its log. A better point comes before
//! the line that names its heuristic, so it is held back until the next call.

use crate::event::{Flow, MipProgress, SolverEvent, SolverListener, Stage, StartFate};
use crate::lines::{self, Line};
use crate::model::{Domain, Model, Size};
use crate::raw::{Callback, Figures, Listener};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Minimum time between two reports of figures.
const PACE: Duration = Duration::from_millis(100);

/// Maximum difference between two objectives that count as equal; relative to the objectives if these are above 1.
const SAME: f64 = 1e-9;

/// Letter for the point of a completed start; HiGHS has no letter for such a point.
const START: char = '0';

/// Translator of the callbacks of one run into events of its listener.
pub struct EventTranslator<'w> {
    watch: &'w mut dyn SolverListener,
    model: &'w Model,
    interrupt: &'w AtomicBool,
    began: Instant,
    limit: Option<Duration>,
    stage: Option<Stage>,
    /// State of the given start.
    start: StartState,
    /// Row or column that the given start violates, in words.
    broken: Option<String>,
    partial: Vec<u8>,
    size: Size,
    iterations: u64,
    paced: Option<Instant>,
    offered: Option<Instant>,
    progress: MipProgress,
    /// A better point (objective and values) that waits for the letter of its heuristic; the letter of a point from the
    /// start is known already.
    waiting: Option<(f64, Vec<f64>, Option<char>)>,
    injected: Option<(f64, Vec<f64>)>,
    best: Option<f64>,
    from_start: bool,
    complaint: String,
    stop: bool,
    timed_out: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StartState {
    None,
    Given,
    /// A restricted problem is being solved.
    Completing,
    /// The restricted problem was solved; or it is a linear program, so HiGHS does not announce when it is solved. The
    /// next message on the start or on the presolved model shows whether the start was used.
    Solved,
    Known,
}

impl<'w> EventTranslator<'w> {
    pub fn new(
        watch: &'w mut dyn SolverListener,
        model: &'w Model,
        interrupt: &'w AtomicBool,
        limit: Option<Duration>,
    ) -> Self {
        Self {
            watch,
            model,
            interrupt,
            began: Instant::now(),
            limit,
            stage: None,
            start: StartState::None,
            broken: None,
            partial: Vec::new(),
            size: Size::default(),
            iterations: 0,
            paced: None,
            offered: None,
            progress: MipProgress::default(),
            waiting: None,
            injected: None,
            best: None,
            from_start: false,
            complaint: String::new(),
            stop: false,
            timed_out: false,
        }
    }

    /// Records that the run has a given start; `broken` names the row or column that the start violates, if there is
    /// one.
    pub fn expect_start(&mut self, broken: Option<String>) {
        self.start = StartState::Given;
        self.broken = broken;
    }

    /// Returns `true` if the listener or the flag requested a stop.
    pub fn stopped(&self) -> bool {
        self.stop || self.interrupt.load(Ordering::Relaxed)
    }

    /// Returns `true` if the translator ended the run at the time limit. The translator checks the limit itself,
    /// because HiGHS counts its time limit from zero again after completing a start.
    pub fn timed_out(&self) -> bool {
        self.timed_out
    }

    /// Returns the last error or warning in the log.
    pub fn complaint(&self) -> &str {
        &self.complaint
    }

    /// Returns the last figures of the tree search.
    pub fn progress(&self) -> MipProgress {
        self.progress
    }

    /// Emits the remaining events after the solver has returned.
    pub fn finish(&mut self, elsewhere: Vec<String>) {
        for text in elsewhere {
            self.text(&text);
        }
        if !self.partial.is_empty() {
            self.text("\n");
        }
        self.flush(' ');
        if !matches!(self.start, StartState::None | StartState::Known) && !self.stopped() {
            self.reject("the solver ended without using the point");
        }
    }

    pub fn tell(&mut self, event: &SolverEvent) {
        if self.watch.event(event) == Flow::Stop {
            self.stop = true;
        }
    }

    fn enter(&mut self, stage: Stage) {
        if self.stage != Some(stage) {
            self.stage = Some(stage);
            self.tell(&SolverEvent::Stage(stage));
        }
    }

    /// Returns `true` if an objective is better than another by more than rounding.
    fn better(&self, one: f64, other: f64) -> bool {
        let gain = if self.model.maximise { one - other } else { other - one };
        gain > SAME * other.abs().max(1.0)
    }

    fn completing(&self) -> bool {
        matches!(self.start, StartState::Completing | StartState::Solved)
    }

    fn reject(&mut self, why: &str) {
        self.start = StartState::Known;
        let why = match self.broken.take() {
            Some(broken) => format!("{why}; {broken}"),
            None => why.to_owned(),
        };
        self.tell(&SolverEvent::Start(StartFate::Rejected(why)));
    }

    fn text(&mut self, text: &str) {
        self.partial.extend_from_slice(text.as_bytes());
        while let Some(end) = self.partial.iter().position(|byte| *byte == b'\n') {
            let rest = self.partial.split_off(end + 1);
            let line = String::from_utf8_lossy(&self.partial[..end]).trim_end().to_owned();
            self.partial = rest;
            if !line.is_empty() {
                self.line(line);
            }
        }
    }

    fn line(&mut self, line: String) {
        let read = lines::read(&line);
        if let Some(Line::Figures(figures)) = &read {
            self.progress.open = Some(figures.open);
            self.progress.cuts = Some(figures.cuts);
            self.flush(figures.source);
        }
        if let Some((_, words)) =
            line.split_once(':').filter(|(kind, _)| matches!(*kind, "ERROR" | "WARNING"))
        {
            words.trim().clone_into(&mut self.complaint);
        }
        self.tell(&SolverEvent::Log(line));
        let Some(read) = read else { return };
        match read {
            Line::Presolving if !self.completing() => self.enter(Stage::Presolve),
            Line::MipHeading if self.start == StartState::Solved => {
                self.reject("it cannot be completed to a feasible point");
            }
            Line::Presolved(size) if !self.completing() && !self.model.is_mip() => {
                self.tell(&SolverEvent::Presolved(size));
            }
            Line::Rows(rows) => self.size.rows = rows,
            Line::Columns(columns, integers) => {
                self.size.columns = columns;
                self.size.integers = integers;
            }
            Line::Nonzeros(nonzeros) if !self.completing() => {
                self.size.nonzeros = nonzeros;
                let size = self.size;
                self.tell(&SolverEvent::Presolved(size));
                self.enter(Stage::RootLp);
            }
            Line::SolvingLp if !self.model.is_mip() => self.enter(Stage::Lp),
            Line::Completing { linear } => {
                self.start = if linear { StartState::Solved } else { StartState::Completing };
                self.enter(Stage::Start);
            }
            Line::StartIs(feasible, objective) => {
                // Without a start, this is the best point of the previous run, from which HiGHS continues by itself.
                let given = self.start != StartState::None;
                let completed = self.completing();
                self.from_start = feasible;
                if given && !feasible {
                    self.reject("it is infeasible");
                } else if given {
                    self.start = StartState::Known;
                    let fate = if completed { StartFate::Completed } else { StartFate::Accepted };
                    self.tell(&SolverEvent::Start(fate(objective)));
                }
            }
            Line::StartUseless => self.reject("the given whole values allow no feasible point"),
            Line::Report if self.start == StartState::Completing => self.start = StartState::Solved,
            _ => {}
        }
    }

    /// Emits the better point that was held back for its letter.
    fn flush(&mut self, source: char) {
        if let Some((objective, values, own)) = self.waiting.take() {
            let source = own.unwrap_or(source);
            self.best = Some(objective);
            self.tell(&SolverEvent::Incumbent { objective, values, source });
        }
    }

    /// If figures are due, asks the listener whether to continue, checks the time limit, and returns `true`.
    fn pace(&mut self) -> bool {
        let now = Instant::now();
        if self.paced.is_some_and(|last| now.duration_since(last) < PACE) {
            return false;
        }
        self.paced = Some(now);
        if self.watch.tick() == Flow::Stop {
            self.stop = true;
        }
        if self.limit.is_some_and(|limit| now.duration_since(self.began) > limit) {
            self.timed_out = true;
        }
        true
    }

    fn figures(&mut self, figures: Figures) {
        let finite = |value: f64| value.is_finite().then_some(value);
        self.progress.incumbent = finite(figures.primal);
        self.progress.nodes = u64::try_from(figures.nodes).unwrap_or(0);
        self.progress.lp_iterations = u64::try_from(figures.lp_iterations).unwrap_or(0);
        if self.completing() {
            self.progress.bound = None;
            return;
        }
        self.progress.bound = finite(figures.dual);
        if self.progress.nodes > 1 || self.progress.open.is_some_and(|open| open > 0) {
            self.enter(Stage::Tree);
        } else if self.stage == Some(Stage::RootLp) && self.progress.lp_iterations > 0 {
            self.enter(Stage::Root);
        }
        // No callback reports that an injected point was accepted; the primal bound shows it.
        if let (Some((objective, _)), Some(best)) = (&self.injected, self.progress.incumbent)
            && (best - objective).abs() <= SAME * objective.abs().max(1.0)
            && let Some((objective, values)) = self.injected.take()
        {
            self.best = Some(objective);
            self.tell(&SolverEvent::Incumbent { objective, values, source: 'X' });
        }
    }
}

impl Listener for EventTranslator<'_> {
    fn hear(&mut self, heard: Callback<'_>) -> bool {
        if !matches!(heard, Callback::Text(_)) {
            self.flush(' ');
        }
        match heard {
            Callback::Text(text) => self.text(text),
            Callback::Simplex(iterations) => {
                self.iterations = u64::try_from(iterations).unwrap_or(self.iterations);
                if self.pace() && !self.model.is_mip() {
                    self.tell(&SolverEvent::Simplex(self.iterations));
                }
            }
            Callback::Ipm(iterations) => {
                // Callbacks of internal sub-solves give -1.
                self.iterations = u64::try_from(iterations).unwrap_or(self.iterations);
                if self.pace() && !self.model.is_mip() {
                    self.tell(&SolverEvent::Ipm(self.iterations));
                }
            }
            Callback::Improving(objective, values, figures) => {
                let own = std::mem::take(&mut self.from_start).then_some(START);
                if self.best.is_some_and(|best| !self.better(objective, best)) {
                    // The point was already reported while a start was completed, or is better only by rounding.
                    return self.stopped() || self.timed_out;
                }
                // HiGHS adds auxiliary columns for semi-continuous columns at the end; they are cut off here.
                let columns = values.len().min(self.model.columns());
                // Adding zero turns -0.0 into 0.0.
                let values = values[..columns].iter().map(|value| value + 0.0).collect();
                self.waiting = Some((objective + 0.0, values, own));
                if self.injected.as_ref().is_some_and(|(injected, _)| !self.better(*injected, objective)) {
                    self.injected = None;
                }
                self.figures(figures);
            }
            Callback::MipLine(figures) | Callback::MipCheck(figures) => {
                self.figures(figures);
                if self.pace() {
                    let progress = self.progress;
                    self.tell(&SolverEvent::Mip(progress));
                }
            }
        }
        self.stopped() || self.timed_out
    }

    fn offer(&mut self, figures: Figures, slot: &mut [f64]) -> bool {
        self.flush(' ');
        // A point from another source rarely fits the values that a start has fixed. HiGHS also adds auxiliary columns
        // for semi-continuous columns, for which a point from another source has no values.
        let semi = |domain: &Domain| matches!(domain, Domain::SemiContinuous | Domain::SemiInteger);
        if self.completing() || self.model.domains.iter().any(semi) || slot.len() != self.model.columns() {
            return false;
        }
        let now = Instant::now();
        if self.offered.is_some_and(|last| now.duration_since(last) < PACE) {
            return false;
        }
        self.offered = Some(now);
        let Some(point) = self.watch.better() else { return false };
        if point.len() != slot.len() || self.model.first_broken(&point, 1e-7).is_some() {
            return false;
        }
        let objective = self.model.objective(&point);
        let better = !figures.primal.is_finite() || self.better(objective, figures.primal);
        if better {
            slot.copy_from_slice(&point);
            self.injected = Some((objective, point));
        }
        better
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    #[derive(Default)]
    struct Heap(Vec<SolverEvent>);

    impl SolverListener for Heap {
        fn event(&mut self, event: &SolverEvent) -> Flow {
            self.0.push(event.clone());
            Flow::Continue
        }
    }

    fn heard(say: impl FnOnce(&mut EventTranslator<'_>)) -> Vec<SolverEvent> {
        let (mut heap, flag, mut model) = (Heap::default(), AtomicBool::new(false), Model::new("one"));
        model.binary("x", 1.0);
        let mut translator = EventTranslator::new(&mut heap, &model, &flag, None);
        say(&mut translator);
        drop(translator);
        heap.0
    }

    fn figures(dual: f64) -> Figures {
        Figures { primal: f64::INFINITY, dual, nodes: 0, lp_iterations: 0 }
    }

    #[test]
    fn pieces_of_text_become_lines() {
        let events = heard(|translator| {
            translator.hear(Callback::Text("one and "));
            translator.hear(Callback::Text("a half\n\n  two  \nrest"));
            translator.finish(vec!["of another thread\n".to_owned(), "last".to_owned()]);
        });
        let lines = ["one and a half", "  two", "restof another thread", "last"];
        assert_eq!(events, lines.map(|line| SolverEvent::Log(line.to_owned())));
    }

    #[test]
    fn figures_come_at_most_ten_times_a_second() {
        let events = heard(|translator| {
            for bound in 0..1000 {
                translator.hear(Callback::MipCheck(figures(f64::from(bound))));
            }
        });
        assert!(events.len() < 5, "{}", events.len());
    }

    #[test]
    fn placeholders_are_no_figures() {
        let events = heard(|translator| {
            translator.hear(Callback::MipCheck(Figures { nodes: -1, ..figures(f64::NEG_INFINITY) }));
        });
        assert_eq!(events, [SolverEvent::Mip(MipProgress::default())]);
    }

    #[test]
    fn a_point_waits_for_its_letter_and_is_told_once() {
        let line = " H       0       0         0   0.00%   1   2   50.00%   0   0   0   0   0.1s\n";
        let events = heard(|translator| {
            translator.hear(Callback::Improving(2.0, &[1.0], figures(1.0)));
            translator.hear(Callback::Text(line));
            translator.hear(Callback::Improving(2.0 - 1e-12, &[1.0], figures(1.0)));
            translator.hear(Callback::Improving(1.0, &[-0.0], figures(1.0)));
            translator.finish(Vec::new());
        });
        let points: Vec<_> =
            events.into_iter().filter(|event| matches!(event, SolverEvent::Incumbent { .. })).collect();
        let point =
            |objective, value: f64, source| SolverEvent::Incumbent { objective, values: vec![value], source };
        assert_eq!(points, [point(2.0, 1.0, 'H'), point(1.0, 0.0, ' ')]);
        let SolverEvent::Incumbent { values, .. } = &points[1] else { return };
        assert!(values[0].is_sign_positive());
    }
}
