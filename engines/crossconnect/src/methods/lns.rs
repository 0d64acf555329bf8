//! `lumos-lns`: re-solves a few switches at a time exactly.

use super::session::{FirstPlan, TaskSession, best_bound, outcome};
use super::{finish, knobs};
use crate::Crossconnect;
use crate::search::lns::{self, LnsSettings, circuits};
use crate::search::polish::polish;
use lightbay_core::context::Context;
use lightbay_core::method::{Method, MethodError, MethodInfo, Outcome};
use lightbay_core::param::{ParamInfo, Params};
use lightbay_core::plan::Limit;
use lightbay_core::scenario::Scenario;
use std::sync::Arc;

/// The method `lumos-lns`: large neighbourhood search from the solutions of halving and repair.
pub(super) struct Lns;

/// Number of the random stream of the first start; the following starts use the following streams.
const STREAM: u64 = 21;

impl Method<Crossconnect> for Lns {
    fn info(&self) -> MethodInfo {
        let mut params = vec![
            ParamInfo::choice(
                "lns_start",
                &["both", "halving", "repair"],
                "both",
                "Start of the search: halving and polish, repair, or both in turn; a hot start replaces \
                 them.",
            ),
            ParamInfo::choice(
                "lns_orientation",
                &["fixed", "joint"],
                "fixed",
                "Side (A or B) of each end of a circuit: unchanged (fixed), or chosen again among the switches \
                 of a try (joint).",
            ),
        ];
        params.extend(knobs::lns());
        MethodInfo {
            name: "lumos-lns",
            help: "Large neighbourhood search: re-solves a few switches at a time exactly, most often \
                 those with many removals.",
            proves: true,
            hot_start: true,
            params,
        }
    }

    fn solve(
        &self,
        scenario: &Scenario<Crossconnect>,
        params: &Params,
        cx: &mut Context<'_, Crossconnect>,
    ) -> Result<Outcome, MethodError> {
        let session = TaskSession::open(scenario, cx);
        let joint = params.text("lns_orientation") == Some("joint");
        let settings = knobs::lns_settings(params, session.task.ocs_count, joint);
        let mut starts: Vec<FirstPlan> = session.hot_start(cx)?.into_iter().collect();
        if starts.is_empty() && !session.task.single_sided {
            if let Some(oriented) = session.oriented(cx)? {
                starts = session.starts(&oriented, cx)?;
                if starts.is_empty() {
                    starts.extend(finish::otherwise(&session, cx)?);
                }
            }
            // Keeps only the requested start, if that start was found.
            let only = params.text("lns_start").unwrap_or("both");
            if starts.iter().any(|start| start.source == only) {
                starts.retain(|start| start.source == only);
            }
        }
        if starts.is_empty() {
            return Err(super::first::no_start("lumos-lns", &session));
        }
        for (number, mut start) in starts.into_iter().enumerate() {
            // Polishing uses flows, which need ports with sides.
            if !session.task.single_sided {
                cx.phase(
                    "polish",
                    format!("every pair of switches; removals at the start: {}", start.removed),
                );
                let source = start.source;
                start.plan = polish(&session.task, &start.plan, false, cx, |cx, removed, plan| {
                    session.offer(cx, removed, plan, &format!("{source} and polish"))
                })?;
                start.removed = session.task.removed(&start.plan);
            }
            search(&session, &mut start, settings, STREAM + number as u64, cx)?;
        }
        Ok(outcome(cx, Limit::Stall))
    }
}

/// Searches from a solution and replaces the solution with the best solution found.
pub(super) fn search(
    session: &Arc<TaskSession>,
    best: &mut FirstPlan,
    settings: LnsSettings,
    stream: u64,
    cx: &mut Context<'_, Crossconnect>,
) -> Result<(), MethodError> {
    cx.phase("lns", format!("{} switches at a time; removals at the start: {}", settings.ocs, best.removed));
    cx.solver(lightbay_highs::solve::solver_name());
    let mut stream = cx.stream(stream);
    let bound = best_bound(cx);
    best.plan =
        lns::lns(&session.task, &best.plan, bound, settings, &mut stream, cx, &mut |cx, removed, plan| {
            session.offer(cx, removed, plan, "large neighbourhood")
        })?;
    best.removed = session.task.removed(&best.plan);
    Ok(())
}

/// Frees circuits of a solution across all switches and replaces the solution with the best solution found.
pub(super) fn free(
    session: &Arc<TaskSession>,
    best: &mut FirstPlan,
    settings: circuits::CircuitLnsSettings,
    stream: u64,
    cx: &mut Context<'_, Crossconnect>,
) -> Result<(), MethodError> {
    cx.phase("lns", format!("new circuits and some kept circuits; removals at the start: {}", best.removed));
    cx.solver(lightbay_highs::solve::solver_name());
    let mut stream = cx.stream(stream);
    let bound = best_bound(cx);
    best.plan = circuits::search(
        &session.task,
        &best.plan,
        bound,
        settings,
        &mut stream,
        cx,
        &mut |cx, removed, plan| session.offer(cx, removed, plan, "large neighbourhood"),
    )?;
    best.removed = session.task.removed(&best.plan);
    Ok(())
}
