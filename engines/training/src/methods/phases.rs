//! `delta-phases`: circuits that change within an iteration, or a proof that static circuits are best.

mod fewest;
mod hot;
mod more;

use super::approach::SessionMethod;
use super::session::{RelaxedSession, Session, hand_over_plan, metrics};
use super::start;
use crate::model::network::Network;
use crate::plan::{Phases, RateControl, TrainingResult};
use crate::scenario::TrainingScenario;
use crate::scenario::reconfiguration::Reconfiguration;
use crate::search::allocations;
use crate::search::circuits::Circuits;
use crate::search::phases::{self, Aim, MoveProof, MoveTask, MovedCircuits, Stepped};
use crate::simulate::evaluate::{Evaluator, Scratch};
use crate::simulate::iteration::{Piece, Trace};
use crate::simulate::schedule;
use lightbay_core::event::{EventBody, Severity};
use lightbay_core::kind::Candidate;
use lightbay_core::method::{MethodError, MethodInfo, Outcome, without_effect};
use lightbay_core::param::{ParamInfo, Params};
use lightbay_core::plan::{Limit, OPTIMAL_GAP, Status};
use lightbay_core::problem::Problem;
use lightbay_core::watch::Watch;
use std::sync::Arc;

/// The method `delta-phases`: circuits that change within an iteration.
pub(super) struct MovingCircuits;

/// Default number of boxes after which the proof is given up, which takes some minutes.
const BOXES: i64 = 500_000;

/// If the scenario allows several reconfigurations, the search for one reconfiguration gets this fraction of the boxes:
/// 1 / 25.
const SHARE_OF_ONE: u64 = 25;

/// Name of the parameter that limits the number of boxes; the next constants are names of other parameters.
const BOX_LIMIT: &str = "move_boxes";
const FEWEST: &str = "fewest_ports";
const OVER: &str = "target_over";
const TARGET: &str = "target_s";

/// Text that names the plans that the bound covers if it holds only for plans with one reconfiguration.
const ONE_SWITCHING: &str = "plans with one reconfiguration";

impl SessionMethod for MovingCircuits {
    fn info(&self) -> MethodInfo {
        MethodInfo {
            name: "delta-phases",
            help: "Plans circuits that change within an iteration, and, within its limits, proves that no plan with one reconfiguration has a shorter iteration.",
            proves: true,
            hot_start: true,
            params: vec![
                ParamInfo::int(
                    BOX_LIMIT,
                    1,
                    1_000_000_000,
                    BOXES,
                    "Maximum number of boxes of states and time points that the proof may search.",
                ),
                ParamInfo::bool(
                    FEWEST,
                    false,
                    "If true, searches for the fewest ports with which an iteration meets a target time.",
                ),
                ParamInfo::float(
                    OVER,
                    0.0,
                    1e4,
                    0.0,
                    "Margin of the target of `fewest_ports` above the best iteration time with static circuits.",
                )
                .unit("%"),
                ParamInfo::float(
                    TARGET,
                    0.0,
                    1e9,
                    0.0,
                    "Target of `fewest_ports` as a time. Default: the best iteration time with static \
                     circuits plus `target_over`.",
                )
                .unit("s")
                .derived(),
            ],
        }
    }

    fn idle(&self, scenario: &TrainingScenario, params: &Params) -> Vec<Problem> {
        let targets = [OVER, TARGET];
        let own = [BOX_LIMIT, FEWEST, OVER, TARGET];
        match scenario.reconfiguration() {
            None => {
                let remedy = "set `switching_delay_s` or `switch`, or leave it out";
                return without_effect(own, "while circuits are static", remedy).collect();
            }
            Some(group) if group.most_switchings == 0 => {
                return without_effect(own, "with most_switchings=0", "raise `most_switchings`").collect();
            }
            Some(_) => {}
        }
        if !params.bool(FEWEST) {
            return without_effect(targets, "without `fewest_ports`", "set fewest_ports=true").collect();
        }
        let names = params.float(TARGET).is_some().then_some(OVER);
        without_effect(names, "with `target_s`, which sets the target itself", "leave one of the two out")
            .collect()
    }

    fn moves(&self) -> bool {
        true
    }

