//! Circuits that the transfers on a link need over time.

use crate::analysis::Setting;
use crate::plan::TrainingResult;
use crate::scenario::instance::Instance;

/// Circuits beyond a whole number that count as rounding.
const ROUNDING: f64 = 1e-6;

/// A transfer that needs circuits, and the time at which this need begins or ends, seconds. Times below 0 are in the
/// previous iteration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Need {
    pub task: usize,
    pub time_s: f64,
}

/// Time during which the transfers in one direction need a constant number of circuits.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    start_s: f64,
    end_s: f64,
    circuits: f64,
    /// The transfer that started last among the transfers of the stretch; with it, the need of the stretch begins.
    first: usize,
    /// The transfer that ends first among the transfers of the stretch; with it, the need of the stretch ends.
    last: usize,
}

/// Needs on a link in one iteration.
pub(super) struct Needs {
    stretches: Vec<Stretch>,
    period_s: f64,
}

impl Needs {
    /// The needs of the transfers on a link.
    pub(super) fn of(
        instance: &Instance,
        setting: &Setting,
        result: &TrainingResult,
        link: usize,
        period_s: f64,
    ) -> Self {
        let bytes_per_s = instance.nic_bandwidth_gbps * 1e9 / 8.0;
        let carried = &setting.evaluator.network.carried;
        let mut stretches = Vec::new();
        for direction in [2 * link, 2 * link + 1] {
            let mut parts = Vec::new();
            for &task in &carried[direction] {
                for segment in &result.tasks[task as usize].segments {
                    let length_s = segment.end_s - segment.start_s;
                    if segment.volume_bytes > 0.0 && length_s > 0.0 {
                        let circuits = segment.volume_bytes / (length_s * bytes_per_s);
                        parts.push((segment.start_s, segment.end_s, circuits, task as usize));
                    }
                }
            }
            stretches.extend(summed(&parts));
        }
        Self { stretches, period_s }
    }

    /// The transfer with which the last need of more than `circuits` circuits ends, at `time_s` or before; in the
    /// previous iteration if this iteration has no such need.
    pub(super) fn last_above(&self, circuits: u32, time_s: f64) -> Option<Need> {
        self.above(circuits)
            .map(|stretch| Need { task: stretch.last, time_s: self.shifted(stretch.end_s, time_s) })
            .max_by(|a, b| a.time_s.total_cmp(&b.time_s))
    }

    /// The transfer with which the first need of more than `circuits` circuits begins, at `time_s` or later; in the
    /// next iteration if this iteration has no such need.
    pub(super) fn first_above(&self, circuits: u32, time_s: f64) -> Option<Need> {
        self.above(circuits)
            .map(|stretch| Need { task: stretch.first, time_s: -self.shifted(-stretch.start_s, -time_s) })
            .min_by(|a, b| a.time_s.total_cmp(&b.time_s))
    }

    fn above(&self, circuits: u32) -> impl Iterator<Item = &Stretch> {
        let limit = f64::from(circuits) + ROUNDING;
        self.stretches.iter().filter(move |stretch| stretch.circuits > limit)
    }

    /// Shifts the time `at_s` by a whole number of periods, to the latest time that is not after `until_s`.
    fn shifted(&self, at_s: f64, until_s: f64) -> f64 {
        // A time that equals the limit up to rounding counts as not after it.
        let rounding_s = 1e-9 * self.period_s;
        at_s + ((until_s - at_s + rounding_s) / self.period_s).floor() * self.period_s
    }
}

/// Adds up the circuits of parts that overlap in time; a part has start, end, circuits and task.
fn summed(parts: &[(f64, f64, f64, usize)]) -> Vec<Stretch> {
    let mut cuts: Vec<f64> = parts.iter().flat_map(|part| [part.0, part.1]).collect();
    cuts.sort_by(f64::total_cmp);
    cuts.dedup();
    let mut stretches: Vec<Stretch> = Vec::new();
    let mut by_start = parts.to_vec();
    by_start.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut next, mut active): (usize, Vec<(f64, f64, f64, usize)>) = Default::default();
    for pair in cuts.windows(2) {
        let (start_s, end_s) = (pair[0], pair[1]);
        active.retain(|part| part.1 > start_s);
        while let Some(part) = by_start.get(next).filter(|part| part.0 <= start_s) {
            active.push(*part);
            next += 1;
        }
        let latest = active.iter().max_by(|a, b| a.0.total_cmp(&b.0));
        let earliest = active.iter().min_by(|a, b| a.1.total_cmp(&b.1));
        if let (Some(latest), Some(earliest)) = (latest, earliest) {
            let circuits = active.iter().map(|part| part.2).sum();
            stretches.push(Stretch { start_s, end_s, circuits, first: latest.3, last: earliest.3 });
        }
    }
    stretches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transfers_that_overlap_need_the_sum_of_their_circuits() {
        // Two circuits from 1 to 4 s, three more from 2 to 3 s: five in between.
        let stretches = summed(&[(1.0, 4.0, 2.0, 7), (2.0, 3.0, 3.0, 8)]);
        let seen: Vec<_> = stretches.iter().map(|own| (own.start_s, own.end_s, own.circuits)).collect();
        assert_eq!(seen, [(1.0, 2.0, 2.0), (2.0, 3.0, 5.0), (3.0, 4.0, 2.0)]);
        let needs = Needs { stretches, period_s: 10.0 };
        // More than two circuits are needed from 2 to 3 s only, by transfer 8.
        assert_eq!(needs.last_above(2, 5.0), Some(Need { task: 8, time_s: 3.0 }));
        assert_eq!(needs.first_above(2, 0.5), Some(Need { task: 8, time_s: 2.0 }));
        // Any circuit: until 4 s, and from 1 s.
        assert_eq!(needs.last_above(0, 4.0), Some(Need { task: 7, time_s: 4.0 }));
        assert_eq!(needs.first_above(0, 0.5), Some(Need { task: 7, time_s: 1.0 }));
        // Across the end of the iteration.
        assert_eq!(needs.last_above(2, 1.0), Some(Need { task: 8, time_s: -7.0 }));
        assert_eq!(needs.first_above(2, 5.0), Some(Need { task: 8, time_s: 12.0 }));
        assert_eq!(needs.last_above(5, 5.0), None);
    }
}
