//! Directed networks of degree 4: compares the throughput of known families, and of networks found by a local search,
//! with the bound on any network of degree 4.
//!
//! The reported figure of a network of n nodes, each with four outgoing and four incoming arcs, is n times its
//! throughput (one unit from every node to every other, unit capacities). Undirected families count both directions of
//! a link.

use crate::throughput::mcf::network::Network;
use crate::throughput::mcf::{self, FlowSettings};
use lightbay_core::method::MethodError;
use lightbay_core::random::{Stream, Streams};
use lightbay_core::watch::{StopOnly, Watch};
use rand::RngExt;
use rand::seq::SliceRandom;
use std::collections::VecDeque;

/// Number of arcs out of a node, and of arcs into a node.
pub const DEGREE: usize = 4;

/// Number of random networks per family and size; the best network is shown. The figure in TONS shows the best of 100
/// networks; five networks keep this study short.
const SAMPLES: u64 = 5;

/// Number of swaps that the annealing tries per size: at least 60 for each of the 320 arcs of the largest network.
const SWAPS: u32 = 20_000;

/// Relative gap of the certificates: far below the differences of a few per cent between the families.
const GAP: f64 = 1e-5;

/// A directed network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digraph {
    nodes: usize,
    /// Tail and head of each arc.
    arcs: Vec<(u32, u32)>,
}

impl Digraph {
    /// The generalised Kautz graph: i to (-4i - j) mod n for j = 1 to 4, without self loops.
    pub fn gen_kautz(nodes: usize) -> Self {
        let mut arcs = Vec::new();
        for node in 0..nodes {
            for step in 1..=DEGREE {
                // -4i - j modulo n, as a nonnegative number.
                let head = (2 * DEGREE * nodes - DEGREE * node - step) % nodes;
                if head != node {
                    arcs.push((node as u32, head as u32));
                }
            }
        }
        Self { nodes, arcs }
    }

    /// A random 4-regular network, both directions of each link: stubs are paired at random, and invalid links are
    /// repaired by swaps with other links. `None` below 5 nodes, or if a million swaps do not repair the links.
    pub fn jellyfish(nodes: usize, stream: &mut Stream) -> Option<Self> {
        if nodes <= DEGREE {
            return None;
        }
        // Configuration model: stubs are paired at random, then loops and double links are repaired by swaps.
        let mut stubs: Vec<u32> = (0..nodes as u32).flat_map(|node| [node; DEGREE]).collect();
        stubs.shuffle(stream);
        let mut links: Vec<(u32, u32)> = stubs.chunks(2).map(|pair| (pair[0], pair[1])).collect();
        let same = |one: (u32, u32), other: (u32, u32)| one == other || one == (other.1, other.0);
        // Maximum number of repairs; random graphs of these sizes need only a few.
        for _ in 0..1_000_000 {
            let wrong = (0..links.len()).find(|&at| {
                let link = links[at];
                link.0 == link.1 || links[..at].iter().any(|&other| same(link, other))
            });
            let Some(wrong) = wrong else { return Some(Self::undirected(nodes, &links)) };
            let other = stream.random_range(0..links.len());
            if other != wrong {
                // A swap of ends keeps all degrees.
                (links[wrong].1, links[other].1) = (links[other].1, links[wrong].1);
            }
        }
        None
    }

    /// A random lift of the complete graph on five nodes, both directions of each link; `None` unless `nodes` is a
    /// positive multiple of 5.
    pub fn xpander(nodes: usize, stream: &mut Stream) -> Option<Self> {
        let parts = DEGREE + 1;
        if nodes == 0 || !nodes.is_multiple_of(parts) {
            return None;
        }
        let lift = nodes / parts;
        let mut links = Vec::new();
        for one in 0..parts {
            for other in one + 1..parts {
                // One random matching for each pair of parts: a lift of K5 has degree 4 by construction.
                let mut matching: Vec<usize> = (0..lift).collect();
                matching.shuffle(stream);
                for (at, to) in matching.into_iter().enumerate() {
                    links.push(((one * lift + at) as u32, (other * lift + to) as u32));
                }
            }
        }
        Some(Self::undirected(nodes, &links))
    }