    fn run(&self, session: &mut Session<'_, '_>, params: &Params) -> Result<Outcome, MethodError> {
        let Some(group) = session.instance.reconfiguration else {
            return Err(MethodError::Invalid(
                Problem::new(
                    "reconfiguration",
                    "is missing: `delta-phases` plans circuits that change within an iteration",
                    "set `switching_delay_s` or `switch`, or use another method, such as `auto`",
                )
                .into(),
            ));
        };
        session.evaluator = Arc::new(session.evaluator.within_ports());
        if let Some(reason) = session.evaluator.contention.loose.first() {
            return Err(MethodError::Invalid(
                Problem::new(
                    "reconfiguration",
                    format!("needs a tail-exact scenario, but {reason}"),
                    "set switch=none and use `delta-joint`, or, in a job, try virtual_stages=1 and dp_buckets=1",
                )
                .into(),
            ));
        }
        if params.bool(FEWEST) {
            fewest::check_target(params, session.evaluator.ideal.makespan())?;
        }
        let start = start::start(session)?;
        let resting = stay(session, &start)?;
        if group.most_switchings == 0 {
            session.cx.bound(resting.bound_s);
            let why = "most_switchings is 0, so the method plans the best static circuits";
            session.cx.note(Severity::Info, why);
            hot::refuse(session, why);
            return Ok(resting.ending());
        }
        if params.bool(FEWEST) {
            return fewest::ports(session, params, group, &resting);
        }
        let ideal_s = session.evaluator.ideal.makespan();
        session.cx.bound((ideal_s * (1.0 - 1e-12)).min(resting.makespan_s));
        if resting.makespan_s <= ideal_s * (1.0 + OPTIMAL_GAP) {
            let ports = ports_of_all(session);
            let why = format!(
                "static circuits already reach the ideal makespan, so no plan is faster; the plan uses {ports}"
            );
            hot::refuse(session, &why);
            session.cx.note(Severity::Info, why);
            return Ok(Outcome::done(Status::Optimal));
        }
        if group.delay_s >= resting.makespan_s {
            session.cx.bound(resting.bound_s);
            let text = format!(
                "no reconfiguration can help: a dark time of {} s is at least as long as the iteration of {:.6} s with static circuits",
                group.delay_s, resting.makespan_s
            );
            hot::refuse(session, &text);
            session.cx.note(Severity::Info, text);
            return Ok(resting.ending());
        }
        shortest(session, params, group, &resting, &start.caps)
    }
}

/// Describes the ports that the best plan uses and the ports of all pods: `105 of 192 ports`.
fn ports_of_all(session: &Session<'_, '_>) -> String {
    let used = session.cx.best().map_or(0.0, |(_, ports)| ports);
    format!("{used} of {} ports", session.evaluator.network.budget.capacity())
}

/// The best plan with static circuits.
struct Resting {
    best: Circuits,
    makespan_s: f64,
    bound_s: f64,
    complete: bool,
}

impl Resting {
    fn ending(&self) -> Outcome {
        let status = if self.complete { Status::Optimal } else { Status::Feasible };
        Outcome::Done { status, limit: (!self.complete).then_some(Limit::Work) }
    }
}

/// Plans static circuits as the reference.
fn stay(session: &mut Session<'_, '_>, start: &start::Start) -> Result<Resting, MethodError> {
    session.cx.phase("static", "the best circuits that do not change within an iteration");
    let evaluator = Arc::clone(&session.evaluator);
    let task = allocations::VectorTask::new(&evaluator, session.rates, &start.caps);
    // The bound of this search covers only plans without reconfigurations, so it must not be reported as the bound of
    // the scenario.
    let proof = allocations::search(task, Some(&start.best), &mut RelaxedSession(session))?;
    let best = proof.best.unwrap_or_else(|| start.best.clone());
    session.found(best.clone().into(), "static optimum")?;
    Ok(Resting { makespan_s: best.makespan, bound_s: proof.bound, complete: !proof.cut_short, best })
}

/// Searches for the shortest iteration with circuits that change, first with one reconfiguration.
fn shortest(
    session: &mut Session<'_, '_>,
    params: &Params,
    group: Reconfiguration,
    resting: &Resting,
    caps: &[u32],
) -> Result<Outcome, MethodError> {
    let evaluator = Arc::clone(&session.evaluator);
    let task = MoveTask {
        evaluator: &evaluator,
        delay_s: group.delay_s,
        caps,
        aim: Aim::Time,
        known: resting.makespan_s,
        close: 0.5 * OPTIMAL_GAP * resting.makespan_s,
        boxes: params.int(BOX_LIMIT).map_or(1, |boxes| boxes.max(1) as u64),
    };
    let hot = hot::take(session, task, group.most_switchings)?;
    let known = hot.as_ref().map_or(task.known, |hot| hot.period_s);
    // If several reconfigurations are allowed, a proof for one reconfiguration does not cover all plans, so this proof
    // gets fewer boxes.
    let boxes = if group.most_switchings == 1 { task.boxes } else { task.boxes.div_ceil(SHARE_OF_ONE) };
    session
        .cx
        .phase("one reconfiguration", "boxes of states and instants in the order of their lower bounds");
    let only_one = group.most_switchings == 1;
    let watch = &mut MovingSession { session, states_bound: only_one, supersedes: false };
    let proof = phases::search(MoveTask { known, boxes, ..task }, watch)?;
    let best = proof.best.as_ref().map(|best| Stepped::of(best, group.delay_s)).or(hot);
    session.cx.note(Severity::Info, told_of_one(group, resting, &proof, best.as_ref()));
    let ideal_s = evaluator.ideal.makespan();
    let reaches = |session: &Session<'_, '_>, least_s: f64| {
        session.cx.best().is_some_and(|(best_s, _)| best_s <= least_s * (1.0 + OPTIMAL_GAP))
    };
    let mut least_s = ideal_s;
    if !only_one && !reaches(session, ideal_s) {
        let known = best.as_ref().map_or(resting.makespan_s, |best| best.period_s);
        let best = best.unwrap_or_else(|| Stepped {
            states: vec![resting.best.x.clone()],
            from_s: vec![0.0],
            period_s: resting.makespan_s,
        });
        least_s = more::shorter(session, MoveTask { known, ..task }, &best, &proof)?;
    }
    let complete = reaches(session, least_s) || (proof.complete && resting.complete && only_one);
    let status = if complete { Status::Optimal } else { Status::Feasible };
    Ok(Outcome::Done { status, limit: (!complete).then_some(Limit::Work) })
}

