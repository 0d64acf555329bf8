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
    /// Its method.
    pub method: Arc<str>,
    /// Number within the run, from 0.
    pub seq: u64,
    /// Seconds of the run's clock, which stands still while the run is paused.
    pub elapsed_s: f64,
    /// Content.
    pub body: EventBody,
}

impl Event {
    /// The event in the form in which it is written, as one JSON object.
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

/// An event as it is written and read back. A plan is written by number and objective only.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct EventRecord {
    /// [`SCHEMA`].
    pub schema: String,
    /// Number of the run.
    pub run: RunId,
    /// Its method.
    pub method: String,
    /// Number within the run.
    pub seq: u64,
    /// Seconds of the run's clock.
    pub elapsed_s: f64,
    /// Content.
    #[serde(flatten)]
    pub body: EventBody,
}

impl EventRecord {
    /// Converts the record back to an event. A plan that was written by number is not restored.
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
    /// The run began.
    Started(Started),
    /// The run entered a phase.
    Phase(Phase),
    /// The run has a better plan.
    Incumbent(Incumbent),
    /// The run has a better bound.
    Bound(Bound),
    /// Figures of a tree or vector search.
    Solver(SolverStats),
    /// Size of the model that a solver gets.
    Model(ModelSize),
    /// A line of a solver's own log.
    Line(LogLine),
    /// Figures of a generation.
    Generation(GenerationStats),
    /// A point of a named series.
    Series(SeriesPoint),
    /// Whether the plan that the run was started from was used.
    HotStart(HotStartReport),
    /// Whether a plan of another run was used.
    Offer(Offer),
    /// A parameter was changed while the run was active.
    Edit(Edit),
    /// Paused or resumed.
    Paused(Paused),
    /// A remark.
    Note(Note),
    /// The run ended.
    Done(Done),
}

impl EventBody {
    /// Returns `true` if only the newest event of the type matters, so that a slow reader may miss earlier ones.
    pub const fn is_progress(&self) -> bool {
        matches!(self, Self::Bound(_) | Self::Solver(_) | Self::Generation(_) | Self::Series(_))
    }
}

/// A run began.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Started {
    /// SHA-256 of the scenario.
    pub scenario_sha256: String,
    /// Its parameters.
    pub parameters: Params,
    /// Its seed.
    pub seed: u64,
    /// Threads that the run may use.
    pub threads: usize,
    /// RFC 3339.
    pub date: String,
}

/// A run entered a phase.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Phase {
    /// Short name, such as `outer search`.
    pub name: String,
    /// Description of the phase, with figures.
    pub detail: String,
}

/// A run has a better plan.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Incumbent {
    /// Number of the plan within the run, from 1; 0 while it is not built.
    pub number: u64,
    /// Objective value.
    pub value: f64,
    /// Tie breaker of the kind, smaller is better (training: ports).
    pub secondary: f64,
    /// Step of the method that found the plan: `hot start`, `crossover`, `vector 17`, …
    pub source: String,
    /// `true` if the plan was built and passed its checker; otherwise "not yet checked".
    pub checked: bool,
    /// Figures of the checked plan.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metrics: BTreeMap<String, f64>,
    /// The plan, if it was built. Not written to logs.
    #[serde(skip)]
    pub plan: Option<SharedPlan>,
}

/// A run knows a better bound.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Bound {
    /// Value that no plan can beat.
    pub value: f64,
    /// Plans that the bound covers, if not all: `this event order only`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only: Option<String>,
}

/// Returns the plans that a bound covers, as words to follow `for`: `this event order only` becomes `this event order
/// alone`.
pub fn covered(only: &str) -> String {
    only.strip_suffix(" only").map_or_else(|| only.to_owned(), |what| format!("{what} alone"))
}

/// Size of a model at a step of its construction.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModelSize {
    /// Step after which the size was measured: `written in full`, `index windows`, `presolve`.
    pub after: String,
    /// Columns.
    pub columns: u64,
    /// Rows.
    pub rows: u64,
    /// Entries of the matrix.
    pub nonzeros: u64,
    /// Columns that must be whole.
    pub integers: u64,
}

