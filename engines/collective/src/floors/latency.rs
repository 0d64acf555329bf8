//! Lower bounds (floors) that count latencies: the longest path, and cuts whose links are useful only from the earliest
//! time at which data can reach them until the latest time from which data can still arrive
//! (docs/methods/collective.md, section 5).

use crate::model::distances::arrivals;
use crate::scenario::network::LinkNetwork;
use rustc_hash::FxHashMap;

/// Latency floor of a collective, for any amount of data.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LatencyFloor {
    /// Maximum, over all pairs of source and destination, of the smallest latency between them, µs.
    pub path_us: f64,
    /// Source and destination between which the smallest latency is `path_us`.
    pub path: Option<(u32, u32)>,
    /// Cuts whose floor may exceed `path_us`.
    pub cuts: Vec<LatencyCut>,
}

/// A cut and, for each of its links, the time for which the link cannot carry useful data.
#[derive(Clone, Debug, PartialEq)]
pub struct LatencyCut {
    /// Nodes that the data leaves, `S`.
    pub inside: Vec<bool>,
    /// Destination for which the cut is made; `None` for all nodes outside.
    pub target: Option<u32>,
    /// Amount of data that has to cross the cut, in units: one unit is one shard if data may be copied, otherwise the
    /// data from one source to one destination.
    pub amount: f64,
    /// For each link of the cut, the time for which the link cannot carry useful data, µs, and its capacity, GB/s;
    /// sorted by this time.
    pub links: Vec<(f64, f64)>,
}

impl LatencyCut {
    /// Returns the minimum time `T` in which `bytes` per unit of data can cross the cut, µs. Each link carries its
    /// capacity times the part of `T` in which the link is useful, and the sum over all links equals the data.
    pub fn floor_us(&self, bytes: f64) -> f64 {
        // sum rate (T - offset) = needed, over the links that are useful before T: links are added in order of their
        // offsets.
        let needed = self.amount * bytes / 1000.0;
        let (mut capacity, mut weighted) = (0.0, 0.0);
        for (place, &(offset, rate)) in self.links.iter().enumerate() {
            capacity += rate;
            weighted += rate * offset;
            let time = (needed + weighted) / capacity;
            // The next link would become useful only after this time.
            if self.links.get(place + 1).is_none_or(|next| time <= next.0) {
                return time;
            }
        }
        f64::INFINITY
    }
}

impl LatencyFloor {
    /// Returns the floor for `bytes` per unit of data, µs, with the cut that gives this floor, or `None` if the longest
    /// path gives it.
    pub fn at(&self, bytes: f64) -> (f64, Option<&LatencyCut>) {
        let mut best = (self.path_us, None);
        for cut in &self.cuts {
            let floor = cut.floor_us(bytes);
            if floor > best.0 {
                best = (floor, Some(cut));
            }
        }
        best
    }
}

/// Data whose latency floor is computed.
#[derive(Clone, Copy, Debug)]
pub struct LatencyQuestion<'n> {
    /// The network.
    pub network: &'n LinkNetwork,
    /// Nodes with data, and the number of units of each.
    pub sources: &'n [(u32, f64)],
    /// Nodes that receive data.
    pub destinations: &'n [u32],
    /// `true` if every destination receives the same data, which may therefore be copied; `false` if each pair of
    /// source and destination has its own data.
    pub copies: bool,
}

/// Smallest latencies from every node to one node; computed once for each node.
struct Distances<'n> {
    network: &'n LinkNetwork,
    known: FxHashMap<u32, Vec<f64>>,
}

impl Distances<'_> {
    fn to(&mut self, node: u32) -> &[f64] {
        let network = self.network;
        self.known.entry(node).or_insert_with(|| distances(network, node, true))
    }

    /// Returns the latencies that [`Self::to`] has computed.
    fn known_to(&self, node: u32) -> &[f64] {
        self.known.get(&node).map_or(&[], Vec::as_slice)
    }
}

/// Returns the smallest latency from a node to every node, or (with `towards`) from every node to this node, µs.
pub fn distances(network: &LinkNetwork, node: u32, towards: bool) -> Vec<f64> {
    arrivals(network, node, towards, |link, at| at + network.links()[link as usize].alpha_us)
}

