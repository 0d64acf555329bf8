//! Runs for display: everything they reported, in bounded memory. Live and replayed runs have the same form.

use crate::app::series::{Point, RunCurve};
use lightbay_core::event::{
    Bound, Done, Edit, EndStatus, Event, EventBody, GenerationStats, HotStartReport, Incumbent, LogLine,
    ModelSize, Offer, Phase, RunId, SolverStats, Started,
};
use lightbay_core::plan::Limit;
use lightbay_core::report::SearchRow;
use std::collections::{BTreeMap, VecDeque};

#[cfg(test)]
mod tests;

/// Maximum number of rows of a search table.
const SEARCH_ROWS: usize = 256;

/// Maximum number of lines of a solver's log in memory; the run log has all lines.
pub const LINES: usize = 400;

/// Stage in the life of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunState {
    /// The run waits for the active run of its method.
    Queued,
    /// The run is active.
    Running,
    /// The run is paused, or will be at its next checkpoint.
    Paused,
    /// The run was told to stop.
    Stopping,
    /// The run has ended; [`Run::done`] has the result.
    Ended,
    /// Another process, which has the session open, is running it.
    Elsewhere,
    /// The run comes from a saved session that was cut off while the run was active.
    CutOff,
}

impl RunState {
    /// Returns `true` if the run uses or waits for a thread.
    pub const fn is_active(self) -> bool {
        matches!(self, Self::Queued | Self::Running | Self::Paused | Self::Stopping)
    }
}

/// The best value that a run has reported, checked or not.
#[derive(Clone, Debug, PartialEq)]
pub struct BestSeen {
    /// Objective value.
    pub value: f64,
    /// Value that breaks ties of the objective, smaller is better.
    pub secondary: f64,
    /// Step of the method that found the plan.
    pub source: String,
    /// `true` if the plan was built and passed its checker.
    pub checked: bool,
}

/// A mark on the charts of a run, or a remark of a run, with its time.
#[derive(Clone, Debug, PartialEq)]
pub struct Marker {
    /// Seconds of the run's clock.
    pub at_s: f64,
    /// Text of the mark or the remark.
    pub text: String,
}

/// A line of the solver's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SolverLine {
    /// Number of the line in the log, from 0; it stays the same when older lines are dropped.
    pub number: u32,
    /// Whole milliseconds of the run's clock.
    pub at_ms: u64,
    /// Text of the line.
    pub text: String,
}

/// One run, with everything that it reported.
#[derive(Clone, Debug)]
pub struct Run {
    /// Number of the run.
    pub id: RunId,
    /// Method of the run.
    pub method: String,
    /// Hash of the run's scenario.
    pub scenario_sha256: String,
    /// State of the run.
    pub state: RunState,
    /// First event of the run, with seed and threads.
    pub started: Option<Started>,
    /// Present phase of the run's work.
    pub phase: Option<Phase>,
    /// Phases so far, each with the seconds of the run's clock at its start, oldest first.
    pub phases: Vec<(f64, Phase)>,
    /// Remarks of the run so far, with their times.
    pub notes: Vec<Marker>,
    /// Seconds on the run's clock at its last event.
    pub elapsed_s: f64,
    /// Best value so far.
    pub best: Option<BestSeen>,
    /// Best bound on all plans of the scenario so far.
    pub bound: Option<f64>,
    /// Best bound so far that covers only some plans, such as the plans within certain index windows, with a
    /// description of these plans. Kept separate from the bound on all plans, because neither implies the other.
    pub partial: Option<Bound>,
    /// Newest figures of the tree or vector search.
    pub solver: Option<SolverStats>,
    /// Seconds of the run's clock at which the solver entered its present stage.
    pub stage_since_s: f64,
    /// Seconds from the last output of the solver to the run's last event.
    pub silent_s: f64,
    /// Kind of process in which the run's solver works, such as `solver process`; `None` until the kind of process is
    /// known.
    pub process: Option<String>,
    /// Sizes of the solver's model after each step; if there are several models, the sizes of the newest one.
    pub models: Vec<ModelSize>,
    /// The newest lines of the solver's log, oldest first.
    pub lines: VecDeque<SolverLine>,
    /// Seconds of the run's clock at which the run was told to stop.
    pub stop_asked_s: Option<f64>,
    /// `true` if the user was told that the run is slow to stop.
    pub stops_late: bool,
    /// Newest figures of the genetic algorithm.
    pub generation: Option<GenerationStats>,
    /// Report on the run's hot start: accepted, repaired or rejected.
    pub hot_start: Option<HotStartReport>,
    /// The newest better plan that another run offered to this run.
    pub offer: Option<Offer>,
    /// Incumbents over time and nodes.
    pub incumbents: RunCurve,
    /// Bounds on all plans over time and nodes.
    pub bounds: RunCurve,
    /// Bounds on some plans over time and nodes.
    pub partial_bounds: RunCurve,
    /// Best objective of each generation.
    pub best_curve: RunCurve,
    /// Mean objective of each generation.
    pub mean_curve: RunCurve,
    /// Worst objective of each generation.
    pub worst_curve: RunCurve,
    /// Named series of the run.
    pub named: BTreeMap<String, RunCurve>,
    /// Rows of the search table, oldest first.
    pub rows: Vec<SearchRow>,
    /// Changes of knobs, and plans accepted from other runs, for marks on charts.
    pub markers: Vec<Marker>,
    /// Last event of the run, with its final status.
    pub done: Option<Done>,

