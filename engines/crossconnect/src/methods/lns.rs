//! `lumos-lns`: a few switches at a time are solved again exactly.

use super::ground::{Ground, Start, best_bound, outcome};
use super::{finish, knobs};
use crate::Crossconnect;
use crate::search::lns::{self, Settings, circuits};
use crate::search::polish::polish;
use lightbay_core::context::Context;
use lightbay_core::method::{Method, MethodError, MethodInfo, Outcome};
use lightbay_core::param::{ParamInfo, Params};
use lightbay_core::plan::Limit;
use lightbay_core::scenario::Scenario;
use std::sync::Arc;

/// Large neighbourhoods from both starts.
pub(super) struct Lns;

/// Number of the first random stream; every start has its own.
const STREAM: u64 = 21;

impl Method<Crossconnect> for Lns {
    fn info(&self) -> MethodInfo {
        let mut params = vec![
            ParamInfo::choice(
                "lns_start",
                &["both", "halving", "repair"],
                "both",
                "Start of the search: halving and polish, repair, or one after the other; a hot start takes their place.",
            ),
            ParamInfo::choice(
                "lns_orientation",
                &["fixed", "joint"],
                "fixed",
                "Orientation of circuits: kept as it is (fixed), or chosen again among the switches of a try (joint).",
            ),
        ];
        params.extend(knobs::lns());
        MethodInfo {
            name: "lumos-lns",
            help: "Solves a few switches at a time again, exactly, those with many removals most often.",
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
        let ground = Ground::open(scenario, cx);
        let joint = params.text("lns_orientation") == Some("joint");
        let settings = knobs::lns_settings(params, ground.task.ocs_count, joint);
        let mut starts: Vec<Start> = ground.hot_start(cx)?.into_iter().collect();
        if starts.is_empty() && !ground.task.single_sided {
            if let Some(oriented) = ground.oriented(cx)? {
                starts = ground.starts(&oriented, cx)?;
                if starts.is_empty() {
                    starts.extend(finish::otherwise(&ground, cx)?);
                }
            }
            let only = params.text("lns_start").unwrap_or("both");
            if starts.iter().any(|start| start.source == only) {
                starts.retain(|start| start.source == only);
            }
        }
        if starts.is_empty() {
            return Err(super::first::no_start("lumos-lns", &ground));
        }
        for (number, mut start) in starts.into_iter().enumerate() {
            if !ground.task.single_sided {
                cx.phase("polish", format!("every two switches, from {} removed", start.removed));
                let source = start.source;
                start.plan = polish(&ground.task, &start.plan, false, cx, |cx, removed, plan| {
                    ground.offer(cx, removed, plan, &format!("{source} and polish"))
                })?;
                start.removed = ground.task.removed(&start.plan);
            }
            search(&ground, &mut start, settings, STREAM + number as u64, cx)?;
        }
        Ok(outcome(cx, Limit::Stall))
    }
}

/// Searches from a solution, which becomes the best.
pub(super) fn search(
    ground: &Arc<Ground>,
    best: &mut Start,
    settings: Settings,
    stream: u64,
    cx: &mut Context<'_, Crossconnect>,
) -> Result<(), MethodError> {
    cx.phase("lns", format!("{} switches at a time, from {} removed", settings.ocs, best.removed));
    cx.solver(lightbay_highs::solve::solver_name());
    let mut stream = cx.stream(stream);
    let bound = best_bound(cx);
    best.plan =
        lns::lns(&ground.task, &best.plan, bound, settings, &mut stream, cx, &mut |cx, removed, plan| {
            ground.offer(cx, removed, plan, "large neighbourhood")
        })?;
    best.removed = ground.task.removed(&best.plan);
    Ok(())
}

/// Frees circuits of a solution all over the switches, which becomes the best.
pub(super) fn free(
    ground: &Arc<Ground>,
    best: &mut Start,
    settings: circuits::Settings,
    stream: u64,
    cx: &mut Context<'_, Crossconnect>,
) -> Result<(), MethodError> {
    cx.phase("lns", format!("new circuits and some kept ones, from {} removed", best.removed));
    cx.solver(lightbay_highs::solve::solver_name());
    let mut stream = cx.stream(stream);
    let bound = best_bound(cx);
    best.plan = circuits::search(
        &ground.task,
        &best.plan,
        bound,
        settings,
        &mut stream,
        cx,
        &mut |cx, removed, plan| ground.offer(cx, removed, plan, "large neighbourhood"),
    )?;
    best.removed = ground.task.removed(&best.plan);
    Ok(())
}
