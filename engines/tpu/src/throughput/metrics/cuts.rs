//! Metrics that stay fixed while circuits change: bounds on λ that are linear in the design (docs/methods/tpu.md,
//! section 3).
//!
//! If the distances d of one pod are kept while switches change, the circuit of switch o with voltage g joins two chips
//! at a known distance. So `λ <= constant + Σ_o by_voltage[o][voltage of o]` holds for every symmetric pod of the same
//! group, and its evaluation takes 48 look-ups.

use crate::model::group::Group;
use crate::model::pod::{
    self, CHIPS, ELECTRICAL, ELECTRICAL_LINKS, LINK_CLASSES, LINK_OF_ARC, PORTS, SWITCHES,
};
use crate::model::topology::Topology;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A bound that is linear in the voltages.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearCut {
    constant: f64,
    order: usize,
    /// `by_voltage[switch * order + voltage]`: contribution of a switch with this voltage to the bound.
    by_voltage: Vec<f64>,
}

impl LinearCut {
    /// The cut with the distances in a symmetric pod for these lengths of the 192 link classes; `None` for a pod
    /// without symmetry or with chips that no path reaches.
    pub fn new(pod: &Topology, class_lengths: &[f64]) -> Option<Self> {
        let group = &pod.symmetry()?.group;
        let lengths: &[f64; LINK_CLASSES] = class_lengths.first_chunk()?;
        let mut walk = Walk::new(pod);
        // Distances from the chips of cube 0 under the given lengths; they stay fixed while circuits change.
        let distances: Vec<Vec<f64>> =
            (0..CHIPS as u32).map(|source| walk.distances(source, lengths).to_vec()).collect();
        let sum: f64 = distances.iter().flatten().sum();
        if !sum.is_finite() || sum <= 0.0 {
            return None;
        }
        // Electrical links are the same in every pod: their distances are the constant.
        let electrical: f64 = ELECTRICAL
            .iter()
            .map(|&(low, axis)| distances[usize::from(low)][usize::from(low) + (1 << (2 * axis))])
            .sum();
        let order = group.order();
        // Weak duality: any distances give a bound whose numerator is linear in the circuits.
        let by_voltage = (0..SWITCHES * order)
            .map(|at| {
                let (switch, voltage) = (at / order, at % order);
                let far = pod::node(voltage, pod::face_chip(switch, false));
                2.0 * distances[usize::from(pod::face_chip(switch, true))][far as usize] / sum
            })
            .collect();
        Some(Self { constant: 2.0 * electrical / sum, order, by_voltage })
    }

    /// The bound on λ of a pod with these voltages.
    pub fn bound(&self, voltage: &[u16; SWITCHES]) -> f64 {
        let by_switch = voltage.iter().enumerate();
        self.constant
            + by_switch
                .map(|(switch, &voltage)| self.by_voltage[switch * self.order + usize::from(voltage)])
                .sum::<f64>()
    }

    /// Returns the number of voltages that a switch may have: the order of the group.
    pub const fn order(&self) -> usize {
        self.order
    }

    /// The constant part of the bound.
    pub const fn constant(&self) -> f64 {
        self.constant
    }

    /// Returns the part of the bound that one switch with one voltage contributes.
    pub fn part(&self, switch: usize, voltage: usize) -> f64 {
        self.by_voltage[switch * self.order + voltage]
    }

    /// The image of the cut under a symmetry of the cube. The image of the cut bounds the image of a pod as tightly as
    /// the cut bounds the pod. Both pods have the same throughput, so the image is a valid cut.
    #[must_use]
    pub fn image(&self, symmetry: &CubeSymmetry, group: &Group) -> Self {
        let mut by_voltage = vec![0.0; self.by_voltage.len()];
        for switch in 0..SWITCHES {
            let (to, reversed) = symmetry.switch(switch);
            // If the sides are exchanged, the circuit runs in the opposite direction, so the inverse element is used.
            for voltage in 0..self.order {
                let image = if reversed { group.inverse(voltage) } else { voltage };
                by_voltage[to * self.order + image] = self.by_voltage[switch * self.order + voltage];
            }
        }
        Self { constant: self.constant, order: self.order, by_voltage }
    }

    /// The cut and its images under all symmetries of the cube, each once.
    pub fn images(&self, group: &Group) -> Vec<Self> {
        let mut images: Vec<Self> = Vec::new();
        for symmetry in CubeSymmetry::all() {
            // Symmetries that fix the cut return the same cut; each different image applies to other designs.
            let image = self.image(&symmetry, group);
            if !images.contains(&image) {
                images.push(image);
            }
        }
        images
    }
}

/// One of the 48 symmetries of a cube: axes exchanged and reflected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CubeSymmetry {
    /// Axis `d` becomes axis `axes[d]`.
    axes: [usize; 3],
    /// `true` if the image of axis `d` is reversed.
    reflected: [bool; 3],
}

