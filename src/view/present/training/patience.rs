//! Searches on a helper thread: they give up before panes that wait behind them are missed.

use lightbay_core::context::Stop;
use lightbay_core::event::EventBody;
use lightbay_core::method::MethodError;
use lightbay_engines::training::search::watch::{Found, Watch};
use std::time::{Duration, Instant};

/// Longest work for a pane.
const LONGEST: Duration = Duration::from_secs(8);

/// Stops a search after a while.
#[derive(Debug)]
pub struct Patience {
    until: Instant,
}

impl Patience {
    /// Begins to wait.
    pub fn new() -> Self {
        Self { until: Instant::now() + LONGEST }
    }

    /// Why there is no result.
    pub fn why(error: &MethodError) -> String {
        match error {
            MethodError::Stopped(_) => {
                format!("takes longer than {} s; see `lightbay show PLAN --thorough`", LONGEST.as_secs())
            }
            other => other.to_string(),
        }
    }
}

impl Watch for Patience {
    fn checkpoint(&mut self) -> Result<(), MethodError> {
        if Instant::now() < self.until { Ok(()) } else { Err(Stop::Time.into()) }
    }

    fn found(&mut self, _found: &Found, _source: &str) -> Result<(), MethodError> {
        Ok(())
    }

    fn bound(&mut self, _makespan: f64) {}

    fn report(&mut self, _body: EventBody) {}

    fn count(&mut self, _evaluations: u64) {}
}
