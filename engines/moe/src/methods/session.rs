//! Parts that all methods share: the stage, circuits of its layers, and the conversion of schedules to plans.

use crate::model::demand::LayerDemand;
use crate::plan::ON_CIRCUITS;
use crate::predict::expected;
use crate::predict::passage::FitSettings;
use crate::scenario::FailedNic;
use crate::schedule::assemble::{NoPlan, least_on_circuits, regional};
use crate::schedule::optimum::optimum;
use crate::schedule::policies::{SwitchPolicy, SwitchSchedule, schedule};
use crate::schedule::stage::StageModel;
use crate::search::circuits::CircuitCounts;
use crate::search::exchange::{Exchange, RoutingRule};
use crate::search::greedy::{BlockedRule, greedy};
use crate::search::routes::Unreachable;
use crate::search::swap::swapped;
use crate::{Moe, MoeScenario};
use lightbay_core::context::Context;
use lightbay_core::event::Severity;
use lightbay_core::method::{MethodError, Outcome};
use lightbay_core::plan::Status;
use lightbay_core::scenario::Scenario;
use lightbay_core::watch::{StopTest, Watch};
use rayon::prelude::*;

/// Search for the circuits of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CircuitSearch {
    /// Algorithm 1 of mFabric.
    Greedy(BlockedRule),
    /// Local search.
    Swap,
}

/// Reason for a method to end without a plan.
pub(super) enum PlanEnded {
    /// No plan exists.
    Infeasible(String),
    /// The run was stopped, or the method failed.
    Error(MethodError),
}

impl From<MethodError> for PlanEnded {
    fn from(error: MethodError) -> Self {
        Self::Error(error)
    }
}

impl From<Unreachable> for PlanEnded {
    fn from(pair: Unreachable) -> Self {
        Self::Infeasible(pair.to_string())
    }
}

impl From<NoPlan> for PlanEnded {
    fn from(none: NoPlan) -> Self {
        Self::Infeasible(none.0)
    }
}

/// Converts the end of a method to its outcome; a method that ends without a plan is infeasible or has failed.
pub(super) fn outcome(ended: Result<Outcome, PlanEnded>) -> Result<Outcome, MethodError> {
    match ended {
        Ok(outcome) => Ok(outcome),
        Err(PlanEnded::Infeasible(why)) => Ok(Outcome::Infeasible(why)),
        Err(PlanEnded::Error(error)) => Err(error),
    }
}

/// Computes circuits for a demand.
pub(super) fn circuits(
    stage: &StageModel,
    demand: &LayerDemand,
    search: CircuitSearch,
    watch: &mut impl Watch,
) -> CircuitCounts {
    let (ports, weights) = (&stage.rates.optical, demand.both_ways());
    match search {
        CircuitSearch::Greedy(rule) => {
            watch.count(1);
            greedy(ports, &weights, rule)
        }
        CircuitSearch::Swap => {
            let exchange = Exchange::of(demand, &stage.rates, stage.rule);
            let (counts, work) = swapped(&exchange, ports, &weights);
            watch.count(work.tried);
            counts
        }
    }
}

/// Returns the stage of a scenario with circuits for every layer.
pub(super) fn stage(
    scenario: &Scenario<Moe>,
    rule: RoutingRule,
    search: CircuitSearch,
    cx: &mut Context<'_, Moe>,
) -> Result<StageModel, PlanEnded> {
    cx.phase("demand", "tokens of the planned iteration");
    with_circuits(cx.parallel(|| StageModel::of(&scenario.body, rule)), search, cx)
}

/// Returns a stage to which circuits for every layer were added.
pub(super) fn with_circuits(
    mut stage: StageModel,
    search: CircuitSearch,
    cx: &mut Context<'_, Moe>,
) -> Result<StageModel, PlanEnded> {
    cx.phase("circuits", format!("{} layers of a region of {} servers", stage.layers(), stage.rates.servers));
    let known = &stage;
    // The demand of a layer alone determines its circuits.
    let all = cx.spread((0..stage.layers()).collect(), |layer, apart| {
        Watch::<()>::checkpoint(apart)?;
        Ok(circuits(known, &known.demands[layer], search, apart))
    })?;
    stage.own = all.into_iter().enumerate().map(|(layer, counts)| stage.place(counts, Some(layer))).collect();
    timed(&mut stage, cx)?;
    Ok(stage)
}

/// Computes the times of all exchanges on the candidates that have none.
fn timed(stage: &mut StageModel, cx: &mut Context<'_, Moe>) -> Result<(), PlanEnded> {
    let (known, untimed) = (&*stage, stage.untimed());
    let all = cx.spread(untimed.clone(), |candidate, apart| {
        Watch::<()>::checkpoint(apart)?;
        Ok(known.exchanges(candidate))
    })?;
    for (candidate, exchanges) in untimed.into_iter().zip(all) {
        stage.time(candidate, exchanges?);
    }
    Ok(())
}

