//! Conversion of the reduced graph to an instance: one replica with mirror pods for its ring neighbours, or all
//! replicas.
//!
//! If all replicas have the same placement and ports they behave alike, so one replica is enough. The instance has the
//! pods of this replica and one mirror pod for each of these pods; the mirror represents the same pod of the
//! neighbouring replicas on the data-parallel ring. Mirrors have no port limit. A circuit on the link between a pod and
//! its mirror represents one circuit towards each neighbouring replica.

mod expand;
mod listed;

pub use expand::expanded;
pub(crate) use expand::{Expansion, expand};

use crate::model::full_dag::{FullDag, Node, NodeKind};
use crate::model::reduced_dag::{Dominance, ReducedDag, reduce};
use crate::scenario::instance::{
    Edge, GpuSet, Instance, InstanceProvenance, Link, LinkKind, Pod, Task, TaskKind,
};
use crate::scenario::job::{Job, Order};
use crate::scenario::workload::{Shape, Workload};
use lightbay_core::problem::{Problem, Problems};
use lightbay_core::units::{LinkId, PodId, TaskId};

/// Sizes and loads of a job, which do not depend on circuits.
#[derive(Clone, Debug, PartialEq)]
pub struct JobSummary {
    /// GPUs per stage, replicas, pods and ports.
    pub shape: Shape,
    /// Compute and volumes per stage.
    pub workload: Workload,
    /// Number of nodes of the full graph of one replica.
    pub full_dag_nodes: u64,
    /// Duration of an iteration if no task crosses pods, so that circuits do not matter.
    pub compute_s: Option<f64>,
}

/// Builds the collapsed instance of a job.
///
/// # Errors
/// Every problem of the job, including pods with fewer ports than links.
pub fn collapsed(job: &Job, dominance: Dominance) -> Result<(Instance, JobSummary), Problems> {
    let laid = Laid::of(job, 1, dominance)?;
    if laid.shape.places.is_some() {
        return Ok(listed::instance(job, laid, dominance));
    }
    let Laid { shape, workload, full, reduced } = laid;
    let positions = shape.pods_per_replica;

    let mut pods: Vec<Pod> = (0..positions).map(|p| real_pod(p, shape.pod_name(p), &shape, p)).collect();
    if shape.rings().next().is_some() {
        pods.extend((0..positions).map(|p| Pod {
            id: PodId(positions + p),
            name: format!("ring-{}", shape.pod_name(p)),
            ports: 0,
            mirror: true,
        }));
    }
    let mut links = Vec::with_capacity(2 * positions as usize);
    for ends in shape.pipeline_links() {
        push_link(&mut links, ends, LinkKind::Pp, [1, 1]);
    }
    for p in shape.rings() {
        push_link(&mut links, [p, positions + p], LinkKind::Dp, [shape.ring_ports(), 0]);
    }
    let tasks = reduced.tasks.iter().enumerate().map(|(id, task)| {
        let node = &full.nodes()[task.node as usize];
        let mut made = bare_task(id, node, &shape, &workload);
        (made.src_pod, made.dst_pod) = match node.kind {
            NodeKind::Clockwise | NodeKind::CounterClockwise => {
                made.dst_gpus = mirrored(&shape, &made, node.stage);
                let position = shape.position(node.stage);
                (PodId(position), PodId(positions + position))
            }
            kind => {
                let to = neighbour(kind, node.stage, &shape);
                (PodId(shape.position(node.stage)), PodId(shape.position(to)))
            }
        };
        made.release_s = task.release_s;
        made.tail_s = task.tail_s;
        made
    });
    let instance = Instance {
        nic_bandwidth_gbps: job.run.bandwidth_gbps,
        pods,
        links,
        tasks: tasks.collect(),
        edges: edges(&reduced),
        provenance: Some(provenance(job, &full, &reduced, dominance, true, shape.replicas)),
        reconfiguration: job.reconfiguration,
    };
    let summary = JobSummary {
        full_dag_nodes: full.nodes().len() as u64,
        compute_s: reduced.compute_s,
        shape,
        workload,
    };
    Ok((instance, summary))
}

/// A job with its sizes and its graphs.
pub(crate) struct Laid {
    pub(crate) shape: Shape,
    pub(crate) workload: Workload,
    pub(crate) full: FullDag,
    pub(crate) reduced: ReducedDag,
}

impl Laid {
    pub(crate) fn of(job: &Job, replicas: u32, dominance: Dominance) -> Result<Self, Problems> {
        let shape = job.shape()?;
        let Some(workload) = Workload::of(job, &shape) else {
            // `shape` refuses jobs with neither a model nor measured figures.
            return Err(Problem::new("job.model", "is missing", "name a model or give `measured`").into());
        };
        let full = full_dag(job, &shape, &workload, replicas)?;
        let reduced = reduce(&full, dominance)?;
        if let (Some(floor_s), false) = (reduced.compute_s, reduced.tasks.is_empty()) {
            return Err(Problem::new(
                "job",
                format!("has a stage that computes for {floor_s:.3} s without ever waiting for a transfer, which is longer than any path through a transfer"),
                "balance the stages, or give the job more than one replica: circuits cannot shorten this iteration",
            )
            .into());
        }
        Ok(Self { shape, workload, full, reduced })
    }
}

