//! `delta-phases`: circuits that move within an iteration, or the proof that none should.

use super::approach::SessionMethod;
use super::session::{RelaxedSession, Session, candidate, hand_over_plan, metrics};
use super::start;
use crate::model::network::Network;
use crate::plan::{Phases, RateControl, TrainingResult};
use crate::programs::circuit_bounds::useful_within;
use crate::scenario::TrainingScenario;
use crate::scenario::reconfiguration::Reconfiguration;
use crate::search::circuits::Circuits;
use crate::search::phases::{self, Aim, MoveProof, MoveTask, MovedCircuits, Stepped};
use crate::search::{allocations, ports};
use crate::simulate::evaluate::{Evaluator, Scratch};
use crate::simulate::iteration::{Piece, Trace};
use crate::simulate::schedule;
use lightbay_core::event::{EventBody, Severity};
use lightbay_core::kind::Candidate;
use lightbay_core::method::{MethodError, MethodInfo, Outcome, without_effect};
use lightbay_core::param::{ParamInfo, Params};
use lightbay_core::plan::{Limit, OPTIMAL_GAP, Status};
use lightbay_core::problem::{Problem, counted};
use lightbay_core::watch::Watch;
use std::sync::Arc;

/// Circuits that move within an iteration.
pub(super) struct MovingCircuits;

/// Boxes after which the proof is given up: minutes of search.
const BOXES: i64 = 500_000;

/// Distance of plan and bound at which one switching counts as solved, as a share of the communication of the ideal network:
/// instants move makespans one to one, so that what is less costs boxes without end.
const CLOSE: f64 = 1e-5;

/// Names of parameters.
const BOX_LIMIT: &str = "move_boxes";
const FEWEST: &str = "fewest_ports";
const OVER: &str = "target_over";
const TARGET: &str = "target_s";

/// What a bound covers that holds for one switching alone.
const ONE_SWITCHING: &str = "plans with one switching";

impl SessionMethod for MovingCircuits {
    fn info(&self) -> MethodInfo {
        MethodInfo {
            name: "delta-phases",
            help: "Plans circuits that move within an iteration, and proves that no other switching \
                 gains more.",
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
                    "If true, searches the fewest ports with which an iteration meets a target time.",
                ),
                ParamInfo::float(
                    OVER,
                    0.0,
                    1e4,
                    0.0,
                    "Target of `fewest_ports` divided by the best iteration time with circuits that do \
                     not move.",
                )
                .unit("%"),
                ParamInfo::float(
                    TARGET,
                    0.0,
                    1e9,
                    0.0,
                    "Target of `fewest_ports` as a time. Default: `target_over` times the best iteration \
                     time with circuits that do not move.",
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
                return without_effect(own, "where circuits stay", remedy).collect();
            }
            Some(group) if group.most_switchings == 0 => {
                return without_effect(own, "beside most_switchings=0", "raise `most_switchings`").collect();
            }
            Some(_) => {}
        }
        if !params.bool(FEWEST) {
            return without_effect(targets, "without `fewest_ports`", "set fewest_ports=true").collect();
        }
        let names = params.float(TARGET).is_some().then_some(OVER);
        without_effect(names, "with `target_s`, which is the target", "leave one of them out").collect()
    }

    fn moves(&self) -> bool {
        true
    }

    fn run(&self, session: &mut Session<'_, '_>, params: &Params) -> Result<Outcome, MethodError> {
        let Some(group) = session.instance.reconfiguration else {
            return Err(MethodError::Invalid(
                Problem::new(
                    "reconfiguration",
                    "is missing: `delta-phases` plans circuits that move within an iteration",
                    "set `switching_delay_s` or `switch`, or take another method, such as `auto`",
                )
                .into(),
            ));
        };
        if let Some(reason) = session.evaluator.contention.loose.first() {
            return Err(MethodError::Invalid(
                Problem::new(
                    "reconfiguration",
                    format!("moves circuits of a scenario that is not tail-exact: {reason}"),
                    "set switch=none and take `delta-joint`, or leave interleaving and buckets out",
                )
                .into(),
            ));
        }
        let start = start::start(session)?;
        let resting = stay(session, &start)?;
        if group.most_switchings == 0 {
            session.cx.bound(resting.bound_s);
            let why = "most_switchings is 0: the best circuits that stay for whole iterations";
            session.cx.note(Severity::Info, why);
            return Ok(resting.ending());
        }
        if params.bool(FEWEST) {
            return fewest_ports(session, params, group, &resting);
        }
        let ideal_s = session.evaluator.ideal.makespan();
        session.cx.bound((ideal_s * (1.0 - 1e-12)).min(resting.makespan_s));
        if resting.makespan_s <= ideal_s * (1.0 + OPTIMAL_GAP) {
            session.cx.note(Severity::Info, "circuits that stay are ideal already: nothing to gain in time");
            return Ok(Outcome::done(Status::Optimal));
        }
        if group.delay_s >= resting.makespan_s {
            session.cx.bound(resting.bound_s);
            let text = format!(
                "no switching can help: a dark time of {} s exceeds the iteration of {:.6} s with circuits that stay",
                group.delay_s, resting.makespan_s
            );
            session.cx.note(Severity::Info, text);
            return Ok(resting.ending());
        }
        one_switching(session, params, group, &resting, &start.caps)
    }
}

