//! Runs: a run executes a method on a thread of its own. Each method has at most one active and one waiting run, and
//! runs offer their plans and bounds to each other.
//!
//! Uses no async runtime. All events of a run go to one [`EventSink`]; `Done` is always the last event.

use crate::checked::{Checked, Conclusion, SharedPlan, Violation};
use crate::clock::Clock;
use crate::context::{Context, Control, Early, Parts, Reporter, Stop};
use crate::event::{Done, EndStatus, Event, EventBody, EventSink, RunId, Severity, Started};
use crate::kind::Kind;
use crate::method::{Method, MethodError, Outcome};
use crate::param::{Effect, ParamInfo, ParamValue, Params};
use crate::plan::{Limit, OPTIMAL_GAP, Status, gap, not_reproducible, standing_bound};
use crate::scenario::{Scenario, sha256_of};
use crate::worker::Launcher;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

mod board;

pub use board::{RunState, Runs, Ticket};

/// Stack size of the thread of a run.
pub const STACK_BYTES: usize = 16 << 20;

/// Returns the descriptions of the parameters that every method has: seed, time limit and gap.
pub fn common_params() -> Vec<ParamInfo> {
    vec![
        ParamInfo::float(
            "time_limit_s",
            0.0,
            1e8,
            0.0,
            "Time limit for the run, which then returns the best plan so far; 0: no limit.",
        )
        .unit("s")
        .effect(Effect::Live),
        ParamInfo::float(
            "gap",
            0.0,
            1.0,
            0.0,
            "Relative gap between plan and bound at which the run stops; 0: only when the plan is proven \
             optimal.",
        )
        .effect(Effect::Live),
        ParamInfo::int("seed", 0, i64::MAX, 1, "Seed of all random choices.").effect(Effect::Cold),
    ]
}

/// Values of the parameters of [`common_params`], which every method has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Common {
    /// Seed of all random choices.
    pub seed: u64,
    /// Time limit, s: the run then ends with the best plan.
    pub time_limit_s: Option<f64>,
    /// Relative gap at which to stop.
    pub gap: Option<f64>,
}

impl Default for Common {
    fn default() -> Self {
        Self { seed: 1, time_limit_s: None, gap: None }
    }
}

impl Common {
    /// Sets a value by its name; returns `false` for a name of another setting.
    pub fn set(&mut self, name: &str, value: &ParamValue) -> bool {
        match name {
            "time_limit_s" => self.time_limit_s = limit_of(Some(value)),
            "gap" => self.gap = limit_of(Some(value)),
            "seed" => {
                self.seed = value.as_i64().and_then(|seed| u64::try_from(seed).ok()).unwrap_or(self.seed);
            }
            _ => return false,
        }
        true
    }

    /// Returns a value by its name, as [`common_params`] describes it: 0 for a limit that is not set.
    pub fn get(&self, name: &str) -> Option<ParamValue> {
        match name {
            "seed" => Some(ParamValue::Int(self.seed as i64)),
            "time_limit_s" => Some(ParamValue::Float(self.time_limit_s.unwrap_or(0.0))),
            "gap" => Some(ParamValue::Float(self.gap.unwrap_or(0.0))),
            _ => None,
        }
    }

    /// Returns the same settings, in which the given values replace the present ones; a limit of 0 means no limit.
    #[must_use]
    pub fn with(self, seed: Option<u64>, time_limit_s: Option<f64>, gap: Option<f64>) -> Self {
        Self {
            seed: seed.unwrap_or(self.seed),
            time_limit_s: time_limit_s.or(self.time_limit_s).filter(|limit| *limit > 0.0),
            gap: gap.or(self.gap).filter(|gap| *gap > 0.0),
        }
    }
}

/// Request to a method.
#[derive(Clone)]
pub struct Request<K: Kind> {
    /// The input, which never changes during the run.
    pub scenario: Arc<Scenario<K>>,
    /// Valid values for the method's own parameters.
    pub params: Params,
    /// Seed of all random choices.
    pub seed: u64,
    /// Time limit, s: the run then ends with the best plan.
    pub time_limit_s: Option<f64>,
    /// Relative gap at which to stop.
    pub gap: Option<f64>,
    /// A plan to start from, of this or a similar scenario.
    pub hot_start: Option<SharedPlan>,
    /// `true` if the method can prove a bound (from its description).
    pub proves: bool,
}