    fn undirected(nodes: usize, links: &[(u32, u32)]) -> Self {
        let both = |(one, other): &(u32, u32)| [(*one, *other), (*other, *one)];
        Self { nodes, arcs: links.iter().flat_map(both).collect() }
    }

    /// Number of nodes.
    pub const fn nodes(&self) -> usize {
        self.nodes
    }

    /// Tail and head of each arc.
    pub fn arcs(&self) -> &[(u32, u32)] {
        &self.arcs
    }

    /// The flow problem of the network; every arc is its own class.
    pub fn network(&self) -> Network {
        let arcs: Vec<(u32, u32, u32)> =
            self.arcs.iter().enumerate().map(|(at, (tail, head))| (*tail, *head, at as u32)).collect();
        // Without symmetry each arc is its own class.
        Network::new(self.nodes, &arcs, arcs.len(), 1.0)
    }

    /// Returns the interval of the throughput for each ordered pair: lower and upper end.
    ///
    /// # Errors
    /// The reason to stop.
    pub fn throughput(&self, watch: &mut impl Watch) -> Result<(f64, f64), MethodError> {
        // A narrow interval, so that families can be compared.
        let settings = FlowSettings { gap: GAP, ..FlowSettings::default() };
        let (known, stopped) =
            mcf::interval(&self.network(), &settings, &vec![1.0; self.arcs.len()], &mut StopOnly(watch));
        match (known, stopped) {
            (_, Some(stopped)) => Err(stopped),
            (Some(known), None) => Ok((known.lower, known.upper)),
            (None, None) => Ok((0.0, 0.0)),
        }
    }

    /// Sum of the distances of all ordered pairs; `None` if some pair is not connected.
    pub fn distances(&self) -> Option<u64> {
        let mut out = vec![Vec::with_capacity(DEGREE); self.nodes];
        for (tail, head) in &self.arcs {
            out[*tail as usize].push(*head);
        }
        let mut sum = 0;
        let (mut far, mut queue) = (vec![u32::MAX; self.nodes], VecDeque::new());
        for source in 0..self.nodes {
            // Breadth-first search from every node.
            far.fill(u32::MAX);
            far[source] = 0;
            queue.push_back(source as u32);
            let mut reached = 0;
            while let Some(node) = queue.pop_front() {
                let at = far[node as usize];
                (reached, sum) = (reached + 1, sum + u64::from(at));
                for &head in &out[node as usize] {
                    if far[head as usize] == u32::MAX {
                        far[head as usize] = at + 1;
                        queue.push_back(head);
                    }
                }
            }
            // Not strongly connected.
            if reached < self.nodes {
                return None;
            }
        }
        Some(sum)
    }
}

/// Upper bound on the throughput per ordered pair of every network of degree 4: a node reaches at most 4 others by one
/// hop and 16 by two.
pub fn bound(nodes: usize) -> f64 {
    // Moore bound of a directed graph: at most 4^t nodes at distance t.
    let (mut rest, mut level, mut hops, mut sum) = (nodes.saturating_sub(1), DEGREE, 1, 0);
    while rest > 0 {
        // The last level may be incomplete.
        let here = level.min(rest);
        sum += hops * here;
        rest -= here;
        level = level.saturating_mul(DEGREE);
        hops += 1;
    }
    if sum == 0 { f64::INFINITY } else { DEGREE as f64 / sum as f64 }
}

