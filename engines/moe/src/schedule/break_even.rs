//! Delay of the switch up to which changing circuits shortens the iteration (docs/methods/moe.md, section 9).

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

/// Maximum delay that is considered, ms: far above the seconds until NICs are active again after a change.
const LONGEST_MS: f64 = 1e5;
/// Number of bisection steps: the interval of delays shrinks from 1e5 ms to 1e-7 ms.
const HALVINGS: usize = 40;

/// A stage for comparing circuits that change with static circuits.
#[derive(Clone, Debug)]
pub struct DelayStudy {
    /// The stage, with circuits for every layer and circuits for the sum of all demands.
    pub stage: StageModel,
}

impl DelayStudy {
    /// Computes circuits for every layer of a scenario, and circuits for all layers together. Calls `is_over` between
    /// layers; if `is_over` returns `true`, the result is `Ok(None)`.
    ///
    /// # Errors
    /// A pair of servers without a path.
    pub fn of(scenario: &MoeScenario, is_over: impl Fn() -> bool) -> Result<Option<Self>, Unreachable> {
        let mut stage = StageModel::of(scenario, RoutingRule::Spill);
        let n = stage.rates.servers;
        // Circuits for all layers together, the best candidate for static circuits.
        let mut sum = LayerDemand {
            servers: n,
            bytes: vec![0.0; n * n],
            busiest_gpu: Vec::new(),
            busiest_rail: Vec::new(),
        };
        let best = |stage: &StageModel, demand: &LayerDemand| {
            let exchange = Exchange::of(demand, &stage.rates, RoutingRule::Spill);
            swapped(&exchange, &stage.rates.optical, &demand.both_ways()).0
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
            // The policies use these circuits for the layer.
            stage.own.push(own);
        }
        // Circuits for the summed demand are known in advance, so they may stay for the whole iteration.
        stage.add(best(&stage, &sum), None)?;
        Ok(Some(Self { stage }))
    }

    /// Returns the time of an iteration with a policy at a delay, ms; `None` if no plan exists.
    pub fn time(&self, policy: SwitchPolicy, delay_ms: f64) -> Option<f64> {
        let mut stage = self.stage.clone();
        stage.scenario.cluster.reconfiguration_delay_ms = delay_ms;
        value(&stage, policy)
    }

    /// Returns the time of an iteration on the best static circuits among all candidates, ms; `None` if no plan exists.
    pub fn still(&self) -> Option<f64> {
        let mut stage = self.stage.clone();
        let times = (0..self.stage.candidates.len()).filter_map(|candidate| {
            // Each candidate in turn is tried as static circuits.
            stage.own = vec![candidate; stage.layers()];
            value(&stage, SwitchPolicy::Never)
        });
        times.min_by(f64::total_cmp)
    }

    /// Returns the largest delay at which the cheapest schedule is faster than static circuits, ms, at most 1e5; `None`
    /// if static circuits are as good as circuits that change without delay, or if no plan exists.
    pub fn break_even_ms(&self) -> Option<f64> {
        let still = self.still()?;
        // Differences within rounding are not a gain.
        let pays = |delay: f64| {
            self.time(SwitchPolicy::Exact, delay).is_some_and(|best| best < still * (1.0 - 1e-9))
        };
        if !pays(0.0) {
            return None;
        }
        // The cost of every schedule with a change grows with the delay, so the delays with a gain form an interval
        // from 0.
        let (mut low, mut high) = (0.0, LONGEST_MS);
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            if pays(middle) { low = middle } else { high = middle }
        }
        Some(low)
    }
}

/// Returns the time of an iteration with a policy, from its exchanges and stalls, ms; `None` if no plan exists.
fn value(stage: &StageModel, policy: SwitchPolicy) -> Option<f64> {
    let chosen = match policy {
        SwitchPolicy::Exact => optimum(stage)?,
        policy => schedule(stage, policy),
    };
    let sums = StageSums { all_to_all_ms: chosen.cost_ms(stage), ..StageSums::default() };
    iteration(&stage.scenario, FabricKind::Mfabric, sums, 0).map(|plan| plan.iteration_ms)
}
