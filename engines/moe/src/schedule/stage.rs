//! The layers of a stage with the candidate circuits, and the times of exchanges on them (docs/methods/moe.md, section
//! 8).

use crate::model::demand::LayerDemand;
use crate::model::rates::RegionRates;
use crate::model::times::LayerTimes;
use crate::plan::{AllToAll, CircuitAction, LayerPhase, RegionCircuit};
use crate::scenario::MoeScenario;
use crate::search::circuits::CircuitCounts;
use crate::search::exchange::RoutingRule;
use crate::search::mapping::{changed, mapped};
use crate::search::routes::{Routed, Unreachable, routed};
use std::sync::Arc;

/// Circuits that can be set.
#[derive(Clone, Debug)]
pub struct CircuitCandidate {
    /// Number of circuits of each pair of servers.
    pub counts: CircuitCounts,
    /// Circuits with their NICs, all with the action "add".
    pub nics: Vec<RegionCircuit>,
    /// The layer whose demand must be known before the circuits can be set; `None` if they are known in advance.
    pub after: Option<usize>,
    /// Times of the exchange of every layer on these circuits; routes are computed only for exchanges that are used.
    pub exchanges: Vec<AllToAll>,
}

/// The layers of a stage.
#[derive(Clone, Debug)]
pub struct StageModel {
    /// Scenario of the stage.
    pub scenario: MoeScenario,
    /// Rates of the region.
    pub rates: RegionRates,
    /// Compute times of a layer.
    pub times: LayerTimes,
    /// Demand of every layer.
    pub demands: Vec<LayerDemand>,
    /// Expert in every slot by layer; empty if the experts are in blocks.
    pub placements: Vec<Vec<u32>>,
    /// Copies of tokens that all ranks send to every expert, by layer; empty if the experts are in blocks.
    pub expert_loads: Vec<Vec<f64>>,
    /// Use of packet switches by pairs with circuits.
    pub rule: RoutingRule,
    /// Circuits that can be set. Stages that differ only in times share the candidates, which need much memory.
    pub candidates: Vec<Arc<CircuitCandidate>>,
    /// Index, among the candidates, of the circuits for the demand of each layer.
    pub own: Vec<usize>,
    /// Index, among the candidates, of the circuits for the predicted demand of each layer; empty without predictions.
    pub predicted: Vec<usize>,
}

/// The phase that hides the delay of the switch before an exchange, and its length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HidingWindow {
    /// The phase, if there is one.
    pub phase: Option<LayerPhase>,
    /// Length of the phase, ms.
    pub length_ms: f64,
}

impl StageModel {
    /// Creates the stage of a scenario, without candidates.
    pub fn of(scenario: &MoeScenario, rule: RoutingRule) -> Self {
        let history = scenario.history(0);
        let demands = (0..history.layers).map(|layer| LayerDemand::of(scenario, &history, layer)).collect();
        Self {
            rates: RegionRates::of(scenario),
            times: LayerTimes::of(scenario),
            scenario: scenario.clone(),
            demands,
            placements: Vec::new(),
            expert_loads: Vec::new(),
            rule,
            candidates: Vec::new(),
            own: Vec::new(),
            predicted: Vec::new(),
        }
    }

    /// Creates the stage of a scenario with the experts of every layer in slots, without candidates.
    pub fn placed(scenario: &MoeScenario, rule: RoutingRule, placements: Vec<Vec<u32>>) -> Self {
        let history = scenario.history(0);
        let layers = placements.iter().enumerate();
        let demands =
            layers.map(|(layer, slots)| LayerDemand::placed(scenario, &history, layer, slots)).collect();
        let expert_loads = (0..placements.len()).map(|layer| history.expert_loads(layer)).collect();
        Self { demands, placements, expert_loads, ..Self::of(scenario, rule) }
    }

    /// Returns the number of layers.
    pub fn layers(&self) -> usize {
        self.demands.len()
    }

    /// Adds circuits that are known once the demand of layer `after` is known, or in advance if `after` is `None`;
    /// returns the index of these circuits among the candidates. Circuits that already are a candidate are not added
    /// again.
    ///
    /// # Errors
    /// A pair of servers with bytes in some layer and without a path.
    pub fn add(&mut self, counts: CircuitCounts, after: Option<usize>) -> Result<usize, Unreachable> {
        let at = self.place(counts, after);
        if self.untimed().last() == Some(&at) {
            match self.exchanges(at) {
                Ok(exchanges) => self.time(at, exchanges),
                Err(pair) => {
                    self.candidates.pop();
                    return Err(pair);
                }
            }
        }
        Ok(at)
    }

