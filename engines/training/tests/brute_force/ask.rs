//! Running a method and keeping what it said.

use lightbay_core::event::{Done, EventBody};
use lightbay_core::testing::Ask;
use lightbay_training::{TrainingScenario, methods};

/// Solves with settings as typed; returns how it ended and everything said before.
pub fn solve(body: TrainingScenario, name: &str, settings: &[(&str, &str)]) -> (Done, Vec<EventBody>) {
    Ask::of(&methods::all(), name, body).typed(settings).run().told()
}
