//! The instance of a job whose pods are listed rank by rank and whose replicas are not alike: all pods, and one task for
//! every group of replicas with the same pods.

use super::{JobSummary, Laid, bare_task, edges, neighbour, provenance};
use crate::model::full_dag::{Node, NodeKind};
use crate::model::reduced_dag::Dominance;
use crate::scenario::instance::{GpuSet, Instance, Link, Pod, Task};
use crate::scenario::job::Job;
use crate::scenario::workload::{Shape, Workload};
use lightbay_core::units::{LinkId, PodId, TaskId};

pub(super) fn instance(job: &Job, laid: Laid, dominance: Dominance) -> (Instance, JobSummary) {
    let Laid { shape, workload, full, reduced } = laid;
    let pods = (0..shape.pods_per_replica).map(|pod| Pod {
        id: PodId(pod),
        name: shape.pod_name(pod),
        ports: shape.ports[pod as usize],
        mirror: false,
    });
    let links = shape.listed_links().into_iter().enumerate().map(|(id, (ends, kind))| Link {
        id: LinkId::from_index(id),
        pod_a: PodId(ends[0]),
        pod_b: PodId(ends[1]),
        kind,
        ports_a: 1,
        ports_b: 1,
    });
    let tasks = reduced.tasks.iter().enumerate().map(|(id, task)| {
        let node = &full.nodes()[task.node as usize];
        let mut made = task_of(id, node, &shape, &workload);
        made.release_s = task.release_s;
        made.tail_s = task.tail_s;
        made
    });
    let instance = Instance {
        nic_bandwidth_gbps: job.run.bandwidth_gbps,
        pods: pods.collect(),
        links: links.collect(),
        tasks: tasks.collect(),
        edges: edges(&reduced),
        provenance: Some(provenance(job, &full, &reduced, dominance, false, shape.replicas)),
        reconfiguration: job.reconfiguration,
    };
    let summary = JobSummary {
        full_dag_nodes: full.nodes().len() as u64,
        compute_s: reduced.compute_s,
        shape,
        workload,
    };
    (instance, summary)
}

fn task_of(id: usize, node: &Node, shape: &Shape, workload: &Workload) -> Task {
    let Some(places) = &shape.places else { return bare_task(id, node, shape, workload) };
    match node.kind {
        NodeKind::Clockwise | NodeKind::CounterClockwise => exchange(id, node, shape, workload),
        kind => {
            let mut made = bare_task(id, node, shape, workload);
            let group = &places.groups[node.replica as usize];
            let to = neighbour(kind, node.stage, shape);
            made.name = format!("{} {}", made.name, replicas(&group.replicas));
            made.replica = group.replicas[0];
            (made.src_pod, made.dst_pod) =
                (PodId(group.pods[node.stage as usize]), PodId(group.pods[to as usize]));
            let together = group.replicas.len() as u32;
            made.flows = together * shape.gpus_per_stage;
            made.volume_bytes = f64::from(together) * workload.pp_volume_bytes;
            made.src_gpus = set(gpus(shape, node.stage, &group.replicas));
            made.dst_gpus = set(gpus(shape, to, &group.replicas));
            made
        }
    }
}

/// The exchange of a pod with a neighbour on the ring of a stage. Clockwise flows use the first GPUs of the stage in
/// each pod, counter-clockwise flows use the last GPUs.
fn exchange(id: usize, node: &Node, shape: &Shape, workload: &Workload) -> Task {
    let (ring, from) = (shape.ring(node.stage), node.replica as usize);
    let forward = node.kind == NodeKind::Clockwise;
    let hop = ring.counter_clockwise(from).filter(|_| !forward).unwrap_or_else(|| ring.clockwise(from));
    let per_gpu = workload.stages[node.stage as usize].dp_bytes_per_gpu;
    let bucket = if shape.dp_buckets > 1 {
        workload.buckets(shape, node.stage).get(node.bucket as usize).map_or(1.0, |bucket| bucket.share)
    } else {
        1.0
    };
    let end = |at: usize| {
        let all = gpus(shape, node.stage, &ring.pods[at].replicas);
        let flows = hop.flows as usize;
        set(if forward { all[..flows].to_vec() } else { all[all.len() - flows..].to_vec() })
    };
    let (source, target) = (&ring.pods[from], &ring.pods[hop.to]);
    let made = bare_task(id, node, shape, workload);
    let name = |pod: u32| shape.pod_name(pod);
    Task {
        name: format!("{} {}>{}", made.name, name(source.pod), name(target.pod)),
        replica: source.replicas[0],
        src_pod: PodId(source.pod),
        dst_pod: PodId(target.pod),
        flows: hop.flows,
        volume_bytes: ring.bytes(per_gpu, shape.replicas) * hop.share * bucket,
        src_gpus: end(from),
        dst_gpus: end(hop.to),
        id: TaskId::from_index(id),
        ..made
    }
}

/// GPUs of a stage in several replicas, by rank.
fn gpus(shape: &Shape, stage: u32, replicas: &[u32]) -> Vec<u32> {
    let g = shape.gpus_per_stage;
    replicas
        .iter()
        .flat_map(|replica| {
            let first = (stage * shape.replicas + replica) * g;
            first..first + g
        })
        .collect()
}

/// A set of GPUs, as a range if the GPUs are consecutive.
fn set(gpus: Vec<u32>) -> GpuSet {
    match (gpus.first(), gpus.last()) {
        (Some(&first), Some(&last)) if (last - first) as usize + 1 == gpus.len() => {
            GpuSet::Range { first, count: gpus.len() as u32 }
        }
        _ => GpuSet::List(gpus),
    }
}

/// A short name of the replicas of a group.
fn replicas(numbers: &[u32]) -> String {
    match numbers {
        [one] => format!("r{one}"),
        [first, .., last] if (last - first) as usize + 1 == numbers.len() => format!("r{first}-{last}"),
        [first, others @ ..] => format!("r{first}+{}", others.len()),
        [] => String::new(),
    }
}
