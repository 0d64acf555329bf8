//! States of the switches of a pod, and the resulting links.

use crate::model::group::Group;
use crate::model::pod::{self, CHIPS, PORTS, SWITCHES};
use lightbay_core::problem::Problem;

/// A symmetric pod: one group element for each switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symmetry {
    /// Group by whose elements the cubes are numbered.
    pub group: Group,
    /// Group element of each switch: the circuit of switch `o` from the plus port of cube `c` ends at cube `to[o][c] =
    /// c·voltage[o]`.
    pub voltage: [u16; SWITCHES],
}

/// A pod: `to[o][c]`: the far cube of the circuit of switch `o` that starts at the plus port of cube `c`; the circuit
/// ends at the minus port of the far cube.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    cubes: usize,
    /// `to[o * cubes + c]`: the far cube of the circuit of switch `o` that starts at the plus port of cube `c`.
    to: Vec<u16>,
    /// The inverse permutation of every switch, in the same order.
    from: Vec<u16>,
    symmetry: Option<Symmetry>,
    /// `true` for failed switches: their circuits carry no traffic, but remain in the states and neighbours.
    failed: [bool; SWITCHES],
}

impl Topology {
    /// The pod of a group and one voltage for each switch.
    ///
    /// # Panics
    /// If a voltage is not an element of the group.
    pub fn symmetric(group: Group, voltage: [u16; SWITCHES]) -> Self {
        let cubes = group.order();
        let (mut to, mut from) = (vec![0; SWITCHES * cubes], vec![0; SWITCHES * cubes]);
        for (switch, &g) in voltage.iter().enumerate() {
            for cube in 0..cubes {
                let far = group.times(cube, usize::from(g));
                to[switch * cubes + cube] = far as u16;
                from[switch * cubes + far] = cube as u16;
            }
        }
        Self { cubes, to, from, symmetry: Some(Symmetry { group, voltage }), failed: [false; SWITCHES] }
    }

    /// Creates any pod from 48 permutations of the cubes.
    ///
    /// # Errors
    /// A wrong number of switches, or a switch whose state is not a permutation.
    pub fn general(to: &[Vec<u16>]) -> Result<Self, Problem> {
        let cubes = to.first().map_or(0, Vec::len);
        if to.len() != SWITCHES || cubes == 0 || cubes > usize::from(u16::MAX) {
            return Err(Problem::new(
                "topology.ocs",
                format!("describes {} switches of {cubes} cubes", to.len()),
                "give all 48 switches, each with one entry for every cube",
            ));
        }
        let mut from = vec![u16::MAX; SWITCHES * cubes];
        for (switch, state) in to.iter().enumerate() {
            let path = || format!("topology.ocs[{switch}].to");
            if state.len() != cubes {
                return Err(Problem::new(
                    path(),
                    format!("has {} entries, but there are {cubes} cubes", state.len()),
                    "give one entry for every cube",
                ));
            }
            for (cube, &far) in state.iter().enumerate() {
                if usize::from(far) >= cubes {
                    return Err(Problem::new(
                        path(),
                        format!("patches cube {cube} to cube {far}, which does not exist"),
                        format!("cubes are 0 to {}", cubes - 1),
                    ));
                }
                let back = &mut from[switch * cubes + usize::from(far)];
                if *back != u16::MAX {
                    return Err(Problem::new(
                        path(),
                        format!("patches cubes {back} and {cube} both to cube {far}"),
                        "name every cube once: the state of a switch is a permutation",
                    ));
                }
                *back = cube as u16;
            }
        }
        Ok(Self { cubes, to: to.concat(), from, symmetry: None, failed: [false; SWITCHES] })
    }

    /// Returns a copy with the same circuits, but without the group and the voltages.
    #[must_use]
    pub fn without_symmetry(&self) -> Self {
        Self { symmetry: None, ..self.clone() }
    }

    /// Returns the same circuits, with exactly these switches failed.
    #[must_use]
    pub fn failing(&self, failed: &[u8]) -> Self {
        let failed = std::array::from_fn(|switch| failed.iter().any(|&id| usize::from(id) == switch));
        Self { failed, ..self.clone() }
    }

    /// Returns `true` if a switch has failed.
    pub const fn is_failed(&self, switch: usize) -> bool {
        self.failed[switch]
    }

    /// Returns `true` if any switch has failed.
    pub fn has_failed(&self) -> bool {
        self.failed.contains(&true)
    }

    /// Returns `true` if the link at a port of a chip carries traffic: electrical links always do.
    pub fn is_open(&self, node: u32, port: u8) -> bool {
        let (_, chip) = pod::parts(node);
        pod::switch(chip, port).is_none_or(|switch| !self.failed[switch])
    }

    /// Number of links that carry traffic.
    pub fn links(&self) -> usize {
        let failed = self.failed.iter().filter(|failed| **failed).count();
        3 * self.nodes() - failed * self.cubes
    }

    /// Number of cubes.
    pub const fn cubes(&self) -> usize {
        self.cubes
    }

    /// Number of chips.
    pub const fn nodes(&self) -> usize {
        CHIPS * self.cubes
    }

    /// The cube at the minus side of the circuit that starts at the plus side of `cube`.
    pub fn to(&self, switch: usize, cube: usize) -> usize {
        usize::from(self.to[switch * self.cubes + cube])
    }

    /// The cube at the plus side of the circuit that ends at the minus side of `cube`.
    pub fn from(&self, switch: usize, cube: usize) -> usize {
        usize::from(self.from[switch * self.cubes + cube])
    }

    /// The permutation of a switch.
    pub fn state(&self, switch: usize) -> &[u16] {
        &self.to[switch * self.cubes..(switch + 1) * self.cubes]
    }

    /// Group and voltages of a symmetric pod.
    pub const fn symmetry(&self) -> Option<&Symmetry> {
        self.symmetry.as_ref()
    }

    /// The node at the other end of the link that leaves `node` by `port`.
    pub fn neighbour(&self, node: u32, port: u8) -> u32 {
        let (cube, chip) = pod::parts(node);
        if let Some(near) = pod::electrical(chip, port) {
            return pod::node(cube, near);
        }
        let Some(switch) = pod::switch(chip, port) else { return node };
        let plus = pod::is_plus(port);
        let far = if plus { self.to(switch, cube) } else { self.from(switch, cube) };
        pod::node(far, pod::face_chip(switch, !plus))
    }

    /// The neighbours of all nodes by port.
    pub fn neighbours(&self) -> Vec<[u32; PORTS]> {
        (0..self.nodes() as u32)
            .map(|node| std::array::from_fn(|port| self.neighbour(node, port as u8)))
            .collect()
    }
}

#[cfg(test)]
pub(crate) mod tests;
