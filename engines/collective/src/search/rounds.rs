//! Schedules round by round, the A\* technique of TE-CCL (section 4.2 and appendix D;
//! docs/methods/collective-search.md, section 9): each round is a MILP model of a few epochs that rewards deliveries,
//! and chunks that come closer to their destinations.
//!
//! The technique gives no bound, because a round considers only the length of the remaining path.

mod reward;

#[cfg(test)]
mod tests;

use super::construct::ChainTable;
use crate::model::group::Folding;
use crate::model::schedule::{ChunkStart, EpochSchedule};
use crate::model::task::CollectiveTask;
use crate::programs::copying::{CopyBeginning, CopyEnd, CopyProgram, CopyQuestion};
use crate::programs::solver::{ProgramSolver, SolverStops};
use lightbay_core::method::MethodError;
use lightbay_highs::options::Options;
use lightbay_highs::solution::Start;

/// Limits of the rounds.
#[derive(Clone, Debug)]
pub struct RoundLimits {
    /// Epochs of a round; at least [`shortest_round`].
    pub epochs: u32,
    /// `true` if a round that starts nothing may be followed by a longer round; this helps if a round has too few
    /// epochs for any transmission.
    pub may_grow: bool,
    /// Time limit for each round, s.
    pub seconds: f64,
    /// Options of the solver.
    pub options: Options,
}

/// A completed round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundEnd {
    /// Number of the round, from 1.
    pub round: u32,
    /// Number of deliveries that are neither made nor in flight.
    pub waiting: usize,
    /// Number of all deliveries.
    pub deliveries: usize,
}

/// Returns the minimum number of epochs of a round for a task: long enough that a chunk in flight arrives by the end of
/// the next round, and that a chunk that enters a switch can leave it within the round.
pub fn shortest_round(task: &CollectiveTask) -> u32 {
    let chains = ChainTable::new(task);
    // Maximum number of epochs that a chunk needs through the switches of a chain.
    let all = (0..task.network.node_count() as u32).flat_map(|node| chains.of(node));
    let through = all.filter_map(|chain| chains.links(chain).last()).map(|(_, offset)| offset + 1).max();
    // At least the maximum latency, so a start of this round has arrived by the end of the next round.
    let longest = task.epochs.links.iter().map(|link| link.latency).max();
    longest.max(through).unwrap_or(1).max(1)
}

/// Schedules all chunks, round by round. `bound` is a lower bound on the number of epochs of every schedule; calls
/// `told` with every round.
///
/// # Errors
/// If the run must stop, if the solver fails, or if the chunks do not come closer to their destinations.
pub fn in_rounds<S: ProgramSolver>(
    task: &CollectiveTask,
    folding: &Folding,
    bound: u32,
    limits: &RoundLimits,
    solver: &mut S,
    mut told: impl FnMut(&mut S, RoundEnd) -> Result<(), MethodError>,
) -> Result<EpochSchedule, MethodError> {
    let mut epochs = limits.epochs.max(shortest_round(task));
    // Rounds are not made longer than twice the bound: a round of that length that starts nothing is stuck for another
    // reason.
    let most_epochs = bound.saturating_mul(2).max(epochs);
    let mut first = 0;
    // A generous limit: a good schedule needs about bound / epochs rounds. Beyond the limit, the rounds are stuck.
    let most_rounds = 4 * (bound / epochs) + 10;
    let mut state = RoundState::new(task, folding);
    let mut starts: Vec<ChunkStart> = Vec::new();
    let deliveries = task.chunks.deliveries();
    // Each round starts from the state at the end of the previous round.
    for round in 1..=most_rounds {
        if state.waiting() == 0 {
            break;
        }
        solver.checkpoint()?;
        let question = CopyQuestion { task, folding, epochs, buffer_limit: None };
        // Open end: chunks may be in flight when the round ends.
        let mut program =
            CopyProgram::from(question, &state.beginning, CopyEnd::Open, &mut SolverStops(solver))?;
        reward::add(&mut program, task, folding, &state, epochs);
        let options = limits.options.clone().time_limit_s(limits.seconds);
        let solution = solver.solve(&program.model, options, Start::None)?;
        let Some(point) = solution.values else {
            return Err(MethodError::Failed(format!(
                "round {round} has no solution after {} s; raise round_s or lower round_epochs",
                limits.seconds
            )));
        };
        let of_round = program.starts(&point);
        let (before, beginning) = (state.waiting(), state.clone());
        // Records the chunks that the round moved, and the deliveries that it made.
        let moved = state.advance(task, folding, epochs, &of_round);
        // Without progress, the next round would be the same model.
        if !moved && state.waiting() == before {
            if limits.may_grow && epochs < most_epochs {
                (epochs, state) = (2 * epochs, beginning);
                continue;
            }
            return Err(MethodError::Failed(format!(
                "round {round} starts nothing although {before} deliveries remain; raise round_epochs \
                 above {epochs}"
            )));
        }
        // Places the starts of the round after all previous rounds.
        starts.extend(of_round.iter().map(|start| ChunkStart { epoch: first + start.epoch, ..*start }));
        first += epochs;
        let end = RoundEnd { round, waiting: state.waiting() * folding.order(), deliveries };
        told(solver, end)?;
    }
    if state.waiting() > 0 {
        return Err(MethodError::Failed(format!(
            "{} deliveries remain after {most_rounds} rounds of {epochs} epochs; raise round_epochs or \
             round_s",
            state.waiting() * folding.order()
        )));
    }
    // Prunes over the whole schedule, because a start of one round may serve a delivery of a later round.
    Ok(EpochSchedule::pruned(task, starts))
}

