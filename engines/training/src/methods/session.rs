//! One run of a method: the evaluator of its scenario and the connection of the searches to the context.

use super::{robust, select};
use crate::Training;
use crate::model::build::Built;
use crate::plan::{FAIR_ONLY, RateControl, TrainingResult};
use crate::scenario::TrainingScenario;
use crate::search::allocations;
use crate::search::carry;
use crate::search::circuits::{Circuits, Proposal, rank};
use crate::search::ports;
use crate::search::repair::{PortLimits, REPAIR_STREAM, RepairScratch};
use crate::search::robust::Configurations;
use crate::simulate::evaluate::{Evaluator, Rates, Scratch};
use crate::simulate::iteration::Trace;
use crate::simulate::schedule;
use lightbay_core::checked::Checked;
use lightbay_core::context::{Context, Stop};
use lightbay_core::event::{EventBody, Severity};
use lightbay_core::kind::Candidate;
use lightbay_core::method::{MethodError, Outcome};
use lightbay_core::plan::Status;
use lightbay_core::problem::{Problem, Problems};
use lightbay_core::watch::Watch;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Maximum number of boxes for the note on spare ports, which must not delay the end of a run.
const SPARE_BOXES: u64 = 100;
/// Maximum number of allocations to list for this note; all presets have fewer than a thousand.
const SPARE_LISTED: u64 = 5_000;

/// A running method on a compiled scenario.
pub(super) struct Session<'c, 'a> {
    pub cx: &'c mut Context<'a, Training>,
    /// Instance of the scenario.
    pub instance: crate::scenario::instance::Instance,
    pub evaluator: Arc<Evaluator>,
    pub rates: Rates,
    /// Start time of the genetic search while it runs, seconds; this search has a separate time limit.
    pub evolving_since_s: Option<f64>,
    /// Start time of the search over orders while it runs, seconds.
    pub ordering_since_s: Option<f64>,
    /// Configurations for which circuits are planned; `None` if circuits are planned for the scenario itself only.
    pub configurations: Option<Arc<Configurations>>,
    offer: Option<Arc<Checked<Training>>>,
}

/// Result of opening a scenario.
pub(super) enum OpenedTask<'c, 'a> {
    /// There is something to plan.
    Session(Box<Session<'c, 'a>>),
    /// Nothing crosses pods, and the plan has been reported.
    Done(Outcome),
}

impl<'c, 'a> Session<'c, 'a> {
    /// Compiles the scenario. Without inter-pod tasks there is only one plan, and this function reports it.
    pub fn open(
        scenario: &TrainingScenario,
        rates: Rates,
        proves: bool,
        cx: &'c mut Context<'a, Training>,
    ) -> Result<OpenedTask<'c, 'a>, MethodError> {
        let built = scenario.build()?;
        let evaluator = compile(&built)?;
        if built.instance.tasks.is_empty() {
            let makespan = built.compute_s().unwrap_or(0.0);
            let x = vec![1; evaluator.network.links()];
            let ports = evaluator.network.budget.total(&x) as f64;
            cx.incumbent(makespan, ports, "compute only", move || {
                let mut result = schedule::result(
                    &evaluator,
                    &x,
                    rates.control(),
                    &crate::simulate::iteration::Trace::default(),
                );
                result.ideal_makespan_s = makespan;
                let metrics = metrics(&evaluator, &result);
                Candidate { value: makespan, metrics, result }
            })?;
            if proves {
                state_bound(cx, rates, makespan);
            }
            let status = if proves { Status::Optimal } else { Status::Heuristic };
            return Ok(OpenedTask::Done(Outcome::done(status)));
        }
        let evaluator = Arc::new(evaluator);
        let configurations = match cx.params().text("robust").map(str::trim) {
            Some(text) if !text.is_empty() => Some(Arc::new(Configurations::new(
                &scenario.variants(text).map_err(Problems::from)?,
                &built.instance,
            )?)),
            _ => None,
        };
        let session = Self {
            cx,
            configurations,
            instance: built.instance,
            evaluator,
            rates,
            evolving_since_s: None,
            ordering_since_s: None,
            offer: None,
        };
        Ok(OpenedTask::Session(Box::new(session)))
    }

