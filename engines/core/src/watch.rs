//! The connection of long work to its run.

use crate::context::Context;
use crate::event::EventBody;
use crate::kind::Kind;
use crate::method::MethodError;
use std::sync::Arc;

/// What the algorithms of an engine need from whoever runs them.
pub trait Watch {
    /// Asks whether to go on; called at least every 5 ms of work.
    ///
    /// # Errors
    /// The reason to stop.
    fn checkpoint(&mut self) -> Result<(), MethodError>;

    /// Says something.
    fn report(&mut self, body: EventBody);

    /// Counts units of work (evaluations, flows, moves): the same for the same seed on any machine.
    fn count(&mut self, units: u64);

    /// Seconds of the run's clock.
    fn elapsed_s(&self) -> f64;

    /// Whether to abandon work in closures on other threads; the next checkpoint says why.
    fn stop_test(&self) -> Box<dyn Fn() -> bool + Send + Sync>;

    /// Threads that [`Watch::parallel`] may use.
    fn threads(&self) -> usize {
        1
    }

    /// Runs a closure where parallel iterators use the threads of the run.
    fn parallel<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        work()
    }
}

/// Nobody listens, nothing stops: for work inside other work, and tests.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched {
    /// Units of work counted so far.
    pub units: u64,
}

impl Watch for Unwatched {
    fn checkpoint(&mut self) -> Result<(), MethodError> {
        Ok(())
    }

    fn report(&mut self, _body: EventBody) {}

    fn count(&mut self, units: u64) {
        self.units += units;
    }

    fn elapsed_s(&self) -> f64 {
        0.0
    }

    fn stop_test(&self) -> Box<dyn Fn() -> bool + Send + Sync> {
        Box::new(|| false)
    }
}

impl<K: Kind> Watch for Context<'_, K> {
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
