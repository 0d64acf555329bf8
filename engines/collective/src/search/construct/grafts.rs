//! Local search on the trees of chunks (docs/methods/collective-search.md, section 6).
//!
//! The trees of all chunks are timed together: a free link starts the waiting chunk with the longest rest of its tree
//! (list scheduling by critical paths). A move grafts a GPU of a late chunk onto another hop into the GPU. Placing
//! chunk by chunk cannot find such trees: a chunk that is placed early takes the shortest paths to all GPUs, although
//! its way to near GPUs could be longer.
//!
//! A hop is a link or a chain of links through switches. Data cannot wait in a switch, so a chain starts only when all
//! its links are free at the times at which the data reaches them. If switches copy, hops of a chunk that begin with
//! the same link start together.

use super::chains::ChainTable;
use super::tracks::LinkTracks;
use super::{folding, matched, unfolded};
use crate::model::group::Folding;
use crate::model::schedule::{ChunkStart, EpochSchedule};
use crate::model::task::CollectiveTask;
use lightbay_core::method::MethodError;
use lightbay_core::random::{Stream, Streams};
use lightbay_core::watch::Watch;
use rand::RngExt;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Number of the random stream of the moves.
const STREAM: u64 = 2;
/// Largest part of the lateness by which a move may raise it at first (threshold accepting); falls to 0.
const WORSE: f64 = 0.02;
/// Share of the moves that change the path to the last GPU that a chunk reaches; other moves change the path to any GPU.
const TO_LAST: f64 = 0.7;
/// Share of the copies that a switch makes among the moves to hops through a switch.
const COPIES: f64 = 0.5;
/// Maximum number of draws for a move.
const DRAWS: u32 = 8;
/// Marker for the root of a tree.
const ROOT: u32 = u32::MAX;

/// Returns `true` if the search supports a task: every GPU needs every chunk, links are always up, and data arrives at
/// every switch at one pace.
pub fn suits(task: &CollectiveTask) -> bool {
    matched::spreads(task) && !task.has_lanes()
}

