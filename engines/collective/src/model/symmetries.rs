//! Symmetries of a network that declares none: searched for by refining colours of nodes and trying images one by one.

use crate::scenario::network::{LinkNetwork, Symmetry};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Visits of links after which the search ends.
const MOST_VISITS: usize = 20_000_000;

/// Symmetries that move the first GPU, at most one for each place that it can move to. An early end of the search leaves
/// some out; those that are found are symmetries in any case.
pub fn find_symmetries(network: &LinkNetwork) -> Vec<Symmetry> {
    let Some((&first, others)) = network.gpus().split_first() else { return Vec::new() };
    let mut search = SymmetrySearch::new(network);
    let start: Vec<u32> = network
        .nodes()
        .iter()
        .map(|node| u32::from(node.kind != network.nodes()[first as usize].kind))
        .collect();
    let mut found = Vec::new();
    for &image in others {
        let (mut from, mut to) = (start.clone(), start.clone());
        from[first as usize] = FRESH;
        to[image as usize] = FRESH;
        found.extend(search.complete(from, to));
        if search.visits_left == 0 {
            break;
        }
    }
    found
}

/// Colour of a node that was just told apart.
const FRESH: u32 = u32::MAX;

/// Colour of a node, and sorts and colours of what it is joined to.
type NodeSurroundings = (u32, Vec<(u32, bool, u32)>);

struct SymmetrySearch<'n> {
    network: &'n LinkNetwork,
    /// Sort of every link: links of one sort are alike.
    sorts: Vec<u32>,
    visits_left: usize,
}

impl<'n> SymmetrySearch<'n> {
    fn new(network: &'n LinkNetwork) -> Self {
        let mut known: BTreeMap<String, u32> = BTreeMap::new();
        let sorts = network
            .links()
            .iter()
            .map(|link| {
                let key = format!("{:?} {} {:?}", link.capacity, link.alpha_us.to_bits(), link.up_us);
                let next = known.len() as u32;
                *known.entry(key).or_insert(next)
            })
            .collect();
        Self { network, sorts, visits_left: MOST_VISITS }
    }

    /// A symmetry that maps every colour of one colouring to the same colour of another one.
    fn complete(&mut self, from: Vec<u32>, to: Vec<u32>) -> Option<Symmetry> {
        let (from, to) = self.refine(from, to)?;
        let mut cells: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (node, &colour) in (0u32..).zip(&from) {
            cells.entry(colour).or_default().push(node);
        }
        let smallest = cells.values().filter(|cell| cell.len() > 1).min_by_key(|cell| cell.len());
        let Some(cell) = smallest else {
            let places: FxHashMap<u32, u32> = to.iter().copied().zip(0u32..).collect();
            let nodes: Option<Vec<u32>> = from.iter().map(|colour| places.get(colour).copied()).collect();
            return self.network.symmetry(&nodes?).ok();
        };
        let node = cell[0];
        let colour = from[node as usize];
        let images = (0u32..).zip(&to).filter(|(_, other)| **other == colour).map(|(image, _)| image);
        // Symmetries that keep no GPU are the useful ones, so its own place comes last.
        let mut images: Vec<u32> = images.collect();
        images.sort_by_key(|image| (*image == node, *image));
        for image in images {
            let (mut from, mut to) = (from.clone(), to.clone());
            from[node as usize] = FRESH;
            to[image as usize] = FRESH;
            if let Some(symmetry) = self.complete(from, to) {
                return Some(symmetry);
            }
            if self.visits_left == 0 {
                return None;
            }
        }
        None
    }

    /// Tells nodes apart by what they are joined to until nothing changes; `None` as soon as the two colourings differ
    /// in the number of nodes of some colour, or the search is to end.
    fn refine(&mut self, mut from: Vec<u32>, mut to: Vec<u32>) -> Option<(Vec<u32>, Vec<u32>)> {
        let mut colours = 0;
        loop {
            self.visits_left = self.visits_left.saturating_sub(4 * self.network.links().len());
            if self.visits_left == 0 {
                return None;
            }
            let (one, other) = (self.surroundings(&from), self.surroundings(&to));
            let mut counts: BTreeMap<&NodeSurroundings, (u32, i64)> = BTreeMap::new();
            for (keys, count) in [(&one, 1), (&other, -1)] {
                for key in keys {
                    counts.entry(key).or_default().1 += count;
                }
            }
            if counts.values().any(|(_, difference)| *difference != 0) {
                return None;
            }
            counts.values_mut().zip(0u32..).for_each(|(entry, colour)| entry.0 = colour);
            let of = |keys: &[NodeSurroundings]| -> Vec<u32> {
                keys.iter().map(|key| counts.get(key).map_or(0, |(colour, _)| *colour)).collect()
            };
            let now = counts.len();
            (from, to) = (of(&one), of(&other));
            if now == colours {
                return Some((from, to));
            }
            colours = now;
        }
    }

    fn surroundings(&self, colours: &[u32]) -> Vec<NodeSurroundings> {
        let links = self.network.links();
        (0..self.network.node_count() as u32)
            .map(|node| {
                let leaving = self.network.out_links(node).iter().map(|link| {
                    (self.sorts[*link as usize], true, colours[links[*link as usize].to as usize])
                });
                let entering = self.network.in_links(node).iter().map(|link| {
                    (self.sorts[*link as usize], false, colours[links[*link as usize].from as usize])
                });
                let mut around: Vec<_> = leaving.chain(entering).collect();
                around.sort_unstable();
                (colours[node as usize], around)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::group::Folding;
    use crate::scenario::presets;

    #[test]
    fn symmetries_that_are_not_declared_are_found() {
        for (name, order) in [
            ("dgx1-allgather-200kb", 4),
            ("ndv2x2-allgather-1gb", 2),
            ("dgx2x2-allgather-1gb", 2),
            ("ring8-allgather-1mb", 8),
            ("torus4x4-allgather-1mb", 16),
            ("torus3x5-allgather-1mb", 15),
            ("mesh4x4-allgather-1mb", 2),
        ] {
            let mut scenario = presets::scenario(name).unwrap();
            scenario.topology.symmetry_generators.clear();
            let mut network = LinkNetwork::of(&scenario.topology).unwrap();
            let found = find_symmetries(&network);
            assert!(found.iter().all(|symmetry| network.symmetry(&symmetry.nodes).is_ok()), "{name}");
            network.add_generators(found);
            let folding = Folding::largest(&network, &scenario.demand.expand(&scenario.topology));
            assert!(folding.order() >= order, "{name}: {}", folding.order());
        }
    }

    #[test]
    fn one_slow_link_leaves_no_symmetry() {
        let mut scenario = presets::scenario("ring8-allgather-1mb").unwrap();
        scenario.topology.symmetry_generators.clear();
        scenario.topology.links[3].capacity_gbyte_per_s = 1.0;
        let network = LinkNetwork::of(&scenario.topology).unwrap();
        assert_eq!(find_symmetries(&network), []);
    }
}
