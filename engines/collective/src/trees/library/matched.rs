//! Search for the best matching of pieces to links, for an amount of data (docs/methods/collective-trees.md, section
//! 11).

use super::{TreeEffort, TreeLibrary, TreePlan, TreePlanSort, piece_counts};
use crate::trees::matching::{MatchOrder, Matching, matching, suits};
use crate::trees::timing::PieceTiming;
use lightbay_core::method::MethodError;
use lightbay_core::watch::Watch;
use std::sync::Arc;

/// Fraction of the hops of all schedules that matchings may use: a quarter leaves most of the work for list schedules.
const PART: u64 = 4;

/// The same if the LP model for the shares of the trees is large.
const NEAR_ENOUGH: f64 = 3e-3;

/// Relative distance to the floor below which more pieces are not worth their size in the plan.
const ENOUGH: f64 = 1e-4;

impl TreeLibrary<'_> {
    /// Returns `true` if pieces can be matched to links: every node is a rank.
    pub fn is_matched(&self) -> bool {
        suits(self.network) && self.ranks == self.network.node_count()
    }

    /// Returns the schedule of a matching with a number of pieces of every root; `None` if it has too many epochs.
    ///
    /// # Errors
    /// If the run must stop.
    pub fn matched<W: Watch>(
        &self,
        shard_bytes: f64,
        pieces: u32,
        order: MatchOrder,
        watch: &mut W,
    ) -> Result<Option<TreePlan>, MethodError> {
        let Some(timing) = PieceTiming::new(self.network, shard_bytes / f64::from(pieces)) else {
            return Ok(None);
        };
        let found = matching((self.network, &self.fold), &self.data, &timing, pieces, order, watch)?;
        Ok(found.map(|found: Matching| TreePlan {
            finish_us: f64::from(found.finish) * timing.epoch_us,
            variant: 0,
            sort: TreePlanSort::Matched(Arc::new(found)),
        }))
    }

    /// Returns the best matching among numbers of pieces up to `most`, each (except `most`) at least twice the previous
    /// number: with more pieces, the links are busy earlier; with fewer, rounding latencies up to epochs costs less.
    /// `None` if no matching was found.
    pub(super) fn plan_matched<W: Watch>(
        &self,
        shard_bytes: f64,
        floor_us: f64,
        (most, hops): (u32, u64),
        effort: &TreeEffort,
        watch: &mut W,
    ) -> Result<Option<TreePlan>, MethodError> {
        let mut best: Option<TreePlan> = None;
        let mut left = effort.all_hops / PART;
        let multiple = effort.multiple.max(1);
        let mut before = 0;
        // Without symmetries, a matching takes long: the largest number comes first, and a close matching is enough.
        let (most, enough) = if self.is_balanced() {
            (most.min((left / hops) as u32).max(1), NEAR_ENOUGH)
        } else {
            (most, ENOUGH)
        };
        let mut counts = piece_counts(most);
        if self.is_balanced() {
            counts.rotate_right(1);
        }
        for count in counts {
            let pieces = (count / multiple * multiple).max(multiple);
            let cost = hops * u64::from(pieces);
            // Tries a number of pieces only if it is at least twice the previous one, or the largest.
            let doubled = pieces >= 2 * before || count == most;
            if !doubled || (best.is_some() && cost * MatchOrder::ALL.len() as u64 > left) {
                continue;
            }
            before = if count == most { 0 } else { pieces };
            for order in MatchOrder::ALL {
                let known = best.as_ref().map_or(f64::INFINITY, |best| best.finish_us);
                // The matching is close enough to the floor.
                if known <= floor_us * (1.0 + enough) {
                    return Ok(best);
                }
                left = left.saturating_sub(cost);
                watch.count(cost);
                let found = self.matched(shard_bytes, pieces, order, watch)?;
                best = found.filter(|found| found.finish_us < known * (1.0 - 1e-9)).or(best);
            }
        }
        Ok(best)
    }
}
