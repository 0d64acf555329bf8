//! Lower bounds (floors) of scenarios, each with a proof that can be recomputed: cuts, paths, and sums over all links
//! (docs/methods/collective.md, section 5).

use super::floor::network_floor;
use super::latency::{LatencyFloor, LatencyQuestion, distances, latency_floor};
use super::partition::partition_floors;
use crate::bounds::{candidates, set_name};
use crate::model::distances::arrivals;
use crate::model::task::{CollectiveTask, CollectiveTasks};
use crate::plan::{FloorProof, ScenarioFloors, floor_words};
use crate::scenario::network::LinkNetwork;
use crate::scenario::{ChunkList, CollectiveScenario, CollectiveSort};

/// Maximum number of visits to chunks and links during the search for cuts or paths. Without this limit, the floors
/// could take longer to compute than the schedules.
const MOST_WORK: usize = 20_000_000;
/// Maximum number of nodes for which minimum cuts of an AllReduce are computed by flows.
const PLAIN_NODES: usize = 150;
/// Maximum number of nodes for which every set is tried: about 1000 sets.
const MOST_SUBSETS: usize = 10;

/// Returns the floors of a scenario from its tasks, which cache them; `None` in the same cases as [`scenario_floors`].
pub fn floors_of<'t>(
    scenario: &CollectiveScenario,
    tasks: &'t CollectiveTasks,
) -> Option<&'t ScenarioFloors> {
    tasks.floors.get_or_init(|| scenario_floors(scenario, tasks)).as_ref()
}

/// Returns the floors of a scenario from its tasks; `None` if some data cannot arrive, or if capacities need numbers of
/// more than 128 bits.
pub fn scenario_floors(scenario: &CollectiveScenario, tasks: &CollectiveTasks) -> Option<ScenarioFloors> {
    let question = FloorSearch::of(scenario, tasks)?;
    let without_latency = question.without_latency()?;
    // Latency cuts start from the cut that binds without latencies.
    let latency = question.latencies(&without_latency);
    let with_latency = question.with_latency(&without_latency, 1.0, latency.as_ref());
    let finite = without_latency.floor_us.is_finite() && with_latency.floor_us.is_finite();
    finite.then_some(ScenarioFloors { without_latency, with_latency })
}

/// Returns the floors of a named collective for several buffer sizes, bytes, from one search; `None` in the same cases
/// as [`scenario_floors`].
pub fn floors_of_sizes(
    scenario: &CollectiveScenario,
    tasks: &CollectiveTasks,
    sizes_bytes: &[f64],
) -> Option<Vec<ScenarioFloors>> {
    let question = FloorSearch::of(scenario, tasks)?;
    let without = question.without_latency()?;
    let (ranks, per_rank) = (question.ranks.len() as u64, u64::from(scenario.demand.chunks_per_rank));
    let buffer = question.sort.buffer_chunks(ranks, per_rank) as f64 * question.chunk_bytes;
    let latency = question.latencies(&without)?;
    let at = |bytes: &f64| {
        // Floors without latency are proportional to the data.
        let share = bytes / buffer;
        let without_latency = FloorProof { floor_us: without.floor_us * share, ..without.clone() };
        let with_latency = question.with_latency(&without_latency, share, Some(&latency));
        ScenarioFloors { without_latency, with_latency }
    };
    without.floor_us.is_finite().then(|| sizes_bytes.iter().map(at).collect())
}

/// Returns the sources and the destinations of a collective in which every destination receives the same data of every
/// source, or reduces it in the same way; `None` for other collectives, and if the demand allows no copies.
pub fn spread_of(scenario: &CollectiveScenario, tasks: &CollectiveTasks) -> Option<(Vec<u32>, Vec<u32>)> {
    let question = FloorSearch::of(scenario, tasks)?;
    let (sources, destinations, copies) = question.named()?;
    (copies && !question.is_sum_for_all()).then_some((sources, destinations))
}

/// Data whose floors are computed, on the network in its direction of planning.
struct FloorSearch<'t> {
    task: &'t CollectiveTask,
    network: &'t LinkNetwork,
    sort: CollectiveSort,
    copies: bool,
    unicast: bool,
    chunk_bytes: f64,
    /// Bytes of a rank, or of a pair of ranks.
    rank_bytes: f64,
    root: Option<u32>,
    ranks: Vec<u32>,
    chunks: ChunkList,
}

