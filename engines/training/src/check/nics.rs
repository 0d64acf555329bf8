//! NICs that several transfers may use at once.

use super::case::Case;
use crate::scenario::instance::{GpuSet, Task};
use std::collections::BTreeMap;

/// GPUs whose NICs serve exactly the same tasks in one direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NicGroup {
    /// `true` if the tasks send through these NICs, `false` if they receive.
    pub sends: bool,
    /// One of the GPUs, for messages.
    pub gpu: u32,
    /// Tasks, each with the number of its flows that use each of these GPUs.
    pub members: Vec<(usize, u32)>,
}

/// All groups that can limit rates: groups whose NICs serve two tasks, or several flows of one task.
pub(super) fn nic_groups(case: &Case<'_>) -> Vec<NicGroup> {
    let mut groups = side(case, true, |task| &task.src_gpus);
    groups.extend(side(case, false, |task| &task.dst_gpus));
    groups
}

fn side(case: &Case<'_>, sends: bool, gpus: impl Fn(&Task) -> &GpuSet) -> Vec<NicGroup> {
    let mut uses: Vec<(u32, usize)> = Vec::new();
    for (index, task) in case.net.tasks.iter().enumerate() {
        uses.extend(gpus(task).iter().map(|gpu| (gpu, index)));
    }
    uses.sort_unstable();
    let mut by_members: BTreeMap<Vec<(usize, u32)>, u32> = BTreeMap::new();
    for of_gpu in uses.chunk_by(|a, b| a.0 == b.0) {
        let members: Vec<(usize, u32)> =
            of_gpu.chunk_by(|a, b| a.1 == b.1).map(|flows| (flows[0].1, flows.len() as u32)).collect();
        if members.len() > 1 || members[0].1 > 1 {
            by_members.entry(members).or_insert(of_gpu[0].0);
        }
    }
    by_members.into_iter().map(|(members, gpu)| NicGroup { sends, gpu, members }).collect()
}
