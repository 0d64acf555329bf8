//! Names of pods and links in panes.

use lightbay_engines::training::scenario::instance::Instance;

/// Name of a ring neighbour: the pod of the next replica, which a mirror represents.
pub const RING: &str = "ring";

/// Returns the name of a pod: its own name, or [`RING`] for mirrors.
pub fn pod(instance: &Instance, pod: usize) -> String {
    match instance.pods.get(pod) {
        Some(pod) if pod.mirror => RING.to_owned(),
        Some(pod) => pod.name.clone(),
        None => String::new(),
    }
}

/// Returns the name of a task with the ends of its directed link, if an item is a task.
pub fn task(instance: &Instance, item: u32) -> Option<String> {
    let task = instance.tasks.get(item as usize)?;
    Some(format!("{} {}", task.name, route(instance, item)))
}

/// Returns the name of a link: `p0–p1`.
pub fn link(instance: &Instance, link: usize) -> String {
    instance.links.get(link).map_or_else(String::new, |link| {
        format!("{}–{}", pod(instance, link.pod_a.index()), pod(instance, link.pod_b.index()))
    })
}

/// Returns the name of the direction from one pod to another: `p0→p1`.
fn between(instance: &Instance, from: usize, to: usize) -> String {
    format!("{}→{}", pod(instance, from), pod(instance, to))
}

/// Returns the name of the directed link of a task: `p0→p1`.
pub fn route(instance: &Instance, task: u32) -> String {
    instance
        .tasks
        .get(task as usize)
        .map_or_else(String::new, |task| between(instance, task.src_pod.index(), task.dst_pod.index()))
}

/// Returns the name of a directed link: `p0→p1`.
pub fn way(instance: &Instance, direction: u32) -> String {
    instance.links.get(direction as usize / 2).map_or_else(String::new, |link| {
        let ends = [link.pod_a.index(), link.pod_b.index()];
        let [from, to] = if direction.is_multiple_of(2) { ends } else { [ends[1], ends[0]] };
        between(instance, from, to)
    })
}
