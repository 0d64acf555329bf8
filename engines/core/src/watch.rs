//! The interface between a search and its caller.

use crate::context::{Context, Stop};
use crate::event::EventBody;
use crate::kind::Kind;
use crate::method::MethodError;
use std::fmt;
use std::sync::Arc;

/// Interface between a search and its caller: the search reports what it finds and checks whether to stop.
///
/// `S` is the type of the reported solutions, such as circuits with their makespan; `()` for searches that report none.
///
/// # Solutions
/// [`Watch::found`] reports a candidate, not a plan. The run keeps the candidate only if it is better than the best
/// plan of the run; a plan is then built from the candidate, and checked before it is shown. So a search may report
/// everything that it finds, in any order, without knowing the best plan of the run. A plan that does not pass the
/// check ends the run as failed.
///
/// # Stops
/// A search calls [`Watch::checkpoint`] at least every 5 ms. Closures on other threads call the test from
/// [`Watch::stop_test`] instead. If the test returns `true`, they abandon their work, and the next checkpoint of the
/// search returns the reason to stop.
pub trait Watch<S = ()> {
    /// Checks whether to stop; called at least every 5 ms of work.
    ///
    /// # Errors
    /// The reason to stop.
    fn checkpoint(&mut self) -> Result<(), MethodError>;

    /// Reports progress.
    fn report(&mut self, body: EventBody);

    /// Adds `units` to the count of work (evaluations, flows, moves). The count is equal for equal seeds on all
    /// machines.
    fn count(&mut self, units: u64);

    /// Reports a solution; the run keeps it only if it is better than the best solution so far. `source` is the part of
    /// the search that found it, in words.
    ///
    /// # Errors
    /// The reason to stop; this includes a plan that did not pass its check.
    fn found(&mut self, _solution: S, _source: &str) -> Result<(), MethodError> {
        Ok(())
    }

    /// Reports a bound on the objective.
    fn bound(&mut self, _bound: f64) {}

    /// Returns a better solution that another run offers. The objective value of the solution is the value that the
    /// other run computed.
    fn offered(&mut self) -> Option<S> {
        None
    }

    /// Reports the fate of the last offered solution: its objective in this run, and whether the search continues from
    /// it.
    fn judged(&mut self, _objective: f64, _taken: bool) {}

    /// Returns the value of a parameter that can be changed while the search runs; `None` if there is no such
    /// parameter.
    fn live(&self, _parameter: &str) -> Option<i64> {
        None
    }

    /// Returns the seconds of the run's clock.
    fn elapsed_s(&self) -> f64 {
        0.0
    }

    /// Returns whether the run is paused, so that the next checkpoint blocks.
    fn is_paused(&self) -> bool {
        false
    }

    /// Returns a test for closures on other threads: the test returns `true` once the closures must abandon their work.
    fn stop_test(&self) -> Box<dyn Fn() -> bool + Send + Sync> {
        Box::new(|| false)
    }

    /// Returns the number of threads that [`Watch::parallel`] may use.
    fn threads(&self) -> usize {
        1
    }

    /// Runs a closure where parallel iterators use the threads of the run.
    fn parallel<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        work()
    }
}

/// A watch without a run: it never stops and only counts work.
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

/// A watch for an auxiliary search inside another search: it forwards stops and counts, but drops the reports of the
/// auxiliary search, because these concern another problem.
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

/// A watch that stops its work as soon as a test returns `true`, with its own counters: for closures on other threads,
/// and for work with its own time limit. The reason is always [`Stop::Requested`]; the outer watch knows the actual
/// reason.
#[derive(Clone)]
pub struct StopTest {
    test: Arc<dyn Fn() -> bool + Send + Sync>,
    /// Units of work counted so far.
    pub units: u64,
}

impl StopTest {
    /// Creates a watch that calls `test`.
    pub fn new(test: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self { test: Arc::new(test), units: 0 }
    }

    /// Returns whether the work must end.
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

/// A context itself drops solutions; a method wraps its context in a watch that builds plans from them.
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
