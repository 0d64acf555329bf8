//! Topologies of TACCL and MSCCL.

use super::{MOST_RANKS, MOST_US, json, matrix, numbers};
use crate::gz::Limits;
use crate::imported::Imported;
use lightbay_core::problem::Problems;
use lightbay_core::read::{Fields, whole_numbers};
use serde_json::{Map, Value, json};
use std::io::BufRead;

/// Maximum number of characters of a name; the name must stay valid when this program appends a suffix.
const MOST_NAME: usize = lightbay_core::read::MAX_TEXT - 10;

/// Meaning of a megabyte in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Megabyte {
    /// 1e6 bytes.
    #[default]
    Decimal,
    /// 2^20 bytes.
    Binary,
}

impl Megabyte {
    /// Returns the number of bytes of a megabyte.
    pub const fn bytes(self) -> f64 {
        match self {
            Self::Decimal => 1e6,
            Self::Binary => 1_048_576.0,
        }
    }

    /// Returns the rate, GB/s, for a cost in µs per megabyte.
    pub fn gbyte_per_s(self, us_per_mb: f64) -> f64 {
        self.bytes() / us_per_mb / 1e3
    }
}

/// A topology of TACCL: links inside a node by class, and one type of link between nodes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TacclTopology {
    /// Name of the topology; `NDv2` or `DGX2` at its beginning selects a wiring that TACCL knows.
    pub name: String,
    /// Number of GPUs of a node.
    pub gpus_per_node: u32,
    /// Number of NICs of a node; 0 if the file describes only one node.
    pub nics_per_node: u32,
    /// Latency inside a node, µs.
    pub alpha_us: f64,
    /// Beta cost of each class of links, in addition to the latency of each send, µs per megabyte; empty if the file
    /// gives the wiring.
    pub betas_us_per_mb: Vec<f64>,
    /// Inverse bandwidth of each class of links, µs per megabyte; empty if the file gives the wiring.
    pub invbws_us_per_mb: Vec<f64>,
    /// Latency between nodes, µs.
    pub remote_alpha_us: f64,
    /// Cost between nodes, µs per megabyte.
    pub remote_beta_us_per_mb: f64,
    /// Inverse bandwidth between nodes, µs per megabyte.
    pub remote_invbw_us_per_mb: f64,
    /// Number of links by destination and source, if the file gives the wiring.
    pub links: Option<Vec<Vec<f64>>>,
    /// Costs by destination and source, µs per megabyte.
    pub link_betas_us_per_mb: Option<Vec<Vec<f64>>>,
    /// Inverse bandwidths by destination and source, µs per megabyte.
    pub link_invbws_us_per_mb: Option<Vec<Vec<f64>>>,
}

/// A switch of a topology of MSCCL: several links share its capacity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MscclSwitch {
    /// GPUs from which the switch forwards chunks.
    pub sources: Vec<u32>,
    /// GPUs to which the switch forwards chunks.
    pub destinations: Vec<u32>,
    /// Number of chunks that the switch carries at a time.
    pub bandwidth: u32,
    /// Name of the switch.
    pub name: String,
}

/// A topology of MSCCL.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MscclTopology {
    /// Name of the topology.
    pub name: String,
    /// Number of chunks that a link carries at a time, by destination and source; 0 without a link.
    pub links: Vec<Vec<u32>>,
    /// Switches.
    pub switches: Vec<MscclSwitch>,
}

/// Reads a topology of TACCL.
///
/// # Errors
/// Every problem of the file, by the path of its key.
pub fn read_taccl(reader: impl BufRead, limits: &Limits) -> Result<Imported<TacclTopology>, Problems> {
    let value = json(reader, limits)?;
    let mut problems = Problems::new();
    let found = taccl(&value, &mut problems);
    match found {
        Some(found) if problems.is_empty() => Ok(found),
        _ => Err(problems),
    }
}

