//! Upper bounds on the throughput of a pod: all link lengths give a bound, and simple lengths take only microseconds.
//!
//! Throughput λ is in flits per cycle and ordered pair of chips, at one flit per cycle, link and direction. For any
//! lengths of the links, λ is at most the sum of the lengths of all arcs divided by the sum of the distances of all
//! ordered pairs.
//!
//! | module | content |
//! |---|---|
//! | [`wavefront`] | distance sums of several pods at once, 64 sources in a word |
//! | [`cover`] | bounds on all pods of a size |
//! | [`cuts`] | bounds from fixed metrics, which are linear in the design |
//! | [`circuit_cuts`] | the same for pods without symmetry |

use crate::model::pod::{CHIPS, ELECTRICAL_LINKS, LINK_CLASSES, LINK_OF_ARC, PORTS, SWITCHES};
use crate::model::topology::Topology;
use crate::throughput::mcf::network::Network;
use crate::throughput::mcf::sweep;

pub mod blocks;
pub mod circuit_cuts;
pub mod cover;
pub mod cuts;
pub mod wavefront;

pub use cover::{CoverBound, cover_bound, moore_bound};
use wavefront::Wavefront;

/// Sum and maximum of the distances of all ordered pairs of a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hops {
    /// Sum of the distances of all ordered pairs.
    pub hop_sum: u64,
    /// Largest distance of an ordered pair.
    pub diameter: u32,
}

impl Hops {
    /// Mean distance of the ordered pairs of a pod of `nodes` chips.
    pub fn average(self, nodes: usize) -> f64 {
        self.hop_sum as f64 / (nodes as f64 * (nodes as f64 - 1.0))
    }
}

/// Integer lengths of the 192 link classes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lengths {
    classes: [u8; LINK_CLASSES],
    longest: u8,
    sum: u64,
}

impl Lengths {
    /// Returns length 1 for every link, so that distances are hops.
    pub fn hops() -> Self {
        Self::two(1, 1)
    }

    /// Returns one length for electrical links and one for optical links, each clamped to 1 to 255.
    pub fn two(electrical: u32, optical: u32) -> Self {
        let length = |of: u32| of.clamp(1, 255) as u8;
        Self::new(std::array::from_fn(|class| {
            length(if class < ELECTRICAL_LINKS { electrical } else { optical })
        }))
    }

    /// Creates lengths from the length of each class; 0 is replaced by 1.
    pub fn new(mut classes: [u8; LINK_CLASSES]) -> Self {
        for length in &mut classes {
            *length = (*length).max(1);
        }
        let longest = classes.iter().copied().max().unwrap_or(1);
        let sum = classes.iter().map(|&length| u64::from(length)).sum();
        Self { classes, longest, sum }
    }

    /// Lengths of the classes, in the order in which files list them.
    pub const fn classes(&self) -> &[u8; LINK_CLASSES] {
        &self.classes
    }

    /// Largest of the lengths.
    pub const fn longest(&self) -> u8 {
        self.longest
    }

    /// Returns the bound on λ, where `distances` is the sum of the distances from the 64 chips of a cube to all chips
    /// (the mean over the cubes).
    pub fn bound(&self, distances: f64) -> f64 {
        2.0 * self.sum as f64 / distances
    }
}

/// Sum of the distances and largest distance of all ordered pairs for given lengths; `None` if some pair is not
/// connected. For a symmetric pod, only distances from cube 0 are computed.
pub fn distances(pod: &Topology, lengths: &Lengths) -> Option<Hops> {
    let cubes = pod.cubes();
    if pod.has_failed() {
        return distances_beside_failed(pod, lengths);
    }
    let mut wavefront = Wavefront::new(cubes, 1);
    // Symmetric: the chips of cube 0 represent all chips.
    wavefront.wire(0, pod);
    if pod.symmetry().is_some() {
        let found = wavefront.run(lengths, 0)[0]?;
        return Some(Hops { hop_sum: found.sum * cubes as u64, diameter: found.longest });
    }
    // No symmetry: one run of 64 sources for each cube.
    let mut hops = Hops { hop_sum: 0, diameter: 0 };
    for cube in 0..cubes {
        let found = wavefront.run(lengths, cube)[0]?;
        hops.hop_sum += found.sum;
        hops.diameter = hops.diameter.max(found.longest);
    }
    Some(hops)
}

/// Sum of the distances and largest distance for a pod with failed switches, by searches from single chips, because
/// wavefronts cannot omit failed switches.
fn distances_beside_failed(pod: &Topology, lengths: &Lengths) -> Option<Hops> {
    // The class of a failed switch is excluded from both sums and paths.
    let network = Network::pod(pod, 1);
    let lengths: Vec<u32> = Network::working(pod)
        .into_iter()
        .map(|class| {
            let class = if pod.symmetry().is_some() { class } else { class_of_link(class) };
            u32::from(lengths.classes()[class])
        })
        .collect();
    let mut scratch = sweep::Scratch::default();
    let mut hops = Hops { hop_sum: 0, diameter: 0 };
    for &source in network.sources() {
        sweep::distances(&network, &lengths, source as usize, &mut scratch);
        // An unreachable chip makes the throughput 0, so there is no result.
        if scratch.order.len() < network.nodes() {
            return None;
        }
        hops.hop_sum += scratch.distance.iter().sum::<u64>();
        let longest = scratch.distance.iter().copied().max().unwrap_or(0);
        hops.diameter = hops.diameter.max(u32::try_from(longest).unwrap_or(u32::MAX));
    }
    // The sources of one cube represent the sources of all cubes.
    hops.hop_sum *= (network.nodes() / network.sources().len().max(1)) as u64;
    Some(hops)
}

/// Returns the link class of the link `3 * node + axis` (the link at the plus port of the node).
fn class_of_link(link: usize) -> usize {
    usize::from(LINK_OF_ARC[PORTS * (link / 3 % CHIPS) + 2 * (link % 3)])
}

/// Hop sum and diameter; `None` if some pair is not connected.
pub fn hops(pod: &Topology) -> Option<Hops> {
    distances(pod, &Lengths::hops())
}

/// The bound on λ from hop distances: `6 n / hop_sum`.
pub fn hop_bound(nodes: usize, hop_sum: u64) -> f64 {
    6.0 * nodes as f64 / hop_sum as f64
}

/// The hop bound on λ of a pod; every link that carries traffic has capacity 2.
pub fn hop_bound_of(pod: &Topology, hops: Hops) -> f64 {
    2.0 * pod.links() as f64 / hops.hop_sum as f64
}

/// The bound on λ from integer lengths of the link classes; `None` if some pair is not connected.
pub fn class_lengths(pod: &Topology, lengths: &Lengths) -> Option<f64> {
    let distances = distances(pod, lengths)?;
    let failed = (0..SWITCHES).filter(|&switch| pod.is_failed(switch));
    let unused: u64 = failed.map(|switch| u64::from(lengths.classes()[ELECTRICAL_LINKS + switch])).sum();
    // Every class contains one link of each cube, with both directions.
    Some(2.0 * (lengths.sum - unused) as f64 / (distances.hop_sum as f64 / pod.cubes() as f64))
}

/// The bound on λ from one length for electrical links and one for optical links; `None` if some pair is not connected.
pub fn two_length(pod: &Topology, electrical: u32, optical: u32) -> Option<f64> {
    class_lengths(pod, &Lengths::two(electrical, optical))
}

#[cfg(test)]
mod tests;
