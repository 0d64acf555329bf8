//! The result of a training plan: circuits per link and the schedule that they allow.

mod jobs;
mod phases;
mod read;

pub use jobs::{JobPlan, JobResult};
pub use phases::{PhaseEvent, Phases};

use lightbay_core::units::{LinkId, TaskId};
use schemars::JsonSchema;
use serde::Serialize;

/// Control of the rates of tasks that share a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RateControl {
    /// Max-min fair per flow: a network without rate control.
    Fair,
    /// The plan controls the rates, and contains them.
    Joint,
}

/// Text of `provenance.bound_covers` for a bound on a plan at fair rates: scheduled rates may beat this bound.
pub const FAIR_ONLY: &str = "plans at fair rates";

impl RateControl {
    /// The plans that a bound for these rates covers; `None` if it covers all plans of the scenario.
    pub const fn bound_covers(self) -> Option<&'static str> {
        match self {
            Self::Fair => Some(FAIR_ONLY),
            Self::Joint => None,
        }
    }
}

/// Fields of `result` in a plan of kind `training`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TrainingResult {
    /// Control of the rates.
    pub rate_control: RateControl,
    /// Circuits of every link, in link order.
    pub topology: Vec<LinkCircuits>,
    /// Total number of ports that the circuits use in real pods: 2 for a circuit between two real pods, `ports_a` for a
    /// circuit of a collapsed DP link.
    pub ports_used: u64,
    /// Makespan on the ideal network (NIC limits only).
    pub ideal_makespan_s: f64,
    /// 1 + (makespan - ideal makespan) / communication on the ideal critical path; `None` if nothing is communicated.
    pub nct: Option<f64>,
    /// The schedule, in task order.
    pub tasks: Vec<TaskSchedule>,
    /// For several jobs on one set of pods: the result of each job, in scenario order. In such a plan, `topology` and
    /// `tasks` are empty, `ports_used` is a sum, and `ideal_makespan_s` and `nct` are means by the weights of the jobs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<JobResult>,
    /// For circuits that change within the iteration: the times and the circuits of each change. In such a plan,
    /// `topology` is empty, and `ports_used` is the sum of the maximum number of ports that each pod uses at a time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phases: Option<Phases>,
}

/// Circuits of one link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LinkCircuits {
    /// Id of the link.
    pub link: LinkId,
    /// Number of bidirectional circuits, at least 1.
    pub circuits: u32,
}

/// Times and rates of a task.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TaskSchedule {
    /// Id of the task.
    pub task: TaskId,
    /// Start of the task, seconds.
    pub start_s: f64,
    /// End of the task, seconds.
    pub finish_s: f64,
    /// Stretches of constant rate that cover start to finish; an idle stretch has volume 0.
    pub segments: Vec<Segment>,
}

/// A stretch of constant rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Segment {
    /// Start of the stretch, seconds.
    pub start_s: f64,
    /// End of the stretch, seconds.
    pub end_s: f64,
    /// Bytes sent in the stretch.
    pub volume_bytes: f64,
}

impl TrainingResult {
    /// Circuits per link, in link order.
    pub fn circuits(&self) -> Vec<u32> {
        self.topology.iter().map(|entry| entry.circuits).collect()
    }
}
