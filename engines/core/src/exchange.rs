//! Records that kinds exchange: circuits, graphs and traffic. The records do not depend on a kind.

use crate::record;
use crate::record::{any, within};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// Circuits between pods, and the ports that the pods have for circuits.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CircuitMatrix {
    /// Names of the pods, in the order of every list below with one entry per pod.
    pub pods: Vec<String>,
    /// Number of optical ports of each pod, including failed ports.
    pub ports_per_pod: Vec<u32>,
    /// Failed ports as `(pod, port)`, sorted; the ports of a pod count from 0. Empty if `places` gives the ports.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub failed_ports: Vec<(u32, u32)>,
    /// Bidirectional circuits as `(pod, pod, count)` with the smaller pod first, sorted, each pair once. Circuits from
    /// a pod to itself are omitted.
    pub circuits: Vec<(u32, u32, u32)>,
    /// Rate of a circuit in each direction, Gb/s, if the plan gives it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub circuit_gbps: Option<f64>,
    /// Switch and ports of every circuit, if the plan gives them.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub places: Option<CircuitPlaces>,
    /// Content of the plan that this record leaves out, as parts of a sentence such as "the times of the flows".
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub left_out: Vec<String>,
}

/// Switch and ports of circuits. Ports of a pod on a switch have two sides, and circuits join side A to side B, unless
/// the switches are single-sided.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CircuitPlaces {
    /// `ports_a[pod][switch]`: number of ports of a pod on side A of a switch.
    pub ports_a: Vec<Vec<u32>>,
    /// `ports_b[pod][switch]`: number of ports of a pod on side B of a switch.
    pub ports_b: Vec<Vec<u32>>,
    /// Names of the ports of side A and of side B, such as "the + ports" and "the - ports".
    pub sides: [String; 2],
    /// Every circuit, including those from a pod to itself, sorted.
    pub circuits: Vec<PlacedCircuit>,
    /// Failed ports.
    pub failed_ports: Vec<PlacedPort>,
    /// `true` if the ports are wired to the switches permanently, so that every circuit has only one possible switch.
    pub fixed: bool,
    /// `true` if the switch can join any two ports: it has no side B, and `port_b` is a port of side A.
    #[serde(default)]
    pub single_sided: bool,
    /// Circuits that the switches have before they set the circuits of this record, if the plan gives them.
    #[serde(default)]
    pub before: Option<Vec<PlacedCircuit>>,
}

/// A port of a pod on a side of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct PlacedPort {
    /// Index of the switch.
    pub switch: u32,
    /// Index of the pod.
    pub pod: u32,
    /// `true` if the port is on side B.
    pub side_b: bool,
    /// Index of the port, from 0, among the ports that the pod has on that side of the switch.
    pub port: u32,
}

/// A circuit at its switch and ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct PlacedCircuit {
    /// Index of the switch.
    pub switch: u32,
    /// Index of the pod at side A.
    pub pod_a: u32,
    /// Index of the port of `pod_a`, from 0, among the ports that this pod has on side A of the switch.
    pub port_a: u32,
    /// Index of the pod at side B.
    pub pod_b: u32,
    /// Index of the port of `pod_b`, from 0, among the ports that this pod has on side B of the switch.
    pub port_b: u32,
}

impl CircuitPlaces {
    /// Returns the circuits whose two ports work.
    pub fn working(&self) -> impl Iterator<Item = &PlacedCircuit> {
        let failed: HashSet<PlacedPort> = self.failed_ports.iter().copied().collect();
        let far_b = !self.single_sided;
        self.circuits.iter().filter(move |circuit| {
            let switch = circuit.switch;
            let near = PlacedPort { switch, pod: circuit.pod_a, side_b: false, port: circuit.port_a };
            let far = PlacedPort { switch, pod: circuit.pod_b, side_b: far_b, port: circuit.port_b };
            !failed.contains(&near) && !failed.contains(&far)
        })
    }
}

