//! The chunks that a demand represents, one by one.

use super::{ChunkWish, CollectiveSort, Demand};
use crate::scenario::Topology;

/// Chunks with their sources and destinations, in flat lists.
///
/// Destinations are a range in one list of nodes, without the source: an AllGather of R ranks needs R entries instead
/// of R². Collectives that are planned backwards (Gather, ReduceScatter, AllReduce) are listed in the direction of
/// planning: from the rank that collects to the ranks that contribute.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChunkList {
    sources: Vec<u32>,
    ranges: Vec<[u32; 2]>,
    targets: Vec<u32>,
    locals: Vec<u32>,
    tenants: Vec<u32>,
    priorities: Vec<f64>,
}

impl ChunkList {
    fn push(&mut self, source: u32, range: [usize; 2], local: u32, tenant: u32, priority: f64) {
        self.sources.push(source);
        self.ranges.push(range.map(|end| end as u32));
        self.locals.push(local);
        self.tenants.push(tenant);
        self.priorities.push(priority);
    }

    /// Returns the number of chunks.
    pub fn len(&self) -> usize {
        self.sources.len()
    }

    /// Returns `true` if there are no chunks.
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }

    /// Returns the node that has a chunk at the start.
    pub fn source(&self, chunk: usize) -> u32 {
        self.sources[chunk]
    }

    /// Returns the nodes that need a chunk.
    pub fn dests(&self, chunk: usize) -> impl Iterator<Item = u32> + Clone + '_ {
        let [begin, end] = self.ranges[chunk];
        let source = self.sources[chunk];
        self.targets[begin as usize..end as usize].iter().copied().filter(move |target| *target != source)
    }

    /// Returns the number of a chunk among the chunks of its rank, or of its pair of ranks.
    pub fn local(&self, chunk: usize) -> u32 {
        self.locals[chunk]
    }

    /// Returns the tenant of a chunk.
    pub fn tenant(&self, chunk: usize) -> u32 {
        self.tenants[chunk]
    }

    /// Returns the weight of a chunk.
    pub fn priority(&self, chunk: usize) -> f64 {
        self.priorities[chunk]
    }

    /// Returns the number of deliveries of all chunks.
    pub fn deliveries(&self) -> usize {
        (0..self.len()).map(|chunk| self.dests(chunk).count()).sum()
    }

    /// Returns `true` if every chunk has at most one destination.
    pub fn is_unicast(&self) -> bool {
        (0..self.len()).all(|chunk| self.dests(chunk).nth(1).is_none())
    }

    /// Returns the list with every chunk divided into a number of pieces; the pieces of a chunk have consecutive
    /// numbers.
    #[must_use]
    pub fn in_pieces(self, pieces: u32) -> Self {
        if pieces <= 1 {
            return self;
        }
        let mut list = Self { targets: self.targets.clone(), ..Self::default() };
        for chunk in 0..self.len() {
            let range = self.ranges[chunk].map(|end| end as usize);
            for piece in 0..pieces {
                let local = self.local(chunk) * pieces + piece;
                list.push(self.source(chunk), range, local, self.tenant(chunk), self.priority(chunk));
            }
        }
        list
    }

    /// Returns the list with a separate chunk for every delivery, so that nothing is copied.
    #[must_use]
    pub fn one_by_one(&self) -> Self {
        let mut list = Self::default();
        for chunk in 0..self.len() {
            for dest in self.dests(chunk) {
                let at = list.targets.len();
                list.targets.push(dest);
                let (tenant, priority) = (self.tenant(chunk), self.priority(chunk));
                list.push(self.source(chunk), [at, at + 1], self.local(chunk), tenant, priority);
            }
        }
        list
    }

    fn add(
        &mut self,
        sort: CollectiveSort,
        ranks: &[u32],
        per_rank: u32,
        root: u32,
        tenant: u32,
        priority: f64,
    ) {
        let first = self.targets.len();
        self.targets.extend(ranks);
        let all = [first, first + ranks.len()];
        let one = |rank: usize| [first + rank, first + rank + 1];
        let rooted = ranks.get(root as usize);
        match sort {
            CollectiveSort::AllGather | CollectiveSort::ReduceScatter | CollectiveSort::AllReduce => {
                for &source in ranks {
                    (0..per_rank).for_each(|local| self.push(source, all, local, tenant, priority));
                }
            }
            CollectiveSort::AllToAll => {
                for (from, &source) in ranks.iter().enumerate() {
                    for to in (0..ranks.len()).filter(|&to| to != from) {
                        (0..per_rank).for_each(|local| self.push(source, one(to), local, tenant, priority));
                    }
                }
            }
            CollectiveSort::Broadcast => {
                if let Some(&source) = rooted {
                    (0..per_rank).for_each(|local| self.push(source, all, local, tenant, priority));
                }
            }
            CollectiveSort::Scatter | CollectiveSort::Gather => {
                if let Some(&source) = rooted {
                    for to in (0..ranks.len()).filter(|&to| to != root as usize) {
                        (0..per_rank).for_each(|local| self.push(source, one(to), local, tenant, priority));
                    }
                }
            }
            CollectiveSort::Custom | CollectiveSort::MultiTenant => {}
        }
    }
}

