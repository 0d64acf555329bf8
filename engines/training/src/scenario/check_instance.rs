//! Check of an explicit instance.

use super::knobs::beyond_valid_edges;
use super::limits::{
    MAX_BYTES, MAX_EDGES, MAX_GBPS, MAX_SECONDS, MAX_TASKS, MIN_BYTES, MIN_GBPS, MIN_ITERATION_S,
};
use crate::scenario::instance::{Instance, Task};
use lightbay_core::problem::{Problems, counted};
use lightbay_core::units::{Gbps, PodId};
use petgraph::algo::{astar, kosaraju_scc};
use petgraph::graph::{DiGraph, NodeIndex};
use rustc_hash::FxHashMap;

/// All problems of an instance at `path` in its file.
pub fn check_instance(instance: &Instance, path: &str) -> Problems {
    let mut problems = Problems::new();
    let at = |rest: &str| if path.is_empty() { rest.to_owned() } else { format!("{path}.{rest}") };
    let bandwidth = instance.nic_bandwidth_gbps;
    if !(MIN_GBPS..=MAX_GBPS).contains(&bandwidth) {
        problems.add(
            at("nic_bandwidth_gbps"),
            format!("is '{bandwidth}'"),
            format!("give a number from {MIN_GBPS} to {MAX_GBPS}"),
        );
    }
    let valid = instance.provenance.as_ref().and_then(|provenance| provenance.edges_valid_up_to_gbps);
    if let Some(valid) = valid.filter(|valid| bandwidth > *valid) {
        problems.push(beyond_valid_edges(&at("nic_bandwidth_gbps"), bandwidth, valid));
    }
    for (key, count, most) in
        [("tasks", instance.tasks.len(), MAX_TASKS as usize), ("edges", instance.edges.len(), MAX_EDGES)]
    {
        if count > most {
            problems.add(at(key), format!("has {count} entries"), format!("give at most {most}"));
        }
    }
    check_ids(instance, &at, &mut problems);
    let links = check_links(instance, &at, &mut problems);
    for (index, task) in instance.tasks.iter().enumerate() {
        check_task(task, &at(&format!("tasks[{index}]")), instance.pods.len(), &links, &mut problems);
    }
    if check_edges(instance, &at, &mut problems)
        && let Some(cycle) = find_cycle(instance)
    {
        problems.add(
            at("edges"),
            format!("form a cycle: {}", describe(instance, &cycle)),
            "remove one edge of the cycle",
        );
    }
    if problems.is_empty() {
        problems.extend(check_ports(instance, &at("pods")));
        check_length(instance, &at("tasks"), &mut problems);
    }
    problems
}

/// Refuses an iteration that is shorter than the tolerance of the simulators.
fn check_length(instance: &Instance, path: &str, problems: &mut Problems) {
    let rate = Gbps(instance.nic_bandwidth_gbps).bytes_per_second();
    let tasks = instance.tasks.iter();
    // An upper bound on every iteration: all transfers and delays one after the other, with one circuit per link.
    let longest_s = tasks.clone().map(|task| task.release_s).fold(0.0, f64::max)
        + tasks.clone().map(|task| task.tail_s).fold(0.0, f64::max)
        + tasks.map(|task| task.volume_bytes / rate).sum::<f64>()
        + instance.edges.iter().map(|edge| edge.delay_s).sum::<f64>();
    if longest_s < MIN_ITERATION_S && !instance.tasks.is_empty() {
        problems.add(
            path,
            format!(
                "take {longest_s:.1e} s in total, too short to simulate; the minimum is {MIN_ITERATION_S:e} s"
            ),
            "check the units; raise `volume_bytes`, or lower `nic_bandwidth_gbps`",
        );
    }
}

