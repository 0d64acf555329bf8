//! Schedules of collectives on the links of a pod (TONS, section 6.1.2 "Collective Communication"): one shard per directed
//! link and epoch.
//!
//! | module | content |
//! |---|---|
//! | [`gather`] | all-gather by flooding; reduce-scatter is its reversal, all-reduce both |
//! | [`exchange`] | all-to-all: along the planned routes, and as the fractional flow of a certificate |
//! | [`check`](mod@check) | an independent execution of a schedule on the whole pod |

use crate::model::pod::{CHIPS, PORTS, opposite};
use crate::model::topology::Topology;
use crate::plan::Expansion;
use lightbay_core::problem::Problem;

pub mod check;
pub mod exchange;
pub mod gather;

pub use check::check;
pub use exchange::{ChipExchange, fractional, single_path};
pub use gather::all_gather;

/// Collective operations, which differ in the shards that every chip has at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Collective {
    /// Every chip ends with the shards of all chips. A shard has the number of its origin.
    AllGather,
    /// Every chip ends with the sum of its own shard over all chips. A shard has the number of its target.
    ReduceScatter,
    /// Reduce-scatter, then all-gather.
    AllReduce,
    /// Every chip sends a different shard to every other chip. The shard has the number `source * n + target`.
    AllToAll,
}

/// Transmission of one shard over one arc.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Send {
    /// Epoch in which the shard is sent; the receiver can forward the shard from the next epoch.
    pub epoch: u32,
    /// Arc over which the shard is sent: `6 * node + port`.
    pub arc: u32,
    /// Shard that is sent, numbered as described at [`Collective`].
    pub shard: u32,
}

/// Sends of a collective, epoch by epoch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// Collective that the schedule implements.
    pub collective: Collective,
    /// Number of epochs.
    pub epochs: u32,
    /// If this is [`Expansion::Translation`], `sends` has only the sends of one cube (in an all-to-all: of the shards
    /// from cube 0), and the group of the topology translates them to every cube.
    pub expand: Expansion,
    /// The sends, in ascending order of epochs.
    pub sends: Vec<Send>,
}

/// Minimum number of epochs of an all-gather or reduce-scatter: every chip receives `n - 1` shards over six links.
pub const fn gather_bound(nodes: usize) -> u32 {
    (nodes - 1).div_ceil(PORTS) as u32
}

/// Length of a schedule compared with a lower bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Utilisation {
    /// Lower bound on the number of epochs of every schedule.
    pub bound_epochs: f64,
    /// Number of epochs of this schedule.
    pub epochs: f64,
}

impl Utilisation {
    /// Bound divided by epochs: 1 for an optimal schedule.
    pub fn share(&self) -> f64 {
        if self.epochs > 0.0 { self.bound_epochs / self.epochs } else { 1.0 }
    }
}

impl Schedule {
    /// The schedule run backwards on reversed arcs: an all-gather becomes a reduce-scatter and the other way round.
    /// `None` for other collectives.
    pub fn reversed(&self, pod: &Topology) -> Option<Self> {
        let collective = match self.collective {
            Collective::AllGather => Collective::ReduceScatter,
            Collective::ReduceScatter => Collective::AllGather,
            Collective::AllReduce | Collective::AllToAll => return None,
        };
        let back = |send: &Send| {
            let (node, port) = (send.arc / PORTS as u32, (send.arc % PORTS as u32) as u8);
            let far = pod.neighbour(node, port);
            let arc = far * PORTS as u32 + u32::from(opposite(port));
            Send { epoch: self.epochs - 1 - send.epoch, arc, shard: send.shard }
        };
        let sends = self.sends.iter().rev().map(back).collect();
        Some(Self { collective, sends, ..*self })
    }

    /// An all-reduce from an all-gather: the reversed all-gather (a reduce-scatter), followed by the all-gather. `None`
    /// for other collectives.
    pub fn all_reduce(&self, pod: &Topology) -> Option<Self> {
        if self.collective != Collective::AllGather {
            return None;
        }
        let mut all = self.reversed(pod)?;
        all.collective = Collective::AllReduce;
        let later = self.sends.iter().map(|send| Send { epoch: self.epochs + send.epoch, ..*send });
        all.sends.extend(later);
        all.epochs *= 2;
        Some(all)
    }

    /// The same schedule with the sends of all cubes listed, in order of epochs.
    ///
    /// # Errors
    /// The schedule lists the sends of one cube only, but the pod has no symmetry.
    pub fn expanded(&self, pod: &Topology) -> Result<Self, Problem> {
        let mut sends = Vec::with_capacity(self.sends.len() * self.copies(pod)?);
        for send in &self.sends {
            self.each_copy(pod, send, |copy| sends.push(copy));
        }
        Ok(Self { expand: Expansion::None, sends, ..*self })
    }

    /// Returns the number of cubes that a listed send represents.
    fn copies(&self, pod: &Topology) -> Result<usize, Problem> {
        match self.expand {
            Expansion::None => Ok(1),
            Expansion::Translation if pod.symmetry().is_some() => Ok(pod.cubes()),
            Expansion::Translation => Err(Problem::new(
                "schedule",
                "lists one cube, but the pod has no symmetry",
                "list the sends of all cubes",
            )),
        }
    }

    /// Calls `each` with every send that a listed send represents.
    fn each_copy(&self, pod: &Topology, send: &Send, mut each: impl FnMut(Send)) {
        let (Expansion::Translation, Some(symmetry)) = (self.expand, pod.symmetry()) else {
            each(*send);
            return;
        };
        let nodes = pod.nodes() as u32;
        for cube in 0..pod.cubes() {
            let carry = |node: u32| {
                let (from, chip) = (node as usize / CHIPS, node % CHIPS as u32);
                (symmetry.group.times(cube, from) * CHIPS) as u32 + chip
            };
            let arc = carry(send.arc / PORTS as u32) * PORTS as u32 + send.arc % PORTS as u32;
            let shard = match self.collective {
                Collective::AllToAll => carry(send.shard / nodes) * nodes + carry(send.shard % nodes),
                _ => carry(send.shard),
            };
            each(Send { epoch: send.epoch, arc, shard });
        }
    }
}

#[cfg(test)]
mod tests;
