//! Several jobs on one set of pods (DELTA sec. "port reallocation").
//!
//! Replica r of every job runs in the r-th copy of the same pods, so the pods of one replica describe the pods of all
//! replicas. A job covers consecutive positions of these pods and brings ports; other jobs may use the ports that it
//! does not need.

use super::TrainingScenario;
use super::job::{Job, PortsPerPod};
use super::limits::MAX_PORTS;
use crate::scenario::workload::Shape;
use lightbay_core::problem::{Problem, Problems, counted};
use lightbay_core::record;
use lightbay_core::record::{any, within};
use std::collections::BTreeMap;

/// Maximum number of jobs on one set of pods.
pub const MAX_JOBS: usize = 16;
/// Largest weight of a job.
pub const MAX_WEIGHT: u32 = 1_000_000;
/// Maximum number of pods that one replica of all jobs together covers.
pub const MAX_PODS: u32 = 4096;

record! {
    /// Jobs that share pods and may give optical ports to each other.
    pub struct SharedPods {
        /// The jobs, at least two.
        pub jobs: Vec<PlacedJob> = any(),
        /// Number of optical ports of a shared pod: one number, or one for each shared pod in order. Default: the sum
        /// of the ports of its jobs. Additional ports are spare and open to all jobs.
        pub ports_per_pod: Option<PortsPerPod> = any(),
    }
}

record! {
    /// A job with its position among the shared pods.
    pub struct PlacedJob {
        /// Name, unique among the jobs.
        pub name: String = any(),
        /// Weight of the iteration time of the job in the objective; the paper leaves weights open.
        pub weight: u32 = within(1..=i64::from(MAX_WEIGHT)).or(1),
        /// Shared pod, from 0, in which the first pod of the job lies.
        pub first_pod: u32 = within(0..=i64::from(MAX_PODS - 1)).or(0),
        /// The job; its `ports_per_pod` are the ports that it brings.
        pub job: Job = any(),
    }
}

/// Ports of the shared pods, with the sizes and places of valid jobs.
#[derive(Clone, Debug, PartialEq)]
pub struct PodLayout {
    /// Optical ports of every shared pod.
    pub budget: Vec<u32>,
    /// Sizes of every job; `ports` are the ports that the job brings.
    pub shapes: Vec<Shape>,
    /// Shared pod in which the first pod of every job lies.
    pub first: Vec<usize>,
}

impl PodLayout {
    /// Ports of the shared pods that no job brought.
    pub fn spare(&self) -> Vec<u32> {
        let mut spare = self.budget.clone();
        for (shape, first) in self.shapes.iter().zip(&self.first) {
            for (spare, own) in spare.iter_mut().skip(*first).zip(&shape.ports) {
                *spare = spare.saturating_sub(*own);
            }
        }
        spare
    }
}

impl SharedPods {
    /// Name of the shared pod at a position.
    pub fn pod_name(position: usize) -> String {
        format!("p{position}")
    }

    /// Sum of all weights.
    pub fn weight(&self) -> f64 {
        self.jobs.iter().map(|job| f64::from(job.weight)).sum()
    }

    /// Mean of a figure over the jobs, weighted by the weights of the jobs.
    pub fn mean(&self, figures: impl Iterator<Item = f64>) -> f64 {
        let sum: f64 =
            self.jobs.iter().zip(figures).map(|(job, figure)| f64::from(job.weight) * figure).sum();
        sum / self.weight()
    }

    /// One of the jobs as a separate scenario, with these ports by its pod positions.
    pub fn alone(&self, job: usize, ports: &[u32]) -> Option<TrainingScenario> {
        let job = &self.jobs.get(job)?.job;
        let ports_per_pod = Some(PortsPerPod::ByPosition(ports.to_vec()));
        Some(TrainingScenario::Job(Job { ports_per_pod, ..job.clone() }))
    }

