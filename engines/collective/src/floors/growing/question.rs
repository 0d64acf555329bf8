//! Data to spread from sources to destinations, reduced by symmetries.

use crate::floors::latency::distances;
use crate::scenario::network::{LinkNetwork, Symmetry};
use petgraph::unionfind::UnionFind;
use rustc_hash::FxHashMap;

/// Equal data of every source that is spread to all destinations.
#[derive(Clone, Debug)]
pub struct SpreadQuestion<'n> {
    /// The network.
    pub network: &'n LinkNetwork,
    /// Nodes that receive the data of every source.
    pub destinations: Vec<u32>,
    /// One source of each orbit.
    pub sources: Vec<SpreadSource>,
    /// Number of sources.
    pub source_count: usize,
    /// Symmetries of network and data, as images of all nodes.
    pub symmetries: Vec<Vec<u32>>,
    /// Orbit of each link: its smallest link.
    pub link_orbits: Vec<u32>,
    /// Number of links in the orbit of each link.
    pub orbit_sizes: Vec<u32>,
    /// For each destination, the smallest latency from every node, µs.
    pub to_destination: Vec<Vec<f64>>,
}

/// A source that represents its orbit.
#[derive(Clone, Debug)]
pub struct SpreadSource {
    /// The node.
    pub node: u32,
    /// Number of sources in the orbit.
    pub count: u32,
    /// For each link, its class: the smallest link to which a symmetry that maps the source to itself maps the link.
    pub classes: Vec<u32>,
    /// Number of links in the class of each link.
    pub class_sizes: Vec<u32>,
    /// Smallest latency to every node, µs.
    pub distances: Vec<f64>,
}

impl<'n> SpreadQuestion<'n> {
    /// Reduces the spread of data from `sources` to `destinations` by the symmetries of the network that map sources to
    /// sources and destinations to destinations.
    pub fn of(network: &'n LinkNetwork, sources: &[u32], destinations: &[u32]) -> Self {
        let links = network.links().len();
        let place = |node: u32| sources.iter().position(|other| *other == node);
        let keeps = |set: &[u32], symmetry: &Symmetry| {
            set.iter().all(|node| set.contains(&symmetry.nodes[*node as usize]))
        };
        let symmetries: Vec<&Symmetry> = network
            .generators()
            .iter()
            .filter(|symmetry| keeps(sources, symmetry) && keeps(destinations, symmetry))
            .collect();
        // Orbits of links, of sources, and of pairs of source and link: the group acts on all three.
        let mut of_links = UnionFind::<u32>::new(links);
        let mut of_sources = UnionFind::<u32>::new(sources.len());
        let mut of_pairs = UnionFind::<u32>::new(links * sources.len());
        for symmetry in &symmetries {
            for (link, image) in (0u32..).zip(&symmetry.links) {
                of_links.union(link, *image);
            }
            for (at, source) in sources.iter().enumerate() {
                let Some(to) = place(symmetry.nodes[*source as usize]) else { continue };
                of_sources.union(at as u32, to as u32);
                for (link, image) in symmetry.links.iter().enumerate() {
                    of_pairs.union((at * links + link) as u32, (to * links + *image as usize) as u32);
                }
            }
        }
        let link_orbits = first_places(&of_links.into_labeling());
        let orbits = first_places(&of_sources.into_labeling());
        let counts = sizes(&orbits);
        let pairs = of_pairs.into_labeling();
        let represents = (0..sources.len()).filter(|at| orbits[*at] as usize == *at);
        let source = |at: usize| {
            let classes = first_places(&pairs[at * links..(at + 1) * links]);
            let class_sizes = sizes(&classes);
            let (node, count) = (sources[at], counts[at]);
            SpreadSource { node, count, classes, class_sizes, distances: distances(network, node, false) }
        };
        Self {
            network,
            destinations: destinations.to_vec(),
            sources: represents.map(source).collect(),
            source_count: sources.len(),
            symmetries: symmetries.iter().map(|symmetry| symmetry.nodes.clone()).collect(),
            orbit_sizes: sizes(&link_orbits),
            link_orbits,
            to_destination: destinations.iter().map(|node| distances(network, *node, true)).collect(),
        }
    }

    /// Returns the place of a source among those that represent orbits; `None` for other nodes.
    pub fn place(&self, source: u32) -> Option<usize> {
        self.sources.iter().position(|known| known.node == source)
    }

    /// Returns the smallest latency from every node to a destination, µs.
    pub fn latencies_to(&self, destination: u32) -> &[f64] {
        let place = self.destinations.iter().position(|node| *node == destination);
        place.map_or(&[], |place| &self.to_destination[place])
    }

    /// Returns the pairs of a source that represents its orbit, by place, and another node that needs its data.
    pub fn pairs(&self) -> impl Iterator<Item = (usize, u32)> + '_ {
        self.sources.iter().enumerate().flat_map(|(at, source)| {
            let others = self.destinations.iter().filter(|node| **node != source.node);
            others.map(move |node| (at, *node))
        })
    }
}

/// Returns, for every place, the first place with the same label.
fn first_places(labels: &[u32]) -> Vec<u32> {
    let mut first = FxHashMap::default();
    (0u32..).zip(labels).map(|(place, label)| *first.entry(*label).or_insert(place)).collect()
}

/// Returns, for every place, the number of places with the same label.
fn sizes(labels: &[u32]) -> Vec<u32> {
    let mut counts = vec![0; labels.len()];
    for label in labels {
        counts[*label as usize] += 1;
    }
    labels.iter().map(|label| counts[*label as usize]).collect()
}
