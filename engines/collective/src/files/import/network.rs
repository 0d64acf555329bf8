//! Scenarios from networks of other tools: graphs, network files of simulators, and topology specifications.

use super::{ALPHA_US, add_demand, buffer, collective, demand, given_sort};
use crate::scenario::presets;
use crate::scenario::{
    CollectiveScenario, LinkRecord, MAX_NODES, NodeRecord, NodeSort, SwitchHop, SwitchModel, Topology,
};
use lightbay_core::format::{FormatInfo, Input, SubjectSort, scenario_name};
use lightbay_core::param::{ParamInfo, Params};
use lightbay_core::problem::{Problem, Problems, counted, printable};
use lightbay_core::read::Fields;
use lightbay_core::record::Record as _;
use lightbay_formats::detect::{Format, detect, unpacked_head};
use lightbay_formats::network::{self, FileLatency, FileNetwork, FileRate, NetworkForm, NodePart};
use lightbay_formats::{Imported, Limits, gz};

/// Name of the format.
pub const NAME: &str = "network";

/// Rate of a link whose rate the file does not state, GB/s: one port of 400 Gb/s.
const LINK_GBYTE_PER_S: f64 = 50.0;
/// Length of a cycle of a router, ns.
const CYCLE_NS: f64 = 1.0;

/// Returns the description of the format.
pub(super) fn format() -> FormatInfo {
    let rate = "Rate of each link for which the file gives none. Default: 50.";
    let alpha = "Latency of each link for which the file gives none. Default: 0.7.";
    let unit =
        "Unit of rates for which the file gives no unit, such as `capacity` of a graph. Default: gbps.";
    let switches = "Names of the nodes that are switches, separated by commas, if the file does not mark \
         them; a name that ends in '*' matches all names with this beginning.";
    FormatInfo::new(
        NAME,
        "A network for a collective: GraphML, GML, DOT, node-link JSON, edge lists, network files of ASTRA-sim and BookSim, topologies of SimAI's ns-3, and lightbay.topology/1.",
        SubjectSort::Scenario,
        "graphml",
    )
    .leaving_out(&["attributes other than rate and latency of links, and type, label and chassis of nodes"])
    .with(vec![
        collective(),
        buffer(),
        ParamInfo::float("link_gbyte_per_s", 1e-6, 1e6, LINK_GBYTE_PER_S, rate).unit("GB/s").derived(),
        ParamInfo::float("alpha_us", 0.0, 1e6, ALPHA_US, alpha).unit("us").derived(),
        ParamInfo::choice("rate_unit", &["gbps", "gbyte_per_s"], "gbps", unit).derived(),
        ParamInfo::float("gbyte_bytes", 1e9, 1_073_741_824.0, 1e9, "Number of bytes in a GB of an ASTRA-sim network file: 1e9 or 2^30. Default: 1e9.").unit("bytes").derived(),
        ParamInfo::float("cycle_ns", 1e-3, 1e6, CYCLE_NS, "Duration of a clock cycle in a BookSim network. Default: 1.").unit("ns").derived(),
        ParamInfo::bool("directed", false, "If true, each line of an edge list is a link in one direction \
             only; if false, in both. Default: one direction if the list has every pair of nodes in both orders, else both.").derived(),
        ParamInfo::text("switches", switches),
    ])
}

/// Creates a scenario from a file, and returns the scenario with its name.
///
/// # Errors
/// Every problem of the file, and parameters that have no effect on the scenario.
pub(super) fn read(
    input: &Input,
    params: &Params,
) -> Result<(String, Imported<CollectiveScenario>), Problems> {
    let name = scenario_name(&input.name, NAME);
    let mut made = if detect(&unpacked_head(&input.bytes)?) == Format::Topology {
        let topology = specified(input, &name, params)?;
        Imported::new(presets::of(topology, None, demand(params, 1)))
    } else {
        let given = network::read(
            input.bytes.as_slice(),
            &Limits::default(),
            params.get("directed").map(|_| params.bool("directed")),
        )?;
        let (assumed, notes) = (given.assumed, given.notes);
        let mut made = of_file(&name, &given.value, params)?;
        made.assumed.splice(0..0, assumed);
        made.notes.splice(0..0, notes);
        made
    };
    if made.value.topology.nodes.iter().any(|node| node.kind == NodeSort::Switch)
        && given_sort(params).reduces()
    {
        made.assume("sums in switches", "none", "switch_reduce= of the scenario");
    }
    add_demand(&mut made, params);
    Ok((name, made))
}

