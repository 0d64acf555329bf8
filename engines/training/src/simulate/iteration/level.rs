//! The level-first rule: tasks that determine the end of the iteration are served first.
//!
//! The level of a task is its remaining time at full speed: its own work and the longest tail after it. Tasks of equal
//! level are served together by progressive filling on the capacity that higher levels leave.

use super::fill::Filler;
use super::{IterationRun, Simulator, What};
use crate::model::network::Network;

/// Longest path from the end of every task to the end of the iteration at full speed, seconds.
pub fn tails_to_go(network: &Network) -> Vec<f64> {
    let mut tails = Vec::new();
    tails_into(network, &mut tails);
    tails
}

pub(super) fn tails_into(network: &Network, tails: &mut Vec<f64>) {
    // Backward pass.
    tails.clone_from(&network.tail);
    for &task in network.order.iter().rev() {
        for arc in network.succs.of(task) {
            let next = arc.task as usize;
            tails[task as usize] = tails[task as usize].max(arc.delay + network.tau[next] + tails[next]);
        }
    }
}

impl Simulator {
    fn level_at(&self, task: u32, now: f64) -> f64 {
        self.left_at(task, now) + self.to_go[task as usize]
    }

    /// Computes the speeds of a component by level.
    pub(super) fn level_speeds(&self, fill: &mut Filler, now: f64, run: &IterationRun<'_>) {
        // Current levels of the tasks of the component, highest first.
        fill.ranked.clear();
        for &task in &fill.tasks {
            fill.ranked.push((self.level_at(task, now), task));
        }
        fill.ranked.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let mut from = 0;
        while from < fill.ranked.len() {
            // Tasks of equal level share capacity; groups of lower level get the remaining capacity.
            let head = fill.ranked[from].0;
            let group = fill.ranked[from..].iter().take_while(|(level, _)| head - level <= run.tolerance);
            let to = from + group.count();
            fill.serve(from, to, run);
            from = to;
        }
    }

    /// Schedules the next moment at which the levels of two tasks that share a resource become equal.
    pub(super) fn plan_meeting(&mut self, fill: &Filler, now: f64, run: &IterationRun<'_>) {
        for &task in &fill.tasks {
            self.meet_version[task as usize] += 1;
        }
        // First meeting of any two tasks that share a resource and whose levels converge.
        let mut soonest = f64::INFINITY;
        for &resource in &fill.resources {
            let running = &self.running[resource as usize];
            for (position, &a) in running.iter().enumerate() {
                for &b in &running[position + 1..] {
                    let apart = self.level_at(a, now) - self.level_at(b, now);
                    let closing = fill.speed_of(a) - fill.speed_of(b);
                    if apart.abs() > run.tolerance && apart * closing > 0.0 {
                        soonest = soonest.min(apart / closing);
                    }
                }
            }
        }
        if soonest.is_finite() {
            let representative = fill.tasks[0];
            let version = self.meet_version[representative as usize];
            // At least the tolerance ahead, so that events do not accumulate at one time.
            self.push(now + soonest.max(run.tolerance), representative, What::Meet, version);
        }
    }
}