/// Adds circuits for the predicted loads of every layer.
pub(super) fn predict(
    stage: &mut StageModel,
    settings: &FitSettings,
    cx: &mut Context<'_, Moe>,
) -> Result<(), PlanEnded> {
    cx.phase("prediction", "predict the loads of every layer from the previous layer");
    let window = u32::try_from(settings.window).unwrap_or(u32::MAX);
    let history = cx.parallel(|| stage.scenario.history(window));
    let now = history.iterations.saturating_sub(1);
    if now == 0 {
        let text = "the trace has no iteration before the planned one, so the prediction gives every expert the same load";
        cx.note(Severity::Warning, text);
    }
    cx.checkpoint()?;
    let (known, stop) = (&*stage, StopTest::from(Watch::<()>::stop_test(cx)));
    let predicted = |layer: usize| {
        let mut own = stop.clone();
        Watch::<()>::checkpoint(&mut own).ok()?;
        let shares = expected(&history, now, layer, settings);
        let demand = LayerDemand::by_shares(&known.scenario, &shares);
        let counts = circuits(known, &demand, CircuitSearch::Swap, &mut own);
        Some((counts, own.units))
    };
    // Threads that have no layer take columns of the matrices of other layers.
    let all: Vec<_> = cx.parallel(|| (0..known.layers()).into_par_iter().map(predicted).collect());
    // If the run must stop, some layers were left out; this checkpoint then returns the reason.
    cx.checkpoint()?;
    let all: Vec<(CircuitCounts, u64)> = all.into_iter().flatten().collect();
    cx.count_work(all.iter().map(|(_, units)| units).sum());
    stage.predicted = all.into_iter().map(|(counts, _)| stage.place(counts, None)).collect();
    timed(stage, cx)
}

/// Reports the plan for a policy; for [`SwitchPolicy::Exact`], this is the plan of the cheapest schedule, if there is
/// one.
pub(super) fn hand_over(
    stage: &StageModel,
    policy: SwitchPolicy,
    cx: &mut Context<'_, Moe>,
) -> Result<(), PlanEnded> {
    let schedule = match policy {
        SwitchPolicy::Exact => optimum(stage),
        policy => Some(schedule(stage, policy)),
    };
    let Some(schedule) = schedule else { return Ok(()) };
    warn(stage, &schedule, cx);
    let found = regional(stage, &schedule)?;
    cx.incumbent(found.value, 0.0, policy.word(), move || found)?;
    Ok(())
}

/// Adds warnings about a schedule.
fn warn(stage: &StageModel, schedule: &SwitchSchedule, cx: &mut Context<'_, Moe>) {
    if schedule.free {
        let text = "the policy 'paper' counts only the delay before the dispatch and ignores the delays of \
                    the other changes";
        cx.note(Severity::Warning, text);
    }
    let compute = stage.layers() as f64 * stage.times.compute_ms();
    if stage.delay_ms() > compute {
        let text = format!(
            "the delay of {} ms is longer than the whole compute time of a micro-batch, {compute:.1} ms: static circuits are best",
            stage.delay_ms()
        );
        cx.note(Severity::Warning, text);
    }
}

/// Reports the lower bound for circuits of the region: every server uses its NICs in the best way. If experts can be
/// placed freely, all-to-alls count as 0, because a placement may keep all tokens on their servers.
pub(super) fn bound(scenario: &Scenario<Moe>, cx: &mut Context<'_, Moe>) -> Result<(), PlanEnded> {
    let body = &scenario.body;
    let demands = if body.placement.is_some() {
        Vec::new()
    } else {
        cx.parallel(|| StageModel::of(body, RoutingRule::Spill)).demands
    };
    let least = least_on_circuits(body, &demands, &[])?;
    cx.bound_over(least, ON_CIRCUITS);
    if !body.region.failed_nics.is_empty() {
        let whole = MoeScenario { region: body.region.without_failures(), ..body.clone() };
        let before = least_on_circuits(&whole, &demands, &[])?;
        let text = format!(
            "failed NICs {}: the lower bound on the iteration is {least:.3} ms, {before:.3} ms with all NICs",
            FailedNic::text(&body.region.failed_nics)
        );
        cx.note(Severity::Info, text);
    }
    Ok(())
}

/// Returns the outcome of a method that has reported a bound: optimal if the best plan meets the bound.
pub(super) fn closed(cx: &mut Context<'_, Moe>) -> Outcome {
    let status = if cx.closed() { Status::Optimal } else { Status::Feasible };
    Outcome::done(status)
}