impl<K: Kind> std::fmt::Debug for Request<K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Request")
            .field("seed", &self.seed)
            .field("params", &self.params)
            .finish_non_exhaustive()
    }
}

/// A request with its method, ready to run. The type does not depend on the kind, so one board can run all kinds.
pub trait Job: Send {
    /// Returns the name of the method.
    fn method(&self) -> &str;
    /// Returns the SHA-256 of the scenario: runs with the same SHA-256 offer each other their best plans and their
    /// bounds.
    fn scenario_sha256(&self) -> &str;
    /// Returns `true` if the plans of the method optimise the objective, so that other runs may adopt them.
    fn competes(&self) -> bool;
    /// Returns `true` if the method can start from a known plan and use bounds of other runs.
    fn is_warm(&self) -> bool;
    /// Returns the initial time limit and gap.
    fn limits(&self) -> (Option<f64>, Option<f64>);
    /// Executes the method on the current thread and sends all events to the sink, `Done` last.
    fn execute(self: Box<Self>, env: Environment);
}

/// Resources that the board gives to a job.
pub struct Environment {
    pub(crate) run: RunId,
    pub(crate) pool: Arc<rayon::ThreadPool>,
    pub(crate) threads: usize,
    pub(crate) sink: Arc<dyn EventSink>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) control: Arc<Control>,
    pub(crate) launcher: Option<Arc<dyn Launcher>>,
}

/// A job of kind `K`.
pub struct TypedJob<K: Kind> {
    method: Arc<dyn Method<K>>,
    name: Arc<str>,
    request: Request<K>,
    sha256: Arc<str>,
}

impl<K: Kind> TypedJob<K> {
    /// Creates a job from a method and a request.
    ///
    /// # Errors
    /// If the scenario cannot be written (a number that is not finite).
    pub fn new(method: Arc<dyn Method<K>>, mut request: Request<K>) -> Result<Self, crate::json::WriteError> {
        // Each run records on its own which values it read.
        request.params = request.params.unread();
        let sha256 = sha256_of(&request.scenario)?;
        let name = method.info().name.into();
        Ok(Self { method, name, request, sha256 })
    }
}

impl<K: Kind> Job for TypedJob<K> {
    fn method(&self) -> &str {
        &self.name
    }

    fn scenario_sha256(&self) -> &str {
        &self.sha256
    }

    fn competes(&self) -> bool {
        K::other_question(&self.name).is_none()
    }

    fn is_warm(&self) -> bool {
        self.request.hot_start.is_some()
    }

    fn limits(&self) -> (Option<f64>, Option<f64>) {
        (self.request.time_limit_s, self.request.gap)
    }

    fn execute(self: Box<Self>, env: Environment) {
        let reporter = Reporter {
            run: env.run,
            method: Arc::clone(&self.name),
            seq: 0,
            sink: env.sink,
            control: Arc::clone(&env.control),
        };
        let mut cx = Context::new(Parts {
            request: &self.request,
            pool: &env.pool,
            clock: Arc::clone(&env.clock),
            reporter,
            launcher: env.launcher,
            scenario_sha256: Arc::clone(&self.sha256),
            threads: env.threads,
        });
        cx.report(EventBody::Started(Started {
            scenario_sha256: self.sha256.to_string(),
            parameters: self.request.params.clone(),
            seed: self.request.seed,
            threads: env.threads,
            date: env.clock.date(),
        }));
        let ended = catch_unwind(AssertUnwindSafe(|| {
            let outcome = self.method.solve(&self.request.scenario, &self.request.params, &mut cx);
            // The last best candidate is always built and checked, however the method ended.
            let built = cx.build_pending();
            match outcome {
                Ok(outcome) => built.map(|()| outcome),
                Err(error @ (MethodError::Stopped(_) | MethodError::CutShort(_))) => built.and(Err(error)),
                Err(error) => Err(error),
            }
        }));
        // Parameters that the method never read are reported only after a whole run, because a run that ended early
        // might have read them later.
        if matches!(ended, Ok(Ok(_))) {
            say_in_vain(&mut cx, &self.method.info().params);
        }
        let done = conclude(&mut cx, &env.control, ended);
        if let Some(caveat) = cx.best_checked().and_then(|plan| K::caveat(plan.plan())) {
            cx.note(Severity::Warning, caveat);
        }
        cx.report(EventBody::Done(done));
    }
}

