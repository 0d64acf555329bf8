//! Training plans in the neutral records that other kinds understand: all replicas, no mirrors.

use crate::collapse::{expand_plan, expanded};
use crate::instance::Instance;
use crate::plan::TrainingResult;
use crate::scenario::TrainingScenario;
use lightbay_core::exchange::{CircuitMatrix, TrafficMatrix};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Circuits between the real pods of all replicas. `None` for an instance with mirrors (its replicas are not in the
/// file) and for a job that cannot be expanded.
pub fn circuits(scenario: &TrainingScenario, result: &TrainingResult) -> Option<CircuitMatrix> {
    let (instance, result) = match scenario {
        TrainingScenario::Job(job) => {
            let (instance, result) = expand_plan(job, result).ok()?;
            (Cow::Owned(instance), Cow::Owned(result))
        }
        TrainingScenario::Instance(instance) => (Cow::Borrowed(instance), Cow::Borrowed(result)),
    };
    if instance.pods.iter().any(|pod| pod.mirror) {
        return None;
    }
    let mut pairs: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    for entry in &result.topology {
        let link = instance.links.get(entry.link.index())?;
        let (a, b) = (link.pod_a.0.min(link.pod_b.0), link.pod_a.0.max(link.pod_b.0));
        *pairs.entry((a, b)).or_default() += entry.circuits;
    }
    Some(CircuitMatrix {
        pods: instance.pods.iter().map(|pod| pod.name.clone()).collect(),
        ports_per_pod: instance.pods.iter().map(|pod| pod.ports).collect(),
        circuits: pairs.into_iter().map(|((a, b), count)| (a, b, count)).collect(),
    })
}

/// Bytes between pods over one iteration, all replicas.
pub fn traffic(scenario: &TrainingScenario) -> Option<TrafficMatrix> {
    match scenario {
        TrainingScenario::Job(job) => Some(sum(&expanded(job).ok()?)),
        TrainingScenario::Instance(instance) => Some(sum(instance)),
    }
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