    /// Makes an allocation of another run fit the ports, see [`repair`]; returns whether anything changed.
    pub fn repair(&self, x: &mut [u32]) -> bool {
        repair(self.cx, &self.evaluator, x)
    }

    /// Evaluates an allocation at the rates of the method and reports it.
    pub fn evaluate(&mut self, x: Vec<u32>, source: &str) -> Result<Circuits, MethodError> {
        let makespan = self.evaluator.makespan(&x, self.rates, &mut Scratch::default());
        let found = Circuits { ports: self.evaluator.network.budget.total(&x), makespan, x };
        self.cx.count_work(1);
        self.found(found.clone().into(), source)?;
        Ok(found)
    }

    /// Runs the second phase: minimises ports at the same makespan, if requested.
    pub fn fewest_ports(&mut self, best: &mut Circuits, caps: &[u32]) -> Result<(), MethodError> {
        if !self.cx.params().bool("min_ports") {
            return Ok(());
        }
        self.cx.phase(
            "ports",
            format!("fewest ports at {:.6} s, starting from {} ports", best.makespan, best.ports),
        );
        let limit = best.makespan * (1.0 + ports::TOLERANCE);
        let evaluator = Arc::clone(&self.evaluator);
        let task = allocations::VectorTask::new(&evaluator, self.rates, caps);
        let fewest = ports::fewest(task, best, self)?;
        if fewest.found.ports < best.ports {
            *best = fewest.found;
            let (found, rates) = (best.clone(), self.rates);
            self.cx.supersede(best.makespan, best.ports as f64, "fewest ports", move || {
                candidate(&evaluator, &found.x, rates)
            })?;
        }
        if !fewest.proven && !select::fewest_ports(self, best, caps, limit)? {
            self.cx.note(
                Severity::Info,
                "fewer ports may be possible, because circuits were removed only one at a time",
            );
        }
        Ok(())
    }

    /// If ports are not minimised, reports the number of ports that keep the makespan. If the path model is not exact,
    /// reports nothing, because any other evaluation takes too long for a figure that nobody requested.
    pub fn note_spare_ports(&mut self, best: &Circuits, caps: &[u32]) {
        if self.cx.params().bool("min_ports") || !self.evaluator.exact(self.rates) {
            return;
        }
        let evaluator = Arc::clone(&self.evaluator);
        let task = allocations::VectorTask {
            listed: SPARE_LISTED,
            boxes: SPARE_BOXES,
            ..allocations::VectorTask::new(&evaluator, self.rates, caps)
        };
        // A stop here does not discard the result of the search.
        let Ok(fewest) = ports::fewest(task, best, self) else { return };
        let (used, needed) = (best.ports, fewest.found.ports);
        let text = match (needed < used, fewest.proven) {
            (true, true) => format!(
                "the plan uses {used} ports, but {needed} ports, the proven minimum, are enough for its makespan: set min_ports=true"
            ),
            (true, false) => format!(
                "the plan uses {used} ports, but {needed} ports are enough for its makespan: set min_ports=true"
            ),
            (false, true) => format!("no plan with fewer than {used} ports keeps the makespan"),
            (false, false) => return,
        };
        self.cx.note(Severity::Info, text);
    }
}

/// Makes an allocation of another run fit the ports: removes circuits of random links or, if that is not enough,
/// replaces the allocation by a random one. The random choices are seeded. Returns whether anything changed.
pub(super) fn repair(cx: &Context<'_, Training>, evaluator: &Evaluator, x: &mut [u32]) -> bool {
    let before = x.to_vec();
    let budget = &evaluator.network.budget;
    let caps: Vec<u32> = (0..budget.links()).map(|link| budget.limit(link)).collect();
    let limits = PortLimits { budget, caps: &caps };
    let mut random = cx.stream(REPAIR_STREAM);
    let mut scratch = RepairScratch::default();
    if !limits.repair(x, &mut random, &mut scratch) {
        limits.random(x, &mut random, &mut scratch);
    }
    x != before
}