/// A line of a solver's own log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LogLine {
    /// Its text, without line end.
    pub text: String,
}

/// Figures of a tree or vector search. `None`: not counted.
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
    /// Nodes done.
    pub done: u64,
    /// Nodes open.
    pub open: Option<u64>,
    /// Total number of nodes, if it is known beforehand.
    pub total: Option<u64>,
    /// Nodes discarded by their bound.
    pub pruned: Option<u64>,
    /// Bound of the next open node.
    pub next_bound: Option<f64>,
    /// LP iterations.
    pub lp_iterations: Option<u64>,
    /// Cutting planes.
    pub cuts: Option<u64>,
    /// Seconds since the last output of the solver.
    pub silent_s: Option<f64>,
}

/// Figures of a generation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct GenerationStats {
    /// Number, from 0.
    pub generation: u64,
    /// Maximum number of generations.
    pub of: u64,
    /// Best objective so far.
    pub best: f64,
    /// Mean objective of the population.
    pub mean: f64,
    /// Worst objective of the population.
    pub worst: f64,
    /// Standard deviation of the population.
    pub spread: f64,
    /// Fraction of distinct individuals, 0 to 1.
    pub diversity: f64,
    /// Fraction of offspring that were feasible and not replaced by a random individual, 0 to 1.
    pub feasible: f64,
    /// Fraction of evaluations answered from the cache, 0 to 1.
    pub cache_hits: f64,
    /// Generations without improvement.
    pub stall: u64,
    /// Generations without improvement after which the search ends.
    pub stall_limit: u64,
    /// Evaluations so far.
    pub evaluations: u64,
    /// Secondary value of the best individual, which breaks ties.
    pub secondary: f64,
    /// Population size.
    pub population: u64,
}

/// A point of a named series, for anything the fixed figures do not cover.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SeriesPoint {
    /// Name with unit.
    pub name: String,
    /// Position: seconds, generation or count, according to the name.
    pub x: f64,
    /// Value.
    pub y: f64,
}

/// How a hot start was used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HotStartFate {
    /// Used unchanged.
    Accepted,
    /// Used after repairs.
    Repaired,
    /// Not used.
    Rejected,
}

impl HotStartFate {
    /// The word used in files and on screen.
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
    /// Objective value that the given plan states.
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

/// A parameter was changed.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Edit {
    /// Parameter.
    pub name: String,
    /// Value before.
    pub old: Option<ParamValue>,
    /// Value now.
    pub new: ParamValue,
    /// Effect of the change on the run.
    pub effect: Effect,
}

/// A run was paused or resumed.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Paused {
    /// Paused (true) or resumed.
    pub paused: bool,
}

/// Severity of a remark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// For information.
    Info,
    /// Something a person should know when judging the result.
    Warning,
    /// Something went wrong.
    Error,
}

impl Severity {
    /// The letter shown on screen.
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
    /// Its severity.
    pub severity: Severity,
    /// One sentence.
    pub text: String,
}

/// Status of a run that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EndStatus {
    /// Proven best.
    Optimal,
    /// Within the requested gap.
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
    /// The status of a plan as an ending.
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

    /// The word used in files and on screen.
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

/// A run ended.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Done {
    /// Its status.
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
    /// Best bound.
    pub bound: Option<f64>,
    /// Units of work done (evaluations, nodes): equal for equal seeds on all machines.
    pub work: u64,
    /// The best plan. Not written to logs.
    #[serde(skip)]
    pub plan: Option<SharedPlan>,
}

/// Sink for events. Its method must return at once, because an engine never waits for a reader.
pub trait EventSink: Send + Sync {
    /// Takes an event.
    fn report(&self, event: Event);
}

/// A sink that stores all events. For tests and small tools.
#[derive(Debug, Default)]
pub struct Recorder {
    events: std::sync::Mutex<Vec<Event>>,
}

impl Recorder {
    /// A copy of all events so far.
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