impl<'t> FloorSearch<'t> {
    fn of(scenario: &CollectiveScenario, tasks: &'t CollectiveTasks) -> Option<Self> {
        // An AllReduce has two tasks; the second one is planned on the network that is not reversed.
        let task = tasks.tasks.last()?;
        let demand = &scenario.demand;
        let chunks = demand.expand(&scenario.topology);
        let ranks = demand.rank_nodes(&scenario.topology);
        Some(Self {
            task,
            network: &task.real,
            sort: demand.collective,
            copies: demand.copy,
            unicast: chunks.is_unicast(),
            chunk_bytes: demand.chunk_size(&scenario.topology),
            rank_bytes: demand.chunk_size(&scenario.topology) * f64::from(demand.chunks_per_rank),
            root: demand.root.and_then(|root| ranks.get(root as usize)).copied(),
            ranks,
            chunks,
        })
    }

    fn is_sum_for_all(&self) -> bool {
        self.sort == CollectiveSort::AllReduce
    }

    fn all_bytes(&self) -> f64 {
        self.rank_bytes * self.ranks.len() as f64
    }

    /// Returns the number of bytes that must cross into a set.
    fn crossing(&self, inside: &[bool]) -> f64 {
        if self.is_sum_for_all() {
            let within = self.ranks.iter().filter(|rank| inside[**rank as usize]).count();
            // If both sides contain ranks, every sum depends on data from both sides and is needed on both sides.
            let both = within > 0 && within < self.ranks.len();
            return if both { self.all_bytes() } else { 0.0 };
        }
        // Chunks from outside with a destination inside.
        let crosses = |chunk: &usize| {
            !inside[self.chunks.source(*chunk) as usize]
                && self.chunks.dests(*chunk).any(|dest| inside[dest as usize])
        };
        (0..self.chunks.len()).filter(crosses).count() as f64 * self.chunk_bytes
    }

    /// Returns the time that the links into a set need for the data that must cross, µs.
    fn cut_us(&self, inside: &[bool]) -> f64 {
        let bytes = self.crossing(inside);
        // Without data, even a cut without links takes no time.
        if bytes == 0.0 {
            return 0.0;
        }
        let enters = self.network.links().iter();
        let enters = enters.filter(|link| !inside[link.from as usize] && inside[link.to as usize]);
        // All links into the set at full rate.
        let rate: f64 = enters.map(|link| link.capacity_gbyte_per_s).sum();
        if rate > 0.0 { bytes / (1000.0 * rate) } else { f64::INFINITY }
    }

    fn words(&self, inside: &[u32]) -> String {
        let into = if self.task.backwards { "out of" } else { "into" };
        format!("cut {into} {}", set_name(self.network, inside))
    }

    fn without_latency(&self) -> Option<FloorProof> {
        let mut best = FloorProof { because: floor_words::NOTHING.to_owned(), ..FloorProof::default() };
        let mut inside = vec![false; self.network.node_count()];
        let mut work = MOST_WORK;
        let each = self.chunks.len() + self.network.links().len() + inside.len();
        // Tries the sets from flows, then the candidates of the bounds in epochs, then all subsets of small networks.
        for set in self.exact()?.into_iter().chain(candidates(self.task)).chain(self.subsets()) {
            let Some(left) = work.checked_sub(each) else { break };
            work = left;
            // Each set is evaluated completely or not at all, so equal input gives equal floors.
            inside.fill(false);
            for node in &set {
                inside[*node as usize] = true;
            }
            let floor_us = self.cut_us(&inside);
            // A tolerance keeps rounding from deciding ties.
            if floor_us > best.floor_us * (1.0 + 1e-12) {
                best =
                    FloorProof { floor_us, because: self.words(&set), inside: set, ..FloorProof::default() };
            }
        }
        let mut sums: Vec<(f64, &str)> = Vec::new();
        if self.is_sum_for_all() {
            // AllReduce: lower bounds from the transfers between the parts of a partition.
            sums.extend(partition_floors(self.network, &self.ranks).into_iter().map(
                |(per_byte_us, groups)| {
                    (
                        self.all_bytes() * per_byte_us,
                        if groups { floor_words::GROUPS } else { floor_words::GPUS },
                    )
                },
            ));
        } else if self.unicast {
            let links = self.network.links();
            let sources = self.sources();
            // Shortest-path bounds: bytes times hops divided by the total link rate, and total link time divided by the
            // number of links.
            if sources.len() * links.len() <= MOST_WORK && self.chunks.len() <= MOST_WORK {
                let rate: f64 = links.iter().map(|link| link.capacity_gbyte_per_s).sum();
                sums.push((self.ways(&sources, |_| 1.0) / (1000.0 * rate), floor_words::HOPS));
                let weighed = self.ways(&sources, |link| 1.0 / links[link].capacity_gbyte_per_s);
                sums.push((weighed / (1000.0 * links.len().max(1) as f64), floor_words::TIMES));
            }
        }
        for (floor_us, because) in sums {
            if floor_us > best.floor_us * (1.0 + 1e-12) {
                best = FloorProof { floor_us, because: because.to_owned(), ..FloorProof::default() };
            }
        }
        Some(best)
    }

