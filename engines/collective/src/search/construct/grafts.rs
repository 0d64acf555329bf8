//! Local search on the trees of chunks (docs/methods/collective-search.md, section 6).
//!
//! The trees of all chunks are timed together: a free link starts the waiting chunk with the longest rest of its tree
//! (list scheduling by critical paths). A move grafts a node of a late chunk onto another link into the node. Placing
//! chunk by chunk cannot find such trees: a chunk that is placed early takes the shortest paths to all GPUs, although
//! its way to near GPUs could be longer.

use super::{folding, matched, unfolded};
use crate::model::group::Folding;
use crate::model::schedule::{ChunkStart, EpochSchedule};
use crate::model::task::CollectiveTask;
use lightbay_core::method::MethodError;
use lightbay_core::random::{Stream, Streams};
use lightbay_core::watch::Watch;
use rand::RngExt;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Number of the random stream of the moves.
const STREAM: u64 = 2;
/// Largest part of the lateness by which a move may raise it at first (threshold accepting); falls to 0.
const WORSE: f64 = 0.02;
/// Share of the moves that change the path to the last GPU that a chunk reaches; other moves change the path to any GPU.
const TO_LAST: f64 = 0.7;
/// Marker for the root of a tree.
const ROOT: u32 = u32::MAX;

/// Returns `true` if the search supports a task: all nodes are GPUs that need every chunk, and links are always up.
pub fn suits(task: &CollectiveTask) -> bool {
    matched::suits(task)
}

/// Returns the best schedule that at most `most` moves find from the trees of a schedule, if it finishes earlier.
///
/// # Errors
/// If the run must stop.
pub fn graft<W: Watch<S>, S>(
    task: &CollectiveTask,
    schedule: &EpochSchedule,
    (most, seed): (u32, u64),
    watch: &mut W,
) -> Result<Option<EpochSchedule>, MethodError> {
    let folding = folding(task);
    let mut trees = TimedTrees::new(task, folding.as_ref(), schedule);
    let Some(mut timed) = trees.time(u32::MAX) else { return Ok(None) };
    let mut stream = Streams::new(seed).stream(STREAM);
    let mut best = (schedule.finish, None);
    if timed.finish < best.0 {
        best = (timed.finish, Some(trees.starts.clone()));
    }
    for number in 0..most {
        watch.checkpoint()?;
        watch.count(1);
        let Some((chunk, node, link)) = trees.graft(&timed, &mut stream) else { continue };
        let before = trees.set(chunk, node, link);
        let worse = WORSE * (1.0 - f64::from(number) / f64::from(most)) * stream.random::<f64>();
        // A schedule that ends far later is not worth timing to its end.
        match trees.time(timed.finish + timed.finish / 8) {
            Some(new) if new.lateness < timed.lateness * (1.0 + worse) => {
                timed = new;
                if timed.finish < best.0 {
                    best = (timed.finish, Some(trees.starts.clone()));
                }
            }
            _ => {
                trees.set(chunk, node, before);
            }
        }
    }
    Ok(best.1.map(|starts| {
        let all = folding.as_ref().map_or_else(|| starts.clone(), |folding| unfolded(folding, &starts));
        EpochSchedule::pruned(task, all)
    }))
}

/// Times of all trees.
struct Timed {
    finish: u32,
    /// Sum over the chunks of a high power of their finish: late chunks weigh most, but all chunks count.
    lateness: f64,
    /// Arrival of each chunk at each node.
    arrivals: Vec<u32>,
    /// Last arrival of each chunk.
    ends: Vec<u32>,
}

/// The twelfth power, in the same multiplications on every machine.
fn weight(end: u32) -> f64 {
    let square = f64::from(end) * f64::from(end);
    let fourth = square * square;
    fourth * fourth * fourth
}

/// A chunk that waits for a link: the rest of its tree, the number of the tree, and the link that it takes.
type Waiting = (u32, Reverse<u32>, u32);

