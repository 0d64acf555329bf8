//! How much of each link a plan uses.

use super::{Setting, TaskFacts};
use crate::sim::Trace;

/// A link in a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkFacts {
    /// Circuits in the plan.
    pub circuits: u32,
    /// Useful circuits (DELTA Alg. 2).
    pub bound: u32,
    /// Bytes sent in the busier direction, as a share of what its circuits could carry over the iteration.
    pub busy: f64,
    /// Most flows active at the same time in one direction.
    pub peak_flows: u32,
    /// Least slack of its tasks, seconds.
    pub slack_s: f64,
    /// Whether flows of a critical task wait for circuits here.
    pub holds_up: bool,
}

pub(super) fn facts(
    setting: &Setting,
    circuits: &[u32],
    trace: &Trace,
    tasks: &[TaskFacts],
) -> Vec<LinkFacts> {
    let network = &setting.evaluator.network;
    circuits
        .iter()
        .enumerate()
        .map(|(link, &circuits)| {
            let directions = [2 * link, 2 * link + 1].map(|direction| &network.carried[direction]);
            let bytes = directions
                .iter()
                .map(|carried| carried.iter().map(|task| network.volume[*task as usize]).sum::<f64>())
                .fold(0.0, f64::max);
            let could = f64::from(circuits) * network.rate * trace.makespan;
            let peak = directions
                .iter()
                .map(|carried| peak_flows(carried, &network.flows, trace))
                .fold(0.0, f64::max);
            let all = || directions.iter().flat_map(|carried| carried.iter().copied());
            LinkFacts {
                circuits,
                bound: setting.circuit_bounds[link],
                busy: if could > 0.0 { bytes / could } else { 0.0 },
                peak_flows: peak as u32,
                slack_s: all().map(|task| tasks[task as usize].slack_s).fold(f64::INFINITY, f64::min),
                holds_up: all().any(|task| {
                    let facts = &tasks[task as usize];
                    // More than numerical noise above the least duration means the circuits, not the NICs, decide.
                    facts.critical && facts.takes_s() > facts.least_s * (1.0 + 1e-6)
                }),
            }
        })
        .collect()
}

/// Largest sum of flows of tasks that are active at the same time.
fn peak_flows(carried: &[u32], flows: &[f64], trace: &Trace) -> f64 {
    let mut changes: Vec<(f64, f64)> = carried
        .iter()
        .flat_map(|&task| {
            let task = task as usize;
            [(trace.start[task], flows[task]), (trace.finish[task], -flows[task])]
        })
        .collect();
    // At the same moment an end comes before a start: tasks that follow each other do not overlap.
    changes.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let (mut now, mut peak) = (0.0, 0.0_f64);
    for (_, change) in changes {
        now += change;
        peak = peak.max(now);
    }
    peak
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_that_follow_each_other_do_not_overlap() {
        let trace = Trace { start: vec![0.0, 1.0, 1.5], finish: vec![1.0, 2.0, 3.0], ..Trace::default() };
        assert_eq!(peak_flows(&[0, 1, 2], &[4.0, 2.0, 1.0], &trace), 4.0);
        assert_eq!(peak_flows(&[1, 2], &[4.0, 2.0, 1.0], &trace), 3.0);
    }
}