impl CubeSymmetry {
    /// Returns all 48 symmetries, the identity first.
    pub fn all() -> impl Iterator<Item = Self> {
        const AXES: [[usize; 3]; 6] = [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 2, 1], [2, 1, 0], [1, 0, 2]];
        AXES.into_iter().flat_map(|axes| {
            (0..8u8).map(move |bits| Self { axes, reflected: std::array::from_fn(|d| bits >> d & 1 == 1) })
        })
    }

    /// Returns a third of a turn about a diagonal: X becomes Y, Y becomes Z, Z becomes X.
    pub const fn diagonal() -> Self {
        Self { axes: [1, 2, 0], reflected: [false; 3] }
    }

    /// Returns the point reflection, which maps each chip to the opposite one across the centre.
    pub const fn centre() -> Self {
        Self { axes: [0, 1, 2], reflected: [true; 3] }
    }

    /// Returns the mirror across X.
    pub const fn mirror() -> Self {
        Self { axes: [0, 1, 2], reflected: [true, false, false] }
    }

    /// Returns half a turn about Z.
    pub const fn half_turn() -> Self {
        Self { axes: [0, 1, 2], reflected: [true, true, false] }
    }

    /// Returns the image of a chip.
    pub fn chip(&self, chip: u8) -> u8 {
        let at = pod::position(chip);
        let mut image = [0; 3];
        for axis in 0..3 {
            image[self.axes[axis]] = if self.reflected[axis] { 3 - at[axis] } else { at[axis] };
        }
        pod::chip(image)
    }

    /// Returns the image of a switch, and `true` if its sides are exchanged.
    pub fn switch(&self, switch: usize) -> (usize, bool) {
        // A reflected axis exchanges the sides of its switches.
        let axis = pod::switch_dimension(switch);
        let image = self.chip(pod::face_chip(switch, true));
        let reversed = self.reflected[axis];
        let port = 2 * self.axes[axis] as u8 + u8::from(reversed);
        (pod::switch(image, port).unwrap_or(switch), reversed)
    }

    /// The image of a link class.
    pub fn link(&self, class: usize) -> usize {
        if class >= ELECTRICAL_LINKS {
            return ELECTRICAL_LINKS + self.switch(class - ELECTRICAL_LINKS).0;
        }
        let (low, axis) = ELECTRICAL[class];
        let axis = usize::from(axis);
        let port = 2 * self.axes[axis] as u8 + u8::from(self.reflected[axis]);
        usize::from(LINK_OF_ARC[pod::arc_class(self.chip(low), port)])
    }

    /// The voltages of the image of a pod.
    pub fn voltages(&self, group: &Group, voltage: &[u16; SWITCHES]) -> [u16; SWITCHES] {
        let mut image = [0; SWITCHES];
        for (switch, &voltage) in voltage.iter().enumerate() {
            let (to, reversed) = self.switch(switch);
            image[to] = if reversed { group.inverse(usize::from(voltage)) as u16 } else { voltage };
        }
        image
    }
}

/// Shortest paths for real-valued lengths of the link classes.
#[derive(Clone, Debug)]
pub struct Walk {
    near: Vec<[u32; PORTS]>,
    distance: Vec<f64>,
    heap: BinaryHeap<Reverse<(u64, u32)>>,
}

impl Walk {
    /// Allocates buffers for the paths of a pod.
    pub fn new(pod: &Topology) -> Self {
        Self { near: pod.neighbours(), distance: vec![f64::INFINITY; pod.nodes()], heap: BinaryHeap::new() }
    }

    /// Distances from a chip to all others (Dijkstra); infinite if there is no path.
    pub fn distances(&mut self, source: u32, class_lengths: &[f64; LINK_CLASSES]) -> &[f64] {
        self.distance.fill(f64::INFINITY);
        self.distance[source as usize] = 0.0;
        // The bit patterns of nonnegative floats have the same order as the floats.
        self.heap.push(Reverse((0, source)));
        while let Some(Reverse((bits, node))) = self.heap.pop() {
            let here = f64::from_bits(bits);
            // Lazy deletion: entries that a shorter path has replaced stay in the heap and are skipped here.
            if here > self.distance[node as usize] {
                continue;
            }
            // Invariant: the distance of a node that is taken from the heap is final, because no length is negative.
            let (_, chip) = pod::parts(node);
            for (port, &far) in self.near[node as usize].iter().enumerate() {
                let length = class_lengths[usize::from(LINK_OF_ARC[pod::arc_class(chip, port as u8)])];
                let there = here + length.max(0.0);
                if there < self.distance[far as usize] {
                    self.distance[far as usize] = there;
                    self.heap.push(Reverse((there.to_bits(), far)));
                }
            }
        }
        &self.distance
    }
}

#[cfg(test)]
mod tests;
