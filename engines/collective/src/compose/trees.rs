//! Plans of trees: as sends of equal pieces, or in compact form (docs/methods/collective-trees.md, section 11).

use super::{claims, figures_of, time};
use crate::model::schedule::{ChunkStart, EpochSchedule};
use crate::model::task::CollectiveTasks;
use crate::plan::compact::{CompactDiscipline, CompactPlan};
use crate::plan::{CollectiveResult, Discipline, ScenarioFloors};
use crate::scenario::CollectiveScenario;
use crate::trees::sends::ListSends;
use lightbay_core::kind::Candidate;
use lightbay_core::problem::Problems;

/// Returns one task and one schedule for each part of a collective, in epochs of `epoch_us` and with `pieces` equal
/// pieces of every chunk. `parts` gives the sends of each part along trees.
///
/// # Errors
/// Networks that cannot be represented exactly.
pub fn pieces_along_trees(
    scenario: &CollectiveScenario,
    epoch_us: f64,
    pieces: u32,
    parts: &[ListSends],
) -> Result<(CollectiveTasks, Vec<EpochSchedule>), Problems> {
    let tasks = CollectiveTasks::in_pieces(scenario, Some(epoch_us), pieces, 0.0)?;
    let mut schedules = Vec::with_capacity(parts.len());
    for (task, part) in tasks.tasks.iter().zip(parts) {
        // Chunks of a source are listed one after the other, as pieces of a root are. Stores the first chunk of every
        // source: the loop runs backwards, so the smallest number is written last.
        let mut next: Vec<Option<u32>> = vec![None; task.network.node_count()];
        for chunk in (0..task.chunks.len()).rev() {
            next[task.chunks.source(chunk) as usize] = Some(chunk as u32);
        }
        let chunk_of: Vec<u32> = part
            .roots
            .iter()
            // The next piece of a root is its next chunk.
            .map(|root| {
                let chunk = next[*root as usize].unwrap_or(0);
                next[*root as usize] = Some(chunk + 1);
                chunk
            })
            .collect();
        let start = |send: &crate::trees::sends::TreeSend| ChunkStart {
            epoch: send.epoch,
            link: task.lane(send.link, send.pace),
            chunk: chunk_of[send.piece as usize],
        };
        schedules.push(EpochSchedule::pruned(task, part.sends.iter().map(start).collect()));
    }
    Ok((tasks, schedules))
}

/// Returns a plan of trees in compact form, with trees for each part of the collective. Computes the floors unless they
/// are given.
///
/// # Errors
/// Networks that cannot be represented exactly.
pub fn trees_in_short(
    scenario: &CollectiveScenario,
    parts: Vec<CompactPlan>,
    floors: Option<ScenarioFloors>,
) -> Result<Candidate<CollectiveResult>, Problems> {
    // All parts have epochs of one length.
    let epoch_us = parts.first().map_or(1.0, |part| part.epoch_us);
    let tasks = CollectiveTasks::in_pieces(scenario, Some(epoch_us), 1, 0.0)?.with_floors(floors);
    let fluid = parts.iter().any(|part| part.discipline == CompactDiscipline::Fluid);
    let discipline = if fluid { Discipline::Fluid } else { Discipline::WholeChunk };
    let time = time(scenario, &tasks, discipline);
    let finish: u64 = parts.iter().map(|part| part.finish_epochs).sum();
    let parts = parts.into_iter().zip(&tasks.tasks);
    let trees = parts.map(|(part, task)| CompactPlan { adds_up: Some(task.adds), ..part }).collect();
    let claims = claims(scenario, &tasks, &time, u32::try_from(finish).unwrap_or(u32::MAX), None, None);
    let result =
        CollectiveResult { time, pieces: Vec::new(), sends: Vec::new(), trees, ranges: Vec::new(), claims };
    Ok(Candidate { value: result.claims.finish_us, metrics: figures_of(&result, scenario), result })
}
