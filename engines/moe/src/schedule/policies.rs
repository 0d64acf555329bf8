//! The policies of the paper, and simple rules (docs/methods/moe.md, sections 1 and 8).

use super::stage::StageModel;
use crate::plan::LayerPhase;

/// Rule for the times at which circuits change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SwitchPolicy {
    /// Circuits change before every dispatch with the whole delay; all other changes count as free.
    Paper,
    /// Circuits change before every dispatch with the whole delay; other changes stall for the part of the delay that
    /// compute phases do not hide.
    Window,
    /// The dispatch runs on the circuits of the previous layer; circuits change while the experts compute.
    Reuse,
    /// Predicted circuits are set during attention, and refined while the experts compute if that saves time.
    Copilot,
    /// For each layer, the cheaper of two choices: the layer's own circuits after a stall, or the circuits of the
    /// previous layer for the dispatch.
    Best,
    /// The cheapest choice of circuits and changes over all layers together.
    Exact,
    /// Circuits never change.
    Never,
}

impl SwitchPolicy {
    /// All policies with their names.
    pub const ALL: [(&'static str, Self); 7] = [
        ("paper", Self::Paper),
        ("window", Self::Window),
        ("reuse", Self::Reuse),
        ("copilot", Self::Copilot),
        ("best", Self::Best),
        ("exact", Self::Exact),
        ("never", Self::Never),
    ];

    /// Returns the name of the policy.
    pub fn word(self) -> &'static str {
        Self::ALL.iter().find(|(_, policy)| *policy == self).map_or("", |(name, _)| name)
    }

    /// Returns the policy of a name; `None` if the name is unknown.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, policy)| *policy)
    }
}

/// Circuits for every exchange, with the cost of their changes.
#[derive(Clone, Debug, PartialEq)]
pub struct SwitchSchedule {
    /// Index of the circuits among the candidates of the stage, by layer and exchange.
    pub used: Vec<[usize; 4]>,
    /// If true, the circuits of every dispatch are set after the gate, even if they are already installed, as in the
    /// simulations of the paper.
    pub always: bool,
    /// If true, changes before exchanges other than the dispatch cost nothing.
    pub free: bool,
}

impl SwitchSchedule {
    /// Returns the time of exchanges and stalls of a micro-batch in the stage, ms. Infinite if the schedule uses
    /// circuits before the demand for which they were chosen is known.
    pub fn cost_ms(&self, stage: &StageModel) -> f64 {
        // The circuits that the previous micro-batch leaves.
        let mut installed = self.used.first().map(|used| used[3]);
        let mut cost = 0.0;
        for (layer, phase) in stage.steps() {
            let Some(candidate) = self.candidate(layer, phase) else { return f64::INFINITY };
            cost += stage.exchange_ms(candidate, layer);
            cost += self.stall_ms(stage, layer, phase, installed, candidate).unwrap_or(f64::INFINITY);
            installed = Some(candidate);
        }
        cost
    }

    /// Returns the index of the circuits of an exchange among the candidates of the stage; `None` if the layer or the
    /// exchange does not exist.
    pub fn candidate(&self, layer: usize, phase: LayerPhase) -> Option<usize> {
        let at = LayerPhase::EXCHANGES.iter().position(|known| *known == phase)?;
        Some(self.used.get(layer)?[at])
    }

    /// Returns `true` if circuits are set before an exchange even if they are already installed. In a region without
    /// circuits, such as a region of a single server, nothing is set.
    pub fn is_forced(&self, stage: &StageModel, phase: LayerPhase, candidate: usize) -> bool {
        let circuits = stage.candidates.get(candidate).map_or(0, |known| known.counts.total());
        // The paper stalls before every dispatch, whether circuits change or not.
        phase == LayerPhase::A2a1 && self.always && circuits > 0
    }

