//! mFabric: circuits of a region for the expert-parallel all-to-alls of mixture-of-experts training.
//!
//! All times are those of an analytic model of flows, not of a packet simulation.
//!
//! | room | what |
//! |---|---|
//! | [`scenario`] | the input: model, region, gate trace, cluster, prices, presets |
//! | [`plan`] | the result: circuits, routes, times and cost |
//! | [`model`] | times of computing, demand of the all-to-alls, networks, cost |
//! | [`search`] | circuits of a region, their NICs, and the time of an all-to-all on them |
//! | [`predict`] | loads of the next layer from those of this one |
//! | [`placement`] | which ranks hold which experts, with copies |
//! | [`schedule`] | when circuits change, and the plans that follow |
//! | `report` | scenarios and plans as sections |
//! | [`check`] | the independent checker |
//! | [`files`] | counts from trainers and servers, tables of circuits |
//! | [`methods`] | the methods by name |
//! | [`kind`] | all of it behind the contract of the core |
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
