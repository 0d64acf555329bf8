//! LumosCore: from a logical topology to the cross-connects of every optical circuit switch, with little rewiring.
//!
//! | room | what |
//! |---|---|
//! | [`scenario`], [`presets`] | the input: pods, switches, ports, wanted and installed circuits |
//! | [`plan`] | the result: what every switch keeps, adds and removes, in which order |
//! | [`assignment`] | what methods work on: circuits per switch and pair of pods |
//! | [`kind`] | all of it behind the contract of the core |
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking"))]

pub mod assignment;
pub mod plan;
pub mod presets;
pub mod scenario;

pub use plan::CrossconnectResult;
pub use scenario::CrossconnectScenario;
