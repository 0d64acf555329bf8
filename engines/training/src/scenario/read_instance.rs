//! Reading an explicit instance from JSON, all problems at once.

use super::check_instance::check_instance;
use super::limits::{MAX_BYTES, MAX_EDGES, MAX_GBPS, MAX_PORTS, MAX_SECONDS, MAX_TASKS, MIN_BYTES, MIN_GBPS};
use super::reconfiguration::Reconfiguration;
use crate::scenario::instance::{
    Edge, GpuSet, Instance, InstanceProvenance, Link, LinkKind, Pod, Task, TaskKind,
};
use lightbay_core::problem::Problems;
use lightbay_core::read::{Fields, brief};
use lightbay_core::record::any;
use lightbay_core::units::{LinkId, PodId, TaskId};
use serde_json::Value;

/// Largest id and count in a file.
const MOST: i64 = u32::MAX as i64 - 1;

/// Reads the instance at `path`.
pub(super) fn instance(value: &Value, path: &str, problems: &mut Problems) -> Option<Instance> {
    let before = problems.total();
    let mut fields = Fields::of(value, path, problems)?;
    let nic_bandwidth_gbps = fields.float("nic_bandwidth_gbps", MIN_GBPS..=MAX_GBPS, problems);
    let pods = each(&mut fields, "pods", 1 << 20, problems, pod);
    let links = each(&mut fields, "links", 1 << 20, problems, link);
    let tasks = each(&mut fields, "tasks", MAX_TASKS as usize, problems, task);
    let edges = each(&mut fields, "edges", MAX_EDGES, problems, edge);
    let provenance_path = fields.path_of("provenance");
    let provenance =
        fields.optional("provenance").and_then(|value| provenance(value, &provenance_path, problems));
    let reconfiguration: Option<Option<Reconfiguration>> =
        any().read("reconfiguration", &mut fields, problems);
    fields.finish(problems);
    let instance = Instance {
        nic_bandwidth_gbps: nic_bandwidth_gbps.unwrap_or(MIN_GBPS),
        pods: pods?,
        links: links?,
        tasks: tasks?,
        edges: edges?,
        provenance,
        reconfiguration: reconfiguration.flatten(),
    };
    if problems.total() == before {
        return Some(instance);
    }
    // Invalid fields are replaced by harmless values, so that the rest is checked in the same pass.
    problems.extend(check_instance(&instance, path));
    None
}

