//! Plans in compact form as lists of pieces and sends (docs/methods/collective-trees.md, section 11).

use crate::model::epochs::EpochModel;
use crate::model::group::generated;
use crate::model::passing::{Passage, passages};
use crate::plan::compact::{CompactDiscipline, CompactPlan, CompactTree};
use crate::plan::{ChunkPiece, CollectiveResult, Discipline, PieceSend};
use crate::scenario::network::LinkNetwork;
use crate::scenario::{ChunkList, CollectiveScenario};
use lightbay_core::quantity::grouped;
use rustc_hash::{FxHashMap, FxHashSet};

/// Returns the plan with its trees as pieces and at most `most` sends.
///
/// # Errors
/// A sentence on why the plan cannot be listed.
pub fn unfolded(
    scenario: &CollectiveScenario,
    result: &CollectiveResult,
    most: u64,
) -> Result<CollectiveResult, String> {
    let mut listed = CollectiveResult { trees: Vec::new(), ..result.clone() };
    // Pieces of a shard become pieces of its chunks.
    if let Some(part) = result.trees.first().filter(|_| result.time.discipline == Discipline::WholeChunk) {
        listed.time.pieces_per_chunk = part.pieces_per_tree / scenario.demand.chunks_per_rank.max(1);
    }
    let parts = unfoldings(scenario, result)?;
    let mut elements = Vec::with_capacity(parts.len());
    let mut sends = 0;
    for part in &parts {
        let group = generated(&part.network, &part.part.generators)?;
        // Counts the sends before listing any.
        sends += part.sends() * group.len() as u64;
        elements.push(group);
    }
    if sends > most {
        return Err(format!(
            "the trees represent {} sends, but at most {} are listed",
            grouped(sends),
            grouped(most)
        ));
    }
    for (part, elements) in parts.iter().zip(&elements) {
        part.list(elements, &mut listed)?;
    }
    listed.sends.sort_unstable_by_key(|send| (send.epoch, send.from, send.to, send.piece));
    Ok(listed)
}

/// Returns the parts of a plan in compact form, ready to be unfolded.
pub(super) fn unfoldings<'u>(
    scenario: &CollectiveScenario,
    result: &'u CollectiveResult,
) -> Result<Vec<Unfolding<'u>>, String> {
    let network = LinkNetwork::in_order(scenario).map_err(|problems| problems.to_string())?;
    let chunks = scenario.demand.expand(&scenario.topology);
    let mut parts = Vec::with_capacity(result.trees.len());
    let mut begin = 0_u32;
    for (place, part) in result.trees.iter().enumerate() {
        // Of two parts, the first reduces on the reversed network.
        let adds = scenario.demand.collective.reduces() && place == 0;
        let times = (adds, begin);
        parts.push(Unfolding::new(&network, &chunks, part, times, result.time.alpha_threshold));
        let epochs = u32::try_from(part.finish_epochs).ok();
        begin =
            epochs.and_then(|epochs| begin.checked_add(epochs)).ok_or("the schedule has too many epochs")?;
    }
    Ok(parts)
}

/// Links of a hop, and the position in the tree of the previous hop, which brings the data to this hop.
pub(super) type UnfoldedHop = (Vec<u32>, Option<usize>);

/// One part of a collective that is being unfolded into a list.
pub(super) struct Unfolding<'u> {
    pub(super) network: LinkNetwork,
    pub(super) part: &'u CompactPlan,
    pub(super) epochs: EpochModel,
    pub(super) piece_bytes: f64,
    pub(super) adds: bool,
    pub(super) begin: u32,
    /// Chunks of the scenario by source and, for an AllToAll, by destination.
    chunks: FxHashMap<(u32, Option<u32>), Vec<u32>>,
}

