//! Distribution of slack over the tasks of a plan.

use super::TaskFacts;

/// A task with at most this slack is on a critical path, seconds.
pub(super) const NONE_S: f64 = 1e-6;

/// Upper ends of the bins after the first, seconds; the last bin is unbounded.
const ENDS_S: [f64; 5] = [1e-4, 1e-3, 1e-2, 1e-1, 1.0];

/// Tasks with about the same slack.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlackBin {
    /// Lower end of the bin, seconds; the first bin begins at 0.
    pub above_s: f64,
    /// Maximum slack of the bin, seconds; infinite for the last bin.
    pub to_s: f64,
    /// Number of tasks in the bin.
    pub tasks: usize,
}

/// Counts the tasks in each range of slack: first the tasks without slack, then ranges that end at powers of ten.
/// Ranges beyond the largest slack are left out.
pub fn slack_bins(tasks: &[TaskFacts]) -> Vec<SlackBin> {
    let ends = || [NONE_S].into_iter().chain(ENDS_S).chain([f64::INFINITY]);
    let mut bins: Vec<SlackBin> = [0.0]
        .into_iter()
        .chain(ends())
        .zip(ends())
        .map(|(above_s, to_s)| SlackBin { above_s, to_s, tasks: 0 })
        .collect();
    for task in tasks {
        if let Some(bin) = bins.iter_mut().find(|bin| task.slack_s <= bin.to_s) {
            bin.tasks += 1;
        }
    }
    let used = bins.iter().rposition(|bin| bin.tasks > 0).map_or(0, |last| last + 1);
    bins.truncate(used);
    bins
}
