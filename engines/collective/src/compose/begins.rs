//! Parts of a collective that run one after the other.

use crate::model::schedule::EpochSchedule;
use crate::model::task::CollectiveTasks;

/// Returns the epochs at which the parts of a plan begin, then the epoch of the last delivery. A part begins when the
/// previous part ends, because no link transmits after the last arrival.
pub fn begins(tasks: &CollectiveTasks, schedules: &[EpochSchedule]) -> Vec<u32> {
    let mut begins = vec![0];
    let ends = tasks.tasks.iter().zip(schedules).scan(0, |end, (_, schedule)| {
        *end += schedule.finish;
        Some(*end)
    });
    begins.extend(ends);
    begins
}

/// Returns the number of epochs until the last delivery of schedules that run one after the other.
pub fn epochs_of(tasks: &CollectiveTasks, schedules: &[EpochSchedule]) -> u32 {
    begins(tasks, schedules).last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::schedule::ChunkStart;
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
        assert_eq!(stored, [0, 5, 10]);
        let through = reaching_over(SwitchHop::CutThrough);
        // Into the switch for 1 epoch; out of it the link transmits for 4, from the first byte on.
        assert_eq!(through, [0, 4, 8]);
    }
}
