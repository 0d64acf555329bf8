//! Moves of events, evaluated by the prices of a solved program.
//!
//! Events that coincide in a solution can be reordered without losing that solution, because the interval between them
//! has length 0 in both orders. Prices show whether a move can make the schedule shorter. An interval of a new order
//! has a price per length that follows from the prices of its neighbours. Each task that runs in the new interval earns
//! the worth (dual value) of the volume that it can send there within the limits of circuits and NICs. If no new
//! interval earns more than its price, the dual solution stays feasible for the new order and no schedule of that order
//! is shorter: the move is discarded without solving a program.

use super::competition::Competition;
use super::events::EventOrder;
use super::solver::Point;
use crate::simulate::evaluate::Evaluator;

/// Events closer than this coincide; times are about 1000. The limit is a thousand times the tolerance of the programs,
/// and a billionth of an iteration.
const COINCIDE: f64 = 1e-6;

/// Minimum amount by which a new interval must earn more than its price. The amount is a hundred times the tolerance of
/// the programs: smaller gains may be noise of the prices.
const GAIN: f64 = 1e-7;

/// Maximum number of places by which one move shifts an event, so that the number of moves is linear in the events.
const REACH: usize = 8;

/// A move from a solved event order to a neighbouring order.
#[derive(Clone, Debug)]
pub(super) struct Move {
    /// Earnings of the best new interval minus its price.
    pub gain: f64,
    /// The order after the move.
    pub order: EventOrder,
}

/// Evaluates moves by prices, with lists that are reused.
#[derive(Debug, Default)]
pub(super) struct Pricing {
    /// Number of moves discarded by their price so far.
    pub pruned: u64,
    running: Vec<bool>,
    asking: Vec<(u32, f64, f64, f64)>,
}

impl Pricing {
    /// All moves of one event past events that coincide with it, the most promising first; moves that prices discard
    /// are left out.
    pub fn moves(&mut self, competition: &Competition, evaluator: &Evaluator, point: &Point) -> Vec<Move> {
        let mut moves: Vec<Move> = Vec::new();
        // Runs of events that coincide: a move keeps the current solution only within such a run.
        let count = point.order.events.len();
        let mut first = 0;
        while first < count {
            let mut last = first;
            while last + 1 < count && point.times[last + 1] - point.times[last] <= COINCIDE {
                last += 1;
            }
            for from in first..=last {
                // Moves of at most REACH places keep the number of moves linear in the run.
                for to in from.saturating_sub(REACH).max(first)..=(from + REACH).min(last) {
                    // Moving an event to the next place gives the same order as moving its neighbour back, so only the
                    // first move is tried.
                    if to == from || to + 1 == from {
                        continue;
                    }
                    let Some(order) = point.order.moved(from, to, competition, evaluator) else { continue };
                    let gain = self.gain(competition, point, &order, from.min(to), from.max(to));
                    if gain > GAIN {
                        moves.push(Move { gain, order });
                    } else {
                        self.pruned += 1;
                    }
                }
            }
            first = last + 1;
        }
        moves.sort_by(|a, b| b.gain.total_cmp(&a.gain));
        moves
    }

    /// Returns the earnings minus the price of the best interval between places `low` and `high` of a new order.
    fn gain(
        &mut self,
        competition: &Competition,
        point: &Point,
        order: &EventOrder,
        low: usize,
        high: usize,
    ) -> f64 {
        // Tasks that run before the first changed place.
        self.running.clear();
        self.running.resize(competition.rivals.len(), false);
        for event in &point.order.events[..low] {
            self.running[event.rival() as usize] = !event.is_end();
        }
        // Passing an event changes the price by the contribution of the event: the difference between the prices of the
        // intervals after and before the event.
        let mut price = point.prices[low];
        let mut best = f64::NEG_INFINITY;
        for event in &order.events[low..high] {
            self.running[event.rival() as usize] = !event.is_end();
            // What an event adds to the price does not depend on its place.
            let was = point.order.events[low..=high].iter().position(|old| old == event);
            let was = low + was.unwrap_or(0);
            price += point.prices[was + 1] - point.prices[was];
            // Reduced cost test: the largest earning of a new interval minus its price.
            best = best.max(self.earned(competition, &point.worth) - price);
        }
        best
    }

    /// Maximum that running tasks can earn in one unit of time; NICs that several tasks share are left out, which only
    /// increases the result.
    // A relaxed knapsack per link: the most valuable volumes first, up to the number of circuits (fractional greedy is
    // optimal).
    fn earned(&mut self, competition: &Competition, worth: &[f64]) -> f64 {
        self.asking.clear();
        for (position, rival) in competition.rivals.iter().enumerate() {
            if self.running[position] && worth[position] > 0.0 {
                self.asking.push((rival.via, worth[position], rival.rate, rival.circuits));
            }
        }
        self.asking.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
        let mut earned = 0.0;
        let (mut via, mut left) = (u32::MAX, 0.0);
        for &(link, worth, rate, circuits) in &self.asking {
            if link != via {
                (via, left) = (link, circuits);
            }
            let rate = f64::min(rate, left);
            earned += worth * rate;
            left -= rate;
        }
        earned
    }
}
