//! Makespans and schedules of given circuits (docs/methods/training.md, section 4; docs/methods/training-search.md,
//! section 5).
//!
//! | module | what |
//! |---|---|
//! | [`iteration`] | one iteration, event by event: ideal, max-min fair, level-first |
//! | [`sinks`] | end of the last of the transfers that share a link and have no successors |
//! | [`evaluate`] | makespan of a circuit allocation, by the cheapest exact way |
//! | [`schedule`] | a simulated run as the result of a plan |
//! | [`replicas`] | a plan of one replica copied onto all of them |
//! | [`windows`] | earliest and latest times of tasks (DELTA Alg. 4), and of interval indices (Alg. 1) |
//! | [`contention`] | tasks that can ever compete |
//! | [`critical_path`] | the chain of tasks that determines the makespan |

pub mod contention;
pub mod critical_path;
pub mod evaluate;
pub mod iteration;
pub mod replicas;
pub mod schedule;
pub mod sinks;
pub mod windows;

/// Relative difference of times that counts as rounding: 45 units in the last place.
const SAME_MOMENT: f64 = 1e-14;
/// Maximum difference of times that counts as rounding, seconds.
const SAME_MOMENT_S: f64 = 1e-12;

/// An event at most this number of seconds after the time `now_s` counts as simultaneous: sums of the same delays in
/// another order differ by less. If such events were not merged, segments of almost zero length would appear. The
/// tolerance grows with the time, because a fixed tolerance would hide short transfers.
pub(crate) fn same_moment_s(now_s: f64) -> f64 {
    (now_s * SAME_MOMENT).min(SAME_MOMENT_S)
}
