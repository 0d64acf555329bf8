//! Context of a method: requests to stop, reports, known plans and bounds, threads and randomness.

use crate::checked::{AnyChecked, Checked, SharedPlan, downcast};
use crate::clock::Clock;
use crate::event::{
    Bound, Edit, Event, EventBody, EventSink, HotStartFate, HotStartReport, Incumbent, Note, Offer, Phase,
    RunId, Severity,
};
use crate::kind::{Candidate, Kind, Sense};
use crate::method::MethodError;
use crate::param::{Effect, Params};
use crate::plan::{OPTIMAL_GAP, Objective, Plan, Provenance, Status, gap, not_reproducible, standing_bound};
use crate::random::{Stream, Streams};
use crate::read::check_readable;
use crate::run::Request;
use crate::worker::Launcher;
use std::sync::Arc;
use std::time::Duration;

mod apart;
mod control;

pub use apart::Apart;
pub use control::{Control, OfferedBound, Stop};

/// Minimum time between two candidates that are built and checked. If a better candidate arrives earlier, the run
/// reports its objective at once and builds it later, unless a still better candidate replaces it.
pub const BUILD_INTERVAL: Duration = Duration::from_millis(250);

/// Relative difference below which two objective values count as a tie, which the secondary value decides.
pub const TIE: f64 = 1e-12;

/// A plan that a run was started from.
#[derive(Debug)]
pub struct HotStart<K: Kind> {
    /// The plan to start from.
    pub plan: Arc<Checked<K>>,
    /// `true` if the plan is for exactly this scenario; otherwise [`Kind::carry`] adapts it.
    pub same_scenario: bool,
}

type Build<K> = Box<dyn FnOnce() -> Candidate<<K as Kind>::Result> + Send>;

struct Best<K: Kind> {
    value: f64,
    secondary: f64,
    source: String,
    /// The best candidate, if it has not been built and checked yet.
    pending: Option<Build<K>>,
}

/// Sends the events of one run, each with its number and its time.
pub(crate) struct Reporter {
    pub(crate) run: RunId,
    pub(crate) method: Arc<str>,
    pub(crate) seq: u64,
    pub(crate) sink: Arc<dyn EventSink>,
    pub(crate) control: Arc<Control>,
}

impl Reporter {
    pub(crate) fn report(&mut self, body: EventBody) {
        let event = Event {
            run: self.run,
            method: Arc::clone(&self.method),
            seq: self.seq,
            elapsed_s: self.control.elapsed().as_secs_f64(),
            body,
        };
        self.seq += 1;
        self.sink.report(event);
    }
}

/// Context of a method of kind `K`: everything that the method gets besides scenario and parameters.
pub struct Context<'a, K: Kind> {
    request: &'a Request<K>,
    pool: &'a rayon::ThreadPool,
    clock: Arc<dyn Clock>,
    control: Arc<Control>,
    reporter: Reporter,
    launcher: Option<Arc<dyn Launcher>>,
    scenario_sha256: Arc<str>,
    started_at: String,
    threads: usize,
    params: Params,
    best: Option<Best<K>>,
    checked: Option<Arc<Checked<K>>>,
    /// Objective value and secondary value of the last checked plan, and the step that found it.
    kept: Option<(f64, f64, String)>,
    bound: Option<f64>,
    bound_covers: Option<String>,
    last_built: Option<Duration>,
    built: u64,
    work: u64,
    fed_by: Option<String>,
    /// Method of the concurrent run whose bound proved that the best plan of this run is optimal or within the
    /// requested gap.
    bounded_by: Option<String>,
    /// If true, the search ends when a bound of another run meets the best plan.
    ends_when_proven: bool,
    edited: bool,
    hot_start_words: Option<String>,
    solver: Option<String>,
}

/// The parts of a context that the runner supplies.
pub(crate) struct Parts<'a, K: Kind> {
    pub(crate) request: &'a Request<K>,
    pub(crate) pool: &'a rayon::ThreadPool,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) reporter: Reporter,
    pub(crate) launcher: Option<Arc<dyn Launcher>>,
    pub(crate) scenario_sha256: Arc<str>,
    pub(crate) threads: usize,
}

impl<'a, K: Kind> Context<'a, K> {
    pub(crate) fn new(parts: Parts<'a, K>) -> Self {
        Self {
            request: parts.request,
            pool: parts.pool,
            control: Arc::clone(&parts.reporter.control),
            started_at: parts.clock.date(),
            clock: parts.clock,
            reporter: parts.reporter,
            launcher: parts.launcher,
            scenario_sha256: parts.scenario_sha256,
            threads: parts.threads,
            params: parts.request.params.clone(),
            best: None,
            checked: None,
            kept: None,
            bound: None,
            bound_covers: None,
            last_built: None,
            built: 0,
            work: 0,
            fed_by: None,
            bounded_by: None,
            ends_when_proven: false,
            edited: false,
            hot_start_words: None,
            solver: None,
        }
    }

