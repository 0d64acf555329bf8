//! `delta-joint`: circuits and rates together. On tail-exact scenarios the search over circuits proves the best plan;
//! elsewhere a search over circuits and the order of competing transfers proves the best plan within its limits. A
//! genetic search at fair and level-first rates finds good plans for these searches; linear programs over event orders
//! follow if a proof is missing.

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

/// The method `delta-joint`: the search with proof at joint rates.
pub(super) struct Joint;

/// Gap up to which a proof counts as complete.
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
        // On a tail-exact scenario, the search over circuits is complete.
        if session.evaluator.exact(Rates::Best) {
            let complete = prove::prove(session, params, &mut start, false)?;
            session.fewest_ports(&mut start.best, &start.caps)?;
            return Ok(topo::ending(complete));
        }
        let (status, limit) = contended(session, params, &mut start, None)?;
        session.fewest_ports(&mut start.best, &start.caps)?;
        Ok(Outcome::Done { status, limit })
    }
}

/// Plans a scenario in which transfers compete before the end of the iteration. Computes a bound, searches over orders,
/// runs the genetic search if no earlier phase has run it, and, if no proof was found, solves linear programs over
/// event orders. `known` is the relaxation of a caller that has run the genetic search. Improves `start.best`; returns
/// the status with which the method ends, and the limit that ended it.
pub(super) fn contended(
    session: &mut Session<'_, '_>,
    params: &Params,
    start: &mut start::Start,
    known: Option<Relaxed>,
) -> Result<(Status, Option<Limit>), MethodError> {
    if let Some(reason) = session.evaluator.contention.loose.first() {
        let text = format!(
            "the scenario is not tail-exact ({reason}), so the order of competing transfers is searched"
        );
        session.cx.note(Severity::Info, text);
    }
    // The relaxation gives the lower bound of the search over orders.
    let evolved = known.is_some();
    let floor = match known.filter(|relaxed| relaxed.complete) {
        Some(relaxed) => relaxed.bound.min(start.best.makespan),
        None => relax(session, params, start, u64::MAX)?.bound,
    };
    let mut closed = close(session, start, &start.best, floor)?;
    let mut limit = None;
    if let Some(best) = closed.best.take() {
        start.best = best;
    }
    // `auto` has already run the genetic search.
    if !closed.complete && !evolved {
        // The genetic search may find better circuits, which leaves less work for the search over orders. The target of
        // the genetic search is the bound: a plan at the bound is optimal.
        let evolved = evolve::evolve(session, params, start, Some(closed.bound))?;
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
        // No proof within the limits: the circuits may have a better schedule.
        let improved = order::improve(session, &start.best.x)?;
        start.best.makespan = start.best.makespan.min(improved.makespan);
    }
    // Either the tree is exhausted, or plan and bound meet.
    if closed.complete || gap(start.best.makespan, closed.bound) <= PROVEN {
        return Ok((Status::Optimal, None));
    }
    Ok((Status::Heuristic, limit.or(closed.stopped.then_some(Limit::Work))))
}

/// Runs the search over circuits and orders as a phase; `floor` is a lower bound on the makespan.
fn close(
    session: &mut Session<'_, '_>,
    start: &start::Start,
    best: &Circuits,
    floor: f64,
) -> Result<Closed, MethodError> {
    let evaluator = Arc::clone(&session.evaluator);
    let contended = evaluator.contention.count();
    session.cx.phase("orders", format!("orders in which {contended} competing transfers start and end"));
    session.ordering_since_s = Some(session.cx.elapsed_s());
    let settings = event_orders::ProofLimits::default();
    // The tree starts from the best plan and the lower bound.
    let search =
        event_orders::TreeSearch::new(&evaluator, &start.caps, best.clone(), floor, settings, session);
    let closed = search.run()?;
    session.ordering_since_s = None;
    Ok(closed)
}

/// Bound of the relaxation in which transfers compete only if nothing follows them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Relaxed {
    /// Lower bound on the makespan, seconds.
    pub bound: f64,
    /// `true` if no limit ended the search.
    pub complete: bool,
}

/// Returns a bound that holds however tasks compete: the bound uses start times at full speed, and competition only
/// among last transfers. Lists at most `most` allocations, and evaluates at most `most` boxes.
pub(super) fn relax(
    session: &mut Session<'_, '_>,
    params: &Params,
    start: &start::Start,
    most: u64,
) -> Result<Relaxed, MethodError> {
    session.cx.phase("bound", "ignores competition before the last transfers");
    let evaluator = Arc::clone(&session.evaluator);
    let mut task = allocations::VectorTask::relaxed(&evaluator, &start.caps);
    // Limits of the listed allocations and of the open boxes.
    let limit = |name, default| params.int(name).map_or(default, |value| value.max(1) as u64).min(most);
    (task.listed, task.boxes) = (limit("listed_vectors", task.listed), limit("boxes", task.boxes));
    let proof = allocations::search(task, None, &mut RelaxedSession(session))?;
    let bound = proof.bound.min(start.best.makespan) * (1.0 - 1e-12);
    session.cx.bound(bound);
    Ok(Relaxed { bound, complete: !proof.cut_short })
}
