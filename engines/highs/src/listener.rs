//! Connects the solver to the run of a search.

use crate::event::{Flow, SolverEvent, SolverListener};
use lightbay_core::method::MethodError;
use lightbay_core::watch::Watch;

/// A listener that ends a solve when its run must stop, and blocks while the run is paused.
#[derive(Debug)]
pub struct RunListener<'w, W> {
    watch: &'w mut W,
    stopped: Option<MethodError>,
}

impl<'w, W: Watch> RunListener<'w, W> {
    /// Creates a listener for the run that `watch` belongs to.
    pub const fn new(watch: &'w mut W) -> Self {
        Self { watch, stopped: None }
    }

    /// Returns an error if the solve ended because the run must stop.
    ///
    /// # Errors
    /// The reason.
    pub fn finish(self) -> Result<(), MethodError> {
        self.stopped.map_or(Ok(()), Err)
    }
}

impl<W: Watch> SolverListener for RunListener<'_, W> {
    fn event(&mut self, _event: &SolverEvent) -> Flow {
        self.tick()
    }

    fn tick(&mut self) -> Flow {
        if self.stopped.is_none() {
            self.stopped = self.watch.checkpoint().err();
        }
        if self.stopped.is_some() { Flow::Stop } else { Flow::Continue }
    }

    fn pausing(&mut self) -> bool {
        self.watch.is_paused()
    }
}
