//! Events that a run emits. One schema for the run log, `--progress json` and the screen.
//!
//! Written as `{"schema": "lightbay.event/1", "run": 1, "method": "…", "seq": 4, "elapsed_s": 0.1, "event": "bound",
//! …}`.

use crate::checked::{SharedPlan, Violation};
use crate::param::{Effect, ParamValue, Params};
use crate::plan::{Limit, Status};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The schema name of a written event.
pub const SCHEMA: &str = "lightbay.event/1";

/// Number of a run; every start gets a new number.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct RunId(pub u64);

impl std::fmt::Display for RunId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// An event of a run.
#[derive(Clone, Debug)]
pub struct Event {
    /// Number of the run.
    pub run: RunId,
    /// Method of the run.
    pub method: Arc<str>,
    /// Number within the run, from 0.
    pub seq: u64,
    /// Seconds of the run's clock, which stands still while the run is paused.
    pub elapsed_s: f64,
    /// Content of the event.
    pub body: EventBody,
}

impl Event {
    /// Returns the event in the form in which it is written, as one JSON object.
    pub fn record(&self) -> EventRecord {
        EventRecord {
            schema: SCHEMA.to_owned(),
            run: self.run,
            method: self.method.to_string(),
            seq: self.seq,
            elapsed_s: self.elapsed_s,
            body: self.body.clone(),
        }
    }
}

/// An event as it is written and read back. Instead of a plan, only its number and objective are written.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct EventRecord {
    /// Schema name, [`SCHEMA`].
    pub schema: String,
    /// Number of the run.
    pub run: RunId,
    /// Method of the run.
    pub method: String,
    /// Number of the event within the run, from 0.
    pub seq: u64,
    /// Seconds of the run's clock, which stands still while the run is paused.
    pub elapsed_s: f64,
    /// Content of the event.
    #[serde(flatten)]
    pub body: EventBody,
}

impl EventRecord {
    /// Converts the record back to an event. The event then contains no plan, because plans are not written.
    pub fn event(self) -> Event {
        Event {
            run: self.run,
            method: self.method.into(),
            seq: self.seq,
            elapsed_s: self.elapsed_s,
            body: self.body,
        }
    }
}

/// Content of an event.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum EventBody {
    /// The run has begun.
    Started(Started),
    /// The run entered a phase.
    Phase(Phase),
    /// The run has a better plan.
    Incumbent(Incumbent),
    /// The run has a better bound.
    Bound(Bound),
    /// Figures of a search that counts nodes of a tree or circuit allocations (vectors).
    Solver(SolverStats),
    /// Size of the model that a solver gets.
    Model(ModelSize),
    /// A line of a solver's own log.
    Line(LogLine),
    /// Figures of a generation of a genetic algorithm.
    Generation(GenerationStats),
    /// A point of a named series.
    Series(SeriesPoint),
    /// Whether the plan that the run was started from was used.
    HotStart(HotStartReport),
    /// Whether a plan of another run was used.
    Offer(Offer),
    /// A parameter was changed while the run was active.
    Edit(Edit),
    /// The run was paused or resumed.
    Paused(Paused),
    /// A remark.
    Note(Note),
    /// The run has ended.
    Done(Done),
}

impl EventBody {
    /// Returns `true` if only the newest event of the type matters, so that a slow reader may miss earlier ones.
    pub const fn is_progress(&self) -> bool {
        matches!(self, Self::Bound(_) | Self::Solver(_) | Self::Generation(_) | Self::Series(_))
    }
}

/// Event: a run has begun.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Started {
    /// SHA-256 of the scenario.
    pub scenario_sha256: String,
    /// Parameters of the method.
    pub parameters: Params,
    /// Seed of the run.
    pub seed: u64,
    /// Number of threads that the run may use.
    pub threads: usize,
    /// Start date and time, RFC 3339.
    pub date: String,
}

/// Event: a run entered a phase.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Phase {
    /// Short name, such as `outer search`.
    pub name: String,
    /// Description of the phase, with figures.
    pub detail: String,
}

/// Event: a run has a better plan.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Incumbent {
    /// Number of the plan within the run, from 1; 0 while it is not built.
    pub number: u64,
    /// Objective value of the plan.
    pub value: f64,
    /// Value that breaks ties of the objective, smaller is better (training: ports).
    pub secondary: f64,
    /// Step of the method that found the plan: `hot start`, `crossover`, `vector 17`, …
    pub source: String,
    /// `true` if the plan was built and passed its checker; `false` if it is not yet checked.
    pub checked: bool,
    /// Figures of the checked plan.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metrics: BTreeMap<String, f64>,
    /// The plan, if it was built. Not written to logs.
    #[serde(skip)]
    pub plan: Option<SharedPlan>,
}