/// Refuses parameters that were set although the file does not use them.
fn refuse_idle(params: &Params, idle: &[(&str, bool, &str)]) -> Result<(), Problems> {
    let mut problems = Problems::new();
    for (name, acts, why) in idle {
        if !acts && params.get(name).is_some() {
            problems.add(*name, format!("has no effect: {why}"), "leave it out");
        }
    }
    problems.into_result(())
}

/// Returns the topology of a file of `lightbay.topology/1`, which contains all values.
fn specified(input: &Input, name: &str, params: &Params) -> Result<Topology, Problems> {
    let why = "the file gives every link its rate and latency and every node its kind";
    refuse_idle(
        params,
        &["link_gbyte_per_s", "alpha_us", "rate_unit", "gbyte_bytes", "cycle_ns", "directed", "switches"]
            .map(|name| (name, false, why)),
    )?;
    let mut whole = gz::json(input.bytes.as_slice(), &Limits::default(), u64::MAX)?;
    if let Some(fields) = whole.as_object_mut() {
        fields.shift_remove("format");
        fields.entry("name").or_insert_with(|| name.into());
    }
    let mut problems = Problems::new();
    let topology = Fields::of(&whole, "", &mut problems).and_then(|mut fields| {
        let topology = Topology::of_fields(&mut fields, &mut problems);
        fields.finish(&mut problems);
        topology
    });
    match topology {
        Some(topology) => problems.into_result(topology),
        None => Err(problems),
    }
}

fn of_file(
    name: &str,
    given: &FileNetwork,
    params: &Params,
) -> Result<Imported<CollectiveScenario>, Problems> {
    let rated =
        |test: fn(&FileRate) -> bool| given.links.iter().any(|link| link.rate.as_ref().is_some_and(test));
    let bare = given.links.iter().filter(|link| link.rate.is_none()).count();
    let late = given.links.iter().filter(|link| link.latency.is_none()).count();
    let plain = rated(|rate| matches!(rate, FileRate::Plain(_)));
    let counted_in_cycles =
        given.links.iter().any(|link| matches!(link.latency, Some(FileLatency::Cycles(_))));
    let unsaid = given.nodes.iter().any(|node| node.part.is_none());
    refuse_idle(
        params,
        &[
            ("link_gbyte_per_s", bare > 0, "the file gives every link its rate"),
            ("alpha_us", late > 0, "the file gives every link its latency"),
            ("rate_unit", plain, "every rate in the file has a unit"),
            ("gbyte_bytes", given.form == NetworkForm::Astra, "this is not a network file of ASTRA-sim"),
            ("cycle_ns", counted_in_cycles, "the file gives no latency in cycles"),
            ("switches", unsaid, "the file marks its switches itself"),
        ],
    )?;
    let rates = Assumptions::of(params);
    let parts = parts(given, params)?;
    let gpus = parts.iter().filter(|part| **part == NodePart::Gpu).count();
    if parts.len() > MAX_NODES {
        let message = format!("has {} nodes, but a collective supports at most {MAX_NODES}", parts.len());
        return Err(Problem::new("", message, "use a smaller network").into());
    }
    let node = |(id, (node, part)): (u32, (&network::FileNode, &NodePart))| NodeRecord {
        id,
        name: node.name.clone(),
        kind: if *part == NodePart::Gpu { NodeSort::Gpu } else { NodeSort::Switch },
        group: node.chassis,
    };
    let nodes = (0..).zip(given.nodes.iter().zip(&parts)).map(node).collect();
    let links = given.links.iter().map(|link| {
        LinkRecord::new(link.from, link.to, rates.gbyte_per_s(link), rates.alpha_us(link.latency), "link")
    });
    let topology = Topology {
        name: name.to_owned(),
        nodes,
        links: links.collect(),
        switch_model: SwitchModel { copy: true, hop: SwitchHop::CutThrough, reduce: false },
        symmetry_generators: Vec::new(),
        notes: String::new(),
    };
    let mut made = Imported::new(presets::of(topology, None, demand(params, 1)));
    let links = |count: usize| counted(count as u64, "link", "links");
    if bare > 0 && params.get("link_gbyte_per_s").is_none() {
        made.assume(
            format!("rate of {}", links(bare)),
            format!("{LINK_GBYTE_PER_S} GB/s"),
            "link_gbyte_per_s=",
        );
    }
    if late > 0 && params.get("alpha_us").is_none() {
        made.assume(format!("latency of {}", links(late)), format!("{ALPHA_US} us"), "alpha_us=");
    }
    if plain && params.get("rate_unit").is_none() {
        made.assume("unit of rates", "Gb/s", "rate_unit=");
    }
    if given.form == NetworkForm::Astra && params.get("gbyte_bytes").is_none() {
        made.assume("bytes of a GB", "1e9", "gbyte_bytes=");
    }
    if counted_in_cycles && params.get("cycle_ns").is_none() {
        made.assume("length of a cycle", format!("{CYCLE_NS} ns"), "cycle_ns=");
    }
    if unsaid && params.text("switches").is_none() {
        made.assume("type of every node for which the file gives none", "a GPU", "switches=");
    }
    if gpus < parts.len() {
        made.assume(
            "behaviour of switches",
            "copying and cut-through",
            "switch_copy=, switch_hop= of the scenario",
        );
    }
    Ok(made)
}

