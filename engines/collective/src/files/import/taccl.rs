//! Scenarios from topologies of TACCL, with the sketch of a schedule beside them or without.

use super::{add_demand, given_sort};
use crate::scenario::families::{FamilySort, NetworkFamily};
use crate::scenario::presets;
use crate::scenario::{
    CollectiveScenario, LinkRecord, NodeRecord, NodeSort, SwitchHop, SwitchModel, Topology,
};
use lightbay_core::format::{FormatInfo, Input, SubjectSort, scenario_name};
use lightbay_core::param::{ParamInfo, Params};
use lightbay_core::problem::{Problem, Problems, printable};
use lightbay_formats::detect::open;
use lightbay_formats::taccl::{Megabyte, TacclSketch, TacclTopology, read_sketch, read_taccl};
use lightbay_formats::{Format, Imported, Limits};
use std::collections::{BTreeMap, BTreeSet};

/// Name of the format.
pub const NAME: &str = "taccl";

/// Nodes of a topology of which nothing says how many there are.
const NODES: u32 = 1;
/// Most nodes.
const MOST_NODES: i64 = 1024;

/// The format.
pub(super) fn format() -> FormatInfo {
    FormatInfo::new(
        NAME,
        "A topology of TACCL, and the sketch of a schedule if there is one: GPUs and links of the nodes, which GPUs talk \
         to other nodes, and chunks.",
        SubjectSort::Scenario,
        "json",
    )
    .leaving_out(&["the costs that hide latencies (betas)", "the strategies, order and symmetries of a sketch"])
    .with(vec![
        super::collective(),
        super::buffer(),
        ParamInfo::int("nodes", 1, MOST_NODES, i64::from(NODES), "Nodes. Default: those of the sketch, or 1.")
            .derived(),
        ParamInfo::text(
            "connections",
            "GPUs that send to other nodes with those that they send to, by their numbers in the nodes, '0:1, 2:3'. \
             Default: those of the sketch.",
        ),
        ParamInfo::choice("mb", &["1e6", "2^20"], "1e6", "Bytes of the megabyte that costs are given by. Default: 1e6.")
            .derived(),
    ])
}

/// Makes a scenario of a topology and perhaps a sketch, with the name of the file of the topology.
///
/// # Errors
/// Every problem of the files, and everything that they and the parameters leave open.
pub(super) fn read(
    inputs: &[Input],
    params: &Params,
) -> Result<(String, Imported<CollectiveScenario>), Problems> {
    let (file, sketch) = sorted(inputs)?;
    let read = read_taccl(file.bytes.as_slice(), &Limits::default())
        .map_err(|problems| problems.named(&file.name))?;
    let sketch = match sketch {
        None => None,
        Some(input) => Some(
            read_sketch(input.bytes.as_slice(), &Limits::default())
                .map_err(|problems| problems.named(&input.name))?,
        ),
    };
    let name = scenario_name(&file.name, NAME);
    let megabyte = match params.text("mb") {
        Some("2^20") => Megabyte::Binary,
        _ => Megabyte::Decimal,
    };
    let nodes = params.int("nodes").map(|nodes| nodes as u32);
    let nodes = nodes.or(sketch.as_ref().map(|sketch| sketch.nodes));
    let connections = match params.text("connections") {
        Some(text) => connections(text)?,
        None => sketch.as_ref().map(|sketch| sketch.connections.clone()).unwrap_or_default(),
    };
    let mut network = TacclNetwork {
        given: &read.value,
        megabyte,
        count: nodes.unwrap_or(NODES),
        nodes: Vec::new(),
        links: Vec::new(),
        notes: Vec::new(),
    };
    let inner = network.inside()?;
    network.between(&connections)?;
    let TacclNetwork { nodes: records, links, notes, .. } = network;
    let topology = Topology {
        name: name.clone(),
        nodes: records,
        links,
        switch_model: SwitchModel { copy: false, hop: SwitchHop::CutThrough, reduce: false },
        symmetry_generators: Vec::new(),
        notes: String::new(),
    };
    let switches = topology.nodes.iter().any(|node| node.kind == NodeSort::Switch);
    let demand = super::demand(params, sketch.as_ref().map_or(1, |sketch| sketch.chunks));
    let mut made = read.map(|_| presets::of(topology, None, demand));
    made.notes.extend(notes);
    made.assumed.retain(|assumed| match assumed.set_with.as_str() {
        "mb=" => params.text("mb").is_none(),
        // The file can say the wiring; where its name stands for one, that is the network taken.
        _ => inner == InnerWiring::Named,
    });
    if nodes.is_none() {
        made.assume("number of nodes", NODES.to_string(), "nodes=, or the sketch beside the topology");
    }
    if switches {
        made.assume("copies by switches", "none", "switch_copy= of the scenario");
        if given_sort(params).reduces() {
            made.assume("sums in switches", "none", "switch_reduce= of the scenario");
        }
    }
    add_demand(&mut made, params);
    if let Some(sketch) = &sketch {
        made.notes.extend(left_aside(sketch, inner));
    }
    Ok((name, made))
}

