//! Random scenarios in which more than last transfers compete, shared by tests and benchmarks.

use lightbay_core::random::Streams;
use lightbay_core::units::{LinkId, PodId, TaskId};
use lightbay_training::instance::{Edge, GpuSet, Instance, Link, LinkKind, Pod, Task, TaskKind};
use rand::RngExt;

/// Circuits of both links.
pub const CIRCUITS: [u32; 2] = [3, 3];

/// 8 to 16 tasks of 1 to 4 flows on two links between three pods in a row, all in one direction, every pair of
/// tasks joined with probability 0.2; milliseconds each.
pub fn contended(seed: u64) -> Instance {
    let tasks = Streams::new(seed).stream(1).random_range(8..=16);
    contended_of(seed, tasks)
}

/// The same with a given number of tasks.
pub fn contended_of(seed: u64, tasks: u32) -> Instance {
    let mut random = Streams::new(seed).stream(0);
    let mut span = |low: f64, high: f64| low + (high - low) * random.random::<f64>();
    let mut list = Vec::new();
    let mut edges = Vec::new();
    for id in 0..tasks {
        let src = u32::from(span(0.0, 1.0) < 0.5);
        let flows = span(1.0, 5.0) as u32;
        let gpus = |first| GpuSet::Range { first, count: flows };
        list.push(Task {
            id: TaskId(id),
            name: format!("t{id}"),
            kind: TaskKind::Other,
            micro_batch: 0,
            stage: 1,
            replica: 0,
            src_pod: PodId(src),
            dst_pod: PodId(src + 1),
            flows,
            volume_bytes: span(5e7, 5e8),
            src_gpus: gpus(id * 10),
            dst_gpus: gpus(id * 10 + 5),
            release_s: span(0.0, 1e-3),
            tail_s: 0.0,
        });
        for pred in 0..id {
            if span(0.0, 1.0) < 0.2 {
                edges.push(Edge { pred: TaskId(pred), succ: TaskId(id), delay_s: span(0.0, 1e-3) });
            }
        }
    }
    let link = |id: u32| Link {
        id: LinkId(id),
        pod_a: PodId(id),
        pod_b: PodId(id + 1),
        kind: LinkKind::Mixed,
        ports_a: 1,
        ports_b: 1,
    };
    Instance {
        nic_bandwidth_gbps: 400.0,
        pods: (0..3)
            .map(|id| Pod { id: PodId(id), name: format!("p{id}"), ports: 6, mirror: false })
            .collect(),
        links: vec![link(0), link(1)],
        tasks: list,
        edges,
        provenance: None,
    }
}
