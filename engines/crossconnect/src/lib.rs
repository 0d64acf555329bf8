//! LumosCore: from a logical topology to the cross-connects of every optical circuit switch, with little rewiring.
//!
//! | room | what |
//! |---|---|
//! | [`scenario`], [`presets`] | the input: pods, switches, ports, wanted and installed circuits |
//! | [`plan`] | the result: what every switch keeps, adds and removes, in which order |
//! | [`assignment`] | what methods work on: circuits per switch and pair of pods |
//! | [`task`] | the same without what has failed and what is pinned |
//! | [`flow`] | minimum-cost flow, which every split, orientation and renaming of switches comes down to |
//! | [`orient`], [`halving`] | the method of the paper: which end is A, then switches split in two again and again |
//! | [`polish`], [`repair`], [`board`] | two switches merged and split again; missing circuits inserted by chains |
//! | [`start`], [`baselines`] | first solutions; what methods have to beat |
//! | [`ports`] | from circuits per pair of pods to ports |
//! | [`batches`] | the order in which changes are made |
//! | [`assemble`] | from a target to what plans hold, and back |
//! | [`degrade`] | what of the wanted circuits is kept where ports have failed |
//! | [`caveat`] | what a person has to be told of a plan beside its objective |
//! | [`phases`] | the order of phases of an all-to-all |
//! | [`handover`] | from the circuits of another plan to a scenario |
//! | [`methods`] | what can be asked for by name |
//! | [`anneal`], `walk` | all switches and orientations at once, by small steps |
//! | [`exact`], [`lns`] | the integer program of all switches, or of some at a time |
//! | [`bound`] | what no plan can beat |
//! | [`check`] | the independent checker |
//! | [`devices`] | the boxes behind the switches, and how their ports are numbered |
//! | [`exports`] | commands and tables for the controllers of switches |
//! | [`import`] | what switches answer, as installed state |
//! | `report` | scenarios and plans explained as sections |
//! | [`kind`] | all of it behind the contract of the core |
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking"))]

pub mod anneal;
pub mod assemble;
pub mod assignment;
pub mod baselines;
pub mod batches;
pub mod board;
pub mod bound;
pub mod caveat;
pub mod check;
pub mod degrade;
pub mod devices;
pub mod exact;
pub mod exports;
pub mod flow;
pub mod halving;
pub mod handover;
pub mod import;
pub mod kind;
pub mod lns;
pub mod methods;
pub mod orient;
pub mod phases;
pub mod plan;
pub mod polish;
pub mod ports;
pub mod presets;
pub mod repair;
mod report;
pub mod scenario;
pub mod start;
pub mod task;
#[cfg(test)]
mod testing;
mod walk;

pub use kind::Crossconnect;
pub use plan::CrossconnectResult;
pub use scenario::CrossconnectScenario;
