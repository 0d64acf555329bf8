//! Demand of the active tasks of a directed link, compared with its circuits, over time.

use crate::model::network::Network;
use crate::simulate::iteration::Trace;

/// A stretch in which the same tasks are active.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DemandStep {
    /// Start of the stretch, seconds.
    pub from_s: f64,
    /// End of the stretch, seconds.
    pub to_s: f64,
    /// Total number of flows of the active tasks; each flow could fill a whole NIC.
    pub flows: f64,
}

/// Demand on a directed link, compared with its capacity.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Demand {
    /// Stretches from the first start to the last finish, without gaps; the demand of a stretch without an active task
    /// is 0.
    pub steps: Vec<DemandStep>,
    /// Number of circuits; it is also the capacity of the directed link, in NICs.
    pub circuits: u32,
    /// Time in which the demand exceeds the capacity of the circuits, seconds.
    pub above_s: f64,
    /// Maximum number of flows active at the same time.
    pub peak_flows: u32,
    /// Sum over the tasks of the directed link: duration minus V/(F*B), seconds.
    pub late_s: f64,
    /// Part of the makespan that the critical tasks of the directed link cost, seconds.
    pub costs_s: f64,
}

impl Demand {
    /// Demand of the tasks `carried` by a directed link with `circuits`. Sets the cost of the tasks to 0, because this
    /// function does not know the cost.
    pub fn new(network: &Network, trace: &Trace, carried: &[u32], circuits: u32) -> Self {
        let steps = steps(carried, &network.flows, &trace.start, &trace.finish);
        let above = |step: &&DemandStep| step.flows > f64::from(circuits);
        let takes = |task: u32| trace.finish[task as usize] - trace.start[task as usize];
        Self {
            circuits,
            above_s: steps.iter().filter(above).map(|step| step.to_s - step.from_s).sum(),
            peak_flows: steps.iter().map(|step| step.flows).fold(0.0, f64::max) as u32,
            late_s: carried.iter().map(|task| takes(*task) - network.tau[*task as usize]).sum(),
            costs_s: 0.0,
            steps,
        }
    }
}

/// Returns the stretches between starts and finishes of tasks, each with the total number of active flows.
fn steps(carried: &[u32], flows: &[f64], start: &[f64], finish: &[f64]) -> Vec<DemandStep> {
    let mut changes: Vec<(f64, f64)> = carried
        .iter()
        .map(|task| *task as usize)
        .flat_map(|task| [(start[task], flows[task]), (finish[task], -flows[task])])
        .collect();
    // At equal times an end comes before a start, so that tasks that follow each other do not overlap.
    changes.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let mut steps: Vec<DemandStep> = Vec::with_capacity(changes.len());
    let mut now = 0.0;
    for pair in changes.windows(2) {
        now += pair[0].1;
        let (from_s, to_s) = (pair[0].0, pair[1].0);
        if to_s > from_s {
            steps.push(DemandStep { from_s, to_s, flows: now });
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_that_follow_each_other_do_not_overlap() {
        let (start, finish) = ([0.0, 1.0, 1.5], [1.0, 2.0, 3.0]);
        let flows = |carried: &[u32]| -> Vec<(f64, f64, f64)> {
            steps(carried, &[4.0, 2.0, 1.0], &start, &finish)
                .iter()
                .map(|step| (step.from_s, step.to_s, step.flows))
                .collect()
        };
        assert_eq!(flows(&[0, 1, 2]), [(0.0, 1.0, 4.0), (1.0, 1.5, 2.0), (1.5, 2.0, 3.0), (2.0, 3.0, 1.0)]);
        assert_eq!(flows(&[0, 2]), [(0.0, 1.0, 4.0), (1.0, 1.5, 0.0), (1.5, 3.0, 1.0)]);
        assert!(flows(&[]).is_empty());
    }
}
