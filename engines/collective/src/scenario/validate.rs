//! Contradictions between fields, which a reader of single fields cannot find.

use super::demand::{CollectiveSort, Demand};
use super::{
    CollectiveScenario, EpochRule, MAX_CHUNKS, MAX_DELIVERIES, MAX_LINKS, MAX_NODES, NodeSort, Topology,
};
use crate::scenario::network::LinkNetwork;
use lightbay_core::problem::Problems;
use rustc_hash::{FxHashMap, FxHashSet};

impl CollectiveScenario {
    /// Checks the whole scenario, including whether every destination can be reached.
    ///
    /// # Errors
    /// All problems; if the topology or the times have problems, only these.
    pub fn validate(&self) -> Result<(), Problems> {
        let mut problems = Problems::new();
        self.topology.validate(&mut problems);
        self.validate_time(&mut problems);
        if !problems.is_empty() {
            return Err(problems);
        }
        self.validate_family(&mut problems);
        self.validate_failed(&mut problems);
        self.validate_sizes(&mut problems);
        self.demand.validate(&self.topology, &mut problems);
        let network = match LinkNetwork::in_order(self) {
            Ok(network) => network,
            Err(wrong) => {
                problems.extend(wrong);
                return Err(problems);
            }
        };
        if problems.is_empty() {
            self.validate_reach(&network, &mut problems);
        }
        problems.into_result(())
    }

    fn validate_time(&self, problems: &mut Problems) {
        let time = &self.time;
        match (time.epoch, time.epoch_us) {
            (EpochRule::Fixed, None) => {
                problems.add("time.epoch_us", "is missing, but 'epoch' is 'fixed'", "add it");
            }
            (EpochRule::Fixed, Some(_)) if time.epoch_multiplier != 1.0 => problems.add(
                "time.epoch_multiplier",
                "has no effect with epochs of fixed length",
                "omit it, or change epoch_us",
            ),
            (EpochRule::Fixed, Some(_)) | (_, None) => {}
            (rule, Some(_)) => problems.add(
                "time.epoch_us",
                format!("has no effect, because 'epoch' is '{}'", rule.word()),
                "omit it, or set epoch to fixed",
            ),
        }
    }

    /// Checks that the family that a scenario names has the nodes and links of the scenario; rates may differ.
    fn validate_family(&self, problems: &mut Problems) {
        let Some(family) = &self.family else { return };
        let usual = match family.topology() {
            Ok(usual) => usual,
            Err(problem) => return problems.add("family", problem.message, problem.remedy),
        };
        let kinds = |topology: &Topology| topology.nodes.iter().map(|node| node.kind).collect::<Vec<_>>();
        let ends = |topology: &Topology| {
            topology.links.iter().map(|link| (link.from, link.to)).collect::<FxHashSet<(u32, u32)>>()
        };
        if kinds(&usual) != kinds(&self.topology) || ends(&usual) != ends(&self.topology) {
            let size = family.size.iter().map(u32::to_string).collect::<Vec<_>>().join("x");
            problems.add(
                "family",
                format!(
                    "is {} {size}, but this family has other nodes and links than 'topology'",
                    family.network.word()
                ),
                "remove 'family', or set the family to which the topology belongs",
            );
        }
    }

    fn validate_failed(&self, problems: &mut Problems) {
        let links: FxHashSet<(u32, u32)> =
            self.topology.links.iter().map(|link| (link.from, link.to)).collect();
        let mut seen = FxHashSet::default();
        for (index, &[from, to]) in self.failed_links.iter().enumerate() {
            let path = format!("failed_links[{index}]");
            if !links.contains(&(from, to)) {
                problems.add(path, format!("contains {from}->{to}, where no link exists"), "name a link");
            } else if !seen.insert((from, to)) {
                problems.add(path, format!("repeats {from}->{to}"), "name it once");
            }
        }
    }