    /// `true` if the run is replayed from a saved session.
    pub replayed: bool,
    /// Number of events received from this run.
    pub heard: u64,
}

impl Run {
    /// Creates a run without events.
    pub fn new(id: RunId, method: &str, scenario_sha256: &str, state: RunState) -> Self {
        Self {
            id,
            method: method.to_owned(),
            scenario_sha256: scenario_sha256.to_owned(),
            state,
            started: None,
            phase: None,
            phases: Vec::new(),
            notes: Vec::new(),
            elapsed_s: 0.0,
            best: None,
            bound: None,
            partial: None,
            solver: None,
            stage_since_s: 0.0,
            silent_s: 0.0,
            process: None,
            models: Vec::new(),
            lines: VecDeque::new(),
            stop_asked_s: None,
            stops_late: false,
            generation: None,
            hot_start: None,
            offer: None,
            incumbents: RunCurve::default(),
            bounds: RunCurve::default(),
            partial_bounds: RunCurve::default(),
            best_curve: RunCurve::default(),
            mean_curve: RunCurve::default(),
            worst_curve: RunCurve::default(),
            named: BTreeMap::new(),
            rows: Vec::new(),
            markers: Vec::new(),
            done: None,
            replayed: false,
            heard: 0,
        }
    }

    /// Processes an event of the run.
    pub fn hear(&mut self, event: &Event) {
        self.elapsed_s = self.elapsed_s.max(event.elapsed_s);
        self.heard += 1;
        let at_s = event.elapsed_s;
        self.silent_s = 0.0;
        match &event.body {
            EventBody::Started(started) => {
                self.scenario_sha256.clone_from(&started.scenario_sha256);
                self.started = Some(started.clone());
                if self.state == RunState::Queued {
                    self.state = RunState::Running;
                }
            }
            EventBody::Phase(phase) => {
                // A phase event that only adds details does not start a new phase.
                if self.phases.last().is_none_or(|(_, last)| last.name != phase.name)
                    && self.phases.len() < SEARCH_ROWS
                {
                    self.phases.push((at_s, phase.clone()));
                }
                self.phase = Some(phase.clone());
            }
            EventBody::Incumbent(incumbent) => self.hear_incumbent(at_s, incumbent),
            EventBody::Bound(bound) => {
                let point = Point { at_s, count: self.count(), value: bound.value };
                if bound.only.is_some() {
                    let changed = self
                        .partial
                        .as_ref()
                        .is_none_or(|known| known.value != bound.value || known.only != bound.only);
                    self.partial = Some(bound.clone());
                    self.partial_bounds.push(point);
                    // With a bound on all plans, a bound on some plans does not add a row.
                    if changed && self.bound.is_none() {
                        self.add_row(at_s, "bound", String::new());
                    }
                } else {
                    let changed = self.bound != Some(bound.value);
                    self.bound = Some(bound.value);
                    self.bounds.push(point);
                    if changed {
                        self.add_row(at_s, "bound", String::new());
                    }
                }
            }
            EventBody::Solver(stats) => {
                if self.solver.as_ref().is_none_or(|known| known.stage != stats.stage) {
                    self.stage_since_s = at_s;
                }
                self.silent_s = stats.silent_s.filter(|silent| silent.is_finite()).unwrap_or(0.0);
                if !stats.process.is_empty() {
                    self.process = Some(stats.process.clone());
                }
                self.solver = Some(stats.clone());
            }
            EventBody::Generation(stats) => self.hear_generation(at_s, stats),
            EventBody::Series(point) => {
                let series = self.named.entry(point.name.clone()).or_default();
                series.push(Point { at_s, count: point.x, value: point.y });
            }
            EventBody::HotStart(report) => self.hot_start = Some(report.clone()),
            EventBody::Offer(offer) => {
                if offer.taken {
                    self.name_offer(&offer.from);
                    self.mark(at_s, format!("accepted a plan from {}", offer.from));
                }
                self.offer = Some(offer.clone());
            }
            EventBody::Edit(Edit { name, new, .. }) => self.mark(at_s, format!("{name} is {new}")),
            EventBody::Paused(paused) => {
                if !matches!(self.state, RunState::Stopping | RunState::Ended | RunState::Elsewhere) {
                    self.state = if paused.paused { RunState::Paused } else { RunState::Running };
                }
            }
            EventBody::Model(size) => match self.models.iter_mut().find(|known| known.after == size.after) {
                Some(known) => known.clone_from(size),
                None => self.models.push(size.clone()),
            },
            EventBody::Line(line) => self.hear_line(at_s, line),
            EventBody::Note(note) => {
                if self.notes.len() == SEARCH_ROWS {
                    self.notes.remove(0);
                }
                self.notes.push(Marker { at_s, text: note.text.clone() });
            }
            EventBody::Done(done) => {
                self.state = RunState::Ended;
                // The final bound covers the plans that the final plan names, or all plans.
                let covers = done
                    .plan
                    .as_ref()
                    .and_then(|plan| plan.header().provenance.bound_covers().map(str::to_owned));
                match (done.bound.filter(|value| value.is_finite()), covers, &mut self.partial) {
                    (Some(value), Some(only), partial) => *partial = Some(Bound { value, only: Some(only) }),
                    // A replayed run has no plan in memory: if all its bounds so far cover only some plans, the final
                    // bound does too.
                    (Some(value), None, Some(partial)) if done.plan.is_none() && self.bound.is_none() => {
                        partial.value = value;
                    }
                    (Some(value), None, _) => self.bound = Some(value),
                    (None, ..) => {}
                }
                let mut done = done.clone();
                // The table of plans has the plan; keeping it here would only use memory.
                done.plan = None;
                self.done = Some(done);
            }
        }
    }

