//! Searches for assignments that keep installed circuits (docs/methods/crossconnect.md).
//!
//! | module | content |
//! |---|---|
//! | [`flow`] | minimum-cost flow, which solves every split, orientation and renaming of switches |
//! | [`orient`] | orientation of circuits: choice of A and B ends (step O) |
//! | [`halving`] | recursive split of the switches in two (step H) |
//! | [`polish`] | merging two switches and splitting them again |
//! | [`board`] | single circuits on ports, and their moves |
//! | [`repair`] | insertion of missing circuits by alternating chains |
//! | [`start`] | first solutions |
//! | [`baselines`] | baseline assignments |
//! | `walk` | small random steps over all assignments |
//! | [`anneal`] | simulated annealing by this walk |
//! | `scaling` | prices and weights of the relaxation |
//! | [`decimate`] | places circuits by these weights |
//! | [`lns`] | solves a part of the switches or circuits again exactly |
//! | [`degrade`] | target circuits that can be kept if ports have failed |

pub mod anneal;
pub mod baselines;
pub mod board;
pub mod decimate;
pub mod degrade;
pub mod flow;
pub mod halving;
pub mod lns;
pub mod orient;
pub mod polish;
pub mod repair;
pub(crate) mod scaling;
pub mod start;
mod walk;
