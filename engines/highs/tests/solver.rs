//! The solver through its safe front: results, events, stops, starts, options, changes, files, conflicts.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

#[path = "solver/algebra.rs"]
mod algebra;
#[path = "solver/bad.rs"]
mod bad;
#[path = "solver/changes.rs"]
mod changes;
#[path = "solver/conflicts.rs"]
mod conflicts;
#[path = "solver/files.rs"]
mod files;
#[path = "solver/models.rs"]
mod models;
#[path = "solver/options.rs"]
mod options;
#[path = "solver/quadratic.rs"]
mod quadratic;
#[path = "solver/runs.rs"]
mod runs;
#[path = "solver/starts.rs"]
mod starts;
#[path = "solver/stops.rs"]
mod stops;
