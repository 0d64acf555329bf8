//! `delta-interval`: circuits and schedule by the integer program over intervals of variable length.

mod ask;
mod modelled;
mod reading;

use super::approach::SessionMethod;
use super::session::Session;
use super::{evolve, given, idle, joint, knobs, solver, start};
use crate::Training;
use crate::programs::interval::{IntervalModel, Names, Pruning, Scope, Shape, ShapeSubject, Shaped};
use crate::scenario::TrainingScenario;
use crate::search::circuits::Circuits;
use crate::simulate::evaluate::{Rates, Scratch};
use crate::simulate::iteration::Trace;
use ask::solver_knobs;
use lightbay_core::building::Building;
use lightbay_core::context::Context;
use lightbay_core::event::Severity;
use lightbay_core::method::{MethodError, MethodInfo, Outcome};
use lightbay_core::param::Params;
use lightbay_core::plan::{Limit, Status, gap};
use lightbay_core::problem::Problem;
use lightbay_highs::model::Model;
use lightbay_highs::solution::Status as Ending;
pub(super) use modelled::IntervalProgram;
use reading::{IntervalReader, ModelGoal};
use std::sync::Arc;

/// The method `delta-interval`: the integer program over intervals.
pub(super) struct IntervalMethod;

/// Number of the random stream that seeds the solver; streams 0, 1, ... belong to the islands of the genetic search.
const SOLVER_STREAM: u64 = (1 << 32) + 3;

/// Relative lengthening of the makespan that the port minimisation allows (Eq. 4).
const EQUAL: f64 = 1e-7;

/// Number of rows between two progress reports while a model is built.
const REPORTED: u64 = 50_000;

/// Maximum number of times that a model with margin 0 is rebuilt around a better schedule. Every round must improve the
/// schedule, so this is only a safeguard.
const ROUNDS: u32 = 50;

impl SessionMethod for IntervalMethod {
    fn info(&self) -> MethodInfo {
        let mut params = vec![knobs::min_ports()];
        params.extend(ask::shape_knobs());
        params.push(ask::relaxation_knob());
        params.extend(solver_knobs(&["mip_gap", "solver_process", "presolve", "lp_method"]));
        MethodInfo {
            name: "delta-interval",
            help: "Finds circuits and schedule together with an integer program over intervals of variable length.",
            proves: true,
            hot_start: true,
            params,
        }
    }

    fn rates(&self, params: &Params) -> Rates {
        ask::rates(params)
    }

    fn idle(&self, _scenario: &TrainingScenario, params: &Params) -> Vec<Problem> {
        idle::intervals(params)
    }

    fn run(&self, session: &mut Session<'_, '_>, params: &Params) -> Result<Outcome, MethodError> {
        let rates = session.rates;
        let fixed = given::circuits(&session.evaluator.network, &session.instance, params, "circuits")?;
        let mut start = start::start(session)?;
        let mut best = begin(session, params, &start, fixed.as_deref())?;
        start::admit(&mut start.caps, &best.x);
        let least_s = if params.bool("relaxation") {
            joint::relax(session, params, &start, u64::MAX)?.bound
        } else {
            0.0
        };
        let shape = ask::shape(params);
        let names = Names::new(&session.instance);
        let evaluator = Arc::clone(&session.evaluator);
        let mut trace = Arc::new(evaluator.trace(&best.x, rates, &mut Scratch::default()));
        let mut last = None;
        let fixed = fixed.as_deref();
        let scope = Scope { evaluator: &evaluator, names: &names, caps: &start.caps, fixed, least_s };
        for round in 0..ROUNDS {
            let anchor = ask::anchor(params, &evaluator, &best.x, &trace);
            let before = best.makespan;
            let subject = ShapeSubject { scope, circuits: &best.x, start: &trace, anchor: &anchor };
            let mut building = Building::new(&mut *session.cx, "rows", None, REPORTED);
            let shaped = shape.write(subject, &mut |rows| building.at(rows))?;
            announce(session.cx, &shape, subject, &shaped, round)?;
            let mut reading = IntervalReader::new(&evaluator, rates, &shaped, &mut best, &mut trace);
            reading.covers = covers(&shape, &shaped, &evaluator, fixed.is_some());
            let ending = run(session.cx, params, &shaped.model.model, shaped.point.clone(), &mut reading)?;
            let again = shape.pruning == Pruning::Anchored(0) && best.makespan < before * (1.0 - EQUAL);
            let limit_s = best.makespan;
            last = Some((shaped, ending, limit_s));
            if !again {
                break;
            }
        }
        let Some((shaped, ending, limit_s)) = last else { return Ok(Outcome::done(Status::Feasible)) };
        if params.bool("min_ports") {
            session.cx.phase(
                "ports",
                format!("fewest ports at {limit_s:.6} s, starting from {} ports", best.ports),
            );
            fewest_ports(session.cx, params, &shaped, &evaluator, rates, &mut best, &mut trace)?;
        }
        let wanted = params.float("mip_gap").unwrap_or(0.0).max(1e-9);
        let proven = match (session.cx.best(), session.cx.best_bound()) {
            (Some((value, _)), Some(bound)) => gap(value, bound) <= wanted,
            _ => false,
        };
        let status = if proven { Status::Optimal } else { Status::Feasible };
        let limited = !matches!(ending, Ending::Optimal | Ending::Infeasible);
        Ok(Outcome::Done { status, limit: limited.then_some(Limit::Work) })
    }
}

