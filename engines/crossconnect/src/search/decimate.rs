//! Decimation by beliefs (docs/methods/crossconnect.md, section 7): fixes the circuits with the largest beliefs,
//! computes the beliefs of the rest again, and so on; repairs what cannot be placed; then frees random circuits of the
//! best plan and places them again in the same way.
//!
//! A belief estimates the share of the good plans that have a circuit, over all switches and orientations at once. A
//! search by small steps must cross plans with more removals to move from one such plan to
//! another.

use crate::model::assignment::{Assignment, Cell};
use crate::model::task::{Task, merged};
use crate::search::lns::circuits::{minus, without};
use crate::search::orient::{Preference, orient};
use crate::search::polish::feasible;
use crate::search::repair::repair;
use crate::search::scaling::{CircuitSpot, Scaling, placed};
use lightbay_core::method::MethodError;
use lightbay_core::random::{SplitMix, Streams};
use lightbay_core::watch::{StopTest, Watch};
use rand::Rng;
use rayon::iter::{IndexedParallelIterator, IntoParallelRefMutIterator, ParallelIterator};

#[cfg(test)]
mod tests;

/// Settings of the search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DecimationSettings {
    /// Number of tries that run in parallel.
    pub chains: u32,
    /// The round to start with, if earlier rounds are done.
    pub first: u64,
    /// Number of rounds, including earlier rounds that are done.
    pub rounds: u64,
    /// Number of rounds without an improvement after which the search stops.
    pub patience: u64,
    /// Temperature of the beliefs, in circuits.
    pub temperature: f64,
    /// Fraction of the remaining circuits that are fixed between two scalings.
    pub share: f64,
}

impl Default for DecimationSettings {
    fn default() -> Self {
        Self { chains: 2, first: 0, rounds: u64::MAX, patience: 600, temperature: 0.2, share: 0.05 }
    }
}

/// Sweeps before the first circuits are fixed, and between two further steps: fixing few circuits changes the messages
/// little, and more tries find more than more sweeps.
const FIRST_SWEEPS: usize = 60;
const SWEEPS: usize = 3;

/// Largest relative change of a belief by chance, so that tries differ.
const NOISE: f32 = 0.2;

/// Fraction of the kept circuits that a try frees, and factor on its temperature, in turn. High temperatures find places
/// for more circuits, low ones keep more.
const TRIES: [(f64, f64); 6] = [(0.3, 1.0), (0.7, 1.4), (0.5, 0.6), (0.15, 1.4), (0.7, 0.6), (0.06, 4.0)];

/// Returns the removals that a circuit without a place counts as. Chains between two switches are longer with more pods;
/// an insertion costs about 7 removals in a full hall of 32 pods.
fn unplaced_cost(task: &Task) -> u64 {
    (task.pods as u64 / 8).max(4)
}

/// One try.
struct DecimationTry {
    dice: SplitMix,
    temperature: f64,
    freed: f64,
    noise: f32,
    found: Result<Placing, MethodError>,
    units: u64,
}

/// Circuits that a try placed. The search continues from assignments in which a few circuits have no place: in a full
/// hall, inserting each of them by chains costs several removals, and the next try may place them without any.
#[derive(Clone, Debug, Default)]
struct Placing {
    placed: Assignment,
    /// Removed circuits, plus [`unplaced_cost`] for each circuit without a place.
    score: u64,
    /// A plan and its removals, if the try led to one that may be better than the best.
    plan: Option<(u64, Assignment)>,
}

impl DecimationTry {
    fn run(&mut self, task: &Task, base: &Placing, least: u64, share: f64, watch: &mut StopTest) {
        self.found = self.placing(task, base, least, share, watch);
        self.units = watch.units;
    }

    fn placing(
        &mut self,
        task: &Task,
        base: &Placing,
        least: u64,
        share: f64,
        watch: &mut StopTest,
    ) -> Result<Placing, MethodError> {
        let fixed = fixed(task, &base.placed, self.freed, &mut self.dice);
        let rest = without(task, &fixed);
        let spots = self.decimated(Scaling::new(&rest, watch)?, share, watch)?;
        let more = placed(task.ocs_count, &spots);
        let both = fixed.ocs.iter().zip(&more.ocs);
        let placed =
            Assignment { ocs: both.map(|(one, two)| merged(one.iter().chain(two).copied())).collect() };
        let wanted: u64 = task.wanted.iter().map(|cell| u64::from(cell.count)).sum();
        let unplaced = wanted - placed.circuits();
        let removed = task.removed(&placed);
        let score = removed + unplaced_cost(task) * unplaced;
        // Completes only what may become better: insertion takes longer than a try.
        let may_gain = removed + unplaced_cost(task) * unplaced / 2 < least;
        let plan = if may_gain { completed(task, &placed, watch)? } else { None };
        let plan = plan.filter(|plan| task.misfit(plan).is_none()).map(|plan| (task.removed(&plan), plan));
        Ok(Placing { placed, score, plan })
    }

