//! Schedules of AllToAlls in compact form: the paths of one chunk of each orbit (docs/methods/collective-trees.md,
//! section 11).

use super::{claims, figures_of, time};
use crate::bounds::EpochBound;
use crate::model::group::Folding;
use crate::model::schedule::{ChunkStart, EpochSchedule};
use crate::model::task::{CollectiveTask, CollectiveTasks};
use crate::plan::compact::{CompactDiscipline, CompactPlan, CompactTree, FORMAT};
use crate::plan::{CollectiveResult, Discipline};
use crate::scenario::{CollectiveScenario, CollectiveSort};
use lightbay_core::kind::Candidate;
use rustc_hash::FxHashSet;

/// Number of sends above which an AllToAll is stored in compact form.
pub const MOST_LISTED_SENDS: usize = 250_000;

/// Returns an AllToAll plan in compact form if symmetries that move every GPU and every link map its schedule to
/// itself. `None` for other collectives, if there are no such symmetries, or if the compact form cannot express the
/// schedule because chunks are sent in pieces, the starts of a chunk do not form a path, or links are time-varying.
pub fn exchange_in_short(
    scenario: &CollectiveScenario,
    tasks: &CollectiveTasks,
    schedule: &EpochSchedule,
    bounds: Option<&[EpochBound]>,
) -> Option<Candidate<CollectiveResult>> {
    let [task] = tasks.tasks.as_slice() else { return None };
    let demand = &scenario.demand;
    let comes_and_goes = task.network.links().iter().any(|link| !link.up_us.is_empty());
    if demand.collective != CollectiveSort::AllToAll || tasks.pieces != 1 || comes_and_goes {
        return None;
    }
    // Uses the largest group whose elements fix no link; otherwise two images would share a link.
    let folding = Folding::largest(&task.network, &task.chunks);
    let moves_links = folding.links.iter().all(|(_, keeping)| *keeping == 1);
    if folding.is_trivial() || !moves_links || !is_symmetric(&folding, schedule) {
        return None;
    }
    // Starts sorted by chunk, so that the starts of a chunk are neighbours.
    let mut starts = schedule.starts.clone();
    starts.sort_unstable_by_key(|start| (start.chunk, start.epoch, start.link));
    let mut trees = Vec::with_capacity(folding.chunks.len());
    for &chunk in &folding.chunks {
        let first = starts.partition_point(|start| start.chunk < chunk);
        let of_chunk = starts[first..].split(|start| start.chunk != chunk).next()?;
        trees.push(path(task, chunk, of_chunk, demand.chunks_per_rank)?);
    }
    let compact = CompactPlan {
        format: FORMAT.to_owned(),
        discipline: CompactDiscipline::WholeChunk,
        adds_up: Some(false),
        epoch_us: tasks.epoch_us,
        shard_bytes: tasks.chunk_bytes * f64::from(demand.chunks_per_rank),
        pieces_per_tree: demand.chunks_per_rank,
        finish_epochs: u64::from(schedule.finish),
        trees,
        generators: real_generators(task, &folding),
    };
    let time = time(scenario, tasks, Discipline::WholeChunk);
    let claims = claims(scenario, tasks, &time, schedule.finish, None, bounds);
    let result = CollectiveResult {
        time,
        pieces: Vec::new(),
        sends: Vec::new(),
        trees: vec![compact],
        ranges: Vec::new(),
        claims,
    };
    Some(Candidate { value: result.claims.finish_us, metrics: figures_of(&result, scenario), result })
}

/// Returns `true` if the images of every start are starts of the schedule.
fn is_symmetric(folding: &Folding, schedule: &EpochSchedule) -> bool {
    let all: FxHashSet<ChunkStart> = schedule.starts.iter().copied().collect();
    // Representative chunks, and the number of images of their starts.
    let firsts: FxHashSet<u32> = folding.chunks.iter().copied().collect();
    let mut images = 0;
    for start in schedule.starts.iter().filter(|start| firsts.contains(&start.chunk)) {
        for (place, element) in folding.elements.iter().enumerate() {
            let (link, chunk) = (element.links[start.link as usize], folding.image(place, start.chunk));
            if !all.contains(&ChunkStart { link, chunk, ..*start }) {
                return false;
            }
            images += 1;
        }
    }
    // The schedule is symmetric if every start is the image of a start of a representative chunk.
    images == all.len()
}

/// Returns generators of the group as permutations of the nodes of the real network.
fn real_generators(task: &CollectiveTask, folding: &Folding) -> Vec<Vec<u32>> {
    let mut generators = folding.generators(&task.network);
    for nodes in &mut generators {
        nodes.truncate(task.real.node_count());
    }
    generators
}

/// Returns the path of a chunk with one destination; `None` if its starts do not form a path.
fn path(
    task: &CollectiveTask,
    chunk: u32,
    starts: &[ChunkStart],
    chunks_per_rank: u32,
) -> Option<CompactTree> {
    let (root, dest) = (task.chunks.source(chunk as usize), task.chunks.dests(chunk as usize).next()?);
    let (mut edges, mut begins) = (Vec::new(), Vec::new());
    let mut at = root;
    let mut there = 0;
    // Follows the path from the source, hop by hop.
    while at != dest {
        let mut edge = vec![at];
        loop {
            // A switch passes a chunk on at once; a GPU may hold it.
            let through = edge.len() > 1;
            let goes = |start: &&ChunkStart| {
                let from = task.network.links()[start.link as usize].from;
                from == at && if through { start.epoch == there } else { start.epoch >= there }
            };
            // No start continues from here, so the starts do not form a path.
            let start = starts.iter().find(goes)?;
            if !through {
                begins.push(start.epoch);
            }
            at = task.network.links()[start.link as usize].to;
            there = start.epoch + task.epochs.latency(start.link);
            edge.push(task.origins[at as usize]);
            // The hop ends at the first GPU.
            if !task.network.is_switch(at) {
                break;
            }
            // More links than nodes: the starts form a cycle of switches.
            if edge.len() > task.network.node_count() {
                return None;
            }
        }
        edges.push(edge);
        if edges.len() > starts.len() {
            return None;
        }
    }
    let links: usize = edges.iter().map(|edge| edge.len() - 1).sum();
    // Fails if there are starts that do not belong to the path.
    (links == starts.len()).then(|| CompactTree {
        root,
        share: format!("1/{chunks_per_rank}"),
        dests: vec![dest],
        edges,
        starts: vec![begins],
    })
}