/// Event: a run knows a better bound.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Bound {
    /// Value that no plan can beat.
    pub value: f64,
    /// Plans that the bound covers, if not all, such as `this event order only`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only: Option<String>,
}

/// Returns the description `only` of the plans that a bound covers in a form that fits after "for" in a sentence: `this
/// event order only` becomes `this event order alone`.
pub fn covered(only: &str) -> String {
    only.strip_suffix(" only").map_or_else(|| only.to_owned(), |what| format!("{what} alone"))
}

/// Size of a model at a step of its construction.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModelSize {
    /// Step after which the size was measured: `written in full`, `index windows`, `presolve`.
    pub after: String,
    /// Number of columns.
    pub columns: u64,
    /// Number of rows.
    pub rows: u64,
    /// Number of nonzero entries of the matrix.
    pub nonzeros: u64,
    /// Number of columns that must have whole values.
    pub integers: u64,
}

/// A line of a solver's own log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LogLine {
    /// Text of the line, without line end.
    pub text: String,
}

/// Figures of a search that counts nodes of a tree or circuit allocations (vectors). Figures that are `None` were not
/// counted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SolverStats {
    /// Name of the counted nodes: `nodes`, `vectors`.
    pub unit: String,
    /// Stage of the solver: `root LP`, `tree search`; empty if it has no stages.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub stage: String,
    /// Kind of process that a solver runs in: `solver process`, `own process`; empty if there is no solver.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub process: String,
    /// Number of nodes done.
    pub done: u64,
    /// Number of open nodes.
    pub open: Option<u64>,
    /// Total number of nodes, if it is known beforehand.
    pub total: Option<u64>,
    /// Number of nodes discarded because of their bound.
    pub pruned: Option<u64>,
    /// Bound of the next open node.
    pub next_bound: Option<f64>,
    /// Number of LP iterations.
    pub lp_iterations: Option<u64>,
    /// Number of cutting planes.
    pub cuts: Option<u64>,
    /// Seconds since the last output of the solver.
    pub silent_s: Option<f64>,
}

/// Figures of a generation of a genetic algorithm.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct GenerationStats {
    /// Number of the generation, from 0.
    pub generation: u64,
    /// Maximum number of generations.
    pub of: u64,
    /// Best objective so far.
    pub best: f64,
    /// Mean objective of the population.
    pub mean: f64,
    /// Worst objective of the population.
    pub worst: f64,
    /// Standard deviation of the objective in the population.
    pub spread: f64,
    /// Fraction of distinct individuals, 0 to 1.
    pub diversity: f64,
    /// Fraction of offspring that were feasible and not replaced by a random individual, 0 to 1.
    pub feasible: f64,
    /// Fraction of evaluations answered from the cache, 0 to 1.
    pub cache_hits: f64,
    /// Number of generations since the last improvement.
    pub stall: u64,
    /// Number of generations without improvement after which the search ends.
    pub stall_limit: u64,
    /// Number of evaluations so far.
    pub evaluations: u64,
    /// Secondary value of the best individual, which breaks ties.
    pub secondary: f64,
    /// Population size.
    pub population: u64,
}

/// A point of a named series, for anything the fixed figures do not cover.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SeriesPoint {
    /// Name of the series, with unit.
    pub name: String,
    /// Position of the point: seconds, generation or count, according to the name.
    pub x: f64,
    /// Value of the series at `x`.
    pub y: f64,
}

/// How a hot start was used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HotStartFate {
    /// The plan was used unchanged.
    Accepted,
    /// The plan was used after repairs.
    Repaired,
    /// The plan was not used.
    Rejected,
}

impl HotStartFate {
    /// Returns the word used in files and on screen.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Repaired => "repaired",
            Self::Rejected => "rejected",
        }
    }
}

/// Report on the plan that a run was started from.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct HotStartReport {
    /// Whether the plan was used.
    pub fate: HotStartFate,
    /// Reason for a rejection, or the repairs made.
    pub why: String,
    /// Objective value that the plan file states.
    pub before: Option<f64>,
    /// Objective of the plan under the run's own rules.
    pub after: Option<f64>,
}

