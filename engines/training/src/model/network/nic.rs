//! NIC directions that tasks can contend for.
//!
//! Every GPU has one NIC with an outgoing and an incoming direction of rate B. GPUs used by the same tasks are one
//! resource. A direction is left out if the DAG orders its tasks completely and each task has a single flow on it,
//! because flows then never share it.

use super::precedence::Precedence;
use crate::scenario::instance::Instance;
use rustc_hash::FxHashMap;

/// One direction of the NICs of all GPUs that serve the same tasks.
#[derive(Clone, Debug, PartialEq)]
pub struct NicGroup {
    /// Tasks in topological order, each with its number of flows at one such GPU.
    pub members: Vec<(u32, f64)>,
}

/// The groups that hold two tasks without order between them, or a task with several flows on one NIC.
pub(super) fn groups(instance: &Instance, precedence: &Precedence) -> Vec<NicGroup> {
    let mut used: [FxHashMap<u32, Vec<(u32, u32)>>; 2] = [FxHashMap::default(), FxHashMap::default()];
    for (index, task) in instance.tasks.iter().enumerate() {
        for (direction, gpus) in [&task.src_gpus, &task.dst_gpus].into_iter().enumerate() {
            for gpu in gpus.iter() {
                let members = used[direction].entry(gpu).or_default();
                match members.last_mut() {
                    Some((last, count)) if *last == index as u32 => *count += 1,
                    _ => members.push((index as u32, 1)),
                }
            }
        }
    }
    let mut kept: Vec<Vec<(u32, u32)>> = Vec::new();
    for direction in used {
        let mut sets: Vec<Vec<(u32, u32)>> = direction.into_values().collect();
        sets.sort_unstable();
        sets.dedup();
        for mut set in sets {
            set.sort_by_key(|(task, _)| precedence.position(*task));
            let tasks: Vec<u32> = set.iter().map(|(task, _)| *task).collect();
            if set.iter().any(|(_, count)| *count > 1) || !precedence.is_chain(&tasks) {
                kept.push(set);
            }
        }
    }
    kept.sort_unstable();
    // The same tasks may share NICs at both ends; a single resource then represents both ends.
    kept.dedup();
    kept.into_iter()
        .map(|set| NicGroup {
            members: set.into_iter().map(|(task, count)| (task, f64::from(count))).collect(),
        })
        .collect()
}