/// Builds the full graph of a valid job.
///
/// # Errors
/// A literal order that cannot be executed.
pub fn full_dag(job: &Job, shape: &Shape, workload: &Workload, replicas: u32) -> Result<FullDag, Problems> {
    let standard = Order::OneForwardOneBackward;
    let order = job.measured.as_ref().map_or(&standard, |measured| &measured.order);
    FullDag::build(shape, workload, &job.run, order, replicas)
}

fn real_pod(id: u32, name: String, shape: &Shape, position: u32) -> Pod {
    Pod { id: PodId(id), name, ports: shape.ports[position as usize], mirror: false }
}

fn push_link(links: &mut Vec<Link>, pods: [u32; 2], kind: LinkKind, ports: [u32; 2]) -> LinkId {
    let id = LinkId::from_index(links.len());
    links.push(Link {
        id,
        pod_a: PodId(pods[0]),
        pod_b: PodId(pods[1]),
        kind,
        ports_a: ports[0],
        ports_b: ports[1],
    });
    id
}

/// Returns the GPUs that receive an exchange in the mirror pod. Buckets arrive while the pipeline still runs. A stage
/// receives from one neighbour while it sends to the other neighbour, so its own NICs represent the NICs of the
/// neighbour.
fn mirrored(shape: &Shape, task: &Task, stage: u32) -> GpuSet {
    if shape.dp_buckets > 1 {
        return task.src_gpus.clone();
    }
    GpuSet::Range { first: shape.first_mirror_gpu(stage), count: task.flows }
}

/// The destination stage of a pipeline transfer; between two chunks, the first and the last stage send to each other.
fn neighbour(kind: NodeKind, stage: u32, shape: &Shape) -> u32 {
    let ahead = if kind == NodeKind::SendBackward { shape.stages - 1 } else { 1 };
    (stage + ahead) % shape.stages
}

/// The task of a node of replica `node.replica`, without pods; receivers of an exchange are left empty.
fn bare_task(id: usize, node: &Node, shape: &Shape, workload: &Workload) -> Task {
    let stage = node.stage;
    let g = shape.gpus_per_stage;
    let first = shape.first_gpu(node.replica, stage);
    let pipeline = |kind: TaskKind, letter: char| {
        let next = neighbour(node.kind, stage, shape);
        let receivers = GpuSet::Range { first: shape.first_gpu(node.replica, next), count: g };
        let chunk = if shape.virtual_stages > 1 { format!(".{}", node.chunk + 1) } else { String::new() };
        let name = format!("{letter}{}{chunk} s{}>s{}", node.micro_batch + 1, stage + 1, next + 1);
        (kind, name, node.micro_batch + 1, g, workload.pp_volume_bytes, first, receivers)
    };
    let exchange = |flows: u32, first: u32| {
        let whole = f64::from(flows) * workload.stages[stage as usize].dp_bytes_per_gpu;
        let (volume, name) = if shape.dp_buckets > 1 {
            let share = workload.buckets(shape, stage).get(node.bucket as usize).map_or(1.0, |b| b.share);
            (whole * share, format!("DP.{} s{}", node.bucket + 1, stage + 1))
        } else {
            (whole, format!("DP s{}", stage + 1))
        };
        let receivers = GpuSet::Range { first: 0, count: 0 };
        (TaskKind::Dp, name, 0, flows, volume, first, receivers)
    };
    let clockwise = shape.clockwise_flows();
    let (kind, name, micro_batch, flows, volume_bytes, first, dst_gpus) = match node.kind {
        NodeKind::SendBackward => pipeline(TaskKind::PpBwd, 'B'),
        NodeKind::Clockwise => exchange(clockwise, first),
        NodeKind::CounterClockwise => exchange(shape.counter_clockwise_flows(), first + clockwise),
        // Compute phases are never inter-pod tasks.
        NodeKind::Forward | NodeKind::Backward | NodeKind::SendForward => pipeline(TaskKind::PpFwd, 'F'),
    };
    Task {
        id: TaskId::from_index(id),
        name,
        kind,
        micro_batch,
        stage: stage + 1,
        replica: node.replica,
        src_pod: PodId(0),
        dst_pod: PodId(0),
        flows,
        volume_bytes,
        src_gpus: GpuSet::Range { first, count: flows },
        dst_gpus,
        release_s: 0.0,
        tail_s: 0.0,
    }
}

fn edges(reduced: &ReducedDag) -> Vec<Edge> {
    reduced
        .edges
        .iter()
        .map(|edge| Edge { pred: edge.pred, succ: edge.succ, delay_s: edge.delay_s })
        .collect()
}

fn provenance(
    job: &Job,
    full: &FullDag,
    reduced: &ReducedDag,
    dominance: Dominance,
    collapsed: bool,
    replicas: u32,
) -> InstanceProvenance {
    InstanceProvenance {
        job: serde_json::to_value(job).ok(),
        full_dag_nodes: full.nodes().len() as u64,
        collapsed,
        replicas,
        edges_valid_up_to_gbps: match dominance {
            Dominance::AtBandwidth => Some(job.run.bandwidth_gbps),
            Dominance::KeepAll => None,
        },
        compute_s: reduced.compute_s,
    }
}

#[cfg(test)]
mod tests;
