//! Baseline schedules with paths fixed in advance, regardless of other traffic (docs/methods/collective.md, section 1).
//!
//! Every chunk has a tree of paths from GPU to GPU; paths start in the order in which their chunks are ready.

use super::construct::{ChainTable, LinkTracks, NEVER};
use crate::model::distances::FAR;
use crate::model::schedule::{ChunkStart, EpochSchedule};
use crate::model::task::CollectiveTask;
use lightbay_core::method::MethodError;
use lightbay_core::watch::Watch;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Rule that fixes the paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FixedWays {
    /// One ring through all GPUs, nearest neighbour by nearest neighbour.
    Ring,
    /// The shortest path from the source to every destination.
    ShortestPaths,
    /// One shortest-path tree from the first GPU, for all chunks.
    SingleTree,
}

/// A path of a chunk: a chain of links from a GPU that has the chunk.
#[derive(Clone, Copy, Debug)]
struct ChunkWay {
    /// Index of the preceding path; none if the path begins at the source.
    after: Option<u32>,
    chain: u32,
}

/// The paths of a chunk, and the GPUs that they reach.
#[derive(Debug, Default)]
struct WayTree {
    ways: Vec<ChunkWay>,
    reached: FxHashMap<u32, Option<u32>>,
}

/// Schedules chunks along fixed paths; returns `None` if the paths do not reach some GPU, or not in time.
///
/// # Errors
/// If the run must stop.
pub fn by_fixed_ways<W: Watch<S>, S>(
    task: &CollectiveTask,
    rule: FixedWays,
    watch: &mut W,
) -> Result<Option<EpochSchedule>, MethodError> {
    let chains = ChainTable::new(task);
    // The ring and the tree are the same for all chunks.
    let around = match rule {
        FixedWays::Ring => ring(task),
        _ => Vec::new(),
    };
    let neighbours = match rule {
        FixedWays::SingleTree => tree(task, &chains),
        _ => FxHashMap::default(),
    };
    let mut trees = Vec::with_capacity(task.chunks.len());
    // The paths of every chunk, without times.
    for chunk in 0..task.chunks.len() {
        let source = task.chunks.source(chunk);
        // The source has its chunk from the beginning.
        let mut tree = WayTree { ways: Vec::new(), reached: FxHashMap::from_iter([(source, None)]) };
        let complete = match rule {
            FixedWays::Ring => along_ring(task, &chains, &around, chunk, &mut tree),
            FixedWays::ShortestPaths => {
                let mut dests = task.chunks.dests(chunk);
                dests.all(|dest| extend(task, &chains, source, dest, &mut tree))
            }
            FixedWays::SingleTree => along_tree(task, &chains, &neighbours, chunk, &mut tree),
        };
        if !complete {
            return Ok(None);
        }
        trees.push(tree);
        // Checks for a stop every 64 chunks, which is cheap compared with the paths.
        if chunk % 64 == 0 {
            watch.checkpoint()?;
        }
    }
    timed(task, &chains, &trees, watch)
}

/// Returns a schedule of the paths in epochs: the path whose chunk is ready first is scheduled first. `None` if links
/// are not up in time.
fn timed<W: Watch<S>, S>(
    task: &CollectiveTask,
    chains: &ChainTable,
    trees: &[WayTree],
    watch: &mut W,
) -> Result<Option<EpochSchedule>, MethodError> {
    let mut tracks = LinkTracks::new(task.real.links().len());
    let mut children: Vec<Vec<Vec<u32>>> = Vec::with_capacity(trees.len());
    // Event order: the earliest ready path first, ties by chunk and position, so that schedules are reproducible.
    let mut open: BinaryHeap<Reverse<(u32, u32, u32)>> = BinaryHeap::new();
    for (chunk, tree) in (0u32..).zip(trees) {
        let mut next = vec![Vec::new(); tree.ways.len()];
        for (index, way) in (0u32..).zip(&tree.ways) {
            match way.after {
                // Paths from the source are ready at once, all others after their predecessor.
                None => open.push(Reverse((0, chunk, index))),
                Some(before) => next[before as usize].push(index),
            }
        }
        children.push(next);
    }
    let mut starts = Vec::new();
    let mut count = 0usize;
    while let Some(Reverse((ready, chunk, index))) = open.pop() {
        let chain = trees[chunk as usize].ways[index as usize].chain;
        let start = tracks.earliest_chain(chains, chain, &task.epochs.links, ready);
        // The link never comes up again.
        if start >= NEVER {
            return Ok(None);
        }
        // Switches cannot store, so a path takes all links of the chain together.
        for (link, offset) in chains.links(chain) {
            let model = &task.epochs.links[link as usize];
            tracks.take(model.carrier, model, start + offset);
            starts.push(ChunkStart { epoch: start + offset, link, chunk });
        }
        // Paths that continue from here are ready on arrival.
        let arrival = start + chains.duration(chain);
        open.extend(
            children[chunk as usize][index as usize].iter().map(|next| Reverse((arrival, chunk, *next))),
        );
        count += 1;
        if count.is_multiple_of(256) {
            watch.checkpoint()?;
        }
    }
    watch.count(1);
    // Drops paths that end at no destination.
    Ok(Some(EpochSchedule::pruned(task, starts)))
}

