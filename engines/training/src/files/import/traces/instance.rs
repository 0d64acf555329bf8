//! The graph as an instance: pods, links, transfers, and the fixed work between them.

use super::knobs::TraceOptions;
use super::order::OrderedGraph;
use super::placement::TracePods;
use super::summary::TraceSummary;
use crate::model::reduced_dag::{Dominance, TimedGraph as _, reduce};
use crate::scenario::instance::{
    Edge, GpuSet, Instance, InstanceProvenance, Link, LinkKind, Pod, Task, TaskKind,
};
use lightbay_core::problem::{Problem, Problems};
use lightbay_core::units::{LinkId, PodId, TaskId};
use std::collections::BTreeMap;

/// Builds the instance.
///
/// # Errors
/// More edges or concurrent transfers than an instance can have, and an iteration that no circuit can shorten.
pub(super) fn instance(
    graph: &OrderedGraph,
    pods: &TracePods,
    options: &TraceOptions,
    summary: &mut TraceSummary,
) -> Result<Instance, Problems> {
    let reduced = reduce(graph, Dominance::AtBandwidth).map_err(|wrong| {
        let message = wrong.list().first().map_or_else(String::new, |problem| problem.message.clone());
        Problem::new("traces", message, "use larger pods (gpus_per_pod=), or traces of fewer micro-batches")
    })?;
    if let Some(floor_s) = reduced.compute_s {
        let message = format!(
            "have a rank that works for {:.3} ms without ever waiting for a transfer between pods, which is longer than any path through a transfer",
            floor_s * 1e3
        );
        let remedy = "circuits cannot shorten this iteration; lower bandwidth_gbps=, or raise tflops=";
        return Err(Problem::new("traces", message, remedy).into());
    }
    let mut links: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    for transfer in &graph.transfers {
        let next = links.len() as u32;
        links.entry((transfer.from.min(transfer.to), transfer.from.max(transfer.to))).or_insert(next);
    }
    let mut tasks = Vec::with_capacity(reduced.tasks.len());
    let mut bytes = 0.0;
    for (at, task) in reduced.tasks.iter().enumerate() {
        let number = graph.transfer(task.node);
        let transfer = &graph.transfers[number];
        let volume_bytes = transfer.bytes_per_flow * transfer.flows.len() as f64;
        bytes += volume_bytes;
        tasks.push(Task {
            id: TaskId::from_index(at),
            name: format!(
                "{} {}>{}",
                graph.names[number], pods.names[transfer.from as usize], pods.names[transfer.to as usize]
            ),
            kind: TaskKind::Other,
            micro_batch: 0,
            stage: 0,
            replica: 0,
            src_pod: PodId(transfer.from),
            dst_pod: PodId(transfer.to),
            flows: transfer.flows.len() as u32,
            volume_bytes,
            src_gpus: gpus(transfer.flows.iter().map(|(from, _)| *from)),
            dst_gpus: gpus(transfer.flows.iter().map(|(_, to)| *to)),
            release_s: task.release_s,
            tail_s: task.tail_s,
        });
    }
    summary.transfers = tasks.len() as u64;
    summary.bytes_between = bytes;
    summary.steps = graph.node_count() as u64;
    let mut ordered: Vec<((u32, u32), u32)> = links.into_iter().collect();
    ordered.sort_unstable();
    let link = |(at, ((a, b), _)): (usize, &((u32, u32), u32))| Link {
        id: LinkId::from_index(at),
        pod_a: PodId(*a),
        pod_b: PodId(*b),
        kind: LinkKind::Mixed,
        ports_a: 1,
        ports_b: 1,
    };
    Ok(Instance {
        nic_bandwidth_gbps: options.bandwidth(),
        pods: pods
            .names
            .iter()
            .zip(&pods.ranks)
            .enumerate()
            .map(|(at, (name, ranks))| Pod {
                id: PodId::from_index(at),
                name: name.clone(),
                ports: options.ports_per_pod.unwrap_or(*ranks),
                mirror: false,
            })
            .collect(),
        links: ordered.iter().enumerate().map(link).collect(),
        tasks,
        edges: reduced
            .edges
            .iter()
            .map(|edge| Edge { pred: edge.pred, succ: edge.succ, delay_s: edge.delay_s })
            .collect(),
        provenance: Some(InstanceProvenance {
            job: None,
            full_dag_nodes: graph.node_count() as u64,
            collapsed: false,
            replicas: 1,
            edges_valid_up_to_gbps: Some(options.bandwidth()),
            compute_s: None,
        }),
        reconfiguration: None,
    })
}

/// Returns the ranks as a range if they are consecutive.
fn gpus(ranks: impl Iterator<Item = u32>) -> GpuSet {
    let ranks: Vec<u32> = ranks.collect();
    match ranks.first() {
        Some(&first) if ranks.iter().zip(first..).all(|(rank, expected)| *rank == expected) => {
            GpuSet::Range { first, count: ranks.len() as u32 }
        }
        _ => GpuSet::List(ranks),
    }
}
