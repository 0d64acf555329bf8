//! Minimum and maximum number of circuits of every link in any plan that ends by a limit.
//!
//! The end of the relaxation (longest path and sharing among sinks) never grows with circuits. So a circuit count of
//! one link is impossible if the iteration ends too late even when every other link has the maximum number of circuits
//! that its pods allow together with this count.

use crate::simulate::evaluate::{Evaluator, Scratch};

/// Minimum and maximum number of circuits of every link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Range {
    /// Minimum number of circuits of each link.
    pub low: Vec<u32>,
    /// Maximum number of circuits of each link.
    pub high: Vec<u32>,
}

/// Maximum number of rounds; each costs at least one evaluation per link.
const ROUNDS: usize = 8;

/// Maximum number of evaluations of all rounds together.
const EVALUATIONS: usize = 4_000;

/// Maximum relative rounding error of an evaluated end: some thousand roundings of a double.
const ROUNDING: f64 = 1e-12;

impl Range {
    /// The range from one circuit per link to the caps, limited by the ports of the pods. `None` if one circuit per
    /// link does not fit.
    pub fn new(evaluator: &Evaluator, caps: &[u32]) -> Option<Self> {
        let low = vec![1; caps.len()];
        let budget = &evaluator.network.budget;
        let range = Self { high: caps.iter().map(|cap| (*cap).max(1)).collect(), low };
        budget.fits(&range.low).then(|| range.within(evaluator))
    }

    /// Limits the maximum of each link to the circuits that the pods allow if all other links have their minimum.
    fn within(mut self, evaluator: &Evaluator) -> Self {
        let budget = &evaluator.network.budget;
        let free = budget.free(&self.low);
        for link in 0..self.low.len() {
            let room = u32::try_from(budget.room(link, &free).max(0)).unwrap_or(u32::MAX);
            self.high[link] = self.high[link].min(self.low[link].saturating_add(room)).max(self.low[link]);
        }
        self
    }

    /// Removes circuit counts that do not occur in any plan that ends by `limit_s`. `None` if no such plan exists.
    pub fn tighten(mut self, evaluator: &Evaluator, limit_s: f64) -> Option<Self> {
        let limit = limit_s * (1.0 + ROUNDING);
        let mut scratch = Scratch::default();
        let mut left = EVALUATIONS;
        for _ in 0..ROUNDS {
            // The maximum of the range bounds every allocation in it.
            if evaluator.bound(&self.high, &mut scratch) > limit {
                return None;
            }
            let before = self.clone();
            for link in 0..self.low.len() {
                // Tightens the range from both ends: drops a count if no choice of the other links meets the limit with
                // it.
                while self.low[link] < self.high[link]
                    && left > 0
                    && self.ends_with(link, self.low[link], evaluator, &mut scratch, &mut left) > limit
                {
                    self.low[link] += 1;
                }
                while self.low[link] < self.high[link]
                    && left > 0
                    && self.ends_with(link, self.high[link], evaluator, &mut scratch, &mut left) > limit
                {
                    self.high[link] -= 1;
                }
            }
            if !evaluator.network.budget.fits(&self.low) {
                return None;
            }
            // A smaller range of one link changes the ports that are left for other links, so all bounds are
            // recomputed.
            self = self.within(evaluator);
            if self == before || left == 0 {
                break;
            }
        }
        Some(self)
    }

    /// Lower bound on the end with this number of circuits of one link, seconds; infinite if the number does not fit
    /// the ports.
    fn ends_with(
        &self,
        link: usize,
        circuits: u32,
        evaluator: &Evaluator,
        scratch: &mut Scratch,
        left: &mut usize,
    ) -> f64 {
        *left -= 1;
        let mut others = self.clone();
        // The link fixed at this count, all others at the maximum that is then possible.
        others.low[link] = circuits;
        others.high[link] = circuits;
        if !evaluator.network.budget.fits(&others.low) {
            return f64::INFINITY;
        }
        evaluator.bound(&others.within(evaluator).high, scratch)
    }
}
