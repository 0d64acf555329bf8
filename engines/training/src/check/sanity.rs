//! Check that a scenario is valid; plans for an invalid scenario cannot be checked.

use super::{Findings, code};
use crate::scenario::instance::{Instance, Link};
use lightbay_core::problem::printable;
use std::collections::BTreeMap;

/// Smallest volume that counts as more than zero.
const LEAST_BYTES: f64 = 1.0;

/// Reports all faults of a network and its tasks as `scenario` violations.
pub(super) fn instance(net: &Instance, found: &mut Findings) {
    let mut fault = |message: String| found.add(code::SCENARIO, message);
    let bandwidth = net.nic_bandwidth_gbps;
    // Beyond 1e12 Gb/s products of rates and times leave the range in which they can be compared.
    if !(bandwidth > 0.0 && bandwidth <= 1e12) {
        fault(format!("'nic_bandwidth_gbps' is {bandwidth}, but must be above 0 and at most 1e12"));
    }
    for (index, pod) in net.pods.iter().enumerate() {
        if pod.id.index() != index {
            fault(format!("pods[{index}] has id {}, but ids must be 0, 1, 2, … in order", pod.id));
        }
    }
    let mut pairs: BTreeMap<(u32, u32), usize> = BTreeMap::new();
    for (index, link) in net.links.iter().enumerate() {
        if link.id.index() != index {
            fault(format!("links[{index}] has id {}, but ids must be 0, 1, 2, … in order", link.id));
        }
        for pod in [link.pod_a, link.pod_b] {
            if pod.index() >= net.pods.len() {
                fault(format!("link {index} ends in pod {pod}, which does not exist"));
            }
        }
        if link.pod_a == link.pod_b {
            fault(format!("link {index} joins pod {} with itself", link.pod_a));
        }
        if let Some(other) = pairs.insert(unordered(link), index) {
            fault(format!("links {other} and {index} join the same two pods"));
        }
    }
    for (index, task) in net.tasks.iter().enumerate() {
        let name = format!("task {index} '{}'", printable(&task.name));
        if task.id.index() != index {
            fault(format!("{name} has id {}, but ids must be 0, 1, 2, … in order", task.id));
        }
        let pair = (task.src_pod.0.min(task.dst_pod.0), task.src_pod.0.max(task.dst_pod.0));
        if task.src_pod == task.dst_pod {
            fault(format!("{name} sends to its own pod {}", task.src_pod));
        } else if !pairs.contains_key(&pair) {
            fault(format!(
                "{name} sends from pod {} to pod {}, but no link joins these pods",
                task.src_pod, task.dst_pod
            ));
        }
        if task.flows == 0 {
            fault(format!("{name} has no flows"));
        }
        for (side, gpus) in [("src_gpus", &task.src_gpus), ("dst_gpus", &task.dst_gpus)] {
            if gpus.len() != task.flows as usize {
                fault(format!("{name} has {} flows but {} GPUs in '{side}'", task.flows, gpus.len()));
            }
        }
        if !(task.volume_bytes >= LEAST_BYTES && task.volume_bytes.is_finite()) {
            fault(format!(
                "{name} has a volume of {} bytes, but must have a finite volume of at least {LEAST_BYTES}",
                task.volume_bytes
            ));
        }
        for (key, value) in [("release_s", task.release_s), ("tail_s", task.tail_s)] {
            if !(value >= 0.0 && value.is_finite()) {
                fault(format!("{name} has '{key}' {value}, but it must be a finite number, 0 or more"));
            }
        }
    }
    for (index, edge) in net.edges.iter().enumerate() {
        for task in [edge.pred, edge.succ] {
            if task.index() >= net.tasks.len() {
                fault(format!("edges[{index}] names task {task}, which does not exist"));
            }
        }
        if edge.pred == edge.succ {
            fault(format!("edges[{index}] makes task {} follow itself", edge.pred));
        }
        if !(edge.delay_s >= 0.0 && edge.delay_s.is_finite()) {
            fault(format!(
                "edges[{index}] has 'delay_s' {}, but it must be a finite number, 0 or more",
                edge.delay_s
            ));
        }
    }
    let compute_s = net.provenance.as_ref().and_then(|origin| origin.compute_s).unwrap_or(0.0);
    if !(compute_s >= 0.0 && compute_s.is_finite()) {
        fault(format!("'provenance.compute_s' is {compute_s}, but must be a finite number, 0 or more"));
    }
    if found.is_empty() {
        ports(net, found);
    }
}

/// Checks that every pod has ports for one circuit on each of its links; otherwise no plan exists.
fn ports(net: &Instance, found: &mut Findings) {
    let needed = port_use(net, &vec![1; net.links.len()]);
    for (pod, needed) in net.pods.iter().zip(needed) {
        if !pod.mirror && needed > u64::from(pod.ports) {
            found.add(
                code::SCENARIO,
                format!(
                    "pod {} '{}' has {} ports, but one circuit on each of its links needs {needed}",
                    pod.id,
                    printable(&pod.name),
                    pod.ports
                ),
            );
        }
    }
}

/// Ports that `circuits` (one count per link) use in every pod, mirrors included.
pub(super) fn port_use(net: &Instance, circuits: &[u32]) -> Vec<u64> {
    let mut used = vec![0_u64; net.pods.len()];
    for (link, circuits) in net.links.iter().zip(circuits) {
        for (pod, cost) in [(link.pod_a, link.ports_a), (link.pod_b, link.ports_b)] {
            let sum = &mut used[pod.index()];
            *sum = sum.saturating_add(u64::from(*circuits) * u64::from(cost));
        }
    }
    used
}

fn unordered(link: &Link) -> (u32, u32) {
    (link.pod_a.0.min(link.pod_b.0), link.pod_a.0.max(link.pod_b.0))
}