    /// Adds a problem for destinations without a path, at most one for each source and direction, and for time-varying
    /// links of a collective that is planned backwards.
    fn validate_reach(&self, network: &LinkNetwork, problems: &mut Problems) {
        let chunks = self.demand.expand(&self.topology);
        let backwards = self.demand.collective.starts_backwards();
        if backwards && network.links().iter().any(|link| !link.up_us.is_empty()) {
            problems.add(
                "demand.collective",
                format!(
                    "is {}, which is planned on the reversed network and does not support time-varying links",
                    self.demand.collective.label()
                ),
                "omit 'up_us', or use another collective",
            );
        }
        let both = self.demand.collective == CollectiveSort::AllReduce;
        for turned in [false, true].into_iter().filter(|turned| both || *turned == backwards) {
            let turned_round = turned.then(|| network.reversed());
            let network = turned_round.as_ref().unwrap_or(network);
            let mut reached: FxHashMap<u32, Vec<bool>> = FxHashMap::default();
            let mut told: FxHashSet<u32> = FxHashSet::default();
            for chunk in 0..chunks.len() {
                let source = chunks.source(chunk);
                let reached = reached.entry(source).or_insert_with(|| reach(network, source));
                let lost = chunks.dests(chunk).find(|&dest| !reached[dest as usize]);
                if let Some(dest) = lost.filter(|_| told.insert(source)) {
                    let (from, to) = if turned { (dest, source) } else { (source, dest) };
                    problems.add(
                        "demand",
                        format!("no path from node {from} to node {to}"),
                        "add links, repair failed links, or leave one of the two nodes out",
                    );
                }
            }
        }
    }
}

/// Returns, for every node, whether a path from the source reaches it.
fn reach(network: &LinkNetwork, source: u32) -> Vec<bool> {
    let mut reached = vec![false; network.node_count()];
    reached[source as usize] = true;
    let mut open = vec![source];
    while let Some(node) = open.pop() {
        for &link in network.out_links(node) {
            let to = network.links()[link as usize].to;
            if !std::mem::replace(&mut reached[to as usize], true) {
                open.push(to);
            }
        }
    }
    reached
}

impl Topology {
    fn validate(&self, problems: &mut Problems) {
        let (nodes, links) = (self.nodes.len(), self.links.len());
        if nodes == 0 || nodes > MAX_NODES || links > MAX_LINKS {
            let remedy = format!("use 1 to {MAX_NODES} nodes and at most {MAX_LINKS} links");
            problems.add("topology", format!("has {nodes} nodes and {links} links"), remedy);
            return;
        }
        for (index, node) in self.nodes.iter().enumerate() {
            if node.id as usize != index {
                problems.add(
                    format!("topology.nodes[{index}].id"),
                    format!("is {}", node.id),
                    format!("list the nodes in ascending order: {index} is expected here"),
                );
            }
            if let Some(group) = node.group.filter(|group| *group as usize >= nodes) {
                let path = format!("topology.nodes[{index}].group");
                let remedy = format!("number the groups from 0 to at most {}", nodes - 1);
                problems.add(path, format!("is {group}"), remedy);
            }
        }
        if self.gpus().next().is_none() {
            problems.add("topology.nodes", "has no GPU", "add nodes of kind 'gpu'");
        }
        let mut seen: FxHashMap<(u32, u32), usize> = FxHashMap::default();
        for (index, link) in self.links.iter().enumerate() {
            let path = || format!("topology.links[{index}]");
            for (end, node) in [("from", link.from), ("to", link.to)] {
                if node as usize >= nodes {
                    let remedy = format!("nodes are 0 to {}", nodes - 1);
                    problems.add(format!("{}.{end}", path()), format!("is {node}"), remedy);
                }
            }
            if link.from == link.to {
                problems.add(path(), format!("connects node {} to itself", link.from), "leave it out");
            }
            if let Some(first) = seen.insert((link.from, link.to), index) {
                problems.add(
                    path(),
                    format!("repeats links[{first}] from node {} to node {}", link.from, link.to),
                    "merge links between the same nodes: add their rates; they must have the same latency",
                );
            }
            if !(link.capacity_gbyte_per_s.is_finite() && link.capacity_gbyte_per_s > 0.0) {
                problems.add(
                    format!("{}.capacity_gbyte_per_s", path()),
                    format!("is {}", link.capacity_gbyte_per_s),
                    "set a positive rate, or omit the link",
                );
            }
            if !(link.alpha_us.is_finite() && link.alpha_us >= 0.0) {
                let remedy = "set a latency of at least 0";
                problems.add(format!("{}.alpha_us", path()), format!("is {}", link.alpha_us), remedy);
            }
            let mut last = 0.0;
            for (at, &[begin, end]) in link.up_us.iter().enumerate() {
                if !(begin >= last && end > begin && end.is_finite()) {
                    problems.add(
                        format!("{}.up_us[{at}]", path()),
                        format!("is [{begin}, {end}]"),
                        format!("use an interval that begins at {last} or later and ends after its begin"),
                    );
                }
                last = f64::max(last, end);
            }
        }
    }
}

