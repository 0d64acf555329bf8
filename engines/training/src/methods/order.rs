//! `delta-order`: the best schedule of given circuits by linear programs over event orders.

use super::approach::SessionMethod;
use super::session::Session;
use super::{evolve, given, idle, knobs, start};
use crate::plan::TrainingResult;
use crate::scenario::TrainingScenario;
use crate::search::carry;
use crate::search::circuits::{Circuits, Proposal};
use crate::search::event_orders;
use crate::search::ga;
use crate::search::order::{self, Improved, OrderLimits};
use crate::search::polish::polish;
use crate::search::repair;
use crate::simulate::evaluate::{Rates, Scratch};
use crate::simulate::iteration::{Piece, Trace};
use lightbay_core::event::{EventBody, Severity};
use lightbay_core::method::{MethodError, MethodInfo, Outcome};
use lightbay_core::param::{ParamInfo, Params};
use lightbay_core::plan::{Limit, Status};
use lightbay_core::problem::Problem;
use lightbay_core::watch::Watch;
use std::sync::Arc;

/// Text that names the plans that the bound of this method covers.
const ONLY: &str = "these circuits only";

/// Gap up to which the bound of given circuits counts as met.
const PROVEN: f64 = 1e-9;

/// Maximum number of linear programs per neighbouring allocation: each search only has to beat the best known schedule.
const LPS_EACH: u64 = 60;

/// The method `delta-order`: the search over event orders.
pub(super) struct Ordered;

impl SessionMethod for Ordered {
    fn info(&self) -> MethodInfo {
        let mut params = vec![ParamInfo::int_list(
            "circuits",
            1,
            1_000_000,
            "Circuits of every link, in link order. Default: the circuits of the hot start, or the \
             best circuits of a short search.",
        )];
        params.extend(knobs::event_orders());
        params.extend(knobs::ordering());
        params.push(ParamInfo::bool(
            "exchange",
            false,
            "If true, also moves single circuits between links and evaluates each new allocation \
             by the same search.",
        ));
        MethodInfo {
            name: "delta-order",
            help: "Finds a short schedule of given circuits: local search over event orders, with a linear \
                 program for each order.",
            proves: false,
            hot_start: true,
            params,
        }
    }

    fn idle(&self, _scenario: &TrainingScenario, params: &Params) -> Vec<Problem> {
        idle::orders(params)
    }

    fn run(&self, session: &mut Session<'_, '_>, params: &Params) -> Result<Outcome, MethodError> {
        let mut best =
            match given::circuits(&session.evaluator.network, &session.instance, params, "circuits")? {
                Some(x) => session.evaluate(x, "given circuits")?,
                None => short_search(session)?,
            };
        // The bound of these circuits at joint rates.
        let floor = session.evaluator.bound(&best.x, &mut Scratch::default()) * (1.0 - 1e-12);
        session.cx.partial_bound(floor, ONLY);
        let improved = improve(session, &best.x)?;
        let mut cut_short = improved.cut_short;
        best.makespan = best.makespan.min(improved.makespan);
        // The linear programs give no proof; the tree search may find one.
        if best.makespan > floor * (1.0 + PROVEN) {
            cut_short &= !prove(session, &mut best, floor)?;
        }
        if session.cx.params().bool("exchange") {
            cut_short |= exchange(session, &mut best)?;
        }
        Ok(Outcome::Done { status: Status::Heuristic, limit: cut_short.then_some(Limit::Work) })
    }
}

/// Returns the circuits of the hot start, or the best circuits that a short genetic search finds from the baselines.
fn short_search(session: &mut Session<'_, '_>) -> Result<Circuits, MethodError> {
    let start = start::start(session)?;
    if start.hot {
        return Ok(start.best);
    }
    session.cx.phase("genetic search", "a short search for circuits");
    let settings = ga::GaSettings { generations: 60, stall_generations: 20, ..ga::GaSettings::default() };
    // Live edits change the limits of the long search and do not apply here.
    let evolved = evolve::search(session, &settings, &start, None)?;
    Ok(if evolved.best.better_than(&start.best) { evolved.best } else { start.best })
}