    /// Returns the cuts that limit the flows, each as the set of nodes into which data must cross; `None` if capacities
    /// need numbers of more than 128 bits.
    fn exact(&self) -> Option<Vec<Vec<u32>>> {
        let nodes = self.network.node_count();
        let all_gpus = self.ranks.len() == self.network.gpus().len();
        let set = |cut: Vec<bool>, data: bool| -> Vec<u32> {
            (0..nodes as u32).filter(|node| cut[*node as usize] == data).collect()
        };
        let find = |network: &LinkNetwork, sources: &[u32], ends: &[u32]| {
            let mut shards = vec![0; nodes];
            for source in sources {
                shards[*source as usize] = 1;
            }
            // Symmetries are usable only if all GPUs have the same role.
            let symmetric = all_gpus && sources.len() == ends.len();
            network_floor(network, &shards, ends, symmetric).ok()
        };
        let root = self.root.map(|root| [root]);
        let mut sets = Vec::new();
        match (self.sort, root) {
            (CollectiveSort::AllGather | CollectiveSort::ReduceScatter, _) if self.copies => {
                // Data must enter the sink side of the cut: the nodes that `cut` does not contain.
                sets.extend(find(self.network, &self.ranks, &self.ranks)?.map(|found| set(found.cut, false)));
            }
            (CollectiveSort::Broadcast, Some(root)) if self.copies => {
                sets.extend(find(self.network, &root, &self.ranks)?.map(|found| set(found.cut, false)));
            }
            // From the root to each rank: on the reversed network, all data gathers at one GPU.
            (CollectiveSort::Scatter | CollectiveSort::Gather | CollectiveSort::Broadcast, Some(root)) => {
                let turned = self.network.reversed();
                sets.extend(find(&turned, &self.ranks, &root)?.map(|found| set(found.cut, true)));
            }
            (CollectiveSort::AllReduce, _) if nodes <= PLAIN_NODES => {
                let first = [*self.ranks.first()?];
                let turned = self.network.reversed();
                sets.extend(find(self.network, &first, &self.ranks)?.map(|found| set(found.cut, false)));
                sets.extend(find(&turned, &first, &self.ranks)?.map(|found| set(found.cut, true)));
            }
            _ => {}
        }
        Some(sets)
    }

    /// Returns all sets of nodes of a small network, except the empty set and the set of all nodes; returns an empty
    /// list for larger networks.
    fn subsets(&self) -> Vec<Vec<u32>> {
        let nodes = self.network.node_count() as u32;
        if nodes as usize > MOST_SUBSETS {
            return Vec::new();
        }
        let of = |mask: u32| (0..nodes).filter(|node| mask >> node & 1 == 1).collect();
        (1..(1_u32 << nodes) - 1).map(of).collect()
    }

    /// Returns the sources, each with its first chunk and the chunk after its last.
    fn sources(&self) -> Vec<(u32, usize, usize)> {
        let mut ranges: Vec<(u32, usize, usize)> = Vec::new();
        for chunk in 0..self.chunks.len() {
            let source = self.chunks.source(chunk);
            match ranges.last_mut() {
                Some((last, _, end)) if *last == source => *end = chunk + 1,
                _ => ranges.push((source, chunk, chunk + 1)),
            }
        }
        ranges
    }

