//! DELTA: circuits between the pods of one LLM training job, from its computation-communication DAG.
#![forbid(unsafe_code)]

pub mod analysis;
pub mod baselines;
pub mod budget;
pub mod check;
pub mod circuit_bounds;
pub mod collapse;
pub mod contention;
pub mod critical_path;
pub mod evaluate;
pub mod fixed_step;
mod frontier;
pub mod full_dag;
pub mod ga;
pub mod general;
pub mod handover;
pub mod import;
pub mod instance;
pub mod interval;
pub mod kind;
pub mod methods;
pub mod network;
pub mod order;
pub mod outer;
pub mod parts;
pub mod plan;
pub mod polish;
pub mod ports;
pub mod presets;
pub mod prices;
pub mod reallocate;
pub mod reduced_dag;
pub mod repair;
mod report;
pub mod robustness;
#[cfg(test)]
mod samples;
pub mod scenario;
pub mod schedule;
pub mod search;
pub mod selection;
pub mod sim;
pub mod tail;
pub mod windows;
pub mod workload;
pub mod worst;

pub use kind::Training;
pub use scenario::TrainingScenario;
