//! The jobs of a plan: each as a separate scenario, and the ports that jobs give to each other.

use crate::plan::{JobResult, TrainingResult};
use crate::scenario::TrainingScenario;
use crate::scenario::shared::SharedPods;
use crate::scenario::workload::Shape;
use lightbay_core::problem::Problems;

/// One job of a scenario, with the ports that a plan allots it.
#[derive(Clone, Debug, PartialEq)]
pub struct SeparateJob {
    /// Name of the job; empty if there is only one.
    pub name: String,
    /// Weight of the iteration time of the job in the objective over all jobs.
    pub weight: u32,
    /// The job as a separate scenario.
    pub scenario: TrainingScenario,
    /// The plan of the job.
    pub result: TrainingResult,
    /// Length of the iteration of the job in this plan, seconds.
    pub makespan_s: f64,
}

/// Returns the jobs of a checked plan of `makespan_s` seconds: each of several jobs, or the scenario itself if it has
/// one job.
pub fn separate(scenario: &TrainingScenario, result: &TrainingResult, makespan_s: f64) -> Vec<SeparateJob> {
    match scenario {
        TrainingScenario::Job(_) | TrainingScenario::Instance(_) => vec![SeparateJob {
            name: String::new(),
            weight: 1,
            scenario: scenario.clone(),
            result: result.clone(),
            makespan_s,
        }],
        TrainingScenario::Shared(shared) => {
            let jobs = shared.jobs.iter().zip(&result.jobs).enumerate();
            jobs.filter_map(|(index, (placed, job))| {
                Some(SeparateJob {
                    name: placed.name.clone(),
                    weight: placed.weight,
                    scenario: shared.alone(index, &job.ports_per_pod)?,
                    result: job.shared.result.clone(),
                    makespan_s: job.shared.makespan_s,
                })
            })
            .collect()
        }
    }
}

/// Returns the job that panes show first: the first job that takes ports (of another job, or spare ports); if no job
/// does, the first job.
pub fn first_receiver(result: &TrainingResult) -> usize {
    result.jobs.iter().position(|job| job.taken.iter().any(|ports| *ports > 0)).unwrap_or(0)
}

/// Ports of every job, pod by pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ledger {
    /// The shared pods, by position.
    pub pods: Vec<PodLedger>,
}

/// The ports of one shared pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodLedger {
    /// Name of the pod.
    pub name: String,
    /// Ports of the pod.
    pub ports: u32,
    /// Ports that no job brought.
    pub spare: u32,
    /// Ports of every job in this pod; `None` for a job that does not cover the pod.
    pub jobs: Vec<Option<JobPorts>>,
}

impl PodLedger {
    /// Number of ports that no job uses.
    pub fn left(&self) -> u32 {
        let used: u32 = self.jobs.iter().flatten().map(|job| job.used).sum();
        self.ports.saturating_sub(used)
    }
}

/// Ports of one job in one pod.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JobPorts {
    /// Ports that the job brought.
    pub brought: u32,
    /// Ports that the plan of the job uses.
    pub used: u32,
    /// Ports that the job gave to others.
    pub given: u32,
    /// Ports that the job took from others or from spare ports.
    pub taken: u32,
}

impl JobPorts {
    /// Ports that the job may use but does not use.
    pub const fn surplus(self) -> u32 {
        (self.brought + self.taken).saturating_sub(self.given + self.used)
    }
}

/// Computes the port ledger of several jobs; without a plan no port is used or given.
///
/// # Errors
/// All problems of the jobs.
pub fn ledger(shared: &SharedPods, result: Option<&TrainingResult>) -> Result<Ledger, Problems> {
    let layout = shared.layout()?;
    let spare = layout.spare();
    let mut pods: Vec<PodLedger> = layout
        .budget
        .iter()
        .zip(spare)
        .enumerate()
        .map(|(pod, (&ports, spare))| PodLedger {
            name: SharedPods::pod_name(pod),
            ports,
            spare,
            jobs: vec![None; shared.jobs.len()],
        })
        .collect();
    for (index, (shape, first)) in layout.shapes.iter().zip(&layout.first).enumerate() {
        let job: Option<&JobResult> = result.and_then(|result| result.jobs.get(index));
        let used = job.map(|job| ports_by_pod(shape, &job.shared.result.circuits()));
        for (position, &brought) in shape.ports.iter().enumerate() {
            let at = |list: Option<&Vec<u32>>| list.and_then(|list| list.get(position)).copied().unwrap_or(0);
            let ports = JobPorts {
                brought,
                used: at(used.as_ref()),
                given: at(job.map(|job| &job.given)),
                taken: at(job.map(|job| &job.taken)),
            };
            if let Some(cell) = pods.get_mut(first + position).and_then(|pod| pod.jobs.get_mut(index)) {
                *cell = Some(ports);
            }
        }
    }
    Ok(Ledger { pods })
}

/// Ports that the circuits of a job use in each of its pods: links along the pipeline first, then rings.
pub fn ports_by_pod(shape: &Shape, circuits: &[u32]) -> Vec<u32> {
    let mut used = vec![0_u32; shape.pods_per_replica as usize];
    let through = shape.pipeline_links().count();
    let of_links = shape
        .pipeline_links()
        .zip(circuits)
        .flat_map(|(ends, circuits)| ends.map(|position| (position, *circuits)));
    let of_rings = shape.rings().zip(circuits.iter().skip(through));
    let of_rings =
        of_rings.map(|(position, circuits)| (position, circuits.saturating_mul(shape.ring_ports())));
    for (position, ports) in of_links.chain(of_rings) {
        if let Some(used) = used.get_mut(position as usize) {
            *used = used.saturating_add(ports);
        }
    }
    used
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

    use super::*;
    use crate::scenario::presets;
    use crate::simulate::evaluate::Evaluator;

    #[test]
    fn ports_by_pod_are_those_of_the_network() {
        for preset in presets::JOBS {
            let scenario = presets::scenario(preset.name).unwrap();
            let built = scenario.build().unwrap();
            let evaluator = Evaluator::new(&built.instance).unwrap();
            let circuits: Vec<u32> = (1..=evaluator.network.links() as u32).collect();
            let shape = built.job.unwrap().shape;
            let budget = &evaluator.network.budget;
            assert_eq!(ports_by_pod(&shape, &circuits), budget.used(&circuits), "{}", preset.name);
        }
    }

    #[test]
    fn a_ledger_without_a_plan_has_what_the_jobs_bring() {
        let TrainingScenario::Shared(mut shared) = presets::scenario("tiny4_pair").unwrap() else {
            panic!("a pair is several jobs")
        };
        shared.jobs[1].first_pod = 1;
        shared.ports_per_pod = None;
        let ledger = ledger(&shared, None).unwrap();
        let brought: Vec<Vec<Option<u32>>> = ledger
            .pods
            .iter()
            .map(|pod| pod.jobs.iter().map(|job| job.map(|job| job.brought)).collect())
            .collect();
        assert_eq!(brought, [[Some(4), None], [Some(4), Some(4)], [None, Some(4)]]);
        assert!(ledger.pods.iter().all(|pod| pod.spare == 0 && pod.left() == pod.ports));
    }
}
