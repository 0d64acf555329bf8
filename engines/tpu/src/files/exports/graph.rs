//! The links of a pod that carry traffic, as a graph of chips or of cubes.

use crate::model::pod::{self, PORTS, SWITCHES};
use crate::model::topology::Topology;
use lightbay_formats::graph::{Attribute, Graph, Sort, Value};
use std::collections::BTreeMap;

const fn attribute(name: &'static str, sort: Sort) -> Attribute {
    Attribute { name, sort }
}

/// One node for each chip with its cube and position, one edge for each link with its switch (-1 for electrical links).
pub fn chips(name: &str, topology: &Topology, link_gbyte_per_s: f64) -> Graph {
    let node = |node: u32| {
        let (cube, chip) = pod::parts(node);
        let [x, y, z] = pod::position(chip);
        [cube as i64, i64::from(x), i64::from(y), i64::from(z)].map(Value::Int).to_vec()
    };
    let mut edges = Vec::with_capacity(topology.nodes() * PORTS / 2);
    for from in 0..topology.nodes() as u32 {
        let (_, chip) = pod::parts(from);
        let is_edge = |port: &u8| pod::is_plus(*port) && topology.is_open(from, *port);
        for port in (0..PORTS as u8).filter(is_edge) {
            let switch = pod::switch(chip, port);
            let kind = if switch.is_some() { "optical" } else { "electrical" };
            let values = vec![
                Value::Text(kind.to_owned()),
                Value::Int(switch.map_or(-1, |switch| switch as i64)),
                Value::Float(link_gbyte_per_s),
            ];
            edges.push((from, topology.neighbour(from, port), values));
        }
    }
    Graph {
        name: name.to_owned(),
        directed: false,
        node_attributes: ["cube", "x", "y", "z"].map(|name| attribute(name, Sort::Int)).to_vec(),
        edge_attributes: vec![
            attribute("kind", Sort::Text),
            attribute("ocs", Sort::Int),
            attribute("capacity_gbyte_per_s", Sort::Float),
        ],
        nodes: (0..topology.nodes() as u32).map(node).collect(),
        edges,
        drawing: Vec::new(),
    }
}

/// One node for each cube, one edge for each pair of cubes with circuits between them, and one for each cube with
/// circuits to itself.
pub fn cubes(name: &str, topology: &Topology, link_gbyte_per_s: f64) -> Graph {
    let mut circuits: BTreeMap<(u32, u32), i64> = BTreeMap::new();
    for switch in (0..SWITCHES).filter(|&switch| !topology.is_failed(switch)) {
        for cube in 0..topology.cubes() {
            let far = topology.to(switch, cube);
            *circuits.entry((cube.min(far) as u32, cube.max(far) as u32)).or_default() += 1;
        }
    }
    Graph {
        name: name.to_owned(),
        directed: false,
        node_attributes: vec![attribute("chips", Sort::Int)],
        edge_attributes: vec![
            attribute("circuits", Sort::Int),
            attribute("capacity_gbyte_per_s", Sort::Float),
        ],
        nodes: vec![vec![Value::Int(pod::CHIPS as i64)]; topology.cubes()],
        edges: circuits
            .into_iter()
            .map(|((a, b), count)| {
                (a, b, vec![Value::Int(count), Value::Float(count as f64 * link_gbyte_per_s)])
            })
            .collect(),
        drawing: Vec::new(),
    }
}