    /// Computes the port budgets and the sizes of the jobs.
    ///
    /// # Errors
    /// All problems, with paths from `jobs` or `ports_per_pod`.
    pub fn layout(&self) -> Result<PodLayout, Problems> {
        let mut problems = Problems::new();
        self.check_list(&mut problems);
        let mut shapes = Vec::with_capacity(self.jobs.len());
        for (index, placed) in self.jobs.iter().enumerate() {
            match placed.job.shape() {
                Ok(shape) => shapes.push(shape),
                Err(wrong) => extend_under(&mut problems, wrong, index),
            }
        }
        // Sums of invalid figures would only repeat the same problem.
        if !problems.is_empty() {
            return Err(problems);
        }
        self.check_together(&shapes, &mut problems);
        if !problems.is_empty() {
            return Err(problems);
        }
        let first: Vec<usize> = self.jobs.iter().map(|job| job.first_pod as usize).collect();
        let brought = brought(&shapes, &first, &mut problems);
        let budget = self.budget(&brought, &mut problems);
        problems.into_result(PodLayout { budget, shapes, first })
    }

    fn check_list(&self, problems: &mut Problems) {
        let count = self.jobs.len();
        if count < 2 {
            let has = counted(count as u64, "entry", "entries");
            problems.add("jobs", format!("has {has}"), "give at least two jobs, or one as `job`");
        }
        if count > MAX_JOBS {
            problems.add("jobs", format!("has {count} entries"), format!("give at most {MAX_JOBS} jobs"));
        }
        let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
        for (index, placed) in self.jobs.iter().enumerate() {
            let path = |key: &str| format!("jobs[{index}].{key}");
            if placed.name.trim().is_empty() {
                problems.add(path("name"), "is empty", "give the job a name");
            } else if let Some(other) = seen.insert(&placed.name, index) {
                let message = format!("is '{}', which is also the name of jobs[{other}]", placed.name);
                problems.add(path("name"), message, "give every job a name of its own");
            }
            if !(1..=MAX_WEIGHT).contains(&placed.weight) {
                let remedy = format!("give a whole number from 1 to {MAX_WEIGHT}");
                problems.add(path("weight"), format!("is '{}'", placed.weight), remedy);
            }
            if placed.first_pod >= MAX_PODS {
                let remedy = format!("give a whole number from 0 to {}", MAX_PODS - 1);
                problems.add(path("first_pod"), format!("is '{}'", placed.first_pod), remedy);
            }
        }
    }

    /// Checks that individually valid jobs fit together.
    fn check_together(&self, shapes: &[Shape], problems: &mut Problems) {
        let (Some(first), Some(shape)) = (self.jobs.first(), shapes.first()) else { return };
        let name = &first.name;
        for (index, (placed, other)) in self.jobs.iter().zip(shapes).enumerate() {
            let path = |key: &str| format!("jobs[{index}].{key}");
            if other.replicas != shape.replicas {
                let (has, wanted) = (other.replicas, shape.replicas);
                problems.add(
                    path("job.run.gpus"),
                    format!(
                        "gives {}, but '{name}' has {wanted}",
                        counted(has.into(), "replica", "replicas")
                    ),
                    format!("every pod hosts a replica of each job: give this job {wanted} replicas too"),
                );
            }
            let (rate, wanted) = (placed.job.run.bandwidth_gbps, first.job.run.bandwidth_gbps);
            if (rate - wanted).abs() > 1e-9 * wanted {
                problems.add(
                    path("job.run.bandwidth_gbps"),
                    format!("is '{rate}', but '{name}' has {wanted}"),
                    "give all jobs one bandwidth, because a port keeps its rate when another job takes it",
                );
            }
            if !placed.job.failed_ports.is_empty() {
                problems.add(
                    path("job.failed_ports"),
                    "names failed ports of a job on pods that several jobs share, which is not supported",
                    "lower `ports_per_pod` of the pods, or plan the job alone as `job`",
                );
            }
            if placed.job.pods.is_some() {
                problems.add(
                    path("job.pods"),
                    "lists pods of a job on pods that several jobs share, which is not supported",
                    "give `gpus_per_pod` or `gpus_per_pod_per_replica`, or plan the job alone as `job`",
                );
            }
            if placed.job.reconfiguration.is_some() {
                problems.add(
                    path("job.reconfiguration"),
                    "changes circuits within an iteration on pods that several jobs share, which is not supported",
                    "leave `reconfiguration` out, or plan the job alone as `job`",
                );
            }
            if other.pods_per_replica == 1 && !other.exchanging.contains(&true) {
                let ports = other.ports.first().copied().unwrap_or(0);
                problems.add(
                    path("job"),
                    "has nothing to send between pods",
                    format!("leave the job out and add its {ports} ports to `ports_per_pod`"),
                );
            }
            let end = placed.first_pod.saturating_add(other.pods_per_replica);
            if end > MAX_PODS {
                let message = format!("is '{}', so the job would end in shared pod {end}", placed.first_pod);
                problems.add(path("first_pod"), message, format!("keep the job within {MAX_PODS} pods"));
            }
        }
        let covers = |pod: u32| {
            let inside = |(placed, shape): (&PlacedJob, &Shape)| {
                pod >= placed.first_pod && pod - placed.first_pod < shape.pods_per_replica
            };
            self.jobs.iter().zip(shapes).any(inside)
        };
        let end = self
            .jobs
            .iter()
            .zip(shapes)
            .map(|(placed, shape)| placed.first_pod.saturating_add(shape.pods_per_replica).min(MAX_PODS));
        if let Some(pod) = (0..end.max().unwrap_or(0)).find(|pod| !covers(*pod)) {
            let message = format!("leave shared pod {pod} without a job");
            problems.add("jobs", message, "lower `first_pod` of the jobs after it");
        }
    }