fn check_ids(instance: &Instance, at: &impl Fn(&str) -> String, problems: &mut Problems) {
    let mut check = |key: &str, place: usize, id: u32| {
        if id as usize != place {
            problems.add(
                at(&format!("{key}[{place}].id")),
                format!("is '{id}'"),
                format!("give {place}: ids are consecutive and start at 0"),
            );
        }
    };
    for (place, pod) in instance.pods.iter().enumerate() {
        check("pods", place, pod.id.0);
    }
    for (place, link) in instance.links.iter().enumerate() {
        check("links", place, link.id.0);
    }
    for (place, task) in instance.tasks.iter().enumerate() {
        check("tasks", place, task.id.0);
    }
}

type Pairs = FxHashMap<(PodId, PodId), usize>;

fn pair(a: PodId, b: PodId) -> (PodId, PodId) {
    (a.min(b), a.max(b))
}

fn check_links(instance: &Instance, at: &impl Fn(&str) -> String, problems: &mut Problems) -> Pairs {
    let mut pairs = Pairs::default();
    for (place, link) in instance.links.iter().enumerate() {
        let path = at(&format!("links[{place}]"));
        for (key, pod, ports) in [("a", link.pod_a, link.ports_a), ("b", link.pod_b, link.ports_b)] {
            match instance.pods.get(pod.index()) {
                None => dangling(format!("{path}.pod_{key}"), "pod", pod.0, instance.pods.len(), problems),
                Some(pod) if !pod.mirror && ports == 0 => problems.add(
                    format!("{path}.ports_{key}"),
                    format!("is '0' at pod '{}', which is not a mirror", pod.name),
                    "give at least 1",
                ),
                Some(_) => {}
            }
        }
        if link.pod_a == link.pod_b {
            problems.add(path, format!("joins pod {} with itself", link.pod_a), "remove it");
        } else if let Some(first) = pairs.get(&pair(link.pod_a, link.pod_b)) {
            problems.add(
                path,
                format!("joins pods {} and {}, as links[{first}] does", link.pod_a, link.pod_b),
                "keep one link per pod pair; its kind is 'mixed' if it carries both kinds of traffic",
            );
        } else {
            pairs.insert(pair(link.pod_a, link.pod_b), place);
        }
    }
    pairs
}

fn dangling(path: String, what: &str, id: u32, count: usize, problems: &mut Problems) {
    let remedy = match count {
        0 => format!("the instance has no {what}"),
        count => format!("give a {what} from 0 to {}", count - 1),
    };
    problems.add(path, format!("is '{id}', but no such {what} exists"), remedy);
}

fn check_task(task: &Task, path: &str, pods: usize, links: &Pairs, problems: &mut Problems) {
    let mut known = true;
    for (key, pod) in [("src_pod", task.src_pod), ("dst_pod", task.dst_pod)] {
        if pod.index() >= pods {
            dangling(format!("{path}.{key}"), "pod", pod.0, pods, problems);
            known = false;
        }
    }
    if known && task.src_pod == task.dst_pod {
        problems.add(
            format!("{path}.dst_pod"),
            format!("is '{}', which is also the sending pod", task.dst_pod),
            "a transfer inside a pod is not a task; make it part of a delay",
        );
    } else if known && !links.contains_key(&pair(task.src_pod, task.dst_pod)) {
        problems.add(
            path,
            format!(
                "task '{}' sends from pod {} to pod {}, but no link joins these pods",
                task.name, task.src_pod, task.dst_pod
            ),
            "add the link",
        );
    }
    if task.flows == 0 {
        problems.add(format!("{path}.flows"), "is '0'", "give at least 1");
    }
    for (key, gpus) in [("src_gpus", &task.src_gpus), ("dst_gpus", &task.dst_gpus)] {
        if gpus.len() != task.flows as usize {
            problems.add(
                format!("{path}.{key}"),
                format!("has {} entries for {} flows", gpus.len(), task.flows),
                "give one GPU per flow",
            );
        }
    }
    if !(MIN_BYTES..=MAX_BYTES).contains(&task.volume_bytes) {
        let message = format!("is '{}'", task.volume_bytes);
        problems.add(
            format!("{path}.volume_bytes"),
            message,
            format!("give a number from {MIN_BYTES} to {MAX_BYTES}"),
        );
    }
    for (key, time_s) in [("release_s", task.release_s), ("tail_s", task.tail_s)] {
        if !(0.0..=MAX_SECONDS).contains(&time_s) {
            problems.add(
                format!("{path}.{key}"),
                format!("is '{time_s}'"),
                format!("give a number from 0 to {MAX_SECONDS}"),
            );
        }
    }
}