/// Trees of all chunks or, if the task is symmetry-reduced, of the first chunk of every orbit.
struct TimedTrees<'t> {
    task: &'t CollectiveTask,
    nodes: usize,
    chunks: Vec<u32>,
    /// Track of every link: the images of a link share a track.
    tracks: Vec<u32>,
    /// For each tree and node, the link into the node; [`ROOT`] at the source.
    parents: Vec<u32>,
    /// For each tree and node, the links out of the node.
    children: Vec<Vec<u32>>,
    /// For each tree and node, the epochs from the arrival at the node to the last arrival below it.
    rests: Vec<u32>,
    /// Starts of the last timing.
    starts: Vec<ChunkStart>,
    waiting: Vec<BinaryHeap<Waiting>>,
}

impl<'t> TimedTrees<'t> {
    /// Takes the trees of a schedule: the first arrival of a chunk at a node decides.
    fn new(task: &'t CollectiveTask, folding: Option<&Folding>, schedule: &EpochSchedule) -> Self {
        let (nodes, links) = (task.network.node_count(), task.network.links());
        let chunks: Vec<u32> =
            folding.map_or_else(|| (0..task.chunks.len() as u32).collect(), |folding| folding.chunks.clone());
        let tracks = match folding {
            Some(folding) => folding.links.iter().map(|(first, _)| *first).collect(),
            None => (0..links.len() as u32).collect(),
        };
        let mut place = vec![None; task.chunks.len()];
        for (at, chunk) in chunks.iter().enumerate() {
            place[*chunk as usize] = Some(at);
        }
        let mut starts: Vec<&ChunkStart> = schedule.starts.iter().collect();
        starts.sort_by_key(|start| (start.epoch + task.epochs.latency(start.link), start.link));
        let mut trees = Self {
            task,
            nodes,
            tracks,
            parents: vec![ROOT; chunks.len() * nodes],
            children: vec![Vec::new(); chunks.len() * nodes],
            rests: vec![0; chunks.len() * nodes],
            starts: Vec::with_capacity(chunks.len() * nodes),
            waiting: vec![BinaryHeap::new(); links.len()],
            chunks,
        };
        for start in starts {
            let Some(at) = place[start.chunk as usize] else { continue };
            let ends = &links[start.link as usize];
            let node = at * nodes + ends.to as usize;
            if ends.to != task.chunks.source(start.chunk as usize) && trees.parents[node] == ROOT {
                trees.parents[node] = start.link;
                trees.children[at * nodes + ends.from as usize].push(start.link);
            }
        }
        for at in 0..trees.chunks.len() {
            trees.measure(at);
        }
        trees
    }

    /// Computes the rests of a tree.
    fn measure(&mut self, at: usize) {
        let root = self.task.chunks.source(self.chunks[at] as usize);
        let mut order = vec![root];
        let mut next = 0;
        while let Some(node) = order.get(next).copied() {
            next += 1;
            let children = &self.children[at * self.nodes + node as usize];
            order.extend(children.iter().map(|link| self.task.network.links()[*link as usize].to));
        }
        for node in order.into_iter().rev() {
            let place = at * self.nodes + node as usize;
            let below = |link: &u32| self.rest_over(at, *link);
            self.rests[place] = self.children[place].iter().map(below).max().unwrap_or(0);
        }
    }

    /// Returns the epochs from a start on a link to the last arrival below it.
    fn rest_over(&self, at: usize, link: u32) -> u32 {
        let to = self.task.network.links()[link as usize].to as usize;
        self.task.epochs.latency(link) + self.rests[at * self.nodes + to]
    }

    /// Sets the link into a node of a tree, and returns the link before.
    fn set(&mut self, at: usize, node: u32, link: u32) -> u32 {
        let links = self.task.network.links();
        let before = std::mem::replace(&mut self.parents[at * self.nodes + node as usize], link);
        self.children[at * self.nodes + links[before as usize].from as usize]
            .retain(|other| *other != before);
        self.children[at * self.nodes + links[link as usize].from as usize].push(link);
        self.measure(at);
        before
    }

