//! One collective of Chakra traces, on a network that the user names, because a trace does not contain its network.

use crate::scenario::presets;
use crate::scenario::{CollectiveScenario, CollectiveSort, Demand};
use lightbay_core::format::{FormatInfo, Input, SubjectSort, scenario_name};
use lightbay_core::param::{ParamInfo, Params};
use lightbay_core::problem::{Problem, Problems, counted, printable};
use lightbay_formats::chakra::{self, ChakraNode, ChakraSort, ChakraValue};
use lightbay_formats::detect::{may_be_groups, unpacked_head};
use lightbay_formats::traces::groups;
use lightbay_formats::{Imported, Limits, gz};
use std::collections::BTreeMap;

/// Name of the format.
pub const NAME: &str = "chakra";

/// Maximum size of the trace of a rank, bytes.
const MOST_BYTES: u64 = 1 << 30;
/// Kinds of collectives that an error message lists.
const LISTED: usize = 6;

/// Returns the description of the format.
pub(super) fn format() -> FormatInfo {
    let network = "Network on which the collective runs, named as in presets: ring16, torus4x4, dgx1, h100x4 and \
         similar.";
    let node = "Number of the collective in the first trace, from 0; required if the trace has several.";
    let size = "Meaning of the size of an AllGather: the part of each rank (input) or the whole buffer \
         (total). Default: input.";
    FormatInfo::new(
        NAME,
        "One collective of Chakra traces (binary; one file for each rank, or the file of one rank), on the \
         network given by network=; a file of groups states the ranks of the collective.",
        SubjectSort::Scenario,
        "et",
    )
    .leaving_out(&["computations, messages and dependencies"])
    .with(vec![
        ParamInfo::text("network", network),
        ParamInfo::int("node", 0, 1 << 22, 0, node).derived(),
        ParamInfo::choice("size", &["input", "total"], "input", size).derived(),
        ParamInfo::float(
            "elem_bytes",
            0.125,
            16.0,
            1.0,
            "Number of bytes in one unit of the sizes in the trace. Default: 1; 2 in traces from STAGE, whose unit is an element.",
        )
        .unit("bytes")
        .derived(),
    ])
}

/// A collective in the trace of one rank.
struct TracedCollective {
    /// Number of the collective in Chakra's list of collectives.
    sort: i128,
    size: i128,
    group: String,
}

impl TracedCollective {
    fn of(node: &ChakraNode) -> Option<Self> {
        if node.sort != ChakraSort::Collective {
            return None;
        }
        let group =
            node.attributes.iter().find(|(name, _)| name == "pg_name").map(|(_, value)| match value {
                ChakraValue::Text(text) => text.clone(),
                other => format!("{other:?}"),
            });
        Some(Self {
            sort: node.int("comm_type").unwrap_or(-1),
            size: node.int("comm_size").unwrap_or(-1),
            group: group.unwrap_or_default(),
        })
    }

    fn words(&self) -> String {
        format!("{} of size {}", name_of(self.sort), self.size)
    }
}

/// Returns the name of the collective that has a number in Chakra's list.
fn name_of(sort: i128) -> String {
    const NAMES: [&str; 10] = [
        "AllReduce",
        "Reduce",
        "AllGather",
        "Gather",
        "Scatter",
        "Broadcast",
        "AllToAll",
        "ReduceScatter",
        "ReduceScatter by blocks",
        "barrier",
    ];
    let known = usize::try_from(sort).ok().and_then(|at| NAMES.get(at));
    known.map_or_else(|| format!("collective {sort}"), |name| (*name).to_owned())
}

