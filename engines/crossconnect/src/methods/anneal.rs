//! `lumos-anneal`: simulated annealing over all switches and orientations, by small random steps.

use super::session::{FirstPlan, TaskSession, best_bound, outcome};
use super::{idle, knobs};
use crate::Crossconnect;
use crate::programs::bound;
use crate::scenario::CrossconnectScenario;
use crate::search::anneal::{self, AnnealSettings};
use lightbay_core::context::Context;
use lightbay_core::method::{Method, MethodError, MethodInfo, Outcome};
use lightbay_core::param::{ParamInfo, Params};
use lightbay_core::plan::Limit;
use lightbay_core::problem::Problem;
use lightbay_core::random::Streams;
use lightbay_core::scenario::Scenario;
use rand::Rng;
use std::sync::Arc;

/// The method `lumos-anneal`: anneals from the better solution of halving and repair.
pub(super) struct Anneal;

/// Number of the random stream that seeds the chains.
const STREAM: u64 = 11;

impl Method<Crossconnect> for Anneal {
    fn info(&self) -> MethodInfo {
        let mut params = vec![
            knobs::orientation(),
            ParamInfo::bool(
                "relaxation",
                false,
                "If true, after all rounds, bounds the removed circuits by the linear relaxation of the \
                 exact model.",
            ),
        ];
        params.extend(knobs::anneal(6));
        MethodInfo {
            name: "lumos-anneal",
            help: "Simulated annealing with moves of four circuits; usually the best plans for a given run time.",
            proves: true,
            hot_start: true,
            params,
        }
    }

    fn idle(&self, scenario: &CrossconnectScenario, params: &Params) -> Vec<Problem> {
        idle::annealing(scenario, params)
    }

    fn solve(
        &self,
        scenario: &Scenario<Crossconnect>,
        params: &Params,
        cx: &mut Context<'_, Crossconnect>,
    ) -> Result<Outcome, MethodError> {
        let session = TaskSession::open(scenario, cx);
        let joint = knobs::joint(params);
        let Some(mut best) = super::first::start(&session, joint, cx)? else {
            return Err(super::first::no_start("lumos-anneal", &session));
        };
        anneal(&session, &mut best, &knobs::anneal_settings(params, joint), cx)?;
        if params.bool("relaxation") {
            relax(&session, &best, cx)?;
        }
        Ok(outcome(cx, Limit::Work))
    }
}

/// Anneals from a solution and replaces the solution with the best solution found.
pub(super) fn anneal(
    session: &Arc<TaskSession>,
    best: &mut FirstPlan,
    settings: &AnnealSettings,
    cx: &mut Context<'_, Crossconnect>,
) -> Result<(), MethodError> {
    let rounds = settings.rounds.saturating_sub(settings.first);
    if rounds == 0 {
        return Ok(());
    }
    cx.phase(
        "anneal",
        format!("{rounds} rounds of {} chains; removals at the start: {}", settings.chains, best.removed),
    );
    // Chains draw from streams of the run's seed.
    let streams = Streams::new(cx.stream(STREAM).next_u64());
    let bound = best_bound(cx);
    best.plan =
        anneal::anneal(&session.task, &best.plan, bound, settings, streams, cx, &mut |cx, removed, plan| {
            session.offer(cx, removed, plan, "annealing")
        })?;
    best.removed = session.task.removed(&best.plan);
    Ok(())
}

/// Computes a lower bound on the removed circuits from the linear relaxation, and reports it.
pub(super) fn relax(
    session: &Arc<TaskSession>,
    best: &FirstPlan,
    cx: &mut Context<'_, Crossconnect>,
) -> Result<(), MethodError> {
    // The plan already meets the counting bound.
    if best.removed <= best_bound(cx) {
        return Ok(());
    }
    cx.phase("bound", "linear relaxation of all orientations");
    cx.solver(lightbay_highs::solve::solver_name());
    bound::relaxation(&session.task, &best.plan, cx, &mut |cx, bound| {
        session.bound(cx, bound, false);
        Ok(())
    })?;
    Ok(())
}
