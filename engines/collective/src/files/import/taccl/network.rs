//! Networks of topologies of TACCL: nodes by their wiring, and the links between nodes.

use super::InnerWiring;
use crate::scenario::families::{FamilySort, NetworkFamily};
use crate::scenario::{LinkRecord, NodeRecord, NodeSort};
use lightbay_core::problem::{Problem, Problems, printable};
use lightbay_formats::taccl::{Megabyte, TacclTopology};
use std::collections::{BTreeMap, BTreeSet};

/// A network under construction.
pub(super) struct TacclNetwork<'a> {
    pub(super) given: &'a TacclTopology,
    pub(super) megabyte: Megabyte,
    /// Number of nodes (machines) of the cluster.
    pub(super) count: u32,
    pub(super) nodes: Vec<NodeRecord>,
    pub(super) links: Vec<LinkRecord>,
    pub(super) notes: Vec<String>,
}

/// Direction of traffic at a NIC.
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

    /// Converts a cost, µs per MB, to a rate, GB/s, rounded to a millionth.
    fn rate(&self, us_per_mb: f64) -> f64 {
        (self.megabyte.gbyte_per_s(us_per_mb) * 1e6).round() / 1e6
    }

    fn link(&mut self, from: u32, to: u32, us_per_mb: f64, alpha_us: f64, kind: &str) {
        let rate = self.rate(us_per_mb);
        self.links.push(LinkRecord::new(from, to, rate, alpha_us, kind));
    }

    /// Adds the GPUs, and the links inside their nodes; returns the data from which these links were taken.
    pub(super) fn inside(&mut self) -> Result<InnerWiring, Problems> {
        let given = self.given;
        let gpus = given.gpus_per_node;
        if u64::from(gpus) * u64::from(self.count) > crate::scenario::MAX_NODES as u64 {
            let message = format!(
                "gives {} nodes of {gpus} GPUs, but a collective supports at most {} GPUs",
                self.count,
                crate::scenario::MAX_NODES
            );
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
                let message = format!("is '{}', whose wiring is unknown", printable(&given.name));
                let remedy = "use a name that begins with NDv2 or DGX2, or give the wiring as matrices links, betas \
                     and invbws";
                return Err(Problem::new("name", message, remedy).into());
            }
        }
        Ok(InnerWiring::Named)
    }

    fn listed(&mut self, wiring: &[Vec<f64>]) -> Result<(), Problems> {
        let given = self.given;
        let Some(costs) = &given.link_invbws_us_per_mb else {
            let problem =
                Problem::new("invbws", "is missing although links are given", "add the inverse bandwidths");
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
                        "set 0: a GPU has no link to itself",
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
                "entries of `links` other than 1 count as 1: the inverse bandwidth applies to all links of a \
                 pair together"
                    .to_owned(),
            );
        }
        problems.into_result(())
    }

    /// Returns the costs of the link classes.
    fn classes(&self, gpus: u32, classes: usize) -> Result<&[f64], Problems> {
        let given = self.given;
        let mut problems = Problems::new();
        let name = printable(&given.name);
        if given.gpus_per_node != gpus {
            let message = format!("is {}", given.gpus_per_node);
            problems.add("gpus_per_node", message, format!("a node of {name} has {gpus} GPUs"));
        }
        let costs = &given.invbws_us_per_mb;
        if costs.len() != classes {
            let message = format!("has {} costs", costs.len());
            problems.add("node_invbws_list", message, format!("give {classes} costs for {name}"));
        }
        problems.into_result(costs.as_slice())
    }

    /// Adds the links of a hybrid cube mesh: first pairs with two NVLinks, then pairs with one NVLink.
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

    /// Connects all GPUs of a node to one switch. Half of the GPU-to-GPU latency is on the link into the switch and
    /// half on the link out of it.
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

    /// Returns the NIC of a GPU, by the number of the GPU in the node.
    const fn card(&self, gpu: u32) -> u32 {
        (gpu as u64 * self.given.nics_per_node as u64 / self.given.gpus_per_node as u64) as u32
    }

    /// Adds the links between nodes: direct links from sender to receiver if there are two nodes and each GPU has its
    /// own NIC, else links through switches.
    pub(super) fn between(&mut self, connections: &BTreeMap<u32, Vec<u32>>) -> Result<(), Problems> {
        let given = self.given;
        if self.count == 1 {
            return Ok(());
        }
        let mut problems = Problems::new();
        if given.nics_per_node == 0 {
            problems.add("nics_per_node", "is 0 or missing", "set the NICs, or nodes=1");
        } else if given.remote_invbw_us_per_mb <= 0.0 {
            let message = format!("is {}", given.remote_invbw_us_per_mb);
            problems.add("remote_invbw", message, "set the cost of a link between nodes");
        }
        if connections.values().all(Vec::is_empty) {
            problems.add(
                "connections",
                format!("is missing, so the GPUs that connect the {} nodes are unknown", self.count),
                "add the sketch with its internode_conn, or --set connections=0:1",
            );
        }
        for gpu in connections.keys().chain(connections.values().flatten()) {
            if *gpu >= given.gpus_per_node {
                let message = format!("names GPU {gpu}");
                problems.add(
                    "connections",
                    message,
                    format!("a node has {} GPUs, numbered from 0", given.gpus_per_node),
                );
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
            "switches join the GPUs that connect the nodes, because GPUs share a NIC or there are more than \
             two nodes; a NIC carries its rate in each direction"
                .to_owned(),
        );
        for part in self.parts(&pairs) {
            self.fabric(&part);
        }
        Ok(())
    }

    /// Returns the pairs of senders and receivers by connected component: pairs of a component share a sending or a
    /// receiving NIC, directly or through other pairs of the component.
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

    /// Connects the senders and receivers of a component to one common switch; GPUs that share a NIC are connected to
    /// it through a switch for this NIC. Half of the latency is on each side of the common switch.
    fn fabric(&mut self, pairs: &BTreeSet<(u32, u32)>) {
        let given = self.given;
        let (cost, half_us) = (given.remote_invbw_us_per_mb, given.remote_alpha_us / 2.0);
        let senders: BTreeSet<u32> = pairs.iter().map(|(from, _)| *from).collect();
        let receivers: BTreeSet<u32> = pairs.iter().map(|(_, to)| *to).collect();
        if pairs.len() != senders.len() * receivers.len() {
            self.notes.push(format!(
                "every one of the senders {senders:?} reaches every one of the receivers {receivers:?}, \
                 because they share one switch"
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
                    let end = if let [gpu] = gpus.as_slice() {
                        *gpu
                    } else {
                        let word = if side == CardSide::Sends { "out" } else { "in" };
                        let name = format!("c{group}.nic{card}.{word}");
                        let shared = self.node(name, NodeSort::Switch, Some(group));
                        for gpu in gpus {
                            let [from, to] =
                                if side == CardSide::Sends { [gpu, shared] } else { [shared, gpu] };
                            self.link(from, to, cost, 0.0, "pcie");
                        }
                        shared
                    };
                    let [from, to] = if side == CardSide::Sends { [end, core] } else { [core, end] };
                    self.link(from, to, cost, half_us, "infiniband");
                }
            }
        }
    }
}
