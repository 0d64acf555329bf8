//! Size, wiring and requirements of a scenario.

use crate::analysis::explained::between;
use crate::model::baselines;
use crate::model::topology::Topology;
use crate::plan::TpuResult;
use crate::scenario::{TopologyChoice, TpuScenario};
use lightbay_core::problem::counted;
use lightbay_core::report::{Cell, Facts, Matrix, Phrase, Section, Tone, Unit};
use std::f64::consts::TAU;

/// Views of the circuits between the cubes on a screen: as a network, or as a matrix.
pub(super) const FORMS: &[&str] = &["drawn", "matrix"];

/// Maximum number of cubes that are drawn as a network; the lines of more cubes would hide each other.
const DRAWN: usize = 24;

pub(super) fn section(scenario: &TpuScenario, result: Option<&TpuResult>, group: Option<&str>) -> Section {
    let mut facts = Facts::new();
    facts.add("chips", "chips", scenario.nodes());
    facts.add("cubes", "cubes", scenario.cubes);
    let open = result.is_none() && scenario.topology == TopologyChoice::Design;
    if let Some(group) = group {
        facts.add("group", "numbered by", group);
    } else if !open {
        facts.add("group", "numbered by", Cell::none().note("the pod is not symmetric"));
    }
    let wired = match &scenario.topology {
        TopologyChoice::Design => "to be designed".to_owned(),
        TopologyChoice::Pt => format!("prismatic torus {}", baselines::named(scenario.pt_shape())),
        TopologyChoice::Pdtt => match scenario.pdtt_shape() {
            Ok(shape) => format!("doubly twisted torus {}", baselines::named(shape)),
            Err(problem) => problem.message,
        },
        TopologyChoice::Given(_) => "as given".to_owned(),
    };
    facts.add("topology", "topology", wired);
    facts.add("vc_count", "virtual channels", scenario.vc_count);
    facts.add("turn_priority", "turns by", scenario.turn_priority.word().to_uppercase());
    facts.add("slack_hops", "detours of routes", Cell::new(scenario.slack()).note("hops above the shortest"));
    if !scenario.failed_ocs.is_empty() {
        let ids: Vec<String> = scenario.failed_ocs.iter().map(ToString::to_string).collect();
        facts.add("failed_ocs", "failed switches", ids.join(", "));
    }
    if scenario.tolerated_ocs_faults > 0 {
        facts.add("tolerated_ocs_faults", "failed switches to tolerate", scenario.tolerated_ocs_faults);
        facts.sentence("any one at a time");
    }
    let title = format!("Pod of {}", counted(scenario.nodes() as u64, "chip", "chips"));
    let section = Section::new(title, facts);
    let wired =
        result.map_or_else(|| scenario.named_topology(), |result| result.topology.topology().map(Some));
    match wired.ok().flatten().filter(|pod| pod.cubes() > 1) {
        Some(pod) => {
            let circuits = circuits(&pod);
            let most = circuits.cells.iter().filter_map(|cell| cell.value.as_f64()).fold(0.0, f64::max);
            section
                .answer(Phrase::new().answer(counted(u64::from(scenario.cubes), "cube", "cubes")))
                .legend(Phrase::new().muted(format!("lines: circuits between two cubes, at most {most}")))
                .on_screens("between", "Circuits between the cubes", circuits)
        }
        None => section,
    }
}

/// Circuits between the cubes; the cubes are on a circle if they can be drawn as a network.
fn circuits(pod: &Topology) -> Matrix {
    let cubes = pod.cubes();
    let cell = |count: u32| {
        if count == 0 { Cell::new("·").tone(Tone::Muted) } else { Cell::new(count) }
    };
    let names: Vec<String> = (0..cubes).map(|cube| cube.to_string()).collect();
    let place = |cube: usize| {
        let angle = TAU * cube as f64 / cubes as f64;
        [0.5 - 0.5 * angle.cos(), 0.5 - 0.5 * angle.sin()]
    };
    let drawn = if cubes <= DRAWN { cubes } else { 0 };
    Matrix {
        name: "circuits",
        unit: Unit::COUNT,
        rows: names.clone(),
        columns: names,
        cells: between(pod).into_iter().flatten().map(cell).collect(),
        symmetric: true,
        shaded: true,
        places: (0..drawn).map(place).collect(),
        ..Matrix::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::presets;

    #[test]
    fn a_torus_of_eight_cubes_is_a_ring_in_each_direction() {
        let scenario = presets::scenario("pt-8x8x8").unwrap();
        let circuits = circuits(&scenario.named_topology().unwrap().unwrap());
        // Rings of two cubes: the 16 switches of a direction join both ports of a cube to the same neighbour.
        let row: Vec<Option<f64>> = circuits.cells[..8].iter().map(|cell| cell.value.as_f64()).collect();
        assert_eq!(row.iter().flatten().copied().collect::<Vec<f64>>(), [32.0; 3]);
        assert_eq!((circuits.places.len(), circuits.places[0]), (8, [0.0, 0.5]));
    }
}
