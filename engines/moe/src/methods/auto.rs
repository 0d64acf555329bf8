//! `auto`: finds circuits by local search for each layer's own demand, its predicted demand and the mean demand, and
//! the cheapest schedule over all these circuits.

use super::session::{self, CircuitSearch, PlanEnded};
use super::{exact, given, knobs, placed};
use crate::predict::passage::FitSettings;
use crate::schedule::policies::SwitchPolicy;
use crate::search::exchange::RoutingRule;
use crate::search::greedy::BlockedRule;
use crate::{Moe, MoeScenario};
use lightbay_core::context::Context;
use lightbay_core::method::{Method, MethodError, MethodInfo, Outcome};
use lightbay_core::param::Params;
use lightbay_core::problem::Problem;
use lightbay_core::scenario::Scenario;

/// The method `auto`.
pub(super) struct AutoRegional;

impl Method<Moe> for AutoRegional {
    fn info(&self) -> MethodInfo {
        MethodInfo {
            name: "auto",
            help: "Chooses circuits by local search for the actual, predicted and mean demand of the layers, and changes them at the times that cost least.",
            proves: true,
            hot_start: false,
            params: vec![knobs::nodes(0)],
        }
    }

    fn idle(&self, _scenario: &MoeScenario, _params: &Params) -> Vec<Problem> {
        knobs::idle(&["seed"])
    }

    fn solve(
        &self,
        scenario: &Scenario<Moe>,
        params: &Params,
        cx: &mut Context<'_, Moe>,
    ) -> Result<Outcome, MethodError> {
        session::outcome(plan(scenario, params, cx))
    }
}

fn plan(scenario: &Scenario<Moe>, params: &Params, cx: &mut Context<'_, Moe>) -> Result<Outcome, PlanEnded> {
    session::bound(scenario, cx)?;
    let mut stage = session::stage(scenario, RoutingRule::Spill, CircuitSearch::Swap, cx)?;
    session::hand_over(&stage, SwitchPolicy::Best, cx)?;
    given::add(&mut stage, cx)?;
    session::predict(&mut stage, &FitSettings::default(), cx)?;
    session::hand_over(&stage, SwitchPolicy::Exact, cx)?;
    let nodes = u32::try_from(params.count("exact_nodes")).unwrap_or(u32::MAX);
    if nodes > 0 {
        exact::improve(&mut stage, nodes, cx)?;
        session::hand_over(&stage, SwitchPolicy::Exact, cx)?;
    }
    others(scenario, cx)?;
    if scenario.body.placement.is_some() {
        placed::hand_over(&scenario.body, RoutingRule::Spill, SwitchPolicy::Exact, true, cx)?;
    }
    Ok(session::closed(cx))
}

/// Reports plans with the circuits of Algorithm 1, and plans with strict routing. Local search minimises only the
/// exchange between servers. If links inside servers are slow, circuits and routes with a longer exchange can still
/// have a shorter all-to-all.
fn others(scenario: &Scenario<Moe>, cx: &mut Context<'_, Moe>) -> Result<(), PlanEnded> {
    let greedy = [BlockedRule::Continue, BlockedRule::Printed].map(CircuitSearch::Greedy);
    for rule in [RoutingRule::Spill, RoutingRule::Strict] {
        for search in greedy.into_iter().chain((rule == RoutingRule::Strict).then_some(CircuitSearch::Swap)) {
            if cx.closed() {
                return Ok(());
            }
            let tried = session::stage(scenario, rule, search, cx).and_then(|mut stage| {
                given::add(&mut stage, cx)?;
                session::hand_over(&stage, SwitchPolicy::Exact, cx)
            });
            match tried {
                // Circuits of the other searches may leave a pair without a path.
                Ok(()) | Err(PlanEnded::Infeasible(_)) => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(())
}
