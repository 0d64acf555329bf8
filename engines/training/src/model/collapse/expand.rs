//! Expansion of a job to all replicas.

use super::{Laid, bare_task, collapsed, edges, neighbour, provenance, push_link, real_pod};
use crate::model::full_dag::{FullDag, NodeKind};
use crate::model::reduced_dag::Dominance;
use crate::scenario::instance::{GpuSet, Instance, LinkKind, Task};
use crate::scenario::job::Job;
use crate::scenario::limits::MAX_TASKS;
use crate::scenario::workload::Shape;
use lightbay_core::problem::{Problem, Problems};
use lightbay_core::units::{LinkId, PodId, TaskId};

/// An expanded instance. For each of its links and tasks, it also has the link or task of the collapsed instance from
/// which it was copied.
pub(crate) struct Expansion {
    pub(crate) instance: Instance,
    pub(crate) link_of: Vec<LinkId>,
    pub(crate) task_of: Vec<TaskId>,
}

/// Builds the instance of a job with all its replicas and real ring neighbours.
///
/// # Errors
/// Every problem of the job, or more tasks than an instance may have.
pub fn expanded(job: &Job) -> Result<Instance, Problems> {
    Ok(expand(job)?.instance)
}

pub(crate) fn expand(job: &Job) -> Result<Expansion, Problems> {
    let shape = job.shape()?;
    if shape.places.is_some() {
        // All replicas are there already.
        let (instance, _) = collapsed(job, Dominance::AtBandwidth)?;
        let link_of = instance.links.iter().map(|link| link.id).collect();
        let task_of = instance.tasks.iter().map(|task| task.id).collect();
        return Ok(Expansion { instance, link_of, task_of });
    }
    // Check the size before the graphs are built, because replicas multiply the tasks.
    let per_replica = job.transfer_count(&shape);
    let tasks = per_replica.saturating_mul(u64::from(shape.replicas));
    if tasks > MAX_TASKS {
        return Err(Problem::new(
            "job",
            format!(
                "has {tasks} transfers over all {} replicas, but the maximum is {MAX_TASKS}",
                shape.replicas
            ),
            "lower `micro_batches` or `gpus`, or write one replica (replicas=one, or another format)",
        )
        .into());
    }
    let Laid { shape, workload, full, reduced } = Laid::of(job, shape.replicas, Dominance::AtBandwidth)?;
    let (positions, replicas) = (shape.pods_per_replica, shape.replicas);
    let pod = |replica: u32, position: u32| replica * positions + position;

    let pods = (0..replicas)
        .flat_map(|r| (0..positions).map(move |p| (r, p)))
        .map(|(r, p)| {
            let name = shape.names.as_ref().map(|names| names[r as usize][p as usize].clone());
            real_pod(pod(r, p), name.unwrap_or_else(|| format!("r{r}p{p}")), &shape, p)
        })
        .collect();

    // Pipeline links join pods of one replica and ring links join pods of different replicas, so no pair occurs twice.
    let mut links = Vec::new();
    let mut link_of = Vec::new();
    for r in 0..replicas {
        for ([a, b], link) in shape.pipeline_links().zip(0..) {
            push_link(&mut links, [pod(r, a), pod(r, b)], LinkKind::Pp, [1, 1]);
            link_of.push(LinkId(link));
        }
    }
    // Two replicas are neighbours of each other on both sides, so they need only one link.
    let ring_links = if replicas > 2 { replicas } else { replicas - 1 };
    for (p, link) in shape.rings().zip(shape.pipeline_links().count() as u32..) {
        for r in 0..ring_links {
            push_link(&mut links, [pod(r, p), pod((r + 1) % replicas, p)], LinkKind::Dp, [1, 1]);
            link_of.push(LinkId(link));
        }
    }

    let task_of = collapsed_tasks(&full, &reduced.tasks.iter().map(|task| task.node).collect::<Vec<_>>());
    let tasks = reduced.tasks.iter().enumerate().map(|(id, task)| {
        let node = &full.nodes()[task.node as usize];
        let mut made = bare_task(id, node, &shape, &workload);
        made.name = format!("{} r{}", made.name, node.replica);
        let position = shape.position(node.stage);
        made.src_pod = PodId(pod(node.replica, position));
        made.dst_pod = match node.kind {
            NodeKind::Clockwise => {
                PodId(pod(receive(&mut made, &shape, (node.replica + 1) % replicas), position))
            }
            NodeKind::CounterClockwise => {
                PodId(pod(receive(&mut made, &shape, (node.replica + replicas - 1) % replicas), position))
            }
            kind => PodId(pod(node.replica, shape.position(neighbour(kind, node.stage, &shape)))),
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
        provenance: Some(provenance(job, &full, &reduced, Dominance::AtBandwidth, false, replicas)),
        reconfiguration: job.reconfiguration,
    };
    Ok(Expansion { instance, link_of, task_of })
}

/// Sets the receivers of an exchange, which are the same GPUs of the stage in another replica; returns that replica.
fn receive(task: &mut Task, shape: &Shape, replica: u32) -> u32 {
    if let GpuSet::Range { first, count } = task.src_gpus {
        let offset = first - shape.first_gpu(task.replica, task.stage - 1);
        task.dst_gpus = GpuSet::Range { first: shape.first_gpu(replica, task.stage - 1) + offset, count };
    }
    replica
}

/// The collapsed task that each expanded task copies: pipeline transfers repeat for each replica, then exchanges follow
/// in the same order of stages.
fn collapsed_tasks(full: &FullDag, task_nodes: &[u32]) -> Vec<TaskId> {
    let mut next_of_replica = 0;
    let mut replica = 0;
    let mut exchanges = 0;
    let mut last_exchange = None;
    let mut source = Vec::with_capacity(task_nodes.len());
    for &node in task_nodes {
        let node = &full.nodes()[node as usize];
        match node.kind {
            NodeKind::Clockwise | NodeKind::CounterClockwise => {
                if last_exchange != Some((node.stage, node.bucket)) {
                    last_exchange = Some((node.stage, node.bucket));
                    exchanges += 1;
                }
                source.push(TaskId(next_of_replica + exchanges - 1));
            }
            _ => {
                if node.replica != replica {
                    replica = node.replica;
                    next_of_replica = 0;
                }
                source.push(TaskId(next_of_replica));
                next_of_replica += 1;
            }
        }
    }
    source
}