/// Adds the shortest path between two GPUs, the first of which is already in the tree; returns `false` if no path
/// exists.
fn extend(task: &CollectiveTask, chains: &ChainTable, from: u32, to: u32, tree: &mut WayTree) -> bool {
    // Steps that always reduce the exact distance to the goal form a shortest path.
    let rest = task.distances.to(&task.network, to);
    let mut at = from;
    while at != to {
        let left = |chain: &u32| chains.duration(*chain).saturating_add(rest[chains.head(*chain) as usize]);
        // Of paths with equally many epochs, the direct one occupies the fewest links. Then ties by chain number.
        let next = chains.of(at).min_by_key(|chain| (left(chain), chains.head(*chain) != to, *chain));
        let Some(chain) = next.filter(|chain| left(chain) < FAR) else { return false };
        let head = chains.head(chain);
        let after = tree.reached.get(&at).copied().flatten();
        // Adds a step only into a GPU that the tree does not contain yet; otherwise the path to another destination
        // already has a step into that GPU.
        if !tree.reached.contains_key(&head) {
            tree.reached.insert(head, Some(tree.ways.len() as u32));
            tree.ways.push(ChunkWay { after, chain });
        }
        // Every chain takes at least one epoch, because its first link leaves a GPU, so the distance decreases with
        // every step.
        at = head;
    }
    true
}

/// Returns the GPUs that have or need a chunk, in the order of a nearest-neighbour tour.
fn ring(task: &CollectiveTask) -> Vec<u32> {
    let mut part: Vec<u32> = participants(task);
    let Some(first) = part.first().copied() else { return part };
    // Nearest-neighbour tour: short, but not necessarily the shortest.
    let mut order = vec![first];
    part.retain(|gpu| *gpu != first);
    while let Some(last) = order.last().copied() {
        let row = task.distances.from(&task.network, last);
        let Some(next) = part.iter().copied().min_by_key(|gpu| (row[*gpu as usize], *gpu)) else { break };
        part.retain(|gpu| *gpu != next);
        order.push(next);
    }
    order
}

/// Returns the GPUs that have or need a chunk, ascending.
fn participants(task: &CollectiveTask) -> Vec<u32> {
    let mut part = vec![false; task.network.node_count()];
    for chunk in 0..task.chunks.len() {
        part[task.chunks.source(chunk) as usize] = true;
        task.chunks.dests(chunk).for_each(|dest| part[dest as usize] = true);
    }
    (0..part.len() as u32).filter(|node| part[*node as usize]).collect()
}

fn along_ring(
    task: &CollectiveTask,
    chains: &ChainTable,
    around: &[u32],
    chunk: usize,
    tree: &mut WayTree,
) -> bool {
    let source = task.chunks.source(chunk);
    let mut left: rustc_hash::FxHashSet<u32> = task.chunks.dests(chunk).collect();
    // A source outside the ring has no neighbour to send to.
    let Some(begin) = around.iter().position(|gpu| *gpu == source) else { return left.is_empty() };
    let mut at = source;
    // Around the ring until the last destination has the chunk.
    for step in 1..around.len() {
        if left.is_empty() {
            break;
        }
        let next = around[(begin + step) % around.len()];
        if !extend(task, chains, at, next, tree) {
            return false;
        }
        left.remove(&next);
        at = next;
    }
    left.is_empty()
}

/// Returns the neighbours of every GPU in the shortest-path tree of the first GPU that takes part.
fn tree(task: &CollectiveTask, chains: &ChainTable) -> FxHashMap<u32, Vec<u32>> {
    // The first participant is the root for all chunks.
    let part = participants(task);
    let mut neighbours: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
    let Some(root) = part.first().copied() else { return neighbours };
    let mut whole = WayTree { ways: Vec::new(), reached: FxHashMap::from_iter([(root, None)]) };
    for &gpu in &part {
        extend(task, chains, root, gpu, &mut whole);
    }
    // The tree is undirected: a chunk of another GPU climbs towards the root and descends elsewhere.
    for way in &whole.ways {
        let tail = way.after.map_or(root, |before| chains.head(whole.ways[before as usize].chain));
        let head = chains.head(way.chain);
        neighbours.entry(tail).or_default().push(head);
        neighbours.entry(head).or_default().push(tail);
    }
    neighbours
}

fn along_tree(
    task: &CollectiveTask,
    chains: &ChainTable,
    neighbours: &FxHashMap<u32, Vec<u32>>,
    chunk: usize,
    tree: &mut WayTree,
) -> bool {
    let source = task.chunks.source(chunk);
    let mut seen = rustc_hash::FxHashSet::from_iter([source]);
    let mut open = vec![source];
    // Depth first from the source over the edges of the tree.
    while let Some(at) = open.pop() {
        for &next in neighbours.get(&at).into_iter().flatten() {
            if seen.insert(next) {
                if !extend(task, chains, at, next, tree) {
                    return false;
                }
                open.push(next);
            }
        }
    }
    task.chunks.dests(chunk).all(|dest| tree.reached.contains_key(&dest))
}
