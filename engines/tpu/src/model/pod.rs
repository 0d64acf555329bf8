//! One cube of 64 chips: its chips, ports, arcs, links and switches, and their numbers in all files.
//!
//! This module contains everything that is equal in all pods. The states of the switches are in
//! [`crate::model::topology::Topology`].

/// Number of chips of a cube.
pub const CHIPS: usize = 64;
/// Ports of a chip: `+X -X +Y -Y +Z -Z`.
pub const PORTS: usize = 6;
/// Optical circuit switches of a pod, 16 for each dimension.
pub const SWITCHES: usize = 48;
/// Number of electrical links of a cube.
pub const ELECTRICAL_LINKS: usize = 144;
/// Classes of links under the translations of a symmetric pod: 144 electrical, then one for each switch.
pub const LINK_CLASSES: usize = ELECTRICAL_LINKS + SWITCHES;
/// Classes of arcs: one for each chip and port of a cube.
pub const ARC_CLASSES: usize = CHIPS * PORTS;
/// Maximum number of cubes of a pod.
pub const MAX_CUBES: usize = 144;

/// The port at the other end of a link that leaves by `port`.
pub const fn opposite(port: u8) -> u8 {
    port ^ 1
}

/// The dimension of a port: 0 for X, 1 for Y, 2 for Z.
pub const fn dimension(port: u8) -> usize {
    (port >> 1) as usize
}

/// Returns `true` if a port points to larger coordinates.
pub const fn is_plus(port: u8) -> bool {
    port & 1 == 0
}

/// The chip at x, y, z of a cube, each 0 to 3.
pub const fn chip(at: [u8; 3]) -> u8 {
    at[0] + 4 * at[1] + 16 * at[2]
}

/// Returns the position of a chip in its cube: x, y, z.
pub const fn position(chip: u8) -> [u8; 3] {
    [chip & 3, (chip >> 2) & 3, chip >> 4]
}

/// Returns the number of a chip in the pod, from its cube and its number in the cube.
pub const fn node(cube: usize, chip: u8) -> u32 {
    (CHIPS * cube) as u32 + chip as u32
}

/// The cube of a node, and its chip in that cube.
pub const fn parts(node: u32) -> (usize, u8) {
    (node as usize / CHIPS, (node as usize % CHIPS) as u8)
}

/// The class of the arc that leaves a chip by a port: `6 * chip + port`.
pub const fn arc_class(chip: u8, port: u8) -> usize {
    PORTS * chip as usize + port as usize
}

/// The chip and port of an arc class.
pub const fn arc_parts(class: usize) -> (u8, u8) {
    ((class / PORTS) as u8, (class % PORTS) as u8)
}

/// The chip of the same cube that a port leads to; `None` for a port on a face, which belongs to a switch.
pub const fn electrical(chip: u8, port: u8) -> Option<u8> {
    let axis = dimension(port);
    let step = 1u8 << (2 * axis);
    let coordinate = position(chip)[axis];
    if is_plus(port) {
        if coordinate < 3 { Some(chip + step) } else { None }
    } else if coordinate > 0 {
        Some(chip - step)
    } else {
        None
    }
}

/// The switch that a port on a face leads to; `None` for a port inside the cube.
pub const fn switch(chip: u8, port: u8) -> Option<usize> {
    if electrical(chip, port).is_some() {
        return None;
    }
    let at = position(chip);
    let axis = dimension(port);
    let (u, v) = match axis {
        0 => (at[1], at[2]),
        1 => (at[0], at[2]),
        _ => (at[0], at[1]),
    };
    Some(16 * axis + u as usize + 4 * v as usize)
}

/// The dimension of a switch: 0 for X, 1 for Y, 2 for Z.
pub const fn switch_dimension(switch: usize) -> usize {
    switch / 16
}

/// The face position (u, v) of a switch: the other two coordinates, in x, y, z order.
pub const fn switch_position(switch: usize) -> [u8; 2] {
    [(switch % 4) as u8, (switch % 16 / 4) as u8]
}

/// The chip whose plus port (`plus`) or minus port is on a switch.
pub const fn face_chip(switch: usize, plus: bool) -> u8 {
    let [u, v] = switch_position(switch);
    let depth = if plus { 3 } else { 0 };
    chip(match switch_dimension(switch) {
        0 => [depth, u, v],
        1 => [u, depth, v],
        _ => [u, v, depth],
    })
}

/// The port that leads to the plus or minus side of a switch.
pub const fn face_port(switch: usize, plus: bool) -> u8 {
    2 * switch_dimension(switch) as u8 + !plus as u8
}

/// The plus ends of the 144 electrical links, in the order of their classes: chip and axis.
pub const ELECTRICAL: [(u8, u8); ELECTRICAL_LINKS] = electrical_links();

const fn electrical_links() -> [(u8, u8); ELECTRICAL_LINKS] {
    let mut links = [(0, 0); ELECTRICAL_LINKS];
    let mut next = 0;
    let mut axis = 0;
    while axis < 3 {
        let mut chip = 0;
        while chip < CHIPS as u8 {
            if position(chip)[axis as usize] < 3 {
                links[next] = (chip, axis);
                next += 1;
            }
            chip += 1;
        }
        axis += 1;
    }
    links
}

/// The class of the link of every arc class: electrical links first, in the order of [`ELECTRICAL`], then
/// 144 + switch.
pub const LINK_OF_ARC: [u8; ARC_CLASSES] = links_of_arcs();

const fn links_of_arcs() -> [u8; ARC_CLASSES] {
    let mut links = [0; ARC_CLASSES];
    let mut at = 0;
    while at < ELECTRICAL_LINKS {
        let (low, axis) = ELECTRICAL[at];
        let high = low + (1 << (2 * axis));
        links[arc_class(low, 2 * axis)] = at as u8;
        links[arc_class(high, 2 * axis + 1)] = at as u8;
        at += 1;
    }
    let mut at = 0;
    while at < SWITCHES {
        links[arc_class(face_chip(at, true), face_port(at, true))] = (ELECTRICAL_LINKS + at) as u8;
        links[arc_class(face_chip(at, false), face_port(at, false))] = (ELECTRICAL_LINKS + at) as u8;
        at += 1;
    }
    links
}

/// Returns `true` if a link class is optical.
pub const fn is_optical(link_class: usize) -> bool {
    link_class >= ELECTRICAL_LINKS
}

#[cfg(test)]
mod tests;