/// The topology among the inputs, and the sketch.
fn sorted(inputs: &[Input]) -> Result<(&Input, Option<&Input>), Problems> {
    let (mut topology, mut sketch) = (None, None);
    let mut problems = Problems::new();
    for input in inputs {
        let format = open(input.bytes.as_slice(), &Limits::default())
            .map_err(|problem| Problems::from(problem).named(&input.name))?
            .format;
        // Whatever else it is: the reader of topologies says so.
        let place = if format == Format::TacclSketch { &mut sketch } else { &mut topology };
        if let Some(before) = place.replace(input) {
            let message = format!("is given beside {}", before.name);
            problems.add(input.name.clone(), message, "give one topology, and one sketch at most");
        }
    }
    problems.into_result(())?;
    let topology = topology.ok_or_else(|| {
        let remedy = "add the topology, which gives gpus_per_node, alpha and the costs of links";
        Problem::new("", "none of the files is a topology of TACCL", remedy)
    })?;
    Ok((topology, sketch))
}

/// `0:1, 2:3` as GPUs that send with those that they send to.
fn connections(text: &str) -> Result<BTreeMap<u32, Vec<u32>>, Problem> {
    let mut found: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for entry in text.split(',').map(str::trim).filter(|entry| !entry.is_empty()) {
        let pair = entry
            .split_once(':')
            .and_then(|(from, to)| Some((from.trim().parse::<u32>().ok()?, to.trim().parse::<u32>().ok()?)));
        let Some((from, to)) = pair else {
            let message = format!("has '{}'", printable(entry));
            return Err(Problem::new("connections", message, "write SENDER:RECEIVER, such as '0:1, 2:3'"));
        };
        found.entry(from).or_default().push(to);
    }
    Ok(found)
}

/// Parts of a sketch that say how a schedule is to be found, one sentence.
fn left_aside(sketch: &TacclSketch, inner: InnerWiring) -> Option<String> {
    let mut parts = Vec::new();
    if !sketch.symmetry_offsets.is_empty() {
        parts.push("symmetry_offsets (symmetries of the network are found)");
    }
    if !sketch.senders.is_empty() {
        parts.push("gpus_to_sender_rev_map");
    }
    if sketch.ordered {
        parts.push("enforce_ordering");
    }
    if !sketch.switch_strategies.is_empty() {
        parts.push("switch_hyperedge_strategy");
    }
    if !sketch.switches.is_empty() && inner == InnerWiring::Listed {
        parts.push("switches (the links of the topology are taken as they are)");
    }
    (!parts.is_empty()).then(|| format!("of no use here: {} of the sketch", parts.join(", ")))
}