/// The best plan whose circuits stay.
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

/// Plans circuits that stay, to be beaten.
fn stay(session: &mut Session<'_, '_>, start: &start::Start) -> Result<Resting, MethodError> {
    session.cx.phase("static", "the best circuits that stay for whole iterations");
    let evaluator = Arc::clone(&session.evaluator);
    let task = allocations::VectorTask::new(&evaluator, session.rates, &start.caps);
    // Its bound is about plans without switchings only, so that it is not to be stated as that of the scenario.
    let proof = allocations::search(task, Some(&start.best), &mut RelaxedSession(session))?;
    let best = proof.best.unwrap_or_else(|| start.best.clone());
    session.found(best.clone().into(), "static optimum")?;
    Ok(Resting { makespan_s: best.makespan, bound_s: proof.bound, complete: !proof.cut_short, best })
}

/// Searches plans with one switching.
fn one_switching(
    session: &mut Session<'_, '_>,
    params: &Params,
    group: Reconfiguration,
    resting: &Resting,
    caps: &[u32],
) -> Result<Outcome, MethodError> {
    session.cx.phase("one switching", "boxes of states and instants by their lower bounds");
    let evaluator = Arc::clone(&session.evaluator);
    let task = MoveTask {
        evaluator: &evaluator,
        delay_s: group.delay_s,
        caps,
        aim: Aim::Time,
        known: resting.makespan_s,
        close: (0.5 * OPTIMAL_GAP * resting.makespan_s).max(CLOSE * evaluator.ideal.path.comm),
        boxes: params.int(BOX_LIMIT).map_or(1, |boxes| boxes.max(1) as u64),
    };
    let only_one = group.most_switchings == 1;
    let proof =
        phases::search(task, &mut MovingSession { session, states_bound: only_one, supersedes: false })?;
    let delay = format!("{} s", group.delay_s);
    let text = match &proof.best {
        Some(best) => format!(
            "one switching of {delay} takes {:.6} s in place of {:.6} s, {:.3} % less{}",
            best.period_s,
            resting.makespan_s,
            100.0 * (1.0 - best.period_s / resting.makespan_s),
            if proof.complete { ", proven the best with one switching" } else { "" }
        ),
        None if proof.complete => format!(
            "no schedule with one switching of {delay} is shorter than the static {:.6} s (proven)",
            resting.makespan_s
        ),
        None => format!(
            "found no schedule with one switching of {delay} that is shorter than the static {:.6} s; \
             none is shorter than {:.6} s",
            resting.makespan_s, proof.bound
        ),
    };
    session.cx.note(Severity::Info, text);
    let ideal_s = evaluator.ideal.makespan();
    let is_ideal = |value: f64| value <= ideal_s * (1.0 + OPTIMAL_GAP);
    let ideal = session.cx.best().is_some_and(|(best_s, _)| is_ideal(best_s));
    if !only_one && !ideal {
        let known = proof.best.as_ref().map_or(resting.makespan_s, |best| best.period_s);
        let two = two_switchings(session, MoveTask { known, ..task }, &proof)?;
        let text = match two {
            Some(found) => format!("two switchings of {delay} take {:.6} s", found.period_s),
            None => format!("found no schedule with two switchings of {delay} that is shorter"),
        };
        session.cx.note(Severity::Info, text);
        warn_of_more(session, group);
    }
    let ideal = session.cx.best().is_some_and(|(best_s, _)| is_ideal(best_s));
    let complete = ideal || (proof.complete && resting.complete && only_one);
    let status = if complete { Status::Optimal } else { Status::Feasible };
    Ok(Outcome::Done { status, limit: (!complete).then_some(Limit::Work) })
}

/// Searches plans with two switchings that are better than `task.known`.
fn two_switchings(
    session: &mut Session<'_, '_>,
    task: MoveTask<'_>,
    one: &MoveProof,
) -> Result<Option<Stepped>, MethodError> {
    session.cx.phase("two switchings", "circuits of every link change at one of two instants");
    let supersedes = task.aim != Aim::Time;
    phases::search_two(
        task,
        one.best.as_ref(),
        &mut MovingSession { session, states_bound: false, supersedes },
    )
}

/// Says what is not searched of what the scenario allows.
fn warn_of_more(session: &mut Session<'_, '_>, group: Reconfiguration) {
    let most = counted(group.most_switchings.into(), "switching", "switchings");
    let text = if group.most_switchings > 2 {
        format!(
            "plans of more than two switchings were not searched, though {most} are allowed; two were not proven"
        )
    } else {
        "plans of two switchings were searched, but nothing is proven of them".to_owned()
    };
    session.cx.note(Severity::Warning, text);
}