fn taccl(value: &Value, problems: &mut Problems) -> Option<Imported<TacclTopology>> {
    let mut fields = Fields::of(value, "", problems)?;
    let name = fields.text("name", problems).map(str::to_owned);
    let gpus = fields.int("gpus_per_node", 1..=MOST_RANKS as i64, problems);
    // A file that gives the wiring and no NICs describes a single node.
    let is_wired = fields.has("links");
    let is_alone = is_wired && !fields.has("nics_per_node");
    let nics = fields.int_or("nics_per_node", 0..=MOST_RANKS as i64, i64::from(!is_alone), problems);
    let alpha = fields.float("alpha", 0.0..=MOST_US, problems);
    let mut classes = |key: &'static str| {
        let path = fields.path_of(key);
        if is_wired && !fields.has(key) {
            return Some(Vec::new());
        }
        fields.required(key, problems).and_then(|value| numbers(value, &path, problems))
    };
    let (betas, invbws) = (classes("node_betas_list"), classes("node_invbws_list"));
    let mut remote = |key: &'static str| {
        if is_alone {
            fields.float_or(key, 0.0..=MOST_US, 0.0, problems)
        } else {
            fields.float(key, 0.0..=MOST_US, problems)
        }
    };
    let remote_alpha = remote("remote_alpha");
    let remote_beta = remote("remote_beta");
    let remote_invbw = remote("remote_invbw");
    let mut square = |key: &'static str| match fields.optional(key) {
        None => Some(None),
        Some(value) => {
            let found = matrix(value, key, problems)?;
            if gpus.is_some_and(|gpus| gpus as usize != found.len()) {
                let message = format!("has {} rows for {} GPUs", found.len(), gpus.unwrap_or(0));
                problems.add(key, message, "write one row for each GPU of a node");
            }
            Some(Some(found))
        }
    };
    let (links, link_betas, link_invbws) = (square("links"), square("betas"), square("invbws"));
    fields.finish(problems);
    if let Some((betas, invbws)) = betas.as_ref().zip(invbws.as_ref())
        && betas.len() != invbws.len()
    {
        let message = format!("has {} classes, but node_invbws_list has {}", betas.len(), invbws.len());
        problems.add("node_betas_list", message, "write a beta and an invbw for every class of links");
    }
    for (key, list) in [("node_invbws_list", &invbws), ("node_betas_list", &betas)] {
        for (at, number) in list.iter().flatten().enumerate().filter(|(_, number)| **number <= 0.0) {
            problems.add(format!("{key}[{at}]"), format!("is {number}"), "use a cost above 0");
        }
    }
    let mut found = Imported::new(TacclTopology {
        name: name?,
        gpus_per_node: gpus? as u32,
        nics_per_node: nics? as u32,
        alpha_us: alpha?,
        betas_us_per_mb: betas?,
        invbws_us_per_mb: invbws?,
        remote_alpha_us: remote_alpha?,
        remote_beta_us_per_mb: remote_beta?,
        remote_invbw_us_per_mb: remote_invbw?,
        links: links?,
        link_betas_us_per_mb: link_betas?,
        link_invbws_us_per_mb: link_invbws?,
    });
    found.assume("size of a megabyte in the costs", "1e6 bytes", "mb=");
    if found.value.links.is_none() {
        let name = found.value.name.clone();
        found.assume(
            "wiring inside a node",
            format!("the wiring of {name} in the TACCL program"),
            "links of the file",
        );
    }
    Some(found)
}

/// Writes a topology of TACCL.
pub fn write_taccl(topology: &TacclTopology) -> String {
    let mut map = Map::new();
    let mut put = |key: &str, value: Value| map.insert(key.to_owned(), value);
    put("name", json!(topology.name));
    put("gpus_per_node", json!(topology.gpus_per_node));
    put("nics_per_node", json!(topology.nics_per_node));
    put("alpha", json!(topology.alpha_us));
    put("node_betas_list", json!(topology.betas_us_per_mb));
    put("node_invbws_list", json!(topology.invbws_us_per_mb));
    put("remote_invbw", json!(topology.remote_invbw_us_per_mb));
    put("remote_alpha", json!(topology.remote_alpha_us));
    put("remote_beta", json!(topology.remote_beta_us_per_mb));
    for (key, matrix) in [
        ("links", &topology.links),
        ("betas", &topology.link_betas_us_per_mb),
        ("invbws", &topology.link_invbws_us_per_mb),
    ] {
        if let Some(matrix) = matrix {
            put(key, json!(matrix));
        }
    }
    format!("{:#}\n", Value::Object(map))
}

