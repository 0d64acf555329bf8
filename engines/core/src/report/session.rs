//! Other plans and runs, for sections that compare a plan with others or grow during a run.

use crate::checked::SharedPlan;
use crate::event::{Bound, GenerationStats, HotStartReport, ModelSize, Offer, Phase, RunId, SolverStats};
use crate::plan::{Header, Status};
use crate::standing::Standing;
use std::collections::BTreeMap;

/// Other plans and the run that belong to the scenario and plan of a report.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// Plans of the session, best first, including the explained plan.
    pub plans: Vec<PlanBeside>,
    /// The run whose progress the section shows, see [`super::RunSort`].
    pub run: Option<RunBeside>,
}

impl Surroundings {
    /// Returns the explained plan.
    pub fn shown(&self) -> Option<&PlanBeside> {
        self.plans.iter().find(|plan| plan.is_shown)
    }

    /// Returns the best plan of each method for the scenario of the explained plan, best first.
    pub fn best_by_method(&self) -> Vec<&PlanBeside> {
        let mut best: Vec<&PlanBeside> = Vec::new();
        for plan in self.plans.iter().filter(|plan| plan.is_rival) {
            if best.iter().all(|known| known.method != plan.method) {
                best.push(plan);
            }
        }
        best
    }
}

/// A plan of a session.
#[derive(Clone, Debug, Default)]
pub struct PlanBeside {
    /// Number of the plan in the session.
    pub number: u64,
    /// Method that found the plan.
    pub method: String,
    /// Objective value of the plan.
    pub value: f64,
    /// Figures of the plan for comparison, by name with unit.
    pub metrics: BTreeMap<String, f64>,
    /// Status of the plan; `None` while its run is active.
    pub status: Option<Status>,
    /// Best bound that holds for every plan of the plan's scenario, verified or claimed.
    pub bound: Option<f64>,
    /// The bounds on the objective of the plan, and whether the checker proved them; `None` if no bounds are known.
    pub standing: Option<Standing>,
    /// If the plan meets a bound that covers only some plans: a description of the covered plans, such as `this event
    /// order only`.
    pub partial: Option<String>,
    /// Seconds on the clock of the plan's run when the plan was found.
    pub at_s: f64,
    /// Objective value of the plan from which the run of this plan was started.
    pub began_with: Option<f64>,
    /// `true` for the explained plan.
    pub is_shown: bool,
    /// `true` for the plan with which the other plans are compared.
    pub is_baseline: bool,
    /// `true` if the plan solves the same problem for the same scenario as the explained plan.
    pub is_rival: bool,
    /// `true` if the plan's scenario differs from the current scenario.
    pub is_stale: bool,
    /// `true` if the plan's scenario is the scenario of the run in [`Surroundings::run`].
    pub is_of_run: bool,
    /// The plan itself, if it is in memory.
    pub plan: Option<SharedPlan>,
}

impl PlanBeside {
    /// Returns the entry for a plan that belongs to no session: it has the figures of the plan and the bound that the
    /// plan claims.
    pub fn alone(header: &Header) -> Self {
        Self {
            number: 0,
            method: header.method.clone(),
            value: header.objective.value,
            metrics: header.metrics.clone(),
            status: Some(header.status),
            bound: header.objective.bound,
            standing: None,
            partial: None,
            at_s: header.provenance.elapsed_s,
            began_with: None,
            is_shown: true,
            is_baseline: false,
            is_rival: true,
            is_stale: false,
            is_of_run: true,
            plan: None,
        }
    }
}

