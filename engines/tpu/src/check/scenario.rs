//! Checks that the pod matches the topology that the scenario names.

use super::wiring::{SWITCHES, Wiring};
use super::{Findings, code};
use crate::scenario::{TopologyChoice, TpuScenario};

/// Compares the wiring with the topology that the scenario names; a pod to be designed may have any wiring.
pub(super) fn compare(scenario: &TpuScenario, wiring: &Wiring, found: &mut Findings) {
    let expected: Vec<Vec<u16>> = match &scenario.topology {
        TopologyChoice::Design => return,
        TopologyChoice::Given(record) => record.ocs.iter().map(|state| state.to.clone()).collect(),
        TopologyChoice::Pt | TopologyChoice::Pdtt => {
            let twisted = scenario.topology == TopologyChoice::Pdtt;
            let shape = scenario.job_shape.or_else(|| usual(wiring.cubes, twisted));
            let Some(shape) = shape else {
                found.add(
                    code::SCENARIO,
                    format!("there is no doubly twisted torus of {} cubes", wiring.cubes),
                );
                return;
            };
            let Some(expected) = torus(shape.map(usize::from), twisted, wiring.cubes) else {
                found.add(
                    code::SCENARIO,
                    format!("job_shape {shape:?} is not a torus of {} cubes", wiring.cubes),
                );
                return;
            };
            expected
        }
    };
    for switch in 0..SWITCHES {
        if expected.get(switch) != Some(&wiring.to[switch]) {
            found.add(
                code::SCENARIO,
                format!(
                    "switch {switch} is not set as in the topology of the scenario ('{}')",
                    scenario.topology.word()
                ),
            );
        }
    }
}

/// The default shape of a torus: the shape with the shortest longest side; among these shapes, the one with the longest
/// shortest side.
fn usual(cubes: usize, twisted: bool) -> Option<[u16; 3]> {
    let mut shapes: Vec<[usize; 3]> = Vec::new();
    for a in 1..=cubes {
        for b in a..=cubes / a {
            let c = cubes / (a * b);
            if c >= b && a * b * c == cubes {
                shapes.push([a, b, c]);
            }
        }
    }
    shapes.retain(|[a, b, c]| !twisted || (*c == 2 * a && (b == a || b == c)));
    let best = shapes.into_iter().min_by_key(|[a, _, c]| (*c, cubes - a))?;
    Some(best.map(|side| 4 * side as u16))
}

/// Returns the states of the switches of a torus, or `None` if the shape is invalid. A circuit that starts at the plus
/// face of a cube ends at the cube of the chip that is one step beyond this face.
fn torus(shape: [usize; 3], twisted: bool, cubes: usize) -> Option<Vec<Vec<u16>>> {
    let grid = shape.map(|side| side / 4);
    if shape.iter().any(|side| side % 4 != 0 || *side == 0) || grid.iter().product::<usize>() != cubes {
        return None;
    }
    let short = *shape.iter().min()?;
    let is_long = |axis: usize| shape[axis] == 2 * short;
    if twisted && (0..3).any(|axis| shape[axis] != short && !is_long(axis)) {
        return None;
    }
    if twisted && !(0..3).any(is_long) {
        return None;
    }
    let states = (0..SWITCHES).map(|switch| {
        let axis = switch / 16;
        (0..cubes)
            .map(|cube| {
                let place = [cube % grid[0], cube / grid[0] % grid[1], cube / (grid[0] * grid[1])];
                // The far corner chip of the cube, one chip further along the axis.
                let mut chip = place.map(|cube| 4 * cube);
                chip[axis] += 4;
                if chip[axis] == shape[axis] {
                    chip[axis] = 0;
                    if twisted && !is_long(axis) {
                        for other in (0..3).filter(|&other| is_long(other)) {
                            chip[other] = (chip[other] + short) % shape[other];
                        }
                    }
                }
                let far = chip.map(|coordinate| coordinate / 4);
                (far[0] + grid[0] * (far[1] + grid[1] * far[2])) as u16
            })
            .collect()
    });
    Some(states.collect())
}
