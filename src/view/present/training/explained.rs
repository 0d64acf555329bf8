//! A training plan explained: what every task could have done.

use crate::view::present::Explain;
use lightbay_engines::AnyPlan;
use lightbay_engines::training::TrainingScenario;
use lightbay_engines::training::analysis::{Analysis, Step, full_steps};

/// A plan explained.
#[derive(Debug)]
pub struct Explained {
    /// Key of the plan, for caches.
    pub key: u64,
    /// What every task could have done.
    pub analysis: Analysis,
    /// The full graph of a job under the plan.
    pub steps: Vec<Step>,
}

impl Explain for Explained {
    fn explain(key: u64, plan: AnyPlan) -> Result<Self, String> {
        let AnyPlan::Training(training) = &plan else {
            return Err("the plan is not one of a training job".to_owned());
        };
        let (scenario, result) = (&training.plan().scenario.body, &training.plan().result);
        let analysis = Analysis::new(scenario, result).map_err(|error| error.to_string())?;
        let steps = match scenario {
            TrainingScenario::Job(job) => full_steps(job, result).map_err(|error| error.to_string())?,
            TrainingScenario::Instance(_) => Vec::new(),
        };
        Ok(Self { key, analysis, steps })
    }
}

impl Explained {
    /// Name of a task.
    pub fn name(&self, task: u32) -> &str {
        self.analysis.setting.instance.tasks.get(task as usize).map_or("", |task| &task.name)
    }

    /// The task that panes point at when a person has not chosen one: the last of the critical path.
    pub fn usual_task(&self) -> Option<u32> {
        self.analysis.path.last().copied()
    }
}