impl<'u> Unfolding<'u> {
    fn new(
        real: &LinkNetwork,
        list: &ChunkList,
        part: &'u CompactPlan,
        (adds, begin): (bool, u32),
        alpha_threshold: f64,
    ) -> Self {
        // Size of one of the equal pieces into which the shard of a root is divided.
        let piece_bytes = part.shard_bytes / f64::from(part.pieces_per_tree.max(1));
        // The pieces of an epoch share a link, so each piece occupies a link for one epoch, whatever its size.
        let occupying = match part.discipline {
            CompactDiscipline::WholeChunk => piece_bytes,
            CompactDiscipline::Fluid => {
                let rates = real.links().iter().map(|link| link.capacity_gbyte_per_s);
                1000.0 * part.epoch_us * rates.fold(f64::INFINITY, f64::min)
            }
        };
        let epochs = EpochModel::new(real, part.epoch_us, occupying, alpha_threshold);
        let exchange = part.is_exchange();
        let mut chunks: FxHashMap<(u32, Option<u32>), Vec<u32>> = FxHashMap::default();
        for chunk in 0..list.len() {
            let dest = exchange.then(|| list.dests(chunk).next()).flatten();
            chunks.entry((list.source(chunk), dest)).or_default().push(chunk as u32);
        }
        let network = if adds { real.reversed() } else { real.clone() };
        Self { network, part, epochs, piece_bytes, adds, begin, chunks }
    }

    /// Returns the number of sends of all trees without their images; an upper limit, because hops may share links.
    fn sends(&self) -> u64 {
        let links = |tree: &CompactTree| {
            let hops: usize = tree.edges.iter().map(|edge| edge.len().saturating_sub(1)).sum();
            hops as u64 * self.pieces(tree)
        };
        self.part.trees.iter().map(links).sum()
    }

    /// Adds the pieces and sends of all trees and their images to `listed`.
    fn list(&self, elements: &[Vec<u32>], listed: &mut CollectiveResult) -> Result<(), String> {
        for images in elements {
            // Bytes of the pieces so far, by root and destination. Pieces fill the chunks of their root one after the
            // other.
            let mut filled: FxHashMap<(u32, Option<u32>), f64> = FxHashMap::default();
            for tree in &self.part.trees {
                self.list_tree(tree, images, &mut filled, listed)?;
            }
        }
        Ok(())
    }