/// Warns about given parameters that the run never read, so that they had no effect.
fn say_in_vain<K: Kind>(cx: &mut Context<'_, K>, infos: &[ParamInfo]) {
    let names: Vec<String> = cx.params().in_vain(infos).into_iter().map(|name| format!("`{name}`")).collect();
    if !names.is_empty() {
        let they = if names.len() == 1 { "this parameter controls" } else { "these parameters control" };
        let text = format!(
            "{} had no effect: the run did not use the part of the method that {they}",
            names.join(", ")
        );
        cx.note(Severity::Warning, text);
    }
}

type Ended = Result<Result<Outcome, MethodError>, Box<dyn Any + Send>>;

/// Gap up to which a bound counts as equal to the value of a plan, because methods weaken their bounds by about 1e-12
/// to be safe.
const ROUNDING: f64 = 1e-11;

/// Converts the ending of a method into the final plan and the last event.
fn conclude<K: Kind>(cx: &mut Context<'_, K>, control: &Control, ended: Ended) -> Done {
    cx.drop_pending();
    let mut violations = Vec::new();
    let mut limit = None;
    let early = match &ended {
        Ok(Err(MethodError::Stopped(stop))) => Some(Early::Stop(*stop)),
        Ok(Err(MethodError::CutShort(_))) => Some(Early::CutShort),
        Ok(Ok(_)) => None,
        _ => control.stopping().map(Early::Stop),
    };
    let (mut status, mut message) = match ended {
        Ok(Ok(Outcome::Done { status, limit: own })) => {
            limit = own;
            (EndStatus::of(status), String::new())
        }
        Ok(Ok(Outcome::Infeasible(why))) => (EndStatus::Infeasible, why),
        Ok(Ok(Outcome::Unbounded(why))) => (EndStatus::Unbounded, why),
        Ok(Err(MethodError::Stopped(stop))) => match stop {
            Stop::Gap => (EndStatus::GapReached, String::new()),
            Stop::Proven if cx.proves() => (EndStatus::Optimal, String::new()),
            Stop::Proven => (EndStatus::Heuristic, "another run proved that no plan is better".to_owned()),
            Stop::Time => {
                limit = Some(Limit::Time);
                (EndStatus::Stopped, "time limit reached".to_owned())
            }
            Stop::Requested => (EndStatus::Stopped, "stopped on request".to_owned()),
            Stop::Signal => (EndStatus::Stopped, "stopped by a signal".to_owned()),
        },
        Ok(Err(MethodError::CutShort(why))) if cx.best_checked().is_some() => (EndStatus::Stopped, why),
        Ok(Err(MethodError::Invalid(problems))) => (EndStatus::Invalid, problems.to_string()),
        Ok(Err(MethodError::Infeasible(why))) => (EndStatus::Infeasible, why),
        Ok(Err(error)) => {
            let message = error.to_string();
            if let MethodError::Rejected(refused) = error {
                violations = refused;
            }
            (EndStatus::Failed, message)
        }
        Err(panic) => (EndStatus::Panicked, panic_message(panic.as_ref())),
    };
    let best = cx.best_checked().map(|plan| plan.plan().objective.value);
    let stated = cx.best_bound();
    let bound = match (best, stated) {
        // A bound that was derived from the best plan may differ from its value by rounding; the plan then meets the
        // bound.
        (Some(value), Some(bound)) if gap(value, bound) <= ROUNDING => Some(value),
        (Some(value), Some(bound)) => standing_bound(K::OBJECTIVE.sense, value, bound),
        _ => stated,
    };
    if let (Some(value), Some(stated), None) = (best, stated, bound) {
        message = format!(
            "the bound {stated} of the run is wrong, because the plan of the same run has the better value {value}"
        );
        violations.push(Violation::new("bound", message.clone()));
        status = EndStatus::Failed;
    }
    let failed = matches!(status, EndStatus::Invalid | EndStatus::Failed | EndStatus::Panicked);
    let finished = match status {
        EndStatus::Optimal => Some(Status::Optimal),
        EndStatus::GapReached => Some(Status::GapReached),
        EndStatus::Heuristic => Some(Status::Heuristic),
        EndStatus::NumericalTrouble => Some(Status::NumericalTrouble),
        EndStatus::Feasible => Some(Status::Feasible),
        EndStatus::Stopped | EndStatus::Invalid | EndStatus::Failed | EndStatus::Panicked => {
            Some(Status::Stopped)
        }
        EndStatus::Infeasible | EndStatus::Unbounded | EndStatus::NoPlan => None,
    };
    let plan = match (cx.best_checked(), finished) {
        (Some(plan), Some(status)) => {
            let reason = cx
                .not_reproducible_after(early)
                .or_else(|| failed.then(|| not_reproducible::FAILURE.to_owned()));
            Some(final_plan(plan, status, limit, bound, reason, cx, control))
        }
        _ => None,
    };
    let proven = plan.as_ref().is_some_and(|plan| plan.plan().status == Status::Optimal);
    let (limit, message) = match status {
        // The stop came after the proof, so the proof remains valid.
        EndStatus::Stopped if proven => (None, format!("no better plan exists; {message} after the proof")),
        _ if proven => (None, message),
        _ => (limit, message),
    };
    let status = match (&plan, status) {
        (Some(plan), EndStatus::Optimal | EndStatus::GapReached | EndStatus::Feasible) => {
            EndStatus::of(plan.plan().status)
        }
        (Some(_), EndStatus::Stopped) if proven => EndStatus::Optimal,
        (
            None,
            EndStatus::Optimal
            | EndStatus::GapReached
            | EndStatus::Feasible
            | EndStatus::Heuristic
            | EndStatus::Stopped
            | EndStatus::NumericalTrouble,
        ) => EndStatus::NoPlan,
        (_, status) => status,
    };
    Done {
        status,
        limit,
        message,
        violations,
        value: plan.as_ref().map(|plan| plan.plan().objective.value),
        bound,
        work: cx.work(),
        plan: plan.map(|plan| plan as SharedPlan),
    }
}

