//! The network of a collective for graph tools and simulators.
//!
//! | format | reader |
//! |---|---|
//! | `dot`, `graphml`, `edges` | Graphviz, networkx, Gephi, scripts |
//! | `astra` | ASTRA-sim's analytical backend: rings, tori, one switch, full meshes |
//! | `ns3` | SimAI's ns-3 backend |
//! | `anynet` | BookSim |

use crate::scenario::families::FamilySort;
use crate::scenario::{CollectiveScenario, NodeRecord, NodeSort};
use lightbay_core::format::{Artifact, FormatInfo, SubjectSort};
use lightbay_core::problem::{Problem, Problems};
use lightbay_formats::anynet::{self, Anynet};
use lightbay_formats::csv::CsvTable;
use lightbay_formats::graph::{self, Attribute, Graph, Sort, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

const DOT: &str = "dot";
const GRAPHML: &str = "graphml";
const EDGES: &str = "edges";
const ASTRA: &str = "astra";
const NS3: &str = "ns3";
const ANYNET: &str = "anynet";

/// Number of GPUs of a server, for networks without groups.
const USUAL_SERVER: usize = 8;

/// Returns the formats.
pub(super) fn formats() -> Vec<FormatInfo> {
    const DEMAND: &str = "the collective and its sizes";
    const PLAN: &str = "the schedule of a plan";
    const TIMES: &str = "the intervals of links that are not always up";
    const SWITCHES: &str = "whether switches copy and reduce";
    const CHASSIS: &str = "the chassis of the nodes";
    const NAMES: &str = "the names of the nodes";
    let format = |name, help, extension, leaves_out| {
        FormatInfo::new(name, help, SubjectSort::Either, extension).leaving_out(leaves_out)
    };
    vec![
        format(
            DOT,
            "The network for Graphviz, with rates and latencies.",
            "dot",
            &[DEMAND, PLAN, TIMES, SWITCHES],
        ),
        format(
            GRAPHML,
            "The network for networkx, Gephi and yEd, with rates and latencies.",
            "graphml",
            &[DEMAND, PLAN, TIMES, SWITCHES],
        ),
        format(
            EDGES,
            "The links as CSV: source, target, rate, latency, and the type Directed, as Gephi reads it.",
            "csv",
            &[DEMAND, PLAN, TIMES, SWITCHES, "which nodes are switches", CHASSIS],
        ),
        format(
            ASTRA,
            "A network file of ASTRA-sim's analytical backend, for rings, tori, one switch and full meshes.",
            "yml",
            &[DEMAND, PLAN, TIMES, SWITCHES, CHASSIS, NAMES],
        ),
        format(
            NS3,
            "A topology of SimAI's ns-3 backend; every link has the same rate in both directions.",
            "txt",
            &[DEMAND, PLAN, TIMES, SWITCHES, NAMES],
        ),
        format(
            ANYNET,
            "A network of BookSim: every GPU and switch is a router, and a cycle takes 1 ns.",
            "txt",
            &[DEMAND, PLAN, TIMES, SWITCHES, "the rates of the links, latencies below 1 ns", CHASSIS, NAMES],
        ),
    ]
}

/// Returns `true` for the formats of this module.
pub(super) fn writes(format: &str) -> bool {
    formats().iter().any(|known| known.name == format)
}

/// Writes the network without its failed links.
///
/// # Errors
/// A network that the format cannot express.
pub(super) fn file(format: &str, stem: &str, scenario: &CollectiveScenario) -> Result<Artifact, Problems> {
    let network = WireNetwork::of(scenario);
    let text = match format {
        DOT => graph::dot(&network.graph(scenario)),
        GRAPHML => graph::graphml(&network.graph(scenario)),
        EDGES => network.edges(),
        ASTRA => network.astra(scenario)?,
        NS3 => network.ns3(scenario)?,
        _ => network.anynet()?,
    };
    let ending = match format {
        DOT => "dot",
        GRAPHML => "graphml",
        EDGES => "edges.csv",
        ASTRA => "yml",
        NS3 => "ns3.txt",
        _ => "anynet.txt",
    };
    Ok(Artifact::new(format!("{stem}.{ending}"), text))
}

/// A link with its rate and latency.
#[derive(Clone, Copy, Debug, PartialEq)]
struct WireRates {
    gbyte_per_s: f64,
    latency_us: f64,
}

/// Nodes by id, and links by their ends.
struct WireNetwork {
    names: Vec<String>,
    is_gpu: Vec<bool>,
    links: BTreeMap<(u32, u32), WireRates>,
}

impl WireNetwork {
    fn of(scenario: &CollectiveScenario) -> Self {
        let topology = &scenario.topology;
        let failed: BTreeSet<[u32; 2]> = scenario.failed_links.iter().copied().collect();
        let working = topology.links.iter().filter(|link| !failed.contains(&[link.from, link.to]));
        let mut uses: BTreeMap<&str, u32> = BTreeMap::new();
        for node in &topology.nodes {
            *uses.entry(&node.name).or_default() += 1;
        }
        // Names tell the ends of a link apart, so a repeated name gets the number of its node.
        let name = |(id, node): (usize, &NodeRecord)| match uses[node.name.as_str()] {
            1 if !node.name.is_empty() => node.name.clone(),
            _ => format!("{}#{id}", node.name),
        };
        Self {
            names: topology.nodes.iter().enumerate().map(name).collect(),
            is_gpu: topology.nodes.iter().map(|node| node.kind == NodeSort::Gpu).collect(),
            links: working
                .map(|link| {
                    let wire = WireRates {
                        gbyte_per_s: link.capacity_gbyte_per_s / link.beta_scale,
                        latency_us: link.alpha_us * link.alpha_scale,
                    };
                    ((link.from, link.to), wire)
                })
                .collect(),
        }
    }

    fn kind(&self, node: usize) -> &'static str {
        if self.is_gpu[node] { "gpu" } else { "switch" }
    }

    fn graph(&self, scenario: &CollectiveScenario) -> Graph {
        let attribute = |name, sort| Attribute { name, sort };
        let nodes = &scenario.topology.nodes;
        let has_chassis = nodes.iter().any(|node| node.group.is_some());
        let chassis = |node: usize| nodes[node].group.map_or_else(|| Value::Text(String::new()), Value::from);
        let mut node_attributes = vec![attribute("label", Sort::Text), attribute("kind", Sort::Text)];
        node_attributes.extend(has_chassis.then(|| attribute("chassis", Sort::Int)));
        Graph {
            name: scenario.topology.name.clone(),
            directed: true,
            node_attributes,
            edge_attributes: vec![
                attribute("capacity_gbyte_per_s", Sort::Float),
                attribute("latency_us", Sort::Float),
            ],
            nodes: (0..self.names.len())
                .map(|node| {
                    let own = vec![self.names[node].clone().into(), self.kind(node).into()];
                    own.into_iter().chain(has_chassis.then(|| chassis(node))).collect()
                })
                .collect(),
            edges: self
                .links
                .iter()
                .map(|((from, to), wire)| {
                    (*from, *to, vec![Value::Float(wire.gbyte_per_s), Value::Float(wire.latency_us)])
                })
                .collect(),
            drawing: Vec::new(),
        }
    }

    fn edges(&self) -> String {
        let mut table = CsvTable::new(["source", "target", "capacity_gbyte_per_s", "latency_us", "type"]);
        for ((from, to), wire) in &self.links {
            let name = |node: u32| Value::Text(self.names[node as usize].clone());
            table.row([
                name(*from),
                name(*to),
                Value::Float(wire.gbyte_per_s),
                Value::Float(wire.latency_us),
                Value::Text("Directed".to_owned()),
            ]);
        }
        table.into_text()
    }

    /// Returns every pair of linked nodes once, with the rates of its links.
    ///
    /// # Errors
    /// A link without an equal link in the opposite direction.
    fn both_ways(&self, format: &str) -> Result<Vec<(u32, u32, WireRates)>, Problem> {
        let mut pairs = Vec::new();
        for ((from, to), wire) in &self.links {
            if self.links.get(&(*to, *from)) != Some(wire) {
                return Err(self.one_way(format, *from, *to, "equal link"));
            }
            if from < to {
                pairs.push((*from, *to, *wire));
            }
        }
        Ok(pairs)
    }

    /// Returns the problem of a link that lacks a reverse link, for a format whose links have both directions.
    fn one_way(&self, format: &str, from: u32, to: u32, lacks: &str) -> Problem {
        let (from, to) = (&self.names[from as usize], &self.names[to as usize]);
        let message = format!(
            "'{format}' has links in both directions, but the link from {from} to {to} has no {lacks} in the reverse direction"
        );
        Problem::new("to", message, "export graphml or edges, which have directed links")
    }

    fn ns3(&self, scenario: &CollectiveScenario) -> Result<String, Problem> {
        let pairs = self.both_ways(NS3)?;
        // GPUs come first, then switches inside a server, then the others.
        let groups = |node: usize| scenario.topology.nodes[node].group;
        let inside = |node: usize| {
            let own = groups(node);
            let near = pairs.iter().filter_map(|(a, b, _)| match node {
                _ if *a as usize == node => Some(*b as usize),
                _ if *b as usize == node => Some(*a as usize),
                _ => None,
            });
            own.is_some() && near.clone().all(|other| groups(other) == own)
        };
        let nodes = || 0..self.names.len();
        let (gpus, switches): (Vec<usize>, Vec<usize>) = nodes().partition(|node| self.is_gpu[*node]);
        let (nv, other): (Vec<usize>, Vec<usize>) = switches.into_iter().partition(|node| inside(*node));
        let mut sizes: BTreeMap<Option<u32>, usize> = BTreeMap::new();
        for gpu in &gpus {
            *sizes.entry(groups(*gpu)).or_default() += 1;
        }
        let equal = sizes.values().all(|size| Some(size) == sizes.values().next());
        let per_server = match sizes.values().next() {
            Some(size) if equal && !sizes.contains_key(&None) => *size,
            _ => USUAL_SERVER.min(gpus.len()),
        };
        let order: Vec<usize> = gpus.iter().chain(&nv).chain(&other).copied().collect();
        let mut number = vec![0; order.len()];
        for (at, node) in order.iter().enumerate() {
            number[*node] = at;
        }
        let (n, g) = (order.len(), gpus.len());
        let mut text = format!("{n} {per_server} {} {} {} GPU\n", nv.len(), other.len(), pairs.len());
        let list: Vec<String> = (g..n).map(|id| id.to_string()).collect();
        text.push_str(&list.join(" "));
        text.push('\n');
        for (a, b, wire) in &pairs {
            let (a, b) = (number[*a as usize], number[*b as usize]);
            let _ = writeln!(
                text,
                "{} {} {}Gbps {}ms 0",
                a.min(b),
                a.max(b),
                wire.gbyte_per_s * 8.0,
                wire.latency_us / 1e3
            );
        }
        Ok(text)
    }

    fn anynet(&self) -> Result<String, Problem> {
        if let Some((from, to)) = self.links.keys().find(|(from, to)| !self.links.contains_key(&(*to, *from)))
        {
            return Err(self.one_way(ANYNET, *from, *to, "link"));
        }
        let mut net = Anynet::default();
        let gpus = (0_u32..).zip(&self.is_gpu).filter(|(_, is_gpu)| **is_gpu);
        for (node, (router, _)) in (0_u32..).zip(gpus) {
            net.nodes.insert(node, (router, 1));
        }
        for ((from, to), wire) in &self.links {
            // A cycle takes 1 ns.
            let cycles = (wire.latency_us * 1e3).round().clamp(1.0, f64::from(u32::MAX)) as u32;
            net.links.insert((*from, *to), cycles);
        }
        Ok(anynet::write(&net))
    }

    fn astra(&self, scenario: &CollectiveScenario) -> Result<String, Problem> {
        const REMEDY: &str = "export graphml, edges or ns3 instead";
        let pairs = self.both_ways(ASTRA)?;
        let wires: Vec<WireRates> = pairs.iter().map(|(.., wire)| *wire).collect();
        let dimensions = self.dimensions(scenario, &pairs).ok_or_else(|| {
            let message =
                "'astra' expresses rings, tori, one switch and full meshes, which this network is not";
            Problem::new("to", message, REMEDY)
        })?;
        let wire = wires.first().copied().filter(|wire| wires.iter().all(|other| other == wire));
        let Some(wire) = wire else {
            let message = "'astra' has one rate and latency for each dimension, but the links differ";
            return Err(Problem::new("to", message, REMEDY));
        };
        let list = |entry: &dyn Fn(&(&str, u32)) -> String| {
            dimensions.iter().map(entry).collect::<Vec<_>>().join(", ")
        };
        let sorts = list(&|(sort, _)| (*sort).to_owned());
        let counts = list(&|(_, count)| count.to_string());
        let rates = list(&|_| wire.gbyte_per_s.to_string());
        let latencies = list(&|_| (wire.latency_us * 1e3).to_string());
        Ok(format!(
            "# GB/s (1e9 bytes) and ns of a link, per direction\ntopology: [ {sorts} ]\nnpus_count: [ {counts} ]\n\
             bandwidth: [ {rates} ]\nlatency: [ {latencies} ]\n"
        ))
    }

    /// Returns the network as dimensions of ASTRA-sim, each with its type and its number of nodes; `None` if no such
    /// dimensions are found.
    fn dimensions(
        &self,
        scenario: &CollectiveScenario,
        pairs: &[(u32, u32, WireRates)],
    ) -> Option<Vec<(&'static str, u32)>> {
        let count = self.names.len();
        let gpus = self.is_gpu.iter().filter(|is_gpu| **is_gpu).count();
        let mut degree = vec![0_usize; count];
        for (a, b, _) in pairs {
            degree[*a as usize] += 1;
            degree[*b as usize] += 1;
        }
        if gpus + 1 == count {
            let star = pairs.len() == gpus
                && (0..count).all(|node| degree[node] == if self.is_gpu[node] { 1 } else { gpus });
            return star.then_some(vec![("Switch", gpus as u32)]);
        }
        if gpus != count || count < 2 {
            return None;
        }
        // A mesh of two or three nodes is also a ring.
        if pairs.len() == count * (count - 1) / 2 && count > 3 {
            return Some(vec![("FullyConnected", count as u32)]);
        }
        if degree.iter().all(|degree| *degree == 2.min(count - 1)) && self.is_connected(pairs) {
            return Some(vec![("Ring", count as u32)]);
        }
        let family = scenario.family.as_ref().filter(|family| family.network == FamilySort::Torus)?;
        let whole = family.topology().ok()?;
        let links: BTreeSet<(u32, u32)> = whole.links.iter().map(|link| (link.from, link.to)).collect();
        let same = links.len() == self.links.len() && links.iter().all(|ends| self.links.contains_key(ends));
        same.then(|| family.size.iter().map(|size| ("Ring", *size)).collect())
    }

    fn is_connected(&self, pairs: &[(u32, u32, WireRates)]) -> bool {
        let mut near: Vec<Vec<usize>> = vec![Vec::new(); self.names.len()];
        for (a, b, _) in pairs {
            near[*a as usize].push(*b as usize);
            near[*b as usize].push(*a as usize);
        }
        let mut seen = vec![false; near.len()];
        let mut next = vec![0];
        while let Some(node) = next.pop() {
            if !std::mem::replace(&mut seen[node], true) {
                next.extend(&near[node]);
            }
        }
        seen.into_iter().all(|seen| seen)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed expectation should fail the test")]
    use super::*;
    use crate::files::import;
    use crate::scenario::presets;
    use lightbay_core::format::Input;
    use lightbay_core::param::Params;

    fn read(artifact: &Artifact, settings: &[(&str, &str)]) -> CollectiveScenario {
        let info = import::formats().into_iter().find(|info| info.name == "network").unwrap();
        let given: Vec<_> = settings
            .iter()
            .map(|(name, value)| {
                let param = info.params.iter().find(|param| param.name == *name).unwrap();
                (*name, param.parse(value).unwrap())
            })
            .collect();
        let params = Params::resolve(&info.params, given.iter().map(|(name, value)| (*name, value))).unwrap();
        let input = Input { name: artifact.name.clone(), bytes: artifact.bytes.clone() };
        import::import("network", &[input], &params, false).unwrap().scenario.body
    }

    /// Kinds of the nodes, and links as rates and latencies, in a form that does not depend on the order of nodes.
    fn shape(scenario: &CollectiveScenario) -> (usize, Vec<(String, String)>) {
        let network = WireNetwork::of(scenario);
        let gpus = network.is_gpu.iter().filter(|is_gpu| **is_gpu).count();
        let mut links: Vec<(String, String)> = network
            .links
            .iter()
            .map(|((from, to), wire)| {
                let ends = [*from, *to].map(|node| network.kind(node as usize));
                (ends.join(">"), format!("{:.6} {:.6}", wire.gbyte_per_s, wire.latency_us))
            })
            .collect();
        links.sort();
        (gpus, links)
    }

    #[test]
    fn written_networks_are_read_back() {
        for preset in
            ["ring8-allgather-1mb", "torus4x4-allgather-1mb", "dgx1-allgather-200kb", "dgx2x2-allgather-1mb"]
        {
            let Some(scenario) = presets::scenario(preset) else { continue };
            let formats = [DOT, GRAPHML, NS3];
            // The links between these chassis lead in one direction.
            let expressible = if preset.starts_with("dgx2x2") { 2 } else { 3 };
            for format in &formats[..expressible] {
                let read = read(&file(format, "n", &scenario).unwrap(), &[]);
                assert_eq!(shape(&read), shape(&scenario), "{preset} {format}");
                if *format != NS3 {
                    let named = |scenario: &CollectiveScenario| {
                        let nodes = scenario.topology.nodes.iter();
                        nodes.map(|node| (node.name.clone(), node.group)).collect::<Vec<_>>()
                    };
                    assert_eq!(named(&read), named(&scenario), "{preset} {format}");
                }
            }
            let edges = file(EDGES, "n", &scenario).unwrap();
            let read = read(&edges, &[]);
            // Edge lists do not mark switches.
            let rates = |scenario| shape(scenario).1.into_iter().map(|(_, rates)| rates).collect::<Vec<_>>();
            let (mut ours, mut theirs) = (rates(&scenario), rates(&read));
            ours.sort();
            theirs.sort();
            assert_eq!(ours, theirs, "{preset}");
        }
    }

    #[test]
    fn rings_and_tori_are_files_of_astra_sim() {
        for (preset, dimensions) in
            [("ring8-allgather-1mb", "Ring"), ("torus4x4-allgather-1mb", "Ring, Ring")]
        {
            let scenario = presets::scenario(preset).unwrap();
            let written = file(ASTRA, "n", &scenario).unwrap();
            let text = String::from_utf8(written.bytes.clone()).unwrap();
            assert!(text.contains(&format!("topology: [ {dimensions} ]")), "{text}");
            assert_eq!(shape(&read(&written, &[])), shape(&scenario), "{preset}");
        }
        let cube = presets::scenario("dgx1-allgather-200kb").unwrap();
        let said = file(ASTRA, "n", &cube).unwrap_err().to_string();
        assert!(said.contains("which this network is not"), "{said}");
        let mut broken = presets::scenario("ring8-allgather-1mb").unwrap();
        broken.failed_links = vec![[0, 1]];
        let said = file(NS3, "n", &broken).unwrap_err().to_string();
        assert!(said.contains("has no equal link in the reverse direction"), "{said}");
    }

    #[test]
    fn routers_of_booksim_have_latencies_in_nanoseconds() {
        let ring = presets::scenario("ring8-allgather-1mb").unwrap();
        let text = String::from_utf8(file(ANYNET, "n", &ring).unwrap().bytes).unwrap();
        let net = anynet::read(&text).unwrap();
        assert_eq!((net.nodes.len(), net.links.len()), (8, 16));
        let latency = (ring.topology.links[0].alpha_us * 1e3).round().max(1.0) as u32;
        assert!(net.links.values().all(|cycles| *cycles == latency));
    }
}
