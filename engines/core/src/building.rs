//! Progress and stops while a run writes a large model: a stop interrupts the writing, and the run reports how many
//! parts are written.

use crate::event::{EventBody, SolverStats};
use crate::method::MethodError;
use crate::watch::Watch;

/// Name of the solver stage that a run reports while it writes the model.
pub const STAGE: &str = "building the model";

/// Counts the parts of a model as they are written, and reports the progress.
#[derive(Debug)]
pub struct Building<'w, W: Watch> {
    watch: &'w mut W,
    unit: &'static str,
    total: Option<u64>,
    /// Number of parts between two progress reports.
    every: u64,
    /// Number of parts written at the last progress report.
    said: u64,
}

impl<'w, W: Watch> Building<'w, W> {
    /// Starts a model of which no part is written yet. `unit` names the parts of the model (`rows`); `total` is the
    /// number of parts, if known. The run reports its progress after every `every` parts.
    pub const fn new(watch: &'w mut W, unit: &'static str, total: Option<u64>, every: u64) -> Self {
        Self { watch, unit, total, every, said: 0 }
    }

    /// Checks whether to stop, and reports progress. `done` is the number of parts written so far. Call this function
    /// at least every 5 ms of work.
    ///
    /// # Errors
    /// The reason to stop.
    pub fn at(&mut self, done: u64) -> Result<(), MethodError> {
        self.watch.checkpoint()?;
        if done >= self.said.saturating_add(self.every) {
            self.said = done;
            self.watch.report(EventBody::Solver(SolverStats {
                unit: self.unit.to_owned(),
                stage: STAGE.to_owned(),
                done,
                total: self.total,
                ..SolverStats::default()
            }));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::Stop;

    /// A run for tests that stores the events it gets, and stops at a checkpoint.
    #[derive(Default)]
    struct Listener {
        checkpoints: u64,
        stops_at: Option<u64>,
        said: Vec<(u64, Option<u64>)>,
    }

    impl Watch for Listener {
        fn checkpoint(&mut self) -> Result<(), MethodError> {
            self.checkpoints += 1;
            if self.stops_at == Some(self.checkpoints) {
                return Err(Stop::Requested.into());
            }
            Ok(())
        }

        fn report(&mut self, body: EventBody) {
            let EventBody::Solver(stats) = body else { panic!("{body:?}") };
            assert_eq!((stats.unit.as_str(), stats.stage.as_str()), ("rows", STAGE));
            self.said.push((stats.done, stats.total));
        }

        fn count(&mut self, _units: u64) {}

        fn elapsed_s(&self) -> f64 {
            0.0
        }

        fn stop_test(&self) -> Box<dyn Fn() -> bool + Send + Sync> {
            Box::new(|| false)
        }
    }

    #[test]
    fn every_part_asks_whether_to_go_on_and_some_are_reported() {
        let mut listener = Listener::default();
        let mut building = Building::new(&mut listener, "rows", Some(10), 4);
        (0..=10).for_each(|done| building.at(done).unwrap());
        assert_eq!((listener.checkpoints, listener.said), (11, vec![(4, Some(10)), (8, Some(10))]));
    }

    #[test]
    fn a_stop_ends_the_writing() {
        let mut listener = Listener { stops_at: Some(3), ..Listener::default() };
        let mut building = Building::new(&mut listener, "rows", None, 1);
        assert!(building.at(1).is_ok() && building.at(2).is_ok());
        assert!(matches!(building.at(3), Err(MethodError::Stopped(Stop::Requested))));
        assert_eq!(listener.said, [(1, None), (2, None)]);
    }
}