impl Demand {
    fn validate(&self, topology: &Topology, problems: &mut Problems) {
        let nodes = topology.nodes.len();
        let gpu = |path: &str, node: u32, problems: &mut Problems| {
            let kind = topology.nodes.get(node as usize).map(|node| node.kind);
            let (what, remedy) = match kind {
                Some(NodeSort::Gpu) => return true,
                Some(NodeSort::Switch) => {
                    (format!("is {node}, a switch"), "use a GPU: switches store no data")
                }
                None => {
                    let last = nodes.saturating_sub(1);
                    (format!("is {node}, but nodes are 0 to {last}"), "use a GPU of the network")
                }
            };
            problems.add(path, what, remedy);
            false
        };
        self.validate_fields(problems);
        let ranks = |path: &str, ranks: &[u32], root: Option<u32>, problems: &mut Problems| {
            let mut seen = FxHashSet::default();
            for (at, &rank) in ranks.iter().enumerate() {
                let path = format!("{path}.ranks[{at}]");
                if gpu(&path, rank, problems) && !seen.insert(rank) {
                    problems.add(path, format!("repeats GPU {rank}"), "list every GPU once");
                }
            }
            if let Some(root) = root.filter(|&root| root as usize >= ranks.len()) {
                let remedy = format!("use a position in 'ranks': 0 to {}", ranks.len().saturating_sub(1));
                problems.add(format!("{path}.root"), format!("is {root}"), remedy);
            }
        };
        match self.collective {
            CollectiveSort::Custom => {
                for (index, chunk) in self.chunks.iter().enumerate() {
                    let path = format!("demand.chunks[{index}]");
                    gpu(&format!("{path}.source"), chunk.source, problems);
                    let mut seen = FxHashSet::default();
                    for (at, &dest) in chunk.dests.iter().enumerate() {
                        let path = format!("{path}.dests[{at}]");
                        if dest == chunk.source {
                            problems.add(
                                path,
                                format!("is {dest}, the source"),
                                "omit it: the source already has the chunk",
                            );
                        } else if gpu(&path, dest, problems) && !seen.insert(dest) {
                            problems.add(path, format!("repeats GPU {dest}"), "list every destination once");
                        }
                    }
                }
                self.validate_matrix(topology, problems);
                if let Some(named) = &self.ranks {
                    ranks("demand", named, None, problems);
                }
            }
            CollectiveSort::MultiTenant => {
                for (index, tenant) in self.tenants.iter().enumerate() {
                    let path = format!("demand.tenants[{index}]");
                    ranks(&path, &tenant.ranks, tenant.root, problems);
                    validate_root(&path, tenant.collective, tenant.root, problems);
                    if !tenant.collective.is_named() || tenant.collective.reduces() {
                        problems.add(
                            format!("{path}.collective"),
                            format!("is '{}'", tenant.collective.word()),
                            "use a named collective that does not reduce; for ReduceScatter, use \
                             AllGather, which is its reverse",
                        );
                    }
                }
            }
            _ => {
                let all: Vec<u32> = self.rank_nodes(topology);
                ranks("demand", &all, self.root, problems);
            }
        }
        if problems.is_empty() {
            let (chunks, deliveries) = self.sizes(topology);
            if chunks > MAX_CHUNKS || deliveries > MAX_DELIVERIES {
                problems.add(
                    "demand",
                    format!("gives {chunks} chunks and {deliveries} deliveries"),
                    format!(
                        "use fewer chunks or ranks: at most {MAX_CHUNKS} chunks and {MAX_DELIVERIES} \
                         deliveries"
                    ),
                );
            }
        }
    }