/// Origin of the wiring inside of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum InnerWiring {
    /// The matrix of the file.
    Listed,
    /// The machine that the name of the file begins with.
    Named,
}

/// A network under construction.
struct TacclNetwork<'a> {
    given: &'a TacclTopology,
    megabyte: Megabyte,
    /// Nodes of the cluster.
    count: u32,
    nodes: Vec<NodeRecord>,
    links: Vec<LinkRecord>,
    notes: Vec<String>,
}

/// Direction of traffic at a network card.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum CardSide {
    Sends,
    Receives,
}

impl TacclNetwork<'_> {
    fn node(&mut self, name: String, kind: NodeSort, group: Option<u32>) -> u32 {
        let id = self.nodes.len() as u32;
        self.nodes.push(NodeRecord { id, name, kind, group });
        id
    }

    /// The rate of a cost, to a millionth of a GB/s.
    fn rate(&self, us_per_mb: f64) -> f64 {
        (self.megabyte.gbyte_per_s(us_per_mb) * 1e6).round() / 1e6
    }

    fn link(&mut self, from: u32, to: u32, us_per_mb: f64, alpha_us: f64, kind: &str) {
        let rate = self.rate(us_per_mb);
        self.links.push(LinkRecord::new(from, to, rate, alpha_us, kind));
    }

    /// GPUs and what joins them inside of their nodes.
    fn inside(&mut self) -> Result<InnerWiring, Problems> {
        let given = self.given;
        let gpus = given.gpus_per_node;
        if u64::from(gpus) * u64::from(self.count) > crate::scenario::MAX_NODES as u64 {
            let message = format!("gives {} nodes of {gpus} GPUs", self.count);
            return Err(Problem::new("nodes", message, "give fewer nodes").into());
        }
        for group in 0..self.count {
            for gpu in 0..gpus {
                self.node(format!("c{group}.g{}", group * gpus + gpu), NodeSort::Gpu, Some(group));
            }
        }
        if let Some(wiring) = &given.links {
            self.listed(wiring)?;
            return Ok(InnerWiring::Listed);
        }
        let name = given.name.to_ascii_lowercase();
        match (name.starts_with("ndv2"), name.starts_with("dgx2")) {
            (true, _) => self.cube_mesh()?,
            (_, true) => self.switched()?,
            _ => {
                let message = format!("is '{}', whose wiring is not known here", printable(&given.name));
                let remedy =
                    "begin it with NDv2 or DGX2, or give the wiring as matrices links, betas and invbws";
                return Err(Problem::new("name", message, remedy).into());
            }
        }
        Ok(InnerWiring::Named)
    }

    fn listed(&mut self, wiring: &[Vec<f64>]) -> Result<(), Problems> {
        let given = self.given;
        let Some(costs) = &given.link_invbws_us_per_mb else {
            let problem = Problem::new("invbws", "is missing beside links", "add the inverse bandwidths");
            return Err(problem.into());
        };
        let mut problems = Problems::new();
        let mut several = false;
        for (to, row) in wiring.iter().enumerate() {
            for (from, count) in row.iter().enumerate().filter(|(_, count)| **count > 0.0) {
                let cost = costs.get(to).and_then(|row| row.get(from)).copied().unwrap_or(0.0);
                if from == to {
                    problems.add(
                        format!("links[{to}][{from}]"),
                        format!("is {count}"),
                        "no GPU links to itself",
                    );
                } else if cost <= 0.0 {
                    problems.add(
                        format!("invbws[{to}][{from}]"),
                        format!("is {cost}"),
                        "give the cost of the link",
                    );
                } else {
                    several |= *count != 1.0;
                    for group in 0..self.count {
                        let first = group * given.gpus_per_node;
                        self.link(first + from as u32, first + to as u32, cost, given.alpha_us, "link");
                    }
                }
            }
        }
        if several {
            self.notes.push(
                "entries of links other than 1 count as one: the inverse bandwidth is that of the pair"
                    .to_owned(),
            );
        }
        problems.into_result(())
    }

    /// The costs of so many classes of links.
    fn classes(&self, gpus: u32, classes: usize) -> Result<&[f64], Problems> {
        let given = self.given;
        let mut problems = Problems::new();
        let name = printable(&given.name);
        if given.gpus_per_node != gpus {
            let message = format!("is {}", given.gpus_per_node);
            problems.add("gpus_per_node", message, format!("a node of {name} has {gpus}"));
        }
        let costs = &given.invbws_us_per_mb;
        if costs.len() != classes {
            let message = format!("has {} costs", costs.len());
            problems.add("node_invbws_list", message, format!("{name} has {classes}"));
        }
        problems.into_result(costs.as_slice())
    }

    /// The hybrid cube mesh: pairs with two NVLinks, then pairs with one.
    fn cube_mesh(&mut self) -> Result<(), Problems> {
        let costs = self.classes(8, 2)?.to_vec();
        let cube = NetworkFamily { network: FamilySort::Dgx1, size: vec![1] }.topology()?;
        let fastest = cube.links.iter().map(|link| link.capacity_gbyte_per_s).fold(0.0, f64::max);
        for group in 0..self.count {
            for link in &cube.links {
                let class = usize::from(link.capacity_gbyte_per_s < fastest);
                let alpha_us = self.given.alpha_us;
                self.link(8 * group + link.from, 8 * group + link.to, costs[class], alpha_us, "nvlink");
            }
        }
        Ok(())
    }

    /// All GPUs of a node at one switch. The latency from GPU to GPU is paid half on the way in and half on the way out.
    fn switched(&mut self) -> Result<(), Problems> {
        let cost = self.classes(16, 1)?.first().copied().unwrap_or_default();
        for group in 0..self.count {
            let switch = self.node(format!("c{group}.sw"), NodeSort::Switch, Some(group));
            for gpu in 16 * group..16 * (group + 1) {
                let alpha_us = self.given.alpha_us / 2.0;
                self.link(gpu, switch, cost, alpha_us, "nvlink");
                self.link(switch, gpu, cost, alpha_us, "nvlink");
            }
        }
        Ok(())
    }

    /// Network card of a GPU, by its number in the node.
    const fn card(&self, gpu: u32) -> u32 {
        (gpu as u64 * self.given.nics_per_node as u64 / self.given.gpus_per_node as u64) as u32
    }

    /// Links between nodes: one from sender to receiver where each has a network card of its own and there are two nodes,
    /// else by way of switches.
    fn between(&mut self, connections: &BTreeMap<u32, Vec<u32>>) -> Result<(), Problems> {
        let given = self.given;
        if self.count == 1 {
            return Ok(());
        }
        let mut problems = Problems::new();
        if given.nics_per_node == 0 {
            problems.add("nics_per_node", "is 0 or missing", "give the network cards, or nodes=1");
        } else if given.remote_invbw_us_per_mb <= 0.0 {
            let message = format!("is {}", given.remote_invbw_us_per_mb);
            problems.add("remote_invbw", message, "give the cost of a link between nodes");
        }
        if connections.values().all(Vec::is_empty) {
            problems.add(
                "connections",
                format!("is missing, so nothing says which GPUs of {} nodes talk to each other", self.count),
                "add the sketch with its internode_conn, or --set connections=0:1",
            );
        }
        for gpu in connections.keys().chain(connections.values().flatten()) {
            if *gpu >= given.gpus_per_node {
                let message = format!("names GPU {gpu}");
                problems.add("connections", message, format!("a node has {}", given.gpus_per_node));
            }
        }
        problems.into_result(())?;
        let pairs: BTreeSet<(u32, u32)> =
            connections.iter().flat_map(|(from, to)| to.iter().map(|to| (*from, *to))).collect();
        let alone = |cards: Vec<u32>| {
            let several = cards.len();
            several == cards.into_iter().collect::<BTreeSet<_>>().len()
        };
        let own_cards = alone(pairs.iter().map(|(from, _)| self.card(*from)).collect())
            && alone(pairs.iter().map(|(_, to)| self.card(*to)).collect());
        let gpus = given.gpus_per_node;
        let (cost, alpha_us) = (given.remote_invbw_us_per_mb, given.remote_alpha_us);
        if self.count == 2 && own_cards {
            for (here, there) in [(0, 1), (1, 0)] {
                for (from, to) in &pairs {
                    self.link(here * gpus + from, there * gpus + to, cost, alpha_us, "infiniband");
                }
            }
            return Ok(());
        }
        self.notes.push(
            "GPUs that share a network card, and more than two nodes, are joined by switches: a card carries its rate each way"
                .to_owned(),
        );
        for part in self.parts(&pairs) {
            self.fabric(&part);
        }
        Ok(())
    }

    /// Pairs of senders and receivers by part: those of one part share GPUs or network cards, directly or through others.
    fn parts(&self, pairs: &BTreeSet<(u32, u32)>) -> Vec<BTreeSet<(u32, u32)>> {
        let cards = |pair: &(u32, u32)| [self.card(pair.0), self.card(pair.1)];
        let mut parts: Vec<BTreeSet<(u32, u32)>> = Vec::new();
        for pair in pairs {
            let [sends, receives] = cards(pair);
            let joined = |part: &BTreeSet<(u32, u32)>| {
                part.iter().map(cards).any(|[from, to]| from == sends || to == receives)
            };
            let (with, mut apart): (Vec<_>, Vec<_>) = parts.into_iter().partition(joined);
            let mut whole = BTreeSet::from([*pair]);
            whole.extend(with.into_iter().flatten());
            apart.push(whole);
            parts = apart;
        }
        parts
    }

    /// A switch for the senders and receivers of a part, and one for each network card that several of them share. Latency is paid half on each side of the switch in the middle.
    fn fabric(&mut self, pairs: &BTreeSet<(u32, u32)>) {
        let given = self.given;
        let (cost, half_us) = (given.remote_invbw_us_per_mb, given.remote_alpha_us / 2.0);
        let senders: BTreeSet<u32> = pairs.iter().map(|(from, _)| *from).collect();
        let receivers: BTreeSet<u32> = pairs.iter().map(|(_, to)| *to).collect();
        if pairs.len() != senders.len() * receivers.len() {
            self.notes.push(format!(
                "every one of the senders {senders:?} reaches every one of the receivers {receivers:?}, because they meet at \
                 one switch"
            ));
        }
        let first = senders.first().copied().unwrap_or_default();
        let core = self.node(format!("fabric{first}"), NodeSort::Switch, None);
        for group in 0..self.count {
            for (side, gpus) in [(CardSide::Sends, &senders), (CardSide::Receives, &receivers)] {
                let mut at_card: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
                for gpu in gpus {
                    at_card.entry(self.card(*gpu)).or_default().push(group * given.gpus_per_node + gpu);
                }
                for (card, gpus) in at_card {
                    let end = match gpus.as_slice() {
                        [gpu] => *gpu,
                        _ => {
                            let word = if side == CardSide::Sends { "out" } else { "in" };
                            let name = format!("c{group}.nic{card}.{word}");
                            let shared = self.node(name, NodeSort::Switch, Some(group));
                            for gpu in gpus {
                                let [from, to] =
                                    if side == CardSide::Sends { [gpu, shared] } else { [shared, gpu] };
                                self.link(from, to, cost, 0.0, "pcie");
                            }
                            shared
                        }
                    };
                    let [from, to] = if side == CardSide::Sends { [end, core] } else { [core, end] };
                    self.link(from, to, cost, half_us, "infiniband");
                }
            }
        }
    }
}
