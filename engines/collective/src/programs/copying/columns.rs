//! The columns of the model: starts that can arrive in time, and the possible places of chunks
//! (docs/methods/collective-search.md, section 7).

use super::CopyProgram;
use crate::model::distances::FAR;
use crate::model::group::Folding;
use crate::model::task::CollectiveTask;
use crate::programs::spans::ColumnSpan;
use lightbay_core::method::MethodError;
use lightbay_core::watch::Watch;
use lightbay_highs::model::{Column, Domain};

/// State before the first epoch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CopyBeginning {
    /// For each chunk, by its position among the representatives: the GPUs that hold the chunk or are about to receive
    /// it, each with the epoch from which it holds the chunk.
    pub held: Vec<Vec<(u32, u32)>>,
    /// For every link of the real network, the transmissions before the first epoch. Each transmission is given by the
    /// number of epochs from its start (converted to the first lane of its link) to the first epoch.
    pub before: Vec<Vec<u32>>,
    /// Number of the first epoch, counted from the start of the collective, which time-varying links need.
    pub clock: u32,
}

impl CopyBeginning {
    /// Returns the state in which every chunk is only at its source.
    pub fn sources(task: &CollectiveTask, folding: &Folding) -> Self {
        let held =
            folding.chunks.iter().map(|chunk| vec![(task.chunks.source(*chunk as usize), 0)]).collect();
        Self { held, before: vec![Vec::new(); task.real.links().len()], clock: 0 }
    }

    /// Returns `true` if a node holds a chunk or is about to receive it.
    pub(super) fn holds(&self, at: usize, node: u32) -> bool {
        self.held[at].iter().any(|(holder, _)| *holder == node)
    }
}

/// Condition at the end of the last epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyEnd {
    /// Everything is delivered.
    Delivered,
    /// At the end, chunks may be anywhere, including on links to GPUs.
    Open,
}

impl CopyProgram<'_> {
    pub(super) fn add_columns<W: Watch>(
        &mut self,
        beginning: &CopyBeginning,
        end: CopyEnd,
        watch: &mut W,
    ) -> Result<(), MethodError> {
        for at in 0..self.folding.chunks.len() {
            watch.checkpoint()?;
            // Head: first epoch at which a chunk can be at a node. Tail: last epoch at which a chunk at this node can
            // still reach a destination in time.
            let earliest = self.earliest(&beginning.held[at]);
            let needed = self.still_needed(at, end);
            let starts = self.start_columns(at, beginning, end, &earliest, &needed);
            self.starts.push(starts);
            let presence = self.presence_columns(at, beginning, &earliest, &needed);
            self.presence.push(presence);
        }
        Ok(())
    }

    /// Returns, for every node, the first epoch at which a chunk can be at this node.
    fn earliest(&self, held: &[(u32, u32)]) -> Vec<u32> {
        let network = &self.task.network;
        let mut earliest = vec![FAR; network.node_count()];
        for &(node, from) in held {
            // Shortest paths from all nodes that hold the chunk.
            for (best, way) in earliest.iter_mut().zip(self.task.distances.from(network, node)) {
                *best = (*best).min(way.saturating_add(from)).min(FAR);
            }
        }
        // A chunk that is still in flight to a node cannot be at the node earlier.
        for &(node, from) in held {
            earliest[node as usize] = from;
        }
        earliest
    }

    /// Returns the minimum number of epochs from every node to a destination of a chunk: 0 at destinations; 0
    /// everywhere if chunks may be anywhere at the end.
    fn still_needed(&self, at: usize, end: CopyEnd) -> Vec<u32> {
        let network = &self.task.network;
        // An open end has no deadline: any place may help a later round.
        if end == CopyEnd::Open {
            return vec![0; network.node_count()];
        }
        let mut least = vec![FAR; network.node_count()];
        for dest in self.task.chunks.dests(self.folding.chunks[at] as usize) {
            for (best, way) in least.iter_mut().zip(self.task.distances.to(network, dest)) {
                // The nearest destination decides, because farther ones need at least as many epochs.
                *best = (*best).min(*way);
            }
        }
        least
    }

    fn start_columns(
        &mut self,
        at: usize,
        beginning: &CopyBeginning,
        end: CopyEnd,
        earliest: &[u32],
        needed: &[u32],
    ) -> Vec<ColumnSpan> {
        let task = self.task;
        let chunk = self.folding.chunks[at];
        let mut spans = vec![ColumnSpan::default(); task.network.links().len()];
        for (link, ends) in (0u32..).zip(task.network.links()) {
            let (from, to) = (ends.from as usize, ends.to as usize);
            // Omits starts into a node that already has the chunk, or from which the chunk reaches no waiting
            // destination.
            if beginning.holds(at, ends.to) || earliest[from] >= FAR || needed[to] >= FAR {
                continue;
            }
            let model = &task.epochs.links[link as usize];
            let latency = i64::from(model.latency);
            let last = i64::from(self.epochs)
                // Last epoch in which a start is useful.
                - match end {
                    CopyEnd::Delivered => latency + i64::from(needed[to]),
                    // A chunk that enters a switch must leave it before the end.
                    CopyEnd::Open if task.network.is_switch(ends.to) => 1 + latency,
                    CopyEnd::Open => 1,
                };
            let first = earliest[from];
            let most = self.most_starts(chunk, link);
            // Skips the link if the last useful start is before the first possible start.
            let Ok(count) = u32::try_from(last - i64::from(first) + 1) else { continue };
            let first_column = Column(self.model.columns() as u32);
            for epoch in first..first + count {
                // Starts on links that are down keep their columns, fixed at 0, so that spans have no gaps.
                let clock = beginning.clock + epoch;
                let upper = if model.is_up(clock) { most } else { 0.0 };
                let name = format!("start {chunk} {}->{} {epoch}", ends.from, ends.to);
                self.model.column_of(Domain::Integer, name, 0.0, upper, 0.0);
            }
            spans[link as usize] = ColumnSpan::new(first, first_column, count);
        }
        spans
    }

    /// Returns the maximum number of starts of a chunk on a link in one epoch. Several starts help only if the link
    /// leads to a switch that cannot copy: the switch then needs one arrival for each destination.
    fn most_starts(&self, chunk: u32, link: u32) -> f64 {
        let head = self.task.network.links()[link as usize].to;
        // A second copy on one link in one epoch is useless.
        if self.task.switch_copies || !self.task.network.is_switch(head) {
            return 1.0;
        }
        let dests = self.task.chunks.dests(chunk as usize).count() as u32;
        f64::from(self.task.epochs.links[link as usize].starts.min(dests).max(1))
    }

    fn presence_columns(
        &mut self,
        at: usize,
        beginning: &CopyBeginning,
        earliest: &[u32],
        needed: &[u32],
    ) -> Vec<ColumnSpan> {
        let task = self.task;
        let chunk = self.folding.chunks[at];
        let mut spans = vec![ColumnSpan::default(); task.network.node_count()];
        for &node in task.network.gpus() {
            let (first, after) = (earliest[node as usize], needed[node as usize]);
            // Presence begins when the chunk can be at the node, and lasts to the end.
            if beginning.holds(at, node) || first.saturating_add(after) > self.epochs {
                continue;
            }
            let first_column = Column(self.model.columns() as u32);
            for epoch in first..=self.epochs {
                self.model.column(format!("at {chunk} {node} {epoch}"), 0.0, 1.0, 0.0);
            }
            spans[node as usize] = ColumnSpan::new(first, first_column, self.epochs - first + 1);
        }
        spans
    }
}