    /// Returns the epoch at which a hop of a piece starts. In schedules of whole chunks, the tree states this epoch. In
    /// periodic schedules, the first hop of piece `p` starts at epoch `p`, and each later hop starts at `there`, the
    /// epoch at which the previous hop has arrived.
    pub(super) fn start(
        &self,
        tree: &CompactTree,
        (piece, hop): (usize, usize),
        there: Option<u32>,
    ) -> Result<u32, &'static str> {
        match self.part.discipline {
            // Periodic: piece p leaves the root at epoch p, and hops follow each other.
            CompactDiscipline::Fluid => Ok(there.unwrap_or(piece as u32)),
            CompactDiscipline::WholeChunk => {
                let starts = tree.starts.get(piece).and_then(|starts| starts.get(hop));
                starts.copied().ok_or("a hop of a tree has no start")
            }
        }
    }

    /// Returns the number of pieces that a tree carries.
    fn pieces(&self, tree: &CompactTree) -> u64 {
        match self.part.discipline {
            CompactDiscipline::Fluid => u64::from(self.part.pieces_per_tree),
            CompactDiscipline::WholeChunk => tree.starts.len() as u64,
        }
    }

    fn list_tree(
        &self,
        tree: &CompactTree,
        images: &[u32],
        filled: &mut FxHashMap<(u32, Option<u32>), f64>,
        listed: &mut CollectiveResult,
    ) -> Result<(), String> {
        let image = |node: u32| {
            images.get(node as usize).copied().ok_or("a tree names a node that is not in the network")
        };
        let root = image(tree.root)?;
        let dest = tree.dests.first().map(|dest| image(*dest)).transpose()?;
        let of_root = self.chunks.get(&(root, dest)).ok_or("a tree begins at a node without data")?;
        let size_bytes = match self.part.discipline {
            CompactDiscipline::Fluid => self.piece_bytes * part_of_one(&tree.share)?,
            CompactDiscipline::WholeChunk => self.piece_bytes,
        };
        let chunk_bytes = self.part.shard_bytes / of_root.len() as f64;
        let hops = self.hops(tree, &image)?;
        for piece in 0..self.pieces(tree) {
            let at = filled.entry((root, dest)).or_insert(0.0);
            // The chunk in which the piece begins, with a tolerance for rounding.
            let whole = (*at / chunk_bytes + 1e-6).floor();
            let (offset_bytes, place) = ((*at - whole * chunk_bytes).max(0.0), whole as usize);
            *at += size_bytes;
            // A piece must not span two chunks: chunks end where pieces end.
            if offset_bytes + size_bytes > chunk_bytes * (1.0 + 1e-6) {
                return Err("a piece of a tree spans two chunks".to_owned());
            }
            let chunk = *of_root.get(place).ok_or("the trees of a root carry more data than the root has")?;
            let id = u32::try_from(listed.pieces.len())
                .map_err(|_| "the schedule has too many pieces".to_owned())?;
            listed.pieces.push(ChunkPiece {
                id,
                chunk,
                offset_bytes,
                size_bytes,
                adds_up: self.adds,
                dests: None,
            });
            self.list_piece(tree, &hops, (id, piece as usize), listed)?;
        }
        Ok(())
    }

    /// Returns the hops of the image of a tree, each with its links and the position of the previous hop.
    pub(super) fn hops(
        &self,
        tree: &CompactTree,
        image: &dyn Fn(u32) -> Result<u32, &'static str>,
    ) -> Result<Vec<UnfoldedHop>, String> {
        let mut into: FxHashMap<u32, usize> = FxHashMap::default();
        let mut hops = Vec::with_capacity(tree.edges.len());
        for (place, edge) in tree.edges.iter().enumerate() {
            let between = |ends: &[u32]| {
                let link = self.network.link_between(image(ends[0])?, image(ends[1])?);
                link.ok_or("a tree uses a link that does not exist")
            };
            let links: Vec<u32> = edge.windows(2).map(between).collect::<Result<_, _>>()?;
            let (Some(from), Some(to)) = (edge.first(), edge.last()) else {
                return Err("a hop of a tree is empty".to_owned());
            };
            hops.push((links, into.get(from).copied()));
            // The hop into a GPU is the parent of the hops out of it.
            into.insert(*to, place);
        }
        Ok(hops)
    }

    /// Returns the links of a hop in their order, each with the times of its transmission if data is sent along the hop
    /// and the times if reduced data is sent back; also returns the number of epochs that the hop takes.
    pub(super) fn way(&self, links: &[u32]) -> (Vec<(u32, Passage, Passage)>, u32) {
        let hops = || links.iter().map(|link| self.epochs.links[*link as usize].hop());
        let forwards = passages(hops(), self.network.is_cut_through());
        let backwards = passages(hops().rev(), self.network.is_cut_through());
        let takes = forwards.last().map_or(0, |last| last.arrives);
        let both = forwards.into_iter().zip(backwards.into_iter().rev());
        (links.iter().zip(both).map(|(link, (there, back))| (*link, there, back)).collect(), takes)
    }

    /// Adds the sends of a piece to `listed`.
    fn list_piece(
        &self,
        tree: &CompactTree,
        hops: &[UnfoldedHop],
        (id, piece): (u32, usize),
        listed: &mut CollectiveResult,
    ) -> Result<(), String> {
        let copies = if self.adds { self.network.switch_reduces() } else { self.network.switch_copies() };
        let mut sent: FxHashSet<(u32, u32)> = FxHashSet::default();
        // Parents come first, so the ends of their hops are known.
        let mut ends: Vec<u32> = Vec::with_capacity(hops.len());
        for (hop, (links, before)) in hops.iter().enumerate() {
            let start = self.start(tree, (piece, hop), before.map(|before| ends[before]))?;
            let (way, takes) = self.way(links);
            for (link, passage, back) in way {
                let time = start + passage.starts;
                // Hops through one switch share the path to it if switches copy.
                if sent.insert((link, time)) || !copies {
                    let ends = &self.network.links()[link as usize];
                    // Reduced data takes the reversed path, mirrored in time.
                    let (from, to, epoch) = if self.adds {
                        let finish = self.part.finish_epochs as u32;
                        let begins = finish
                            .checked_sub(start + takes)
                            .ok_or("a tree ends after the last representable epoch")?;
                        (ends.to, ends.from, begins + back.starts)
                    } else {
                        (ends.from, ends.to, time)
                    };
                    listed.sends.push(PieceSend { piece: id, from, to, epoch: self.begin + epoch });
                }
            }
            ends.push(start + takes);
        }
        Ok(())
    }
}

/// Converts a fraction such as `13/40` to a number.
pub(super) fn part_of_one(share: &str) -> Result<f64, String> {
    let number = |text: &str| text.parse::<f64>().ok();
    let parts = share.split_once('/').and_then(|(top, bottom)| Some((number(top)?, number(bottom)?)));
    match parts {
        Some((top, bottom)) if bottom > 0.0 => Ok(top.max(0.0) / bottom),
        _ => Err(format!("the share '{share}' of a tree is not a fraction")),
    }
}
