//! Parts that scenarios of tests are made of.
#![allow(dead_code, reason = "tests and benchmarks use different parts")]

use lightbay_core::units::{LinkId, PodId, TaskId};
use lightbay_training::scenario::instance::{Edge, GpuSet, Instance, Link, LinkKind, Pod, Task, TaskKind};

/// A real pod.
pub fn pod(id: u32, ports: u32) -> Pod {
    Pod { id: PodId(id), name: format!("p{id}"), ports, mirror: false }
}

/// A link between pod `id` and the next, with a port at either end.
pub fn link(id: u32, kind: LinkKind) -> Link {
    Link { id: LinkId(id), pod_a: PodId(id), pod_b: PodId(id + 1), kind, ports_a: 1, ports_b: 1 }
}

/// A transfer between two pods whose GPUs are its own, so that network cards play no part.
pub fn transfer(id: u32, (src, dst): (u32, u32), flows: u32, volume_bytes: f64, release_s: f64) -> Task {
    Task {
        id: TaskId(id),
        name: format!("t{id}"),
        kind: TaskKind::Other,
        micro_batch: 0,
        stage: 1,
        replica: 0,
        src_pod: PodId(src),
        dst_pod: PodId(dst),
        flows,
        volume_bytes,
        src_gpus: GpuSet::Range { first: 1000 * id, count: flows },
        dst_gpus: GpuSet::Range { first: 1000 * id + 500, count: flows },
        release_s,
        tail_s: 0.0,
    }
}

/// A transfer that waits for another.
pub fn edge(pred: u32, succ: u32, delay_s: f64) -> Edge {
    Edge { pred: TaskId(pred), succ: TaskId(succ), delay_s }
}

/// A scenario of NICs of 400 Gbit/s.
pub fn instance(pods: Vec<Pod>, links: Vec<Link>, tasks: Vec<Task>, edges: Vec<Edge>) -> Instance {
    Instance { nic_bandwidth_gbps: 400.0, pods, links, tasks, edges, provenance: None, reconfiguration: None }
}