    fn hear_incumbent(&mut self, at_s: f64, incumbent: &Incumbent) {
        let changed = self.best.as_ref().is_none_or(|best| best.value != incumbent.value);
        self.best = Some(BestSeen {
            value: incumbent.value,
            secondary: incumbent.secondary,
            source: incumbent.source.clone(),
            checked: incumbent.checked,
        });
        self.incumbents.push(Point { at_s, count: self.count(), value: incumbent.value });
        if changed {
            self.add_row(at_s, "best", incumbent.source.clone());
        }
    }

    fn hear_line(&mut self, at_s: f64, line: &LogLine) {
        let number = self.lines.back().map_or(0, |last| last.number.wrapping_add(1));
        if self.lines.len() == LINES {
            self.lines.pop_front();
        }
        let at_ms = (at_s.max(0.0) * 1e3) as u64;
        self.lines.push_back(SolverLine { number, at_ms, text: line.text.clone() });
    }

    /// Records that the newest incumbent came from the method `from` of another run. The run reports the incumbent
    /// first, and its source in a later event.
    fn name_offer(&mut self, from: &str) {
        const UNNAMED: &str = "offer";
        let name = || format!("imported from {from}");
        if let Some(row) =
            self.rows.iter_mut().rfind(|row| row.what == "best").filter(|row| row.source == UNNAMED)
        {
            row.source = name();
        }
        if let Some(best) = self.best.as_mut().filter(|best| best.source == UNNAMED) {
            best.source = name();
        }
    }

