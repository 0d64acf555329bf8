//! Minimum number of ports with which an iteration meets a target time.

use super::{BOX_LIMIT, MovingSession, OVER, Resting, TARGET, hot, more};
use crate::methods::session::{RelaxedSession, Session, candidate};
use crate::methods::start;
use crate::programs::circuit_bounds::useful_within;
use crate::scenario::reconfiguration::Reconfiguration;
use crate::search::circuits::Circuits;
use crate::search::phases::{self, Aim, MoveTask, MovedCircuits as _, Stepped};
use crate::search::{allocations, ports};
use crate::simulate::evaluate::Scratch;
use lightbay_core::event::Severity;
use lightbay_core::method::{MethodError, Outcome};
use lightbay_core::param::Params;
use lightbay_core::plan::{Limit, Status};
use lightbay_core::problem::Problem;
use std::sync::Arc;

/// Refuses a target that no plan can reach, before the search reports plans.
///
/// # Errors
/// The target is shorter than the iteration on the ideal network, which takes `ideal_s`.
pub(super) fn check_target(params: &Params, ideal_s: f64) -> Result<(), MethodError> {
    let Some(target_s) =
        params.float(TARGET).filter(|target_s| target_s * (1.0 + ports::TOLERANCE) < ideal_s)
    else {
        return Ok(());
    };
    let message = format!(
        "is '{target_s}', which is below the iteration time on the ideal network, so no number of ports reaches it"
    );
    Err(MethodError::Invalid(Problem::new(TARGET, message, format!("give at least {ideal_s:.6}")).into()))
}

/// Searches for the minimum number of ports with which an iteration meets a target time.
pub(super) fn ports(
    session: &mut Session<'_, '_>,
    params: &Params,
    group: Reconfiguration,
    resting: &Resting,
) -> Result<Outcome, MethodError> {
    let evaluator = Arc::clone(&session.evaluator);
    let ideal_s = evaluator.ideal.makespan();
    session.cx.bound((ideal_s * (1.0 - 1e-12)).min(resting.makespan_s));
    let over = 1.0 + params.float(OVER).unwrap_or(0.0) / 100.0;
    let target_s = params.float(TARGET).unwrap_or(resting.makespan_s * over);
    let limit_s = target_s * (1.0 + ports::TOLERANCE);
    // With a longer target time, more transfers can overlap, so more circuits are useful.
    let mut caps = useful_within(&evaluator.network, limit_s.max(resting.makespan_s));
    start::admit(&mut caps, &resting.best.x);
    let caps = &caps;
    let mut least = None;
    if resting.makespan_s <= limit_s {
        session.cx.phase("static ports", format!("fewest ports of static circuits, at {target_s:.6} s"));
        let task = allocations::VectorTask::new(&evaluator, session.rates, caps);
        let from = Circuits { makespan: target_s, ..resting.best.clone() };
        let fewest = ports::fewest(task, &from, &mut RelaxedSession(session))?;
        let found = Circuits { makespan: 0.0, ..fewest.found };
        let value = evaluator.makespan(&found.x, session.rates, &mut Scratch::default());
        let (x, rates, own) = (found.x.clone(), session.rates, Arc::clone(&evaluator));
        session.cx.supersede(value, found.ports as f64, "fewest static ports", move || {
            candidate(&own, &x, rates)
        })?;
        least = Some((found.ports, fewest.proven));
    }
    let known = least.map_or(evaluator.network.budget.capacity() + 1, |(ports, _)| ports);
    let task = MoveTask {
        evaluator: &evaluator,
        delay_s: group.delay_s,
        caps,
        aim: Aim::Ports { limit_s },
        known: known as f64,
        // Numbers of ports are integers, so a distance of 0.5 proves the minimum.
        close: 0.5,
        boxes: params.int(BOX_LIMIT).map_or(1, |boxes| boxes.max(1) as u64),
    };
    let hot = hot::take(session, task, group.most_switchings)?.map(|hot| hot.ports(&evaluator));
    session.cx.phase("ports", format!("fewest ports with one reconfiguration, at {target_s:.6} s"));
    let one = MoveTask { known: hot.map_or(task.known, |ports| ports as f64), ..task };
    let watch = &mut MovingSession { session, states_bound: false, supersedes: true };
    let proof = phases::search(one, watch)?;
    let found = proof.best.as_ref().map(|best| best.ports(&evaluator));
    let stay = match least {
        Some((ports, true)) => format!("static circuits need {ports} ports (proven)"),
        Some((ports, false)) => format!("static circuits need at most {ports} ports"),
        None => "static circuits do not meet this target".to_owned(),
    };
    let bound = proof.bound.ceil();
    let moved = match (found, proof.complete) {
        (Some(ports), true) => {
            format!("with one reconfiguration of {} s, a plan needs {ports} ports (proven)", group.delay_s)
        }
        (Some(ports), false) => {
            format!(
                "the fewest ports of a plan with one reconfiguration of {} s are between {bound} and {ports}",
                group.delay_s
            )
        }
        (None, true) => format!(
            "no schedule with one reconfiguration of {} s needs fewer ports{} (proven)",
            group.delay_s,
            hot.map_or_else(String::new, |ports| format!(" than the {ports} ports of the given plan"))
        ),
        (None, false) => format!(
            "found no schedule with fewer ports and one reconfiguration of {} s; lower bound: {bound} ports",
            group.delay_s
        ),
    };
    session.cx.note(Severity::Info, format!("for a target of {target_s:.6} s: {stay}; {moved}"));
    let watch = &mut MovingSession { session, states_bound: false, supersedes: true };
    let any = phases::least_ports::<Stepped, _>(task, limit_s, watch)?;
    if let Some(any) = any {
        let text = format!(
            "with any number of reconfigurations and any dark time, a schedule needs at least {any} ports"
        );
        session.cx.note(Severity::Info, text);
    }
    let mut known = found.or(hot).or(least.map(|(ports, _)| ports));
    if group.most_switchings > 1 && known.is_none_or(|known| any.is_none_or(|any| known > any)) {
        let most = evaluator.network.budget.capacity() + 1;
        let task = MoveTask { known: known.unwrap_or(most) as f64, ..task };
        known = more::fewer(session, task, group.most_switchings, any, &proof)?.or(known);
    }
    if known.is_none() && proof.complete && group.most_switchings == 1 {
        return Ok(Outcome::Infeasible(format!(
            "no plan with one reconfiguration of {} s on these ports ends within {target_s:.6} s",
            group.delay_s
        )));
    }
    if known.is_none() {
        let text =
            format!("found no plan that ends within {target_s:.6} s; the best plan found takes longer");
        session.cx.note(Severity::Warning, text);
    }
    Ok(Outcome::Done { status: Status::Feasible, limit: (!proof.complete).then_some(Limit::Work) })
}
