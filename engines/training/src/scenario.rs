//! What a training scenario is: a job, several jobs on one set of pods, or an explicit instance.
//!
//! A job is small and can be changed; [`TrainingScenario::build`] turns it into the instance that the methods work
//! on. Everything that can be wrong is reported at once, before anything large is laid out.

pub mod instance;
pub mod job;
pub mod knobs;
pub mod limits;
pub mod presets;
pub mod shared;
pub mod variants;
pub mod workload;

mod check_instance;
mod check_job;
mod check_schedule;
mod idle;
mod read_instance;
mod read_job;
mod read_shared;

pub use check_instance::check_instance;

use crate::model::collapse::{JobSummary, collapsed, full_dag};
use crate::model::reduced_dag::Dominance;
use crate::scenario::instance::Instance;
use crate::scenario::workload::Workload;
use job::Job;
use lightbay_core::problem::{Problem, Problems};
use lightbay_core::read::Fields;
use schemars::JsonSchema;
use serde::Serialize;
use shared::SharedPods;

/// The input of every training method.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TrainingScenario {
    /// A job: model, parallelism, placement.
    Job(Job),
    /// Pods, links, tasks and edges spelled out.
    Instance(Instance),
    /// Several jobs that share pods and pass ports to each other: `jobs` and perhaps `ports_per_pod`.
    #[serde(untagged)]
    Shared(SharedPods),
}

/// A scenario ready for the methods.
#[derive(Clone, Debug, PartialEq)]
pub struct Built {
    /// What the methods work on.
    pub instance: Instance,
    /// Sizes of the job it was built from.
    pub job: Option<JobSummary>,
}

impl Built {
    /// Duration of an iteration in which no task crosses pods; circuits do not matter then.
    pub fn compute_s(&self) -> Option<f64> {
        self.instance.provenance.as_ref().and_then(|provenance| provenance.compute_s)
    }
}

impl TrainingScenario {
    /// Reads the scenario's own keys: `job`, `instance`, or `jobs` with perhaps `ports_per_pod`. The caller finishes
    /// `fields`.
    pub fn read(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<Self> {
        let (job_path, instance_path) = (fields.path_of("job"), fields.path_of("instance"));
        let (job, instance) = (fields.optional("job"), fields.optional("instance"));
        let several = fields.has("jobs");
        match (job, instance) {
            (Some(_), _) if several => {
                problems.add(job_path, "stands beside 'jobs'", "give one of the two");
                None
            }
            (_, Some(_)) if several => {
                problems.add(instance_path, "stands beside 'jobs'", "give one of the two");
                None
            }
            (None, None) if several => read_shared::shared(fields, problems).map(Self::Shared),
            (Some(job), None) => read_job::job(job, &job_path, problems).map(Self::Job),
            (None, Some(instance)) => {
                read_instance::instance(instance, &instance_path, problems).map(Self::Instance)
            }
            (Some(_), Some(_)) => {
                problems.add(job_path, "stands beside 'instance'", "give one of the two");
                None
            }
            (None, None) => {
                let remedy = "give one of the two, or 'jobs' for several jobs on one set of pods";
                problems.add(fields.path(), "has neither 'job' nor 'instance'", remedy);
                None
            }
        }
    }

    /// Everything that is wrong with it, without laying anything large out.
    ///
    /// # Errors
    /// All problems, with paths from `job`, `instance` or `jobs`.
    pub fn validate(&self) -> Result<(), Problems> {
        match self {
            Self::Job(job) => {
                let shape = job.shape()?;
                // Only a literal order can wait for itself.
                let literal = |measured: &job::Measured| matches!(measured.order, job::Order::Lists(_));
                if job.measured.as_ref().is_some_and(literal)
                    && let Some(workload) = Workload::of(job, &shape)
                {
                    full_dag(job, &shape, &workload, 1)?;
                }
                Ok(())
            }
            Self::Instance(instance) => check_instance(instance, "instance").into_result(()),
            Self::Shared(shared) => shared.validate(),
        }
    }

    /// The instance that it stands for: one replica of a job, or the given instance.
    ///
    /// # Errors
    /// All problems, with paths from `job` or `instance`. Several jobs are no single instance.
    pub fn build(&self) -> Result<Built, Problems> {
        self.build_with(Dominance::AtBandwidth)
    }

    /// The same with a choice which edges of a job are left out. An instance keeps the edges it has.
    ///
    /// # Errors
    /// As for [`TrainingScenario::build`].
    pub fn build_with(&self, dominance: Dominance) -> Result<Built, Problems> {
        match self {
            Self::Job(job) => {
                let (instance, summary) = collapsed(job, dominance)?;
                Ok(Built { instance, job: Some(summary) })
            }
            Self::Instance(instance) => {
                check_instance(instance, "instance").into_result(())?;
                Ok(Built { instance: instance.clone(), job: None })
            }
            Self::Shared(shared) => Err(Problem::new(
                "jobs",
                format!("are {} jobs that share pods, no single one", shared.jobs.len()),
                "plan them with the method `reallocate`, or give one of them as `job`",
            )
            .into()),
        }
    }
}

#[cfg(test)]
mod tests;