/// A better plan of another run arrived.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Offer {
    /// Method that found the plan.
    pub from: String,
    /// Objective of the plan in the run that found it.
    pub value: f64,
    /// Objective of the plan under the rules of this run, if this run evaluated it.
    pub here: Option<f64>,
    /// `true` if the plan became the incumbent of this run.
    pub taken: bool,
}

/// Event: a parameter was changed.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Edit {
    /// Name of the parameter.
    pub name: String,
    /// Value before the change.
    pub old: Option<ParamValue>,
    /// Value after the change.
    pub new: ParamValue,
    /// Effect of the change on the run.
    pub effect: Effect,
}

/// Event: a run was paused or resumed.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Paused {
    /// `true` if the run was paused, `false` if it was resumed.
    pub paused: bool,
}

/// Severity of a remark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Information without consequences for the result.
    Info,
    /// Information that a person should know when judging the result.
    Warning,
    /// A failure.
    Error,
}

impl Severity {
    /// Returns the letter shown on screen.
    pub const fn letter(self) -> char {
        match self {
            Self::Info => 'I',
            Self::Warning => 'W',
            Self::Error => 'E',
        }
    }
}

/// A remark.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Note {
    /// Severity of the remark.
    pub severity: Severity,
    /// Text of the remark, one sentence.
    pub text: String,
}

/// Status of a run that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EndStatus {
    /// The best plan is proven optimal.
    Optimal,
    /// The gap of the best plan is at most the requested gap.
    GapReached,
    /// The method can prove bounds, but has not proven this plan optimal.
    Feasible,
    /// A plan of a method that proves no bounds.
    Heuristic,
    /// The run ended early, with the best plan so far.
    Stopped,
    /// The solver met numbers it could not handle; the plan itself is checked.
    NumericalTrouble,
    /// The run ended early, without a plan.
    NoPlan,
    /// No plan exists.
    Infeasible,
    /// The objective is unbounded: every plan can be improved further.
    Unbounded,
    /// The method does not support the scenario or a parameter; the message contains the problems.
    Invalid,
    /// The method failed; the reason is in the message.
    Failed,
    /// The method crashed; the best plan so far is kept.
    Panicked,
}

impl EndStatus {
    /// Converts the status of a plan to the status of the run that ended with it.
    pub const fn of(status: Status) -> Self {
        match status {
            Status::Optimal => Self::Optimal,
            Status::GapReached => Self::GapReached,
            Status::Feasible => Self::Feasible,
            Status::Heuristic => Self::Heuristic,
            Status::Stopped => Self::Stopped,
            Status::NumericalTrouble => Self::NumericalTrouble,
        }
    }

    /// Returns the word used in files and on screen.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Optimal => "optimal",
            Self::GapReached => "gap_reached",
            Self::Feasible => "feasible",
            Self::Heuristic => "heuristic",
            Self::Stopped => "stopped",
            Self::NumericalTrouble => "numerical_trouble",
            Self::NoPlan => "no_plan",
            Self::Infeasible => "infeasible",
            Self::Unbounded => "unbounded",
            Self::Invalid => "invalid",
            Self::Failed => "failed",
            Self::Panicked => "panicked",
        }
    }
}

/// Event: a run has ended.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Done {
    /// Status of the run.
    pub status: EndStatus,
    /// Limit that ended the run.
    pub limit: Option<Limit>,
    /// Reason in words, if the status alone does not give it.
    pub message: String,
    /// Rules that the checker found broken, for a run that failed for that reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty", skip_deserializing)]
    pub violations: Vec<Violation>,
    /// Objective of the best plan.
    pub value: Option<f64>,
    /// Best bound on all plans of the scenario.
    pub bound: Option<f64>,
    /// Number of units of work done (evaluations, nodes). The number is equal for equal seeds on all machines.
    pub work: u64,
    /// The best plan, if there is one. Not written to logs.
    #[serde(skip)]
    pub plan: Option<SharedPlan>,
}

/// Receiver of events. [`Self::report`] must return at once, because the engine continues only after it has returned.
pub trait EventSink: Send + Sync {
    /// Receives an event.
    fn report(&self, event: Event);
}

/// A receiver that stores all events. For tests and small tools.
#[derive(Debug, Default)]
pub struct Recorder {
    events: std::sync::Mutex<Vec<Event>>,
}

impl Recorder {
    /// Returns a copy of all events so far.
    pub fn events(&self) -> Vec<Event> {
        self.events.lock().map(|events| events.clone()).unwrap_or_default()
    }
}

impl EventSink for Recorder {
    fn report(&self, event: Event) {
        if let Ok(mut events) = self.events.lock() {
            events.push(event);
        }
    }
}
