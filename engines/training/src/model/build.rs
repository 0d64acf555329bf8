//! Conversion of a scenario to the instance that methods plan.

use super::collapse::{JobSummary, collapsed, full_dag};
use super::reduced_dag::Dominance;
use crate::scenario::instance::Instance;
use crate::scenario::job::{Measured, Order};
use crate::scenario::shared::extend_under;
use crate::scenario::workload::Workload;
use crate::scenario::{TrainingScenario, check_instance};
use lightbay_core::problem::{Problem, Problems};

/// A scenario ready for the methods.
#[derive(Clone, Debug, PartialEq)]
pub struct Built {
    /// The instance that methods plan.
    pub instance: Instance,
    /// Sizes of the job from which the instance was built.
    pub job: Option<JobSummary>,
}

impl Built {
    /// Duration in seconds of an iteration in which no task crosses pods, so that circuits do not matter. `None` if
    /// tasks cross pods, or if an instance without tasks does not state the duration.
    pub fn compute_s(&self) -> Option<f64> {
        self.instance.provenance.as_ref().and_then(|provenance| provenance.compute_s)
    }
}

impl TrainingScenario {
    /// Validates the scenario. Builds the full graph only for an order that is given as lists, because only such an
    /// order can deadlock.
    ///
    /// # Errors
    /// All problems, with paths from `job`, `instance` or `jobs`.
    pub fn validate(&self) -> Result<(), Problems> {
        match self {
            Self::Job(job) => {
                let shape = job.shape()?;
                // Only an order that is given as lists can deadlock.
                let literal = |measured: &Measured| matches!(measured.order, Order::Lists(_));
                if job.measured.as_ref().is_some_and(literal)
                    && let Some(workload) = Workload::of(job, &shape)
                {
                    full_dag(job, &shape, &workload, 1)?;
                }
                Ok(())
            }
            Self::Instance(instance) => check_instance(instance, "instance").into_result(()),
            Self::Shared(shared) => {
                shared.layout()?;
                let mut problems = Problems::new();
                for (index, placed) in shared.jobs.iter().enumerate() {
                    if let Err(wrong) = Self::Job(placed.job.clone()).validate() {
                        extend_under(&mut problems, wrong, index);
                    }
                }
                problems.into_result(())
            }
        }
    }

    /// Builds the instance that the scenario represents: one replica of a job, or the given instance.
    ///
    /// # Errors
    /// All problems, with paths from `job` or `instance`. Several jobs do not form a single instance.
    pub fn build(&self) -> Result<Built, Problems> {
        self.build_with(Dominance::AtBandwidth)
    }

    /// Like [`TrainingScenario::build`], but the caller chooses which edges of a job are left out. An instance keeps
    /// the edges it has.
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
                format!("are {} jobs that share pods, but a single job is needed here", shared.jobs.len()),
                "plan them with the method `reallocate`, or give one of them as `job`",
            )
            .into()),
        }
    }
}
