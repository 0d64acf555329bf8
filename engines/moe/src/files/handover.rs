//! Parts of a region that other kinds import: the circuits of a layer, the network of these circuits, and a demand.

use crate::plan::{CircuitAction, FabricKind, LayerPhase, LayerPlan, MoeResult};
use crate::scenario::MoeScenario;
use lightbay_core::exchange::{
    CircuitMatrix, CircuitPlaces, Graph, GraphLink, PlacedCircuit, PlacedPort, TrafficMatrix,
};
use lightbay_core::problem::few;
use std::collections::BTreeMap;

/// Name of the node that represents the packet switches.
const PACKET_SWITCHES: &str = "packet switches";

/// Returns the layer whose all-to-all takes longest; `None` for networks without regional circuits.
pub fn longest(result: &MoeResult) -> Option<&LayerPlan> {
    let time = |layer: &&LayerPlan| layer.all_to_all.all_to_all_ms;
    let layers = result.layers.iter().filter(|_| result.iteration.fabric == FabricKind::Mfabric);
    layers.max_by(|a, b| time(a).total_cmp(&time(b)))
}

/// Returns a layer by its number; `None` for networks without regional circuits, and for a layer that does not exist.
pub fn of(result: &MoeResult, layer: u32) -> Option<&LayerPlan> {
    let layers = result.layers.iter().filter(|_| result.iteration.fabric == FabricKind::Mfabric);
    layers.into_iter().find(|known| known.layer == layer)
}

/// Returns the exchanges that use the circuits of the layer itself, in order.
pub fn own_phases(layer: &LayerPlan) -> Vec<LayerPhase> {
    let is_other = |phase: &LayerPhase| layer.other_exchanges.iter().any(|other| other.phase == *phase);
    LayerPhase::EXCHANGES.into_iter().filter(|phase| !is_other(phase)).collect()
}

/// Returns the remark on the exchanges whose circuits the files of a layer leave out; `None` if every exchange uses the
/// circuits of its layer.
pub fn other_exchanges(result: &MoeResult) -> Option<String> {
    let other = |layer: &LayerPlan| left_out(layer).map(|phases| format!("layer {} ({phases})", layer.layer));
    let named: Vec<String> = result.layers.iter().filter_map(other).collect();
    (!named.is_empty()).then(|| {
        format!(
            "the files contain one set of circuits for each layer, the set of its combine (a2a_2); the circuits of the \
             all-to-alls that the plan runs on other circuits are left out: {}; write circuits, which lists the \
             circuits of every all-to-all",
            few(&named)
        )
    })
}

/// Returns the names of the exchanges of a layer that use other circuits; `None` if there are none.
fn left_out(layer: &LayerPlan) -> Option<String> {
    let phases: Vec<&str> = layer.other_exchanges.iter().map(|other| other.phase.word()).collect();
    (!phases.is_empty()).then(|| phases.join(", "))
}

/// Returns the number of circuits by pair of servers.
fn counts(layer: &LayerPlan) -> BTreeMap<(u32, u32), u32> {
    let mut counts = BTreeMap::new();
    for circuit in layer.circuits.iter().filter(|circuit| circuit.action != CircuitAction::Remove) {
        *counts.entry((circuit.server_a, circuit.server_b)).or_default() += 1;
    }
    counts
}

fn name(server: u32) -> String {
    format!("server {server}")
}

/// Returns the circuits between the servers that the combine of a layer uses.
pub fn circuits(scenario: &MoeScenario, layer: &LayerPlan) -> Option<CircuitMatrix> {
    let servers = scenario.region.servers;
    Some(CircuitMatrix {
        pods: (0..servers).map(name).collect(),
        ports_per_pod: vec![scenario.region.ocs_nics.len() as u32; servers as usize],
        failed_ports: Vec::new(),
        circuits: counts(layer).into_iter().map(|((a, b), count)| (a, b, count)).collect(),
        circuit_gbps: Some(scenario.region.link_gbps),
        places: Some(places(scenario, layer)),
        left_out: absent(layer, "the circuits", "the times of the all-to-alls"),
    })
}

