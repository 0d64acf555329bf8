//! DELTA: circuits between the pods of one LLM training job, from its computation-communication DAG.
#![forbid(unsafe_code)]

pub mod baselines;
pub mod budget;
pub mod circuit_bounds;
pub mod collapse;
pub mod contention;
pub mod critical_path;
pub mod evaluate;
pub mod full_dag;
pub mod instance;
pub mod network;
pub mod plan;
pub mod presets;
pub mod reduced_dag;
pub mod scenario;
pub mod schedule;
pub mod sim;
pub mod tail;
pub mod windows;
pub mod workload;

pub mod check;
pub mod handover;
pub mod kind;
pub mod methods;
#[cfg(test)]
mod samples;

pub use kind::Training;
pub use scenario::TrainingScenario;
