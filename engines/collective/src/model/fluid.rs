//! Links that can carry any fraction of a chunk in every epoch.

use super::distances::EpochDistances;
use super::epochs::{rounded_down, rounded_up};
use super::task::CollectiveTask;

/// A link that carries parts of chunks.
#[derive(Clone, Debug, PartialEq)]
pub struct FluidLink {
    /// Number of chunks that fit into an epoch.
    pub per_epoch: f64,
    /// Epochs from the start until the data is usable at the other end.
    pub latency: u32,
    /// Epochs from the epoch in which the link carries data to the start of this data, the epoch at which all of the
    /// data has arrived at the link.
    pub early: u32,
    /// First and last epochs of the intervals in which the link carries data; if missing, the link carries data in
    /// every epoch.
    up: Option<Vec<[u32; 2]>>,
}

/// All links of a task, for parts of chunks.
#[derive(Clone, Debug)]
pub struct FluidLinks {
    /// The links, by id.
    pub links: Vec<FluidLink>,
    /// Shortest times between nodes.
    pub distances: EpochDistances,
}

impl FluidLink {
    /// Returns `true` if data may start on the link at an epoch.
    pub fn is_up(&self, epoch: u32) -> bool {
        let epoch = epoch.saturating_sub(self.early);
        self.up.as_ref().is_none_or(|up| up.iter().any(|[first, last]| (*first..=*last).contains(&epoch)))
    }
}

impl FluidLinks {
    /// Describes the links of a task for parts of chunks. A part of a chunk takes one epoch plus the latency. On a link
    /// out of a cut-through switch, the part takes only the latency, because this link carries the part in the same
    /// epoch as the link into the switch.
    pub fn of(task: &CollectiveTask) -> Self {
        let tau = task.epochs.epoch_us;
        let links: Vec<FluidLink> = task
            .epochs
            .links
            .iter()
            .zip(task.network.links())
            .map(|(model, link)| {
                let up = |&[begin, end]: &[f64; 2]| {
                    let first = rounded_up(begin / tau).max(0.0);
                    let last = rounded_down(end / tau) - 1.0;
                    let most = f64::from(u32::MAX / 4);
                    (last >= first && first < most).then(|| [first as u32, last.min(most) as u32])
                };
                FluidLink {
                    per_epoch: model.per_epoch,
                    latency: model.delay + u32::from(!model.through),
                    early: u32::from(model.through),
                    up: model.timed.then(|| link.up_us.iter().filter_map(up).collect()),
                }
            })
            .collect();
        let lengths = links.iter().map(|link| link.latency).collect();
        Self { distances: EpochDistances::new(&task.network, lengths), links }
    }
}
