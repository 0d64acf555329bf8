//! Instances for unit tests: the worked examples and seeded random families.

use crate::scenario::instance::{Edge, GpuSet, Instance, Link, LinkKind, Pod, Task, TaskKind};
use lightbay_core::random::{Stream, Streams};
use lightbay_core::units::{LinkId, PodId, TaskId};
use rand::RngExt;

pub fn pod(id: u32, ports: u32, mirror: bool) -> Pod {
    Pod { id: PodId(id), name: format!("p{id}"), ports, mirror }
}

pub fn link(id: u32, a: u32, b: u32, kind: LinkKind, ports_a: u32, ports_b: u32) -> Link {
    Link { id: LinkId(id), pod_a: PodId(a), pod_b: PodId(b), kind, ports_a, ports_b }
}

/// A task with separate GPUs, so that NICs do not limit it.
pub fn task(id: u32, src: u32, dst: u32, flows: u32, volume_bytes: f64, release_s: f64) -> Task {
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
        src_gpus: GpuSet::Range { first: id * 1000, count: flows },
        dst_gpus: GpuSet::Range { first: id * 1000 + 500, count: flows },
        release_s,
        tail_s: 0.0,
    }
}

pub fn edge(pred: u32, succ: u32, delay_s: f64) -> Edge {
    Edge { pred: TaskId(pred), succ: TaskId(succ), delay_s }
}

pub fn toy_a() -> Instance {
    Instance {
        nic_bandwidth_gbps: 400.0,
        pods: vec![pod(0, 3, false), pod(1, 3, false)],
        links: vec![link(0, 0, 1, LinkKind::Mixed, 1, 1)],
        tasks: vec![task(0, 0, 1, 2, 2e9, 0.0), task(1, 0, 1, 2, 2e9, 0.01)],
        edges: vec![],
        provenance: None,
        reconfiguration: None,
    }
}

pub fn toy_b() -> Instance {
    Instance {
        nic_bandwidth_gbps: 400.0,
        pods: vec![pod(0, 3, false), pod(1, 3, false), pod(2, 0, true)],
        links: vec![link(0, 0, 1, LinkKind::Pp, 1, 1), link(1, 1, 2, LinkKind::Dp, 1, 0)],
        tasks: vec![task(0, 0, 1, 2, 1e9, 0.0), task(1, 1, 0, 2, 1e9, 0.0), task(2, 1, 2, 2, 1.5e9, 0.0)],
        edges: vec![edge(0, 1, 0.01), edge(0, 2, 0.0)],
        provenance: None,
        reconfiguration: None,
    }
}

/// GPT-7B, TP2 PP4, 2 replicas, 4 micro-batches, replica 0 with mirrors; times rounded to a nanosecond.
pub fn tiny4() -> Instance {
    let pp = |id, src, dst| task(id, src, dst, 2, 33_554_432.0, 0.0);
    let dp = |id, src, dst, volume| task(id, src, dst, 2, volume, 0.0);
    let (first, middle) = (5_460_983_808.0, 4_831_838_208.0);
    let mut tasks = vec![
        pp(0, 0, 1),
        pp(1, 0, 1),
        pp(2, 0, 1),
        pp(3, 1, 0),
        pp(4, 1, 0),
        pp(5, 0, 1),
        pp(6, 1, 0),
        pp(7, 1, 0),
        dp(8, 1, 3, first),
        dp(9, 1, 3, middle),
        dp(10, 0, 2, middle),
        dp(11, 0, 2, first),
    ];
    tasks[0].release_s = 0.037_552_804;
    let ms = [
        (0, 1, 18.608630),
        (1, 2, 18.608630),
        (0, 3, 112.322867),
        (1, 3, 56.161434),
        (2, 4, 56.161434),
        (3, 4, 56.161434),
        (2, 5, 56.161434),
        (3, 5, 56.161434),
        (4, 6, 56.161434),
        (5, 6, 56.161434),
        (4, 7, 112.322867),
        (5, 7, 112.322867),
        (6, 7, 37.217260),
        (4, 8, 75.105608),
        (5, 8, 75.105608),
        (7, 9, 0.0),
        (7, 10, 37.552804),
        (7, 11, 74.770063),
    ];
    Instance {
        nic_bandwidth_gbps: 400.0,
        pods: vec![pod(0, 4, false), pod(1, 4, false), pod(2, 0, true), pod(3, 0, true)],
        links: vec![
            link(0, 0, 1, LinkKind::Pp, 1, 1),
            link(1, 0, 2, LinkKind::Dp, 1, 0),
            link(2, 1, 3, LinkKind::Dp, 1, 0),
        ],
        tasks,
        edges: ms.iter().map(|&(u, v, d)| edge(u, v, d / 1000.0)).collect(),
        provenance: None,
        reconfiguration: None,
    }
}

