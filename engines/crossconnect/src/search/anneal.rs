//! Annealing of whole assignments by the walk of [`crate::search::walk`] (docs/methods/crossconnect.md, section 6): the
//! temperature starts high enough to leave every local optimum, then falls.
//!
//! Each round is several times as long as the previous one. Short rounds find good plans within a fraction of a second,
//! long ones find better plans, and stopping the search keeps the best plan of all rounds so far. In every round
//! several chains run in parallel, each with its own random numbers, so the result does not depend on the number of
//! threads.

use crate::model::assignment::Assignment;
use crate::model::task::Task;
use crate::search::walk::{AssignmentWalk, Dice, Heat, Step};
use lightbay_core::event::{EventBody, SolverStats};
use lightbay_core::method::MethodError;
use lightbay_core::random::Streams;
use lightbay_core::watch::Watch;
use rand::Rng;
use rayon::iter::{IndexedParallelIterator, IntoParallelRefMutIterator, ParallelIterator};

#[cfg(test)]
pub(crate) mod tests;

/// Settings of annealing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AnnealSettings {
    /// `true` if pairs of pods may change their orientation.
    pub joint: bool,
    /// The round to start with, if earlier rounds are done.
    pub first: u32,
    /// Number of rounds, including earlier rounds that are done.
    pub rounds: u32,
    /// Number of steps of a chain in the first round, for each target circuit.
    pub steps_per_circuit: u64,
    /// Number of chains that run in parallel.
    pub chains: u32,
    /// Temperature at the beginning of a round, in circuits.
    pub hot: f64,
    /// Temperature at the end of a round, in circuits.
    pub cold: f64,
    /// Cost of entering a state in which a cell is -1, in kept circuits.
    pub detour: f64,
}

impl Default for AnnealSettings {
    fn default() -> Self {
        // Temperatures are in circuits: at 0.4, a step that loses one circuit is accepted in 8 of 100 cases, at 0.25 in
        // 2 of 100.
        Self {
            joint: true,
            first: 0,
            rounds: 6,
            steps_per_circuit: 2000,
            chains: 2,
            hot: 0.4,
            cold: 0.25,
            detour: 1.0,
        }
    }
}

/// Factor by which a round is longer than the previous one; all earlier rounds together cost half as much as a round.
pub const GROWTH: u64 = 3;

/// Number of steps between two changes of the temperature, and between two stop checks: well under 5 ms of work.
const SLICE: u64 = 4096;

/// One chain of the annealing: a walk and the best state that it has reached.
struct AnnealChain {
    walk: AssignmentWalk,
    dice: Dice,
    /// Circuits kept by the best state of this round.
    kept: i64,
    /// The best state of this round, if it is better than the start of the round.
    best: Option<Assignment>,
}

impl AnnealChain {
    fn run(&mut self, heat: &Heat, steps: u64) {
        for _ in 0..steps {
            // Only proper states are plans.
            let arrived = self.walk.step(heat, &mut self.dice) == Step::Arrived;
            if arrived && self.walk.kept() > self.kept {
                self.kept = self.walk.kept();
                self.best = Some(self.walk.assignment());
            }
        }
    }
}

/// Anneals from a solution of the task until all rounds are over or a plan meets `bound`; returns the best plan. Calls
/// `found` with every better plan and its removals; the value that `found` returns replaces the bound.
///
/// # Errors
/// The error of the watch or of `found`.
pub fn anneal<W: Watch>(
    task: &Task,
    start: &Assignment,
    bound: u64,
    settings: &AnnealSettings,
    streams: Streams,
    watch: &mut W,
    found: &mut dyn FnMut(&mut W, u64, &Assignment) -> Result<(), MethodError>,
) -> Result<Assignment, MethodError> {
    // Anytime search: stopping keeps the best plan of all rounds so far.
    let mut best = start.clone();
    // The walk maximises kept circuits; the search minimises removed ones.
    let mut removed = task.removed(&best);
    let circuits = start.circuits();
    if circuits == 0 {
        return Ok(best);
    }
    for round in settings.first..settings.rounds {
        // Long rounds cost more, but each starts from the best plan.
        let steps =
            settings.steps_per_circuit.saturating_mul(circuits).saturating_mul(GROWTH.saturating_pow(round));
        if removed <= bound {
            break;
        }
        // Every chain of every round has its own random stream, independent of the thread that runs it.
        let mut chains: Vec<AnnealChain> = (0..settings.chains)
            .map(|chain| {
                let number = u64::from(round) * u64::from(settings.chains) + u64::from(chain);
                // Each round starts from the best plan, so a round without improvement costs only its own time.
                let walk = AssignmentWalk::new(task, &best, settings.joint);
                let kept = walk.kept();
                AnnealChain { walk, dice: Dice::new(streams.stream(number).next_u64()), kept, best: None }
            })
            .collect();
        let mut done = 0;
        while done < steps && removed > bound {
            watch.checkpoint()?;
            let share = done as f64 / steps as f64;
            // Geometric cooling over the steps of the round.
            let temperature = settings.hot * (settings.cold / settings.hot).powf(share);
            let heat = Heat::new(temperature, settings.detour);
            // The last slice may be shorter.
            let slice = SLICE.min(steps - done);
            watch.parallel(|| {
                chains.par_iter_mut().with_max_len(1).for_each(|chain| chain.run(&heat, slice));
            });
            done += slice;
            watch.count(slice * u64::from(settings.chains));
            // Chains are visited in order, so that ties between them always end the same way.
            for chain in &mut chains {
                let Some(better) = chain.best.take() else { continue };
                // Removals of better states are recounted on the task.
                let value = task.removed(&better);
                if value < removed {
                    // Every chain continues from its present state; only the best plan is shared.
                    removed = value;
                    found(watch, removed, &better)?;
                    best = better;
                }
            }
        }
        watch.report(EventBody::Solver(SolverStats {
            unit: "rounds".to_owned(),
            done: u64::from(round) + 1,
            total: Some(u64::from(settings.rounds)),
            ..SolverStats::default()
        }));
    }
    Ok(best)
}
