//! Floors from growing cuts: adds up the capacity that links have in the windows of the cuts.
//!
//! Data of the source of a cut leaves the set of the cut over a link `u -> v` that it enters after `u` joins the set,
//! and leaves before `v` joins the set. Averaged over the symmetries, a byte on a link at some time counts at most as
//! much as the largest load, over all sources, of the link at that time. So if that load times the rate, summed over
//! all links and times, is less than the data times the weights, not all data can have crossed.

use crate::plan::{GrowingCut, GrowingCuts};
use rustc_hash::{FxHashMap, FxHashSet};

/// Fraction by which the capacity must be below the data, well above rounding.
const MARGIN: f64 = 1e-10;

/// A link, in the direction in which the collective is planned.
pub(super) struct GrowingLink {
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) bytes_per_us: f64,
    pub(super) alpha_us: f64,
}

/// Network and data against which growing cuts are checked.
pub(super) struct GrowingCheck {
    nodes: usize,
    links: Vec<GrowingLink>,
    /// Bytes from a source to a destination.
    bytes: FxHashMap<(u32, u32), f64>,
}

/// Start or end of a window: orbit of link and source, time, change of the load.
type LoadChange = (u32, f64, f64);

impl GrowingCheck {
    pub(super) const fn new(
        nodes: usize,
        links: Vec<GrowingLink>,
        bytes: FxHashMap<(u32, u32), f64>,
    ) -> Self {
        Self { nodes, links, bytes }
    }

    /// Returns `true` if the cuts prove that no schedule completes in `end_us`.
    pub(super) fn excludes(&self, growing: &GrowingCuts, end_us: f64) -> bool {
        let Some(images) = self.images(&growing.symmetries) else { return false };
        let is_whole = |cut: &GrowingCut| {
            cut.slots.len() == self.nodes
                && (cut.source as usize) < self.nodes
                && (cut.target as usize) < self.nodes
                && cut.source != cut.target
        };
        if !growing.cuts.iter().all(is_whole) {
            return false;
        }
        let of_links = orbits(self.links.len(), &images);
        let mut sources: Vec<u32> = self.bytes.keys().map(|(source, _)| *source).collect();
        sources.sort_unstable();
        sources.dedup();
        // Orbits of pairs of source and link, and how many pairs each has.
        let (of_pairs, sizes) = self.pair_orbits(&sources, &growing.symmetries, &images);
        let mut needed = 0.0;
        // Changes of the loads of each orbit of links.
        let mut changes: FxHashMap<u32, Vec<LoadChange>> = FxHashMap::default();
        for cut in &growing.cuts {
            let Ok(place) = sources.binary_search(&cut.source) else { return false };
            needed += cut.weight * self.bytes.get(&(cut.source, cut.target)).copied().unwrap_or(0.0);
            let joins = self.joins(cut, growing.slot_us, end_us);
            for (id, link) in self.links.iter().enumerate() {
                let window = (joins[link.from as usize], joins[link.to as usize] - link.alpha_us);
                if window.0 < window.1 {
                    let pair = of_pairs[place * self.links.len() + id];
                    let load = cut.weight / f64::from(sizes[pair as usize]);
                    let of_link = changes.entry(of_links[id]).or_default();
                    of_link.extend([(pair, window.0, load), (pair, window.1, -load)]);
                }
            }
        }
        let mut has = 0.0;
        for (orbit, mut changes) in changes {
            let members = of_links.iter().filter(|other| **other == orbit).count() as f64;
            changes.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
            has += members * self.links[orbit as usize].bytes_per_us * peak_area(&changes);
        }
        // Not a number is not below.
        has < needed * (1.0 - MARGIN)
    }

