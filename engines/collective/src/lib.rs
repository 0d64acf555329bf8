//! TE-CCL: which link carries which chunk when, so that a collective ends as early as possible, and what no schedule
//! can beat.
//!
//! | room | what |
//! |---|---|
//! | [`scenario`] | the input: GPUs, switches and links, who wants what, epochs, presets |
//! | [`plan`] | the result: which link starts which piece in which epoch |
//! | [`model`] | links in epochs, schedules, and the question that searches answer |
//! | [`bounds`] | what no schedule of whole chunks in epochs can beat |
//! | [`floors`] | what no schedule can beat, whatever its chunks and epochs |
//! | [`programs`] | integer and linear programs |
//! | [`search`] | schedules chunk by chunk or round by round, and baselines |
//! | [`trees`] | spanning trees along which data is spread, and schedules made of them |
//! | [`compose`] | plans from schedules: parts, directions, figures |
//! | `report` | scenarios and plans as sections |
//! | [`check`] | the independent checker |
//! | [`files`] | topologies of other programs, schedules for them |
//! | [`methods`] | the methods by name |
//! | [`kind`] | all of it behind the contract of the core |
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
