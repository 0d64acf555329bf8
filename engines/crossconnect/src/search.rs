//! Assignments that keep what is installed (docs/methods/crossconnect.md).
//!
//! | module | what |
//! |---|---|
//! | [`flow`] | minimum-cost flow, which every split, orientation and renaming of switches comes down to |
//! | [`orient`] | A and B ends of circuits (step O) |
//! | [`halving`] | switches split in two again and again (step H) |
//! | [`polish`] | two switches merged and split again |
//! | [`board`] | single circuits on ports, and the moves between them |
//! | [`repair`] | missing circuits inserted by chains |
//! | [`start`] | first solutions |
//! | [`baselines`] | assignments that methods have to beat |
//! | `walk` | small random steps over all assignments |
//! | [`anneal`] | the walk from hot to cold |
//! | [`lns`] | a part of the switches or circuits solved again exactly |
//! | [`degrade`] | target circuits that are kept where ports have failed |

pub mod anneal;
pub mod baselines;
pub mod board;
pub mod degrade;
pub mod flow;
pub mod halving;
pub mod lns;
pub mod orient;
pub mod polish;
pub mod repair;
pub mod start;
mod walk;
