//! Results of each job in a plan for several jobs on one set of pods.

use super::TrainingResult;
use schemars::JsonSchema;
use serde::Serialize;

/// One job among several: its ports, and its plans without and with traded ports.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct JobResult {
    /// Name of the job.
    pub name: String,
    /// Optical ports that the job may use, by its pod positions: the ports that it brought, minus the ports given, plus
    /// the ports taken.
    pub ports_per_pod: Vec<u32>,
    /// Ports that the job gave to others, by its pod positions.
    pub given: Vec<u32>,
    /// Ports that the job took from other jobs or from spare ports, by its pod positions.
    pub taken: Vec<u32>,
    /// Plan of the job on the ports that it brought.
    pub alone: JobPlan,
    /// Plan of the job on `ports_per_pod`.
    pub shared: JobPlan,
}

/// A plan of one job.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct JobPlan {
    /// Length of the iteration of the job, seconds.
    pub makespan_s: f64,
    /// Circuits and schedule of the job.
    pub result: TrainingResult,
}