/// Returns the parts of a plan that a record of one layer leaves out: `of_others` of the other layers and of the
/// exchanges on other circuits, and `last`.
fn absent(layer: &LayerPlan, of_others: &str, last: &str) -> Vec<String> {
    let mut absent = vec![format!("{of_others} of the layers other than layer {}", layer.layer)];
    absent.extend(left_out(layer).map(|phases| {
        format!("the circuits of the all-to-alls of this layer that run on other circuits ({phases})")
    }));
    absent.push(last.to_owned());
    absent
}

/// Returns the single switch of the region, which can join any two ports. The NIC with index `i` among the `n` optical
/// NICs of server `s` has port `s * n + i`.
fn places(scenario: &MoeScenario, layer: &LayerPlan) -> CircuitPlaces {
    let region = &scenario.region;
    let place = |nic: u32| region.ocs_nics.iter().position(|known| *known == nic).unwrap_or(0) as u32;
    let without = |action: CircuitAction| -> Vec<PlacedCircuit> {
        let circuits = layer.circuits.iter().filter(|circuit| circuit.action != action);
        let placed = circuits.map(|circuit| PlacedCircuit {
            switch: 0,
            pod_a: circuit.server_a,
            port_a: place(circuit.nic_a),
            pod_b: circuit.server_b,
            port_b: place(circuit.nic_b),
        });
        placed.collect()
    };
    let optical = region.failed_nics.iter().filter(|failed| region.ocs_nics.contains(&failed.nic));
    let mut failed_ports: Vec<PlacedPort> = optical
        .map(|failed| PlacedPort { switch: 0, pod: failed.server, side_b: false, port: place(failed.nic) })
        .collect();
    failed_ports.sort_unstable();
    let servers = region.servers as usize;
    let mut circuits = without(CircuitAction::Remove);
    circuits.sort_unstable();
    CircuitPlaces {
        ports_a: vec![vec![region.ocs_nics.len() as u32]; servers],
        ports_b: vec![vec![0]; servers],
        sides: ["the optical NICs", "none"].map(str::to_owned),
        circuits,
        failed_ports,
        fixed: true,
        single_sided: true,
        before: Some(without(CircuitAction::Add)),
    }
}

/// Returns the network of the servers: the circuits of a layer, and links to one more node that represents the packet
/// switches. The analytic model has no link delays, so all delays are 0.
pub fn graph(scenario: &MoeScenario, layer: &LayerPlan) -> Graph {
    let region = &scenario.region;
    let mut nodes: Vec<String> = (0..region.servers).map(name).collect();
    let link = |from, to, capacity_gbps| GraphLink { from, to, capacity_gbps, latency_s: 0.0 };
    let (mut links, mut switches) = (Vec::new(), Vec::new());
    for ((a, b), count) in counts(layer) {
        let rate = f64::from(count) * region.link_gbps;
        links.extend([link(a, b, rate), link(b, a, rate)]);
    }
    if region.eps_gbps() > 0.0 {
        let switch = region.servers;
        nodes.push(PACKET_SWITCHES.to_owned());
        switches.push(switch);
        for server in 0..region.servers {
            let rate = region.eps_gbps_of(server);
            let both = [link(server, switch, rate), link(switch, server, rate)];
            links.extend(both.into_iter().filter(|_| rate > 0.0));
        }
    }
    links.sort_by_key(|link| (link.from, link.to));
    let left_out = absent(layer, "the circuits and the bytes", "the exchange inside each server");
    Graph { nodes, switches, links, left_out }
}

/// Returns the bytes between the servers in one dispatch of a layer. The servers have the same names as in [`graph`].
pub fn traffic(layer: &LayerPlan) -> TrafficMatrix {
    let rows = (0u32..).zip(&layer.demand_bytes);
    let entries = rows.flat_map(|(from, row)| (0u32..).zip(row).map(move |(to, bytes)| (from, to, *bytes)));
    TrafficMatrix {
        places: (0..layer.demand_bytes.len() as u32).map(name).collect(),
        entries: entries.filter(|(from, to, bytes)| from != to && *bytes > 0.0).collect(),
    }
}
