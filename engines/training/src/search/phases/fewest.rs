//! Minimum ports of schedules with two states. Each pod is computed separately: the decided links use a given number of
//! ports, and only the link that gets the remaining ports of the pod can give up circuits.

use super::Moving;
use super::boxes::MoveBox;
use super::tree::{MoveBuffers, Tree};
use lightbay_core::watch::Watch;

impl<W: Watch<Moving>> Tree<'_, '_, W> {
    /// Minimum number of ports with which schedules of a box end by `limit_s`: a lower bound for a box, exact for a
    /// single schedule, and infinite if none ends by then. Needs the circuits of the states in `self.work`, and lowers
    /// the circuits of links that get the remaining ports to the minimum.
    #[expect(clippy::needless_range_loop, reason = "a pod is an index of several lists")]
    pub(super) fn fewest(&mut self, what: &MoveBox, limit_s: f64) -> f64 {
        let (network, model) = (&self.task.evaluator.network, &self.task.evaluator.model);
        let MoveBuffers { lit, scratch, states, used } = &mut self.work;
        let scratch = &mut scratch.model;
        what.lit(self.task.delay_s, [&states[0], &states[1]], limit_s, lit);
        if model.start_over(lit, scratch) > limit_s {
            return f64::INFINITY;
        }
        if self.movable.decided.iter().any(|link| model.link_end_over(*link, lit, scratch) > limit_s) {
            return f64::INFINITY;
        }
        for (low, used) in what.low.iter().zip(used.iter_mut()) {
            self.movable.used(network, low, used);
        }
        let mut total = 0;
        for pod in 0..network.budget.pods() {
            let Some(ports) = self.movable.ports(pod) else { continue };
            let least = used[0][pod].max(used[1][pod]);
            let Some(rest) = self.movable.rest_at(pod) else {
                total += least;
                continue;
            };
            let mut ends_with = |ports: u32| {
                for state in 0..2 {
                    states[state][rest.0] = self.movable.rest_circuits(rest, ports - used[state][pod]);
                }
                what.lit(self.task.delay_s, [&states[0], &states[1]], limit_s, lit);
                model.link_end_over(rest.0, lit, scratch) <= limit_s
            };
            // More ports never make the end later, so bisection finds the fewest ports.
            let (mut fails, mut serves) = (least, ports);
            if ends_with(least) {
                serves = least;
            } else if ports == least || !ends_with(ports) {
                return f64::INFINITY;
            }
            while serves > fails + 1 {
                let middle = u32::midpoint(fails, serves);
                if ends_with(middle) { serves = middle } else { fails = middle }
            }
            ends_with(serves);
            total += serves;
        }
        f64::from(total)
    }
}
