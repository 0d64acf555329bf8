//! Training scenarios: a job, several jobs on one set of pods, or an explicit instance.
//!
//! A job is small and can be changed; [`crate::model::build`] turns it into the instance that the methods work on.
//! Validation reports all problems at once, before any large graph is built.

pub mod instance;
pub mod job;
pub mod knobs;
pub mod limits;
pub mod presets;
pub mod reconfiguration;
pub mod shared;
pub mod variants;
pub mod workload;

mod check_instance;
mod check_job;
mod check_pods;
mod check_schedule;
mod idle;
mod read_instance;

pub use check_instance::check_instance;

use crate::scenario::instance::Instance;
use job::Job;
use lightbay_core::problem::Problems;
use lightbay_core::read::Fields;
use lightbay_core::record::{FieldType as _, NumberRange, Record as _};
use schemars::JsonSchema;
use serde::Serialize;
use shared::SharedPods;

/// The input of every training method.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TrainingScenario {
    /// A job: model, parallelism, placement.
    Job(Job),
    /// Explicit pods, links, tasks and edges.
    Instance(Instance),
    /// Several jobs that share pods and can give ports to each other: `jobs` and optionally `ports_per_pod`.
    #[serde(untagged)]
    Shared(SharedPods),
}

impl TrainingScenario {
    /// Rules for changing circuits within an iteration; `None` if circuits are static.
    pub fn reconfiguration(&self) -> Option<&reconfiguration::Reconfiguration> {
        match self {
            Self::Job(job) => job.reconfiguration.as_ref(),
            Self::Instance(instance) => instance.reconfiguration.as_ref(),
            Self::Shared(_) => None,
        }
    }

    /// Reads the scenario's own keys: `job`, `instance`, or `jobs` with optional `ports_per_pod`. The caller must
    /// finish `fields`, which reports unknown keys.
    pub fn read(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<Self> {
        let (job_path, instance_path) = (fields.path_of("job"), fields.path_of("instance"));
        let (job, instance) = (fields.optional("job"), fields.optional("instance"));
        let several = fields.has("jobs");
        match (job, instance) {
            (Some(_), _) if several => {
                problems.add(job_path, "cannot be combined with 'jobs'", "give one of the two");
                None
            }
            (_, Some(_)) if several => {
                problems.add(instance_path, "cannot be combined with 'jobs'", "give one of the two");
                None
            }
            (None, None) if several => SharedPods::of_fields(fields, problems).map(Self::Shared),
            (Some(job), None) => {
                Job::read(job, &fields.place("job"), NumberRange::Any, problems).map(Self::Job)
            }
            (None, Some(instance)) => {
                read_instance::instance(instance, &instance_path, problems).map(Self::Instance)
            }
            (Some(_), Some(_)) => {
                problems.add(job_path, "cannot be combined with 'instance'", "give one of the two");
                None
            }
            (None, None) => {
                let remedy = "give one of the two, or 'jobs' for several jobs on one set of pods";
                problems.add(fields.path(), "has neither 'job' nor 'instance'", remedy);
                None
            }
        }
    }
}

#[cfg(test)]
mod tests;