    fn hear_generation(&mut self, at_s: f64, stats: &GenerationStats) {
        let count = stats.generation as f64;
        for (series, value) in [
            (&mut self.best_curve, stats.best),
            (&mut self.mean_curve, stats.mean),
            (&mut self.worst_curve, stats.worst),
        ] {
            series.push(Point { at_s, count, value });
        }
        self.generation = Some(stats.clone());
    }

    fn count(&self) -> f64 {
        self.solver
            .as_ref()
            .map(|stats| stats.done as f64)
            .or_else(|| self.generation.as_ref().map(|stats| stats.generation as f64))
            .unwrap_or(0.0)
    }

    fn add_row(&mut self, at_s: f64, what: &'static str, source: String) {
        if self.rows.len() == SEARCH_ROWS {
            // The first rows show the start and the last rows the present state; rows in the middle are dropped.
            self.rows.remove(SEARCH_ROWS / 4);
        }
        let number = self.rows.last().map_or(0, |last| last.number.wrapping_add(1));
        self.rows.push(SearchRow {
            number,
            at_s,
            stats: self.solver.clone().unwrap_or_default(),
            bound: self.proof().map(|bound| bound.0),
            best: self.best.as_ref().map(|best| best.value),
            what,
            source,
        });
    }

    fn mark(&mut self, at_s: f64, text: String) {
        if self.markers.len() == SEARCH_ROWS {
            self.markers.remove(0);
        }
        self.markers.push(Marker { at_s, text });
    }

    /// Returns the bound for display: the bound on all plans if there is one, else the bound on some plans, with a
    /// description of those plans.
    pub fn proof(&self) -> Option<(f64, Option<&str>)> {
        let partial = || self.partial.as_ref().map(|bound| (bound.value, bound.only.as_deref()));
        self.bound.map(|value| (value, None)).or_else(partial)
    }

    /// Returns the reason that the run ended, as text; `None` for a run that is active or failed, or whose state needs
    /// no further reason.
    pub fn reason(&self) -> Option<String> {
        let done = self.done.as_ref()?;
        let limit = done.limit.map(|limit| format!("{} limit reached", limit_word(limit)));
        match done.status {
            EndStatus::Stopped | EndStatus::Optimal if !done.message.is_empty() => Some(done.message.clone()),
            EndStatus::Optimal => Some("nothing is better".to_owned()),
            EndStatus::GapReached => Some("the requested gap is reached".to_owned()),
            EndStatus::Heuristic | EndStatus::Feasible => {
                limit.or_else(|| Some("complete, no proof".to_owned()))
            }
            _ => limit,
        }
    }

    /// Returns the state as one word, for the header and the strip.
    pub fn word(&self) -> &'static str {
        match self.state {
            RunState::Queued => "WAITING",
            RunState::Running => "RUNNING",
            RunState::Paused => "PAUSED",
            RunState::Stopping => "STOPPING",
            RunState::Elsewhere => "ELSEWHERE",
            RunState::CutOff => "CUT OFF",
            RunState::Ended => match self.done.as_ref().map(|done| done.status) {
                Some(EndStatus::Invalid) => "REFUSED",
                Some(EndStatus::Failed) => "FAILED",
                Some(EndStatus::Panicked) => "CRASHED",
                Some(EndStatus::Infeasible) => "INFEASIBLE",
                Some(EndStatus::Unbounded) => "UNBOUNDED",
                Some(EndStatus::Stopped) => "STOPPED",
                Some(EndStatus::NoPlan) => "NO PLAN",
                Some(EndStatus::NumericalTrouble) => "NUM. TROUBLE",
                _ => "DONE",
            },
        }
    }

    /// Returns `true` if the run has reported figures of a search, bounds, sizes of a model or lines of a solver's log.
    pub fn searches(&self) -> bool {
        self.solver.is_some()
            || self.bounds.total() + self.partial_bounds.total() > 0
            || !self.models.is_empty()
            || !self.lines.is_empty()
    }

    /// Returns the stage of the run's solver, such as `root LP`; `None` if the solver has no stages or its stage is
    /// unknown.
    pub fn stage(&self) -> Option<&str> {
        self.solver.as_ref().map(|stats| stats.stage.as_str()).filter(|stage| !stage.is_empty())
    }

    /// Records that the run was told to stop when the clock of the run showed `at_s`. The run continues until it
    /// reacts.
    pub fn ask_to_stop(&mut self, at_s: f64) {
        self.state = RunState::Stopping;
        self.stop_asked_s.get_or_insert(at_s);
    }

    /// Returns `true` if the run is an evolutionary search with generations.
    pub const fn evolves(&self) -> bool {
        self.generation.is_some()
    }
}

