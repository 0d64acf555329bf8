//! Bounds over all pods of a size, from the minimum distances between chips.

use super::hop_bound;
use crate::model::pod::{self, CHIPS, ELECTRICAL_LINKS, PORTS, SWITCHES};

/// Bound on all pods of a size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoverBound {
    /// Minimum mean hop distance.
    pub avg_hops: f64,
    /// Upper bound on the throughput, flits per cycle and ordered pair.
    pub mcf: f64,
}

/// Restriction on the positions in the cover that the chips of a pod can take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Places {
    /// Only parity is used: half of the chips of a pod are at odd distance from a chip, and half at even distance.
    Parity,
    /// All positions are used: each of the 64 positions in a cube occurs exactly once in each cube of the pod.
    Chips,
}

/// The bound from hop distances in the universal cover, in which every optical hop except the direct way back enters a
/// new cube (docs/methods/tpu.md, section 3). A chip of a pod has at most as many chips within any distance as a chip
/// of the cover.
pub fn cover_bound(nodes: usize) -> CoverBound {
    let sum = cover_distances(nodes, 1, 1, Places::Parity);
    let hop_sum = sum as f64 * (nodes / CHIPS) as f64;
    CoverBound {
        avg_hops: hop_sum / (nodes as f64 * (nodes as f64 - 1.0)),
        mcf: 6.0 * nodes as f64 / hop_sum,
    }
}

/// The best bound on λ from the universal cover: the smallest of the bounds for several ratios of optical to electrical
/// length. Of the chips at each of the 64 positions in a cube, only as many are counted as the pod has cubes. This
/// bound never exceeds [`cover_bound`].
pub fn tight_cover_bound(nodes: usize) -> f64 {
    // Length ratios near the ratios of the best metrics; every ratio gives a valid bound.
    let by_lengths = [(1, 1), (4, 5), (3, 4), (2, 3), (1, 2), (2, 5), (1, 3)].into_iter().map(|(a, b)| {
        let sum = cover_distances(nodes, a, b, Places::Chips);
        2.0 * (ELECTRICAL_LINKS * a + SWITCHES * b) as f64 / sum as f64
    });
    by_lengths.fold(cover_bound(nodes).mcf, f64::min)
}

/// The bound on λ for any graph of degree 6, without wiring rules (Moore).
pub fn moore_bound(nodes: usize) -> f64 {
    let (mut rest, mut level, mut distance, mut sum) = (nodes.saturating_sub(1) as u64, 6u64, 1u64, 0u64);
    // Moore bound for degree 6: 6 * 5^(t-1) nodes at distance t.
    while rest > 0 {
        let here = level.min(rest);
        sum += distance * here;
        rest -= here;
        level = level.saturating_mul(5);
        distance += 1;
    }
    hop_bound(nodes, sum * nodes as u64)
}

/// Minimum sum of distances from the 64 chips of a cube to `nodes` chips, with lengths of electrical and optical
/// links.
fn cover_distances(nodes: usize, electrical: usize, optical: usize, places: Places) -> u64 {
    // One entry for each entrance of a cube: the face port through which it is entered.
    let ports: Vec<(u8, u8)> = (0..CHIPS as u8)
        .flat_map(|chip| (0..PORTS as u8).map(move |port| (chip, port)))
        .filter(|&(chip, port)| pod::switch(chip, port).is_some())
        .collect();
    // State of the cover: the port through which a cube is entered; cubes that are entered through equal ports are
    // equivalent.
    let entered_from: Vec<usize> = ports
        .iter()
        .map(|&(chip, port)| {
            let far = pod::switch(chip, port).map(|switch| pod::face_chip(switch, !pod::is_plus(port)));
            ports.iter().position(|&(at, by)| Some(at) == far && by == pod::opposite(port)).unwrap_or(0)
        })
        .collect();
    let mesh = |a: u8, b: u8| {
        let (a, b) = (pod::position(a), pod::position(b));
        electrical * (0..3).map(|axis| usize::from(a[axis].abs_diff(b[axis]))).sum::<usize>()
    };
    (0..CHIPS as u8)
        .map(|source| {
            let mut room = FreePlaces::new(nodes, places);
            // `entered[t][port]`: cubes entered by a port at distance t.
            let mut entered: Vec<Vec<u64>> = Vec::new();
            let at = |entered: &mut Vec<Vec<u64>>, t: usize, port: usize, count: u64| {
                if entered.len() <= t {
                    entered.resize(t + 1, vec![0; ports.len()]);
                }
                entered[t][port] = entered[t][port].saturating_add(count);
            };
            // `reached[t][chip]`: copies of a chip at distance t.
            let mut reached: Vec<[u64; CHIPS]> = Vec::new();
            let reach = |reached: &mut Vec<[u64; CHIPS]>, t: usize, chip: u8, count: u64| {
                if reached.len() <= t {
                    reached.resize(t + 1, [0; CHIPS]);
                }
                let copies = &mut reached[t][usize::from(chip)];
                *copies = copies.saturating_add(count);
            };
            for chip in 0..CHIPS as u8 {
                reach(&mut reached, mesh(source, chip), chip, 1);
            }
            for (port, &(chip, _)) in ports.iter().enumerate() {
                at(&mut entered, mesh(source, chip) + optical, entered_from[port], 1);
            }
            // Distances are processed in ascending order; counts saturate, because the cover grows exponentially.
            let mut t = 0;
            while !room.is_full() {
                for by in 0..ports.len() {
                    let count = entered.get(t).map_or(0, |entered| entered[by]);
                    if count == 0 {
                        continue;
                    }
                    let entry = ports[by].0;
                    for chip in 0..CHIPS as u8 {
                        reach(&mut reached, t + mesh(entry, chip), chip, count);
                    }
                    // The port of entry is excluded, because the direct way back does not lead to a new cube.
                    for (port, &(chip, _)) in ports.iter().enumerate().filter(|&(port, _)| port != by) {
                        at(&mut entered, t + mesh(entry, chip) + optical, entered_from[port], count);
                    }
                }
                if let Some(reached) = reached.get(t) {
                    room.take(source, t, reached);
                }
                t += 1;
            }
            room.sum
        })
        .sum()
}

/// Positions that are not assigned yet, nearest first.
struct FreePlaces {
    places: Places,
    left: Vec<u64>,
    sum: u64,
}

impl FreePlaces {
    fn new(nodes: usize, places: Places) -> Self {
        let left = match places {
            Places::Parity => vec![nodes as u64 / 2; 2],
            Places::Chips => vec![(nodes / CHIPS) as u64; CHIPS],
        };
        Self { places, left, sum: 0 }
    }

    fn is_full(&self) -> bool {
        self.left.iter().all(|&left| left == 0)
    }

    /// Assigns the nearest positions greedily. Within any distance, a pod has at most as many chips as are assigned
    /// here, so the sum of the distances is a lower bound.
    fn take(&mut self, source: u8, distance: usize, reached: &[u64; CHIPS]) {
        let parity = |chip: u8| usize::from(pod::position(chip).iter().sum::<u8>() % 2);
        for (chip, &count) in reached.iter().enumerate() {
            let which = match self.places {
                Places::Parity => parity(chip as u8) ^ parity(source),
                Places::Chips => chip,
            };
            let here = count.min(self.left[which]);
            self.left[which] -= here;
            self.sum += here * distance as u64;
        }
    }
}

#[cfg(test)]
mod tests;
