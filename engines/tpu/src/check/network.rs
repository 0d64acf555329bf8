//! Links in classes of equal length, and shortest-path flows from all sources.

use super::group::Symmetric;
use super::wiring::{CHIPS, ELECTRICAL, PORTS, SWITCHES, Wiring, coordinates};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

/// Capacity of a link: one unit in each direction.
pub(super) const CAPACITY: f64 = 2.0;

/// A network of links. A link carries one unit in each direction, and a reversed flow is also a flow, so one length per
/// class of links is enough.
#[derive(Debug)]
pub(super) struct CheckedNetwork {
    /// The far end and the class of every link, by chip; both directions of a link have the same class.
    links: Vec<Vec<(u32, u32)>>,
    pub classes: usize,
    /// `true` for classes without a working link: they have no capacity.
    idle: Vec<bool>,
    /// For each switch, the classes of its possible circuits, which share one unit of capacity in any fractions; empty
    /// for the network of a pod.
    pub shared: Vec<Range<usize>>,
    /// Sources that share a column of the master program.
    pub groups: Vec<Range<usize>>,
}

/// Shortest-path flow of one group of sources.
#[derive(Debug)]
pub(super) struct Tree {
    /// Sum of the distances from the sources of the group to all chips.
    pub distances: f64,
    /// Load of each class by the flow of the group.
    pub loads: Vec<f64>,
}

/// Classes of the electrical links of a cube, by chip and port, numbered as in the certificates of plans.
fn electrical() -> [[Option<u32>; PORTS]; CHIPS] {
    let mut classes = [[None; PORTS]; CHIPS];
    let mut next = 0;
    for axis in 0..3 {
        for chip in (0..CHIPS).filter(|&chip| coordinates(chip)[axis] < 3) {
            classes[chip][2 * axis] = Some(next);
            classes[chip + 4_usize.pow(axis as u32)][2 * axis + 1] = Some(next);
            next += 1;
        }
    }
    classes
}

impl CheckedNetwork {
    /// The network of a pod. With symmetry, the network has the 192 link classes and only the sources of cube 0.
    /// Otherwise every link is its own class and every chip is a source; the sources of a cube form one group.
    pub fn of(wiring: &Wiring, group: Option<Symmetric>) -> Self {
        let nodes = wiring.nodes();
        let inside = electrical();
        let class = |node: usize, port: usize| {
            if group.is_some() {
                let switch =
                    || wiring.switch_at(node, port).map(|switch| ELECTRICAL as u32 + u32::from(switch));
                inside[node % CHIPS][port].or_else(switch).unwrap_or_default()
            } else {
                let plus = if port.is_multiple_of(2) { node as u32 } else { wiring.next[node][port] };
                3 * plus + port as u32 / 2
            }
        };
        let links = (0..nodes)
            .map(|node| wiring.open(node).map(|(port, far)| (far, class(node, port))).collect::<Vec<_>>())
            .collect::<Vec<_>>();
        let mut idle = vec![true; if group.is_some() { ELECTRICAL + SWITCHES } else { 3 * nodes }];
        for &(_, class) in links.iter().flatten() {
            idle[class as usize] = false;
        }
        let groups = if group.is_some() {
            (0..CHIPS).map(|source| source..source + 1).collect()
        } else {
            (0..wiring.cubes).map(|cube| CHIPS * cube..CHIPS * (cube + 1)).collect()
        };
        Self { links, classes: idle.len(), idle, shared: Vec::new(), groups }
    }

    /// The network of all circuits that a pod with the same number of cubes can have. Circuits form a class if they
    /// have the same switch and the same difference of cube numbers (modulo the number of cubes); the classes of a
    /// switch share one unit of capacity. Adding the same number to all cube numbers preserves this network, so cube 0
    /// represents all cubes.
    pub fn of_all_circuits(wiring: &Wiring) -> Self {
        let cubes = wiring.cubes;
        let inside = electrical();
        let first = |switch: usize| ELECTRICAL + switch * cubes;
        let mut links = vec![Vec::new(); CHIPS * cubes];
        for cube in 0..cubes {
            for (chip, ports) in inside.iter().enumerate() {
                for (port, class) in ports.iter().enumerate() {
                    // The wiring inside a cube is the same for all pods; across a switch, the far chip follows from the
                    // switch.
                    let node = CHIPS * cube + chip;
                    let far = wiring.next[node][port] as usize % CHIPS;
                    match (*class, wiring.switch[chip][port]) {
                        (Some(class), _) => links[node].push(((CHIPS * cube + far) as u32, class)),
                        (None, Some(switch)) => {
                            for step in 0..cubes {
                                // From the minus side, a circuit is followed backwards.
                                let other =
                                    if port % 2 == 0 { cube + step } else { cube + cubes - step } % cubes;
                                let class = first(usize::from(switch)) + step;
                                links[node].push(((CHIPS * other + far) as u32, class as u32));
                            }
                        }
                        (None, None) => {}
                    }
                }
            }
        }
        Self {
            links,
            classes: first(SWITCHES),
            idle: vec![false; first(SWITCHES)],
            shared: (0..SWITCHES).map(|switch| first(switch)..first(switch + 1)).collect(),
            groups: (0..CHIPS).map(|source| source..source + 1).collect(),
        }
    }