    /// Adds the problems of sizes, of the root, and of fields that apply only to other collectives.
    fn validate_fields(&self, problems: &mut Problems) {
        let named = self.collective.is_named();
        let custom = self.collective == CollectiveSort::Custom;
        let mut idle = |key: &str, given: bool, remedy: &str| {
            if given {
                let what = format!("has no effect on {}", self.collective.label());
                problems.add(format!("demand.{key}"), what, remedy.to_owned());
            }
        };
        idle("chunks", !custom && !self.chunks.is_empty(), "omit it, or set collective to custom");
        idle("matrix", !custom && !self.matrix.is_empty(), "omit it, or set collective to custom");
        let tenants = self.collective != CollectiveSort::MultiTenant && !self.tenants.is_empty();
        idle("tenants", tenants, "omit it, or set collective to multi_tenant");
        idle("output_buffer_bytes", !named && self.output_buffer_bytes.is_some(), "give chunk_bytes");
        idle("sizes_bytes", !named && !self.sizes_bytes.is_empty(), "omit it, or use a named collective");
        idle("chunks_per_rank", !named && self.chunks_per_rank != 1, "leave it out");
        let ranks = self.ranks.is_some() && !named && (!custom || self.matrix.is_empty());
        idle("ranks", ranks, "leave it out");
        if named || !custom {
            validate_root("demand", self.collective, self.root, problems);
        } else if self.root.is_some() {
            problems.add("demand.root", "has no effect on a custom demand", "leave it out");
        }
        if custom && !self.chunks.is_empty() && !self.matrix.is_empty() {
            problems.add("demand.matrix", "cannot be combined with 'chunks'", "use only one of the two");
        }
        match (self.output_buffer_bytes, self.chunk_bytes) {
            (Some(_), Some(_)) if named => {
                problems.add(
                    "demand.chunk_bytes",
                    "cannot be combined with 'output_buffer_bytes'",
                    "use only one of the two",
                );
            }
            (None, None) => {
                let key = if named { "output_buffer_bytes" } else { "chunk_bytes" };
                problems.add(format!("demand.{key}"), "is missing", "add it");
            }
            (buffer, chunk) => {
                for (key, bytes) in [("output_buffer_bytes", buffer), ("chunk_bytes", chunk)] {
                    if let Some(bytes) = bytes.filter(|bytes| !(bytes.is_finite() && *bytes > 0.0)) {
                        problems.add(format!("demand.{key}"), format!("is {bytes}"), "set a positive size");
                    }
                }
            }
        }
    }

    fn validate_matrix(&self, topology: &Topology, problems: &mut Problems) {
        if self.matrix.is_empty() {
            return;
        }
        let ranks = self.rank_nodes(topology).len();
        if self.matrix.len() != ranks || self.matrix.iter().any(|row| row.len() != ranks) {
            problems.add(
                "demand.matrix",
                format!("does not have {ranks} rows of {ranks} entries"),
                format!("use {ranks} rows of {ranks}, one row for each rank"),
            );
        }
        for (at, row) in self.matrix.iter().enumerate() {
            if row.get(at).is_some_and(|count| *count > 0) {
                let path = format!("demand.matrix[{at}][{at}]");
                problems.add(path, "is not 0", "set 0: a rank sends nothing to itself");
            }
        }
    }
}

fn validate_root(path: &str, collective: CollectiveSort, root: Option<u32>, problems: &mut Problems) {
    match (collective.has_root(), root) {
        (true, None) => {
            problems.add(format!("{path}.root"), "is missing", "set the position of the root in 'ranks'");
        }
        (false, Some(_)) => {
            let what = format!("has no effect on {}", collective.label());
            problems.add(format!("{path}.root"), what, "leave it out");
        }
        _ => {}
    }
}
