//! Prediction of the loads of a layer from those of the layer before (copilot).
//!
//! Loads pass from layer to layer by a matrix P with columns on the simplex. It is fitted to the last iterations by
//! `min sum_i w_i |Y_i - P X_i|^2 + ridge |P - 1/N|^2`; the ridge makes the answer unique.
//!
//! | part | content |
//! |---|---|
//! | [`simplex`] | the nearest point of the simplex |
//! | [`passage`] | the fit, by accelerated projected gradients and by HiGHS |
//! | [`accuracy`] | how often predictions are right, beside what costs nothing |

pub mod accuracy;
pub mod passage;
pub mod simplex;

#[cfg(test)]
mod tests;

use crate::scenario::trace::GateHistory;
use passage::{FitSettings, PassageFit};

/// Shares of the experts of a layer that are expected in the iteration at `index` of a history, from the layer before
/// and from earlier iterations. The first layer is expected as in the last iteration.
pub fn expected(history: &GateHistory, index: usize, layer: usize, settings: &FitSettings) -> Vec<f64> {
    let experts = history.experts;
    let Some(before) = layer.checked_sub(1) else {
        return match index.checked_sub(1) {
            Some(last) => history.load(last, 0).to_vec(),
            None => vec![1.0 / experts as f64; experts],
        };
    };
    let first = index.saturating_sub(settings.window);
    let mut fit = PassageFit::new(experts, settings.ridge_for(experts));
    let total: f64 = (first..index).map(|at| settings.weight(index - 1 - at)).sum();
    for at in first..index {
        let weight = settings.weight(index - 1 - at) / total;
        fit.observe(history.load(at, before), history.load(at, layer), weight);
    }
    let mut passage = fit.even();
    fit.solve(&mut passage);
    passage::passed(&passage, history.load(index, before))
}
