//! Symmetries of a network that declares none, found by colour refinement of nodes and trying images one by one
//! (docs/methods/collective-search.md, section 6).
//!
//! Plans need a group in which only the identity maps a GPU or a link to itself. The group is built generator by
//! generator. The search takes a new generator from the symmetries that commute with the existing generators: the image
//! of one node then determines the images of its whole orbit, so few choices remain. On tori, rail-connected boxes and
//! rings, such groups map the first GPU to every other GPU. If this search ends early, symmetries that do not commute
//! are also tried.

use super::group::freely_generated;
use crate::scenario::CollectiveScenario;
use crate::scenario::network::{LinkNetwork, NetworkLink, Symmetry};
use std::sync::{Mutex, PoisonError};

/// Maximum number of visits to links and nodes in a search: about a second.
const MOST_VISITS: usize = 100_000_000;
/// Maximum number of symmetries tried for one image of the first GPU. The limit saves time, because most symmetries
/// with one image fail to act freely for the same reason.
const MOST_LEAVES: u32 = 16;
/// Number of networks whose symmetries are cached: the networks of a run and of the run before it.
const KEPT: usize = 4;

/// Data on which symmetries depend.
#[derive(Debug, PartialEq)]
struct Searched {
    kinds: Vec<bool>,
    links: Vec<NetworkLink>,
    colours: Vec<u32>,
}

/// Networks with their symmetries, the most recent last. A run requests the symmetries of its network once for each
/// epoch length.
static FOUND: Mutex<Vec<(Searched, Vec<Symmetry>)>> = Mutex::new(Vec::new());

/// Returns symmetries of the network of a scenario that map ranks to ranks and the root to itself. The symmetries
/// generate a group in which only the identity maps a GPU or a link to itself. If the search ends early, some
/// symmetries are missing.
pub fn symmetries_of(scenario: &CollectiveScenario, network: &LinkNetwork) -> Vec<Symmetry> {
    let demand = &scenario.demand;
    let mut colours: Vec<u32> =
        (0..network.node_count() as u32).map(|node| u32::from(network.is_switch(node))).collect();
    let ranks = demand.rank_nodes(&scenario.topology);
    for rank in &ranks {
        colours[*rank as usize] += 2;
    }
    if let Some(root) = demand.root.and_then(|root| ranks.get(root as usize)) {
        colours[*root as usize] += 4;
    }
    let kinds = (0..network.node_count() as u32).map(|node| network.is_switch(node)).collect();
    let searched = Searched { kinds, links: network.links().to_vec(), colours };
    let mut known = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, symmetries)) = known.iter().find(|(other, _)| *other == searched) {
        return symmetries.clone();
    }
    let symmetries = find_symmetries(network, searched.colours.clone());
    if known.len() == KEPT {
        known.remove(0);
    }
    known.push((searched, symmetries.clone()));
    symmetries
}

/// Returns symmetries of a network that preserve colours of nodes, with the properties that [`symmetries_of`] states.
pub fn find_symmetries(network: &LinkNetwork, colours: Vec<u32>) -> Vec<Symmetry> {
    let mut search = SymmetrySearch::new(network);
    let Some((start, _)) = search.refine(colours.clone(), colours) else { return Vec::new() };
    let mut cells = cells(&start);
    cells.retain(|cell| !network.is_switch(cell[0]));
    // If only the identity maps a GPU to itself, all orbits of GPUs have as many GPUs as the group has elements, and
    // this number divides the size of every cell.
    let most = cells.iter().fold(0, |most, cell| gcd(most, cell.len()));
    let Some(cell) = cells.into_iter().min_by_key(Vec::len).filter(|_| most > 1) else { return Vec::new() };
    let mut best = FreeGroup::of_identity(network);
    // If few symmetries commute with the first generator of an attempt, its group stays small; the next attempt begins
    // with another generator.
    for attempt in Attempt::ALL {
        search.visits_left = MOST_VISITS / Attempt::ALL.len();
        search.salt = attempt.salt;
        let group = search.group(&start, &cell, most, attempt.involutions);
        if group.elements.len() > best.elements.len() {
            best = group;
        }
        if best.elements.len() == most {
            break;
        }
    }
    best.generators
}

/// A strategy for building a group.
struct Attempt {
    /// `true` to search first for generators that are their own inverses.
    involutions: bool,
    /// Order in which images of a node are tried. With 0, the images whose shift (number of the image minus number of
    /// the node) is closest to the shift of the first node come first; any other number is the seed of a scrambled
    /// order.
    salt: u64,
}

impl Attempt {
    const ALL: [Self; 5] = [
        Self { involutions: false, salt: 0 },
        Self { involutions: true, salt: 0 },
        Self { involutions: false, salt: 1 },
        Self { involutions: false, salt: 2 },
        Self { involutions: true, salt: 3 },
    ];
}

