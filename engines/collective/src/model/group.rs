//! Groups of symmetries in which only the identity maps a GPU to itself, and their action on chunks.
//!
//! Such a group acts freely on GPUs, and therefore on chunks and on links between GPUs: a model needs only one chunk of
//! every orbit, and its solutions unfold to schedules of all chunks.

use crate::scenario::ChunkList;
use crate::scenario::network::{LinkNetwork, Symmetry};
use rustc_hash::{FxHashMap, FxHashSet};

/// Maximum number of elements from which subgroups are built.
const MOST_ELEMENTS: usize = 1024;
/// Maximum number of elements from which the search for a subgroup starts.
const MOST_SEEDS: usize = 64;

/// A group of symmetries of a network and of chunks in which only the identity maps a GPU to itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folding {
    /// The elements, the identity first.
    pub elements: Vec<Symmetry>,
    chunk_images: ChunkImages,
    /// The first chunk of every orbit, ascending.
    pub chunks: Vec<u32>,
    /// For every link, the first link of its orbit, and the number of elements that map the link to that first link.
    pub links: Vec<(u32, u32)>,
    /// For every node, the first node of its orbit, and the number of elements that map the node to that first node.
    pub nodes: Vec<(u32, u32)>,
}

/// Images of chunks under the elements of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ChunkImages {
    /// Image of every chunk, by element.
    Listed(Vec<Vec<u32>>),
    /// Images that are looked up by source and destination.
    OfPairs(PairChunks),
}

/// Chunks with one destination each, all of the same weight, by source and destination.
#[derive(Clone, Debug, PartialEq, Eq)]
struct PairChunks {
    /// Source and destination of every chunk, and its position among the chunks of the pair.
    ends: Vec<(u32, u32, u32)>,
    /// Chunks of each pair, ascending.
    of_pair: FxHashMap<(u32, u32), Vec<u32>>,
}

/// Number of images of chunks, over all elements, above which images are looked up instead of stored.
const MOST_IMAGES: usize = 1 << 22;

impl PairChunks {
    /// Groups the chunks by pair; `None` if chunks have several destinations or different weights.
    fn new(chunks: &ChunkList) -> Option<Self> {
        let mut all = Self { ends: Vec::with_capacity(chunks.len()), of_pair: FxHashMap::default() };
        for chunk in 0..chunks.len() {
            let mut dests = chunks.dests(chunk);
            let (dest, None) = (dests.next()?, dests.next()) else { return None };
            if chunks.priority(chunk).to_bits() != chunks.priority(0).to_bits() {
                return None;
            }
            let source = chunks.source(chunk);
            let of_pair = all.of_pair.entry((source, dest)).or_default();
            all.ends.push((source, dest, of_pair.len() as u32));
            of_pair.push(chunk as u32);
        }
        Some(all)
    }

    /// Returns `true` if a permutation of nodes preserves the demand.
    fn keeps(&self, nodes: &[u32]) -> bool {
        self.of_pair.iter().all(|((source, dest), chunks)| {
            let image = (nodes[*source as usize], nodes[*dest as usize]);
            self.of_pair.get(&image).is_some_and(|others| others.len() == chunks.len())
        })
    }

    /// Returns the image of a chunk under a permutation of nodes that preserves the demand.
    fn image(&self, nodes: &[u32], chunk: u32) -> u32 {
        let (source, dest, place) = self.ends[chunk as usize];
        self.of_pair[&(nodes[source as usize], nodes[dest as usize])][place as usize]
    }
}

impl Symmetry {
    /// Returns the symmetry that maps every node and link to itself.
    pub fn identity(network: &LinkNetwork) -> Self {
        Self {
            nodes: (0..network.node_count() as u32).collect(),
            links: (0..network.links().len() as u32).collect(),
        }
    }

    /// Returns the product of two symmetries: `self` is applied first.
    #[must_use]
    pub fn then(&self, other: &Self) -> Self {
        let through =
            |first: &[u32], second: &[u32]| first.iter().map(|image| second[*image as usize]).collect();
        Self { nodes: through(&self.nodes, &other.nodes), links: through(&self.links, &other.links) }
    }