/// Returns the latency floor from the longest path, the cuts around single destinations and around groups, and the cuts
/// `given`.
pub fn latency_floor(question: &LatencyQuestion<'_>, given: &[Vec<bool>]) -> LatencyFloor {
    let network = question.network;
    let orbits = network.node_orbits();
    let mut seen = vec![false; network.node_count()];
    let mut distances_to = Distances { network, known: FxHashMap::default() };
    let mut floor = LatencyFloor::default();
    // One source represents its orbit, because the distances from the other sources of the orbit are equal.
    for &(source, _) in question.sources {
        if std::mem::replace(&mut seen[orbits[source as usize] as usize], true) {
            continue;
        }
        let reached = distances(network, source, false);
        for &destination in question.destinations {
            if reached[destination as usize] > floor.path_us {
                (floor.path_us, floor.path) = (reached[destination as usize], Some((source, destination)));
            }
        }
    }
    seen.fill(false);
    let mut sets: Vec<(Vec<bool>, Option<u32>)> = Vec::new();
    // The cut around one destination: its in-links.
    for &destination in question.destinations {
        if !std::mem::replace(&mut seen[orbits[destination as usize] as usize], true) {
            let mut inside = vec![true; network.node_count()];
            inside[destination as usize] = false;
            sets.push((inside, Some(destination)));
        }
    }
    // Groups, and the cuts that determine the floor without latencies.
    sets.extend(group_sets(network).into_iter().map(|inside| (inside, None)));
    sets.extend(given.iter().map(|inside| (inside.clone(), None)));
    for (inside, target) in sets {
        cuts_of(question, &inside, target, &mut distances_to, &mut floor.cuts);
    }
    floor
}

/// Returns sets of nodes, each without and with the nodes that belong to no group: every union of groups except the
/// union of all if there are two to six groups; for more groups, one group of each orbit, and its complement.
fn group_sets(network: &LinkNetwork) -> Vec<Vec<bool>> {
    let groups = network.group_count();
    let has = |node: usize, chosen: &dyn Fn(u32) -> bool| network.nodes()[node].group.map(chosen);
    let mut sets = Vec::new();
    let mut add = |chosen: &dyn Fn(u32) -> bool| {
        for loose in [false, true] {
            let set: Vec<bool> =
                (0..network.node_count()).map(|node| has(node, chosen).unwrap_or(loose)).collect();
            if sets.last() != Some(&set) {
                sets.push(set);
            }
        }
    };
    if groups < 2 {
        return sets;
    }
    if groups <= 6 {
        // Ties go to the cut into the groups with the lowest numbers.
        for mask in (1..(1_u32 << groups) - 1).rev() {
            add(&|group| mask >> group & 1 == 1);
        }
    } else {
        let mut seen = vec![false; network.node_count()];
        let orbits = network.node_orbits();
        for group in 0..groups as u32 {
            // Groups that a symmetry maps to each other have equal floors.
            let first =
                network.gpus().iter().find(|gpu| network.nodes()[**gpu as usize].group == Some(group));
            let Some(first) = first else { continue };
            if !std::mem::replace(&mut seen[orbits[*first as usize] as usize], true) {
                add(&|other| other == group);
                add(&|other| other != group);
            }
        }
    }
    sets
}

