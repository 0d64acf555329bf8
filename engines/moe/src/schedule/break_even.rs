//! Delay of the switch up to which changing circuits pays (docs/methods/moe.md, section 9).

use super::optimum::optimum;
use super::policies::{SwitchPolicy, schedule};
use super::stage::StageModel;
use crate::model::demand::LayerDemand;
use crate::model::iteration::{StageSums, iteration};
use crate::plan::FabricKind;
use crate::scenario::MoeScenario;
use crate::search::exchange::{Exchange, RoutingRule};
use crate::search::routes::Unreachable;
use crate::search::swap::swapped;

/// Longest delay that is looked at, ms: far more than the seconds until NICs are active again after a change.
const LONGEST_MS: f64 = 1e5;
/// Halvings of the interval of delays: 1e5 ms shrink to 1e-7 ms.
const HALVINGS: usize = 40;

/// A stage whose circuits may change or stay.
#[derive(Clone, Debug)]
pub struct DelayStudy {
    /// The stage, with circuits for every layer and those for the sum of all demands.
    pub stage: StageModel,
}

impl DelayStudy {
    /// Circuits for every layer of a scenario, and those that suit all layers together. `is_over` is asked between
    /// layers; `Ok(None)` if it said so.
    ///
    /// # Errors
    /// A pair of servers without a way.
    pub fn of(scenario: &MoeScenario, is_over: impl Fn() -> bool) -> Result<Option<Self>, Unreachable> {
        let mut stage = StageModel::of(scenario, RoutingRule::Spill);
        let n = stage.rates.servers;
        // Circuits for all layers together: the best guess for circuits that stay.
        let mut sum =
            LayerDemand { servers: n, bytes: vec![0.0; n * n], busiest_gpu: 0.0, busiest_rail: 0.0 };
        let best = |stage: &StageModel, demand: &LayerDemand| {
            let exchange = Exchange::of(demand, &stage.rates, RoutingRule::Spill);
            swapped(&exchange, stage.rates.optical, &demand.both_ways()).0
        };
        for layer in 0..stage.layers() {
            if is_over() {
                return Ok(None);
            }
            let demand = stage.demands[layer].clone();
            for (sum, bytes) in sum.bytes.iter_mut().zip(&demand.bytes) {
                *sum += bytes;
            }
            let own = stage.add(best(&stage, &demand), Some(layer))?;
            // Own circuits by layer, which the policies use.
            stage.own.push(own);
        }
        // Known beforehand, so they may stay for the whole iteration.
        stage.add(best(&stage, &sum), None)?;
        Ok(Some(Self { stage }))
    }

    /// Time of an iteration with a policy at a delay, ms; `None` where there is no plan.
    pub fn time(&self, policy: SwitchPolicy, delay_ms: f64) -> Option<f64> {
        let mut stage = self.stage.clone();
        stage.scenario.cluster.reconfiguration_delay_ms = delay_ms;
        value(&stage, policy)
    }

    /// Time of an iteration on the best circuits of all candidates that stay, ms.
    pub fn still(&self) -> Option<f64> {
        let mut stage = self.stage.clone();
        let times = (0..self.stage.candidates.len()).filter_map(|candidate| {
            // Every candidate in turn is the one that stays.
            stage.own = vec![candidate; stage.layers()];
            value(&stage, SwitchPolicy::Never)
        });
        times.min_by(f64::total_cmp)
    }

    /// Delay at which the cheapest schedule is as long as with circuits that stay, ms; `None` if these are as good as
    /// any that change without delay.
    pub fn break_even_ms(&self) -> Option<f64> {
        let still = self.still()?;
        // Rounding is no gain.
        let pays = |delay: f64| {
            self.time(SwitchPolicy::Exact, delay).is_some_and(|best| best < still * (1.0 - 1e-9))
        };
        if !pays(0.0) {
            return None;
        }
        // The cost of every schedule with a change grows with the delay, so the delays that pay are an interval from 0
        // on.
        let (mut low, mut high) = (0.0, LONGEST_MS);
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            if pays(middle) { low = middle } else { high = middle }
        }
        Some(low)
    }
}

/// Time of an iteration with a policy, of which only the exchanges and the stalls matter here.
fn value(stage: &StageModel, policy: SwitchPolicy) -> Option<f64> {
    let chosen = match policy {
        SwitchPolicy::Exact => optimum(stage)?,
        policy => schedule(stage, policy),
    };
    let sums = StageSums { all_to_all_ms: chosen.cost_ms(stage), ..StageSums::default() };
    iteration(&stage.scenario, FabricKind::Mfabric, sums, 0).map(|plan| plan.iteration_ms)
}
