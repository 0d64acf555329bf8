//! Builds a network from named nodes and links in file order.

use super::facts::{LinkFacts, LinkReader, part_of};
use super::{
    FileLatency, FileLink, FileNetwork, FileNode, FileRate, MOST_LINKS, MOST_NODES, NetworkForm, NodePart,
};
use crate::imported::{Assumed, Imported};
use lightbay_core::problem::{Problem, Problems, counted, printable};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Maximum number of attributes that a note lists.
const LISTED: usize = 6;
/// Attributes of links that identify a link or only affect its drawing.
const NO_FACTS: [&str; 11] =
    ["source", "target", "id", "key", "label", "name", "color", "style", "penwidth", "fontsize", "fontcolor"];
/// Maximum length of the display name of a node.
const MOST_LABEL: usize = 80;

/// A network under construction.
#[derive(Debug, Default)]
pub(super) struct Builder {
    nodes: Vec<FileNode>,
    by_name: HashMap<String, u32>,
    links: BTreeMap<(u32, u32), (u32, LinkFacts)>,
    listed: usize,
    loops: u64,
    assumed: Vec<Assumed>,
    /// Display names of nodes, which [`Builder::finish`] sets because ids identify the ends of links.
    labels: BTreeMap<u32, String>,
    chassis: HashMap<String, u32>,
    passed_over: BTreeSet<String>,
    pub problems: Problems,
}

impl Builder {
    /// Returns the node called `name`; creates the node if the name is new.
    pub fn node(&mut self, name: &str) -> u32 {
        if let Some(&known) = self.by_name.get(name) {
            return known;
        }
        let id = self.nodes.len() as u32;
        self.by_name.insert(name.to_owned(), id);
        self.nodes.push(FileNode { name: name.to_owned(), part: None, chassis: None });
        if self.nodes.len() == MOST_NODES + 1 {
            let message = format!("contains more than {MOST_NODES} nodes");
            self.problems.add("", message, "use a smaller network");
        }
        id
    }

    /// Creates a node of a file that lists its nodes; a missing name, or the name of another node, is a problem.
    pub fn declare(&mut self, name: Option<&str>, place: &str) -> Option<u32> {
        let Some(name) = name else {
            self.problems.add(place, "has no id", "add an id to the node");
            return None;
        };
        if self.known(name).is_some() {
            let message = format!("'{}' is the id of another node", printable(name));
            self.problems.add(place, message, "use a different id for every node");
            return None;
        }
        Some(self.node(name))
    }

