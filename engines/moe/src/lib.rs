//! mFabric: circuits of a region for the expert-parallel all-to-alls of mixture-of-experts training.
//!
//! All times are those of an analytic model of flows, not of a packet simulation.
//!
//! | room | content |
//! |---|---|
//! | [`scenario`] | the input: model, region, gate trace, cluster, prices, presets |
//! | [`model`] | times of computing, demand of the all-to-alls, fabrics, cost |
//! | [`plan`] | the result: circuits, routes, times and cost |
//! | [`search`] | circuits of a region, their NICs, and the time of an all-to-all on them |
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking"))]

pub mod model;
pub mod plan;
pub mod scenario;
pub mod search;

pub use scenario::MoeScenario;

/// Regional circuits for the training of mixture-of-experts models (mFabric).
#[derive(Debug)]
pub struct Moe;
