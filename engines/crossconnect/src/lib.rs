//! LumosCore: converts a logical topology to the cross-connects of every optical circuit switch with few removals of
//! installed circuits.
//!
//! | module | content |
//! |---|---|
//! | [`scenario`] | the input: pods, switches, ports, target and installed circuits, presets |
//! | [`plan`] | the result: the circuits that every switch keeps, adds and removes, and their order |
//! | [`model`] | circuits per switch and pair of pods, without ports |
//! | [`programs`] | integer and linear programs over all switches |
//! | [`search`] | assignments that keep installed circuits |
//! | [`rollout`] | plans from assignments: ports, batches, phases |
//! | `report` | sections that explain scenarios and plans |
//! | [`check`] | the independent checker |
//! | [`files`] | import of the installed state, export of commands for switches |
//! | [`methods`] | the methods, by name |
//! | [`kind`] | implementation of the traits of the core |
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
