//! Scenarios from topologies of TACCL, with or without the sketch of a schedule.

mod network;

use super::{add_demand, given_sort};
use crate::scenario::presets;
use crate::scenario::{CollectiveScenario, NodeSort, SwitchHop, SwitchModel, Topology};
use lightbay_core::format::{FormatInfo, Input, SubjectSort, scenario_name};
use lightbay_core::param::{ParamInfo, Params};
use lightbay_core::problem::{Problem, Problems, printable};
use lightbay_formats::detect::open;
use lightbay_formats::taccl::{Megabyte, TacclSketch, read_sketch, read_taccl};
use lightbay_formats::{Format, Imported, Limits};
use network::TacclNetwork;
use std::collections::BTreeMap;

/// Name of the format.
pub const NAME: &str = "taccl";

/// Assumed number of nodes of a topology if neither the sketch nor a parameter gives it.
const NODES: u32 = 1;
/// Maximum number of nodes.
const MOST_NODES: i64 = 1024;

/// Returns the description of the format.
pub(super) fn format() -> FormatInfo {
    FormatInfo::new(
        NAME,
        "A topology of TACCL, and optionally the sketch of a schedule: GPUs and links of the nodes, the \
         GPUs that connect to other nodes, and chunks.",
        SubjectSort::Scenario,
        "json",
    )
    .leaving_out(&[
        "the costs that hide latencies (betas)",
        "the strategies, order and symmetries of a sketch",
    ])
    .with(vec![
        super::collective(),
        super::buffer(),
        ParamInfo::int(
            "nodes",
            1,
            MOST_NODES,
            i64::from(NODES),
            "Number of nodes. Default: the number in the sketch, or 1.",
        )
        .derived(),
        ParamInfo::text(
            "connections",
            "Pairs of GPUs that connect nodes, sender:receiver, each numbered within its node: '0:1, 2:3'. \
             Default: the pairs of the sketch.",
        ),
        ParamInfo::choice(
            "mb",
            &["1e6", "2^20"],
            "1e6",
            "Number of bytes in a megabyte of the link costs (us per MB). Default: 1e6.",
        )
        .derived(),
    ])
}

/// Creates a scenario from a topology and an optional sketch, and returns the scenario with the file name of the
/// topology.
///
/// # Errors
/// Every problem of the files, and missing values that have no default.
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
    if nodes.unwrap_or(NODES) == 1 && params.text("connections").is_some() {
        let message = "has no effect on a single node, because it connects GPUs of different nodes";
        return Err(Problem::new("connections", message, "leave it out, or set nodes=").into());
    }
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
        // If the file contains no wiring but is named after a known network, that network is used.
        _ => inner == InnerWiring::Named,
    });
    if nodes.is_none() {
        made.assume("number of nodes", NODES.to_string(), "nodes=, or a sketch in addition to the topology");
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

/// Returns the topology among the inputs, and the sketch if there is one.
fn sorted(inputs: &[Input]) -> Result<(&Input, Option<&Input>), Problems> {
    let (mut topology, mut sketch) = (None, None);
    let mut problems = Problems::new();
    for input in inputs {
        let format = open(input.bytes.as_slice(), &Limits::default())
            .map_err(|problem| Problems::from(problem).named(&input.name))?
            .format;
        // Everything that is not a sketch counts as the topology; if it is not one, the reader of topologies reports
        // the error.
        let place = if format == Format::TacclSketch { &mut sketch } else { &mut topology };
        if let Some(before) = place.replace(input) {
            let message = format!("is passed in addition to {}", before.name);
            problems.add(input.name.clone(), message, "pass one topology, and at most one sketch");
        }
    }
    problems.into_result(())?;
    let Some(topology) = topology else {
        let remedy = "add the topology, which gives gpus_per_node, alpha and the costs of links";
        return Err(Problem::new("", "none of the files is a topology of TACCL", remedy).into());
    };
    Ok((topology, sketch))
}

/// Parses `0:1, 2:3` into sending GPUs, each with the GPUs to which it sends.
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
        let receivers = found.entry(from).or_default();
        if receivers.contains(&to) {
            return Err(Problem::new("connections", format!("names {from}:{to} twice"), "name it once"));
        }
        receivers.push(to);
    }
    Ok(found)
}

/// Returns a sentence on the parts of a sketch that are not used, because they only describe how to search for a
/// schedule; `None` if there are no such parts.
fn left_aside(sketch: &TacclSketch, inner: InnerWiring) -> Option<String> {
    let mut parts = Vec::new();
    if !sketch.symmetry_offsets.is_empty() {
        parts.push("symmetry_offsets (lightbay finds the symmetries of the network itself)");
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
        parts.push("switches (the links of the topology are used unchanged)");
    }
    (!parts.is_empty()).then(|| format!("not used from the sketch: {}", parts.join(", ")))
}

/// Data from which the links inside a node are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum InnerWiring {
    /// The matrix of links in the file.
    Listed,
    /// The known machine whose name is a prefix of the file name.
    Named,
}
