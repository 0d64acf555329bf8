//! `mfabric-swap` and `mfabric-greedy`: circuits for every layer, changed by a policy.

use super::knobs;
use super::session::{self, CircuitSearch, PlanEnded};
use crate::schedule::policies::SwitchPolicy;
use crate::search::greedy::BlockedRule;
use crate::{Moe, MoeScenario};
use lightbay_core::context::Context;
use lightbay_core::method::{Method, MethodError, MethodInfo, Outcome};
use lightbay_core::param::{ParamInfo, Params};
use lightbay_core::problem::Problem;
use lightbay_core::scenario::Scenario;

/// A method that sets circuits for every layer by Algorithm 1, which local search can improve.
pub(super) struct Regional {
    /// `true` if local search improves the circuits of Algorithm 1.
    pub(super) swap: bool,
}

/// Default policy of the methods.
const USUAL: SwitchPolicy = SwitchPolicy::Best;

impl Method<Moe> for Regional {
    fn info(&self) -> MethodInfo {
        let mut params = vec![knobs::routing(), knobs::policy(USUAL)];
        if !self.swap {
            params.push(ParamInfo::choice(
                "greedy_end",
                &["continue", "printed"],
                "continue",
                "When the greedy algorithm stops: when no pair has free ports (continue), or at the first pair without free ports, as printed in the paper (printed).",
            ));
        }
        let (name, help) = if self.swap {
            (
                "mfabric-swap",
                "Chooses circuits with the greedy algorithm of the paper, then improves their all-to-all time by local search.",
            )
        } else {
            ("mfabric-greedy", "Chooses circuits with the greedy algorithm of the paper.")
        };
        MethodInfo { name, help, proves: true, hot_start: false, params }
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
        session::outcome(self.plan(scenario, params, cx))
    }
}

impl Regional {
    fn plan(
        &self,
        scenario: &Scenario<Moe>,
        params: &Params,
        cx: &mut Context<'_, Moe>,
    ) -> Result<Outcome, PlanEnded> {
        session::bound(scenario, cx)?;
        let search = if self.swap {
            CircuitSearch::Swap
        } else if params.text("greedy_end") == Some("printed") {
            CircuitSearch::Greedy(BlockedRule::Printed)
        } else {
            CircuitSearch::Greedy(BlockedRule::Continue)
        };
        let stage = session::stage(scenario, knobs::routing_of(params), search, cx)?;
        session::hand_over(&stage, knobs::policy_of(params, USUAL), cx)?;
        Ok(session::closed(cx))
    }
}