    /// Returns `true` if the symmetry maps some GPU to itself.
    pub fn fixes_gpu(&self, network: &LinkNetwork) -> bool {
        network.gpus().iter().any(|gpu| self.nodes[*gpu as usize] == *gpu)
    }
}

/// Classes of interchangeable chunks: chunks of one source with the same destinations and weight.
struct ChunkClasses {
    /// Chunks of every class, ascending. The key contains the source, the destinations in ascending order, and the bits
    /// of the weight.
    members: FxHashMap<(u32, Vec<u32>, u64), Vec<u32>>,
}

impl ChunkClasses {
    fn new(chunks: &ChunkList) -> Self {
        let mut members: FxHashMap<(u32, Vec<u32>, u64), Vec<u32>> = FxHashMap::default();
        for chunk in 0..chunks.len() {
            let mut dests: Vec<u32> = chunks.dests(chunk).collect();
            dests.sort_unstable();
            let key = (chunks.source(chunk), dests, chunks.priority(chunk).to_bits());
            members.entry(key).or_default().push(chunk as u32);
        }
        Self { members }
    }

    /// Returns the image of every chunk under a permutation of nodes; `None` if the permutation does not preserve the
    /// demand.
    fn images(&self, count: usize, nodes: &[u32]) -> Option<Vec<u32>> {
        let mut images = vec![0; count];
        for ((source, dests, weight), members) in &self.members {
            let mut moved: Vec<u32> = dests.iter().map(|dest| nodes[*dest as usize]).collect();
            moved.sort_unstable();
            let others = self.members.get(&(nodes[*source as usize], moved, *weight))?;
            if others.len() != members.len() {
                return None;
            }
            // Maps the chunks of a class in order to the chunks of the image class, so that image(g h) = image(g)
            // image(h).
            members.iter().zip(others).for_each(|(chunk, image)| images[*chunk as usize] = *image);
        }
        Some(images)
    }
}

/// Returns the group that symmetries generate, the identity first; `None` if the group has more elements than `most`.
fn closure(network: &LinkNetwork, generators: &[&Symmetry], most: usize) -> Option<Vec<Symmetry>> {
    let mut elements = vec![Symmetry::identity(network)];
    let mut seen: FxHashSet<Vec<u32>> = FxHashSet::from_iter([elements[0].nodes.clone()]);
    let mut at = 0;
    while at < elements.len() {
        for generator in generators {
            let next = elements[at].then(generator);
            if seen.insert(next.nodes.clone()) {
                if elements.len() == most {
                    return None;
                }
                elements.push(next);
            }
        }
        at += 1;
    }
    Some(elements)
}

/// Returns the images of all nodes under every element of the group that permutations of nodes generate; only the
/// identity may map a GPU to itself.
///
/// # Errors
/// A sentence on a permutation that is not a symmetry, or on an element other than the identity that maps a GPU to
/// itself.
pub fn generated(network: &LinkNetwork, generators: &[Vec<u32>]) -> Result<Vec<Vec<u32>>, String> {
    for (place, nodes) in generators.iter().enumerate() {
        network.symmetry(nodes).map_err(|why| format!("symmetry {place} of the trees {why}"))?;
    }
    let identity: Vec<u32> = (0..network.node_count() as u32).collect();
    let Some(first) = network.gpus().first().map(|gpu| *gpu as usize) else { return Ok(vec![identity]) };
    // Because only the identity maps a GPU to itself, the image of the first GPU identifies an element.
    let mut places: FxHashMap<u32, usize> = FxHashMap::from_iter([(identity[first], 0)]);
    let mut elements = vec![identity];
    let mut at = 0;
    while at < elements.len() {
        for generator in generators {
            let next: Vec<u32> = elements[at].iter().map(|node| generator[*node as usize]).collect();
            match places.get(&next[first]) {
                Some(&known) if elements[known] == next => {}
                Some(_) => {
                    return Err(
                        "a symmetry of the trees, other than the identity, maps a GPU to itself".to_owned()
                    );
                }
                None => {
                    places.insert(next[first], elements.len());
                    elements.push(next);
                }
            }
        }
        at += 1;
    }
    Ok(elements)
}

