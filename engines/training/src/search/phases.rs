//! Search, with a proof, for circuits that change once within an iteration and return.
//!
//! A schedule has two states, each a circuit allocation, and two instants. At the first instant the circuits change to
//! the second state, at the second instant they return to the first state. It is enough to decide the circuits of some
//! links. Each of the other links carries only last transfers and has a pod that it shares only with decided links, so
//! this link gets all ports that the decided links leave in this pod. A circuit carries traffic at a moment only if it
//! was set throughout the dark time before that moment; it is then called carrying. With two states, the carrying
//! circuits are the circuits of one state, or the circuits that both states have in common.

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
    /// Instant of the reconfiguration, seconds.
    pub go_s: f64,
    /// Instant of the return, seconds; if it equals the period, the return is at the start of the next iteration.
    pub back_s: f64,
    /// Time of one iteration, seconds.
    pub period_s: f64,
}

/// Circuits that change within an iteration, as the searches report them.
pub trait MovedCircuits: Send + 'static {
    /// Time of one iteration, seconds.
    fn period_s(&self) -> f64;

    /// Returns the states as the events of a plan.
    fn events(&self) -> Vec<PhaseEvent>;

    /// Ports over real pods: the sum of the maximum number of ports that each pod uses at a time.
    fn ports(&self, evaluator: &Evaluator) -> u64;

    /// Returns the carrying circuits of every link, for the whole iteration.
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

/// Objective of the search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Aim {
    /// Minimise the iteration time on the ports of the scenario; values are seconds.
    Time,
    /// Minimise the ports with which an iteration takes at most `limit_s`; values are ports.
    Ports {
        /// Maximum iteration time, seconds.
        limit_s: f64,
    },
}

/// Input of the search.
#[derive(Clone, Copy, Debug)]
pub struct MoveTask<'a> {
    /// The scenario, in which only last transfers compete.
    pub evaluator: &'a Evaluator,
    /// Dark time of a changed circuit, seconds.
    pub delay_s: f64,
    /// Maximum number of circuits that the search tries on each link.
    pub caps: &'a [u32],
    /// Objective of the search.
    pub aim: Aim,
    /// Best known value of the objective.
    pub known: f64,
    /// The search ends when the value of the best plan minus the bound is at most this number.
    pub close: f64,
    /// Maximum number of boxes to evaluate.
    pub boxes: u64,
}

/// Result of a search.
#[derive(Clone, Debug)]
pub struct MoveProof {
    /// The best schedule, if it is better than the known value.
    pub best: Option<Moving>,
    /// Lower bound on the value of every schedule with one reconfiguration.
    pub bound: f64,
    /// `true` if the bound shows that no schedule is better than `best`, or than the known value without it, by more
    /// than [`MoveTask::close`].
    pub complete: bool,
}

/// Searches until no schedule can be better than the best schedule by more than `close`, or until the limit of boxes is
/// reached.
///
/// # Errors
/// The reason to stop; plans found until then have been reported to `watch`.
pub fn search<W: Watch<Moving>>(task: MoveTask<'_>, watch: &mut W) -> Result<MoveProof, MethodError> {
    tree::Tree::new(task, watch).grow()
}

#[cfg(test)]
mod tests;