    /// Checks whether to stop. Blocks while the run is paused, applies live edits, and builds the waiting candidate
    /// once [`BUILD_INTERVAL`] has passed since the last candidate was built. Call this function at least every 5 ms of
    /// work; a call costs well under a microsecond.
    ///
    /// # Errors
    /// The reason to stop, to be passed on with `?`; or [`MethodError::Rejected`] if the checker refused the waiting
    /// candidate.
    pub fn checkpoint(&mut self) -> Result<(), MethodError> {
        self.control.wait_while_paused(|paused| {
            self.reporter.report(EventBody::Paused(crate::event::Paused { paused }));
        });
        for (name, value) in self.control.take_edits() {
            let old = self.params.get(&name).cloned();
            self.params.set(name.clone(), value.clone());
            self.edited = true;
            self.reporter.report(EventBody::Edit(Edit { name, old, new: value, effect: Effect::Live }));
        }
        if let Some(stop) = self.control.stopping() {
            return Err(stop.into());
        }
        if self.gap_is_reached() {
            self.control.stop(Stop::Gap);
            return Err(Stop::Gap.into());
        }
        if self.ends_when_proven && self.closed_by_another() {
            return Err(Stop::Proven.into());
        }
        if self.best.as_ref().is_some_and(|best| best.pending.is_some()) && self.may_build() {
            self.build_pending()?;
        }
        Ok(())
    }

    /// Sets whether checkpoints end the search with [`Stop::Proven`] when a bound that another run proved meets the
    /// best plan. For methods that optimise only the objective. A method with work after its search, such as routing,
    /// must treat this stop as the end of the search only.
    pub const fn end_when_proven(&mut self, wanted: bool) {
        self.ends_when_proven = wanted;
    }

    /// Returns whether a gap is requested and the gap between the best plan and a bound is at most this gap. The bound
    /// may be the run's own bound or a bound that another run proved. Bounds of other runs do not count for a method
    /// that proves nothing, because these bounds are not written into the plans of the method.
    fn gap_is_reached(&mut self) -> bool {
        let wanted = self.control.gap();
        let Some(value) = self.best.as_ref().map(|best| best.value) else { return false };
        if wanted <= 0.0 {
            return false;
        }
        self.bound.is_some_and(|bound| gap(value, bound) <= wanted)
            || (self.request.proves && self.met_by_another(value, wanted))
    }

    fn may_build(&self) -> bool {
        self.last_built.is_none_or(|last| self.clock.now() >= last + BUILD_INTERVAL)
    }

    /// Sets the name and version of the solver that finds the plans from now on (`HiGHS 1.15.0`). The plans contain
    /// this text.
    pub fn solver(&mut self, name: impl Into<String>) {
        self.solver = Some(name.into());
    }

    /// Returns the control of the run, with which closures on other threads check for stops and pauses.
    pub fn control(&self) -> &Arc<Control> {
        &self.control
    }

    /// Returns the seconds of the run's clock, which stands still while the run is paused.
    pub fn elapsed_s(&self) -> f64 {
        self.control.elapsed().as_secs_f64()
    }

    /// Sends an event.
    pub fn report(&mut self, body: EventBody) {
        self.reporter.report(body);
    }

    /// Reports that a phase begins.
    pub fn phase(&mut self, name: &str, detail: impl Into<String>) {
        self.report(EventBody::Phase(Phase { name: name.to_owned(), detail: detail.into() }));
    }

    /// Reports a remark for a person.
    pub fn note(&mut self, severity: Severity, text: impl Into<String>) {
        self.report(EventBody::Note(Note { severity, text: text.into() }));
    }

    /// Reports a plan, which is kept only if it is better than the best plan so far; at equal values, the plan with the
    /// smaller `secondary` is better. `build` runs at once, or later if less than [`BUILD_INTERVAL`] has passed since
    /// the last candidate was built. The candidate that is the best at the end of the run is always built.
    ///
    /// Returns whether the plan is kept.
    ///
    /// # Errors
    /// [`MethodError::Rejected`] if the checker refuses the plan.
    pub fn incumbent(
        &mut self,
        value: f64,
        secondary: f64,
        source: &str,
        build: impl FnOnce() -> Candidate<K::Result> + Send + 'static,
    ) -> Result<bool, MethodError> {
        if let Some(best) = &self.best
            && !is_better(K::OBJECTIVE.sense, (value, secondary), (best.value, best.secondary))
        {
            return Ok(false);
        }
        self.supersede(value, secondary, source, build)?;
        Ok(true)
    }