/// Returns the elements that generators produce; `None` if an element other than the identity maps a GPU or a link to
/// itself. The image of the first GPU identifies an element, so there are at most as many elements as GPUs.
pub fn freely_generated(network: &LinkNetwork, generators: &[&Symmetry]) -> Option<Vec<Vec<u32>>> {
    let first = *network.gpus().first()? as usize;
    let mut elements = vec![(0..network.node_count() as u32).collect::<Vec<u32>>()];
    let mut by_image: FxHashMap<u32, usize> = FxHashMap::default();
    // Breadth first over the Cayley graph of the generators.
    by_image.insert(first as u32, 0);
    let mut next = 0;
    while next < elements.len() {
        for generator in generators {
            let product: Vec<u32> =
                elements[next].iter().map(|image| generator.nodes[*image as usize]).collect();
            match by_image.get(&product[first]) {
                // Two elements with the same image of the first GPU: their quotient fixes that GPU, so the action is
                // not free.
                Some(&known) if elements[known] == product => {}
                Some(_) => return None,
                None => {
                    by_image.insert(product[first], elements.len());
                    elements.push(product);
                }
            }
        }
        next += 1;
    }
    // Only the identity may map a GPU, or both ends of a link, to itself.
    let moves_all = elements.iter().skip(1).all(|images| {
        let moves = |gpu: &u32| images[*gpu as usize] != *gpu;
        let keeps = |node: u32| images[node as usize] == node;
        network.gpus().iter().all(moves)
            && !network.links().iter().any(|link| keeps(link.from) && keeps(link.to))
    });
    moves_all.then_some(elements)
}

/// Returns elements of the group that symmetries generate, in the order in which they are found.
fn some_elements(network: &LinkNetwork, generators: &[&Symmetry]) -> Vec<Symmetry> {
    let mut elements = vec![Symmetry::identity(network)];
    let mut seen: FxHashSet<Vec<u32>> = FxHashSet::from_iter([elements[0].nodes.clone()]);
    let mut at = 0;
    while at < elements.len() {
        for generator in generators {
            let next = elements[at].then(generator);
            if elements.len() < MOST_ELEMENTS && seen.insert(next.nodes.clone()) {
                elements.push(next);
            }
        }
        at += 1;
    }
    elements
}

/// Builds groups from products of generators and returns the largest one in which only the identity maps a GPU to
/// itself.
fn free_group(network: &LinkNetwork, generators: &[&Symmetry]) -> Vec<Symmetry> {
    // If only the identity maps a GPU to itself, each orbit of GPUs has as many members as the group has elements.
    let most = network.gpus().len();
    let is_free = |elements: &[Symmetry]| elements.iter().skip(1).all(|element| !element.fixes_gpu(network));
    let identity = || vec![Symmetry::identity(network)];
    if let Some(whole) = closure(network, generators, most).filter(|whole| is_free(whole)) {
        return whole;
    }
    let mut pool = some_elements(network, generators);
    pool.retain(|element| !element.fixes_gpu(network));
    let mut best = identity();
    for seed in 0..pool.len().min(MOST_SEEDS) {
        let mut taken = vec![&pool[seed]];
        let Some(mut group) = closure(network, &taken, most).filter(|group| is_free(group)) else { continue };
        for element in &pool {
            if group.len() * 2 > most {
                break;
            }
            if group.iter().any(|known| known.nodes == element.nodes) {
                continue;
            }
            taken.push(element);
            match closure(network, &taken, most).filter(|wider| is_free(wider)) {
                Some(wider) => group = wider,
                None => {
                    taken.pop();
                }
            }
        }
        if group.len() > best.len() {
            best = group;
        }
        if best.len() == most {
            break;
        }
    }
    best
}

