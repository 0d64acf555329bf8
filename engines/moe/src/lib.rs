//! mFabric: circuits of a region for the expert-parallel all-to-alls of mixture-of-experts training.
//!
//! All times are those of an analytic model of flows, not of a packet simulation.
//!
//! | module | content |
//! |---|---|
//! | [`scenario`] | the input: model, region, gate trace, cluster, prices, presets |
//! | [`plan`] | the result: circuits, routes, times and cost |
//! | [`model`] | compute times, demand of the all-to-alls, networks, cost |
//! | [`search`] | circuits of a region, their NICs, and the time of an all-to-all on these circuits |
//! | [`predict`] | prediction of the loads of a layer from those of the previous layer |
//! | [`placement`] | assignment of experts and their replicas to ranks |
//! | [`schedule`] | times at which circuits change, and the resulting plans |
//! | `report` | sections that explain scenarios and plans |
//! | [`check`] | the independent checker |
//! | [`files`] | import of token counts, export of tables of circuits |
//! | [`methods`] | the methods, by name |
//! | [`kind`] | implementation of the traits of the core |
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking"))]

pub mod check;
pub mod files;
pub mod kind;
pub mod methods;
pub mod model;
pub mod placement;
pub mod plan;
pub mod predict;
mod report;
pub mod scenario;
pub mod schedule;
pub mod search;

pub use plan::MoeResult;
pub use scenario::MoeScenario;

/// Regional circuits for the training of mixture-of-experts models (mFabric).
#[derive(Debug)]
pub struct Moe;