    /// Returns the bytes of every delivery times the length of its shortest path, summed over all deliveries.
    fn ways(&self, sources: &[(u32, usize, usize)], length: impl Fn(usize) -> f64) -> f64 {
        let mut sum = 0.0;
        // The shortest path is a lower bound on the length of every route, whether lengths are hops or times per byte.
        for &(source, begin, end) in sources {
            let row = arrivals(self.network, source, false, |link, at| at + length(link as usize));
            let of_chunk =
                |chunk: usize| self.chunks.dests(chunk).map(|dest| row[dest as usize]).sum::<f64>();
            sum += (begin..end).map(of_chunk).sum::<f64>();
        }
        sum * self.chunk_bytes
    }

    /// Returns the floor with latencies for the fraction `share` of the data, given the floor `without` latencies.
    fn with_latency(&self, without: &FloorProof, share: f64, found: Option<&LatencyFloor>) -> FloorProof {
        let name = |node: u32| self.network.nodes()[node as usize].name.clone();
        let path = |(from, to): (u32, u32)| {
            let (from, to) = if self.task.backwards { (to, from) } else { (from, to) };
            format!("path {}->{}", name(from), name(to))
        };
        let mut best = without.clone();
        let mut take_path = |floor_us: f64, ends: Option<(u32, u32)>| {
            if let Some(ends) = ends.filter(|_| floor_us > best.floor_us) {
                best = FloorProof { floor_us, because: path(ends), ..FloorProof::default() };
            }
        };
        let Some(found) = found else {
            let (floor_us, ends) = self.longest_path();
            take_path(floor_us, ends);
            return best;
        };
        take_path(found.path_us, found.path);
        // Cuts with latencies hold for data that is only spread or exchanged; an AllReduce also reduces data.
        if self.is_sum_for_all() {
            return best;
        }
        if let (floor_us, Some(cut)) = found.at(self.rank_bytes * share)
            && floor_us > best.floor_us * (1.0 + 1e-8)
        {
            let inside: Vec<u32> =
                (0..self.network.node_count() as u32).filter(|node| !cut.inside[*node as usize]).collect();
            best = FloorProof {
                floor_us,
                because: self.words(&inside),
                inside,
                target: cut.target,
                growing: None,
            };
        }
        best
    }

    /// Returns the latency floor of a named collective, for any size; its cuts include the cut that gives the floor
    /// without latencies. `None` for other collectives.
    fn latencies(&self, without: &FloorProof) -> Option<LatencyFloor> {
        let (sources, destinations, copies) = self.named()?;
        let units: Vec<(u32, f64)> = sources.iter().map(|source| (*source, 1.0)).collect();
        let question =
            LatencyQuestion { network: self.network, sources: &units, destinations: &destinations, copies };
        let given: Vec<Vec<bool>> = if without.inside.is_empty() || self.is_sum_for_all() {
            Vec::new()
        } else {
            let mut outside = vec![true; self.network.node_count()];
            for node in &without.inside {
                outside[*node as usize] = false;
            }
            vec![outside]
        };
        Some(latency_floor(&question, &given))
    }

    /// Returns the sources and destinations of a named collective, and `true` if all destinations get the same data and
    /// the demand allows copies; `None` for other collectives.
    fn named(&self) -> Option<(Vec<u32>, Vec<u32>, bool)> {
        let ranks = self.ranks.clone();
        match (self.sort, self.root) {
            (CollectiveSort::AllToAll, _) => Some((ranks.clone(), ranks, false)),
            (CollectiveSort::Broadcast, Some(root)) => Some((vec![root], ranks, self.copies)),
            (CollectiveSort::Scatter | CollectiveSort::Gather, Some(root)) => {
                Some((vec![root], ranks, false))
            }
            (sort, _) => sort.is_named().then(|| (ranks.clone(), ranks, self.copies)),
        }
    }

    /// Returns the maximum, over all deliveries of listed chunks, of the smallest latency from source to destination,
    /// µs, and the source and destination with this latency.
    fn longest_path(&self) -> (f64, Option<(u32, u32)>) {
        let mut longest = (0.0, None);
        for (source, begin, end) in self.sources() {
            let row = distances(self.network, source, false);
            for dest in (begin..end).flat_map(|chunk| self.chunks.dests(chunk)) {
                if row[dest as usize] > longest.0 {
                    longest = (row[dest as usize], Some((source, dest)));
                }
            }
        }
        longest
    }
}

#[cfg(test)]
mod tests;
