//! The tree of a chunk: from the GPUs that have it, the earliest-arrival path to the next GPU that needs it
//! (docs/methods/collective-search.md, section 6).

mod buffers;

use super::chains::ChainTable;
use super::tracks::{LinkTracks, NEVER};
use crate::model::distances::FAR;
use crate::model::group::Folding;
use crate::model::schedule::ChunkStart;
use crate::model::task::CollectiveTask;
use lightbay_core::method::MethodError;
use lightbay_core::random::SplitMix;
use lightbay_core::watch::Watch;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Additional copies that a switch on the path to one GPU makes for other GPUs that are connected to this switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FanOut {
    /// Makes no additional copies.
    None,
    /// Serves every other GPU that needs the chunk and whose link is free at the same time.
    Opportunistic,
    /// Serves all GPUs that need the chunk, at the first time at which all their links are free.
    Atomic,
}

/// Rule for placing chunks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlacementRule {
    /// Additional copies that switches make.
    pub fan_out: FanOut,
    /// Price of occupying a link for one epoch, expressed as epochs of later arrival; with a high price, scarce links
    /// are used only once.
    pub price: f64,
    /// Maximum random addition to the price of a path, epochs.
    pub noise: f64,
    /// If every GPU needs the chunk, this weight times the length of the shortest path from the source to a GPU is
    /// subtracted from the key of the GPU. GPUs with small keys are served first, so this rule prefers GPUs on slow
    /// links.
    pub slow_first: f64,
}

/// A path that a chunk may take next. Ordered by rank, then by arrival, head and chain, so that heaps are the same on
/// every machine.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Step {
    /// Key for the order, smallest first; if there is a single goal, the key includes a bound on the rest of the path.
    rank: f64,
    key: f64,
    arrival: u32,
    start: u32,
    tail: u32,
    chain: u32,
    head: u32,
}

impl Eq for Step {}

impl PartialOrd for Step {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Step {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let order = self.rank.total_cmp(&other.rank);
        order
            .then(self.arrival.cmp(&other.arrival))
            .then(self.head.cmp(&other.head))
            .then(self.chain.cmp(&other.chain))
    }
}

/// Places chunks, one after the other.
#[derive(Debug)]
pub struct Placer<'t> {
    task: &'t CollectiveTask,
    chains: ChainTable,
    tracks: LinkTracks,
    /// Track of every lane; the lanes of a link share a track, and so do the images of a link if the task is
    /// symmetry-reduced.
    track_of: Vec<u32>,
    /// Number of the pass, which determines the noise of its paths.
    salt: u64,
    /// Chunk that is being placed.
    chunk: u32,
    /// `true` if GPUs that are not destinations may relay chunks.
    relays: bool,
    /// Starts of this pass.
    pub starts: Vec<ChunkStart>,
    /// Finish of every chunk in this pass.
    pub finishes: Vec<u32>,
    /// Epoch at which each GPU has the chunk that is being placed; [`NEVER`] if the GPU does not have the chunk.
    have: Vec<u32>,
    wanted: Vec<bool>,
    /// On each link, the starts of the chunk that is being placed.
    own: Vec<Vec<u32>>,
    own_links: Vec<u32>,
    /// For a switch of the real network and an epoch: the node of the network of lanes at which the current chunk
    /// arrives. There is at most one such node, because plans cannot distinguish arrivals of different pace. Empty if
    /// chunks arrive at one pace.
    passed: FxHashMap<(u32, u32), u32>,
    /// Best label of each GPU in the current search: the key, and the step that led to the GPU.
    labels: Vec<Option<Step>>,
    labelled: Vec<u32>,
}

