//! Plans explained: made once per plan on a helper thread, kept while the plan is on the screen.

use crate::app::drawn::{JobKey, JobResult, ViewJob};
use crate::app::pane::PaneId;
use crate::app::state::App;
use lightbay_engines::AnyPlan;
use lightbay_engines::training::TrainingScenario;
use lightbay_engines::training::analysis::{Analysis, Step, full_steps};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Explanations that stay in memory: the plan shown, the baseline, and a few that were shown before.
const KEPT: usize = 6;

/// A plan explained.
#[derive(Debug)]
pub struct Explained {
    /// Key of the plan, for caches.
    pub key: u64,
    /// The plan.
    pub plan: AnyPlan,
    /// What every task could have done.
    pub analysis: Analysis,
    /// The full graph of a job under the plan.
    pub steps: Vec<Step>,
}

type Made = Result<Arc<Explained>, String>;

/// Which plan in memory an explanation is of: numbers begin again when another scenario is opened.
type Identity = usize;

fn identity(plan: &AnyPlan) -> Identity {
    Arc::as_ptr(&plan.shared()).cast::<()>() as usize
}

/// What is known about the plan shown.
#[derive(Debug)]
pub enum Lookup {
    /// Explained.
    Ready(Arc<Explained>),
    /// There is no plan.
    NoPlan,
    /// It is being explained for the first time.
    Making,
    /// It cannot be explained.
    Failed(String),
}

/// Explanations by plan.
#[derive(Debug, Default)]
pub struct Cache {
    made: BTreeMap<u64, (Identity, Made)>,
    asked: Vec<(u64, Identity)>,
    /// The last one that was drawn: stays on the screen until the next is ready.
    last: Option<Arc<Explained>>,
}

impl Cache {
    /// The explanation of the plan shown; asks for it if need be. Until it is there the last one stays, so that a
    /// stream of better plans does not make the screen flicker.
    pub fn of_shown(&mut self, app: &App, jobs: &mut Vec<ViewJob>) -> Lookup {
        let Some(plan) = app.shown_plan() else {
            self.last = None;
            return Lookup::NoPlan;
        };
        let key = app.shown_key();
        match self.look(key, plan, jobs) {
            Some(Ok(explained)) => {
                self.last = Some(Arc::clone(&explained));
                Lookup::Ready(explained)
            }
            Some(Err(why)) => Lookup::Failed(why),
            None => match &self.last {
                Some(last) if last.plan.scenario().kind() == plan.scenario().kind() => {
                    Lookup::Ready(Arc::clone(last))
                }
                _ => Lookup::Making,
            },
        }
    }

    /// The explanation of the baseline, once it is there.
    pub fn of_baseline(&mut self, app: &App, jobs: &mut Vec<ViewJob>) -> Option<Arc<Explained>> {
        let plan = app.baseline_plan()?;
        let key = app.plans.baseline()?.number;
        self.look(key, plan, jobs)?.ok()
    }

    fn look(&mut self, key: u64, plan: &AnyPlan, jobs: &mut Vec<ViewJob>) -> Option<Made> {
        let identity = identity(plan);
        if let Some((of, made)) = self.made.get(&key)
            && *of == identity
        {
            return Some(made.clone());
        }
        if !self.asked.contains(&(key, identity)) {
            self.asked.push((key, identity));
            let plan = plan.clone();
            jobs.push(ViewJob {
                key: JobKey { pane: PaneId::Kind(1), plan: key, size: (0, 0), variant: 0 },
                work: Arc::new(move || Box::new((identity, explain(key, plan.clone()))) as JobResult),
            });
        }
        None
    }

    /// Takes in what a helper thread made.
    pub fn accept(&mut self, key: JobKey, result: JobResult) {
        let Ok(made) = result.downcast::<(Identity, Made)>() else { return };
        self.asked.retain(|asked| *asked != (key.plan, made.0));
        self.made.insert(key.plan, *made);
        while self.made.len() > KEPT {
            // Keys of plans grow with time; previews of edits lie above all plans and go first.
            let oldest = self.made.keys().find(|known| **known != key.plan).copied();
            let Some(oldest) = oldest else { break };
            self.made.remove(&oldest);
        }
    }
}

/// Explains a plan at once. For tests and helper threads.
pub fn explain(key: u64, plan: AnyPlan) -> Made {
    let AnyPlan::Training(training) = &plan;
    let (scenario, result) = (&training.plan().scenario.body, &training.plan().result);
    let analysis = Analysis::new(scenario, result).map_err(|error| error.to_string())?;
    let steps = match scenario {
        TrainingScenario::Job(job) => full_steps(job, result).map_err(|error| error.to_string())?,
        TrainingScenario::Instance(_) => Vec::new(),
    };
    Ok(Arc::new(Explained { key, plan, analysis, steps }))
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
