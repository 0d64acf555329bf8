//! Converts amounts to parts of chunks, each with a path (docs/methods/collective-search.md, section 8).
//!
//! Each path is found by a walk back in time from its delivery. At a GPU, the walk takes the latest arrival that is
//! early enough, because earlier departures cannot use this arrival. At a switch, the walk takes an arrival of the same
//! epoch.

use super::{FluidProgram, FluidSource};
use lightbay_core::method::MethodError;
use rustc_hash::FxHashMap;

/// Amount, in chunks, below which a value is a rounding error of the solver.
const NOTHING: f64 = 1e-9;
/// Size, in chunks, below which a part is merged with its neighbours.
const SLIVER: f64 = 1e-6;
/// Maximum fraction of a delivery that rounding may lose.
const LOSS: f64 = 1e-5;

/// A part of a chunk on its way to one destination.
#[derive(Clone, Debug, PartialEq)]
pub struct FluidPiece {
    /// The chunk.
    pub chunk: u32,
    /// Destination of the part.
    pub dest: u32,
    /// Offset of the part, as a fraction of the chunk.
    pub offset: f64,
    /// Size of the part, as a fraction of the chunk.
    pub size: f64,
    /// Links in order, with the epochs at which the part starts on them.
    pub hops: Vec<(u32, u32)>,
}

/// Parts of chunks on their paths.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FluidSchedule {
    /// The parts by chunk, destination and offset.
    pub pieces: Vec<FluidPiece>,
    /// Epochs until the last delivery.
    pub finish: u32,
}

/// Remaining amount that starts on a link in an epoch.
#[derive(Clone, Copy, Debug)]
struct Amount {
    arrival: u32,
    epoch: u32,
    link: u32,
    left: f64,
}

type FluidWay = Vec<(u32, u32)>;

/// Result of a walk back from a destination: the hops, last hop first, each as a node and the index of an amount into
/// this node; and the largest amount that all hops can carry.
enum WalkBack {
    /// A path from the destination back to the source.
    Way(Vec<(u32, usize)>, f64),
    /// A cycle within one epoch, over links without latency: it delivers nothing.
    Circle(Vec<(u32, usize)>, f64),
}

