//! Schedules chunk by chunk: each grows a tree of earliest arrivals through what earlier ones left of the links.
//!
//! | module | what |
//! |---|---|
//! | [`tracks`] | which epochs of a link are free |
//! | [`chains`] | ways from GPU to GPU through switches |
//! | [`place`] | the tree of one chunk |
//! | [`orders`] | orders of the chunks |

mod chains;
mod orders;
mod place;
mod tracks;

#[cfg(test)]
mod tests;

pub use chains::ChainTable;
pub use place::{FanOut, PlacementRule, Placer};
pub(super) use tracks::{LinkTracks, NEVER};

use crate::bounds::EpochBound;
use crate::model::schedule::EpochSchedule;
use crate::model::task::CollectiveTask;
use lightbay_core::method::MethodError;
use lightbay_core::random::Streams;
use lightbay_core::watch::Watch;
use rand::RngExt;

/// Limits of a construction.
#[derive(Clone, Copy, Debug)]
pub struct ConstructLimits {
    /// Passes with scores behind those with fixed orders.
    pub restarts: u32,
    /// Seed of ties.
    pub seed: u64,
}

/// Rules for demands through copying switches.
const COPYING: [PlacementRule; 5] = [
    PlacementRule { fan_out: FanOut::Opportunistic, price: 16.0 },
    PlacementRule { fan_out: FanOut::Opportunistic, price: 256.0 },
    PlacementRule { fan_out: FanOut::Atomic, price: 4.0 },
    PlacementRule { fan_out: FanOut::None, price: 0.0 },
    PlacementRule { fan_out: FanOut::Opportunistic, price: 1.0 },
];
/// Rules for all others.
const PLAIN: [PlacementRule; 2] = [
    PlacementRule { fan_out: FanOut::None, price: 0.0 },
    PlacementRule { fan_out: FanOut::None, price: 1.0 },
];

/// Rules by which chunks of a task may be placed, those that serve most often first.
fn rules(task: &CollectiveTask) -> &'static [PlacementRule] {
    let switches = (0..task.network.node_count() as u32).any(|node| task.network.is_switch(node));
    if switches && task.switch_copies && !task.chunks.is_unicast() { &COPYING } else { &PLAIN }
}

/// The best schedule of a number of passes; stops as soon as it meets the bound. `found` is told every better one. None
/// is found only where links come and go and are not up again in time.
///
/// # Errors
/// The reason to stop.
pub fn construct<W: Watch<S>, S>(
    task: &CollectiveTask,
    bound: &EpochBound,
    limits: ConstructLimits,
    watch: &mut W,
    mut found: impl FnMut(&mut W, &EpochSchedule) -> Result<(), MethodError>,
) -> Result<Option<EpochSchedule>, MethodError> {
    let mut placer = Placer::new(task);
    let mut best: Option<EpochSchedule> = None;
    let mut best_rule = rules(task)[0];
    let mut best_finishes: Vec<u32> = Vec::new();
    let mut pass =
        |order: &[u32], rule, watch: &mut W, best: &mut Option<EpochSchedule>, finishes: &mut Vec<u32>| {
            let least = best.as_ref().map(|known| known.finish);
            let Some(finish) = placer.pass(order, rule, watch)? else { return Ok(false) };
            finishes.clone_from(&placer.finishes);
            if least.is_none_or(|least| finish < least) {
                let schedule = EpochSchedule::pruned(task, placer.starts.clone());
                found(watch, &schedule)?;
                *best = Some(schedule);
                return Ok::<bool, MethodError>(true);
            }
            Ok(false)
        };
    let met = |best: &Option<EpochSchedule>| best.as_ref().is_some_and(|best| best.finish <= bound.epochs);
    for order in orders::fixed(task, bound) {
        for &rule in rules(task) {
            let mut finishes = Vec::new();
            if pass(&order, rule, watch, &mut best, &mut finishes)? {
                (best_rule, best_finishes) = (rule, finishes);
            }
            if met(&best) {
                return Ok(best);
            }
        }
    }
    // Chunks that end late move forward, in the manner of squeaky wheel optimisation.
    let mut stream = Streams::new(limits.seed).stream(0);
    let mut scores = vec![0.0f64; task.chunks.len()];
    let mut finishes = best_finishes;
    for _ in 0..limits.restarts {
        let floor = f64::from(bound.epochs.max(1));
        for (score, finish) in scores.iter_mut().zip(&finishes) {
            *score = 0.8 * *score + 4.0 * f64::from(finish.saturating_sub(bound.epochs)) / floor;
        }
        let order = orders::scored(task, &scores, || stream.random::<f64>());
        pass(&order, best_rule, watch, &mut best, &mut finishes)?;
        if met(&best) {
            break;
        }
    }
    Ok(best)
}
