//! Training plans as records that the other kinds of planning problem can read; the records contain all replicas, and
//! no mirror pods.

use crate::model::collapse::expanded;
use crate::plan::{LinkCircuits, TrainingResult};
use crate::scenario::TrainingScenario;
use crate::scenario::instance::Instance;
use crate::scenario::shared::SharedPods;
use crate::simulate::replicas::expand_plan;
use lightbay_core::exchange::{CircuitMatrix, TRAFFIC_BETWEEN_PODS, TrafficMatrix};
use lightbay_core::units::LinkId;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Circuits between the real pods of all replicas. `None` for an instance with mirrors (its replicas are not in the
/// file), for a job that cannot be expanded, and for circuits that change within an iteration.
pub fn circuits(scenario: &TrainingScenario, result: &TrainingResult) -> Option<CircuitMatrix> {
    if result.phases.is_some() {
        return None;
    }
    let (instance, result, failed) = match scenario {
        TrainingScenario::Job(job) => {
            let (instance, result) = expand_plan(job, result).ok()?;
            (Cow::Owned(instance), Cow::Owned(result), job.failed_ports.as_slice())
        }
        TrainingScenario::Instance(instance) => (Cow::Borrowed(instance), Cow::Borrowed(result), &[][..]),
        TrainingScenario::Shared(shared) => return shared_circuits(shared, result),
    };
    if instance.pods.iter().any(|pod| pod.mirror) {
        return None;
    }
    let mut pairs = BTreeMap::new();
    add_circuits(&instance, &result, |pod| pod, &mut pairs)?;
    // The pods of the instance have only their working ports.
    let mut ports_per_pod: Vec<u32> = instance.pods.iter().map(|pod| pod.ports).collect();
    let mut failed_ports = Vec::with_capacity(failed.len());
    for port in failed {
        let pod = instance.pods.iter().position(|pod| pod.name == port.pod)?;
        ports_per_pod[pod] += 1;
        failed_ports.push((u32::try_from(pod).ok()?, port.port.checked_sub(1)?));
    }
    failed_ports.sort_unstable();
    Some(CircuitMatrix {
        pods: instance.pods.iter().map(|pod| pod.name.clone()).collect(),
        ports_per_pod,
        failed_ports,
        circuits: pairs.into_iter().map(|((a, b), count)| (a, b, count)).collect(),
        circuit_gbps: Some(instance.nic_bandwidth_gbps),
        places: None,
        left_out: left_out(),
    })
}

/// Circuits between the real pods of all replicas after change number `phase` within the iteration, counted from 1.
/// `None` in the cases of [`circuits`], for static circuits, and for a change that does not exist.
pub fn circuits_of_phase(
    scenario: &TrainingScenario,
    result: &TrainingResult,
    phase: u32,
) -> Option<CircuitMatrix> {
    let event = result.phases.as_ref()?.events.get((phase as usize).checked_sub(1)?)?;
    let set = |(link, circuits): (usize, &u32)| LinkCircuits {
        link: LinkId::from_index(link),
        circuits: *circuits,
    };
    let topology = event.circuits.iter().enumerate().map(set).collect();
    let mut matrix = circuits(scenario, &TrainingResult { topology, phases: None, ..result.clone() })?;
    // Links without circuits in this phase are not target pairs.
    matrix.circuits.retain(|(_, _, count)| *count > 0);
    Some(matrix)
}

/// Returns names of the parts of a plan that a record of its circuits omits.
fn left_out() -> Vec<String> {
    ["the times and rates of the flows", "the order of the tasks", TRAFFIC_BETWEEN_PODS]
        .map(str::to_owned)
        .to_vec()
}

/// Bytes between pods over one iteration, all replicas; `None` if a job cannot be expanded to all replicas, or if
/// several jobs do not fit together.
pub fn traffic(scenario: &TrainingScenario) -> Option<TrafficMatrix> {
    match scenario {
        TrainingScenario::Job(job) => Some(sum(&expanded(job).ok()?)),
        TrainingScenario::Instance(instance) => Some(sum(instance)),
        TrainingScenario::Shared(shared) => shared_traffic(shared),
    }
}

/// Adds the circuits of a result; `at` maps the pods of its instance to pods of the matrix.
fn add_circuits(
    instance: &Instance,
    result: &TrainingResult,
    at: impl Fn(u32) -> u32,
    pairs: &mut BTreeMap<(u32, u32), u32>,
) -> Option<()> {
    for entry in &result.topology {
        let link = instance.links.get(entry.link.index())?;
        let (a, b) = (at(link.pod_a.0), at(link.pod_b.0));
        *pairs.entry((a.min(b), a.max(b))).or_default() += entry.circuits;
    }
    Some(())
}

/// The pods of several jobs in all replicas.
struct SharedPlaces {
    /// Number of shared pods of one replica.
    pods: u32,
    replicas: u32,
}

impl SharedPlaces {
    fn names(&self) -> Vec<String> {
        let of_replica = |replica| (0..self.pods).map(move |pod| format!("r{replica}p{pod}"));
        (0..self.replicas).flat_map(of_replica).collect()
    }

    /// The shared pod in which pod `pod` of an expanded job lies. In each replica, the job covers `own` shared pods,
    /// beginning with pod `first`.
    fn place(&self, pod: u32, own: u32, first: u32) -> u32 {
        pod / own * self.pods + first + pod % own
    }
}

fn shared_circuits(shared: &SharedPods, result: &TrainingResult) -> Option<CircuitMatrix> {
    let layout = shared.layout().ok()?;
    let replicas = layout.shapes.first()?.replicas;
    let places = SharedPlaces { pods: u32::try_from(layout.budget.len()).ok()?, replicas };
    let mut pairs = BTreeMap::new();
    for ((placed, shape), job) in shared.jobs.iter().zip(&layout.shapes).zip(&result.jobs) {
        let (instance, result) = expand_plan(&placed.job, &job.shared.result).ok()?;
        let at = |pod| places.place(pod, shape.pods_per_replica, placed.first_pod);
        add_circuits(&instance, &result, at, &mut pairs)?;
    }
    let of_all = |_| layout.budget.iter().copied();
    Some(CircuitMatrix {
        pods: places.names(),
        ports_per_pod: (0..replicas).flat_map(of_all).collect(),
        failed_ports: Vec::new(),
        circuits: pairs.into_iter().map(|((a, b), count)| (a, b, count)).collect(),
        circuit_gbps: shared.jobs.first().map(|placed| placed.job.run.bandwidth_gbps),
        places: None,
        left_out: left_out(),
    })
}

fn shared_traffic(shared: &SharedPods) -> Option<TrafficMatrix> {
    let layout = shared.layout().ok()?;
    let replicas = layout.shapes.first()?.replicas;
    let places = SharedPlaces { pods: u32::try_from(layout.budget.len()).ok()?, replicas };
    let mut pairs: BTreeMap<(u32, u32), f64> = BTreeMap::new();
    for (placed, shape) in shared.jobs.iter().zip(&layout.shapes) {
        let at = |pod| places.place(pod, shape.pods_per_replica, placed.first_pod);
        for task in &expanded(&placed.job).ok()?.tasks {
            *pairs.entry((at(task.src_pod.0), at(task.dst_pod.0))).or_default() += task.volume_bytes;
        }
    }
    Some(TrafficMatrix {
        places: places.names(),
        entries: pairs.into_iter().map(|((from, to), bytes)| (from, to, bytes)).collect(),
    })
}

fn sum(instance: &Instance) -> TrafficMatrix {
    let mut pairs: BTreeMap<(u32, u32), f64> = BTreeMap::new();
    for task in &instance.tasks {
        *pairs.entry((task.src_pod.0, task.dst_pod.0)).or_default() += task.volume_bytes;
    }
    TrafficMatrix {
        places: instance.pods.iter().map(|pod| pod.name.clone()).collect(),
        entries: pairs.into_iter().map(|((from, to), bytes)| (from, to, bytes)).collect(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

    use super::*;
    use crate::model::collapse::collapsed;
    use crate::model::reduced_dag::Dominance;
    use crate::plan::{RateControl, TaskSchedule};
    use crate::scenario::job::{FailedPort, PortsPerPod};
    use crate::scenario::presets;

    #[test]
    fn failed_ports_keep_their_numbers() {
        let mut job = presets::job("tiny4").unwrap().job();
        job.ports_per_pod = Some(PortsPerPod::ByPosition(vec![8, 8]));
        job.failed_ports = FailedPort::list("r0p1:1, r1p1:1, r0p1:3").unwrap();
        let (instance, _) = collapsed(&job, Dominance::AtBandwidth).unwrap();
        let links = instance.links.iter();
        let schedules = instance.tasks.iter().map(|task| TaskSchedule {
            task: task.id,
            start_s: 0.0,
            finish_s: 1.0,
            segments: Vec::new(),
        });
        let result = TrainingResult {
            rate_control: RateControl::Joint,
            topology: links.map(|link| LinkCircuits { link: link.id, circuits: 1 }).collect(),
            ports_used: 0,
            ideal_makespan_s: 1.0,
            nct: None,
            tasks: schedules.collect(),
            jobs: Vec::new(),
            phases: None,
        };
        let matrix = circuits(&TrainingScenario::Job(job), &result).unwrap();
        assert_eq!(matrix.pods, ["r0p0", "r0p1", "r1p0", "r1p1"]);
        assert_eq!(matrix.ports_per_pod, [8; 4]);
        assert_eq!(matrix.failed_ports, [(1, 0), (1, 2), (3, 0)]);
    }
}