fn final_plan<K: Kind>(
    plan: &Arc<Checked<K>>,
    status: Status,
    limit: Option<Limit>,
    bound: Option<f64>,
    not_reproducible_because: Option<String>,
    cx: &Context<'_, K>,
    control: &Control,
) -> Arc<Checked<K>> {
    let value = plan.plan().objective.value;
    // A second phase may worsen the objective by a tolerance; the bound is then slightly better than the plan. A method
    // that proves nothing may get a bound from elsewhere, but its plans stay heuristic.
    let proven = cx.proves() && bound.is_some_and(|bound| gap(value, bound) <= OPTIMAL_GAP);
    let status = match status {
        // A plan that meets its bound is optimal, however the run ended.
        Status::Optimal | Status::Stopped | Status::Feasible | Status::GapReached if proven => {
            Status::Optimal
        }
        // A plan that does not meet its bound is not optimal, and `gap_reached` needs a bound.
        Status::Optimal => Status::Feasible,
        Status::GapReached if bound.is_none() => Status::Feasible,
        other => other,
    };
    let limit = if matches!(status, Status::Optimal | Status::GapReached) { None } else { limit };
    Arc::new(plan.concluded(Conclusion {
        status,
        limit,
        bound,
        bound_covers: bound.and_then(|_| cx.bound_covers()),
        elapsed_s: control.elapsed().as_secs_f64(),
        not_reproducible_because,
    }))
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_owned());
    format!("the method crashed: {text}")
}

/// Reports an event on behalf of a run that never began.
pub(crate) fn report_without_run(sink: &dyn EventSink, run: RunId, method: &str, body: EventBody) {
    sink.report(Event { run, method: method.into(), seq: 0, elapsed_s: 0.0, body });
}

/// Converts a common limit read from parameters: 0 means no limit.
pub fn limit_of(value: Option<&ParamValue>) -> Option<f64> {
    value.and_then(ParamValue::as_f64).filter(|limit| *limit > 0.0)
}
