//! Sends of all pieces over all links, from the plan for representatives.

use super::fold::{Fold, image_of};
use super::list::{Batch, ListSchedule};
use super::timing::PieceTiming;
use crate::scenario::network::LinkNetwork;

/// The start of a piece on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TreeSend {
    /// Epoch of the start.
    pub epoch: u32,
    /// Link that transmits the piece.
    pub link: u32,
    /// Number of the piece: see [`ListSends::roots`].
    pub piece: u32,
    /// Slowest transmission before the link on the path from GPU to GPU, epochs; 0 at the beginning of the path.
    pub pace: u32,
}

/// Sends of a list schedule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListSends {
    /// Root of each piece; the pieces of a root have consecutive numbers.
    pub roots: Vec<u32>,
    /// Sends by epoch.
    pub sends: Vec<TreeSend>,
}

/// Returns all sends of a list schedule. If a switch copies a piece, the piece is sent into the switch once.
pub fn list_sends(
    network: &LinkNetwork,
    fold: &Fold,
    timing: &PieceTiming,
    batches: &[Batch<'_>],
    schedule: &ListSchedule,
) -> ListSends {
    let mut all = ListSends::default();
    // Images start at the same epochs on their links.
    for (batch, starts) in batches.iter().zip(&schedule.starts) {
        let hops = batch.tree.hops();
        for images in fold.elements() {
            for piece in 0..batch.pieces as usize {
                let number = all.roots.len() as u32;
                all.roots.push(images[batch.tree.root as usize]);
                for (place, hop) in hops.iter().enumerate() {
                    let (start, links) = (starts[piece * hops.len() + place], batch.tree.links_of(hop));
                    let mut pace = 0;
                    for (&link, passage) in links.iter().zip(timing.passages(links)) {
                        if let Some(image) = image_of(network, images, link) {
                            let epoch = start + passage.starts;
                            all.sends.push(TreeSend { epoch, link: image, piece: number, pace });
                        }
                        if timing.cuts_through {
                            pace = pace.max(timing.occupies[link as usize]);
                        }
                    }
                }
            }
        }
    }
    // Copies share the path into a switch: equal transmissions are merged.
    all.sends.sort_unstable();
    all.sends.dedup();
    all
}
