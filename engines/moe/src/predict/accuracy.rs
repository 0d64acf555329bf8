//! Accuracy of predictions, compared with trivial baselines.

use super::passage::FitSettings;
use super::rolling::RollingPassage;
use crate::scenario::trace::GateHistory;

/// Ways to predict the loads of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Predictor {
    /// Predicts from the previous layer, by a fitted transition matrix.
    Copilot,
    /// Predicts the same shares as in the last iteration.
    LastIteration,
    /// Predicts the same shares as in the previous layer.
    PreviousLayer,
    /// Predicts equal shares for all experts.
    Uniform,
}

impl Predictor {
    /// All predictors with their display names.
    pub const ALL: [(&'static str, Self); 4] = [
        ("copilot", Self::Copilot),
        ("last iteration", Self::LastIteration),
        ("previous layer", Self::PreviousLayer),
        ("uniform", Self::Uniform),
    ];

    /// Returns the predicted loads for the iteration at `index` of a history; `None` if the predictor has no data.
    /// `passage` is the rolling fit of the layer.
    fn load(
        self,
        history: &GateHistory,
        index: usize,
        layer: usize,
        passage: &mut RollingPassage<'_>,
    ) -> Option<Vec<f64>> {
        match self {
            Self::Copilot => (layer > 0 && index > 0).then(|| passage.expected(index)),
            Self::LastIteration => index.checked_sub(1).map(|last| history.load(last, layer).to_vec()),
            Self::PreviousLayer => layer.checked_sub(1).map(|before| history.load(index, before).to_vec()),
            Self::Uniform => Some(vec![1.0 / history.experts as f64; history.experts]),
        }
    }
}

/// Means of accuracy over predictions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Accuracy {
    /// For k = 1, 2 and 4: fraction of the k busiest experts that are among the k experts predicted to be busiest.
    pub top: [f64; 3],
    /// Sum of the absolute differences of all shares.
    pub l1: f64,
    /// Number of predictions.
    pub count: usize,
}

/// Numbers of busiest experts that are compared.
pub const TOP: [usize; 3] = [1, 2, 4];

/// Returns the `count` experts with the largest shares, busiest first; ties go to the smaller number.
pub fn busiest(load: &[f64], count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..load.len()).collect();
    order.sort_by(|a, b| load[*b].total_cmp(&load[*a]).then(a.cmp(b)));
    order.truncate(count);
    order
}

/// Returns the accuracy of a predictor on a layer, over the iterations of a history from `first`; `None` if the
/// predictor has no data.
pub fn accuracy(
    predictor: Predictor,
    history: &GateHistory,
    layer: usize,
    first: usize,
    settings: &FitSettings,
) -> Option<Accuracy> {
    let mut sums = Accuracy::default();
    let mut passage = RollingPassage::new(history, layer, settings);
    // Iterations are visited in order, so each fit starts from the previous one.
    for index in first..history.iterations {
        let Some(expected) = predictor.load(history, index, layer, &mut passage) else { continue };
        let load = history.load(index, layer);
        for (sum, count) in sums.top.iter_mut().zip(TOP) {
            let wanted = busiest(load, count);
            // If the prediction has no preference, every expert is equally likely: this is the expected fraction, not
            // one sample.
            *sum += if predictor == Predictor::Uniform {
                (count as f64 / load.len() as f64).min(1.0)
            } else {
                // Recall of the busiest experts; their order does not matter.
                let named = busiest(&expected, count);
                named.iter().filter(|expert| wanted.contains(expert)).count() as f64 / wanted.len() as f64
            };
        }
        sums.l1 += expected.iter().zip(load).map(|(a, b)| (a - b).abs()).sum::<f64>();
        sums.count += 1;
    }
    if sums.count == 0 {
        return None;
    }
    // Means over the iterations for which the predictor has data.
    let count = sums.count as f64;
    Some(Accuracy { top: sums.top.map(|sum| sum / count), l1: sums.l1 / count, count: sums.count })
}
