//! A schedule in slots by the level-first rule; it gives the horizon of the model and a starting point.

use super::{slot_of, slots};
use crate::model::network::Network;
use crate::simulate::iteration::tails_to_go;

/// Remaining work below this fraction of a slot at one NIC counts as done.
const WORK_ROUNDING: f64 = 1e-9;

/// A schedule in slots, with its circuits.
#[derive(Clone, Debug, PartialEq)]
pub struct Slots {
    /// Circuits per link.
    pub circuits: Vec<u32>,
    /// First slot of each task.
    pub first: Vec<u32>,
    /// Rate of each task in consecutive slots from its first slot on, NICs.
    pub rates: Vec<Vec<f64>>,
    /// Number of slots until the end of the iteration.
    pub end: u32,
}

impl Slots {
    /// Builds a schedule in slots: in every slot, serves tasks in descending order of remaining work plus tail. `None`
    /// if the schedule takes more than `most` slots.
    pub fn level_first(network: &Network, circuits: &[u32], slot_s: f64, most: u32) -> Option<Self> {
        // Kahn's algorithm in slots: a task begins when all its predecessors have ended.
        let n = network.tasks();
        let to_go = tails_to_go(network);
        let mut pending: Vec<usize> = (0..n).map(|task| network.preds.of(task as u32).len()).collect();
        let mut ready: Vec<u32> = network.release.iter().map(|release| slot_of(*release, slot_s)).collect();
        let mut left: Vec<f64> =
            (0..n).map(|task| network.flows[task] * network.tau[task] / slot_s).collect();
        let mut waiting: Vec<usize> = (0..n).filter(|task| pending[*task] == 0).collect();
        let mut running: Vec<usize> = Vec::new();
        let mut schedule =
            Self { circuits: circuits.to_vec(), first: vec![0; n], rates: vec![Vec::new(); n], end: 0 };
        let mut open = n;
        let mut slot = 0;
        while open > 0 {
            if slot >= most {
                return None;
            }
            // Tasks begin in the first slot at or after their release.
            waiting.retain(|&task| {
                let begins = ready[task] <= slot;
                if begins {
                    schedule.first[task] = slot;
                    running.push(task);
                }
                !begins
            });
            // Level-first (section 4 of docs/methods/training.md) with whole slots.
            let level = |task: &usize| left[*task] * slot_s / network.flows[*task] + to_go[*task];
            running.sort_by(|a, b| level(b).total_cmp(&level(a)).then(a.cmp(b)));
            let mut free: Vec<f64> =
                (0..network.carried.len()).map(|via| f64::from(circuits[via / 2])).collect();
            let mut nics = vec![1.0f64; network.nic_groups.len()];
            for &task in &running {
                let flows = network.flows[task];
                let via = network.via[task] as usize;
                // Greedy by level: each task gets the remaining capacity of links and NICs.
                let mut rate = flows.min(left[task]).min(free[via]);
                for &(group, weight) in &network.nics_of[task] {
                    rate = rate.min(nics[group as usize] * flows / weight);
                }
                let rate = rate.max(0.0);
                free[via] -= rate;
                for &(group, weight) in &network.nics_of[task] {
                    nics[group as usize] -= rate * weight / flows;
                }
                left[task] -= rate;
                schedule.rates[task].push(rate);
            }
            slot += 1;
            // Work left below WORK_ROUNDING is rounding of the divisions above.
            running.retain(|&task| {
                if left[task] > WORK_ROUNDING {
                    return true;
                }
                open -= 1;
                schedule.end = schedule.end.max(slot + slots(network.tail[task], slot_s));
                for arc in network.succs.of(task as u32) {
                    let next = arc.task as usize;
                    ready[next] = ready[next].max(slot + slots(arc.delay, slot_s));
                    pending[next] -= 1;
                    if pending[next] == 0 {
                        waiting.push(next);
                    }
                }
                false
            });
        }
        Some(schedule)
    }
}
