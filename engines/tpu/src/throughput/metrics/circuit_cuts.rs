//! Metrics that stay fixed while circuits change, for pods without symmetry: bounds on λ that are linear in the
//! circuits (docs/methods/tpu.md, section 3).
//!
//! If the distances d of one pod are kept while switches change, the circuit of switch o from cube a to cube b joins
//! two chips at a known distance. So `λ <= constant + Σ_o Σ_a by_circuit[o][a][to of a]` holds for every pod of the
//! size, and the best state of one switch under this bound is the solution of an assignment problem.

use super::cuts::CubeSymmetry;
use crate::model::pod::{self, ELECTRICAL, SWITCHES};
use crate::model::topology::Topology;
use crate::throughput::mcf::network::Network;
use crate::throughput::mcf::sweep::{self, Scratch};

mod assignment;

/// A bound that is linear in the circuits.
#[derive(Clone, Debug, PartialEq)]
pub struct CircuitCut {
    constant: f64,
    cubes: usize,
    /// `by_circuit[(switch * cubes + cube) * cubes + far]`: contribution of the circuit from `cube` to `far` to the
    /// bound.
    by_circuit: Vec<f64>,
}

impl CircuitCut {
    /// The cut with the distances in `pod` for these lengths of its links; entry `3·node + axis` of `link_lengths` is
    /// the length of the link at the node's plus port. `None` if the pod has another number of links, or if some chips
    /// cannot be reached.
    pub fn new(pod: &Topology, link_lengths: &[f64]) -> Option<Self> {
        let (cubes, nodes) = (pod.cubes(), pod.nodes());
        if link_lengths.len() != 3 * nodes {
            return None;
        }
        let network = Network::pod(&pod.without_symmetry().failing(&[]), 1);
        let lengths = Network::whole(link_lengths);
        let mut scratch = Scratch::default();
        let (mut sum, mut electrical) = (0u64, 0u64);
        let mut far = vec![0u64; SWITCHES * cubes * cubes];
        // Distances from all chips, once; the cut is a table of them.
        for source in 0..nodes {
            sweep::distances(&network, &lengths, source, &mut scratch);
            if scratch.order.len() < nodes {
                return None;
            }
            // The sum over all pairs is the denominator of the bound.
            sum += scratch.distance.iter().sum::<u64>();
            let (cube, chip) = pod::parts(source as u32);
            for &(low, axis) in ELECTRICAL.iter().filter(|(low, _)| *low == chip) {
                electrical += scratch.distance[pod::node(cube, low + (1 << (2 * axis))) as usize];
            }
            for switch in (0..SWITCHES).filter(|switch| pod::face_chip(*switch, true) == chip) {
                for (to, far) in far[(switch * cubes + cube) * cubes..][..cubes].iter_mut().enumerate() {
                    *far = scratch.distance[pod::node(to, pod::face_chip(switch, false)) as usize];
                }
            }
        }
        // Both directions of a circuit.
        let share = |distance: u64| 2.0 * distance as f64 / sum as f64;
        Some(Self { constant: share(electrical), cubes, by_circuit: far.into_iter().map(share).collect() })
    }

    /// The bound on λ of a pod of the size.
    pub fn bound(&self, pod: &Topology) -> f64 {
        let circuits = (0..SWITCHES).map(|switch| self.of_state(switch, pod.state(switch)));
        self.constant + circuits.sum::<f64>()
    }

    /// The constant part of the bound.
    pub const fn constant(&self) -> f64 {
        self.constant
    }

    /// Returns the part of the bound that one switch in a state contributes.
    pub fn of_state(&self, switch: usize, state: &[u16]) -> f64 {
        let rows = self.by_circuit[switch * self.cubes * self.cubes..].chunks(self.cubes);
        rows.zip(state).map(|(row, far)| row[usize::from(*far)]).sum()
    }

    /// The state of one switch for which the value of this cut is largest.
    pub fn best_response(&self, switch: usize) -> Vec<u16> {
        // Maximising the cut over permutations is an assignment problem.
        let cells = self.cubes * self.cubes;
        assignment::largest(&self.by_circuit[switch * cells..][..cells], self.cubes)
    }

    /// The image of the cut under a symmetry of the cube. The image of the cut bounds the image of a pod as tightly as
    /// the cut bounds the pod.
    #[must_use]
    pub fn image(&self, symmetry: &CubeSymmetry) -> Self {
        let cubes = self.cubes;
        let mut by_circuit = vec![0.0; self.by_circuit.len()];
        for switch in 0..SWITCHES {
            // A reflected axis exchanges plus and minus ports.
            let (to, reversed) = symmetry.switch(switch);
            for cube in 0..cubes {
                for far in 0..cubes {
                    let (plus, minus) = if reversed { (far, cube) } else { (cube, far) };
                    by_circuit[(to * cubes + plus) * cubes + minus] =
                        self.by_circuit[(switch * cubes + cube) * cubes + far];
                }
            }
        }
        Self { constant: self.constant, cubes, by_circuit }
    }

    /// The cut and its images under all symmetries of the cube, each once.
    pub fn images(&self) -> Vec<Self> {
        let mut images: Vec<Self> = Vec::new();
        for symmetry in CubeSymmetry::all() {
            let image = self.image(&symmetry);
            if !images.contains(&image) {
                images.push(image);
            }
        }
        images
    }
}

#[cfg(test)]
mod tests;
