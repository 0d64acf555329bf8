//! A network reduced by a group of symmetries that moves every GPU and every link: a plan for one GPU of each orbit
//! applies to its images at the same time, and one link of each orbit represents all links of the orbit
//! (docs/methods/collective-trees.md, section 11).

use crate::model::group::freely_generated;
use crate::scenario::network::{LinkNetwork, Symmetry};

/// A group of symmetries in which only the identity maps a GPU or a link to itself.
#[derive(Clone, Debug)]
pub struct Fold {
    /// Image of every node under every element; the first is the identity.
    elements: Vec<Vec<u32>>,
    /// Generators of the group.
    generators: Vec<Vec<u32>>,
    /// Representative GPU of each orbit.
    representatives: Vec<u32>,
    /// For each GPU, by node, its orbit and the element that maps the representative of the orbit to the GPU.
    places: Vec<Option<(u32, u32)>>,
    /// Orbit of each link.
    classes: Vec<u32>,
    /// First link of each orbit.
    class_links: Vec<u32>,
}

impl Fold {
    /// Creates the fold by the declared symmetries of the network. If these symmetries generate a group in which an
    /// element other than the identity maps a GPU or a link to itself, uses only some of the symmetries.
    pub fn of(network: &LinkNetwork) -> Self {
        let mut generators: Vec<&Symmetry> = Vec::new();
        let mut elements = vec![identity(network.node_count())];
        // Greedy: omits a generator that would fix a GPU or a link.
        for symmetry in network.generators() {
            generators.push(symmetry);
            match freely_generated(network, &generators) {
                Some(larger) => elements = larger,
                None => {
                    generators.pop();
                }
            }
        }
        let generators = generators.into_iter().map(|symmetry| symmetry.nodes.clone()).collect();
        Self::with(network, elements, generators)
    }

    /// Creates the trivial fold, in which every GPU and link represents itself.
    pub fn trivial(network: &LinkNetwork) -> Self {
        Self::with(network, vec![identity(network.node_count())], Vec::new())
    }

    fn with(network: &LinkNetwork, elements: Vec<Vec<u32>>, generators: Vec<Vec<u32>>) -> Self {
        let mut representatives = Vec::new();
        let mut places = vec![None; network.node_count()];
        for &gpu in network.gpus() {
            // Orbits of the GPUs; the GPU with the smallest number represents its orbit.
            if places[gpu as usize].is_none() {
                let orbit = representatives.len() as u32;
                representatives.push(gpu);
                for (element, images) in elements.iter().enumerate() {
                    places[images[gpu as usize] as usize] = Some((orbit, element as u32));
                }
            }
        }
        let mut classes = vec![u32::MAX; network.links().len()];
        let mut class_links = Vec::new();
        // Classes of the links; the link with the smallest number represents its class.
        for link in 0..network.links().len() as u32 {
            if classes[link as usize] == u32::MAX {
                let class = class_links.len() as u32;
                class_links.push(link);
                for images in &elements {
                    if let Some(image) = image_of(network, images, link) {
                        classes[image as usize] = class;
                    }
                }
            }
        }
        Self { elements, generators, representatives, places, classes, class_links }
    }

    /// Returns the number of elements of the group.
    pub fn order(&self) -> usize {
        self.elements.len()
    }

    /// Returns the images of all nodes, by element; the first element is the identity.
    pub fn elements(&self) -> &[Vec<u32>] {
        &self.elements
    }

    /// Returns the generators, as images of all nodes.
    pub fn generators(&self) -> &[Vec<u32>] {
        &self.generators
    }

    /// Returns one GPU of each orbit.
    pub fn representatives(&self) -> &[u32] {
        &self.representatives
    }

    /// Returns the orbit of a GPU and the element that maps the orbit's representative to the GPU; `None` for switches.
    pub fn place(&self, gpu: u32) -> Option<(u32, u32)> {
        self.places[gpu as usize]
    }

    /// Returns the orbit of each link, by link.
    pub fn classes(&self) -> &[u32] {
        &self.classes
    }

    /// Returns the first link of each orbit.
    pub fn class_links(&self) -> &[u32] {
        &self.class_links
    }
}

fn identity(nodes: usize) -> Vec<u32> {
    (0..nodes as u32).collect()
}

/// Returns the image of a link under an element; `None` if no link joins the images of its ends.
pub fn image_of(network: &LinkNetwork, images: &[u32], link: u32) -> Option<u32> {
    let ends = &network.links()[link as usize];
    network.link_between(images[ends.from as usize], images[ends.to as usize])
}