/// Reports a plan if it is better than the best plan so far.
pub(super) fn hand_over(
    cx: &mut Context<'_, Training>,
    found: &Circuits,
    source: &str,
    build: impl FnOnce() -> Candidate<TrainingResult> + Send + 'static,
) -> Result<(), MethodError> {
    hand_over_plan(cx, (found.makespan, found.ports), source, build)
}

/// Reports a plan, given by its makespan and its ports, if it is better than the best plan so far.
pub(super) fn hand_over_plan(
    cx: &mut Context<'_, Training>,
    (makespan, ports): (f64, u64),
    source: &str,
    build: impl FnOnce() -> Candidate<TrainingResult> + Send + 'static,
) -> Result<(), MethodError> {
    // If makespans are equal after the rounding of `rank` (at most a nanosecond), the plan with fewer ports is better.
    let preferred = cx.best().is_some_and(|(value, known)| rank(makespan, ports) < rank(value, known as u64));
    if preferred {
        cx.supersede(makespan, ports as f64, source, build)
    } else {
        cx.incumbent(makespan, ports as f64, source, build).map(|_| ())
    }
}

/// Reports a bound on the plans at the given rates.
pub(super) fn state_bound(cx: &mut Context<'_, Training>, rates: Rates, bound: f64) {
    match rates {
        // Scheduled rates can beat every plan at fair rates, so a proof for fair rates does not cover them.
        Rates::Fair => cx.bound_over(bound, FAIR_ONLY),
        Rates::Level | Rates::Best => cx.bound(bound),
    }
}

/// Compiles the evaluator of a scenario.
pub(super) fn compile(built: &Built) -> Result<Evaluator, MethodError> {
    Evaluator::new(&built.instance).map_err(|error| MethodError::Failed(error.to_string()))
}

/// The plan of circuits `x` at the given rates, ready for the checker.
pub fn candidate(evaluator: &Evaluator, x: &[u32], rates: Rates) -> Candidate<TrainingResult> {
    let trace = evaluator.trace(x, rates, &mut Scratch::default());
    planned(evaluator, x, rates.control(), &trace)
}

/// The plan of circuits `x` with the given schedule, ready for the checker.
pub fn planned(
    evaluator: &Evaluator,
    x: &[u32],
    rates: RateControl,
    trace: &Trace,
) -> Candidate<TrainingResult> {
    let result = schedule::result(evaluator, x, rates, trace);
    let metrics = metrics(evaluator, &result);
    Candidate { value: trace.makespan, metrics, result }
}

/// The figures of a plan of one job or instance, other than its makespan.
///
/// # Errors An invalid scenario, or several jobs.
pub fn figures(
    scenario: &TrainingScenario,
    result: &TrainingResult,
) -> Result<BTreeMap<String, f64>, Problems> {
    let built = scenario.build()?;
    let evaluator = Evaluator::new(&built.instance)
        .map_err(|error| Problem::new("scenario", error.to_string(), "correct the scenario"))?;
    Ok(metrics(&evaluator, result))
}

/// The figures of a plan, other than its makespan.
pub(super) fn metrics(evaluator: &Evaluator, result: &TrainingResult) -> BTreeMap<String, f64> {
    let mut metrics = BTreeMap::new();
    let mut put = |name: &str, value: f64| {
        metrics.insert(name.to_owned(), value);
    };
    put("total_ports", result.ports_used as f64);
    let capacity = evaluator.network.budget.capacity();
    if capacity > 0 {
        put("port_ratio", result.ports_used as f64 / capacity as f64);
    }
    put("ideal_makespan_s", result.ideal_makespan_s);
    if let Some(nct) = result.nct {
        put("nct", nct);
        put("comm_ideal_s", evaluator.ideal.path.comm);
    }
    metrics
}