    /// Times all trees; `None` if a chunk arrives after `limit`, or if a tree does not reach all nodes.
    fn time(&mut self, limit: u32) -> Option<Timed> {
        let (task, nodes) = (self.task, self.nodes);
        self.starts.clear();
        self.waiting.iter_mut().for_each(BinaryHeap::clear);
        let mut arrivals = vec![u32::MAX; self.chunks.len() * nodes];
        let mut ends = vec![0; self.chunks.len()];
        let mut left = self.chunks.len() * nodes;
        // Starts that each track may still make in the present epoch, and the epoch at which it is free.
        let mut free = vec![0_u32; self.waiting.len()];
        let mut used = vec![0_u32; self.waiting.len()];
        // By epoch: arrivals (tree, node), and tracks that become free.
        let mut arriving: Vec<Vec<(u32, u32)>> = vec![Vec::new()];
        let mut freed: Vec<Vec<u32>> = vec![Vec::new()];
        arriving[0]
            .extend((0u32..).zip(&self.chunks).map(|(at, chunk)| (at, task.chunks.source(*chunk as usize))));
        let mut now = 0;
        let mut touched: Vec<u32> = Vec::new();
        while now < arriving.len() {
            touched.append(&mut freed[now]);
            for (at, node) in std::mem::take(&mut arriving[now]) {
                let place = at as usize * nodes + node as usize;
                arrivals[place] = now as u32;
                ends[at as usize] = now as u32;
                left -= 1;
                for child in 0..self.children[place].len() {
                    let link = self.children[place][child];
                    let track = self.tracks[link as usize];
                    let rest = self.rest_over(at as usize, link);
                    self.waiting[track as usize].push((rest, Reverse(at), link));
                    touched.push(track);
                }
            }
            touched.sort_unstable();
            touched.dedup();
            for track in touched.drain(..) {
                let model = &task.epochs.links[track as usize];
                while free[track as usize] as usize <= now
                    && let Some((_, Reverse(at), link)) = self.waiting[track as usize].pop()
                {
                    let (epoch, chunk) = (now as u32, self.chunks[at as usize]);
                    self.starts.push(ChunkStart { epoch, link, chunk });
                    let end = now + model.latency as usize;
                    if end > limit as usize {
                        return None;
                    }
                    let busy = now + model.occupied as usize;
                    let last = end.max(busy);
                    if arriving.len() <= last {
                        arriving.resize(last + 1, Vec::new());
                        freed.resize(last + 1, Vec::new());
                    }
                    arriving[end].push((at, task.network.links()[link as usize].to));
                    used[track as usize] += 1;
                    if used[track as usize] == model.starts {
                        used[track as usize] = 0;
                        free[track as usize] = busy as u32;
                    }
                    freed[busy].push(track);
                }
            }
            // Starts that were not used in an epoch are lost.
            for track in freed.get(now + 1).into_iter().flatten() {
                if free[*track as usize] as usize <= now {
                    used[*track as usize] = 0;
                }
            }
            now += 1;
        }
        let lateness = ends.iter().map(|end| weight(*end)).sum();
        let finish = ends.iter().copied().max().unwrap_or(0);
        (left == 0).then_some(Timed { finish, lateness, arrivals, ends })
    }

    /// Returns a random move: a tree, a node, and another link into the node from a node that is not below it. `None` if
    /// the drawn link is not possible. Late chunks are drawn more often.
    fn graft(&self, timed: &Timed, stream: &mut Stream) -> Option<(usize, u32, u32)> {
        let links = self.task.network.links();
        let mut at = stream.random_range(0..self.chunks.len());
        for _ in 0..2 {
            let other = stream.random_range(0..self.chunks.len());
            if timed.ends[other] > timed.ends[at] {
                at = other;
            }
        }
        let row = at * self.nodes..(at + 1) * self.nodes;
        let mut node = stream.random_range(0..self.nodes as u32);
        if stream.random::<f64>() < TO_LAST {
            let arrivals = (0u32..).zip(&timed.arrivals[row]);
            node = arrivals.max_by_key(|(_, arrival)| **arrival).map_or(node, |(node, _)| node);
        }
        let parent = |node: u32| self.parents[at * self.nodes + node as usize];
        let mut path = Vec::new();
        while parent(node) != ROOT {
            path.push(node);
            node = links[parent(node) as usize].from;
        }
        let node = *path.get(stream.random_range(0..path.len().max(1)))?;
        let into = self.task.network.in_links(node);
        let link = into[stream.random_range(0..into.len())];
        if link == parent(node) {
            return None;
        }
        // The node must not be above the new tail.
        let mut above = links[link as usize].from;
        while above != node {
            if parent(above) == ROOT {
                return Some((at, node, link));
            }
            above = links[parent(above) as usize].from;
        }
        None
    }
}