    /// Reports a plan that always replaces the best plan, even if the value of the new plan is slightly worse. For the
    /// result of a second phase that optimises a secondary value at an equal objective (ports at equal makespan).
    ///
    /// # Errors
    /// [`MethodError::Rejected`] if the checker refuses the plan.
    pub fn supersede(
        &mut self,
        value: f64,
        secondary: f64,
        source: &str,
        build: impl FnOnce() -> Candidate<K::Result> + Send + 'static,
    ) -> Result<(), MethodError> {
        self.best =
            Some(Best { value, secondary, source: source.to_owned(), pending: Some(Box::new(build)) });
        if self.may_build() {
            return self.build_pending();
        }
        self.report(EventBody::Incumbent(Incumbent {
            number: 0,
            value,
            secondary,
            source: source.to_owned(),
            checked: false,
            metrics: std::collections::BTreeMap::new(),
            plan: None,
        }));
        Ok(())
    }

    /// Builds, checks and publishes the best candidate, unless this candidate is already built. If the checker refuses
    /// the candidate, the last checked plan becomes the best again.
    pub(crate) fn build_pending(&mut self) -> Result<(), MethodError> {
        let Some(best) = &mut self.best else { return Ok(()) };
        let Some(build) = best.pending.take() else { return Ok(()) };
        let (secondary, source) = (best.secondary, best.source.clone());
        let candidate = build();
        best.value = candidate.value;
        // A bound that the candidate beats is not written into the candidate; the end of the run reports that the bound
        // is wrong.
        let bound = self.bound.and_then(|bound| standing_bound(K::OBJECTIVE.sense, candidate.value, bound));
        let mut plan = Plan {
            scenario: Arc::clone(&self.request.scenario),
            name: self.request.scenario.name.clone(),
            method: self.reporter.method.to_string(),
            parameters: self.params.clone(),
            seed: self.request.seed,
            threads: self.threads,
            status: if self.request.proves { Status::Feasible } else { Status::Heuristic },
            limit: None,
            objective: Objective::of::<K>(candidate.value, bound),
            metrics: candidate.metrics,
            provenance: Provenance {
                lightbay_version: env!("CARGO_PKG_VERSION").to_owned(),
                solver: self.solver.clone(),
                scenario_sha256: self.scenario_sha256.to_string(),
                started_at: self.started_at.clone(),
                elapsed_s: self.elapsed_s(),
                hot_start: self.hot_start_words.clone(),
                // Set only at the end of the run, because a repeated run returns its last plan.
                reproducible: false,
                not_reproducible_because: Some(
                    self.not_reproducible_after(None)
                        .unwrap_or_else(|| not_reproducible::UNFINISHED.to_owned()),
                ),
                ..Provenance::default()
            },
            derived_from: None,
            notes: None,
            result: candidate.result,
        };
        plan.provenance.set_bound_covers(self.bound_covers.as_deref().filter(|_| bound.is_some()));
        self.last_built = Some(self.clock.now());
        let checked = match self.verified(plan) {
            Ok(checked) => Arc::new(checked),
            Err(rejected) => {
                // Restores the bound of the last checked plan: a later bound may hold only for plans that break the
                // same rules as this plan.
                if let Some(checked) = &self.checked {
                    self.bound = checked.plan().objective.bound;
                    self.bound_covers = checked.plan().provenance.bound_covers().map(str::to_owned);
                }
                let kept = self.kept.clone();
                self.best =
                    kept.map(|(value, secondary, source)| Best { value, secondary, source, pending: None });
                return Err(MethodError::Rejected(rejected.violations));
            }
        };
        // A plan that cannot be read back is refused, because no file or session with the plan could be opened.
        let text = checked.to_json().map_err(|error| MethodError::Failed(error.to_string()))?;
        if let Err(problem) = check_readable(&text, text.len() as u64) {
            let kept = self.kept.clone();
            self.best =
                kept.map(|(value, secondary, source)| Best { value, secondary, source, pending: None });
            return Err(MethodError::Failed(format!("the plan {problem}")));
        }
        self.kept = Some((checked.plan().objective.value, secondary, source.clone()));
        self.built += 1;
        let shared: SharedPlan = checked.clone();
        self.report(EventBody::Incumbent(Incumbent {
            number: self.built,
            value: checked.plan().objective.value,
            secondary,
            source,
            checked: true,
            metrics: checked.plan().metrics.clone(),
            plan: Some(shared),
        }));
        self.checked = Some(checked);
        Ok(())
    }

