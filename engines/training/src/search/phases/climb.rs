//! Pattern search from guessed schedules, which gives the incumbent of the search over boxes.
//!
//! The search over boxes bisects ranges of instants. So it takes long to find schedules that are good only at one exact
//! instant, such as schedules whose return costs time at both ends of the iteration. The pattern search changes the
//! circuit counts of one or two links in a state by 1, or an instant by a step. It keeps a change that makes the
//! iteration shorter; if no change does, it halves the step.

use super::boxes::{MoveBox, ReturnSide};
use super::tree::Tree;
use super::{Aim, Moving};
use lightbay_core::method::MethodError;
use lightbay_core::watch::Watch;

/// Number of instants of the reconfiguration that guesses use: the last ends of transfers that have successors.
const GUESSED_ENDS: usize = 6;
/// Maximum period of a guess, as a multiple of the best period; a climb shortens guesses.
const WORSE: f64 = 1.5;
/// Number of guesses to improve.
const CLIMBED: usize = 4;
/// Smallest step of instants, relative to the period, at which a climb ends.
const FINEST: f64 = 1e-10;

impl<W: Watch<Moving>> Tree<'_, '_, W> {
    /// Improves the best guesses as long as the iteration gets shorter; does nothing if ports are minimised.
    ///
    /// # Errors
    /// The reason to stop.
    pub(super) fn climb(&mut self) -> Result<(), MethodError> {
        if self.task.aim != Aim::Time {
            return Ok(());
        }
        self.stretch = WORSE;
        let mut guesses = Vec::new();
        for guess in self.guesses() {
            self.watch.checkpoint()?;
            if let Some(found) = self.value(&guess) {
                guesses.push((found.period_s, guess));
            }
        }
        guesses.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (value, guess) in guesses.into_iter().take(CLIMBED) {
            self.climb_from(value, guess)?;
        }
        self.stretch = 1.0;
        Ok(())
    }

    /// Returns guesses. In the first state, the decided links have as many circuits as fit; at the end of a transfer,
    /// all of them change to 0 or to 1 circuit. Each guess is made with several instants of the return.
    fn guesses(&mut self) -> Vec<MoveBox> {
        let network = &self.task.evaluator.network;
        let most = self.movable.most();
        let (none, one) = (vec![0; most.len()], vec![1; most.len()]);
        let (end_s, delay_s) = (self.task.known, self.task.delay_s);
        let mut guesses = Vec::new();
        for low in [&none, &one] {
            let Some(full) = self.movable.fitting(network, low, &most) else { continue };
            for few in [&none, &one] {
                let start = MoveBox {
                    order: ReturnSide::Around,
                    low: [full.clone(), few.clone()],
                    high: [full.clone(), few.clone()],
                    instants: [[0.0, end_s], [0.0; 2]],
                };
                let ends = self.moments(&start, true);
                for go in ends.into_iter().skip(3).take(GUESSED_ENDS) {
                    for share in [0.0, 0.25, 0.5, 0.75, 1.0] {
                        let instants = [[go; 2], [-share * delay_s; 2]];
                        guesses.push(MoveBox { instants, ..start.clone() });
                        let instants = [[go; 2], [(end_s - delay_s * (1.0 + share)).max(go); 2]];
                        guesses.push(MoveBox { order: ReturnSide::Within, instants, ..start.clone() });
                    }
                }
            }
        }
        guesses
    }

    fn climb_from(&mut self, mut value: f64, mut at: MoveBox) -> Result<(), MethodError> {
        let mut step = 0.5 * self.task.delay_s.max(0.01 * value);
        while step > FINEST * value {
            let mut better = None;
            for next in self.neighbours(&at, step) {
                self.watch.checkpoint()?;
                if let Some(found) = self.value(&next)
                    && found.period_s < value * (1.0 - 1e-12)
                {
                    value = found.period_s;
                    better = Some(next);
                    self.keep(found)?;
                }
            }
            match better {
                Some(next) => at = next,
                None => step *= 0.5,
            }
        }
        Ok(())
    }

    fn neighbours(&mut self, at: &MoveBox, step: f64) -> Vec<MoveBox> {
        let most = self.movable.most();
        let mut next = Vec::new();
        for state in 0..2 {
            let counts = &at.low[state];
            let mut add = |changes: &[(usize, i64)]| {
                let mut other = at.clone();
                for (link, change) in changes {
                    let count = i64::from(counts[*link]) + change;
                    let Some(count) = u32::try_from(count).ok().filter(|count| *count <= most[*link]) else {
                        return;
                    };
                    (other.low[state][*link], other.high[state][*link]) = (count, count);
                }
                next.push(other);
            };
            for link in 0..counts.len() {
                add(&[(link, 1)]);
                add(&[(link, -1)]);
                for other in 0..link {
                    add(&[(link, 1), (other, -1)]);
                    add(&[(link, -1), (other, 1)]);
                }
            }
        }
        let earliest = if at.order == ReturnSide::Around { -self.task.delay_s } else { 0.0 };
        let latest = if at.order == ReturnSide::Around { 0.0 } else { self.task.known };
        let [[go, _], [back, _]] = at.instants;
        for (go, back) in [
            (go + step, back),
            (go - step, back),
            (go, back + step),
            (go, back - step),
            (go + step, back + step),
            (go - step, back - step),
        ] {
            if go >= 0.0 && (earliest..=latest).contains(&back) {
                next.push(MoveBox { instants: [[go; 2], [back; 2]], ..at.clone() });
            }
        }
        // Move the reconfiguration to the end of a transfer, so that it does not interrupt the transfer.
        let whole = MoveBox { instants: [[0.0, self.task.known], at.instants[1]], ..at.clone() };
        for go in self.moments(&whole, false).into_iter().skip(3) {
            next.push(MoveBox { instants: [[go; 2], at.instants[1]], ..at.clone() });
        }
        next
    }
}