    /// Returns, for each symmetry, the image of each link; `None` if some symmetry changes the network or the data.
    fn images(&self, symmetries: &[Vec<u32>]) -> Option<Vec<Vec<u32>>> {
        let by_ends: FxHashMap<(u32, u32), u32> =
            (0u32..).zip(&self.links).map(|(id, link)| ((link.from, link.to), id)).collect();
        let of = |nodes: &Vec<u32>| {
            let distinct: FxHashSet<u32> = nodes.iter().copied().collect();
            let is_permutation = nodes.len() == self.nodes
                && distinct.len() == self.nodes
                && nodes.iter().all(|node| (*node as usize) < self.nodes);
            if !is_permutation {
                return None;
            }
            let image = |node: u32| nodes[node as usize];
            let same_bytes = |(&(source, dest), bytes): (&(u32, u32), &f64)| {
                self.bytes.get(&(image(source), image(dest))).is_some_and(|other| other == bytes)
            };
            if !self.bytes.iter().all(same_bytes) {
                return None;
            }
            let link = |link: &GrowingLink| {
                let other = *by_ends.get(&(image(link.from), image(link.to)))?;
                let known = &self.links[other as usize];
                (known.bytes_per_us == link.bytes_per_us && known.alpha_us == link.alpha_us).then_some(other)
            };
            self.links.iter().map(link).collect::<Option<Vec<u32>>>()
        };
        symmetries.iter().map(of).collect()
    }

    /// Returns the orbit of each pair of source and link, by the place of the source and then the link, and the size of
    /// the orbit of each pair that names an orbit.
    fn pair_orbits(
        &self,
        sources: &[u32],
        symmetries: &[Vec<u32>],
        images: &[Vec<u32>],
    ) -> (Vec<u32>, Vec<u32>) {
        let links = self.links.len();
        let on_pairs: Vec<Vec<u32>> = symmetries
            .iter()
            .zip(images)
            .map(|(nodes, images)| {
                let places =
                    sources.iter().map(|source| sources.binary_search(&nodes[*source as usize]).unwrap_or(0));
                places
                    .flat_map(|place| images.iter().map(move |image| (place * links) as u32 + image))
                    .collect()
            })
            .collect();
        let orbits = orbits(sources.len() * links, &on_pairs);
        let mut sizes = vec![0; orbits.len()];
        for orbit in &orbits {
            sizes[*orbit as usize] += 1;
        }
        (orbits, sizes)
    }

    /// Returns the times at which the nodes join the set of a cut, µs.
    fn joins(&self, cut: &GrowingCut, slot_us: f64, end_us: f64) -> Vec<f64> {
        let first = self.shortest(cut.source, false);
        let last = self.shortest(cut.target, true);
        let join = |node: usize| {
            let at = end_us - f64::from(cut.slots[node]) * slot_us;
            at.min(end_us - last[node]).max(first[node])
        };
        let mut joins: Vec<f64> = (0..self.nodes).map(join).collect();
        // Source and target are on their sides whatever the cut says.
        joins[cut.source as usize] = 0.0;
        joins[cut.target as usize] = end_us.max(first[cut.target as usize]);
        joins
    }

    /// Returns the smallest latency from a node to every node or, with `into`, from every node to this node, µs.
    fn shortest(&self, node: u32, into: bool) -> Vec<f64> {
        let mut best = vec![f64::INFINITY; self.nodes];
        best[node as usize] = 0.0;
        let mut changed = true;
        // Rounds over all links until nothing changes (Bellman and Ford).
        while changed {
            changed = false;
            for link in &self.links {
                let (near, far) = if into { (link.to, link.from) } else { (link.from, link.to) };
                let reached = best[near as usize] + link.alpha_us;
                if reached < best[far as usize] {
                    best[far as usize] = reached;
                    changed = true;
                }
            }
        }
        best
    }
}

/// Returns the orbit of each point under permutations, named by one of its points.
fn orbits(points: usize, permutations: &[Vec<u32>]) -> Vec<u32> {
    let mut orbits = vec![u32::MAX; points];
    for first in 0..points {
        let mut open = vec![first];
        // Permutations of a finite set: going forward reaches the whole orbit.
        while let Some(point) = open.pop() {
            if orbits[point] == u32::MAX {
                orbits[point] = first as u32;
                open.extend(permutations.iter().map(|images| images[point] as usize));
            }
        }
    }
    orbits
}

/// Returns the integral over time of the largest load, from changes of loads in order of time.
fn peak_area(changes: &[LoadChange]) -> f64 {
    let mut loads: FxHashMap<u32, f64> = FxHashMap::default();
    let (mut area, mut before) = (0.0, 0.0);
    for at_once in changes.chunk_by(|a, b| a.1 == b.1) {
        let time = at_once[0].1;
        area += loads.values().fold(0.0, |most: f64, load| most.max(*load)) * (time - before);
        before = time;
        for (pair, _, change) in at_once {
            *loads.entry(*pair).or_default() += change;
        }
    }
    area
}

#[cfg(test)]
mod tests;
