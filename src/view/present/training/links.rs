//! Names of pods and links as panes write them.

use lightbay_engines::training::instance::Instance;

/// Name of a pod: its own, or `peer` for the mirrors of a collapsed ring.
pub fn pod(instance: &Instance, pod: usize) -> String {
    match instance.pods.get(pod) {
        Some(pod) if pod.mirror => "peer".to_owned(),
        Some(pod) => pod.name.clone(),
        None => String::new(),
    }
}

/// `p0–p1` for a link.
pub fn link(instance: &Instance, link: usize) -> String {
    instance.links.get(link).map_or_else(String::new, |link| {
        format!("{}–{}", pod(instance, link.pod_a.index()), pod(instance, link.pod_b.index()))
    })
}

/// `p0→p1` for the way of a task.
pub fn route(instance: &Instance, task: u32) -> String {
    instance.tasks.get(task as usize).map_or_else(String::new, |task| {
        format!("{}→{}", pod(instance, task.src_pod.index()), pod(instance, task.dst_pod.index()))
    })
}