impl FluidProgram<'_> {
    /// Returns the parts of chunks in a solution of the model.
    ///
    /// # Errors
    /// If a delivery in the solution lacks more data than rounding explains.
    pub fn schedule(&self, point: &[f64]) -> Result<FluidSchedule, MethodError> {
        let mut schedule = FluidSchedule::default();
        for (at, source) in self.sources.iter().enumerate() {
            // Amounts of this source that are not used yet.
            let mut into = self.amounts(at, point);
            for (&dest, chunks) in &source.wanted {
                let ways = self.ways(source, dest, chunks.len() as f64, &mut into)?;
                // Adds the image of every part under every element of the group.
                for (chunk, offset, size, hops) in laid_out(chunks, ways) {
                    for (place, element) in self.folding.elements.iter().enumerate() {
                        let moved = |(link, epoch): &(u32, u32)| (element.links[*link as usize], *epoch);
                        schedule.pieces.push(FluidPiece {
                            chunk: self.folding.image(place, chunk),
                            dest: element.nodes[dest as usize],
                            offset,
                            size,
                            hops: hops.iter().map(moved).collect(),
                        });
                    }
                }
            }
        }
        schedule
            .pieces
            .sort_by(|a, b| (a.chunk, a.dest).cmp(&(b.chunk, b.dest)).then(a.offset.total_cmp(&b.offset)));
        let end = |(link, epoch): &(u32, u32)| epoch + self.links.links[*link as usize].latency;
        schedule.finish =
            schedule.pieces.iter().filter_map(|piece| piece.hops.last().map(end)).max().unwrap_or(0);
        Ok(schedule)
    }

    /// Returns the amounts into every node, by arrival.
    fn amounts(&self, at: usize, point: &[f64]) -> FxHashMap<u32, Vec<Amount>> {
        let mut into: FxHashMap<u32, Vec<Amount>> = FxHashMap::default();
        for (link, span) in (0u32..).zip(&self.flows[at]) {
            for (epoch, column) in span.iter() {
                let left = point[column.index()];
                // Amounts from rounding errors of the solver do not become parts.
                if left > NOTHING {
                    let arrival = epoch + self.links.links[link as usize].latency;
                    let node = self.task.network.links()[link as usize].to;
                    into.entry(node).or_default().push(Amount { arrival, epoch, link, left });
                }
            }
        }
        for amounts in into.values_mut() {
            // Sorted by arrival, so that the walk can bisect.
            amounts.sort_unstable_by_key(|amount| (amount.arrival, amount.link));
        }
        into
    }

    /// Returns paths from a source to a destination, whose amounts add up to the required amount.
    fn ways(
        &self,
        source: &FluidSource,
        dest: u32,
        wanted: f64,
        into: &mut FxHashMap<u32, Vec<Amount>>,
    ) -> Result<Vec<(FluidWay, f64)>, MethodError> {
        let mut ways: Vec<(FluidWay, f64)> = Vec::new();
        let mut left = wanted;
        while left > NOTHING {
            // The path carries the smallest remaining amount on its links. This amount is then used up, so the number
            // of walks is finite.
            let (places, amount) = match self.walk_back(source.node, dest, left, into) {
                None => break,
                Some(WalkBack::Way(places, amount)) => (places, amount),
                Some(WalkBack::Circle(places, amount)) => {
                    // A circulation satisfies every row of the model and is removed (flow decomposition).
                    for (node, place) in places {
                        if let Some(idle) = into.get_mut(&node).and_then(|amounts| amounts.get_mut(place)) {
                            idle.left -= amount;
                        }
                    }
                    continue;
                }
            };
            let mut hops = FluidWay::with_capacity(places.len());
            for &(node, place) in places.iter().rev() {
                if let Some(taken) = into.get_mut(&node).and_then(|amounts| amounts.get_mut(place)) {
                    taken.left -= amount;
                    hops.push((taken.link, taken.epoch));
                }
            }
            left -= amount;
            self.erase_loops(dest, &mut hops);
            // Equal paths are merged into one part.
            match ways.iter_mut().find(|(known, _)| *known == hops) {
                Some((_, known)) => *known += amount,
                None => ways.push((hops, amount)),
            }
        }
        // More is missing than rounding explains: the point is an interior point, or violates a row.
        if left > wanted * LOSS {
            let name = |node: u32| &self.task.network.nodes()[node as usize].name;
            return Err(MethodError::Failed(format!(
                "the linear program leaves {left} of {wanted} chunks from {} to {} undelivered; set \
                 lp_method to simplex, or use longer epochs",
                name(source.node),
                name(dest)
            )));
        }
        // The largest path absorbs rounding and parts that are too small.
        ways.sort_by(|a, b| b.1.total_cmp(&a.1));
        ways.truncate(ways.iter().filter(|(_, amount)| *amount >= SLIVER).count().max(1));
        let sum: f64 = ways.iter().map(|(_, amount)| amount).sum();
        if let Some((_, largest)) = ways.first_mut() {
            *largest += wanted - sum;
        }
        Ok(ways)
    }

    /// Returns a path traced back from a destination to the source, or a cycle. `None` if the amounts end before the
    /// source is reached.
    fn walk_back(
        &self,
        source: u32,
        dest: u32,
        most: f64,
        into: &FxHashMap<u32, Vec<Amount>>,
    ) -> Option<WalkBack> {
        let (mut node, mut time, mut amount) = (dest, self.epochs, most);
        let mut places: Vec<(u32, usize)> = Vec::new();
        while node != source {
            let amounts = into.get(&node)?;
            // Arrivals that are early enough.
            let until = amounts.partition_point(|amount| amount.arrival <= time);
            // Nothing waits at a switch.
            let exact = self.task.network.is_switch(node);
            // Takes the latest arrival; earlier ones are left to departures that need them.
            let place = amounts[..until]
                .iter()
                .rposition(|amount| amount.left > NOTHING && (!exact || amount.arrival == time))?;
            let taken = &amounts[place];
            if let Some(first) = places.iter().position(|known| *known == (node, place)) {
                let circle = places.split_off(first);
                let left =
                    |(node, place): &(u32, usize)| into.get(node).map_or(0.0, |amounts| amounts[*place].left);
                let least = circle.iter().map(left).fold(f64::INFINITY, f64::min);
                return Some(WalkBack::Circle(circle, least));
            }
            places.push((node, place));
            amount = amount.min(taken.left);
            (node, time) = (self.task.network.links()[taken.link as usize].from, taken.epoch);
        }
        Some(WalkBack::Way(places, amount))
    }

    /// Removes everything after the first visit to the destination, and every detour that returns to a GPU visited
    /// before, because the data may wait at this GPU instead.
    fn erase_loops(&self, dest: u32, hops: &mut FluidWay) {
        let network = &self.task.network;
        let head = |hop: &(u32, u32)| network.links()[hop.0 as usize].to;
        // Everything after the first visit to the destination is unnecessary.
        if let Some(first) = hops.iter().position(|hop| head(hop) == dest) {
            hops.truncate(first + 1);
        }
        let mut at = 0;
        while at < hops.len() {
            let node = head(&hops[at]);
            // Between two visits to a GPU the data waits there; switches cannot store.
            if !network.is_switch(node)
                && let Some(again) = hops.iter().rposition(|hop| head(hop) == node)
                && again > at
            {
                hops.drain(at + 1..=again);
            }
            at += 1;
        }
    }
}