impl<'t> Placer<'t> {
    /// Creates a placer of a task's chunks, without any starts.
    pub fn new(task: &'t CollectiveTask) -> Self {
        let (nodes, links) = (task.network.node_count(), task.network.links().len());
        Self {
            task,
            chains: ChainTable::new(task),
            tracks: LinkTracks::new(task.real.links().len()),
            track_of: task.epochs.links.iter().map(|link| link.carrier).collect(),
            salt: 0,
            chunk: 0,
            relays: true,
            starts: Vec::new(),
            finishes: vec![0; task.chunks.len()],
            have: vec![NEVER; nodes],
            wanted: vec![false; nodes],
            own: vec![Vec::new(); links],
            own_links: Vec::new(),
            passed: FxHashMap::default(),
            labels: vec![None; nodes],
            labelled: Vec::new(),
        }
    }

    /// Creates a placer of the representatives of a symmetry-reduced task.
    pub fn folded(task: &'t CollectiveTask, folding: &Folding) -> Self {
        // Images of a link share the track of its orbit's first link.
        let carrier = |(first, _): &(u32, u32)| task.epochs.links[*first as usize].carrier;
        Self { track_of: folding.links.iter().map(carrier).collect(), ..Self::new(task) }
    }

    /// Sets the number that determines the noise of the next pass.
    pub const fn salt(&mut self, salt: u64) {
        self.salt = salt;
    }

    /// Returns the first epoch, not before a given epoch, at which a link is free.
    fn free(&mut self, link: u32, from: u32) -> u32 {
        self.tracks.earliest(self.track_of[link as usize], &self.task.epochs.links[link as usize], from)
    }