/// Runs the search over event orders as a phase of a method, starting from both simulated schedules of circuits `x`
/// and, if the hot start has these circuits, from the schedule of the hot start. Reports the schedules that the search
/// finds.
pub(super) fn improve(session: &mut Session<'_, '_>, x: &[u32]) -> Result<Improved, MethodError> {
    session.cx.phase("event orders", format!("linear programs for circuits {x:?}"));
    let evaluator = Arc::clone(&session.evaluator);
    let mut scratch = Scratch::default();
    // Both simulated schedules give starting orders.
    let mut starts =
        vec![evaluator.trace(x, Rates::Level, &mut scratch), evaluator.trace(x, Rates::Fair, &mut scratch)];
    if let Some(hot) = session.cx.hot_start()
        && hot.same_scenario
        // A hot start with these circuits adds its event order.
        && carry::listed(&hot.plan.plan().result, x.len()).as_deref() == Some(x)
    {
        let trace = schedule_of(session, &hot.plan.plan().result);
        let found =
            Circuits { x: x.to_vec(), makespan: trace.makespan, ports: evaluator.network.budget.total(x) };
        session.found(
            Proposal { circuits: found.clone(), schedule: Some(Arc::new(trace.clone())) },
            "hot start",
        )?;
        starts.push(trace);
    }
    let limits = knobs::order_limits(session.cx.params(), session.cx.stream(order::STREAM));
    order::improve(&evaluator, x, &starts, limits, session)
}

/// Returns the schedule of a plan.
fn schedule_of(session: &Session<'_, '_>, result: &TrainingResult) -> Trace {
    let mut trace = Trace::default();
    for (task, schedule) in result.tasks.iter().enumerate() {
        trace.start.push(schedule.start_s);
        trace.finish.push(schedule.finish_s);
        trace.makespan = trace.makespan.max(schedule.finish_s + session.evaluator.network.tail[task]);
        trace.pieces.extend(schedule.segments.iter().map(|segment| Piece {
            task: task as u32,
            start: segment.start_s,
            end: segment.end_s,
            volume: segment.volume_bytes,
        }));
    }
    trace
}

/// Computes a bound for the circuits of `best` by branching on the order in which transfers start and end; improves
/// `best` if it finds a better schedule. Returns whether the bound is met.
fn prove(session: &mut Session<'_, '_>, best: &mut Circuits, floor: f64) -> Result<bool, MethodError> {
    let evaluator = Arc::clone(&session.evaluator);
    session.cx.phase("orders", "a bound for these circuits");
    session.ordering_since_s = Some(session.cx.elapsed_s());
    // The caps equal the circuits, so the tree has a single allocation.
    let caps = best.x.clone();
    let settings = event_orders::ProofLimits::default();
    let mut watch = GivenCircuits { session, x: &caps };
    let closed =
        event_orders::TreeSearch::new(&evaluator, &caps, best.clone(), floor, settings, &mut watch).run()?;
    session.ordering_since_s = None;
    if let Some(found) = closed.best {
        best.makespan = found.makespan;
    }
    if closed.complete {
        session.cx.note(Severity::Info, "no schedule on these circuits is shorter");
    }
    Ok(closed.complete)
}

