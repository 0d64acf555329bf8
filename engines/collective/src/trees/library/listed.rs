//! The best list schedule for an amount of data (docs/methods/collective-trees.md, section 11).

use super::{CLOSE, NEAR, TreeEffort, TreeLibrary, TreePlan, TreePlanSort, piece_counts};
use crate::trees::list::ListOrder;
use lightbay_core::method::MethodError;
use lightbay_core::watch::Watch;
use rayon::prelude::*;

/// The effort allows at least this number of schedules with the largest number of pieces, however large the network is.
const LEAST_RUNS: u64 = 12;

/// For more than 16 pieces, the number of combinations that are tried is this number divided by the number of pieces,
/// but at least 3. The time to make one schedule is proportional to its number of pieces, so the schedules for each
/// number of pieces together take about the same time.
const RUNS_BY_PIECES: usize = 640;

/// Relative distance to the bound at which the search for list schedules ends; smaller distances are not visible in a
/// report.
const AT_FLOOR: f64 = 1e-5;

/// Trees and an order with which list schedules are made for several numbers of pieces.
#[derive(Clone, Copy, Debug)]
struct Combination {
    /// Finish with the previous number of pieces, µs.
    score: f64,
    variant: usize,
    order: ListOrder,
}

/// Fraction of the hops of all schedules that lists of balanced trees may use.
const BALANCED_PART: u64 = 4;

/// State that decides whether a combination is tried.
#[derive(Clone, Copy, Debug)]
struct TryLimits {
    /// Number of schedules, and of hops of pieces, that may still be tried.
    runs: usize,
    left: u64,
    /// Finish of the best plan, µs, and the finish, µs, at which the search ends.
    known_us: f64,
    enough_us: f64,
}

/// Decision on a combination.
enum Try {
    /// The combination is tried: number of pieces, and number of their hops.
    With(u32, u64),
    /// The combination is not tried, because the trees are slower than the best plan.
    Hopeless,
    /// The combination is not tried, because the effort is used up.
    Not,
}

impl TreeLibrary<'_> {
    /// Returns the best list schedule among numbers of pieces up to `most`, if it ends before `best`; else `best`.
    /// Makes a few schedules in advance on all threads, before it is known whether they are needed; the result does not
    /// depend on the number of threads.
    pub(super) fn plan_lists<W: Watch>(
        &self,
        mut best: Option<TreePlan>,
        shard_bytes: f64,
        floor_us: f64,
        (most, hops, run_hops): (u32, u64, u64),
        effort: &TreeEffort,
        watch: &mut W,
    ) -> Result<Option<TreePlan>, MethodError> {
        // All combinations of a set of trees and a list order, sorted by their finish with the previous number of
        // pieces.
        let mut combinations: Vec<Combination> = (0..self.variants().len())
            .flat_map(|variant| {
                ListOrder::ALL.map(|order| Combination { score: f64::INFINITY, variant, order })
            })
            .collect();
        let is_matched = best.as_ref().is_some_and(|best| matches!(best.sort, TreePlanSort::Matched(_)));
        let mut room = TryLimits {
            runs: 0,
            left: self.list_hops(effort, run_hops),
            known_us: best.as_ref().map_or(f64::INFINITY, |best| best.finish_us),
            enough_us: floor_us
                * (1.0
                    + if self.is_balanced() {
                        NEAR
                    } else if is_matched {
                        CLOSE
                    } else {
                        AT_FLOOR
                    }),
        };
        let multiple = effort.multiple.max(1);
        // From few pieces to many.
        for count in piece_counts(most) {
            // Many pieces take long, so only combinations that were good with fewer pieces are tried with many.
            room.runs =
                if count <= 16 { combinations.len() } else { (RUNS_BY_PIECES / count as usize).max(3) };
            let asked = |one: &Combination, room: &TryLimits| {
                self.asked(one, (count, multiple), hops, shard_bytes, room)
            };
            let mut made: Vec<Option<Option<f64>>> = vec![None; combinations.len()];
            for place in 0..combinations.len() {
                let one = combinations[place];
                let (pieces, cost) = match asked(&one, &room) {
                    Try::With(pieces, cost) => (pieces, cost),
                    Try::Hopeless => {
                        combinations[place].score = f64::INFINITY;
                        continue;
                    }
                    Try::Not => continue,
                };
                watch.checkpoint()?;
                if made[place].is_none() {
                    // The next combinations are evaluated in parallel; which of them are tried is decided as if no
                    // better schedule were found in between.
                    let mut ahead = room;
                    let mut block = Vec::new();
                    for (next, one) in combinations.iter().enumerate().skip(place) {
                        if block.len() == watch.threads().max(1) {
                            break;
                        }
                        if let Try::With(pieces, cost) = asked(one, &ahead) {
                            (ahead.runs, ahead.left) = (ahead.runs - 1, ahead.left - cost);
                            block.push((next, *one, pieces));
                        }
                    }
                    let finish = |&(next, one, pieces): &(usize, Combination, u32)| {
                        let list = self.list(one.variant, shard_bytes, pieces, one.order);
                        (next, list.map(|list| f64::from(list.schedule.finish) * list.timing.epoch_us))
                    };
                    let finishes: Vec<(usize, Option<f64>)> = if block.len() > 1 {
                        watch.parallel(|| block.par_iter().map(finish).collect())
                    } else {
                        block.iter().map(finish).collect()
                    };
                    for (next, finish_us) in finishes {
                        made[next] = Some(finish_us);
                    }
                }
                (room.runs, room.left) = (room.runs - 1, room.left - cost);
                let Some(finish_us) = made[place].flatten() else { continue };
                watch.count(cost);
                combinations[place].score = finish_us;
                if room.known_us > finish_us * (1.0 + 1e-9) {
                    room.known_us = finish_us;
                    let sort = TreePlanSort::List { pieces, order: one.order };
                    best = Some(TreePlan { finish_us, variant: one.variant, sort });
                }
            }
            // Sorts the combinations for the next number of pieces, the best first.
            combinations.sort_by(|one, other| one.score.total_cmp(&other.score));
        }
        Ok(best)
    }

    /// Returns the maximum number of hops of pieces in all schedules that are tried.
    fn list_hops(&self, effort: &TreeEffort, run_hops: u64) -> u64 {
        if self.is_balanced() {
            // Periodic schedules of balanced trees are usually better, except for little data.
            effort.all_hops / BALANCED_PART
        } else {
            effort.all_hops.max(LEAST_RUNS * run_hops)
        }
    }

    /// Decides whether a combination is tried with about `count` pieces.
    fn asked(
        &self,
        one: &Combination,
        (count, multiple): (u32, u32),
        hops: u64,
        shard_bytes: f64,
        room: &TryLimits,
    ) -> Try {
        // If the shares of the trees are integer numbers of pieces, all links have the intended load.
        let whole = self.whole(one.variant);
        let pieces = if count < whole { count } else { count / whole * whole };
        let pieces = (pieces / multiple * multiple).max(multiple);
        let cost = hops * u64::from(pieces);
        // No schedule of these trees exceeds their rate. Rounding to whole pieces may load links less than the shares
        // do, but only slightly.
        let bound_us = shard_bytes / (1000.0 * self.variants()[one.variant].rate);
        if bound_us * 0.98 > room.known_us {
            Try::Hopeless
        } else if room.runs == 0 || cost > room.left || room.known_us <= room.enough_us {
            Try::Not
        } else {
            Try::With(pieces, cost)
        }
    }
}
