//! Whole chunks matched to links (TACOS; docs/methods/collective-search.md, section 6): in order of time, every free
//! link starts a chunk that its head neither has nor awaits.
//!
//! Placing chunk by chunk leaves gaps on links that later chunks do not fill; a matching leaves a link idle only if its
//! tail has no chunk that its head lacks. On grids, where few links lead to the corners, these gaps matter most.

use super::NEVER;
use crate::model::schedule::ChunkStart;
use crate::model::task::CollectiveTask;
use lightbay_core::method::MethodError;
use lightbay_core::random::Stream;
use lightbay_core::watch::Watch;
use rand::RngExt;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Maximum number of chunk lookups in all passes: less than a second.
const MOST_LOOKS: usize = 1 << 26;

/// Rule by which a link chooses among chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct MatchRule {
    /// If true, prefers chunks that few GPUs have or await; otherwise, chooses at random.
    rarest: bool,
    /// If true, a slow link starts no chunk if the other links into the same GPU can bring all chunks that the GPU
    /// lacks before the slow link could bring one of these chunks.
    leaves: bool,
}

/// The rules in the order of the passes; the last two matter only if links differ.
const RULES: [MatchRule; 4] = [
    MatchRule { rarest: true, leaves: false },
    MatchRule { rarest: false, leaves: false },
    MatchRule { rarest: true, leaves: true },
    MatchRule { rarest: false, leaves: true },
];

/// Returns `true` if every GPU needs every chunk, all nodes are GPUs, and links are always up.
pub(super) fn suits(task: &CollectiveTask) -> bool {
    task.network.gpus().len() == task.network.node_count() && spreads(task)
}

/// Returns `true` if every GPU needs every chunk, and links are always up.
pub(super) fn spreads(task: &CollectiveTask) -> bool {
    let gpus = task.network.gpus().len();
    task.epochs.links.iter().all(|link| !link.timed)
        && (0..task.chunks.len()).all(|chunk| task.chunks.dests(chunk).count() + 1 == gpus)
}

/// Makes at most `most` passes, and calls `passed` with the finish and the starts of each pass until `passed` returns
/// `true`, which means that no more passes are needed.
pub(super) fn passes<W: Watch<S>, S>(
    task: &CollectiveTask,
    most: u32,
    stream: &mut Stream,
    watch: &mut W,
    mut passed: impl FnMut(&mut W, u32, Vec<ChunkStart>) -> Result<bool, MethodError>,
) -> Result<(), MethodError> {
    let looks = task.chunks.deliveries().saturating_mul(task.chunks.len()).max(1);
    let occupied = |at: usize| task.epochs.links[at].occupied;
    let uneven = (1..task.epochs.links.len()).any(|at| occupied(at) != occupied(0));
    let rules = if uneven { &RULES[..] } else { &RULES[..2] };
    for pass in 0..most.min((MOST_LOOKS / looks) as u32) {
        let mut matcher = Matcher::new(task, rules[pass as usize % rules.len()]);
        let Some(finish) = matcher.run(stream, watch)? else { return Ok(()) };
        watch.count(1);
        if passed(watch, finish, matcher.starts)? {
            break;
        }
    }
    Ok(())
}

/// Set of chunks, one bit per chunk.
type Chunks = Vec<u64>;

struct Matcher<'t> {
    task: &'t CollectiveTask,
    rule: MatchRule,
    /// For every GPU, the chunks that it has or awaits.
    have: Vec<Chunks>,
    coming: Vec<Chunks>,
    /// For every GPU, the number of chunks that it neither has nor awaits.
    missing: Vec<usize>,
    /// Number of GPUs that have or await each chunk.
    holders: Vec<u32>,
    /// First epoch at which each link is free.
    free: Vec<u32>,
    /// Arrivals: epoch, chunk and GPU.
    arrivals: BinaryHeap<Reverse<(u32, u32, u32)>>,
    /// Epochs at which links become free.
    frees: BinaryHeap<Reverse<(u32, u32)>>,
    starts: Vec<ChunkStart>,
}

impl<'t> Matcher<'t> {
    fn new(task: &'t CollectiveTask, rule: MatchRule) -> Self {
        let (nodes, chunks) = (task.network.node_count(), task.chunks.len());
        let mut have = vec![vec![0; chunks.div_ceil(64)]; nodes];
        let mut missing = vec![chunks; nodes];
        for chunk in 0..chunks {
            let source = task.chunks.source(chunk) as usize;
            have[source][chunk / 64] |= 1 << (chunk % 64);
            missing[source] -= 1;
        }
        let links = 0..task.network.links().len() as u32;
        Self {
            task,
            rule,
            coming: have.clone(),
            have,
            missing,
            holders: vec![1; chunks],
            free: vec![0; links.len()],
            arrivals: BinaryHeap::new(),
            frees: links.map(|link| Reverse((0, link))).collect(),
            starts: Vec::with_capacity(task.chunks.deliveries()),
        }
    }

