//! Facts from which files of a training scenario or plan are written.

use crate::analysis::{Analysis, AnalysisError, Setting, Step};
use crate::model::collapse::expanded;
use crate::model::network::Network;
use crate::plan::TrainingResult;
use crate::scenario::instance::{Instance, LinkKind, TaskKind};
use crate::simulate::replicas::expand_plan;
use crate::{Training, TrainingScenario};
use lightbay_core::plan::Plan;
use lightbay_core::problem::{Problem, Problems, printable};
use lightbay_core::scenario::Scenario;
use std::collections::BTreeSet;

/// A scenario or a plan, with everything derived from it.
pub(super) struct Facts {
    /// Name of the scenario or plan.
    pub(super) name: String,
    /// Distinct names of the pods.
    pub(super) pods: Vec<String>,
    of: Of,
}

/// A scenario or a plan. The analysis of a plan contains the setting of its scenario; this setting is too large to
/// store twice.
enum Of {
    Scenario(Box<Setting>),
    Plan(Box<Explained>),
}

/// A plan with its analysis.
pub(super) struct Explained {
    /// Analysis of the plan.
    pub(super) analysis: Analysis,
    /// Circuits and schedule of the plan.
    pub(super) result: TrainingResult,
}

impl Facts {
    /// Returns the facts of a scenario; for a job, of all replicas if `all` is true, otherwise of the replica that
    /// represents all.
    pub(super) fn of_scenario(scenario: &Scenario<Training>, all: bool) -> Result<Self, Problems> {
        let setting = match &scenario.body {
            TrainingScenario::Job(job) if all => Setting::new(&TrainingScenario::Instance(expanded(job)?)),
            body => Setting::new(body),
        };
        let setting = setting.map_err(problems)?;
        let pods = labels(&setting.instance);
        Ok(Self { name: scenario.name.clone(), pods, of: Of::Scenario(Box::new(setting)) })
    }

    /// Returns the facts of a plan; for a job, of all replicas if `all` is true, otherwise of the replica that
    /// represents all.
    pub(super) fn of_plan(plan: &Plan<Training>, all: bool) -> Result<Self, Problems> {
        let explained = match &plan.scenario.body {
            TrainingScenario::Job(job) if all => {
                let (instance, result) = expand_plan(job, &plan.result)?;
                Analysis::new(&TrainingScenario::Instance(instance), &result)
                    .map(|analysis| Explained { analysis, result })
            }
            body => Analysis::new(body, &plan.result)
                .map(|analysis| Explained { analysis, result: plan.result.clone() }),
        };
        let explained = explained.map_err(problems)?;
        let pods = labels(&explained.analysis.setting.instance);
        Ok(Self { name: plan.name.clone(), pods, of: Of::Plan(Box::new(explained)) })
    }

    /// The scenario with everything that does not depend on a plan.
    pub(super) fn setting(&self) -> &Setting {
        match &self.of {
            Of::Scenario(setting) => setting,
            Of::Plan(explained) => &explained.analysis.setting,
        }
    }

    /// The plan, or `None` if these are the facts of a scenario.
    pub(super) fn explained(&self) -> Option<&Explained> {
        match &self.of {
            Of::Scenario(_) => None,
            Of::Plan(explained) => Some(explained),
        }
    }

    pub(super) fn instance(&self) -> &Instance {
        &self.setting().instance
    }

    pub(super) fn network(&self) -> &Network {
        &self.setting().evaluator.network
    }

    /// Name of a pod.
    pub(super) fn pod(&self, index: usize) -> &str {
        self.pods.get(index).map_or("?", String::as_str)
    }

    /// Names of both ends of a link.
    pub(super) fn ends(&self, link: usize) -> [&str; 2] {
        let ends = self.instance().links.get(link).map(|link| [link.pod_a, link.pod_b]);
        ends.map_or(["?", "?"], |ends| ends.map(|pod| self.pod(pod.index())))
    }

    /// Names of sending and receiving pod of a directed link.
    pub(super) fn route(&self, direction: usize) -> [&str; 2] {
        let [a, b] = self.ends(direction / 2);
        if direction.is_multiple_of(2) { [a, b] } else { [b, a] }
    }

    /// Whole bytes that a directed link carries.
    pub(super) fn carried_bytes(&self, direction: usize) -> i64 {
        let carried = self.network().carried.get(direction);
        carried.into_iter().flatten().map(|task| self.bytes(*task as usize)).sum()
    }

    /// Whole bytes of a task.
    pub(super) fn bytes(&self, task: usize) -> i64 {
        self.instance().tasks.get(task).map_or(0, |task| whole(task.volume_bytes))
    }
}

/// Bytes as an integer; volumes are far below the maximum of the integer type.
pub(super) fn whole(bytes: f64) -> i64 {
    bytes.round() as i64
}

/// Names of pods; repeated names get the number of the pod as a suffix.
fn labels(instance: &Instance) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let distinct = instance.pods.iter().enumerate().map(|(index, pod)| {
        let mut name = printable(&pod.name);
        while !seen.insert(name.clone()) {
            name = format!("{name}#{index}");
        }
        name
    });
    distinct.collect()
}

fn problems(error: AnalysisError) -> Problems {
    match error {
        AnalysisError::Scenario(problems) => problems,
        other => Problem::new("", other.to_string(), "correct the scenario").into(),
    }
}

/// Name of a compute or of a transfer inside a pod: letter, micro-batch and, if stages hold several chunks, the chunk:
/// `F3`, `B3.2`.
pub(super) fn step_name(letter: char, step: &Step, chunks: bool) -> String {
    let number = step.micro_batch + 1;
    if chunks { format!("{letter}{number}.{}", step.chunk + 1) } else { format!("{letter}{number}") }
}

/// Returns the word for the transfers of a link, in files and pictures.
pub(super) const fn link_word(kind: LinkKind) -> &'static str {
    match kind {
        LinkKind::Pp => "pp",
        LinkKind::Dp => "dp",
        LinkKind::Mixed => "mixed",
    }
}

/// Returns the word for the kind of a task, in files and pictures.
pub(super) const fn task_word(kind: TaskKind) -> &'static str {
    match kind {
        TaskKind::PpFwd => "pp_fwd",
        TaskKind::PpBwd => "pp_bwd",
        TaskKind::Dp => "dp",
        TaskKind::Other => "other",
    }
}
