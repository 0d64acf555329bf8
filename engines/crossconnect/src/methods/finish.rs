//! Common first and last steps of the flow-based methods: their parameters, the first solution, and the exact model if
//! flows cannot decide.

use super::proof::prove;
use super::session::{FirstPlan, TaskSession};
use crate::Crossconnect;
use crate::search::halving::Bipartition;
use crate::search::orient::{Failure, Preference, Stuck, orient};
use crate::search::repair::repair;
use crate::search::start::{NoStart, Tries, anyhow, halved};
use lightbay_core::context::Context;
use lightbay_core::event::Severity;
use lightbay_core::method::{MethodError, Outcome};
use lightbay_core::param::{ParamInfo, Params};
use lightbay_core::plan::Status;
use lightbay_core::problem::{Problem, Problems};
use lightbay_core::random::Streams;
use lightbay_core::scenario::Scenario;
use rand::Rng;
use std::sync::Arc;

/// Number of the random stream that seeds the tries; searches number their streams from 0.
const START_STREAM: u64 = 1 << 40;
/// Number of the random stream for the tries after halving got stuck.
const STUCK_STREAM: u64 = START_STREAM + 1;

/// Values of the parameter for the split of switches in two: name, split, and `true` if the switches are shuffled
/// first.
const BIPARTITIONS: [(&str, Bipartition, bool); 5] = [
    ("best", Bipartition::Best, false),
    ("even_odd", Bipartition::EvenOdd, false),
    ("contiguous", Bipartition::Contiguous, false),
    ("similar", Bipartition::Similar, false),
    ("random", Bipartition::EvenOdd, true),
];

/// Returns the parameter for the split of switches in two.
pub(super) fn bipartition() -> ParamInfo {
    ParamInfo::choice(
        "bipartition",
        &BIPARTITIONS.map(|(name, ..)| name),
        "best",
        "Split of a group of switches in two: the best of several splits (best), every other switch as in \
         the paper (even_odd), first and second half (contiguous), switches with equal ports together \
         (similar), or random (random).",
    )
}

/// Returns the parameters of halving.
pub(super) fn halving() -> Vec<ParamInfo> {
    let best_of = ParamInfo::int(
        "best_of",
        1,
        100_000,
        1,
        "Number of tries, of which the best is kept; all but the first use random order, orientation and \
         tie-breaking.",
    );
    vec![bipartition(), best_of]
}

/// Returns the settings of halving from its parameters.
pub(super) fn tries(params: &Params) -> Tries {
    let word = params.text("bipartition");
    let chosen = BIPARTITIONS.iter().find(|(name, ..)| Some(*name) == word).unwrap_or(&BIPARTITIONS[0]);
    Tries { bipartition: chosen.1, random_order: chosen.2, best_of: params.count("best_of").max(1) as u64 }
}

/// Opens the session of a flow-based method, which needs ports with sides.
pub(super) fn open(
    method: &str,
    scenario: &Scenario<Crossconnect>,
    cx: &mut Context<'_, Crossconnect>,
) -> Result<Arc<TaskSession>, MethodError> {
    let session = TaskSession::open(scenario, cx);
    if session.task.single_sided {
        return Err(MethodError::Invalid(Problems::one(Problem::new(
            "wiring",
            format!(
                "is 'single_sided', which '{method}' does not support: its flow models need ports with sides"
            ),
            "use 'lumos-exact' or 'auto', or wire A and B ports and set wiring=two_sided",
        ))));
    }
    Ok(session)
}

/// Outcome of the search for a first solution.
#[derive(Debug)]
pub(super) enum First {
    /// A solution was found and reported.
    Found(FirstPlan),
    /// No solution exists; the run ends.
    Impossible(Outcome),
    /// No solution was found, and a note says so; the exact model must decide.
    Unknown,
}

/// Returns random streams, one for each try of a run.
pub(super) fn streams(cx: &Context<'_, Crossconnect>) -> Streams {
    Streams::new(cx.stream(START_STREAM).next_u64())
}

/// Returns the outcome of a run whose scenario has no plan.
pub(super) fn impossible(stuck: &Stuck) -> Outcome {
    Outcome::Infeasible(format!("pod_degree_exceeds_ports: {}, with or without rewiring", stuck.words()))
}

