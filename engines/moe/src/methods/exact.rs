//! `mfabric-exact`: finds the best circuits of every layer with an integer program and changes them at the times that
//! cost least.

use super::knobs;
use super::session::{self, CircuitSearch, PlanEnded};
use crate::plan::{ON_CIRCUITS, ON_STRICT_CIRCUITS};
use crate::schedule::assemble::least_on_circuits;
use crate::schedule::policies::SwitchPolicy;
use crate::schedule::stage::StageModel;
use crate::search::exact::best_circuits;
use crate::search::exchange::{Exchange, RoutingRule};
use crate::{Moe, MoeScenario};
use lightbay_core::context::Context;
use lightbay_core::event::Severity;
use lightbay_core::method::{Method, MethodError, MethodInfo, Outcome};
use lightbay_core::param::Params;
use lightbay_core::problem::Problem;
use lightbay_core::scenario::Scenario;

/// The method `mfabric-exact`.
pub(super) struct ExactRegional;

/// Default policy of the method.
const USUAL: SwitchPolicy = SwitchPolicy::Exact;

impl Method<Moe> for ExactRegional {
    fn info(&self) -> MethodInfo {
        MethodInfo {
            name: "mfabric-exact",
            help: "Finds the best circuits of every layer with an integer program (HiGHS), and changes them at the times that cost least.",
            proves: true,
            hot_start: false,
            params: vec![knobs::routing(), knobs::policy(USUAL), knobs::nodes(20_000)],
        }
    }

    fn idle(&self, scenario: &MoeScenario, _params: &Params) -> Vec<Problem> {
        knobs::idle(&["seed"]).into_iter().chain(knobs::unplaced(scenario)).collect()
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
    let policy = knobs::policy_of(params, USUAL);
    // The plan of the local search is the first incumbent.
    session::hand_over(&stage, policy, cx)?;
    let nodes = u32::try_from(params.count("exact_nodes")).unwrap_or(u32::MAX);
    if nodes > 0 {
        let bounds = improve(&mut stage, nodes, cx)?;
        session::hand_over(&stage, policy, cx)?;
        // If experts can be placed freely, the best circuits for experts in blocks give no bound.
        if scenario.body.placement.is_none() {
            state_bound(&stage, &bounds, cx);
        }
    }
    Ok(session::closed(cx))
}

/// Finds better circuits for every layer. Returns, for each layer, a lower bound on the time of the exchange between
/// servers on any circuits.
pub(super) fn improve(
    stage: &mut StageModel,
    nodes: u32,
    cx: &mut Context<'_, Moe>,
) -> Result<Vec<f64>, PlanEnded> {
    cx.solver(lightbay_highs::solve::solver_name());
    let mut bounds = Vec::with_capacity(stage.layers());
    for layer in 0..stage.layers() {
        cx.phase("integer program", format!("circuits of layer {layer}"));
        let exchange = Exchange::of(&stage.demands[layer], &stage.rates, stage.rule);
        let known = stage.candidates[stage.own[layer]].counts.clone();
        let found = best_circuits(&exchange, &known, &stage.rates.optical, nodes, cx)?;
        bounds.push(found.bound);
        if !found.proven {
            let text = format!("the circuits of layer {layer} are not proven optimal; raise exact_nodes");
            cx.note(Severity::Info, text);
        }
        stage.own[layer] = stage.add(found.circuits, Some(layer))?;
    }
    Ok(bounds)
}

/// Reports the bound on all plans with circuits of the region: every exchange runs on its best circuits, without
/// stalls.
fn state_bound(stage: &StageModel, bounds: &[f64], cx: &mut Context<'_, Moe>) {
    if let Ok(least) = least_on_circuits(&stage.scenario, &stage.demands, bounds) {
        let is_strict = stage.rule == RoutingRule::Strict;
        cx.bound_over(least, if is_strict { ON_STRICT_CIRCUITS } else { ON_CIRCUITS });
    }
}
