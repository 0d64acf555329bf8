//! Promises of every method, whoever runs it: valid plans whenever it ends, the same plan on any number of threads,
//! offers taken and given, limits and edits obeyed.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod edits;
#[path = "../contended/family.rs"]
mod family;
mod limits;
mod measured;
mod presets;
mod prices;
mod programs;
mod random;
mod robust;
mod several_jobs;
mod side_by_side;
mod stopping;
mod support;
mod threads;
