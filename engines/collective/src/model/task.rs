//! The question that searches answer: a network in epochs and the chunks that it has to spread.

use super::distances::EpochDistances;
use super::epochs::{EpochModel, epoch_us};
use crate::plan::ScenarioFloors;
use crate::scenario::network::LinkNetwork;
use crate::scenario::{ChunkList, CollectiveScenario, CollectiveSort};
use lightbay_core::problem::Problems;
use std::sync::OnceLock;

/// A network in epochs with chunks to spread.
///
/// Collectives that collect or add up are planned on the network with every link turned round. Link numbers stay, and a
/// start on link e at epoch k becomes one on the real link at F − (k + L), where F is the finish:
/// see [`CollectiveTask::backwards`].
#[derive(Clone, Debug)]
pub struct CollectiveTask {
    /// Nodes and links, turned round if the task is played backwards.
    pub network: LinkNetwork,
    /// The links in epochs. Latencies are those of the real links.
    pub epochs: EpochModel,
    /// The chunks.
    pub chunks: ChunkList,
    /// Shortest times between nodes.
    pub distances: EpochDistances,
    /// `true` if switches may send one arrival over several links; backwards: add several arrivals up.
    pub switch_copies: bool,
    /// `true` if a schedule is played backwards.
    pub backwards: bool,
    /// `true` if data is added up on the way.
    pub adds: bool,
}

/// Tasks of a scenario, to be carried out one after the other: two for AllReduce, one for all others.
#[derive(Clone, Debug)]
pub struct CollectiveTasks {
    /// The tasks in order of time.
    pub tasks: Vec<CollectiveTask>,
    /// Length of an epoch, µs.
    pub epoch_us: f64,
    /// Size of what is sent as a whole, bytes.
    pub chunk_bytes: f64,
    /// Equal pieces of every chunk of the scenario, each of which is a chunk of the tasks.
    pub pieces: u32,
    /// Remarks on the epochs.
    pub remarks: Vec<String>,
    /// Chunk of the scenario and destination of every chunk, where every delivery has a chunk of its own.
    pub copies: Option<Vec<(u32, u32)>>,
    /// Floors of the scenario, once they are asked for: see [`crate::floors::proof::floors_of`].
    pub floors: OnceLock<Option<ScenarioFloors>>,
}

impl CollectiveTasks {
    /// The tasks of a scenario, in epochs of a length or of that which the scenario's rule gives.
    ///
    /// # Errors
    /// Everything that is wrong with the network.
    pub fn of(scenario: &CollectiveScenario, epoch: Option<f64>) -> Result<Self, Problems> {
        Self::in_pieces(scenario, epoch, 1, scenario.time.alpha_threshold)
    }

    /// The same for chunks that are sent in equal pieces, in epochs that leave out latencies up to a share of an epoch.
    ///
    /// # Errors
    /// As for [`Self::of`].
    pub fn in_pieces(
        scenario: &CollectiveScenario,
        epoch: Option<f64>,
        pieces: u32,
        alpha_threshold: f64,
    ) -> Result<Self, Problems> {
        let network = LinkNetwork::in_order(scenario)?;
        let chunk_bytes = scenario.demand.chunk_size(&scenario.topology) / f64::from(pieces.max(1));
        let (rule_us, remark) = epoch_us(&scenario.time, &network, chunk_bytes);
        let mut remarks: Vec<String> = remark.filter(|_| epoch.is_none()).into_iter().collect();
        let epoch_us = epoch.unwrap_or(rule_us);
        let epochs = EpochModel::new(&network, epoch_us, chunk_bytes, alpha_threshold);
        if let Some((link, lost)) = epochs.waste() {
            let ends = &network.links()[link as usize];
            remarks.push(format!(
                "whole chunks leave {:.0} % of link {}->{} unused: another epoch than {epoch_us} us fits better",
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
                let network = if backwards { network.reversed() } else { network.clone() };
                let adds = backwards && sort.reduces();
                let switch_copies = if adds { network.switch_reduces() } else { network.switch_copies() };
                let lengths = epochs.links.iter().map(|link| link.latency).collect();
                CollectiveTask {
                    distances: EpochDistances::new(&network, lengths),
                    network,
                    epochs: epochs.clone(),
                    chunks: chunks.clone(),
                    switch_copies,
                    backwards,
                    adds,
                }
            })
            .collect();
        Ok(Self { tasks, epoch_us, chunk_bytes, pieces, remarks, copies: None, floors: OnceLock::new() })
    }

    /// The same with floors that are known, if there are any.
    #[must_use]
    pub fn with_floors(mut self, floors: Option<ScenarioFloors>) -> Self {
        if floors.is_some() {
            self.floors = OnceLock::from(floors);
        }
        self
    }

    /// The same with a chunk of its own for every delivery: nothing is copied on the way.
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
    /// Shortest time from a node to another one, epochs.
    pub fn distance(&self, from: u32, to: u32) -> u32 {
        self.distances.from(&self.network, from)[to as usize]
    }

    /// Longest of the shortest times of a chunk to those that want it, epochs; 0 for a chunk that nobody wants.
    pub fn eccentricity(&self, chunk: usize) -> u32 {
        let row = self.distances.from(&self.network, self.chunks.source(chunk));
        self.chunks.dests(chunk).map(|dest| row[dest as usize]).max().unwrap_or(0)
    }
}
