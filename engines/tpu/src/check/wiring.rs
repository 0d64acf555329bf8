//! Neighbours of every chip, from the states of the switches.

use super::{Findings, code};
use crate::plan::{Dimension, TopologyRecord};

/// Number of chips of a cube.
pub(super) const CHIPS: usize = 64;
/// Number of switches of a pod.
pub(super) const SWITCHES: usize = 48;
/// Ports of a chip: plus and minus X, Y, Z.
pub(super) const PORTS: usize = 6;
/// Number of electrical links of a cube.
pub(super) const ELECTRICAL: usize = 144;

/// A pod as a graph.
#[derive(Debug)]
pub(super) struct Wiring {
    pub cubes: usize,
    /// Neighbour of every chip by port.
    pub next: Vec<[u32; PORTS]>,
    /// Switch that a chip of a cube reaches by a port, if any.
    pub switch: Vec<[Option<u8>; PORTS]>,
    /// `to[switch][cube]`: the far cube of the circuit that starts at the plus port of `cube`; the circuit ends at the
    /// minus port of the far cube.
    pub to: Vec<Vec<u16>>,
    /// `true` for failed switches: their links carry no traffic.
    pub failed: [bool; SWITCHES],
}

impl Wiring {
    pub fn nodes(&self) -> usize {
        CHIPS * self.cubes
    }

    /// The switch that the link at a port of a chip crosses.
    pub fn switch_at(&self, node: usize, port: usize) -> Option<u8> {
        self.switch[node % CHIPS][port]
    }

    /// Returns `true` if the link at a port of a chip carries traffic.
    pub fn is_open(&self, node: usize, port: usize) -> bool {
        self.switch_at(node, port).is_none_or(|switch| !self.failed[usize::from(switch)])
    }

    /// The neighbours of a chip across links that carry traffic, with their ports.
    pub fn open(&self, node: usize) -> impl Iterator<Item = (usize, u32)> + '_ {
        let near = self.next[node].iter().copied().enumerate();
        near.filter(move |&(port, _)| self.is_open(node, port))
    }
}

/// Coordinates of a chip in its cube.
pub(super) fn coordinates(chip: usize) -> [usize; 3] {
    [chip % 4, chip / 4 % 4, chip / 16]
}

fn chip_at(at: [usize; 3]) -> usize {
    at[0] + 4 * at[1] + 16 * at[2]
}

/// The wiring of a record; `None` if the list of switches has a violation.
pub(super) fn of(
    record: &TopologyRecord,
    cubes: usize,
    failed: &[u8],
    found: &mut Findings,
) -> Option<Wiring> {
    let before = found.count();
    if record.ocs.len() != SWITCHES {
        found.add(code::TOPOLOGY, format!("{} switches are listed, but a pod has 48", record.ocs.len()));
        return None;
    }
    for (index, state) in record.ocs.iter().enumerate() {
        let dim = [Dimension::X, Dimension::Y, Dimension::Z][index / 16];
        let pos = [(index % 4) as u8, (index % 16 / 4) as u8];
        if usize::from(state.id) != index || state.dim != dim || state.pos != pos {
            found.add(
                code::TOPOLOGY,
                format!(
                    "ocs[{index}] has id {}, dim {:?}, pos {:?}; its place is id {index}, dim {dim:?}, pos {pos:?}",
                    state.id, state.dim, state.pos
                ),
            );
        }
        if state.to.len() != cubes {
            found.add(
                code::PERMUTATION,
                format!("ocs {index} patches {} cubes, but the pod has {cubes}", state.to.len()),
            );
            continue;
        }
        let mut by = vec![None; cubes];
        for (cube, &far) in state.to.iter().enumerate() {
            match by.get_mut(usize::from(far)) {
                None => found.add(
                    code::PERMUTATION,
                    format!("ocs {index} patches cube {cube} to cube {far}, which does not exist"),
                ),
                Some(Some(other)) => found.add(
                    code::PERMUTATION,
                    format!("ocs {index} patches cubes {other} and {cube} both to cube {far}"),
                ),
                Some(free) => *free = Some(cube),
            }
        }
    }
    if found.count() > before {
        return None;
    }
    let to: Vec<Vec<u16>> = record.ocs.iter().map(|state| state.to.clone()).collect();
    let mut wiring = join(cubes, to);
    for (switch, failing) in wiring.failed.iter_mut().enumerate() {
        *failing = failed.iter().any(|&id| usize::from(id) == switch);
    }
    parallel(&wiring, found);
    Some(wiring)
}

/// Builds the wiring: follows every circuit from its plus end and stores it at both ends.
fn join(cubes: usize, to: Vec<Vec<u16>>) -> Wiring {
    let mut next = vec![[u32::MAX; PORTS]; CHIPS * cubes];
    let mut switch = vec![[None; PORTS]; CHIPS];
    for chip in 0..CHIPS {
        let at = coordinates(chip);
        for axis in 0..3 {
            let others: Vec<usize> = (0..3).filter(|&other| other != axis).map(|other| at[other]).collect();
            let mut far = at;
            far[axis] = (at[axis] + 1) % 4;
            let far = chip_at(far);
            let crossed = (at[axis] == 3).then(|| 16 * axis + others[0] + 4 * others[1]);
            if let Some(id) = crossed {
                switch[chip][2 * axis] = Some(id as u8);
                switch[far][2 * axis + 1] = Some(id as u8);
            }
            let mut link = |cube: usize, far_cube: usize| {
                let (from, into) = (CHIPS * cube + chip, CHIPS * far_cube + far);
                next[from][2 * axis] = into as u32;
                next[into][2 * axis + 1] = from as u32;
            };
            match crossed {
                None => (0..cubes).for_each(|cube| link(cube, cube)),
                Some(id) => to[id].iter().enumerate().for_each(|(cube, &far)| link(cube, usize::from(far))),
            }
        }
    }
    Wiring { cubes, next, switch, to, failed: [false; SWITCHES] }
}

fn parallel(wiring: &Wiring, found: &mut Findings) {
    for (node, ports) in wiring.next.iter().enumerate() {
        for (port, far) in ports.iter().enumerate() {
            if *far == u32::MAX {
                found.add(code::TOPOLOGY, format!("port {port} of chip {node} is not used"));
            } else if *far as usize == node {
                found.add(code::PARALLEL, format!("port {port} of chip {node} is joined to the same chip"));
            } else if ports[..port].contains(far) {
                found.add(code::PARALLEL, format!("chips {node} and {far} are joined twice"));
            }
        }
    }
}