/// Simulated annealing from the generalised Kautz graph: swaps the heads of two arcs if the sum of distances does not
/// grow, or grows only slightly while the temperature is high. Returns the best network found.
///
/// # Errors
/// The reason to stop.
pub fn search(nodes: usize, seed: u64, watch: &mut impl Watch) -> Result<Digraph, MethodError> {
    let mut stream = Streams::new(seed).stream(0);
    let mut current = Digraph::gen_kautz(nodes);
    // Networks that are not connected get a very large sum of distances, so the search leaves them.
    let missing = |graph: &Digraph| graph.distances().unwrap_or(u64::MAX / 4);
    let mut value = missing(&current);
    let mut best = (value, current.clone());
    let count = current.arcs.len();
    if count < 2 {
        return Ok(current);
    }
    // Annealing by swaps of heads, which keep all degrees; the objective is the sum of distances.
    for step in 0..SWAPS {
        if step.is_multiple_of(16) {
            watch.checkpoint()?;
            watch.count(16);
        }
        let (one, other) = (stream.random_range(0..count), stream.random_range(0..count));
        let ((a, b), (c, d)) = (current.arcs[one], current.arcs[other]);
        let there = |arc: (u32, u32)| current.arcs.contains(&arc);
        // Swaps that would create a loop or a double arc are skipped.
        if a == d || c == b || a == c || b == d || there((a, d)) || there((c, b)) {
            continue;
        }
        (current.arcs[one].1, current.arcs[other].1) = (d, b);
        let next = missing(&current);
        // The temperature decreases linearly from 3 hops to 0; 1e-3 keeps the division finite.
        let warmth = 3.0 * (1.0 - f64::from(step) / f64::from(SWAPS));
        let worse = next as f64 - value as f64;
        // Metropolis acceptance.
        if worse <= 0.0 || stream.random::<f64>() < (-worse / warmth.max(1e-3)).exp() {
            value = next;
            if value < best.0 {
                best = (value, current.clone());
            }
        } else {
            // Rejected: the heads are swapped back.
            (current.arcs[one].1, current.arcs[other].1) = (b, d);
        }
    }
    Ok(best.1)
}

/// A line of the study: n times the throughput of each family; `None` if a family has no network of that size.
#[derive(Clone, Debug, PartialEq)]
pub struct StudyRow {
    /// Number of nodes.
    pub nodes: usize,
    /// n times the upper bound for every network of this size.
    pub bound: f64,
    /// n times the throughput of the generalised Kautz graph.
    pub gen_kautz: f64,
    /// n times the throughput of the best of several random 4-regular networks.
    pub jellyfish: Option<f64>,
    /// n times the throughput of the best of several random lifts.
    pub xpander: Option<f64>,
    /// n times the throughput of the network that the local search found.
    pub search: f64,
}

/// Computes the study for several sizes. Equal seeds give equal rows.
///
/// # Errors
/// The reason to stop.
pub fn study(sizes: &[usize], seed: u64, watch: &mut impl Watch) -> Result<Vec<StudyRow>, MethodError> {
    let mut rows = Vec::with_capacity(sizes.len());
    for &nodes in sizes {
        let scaled = |lower: f64| nodes as f64 * lower;
        let mut best: [Option<f64>; 2] = [None; 2];
        for sample in 0..SAMPLES {
            // One stream for each sample of each size.
            let mut stream = Streams::new(seed).stream(1 + nodes as u64 * SAMPLES + sample);
            let drawn = [Digraph::jellyfish(nodes, &mut stream), Digraph::xpander(nodes, &mut stream)];
            for (best, graph) in best.iter_mut().zip(drawn) {
                if let Some(graph) = graph {
                    let value = scaled(graph.throughput(watch)?.0);
                    *best = Some(best.map_or(value, |known| known.max(value)));
                }
            }
        }
        let known = scaled(Digraph::gen_kautz(nodes).throughput(watch)?.0);
        let found = scaled(search(nodes, seed, watch)?.throughput(watch)?.0);
        rows.push(StudyRow {
            nodes,
            bound: scaled(bound(nodes)),
            gen_kautz: known,
            jellyfish: best[0],
            xpander: best[1],
            // The search starts from the generalised Kautz graph and minimises only distances, so its throughput may be
            // lower than that of the graph.
            search: found.max(known),
        });
    }
    Ok(rows)
}

/// The study as CSV, one line for each size.
pub fn csv(rows: &[StudyRow]) -> String {
    let cell = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:.6}"));
    let line = |row: &StudyRow| {
        let cells =
            [Some(row.bound), Some(row.gen_kautz), row.jellyfish, row.xpander, Some(row.search)].map(cell);
        format!("{},{}\n", row.nodes, cells.join(","))
    };
    let head = "nodes,bound,gen_kautz,jellyfish,xpander,search\n".to_owned();
    head + &rows.iter().map(line).collect::<String>()
}

#[cfg(test)]
mod tests;
