//! Circuits that change once within an iteration and return, with a proof.
//!
//! A schedule is a pair of states, sets of circuits, and two instants: from the first the iteration has the second
//! state, from the second the first one again. It is enough to decide the circuits of some links; each of the others
//! carries last transfers only and has a pod that it shares with decided links alone, so it takes every port that
//! those leave. What carries at a moment are the circuits that stood all through the dark time before it; for two
//! states that is one of them, or what they have in common.

mod around;
mod boxes;
mod climb;
mod demand;
mod fewest;
mod grow;
mod least;
mod states;
mod steps;
mod tree;
mod two;

use crate::plan::PhaseEvent;
use crate::simulate::evaluate::{Evaluator, Lit};
pub use around::least_period;
pub use demand::search_demand;
pub use grow::search_more;
pub use least::least_ports;
use lightbay_core::method::MethodError;
use lightbay_core::watch::Watch;
pub use states::Movable;
pub use steps::{Stepped, revalued};
pub use two::search_two;

/// Two states and the instants between them.
#[derive(Clone, Debug, PartialEq)]
pub struct Moving {
    /// Circuits of every link at the start of the iteration.
    pub first: Vec<u32>,
    /// Circuits of every link after the first instant.
    pub second: Vec<u32>,
    /// Instant of the switching, seconds.
    pub go_s: f64,
    /// Instant of the return, seconds; the period stands for the start of the next iteration.
    pub back_s: f64,
    /// Time of one iteration, seconds.
    pub period_s: f64,
}

/// Circuits that change within an iteration, as a plan is made of them.
pub trait MovedCircuits: Send + 'static {
    /// Time of one iteration, seconds.
    fn period_s(&self) -> f64;

    /// The states as events within the iteration.
    fn events(&self) -> Vec<PhaseEvent>;

    /// Ports over real pods: the most that each uses at a time.
    fn ports(&self, evaluator: &Evaluator) -> u64;

    /// The circuits that carry over the iteration.
    fn lit(&self, delay_s: f64) -> Lit;
}

impl MovedCircuits for Moving {
    fn period_s(&self) -> f64 {
        self.period_s
    }

    fn events(&self) -> Vec<PhaseEvent> {
        let event = |time_s, circuits: &Vec<u32>| PhaseEvent { time_s, circuits: circuits.clone() };
        if self.back_s >= self.period_s {
            vec![event(0.0, &self.first), event(self.go_s, &self.second)]
        } else {
            vec![event(self.go_s, &self.second), event(self.back_s, &self.first)]
        }
    }

    fn ports(&self, evaluator: &Evaluator) -> u64 {
        let budget = &evaluator.network.budget;
        let [first, second] = [&self.first, &self.second].map(|state| budget.used(state));
        first.iter().zip(second).map(|(first, second)| u64::from(*first.max(&second))).sum()
    }

    fn lit(&self, delay_s: f64) -> Lit {
        boxes::lit_of(self, delay_s)
    }
}

/// What the search looks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Aim {
    /// The shortest iteration on the ports of the scenario; values are seconds.
    Time,
    /// The fewest ports with which an iteration takes at most this many seconds; values are ports.
    Ports {
        /// Most seconds of an iteration.
        limit_s: f64,
    },
}

/// Input of the search.
#[derive(Clone, Copy, Debug)]
pub struct MoveTask<'a> {
    /// The scenario, of which only last transfers compete.
    pub evaluator: &'a Evaluator,
    /// Dark time, seconds.
    pub delay_s: f64,
    /// Most circuits of every link that are worth trying.
    pub caps: &'a [u32],
    /// What to look for.
    pub aim: Aim,
    /// Best value known.
    pub known: f64,
    /// Distance of plan and bound at which the search ends.
    pub close: f64,
    /// Most boxes to look at.
    pub boxes: u64,
}

/// Result of a search.
#[derive(Clone, Debug)]
pub struct MoveProof {
    /// The best schedule, if one is better than what was known.
    pub best: Option<Moving>,
    /// No schedule with one reconfiguration has a lower value.
    pub bound: f64,
    /// `true` if plan and bound have met.
    pub complete: bool,
}

/// Searches until nothing can be better than the best by more than `close`.
///
/// # Errors
/// The reason to stop; what was found until then has been handed to `watch`.
pub fn search<W: Watch<Moving>>(task: MoveTask<'_>, watch: &mut W) -> Result<MoveProof, MethodError> {
    tree::Tree::new(task, watch).grow()
}

#[cfg(test)]
mod tests;
