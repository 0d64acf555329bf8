//! Explanation of a training plan: the analysis of every task, job by job.

use crate::view::present::Explain;
use lightbay_engines::AnyPlan;
use lightbay_engines::training::TrainingScenario;
use lightbay_engines::training::analysis::{Analysis, Step, full_steps};
use lightbay_engines::training::model::jobs::{SeparateJob, first_receiver, separate};
use lightbay_engines::training::plan::PhaseEvent;
use lightbay_engines::training::report::contention;
use lightbay_widgets::Piece;
use std::sync::Arc;

/// Explanation of one job of a plan.
#[derive(Debug)]
pub struct Explained {
    /// Key of the plan and the job, for caches.
    pub key: u64,
    /// Key of the plan alone.
    pub plan: u64,
    /// Name of the job, if the plan has several jobs.
    pub job: Option<String>,
    /// The job as a separate scenario.
    pub scenario: TrainingScenario,
    /// Analysis of every task.
    pub analysis: Analysis,
    /// Reconfigurations within an iteration, by time; empty for static circuits.
    pub events: Vec<PhaseEvent>,
    /// Nodes of the full graph of the job, with their times under the plan.
    pub steps: Vec<Step>,
    /// Directed links that carry tasks, sorted by their contribution to the makespan, then by the time that their tasks
    /// take beyond the minimum.
    pub ways: Vec<u32>,
}

/// Explanation of a plan: its only job, or all of its jobs.
#[derive(Debug)]
pub struct Whole {
    /// Key of the plan, for caches.
    pub key: u64,
    /// Explanation of every job.
    pub parts: Vec<Arc<Explained>>,
    /// Index of the job that is shown until the user chooses another job.
    pub usual: usize,
}

impl Explain for Whole {
    fn explain(key: u64, plan: AnyPlan) -> Result<Self, String> {
        let AnyPlan::Training(training) = &plan else {
            return Err("the plan is not for a training job".to_owned());
        };
        let plan = training.plan();
        let (scenario, result) = (&plan.scenario.body, &plan.result);
        let several = matches!(scenario, TrainingScenario::Shared(_));
        let mut explained = Vec::new();
        for (index, part) in separate(scenario, result, plan.objective.value).into_iter().enumerate() {
            // Plan numbers stay far below the bits that distinguish jobs.
            let of_job = key | (index as u64) << 48;
            explained.push(Arc::new(Explained::of(of_job, key, part, several)?));
        }
        Ok(Self { key, parts: explained, usual: first_receiver(result) })
    }
}

impl Whole {
    /// Returns the chosen job, or the default job.
    pub fn part(&self, chosen: Option<u32>) -> Option<Arc<Explained>> {
        self.parts.get(self.chosen(chosen)).map(Arc::clone)
    }

    /// Returns the index of the chosen job, or of the default job.
    pub fn chosen(&self, chosen: Option<u32>) -> usize {
        chosen.map(|job| job as usize).filter(|job| *job < self.parts.len()).unwrap_or(self.usual)
    }
}

impl Explained {
    fn of(key: u64, plan: u64, part: SeparateJob, several: bool) -> Result<Self, String> {
        let SeparateJob { name, scenario, result, .. } = part;
        let analysis = Analysis::of_times(&scenario, &result).map_err(|error| error.to_string())?;
        let steps = match &scenario {
            TrainingScenario::Job(job) => full_steps(job, &result).map_err(|error| error.to_string())?,
            TrainingScenario::Instance(_) | TrainingScenario::Shared(_) => Vec::new(),
        };
        let ways = contention::ways(&analysis);
        let events = result.phases.map_or_else(Vec::new, |phases| phases.events);
        Ok(Self { key, plan, job: several.then_some(name), scenario, analysis, events, steps, ways })
    }

    /// Returns the name of the job if there are several, for titles of panes that show one job.
    pub fn title(&self) -> Vec<Piece> {
        self.job.iter().map(|job| Piece::text(format!("{job}  "))).collect()
    }

    /// Returns the name of a task.
    pub fn name(&self, task: u32) -> &str {
        self.analysis.setting.instance.tasks.get(task as usize).map_or("", |task| &task.name)
    }

    /// Returns the index of a directed link in [`Self::ways`].
    pub fn place_of(&self, direction: u32) -> Option<usize> {
        self.ways.iter().position(|way| *way == direction)
    }

    /// Returns the directed link of a task.
    pub fn way_of(&self, task: u32) -> u32 {
        self.analysis.setting.evaluator.network.via[task as usize]
    }

    /// Returns the task that is shown for a chosen directed link: of the tasks on this link, the task that ends last.
    pub fn last_on(&self, direction: u32) -> Option<u32> {
        let carried = self.analysis.setting.evaluator.network.carried.get(direction as usize)?;
        let finish = |task: &u32| self.analysis.tasks[*task as usize].finish_s;
        carried.iter().copied().max_by(|a, b| finish(a).total_cmp(&finish(b)).then(b.cmp(a)))
    }

    /// Returns the task that is shown until the user chooses one: the last task of the critical path.
    pub fn usual_task(&self) -> Option<u32> {
        self.analysis.path.last().copied()
    }
}
