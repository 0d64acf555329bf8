//! The connection of a search to whoever runs it.

use crate::context::{Context, Stop};
use crate::event::EventBody;
use crate::kind::Kind;
use crate::method::MethodError;
use std::fmt;
use std::sync::Arc;

/// Connection of a search to whoever runs it: it tells what it finds and checks whether to stop.
///
/// `S` is a solution that the search hands over, such as circuits with their makespan; searches that only prepare
/// something hand over none and leave it at `()`.
///
/// # Solutions
/// [`Watch::found`] hands over a candidate, not a plan. The run keeps it only if it is better than the best one it
/// has; a plan is then built from it and checked before it is shown. So a search may hand over everything it finds, in
/// any order, without knowing how good the best plan of the run is. A plan that does not pass the check ends the run
/// as failed.
///
/// # Stops
/// Work of more than 5 ms asks [`Watch::checkpoint`] in between. Closures on other threads ask the test from
/// [`Watch::stop_test`] instead and abandon what they do; the next checkpoint then returns the reason.
pub trait Watch<S = ()> {
    /// Checks whether to stop; called at least every 5 ms of work.
    ///
    /// # Errors
    /// The reason to stop.
    fn checkpoint(&mut self) -> Result<(), MethodError>;

    /// Reports progress.
    fn report(&mut self, body: EventBody);

    /// Counts units of work (evaluations, flows, moves): the same for the same seed on any machine.
    fn count(&mut self, units: u64);

    /// Hands over a solution; kept only if it is better than the best of the run. `source` is the part of the search
    /// that found it, in words.
    ///
    /// # Errors
    /// The reason to stop, a plan that did not pass the check included.
    fn found(&mut self, _solution: S, _source: &str) -> Result<(), MethodError> {
        Ok(())
    }

    /// States an objective that no solution can beat.
    fn bound(&mut self, _bound: f64) {}

    /// Returns a better solution that another run offers. Its objective is the one it has there.
    fn offered(&mut self) -> Option<S> {
        None
    }

    /// Tells what became of the solution last offered: its objective here, and whether the search continues from it.
    fn judged(&mut self, _objective: f64, _taken: bool) {}

    /// Returns the value of a parameter that can be changed while the search runs; `None` where it has none of that
    /// name.
    fn live(&self, _parameter: &str) -> Option<i64> {
        None
    }

    /// Seconds of the run's clock.
    fn elapsed_s(&self) -> f64 {
        0.0
    }

    /// Returns whether the run is paused, so that the next checkpoint blocks.
    fn is_paused(&self) -> bool {
        false
    }

    /// Returns a test for closures on other threads: `true` once they are to abandon their work.
    fn stop_test(&self) -> Box<dyn Fn() -> bool + Send + Sync> {
        Box::new(|| false)
    }

    /// Threads that [`Watch::parallel`] may use.
    fn threads(&self) -> usize {
        1
    }

    /// Runs a closure where parallel iterators use the threads of the run.
    fn parallel<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        work()
    }
}

/// A watch without a run: nothing stops, and only work is counted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched {
    /// Units of work counted so far.
    pub units: u64,
}

impl<S> Watch<S> for Unwatched {
    fn checkpoint(&mut self) -> Result<(), MethodError> {
        Ok(())
    }

    fn report(&mut self, _body: EventBody) {}

    fn count(&mut self, units: u64) {
        self.units += units;
    }
}

/// A watch of work within other work: it passes on stops and counts, but nothing that the work tells, because that
/// would be about another question.
#[derive(Debug)]
pub struct StopOnly<'w, W>(pub &'w mut W);

impl<S, W: Watch<S>> Watch<S> for StopOnly<'_, W> {
    fn checkpoint(&mut self) -> Result<(), MethodError> {
        self.0.checkpoint()
    }

    fn report(&mut self, _body: EventBody) {}

    fn count(&mut self, units: u64) {
        self.0.count(units);
    }

    fn elapsed_s(&self) -> f64 {
        self.0.elapsed_s()
    }

    fn is_paused(&self) -> bool {
        self.0.is_paused()
    }

    fn stop_test(&self) -> Box<dyn Fn() -> bool + Send + Sync> {
        self.0.stop_test()
    }
}

/// A watch that ends work as soon as a test requires it, with its own counters: for closures on other threads, and for
/// work with its own time limit. The reason is [`Stop::Requested`]; the watch outside knows a better one.
#[derive(Clone)]
pub struct StopTest {
    test: Arc<dyn Fn() -> bool + Send + Sync>,
    /// Units of work counted so far.
    pub units: u64,
}

impl StopTest {
    /// A watch that calls `test`.
    pub fn new(test: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self { test: Arc::new(test), units: 0 }
    }

    /// Returns whether the work is to end.
    pub fn is_over(&self) -> bool {
        (self.test)()
    }
}

impl From<Box<dyn Fn() -> bool + Send + Sync>> for StopTest {
    fn from(test: Box<dyn Fn() -> bool + Send + Sync>) -> Self {
        Self { test: Arc::from(test), units: 0 }
    }
}

impl fmt::Debug for StopTest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("StopTest").field("units", &self.units).finish_non_exhaustive()
    }
}

impl<S> Watch<S> for StopTest {
    fn checkpoint(&mut self) -> Result<(), MethodError> {
        if self.is_over() { Err(Stop::Requested.into()) } else { Ok(()) }
    }

    fn report(&mut self, _body: EventBody) {}

    fn count(&mut self, units: u64) {
        self.units += units;
    }

    fn stop_test(&self) -> Box<dyn Fn() -> bool + Send + Sync> {
        let test = Arc::clone(&self.test);
        Box::new(move || test())
    }
}

/// Solutions that reach a context are dropped: a method wraps its context in a watch that makes plans of them.
impl<K: Kind, S> Watch<S> for Context<'_, K> {
    fn checkpoint(&mut self) -> Result<(), MethodError> {
        Context::checkpoint(self)
    }

    fn report(&mut self, body: EventBody) {
        Context::report(self, body);
    }

    fn count(&mut self, units: u64) {
        self.count_work(units);
    }

    fn elapsed_s(&self) -> f64 {
        Context::elapsed_s(self)
    }

    fn is_paused(&self) -> bool {
        self.control().is_paused()
    }

    fn stop_test(&self) -> Box<dyn Fn() -> bool + Send + Sync> {
        let control = Arc::clone(self.control());
        Box::new(move || control.stopping().is_some())
    }

    fn threads(&self) -> usize {
        Context::threads(self)
    }

    fn parallel<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        Context::parallel(self, work)
    }
}
