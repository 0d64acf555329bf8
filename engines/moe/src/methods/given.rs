//! `static`: circuits of the region that do not change.

use super::knobs;
use super::session::{self, CircuitSearch, PlanEnded};
use crate::model::demand::LayerDemand;
use crate::schedule::policies::SwitchPolicy;
use crate::schedule::stage::StageModel;
use crate::search::circuits::CircuitCounts;
use crate::search::swap::even;
use crate::{Moe, MoeScenario};
use lightbay_core::context::Context;
use lightbay_core::method::{Method, MethodError, MethodInfo, Outcome, without_effect};
use lightbay_core::param::{ParamInfo, Params};
use lightbay_core::problem::Problem;
use lightbay_core::scenario::Scenario;

/// The method `static`.
pub(super) struct StaticCircuits;

impl Method<Moe> for StaticCircuits {
    fn info(&self) -> MethodInfo {
        MethodInfo {
            name: "static",
            help: "Baseline: circuits that do not change, chosen for the mean demand of all layers or as a circulant graph.",
            proves: true,
            hot_start: false,
            params: vec![
                knobs::routing(),
                ParamInfo::choice(
                    "static_circuits",
                    &["mean", "circulant"],
                    "mean",
                    "Circuits that do not change: the best circuits for the mean demand, or a circulant \
                     graph.",
                ),
            ],
        }
    }

    fn idle(&self, scenario: &MoeScenario, _params: &Params) -> Vec<Problem> {
        let why = "with static circuits";
        let delay = without_effect(["reconfiguration_delay_ms", "delay_profile"], why, "use another method");
        knobs::idle(&["gap", "seed"]).into_iter().chain(delay).chain(knobs::unplaced(scenario)).collect()
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
    let mut stage = StageModel::of(&scenario.body, knobs::routing_of(params));
    let counts = if params.text("static_circuits") == Some("circulant") {
        even(&stage.rates.optical)
    } else {
        mean(&stage, cx)
    };
    let only = stage.add(counts, None)?;
    stage.own = vec![only; stage.layers()];
    session::hand_over(&stage, SwitchPolicy::Never, cx)?;
    Ok(session::closed(cx))
}

/// Adds candidates for static circuits: circuits for the mean demand, and a circulant if every pair with bytes then has
/// a path.
pub(super) fn add(stage: &mut StageModel, cx: &mut Context<'_, Moe>) -> Result<(), PlanEnded> {
    let mean = mean(stage, cx);
    stage.add(mean, None)?;
    // The circulant is only an additional candidate, so an error is ignored.
    let _ = stage.add(even(&stage.rates.optical), None);
    Ok(())
}

/// Returns circuits for the mean demand of all layers.
fn mean(stage: &StageModel, cx: &mut Context<'_, Moe>) -> CircuitCounts {
    let n = stage.rates.servers;
    let mut sum = LayerDemand {
        servers: n,
        bytes: vec![0.0; n * n],
        busiest_gpu: Vec::new(),
        busiest_rail: Vec::new(),
    };
    for demand in &stage.demands {
        for (sum, bytes) in sum.bytes.iter_mut().zip(&demand.bytes) {
            *sum += bytes / stage.layers() as f64;
        }
    }
    session::circuits(stage, &sum, CircuitSearch::Swap, cx)
}