/// Checks the tasks and the delays of all edges; returns `true` if all edges join tasks that exist.
fn check_edges(instance: &Instance, at: &impl Fn(&str) -> String, problems: &mut Problems) -> bool {
    let count = instance.tasks.len();
    let mut known = true;
    for (place, edge) in instance.edges.iter().enumerate() {
        for (key, task) in [("pred", edge.pred), ("succ", edge.succ)] {
            if task.index() >= count {
                dangling(at(&format!("edges[{place}].{key}")), "task", task.0, count, problems);
                known = false;
            }
        }
        if !(0.0..=MAX_SECONDS).contains(&edge.delay_s) {
            problems.add(
                at(&format!("edges[{place}].delay_s")),
                format!("is '{}'", edge.delay_s),
                format!("give a number from 0 to {MAX_SECONDS}"),
            );
        }
    }
    known
}

/// Returns the tasks of a cycle in order: of a task with an edge to itself, if there is one; otherwise of a shortest
/// cycle through the task with the smallest id of all tasks that lie on a cycle. `None` without a cycle.
fn find_cycle(instance: &Instance) -> Option<Vec<usize>> {
    if let Some(edge) = instance.edges.iter().find(|edge| edge.pred == edge.succ) {
        return Some(vec![edge.pred.index()]);
    }
    let graph = DiGraph::<(), ()>::from_edges(instance.edges.iter().map(|edge| (edge.pred.0, edge.succ.0)));
    // Not Tarjan's algorithm, because the library implements it recursively and a chain of tasks can be long.
    let components = kosaraju_scc(&graph);
    let start = *components.iter().filter(|tasks| tasks.len() > 1).flatten().min()?;
    let ways =
        graph.neighbors(start).filter_map(|next| astar(&graph, next, |task| task == start, |_| 1, |_| 0));
    let (_, path) = ways.min_by_key(|(length, _)| *length)?;
    let mut cycle: Vec<usize> = path.into_iter().map(NodeIndex::index).collect();
    // The path ends where the cycle begins.
    cycle.rotate_right(1);
    Some(cycle)
}

fn describe(instance: &Instance, cycle: &[usize]) -> String {
    const SHOWN: usize = 8;
    let name = |task: &usize| format!("{task} '{}'", instance.tasks[*task].name);
    let mut names: Vec<String> = cycle.iter().take(SHOWN).map(name).collect();
    if cycle.len() > SHOWN {
        names.push(format!("{} more", cycle.len() - SHOWN));
    }
    names.extend(cycle.first().map(name));
    names.join(" -> ")
}

/// Checks that every real pod has ports for one circuit on each of its links. `path` is the path of the pods in the
/// file; a problem appends the index of the pod.
fn check_ports(instance: &Instance, path: &str) -> Problems {
    let mut needed = vec![(0_u64, 0_u32); instance.pods.len()];
    for link in &instance.links {
        for (pod, ports) in [(link.pod_a, link.ports_a), (link.pod_b, link.ports_b)] {
            if let Some((sum, links)) = needed.get_mut(pod.index()) {
                *sum += u64::from(ports);
                *links += 1;
            }
        }
    }
    let mut problems = Problems::new();
    for (pod, (sum, links)) in instance.pods.iter().zip(needed) {
        if !pod.mirror && u64::from(pod.ports) < sum {
            problems.add(
                format!("{path}[{}].ports", pod.id),
                format!(
                    "pod '{}' has {}, but one circuit on each of its {links} links needs {sum}",
                    pod.name,
                    counted(pod.ports.into(), "port", "ports")
                ),
                format!("give the pod at least {sum} ports"),
            );
        }
    }
    problems
}