/// Adds the cuts of one node set. If data may be copied, each cut has one destination: `target`, or one of the farthest
/// destinations outside the set; otherwise, a cut has all destinations outside the set. For each choice of
/// destinations, the first cut counts only the sources farthest from the links of the cut, and each further cut adds
/// the next farthest sources.
fn cuts_of(
    question: &LatencyQuestion<'_>,
    inside: &[bool],
    target: Option<u32>,
    distances: &mut Distances<'_>,
    cuts: &mut Vec<LatencyCut>,
) {
    // Links out of the set; data with a source inside and a destination outside must cross them.
    let network = question.network;
    let leaving: Vec<u32> = (0..network.links().len() as u32)
        .filter(|link| {
            let link = &network.links()[*link as usize];
            inside[link.from as usize] && !inside[link.to as usize]
        })
        .collect();
    let outside: Vec<u32> =
        question.destinations.iter().copied().filter(|destination| !inside[*destination as usize]).collect();
    let sources: Vec<(u32, f64)> =
        question.sources.iter().copied().filter(|(source, _)| inside[*source as usize]).collect();
    if leaving.is_empty() || outside.is_empty() || sources.is_empty() {
        return;
    }
    // Sources by their smallest latency to a link of the cut, farthest first; each cut counts the sources of a prefix
    // of this list.
    let mut heads: Vec<(f64, u32, f64)> = sources
        .iter()
        .map(|&(source, units)| {
            let tails = leaving.iter().map(|link| network.links()[*link as usize].from);
            (
                tails.map(|tail| distances.to(tail)[source as usize]).fold(f64::INFINITY, f64::min),
                source,
                units,
            )
        })
        .collect();
    heads.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
    // With copies, one destination represents the cut: the time at which its data has arrived is a bound for the
    // collective.
    let targets: Vec<Vec<u32>> = match (question.copies, target) {
        (false, _) => vec![outside],
        (true, Some(target)) => vec![vec![target]],
        (true, None) => {
            farthest(network, &leaving, &outside, distances).into_iter().map(|node| vec![node]).collect()
        }
    };
    // Minimum latency over each link and on to the nearest destination, by targets.
    let tails: Vec<Vec<f64>> = targets
        .iter()
        .map(|targets| {
            let tail = |link: &u32| {
                let link = &network.links()[*link as usize];
                let last = targets.iter().map(|target| distances.to(*target)[link.to as usize]);
                link.alpha_us + last.fold(f64::INFINITY, f64::min)
            };
            leaving.iter().map(tail).collect()
        })
        .collect();
    let to_tails: Vec<&[f64]> =
        leaving.iter().map(|link| distances.known_to(network.links()[*link as usize].from)).collect();
    let mut found: Vec<Vec<LatencyCut>> = vec![Vec::new(); targets.len()];
    let mut heads_of = vec![f64::INFINITY; leaving.len()];
    let mut amount = 0.0;
    // Adds the sources one by one, farthest first; each source may lower the heads of the links.
    for (place, &(head, source, units)) in heads.iter().enumerate() {
        for (to_tail, least) in to_tails.iter().zip(&mut heads_of) {
            *least = least.min(to_tail[source as usize]);
        }
        amount += units;
        // Sources with the same latency to the cut are added together; a cut is formed only after the last of them.
        if heads.get(place + 1).is_some_and(|next| next.0 == head) {
            continue;
        }
        for ((targets, tails), found) in targets.iter().zip(&tails).zip(&mut found) {
            let target = if question.copies { targets.first().copied() } else { None };
            let mut links: Vec<(f64, f64)> = leaving
                .iter()
                .zip(heads_of.iter().zip(tails))
                .map(|(link, (head, tail))| {
                    // Time before the first data and after the last, when the link carries no useful data.
                    (head + tail, network.links()[*link as usize].capacity_gbyte_per_s)
                })
                .filter(|(offset, _)| offset.is_finite())
                .collect();
            links.sort_by(|one, other| one.0.total_cmp(&other.0));
            let amount = if question.copies { amount } else { amount * targets.len() as f64 };
            found.push(LatencyCut { inside: inside.to_vec(), target, amount, links });
        }
    }
    cuts.extend(found.into_iter().flatten());
}

/// Maximum number of targets of a cut that are tried one by one.
const TARGETS: usize = 16;

/// Returns at most [`TARGETS`] of the nodes `outside`: those farthest from the links of the cut, farthest first; for
/// many nodes, only [`TARGETS`] heads of links count.
fn farthest(
    network: &LinkNetwork,
    leaving: &[u32],
    outside: &[u32],
    distances: &mut Distances<'_>,
) -> Vec<u32> {
    let mut far: Vec<(f64, u32)> = Vec::new();
    if outside.len() > TARGETS {
        // One pass from each head of the cut is cheaper than one pass per target. The distances only select the targets
        // that are tried, so every selection gives valid bounds.
        let mut least = vec![f64::INFINITY; network.node_count()];
        let mut heads: Vec<u32> = leaving.iter().map(|link| network.links()[*link as usize].to).collect();
        heads.sort_unstable();
        heads.dedup();
        for head in heads.into_iter().take(TARGETS) {
            for (known, new) in least.iter_mut().zip(self::distances(network, head, false)) {
                *known = known.min(new);
            }
        }
        far.extend(outside.iter().map(|node| (least[*node as usize], *node)));
    } else {
        for &node in outside {
            let to = distances.to(node);
            let least = leaving.iter().map(|link| to[network.links()[*link as usize].to as usize]);
            far.push((least.fold(f64::INFINITY, f64::min), node));
        }
    }
    far.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
    far.into_iter().map(|(_, node)| node).take(TARGETS).collect()
}
