//! Spanning trees over GPUs, whose hops may pass through switches.

use crate::scenario::network::LinkNetwork;
use rustc_hash::FxHashSet;

/// A spanning tree: hops in an order in which a GPU is reached before it forwards data.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Tree {
    /// GPU whose data the tree carries.
    pub root: u32,
    hops: Vec<TreeHop>,
    links: Vec<u32>,
}

/// A hop of a tree from GPU to GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TreeHop {
    /// GPU that sends the data on.
    pub from: u32,
    /// GPU that receives the data.
    pub to: u32,
    /// Position of the hop that brought the data to `from`; `u32::MAX` if `from` is the root.
    pub parent: u32,
    first: u32,
    count: u32,
}

/// Value of `parent` for hops that leave the root.
pub const ROOT: u32 = u32::MAX;

impl Tree {
    /// Creates the tree that consists only of the root.
    pub const fn new(root: u32) -> Self {
        Self { root, hops: Vec::new(), links: Vec::new() }
    }

    /// Adds a hop over links from a GPU that the hop `parent` reaches (with [`ROOT`], from the root); returns the
    /// position of the new hop.
    pub fn add(&mut self, parent: u32, from: u32, to: u32, links: &[u32]) -> u32 {
        let position = self.hops.len() as u32;
        let first = self.links.len() as u32;
        self.links.extend_from_slice(links);
        self.hops.push(TreeHop { from, to, parent, first, count: links.len() as u32 });
        position
    }

    /// Returns the hops, parents first.
    pub fn hops(&self) -> &[TreeHop] {
        &self.hops
    }

    /// Returns the links of a hop in the order in which data crosses them.
    pub fn links_of(&self, hop: &TreeHop) -> &[u32] {
        &self.links[hop.first as usize..(hop.first + hop.count) as usize]
    }

    /// Returns the links of all hops.
    pub fn links(&self) -> &[u32] {
        &self.links
    }

    /// Returns the links over which each piece is transmitted, once for each transmission. If switches copy, hops of one
    /// GPU over the same first links share the transmissions over these links.
    pub fn transmissions(&self, copies: bool) -> Vec<u32> {
        if !copies {
            return self.links.clone();
        }
        let mut seen: FxHashSet<(u32, &[u32])> = FxHashSet::default();
        let mut all = Vec::with_capacity(self.links.len());
        for hop in &self.hops {
            let links = self.links_of(hop);
            // The last link of a hop ends at a GPU that the tree reaches once.
            let is_new = |count: &usize| *count == links.len() || seen.insert((hop.parent, &links[..*count]));
            all.extend((1..=links.len()).filter(is_new).map(|count| links[count - 1]));
        }
        all
    }

    /// Returns the image of the tree under a symmetry given by the images of the nodes; `None` if some link has no
    /// image.
    pub fn image(&self, network: &LinkNetwork, images: &[u32]) -> Option<Self> {
        let node = |node: u32| images[node as usize];
        let hops =
            self.hops.iter().map(|hop| TreeHop { from: node(hop.from), to: node(hop.to), ..*hop }).collect();
        let links = self
            .links
            .iter()
            .map(|link| super::fold::image_of(network, images, *link))
            .collect::<Option<_>>()?;
        Some(Self { root: node(self.root), hops, links })
    }

    /// Returns the latency from the root to the end of each hop, summing `latency` over links, µs.
    pub fn reached(&self, latency: impl Fn(u32) -> f64) -> Vec<f64> {
        let mut reached = Vec::with_capacity(self.hops.len());
        for hop in &self.hops {
            let start = if hop.parent == ROOT { 0.0 } else { reached[hop.parent as usize] };
            reached.push(start + self.links_of(hop).iter().map(|link| latency(*link)).sum::<f64>());
        }
        reached
    }

    /// Returns the longest latency from the root, summing `latency` over links, µs.
    pub fn depth(&self, latency: impl Fn(u32) -> f64) -> f64 {
        self.reached(latency).into_iter().fold(0.0, f64::max)
    }
}
