//! TE-CCL: schedules that state when each link carries each chunk, so that a collective completes as early as possible,
//! and lower bounds for all schedules.
//!
//! | module | content |
//! |---|---|
//! | [`scenario`] | the input: GPUs, switches and links, chunks with their destinations, epochs, presets |
//! | [`plan`] | the result: the epochs in which links start pieces |
//! | [`model`] | links in epochs, schedules, and the tasks that searches solve |
//! | [`bounds`] | lower bounds for schedules of whole chunks in epochs |
//! | [`floors`] | lower bounds for all schedules, for any chunking and any epoch length |
//! | [`programs`] | MILP and LP models |
//! | [`search`] | schedules that are built chunk by chunk or round by round, and baselines |
//! | [`trees`] | spanning trees along which data is spread, and schedules along these trees |
//! | [`compose`] | plans from schedules: parts, directions, figures |
//! | `report` | sections that explain scenarios and plans |
//! | [`check`] | the independent checker |
//! | [`files`] | import of topologies and schedules, export of schedules for other programs |
//! | [`methods`] | the methods, by name |
//! | [`kind`] | implementation of the traits of the core |
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking"))]

pub mod bounds;
pub mod check;
pub mod compose;
pub mod files;
pub mod floors;
pub mod kind;
pub mod methods;
pub mod model;
pub mod plan;
pub mod programs;
mod report;
pub mod scenario;
pub mod search;
#[cfg(test)]
mod testing;
pub mod trees;

pub use plan::CollectiveResult;
pub use scenario::CollectiveScenario;

/// Schedules of collective communication (TE-CCL).
#[derive(Debug)]
pub struct Collective;
