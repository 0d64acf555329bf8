//! Prediction of the loads of a layer from those of the previous layer (copilot; mFabric, appendix B;
//! docs/methods/moe.md, section 10).
//!
//! Loads pass from layer to layer by a matrix P with columns on the simplex. It is fitted to the last iterations by
//! equation (1) with a ridge, `min sum_i w_i |Y_i - P X_i|^2 + ridge |P - 1/N|^2`; the ridge makes the answer unique.
//!
//! | module | content |
//! |---|---|
//! | [`simplex`] | projection onto the simplex |
//! | [`passage`] | fit of the transition matrix |
//! | [`rolling`] | fits over consecutive iterations |
//! | [`accuracy`] | accuracy of predictions, compared with trivial baselines |

pub mod accuracy;
pub mod passage;
pub mod rolling;
pub mod simplex;
mod splitting;

#[cfg(test)]
mod tests;

use crate::scenario::trace::GateHistory;
use passage::FitSettings;
use rolling::RollingPassage;

/// Predicts the shares of the experts of a layer in the iteration at `index` of a history, from the previous layer and
/// from earlier iterations. For the first layer, the prediction is the shares of that layer in the previous iteration,
/// or equal shares without such an iteration.
pub fn expected(history: &GateHistory, index: usize, layer: usize, settings: &FitSettings) -> Vec<f64> {
    RollingPassage::new(history, layer, settings).expected(index)
}
