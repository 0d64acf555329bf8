//! Reward of a round: a reward for each delivery, with a bonus for early deliveries, and a reward for chunks close to
//! their destinations (TE-CCL, appendix D).

use super::RoundState;
use crate::model::group::Folding;
use crate::model::task::CollectiveTask;
use crate::programs::copying::CopyProgram;
use lightbay_highs::model::Column;

/// Reward of a chunk one hop from its destination, relative to a delivery: below 1, like γ in the TE-CCL paper.
const NEAR: f64 = 0.9;
/// Reward of a chunk in flight, relative to a chunk that has arrived; slightly below 1, so that both rewards are never
/// equal.
const IN_FLIGHT: f64 = 0.999;

/// Presence of a chunk at a GPU at the end of a round: a constant plus columns.
struct EndPlace {
    gpu: u32,
    constant: f64,
    terms: Vec<(Column, f64)>,
}

/// Adds the reward of a round to its model. For every delivery, only one of the GPUs with the chunk counts: the GPU
/// that gives the largest reward. Each delivery has separate columns for this, whereas the paper sums chunks by present
/// holder and destination.
pub(super) fn add(
    program: &mut CopyProgram<'_>,
    task: &CollectiveTask,
    folding: &Folding,
    state: &RoundState,
    epochs: u32,
) {
    program.model.maximise = true;
    for (at, &chunk) in folding.chunks.iter().enumerate() {
        if state.unsatisfied[at].is_empty() {
            continue;
        }
        // Every GPU with the columns that can bring the chunk there in this round.
        let places: Vec<EndPlace> = task
            .network
            .gpus()
            .iter()
            .map(|&gpu| {
                let held = state.beginning.held[at].iter().find(|(holder, _)| *holder == gpu);
                if let Some((_, from)) = held {
                    // The GPU had the chunk before the round, or the chunk was already in flight to this GPU; an
                    // arrival after the round counts as in flight.
                    let constant = if *from <= epochs { 1.0 } else { IN_FLIGHT };
                    return EndPlace { gpu, constant, terms: Vec::new() };
                }
                let mut terms: Vec<(Column, f64)> =
                    // The chunk is present at the end of the round, or on a link and arrives after the end.
                    program.present(at, gpu, epochs).map(|there| (there, 1.0)).into_iter().collect();
                for &link in task.network.in_links(gpu) {
                    let latency = task.epochs.latency(link);
                    let late = program.starts_on(at, link).filter(|(epoch, _)| epoch + latency > epochs);
                    terms.extend(late.map(|(_, start)| (start, IN_FLIGHT)));
                }
                EndPlace { gpu, constant: 0.0, terms }
            })
            .collect();
        for EndPlace { gpu, terms, .. } in &places {
            // A chunk that is present or in flight is not sent again.
            if terms.len() > 1 {
                let once = terms.iter().map(|(column, _)| (*column, 1.0));
                program.model.at_most(format!("once {chunk} {gpu}"), 1.0, once);
            }
        }
        // Priorities weight all rewards of a chunk.
        let priority = task.chunks.priority(chunk as usize);
        for &dest in &state.unsatisfied[at] {
            // Early deliveries have a larger reward: 1/k, plus a constant for the delivery itself.
            for epoch in 1..=epochs {
                if let Some(there) = program.present(at, dest, epoch) {
                    let last = if epoch == epochs { 1.0 } else { 0.0 };
                    program.model.costs[there.index()] += priority * (1.0 / f64::from(epoch) + last);
                }
            }
            let ways = task.distances.to(&task.network, dest);
            let mut counted = Vec::new();
            for EndPlace { gpu, constant, terms } in &places {
                if *constant == 0.0 && terms.is_empty() {
                    continue;
                }
                let way = f64::from(ways[*gpu as usize]);
                // The reward decreases with the remaining distance.
                let worth = if *gpu == dest { 1.0 } else { NEAR / (1.0 + way) };
                let name = format!("near {chunk} {gpu} {dest}");
                let near = program.model.column(name.clone(), 0.0, 1.0, priority * worth);
                // A GPU can earn the reward only if it has the chunk.
                let row = terms.iter().map(|(column, share)| (*column, -share)).chain([(near, 1.0)]);
                program.model.at_most(name, *constant, row);
                counted.push((near, 1.0));
            }
            // For each delivery, at most one GPU earns the reward for its distance.
            program.model.at_most(format!("one near {chunk} {dest}"), 1.0, counted);
        }
    }
}
