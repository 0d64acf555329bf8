//! Demand of a layer with its circuits, NICs by NUMA node, and all layers.

use super::ANALYTIC;
use crate::plan::{CircuitAction, LayerPlan, MoeResult, RegionCircuit};
use crate::scenario::MoeScenario;
use lightbay_core::report::{Cell, Column, Matrix, Section, Table, Tone, Unit};

const MS: Unit = Unit::new("ms", 1.0, Some(3));
/// Rows that an overview shows of long tables.
const OVERVIEW: usize = 16;

fn set(layer: &LayerPlan) -> impl Iterator<Item = &RegionCircuit> {
    layer.circuits.iter().filter(|circuit| circuit.action != CircuitAction::Remove)
}

fn names(count: usize) -> Vec<String> {
    (0..count).map(|server| format!("server {server}")).collect()
}

/// The layer whose all-to-all takes longest.
fn longest(result: &MoeResult) -> Option<&LayerPlan> {
    let time = |layer: &&LayerPlan| layer.all_to_all.all_to_all_ms;
    result.layers.iter().max_by(|a, b| time(a).total_cmp(&time(b)))
}

/// Bytes and circuits between the servers, in the layer whose all-to-all takes longest.
pub(super) fn demand(result: &MoeResult) -> Section {
    let Some(layer) = longest(result) else { return Section::empty("Demand and circuits") };
    let n = layer.demand_bytes.len();
    let inside = |at: usize| at / n == at % n;
    let bytes = layer.demand_bytes.iter().flatten().enumerate().map(|(at, bytes)| {
        let cell = Cell::new(*bytes);
        if inside(at) { cell.tone(Tone::Muted) } else { cell }
    });
    let mut counts = vec![0_u32; n * n];
    for circuit in set(layer) {
        let (a, b) = (circuit.server_a as usize, circuit.server_b as usize);
        for at in [a * n + b, b * n + a] {
            if let Some(count) = counts.get_mut(at) {
                *count += 1;
            }
        }
    }
    let counts = counts.into_iter().enumerate();
    let cells = counts.map(|(at, count)| if inside(at) { Cell::none() } else { Cell::new(count) });
    let matrix = |name, unit, cells, symmetric| Matrix {
        name,
        unit,
        rows: names(n),
        columns: names(n),
        cells,
        symmetric,
        shaded: true,
        ..Matrix::default()
    };
    Section::empty("Demand and circuits")
        .context(format!("layer {}, whose all-to-all takes longest", layer.layer))
        .block("demand", "Bytes of the dispatch", matrix("bytes", Unit::GIGABYTES, bytes.collect(), false))
        .block("circuits", "Circuits", matrix("circuits", Unit::COUNT, cells.collect(), true))
}

/// Far ends of the NICs of every server, in the layer whose all-to-all takes longest.
pub(super) fn nics(scenario: &MoeScenario, result: &MoeResult) -> Section {
    let region = &scenario.region;
    let columns = vec![
        Column::counts("server", "server"),
        Column::counts("nic", "NIC"),
        Column::counts("numa_node", "NUMA node"),
        Column::words("leads_to", "leads to"),
        Column::words("change", "change"),
    ];
    let mut table = Table::new(["NIC", "NICs"], columns).overview(OVERVIEW);
    let Some(layer) = longest(result) else { return Section::new("NICs", table) };
    for server in 0..region.servers {
        for nic in 0..region.nics_per_server {
            let here = |circuit: &&RegionCircuit| {
                (circuit.server_a, circuit.nic_a) == (server, nic)
                    || (circuit.server_b, circuit.nic_b) == (server, nic)
            };
            let (leads, change, tone) = match set(layer).find(here) {
                Some(circuit) => {
                    let there = if circuit.server_a == server {
                        (circuit.server_b, circuit.nic_b)
                    } else {
                        (circuit.server_a, circuit.nic_a)
                    };
                    let change = if circuit.action == CircuitAction::Keep { "kept" } else { "set" };
                    (format!("server {}, NIC {}", there.0, there.1), change, Tone::Text)
                }
                None if region.eps_nics.contains(&nic) => ("packet switches".to_owned(), "", Tone::Muted),
                None => ("nothing: dark".to_owned(), "", Tone::Warn),
            };
            let node = region.numa(nic);
            let shade = if node == 0 { Tone::Text } else { Tone::Answer };
            table.row(vec![
                Cell::new(server),
                Cell::new(nic),
                Cell::new(node).tone(shade),
                Cell::new(leads).tone(tone),
                Cell::new(change),
            ]);
        }
    }
    Section::new("NICs", table).context(format!("layer {}", layer.layer))
}

/// Times and changes of every layer.
pub(super) fn layers(result: &MoeResult) -> Section {
    let columns = vec![
        Column::counts("layer", "layer"),
        Column::numbers("all_to_all_ms", "all-to-all", MS),
        Column::numbers("step3_ocs_ms", "circuits", MS),
        Column::numbers("step3_eps_ms", "packet switches", MS),
        Column::numbers("gather_ms", "gather", MS),
        Column::numbers("local_ms", "inside", MS),
        Column::counts("circuits", "circuits"),
        Column::counts("set", "set"),
        Column::counts("removed", "removed"),
        Column::numbers("stall_ms", "stalls", MS),
    ];
    let mut table = Table::new(["layer", "layers"], columns).overview(OVERVIEW).bar(1);
    for layer in &result.layers {
        let of = |action| layer.circuits.iter().filter(|circuit| circuit.action == action).count();
        let stall: f64 = layer.timeline.reconfigurations.iter().map(|change| change.stall_ms).sum();
        let times = layer.all_to_all;
        let row = table.row(vec![
            Cell::new(layer.layer),
            Cell::new(times.all_to_all_ms).tone(Tone::Answer),
            Cell::new(times.step3_ocs_ms),
            Cell::new(times.step3_eps_ms),
            Cell::new(times.gather_ms),
            Cell::new(times.local_ms),
            Cell::new(set(layer).count()),
            Cell::new(of(CircuitAction::Add)),
            Cell::new(of(CircuitAction::Remove)),
            Cell::new(stall).tone(if stall > 0.0 { Tone::Bad } else { Tone::Muted }),
        ]);
        row.item = Some(layer.layer);
    }
    Section::new("Layers", table).remark(ANALYTIC)
}