pub fn stream(seed: u64) -> Stream {
    Streams::new(seed).stream(0)
}

fn span(random: &mut Stream, low: f64, high: f64) -> f64 {
    low + (high - low) * random.random::<f64>()
}

/// A random tail-exact instance: pods in a row, ordered transfers between neighbours, sinks towards mirrors,
/// between real pods, and on links that also carry ordered transfers.
pub fn random_tail_exact(seed: u64) -> Instance {
    let mut random = stream(seed);
    let real = random.random_range(2..=3u32);
    let mut pods: Vec<Pod> = (0..real).map(|id| pod(id, 0, false)).collect();
    let mut links = Vec::new();
    let mut tasks: Vec<Task> = Vec::new();
    let mut edges = Vec::new();
    for left in 0..real - 1 {
        links.push(link(left, left, left + 1, LinkKind::Mixed, 1, 1));
    }
    for owner in 0..real {
        for _ in 0..random.random_range(0..=2u32) {
            let (id, mirror) = (links.len() as u32, pods.len() as u32);
            pods.push(pod(mirror, 0, true));
            links.push(link(id, owner, mirror, LinkKind::Dp, random.random_range(1..=2), 0));
        }
    }
    if real == 3 && random.random::<bool>() {
        links.push(link(links.len() as u32, 0, 2, LinkKind::Dp, 1, 1));
    }
    for (at, pod) in pods.iter_mut().enumerate().take(real as usize) {
        let ends = links.iter().map(|link| {
            let at_a = if link.pod_a.index() == at { link.ports_a } else { 0 };
            at_a + if link.pod_b.index() == at { link.ports_b } else { 0 }
        });
        pod.ports = ends.sum::<u32>() + random.random_range(0..=3);
    }
    // A chain of transfers back and forth along the row.
    let chain = random.random_range(3..=7u32);
    for id in 0..chain {
        let left = random.random_range(0..real - 1);
        let (src, dst) = if random.random() { (left, left + 1) } else { (left + 1, left) };
        let (flows, volume) = (random.random_range(1..=4), span(&mut random, 1e8, 1e9));
        tasks.push(task(id, src, dst, flows, volume, 0.0));
        if id > 0 {
            edges.push(edge(id - 1, id, span(&mut random, 0.0, 0.02)));
        }
    }
    tasks[0].release_s = span(&mut random, 0.0, 0.01);
    // Sinks on a link that the chain may use follow the last transfer of the chain, so that they do not overlap with the
    // chain; other sinks follow any transfer.
    for (at, link) in links.iter().enumerate() {
        let (a, b) = (link.pod_a.0, link.pod_b.0);
        let shared = (at as u32) < real - 1;
        for _ in 0..random.random_range(u32::from(!shared)..=3) {
            let id = tasks.len() as u32;
            let (src, dst) = if pods[b as usize].mirror || random.random() { (a, b) } else { (b, a) };
            let (flows, volume) = (random.random_range(1..=4), span(&mut random, 2e8, 3e9));
            tasks.push(task(id, src, dst, flows, volume, 0.0));
            let after = if shared { chain - 1 } else { random.random_range(0..chain) };
            edges.push(edge(after, id, span(&mut random, 0.0, 0.03)));
        }
    }
    Instance { nic_bandwidth_gbps: 400.0, pods, links, tasks, edges, provenance: None, reconfiguration: None }
}

/// A random DAG on two links in which all tasks may compete.
pub fn random_dag(seed: u64) -> Instance {
    let mut random = stream(seed);
    let n = random.random_range(8..=16u32);
    let mut tasks = Vec::new();
    let mut edges = Vec::new();
    for id in 0..n {
        let (src, dst) = [(0, 1), (1, 0), (1, 2), (2, 1)][random.random_range(0..4)];
        let (flows, volume) = (random.random_range(1..=4), span(&mut random, 1e8, 1e9));
        let mut new = task(id, src, dst, flows, volume, 0.0);
        if random.random_range(0..4) == 0 {
            new.src_gpus = GpuSet::Range { first: 90_000 + src * 8, count: flows };
        }
        tasks.push(new);
        for pred in 0..id {
            if random.random_range(0..5) == 0 {
                edges.push(edge(pred, id, span(&mut random, 0.0, 0.01)));
            }
        }
    }
    let pods = (0..3).map(|id| pod(id, random.random_range(4..=8), false)).collect();
    let links = vec![link(0, 0, 1, LinkKind::Mixed, 1, 1), link(1, 1, 2, LinkKind::Mixed, 1, 1)];
    Instance { nic_bandwidth_gbps: 400.0, pods, links, tasks, edges, provenance: None, reconfiguration: None }
}
