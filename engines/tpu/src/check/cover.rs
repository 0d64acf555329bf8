//! The bound over all pods of a size. It compares a pod with the universal cover, an infinite network in which every
//! optical hop, except directly back, enters a new cube: within any distance, a chip of a pod reaches at most as many
//! chips as in the cover.

use super::wiring::{CHIPS, coordinates};

/// Number of points at which paths enter a cube: the plus and the minus end of each switch.
const ENTRIES: usize = 96;

/// Number of electrical links of a cube; `OPTICAL` is the number of switches, each of which gives every cube one
/// optical link.
const ELECTRICAL: usize = 144;
const OPTICAL: usize = ENTRIES / 2;

/// Lengths of an electrical and an optical link. Every pair of lengths gives a valid bound, and the smallest of these
/// bounds is used. At 2 cubes, equal lengths (hops) give the smallest bound; at more cubes, longer optical links give a
/// smaller bound.
const LENGTHS: [(usize, usize); 7] = [(1, 1), (4, 5), (3, 4), (2, 3), (1, 2), (2, 5), (1, 3)];

/// Upper bound on the MCF of every pod of `nodes` chips. In the best case, every optical hop away from a chip enters a
/// new cube. Of the chips at each of the 64 positions in a cube, only as many are counted as the pod has cubes.
pub(super) fn mcf_bound(nodes: usize) -> f64 {
    // Weak duality: all flows together use at most the total length of all directed links, and each ordered pair uses
    // at least its distance.
    LENGTHS
        .into_iter()
        .map(|(electrical, optical)| {
            let length = 2 * (ELECTRICAL * electrical + OPTICAL * optical);
            length as f64 * (nodes / CHIPS) as f64 / covered(nodes, electrical, optical)
        })
        .fold(f64::INFINITY, f64::min)
}

/// Returns a lower bound from the cover on the sum of the distances of all ordered pairs of a pod.
fn covered(nodes: usize, electrical: usize, optical: usize) -> f64 {
    let faces = faces();
    // Reflections of the cube map one octant to all others.
    let octant: Vec<usize> = (0..CHIPS).filter(|&chip| coordinates(chip).iter().all(|&c| c < 2)).collect();
    let sum: f64 = octant
        .iter()
        .map(|&start| {
            let mut left = [(nodes / CHIPS) as f64; CHIPS];
            let mut sum = 0.0;
            // Cubes by distance, each with the face through which it is entered; equal cubes are counted, not listed.
            let mut entered: Vec<[f64; ENTRIES]> = Vec::new();
            let mut copies: Vec<[f64; CHIPS]> = Vec::new();
            enter(&mut copies, &mut entered, &faces, (0, start, None, 1.0), (electrical, optical));
            let mut distance = 0;
            while left.iter().any(|&left| left > 0.0) {
                for face in 0..ENTRIES {
                    let count = entered.get(distance).map_or(0.0, |counts| counts[face]);
                    if count > 0.0 {
                        let from = (distance, faces[face].chip, Some(face), count);
                        enter(&mut copies, &mut entered, &faces, from, (electrical, optical));
                    }
                }
                // The nearest copies of a position minimise the sum of distances.
                for (left, copies) in left.iter_mut().zip(copies.get(distance).unwrap_or(&[0.0; CHIPS])) {
                    let taken = copies.min(*left);
                    *left -= taken;
                    sum += taken * distance as f64;
                }
                distance += 1;
            }
            sum
        })
        .sum();
    sum / octant.len() as f64 * nodes as f64
}

/// Counts the chips of `count` cubes that paths enter at chip `at` and at `distance`: adds `count` to `copies` for
/// every chip of such a cube, and to `entered` for every neighbouring cube except the one from which the paths came.
fn enter(
    copies: &mut Vec<[f64; CHIPS]>,
    entered: &mut Vec<[f64; ENTRIES]>,
    faces: &[Face],
    (distance, at, through, count): (usize, usize, Option<usize>, f64),
    (electrical, optical): (usize, usize),
) {
    let farthest = distance + 9 * electrical + optical;
    if copies.len() <= farthest {
        copies.resize(farthest + 1, [0.0; CHIPS]);
        entered.resize(farthest + 1, [0.0; ENTRIES]);
    }
    for chip in 0..CHIPS {
        copies[distance + electrical * mesh(at, chip)][chip] += count;
    }
    for (number, exit) in faces.iter().enumerate() {
        // The direct way back leads to the previous cube.
        if through != Some(number) {
            entered[distance + electrical * mesh(at, exit.chip) + optical][exit.across] += count;
        }
    }
}

/// The plus or the minus end of a switch at a cube.
struct Face {
    chip: usize,
    /// The other end of this switch, which is at the neighbouring cube.
    across: usize,
}

fn faces() -> Vec<Face> {
    let mut faces = Vec::with_capacity(ENTRIES);
    for switch in 0..ENTRIES / 2 {
        let (axis, u, v) = (switch / 16, switch % 4, switch % 16 / 4);
        for plus in [true, false] {
            let mut at = [0; 3];
            let others = (0..3).filter(|&other| other != axis).zip([u, v]);
            for (other, coordinate) in others {
                at[other] = coordinate;
            }
            at[axis] = if plus { 3 } else { 0 };
            let end = 2 * switch + usize::from(!plus);
            faces.push(Face { chip: at[0] + 4 * at[1] + 16 * at[2], across: end ^ 1 });
        }
    }
    faces
}

/// Number of hops between two chips inside a cube.
fn mesh(a: usize, b: usize) -> usize {
    let (a, b) = (coordinates(a), coordinates(b));
    (0..3).map(|axis| a[axis].abs_diff(b[axis])).sum()
}
