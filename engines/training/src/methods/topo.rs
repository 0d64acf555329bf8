//! `delta-topo`: the best circuits at fair rates, by search with proof.

use super::approach::SessionMethod;
use super::session::Session;
use super::{evolve, idle, knobs, start};
use crate::scenario::TrainingScenario;
use crate::search::allocations;
use crate::search::circuits::Circuits;
use crate::search::polish::polish;
use crate::search::repair::PortLimits;
use crate::simulate::evaluate::{Evaluator, Rates};
use lightbay_core::method::{MethodError, MethodInfo, Outcome};
use lightbay_core::param::Params;
use lightbay_core::plan::{Limit, Status};
use lightbay_core::problem::Problem;
use lightbay_core::watch::Watch;
use std::sync::Arc;

/// The method `delta-topo`: the search with proof at fair rates.
pub(super) struct Topo;

impl SessionMethod for Topo {
    fn info(&self) -> MethodInfo {
        let mut params = vec![knobs::min_ports()];
        params.extend(knobs::proving());
        params.extend(knobs::genetic());
        MethodInfo {
            name: "delta-topo",
            help: "Finds the best circuits at max-min fair rates, and proves them optimal if there are few circuit allocations.",
            proves: true,
            hot_start: true,
            params,
        }
    }

    fn rates(&self, _params: &Params) -> Rates {
        Rates::Fair
    }

    fn idle(&self, _scenario: &TrainingScenario, params: &Params) -> Vec<Problem> {
        idle::genetic(params)
    }

    fn run(&self, session: &mut Session<'_, '_>, params: &Params) -> Result<Outcome, MethodError> {
        let mut start = start::start(session)?;
        let complete = prove(session, params, &mut start, false)?;
        let mut best = start.best;
        if !complete {
            climb(session, &start.caps, &mut best)?;
        }
        session.fewest_ports(&mut best, &start.caps)?;
        Ok(ending(complete))
    }
}

/// Returns the outcome of a finished search with proof (not of a stopped search).
pub(super) fn ending(complete: bool) -> Outcome {
    if complete {
        Outcome::done(Status::Optimal)
    } else {
        Outcome::Done { status: Status::Feasible, limit: Some(Limit::Work) }
    }
}

/// Returns the task of the outer search over circuit allocations, with the limits that `params` set.
pub(super) fn task<'a>(
    evaluator: &'a Evaluator,
    rates: Rates,
    params: &Params,
    caps: &'a [u32],
) -> allocations::VectorTask<'a> {
    let mut task = allocations::VectorTask::new(evaluator, rates, caps);
    task.listed = params.int("listed_vectors").map_or(task.listed, |value| value.max(1) as u64);
    task.boxes = params.int("boxes").map_or(task.boxes, |value| value.max(1) as u64);
    task
}

/// The outer search as a phase, after a genetic search if there are too many allocations to list. Improves
/// `start.best`; returns whether the proof is complete. `evolved` is true if a genetic search has already run.
pub(super) fn prove(
    session: &mut Session<'_, '_>,
    params: &Params,
    start: &mut start::Start,
    evolved: bool,
) -> Result<bool, MethodError> {
    let evaluator = Arc::clone(&session.evaluator);
    let caps = start.caps.clone();
    let task = task(&evaluator, session.rates, params, &caps);
    // If allocations are too many to list, a genetic search runs first, because a good plan fathoms boxes sooner.
    let few = allocations::can_list(task, session)?;
    if !few && !evolved {
        let evolved = evolve::evolve(session, params, start, None)?;
        if evolved.best.makespan < start.best.makespan {
            start.best = evolved.best;
        }
    }
    session.cx.phase(
        "outer search",
        if few {
            "circuit allocations in the order of their lower bounds"
        } else {
            "boxes of allocations in the order of their lower bounds"
        },
    );
    let proof = allocations::search(task, Some(&start.best), session)?;
    // The search reports the best circuits.
    if let Some(best) = proof.best {
        start.best = best;
    }
    session.bound(proof.bound);
    Ok(!proof.cut_short)
}

/// Exchanges single circuits as long as this improves the best plan.
pub(super) fn climb(
    session: &mut Session<'_, '_>,
    caps: &[u32],
    best: &mut Circuits,
) -> Result<(), MethodError> {
    session.cx.phase("local search", "exchanges of single circuits");
    let evaluator = Arc::clone(&session.evaluator);
    let limits = PortLimits { budget: &evaluator.network.budget, caps };
    let mut x = start::within(&best.x, caps);
    let mut scratch = crate::simulate::evaluate::Scratch::default();
    let mut stopped = Ok(());
    let rates = session.rates;
    // Coordinate search: one circuit more on one link, one fewer on another.
    let makespan = polish(limits, &mut x, best.makespan, &mut |x: &[u32]| {
        stopped = session.checkpoint();
        stopped.is_ok().then(|| {
            session.count(1);
            evaluator.makespan(x, rates, &mut scratch)
        })
    });
    let found = Circuits { ports: evaluator.network.budget.total(&x), makespan, x };
    if found.better_than(best) {
        session.found(found.clone().into(), "local search")?;
        *best = found;
    }
    stopped
}