fn gcd(one: usize, other: usize) -> usize {
    if other == 0 { one } else { gcd(other, one % other) }
}

/// Returns the nodes of each colour, ascending.
fn cells(colours: &[u32]) -> Vec<Vec<u32>> {
    let count = colours.iter().max().map_or(0, |most| *most as usize + 1);
    let mut cells = vec![Vec::new(); count];
    for (node, colour) in (0u32..).zip(colours) {
        cells[*colour as usize].push(node);
    }
    cells.retain(|cell| !cell.is_empty());
    cells
}

/// Requirements on a symmetry.
#[derive(Clone, Copy)]
struct Asked<'g> {
    /// Elements of the group with which the symmetry must commute.
    group: &'g [Vec<u32>],
    /// `true` if the symmetry must be its own inverse.
    involution: bool,
}

impl Asked<'_> {
    /// Returns two colourings. The first colouring gives a new colour to `node`, and the second colouring gives the
    /// same colour to `image`; the images of `node` and `image` under each element with which the symmetry must commute
    /// get further colours in the same way.
    fn with(self, (from, to): (&[u32], &[u32]), node: u32, image: u32) -> (Vec<u32>, Vec<u32>) {
        let (mut from, mut to) = (from.to_vec(), to.to_vec());
        let pairs = [(node, image), (image, node)];
        let pairs = if self.involution { &pairs[..] } else { &pairs[..1] };
        let all = pairs.iter().flat_map(|(node, image)| {
            self.group.iter().map(|element| (element[*node as usize], element[*image as usize]))
        });
        for (colour, (node, image)) in (0..=u32::MAX).rev().zip(all) {
            (from[node as usize], to[image as usize]) = (colour, colour);
        }
        (from, to)
    }
}

/// A group in which only the identity maps a GPU or a link to itself.
struct FreeGroup {
    generators: Vec<Symmetry>,
    elements: Vec<Vec<u32>>,
}

impl FreeGroup {
    fn of_identity(network: &LinkNetwork) -> Self {
        Self { generators: Vec::new(), elements: vec![(0..network.node_count() as u32).collect()] }
    }

    /// Adds a generator if the group then still acts freely; returns whether the generator was added.
    fn extend(&mut self, network: &LinkNetwork, symmetry: Symmetry) -> bool {
        self.generators.push(symmetry);
        let generators: Vec<&Symmetry> = self.generators.iter().collect();
        let Some(larger) = freely_generated(network, &generators) else {
            self.generators.pop();
            return false;
        };
        self.elements = larger;
        true
    }
}

struct SymmetrySearch<'n> {
    network: &'n LinkNetwork,
    /// Type of every link: links of one type are interchangeable.
    sorts: Vec<u64>,
    visits_left: usize,
    leaves_left: u32,
    salt: u64,
}

