//! Use of each link by a plan.

use super::slack::NONE_S;
use super::{Demand, Setting, TaskFacts};
use crate::simulate::iteration::Trace;

/// A link in a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkFacts {
    /// Number of circuits in the plan.
    pub circuits: u32,
    /// Number of useful circuits (DELTA Alg. 2).
    pub bound: u32,
    /// Bytes sent in the busier direction divided by the bytes that the circuits of the link could carry over the
    /// iteration.
    pub busy: f64,
    /// Maximum number of flows that are active at the same time in one direction.
    pub peak_flows: u32,
    /// Minimum slack of the tasks of the link if everything after them runs at ideal speed, seconds.
    pub slack_s: f64,
    /// Minimum slack of the tasks of the link if everything after them takes as long as in the plan, seconds.
    pub spare_s: f64,
    /// `true` if flows of a critical task wait for circuits of this link.
    pub holds_up: bool,
}

impl LinkFacts {
    /// Returns `true` if the link has more than one circuit and each of its tasks can finish later without lengthening
    /// the iteration of the plan, so that the link could give up a circuit.
    pub fn donates(&self) -> bool {
        self.spare_s > NONE_S && self.circuits > 1
    }
}

pub(super) fn facts(
    setting: &Setting,
    circuits: &[u32],
    trace: &Trace,
    tasks: &[TaskFacts],
    demand: &[Demand],
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
            let peak_flows = [2 * link, 2 * link + 1].map(|direction| demand[direction].peak_flows);
            let all = || directions.iter().flat_map(|carried| carried.iter().copied());
            LinkFacts {
                circuits,
                bound: setting.circuit_bounds[link],
                busy: if could > 0.0 { bytes / could } else { 0.0 },
                peak_flows: peak_flows[0].max(peak_flows[1]),
                spare_s: all().map(|task| tasks[task as usize].spare_s).fold(f64::INFINITY, f64::min),
                slack_s: all().map(|task| tasks[task as usize].slack_s).fold(f64::INFINITY, f64::min),
                holds_up: all().any(|task| {
                    let facts = &tasks[task as usize];
                    // A duration that exceeds the minimum by more than rounding means that the circuits limit the task,
                    // not the NICs.
                    facts.critical && facts.takes_s() > facts.least_s * (1.0 + 1e-6)
                }),
            }
        })
        .collect()
}
