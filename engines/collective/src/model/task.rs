//! The problem that searches solve: a network in epochs and the chunks that must spread over it.

use super::distances::EpochDistances;
use super::epochs::{EpochModel, epoch_us};
use super::lanes::{LaneNetwork, differ_by_rate, slides};
use super::symmetries::symmetries_of;
use crate::plan::ScenarioFloors;
use crate::scenario::network::LinkNetwork;
use crate::scenario::{ChunkList, CollectiveScenario, CollectiveSort};
use lightbay_core::problem::{Problem, Problems};
use lightbay_core::quantity::number;
use std::sync::OnceLock;

/// A network in epochs with chunks to spread.
///
/// Collectives that gather or reduce are planned on the network with every link reversed. Links keep their numbers. A
/// transmission in epochs k to k + kappa becomes a transmission of the real link that ends at F − k minus the latency,
/// where F is the finish: see [`super::mirror::mirrored`].
#[derive(Clone, Debug)]
pub struct CollectiveTask {
    /// Nodes and lanes that schedules of whole chunks use. This network equals `real` unless chunks arrive at a
    /// cut-through switch at several paces; see [`super::lanes`].
    pub network: LinkNetwork,
    /// Nodes and links, reversed if the task is planned backwards.
    pub real: LinkNetwork,
    /// Node of `real` for every node of `network`.
    pub origins: Vec<u32>,
    /// The lanes in epochs.
    pub epochs: EpochModel,
    /// The chunks.
    pub chunks: ChunkList,
    /// Shortest times between nodes.
    pub distances: EpochDistances,
    /// `true` if switches may send one arrival over several links; on the reversed network: reduce several arrivals.
    pub switch_copies: bool,
    /// `true` if the schedule is reversed in time.
    pub backwards: bool,
    /// `true` if data is reduced on the way.
    pub adds: bool,
    /// `true` if the schedule is reversed in time and its starts must be scheduled again for the actual network,
    /// because they could collide there: see [`super::mirror::settled`]. Infeasibility on the reversed network then
    /// proves nothing for the actual network, and no switch reduces.
    pub slides: bool,
}

/// Tasks of a scenario, one after the other: two for AllReduce, one for all other collectives.
#[derive(Clone, Debug)]
pub struct CollectiveTasks {
    /// The tasks in order of time.
    pub tasks: Vec<CollectiveTask>,
    /// Length of an epoch, µs.
    pub epoch_us: f64,
    /// Size of the unit that is sent as a whole, bytes.
    pub chunk_bytes: f64,
    /// Number of equal pieces of every chunk of the scenario; each piece is a chunk of the tasks.
    pub pieces: u32,
    /// Remarks on the epochs.
    pub remarks: Vec<String>,
    /// For every chunk, its chunk in the scenario and its destination, if every delivery has a separate chunk.
    pub copies: Option<Vec<(u32, u32)>>,
    /// Floors of the scenario, computed on first use: see [`crate::floors::proof::floors_of`].
    pub floors: OnceLock<Option<ScenarioFloors>>,
}

impl CollectiveTasks {
    /// Creates the tasks of a scenario, in epochs of a given length or of the length that the scenario's rule gives.
    ///
    /// # Errors
    /// Everything that is wrong with the network.
    pub fn of(scenario: &CollectiveScenario, epoch: Option<f64>) -> Result<Self, Problems> {
        Self::in_pieces(scenario, epoch, 1, scenario.time.alpha_threshold)
    }

    /// Creates the tasks of a scenario whose chunks are sent in equal pieces, in epochs that omit latencies up to a
    /// fraction of an epoch.
    ///
    /// # Errors
    /// As for [`Self::of`].
    pub fn in_pieces(
        scenario: &CollectiveScenario,
        epoch: Option<f64>,
        pieces: u32,
        alpha_threshold: f64,
    ) -> Result<Self, Problems> {
        let mut network = LinkNetwork::in_order(scenario)?;
        if network.generators().is_empty() {
            let found = symmetries_of(scenario, &network);
            network.add_generators(found);
        }
        let chunk_bytes = scenario.demand.chunk_size(&scenario.topology) / f64::from(pieces.max(1));
        let (rule_us, remark) = epoch_us(&scenario.time, &network, chunk_bytes);
        let mut remarks: Vec<String> = remark.filter(|_| epoch.is_none()).into_iter().collect();
        let epoch_us = epoch.unwrap_or(rule_us);
        let epochs = EpochModel::new(&network, epoch_us, chunk_bytes, alpha_threshold);
        if let Some(link) = epochs.too_long() {
            let ends = &network.links()[link as usize];
            let why = format!(
                "epochs of {epoch_us} us are too short: a chunk occupies link {}->{} for 16777216 epochs \
                 or more",
                ends.from, ends.to
            );
            return Err(Problems::one(Problem::new("time.epoch_us", why, "use longer epochs")));
        }
        if let Some((link, lost)) = epochs.waste() {
            let ends = &network.links()[link as usize];
            remarks.push(format!(
                "because only whole chunks start in an epoch of {} us, {:.0} % of link {}->{} stays unused; \
                 another epoch length may fit better",
                number(epoch_us),
                lost * 100.0,
                ends.from,
                ends.to
            ));
        }
        let chunks = scenario.demand.expand(&scenario.topology).in_pieces(pieces);
        let sort = scenario.demand.collective;
        let both = sort == CollectiveSort::AllReduce;
        let directions =
            [true, false].into_iter().filter(|turned| both || *turned == sort.starts_backwards());
        let tasks = directions
            .map(|backwards| {
                let adds = backwards && sort.reduces();
                let real = if backwards { network.reversed() } else { network.clone() };
                let switch_copies = if adds { real.switch_reduces() } else { real.switch_copies() };
                let model = EpochModel::new(&real, epoch_us, chunk_bytes, alpha_threshold);
                let mut task =
                    CollectiveTask::over(real, model, chunks.clone(), switch_copies, (backwards, adds));
                // Data that a switch reduces must arrive at one pace.
                let occupied: Vec<u32> = epochs.links.iter().map(|link| link.occupied).collect();
                task.slides = backwards
                    && (LaneNetwork::new(&network, epochs.clone()).has_lanes()
                        || slides(&network, &occupied));
                task.switch_copies &= !adds || !task.slides;
                task
            })
            .collect();
        Ok(Self { tasks, epoch_us, chunk_bytes, pieces, remarks, copies: None, floors: OnceLock::new() })
    }

