//! Parts of a collective one after the other.

use crate::model::schedule::{ChunkStart, EpochSchedule};
use crate::model::task::CollectiveTasks;
use rustc_hash::FxHashMap;

/// Epochs at which the parts of a plan begin, and that of its last delivery behind them.
///
/// A part begins where the one before ends, unless a link is still occupied: hops out of switches that cut through arrive
/// before their transmission is over, so the last of them may reach into the next part.
pub fn begins(tasks: &CollectiveTasks, schedules: &[EpochSchedule]) -> Vec<u32> {
    let mut begins = Vec::with_capacity(schedules.len() + 1);
    let mut end = 0;
    // Epoch from which on a link is free, by link; links keep their numbers where they are turned round.
    let mut free: FxHashMap<u32, u32> = FxHashMap::default();
    for (task, schedule) in tasks.tasks.iter().zip(schedules) {
        let epoch = |start: &ChunkStart| {
            if task.backwards {
                schedule.finish - (start.epoch + task.epochs.latency(start.link))
            } else {
                start.epoch
            }
        };
        let wait = |start: &ChunkStart| {
            free.get(&start.link).map_or(0, |free| free.saturating_sub(end + epoch(start)))
        };
        let begin = end + schedule.starts.iter().map(wait).max().unwrap_or(0);
        for start in &schedule.starts {
            let occupied = task.epochs.links[start.link as usize].occupied;
            let until = free.entry(start.link).or_default();
            *until = (*until).max(begin + epoch(start) + occupied);
        }
        begins.push(begin);
        end = begin + schedule.finish;
    }
    begins.push(end);
    begins
}

/// Epochs until the last delivery of schedules one after the other.
pub fn epochs_of(tasks: &CollectiveTasks, schedules: &[EpochSchedule]) -> u32 {
    begins(tasks, schedules).last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{CollectiveSort, Demand, SwitchHop};
    use crate::testing::{in_epochs, own};

    /// A chain of GPUs behind a switch that cuts through, with a slow link out of it.
    fn reaching_over(hop: SwitchHop) -> Vec<u32> {
        let links = [(0, 2, 4.0, 0.0), (2, 0, 1.0, 0.0), (1, 2, 4.0, 0.0), (2, 1, 1.0, 0.0)];
        let mut scenario = in_epochs(own(3, &[2], &links, &[]), 250.0);
        scenario.demand = Demand::named(CollectiveSort::AllReduce, 2e6);
        scenario.topology.switch_model.hop = hop;
        let tasks = CollectiveTasks::of(&scenario, None).unwrap();
        // Each GPU gives its half to the other one at once, then gets the sum of the other half back.
        let schedules: Vec<EpochSchedule> = tasks
            .tasks
            .iter()
            .map(|task| {
                let starts = [(0u32, 0u32, 1u32), (1, 1, 0)].into_iter().flat_map(|(chunk, from, to)| {
                    let up = task.network.link_between(from, 2).unwrap();
                    let down = task.network.link_between(2, to).unwrap();
                    let over = ChunkStart { epoch: task.epochs.latency(up), link: down, chunk };
                    [ChunkStart { epoch: 0, link: up, chunk }, over]
                });
                EpochSchedule::pruned(task, starts.collect())
            })
            .collect();
        begins(&tasks, &schedules)
    }

    #[test]
    fn a_part_waits_for_links_that_are_still_occupied() {
        let stored = reaching_over(SwitchHop::StoreAndForward);
        assert_eq!(stored, [0, 5, 10], "nothing reaches over");
        let through = reaching_over(SwitchHop::CutThrough);
        // The hop out of the switch starts at epoch 1, arrives at once and occupies its link up to epoch 5; that of the
        // next part starts an epoch after the part.
        assert_eq!(through, [0, 4, 5]);
    }
}
