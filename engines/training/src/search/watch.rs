//! What a search over circuit vectors needs from whoever runs it, and what it finds.

use crate::search::ga::Settings;
use crate::search::general;
use crate::search::order;
use crate::simulate::iteration::Trace;
use lightbay_core::event::EventBody;
use lightbay_core::method::MethodError;
use std::sync::Arc;

/// A circuit vector and what it is worth.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// Circuits per link.
    pub x: Vec<u32>,
    /// Makespan under the rates of the search, seconds.
    pub makespan: f64,
    /// Ports over real pods.
    pub ports: u64,
}

impl Found {
    /// Whether this one is to be preferred: shorter, or equally long (to a nanosecond) with fewer ports.
    pub fn better_than(&self, other: &Self) -> bool {
        rank(self.makespan, self.ports) < rank(other.makespan, other.ports)
    }
}

/// The order of the genetic search: makespan in whole nanoseconds, then ports.
pub fn rank(makespan: f64, ports: u64) -> (u64, u64) {
    ((makespan * 1e9).round() as u64, ports)
}

/// The connection of a search to its run.
pub trait Watch {
    /// Asks whether to go on; called at least every 5 ms of work.
    ///
    /// # Errors
    /// The reason to stop.
    fn checkpoint(&mut self) -> Result<(), MethodError>;

    /// Takes note of something found; whoever listens keeps it only if it is better than before.
    ///
    /// # Errors
    /// The reason to stop.
    fn found(&mut self, found: &Found, source: &str) -> Result<(), MethodError>;

    /// The same for a schedule that no simulation gives: a plan that decides the rates.
    ///
    /// # Errors
    /// The reason to stop.
    fn scheduled(&mut self, _found: &Found, _trace: &Arc<Trace>, _source: &str) -> Result<(), MethodError> {
        Ok(())
    }

    /// States a makespan that no plan can beat, seconds.
    fn bound(&mut self, makespan: f64);

    /// Says something.
    fn report(&mut self, body: EventBody);

    /// Counts evaluated vectors.
    fn count(&mut self, evaluations: u64);

    /// A feasible circuit vector that another run offers, to be evaluated under the rates of this search.
    fn offered(&mut self) -> Option<Vec<u32>> {
        None
    }

    /// Says whether the vector last offered was taken, with its makespan here.
    fn judged(&mut self, _makespan: f64, _taken: bool) {}

    /// Takes over limits of the genetic search that were changed while it runs.
    fn revise(&self, _settings: &mut Settings) {}

    /// Takes over limits of the search over orders that were changed while it runs.
    fn closing(&self, settings: general::Settings) -> general::Settings {
        settings
    }

    /// Takes over limits of the search over event orders that were changed while it runs.
    fn revise_order(&self, _limits: &mut order::Limits) {}

    /// Threads that [`Watch::parallel`] may use.
    fn threads(&self) -> usize {
        1
    }

    /// Whether to abandon work in closures on other threads; the next checkpoint says why.
    fn stop_test(&self) -> Box<dyn Fn() -> bool + Send + Sync> {
        Box::new(|| false)
    }

    /// Runs a closure where parallel iterators use the threads of the run.
    fn parallel<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        work()
    }
}

/// Nobody listens, nothing stops: for evaluations inside other work, and tests.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched {
    /// Vectors evaluated so far.
    pub evaluations: u64,
}

impl Watch for Unwatched {
    fn checkpoint(&mut self) -> Result<(), MethodError> {
        Ok(())
    }

    fn found(&mut self, _found: &Found, _source: &str) -> Result<(), MethodError> {
        Ok(())
    }

    fn bound(&mut self, _makespan: f64) {}

    fn report(&mut self, _body: EventBody) {}

    fn count(&mut self, evaluations: u64) {
        self.evaluations += evaluations;
    }
}

/// Searches that only prepare something: they may be stopped, but what they find is nobody's plan.
pub(crate) struct Quiet<'a, W>(pub &'a mut W);

impl<W: Watch> Watch for Quiet<'_, W> {
    fn checkpoint(&mut self) -> Result<(), MethodError> {
        self.0.checkpoint()
    }

    fn found(&mut self, _found: &Found, _source: &str) -> Result<(), MethodError> {
        Ok(())
    }

    fn bound(&mut self, _makespan: f64) {}

    fn report(&mut self, _body: EventBody) {}

    fn count(&mut self, evaluations: u64) {
        self.0.count(evaluations);
    }
}