/// Finds a first solution by halving.
pub(super) fn by_halving(
    session: &Arc<TaskSession>,
    tries: Tries,
    cx: &mut Context<'_, Crossconnect>,
) -> Result<First, MethodError> {
    let best_of = tries.best_of;
    let tried = if best_of == 1 { String::new() } else { format!(", best of {best_of}") };
    cx.phase(
        "halving",
        format!("{} circuits on {} switches{tried}", session.circuits(), session.task.ocs_count),
    );
    let streams = streams(cx);
    let found = halved(&session.task, tries, streams, cx, |cx, removed, plan| {
        session.offer(cx, removed, plan, "halving")
    });
    match found {
        Ok(plan) => {
            let removed = session.task.removed(&plan);
            Ok(First::Found(FirstPlan { plan, removed, source: "halving" }))
        }
        Err(NoStart::Ended(error)) => Err(error),
        Err(NoStart::Impossible(stuck)) => Ok(First::Impossible(impossible(&stuck))),
        Err(NoStart::Stuck(stuck)) => elsewhere(session, "halving", &stuck, cx),
    }
}

/// Finds a first solution by repairing the installed circuits.
pub(super) fn by_repair(
    session: &Arc<TaskSession>,
    cx: &mut Context<'_, Crossconnect>,
) -> Result<First, MethodError> {
    cx.phase("repair", "keep the installed circuits, insert missing circuits by chains");
    let all: Vec<usize> = (0..session.task.ocs_count).collect();
    let oriented = orient(&session.task, &all, &session.task.wanted, Preference::none(), cx);
    let repaired = match oriented {
        Ok(oriented) => repair(&session.task, &oriented, &session.task.installed, cx),
        Err(Failure::Stuck(stuck)) => return Ok(First::Impossible(impossible(&stuck))),
        Err(Failure::Ended(error)) => return Err(error),
    };
    match repaired {
        Ok(plan) => {
            let removed = session.task.removed(&plan);
            session.offer(cx, removed, &plan, "repair")?;
            Ok(First::Found(FirstPlan { plan, removed, source: "repair" }))
        }
        Err(Failure::Stuck(stuck)) => elsewhere(session, "repair", &stuck, cx),
        Err(Failure::Ended(error)) => Err(error),
    }
}

/// Tries other variants of halving and repair after a method got stuck, which can happen if ports differ between
/// switches.
fn elsewhere(
    session: &Arc<TaskSession>,
    method: &str,
    stuck: &Stuck,
    cx: &mut Context<'_, Crossconnect>,
) -> Result<First, MethodError> {
    let why = "found no solution, which can happen if a pod has different numbers of ports on the switches";
    cx.note(Severity::Warning, format!("{method} {why}: {}", stuck.words()));
    if let Some(start) = otherwise(session, cx)? {
        return Ok(First::Found(start));
    }
    cx.note(Severity::Warning, "the searches have no first plan; the exact model is solved instead");
    Ok(First::Unknown)
}

/// Returns a solution that halving or repair finds with another order of the switches, another orientation or other
/// tie-breaking; `None` if no variant finds a solution. Used if ports differ between switches.
pub(super) fn otherwise(
    session: &Arc<TaskSession>,
    cx: &mut Context<'_, Crossconnect>,
) -> Result<Option<FirstPlan>, MethodError> {
    cx.phase("start", "other orders and orientations of halving and repair");
    let streams = Streams::new(cx.stream(STUCK_STREAM).next_u64());
    let Some(plan) = anyhow(&session.task, streams, cx)? else { return Ok(None) };
    cx.note(Severity::Info, "another order or orientation found a solution");
    let removed = session.task.removed(&plan);
    session.offer(cx, removed, &plan, "other order")?;
    Ok(Some(FirstPlan { plan, removed, source: "other order" }))
}

/// Returns the outcome of a method that only searches for a first solution; if none was found, the exact model decides.
pub(super) fn end(
    first: First,
    session: &Arc<TaskSession>,
    params: &Params,
    cx: &mut Context<'_, Crossconnect>,
) -> Result<Outcome, MethodError> {
    match first {
        First::Found(_) => Ok(Outcome::done(Status::Feasible)),
        First::Impossible(outcome) => Ok(outcome),
        First::Unknown => prove(session, None, None, params, None, cx),
    }
}