/// Searches the fewest ports with which an iteration keeps to a target.
fn fewest_ports(
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
    if limit_s < ideal_s {
        return Err(MethodError::Invalid(
            Problem::new(
                TARGET,
                format!(
                    "is '{target_s}', below the ideal network's iteration: no number of ports reaches it"
                ),
                format!("give at least {ideal_s:.6}"),
            )
            .into(),
        ));
    }
    // A looser target lets more transfers meet.
    let mut caps = useful_within(&evaluator.network, limit_s.max(resting.makespan_s));
    start::admit(&mut caps, &resting.best.x);
    let caps = &caps;
    let mut least = None;
    if resting.makespan_s <= limit_s {
        session.cx.phase("static ports", format!("fewest ports of circuits that stay, at {target_s:.6} s"));
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
    session.cx.phase("ports", format!("fewest ports with one switching, at {target_s:.6} s"));
    let known = least.map_or(evaluator.network.budget.capacity() + 1, |(ports, _)| ports);
    let task = MoveTask {
        evaluator: &evaluator,
        delay_s: group.delay_s,
        caps,
        aim: Aim::Ports { limit_s },
        known: known as f64,
        // Ports are whole.
        close: 0.5,
        boxes: params.int(BOX_LIMIT).map_or(1, |boxes| boxes.max(1) as u64),
    };
    let watch = &mut MovingSession { session, states_bound: false, supersedes: true };
    let proof = phases::search(task, watch)?;
    let found = proof.best.as_ref().map(|best| best.ports(&evaluator));
    let stay = match least {
        Some((ports, true)) => format!("circuits that stay need {ports} ports (proven)"),
        Some((ports, false)) => format!("circuits that stay need {ports} ports at most"),
        None => "circuits that stay do not reach it".to_owned(),
    };
    let bound = proof.bound.ceil();
    let moved = match (found, proof.complete) {
        (Some(ports), true) => format!("one switching of {} s needs {ports} (proven)", group.delay_s),
        (Some(ports), false) => format!("one switching of {} s needs {bound} to {ports}", group.delay_s),
        (None, true) => format!("no schedule with one switching of {} s needs fewer (proven)", group.delay_s),
        (None, false) => format!(
            "no schedule with fewer was found with one switching of {} s, none needs fewer than {bound}",
            group.delay_s
        ),
    };
    session.cx.note(Severity::Info, format!("for {target_s:.6} s {stay}; {moved}"));
    let watch = &mut MovingSession { session, states_bound: false, supersedes: true };
    let any = phases::least_ports::<Stepped, _>(task, limit_s, watch)?;
    if let Some(any) = any {
        let text = format!("no number of switchings needs fewer than {any} ports, whatever the dark time");
        session.cx.note(Severity::Info, text);
    }
    let mut known = found.or(least.map(|(ports, _)| ports));
    if group.most_switchings > 1 && known.is_none_or(|known| any.is_none_or(|any| known > any)) {
        let most = evaluator.network.budget.capacity() + 1;
        let task = MoveTask { known: known.unwrap_or(most) as f64, ..task };
        let two = two_switchings(session, task, &proof)?;
        let text = match &two {
            Some(two) => format!("two switchings of {} s need {}", group.delay_s, two.ports(&evaluator)),
            None => format!("found no schedule with fewer ports and two switchings of {} s", group.delay_s),
        };
        session.cx.note(Severity::Info, text);
        known = two.map(|two| two.ports(&evaluator)).or(known);
        if known.is_none_or(|known| any.is_none_or(|any| known > any)) {
            warn_of_more(session, group);
        }
    }
    if known.is_none() && proof.complete && group.most_switchings == 1 {
        return Ok(Outcome::Infeasible(format!(
            "no plan with one switching of {} s on these ports ends within {target_s:.6} s",
            group.delay_s
        )));
    }
    if known.is_none() {
        let text = format!("found no plan that ends within {target_s:.6} s: the best one takes longer");
        session.cx.note(Severity::Warning, text);
    }
    Ok(Outcome::Done { status: Status::Feasible, limit: (!proof.complete).then_some(Limit::Work) })
}

/// A session that plans with one switching.
struct MovingSession<'s, 'c, 'a> {
    session: &'s mut Session<'c, 'a>,
    /// `true` if bounds are makespans that no plan of the scenario beats: one switching is all that it allows.
    states_bound: bool,
    /// `true` if plans are better for their ports, though their iterations are longer.
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

/// The plan of circuits that move, ready to be checked.
fn planned(evaluator: &Evaluator, found: &impl MovedCircuits, delay_s: f64) -> Candidate<TrainingResult> {
    let lit = found.lit(delay_s);
    let network = &evaluator.network;
    let mut trace = evaluator.model.trace_over(network, &lit, &mut Scratch::default().model);
    // A return whose dark time ends after the last transfer makes that transfer wait for it.
    if found.period_s() > trace.makespan {
        wait_for_end(network, &mut trace, found.period_s());
    }
    let mut result = schedule::result(evaluator, &[], RateControl::Joint, &trace);
    result.ports_used = found.ports(evaluator);
    result.phases = Some(Phases::new(found.events()));
    let metrics = metrics(evaluator, &result);
    Candidate { value: trace.makespan, metrics, result }
}

/// Lets the last transfer wait until the end of the period.
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