impl CircuitMatrix {
    /// Returns the number of ports used in each pod (a circuit uses a port at each of its ends).
    pub fn ports_used(&self) -> Vec<u64> {
        let mut used = vec![0; self.pods.len()];
        for &(a, b, count) in &self.circuits {
            for pod in [a, b] {
                if let Some(used) = used.get_mut(pod as usize) {
                    *used += u64::from(count);
                }
            }
        }
        used
    }
}

/// A directed graph with capacities.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Graph {
    /// Names of the nodes.
    pub nodes: Vec<String>,
    /// Nodes that only forward data, ascending.
    pub switches: Vec<u32>,
    /// Directed links.
    pub links: Vec<GraphLink>,
    /// Content of the plan that this record leaves out, as parts of a sentence such as "the other layers".
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub left_out: Vec<String>,
}

/// A directed link of a [`Graph`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GraphLink {
    /// Node from which the link leads.
    pub from: u32,
    /// Node to which the link leads.
    pub to: u32,
    /// Rate of the link, Gb/s.
    pub capacity_gbps: f64,
    /// Delay of the link, seconds.
    pub latency_s: f64,
}

/// Entry of [`CircuitMatrix::left_out`] for the traffic, which a [`TrafficMatrix`] of the same plan contains.
pub const TRAFFIC_BETWEEN_PODS: &str = "the traffic between the pods";

/// Bytes sent between places, such as pods or servers, over a period.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrafficMatrix {
    /// Names of the places.
    pub places: Vec<String>,
    /// `(from, to, bytes)`, sorted, each ordered pair once.
    pub entries: Vec<(u32, u32, f64)>,
}

record! {
    /// The plan that a scenario was derived from.
    #[derive(Eq)]
    pub struct DerivedFrom {
        /// Kind of the plan.
        pub kind: String = any(),
        /// SHA-256 of the scenario of that plan (without `name`).
        pub scenario_sha256: String = any(),
        /// SHA-256 of the content of that plan's file.
        pub plan_sha256: String = any(),
    }
}

record! {
    /// A reconfiguration: circuits change at this time of every iteration.
    #[derive(Copy)]
    pub struct Switching {
        /// Number of the reconfiguration within the iteration, from 1.
        pub phase: u32 = within(1..=1_000_000),
        /// Time in the iteration, seconds.
        pub time_s: f64 = within(0.0..=1e12),
        /// Time of one iteration, seconds.
        pub period_s: f64 = within(0.0..=1e12),
        /// Time from setting a circuit until it carries traffic, seconds.
        pub delay_s: f64 = within(0.0..=1e12),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn circuits_at_failed_ports_do_not_work() {
        let circuit = |switch| PlacedCircuit { switch, pod_a: 0, port_a: 0, pod_b: 1, port_b: 0 };
        let failed = |side_b| PlacedPort { switch: 1, pod: 1, side_b, port: 0 };
        let mut places = CircuitPlaces { circuits: vec![circuit(0), circuit(1)], ..CircuitPlaces::default() };
        let working = |places: &CircuitPlaces| places.working().copied().collect::<Vec<_>>();
        assert_eq!(working(&places).len(), 2);
        places.failed_ports = vec![failed(true)];
        assert_eq!(working(&places), [circuit(0)]);
        // Without sides, both ends are ports of side A.
        places.single_sided = true;
        assert_eq!(working(&places).len(), 2);
        places.failed_ports = vec![failed(false)];
        assert_eq!(working(&places), [circuit(0)]);
    }

    #[test]
    fn a_circuit_costs_a_port_at_each_end() {
        let matrix = CircuitMatrix {
            pods: vec!["a".into(), "b".into(), "c".into()],
            ports_per_pod: vec![4, 4, 4],
            circuits: vec![(0, 1, 2), (1, 2, 1)],
            ..CircuitMatrix::default()
        };
        assert_eq!(matrix.ports_used(), [2, 3, 1]);
    }
}
