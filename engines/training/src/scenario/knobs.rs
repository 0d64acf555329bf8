//! The parameters of a scenario, in one table with which files, forms, flags and sweeps are read and checked.

mod access;
mod shared;
mod table;

pub(in crate::scenario) use access::beyond_valid_edges;
pub(crate) use access::ports_from;
pub use shared::{every_knob, shared_knobs};
pub(crate) use table::replicas;
pub(crate) use table::run_knobs;
pub use table::{DP, instance_knobs, job_knobs};
