//! `mfabric-placed`: places experts and replicas of busy experts together with the circuits, or as EPLB does.

use super::knobs;
use super::session::{self, CircuitSearch, PlanEnded};
use crate::placement::eplb::eplb;
use crate::placement::joint::{PlacedLayer, joint};
use crate::placement::{PlacementShape, doubled_note};
use crate::schedule::policies::SwitchPolicy;
use crate::schedule::stage::StageModel;
use crate::search::exchange::RoutingRule;
use crate::{Moe, MoeScenario};
use lightbay_core::context::Context;
use lightbay_core::event::Severity;
use lightbay_core::method::{Method, MethodError, MethodInfo, Outcome};
use lightbay_core::param::{ParamInfo, Params};
use lightbay_core::problem::Problem;
use lightbay_core::scenario::Scenario;
use lightbay_core::watch::Watch;

/// The method `mfabric-placed`.
pub(super) struct PlacedMethod;

/// Default policy of the method.
const USUAL: SwitchPolicy = SwitchPolicy::Exact;

impl Method<Moe> for PlacedMethod {
    fn info(&self) -> MethodInfo {
        MethodInfo {
            name: "mfabric-placed",
            help: "Places experts, and replicas of busy experts, together with the circuits or by EPLB. \
                 Needs expert_placement=free.",
            proves: true,
            hot_start: false,
            params: vec![
                ParamInfo::choice(
                    "placement",
                    &["joint", "eplb"],
                    "joint",
                    "Placement of experts: together with the circuits, with no rank more loaded than \
                     under EPLB (joint), or by EPLB alone (eplb).",
                ),
                knobs::routing(),
                knobs::policy(USUAL),
            ],
        }
    }

    fn idle(&self, _scenario: &MoeScenario, _params: &Params) -> Vec<Problem> {
        knobs::idle(&["gap", "seed"])
    }

    fn solve(
        &self,
        scenario: &Scenario<Moe>,
        params: &Params,
        cx: &mut Context<'_, Moe>,
    ) -> Result<Outcome, MethodError> {
        if scenario.body.placement.is_none() {
            let message = "is 'blocks', so methods must not place experts";
            return Err(MethodError::Invalid(
                Problem::new("expert_placement", message, "set expert_placement=free").into(),
            ));
        }
        session::outcome(plan(scenario, params, cx))
    }
}

fn plan(scenario: &Scenario<Moe>, params: &Params, cx: &mut Context<'_, Moe>) -> Result<Outcome, PlanEnded> {
    session::bound(scenario, cx)?;
    let (rule, policy) = (knobs::routing_of(params), knobs::policy_of(params, USUAL));
    let is_joint = params.text("placement") != Some("eplb");
    hand_over(&scenario.body, rule, policy, is_joint, cx)?;
    Ok(session::closed(cx))
}

/// Reports the plan with the placement of EPLB and, if `is_joint`, the plan with experts placed together with the
/// circuits.
pub(super) fn hand_over(
    scenario: &MoeScenario,
    rule: RoutingRule,
    policy: SwitchPolicy,
    is_joint: bool,
    cx: &mut Context<'_, Moe>,
) -> Result<(), PlanEnded> {
    let mut last = balanced(scenario, rule, cx)?;
    session::hand_over(&last, policy, cx)?;
    if is_joint {
        last = together(scenario, rule, cx)?;
        session::hand_over(&last, policy, cx)?;
    }
    let shape = PlacementShape::of(scenario);
    if let Some(note) = doubled_note(&shape, last.placements.iter().map(Vec::as_slice)) {
        cx.note(Severity::Info, note);
    }
    let text = "compute times assume equal load on all ranks; gradient synchronisation between expert replicas is ignored";
    cx.note(Severity::Info, text);
    Ok(())
}

/// Returns the stage with the placement of EPLB.
fn balanced(
    scenario: &MoeScenario,
    rule: RoutingRule,
    cx: &mut Context<'_, Moe>,
) -> Result<StageModel, PlanEnded> {
    cx.phase("placement", "balance the experts over the ranks with EPLB");
    let shape = PlacementShape::of(scenario);
    let history = scenario.history(0);
    let slots = (0..history.layers).map(|layer| eplb(&history.expert_loads(layer), &shape)).collect();
    session::with_circuits(StageModel::placed(scenario, rule, slots), CircuitSearch::Swap, cx)
}

/// Returns the stage with experts placed together with the circuits.
fn together(
    scenario: &MoeScenario,
    rule: RoutingRule,
    cx: &mut Context<'_, Moe>,
) -> Result<StageModel, PlanEnded> {
    cx.phase("placement", "place the experts together with the circuits");
    let shape = PlacementShape::of(scenario);
    let (plain, history) = (StageModel::of(scenario, rule), scenario.history(0));
    let size = scenario.shape().token_bytes();
    let slots = cx.spread((0..plain.layers()).collect(), |layer, apart| {
        Watch::<()>::checkpoint(apart)?;
        let bytes: Vec<f64> = history.tokens(layer).iter().map(|tokens| tokens * size).collect();
        let layer = PlacedLayer { shape: &shape, bytes: &bytes, rates: &plain.rates, rule };
        let (found, tried) = joint(layer);
        Watch::<()>::count(apart, tried);
        Ok(found)
    })?;
    session::with_circuits(StageModel::placed(scenario, rule, slots), CircuitSearch::Swap, cx)
}