/// Exchanges single circuits as long as a short search over event orders finds a better schedule for the changed
/// circuits; returns whether a limit ended a search early.
fn exchange(session: &mut Session<'_, '_>, best: &mut Circuits) -> Result<bool, MethodError> {
    session.cx.phase("exchanges", "single circuits, each evaluated by a search over event orders");
    let evaluator = Arc::clone(&session.evaluator);
    let budget = &evaluator.network.budget;
    let caps: Vec<u32> = (0..budget.links()).map(|link| budget.limit(link)).collect();
    let mut scratch = Scratch::default();
    let mut stopped = Ok(());
    let mut cut_short = false;
    let mut known = best.makespan;
    let mut x = best.x.clone();
    let stream = session.cx.stream(order::STREAM);
    let limits = knobs::order_limits(session.cx.params(), stream);
    let makespan =
        polish(repair::PortLimits { budget, caps: &caps }, &mut x, best.makespan, &mut |x: &[u32]| {
            let bound = evaluator.bound(x, &mut scratch);
            // Circuits whose bound reaches the best makespan need no linear programs.
            if bound >= known {
                return Some(bound);
            }
            let starts = [
                evaluator.trace(x, Rates::Level, &mut scratch),
                evaluator.trace(x, Rates::Fair, &mut scratch),
            ];
            // Each search is short, because many neighbours are evaluated.
            let limits = OrderLimits { lps: limits.lps.min(LPS_EACH), ..limits.clone() };
            match order::improve(&evaluator, x, &starts, limits, &mut FixedLimits(session)) {
                Ok(improved) => {
                    let ports = evaluator.network.budget.total(x);
                    let found = Circuits { x: x.to_vec(), makespan: improved.makespan, ports };
                    let schedule = Some(Arc::clone(&improved.trace));
                    stopped = session.found(Proposal { circuits: found.clone(), schedule }, "exchange");
                    stopped.as_ref().ok()?;
                    cut_short |= improved.cut_short;
                    known = known.min(improved.makespan);
                    Some(improved.makespan)
                }
                Err(stop) => {
                    stopped = Err(stop);
                    None
                }
            }
        });
    *best = Circuits { ports: budget.total(&x), makespan, x };
    stopped.map(|()| cut_short)
}

/// A search for given circuits only: a schedule that uses fewer circuits is reported with the given circuits, and
/// bounds hold only for the given circuits.
struct GivenCircuits<'s, 'c, 'a> {
    session: &'s mut Session<'c, 'a>,
    x: &'s [u32],
}

impl Watch<Proposal> for GivenCircuits<'_, '_, '_> {
    fn checkpoint(&mut self) -> Result<(), MethodError> {
        self.session.checkpoint()
    }

    fn found(&mut self, proposal: Proposal, source: &str) -> Result<(), MethodError> {
        let Proposal { circuits, schedule } = proposal;
        let evaluator = &self.session.evaluator;
        let schedule = schedule
            .unwrap_or_else(|| Arc::new(evaluator.trace(&circuits.x, Rates::Best, &mut Scratch::default())));
        let ports = evaluator.network.budget.total(self.x);
        let circuits = Circuits { x: self.x.to_vec(), makespan: circuits.makespan, ports };
        self.session.found(Proposal { circuits, schedule: Some(schedule) }, source)
    }

    fn bound(&mut self, makespan: f64) {
        self.session.cx.partial_bound(makespan, ONLY);
    }

    fn report(&mut self, body: EventBody) {
        self.session.report(body);
    }

    fn count(&mut self, evaluations: u64) {
        self.session.count(evaluations);
    }

    fn live(&self, parameter: &str) -> Option<i64> {
        self.session.live(parameter)
    }
}

/// A session with fixed limits instead of the limits of the parameters.
struct FixedLimits<'s, 'c, 'a>(&'s mut Session<'c, 'a>);

impl Watch<Proposal> for FixedLimits<'_, '_, '_> {
    fn checkpoint(&mut self) -> Result<(), MethodError> {
        self.0.checkpoint()
    }

    fn found(&mut self, proposal: Proposal, source: &str) -> Result<(), MethodError> {
        self.0.found(proposal, source)
    }

    fn report(&mut self, body: EventBody) {
        self.0.report(body);
    }

    fn count(&mut self, evaluations: u64) {
        self.0.count(evaluations);
    }

    fn stop_test(&self) -> Box<dyn Fn() -> bool + Send + Sync> {
        self.0.stop_test()
    }
}