    /// Returns the finish of a pass; `None` if some chunk cannot reach all GPUs.
    fn run<W: Watch<S>, S>(
        &mut self,
        stream: &mut Stream,
        watch: &mut W,
    ) -> Result<Option<u32>, MethodError> {
        let task = self.task;
        let network = &task.network;
        let mut finish = 0;
        // Links that may start a chunk, each with a random number for the order.
        let mut ready: Vec<(u32, u32)> = Vec::new();
        let mut is_ready = vec![false; self.free.len()];
        loop {
            watch.checkpoint()?;
            let next = |heap: Option<u32>| heap.unwrap_or(u32::MAX);
            let arrival = next(self.arrivals.peek().map(|Reverse((epoch, ..))| *epoch));
            let now = arrival.min(next(self.frees.peek().map(|Reverse((epoch, _))| *epoch)));
            if (NEVER..u32::MAX).contains(&now) {
                return Ok(None);
            }
            if now == u32::MAX {
                if self.missing.iter().all(|missing| *missing == 0) {
                    return Ok(Some(finish));
                }
                // Slow links left some chunks to faster links, which did not send them: the slow links send them now.
                if !self.rule.leaves {
                    return Ok(None);
                }
                self.rule.leaves = false;
                self.frees.extend(
                    (0u32..).zip(&self.free).map(|(link, free)| Reverse(((*free).max(finish), link))),
                );
                continue;
            }
            let mut may_start = |link: u32, ready: &mut Vec<(u32, u32)>| {
                if !std::mem::replace(&mut is_ready[link as usize], true) {
                    ready.push((stream.random(), link));
                }
            };
            while let Some(Reverse((epoch, chunk, gpu))) = self.arrivals.peek().copied()
                && epoch == now
            {
                self.arrivals.pop();
                finish = finish.max(now);
                self.have[gpu as usize][chunk as usize / 64] |= 1 << (chunk % 64);
                for &link in network.out_links(gpu) {
                    if self.free[link as usize] <= now {
                        may_start(link, &mut ready);
                    }
                }
            }
            while let Some(Reverse((epoch, link))) = self.frees.peek().copied()
                && epoch == now
            {
                self.frees.pop();
                may_start(link, &mut ready);
            }
            // Random order, so that no GPU is always the first to choose.
            ready.sort_unstable();
            for (_, link) in ready.drain(..) {
                is_ready[link as usize] = false;
                self.start(now, link, stream);
            }
        }
    }

    /// Starts chunks on a free link.
    fn start(&mut self, now: u32, link: u32, stream: &mut Stream) {
        let model = &self.task.epochs.links[link as usize];
        let ends = &self.task.network.links()[link as usize];
        let (from, to) = (ends.from as usize, ends.to as usize);
        let arrival = now + model.latency;
        for _ in 0..model.starts {
            if self.missing[to] == 0 || (self.rule.leaves && self.others_bring(to, link, arrival)) {
                return;
            }
            let Some(chunk) = self.choice(from, to, stream) else { return };
            self.coming[to][chunk as usize / 64] |= 1 << (chunk % 64);
            self.missing[to] -= 1;
            self.holders[chunk as usize] += 1;
            self.starts.push(ChunkStart { epoch: now, link, chunk });
            self.arrivals.push(Reverse((arrival, chunk, to as u32)));
            if self.free[link as usize] <= now {
                self.free[link as usize] = now + model.occupied;
                self.frees.push(Reverse((now + model.occupied, link)));
            }
        }
    }

    /// Returns `true` if the other links into a GPU may bring, before an epoch, all chunks that the GPU lacks.
    fn others_bring(&self, to: usize, link: u32, arrival: u32) -> bool {
        let into = self.task.network.in_links(to as u32).iter();
        let room: u32 = into
            .filter(|other| **other != link)
            .map(|other| {
                let model = &self.task.epochs.links[*other as usize];
                let last = arrival.saturating_sub(model.latency + self.free[*other as usize]);
                last / model.occupied * model.starts
            })
            .sum();
        room as usize >= self.missing[to]
    }

    /// Returns a chunk that one GPU has and another GPU neither has nor awaits; `None` if no such chunk exists.
    fn choice(&self, from: usize, to: usize, stream: &mut Stream) -> Option<u32> {
        let mut best: Option<(u32, u32, u32)> = None;
        for (word, (have, coming)) in (0u32..).zip(self.have[from].iter().zip(&self.coming[to])) {
            let mut left = have & !coming;
            while left != 0 {
                let chunk = word * 64 + left.trailing_zeros();
                left &= left - 1;
                let holders = if self.rule.rarest { self.holders[chunk as usize] } else { 0 };
                if best.is_some_and(|(known, ..)| holders > known) {
                    continue;
                }
                let key = (holders, stream.random(), chunk);
                if best.is_none_or(|best| key < best) {
                    best = Some(key);
                }
            }
        }
        best.map(|(_, _, chunk)| chunk)
    }
}
