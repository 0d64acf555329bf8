//! LumosCore: from a logical topology to the cross-connects of every optical circuit switch, with little rewiring.
//!
//! | room | what |
//! |---|---|
//! | [`scenario`] | the input: pods, switches, ports, wanted and installed circuits, presets |
//! | [`plan`] | the result: what every switch keeps, adds and removes, in which order |
//! | [`model`] | circuits per switch and pair of pods, ports aside |
//! | [`programs`] | integer and linear programs over all switches |
//! | [`search`] | assignments that keep what is installed |
//! | [`rollout`] | plans from assignments: ports, batches, phases |
//! | `report` | scenarios and plans as sections |
//! | [`check`] | the independent checker |
//! | [`files`] | installed state from switches, commands for them |
//! | [`methods`] | the methods by name |
//! | [`kind`] | all of it behind the contract of the core |
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking"))]

pub mod check;
pub mod files;
pub mod kind;
pub mod methods;
pub mod model;
pub mod plan;
pub mod programs;
pub mod report;
pub mod rollout;
pub mod scenario;
pub mod search;
#[cfg(test)]
mod testing;

pub use plan::CrossconnectResult;
pub use scenario::CrossconnectScenario;

/// Plans cross-connects of optical circuit switches with few removals (LumosCore).
#[derive(Debug)]
pub struct Crossconnect;
