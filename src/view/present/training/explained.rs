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
    /// Directed links that carry tasks, by what they cost the makespan, then by what their tasks lose.
    pub ways: Vec<u32>,
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
        let ways = ways(&analysis);
        Ok(Self { key, analysis, steps, ways })
    }
}

impl Explained {
    /// Name of a task.
    pub fn name(&self, task: u32) -> &str {
        self.analysis.setting.instance.tasks.get(task as usize).map_or("", |task| &task.name)
    }

    /// Place of a directed link among the ways.
    pub fn place_of(&self, direction: u32) -> Option<usize> {
        self.ways.iter().position(|way| *way == direction)
    }

    /// The directed link of a task.
    pub fn way_of(&self, task: u32) -> u32 {
        self.analysis.setting.evaluator.network.via[task as usize]
    }

    /// The task of a directed link that panes point at when the link was chosen: the one that ends last.
    pub fn last_on(&self, direction: u32) -> Option<u32> {
        let carried = self.analysis.setting.evaluator.network.carried.get(direction as usize)?;
        let finish = |task: &u32| self.analysis.tasks[*task as usize].finish_s;
        carried.iter().copied().max_by(|a, b| finish(a).total_cmp(&finish(b)).then(b.cmp(a)))
    }

    /// The task that panes point at when a person has not chosen one: the last of the critical path.
    pub fn usual_task(&self) -> Option<u32> {
        self.analysis.path.last().copied()
    }
}

/// Directed links with tasks in the order in which they matter.
fn ways(analysis: &Analysis) -> Vec<u32> {
    let carried = &analysis.setting.evaluator.network.carried;
    let mut ways: Vec<u32> =
        (0..carried.len() as u32).filter(|direction| !carried[*direction as usize].is_empty()).collect();
    ways.sort_by(|a, b| {
        let of = |direction: u32| &analysis.demand[direction as usize];
        // What differs by rounding only is a tie.
        let rounded = |seconds: f64| (seconds * 1e9).round();
        let (a, b) = (*a, *b);
        rounded(of(b).costs_s)
            .total_cmp(&rounded(of(a).costs_s))
            .then(rounded(of(b).late_s).total_cmp(&rounded(of(a).late_s)))
            .then(a.cmp(&b))
    });
    ways
}