    /// Returns the stall for changing from the installed circuits to the circuits of a candidate before an exchange,
    /// ms; `None` if the new circuits cannot be known before the exchange.
    fn stall_ms(
        &self,
        stage: &StageModel,
        layer: usize,
        phase: LayerPhase,
        installed: Option<usize>,
        candidate: usize,
    ) -> Option<f64> {
        if self.is_forced(stage, phase, candidate) {
            return Some(stage.delay_ms());
        }
        // The circuits are already installed, or the policy does not charge the change.
        if installed == Some(candidate) || self.free {
            return Some(0.0);
        }
        Some(stage.stall_ms(stage.window(phase, layer, candidate)?))
    }
}

/// Returns the schedule of a policy that decides layer by layer; the exact schedule is in [`super::optimum`].
pub fn schedule(stage: &StageModel, policy: SwitchPolicy) -> SwitchSchedule {
    let own = |layer: usize| stage.own.get(layer).copied().unwrap_or(0);
    let layers = 0..stage.layers();
    let plain = |used| SwitchSchedule { used, always: false, free: false };
    match policy {
        // Circuits of the layer for all four exchanges.
        SwitchPolicy::Paper | SwitchPolicy::Window => SwitchSchedule {
            used: layers.map(|layer| [own(layer); 4]).collect(),
            always: true,
            free: policy == SwitchPolicy::Paper,
        },
        SwitchPolicy::Reuse => plain(layers.map(|layer| reused(layer, own)).collect()),
        SwitchPolicy::Copilot => plain(layers.map(|layer| predicted(stage, layer, own(layer))).collect()),
        // One set of circuits for all layers.
        SwitchPolicy::Never => plain(layers.map(|_| [own(0); 4]).collect()),
        SwitchPolicy::Best | SwitchPolicy::Exact => plain(
            layers
                .map(|layer| {
                    // Either the installed circuits of the previous layer, or a stall and then the circuits of this
                    // layer.
                    let reuse = reused(layer, own);
                    let change = if reuse[0] == reuse[1] { 0.0 } else { hidden_by_experts(stage) };
                    let reusing = stage.exchange_ms(reuse[0], layer) + change;
                    // Each alternative costs the dispatch on its circuits plus the stalls of the change.
                    let stalling = stage.exchange_ms(own(layer), layer) + stage.delay_ms();
                    if reusing <= stalling { reuse } else { [own(layer); 4] }
                })
                .collect(),
        ),
    }
}

fn reused(layer: usize, own: impl Fn(usize) -> usize) -> [usize; 4] {
    // The first layer has no previous layer, so it uses its own circuits.
    let before = layer.checked_sub(1).map_or_else(|| own(0), &own);
    [before, own(layer), own(layer), own(layer)]
}

/// Returns the stall of a change that is made while the experts compute: the delay of the switch minus the compute
/// time, at least 0, ms.
fn hidden_by_experts(stage: &StageModel) -> f64 {
    (stage.delay_ms() - stage.times.expert_ms).max(0.0)
}

/// Returns the circuits of the four exchanges of a layer: predicted circuits for the dispatch; for the combine, the
/// layer's own circuits if they save time; for the backward pass, the layer's own circuits or, in the last layer, the
/// circuits of the combine.
fn predicted(stage: &StageModel, layer: usize, own: usize) -> [usize; 4] {
    // Without a prediction, the dispatch uses the layer's own circuits.
    let predicted = stage.predicted.get(layer).copied().unwrap_or(own);
    let staying = stage.exchange_ms(predicted, layer);
    // Refining saves time if the combine gains more than the part of the delay that expert compute does not hide.
    let refining = stage.exchange_ms(own, layer) + hidden_by_experts(stage);
    let last = layer + 1 == stage.layers();
    // The backward pass uses the layer's own circuits, because its demand is known.
    let combine = if predicted != own && refining < staying { own } else { predicted };
    // The last layer starts its backward pass on the circuits of the combine; for other layers, circuits change anyway.
    let back = if last { combine } else { own };
    [predicted, combine, back, back]
}
