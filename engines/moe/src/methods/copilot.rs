//! `mfabric-copilot`: circuits for predicted loads are set during attention, and refined while the experts compute.

use super::knobs;
use super::session::{self, CircuitSearch, PlanEnded};
use crate::schedule::policies::SwitchPolicy;
use crate::{Moe, MoeScenario};
use lightbay_core::context::Context;
use lightbay_core::method::{Method, MethodError, MethodInfo, Outcome};
use lightbay_core::param::Params;
use lightbay_core::problem::Problem;
use lightbay_core::scenario::Scenario;

/// Name of the method.
pub(super) const NAME: &str = "mfabric-copilot";

/// The method `mfabric-copilot`.
pub(super) struct Copilot;

impl Method<Moe> for Copilot {
    fn info(&self) -> MethodInfo {
        let mut params = vec![knobs::routing()];
        params.extend(knobs::prediction());
        MethodInfo {
            name: NAME,
            help: "Sets circuits for predicted loads during attention, and refines them during expert compute if that saves time.",
            proves: true,
            hot_start: false,
            params,
        }
    }

    fn idle(&self, scenario: &MoeScenario, _params: &Params) -> Vec<Problem> {
        knobs::idle(&["gap", "seed"]).into_iter().chain(knobs::unplaced(scenario)).collect()
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
    let mut stage = session::stage(scenario, knobs::routing_of(params), CircuitSearch::Swap, cx)?;
    session::predict(&mut stage, &knobs::prediction_of(params), cx)?;
    session::hand_over(&stage, SwitchPolicy::Copilot, cx)?;
    Ok(session::closed(cx))
}