impl Folding {
    /// Returns the trivial group: no symmetry reduction.
    pub fn none(network: &LinkNetwork, chunks: &ChunkList) -> Self {
        Self::of(network, chunks, vec![Symmetry::identity(network)])
    }

    /// Returns the largest group that a search finds among those declared symmetries of a network that preserve the
    /// demand; the trivial group if the search finds no larger group.
    pub fn largest(network: &LinkNetwork, chunks: &ChunkList) -> Self {
        if chunks.len().saturating_mul(network.gpus().len()) > MOST_IMAGES
            && let Some(pairs) = PairChunks::new(chunks)
        {
            let keeps = |symmetry: &&Symmetry| pairs.keeps(&symmetry.nodes);
            let generators: Vec<&Symmetry> = network.generators().iter().filter(keeps).collect();
            return Self::of_pairs(network, pairs, free_group(network, &generators));
        }
        let classes = ChunkClasses::new(chunks);
        let keeps = |symmetry: &&Symmetry| classes.images(chunks.len(), &symmetry.nodes).is_some();
        let generators: Vec<&Symmetry> = network.generators().iter().filter(keeps).collect();
        Self::of(network, chunks, free_group(network, &generators))
    }

    fn of(network: &LinkNetwork, chunks: &ChunkList, elements: Vec<Symmetry>) -> Self {
        let classes = ChunkClasses::new(chunks);
        let image = |element: &Symmetry| {
            let kept = classes.images(chunks.len(), &element.nodes);
            kept.unwrap_or_else(|| (0..chunks.len() as u32).collect())
        };
        let chunk_images: Vec<Vec<u32>> = elements.iter().map(image).collect();
        let firsts = (0..chunks.len() as u32)
            .filter(|chunk| chunk_images.iter().all(|images| images[*chunk as usize] >= *chunk))
            .collect();
        Self::with(network, elements, ChunkImages::Listed(chunk_images), firsts)
    }

    fn of_pairs(network: &LinkNetwork, pairs: PairChunks, elements: Vec<Symmetry>) -> Self {
        // For every GPU, some element maps it to the first GPU of its orbit, so each orbit of chunks has one chunk that
        // begins at such a first GPU.
        let is_first = |gpu: u32| elements.iter().all(|element| element.nodes[gpu as usize] >= gpu);
        let begins: FxHashSet<u32> = network.gpus().iter().copied().filter(|gpu| is_first(*gpu)).collect();
        let ends = (0u32..).zip(&pairs.ends);
        let firsts =
            ends.filter(|(_, (source, ..))| begins.contains(source)).map(|(chunk, _)| chunk).collect();
        Self::with(network, elements, ChunkImages::OfPairs(pairs), firsts)
    }

    fn with(
        network: &LinkNetwork,
        elements: Vec<Symmetry>,
        chunk_images: ChunkImages,
        chunks: Vec<u32>,
    ) -> Self {
        let first = |point: u32, images: &dyn Fn(usize) -> u32| {
            let least = (0..elements.len()).map(images).min().unwrap_or(point);
            (least, (0..elements.len()).filter(|at| images(*at) == least).count() as u32)
        };
        let links = (0..network.links().len() as u32)
            .map(|link| first(link, &|at| elements[at].links[link as usize]))
            .collect();
        let nodes = (0..network.node_count() as u32)
            .map(|node| first(node, &|at| elements[at].nodes[node as usize]))
            .collect();
        Self { elements, chunk_images, chunks, links, nodes }
    }

    /// Returns the image of a chunk under the element at a given position.
    pub fn image(&self, element: usize, chunk: u32) -> u32 {
        match &self.chunk_images {
            ChunkImages::Listed(images) => images[element][chunk as usize],
            ChunkImages::OfPairs(pairs) => pairs.image(&self.elements[element].nodes, chunk),
        }
    }