    /// Adds circuits as [`Self::add`] does, but without the times of the exchanges on them.
    pub fn place(&mut self, counts: CircuitCounts, after: Option<usize>) -> usize {
        // Equal circuits are one candidate, known as soon as the earlier of both demands is known.
        if let Some(at) = self.candidates.iter().position(|known| known.counts == counts) {
            let known = Arc::make_mut(&mut self.candidates[at]);
            // `None` (known in advance) is earlier than any layer.
            known.after = known.after.zip(after).map(|(one, other)| one.min(other));
            return at;
        }
        let region = &self.scenario.region;
        // NICs are chosen to match those of the previous candidate, so that a change between the two sets few circuits.
        let mut nics = match self.candidates.last() {
            Some(before) => changed(region, &before.nics, &counts),
            None => mapped(region, &counts),
        };
        // Candidates are independent: what is kept or added depends on the circuits that are installed when a candidate
        // is used.
        nics.retain(|circuit| circuit.action != CircuitAction::Remove);
        for circuit in &mut nics {
            circuit.action = CircuitAction::Add;
        }
        nics.sort_unstable();
        self.candidates.push(Arc::new(CircuitCandidate { counts, nics, after, exchanges: Vec::new() }));
        self.candidates.len() - 1
    }

    /// Returns the indices of the candidates without times of exchanges.
    pub fn untimed(&self) -> Vec<usize> {
        (0..self.candidates.len()).filter(|at| self.candidates[*at].exchanges.is_empty()).collect()
    }

    /// Returns the times of the exchange of every layer on the circuits of a candidate.
    ///
    /// # Errors
    /// A pair of servers with bytes in some layer and without a path.
    pub fn exchanges(&self, candidate: usize) -> Result<Vec<AllToAll>, Unreachable> {
        // Every layer on every candidate is timed once; schedules only add up these times.
        (0..self.layers()).map(|layer| Ok(self.routed(candidate, layer)?.all_to_all)).collect()
    }

    /// Sets the times of the exchanges on a candidate.
    pub fn time(&mut self, candidate: usize, exchanges: Vec<AllToAll>) {
        Arc::make_mut(&mut self.candidates[candidate]).exchanges = exchanges;
    }

    /// Returns the time of an exchange of a layer on a candidate, ms.
    pub fn exchange_ms(&self, candidate: usize, layer: usize) -> f64 {
        let of = self.candidates.get(candidate).and_then(|known| known.exchanges.get(layer));
        of.map_or(f64::INFINITY, |times| times.all_to_all_ms)
    }

    /// Returns the routes of the all-to-all of a layer on the circuits of a candidate.
    ///
    /// # Errors
    /// A pair of servers without a path.
    pub fn routed(&self, candidate: usize, layer: usize) -> Result<Routed, Unreachable> {
        let (known, demand) = (&self.candidates[candidate], &self.demands[layer]);
        routed(&self.scenario.region, &self.rates, demand, &known.nics, self.rule)
    }

    /// Returns the phase, if there is one, that hides the delay of a change to the circuits of a candidate before an
    /// exchange, and its length; `None` if the circuits of the candidate cannot be known before the exchange.
    pub fn window(&self, phase: LayerPhase, layer: usize, candidate: usize) -> Option<HidingWindow> {
        let after = self.candidates.get(candidate)?.after;
        let hidden = |phase, length_ms| Some(HidingWindow { phase: Some(phase), length_ms });
        let bare = Some(HidingWindow { phase: None, length_ms: 0.0 });
        match phase {
            LayerPhase::A2a1 => match after {
                // Dispatch: its own circuits are known only after the gate, directly before it.
                Some(known) if known > layer => None,
                Some(known) if known == layer => bare,
                _ => hidden(LayerPhase::AttentionFwd, self.times.attention_ms),
            },
            // Combine: its demand is the transpose of the dispatch, so it is known by then.
            LayerPhase::A2a2 if after.is_some_and(|known| known > layer) => None,
            LayerPhase::A2a2 => hidden(LayerPhase::ExpertFwd, self.times.expert_ms),
            // The attention of the next layer hides the change.
            LayerPhase::A2a3 if layer + 1 < self.layers() => {
                hidden(LayerPhase::AttentionBwd, 2.0 * self.times.attention_ms)
            }
            // The experts' backward compute runs between the two backward exchanges.
            LayerPhase::A2a4 => hidden(LayerPhase::ExpertBwd, 2.0 * self.times.expert_ms),
            // The last layer starts its backward pass directly after its forward pass, so no compute hides the change.
            _ => bare,
        }
    }

    /// Returns the delay of the switch, ms.
    pub fn delay_ms(&self) -> f64 {
        self.scenario.cluster.reconfiguration_delay_ms
    }

    /// Returns the stall of a change, ms: the part of the delay that the phase of the window does not hide.
    pub fn stall_ms(&self, window: HidingWindow) -> f64 {
        (self.delay_ms() - window.length_ms).max(0.0)
    }

    /// Returns layer and exchange of every step of a micro-batch in the stage: forward through all layers, and back.
    pub fn steps(&self) -> impl Iterator<Item = (usize, LayerPhase)> + '_ {
        let pairs = |layer: usize, phases: [LayerPhase; 2]| phases.map(|phase| (layer, phase));
        let [one, two, three, four] = LayerPhase::EXCHANGES;
        // Forward through the layers, dispatch and combine of each; then backward with their gradients.
        let forward = (0..self.layers()).flat_map(move |layer| pairs(layer, [one, two]));
        let backward = (0..self.layers()).rev().flat_map(move |layer| pairs(layer, [three, four]));
        forward.chain(backward)
    }
}