/// Returns one sentence on the gain of one reconfiguration.
fn told_of_one(
    group: Reconfiguration,
    resting: &Resting,
    proof: &MoveProof,
    best: Option<&Stepped>,
) -> String {
    let (delay_s, stay_s) = (group.delay_s, resting.makespan_s);
    match best {
        Some(best) if best.switchings() <= 1 => format!(
            "with one reconfiguration of {delay_s} s, an iteration takes {:.6} s instead of {stay_s:.6} s, {:.3} % less{}",
            best.period_s,
            100.0 * (1.0 - best.period_s / stay_s),
            if proof.complete { " (proven optimal for one reconfiguration)" } else { "" }
        ),
        Some(best) => format!(
            "no schedule with one reconfiguration of {delay_s} s is shorter than the {:.6} s of the given plan{}",
            best.period_s,
            if proof.complete { " (proven)" } else { ", as far as the search went" }
        ),
        None if proof.complete => format!(
            "no schedule with one reconfiguration of {delay_s} s is shorter than the {stay_s:.6} s with static circuits (proven)"
        ),
        None => format!(
            "found no schedule with one reconfiguration of {delay_s} s that is shorter than the {stay_s:.6} s with \
             static circuits; lower bound: {:.6} s",
            proof.bound
        ),
    }
}

/// A session that plans circuits that change within an iteration.
struct MovingSession<'s, 'c, 'a> {
    session: &'s mut Session<'c, 'a>,
    /// `true` if bounds hold for all plans of the scenario, because the scenario allows only one reconfiguration.
    states_bound: bool,
    /// `true` if plans with fewer ports count as better even if their iterations are longer.
    supersedes: bool,
}

impl<S: MovedCircuits> Watch<S> for MovingSession<'_, '_, '_> {
    fn checkpoint(&mut self) -> Result<(), MethodError> {
        self.session.checkpoint()
    }

    fn found(&mut self, found: S, source: &str) -> Result<(), MethodError> {
        let evaluator = Arc::clone(&self.session.evaluator);
        let delay_s = self.session.instance.reconfiguration.unwrap_or_default().delay_s;
        let (found_s, ports) = (found.period_s(), found.ports(&evaluator));
        let build = move || planned(&evaluator, &found, delay_s);
        if self.supersedes {
            self.session.cx.supersede(found_s, ports as f64, source, build)
        } else {
            hand_over_plan(self.session.cx, (found_s, ports), source, build)
        }
    }

    fn bound(&mut self, bound_s: f64) {
        if self.states_bound {
            self.session.cx.bound(bound_s);
        } else if !self.supersedes {
            self.session.cx.partial_bound(bound_s, ONE_SWITCHING);
        }
    }

    fn report(&mut self, body: EventBody) {
        self.session.cx.report(body);
    }

    fn count(&mut self, units: u64) {
        self.session.cx.count_work(units);
    }
}

/// Converts a plan with circuits that change to a candidate, which the checker then verifies.
fn planned(evaluator: &Evaluator, found: &impl MovedCircuits, delay_s: f64) -> Candidate<TrainingResult> {
    let lit = found.lit(delay_s);
    let network = &evaluator.network;
    let mut trace = evaluator.model.trace_over(network, &lit, &mut Scratch::default().model);
    // If the dark time of the return ends after the last transfer, that transfer is extended to the end of the period.
    if found.period_s() > trace.makespan {
        wait_for_end(network, &mut trace, found.period_s());
    }
    let mut result = schedule::result(evaluator, &[], RateControl::Joint, &trace);
    result.ports_used = found.ports(evaluator);
    result.phases = Some(Phases::new(found.events()));
    let metrics = metrics(evaluator, &result);
    Candidate { value: trace.makespan, metrics, result }
}

/// Delays the finish of the last transfer until the iteration ends with the period; nothing is sent in the added time.
fn wait_for_end(network: &Network, trace: &mut Trace, period_s: f64) {
    let end = |task: &usize| trace.finish[*task] + network.tail[*task];
    let sinks = (0..network.tasks()).filter(|task| network.is_sink(*task as u32));
    let Some(last) = sinks.max_by(|a, b| end(a).total_cmp(&end(b))) else { return };
    let (start, end) = (trace.finish[last], period_s - network.tail[last]);
    trace.pieces.push(Piece { task: last as u32, start, end, volume: 0.0 });
    trace.finish[last] = end;
    trace.makespan = period_s;
}

#[cfg(test)]
mod tests;