impl Demand {
    /// Returns the GPUs that take part, in order of rank.
    pub fn rank_nodes(&self, topology: &Topology) -> Vec<u32> {
        self.ranks.clone().unwrap_or_else(|| topology.gpus().collect())
    }

    /// Lists all chunks, in order of id. The demand must be valid.
    pub fn expand(&self, topology: &Topology) -> ChunkList {
        let mut list = ChunkList::default();
        match self.collective {
            CollectiveSort::Custom => {
                for ChunkWish { source, dests, tenant, priority } in &self.chunks {
                    let first = list.targets.len();
                    list.targets.extend(dests);
                    list.push(*source, [first, first + dests.len()], 0, *tenant, *priority);
                }
                self.expand_matrix(topology, &mut list);
            }
            CollectiveSort::MultiTenant => {
                for (tenant, wish) in (0u32..).zip(&self.tenants) {
                    let root = wish.root.unwrap_or(0);
                    list.add(wish.collective, &wish.ranks, wish.chunks_per_rank, root, tenant, wish.priority);
                }
            }
            sort => {
                let ranks = self.rank_nodes(topology);
                list.add(sort, &ranks, self.chunks_per_rank, self.root.unwrap_or(0), 0, 1.0);
            }
        }
        if self.copy { list } else { list.one_by_one() }
    }

    fn expand_matrix(&self, topology: &Topology, list: &mut ChunkList) {
        if self.matrix.is_empty() {
            return;
        }
        let ranks = self.rank_nodes(topology);
        let first = list.targets.len();
        list.targets.extend(&ranks);
        for (row, &source) in self.matrix.iter().zip(&ranks) {
            for (to, &count) in row.iter().enumerate() {
                (0..count).for_each(|local| list.push(source, [first + to, first + to + 1], local, 0, 1.0));
            }
        }
    }

    /// Returns the number of chunks and the number of deliveries, without listing them.
    pub(in crate::scenario) fn sizes(&self, topology: &Topology) -> (usize, usize) {
        let of = |sort: CollectiveSort, ranks: usize, per_rank: u32| {
            let (per_rank, others) = (per_rank as usize, ranks.saturating_sub(1));
            let pairs = ranks.saturating_mul(others).saturating_mul(per_rank);
            match sort {
                CollectiveSort::AllToAll => (pairs, pairs),
                CollectiveSort::Broadcast => (per_rank, others * per_rank),
                CollectiveSort::Scatter | CollectiveSort::Gather => (others * per_rank, others * per_rank),
                _ => (ranks * per_rank, pairs),
            }
        };
        match self.collective {
            CollectiveSort::Custom => {
                let counts = self
                    .matrix
                    .iter()
                    .flatten()
                    .fold(0usize, |sum, count| sum.saturating_add(*count as usize));
                let wishes: usize = self.chunks.iter().map(|chunk| chunk.dests.len()).sum();
                (counts.saturating_add(self.chunks.len()), counts.saturating_add(wishes))
            }
            CollectiveSort::MultiTenant => {
                let each = self
                    .tenants
                    .iter()
                    .map(|wish| of(wish.collective, wish.ranks.len(), wish.chunks_per_rank));
                each.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
            }
            sort => of(sort, self.rank_nodes(topology).len(), self.chunks_per_rank),
        }
    }
}