/// Reads the entries of a list. `None` if the list is missing, too long, or has an invalid entry.
fn each<T>(
    fields: &mut Fields<'_>,
    key: &'static str,
    most: usize,
    problems: &mut Problems,
    read: impl Fn(&mut Fields<'_>, &mut Problems) -> Option<T>,
) -> Option<Vec<T>> {
    let entries = fields.list(key, problems)?.len();
    if entries > most {
        let path = fields.path_of(key);
        problems.add(path, format!("has {entries} entries"), format!("give at most {most}"));
        return None;
    }
    fields.each(key, problems, read)
}

fn id(fields: &mut Fields<'_>, key: &'static str, problems: &mut Problems) -> Option<u32> {
    u32::try_from(fields.int(key, 0..=MOST, problems)?).ok()
}

fn pod(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<Pod> {
    let id = id(fields, "id", problems);
    let name = fields.text("name", problems);
    let ports = fields.int("ports", 0..=i64::from(MAX_PORTS), problems);
    let mirror = fields.bool_or("mirror", false, problems);
    Some(Pod {
        id: PodId(id?),
        name: name?.to_owned(),
        ports: ports.map_or(Some(MAX_PORTS), |ports| u32::try_from(ports).ok())?,
        mirror: mirror?,
    })
}

fn link(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<Link> {
    const KINDS: [(&str, LinkKind); 3] =
        [("pp", LinkKind::Pp), ("dp", LinkKind::Dp), ("mixed", LinkKind::Mixed)];
    let link_id = id(fields, "id", problems);
    let (pod_a, pod_b) = (id(fields, "pod_a", problems), id(fields, "pod_b", problems));
    let kind = fields.choice("kind", &KINDS, problems);
    let mut ports = |key| {
        let ports = fields.int(key, 0..=i64::from(MAX_PORTS), problems)?;
        u32::try_from(ports).ok()
    };
    let (ports_a, ports_b) = (ports("ports_a"), ports("ports_b"));
    Some(Link {
        id: LinkId(link_id?),
        pod_a: PodId(pod_a?),
        pod_b: PodId(pod_b?),
        kind: kind?,
        ports_a: ports_a?,
        ports_b: ports_b?,
    })
}

fn task(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<Task> {
    const KINDS: [(&str, TaskKind); 4] = [
        ("pp_fwd", TaskKind::PpFwd),
        ("pp_bwd", TaskKind::PpBwd),
        ("dp", TaskKind::Dp),
        ("other", TaskKind::Other),
    ];
    let task_id = id(fields, "id", problems);
    let name = fields.text("name", problems);
    let kind = fields.choice("kind", &KINDS, problems);
    let micro_batch = or_zero(fields, "micro_batch", problems);
    let stage = or_zero(fields, "stage", problems);
    let replica = or_zero(fields, "replica", problems);
    let (src_pod, dst_pod) = (id(fields, "src_pod", problems), id(fields, "dst_pod", problems));
    let flows = id(fields, "flows", problems);
    let volume_bytes = fields.float("volume_bytes", 0.0..=MAX_BYTES, problems);
    let (src_gpus, dst_gpus) = (gpus(fields, "src_gpus", problems), gpus(fields, "dst_gpus", problems));
    let release_s = fields.float_or("release_s", 0.0..=MAX_SECONDS, 0.0, problems);
    let tail_s = fields.float_or("tail_s", 0.0..=MAX_SECONDS, 0.0, problems);
    Some(Task {
        id: TaskId(task_id?),
        name: name?.to_owned(),
        kind: kind?,
        micro_batch: micro_batch.unwrap_or(0),
        stage: stage.unwrap_or(0),
        replica: replica.unwrap_or(0),
        src_pod: PodId(src_pod?),
        dst_pod: PodId(dst_pod?),
        flows: flows?,
        volume_bytes: volume_bytes.unwrap_or(MIN_BYTES),
        src_gpus: src_gpus?,
        dst_gpus: dst_gpus?,
        release_s: release_s.unwrap_or(0.0),
        tail_s: tail_s.unwrap_or(0.0),
    })
}

fn or_zero(fields: &mut Fields<'_>, key: &'static str, problems: &mut Problems) -> Option<u32> {
    u32::try_from(fields.int_or(key, 0..=MOST, 0, problems)?).ok()
}

/// Reads a list of GPUs; consecutive ids become a range, so that an instance reads back as it was written.
fn gpus(fields: &mut Fields<'_>, key: &'static str, problems: &mut Problems) -> Option<GpuSet> {
    let path = fields.path_of(key);
    let list = fields.list(key, problems)?;
    let mut ids = Vec::with_capacity(list.len());
    for (index, value) in list.iter().enumerate() {
        let id = value.as_u64().and_then(|id| u32::try_from(id).ok()).filter(|id| i64::from(*id) <= MOST);
        let Some(id) = id else {
            problems.add(format!("{path}[{index}]"), format!("is {}", brief(value)), "give the id of a GPU");
            return None;
        };
        ids.push(id);
    }
    Some(match ids.first() {
        Some(&first) if ids.iter().zip(first..).all(|(id, expected)| *id == expected) => {
            GpuSet::Range { first, count: ids.len() as u32 }
        }
        _ => GpuSet::List(ids),
    })
}

fn edge(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<Edge> {
    let (pred, succ) = (id(fields, "pred", problems), id(fields, "succ", problems));
    let delay_s = fields.float("delay_s", 0.0..=MAX_SECONDS, problems);
    Some(Edge { pred: TaskId(pred?), succ: TaskId(succ?), delay_s: delay_s.unwrap_or(0.0) })
}

/// Reads the origin of an instance. Only known fields are kept; other tools may write more.
fn provenance(value: &Value, path: &str, problems: &mut Problems) -> Option<InstanceProvenance> {
    let mut fields = Fields::of(value, path, problems)?;
    let job = fields.optional("job").cloned();
    let full_dag_nodes = fields.int_or("full_dag_nodes", 0..=i64::MAX, 0, problems);
    let collapsed = fields.bool_or("collapsed", false, problems);
    let replicas = fields.int_or("replicas", 0..=MOST, 1, problems);
    let mut optional = |key, range| {
        if fields.optional(key).is_some() { fields.float(key, range, problems).map(Some) } else { Some(None) }
    };
    let edges_valid_up_to_gbps = optional("edges_valid_up_to_gbps", 0.0..=MAX_GBPS);
    let compute_s = optional("compute_s", 0.0..=MAX_SECONDS);
    Some(InstanceProvenance {
        job,
        full_dag_nodes: u64::try_from(full_dag_nodes?).ok()?,
        collapsed: collapsed?,
        replicas: u32::try_from(replicas?).ok()?,
        edges_valid_up_to_gbps: edges_valid_up_to_gbps?,
        compute_s: compute_s?,
    })
}