    /// Fixes circuits one group after the other until no column is left; returns their places.
    fn decimated(
        &mut self,
        mut scaling: Scaling,
        share: f64,
        watch: &mut StopTest,
    ) -> Result<Vec<CircuitSpot>, MethodError> {
        let mut spots = Vec::new();
        let mut sweeps = FIRST_SWEEPS;
        let mut left: f64 = scaling.left();
        while scaling.columns() > 0 {
            scaling.believe(self.temperature, sweeps, watch)?;
            sweeps = SWEEPS;
            let dice = &mut self.dice;
            let mut chance = || (dice.draw() >> 40) as f32 / (1u32 << 24) as f32;
            let noisy = |expected: f32| expected * self.noise.mul_add(chance(), 1.0);
            let mut keys: Vec<(f32, u32)> = scaling.believed().map(noisy).zip(0..).collect();
            let wanted = ((share * left) as usize).max(1);
            let order =
                |one: &(f32, u32), other: &(f32, u32)| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1));
            if wanted < keys.len() {
                keys.select_nth_unstable_by(wanted, order);
                keys.truncate(wanted);
            }
            keys.sort_unstable_by(order);
            for (_, at) in keys {
                if let Some(spot) = scaling.fix(at as usize) {
                    spots.push(spot);
                    left -= 1.0;
                }
            }
            scaling.prune();
        }
        Ok(spots)
    }
}

/// Returns the circuits of a plan that stay in a try: each is freed with probability `freed`.
fn fixed(task: &Task, plan: &Assignment, freed: f64, dice: &mut SplitMix) -> Assignment {
    let limit = (freed * (1u64 << 32) as f64) as u64;
    let mut stay = |cell: &Cell| Cell {
        count: (0..cell.count).filter(|_| (dice.draw() >> 32) >= limit).count() as u32,
        ..*cell
    };
    let mut ocs: Vec<Vec<Cell>> = plan
        .ocs
        .iter()
        .zip(&task.installed.ocs)
        .map(|(cells, old)| {
            // New circuits are always free: they are what the search must place better.
            let new = minus(cells, old);
            minus(cells, &new).iter().map(&mut stay).filter(|cell| cell.count > 0).collect()
        })
        .collect();
    ocs.resize(task.ocs_count, Vec::new());
    Assignment { ocs }
}

/// Inserts the circuits that a partial assignment lacks; `None` if this fails, which can happen if ports differ between
/// switches.
fn completed(
    task: &Task,
    partial: &Assignment,
    watch: &mut impl Watch,
) -> Result<Option<Assignment>, MethodError> {
    if task.misfit(partial).is_none() {
        return Ok(Some(partial.clone()));
    }
    // The circuits of the assignment count as installed for the orientation, which then turns as few as possible.
    let like = Task { installed: partial.clone(), ..task.clone() };
    let all: Vec<usize> = (0..task.ocs_count).collect();
    let Some(demand) = feasible(orient(&like, &all, &task.wanted, Preference::none(), watch))? else {
        return Ok(None);
    };
    feasible(repair(task, &demand, partial, watch))
}

/// Improves a solution of the task, which must not be single-sided, over all orientations. Calls `found` with every
/// better plan and its removals, and ends when the removals reach `bound`.
///
/// # Errors
/// The error of the watch or of `found`.
pub fn search<W: Watch>(
    task: &Task,
    start: &Assignment,
    bound: u64,
    settings: DecimationSettings,
    streams: Streams,
    watch: &mut W,
    found: &mut dyn FnMut(&mut W, u64, &Assignment) -> Result<(), MethodError>,
) -> Result<Assignment, MethodError> {
    let mut best = start.clone();
    best.ocs.resize(task.ocs_count, Vec::new());
    let mut removed = task.removed(&best);
    let mut base = Placing { placed: best.clone(), score: removed, plan: None };
    if settings.first == 0 {
        // The first round does not depend on the start, which therefore does not compete with it.
        base.score = u64::MAX;
    }
    let (mut idle, mut round) = (0, settings.first);
    while removed > bound && idle < settings.patience && round < settings.rounds {
        watch.checkpoint()?;
        let chains = u64::from(settings.chains);
        let mut tries: Vec<DecimationTry> = (round * chains..(round + 1) * chains)
            .map(|number| {
                let (freed, factor) = match number {
                    // The first round places all circuits, independent of the start.
                    _ if round > 0 => TRIES[(number % TRIES.len() as u64) as usize],
                    0 => (1.0, (task.pods as f64 / 64.0).clamp(1.0, 3.0)),
                    _ => (1.0, 1.5),
                };
                DecimationTry {
                    dice: SplitMix::new(streams.stream(number).next_u64()),
                    temperature: settings.temperature * factor,
                    freed,
                    noise: if number == 0 { 0.0 } else { NOISE },
                    found: Ok(Placing::default()),
                    units: 0,
                }
            })
            .collect();
        let stop = StopTest::from(watch.stop_test());
        watch.parallel(|| {
            let run =
                |one: &mut DecimationTry| one.run(task, &base, removed, settings.share, &mut stop.clone());
            tries.par_iter_mut().with_max_len(1).for_each(run);
        });
        watch.checkpoint()?;
        idle += 1;
        round += 1;
        // In order, so that ties between tries always end the same way.
        for one in tries {
            watch.count(one.units);
            let placing = one.found?;
            if let Some((value, plan)) = &placing.plan
                && *value < removed
            {
                (idle, removed) = (0, *value);
                best.clone_from(plan);
                found(watch, removed, &best)?;
            }
            // Equal ones are accepted, so that the search moves along plateaus.
            if placing.score <= base.score {
                idle = if placing.score < base.score { 0 } else { idle };
                base = placing;
            }
        }
        // The plan, if its insertions cost less than expected.
        if removed < base.score {
            base = Placing { placed: best.clone(), score: removed, plan: None };
        }
    }
    Ok(best)
}