    /// Returns the best plan so far; builds and checks it first if necessary.
    ///
    /// # Errors
    /// [`MethodError::Rejected`] if the checker refuses the plan.
    pub fn best_plan(&mut self) -> Result<Option<Arc<Checked<K>>>, MethodError> {
        self.build_pending()?;
        Ok(self.checked.clone())
    }

    /// Returns the best objective value and secondary value so far.
    pub fn best(&self) -> Option<(f64, f64)> {
        self.best.as_ref().map(|best| (best.value, best.secondary))
    }

    /// Reports a bound on all plans of the scenario. A bound that is not stronger than the best bound so far is
    /// ignored.
    pub fn bound(&mut self, value: f64) {
        self.state_bound(value, None);
    }

    /// Reports a bound like [`Context::bound`], for a method that solves a narrower problem than the scenario: `only`
    /// names the plans that the bound covers (`plans at fair rates`). The plan contains the bound, and the provenance
    /// of the plan names the covered plans.
    pub fn bound_over(&mut self, value: f64, only: &str) {
        self.state_bound(value, Some(only.to_owned()));
    }

    fn state_bound(&mut self, value: f64, only: Option<String>) {
        let sense = K::OBJECTIVE.sense;
        // Bounds improve in the opposite direction to the objective.
        if self.bound.is_none_or(|known| sense.better(known, value)) && value.is_finite() {
            self.bound = Some(value);
            self.bound_covers.clone_from(&only);
            self.report(EventBody::Bound(Bound { value, only }));
        }
    }

    /// Reports a bound that covers only some plans, such as one event order. Such a bound is never written into a plan.
    pub fn partial_bound(&mut self, value: f64, only: &str) {
        self.report(EventBody::Bound(Bound { value, only: Some(only.to_owned()) }));
    }

    /// Returns the best bound reported so far.
    pub fn best_bound(&self) -> Option<f64> {
        self.bound
    }

    /// Returns whether the best plan meets the best bound; in this case, the run cannot find a better plan. A bound on
    /// all plans that another run of the scenario proved counts as well; if the method of this run proves bounds, the
    /// run adopts that bound.
    pub fn closed(&mut self) -> bool {
        let Some(value) = self.best.as_ref().map(|best| best.value) else { return false };
        let meets = |bound: f64| gap(value, bound) <= OPTIMAL_GAP;
        self.bound.is_some_and(meets) || self.closed_by_another()
    }

    /// Returns whether the best plan meets a bound of another run. For methods that compare the best plan with their
    /// own bounds themselves.
    pub fn closed_by_another(&mut self) -> bool {
        let Some(value) = self.best.as_ref().map(|best| best.value) else { return false };
        self.met_by_another(value, OPTIMAL_GAP)
    }

    /// Returns whether a bound that another run proved is within the relative gap `width` of the best value. If it is,
    /// and if the method of this run proves bounds, adopts the bound.
    fn met_by_another(&mut self, value: f64, width: f64) -> bool {
        let Some(met) = self.control.offered_bound(|bound| gap(value, bound) <= width) else {
            return false;
        };
        if self.bounded_by.is_none() {
            let what = if gap(value, met.value) <= OPTIMAL_GAP {
                "no better plan exists"
            } else {
                "the requested gap is reached"
            };
            self.note(Severity::Info, format!("{what}: {} proved the bound {}", met.method, met.value));
            self.bounded_by = Some(met.method.to_string());
            // The run that proved the bound has already reported the bound to the other runs. A method that proves
            // nothing does not write bounds into its plans.
            if self.request.proves {
                (self.bound, self.bound_covers) = (Some(met.value), None);
            }
        }
        true
    }

    /// Adds to the count of work done (evaluations, nodes).
    pub fn count_work(&mut self, units: u64) {
        self.work += units;
    }

    /// Returns the plan that this run was started from. Call [`Context::hot_start_fate`] to report whether the plan was
    /// used.
    pub fn hot_start(&self) -> Option<HotStart<K>> {
        let plan = self.request.hot_start.as_ref().and_then(downcast::<K>)?;
        let same_scenario = plan.plan().provenance.scenario_sha256 == *self.scenario_sha256;
        Some(HotStart { plan, same_scenario })
    }