    /// Returns a few generators of the group, as images of all nodes.
    pub fn generators(&self, network: &LinkNetwork) -> Vec<Vec<u32>> {
        let mut taken: Vec<&Symmetry> = Vec::new();
        let mut reached: FxHashSet<Vec<u32>> = FxHashSet::default();
        for element in &self.elements[1..] {
            if reached.contains(&element.nodes) {
                continue;
            }
            taken.push(element);
            let products = closure(network, &taken, self.order()).unwrap_or_default();
            reached = products.into_iter().map(|product| product.nodes).collect();
        }
        taken.into_iter().map(|element| element.nodes.clone()).collect()
    }

    /// Returns the number of elements.
    pub fn order(&self) -> usize {
        self.elements.len()
    }

    /// Returns `true` if the group is trivial.
    pub fn is_trivial(&self) -> bool {
        self.order() == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::presets;

    fn folding(name: &str) -> (LinkNetwork, ChunkList, Folding) {
        let scenario = presets::scenario(name).unwrap();
        let network = LinkNetwork::of(&scenario.topology).unwrap();
        let chunks = scenario.demand.expand(&scenario.topology);
        let folding = Folding::largest(&network, &chunks);
        (network, chunks, folding)
    }

    #[test]
    fn groups_of_published_networks_have_their_orders() {
        for (name, order) in [
            ("dgx1-allgather-200kb", 4),
            ("ndv2x2-allgather-1gb", 2),
            ("ndv2x4-allgather-1gb", 4),
            ("dgx2x2-allgather-1gb", 16),
            ("torus4x4-alltoall-1mb", 16),
            ("torus4x4x4-allgather-6.4mb", 64),
        ] {
            let (_, chunks, folding) = folding(name);
            assert_eq!(folding.order(), order, "{name}");
            assert_eq!(folding.chunks.len() * order, chunks.len(), "{name}");
        }
    }

    #[test]
    fn images_of_chunks_follow_their_sources_and_destinations() {
        let (network, chunks, folding) = folding("torus4x4-alltoall-1mb");
        for (place, element) in folding.elements.iter().enumerate() {
            for chunk in 0..chunks.len() {
                let image = folding.image(place, chunk as u32) as usize;
                assert_eq!(chunks.source(image), element.nodes[chunks.source(chunk) as usize]);
                let moved: Vec<u32> = chunks.dests(chunk).map(|dest| element.nodes[dest as usize]).collect();
                assert_eq!(moved, chunks.dests(image).collect::<Vec<u32>>());
            }
        }
        let links = folding.links.iter().filter(|(first, _)| folding.links[*first as usize].0 == *first);
        assert_eq!(links.count(), network.links().len());
        assert!(folding.links.iter().all(|(_, count)| *count == 1));
    }

    #[test]
    fn images_that_are_looked_up_are_those_that_are_listed() {
        for name in ["torus4x4-alltoall-1mb", "ndv2x2-alltoall-1gb", "dgx2x2-alltoall-1gb"] {
            let (network, chunks, folding) = folding(name);
            let pairs = PairChunks::new(&chunks).unwrap();
            assert!(folding.elements.iter().all(|element| pairs.keeps(&element.nodes)));
            let looked_up = Folding::of_pairs(&network, pairs, folding.elements.clone());
            assert_eq!(looked_up.chunks, folding.chunks, "{name}");
            for element in 0..folding.order() {
                for chunk in 0..chunks.len() as u32 {
                    assert_eq!(looked_up.image(element, chunk), folding.image(element, chunk), "{name}");
                }
            }
        }
        let (_, chunks, _) = folding("dgx1-allgather-200kb");
        assert!(PairChunks::new(&chunks).is_none());
    }

    #[test]
    fn one_root_leaves_nothing_to_fold() {
        let (_, chunks, folding) = folding("torus4x4-broadcast-1mb");
        assert!(folding.is_trivial());
        assert_eq!(folding.chunks.len(), chunks.len());
    }
}