    /// Ports of every shared pod: `ports_per_pod` if it is given, otherwise the ports that the jobs bring.
    fn budget(&self, brought: &[u32], problems: &mut Problems) -> Vec<u32> {
        let given = match &self.ports_per_pod {
            None => return brought.to_vec(),
            Some(PortsPerPod::Same(ports)) => vec![*ports; brought.len()],
            Some(PortsPerPod::ByPosition(ports)) => ports.clone(),
        };
        let pods = brought.len();
        if given.len() != pods {
            let message = format!("has {} entries, but the jobs cover {pods} pods", given.len());
            problems.add("ports_per_pod", message, format!("give one number or {pods} numbers"));
            return given;
        }
        for (pod, (ports, brought)) in given.iter().zip(brought).enumerate() {
            if ports < brought {
                problems.add(
                    format!("ports_per_pod[{pod}]"),
                    format!(
                        "is '{ports}', but the jobs on this pod define {}",
                        counted((*brought).into(), "port", "ports")
                    ),
                    format!("give at least {brought}, or lower `ports_per_pod` of a job on this pod"),
                );
            } else if *ports > MAX_PORTS {
                let remedy = format!("give at most {MAX_PORTS}");
                problems.add(format!("ports_per_pod[{pod}]"), format!("is '{ports}'"), remedy);
            }
        }
        given
    }
}

/// Ports that the jobs bring to every shared pod.
fn brought(shapes: &[Shape], first: &[usize], problems: &mut Problems) -> Vec<u32> {
    let pods = shapes.iter().zip(first).map(|(shape, first)| first + shape.ports.len()).max().unwrap_or(0);
    let mut brought = vec![0_u32; pods];
    for (shape, first) in shapes.iter().zip(first) {
        for (brought, own) in brought.iter_mut().skip(*first).zip(&shape.ports) {
            *brought = brought.saturating_add(*own);
        }
    }
    if let Some(pod) = brought.iter().position(|ports| *ports > MAX_PORTS) {
        problems.add(
            "jobs",
            format!("define {} ports for shared pod {pod}, but the maximum is {MAX_PORTS}", brought[pod]),
            "lower `ports_per_pod` of a job on this pod",
        );
    }
    brought
}

/// Problems of one job as problems of the scenario: `job.run.tp` becomes `jobs[1].job.run.tp`.
pub(crate) fn extend_under(problems: &mut Problems, of_job: Problems, index: usize) {
    let unseen = of_job.total() - of_job.list().len();
    for problem in of_job.list() {
        problems.push(problem.clone().under(&format!("jobs[{index}]")));
    }
    for _ in 0..unseen {
        problems.push(Problem::new(format!("jobs[{index}]"), "has more problems", ""));
    }
}

#[cfg(test)]
mod tests;