/// Divides chunks among paths, one path after the other, by the amounts of the paths; returns chunk, offset, size and
/// path of every part.
fn laid_out(chunks: &[u32], ways: Vec<(FluidWay, f64)>) -> Vec<(u32, f64, f64, FluidWay)> {
    let mut parts = Vec::with_capacity(ways.len() + chunks.len());
    // Position on the concatenated chunks.
    let (mut position, mut sum, count) = (0.0f64, 0.0, ways.len());
    for (at, (hops, amount)) in ways.into_iter().enumerate() {
        sum += amount;
        // Ends near the end of a chunk are moved to it, so that no slivers are left.
        let near = (sum - sum.round()).abs() < SLIVER;
        let end = if at + 1 == count {
            chunks.len() as f64
        } else if near {
            sum.round()
        } else {
            sum
        };
        // A path that spans several chunks is split at their ends.
        while position < end {
            let first = position.floor();
            let stop = end.min(first + 1.0);
            if let Some(&chunk) = chunks.get(first as usize) {
                parts.push((chunk, position - first, stop - position, hops.clone()));
            }
            position = stop;
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn parts_tile_their_chunks(shares in prop::collection::vec(0.001f64..1.0, 1..12), count in 1usize..5) {
            let sum: f64 = shares.iter().sum();
            let ways: Vec<(FluidWay, f64)> =
                (0..).zip(&shares).map(|(at, share)| (vec![(at, 0)], share / sum * count as f64)).collect();
            let chunks: Vec<u32> = (10..10 + count as u32).collect();
            let parts = laid_out(&chunks, ways);
            for chunk in chunks {
                let mut end = 0.0;
                for (_, offset, size, _) in parts.iter().filter(|part| part.0 == chunk) {
                    prop_assert!(*size > SLIVER / 2.0);
                    prop_assert!((offset - end).abs() < 1e-12);
                    end = offset + size;
                }
                prop_assert!((end - 1.0).abs() < 1e-12);
            }
        }
    }
}