    /// Reports whether the hot start was used: `why` gives the reason for a rejection, or the repairs; `before` and
    /// `after` are the objective of the plan before and after its adaptation.
    pub fn hot_start_fate(
        &mut self,
        fate: HotStartFate,
        why: impl Into<String>,
        before: Option<f64>,
        after: Option<f64>,
    ) {
        if fate != HotStartFate::Rejected {
            let from = self.request.hot_start.as_ref().map(|plan| plan.header().method).unwrap_or_default();
            self.hot_start_words = Some(match before {
                Some(value) => format!("{from} {value} {}", fate.word()),
                None => format!("{from} {}", fate.word()),
            });
        }
        self.report(EventBody::HotStart(HotStartReport { fate, why: why.into(), before, after }));
    }

    /// Returns the newest plan that another run of the same scenario offered, if this run has not seen it and it is
    /// better than the run's own best. Call [`Context::offer_fate`] to report whether the plan was used.
    pub fn offered(&mut self) -> Option<Arc<Checked<K>>> {
        let plan = downcast::<K>(&self.control.take_offer()?)?;
        let value = plan.plan().objective.value;
        if self.best().is_some_and(|(best, _)| !is_better(K::OBJECTIVE.sense, (value, 0.0), (best, 0.0))) {
            return None;
        }
        self.fed_by = Some(plan.plan().method.clone());
        Some(plan)
    }

    /// Reports the fate of an offer: its value under this run's own rules, and whether it became the incumbent.
    pub fn offer_fate(&mut self, plan: &Checked<K>, here: Option<f64>, taken: bool) {
        let (from, value) = (plan.plan().method.clone(), plan.plan().objective.value);
        self.report(EventBody::Offer(Offer { from, value, here, taken }));
    }

    /// Returns random stream `number`, derived from the run's seed.
    pub fn stream(&self, number: u64) -> Stream {
        Streams::new(self.request.seed).stream(number)
    }

    /// Returns the current parameters, including live edits.
    pub const fn params(&self) -> &Params {
        &self.params
    }

    /// Runs `work` on the threads of the run and returns its result; rayon's parallel iterators inside `work` use these
    /// threads.
    pub fn parallel<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        self.pool.install(work)
    }

    /// Returns the number of threads that the run may use.
    pub const fn threads(&self) -> usize {
        self.threads
    }

    /// Returns the launcher of solver processes, if the program allows them.
    pub fn launcher(&self) -> Option<&Arc<dyn Launcher>> {
        self.launcher.as_ref()
    }

    pub(crate) fn bound_covers(&self) -> Option<String> {
        self.bound_covers.clone()
    }

    pub(crate) const fn proves(&self) -> bool {
        self.request.proves
    }

    pub(crate) const fn work(&self) -> u64 {
        self.work
    }

    pub(crate) const fn best_checked(&self) -> Option<&Arc<Checked<K>>> {
        self.checked.as_ref()
    }

    pub(crate) fn drop_pending(&mut self) {
        if let Some(best) = &mut self.best {
            best.pending = None;
        }
    }

    /// Returns the reason that a repeated run may give another plan, if there is one. `early` is the cause of an early
    /// end; it is `None` if the method ended by itself. A stop request that arrived after the method ended by itself
    /// has no influence.
    pub(crate) fn not_reproducible_after(&self, early: Option<Early>) -> Option<String> {
        if let Some(from) = &self.fed_by {
            return Some(format!("the run took a plan from {from}, which ran at the same time"));
        }
        if let Some(from) = &self.bounded_by {
            return Some(format!("the bound was proved by {from}, which ran at the same time"));
        }
        if self.edited {
            return Some(not_reproducible::CHANGED.to_owned());
        }
        let why = match early {
            None | Some(Early::Stop(Stop::Gap | Stop::Proven)) => return None,
            Some(Early::Stop(Stop::Time)) => not_reproducible::CLOCK,
            Some(Early::Stop(Stop::Requested)) => not_reproducible::PERSON,
            Some(Early::Stop(Stop::Signal)) => not_reproducible::SIGNAL,
            Some(Early::CutShort) => not_reproducible::CUT_SHORT,
        };
        Some(why.to_owned())
    }
}

/// Cause of an end of the run before the method was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Early {
    /// A request, a limit or a signal.
    Stop(Stop),
    /// See [`MethodError::CutShort`].
    CutShort,
}

fn is_better(sense: Sense, new: (f64, f64), old: (f64, f64)) -> bool {
    let tie = TIE * old.0.abs().max(new.0.abs());
    if (new.0 - old.0).abs() <= tie { new.1 < old.1 } else { sense.better(new.0, old.0) }
}

impl<K: Kind> std::fmt::Debug for Context<'_, K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context")
            .field("run", &self.reporter.run)
            .field("bound", &self.bound)
            .finish_non_exhaustive()
    }
}
