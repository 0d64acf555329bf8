//! The watch of a case that runs beside others.

use lightbay_core::context::Stop;
use lightbay_core::event::EventBody;
use lightbay_core::method::MethodError;
use lightbay_core::watch::Watch;

/// Stops when the run is to stop, says nothing and counts for itself.
pub struct Inner<'a> {
    stop: &'a (dyn Fn() -> bool + Send + Sync),
    /// Units of work counted.
    pub units: u64,
}

impl<'a> Inner<'a> {
    /// A watch that listens to the test of its run.
    pub fn new(stop: &'a (dyn Fn() -> bool + Send + Sync)) -> Self {
        Self { stop, units: 0 }
    }
}

impl Watch for Inner<'_> {
    fn checkpoint(&mut self) -> Result<(), MethodError> {
        // The watch outside replaces this reason by its own.
        if (self.stop)() { Err(Stop::Requested.into()) } else { Ok(()) }
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
