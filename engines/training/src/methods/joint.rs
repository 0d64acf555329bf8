//! `delta-joint`: circuits and rates together. On tail-exact scenarios the search over circuits proves the best
//! plan; elsewhere a search over circuits and the order of competing transfers does, as far as its limits
//! reach, beside a genetic search judged by fair and level-first schedules and, where that is not enough, linear
//! programs over event orders.

use super::approach::SessionMethod;
use super::session::{RelaxedSession, Session};
use super::{evolve, idle, knobs, order, prove, robust, start, topo};
use crate::scenario::TrainingScenario;
use crate::search::allocations;
use crate::search::circuits::Circuits;
use crate::search::event_orders::{self, Closed};
use crate::simulate::evaluate::Rates;
use lightbay_core::event::Severity;
use lightbay_core::method::{MethodError, MethodInfo, Outcome};
use lightbay_core::param::Params;
use lightbay_core::plan::{Limit, Status, gap};
use lightbay_core::problem::Problem;
use std::sync::Arc;

/// The search with proof at joint rates.
pub(super) struct Joint;

/// Gap up to which a proof of ours is complete.
const PROVEN: f64 = 1e-9;

impl SessionMethod for Joint {
    fn info(&self) -> MethodInfo {
        MethodInfo {
            name: "delta-joint",
            help: "Finds the best circuits and rates together, with a bound and, within its limits, a proof.",
            proves: true,
            hot_start: true,
            params: knobs::joint(),
        }
    }

    fn idle(&self, _scenario: &TrainingScenario, params: &Params) -> Vec<Problem> {
        idle::joint(params, &self.info())
    }

    fn run(&self, session: &mut Session<'_, '_>, params: &Params) -> Result<Outcome, MethodError> {
        if let Some(outcome) = robust::run(session, params)? {
            return Ok(outcome);
        }
        let mut start = start::start(session)?;
        // Tail-exact: the search over circuits is complete.
        if session.evaluator.exact(Rates::Best) {
            let complete = prove::prove(session, params, &mut start, false)?;
            session.fewest_ports(&mut start.best, &start.caps)?;
            return Ok(topo::ending(complete));
        }
        let (status, limit) = contended(session, params, &mut start, false)?;
        session.fewest_ports(&mut start.best, &start.caps)?;
        Ok(Outcome::Done { status, limit })
    }
}

/// Plans where more than the last transfers compete: a bound, the search over orders, and in between a genetic search,
/// unless one was made already; without a proof linear programs over event orders. Improves `start.best`; returns the
/// status with which the method ends, and the limit that ended it.
pub(super) fn contended(
    session: &mut Session<'_, '_>,
    params: &Params,
    start: &mut start::Start,
    evolved: bool,
) -> Result<(Status, Option<Limit>), MethodError> {
    if let Some(reason) = session.evaluator.contention.loose.first() {
        let text = format!("not tail-exact, so the order of competing transfers is searched: {reason}");
        session.cx.note(Severity::Info, text);
    }
    // The relaxation is the floor of the search over orders.
    let floor = relax(session, params, start)?;
    let mut closed = close(session, start, &start.best, floor)?;
    let mut limit = None;
    if let Some(best) = closed.best.take() {
        start.best = best;
    }
    // The genetic search was made already by `auto`.
    if !closed.complete && !evolved {
        // Other circuits may do better; then the search has less to look at.
        // Its target is the bound: a plan there is the best.
        let target = closed.bound * (1.0 + PROVEN / 2.0);
        let evolved = evolve::evolve(session, params, start, Some(target))?;
        limit = evolved.limit;
        if evolved.best.makespan < start.best.makespan {
            start.best = evolved.best;
            closed = close(session, start, &start.best, closed.bound)?;
            if let Some(best) = closed.best.take() {
                start.best = best;
            }
        }
    }
    if !closed.complete && gap(start.best.makespan, closed.bound) > PROVEN {
        // No proof within the limits; these circuits may still have a better schedule.
        let improved = order::improve(session, &start.best.x)?;
        start.best.makespan = start.best.makespan.min(improved.makespan);
    }
    // Either the tree is exhausted, or plan and bound meet.
    if closed.complete || gap(start.best.makespan, closed.bound) <= PROVEN {
        return Ok((Status::Optimal, None));
    }
    Ok((Status::Heuristic, limit.or(closed.stopped.then_some(Limit::Work))))
}

/// The search over circuits and orders as a phase; nothing is better than `floor`.
fn close(
    session: &mut Session<'_, '_>,
    start: &start::Start,
    best: &Circuits,
    floor: f64,
) -> Result<Closed, MethodError> {
    let evaluator = Arc::clone(&session.evaluator);
    let contended = evaluator.contention.count();
    session.cx.phase("orders", format!("which of {contended} competing transfers starts and ends first"));
    session.ordering_since_s = Some(session.cx.elapsed_s());
    let settings = event_orders::ProofLimits::default();
    // The tree starts from the best plan and its floor.
    let search =
        event_orders::TreeSearch::new(&evaluator, &start.caps, best.clone(), floor, settings, session);
    let closed = search.run()?;
    session.ordering_since_s = None;
    Ok(closed)
}

/// The bound that holds whatever competes: start times at full speed and the sharing among last transfers.
pub(super) fn relax(
    session: &mut Session<'_, '_>,
    params: &Params,
    start: &start::Start,
) -> Result<f64, MethodError> {
    session.cx.phase("bound", "without competition before the last transfers");
    let evaluator = Arc::clone(&session.evaluator);
    let mut task = allocations::VectorTask::relaxed(&evaluator, &start.caps);
    // Limits of the listed vectors and of the open boxes.
    task.listed = params.int("listed_vectors").map_or(task.listed, |value| value.max(1) as u64);
    task.boxes = params.int("boxes").map_or(task.boxes, |value| value.max(1) as u64);
    let proof = allocations::search(task, None, &mut RelaxedSession(session))?;
    let bound = proof.bound.min(start.best.makespan) * (1.0 - 1e-12);
    session.cx.bound(bound);
    Ok(bound)
}