/// Creates a scenario from the files, and returns the scenario with its name.
///
/// # Errors
/// Every problem of the files, ranks that disagree, a collective that is not selected or not supported, a network that
/// is missing, unknown or of another size, and a size parameter without effect.
pub(super) fn read(
    inputs: &[Input],
    params: &Params,
) -> Result<(String, Imported<CollectiveScenario>), Problems> {
    let mut traces = Vec::with_capacity(inputs.len());
    let (mut bytes_known, mut in_elements) = (true, false);
    let (groups, inputs): (Vec<&Input>, Vec<&Input>) = inputs.iter().partition(|input| is_groups(input));
    let groups = match groups.as_slice() {
        [] => None,
        [file] => {
            let read = groups::read(file.bytes.as_slice(), &Limits::default());
            Some(read.map_err(|problems| problems.named(&file.name))?).filter(|groups| !groups.is_empty())
        }
        [_, second, ..] => {
            let problem = Problem::new("", "is a second file of groups", "pass one file of groups");
            return Err(Problems::from(problem).named(&second.name));
        }
    };
    for input in &inputs {
        let named = |problems: Problems| problems.named(&input.name);
        let content = gz::bytes(input.bytes.as_slice(), &Limits::default(), MOST_BYTES);
        let content = content.map_err(Problems::from).map_err(named)?;
        let trace = chakra::read(&content).map_err(named)?;
        in_elements |= chakra::counts_elements(&content);
        bytes_known &= !trace.version.is_empty();
        traces.push(trace.nodes.iter().filter_map(TracedCollective::of).collect::<Vec<_>>());
    }
    let (Some(first), Some(&input)) = (traces.first(), inputs.first()) else {
        return Err(Problem::new("", "no files", "pass the trace of at least one rank").into());
    };
    let chosen = chosen(first, params).map_err(|problem| Problems::from(problem).named(&input.name))?;
    let collective = &first[chosen];
    let before = first[..chosen].iter().filter(|other| other.group == collective.group).count();
    let ranks = members(&traces, &inputs, collective, before)?;
    let ranks = match groups.as_ref().map(|groups| groups.get(&collective.group)) {
        None => ranks,
        Some(Some(members)) if members.len() >= ranks => members.len(),
        Some(found) => {
            let message = format!(
                "group '{}' of the collective has {} in the file of groups, but {} of the traces contain it",
                printable(&collective.group),
                counted(found.map_or(0, Vec::len) as u64, "rank", "ranks"),
                ranks
            );
            return Err(Problem::new("", message, "pass the traces and the groups of one run").into());
        }
    };
    let sort = match collective.sort {
        0 => CollectiveSort::AllReduce,
        2 => CollectiveSort::AllGather,
        6 => CollectiveSort::AllToAll,
        7 | 8 => CollectiveSort::ReduceScatter,
        other => {
            let message = format!("is {}", name_of(other));
            let remedy = "choose an AllReduce, AllGather, AllToAll or ReduceScatter with node=";
            return Err(Problem::new("node", message, remedy).into());
        }
    };
    let mut scenario = network(params)?;
    let gpus = scenario.topology.gpus().count();
    if (ranks > 1 || groups.is_some()) && ranks != gpus {
        let message = format!("has {gpus} GPUs, but {ranks} ranks take part");
        return Err(Problem::new("network", message, format!("set a network of {ranks} GPUs")).into());
    }
    if collective.size <= 0 {
        return Err(
            Problem::new("", "the collective has no size", "choose another collective with node=").into()
        );
    }
    // As in jobs from traces: an element has 2 bytes.
    let unit = if in_elements { 2.0 } else { 1.0 };
    let gathers = sort == CollectiveSort::AllGather;
    if !gathers && params.get("size").is_some() {
        let message = "has no effect: only sizes of an AllGather can have two meanings";
        return Err(Problem::new("size", message, "leave it out").into());
    }
    let parts = if gathers && params.text("size") != Some("total") { gpus as f64 } else { 1.0 };
    let bytes = collective.size as f64 * params.float("elem_bytes").unwrap_or(unit) * parts;
    scenario.demand = Demand::named(sort, bytes);
    let mut made = Imported::new(scenario);
    made.note(format!("{}: {bytes} bytes in its buffer", collective.words()));
    if gathers && params.get("size").is_none() {
        made.assume("meaning of the size", "each rank's part", "size=");
    }
    if params.get("elem_bytes").is_none() && !bytes_known {
        let value = if in_elements { "2 bytes (one element)" } else { "1 byte" };
        made.assume("unit of the size", value, "elem_bytes=");
    }
    if ranks <= 1 && groups.is_none() {
        made.assume(
            "ranks that take part",
            format!("{gpus}, all GPUs of the network"),
            "the traces of all ranks, or the file of groups",
        );
    }
    Ok((scenario_name(&input.name, NAME), made))
}

