//! The bound over all pods of a size: no chip has more chips within a distance than in the universal cover.

use super::wiring::{CHIPS, coordinates};

/// Entry points of a cube: the two ends of each switch.
const ENTRIES: usize = 96;

/// Largest MCF of any pod of `nodes` chips. In the best case, every optical hop away from a chip enters a new cube.
/// Half of all chips are at odd distance and half at even distance.
pub(super) fn mcf_bound(nodes: usize) -> f64 {
    6.0 * nodes as f64 / covered_hops(nodes)
}

/// Minimum sum of hops over ordered pairs that the cover allows.
fn covered_hops(nodes: usize) -> f64 {
    let faces = faces();
    let reach: Vec<usize> = faces.iter().map(|face| face.chip).collect();
    let mut sum = 0.0;
    // Reflections of the cube map one octant to all others.
    let octant: Vec<usize> = (0..CHIPS).filter(|&chip| coordinates(chip).iter().all(|&c| c < 2)).collect();
    for &start in &octant {
        // entering[t][f]: new cubes entered through face f by a path of t hops.
        let mut entering: Vec<[f64; ENTRIES]> = vec![[0.0; ENTRIES]];
        let mut left = [nodes as f64 / 2.0 - 1.0, nodes as f64 / 2.0];
        let mut hops = 0.0;
        let mut t = 0;
        while left[0] + left[1] > 0.0 && t < 4 * nodes {
            // Chips at distance t: those of the first cube and of every new cube entered before.
            let at = |from: usize, distance: usize| {
                (0..CHIPS).filter(|&chip| mesh(from, chip) == distance).count() as f64
            };
            let mut here = at(start, t);
            for (entered, counts) in entering.iter().enumerate().take(t + 1) {
                for (face, count) in counts.iter().enumerate() {
                    if *count > 0.0 {
                        here += count * at(reach[face], t - entered);
                    }
                }
            }
            let parity = t % 2;
            if t > 0 {
                let taken = here.min(left[parity]);
                left[parity] -= taken;
                hops += taken * t as f64;
            }
            // One hop further: from every face chip reached at t, except back through the entrance of the cube.
            let mut next = [0.0; ENTRIES];
            for (face, exit) in faces.iter().enumerate() {
                let mut leaving = f64::from(u8::from(mesh(start, exit.chip) == t));
                for (entered, counts) in entering.iter().enumerate().take(t + 1) {
                    for (through, count) in counts.iter().enumerate() {
                        if *count > 0.0 && through != face && mesh(reach[through], exit.chip) == t - entered {
                            leaving += count;
                        }
                    }
                }
                next[exit.across] += leaving;
            }
            entering.push(next);
            t += 1;
        }
        sum += hops;
    }
    sum / octant.len() as f64 * nodes as f64
}

/// One end of a switch at a cube.
struct Face {
    chip: usize,
    /// The end of the same switch at the cube across.
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

/// Hops between two chips inside a cube.
fn mesh(a: usize, b: usize) -> usize {
    let (a, b) = (coordinates(a), coordinates(b));
    (0..3).map(|axis| a[axis].abs_diff(b[axis])).sum()
}