/// Returns the best schedule that at most `most` moves find from the trees of a schedule. The schedule is one of the
/// task, which the result must surpass, or one of the same chunks in fewer pieces.
///
/// # Errors
/// If the run must stop.
pub fn graft<W: Watch<S>, S>(
    task: &CollectiveTask,
    (known, schedule): (&CollectiveTask, &EpochSchedule),
    (most, seed): (u32, u64),
    watch: &mut W,
) -> Result<Option<EpochSchedule>, MethodError> {
    let folding = folding(task);
    let mut trees = TimedTrees::new(task, folding.as_ref(), (known, schedule));
    let Some(mut timed) = trees.time(f64::INFINITY) else { return Ok(None) };
    let mut stream = Streams::new(seed).stream(STREAM);
    let is_of_task = known.chunks.len() == task.chunks.len();
    let mut best = (if is_of_task { schedule.finish } else { u32::MAX }, None);
    if timed.finish < best.0 {
        best = (timed.finish, Some(trees.starts.clone()));
    }
    for number in 0..most {
        watch.checkpoint()?;
        watch.count(1);
        let drawn = (0..DRAWS).find_map(|_| trees.graft(&timed, &mut stream));
        let Some((chunk, node, hop)) = drawn else { continue };
        let before = trees.set(chunk, node, hop);
        let worse = WORSE * (1.0 - f64::from(number) / f64::from(most)) * stream.random::<f64>();
        if let Some(new) = trees.time(timed.lateness * (1.0 + worse)) {
            timed = new;
            if timed.finish < best.0 {
                best = (timed.finish, Some(trees.starts.clone()));
            }
        } else {
            trees.set(chunk, node, before);
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

/// A chunk that waits for a hop: the rest of its tree, the number of the tree, and the hop that it takes.
type Waiting = (u32, Reverse<u32>, u32);

/// What happens in an epoch.
#[derive(Default)]
struct Agenda {
    /// Arrivals: tree and node.
    arrivals: Vec<(u32, u32)>,
    /// Tracks that become free.
    freed: Vec<u32>,
    /// Trees and hops that wait for links behind a switch until this epoch.
    again: Vec<(u32, u32)>,
}

/// A way from a GPU to another GPU: a link, or a chain of links through switches.
struct GraftHop {
    from: u32,
    to: u32,
    /// First link.
    link: u32,
    /// Epochs from the start to the arrival.
    duration: u32,
    /// `true` if the hop leads through switches.
    switched: bool,
}

/// Trees of all chunks or, if the task is symmetry-reduced, of the first chunk of every orbit.
struct TimedTrees<'t> {
    task: &'t CollectiveTask,
    nodes: usize,
    chunks: Vec<u32>,
    /// Links of every hop.
    chains: ChainTable,
    hops: Vec<GraftHop>,
    /// `true` if some hop leads through switches.
    is_switched: bool,
    /// For each link into a GPU, the hops that end with it.
    hops_over: Vec<Vec<u32>>,
    /// Track of every link: the images of a link share a track.
    tracks: Vec<u32>,
    /// For each tree and node, the hop into the node; [`ROOT`] at the source.
    parents: Vec<u32>,
    /// For each tree and node, the hops out of the node.
    children: Vec<Vec<u32>>,
    /// For each tree and node, the epochs from the arrival at the node to the last arrival below it.
    rests: Vec<u32>,
    /// Starts of the last timing.
    starts: Vec<ChunkStart>,
    waiting: Vec<BinaryHeap<Waiting>>,
    /// By epoch.
    agenda: Vec<Agenda>,
    /// Epochs in which links out of switches, and between them, are taken.
    behind: LinkTracks,
    /// For each tree and node, `true` if the hop into the node has started.
    started: Vec<bool>,
    /// Links, with their offsets, of the hops that start together.
    together: Vec<(u32, u32)>,
    /// For each tree, the last arrival as far as it is known.
    ends: Vec<u32>,
    /// Lateness of these ends.
    lateness: f64,
}

impl<'t> TimedTrees<'t> {
    /// Takes the trees of a schedule: the first arrival of a chunk at a node decides.
    fn new(
        task: &'t CollectiveTask,
        folding: Option<&Folding>,
        (known, schedule): (&CollectiveTask, &EpochSchedule),
    ) -> Self {
        let (nodes, links) = (task.network.node_count(), task.network.links());
        let chunks: Vec<u32> =
            folding.map_or_else(|| (0..task.chunks.len() as u32).collect(), |folding| folding.chunks.clone());
        let tracks = match folding {
            Some(folding) => folding.links.iter().map(|(first, _)| *first).collect(),
            None => (0..links.len() as u32).collect(),
        };
        let chains = ChainTable::new(task);
        let (mut hops, mut hops_over) = (Vec::new(), vec![Vec::new(); links.len()]);
        for from in 0..nodes as u32 {
            for chain in chains.of(from) {
                let of_chain: Vec<u32> = chains.links(chain).map(|(link, _)| link).collect();
                let (&[link, ..], &[.., last]) = (&of_chain[..], &of_chain[..]) else { continue };
                let (to, duration) = (chains.head(chain), chains.duration(chain));
                hops_over[last as usize].push(chain);
                hops.push(GraftHop { from, to, link, duration, switched: of_chain.len() > 1 });
            }
        }
        let mut trees = Self {
            task,
            nodes,
            chains,
            is_switched: hops.iter().any(|hop: &GraftHop| hop.switched),
            hops,
            hops_over,
            tracks,
            parents: vec![ROOT; chunks.len() * nodes],
            children: vec![Vec::new(); chunks.len() * nodes],
            rests: vec![0; chunks.len() * nodes],
            starts: Vec::with_capacity(chunks.len() * nodes),
            waiting: vec![BinaryHeap::new(); links.len()],
            agenda: Vec::new(),
            behind: LinkTracks::new(links.len()),
            started: vec![false; chunks.len() * nodes],
            together: Vec::new(),
            ends: vec![0; chunks.len()],
            lateness: 0.0,
            chunks,
        };
        trees.plant(known, schedule);
        for at in 0..trees.chunks.len() {
            trees.measure(at);
        }
        trees
    }

    /// Sets the hops into all nodes from a schedule of the same chunks, or of chunks that consist of several of them.
    fn plant(&mut self, known: &CollectiveTask, schedule: &EpochSchedule) {
        let links = known.network.links();
        let arrival = |start: &ChunkStart| start.epoch + known.epochs.latency(start.link);
        let mut starts: Vec<&ChunkStart> = schedule.starts.iter().collect();
        starts.sort_by_key(|start| (start.chunk, arrival(start), start.link));
        let pieces = self.task.chunks.len() / known.chunks.len().max(1);
        for (at, chunk) in self.chunks.clone().into_iter().enumerate() {
            let whole = chunk / pieces.max(1) as u32;
            let of_chunk = starts.partition_point(|start| start.chunk < whole)
                ..starts.partition_point(|start| start.chunk <= whole);
            // Starts into switches, by switch and arrival.
            let into_switch: FxHashMap<(u32, u32), &ChunkStart> = starts[of_chunk.clone()]
                .iter()
                .map(|start| ((links[start.link as usize].to, arrival(start)), *start))
                .collect();
            for &start in &starts[of_chunk] {
                let node = links[start.link as usize].to;
                let is_known = self.parents[at * self.nodes + node as usize] != ROOT;
                if is_known
                    || known.network.is_switch(node)
                    || node == self.task.chunks.source(chunk as usize)
                {
                    continue;
                }
                // The hop whose links the chunk has taken one after the other.
                let (mut way, mut first) = (vec![start.link], start);
                let from = loop {
                    let from = links[first.link as usize].from;
                    let before = into_switch.get(&(from, first.epoch));
                    match before.filter(|_| known.network.is_switch(from) && way.len() < links.len()) {
                        Some(before) => (first, way) = (*before, [&[before.link][..], &way].concat()),
                        None => break from,
                    }
                };
                let of_chain =
                    |chain: &u32| self.chains.links(*chain).map(|(link, _)| link).eq(way.iter().copied());
                if let Some(hop) = self.hops_over[start.link as usize].iter().copied().find(of_chain) {
                    self.parents[at * self.nodes + node as usize] = hop;
                    self.children[at * self.nodes + from as usize].push(hop);
                }
            }
        }
    }

    /// Computes the rests of a tree.
    fn measure(&mut self, at: usize) {
        let root = self.task.chunks.source(self.chunks[at] as usize);
        let mut order = vec![root];
        let mut next = 0;
        while let Some(node) = order.get(next).copied() {
            next += 1;
            let children = &self.children[at * self.nodes + node as usize];
            order.extend(children.iter().map(|hop| self.hops[*hop as usize].to));
        }
        for node in order.into_iter().rev() {
            let place = at * self.nodes + node as usize;
            let below = |hop: &u32| self.rest_over(at, *hop);
            self.rests[place] = self.children[place].iter().map(below).max().unwrap_or(0);
        }
    }

    /// Returns the epochs from the start of a hop to the last arrival below it.
    fn rest_over(&self, at: usize, hop: u32) -> u32 {
        let hop = &self.hops[hop as usize];
        hop.duration + self.rests[at * self.nodes + hop.to as usize]
    }

    /// Sets the hop into a node of a tree, and returns the hop before.
    fn set(&mut self, at: usize, node: u32, hop: u32) -> u32 {
        let before = std::mem::replace(&mut self.parents[at * self.nodes + node as usize], hop);
        let from = |hop: u32| at * self.nodes + self.hops[hop as usize].from as usize;
        let (left, joined) = (from(before), from(hop));
        self.children[left].retain(|other| *other != before);
        self.children[joined].push(hop);
        self.measure(at);
        before
    }

    /// Times all trees; `None` if the lateness is not below `most`, or if a tree does not reach all GPUs. Ends early,
    /// because the lateness of the rests that are known bounds the lateness of the whole.
    fn time(&mut self, most: f64) -> Option<Timed> {
        let (task, nodes) = (self.task, self.nodes);
        self.starts.clear();
        self.started.fill(false);
        self.behind.clear();
        self.waiting.iter_mut().for_each(BinaryHeap::clear);
        for agenda in &mut self.agenda {
            agenda.arrivals.clear();
            agenda.freed.clear();
            agenda.again.clear();
        }
        let mut arrivals = vec![0; self.chunks.len() * nodes];
        self.ends.fill(0);
        self.lateness = 0.0;
        let mut left = self.chunks.len() * task.network.gpus().len();
        // Starts that each track may still make in the present epoch, and the epoch at which it is free.
        let mut free = vec![0_u32; self.waiting.len()];
        let mut used = vec![0_u32; self.waiting.len()];
        for at in 0..self.chunks.len() {
            let root = task.chunks.source(self.chunks[at] as usize);
            self.at(0).arrivals.push((at as u32, root));
            self.expect(at as u32, self.rests[at * nodes + root as usize]);
        }
        let mut touched: Vec<u32> = Vec::new();
        let mut now = 0_u32;
        while left > 0 && (now as usize) < self.agenda.len() {
            let mut agenda = std::mem::take(&mut self.agenda[now as usize]);
            touched.append(&mut agenda.freed);
            for (at, node) in agenda.arrivals.drain(..) {
                let place = at as usize * nodes + node as usize;
                arrivals[place] = now;
                left -= 1;
                for child in 0..self.children[place].len() {
                    touched.push(self.wait(at, self.children[place][child]));
                }
            }
            for (at, hop) in agenda.again.drain(..) {
                touched.push(self.wait(at, hop));
            }
            self.agenda[now as usize] = agenda;
            touched.sort_unstable();
            touched.dedup();
            // Links behind a switch go to the chunk with the longest rest.
            if self.is_switched {
                touched.sort_by_key(|track| {
                    Reverse(self.waiting[*track as usize].peek().map(|(rest, ..)| *rest))
                });
            }
            for track in touched.drain(..) {
                let model = &task.epochs.links[track as usize];
                while free[track as usize] <= now
                    && let Some((_, Reverse(at), hop)) = self.waiting[track as usize].pop()
                {
                    if self.started[at as usize * nodes + self.hops[hop as usize].to as usize] {
                        continue;
                    }
                    self.together.clear();
                    let later = self.start(at, hop, now);
                    self.expect(at, later + self.rest_over(at as usize, hop));
                    if self.lateness >= most {
                        return None;
                    }
                    if later > now {
                        self.at(later).again.push((at, hop));
                        continue;
                    }
                    if self.hops[hop as usize].switched && task.switch_copies {
                        self.start_siblings(at, hop, now);
                    }
                    used[track as usize] += 1;
                    if used[track as usize] == model.starts {
                        used[track as usize] = 0;
                        free[track as usize] = now + model.occupied;
                    }
                    self.at(now + model.occupied).freed.push(track);
                }
            }
            // Starts that were not used in an epoch are lost.
            for track in self.agenda.get(now as usize + 1).map_or(&[][..], |next| &next.freed[..]) {
                if free[*track as usize] <= now {
                    used[*track as usize] = 0;
                }
            }
            now += 1;
        }
        let lateness = self.ends.iter().map(|end| weight(*end)).sum();
        let finish = self.ends.iter().copied().max().unwrap_or(0);
        let ends = self.ends.clone();
        (left == 0 && lateness < most).then_some(Timed { finish, lateness, arrivals, ends })
    }

    /// Notes an epoch before which a tree does not end.
    fn expect(&mut self, at: u32, end: u32) {
        let known = &mut self.ends[at as usize];
        if end > *known {
            self.lateness += weight(end) - weight(*known);
            *known = end;
        }
    }

    /// Returns the agenda of an epoch.
    fn at(&mut self, epoch: u32) -> &mut Agenda {
        if self.agenda.len() <= epoch as usize {
            self.agenda.resize_with(epoch as usize + 1, Agenda::default);
        }
        &mut self.agenda[epoch as usize]
    }

    /// Lets a hop wait for its first link, and returns the track of this link.
    fn wait(&mut self, at: u32, hop: u32) -> u32 {
        let track = self.tracks[self.hops[hop as usize].link as usize];
        let rest = self.rest_over(at as usize, hop);
        self.waiting[track as usize].push((rest, Reverse(at), hop));
        track
    }

    /// Starts a hop whose first link is free, and returns `now`. If a link behind a switch is taken, returns an epoch
    /// before which the hop cannot start.
    fn start(&mut self, at: u32, hop: u32, now: u32) -> u32 {
        let GraftHop { to, duration, switched, .. } = self.hops[hop as usize];
        let chunk = self.chunks[at as usize];
        let mut later = now;
        if switched {
            for (link, offset) in self.chains.links(hop).skip(1) {
                if !self.together.contains(&(link, offset)) {
                    let model = &self.task.epochs.links[link as usize];
                    let free = self.behind.earliest(self.tracks[link as usize], model, now + offset);
                    later = later.max(free - offset);
                }
            }
        }
        if later > now {
            return later;
        }
        for (place, (link, offset)) in self.chains.links(hop).enumerate() {
            if switched && self.together.contains(&(link, offset)) {
                continue;
            }
            if place > 0 {
                let model = &self.task.epochs.links[link as usize];
                self.behind.take(self.tracks[link as usize], model, now + offset);
            }
            self.starts.push(ChunkStart { epoch: now + offset, link, chunk });
            self.together.push((link, offset));
        }
        self.started[at as usize * self.nodes + to as usize] = true;
        self.at(now + duration).arrivals.push((at, to));
        now
    }

    /// Starts the other hops of a chunk that begin with the first link of a hop, as far as their further links are
    /// free: the switch makes copies.
    fn start_siblings(&mut self, at: u32, hop: u32, now: u32) {
        let GraftHop { from, link, .. } = self.hops[hop as usize];
        let place = at as usize * self.nodes + from as usize;
        for child in 0..self.children[place].len() {
            let other = self.children[place][child];
            let GraftHop { to, link: first, .. } = self.hops[other as usize];
            if first == link && !self.started[at as usize * self.nodes + to as usize] {
                self.start(at, other, now);
            }
        }
    }

    /// Returns one of several hops that end with the same link; every other time a copy that a switch makes, if any.
    fn draw(&self, at: usize, hops: &[u32], stream: &mut Stream) -> Option<u32> {
        let is_copy = |hop: &&u32| {
            let GraftHop { from, link, .. } = self.hops[**hop as usize];
            let children = &self.children[at * self.nodes + from as usize];
            children.iter().any(|child| child != *hop && self.hops[*child as usize].link == link)
        };
        let copies = hops.iter().filter(is_copy).count();
        if self.task.switch_copies && copies > 0 && stream.random::<f64>() < COPIES {
            return hops.iter().filter(is_copy).nth(stream.random_range(0..copies)).copied();
        }
        hops.get(stream.random_range(0..hops.len().max(1))).copied()
    }

    /// Returns a random move: a tree, a node, and another hop into the node from a node that is not below it. `None` if
    /// the drawn hop is not possible, or if the tree would end after all others. Late chunks are drawn more often.
    fn graft(&self, timed: &Timed, stream: &mut Stream) -> Option<(usize, u32, u32)> {
        let gpus = self.task.network.gpus();
        let mut at = stream.random_range(0..self.chunks.len());
        for _ in 0..2 {
            let other = stream.random_range(0..self.chunks.len());
            if timed.ends[other] > timed.ends[at] {
                at = other;
            }
        }
        let row = &timed.arrivals[at * self.nodes..(at + 1) * self.nodes];
        let mut node = gpus[stream.random_range(0..gpus.len())];
        if stream.random::<f64>() < TO_LAST {
            node = gpus.iter().copied().max_by_key(|gpu| row[*gpu as usize]).unwrap_or(node);
        }
        let parent = |node: u32| self.parents[at * self.nodes + node as usize];
        let before = |node: u32| self.hops[parent(node) as usize].from;
        let mut path = Vec::new();
        while parent(node) != ROOT {
            path.push(node);
            node = before(node);
        }
        let node = *path.get(stream.random_range(0..path.len().max(1)))?;
        let into = self.task.network.in_links(node);
        let over = &self.hops_over[into[stream.random_range(0..into.len())] as usize];
        let hop = match over[..] {
            [only] => only,
            _ => self.draw(at, over, stream)?,
        };
        let from = self.hops[hop as usize].from;
        let end = row[from as usize] + self.rest_over(at, hop);
        if hop == parent(node) || end > timed.finish {
            return None;
        }
        // The node must not be above the new tail.
        let mut above = from;
        while above != node {
            if parent(above) == ROOT {
                return Some((at, node, hop));
            }
            above = before(above);
        }
        None
    }
}
