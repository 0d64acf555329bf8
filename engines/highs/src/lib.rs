//! Linear and integer models on HiGHS: live progress, stop, hot start, warm re-solves, model files.
//!
//! - [`model`]: a model as plain arrays with names, made row by row or from a good_lp problem;
//! - [`event`]: events of the solver during a run, and [`event::SolverListener`], which receives them;
//! - [`listener`]: the listener that ends a solve when the run of a search must stop;
//! - [`options`]: the solver's options, checked when they are set;
//! - [`solution`]: results of a run, including bases;
//! - [`modelled`]: methods whose problem can be exported as a model and whose plan can be read from a point of the
//!   model;
//! - [`instance`]: a HiGHS instance on the thread that created it, which can be changed in place and solved again;
//! - [`conflict`]: why a model is infeasible: rows and bounds that conflict;
//! - [`file`](mod@file): models as MPS and LP files, and the map back to the original names;
//! - [`algebra`]: models written in good_lp's algebra;
//! - [`worker`]: an instance in a solver process, which can be killed in stages that HiGHS cannot interrupt;
//! - [`solve`]: solves a model for a method; [`knobs`] are the parameters of all such methods.
//!
//! No other crate calls HiGHS or has unsafe code.
//!
//! The module `raw` calls HiGHS through `highs-sys`, because `highs` 2.4 does not have:
//! - callbacks: log lines, better points and bounds during a run, and the flag that stops a run;
//! - starts: a basis for a linear program, values of some columns for an integer program;
//! - changes: many columns in one call, deleted columns;
//! - reading: bases, 64-bit node counts, options with their ranges, model files;
//! - a model as whole arrays, with names: `highs` copies every model from lists of rows or columns.
//!
//! A benchmark (`benches/solver.rs`) compares `raw` with `highs`. Models that are small enough to be written as
//! equations use `good_lp`; [`algebra`] explains why the HiGHS backend of `good_lp` is not used.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking"))]

pub mod algebra;
pub mod conflict;
pub mod error;
pub mod event;
pub mod file;
pub mod instance;
pub mod knobs;
mod lines;
pub mod listener;
pub mod model;
pub mod modelled;
pub mod options;
mod raw;
mod settings;
pub mod solution;
pub mod solve;
mod start;
mod translator;
pub mod worker;