    /// Returns the tasks with floors that are already known; with `None`, the floors are computed on first use.
    #[must_use]
    pub fn with_floors(mut self, floors: Option<ScenarioFloors>) -> Self {
        if floors.is_some() {
            self.floors = OnceLock::from(floors);
        }
        self
    }

    /// Returns the number of deliveries of chunks, or of pieces, in all tasks.
    pub fn deliveries(&self) -> usize {
        self.tasks.iter().map(|task| task.chunks.deliveries()).sum()
    }

    /// Returns the tasks with a separate chunk for every delivery, so that nothing is copied on the way.
    #[must_use]
    pub fn one_by_one(mut self) -> Self {
        if let Some(task) = self.tasks.first() {
            let of_chunk = |chunk: usize| task.chunks.dests(chunk).map(move |dest| (chunk as u32, dest));
            self.copies = Some((0..task.chunks.len()).flat_map(of_chunk).collect());
        }
        for task in &mut self.tasks {
            task.chunks = task.chunks.one_by_one();
        }
        self
    }
}

impl CollectiveTask {
    /// Creates a task on a network with its links in epochs, each considered separately.
    fn over(
        real: LinkNetwork,
        epochs: EpochModel,
        chunks: ChunkList,
        switch_copies: bool,
        (backwards, adds): (bool, bool),
    ) -> Self {
        let LaneNetwork { network, epochs, origins } = LaneNetwork::new(&real, epochs);
        let lengths = epochs.links.iter().map(|link| link.latency).collect();
        let distances = EpochDistances::new(&network, lengths);
        Self {
            network,
            real,
            origins,
            epochs,
            chunks,
            distances,
            switch_copies,
            backwards,
            adds,
            slides: false,
        }
    }

    /// Returns the task on its reversed network, in the direction in which a reversed schedule runs.
    #[must_use]
    pub fn turned(&self) -> Self {
        let real = self.real.reversed();
        let EpochModel { epoch_us, chunk_bytes, alpha_threshold, .. } = self.epochs;
        let epochs = EpochModel::new(&real, epoch_us, chunk_bytes, alpha_threshold);
        Self::over(real, epochs, self.chunks.clone(), self.switch_copies, (self.backwards, self.adds))
    }

    /// Returns the task for parts of chunks. A part takes one epoch on every link for any rate, so links have no lanes.
    #[must_use]
    pub fn in_parts(mut self) -> Self {
        if self.has_lanes() {
            self.network.clone_from(&self.real);
            self.epochs.links.truncate(self.real.links().len());
            self.origins.truncate(self.real.node_count());
            let lengths = self.epochs.links.iter().map(|link| link.latency).collect();
            self.distances = EpochDistances::new(&self.network, lengths);
        }
        self
    }

    /// Returns `true` if chunks arrive at some cut-through switch at several paces.
    pub fn has_lanes(&self) -> bool {
        self.network.node_count() > self.real.node_count()
    }

    /// Returns the network for trees: its switches reduce only if all data arrives at one rate, because the epochs of
    /// trees differ from the epochs of the task.
    pub fn for_trees(&self) -> LinkNetwork {
        let copies = self.switch_copies && !(self.adds && differ_by_rate(&self.real.reversed()));
        self.real.clone().with_copying(copies)
    }

    /// Returns the lane of a link for data whose slowest transmission before this link takes `pace` epochs.
    pub fn lane(&self, link: u32, pace: u32) -> u32 {
        if !self.has_lanes() {
            return link;
        }
        // Lanes beyond the first of every link have numbers after all links, by link and pace.
        let (count, models) = (self.real.links().len(), &self.epochs.links);
        let fits = models[count..].partition_point(|model| (model.carrier, model.pace) <= (link, pace));
        match fits.checked_sub(1).map(|last| count + last) {
            Some(last) if models[last].carrier == link => last as u32,
            _ => link,
        }
    }

    /// Returns, for every node of `network`, `true` if its node in `real` is in a set.
    pub fn membership(&self, inside: &[u32]) -> Vec<bool> {
        let mut is_in = vec![false; self.real.node_count()];
        for node in inside {
            is_in[*node as usize] = true;
        }
        self.origins.iter().map(|node| is_in[*node as usize]).collect()
    }

    /// Returns the shortest time from a node to another node, epochs.
    pub fn distance(&self, from: u32, to: u32) -> u32 {
        self.distances.from(&self.network, from)[to as usize]
    }

    /// Returns the maximum of the shortest times from the source of a chunk to its destinations, epochs; 0 for a chunk
    /// without destinations.
    pub fn eccentricity(&self, chunk: usize) -> u32 {
        let row = self.distances.from(&self.network, self.chunks.source(chunk));
        self.chunks.dests(chunk).map(|dest| row[dest as usize]).max().unwrap_or(0)
    }
}
