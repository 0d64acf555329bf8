//! Size, wiring and requirements of a scenario.

use crate::analysis::explained::between;
use crate::model::baselines;
use crate::model::pod;
use crate::model::topology::Topology;
use crate::plan::TpuResult;
use crate::scenario::{TopologyChoice, TpuScenario};
use lightbay_core::problem::counted;
use lightbay_core::report::{Cell, Column, Facts, Matrix, Phrase, Section, Table, Tone, Unit};
use std::f64::consts::TAU;

/// Views of the circuits between the cubes on a screen: as a network, or as a matrix.
pub(super) const FORMS: &[&str] = &["drawn", "matrix"];

/// Maximum number of cubes that are drawn as a network; the lines of more cubes would hide each other. Fewer than three
/// cubes are not drawn, because a network of one line says nothing.
const DRAWN: usize = 8;

/// Unit of distances.
const HOPS: Unit = Unit::new("hops", 1.0, Some(0));

pub(super) fn section(scenario: &TpuScenario, result: Option<&TpuResult>, group: Option<&str>) -> Section {
    let mut facts = Facts::new();
    let cubes = u64::from(scenario.cubes);
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
    facts.number("slack_hops", "longest detour", HOPS, scenario.slack());
    if !scenario.failed_ocs.is_empty() {
        let ids: Vec<String> = scenario.failed_ocs.iter().map(ToString::to_string).collect();
        facts.add("failed_ocs", "failed switches", ids.join(", "));
    }
    if scenario.tolerated_ocs_faults > 0 {
        facts.add("tolerated_ocs_faults", "failed switches to tolerate", scenario.tolerated_ocs_faults);
        facts.sentence("any one at a time");
    }
    let circuits_of_cube = pod::SWITCHES as u64;
    facts.add(
        "electrical_links",
        "links inside cubes",
        scenario.nodes() as u64 * 3 - circuits_of_cube * cubes,
    );
    facts.add("circuits", "circuits", circuits_of_cube * cubes - scenario.failed_ocs.len() as u64 * cubes);
    if let Some(claims) = result.map(|result| result.claims) {
        facts.number("diameter", "diameter", HOPS, claims.diameter);
        facts.number("avg_hops", "mean hops", Unit::RATIO, claims.avg_hops);
    }
    let title = format!("Pod of {}", counted(scenario.nodes() as u64, "chip", "chips"));
    let section = Section::new(title, facts)
        .answer(Phrase::new().answer(counted(cubes, "cube", "cubes")).muted(" of 64 chips"));
    let wired =
        result.map_or_else(|| scenario.named_topology(), |result| result.topology.topology().map(Some));
    match wired.ok().flatten() {
        Some(pod) => {
            let section = section.on_screens("cubes", "Circuits of each cube", cubes_table(&pod));
            if pod.cubes() == 1 {
                return section;
            }
            let circuits = circuits(&pod);
            let most = circuits.cells.iter().filter_map(|cell| cell.value.as_f64()).fold(0.0, f64::max);
            section
                .legend(Phrase::new().muted(format!("circuits between two cubes, at most {most}")))
                .on_screens("between", "Circuits between the cubes", circuits)
        }
        None => section,
    }
}

/// Table of the cubes: circuits within each cube, and to the other cubes by dimension.
fn cubes_table(wired: &Topology) -> Table {
    let columns = vec![
        Column::counts("cube", "cube"),
        Column::counts("within", "within"),
        Column::counts("to_others", "to others"),
        Column::counts("x", "X").priority(1),
        Column::counts("y", "Y").priority(1),
        Column::counts("z", "Z").priority(1),
        Column::counts("neighbours", "neighbours"),
    ];
    let mut table = Table::new(["cube", "cubes"], columns);
    for (cube, row) in between(wired).into_iter().enumerate() {
        let others = || row.iter().enumerate().filter(|(other, count)| *other != cube && **count > 0);
        // Every switch has a circuit from the plus port of a cube and a circuit to its minus port.
        let mut by_axis = [0u32; 3];
        for switch in 0..pod::SWITCHES {
            let ends = [wired.to(switch, cube), wired.from(switch, cube)];
            by_axis[pod::switch_dimension(switch)] +=
                ends.into_iter().filter(|end| *end != cube).count() as u32;
        }
        let to_others: u32 = others().map(|(_, count)| *count).sum();
        let mut cells = vec![Cell::new(cube), Cell::new(row[cube]), Cell::new(to_others).tone(Tone::Answer)];
        cells.extend(by_axis.map(|count| Cell::new(count).tone(Tone::Muted)));
        cells.push(Cell::new(others().count()));
        let mut sentence = Phrase::new().answer(format!("> cube {cube}")).muted("  circuits to ");
        for (other, count) in others() {
            sentence = sentence.muted(format!(" {other}:")).text(count.to_string());
        }
        if others().next().is_none() {
            sentence = sentence.muted("itself only");
        }
        table.row(cells).sentence = sentence;
    }
    table
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
    let drawn = if (3..=DRAWN).contains(&cubes) { cubes } else { 0 };
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

    #[test]
    fn every_cube_has_two_ends_of_circuits_at_every_switch() {
        for name in ["pt-8x8x8", "pt-4x4x8"] {
            let scenario = presets::scenario(name).unwrap();
            let table = cubes_table(&scenario.named_topology().unwrap().unwrap());
            for row in &table.rows {
                let cell = |at: usize| row.cells[at].value.as_f64().unwrap();
                assert_eq!(2.0 * cell(1) + cell(2), 2.0 * pod::SWITCHES as f64, "{name}");
                assert_eq!(cell(3) + cell(4) + cell(5), cell(2), "{name}: by dimension");
            }
        }
    }
}
