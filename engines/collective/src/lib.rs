//! TE-CCL: which link carries which chunk when, so that a collective ends as early as possible, and what no schedule
//! can beat.
//!
//! | room | what |
//! |---|---|
//! | [`scenario`] | the input: GPUs, switches and links, who wants what, epochs, presets |
//! | [`model`] | the network with exact capacities, links in epochs, schedules |
//! | [`bounds`] | what no schedule of whole chunks in epochs can beat |
//! | [`search`] | schedules chunk by chunk, and baselines |
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking"))]

pub mod bounds;
pub mod model;
pub mod scenario;
pub mod search;

pub use scenario::CollectiveScenario;

/// Schedules of collective communication (TE-CCL).
#[derive(Debug)]
pub struct Collective;