    /// Adds a link between declared nodes, with the attributes from the file.
    pub fn join<'a>(
        &mut self,
        ends: [Option<&str>; 2],
        attributes: impl Iterator<Item = (&'a str, &'a str)>,
        both_ways: bool,
        place: &str,
    ) {
        let [Some(from), Some(to)] = ends.map(|name| self.known(name?)) else {
            let message = "has a source or target that is not in the list of nodes";
            self.problems.add(place, message, "name two nodes by their id");
            return;
        };
        let facts = self.facts(attributes, place);
        self.link(from, to, facts, both_ways, place);
    }

    /// Reads rate and latency from the attributes of a link.
    pub fn facts<'a>(
        &mut self,
        attributes: impl Iterator<Item = (&'a str, &'a str)>,
        place: &str,
    ) -> LinkFacts {
        let mut reader = LinkReader::default();
        for (key, value) in attributes {
            if let Err(wrong) = reader.take(key, value) {
                self.problems.add(place, printable(&wrong), "correct or remove the attribute");
            }
        }
        self.passed_over.extend(reader.passed_over);
        reader.facts
    }

    /// Reads an attribute of a node: its type, its display name or its chassis.
    pub fn describe(&mut self, node: u32, key: &str, value: &str) {
        self.plays(node, part_of(key, value));
        let value = value.trim();
        match key.to_ascii_lowercase().as_str() {
            "label" => _ = self.labels.insert(node, value.to_owned()),
            "name" => _ = self.labels.entry(node).or_insert_with(|| value.to_owned()),
            "chassis" if !value.is_empty() => {
                let next = self.chassis.len() as u32;
                let chassis = *self.chassis.entry(value.to_owned()).or_insert(next);
                if let Some(node) = self.nodes.get_mut(node as usize) {
                    node.chassis = Some(chassis);
                }
            }
            _ => {}
        }
    }

    /// Returns the node that was declared with this name.
    pub fn known(&self, name: &str) -> Option<u32> {
        self.by_name.get(name).copied()
    }

    /// Sets the type of a node, if `part` defines it.
    pub fn plays(&mut self, node: u32, part: Option<NodePart>) {
        if let (Some(node), Some(part)) = (self.nodes.get_mut(node as usize), part) {
            node.part = Some(part);
        }
    }

    /// Sets the display names of the nodes whose ids are only numbers, such as `0` or `n0`. Omits labels that several
    /// lines draw, and labels that another node has as its id or label.
    fn name_nodes(&mut self) {
        for (node, label) in std::mem::take(&mut self.labels) {
            let Some(own) = self.nodes.get_mut(node as usize) else { continue };
            let digits = own.name.strip_prefix('n').unwrap_or(&own.name);
            let is_number = !digits.is_empty() && digits.bytes().all(|sign| sign.is_ascii_digit());
            let is_name = !label.is_empty() && label.len() <= MOST_LABEL && !label.contains(char::is_control);
            if is_number && is_name && !self.by_name.contains_key(&label) {
                self.by_name.insert(label.clone(), node);
                own.name = label;
            }
        }
    }

    /// Returns `true` if there are more nodes or links than the maximum.
    pub fn is_full(&self) -> bool {
        self.nodes.len() > MOST_NODES || self.listed > MOST_LINKS
    }

    /// Adds a link, or one link in each direction. Omits a link from a node to itself, which carries nothing between
    /// nodes.
    pub fn link(&mut self, from: u32, to: u32, facts: LinkFacts, both_ways: bool, place: &str) {
        self.listed += 1;
        if self.listed == MOST_LINKS + 1 {
            let message = format!("lists more than {MOST_LINKS} links");
            self.problems.add("", message, "use a smaller network");
        }
        if from == to {
            self.loops += 1;
            return;
        }
        self.one_way(from, to, facts, place);
        if both_ways {
            self.one_way(to, from, facts, place);
        }
    }

    fn one_way(&mut self, from: u32, to: u32, facts: LinkFacts, place: &str) {
        let Some((count, known)) = self.links.get_mut(&(from, to)) else {
            self.links.insert((from, to), (1, facts));
            return;
        };
        *count += 1;
        known.latency = later(known.latency, facts.latency);
        known.rate = match (known.rate, facts.rate) {
            (None, None) => None,
            (Some(FileRate::Plain(one)), Some(FileRate::Plain(other))) => Some(FileRate::Plain(one + other)),
            (Some(FileRate::GbytePerS(one)), Some(FileRate::GbytePerS(other))) => {
                Some(FileRate::GbytePerS(one + other))
            }
            (Some(FileRate::GbytePerSOfTool(one)), Some(FileRate::GbytePerSOfTool(other))) => {
                Some(FileRate::GbytePerSOfTool(one + other))
            }
            _ => {
                let name = |node: u32| printable(&self.nodes[node as usize].name);
                let message = format!(
                    "is parallel to another link from {} to {}, but only one of the two has a rate, or the \
                     units differ",
                    name(from),
                    name(to)
                );
                self.problems.add(place, message, "give both links a rate in the same unit");
                return;
            }
        };
    }

    /// Records an assumption.
    pub fn assume(&mut self, what: &str, value: impl Into<String>, set_with: &str) {
        let (what, set_with) = (what.to_owned(), set_with.to_owned());
        self.assumed.push(Assumed { what, value: value.into(), set_with });
    }

    /// Returns the network.
    ///
    /// # Errors
    /// Every problem that was met, and a file without a link.
    pub fn finish(mut self, form: NetworkForm) -> Result<Imported<FileNetwork>, Problems> {
        self.name_nodes();
        if self.links.is_empty() && self.problems.is_empty() {
            let remedy = "check that this is the intended file";
            self.problems.push(Problem::new("", "has no link between two nodes", remedy));
        }
        let parallel: u64 = self.links.values().map(|(count, _)| u64::from(count - 1)).sum();
        let link = |((from, to), (count, facts)): ((u32, u32), (u32, LinkFacts))| FileLink {
            from,
            to,
            count,
            rate: facts.rate,
            latency: facts.latency,
        };
        let links = self.links.into_iter().map(link).collect();
        let network = self.problems.into_result(FileNetwork { form, nodes: self.nodes, links })?;
        let mut made = Imported::new(network);
        made.assumed = self.assumed;
        let passed_over: Vec<String> = self
            .passed_over
            .iter()
            .filter(|name| !NO_FACTS.contains(&name.as_str()))
            .map(|name| printable(name))
            .collect();
        if !passed_over.is_empty() {
            let more = passed_over.len().saturating_sub(LISTED);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let first = &passed_over[..passed_over.len().min(LISTED)];
            made.note(format!(
                "not taken over: {}{more} of links, which are neither a rate nor a latency",
                first.join(", ")
            ));
        }
        if self.loops > 0 {
            made.note(format!("{} from a node to itself omitted", counted(self.loops, "link", "links")));
        }
        if parallel > 0 {
            made.note(format!(
                "{} merged with other links between the same nodes",
                counted(parallel, "link was", "links were")
            ));
        }
        Ok(made)
    }
}

/// Returns the larger of two latencies, which have the same unit because both are from one file.
fn later(one: Option<FileLatency>, other: Option<FileLatency>) -> Option<FileLatency> {
    match (one, other) {
        (Some(FileLatency::Us(one)), Some(FileLatency::Us(other))) => Some(FileLatency::Us(one.max(other))),
        (Some(FileLatency::Cycles(one)), Some(FileLatency::Cycles(other))) => {
            Some(FileLatency::Cycles(one.max(other)))
        }
        (one, other) => one.or(other),
    }
}