/// Returns the name of the limit that ended a search, as one word.
const fn limit_word(limit: Limit) -> &'static str {
    match limit {
        Limit::Time => "time",
        Limit::Work => "work",
        Limit::Stall => "stall",
    }
}

/// All runs of the session, oldest first.
#[derive(Clone, Debug, Default)]
pub struct RunTable {
    runs: Vec<Run>,
}

impl RunTable {
    /// Iterates over all runs, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Run> {
        self.runs.iter()
    }

    /// Returns a run by number.
    pub fn get(&self, id: RunId) -> Option<&Run> {
        self.runs.iter().find(|run| run.id == id)
    }

    /// Returns a run by number, to change it.
    pub fn get_mut(&mut self, id: RunId) -> Option<&mut Run> {
        self.runs.iter_mut().find(|run| run.id == id)
    }

    /// Adds a run, or replaces the run with the same number.
    pub fn insert(&mut self, run: Run) {
        match self.get_mut(run.id) {
            Some(known) => *known = run,
            None => self.runs.push(run),
        }
    }

    /// Removes a run that ended before it started: it was replaced or taken from the queue.
    pub fn forget_unstarted(&mut self, id: RunId) {
        self.runs.retain(|run| run.id != id || run.started.is_some() || run.state.is_active());
    }

    /// Iterates over the runs that use or wait for a thread.
    pub fn active(&self) -> impl Iterator<Item = &Run> {
        self.runs.iter().filter(|run| run.state.is_active())
    }

    /// Returns `true` if a run is active, waiting or stopping.
    pub fn is_busy(&self) -> bool {
        self.active().next().is_some()
    }

    /// Returns the newest run of each method, for the strip: active runs first, then paused, waiting, remote and ended
    /// runs. Within each of these groups, the method that was started first comes first.
    pub fn newest(&self) -> Vec<&Run> {
        let mut newest: Vec<&Run> = Vec::new();
        for run in &self.runs {
            match newest.iter_mut().find(|known| known.method == run.method) {
                // A waiting request does not hide the run it waits for.
                Some(known) if run.state != RunState::Queued || !known.state.is_active() => *known = run,
                Some(_) => {}
                None => newest.push(run),
            }
        }
        newest.sort_by_key(|run| match run.state {
            RunState::Running | RunState::Stopping => 0,
            RunState::Paused => 1,
            RunState::Queued => 2,
            RunState::Elsewhere => 3,
            RunState::Ended | RunState::CutOff => 4,
        });
        newest
    }

    /// Returns the newest run for which `wanted` holds; active runs take precedence over ended ones.
    pub fn latest(&self, wanted: impl Fn(&Run) -> bool) -> Option<&Run> {
        let matching = || self.runs.iter().rev().filter(|run| wanted(run));
        matching().find(|run| run.state.is_active()).or_else(|| matching().next())
    }

    /// Returns the number of runs.
    pub fn len(&self) -> usize {
        self.runs.len()
    }

    /// Returns `true` if there are no runs.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Removes all runs, for another scenario.
    pub fn clear(&mut self) {
        self.runs.clear();
    }
}