/// Scrambles a number (SplitMix64), so that sums of scrambled numbers distinguish multisets. If two multisets collide,
/// a colouring stays coarser than necessary, but results stay correct, because every symmetry is verified.
const fn scrambled(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl<'n> SymmetrySearch<'n> {
    fn new(network: &'n LinkNetwork) -> Self {
        let mut known: Vec<&NetworkLink> = Vec::new();
        let alike = |one: &NetworkLink, other: &NetworkLink| {
            (one.capacity, one.alpha_us.to_bits(), &one.up_us)
                == (other.capacity, other.alpha_us.to_bits(), &other.up_us)
        };
        let sorts = network
            .links()
            .iter()
            .map(|link| {
                let place = known.iter().position(|other| alike(link, other)).unwrap_or_else(|| {
                    known.push(link);
                    known.len() - 1
                });
                scrambled(place as u64)
            })
            .collect();
        Self { network, sorts, visits_left: MOST_VISITS, leaves_left: MOST_LEAVES, salt: 0 }
    }

    /// Builds a group of at most `most` elements: searches for symmetries that map the first GPU of `cell` to the other
    /// GPUs of `cell`.
    fn group(&mut self, start: &[u32], cell: &[u32], most: usize, involutions: bool) -> FreeGroup {
        let network = self.network;
        let first = cell[0];
        let (mut group, trivial) = (FreeGroup::of_identity(network), FreeGroup::of_identity(network));
        for commutes in [true, false] {
            for &image in &cell[1..] {
                let kinds: &[bool] = if involutions { &[true, false] } else { &[false] };
                for &involution in kinds {
                    if group.elements.len() == most || self.visits_left == 0 {
                        return group;
                    }
                    if group.elements.iter().any(|element| element[first as usize] == image) {
                        break;
                    }
                    let known = if commutes { group.elements.clone() } else { trivial.elements.clone() };
                    let asked = Asked { group: &known, involution };
                    self.leaves_left = MOST_LEAVES;
                    let colourings = asked.with((start, start), first, image);
                    let shift = i64::from(image) - i64::from(first);
                    self.complete(colourings, asked, (image, shift), &mut |symmetry| {
                        group.extend(network, symmetry)
                    });
                }
            }
        }
        group
    }

    /// Searches for a symmetry that maps the nodes of every colour in `from` to the nodes of the same colour in `to`,
    /// meets the requirements, and is accepted by `take`; returns `true` if such a symmetry was found. `last` is the
    /// image that was chosen last, `shift` is the distance between the first node and its image.
    fn complete(
        &mut self,
        (from, to): (Vec<u32>, Vec<u32>),
        asked: Asked<'_>,
        (last, shift): (u32, i64),
        take: &mut impl FnMut(Symmetry) -> bool,
    ) -> bool {
        let Some((from, to)) = self.refine(from, to) else { return false };
        let cells = cells(&from);
        // Continues with the last image, so that cycles of the symmetry are completed; otherwise with the smallest
        // cell.
        let open = || cells.iter().filter(|cell| cell.len() > 1);
        let chain = open().find(|cell| cell.contains(&last)).map(|_| last);
        // GPUs come before switches, because a symmetry shifts the numbers of GPUs and of switches by different
        // amounts; ties between cells go to the cell with the first node.
        let rank = |cell: &&Vec<u32>| (self.network.is_switch(cell[0]), cell.len(), cell[0]);
        let smallest = || open().min_by_key(rank).map(|cell| cell[0]);
        let Some(node) = chain.or_else(smallest) else {
            self.leaves_left = self.leaves_left.saturating_sub(1);
            let mut places = vec![0; to.len()];
            (0u32..).zip(&to).for_each(|(node, colour)| places[*colour as usize] = node);
            let nodes: Vec<u32> = from.iter().map(|colour| places[*colour as usize]).collect();
            return self.network.symmetry(&nodes).is_ok_and(take);
        };
        let colour = from[node as usize];
        let mut images: Vec<u32> =
            (0u32..).zip(&to).filter(|(_, other)| **other == colour).map(|(image, _)| image).collect();
        // Only symmetries without fixed GPUs are useful, so the GPU itself is the last image that is tried. The images
        // closest to the previous shift come first, because a symmetry of a regular network shifts most node numbers
        // equally.
        let salt = self.salt;
        images.sort_by_key(|image| {
            let shifted = (i64::from(*image) - i64::from(node) - shift).unsigned_abs();
            let order = if salt == 0 { shifted } else { scrambled(u64::from(*image) ^ salt << 32) };
            (*image == node, order, *image)
        });
        for image in images {
            let colourings = asked.with((&from, &to), node, image);
            if self.complete(colourings, asked, (image, shift), take) {
                return true;
            }
            if self.visits_left == 0 || self.leaves_left == 0 {
                return false;
            }
        }
        false
    }

    /// Refines two colourings by the neighbours of nodes until nothing changes, and returns both. `None` as soon as the
    /// colourings differ in the number of nodes of some colour, or if the search must end.
    fn refine(&mut self, mut from: Vec<u32>, mut to: Vec<u32>) -> Option<(Vec<u32>, Vec<u32>)> {
        let mut colours = 0;
        // Visits per round: every link, and every node several times because of sorting.
        let each = 4 * self.network.links().len() + 16 * self.network.node_count();
        loop {
            self.visits_left = self.visits_left.saturating_sub(each);
            if self.visits_left == 0 {
                return None;
            }
            let (one, other) = (self.surroundings(&from), self.surroundings(&to));
            let (mut sorted, mut others) = (one.clone(), other.clone());
            sorted.sort_unstable();
            others.sort_unstable();
            if sorted != others {
                return None;
            }
            sorted.dedup();
            let of = |keys: &[u64]| -> Vec<u32> {
                keys.iter().map(|key| sorted.partition_point(|known| known < key) as u32).collect()
            };
            (from, to) = (of(&one), of(&other));
            if sorted.len() == colours {
                return Some((from, to));
            }
            colours = sorted.len();
        }
    }

    /// Returns for every node a number that combines its colour with the types of its links and the colours of its
    /// neighbours.
    fn surroundings(&self, colours: &[u32]) -> Vec<u64> {
        let mut sums: Vec<u64> = colours.iter().map(|colour| scrambled(u64::from(*colour))).collect();
        let colour = |node: u32| u64::from(colours[node as usize]);
        for (link, sort) in self.network.links().iter().zip(&self.sorts) {
            let leaves = scrambled(sort ^ (colour(link.to) << 1));
            let enters = scrambled(sort ^ (colour(link.from) << 1 | 1));
            sums[link.from as usize] = sums[link.from as usize].wrapping_add(leaves);
            sums[link.to as usize] = sums[link.to as usize].wrapping_add(enters);
        }
        sums
    }
}

#[cfg(test)]
mod tests;