/// State between two rounds.
#[derive(Clone, Debug)]
struct RoundState {
    beginning: CopyBeginning,
    /// Destinations that neither have a chunk nor are about to receive it, by position of the chunk among the
    /// representatives.
    unsatisfied: Vec<Vec<u32>>,
}

impl RoundState {
    fn new(task: &CollectiveTask, folding: &Folding) -> Self {
        let unsatisfied = folding.chunks.iter().map(|chunk| task.chunks.dests(*chunk as usize).collect());
        let mut state =
            Self { beginning: CopyBeginning::sources(task, folding), unsatisfied: unsatisfied.collect() };
        state.forget_done();
        state
    }

    fn waiting(&self) -> usize {
        self.unsatisfied.iter().map(Vec::len).sum()
    }

    /// Omits chunks without pending destinations, so that models do not move them.
    fn forget_done(&mut self) {
        for (held, unsatisfied) in self.beginning.held.iter_mut().zip(&self.unsatisfied) {
            if unsatisfied.is_empty() {
                held.clear();
            }
        }
    }

    /// Continues with the next round; returns whether anything moved.
    fn advance(
        &mut self,
        task: &CollectiveTask,
        folding: &Folding,
        epochs: u32,
        starts: &[ChunkStart],
    ) -> bool {
        let mut places = vec![None; task.chunks.len()];
        for (at, &chunk) in folding.chunks.iter().enumerate() {
            places[chunk as usize] = Some(at);
        }
        // Follows only representatives; their images move in the same way.
        let mut moved = false;
        for start in starts {
            let Some(at) = places[start.chunk as usize] else { continue };
            let node = task.network.links()[start.link as usize].to;
            // Chunks that enter a switch leave it within the round, so only GPUs hold chunks.
            if task.network.is_switch(node) {
                continue;
            }
            moved = true;
            // Chunks in flight arrive in a later round, so their times may lie beyond the end.
            let arrival = start.epoch + task.epochs.latency(start.link);
            let held = &mut self.beginning.held[at];
            match held.iter_mut().find(|(holder, _)| *holder == node) {
                Some((_, from)) => *from = arrival.min(*from),
                None => held.push((node, arrival)),
            }
        }
        for (held, unsatisfied) in self.beginning.held.iter_mut().zip(&mut self.unsatisfied) {
            // Deliveries that are made or in flight are not rewarded again.
            unsatisfied.retain(|dest| held.iter().all(|(holder, _)| holder != dest));
            for (_, from) in held.iter_mut() {
                // Converts the times to epochs after the beginning of the next round.
                *from = from.saturating_sub(epochs);
            }
        }
        self.forget_done();
        // Windows of slow links reach back into this round, and further back if this round was short. The first lane of
        // a link has the number of the link.
        for (link, before) in self.beginning.before.iter_mut().enumerate() {
            let window = task.epochs.links[link].occupied;
            for back in before.iter_mut() {
                *back += epochs;
            }
            // Drops starts that are too old to limit any window.
            before.retain(|back| *back < window);
        }
        for start in starts {
            let model = &task.epochs.links[start.link as usize];
            let back = epochs - start.epoch + model.shift;
            // Starts of this round whose windows reach into the next one.
            if back < model.occupied {
                self.beginning.before[model.carrier as usize].push(back);
            }
        }
        self.beginning.clock += epochs;
        moved
    }
}
