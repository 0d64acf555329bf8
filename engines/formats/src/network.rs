//! Networks in files of other tools: named nodes, and directed links with the rate and latency that the file gives.
//!
//! The supported forms are GraphML, GML, DOT, node-link JSON (networkx), edge lists, BookSim's `anynet`, the network
//! files of ASTRA-sim's analytical backend, and the topologies of SimAI and ns-3. An undirected link becomes a link in
//! each direction. Parallel links become one link: their rates are added, and the maximum latency counts.

mod anynet;
mod astra;
mod builder;
mod dot;
mod edges;
mod facts;
mod gml;
mod graphml;
mod node_link;
mod ns3;

#[cfg(test)]
mod tests;

use crate::gz::{self, Limits};
use crate::imported::Imported;
use lightbay_core::problem::{Problem, Problems};
use std::io::BufRead;

/// Maximum size of a file, bytes.
const MOST_BYTES: u64 = 64 << 20;
/// Maximum number of nodes of a network.
pub const MOST_NODES: usize = 65_536;
/// Maximum number of links of a network, each direction counted separately.
pub const MOST_LINKS: usize = 4_000_000;

/// Form of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NetworkForm {
    /// GraphML (XML).
    GraphMl,
    /// Graph Modelling Language.
    Gml,
    /// Graphviz.
    Dot,
    /// Node-link JSON of networkx.
    NodeLink,
    /// Lines `u v [rate [latency]]`, or CSV with a header.
    Edges,
    /// BookSim.
    Anynet,
    /// Network file of ASTRA-sim's analytical backend, YAML.
    Astra,
    /// Topology of SimAI's ns-3 backend.
    Ns3,
}

impl NetworkForm {
    /// All forms.
    pub const ALL: [Self; 8] = [
        Self::GraphMl,
        Self::Gml,
        Self::Dot,
        Self::NodeLink,
        Self::Edges,
        Self::Anynet,
        Self::Astra,
        Self::Ns3,
    ];

    /// Returns the description of the form, to follow "this is".
    pub const fn describe(self) -> &'static str {
        match self {
            Self::GraphMl => "a graph in GraphML",
            Self::Gml => "a graph in GML",
            Self::Dot => "a graph of Graphviz (DOT)",
            Self::NodeLink => "a graph in node-link JSON",
            Self::Edges => "a list of edges",
            Self::Anynet => "a network of BookSim",
            Self::Astra => "a network file of ASTRA-sim",
            Self::Ns3 => "a topology of SimAI's ns-3",
        }
    }
}

/// Type of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodePart {
    /// A node that computes: a GPU, accelerator or host.
    Gpu,
    /// A node that forwards: a switch or router.
    Switch,
}

/// A node of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileNode {
    /// Name of the node.
    pub name: String,
    /// Type of the node, if the file states it.
    pub part: Option<NodePart>,
    /// Number of the chassis to which the node belongs, if the file states one.
    pub chassis: Option<u32>,
}

/// Rate of a link in the unit of its file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FileRate {
    /// Gigabytes (1e9) per second.
    GbytePerS(f64),
    /// Gigabytes per second, in the file of a tool that may count a gigabyte as 1e9 or as 2^30 bytes.
    GbytePerSOfTool(f64),
    /// A number without a unit in the file.
    Plain(f64),
}

/// Latency of a link in the unit of its file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FileLatency {
    /// Microseconds.
    Us(f64),
    /// Cycles of a clock that the file does not define.
    Cycles(f64),
}

/// A link in one direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FileLink {
    /// Index of the node from which the link leads.
    pub from: u32,
    /// Index of the node to which the link leads.
    pub to: u32,
    /// Number of parallel links of the file that the link represents.
    pub count: u32,
    /// Total rate of the parallel links, if the file gives rates.
    pub rate: Option<FileRate>,
    /// Latency, if the file gives one.
    pub latency: Option<FileLatency>,
}

/// A network as read from a file.
#[derive(Clone, Debug, PartialEq)]
pub struct FileNetwork {
    /// Form of the file.
    pub form: NetworkForm,
    /// Nodes.
    pub nodes: Vec<FileNode>,
    /// Links, sorted by source and destination.
    pub links: Vec<FileLink>,
}

/// Reads a network. If `directed` is true, each line of an edge list is a link in one direction; if it is false, a link in
/// each direction. Files of other forms define the direction themselves.
///
/// # Errors
/// Every problem of the file, and files of none of these forms.
pub fn read(
    reader: impl BufRead,
    limits: &Limits,
    directed: Option<bool>,
) -> Result<Imported<FileNetwork>, Problems> {
    let text = gz::text(reader, limits, MOST_BYTES)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let Some(form) = form_of(text).or_else(|| edges::may_be(text).then_some(NetworkForm::Edges)) else {
        let message = "is not a network format that lightbay reads";
        let remedy = "use GraphML, GML, DOT, node-link JSON, an edge list (`from to rate`), BookSim's \
             anynet, a network file of ASTRA-sim or a topology of SimAI's ns-3";
        return Err(Problem::new("", message, remedy).into());
    };
    if directed.is_some() && form != NetworkForm::Edges {
        let message = "has no effect: the file defines which links are directed";
        return Err(Problem::new("directed", message, "leave it out").into());
    }
    let builder = match form {
        NetworkForm::GraphMl => graphml::read(text)?,
        NetworkForm::Gml => gml::read(text)?,
        NetworkForm::Dot => dot::read(text)?,
        NetworkForm::NodeLink => node_link::read(text)?,
        NetworkForm::Edges => edges::read(text, directed),
        NetworkForm::Anynet => anynet::read(text)?,
        NetworkForm::Astra => astra::read(text),
        NetworkForm::Ns3 => ns3::read(text),
    };
    builder.finish(form)
}

/// Returns the form of a file that starts with `text`. Edge lists without a header are not recognised, because pairs of
/// numbers may be anything.
pub fn form_of(text: &str) -> Option<NetworkForm> {
    let text = text.trim_start();
    if text.starts_with('<') {
        return text
            .get(..2000.min(text.len()))
            .unwrap_or(text)
            .contains("<graphml")
            .then_some(NetworkForm::GraphMl);
    }
    if text.starts_with('{') {
        return node_link::is_one(text).then_some(NetworkForm::NodeLink);
    }
    let lines =
        || text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with(['#', '%']));
    let key = |word: &str| {
        lines().any(|line| line.starts_with(word) && line[word.len()..].trim_start().starts_with(':'))
    };
    if key("topology") && key("npus_count") {
        return Some(NetworkForm::Astra);
    }
    if dot::is_one(text) {
        Some(NetworkForm::Dot)
    } else if gml::is_one(text) {
        Some(NetworkForm::Gml)
    } else if anynet::is_one(text) {
        Some(NetworkForm::Anynet)
    } else if ns3::is_one(text) {
        Some(NetworkForm::Ns3)
    } else {
        edges::has_header(text).then_some(NetworkForm::Edges)
    }
}