/// A run of a session with its events so far.
#[derive(Clone, Debug, Default)]
pub struct RunBeside {
    /// Number of the run.
    pub id: RunId,
    /// Method of the run.
    pub method: String,
    /// State of the run in a word: `running`.
    pub state: &'static str,
    /// `true` while the run is active.
    pub is_active: bool,
    /// `true` if a stop was requested and the run is still running.
    pub is_stopping: bool,
    /// `true` if the run's scenario differs from the current scenario.
    pub is_stale: bool,
    /// Seconds on the run's clock at its last event.
    pub elapsed_s: f64,
    /// Phases, each with its start in seconds on the run's clock, oldest first.
    pub phases: Vec<(f64, Phase)>,
    /// Notes, each with its time in seconds on the run's clock, oldest first.
    pub notes: Vec<(f64, String)>,
    /// Best objective value so far.
    pub best: Option<f64>,
    /// Best bound on all plans of the scenario so far.
    pub bound: Option<f64>,
    /// Objective values of the successively better plans of the run.
    pub incumbents: Vec<RunPoint>,
    /// Series by name; the kind declares the names as constants.
    pub series: BTreeMap<String, Vec<RunPoint>>,
    /// Whether the plan that the run was started from was used.
    pub hot_start: Option<HotStartReport>,
    /// The newest offer from another run.
    pub offer: Option<Offer>,
    /// Edits, offers and pauses, each with its time in seconds on the run's clock, oldest first.
    pub markers: Vec<(f64, String)>,
    /// Progress of the run as a search with bounds.
    pub search: RunSearch,
    /// Progress of the run as a genetic algorithm.
    pub generations: RunGenerations,
}

/// Progress of a search with bounds.
#[derive(Clone, Debug, Default)]
pub struct RunSearch {
    /// Newest figures of the search.
    pub stats: Option<SolverStats>,
    /// Stage of a running or stopping run, with the time for which the solver has been silent or the stop has been
    /// pending: `root LP, silent for 12 s`.
    pub standing: Option<String>,
    /// Stage of the solver, and its start in seconds on the run's clock.
    pub stage: Option<(f64, String)>,
    /// Kind of process that the solver runs in: `solver process`.
    pub process: Option<String>,
    /// Sizes of the solver's model after each step; if there are several models, the sizes of the newest one.
    pub models: Vec<ModelSize>,
    /// Best bound so far that covers only some plans, with a description of those plans.
    pub partial: Option<Bound>,
    /// Bounds on all plans, in order of time.
    pub bounds: Vec<RunPoint>,
    /// Bounds on some plans, in order of time.
    pub partial_bounds: Vec<RunPoint>,
    /// Steps that changed the best value or the bound, oldest first.
    pub rows: Vec<SearchRow>,
    /// The newest lines of the solver's log, each with its time in seconds on the run's clock, oldest first.
    pub lines: Vec<(f64, String)>,
    /// Position of the first line of `lines` in the whole log.
    pub first_line: u32,
}

/// Progress of a genetic algorithm.
#[derive(Clone, Debug, Default)]
pub struct RunGenerations {
    /// Newest figures of the algorithm.
    pub stats: Option<GenerationStats>,
    /// Best objective of each generation.
    pub best: Vec<RunPoint>,
    /// Mean objective of each generation.
    pub mean: Vec<RunPoint>,
}

/// A step of a search that changed the best value or the bound.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchRow {
    /// Number of the step, from 0; it stays the same when older steps are dropped.
    pub number: u32,
    /// Seconds of the run's clock.
    pub at_s: f64,
    /// Figures at that time.
    pub stats: SolverStats,
    /// Bound at that time.
    pub bound: Option<f64>,
    /// Best value at that time.
    pub best: Option<f64>,
    /// Figure that changed: `best` or `bound`.
    pub what: &'static str,
    /// Step of the method that found a new best plan; empty if only the bound changed.
    pub source: String,
}

/// A point that a run reported.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunPoint {
    /// Seconds of the run's clock.
    pub at_s: f64,
    /// Position in the run's own unit: generation, node, switch.
    pub count: f64,
    /// Value at this point.
    pub value: f64,
}

impl RunBeside {
    /// Returns the points of a series; empty if the run does not report it.
    pub fn points(&self, name: &str) -> &[RunPoint] {
        self.series.get(name).map_or(&[], Vec::as_slice)
    }

    /// Returns the bound to show, and, if it covers only some plans, a description of those plans. A bound on all plans
    /// takes precedence.
    pub fn proof(&self) -> Option<(f64, Option<&str>)> {
        let partial = || self.search.partial.as_ref().map(|bound| (bound.value, bound.only.as_deref()));
        self.bound.map(|value| (value, None)).or_else(partial)
    }

    /// Returns the newest value of a series.
    pub fn last(&self, name: &str) -> Option<f64> {
        self.points(name).last().map(|point| point.value)
    }
}