    /// Converts the lengths of the 192 link classes to lengths of the classes of this network. Returns `lengths`
    /// unchanged if its number of entries is not 192, or if this network has the 192 classes itself.
    pub fn spread(&self, wiring: &Wiring, lengths: &[f64]) -> Vec<f64> {
        let few = ELECTRICAL + SWITCHES;
        if lengths.len() != few || self.classes == few {
            return lengths.to_vec();
        }
        let inside = electrical();
        let class = |node: usize, port: usize| {
            let switch = wiring.switch_at(node, port).map(|switch| ELECTRICAL + usize::from(switch));
            inside[node % CHIPS][port].map(|class| class as usize).or(switch).unwrap_or_default()
        };
        (0..self.classes).map(|link| lengths[class(link / 3, 2 * (link % 3))]).collect()
    }

    /// Number of classes that have their own capacity: all classes except the possible circuits in `shared`.
    pub fn whole(&self) -> usize {
        self.shared.first().map_or(self.classes, |first| first.start)
    }

    /// Sum of capacity times length over all classes with working links; each switch counts once, with its longest
    /// possible circuit. This is an upper bound on the sum of load times length of any flow.
    pub fn cost(&self, lengths: &[f64]) -> f64 {
        let whole = lengths[..self.whole()].iter().zip(&self.idle).filter(|(_, idle)| !**idle);
        let whole: f64 = whole.map(|(length, _)| length).sum();
        let dearest = |range: &Range<usize>| lengths[range.clone()].iter().copied().fold(0.0, f64::max);
        CAPACITY * (whole + self.shared.iter().map(dearest).sum::<f64>())
    }

    /// Load of the most loaded link, divided by the capacity of a link, if the classes have these loads. Each switch
    /// divides its unit of capacity in proportion to the loads, which is optimal.
    pub fn fullest(&self, loads: &[f64]) -> f64 {
        let whole = loads[..self.whole()].iter().copied().fold(0.0, f64::max);
        let switches = self.shared.iter().map(|range| loads[range.clone()].iter().sum::<f64>());
        switches.fold(whole, f64::max) / CAPACITY
    }

    /// Shortest paths from all sources; `None` if the run stops.
    pub fn trees(&self, lengths: &[f64], stop: &dyn Fn() -> bool) -> Option<Vec<Tree>> {
        let longest = lengths.iter().copied().fold(0.0, f64::max);
        let mut trees = Vec::with_capacity(self.groups.len());
        for sources in &self.groups {
            let mut tree = Tree { distances: 0.0, loads: vec![0.0; self.classes] };
            for source in sources.clone() {
                if stop() {
                    return None;
                }
                self.grow(source, lengths, 1e-12 * longest, &mut tree);
            }
            trees.push(tree);
        }
        Some(trees)
    }

    /// Adds to `tree` the flow of one unit from a source to every other chip along all shortest paths, split equally at
    /// every chip.
    fn grow(&self, source: usize, lengths: &[f64], tie: f64, tree: &mut Tree) {
        let nodes = self.links.len();
        let mut distance = vec![f64::INFINITY; nodes];
        let mut settled = Vec::with_capacity(nodes);
        let mut done = vec![false; nodes];
        distance[source] = 0.0;
        let mut queue = BinaryHeap::from([Reverse((0_u64, source))]);
        while let Some(Reverse((_, node))) = queue.pop() {
            if std::mem::replace(&mut done[node], true) {
                continue;
            }
            settled.push(node);
            for &(next, class) in &self.links[node] {
                let (next, there) = (next as usize, distance[node] + lengths[class as usize]);
                if there < distance[next] {
                    distance[next] = there;
                    // Lengths are not negative, so their bit patterns have the same order.
                    queue.push(Reverse((there.to_bits(), next)));
                }
            }
        }
        let mut amount = vec![1.0; nodes];
        for &node in settled.iter().rev().filter(|&&node| node != source) {
            tree.distances += distance[node];
            let before = |&&(far, class): &&(u32, u32)| {
                distance[far as usize] + lengths[class as usize] <= distance[node] + tie
            };
            let share = amount[node] / self.links[node].iter().filter(before).count().max(1) as f64;
            for &(far, class) in self.links[node].iter().filter(before) {
                tree.loads[class as usize] += share;
                amount[far as usize] += share;
            }
        }
    }
}
