//! `lumos-polish`: halving or repair, then splits pairs of switches again until no pair improves.

use super::finish::{self, First};
use super::idle;
use super::session::{FirstPlan, TaskSession};
use crate::Crossconnect;
use crate::model::assignment::Assignment;
use crate::scenario::CrossconnectScenario;
use crate::search::polish::polish;
use lightbay_core::context::Context;
use lightbay_core::method::{Method, MethodError, MethodInfo, Outcome};
use lightbay_core::param::{ParamInfo, Params};
use lightbay_core::plan::Status;
use lightbay_core::problem::Problem;
use lightbay_core::scenario::Scenario;
use std::sync::Arc;

/// The method `lumos-polish`: splits pairs of switches again.
pub(super) struct Polish;

const NAME: &str = "lumos-polish";

impl Method<Crossconnect> for Polish {
    fn info(&self) -> MethodInfo {
        let mut params = finish::halving();
        params.push(ParamInfo::choice(
            "polish_start",
            &["halving", "repair", "both"],
            "halving",
            "Start of polishing: the solution of halving, the solution of repair, or both; a hot start is \
             polished as well.",
        ));
        params.push(ParamInfo::bool(
            "reorient",
            true,
            "If true, polishing may also reassign the A and B ends of the circuits of a pair of switches.",
        ));
        MethodInfo {
            name: NAME,
            help: "Merges the circuits of two switches and splits them again by a minimum-cost flow, until no pair of switches improves.",
            proves: true,
            hot_start: true,
            params,
        }
    }

    fn idle(&self, _scenario: &CrossconnectScenario, params: &Params) -> Vec<Problem> {
        idle::halving(params)
    }

    fn solve(
        &self,
        scenario: &Scenario<Crossconnect>,
        params: &Params,
        cx: &mut Context<'_, Crossconnect>,
    ) -> Result<Outcome, MethodError> {
        let session = finish::open(NAME, scenario, cx)?;
        let mut starts: Vec<FirstPlan> = session.hot_start(cx)?.into_iter().collect();
        let wanted = params.text("polish_start").unwrap_or("halving");
        for source in ["halving", "repair"] {
            if wanted != source && wanted != "both" {
                continue;
            }
            let first = if source == "halving" {
                finish::by_halving(&session, finish::tries(params), cx)?
            } else {
                finish::by_repair(&session, cx)?
            };
            match first {
                First::Found(start) => starts.push(start),
                First::Unknown if !starts.is_empty() => {}
                other => return finish::end(other, &session, params, cx),
            }
        }
        let reorient = params.bool("reorient");
        for start in starts {
            polished(&session, &start.plan, start.removed, reorient, cx)?;
        }
        while let Some(plan) = session.offered(cx) {
            let removed = session.task.removed(&plan);
            session.offer(cx, removed, &plan, "offer")?;
            polished(&session, &plan, removed, reorient, cx)?;
        }
        Ok(Outcome::done(Status::Feasible))
    }
}

fn polished(
    session: &Arc<TaskSession>,
    start: &Assignment,
    removed: u64,
    reorient: bool,
    cx: &mut Context<'_, Crossconnect>,
) -> Result<(), MethodError> {
    cx.phase("polish", format!("every pair of switches; removals at the start: {removed}"));
    polish(&session.task, start, reorient, cx, |cx, removed, plan| {
        session.offer(cx, removed, plan, "polish")
    })?;
    Ok(())
}