impl Watch<Proposal> for Session<'_, '_> {
    fn checkpoint(&mut self) -> Result<(), MethodError> {
        if let Some(since_s) = self.evolving_since_s {
            let limit_s = self.cx.params().float("wall_limit_s").unwrap_or(0.0);
            if limit_s > 0.0 && self.cx.elapsed_s() - since_s >= limit_s {
                self.cx.control().stop(Stop::Time);
            }
        }
        self.cx.checkpoint()?;
        // Plans of equal makespan may still differ in ports, or in their worst configuration.
        let seeks_more = self.cx.params().bool("min_ports") || self.configurations.is_some();
        if !seeks_more && self.cx.closed_by_another() {
            self.cx.control().stop(Stop::Proven);
            return Err(Stop::Proven.into());
        }
        Ok(())
    }

    fn found(&mut self, proposal: Proposal, source: &str) -> Result<(), MethodError> {
        let (evaluator, rates) = (Arc::clone(&self.evaluator), self.rates);
        let Proposal { circuits, schedule } = proposal;
        let x = circuits.x.clone();
        if let Some(trace) = schedule {
            return hand_over(self.cx, &circuits, source, move || {
                planned(&evaluator, &x, RateControl::Joint, &trace)
            });
        }
        let configurations = self.configurations.clone();
        hand_over(self.cx, &circuits, source, move || {
            let candidate = candidate(&evaluator, &x, rates);
            match &configurations {
                Some(all) => robust::with_worst(candidate, all),
                None => candidate,
            }
        })
    }

    fn bound(&mut self, makespan: f64) {
        state_bound(self.cx, self.rates, makespan);
    }

    fn report(&mut self, body: EventBody) {
        self.cx.report(body);
    }

    fn count(&mut self, evaluations: u64) {
        self.cx.count_work(evaluations);
    }

    fn offered(&mut self) -> Option<Proposal> {
        let plan = self.cx.offered()?;
        let mut x = carry::listed(&plan.plan().result, self.evaluator.network.links())?;
        self.repair(&mut x);
        let (makespan, ports) = (plan.plan().objective.value, self.evaluator.network.budget.total(&x));
        self.offer = Some(plan);
        Some(Circuits { x, makespan, ports }.into())
    }

    fn judged(&mut self, makespan: f64, taken: bool) {
        if let Some(plan) = self.offer.take() {
            self.cx.offer_fate(&plan, Some(makespan), taken);
        }
    }

    fn live(&self, parameter: &str) -> Option<i64> {
        let params = self.cx.params();
        // The search over orders has a separate limit.
        if parameter == "orders"
            && let Some(since_s) = self.ordering_since_s
        {
            let limit_s = params.float("orders_limit_s").unwrap_or(0.0);
            if limit_s > 0.0 && self.cx.elapsed_s() - since_s >= limit_s {
                return Some(0);
            }
        }
        params.int(parameter)
    }

    fn elapsed_s(&self) -> f64 {
        self.cx.elapsed_s()
    }

    fn is_paused(&self) -> bool {
        self.cx.control().is_paused()
    }

    fn threads(&self) -> usize {
        self.cx.threads()
    }

    fn stop_test(&self) -> Box<dyn Fn() -> bool + Send + Sync> {
        Watch::<Proposal>::stop_test(self.cx)
    }

    fn parallel<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        self.cx.parallel(work)
    }
}

/// A session for a search of the relaxation, which finds no plans; only the bound of the search is used.
pub(super) struct RelaxedSession<'s, 'c, 'a>(pub &'s mut Session<'c, 'a>);

impl Watch<Proposal> for RelaxedSession<'_, '_, '_> {
    fn checkpoint(&mut self) -> Result<(), MethodError> {
        self.0.checkpoint()
    }

    fn report(&mut self, body: EventBody) {
        self.0.report(body);
    }

    fn count(&mut self, evaluations: u64) {
        self.0.count(evaluations);
    }
}