/// Returns `true` for the file of groups that accompanies traces.
fn is_groups(input: &Input) -> bool {
    let head = unpacked_head(&input.bytes);
    head.is_ok_and(|head| may_be_groups(&head))
}

/// Returns the network that the parameter names, with an arbitrary demand.
fn network(params: &Params) -> Result<CollectiveScenario, Problems> {
    let remedy =
        "set a network as presets name it: network=ring16, network=torus4x4, network=dgx1, network=h100x4";
    let Some(network) = params.text("network").filter(|name| !name.is_empty()) else {
        return Err(
            Problem::new("network", "is missing: a trace does not contain its network", remedy).into()
        );
    };
    let known =
        (!network.contains('-')).then(|| presets::scenario(&format!("{network}-allgather-1mb"))).flatten();
    known.ok_or_else(|| {
        Problem::new("network", format!("'{}' is not a known network", printable(network)), remedy).into()
    })
}

/// Returns the position of the selected collective in the first trace.
fn chosen(found: &[TracedCollective], params: &Params) -> Result<usize, Problem> {
    let count = found.len();
    let all = counted(count as u64, "collective", "collectives");
    match params.int("node").map(|node| usize::try_from(node).unwrap_or(usize::MAX)) {
        _ if count == 0 => {
            Err(Problem::new("", "has no collective", "pass a trace that contains a collective"))
        }
        Some(node) if node < count => Ok(node),
        Some(node) => {
            let remedy = format!("use a number from 0 to {}", count - 1);
            Err(Problem::new("node", format!("is {node}, but the trace has {all}"), remedy))
        }
        None if count == 1 => Ok(0),
        None => {
            let mut kinds: BTreeMap<String, (usize, usize)> = BTreeMap::new();
            for (at, collective) in found.iter().enumerate() {
                kinds.entry(collective.words()).or_insert((at, 0)).1 += 1;
            }
            let mut kinds: Vec<_> =
                kinds.into_iter().map(|(words, (at, count))| (at, words, count)).collect();
            kinds.sort_unstable();
            let listed: Vec<String> = kinds
                .iter()
                .take(LISTED)
                .map(|(at, words, count)| format!("node={at}: {words} ({count} times)"))
                .collect();
            Err(Problem::new(
                "node",
                format!("is missing, but the trace has {all}"),
                format!("choose one: {}", listed.join(", ")),
            ))
        }
    }
}

/// Returns the number of ranks whose traces contain collectives of the group of `wanted`. In each of these traces, the
/// collective that follows `before` other collectives of the group must agree with `wanted`.
fn members(
    traces: &[Vec<TracedCollective>],
    inputs: &[&Input],
    wanted: &TracedCollective,
    before: usize,
) -> Result<usize, Problems> {
    let mut problems = Problems::new();
    let mut ranks = 0;
    for (trace, input) in traces.iter().zip(inputs) {
        let mut of_group = trace.iter().filter(|other| other.group == wanted.group).peekable();
        if of_group.peek().is_none() {
            continue;
        }
        ranks += 1;
        match of_group.nth(before) {
            Some(other) if (other.sort, other.size) == (wanted.sort, wanted.size) => {}
            other => {
                let has = other.map_or_else(|| "nothing".to_owned(), TracedCollective::words);
                let message = format!(
                    "has {has} as collective {before} of group '{}', but {} has {}",
                    printable(&wanted.group),
                    inputs[0].name,
                    wanted.words()
                );
                problems.add(input.name.as_str(), message, "pass the traces of one run");
            }
        }
    }
    problems.into_result(ranks)
}