/// Returns the circuits to start from: the given circuits; otherwise the circuits of a hot start, or the best circuits
/// of the baselines and a short genetic search.
fn begin(
    session: &mut Session<'_, '_>,
    params: &Params,
    start: &start::Start,
    fixed: Option<&[u32]>,
) -> Result<Circuits, MethodError> {
    if let Some(fixed) = fixed {
        let evaluator = Arc::clone(&session.evaluator);
        let makespan = evaluator.makespan(fixed, session.rates, &mut Scratch::default());
        let found = Circuits { ports: evaluator.network.budget.total(fixed), makespan, x: fixed.to_vec() };
        let (x, rates) = (found.x.clone(), session.rates);
        // Better circuits may be known, but the scenario fixes the circuits.
        session.cx.supersede(makespan, found.ports as f64, "given circuits", move || {
            super::session::candidate(&evaluator, &x, rates)
        })?;
        return Ok(found);
    }
    let generations = params.int("start_generations").unwrap_or(0);
    if start.hot || generations == 0 {
        return Ok(start.best.clone());
    }
    session.cx.phase("genetic search", format!("{generations} generations, for a schedule to start from"));
    let evolved = evolve::search(session, &ask::genetic(generations), start, None)?;
    Ok(if evolved.best.better_than(&start.best) { evolved.best } else { start.best.clone() })
}

/// Returns the plans that a bound of the model covers, or `None` if it covers all plans.
fn covers(
    shape: &Shape,
    shaped: &Shaped,
    evaluator: &crate::simulate::evaluate::Evaluator,
    fixed: bool,
) -> Option<&'static str> {
    if fixed {
        Some("the given circuits")
    } else if shaped.margin == Some(0) && !shaped.complete {
        Some("this event order only")
    } else if !shaped.complete {
        Some("these intervals and windows only")
    } else if shape.form.fair && !evaluator.network.nic_groups.is_empty() {
        Some("plans with equal volumes per flow on every link")
    } else {
        None
    }
}

/// Reports the size of the model and the reduction by windows.
fn announce(
    cx: &mut Context<'_, Training>,
    shape: &Shape,
    subject: ShapeSubject<'_>,
    shaped: &Shaped,
    round: u32,
) -> Result<(), MethodError> {
    let counted = shape.counted(subject.scope.evaluator);
    let tasks = counted.iter().filter(|counted| **counted).count();
    let k = shaped.windows.intervals;
    cx.phase(
        "intervals",
        format!(
            "{tasks} tasks in {k} intervals, {} activities ({} without windows){}",
            shaped.windows.cells(),
            tasks as u64 * u64::from(k),
            if round > 0 { format!("; round {round}, around a better schedule") } else { String::new() },
        ),
    );
    if let (Pruning::Anchored(asked), Some(margin)) = (shape.pruning, shaped.margin)
        && margin != asked
    {
        cx.note(
            Severity::Info,
            format!(
                "windows have a margin of {margin}, because the schedule to start from needs this margin"
            ),
        );
    }
    if round == 0 {
        let all = crate::simulate::windows::IndexWindows::open(&counted, k);
        if all == shaped.windows {
            // The windows leave nothing out, so this model has the size of the full model.
            solver::report_size(cx, &shaped.model.model, "written in full");
        } else {
            let mut building = Building::new(&mut *cx, "rows", None, REPORTED);
            let full = subject.question(&all, shape.form);
            let size = IntervalModel::new(full, &mut |rows| building.at(rows))?.model;
            solver::report_size(cx, &size, "written in full");
        }
    }
    solver::report_size(cx, &shaped.model.model, "index windows");
    Ok(())
}

/// Solves a model from a starting point. If the point breaks a row, reports this row and solves without a starting
/// point.
fn run(
    cx: &mut Context<'_, Training>,
    params: &Params,
    model: &Model,
    point: Result<Vec<f64>, String>,
    reading: &mut IntervalReader<'_>,
) -> Result<Ending, MethodError> {
    let start = solver::start_at(cx, point, "the schedule to start from", reading.best.makespan);
    Ok(solver::run(cx, params, SOLVER_STREAM, (model, start), reading)?.status)
}

/// Minimises ports at the makespan reached, with the same model and the second objective (Eq. 4).
fn fewest_ports(
    cx: &mut Context<'_, Training>,
    params: &Params,
    shaped: &Shaped,
    evaluator: &Arc<crate::simulate::evaluate::Evaluator>,
    rates: Rates,
    best: &mut Circuits,
    trace: &mut Arc<Trace>,
) -> Result<(), MethodError> {
    let limit_s = best.makespan * (1.0 + EQUAL);
    let model = shaped.model.fewest_ports(evaluator, limit_s);
    let had = best.ports;
    let point = shaped.point_of(&model, &evaluator.network, trace, &best.x);
    let mut reading = IntervalReader::new(evaluator, rates, shaped, best, trace);
    reading.goal = ModelGoal::Ports(limit_s);
    let ending = run(cx, params, &model, point, &mut reading)?;
    if ending != Ending::Optimal {
        cx.note(Severity::Info, "fewer ports may be possible, because the solver did not finish");
    } else if best.ports == had {
        cx.note(Severity::Info, "in this model, no plan has fewer ports");
    }
    Ok(())
}