    /// Returns the random addition to the price of a path, which is the same throughout a pass.
    fn noise(&self, chunk: u32, chain: u32, most: f64) -> f64 {
        if most == 0.0 {
            return 0.0;
        }
        // Noise depends only on pass, chunk and chain, not on the order of the search.
        let mix = |state: u64| SplitMix::new(state).draw();
        let bits = mix(mix(self.salt ^ u64::from(chunk)) ^ u64::from(chain));
        // 53 bits fill the mantissa.
        most * (bits >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Places all chunks in a given order; returns the finish, or `None` if some chunk cannot reach its destinations.
    ///
    /// # Errors
    /// If the run must stop.
    pub fn pass<W: Watch<S>, S>(
        &mut self,
        order: &[u32],
        rule: PlacementRule,
        watch: &mut W,
    ) -> Result<Option<u32>, MethodError> {
        // A pass begins with all links free.
        self.tracks.clear();
        self.starts.clear();
        let (mut finish, mut work) = (0, 0usize);
        for &chunk in order {
            // Starts are never moved, so earlier placements stay valid.
            let Some(end) = self.place(chunk, rule, 0) else { return Ok(None) };
            self.finishes[chunk as usize] = end;
            finish = finish.max(end);
            // Checks for a stop about every thousand nodes.
            work += 1 + self.have.len() / 16;
            if work > 64 {
                watch.checkpoint()?;
                work = 0;
            }
        }
        watch.checkpoint()?;
        watch.count(1);
        Ok(Some(finish))
    }

    /// Places a chunk that leaves its source at a given epoch or later; returns the epoch of its last delivery, or
    /// `None` if the chunk cannot reach a destination.
    fn place(&mut self, chunk: u32, rule: PlacementRule, ready: u32) -> Option<u32> {
        let task = self.task;
        let source = task.chunks.source(chunk as usize);
        self.chunk = chunk;
        self.have.fill(NEVER);
        self.have[source as usize] = ready;
        let mut left = 0usize;
        let mut only = None;
        for dest in task.chunks.dests(chunk as usize) {
            self.wanted[dest as usize] = true;
            left += 1;
            only = Some(dest);
        }
        // Some GPU is not a destination of the chunk, so it could relay the chunk.
        let relays = left + 1 < task.network.gpus().len();
        let finish = if left == 0 {
            Some(0)
        } else if relays {
            // With a single goal, distances to it guide the search (A*).
            let goal = only.filter(|_| left == 1);
            self.grow_with_relays(chunk, rule, goal)
        } else {
            self.grow(chunk, source, rule, left)
        };
        for dest in task.chunks.dests(chunk as usize) {
            self.wanted[dest as usize] = false;
        }
        // Clears only the entries that this chunk has touched.
        for link in self.own_links.drain(..) {
            self.own[link as usize].clear();
        }
        self.passed.clear();
        finish
    }

    /// Builds the tree of a chunk that every GPU needs; returns the epoch of its last delivery, or `None` if some GPU
    /// cannot be reached. The next path always begins at a GPU that has the chunk, so one heap of paths suffices; a
    /// path whose links have been taken in the meantime is pushed again with its new time.
    fn grow(&mut self, chunk: u32, source: u32, rule: PlacementRule, mut left: usize) -> Option<u32> {
        // Candidate paths, the smallest key first.
        let mut open: BinaryHeap<Reverse<Step>> = BinaryHeap::new();
        let mut finish = 0;
        let mut reached = vec![source];
        while left > 0 {
            // Adds the chains from newly reached GPUs to GPUs that do not have the chunk yet.
            for tail in reached.drain(..) {
                for chain in self.chains.of(tail) {
                    if self.have[self.chains.head(chain) as usize] == NEVER {
                        open.extend(self.step(tail, chain, rule).map(Reverse));
                    }
                }
            }
            // The heap is empty: some GPU cannot be reached.
            let Reverse(step) = open.pop()?;
            if self.have[step.head as usize] != NEVER {
                continue;
            }
            // Lazy update: links may have been taken since. Times only grow, so a path that is still first is the best
            // one.
            let fresh = self.step(step.tail, step.chain, rule)?;
            if fresh.rank > step.rank {
                open.push(Reverse(fresh));
                continue;
            }
            // The path is committed, with the destinations that a switch on it can also serve.
            self.commit(chunk, &fresh, rule, &mut reached);
            for &node in &reached {
                finish = finish.max(self.have[node as usize]);
            }
            left -= reached.len();
            if self.task.switch_copies && self.chains.links(fresh.chain).len() > 1 {
                // Adds the steps of the tail again, because paths that share the first link have become cheaper.
                reached.push(fresh.tail);
            }
        }
        Some(finish)
    }

    /// Builds the tree of a chunk if paths may lead over GPUs that do not need the chunk: for each next destination,
    /// searches once from all GPUs that have the chunk. With a single goal, the distance to the goal guides the search.
    /// Returns the epoch of the last delivery, or `None` if a destination cannot be reached.
    fn grow_with_relays(&mut self, chunk: u32, rule: PlacementRule, goal: Option<u32>) -> Option<u32> {
        let task = self.task;
        let toward = goal.map(|goal| task.distances.to(&task.network, goal));
        let mut finish = 0;
        let mut owners = vec![task.chunks.source(chunk as usize)];
        let mut left = task.chunks.dests(chunk as usize).count();
        while left > 0 {
            let last = self.search(&owners, rule, toward)?;
            // Goes from the destination back to a GPU that has the chunk.
            let mut way = Vec::new();
            // Labels hold the step that led to each GPU.
            let mut at = last;
            while self.have[at as usize] == NEVER {
                let step = self.labels[at as usize]?;
                way.push(step);
                at = step.tail;
            }
            // Commits the steps forwards, because every step begins where the previous step ends.
            let mut reached = Vec::new();
            for step in way.iter().rev() {
                // A fan-out may have moved steps before this one, or may have taken its links.
                if self.have[step.head as usize] != NEVER {
                    continue;
                }
                // Times are computed again, because earlier steps of this path, and fan-outs, have taken links.
                let fresh = self.step(step.tail, step.chain, rule)?;
                self.commit(chunk, &fresh, rule, &mut reached);
            }
            for node in reached {
                owners.push(node);
                if self.wanted[node as usize] {
                    left -= 1;
                    finish = finish.max(self.have[node as usize]);
                }
            }
        }
        Some(finish)
    }

    /// Labels GPUs by keys until a GPU that needs the chunk is settled; returns that GPU, or `None` if no such GPU can
    /// be reached.
    fn search(&mut self, owners: &[u32], rule: PlacementRule, toward: Option<&[u32]>) -> Option<u32> {
        for node in self.labelled.drain(..) {
            self.labels[node as usize] = None;
        }
        // Dijkstra's algorithm from all owners at once.
        let mut open: BinaryHeap<Reverse<Step>> = BinaryHeap::new();
        for &owner in owners {
            self.relax(
                owner,
                f64::from(self.have[owner as usize]),
                self.have[owner as usize],
                rule,
                toward,
                &mut open,
            );
        }
        while let Some(Reverse(step)) = open.pop() {
            // Stale entries were replaced by better labels.
            if self.labels[step.head as usize] != Some(step) {
                continue;
            }
            if self.wanted[step.head as usize] {
                return Some(step.head);
            }
            // Only with relays may GPUs that do not need the chunk forward it.
            if self.relays {
                self.relax(step.head, step.key, step.arrival, rule, toward, &mut open);
            }
        }
        None
    }

    fn relax(
        &mut self,
        tail: u32,
        key: f64,
        arrival: u32,
        rule: PlacementRule,
        toward: Option<&[u32]>,
        open: &mut BinaryHeap<Reverse<Step>>,
    ) {
        for chain in self.chains.of(tail) {
            let head = self.chains.head(chain);
            // A lower bound on the rest of the path: the distance without other traffic.
            let rest = toward.map_or(0, |row| row[head as usize]);
            if self.have[head as usize] != NEVER || rest >= FAR {
                continue;
            }
            let Some(mut step) = self.step_at(tail, chain, key, arrival, rule) else { continue };
            step.rank = step.key + f64::from(rest);
            // A label stores only the best step into its GPU.
            if self.labels[head as usize].is_none_or(|known| step < known) {
                if self.labels[head as usize].is_none() {
                    self.labelled.push(head);
                }
                self.labels[head as usize] = Some(step);
                open.push(Reverse(step));
            }
        }
    }

    fn step(&mut self, tail: u32, chain: u32, rule: PlacementRule) -> Option<Step> {
        // The key begins at the arrival of the chunk at the tail.
        let have = self.have[tail as usize];
        let mut step = self.step_at(tail, chain, f64::from(have), have, rule)?;
        if rule.slow_first > 0.0 {
            let source = self.task.chunks.source(self.chunk as usize);
            // Serves far GPUs first: subtracts an amount in proportion to the distance from the source.
            step.rank -= rule.slow_first * f64::from(self.task.distance(source, step.head));
        }
        Some(step)
    }

    fn step_at(&mut self, tail: u32, chain: u32, key: f64, from: u32, rule: PlacementRule) -> Option<Step> {
        let start = self.earliest(chain, from);
        if start >= NEVER {
            return None;
        }
        let arrival = start + self.chains.duration(chain);
        let noise = self.noise(self.chunk, chain, rule.noise);
        // The key never decreases along a path: it is the maximum of the previous key and the arrival, plus the price
        // of the links.
        let key = key.max(f64::from(arrival)) + rule.price * self.chains.price(chain) + noise;
        Some(Step { rank: key, key, arrival, start, tail, chain, head: self.chains.head(chain) })
    }

    /// Returns the first epoch, not before a given epoch, at which a chunk can start on a chain so that it finds every
    /// link of the chain free. If switches copy, a link that already carries this chunk at that time counts as free.
    fn earliest(&mut self, chain: u32, from: u32) -> u32 {
        let mut start = from;
        // Fixed point: a busy link delays the start, and all links are tested again. Starts only grow.
        'again: loop {
            for (link, offset) in self.chains.links(chain) {
                let wanted = start + offset;
                let (track, model) = (self.track_of[link as usize], &self.task.epochs.links[link as usize]);
                let free = self.tracks.earliest(track, model, wanted);
                if free <= wanted {
                    continue;
                }
                // A copy that shares a transmission needs no capacity.
                let shared = self.task.switch_copies && self.chains.links(chain).len() > 1;
                let own =
                    self.own[link as usize].iter().copied().filter(|own| shared && *own >= wanted).min();
                // Takes the earlier of the first free time and the first transmission that can be shared.
                let next = own.map_or(free, |own| free.min(own));
                if next >= NEVER {
                    return NEVER;
                }
                if next > wanted {
                    start = next - offset;
                    continue 'again;
                }
            }
            // Delays the start, because the plan format could not distinguish two arrivals of the chunk at a switch in
            // one epoch at different paces.
            if self.meets_another_pace(chain, start) {
                start += 1;
                continue;
            }
            return start;
        }
    }

    /// Returns `true` if the chunk already arrives at a switch of a chain at the same time at another pace.
    fn meets_another_pace(&self, chain: u32, start: u32) -> bool {
        let task = self.task;
        !self.passed.is_empty()
            && self.chains.links(chain).any(|(link, offset)| {
                let node = task.network.links()[link as usize].to;
                let arrival = start + offset + task.epochs.latency(link);
                let known = self.passed.get(&(task.origins[node as usize], arrival));
                known.is_some_and(|known| *known != node)
            })
    }

    /// Occupies the links of a step, and the links to other GPUs that a switch serves at the same time.
    fn commit(&mut self, chunk: u32, step: &Step, rule: PlacementRule, reached: &mut Vec<u32>) {
        // Fan-out applies to paths through one switch.
        let pair = self.chains.pair(step.chain).filter(|_| rule.fan_out != FanOut::None);
        let Some((up, offset)) = pair else {
            return self.take_chain(chunk, step.chain, step.start, step.head, reached);
        };
        let switch = self.task.network.links()[up as usize].to;
        let task = self.task;
        // GPUs connected to the switch that still need the chunk.
        let others: Vec<(u32, u32)> = task
            .network
            .out_links(switch)
            .iter()
            .map(|down| (*down, task.network.links()[*down as usize].to))
            .filter(|(_, gpu)| self.wanted[*gpu as usize] && self.have[*gpu as usize] == NEVER)
            .collect();
        let mut start = step.start;
        // The first start at which all links are free: each busy link delays it, until none is busy.
        if rule.fan_out == FanOut::Atomic {
            loop {
                let before = start;
                start = self.earliest(step.chain, start);
                for &(down, _) in &others {
                    let wanted = start + offset;
                    let free = self.free(down, wanted);
                    start += free.min(NEVER) - wanted;
                }
                if start == before || start >= NEVER {
                    break;
                }
            }
            // No common time: commits the path alone.
            if start >= NEVER {
                start = step.start;
            }
        }
        self.take_chain(chunk, step.chain, start, step.head, reached);
        // Links from the switch that are free at that time carry the chunk too.
        for (down, gpu) in others {
            let wanted = start + offset;
            let model = &task.epochs.links[down as usize];
            if self.have[gpu as usize] == NEVER && self.free(down, wanted) == wanted {
                self.take(chunk, down, wanted);
                self.have[gpu as usize] = wanted + model.latency;
                reached.push(gpu);
            }
        }
    }

    fn take_chain(&mut self, chunk: u32, chain: u32, start: u32, head: u32, reached: &mut Vec<u32>) {
        let shared = self.task.switch_copies && self.chains.links(chain).len() > 1;
        let links: Vec<(u32, u32)> = self.chains.links(chain).collect();
        for (link, offset) in links {
            // A link that carries this chunk at this time is not taken twice.
            if !(shared && self.own[link as usize].contains(&(start + offset))) {
                self.take(chunk, link, start + offset);
            }
        }
        self.have[head as usize] = start + self.chains.duration(chain);
        reached.push(head);
    }

    fn take(&mut self, chunk: u32, link: u32, epoch: u32) {
        let model = &self.task.epochs.links[link as usize];
        self.tracks.take(self.track_of[link as usize], model, epoch);
        // Lists touched links, so that clearing does not scan all links.
        if self.own[link as usize].is_empty() {
            self.own_links.push(link);
        }
        self.own[link as usize].push(epoch);
        let node = self.task.network.links()[link as usize].to;
        if self.task.has_lanes() && self.task.network.is_switch(node) {
            self.passed.insert((self.task.origins[node as usize], epoch + model.latency), node);
        }
        self.starts.push(ChunkStart { epoch, link, chunk });
    }
}