/// Reads a topology of MSCCL.
///
/// # Errors
/// Every problem of the file, by the path of its key.
pub fn read_msccl(reader: impl BufRead, limits: &Limits) -> Result<MscclTopology, Problems> {
    let value = json(reader, limits)?;
    let mut problems = Problems::new();
    let found = msccl(&value, &mut problems);
    match found {
        Some(found) if problems.is_empty() => Ok(found),
        _ => Err(problems),
    }
}

fn msccl(value: &Value, problems: &mut Problems) -> Option<MscclTopology> {
    let mut fields = Fields::of(value, "", problems)?;
    fields.choice("msccl_type", &[("topology", ())], problems);
    let name = fields.text("name", problems).map(str::to_owned);
    let path = fields.path_of("links");
    let links = fields.required("links", problems).and_then(|value| matrix(value, &path, problems));
    let switches = fields.optional("switches");
    fields.finish(problems);
    let links = links?;
    let mut whole = Vec::with_capacity(links.len());
    for (to, row) in links.iter().enumerate() {
        for (from, number) in row.iter().enumerate() {
            if number.fract() != 0.0 || *number > f64::from(u32::MAX) {
                let path = format!("links[{to}][{from}]");
                problems.add(path, format!("is {number}"), "use an integer number of chunks");
            } else if to == from && *number > 0.0 {
                problems.add(
                    format!("links[{to}][{from}]"),
                    format!("is {number}"),
                    "set 0: a node has no link to itself",
                );
            }
        }
        whole.push(row.iter().map(|number| *number as u32).collect());
    }
    let mut found = MscclTopology { name: name?, links: whole, switches: Vec::new() };
    let list = match switches {
        None => &[][..],
        Some(value) => lightbay_core::read::list_at(value, "switches", problems)?,
    };
    for (at, value) in list.iter().enumerate() {
        let path = format!("switches[{at}]");
        let Some([sources, destinations, bandwidth, name]) = value.as_array().map(Vec::as_slice) else {
            problems.add(path, "is not a list of four", "give [sources, destinations, bandwidth, name]");
            continue;
        };
        let mut ranks = |value: &Value, place: usize| {
            let path = format!("{path}[{place}]");
            let found: Option<Vec<u32>> = whole_numbers(value, &path, problems);
            if let Some(rank) = found.iter().flatten().find(|rank| **rank as usize >= links.len()) {
                problems.add(
                    path,
                    format!("has node {rank}"),
                    format!("the topology has {} nodes, numbered from 0", links.len()),
                );
            }
            found
        };
        let (sources, destinations) = (ranks(sources, 0), ranks(destinations, 1));
        let bandwidth = bandwidth.as_u64().and_then(|b| u32::try_from(b).ok()).filter(|b| *b > 0);
        if bandwidth.is_none() {
            problems.add(format!("{path}[2]"), "is not a bandwidth", "use an integer above 0");
        }
        let name = name.as_str().map(str::to_owned);
        match &name {
            None => problems.add(format!("{path}[3]"), "is not a name", "give text"),
            Some(name) if name.chars().count() > MOST_NAME => {
                let message = format!("has {} characters", name.chars().count());
                problems.add(format!("{path}[3]"), message, format!("use at most {MOST_NAME}"));
            }
            Some(_) => {}
        }
        if let (Some(sources), Some(destinations), Some(bandwidth), Some(name)) =
            (sources, destinations, bandwidth, name)
        {
            found.switches.push(MscclSwitch { sources, destinations, bandwidth, name });
        }
    }
    Some(found)
}

/// Writes a topology of MSCCL.
pub fn write_msccl(topology: &MscclTopology) -> String {
    let switches: Vec<Value> = topology
        .switches
        .iter()
        .map(|switch| json!([switch.sources, switch.destinations, switch.bandwidth, switch.name]))
        .collect();
    let value = json!({
        "msccl_type": "topology", "name": topology.name, "links": topology.links, "switches": switches,
    });
    // Names come from files of other people, so characters that could hide content are escaped.
    let line = lightbay_core::json::to_line(&value).unwrap_or_else(|_| value.to_string());
    format!("{line}\n")
}