/// Assumed rates and latencies of links for which the file states no value, or a value without a known unit.
struct Assumptions {
    link: f64,
    alpha_us: f64,
    plain: f64,
    of_tool: f64,
    cycle_us: f64,
}

impl Assumptions {
    fn of(params: &Params) -> Self {
        Self {
            link: params.float("link_gbyte_per_s").unwrap_or(LINK_GBYTE_PER_S),
            alpha_us: params.float("alpha_us").unwrap_or(ALPHA_US),
            plain: if params.text("rate_unit") == Some("gbyte_per_s") { 1.0 } else { 0.125 },
            of_tool: params.float("gbyte_bytes").unwrap_or(1e9) / 1e9,
            cycle_us: params.float("cycle_ns").unwrap_or(CYCLE_NS) / 1e3,
        }
    }

    fn gbyte_per_s(&self, link: &network::FileLink) -> f64 {
        match link.rate {
            None => self.link * f64::from(link.count),
            Some(FileRate::GbytePerS(rate)) => rate,
            Some(FileRate::GbytePerSOfTool(rate)) => rate * self.of_tool,
            Some(FileRate::Plain(rate)) => rate * self.plain,
        }
    }

    fn alpha_us(&self, latency: Option<FileLatency>) -> f64 {
        match latency {
            None => self.alpha_us,
            Some(FileLatency::Us(us)) => us,
            Some(FileLatency::Cycles(cycles)) => cycles * self.cycle_us,
        }
    }
}

/// Returns every node with its type: the type in the file, a switch if `switches` names it, else a GPU.
fn parts(given: &FileNetwork, params: &Params) -> Result<Vec<NodePart>, Problems> {
    let named: Vec<&str> = params
        .text("switches")
        .unwrap_or_default()
        .split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty())
        .collect();
    let means = |pattern: &str, name: &str| match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == pattern,
    };
    let mut problems = Problems::new();
    for pattern in &named {
        if !given.nodes.iter().any(|node| means(pattern, &node.name)) {
            let first: Vec<String> = given.nodes.iter().take(4).map(|node| printable(&node.name)).collect();
            let message = format!("contains '{}', which is not a node", printable(pattern));
            problems.add("switches", message, format!("use names of nodes, such as {}", first.join(", ")));
        }
    }
    problems.into_result(())?;
    let part = |node: &network::FileNode| {
        node.part.unwrap_or_else(|| {
            if named.iter().any(|pattern| means(pattern, &node.name)) {
                NodePart::Switch
            } else {
                NodePart::Gpu
            }
        })
    };
    Ok(given.nodes.iter().map(part).collect())
}
