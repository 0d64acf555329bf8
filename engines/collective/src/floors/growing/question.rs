//! Data to spread from sources to destinations, reduced by symmetries.

use crate::floors::latency::distances;
use crate::plan::GrowingCut;
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
    /// One source, or one set of sources, of each orbit.
    pub sources: Vec<SpreadSource>,
    /// Number of sources, or of sets of sources.
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

/// A source, or a set of sources whose data crosses the same cuts, that represents its orbit.
#[derive(Clone, Debug)]
pub struct SpreadSource {
    /// The nodes; the first one names the source.
    pub nodes: Vec<u32>,
    /// Number of sources, or of sets, in the orbit.
    pub count: u32,
    /// For each link, its class: the smallest link to which a symmetry that maps the source to itself maps the link.
    pub classes: Vec<u32>,
    /// Number of links in the class of each link.
    pub class_sizes: Vec<u32>,
    /// Smallest latency to every node, µs.
    pub distances: Vec<f64>,
}

impl<'n> SpreadQuestion<'n> {
    /// Reduces the spread of data from `sources`, which are sets of nodes of one size, to `destinations` by the
    /// symmetries of the network that map sets to sets and destinations to destinations.
    pub fn of(network: &'n LinkNetwork, sources: &[Vec<u32>], destinations: &[u32]) -> Self {
        let links = network.links().len();
        let mut places = vec![None; network.node_count()];
        for (at, nodes) in sources.iter().enumerate() {
            for node in nodes {
                places[*node as usize] = Some(at);
            }
        }
        let place = |node: u32| places[node as usize];
        let keeps = |symmetry: &&Symmetry| {
            let image = |node: &u32| symmetry.nodes[*node as usize];
            destinations.iter().all(|node| destinations.contains(&image(node)))
                && sources.iter().all(|nodes| {
                    let first = place(image(&nodes[0]));
                    first.is_some() && nodes.iter().all(|node| place(image(node)) == first)
                })
        };
        let symmetries: Vec<&Symmetry> = network.generators().iter().filter(keeps).collect();
        // Orbits of links, of sources, and of pairs of source and link: the group acts on all three.
        let mut of_links = UnionFind::<u32>::new(links);
        let mut of_sources = UnionFind::<u32>::new(sources.len());
        let mut of_pairs = UnionFind::<u32>::new(links * sources.len());
        for symmetry in &symmetries {
            for (link, image) in (0u32..).zip(&symmetry.links) {
                of_links.union(link, *image);
            }
            for (at, nodes) in sources.iter().enumerate() {
                let Some(to) = place(symmetry.nodes[nodes[0] as usize]) else { continue };
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
            let (nodes, count) = (sources[at].clone(), counts[at]);
            let mut nearest = vec![f64::INFINITY; network.node_count()];
            for node in &nodes {
                for (nearest, new) in nearest.iter_mut().zip(distances(network, *node, false)) {
                    *nearest = nearest.min(new);
                }
            }
            SpreadSource { nodes, count, classes, class_sizes, distances: nearest }
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
        self.sources.iter().position(|known| known.nodes[0] == source)
    }

    /// Returns the smallest latency from every node to a destination, µs.
    pub fn latencies_to(&self, destination: u32) -> &[f64] {
        let place = self.destinations.iter().position(|node| *node == destination);
        place.map_or(&[], |place| &self.to_destination[place])
    }

    /// Returns, for every source that a symmetry maps to one that represents its orbit, the images of all nodes under a
    /// symmetry that maps the representative to the source.
    pub fn ways(&self) -> FxHashMap<u32, Vec<u32>> {
        let mut ways = FxHashMap::default();
        let mut open: Vec<(u32, Vec<u32>)> = Vec::new();
        let identity: Vec<u32> = (0..self.network.node_count() as u32).collect();
        open.extend(self.sources.iter().map(|source| (source.nodes[0], identity.clone())));
        while let Some((node, way)) = open.pop() {
            if ways.contains_key(&node) {
                continue;
            }
            for symmetry in &self.symmetries {
                let further = way.iter().map(|image| symmetry[*image as usize]).collect();
                open.push((symmetry[node as usize], further));
            }
            ways.insert(node, way);
        }
        ways
    }

    /// Returns the share of the data of a cut's sources that the target needs: a target in a set of sources has its own
    /// data.
    pub fn share(&self, cut: &GrowingCut) -> f64 {
        let nodes = self.place(cut.source).map_or(&[][..], |at| &self.sources[at].nodes);
        let own = nodes.iter().filter(|node| **node == cut.target).count();
        1.0 - own as f64 / nodes.len().max(1) as f64
    }

    /// Returns the pairs of a source that represents its orbit, by place, and another node that needs its data.
    pub fn pairs(&self) -> impl Iterator<Item = (usize, u32)> + '_ {
        self.sources.iter().enumerate().flat_map(|(at, source)| {
            let others = self.destinations.iter().filter(|node| !source.nodes.contains(node));
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
