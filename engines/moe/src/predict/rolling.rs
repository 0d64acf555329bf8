//! Predictions of one layer over consecutive iterations.

use super::passage::{FitSettings, PassageFit, passed};
use crate::scenario::trace::GateHistory;

/// The transition matrix to a layer, fitted again in every iteration. The weighted sums of the fit move with the window
/// of past iterations, and each fit starts from the matrix of the previous iteration.
#[derive(Clone, Debug)]
pub struct RollingPassage<'h> {
    history: &'h GateHistory,
    layer: usize,
    settings: FitSettings,
    fit: PassageFit,
    passage: Vec<f64>,
    /// The weighted sums contain iterations before this one; `None` if there are no sums yet.
    end: Option<usize>,
}

impl<'h> RollingPassage<'h> {
    /// Creates the predictor of a layer; it fits the transition matrix at the first prediction.
    pub fn new(history: &'h GateHistory, layer: usize, settings: &FitSettings) -> Self {
        let fit = PassageFit::new(history.experts, settings.ridge_for(history.experts));
        let passage = fit.even();
        Self { history, layer, settings: *settings, fit, passage, end: None }
    }

    /// Predicts the shares of the experts in the iteration at `index`, from the previous layer and from earlier
    /// iterations. For the first layer, the prediction is the shares of that layer in the previous iteration, or equal
    /// shares without such an iteration.
    pub fn expected(&mut self, index: usize) -> Vec<f64> {
        // The first layer has no previous layer.
        let Some(before) = self.layer.checked_sub(1) else {
            return match index.checked_sub(1) {
                Some(last) => self.history.load(last, 0).to_vec(),
                None => vec![1.0 / self.history.experts as f64; self.history.experts],
            };
        };
        self.move_to(index, before);
        // Hot start: the matrix of the previous iteration.
        self.fit.solve(&mut self.passage);
        passed(&self.passage, self.history.load(index, before))
    }

    /// Moves the weighted sums to the window of iterations before `index`.
    fn move_to(&mut self, index: usize, before: usize) {
        let (history, layer, window) = (self.history, self.layer, self.settings.window);
        // Loads of both layers in one iteration.
        let pair = |at: usize| (history.load(at, before), history.load(at, layer));
        match self.end {
            Some(end) if end == index => {}
            // The next iteration: age all weights, add the newest pair, remove the pair that leaves the window.
            Some(end) if end + 1 == index => {
                self.fit.age(self.settings.gamma);
                let (x, y) = pair(end);
                self.fit.observe(x, y, 1.0);
                if let Some(gone) = end.checked_sub(window) {
                    let (x, y) = pair(gone);
                    self.fit.observe(x, y, -self.settings.weight(window));
                }
            }
            // Any other step: recompute the sums.
            _ => {
                self.fit.clear();
                for at in index.saturating_sub(window)..index {
                    let (x, y) = pair(at);
                    self.fit.observe(x, y, self.settings.weight(index - 1 - at));
                }
            }
        }
        self.end = Some(index);
    }
}
