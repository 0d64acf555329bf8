//! Periodic schedules: every tree sends one piece per epoch, and every piece takes the same path one epoch later than
//! the previous piece (docs/methods/collective-trees.md, section 11).

use super::timing::latency_epochs;
use super::tree::{ROOT, Tree};
use crate::scenario::network::LinkNetwork;

/// Figures of a periodic schedule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PeriodicFigures {
    /// Length of an epoch, µs.
    pub epoch_us: f64,
    /// Number of pieces into which the share of each tree is divided.
    pub pieces: u32,
    /// Epochs until the last piece has arrived.
    pub finish_epochs: u64,
    /// Time until the last piece has arrived, µs.
    pub finish_us: f64,
}

/// Returns the figures for `pieces` pieces per tree, if the busiest link needs `round_us` for all data.
pub fn periodic<'t>(
    network: &LinkNetwork,
    trees: impl IntoIterator<Item = &'t Tree>,
    round_us: f64,
    pieces: u32,
) -> PeriodicFigures {
    // In each epoch, the busiest link carries one piece of every tree that uses it.
    let epoch_us = round_us / f64::from(pieces.max(1));
    let takes: Vec<u64> =
        (0..network.links().len() as u32).map(|link| fluid_epochs(network, link, epoch_us)).collect();
    let deepest =
        trees.into_iter().map(|tree| depths(tree, &takes).into_iter().max().unwrap_or(0)).max().unwrap_or(0);
    // The last piece leaves pieces - 1 epochs after the first.
    let finish_epochs = if deepest == 0 { 0 } else { deepest + u64::from(pieces.max(1)) - 1 };
    PeriodicFigures { epoch_us, pieces, finish_epochs, finish_us: finish_epochs as f64 * epoch_us }
}

/// Returns the number of epochs from a send on a link until its data can leave the head, in the discipline `fluid` with
/// no latency omitted.
pub fn fluid_epochs(network: &LinkNetwork, link: u32, epoch_us: f64) -> u64 {
    let record = &network.links()[link as usize];
    let latency = latency_epochs(record.alpha_us, epoch_us) as u64;
    if network.is_through(record) { latency } else { latency + 1 }
}

/// Returns, for each hop, the number of epochs after which a piece that leaves the root in epoch 0 is at the end of the
/// hop.
pub fn depths(tree: &Tree, takes: &[u64]) -> Vec<u64> {
    let mut reached: Vec<u64> = Vec::with_capacity(tree.hops().len());
    for hop in tree.hops() {
        // Parents come first, so their times are known.
        let start = if hop.parent == ROOT { 0 } else { reached[hop.parent as usize] };
        reached.push(start + tree.links_of(hop).iter().map(|link| takes[*link as usize]).sum::<u64>());
    }
    reached
}
