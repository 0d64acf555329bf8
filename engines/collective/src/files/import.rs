//! Scenarios from topologies of NCCL, RCCL, TACCL and MSCCL, from graphs and networks of simulators, and from inputs of
//! the published TE-CCL program.

mod chakra;
mod msccl;
mod msccl_topology;
mod mscclpp;
mod network;
mod schedule;
mod taccl;

#[cfg(test)]
mod tests;

use crate::Collective;
use crate::scenario::families::{FamilySort, NetworkFamily};
use crate::scenario::presets;
use crate::scenario::{
    CollectiveScenario, CollectiveSort, Demand, EpochRule, LinkRecord, NodeRecord, NodeSort, SwitchHop,
    SwitchModel, TimeRule, Topology,
};
use lightbay_core::format::{FormatInfo, ImportedPlan, ImportedScenario, Input, SubjectSort, scenario_name};
use lightbay_core::param::{ParamInfo, Params};
use lightbay_core::problem::{Problem, Problems, counted, printable};
use lightbay_core::scenario::Scenario;
use lightbay_formats::nccl::{self, ChassisLinkSort, ChassisNetwork, IntraLinks, NetworkOptions};
use lightbay_formats::taccl::teccl::{TecclEpoch, TecclInput, read_input};
use lightbay_formats::{Imported, Limits};
use serde_json::json;

/// Name of the format of NCCL and RCCL.
pub const NCCL: &str = "nccl";
/// Name of the format of the published TE-CCL program.
pub const TECCL: &str = "teccl";

/// Latency of a link inside a machine, µs.
const ALPHA_US: f64 = 0.7;

/// Returns all formats that are read.
pub(crate) fn formats() -> Vec<FormatInfo> {
    let collectives = collective_names();
    let nccl = FormatInfo::new(
        NCCL,
        "The topology of a machine as NCCL or RCCL dumps it (NCCL_TOPO_DUMP_FILE): its GPUs, switches and links.",
        SubjectSort::Scenario,
        "xml",
    )
    .leaving_out(&["NICs and the PCI paths to them"])
    .with(vec![
        ParamInfo::choice("collective", &collectives, "all_gather", "Collective that the GPUs perform."),
        ParamInfo::float("output_buffer_bytes", 1e-6, 1e18, 1e9, "Output buffer size of the collective.").unit("bytes"),
        ParamInfo::float("alpha_us", 0.0, 1e6, ALPHA_US, "Latency of every link; the file does not contain \
             it.")
            .unit("us"),
        ParamInfo::float(
            "link_gbyte_per_s",
            0.0,
            1e6,
            0.0,
            "Rate of one NVLink or Infinity Fabric link per direction; 0 uses the rates of NCCL's own \
             model.",
        )
        .unit("GB/s"),
        ParamInfo::text(
            "intra",
            "Links between GPUs if the file lists none: 'nvswitch:300' (GB/s of each GPU), 'mesh:50' (of \
             each pair) or 'pcie' (only PCI Express).",
        ),
    ]);
    let teccl = FormatInfo::new(
        TECCL,
        "An input of the published TE-CCL program: topology by name, collective, chunks and epochs.",
        SubjectSort::Scenario,
        "json",
    )
    .leaving_out(&["limits of the solver"]);
    vec![
        nccl,
        teccl,
        taccl::format(),
        msccl_topology::format(),
        network::format(),
        chakra::format(),
        msccl::format(),
        mscclpp::format(),
    ]
}

fn collective_names() -> Vec<&'static str> {
    CollectiveSort::ALL.iter().filter(|(_, sort)| sort.is_named()).map(|(name, _)| *name).collect()
}

/// Collective for a topology that names none.
const USUAL: (&str, CollectiveSort) = ("all_gather", CollectiveSort::AllGather);
/// Default buffer size if a topology sets none, bytes.
const USUAL_BYTES: f64 = 1e9;

/// Returns the knob for the collective.
fn collective() -> ParamInfo {
    let help = "Collective that the GPUs perform. Default: all_gather.";
    ParamInfo::choice("collective", &collective_names(), USUAL.0, help).derived()
}

/// Returns the knob for the size of the buffer.
fn buffer() -> ParamInfo {
    let help = "Output buffer size of the collective. Default: 1e9.";
    ParamInfo::float("output_buffer_bytes", 1e-6, 1e18, USUAL_BYTES, help).unit("bytes").derived()
}

fn given_sort(params: &Params) -> CollectiveSort {
    let word = params.text("collective").unwrap_or(USUAL.0);
    CollectiveSort::ALL.iter().find(|(name, _)| *name == word).map_or(USUAL.1, |(_, sort)| *sort)
}

/// Returns the demand that the knobs set, with a given number of chunks per rank.
fn demand(params: &Params, chunks_per_rank: u32) -> Demand {
    let bytes = params.float("output_buffer_bytes").unwrap_or(USUAL_BYTES);
    Demand { chunks_per_rank, ..Demand::named(given_sort(params), bytes) }
}

/// Adds the assumptions about the demand to an import.
fn add_demand<T>(made: &mut Imported<T>, params: &Params) {
    if params.text("collective").is_none() {
        made.assume("collective", USUAL.0, "collective=");
    }
    if params.float("output_buffer_bytes").is_none() {
        made.assume("size of the output buffer", format!("{USUAL_BYTES} bytes"), "output_buffer_bytes=");
    }
}

/// Creates a scenario from a file.
///
/// # Errors
/// Every problem of the file; with `strict`, everything that has to be assumed.
pub(crate) fn import(
    format: &str,
    inputs: &[Input],
    params: &Params,
    strict: bool,
) -> Result<ImportedScenario<Collective>, Problems> {
    let one = || {
        if let [input] = inputs {
            return Ok(input);
        }
        let message = format!("{} files are given, but this format is read from one", inputs.len());
        Err(Problems::from(Problem::new("", message, "give one file")))
    };
    let named = |input: &Input| scenario_name(&input.name, format);
    let (name, made) = match format {
        NCCL => one().and_then(|input| Ok((named(input), of_nccl(input, params)?)))?,
        taccl::NAME => taccl::read(inputs, params)?,
        msccl_topology::NAME => msccl_topology::read(one()?, params)?,
        network::NAME => network::read(one()?, params)?,
        chakra::NAME => chakra::read(inputs, params)?,
        _ => one().and_then(|input| Ok((named(input), of_teccl(input)?)))?,
    };
    made.value.validate()?;
    refuse_assumed(&made, strict)?;
    let topology = &made.value.topology;
    let gpus = topology.gpus().count();
    let mut lines = vec![format!(
        "found: {}, {}, {}",
        counted(gpus as u64, "GPU", "GPUs"),
        counted((topology.nodes.len() - gpus) as u64, "switch", "switches"),
        counted(topology.links.len() as u64, "link", "links")
    )];
    lines.extend(told(&made));
    let assumed: Vec<_> = made
        .assumed
        .iter()
        .map(|assumed| json!({"what": assumed.what, "value": assumed.value, "set_with": assumed.set_with}))
        .collect();
    let summary = json!({
        "gpus": gpus,
        "switches": topology.nodes.len() - gpus,
        "links": topology.links.len(),
        "assumed": assumed,
        "notes": made.notes,
    });
    let scenario = Scenario::new(name, made.value);
    Ok(ImportedScenario { scenario, lines, summary, assumed: made.assumed, notes: made.notes })
}

/// Creates a plan from a schedule and a scenario.
///
/// # Errors
/// Every problem of the files; with `strict`, everything that has to be assumed.
pub(crate) fn import_plan(
    format: &str,
    inputs: &[Input],
    strict: bool,
) -> Result<ImportedPlan<Collective>, Problems> {
    let (scenario, file) = schedule::sorted(format, inputs)?;
    let mut read = outside(format, &scenario.body, file)?;
    refuse_assumed(&read, strict)?;
    let told = told(&read);
    read.value.lines.extend(told);
    schedule::played(scenario, &read.value, strict)
}

/// Reads the schedule of a file for a scenario.
fn outside(
    format: &str,
    scenario: &CollectiveScenario,
    file: &Input,
) -> Result<Imported<schedule::OutsideSchedule>, Problems> {
    let read = if format == crate::files::msccl::NAME {
        msccl::schedule(file, scenario)
    } else {
        mscclpp::schedule(file, scenario)
    };
    read.map_err(|wrong| wrong.named(&file.name))
}

/// Returns the time that the schedule of a file takes on the network of a scenario, without epochs, µs.
pub(super) fn replay_us(format: &str, scenario: &Scenario<Collective>, file: &Input) -> Option<f64> {
    let read = outside(format, &scenario.body, file).ok()?;
    let plan = schedule::played(scenario.clone(), &read.value, false).ok()?;
    plan.candidate.result.claims.replay_us
}

/// With `strict`, refuses the file if something had to be assumed.
fn refuse_assumed<T>(made: &Imported<T>, strict: bool) -> Result<(), Problems> {
    let mut problems = Problems::new();
    for assumed in made.assumed.iter().filter(|_| strict) {
        problems.add(
            assumed.what.as_str(),
            format!("is not in the file; the import would assume {}", assumed.value),
            format!("set {}, or leave out --strict", assumed.set_with),
        );
    }
    problems.into_result(())
}

/// Returns assumptions and remarks as lines.
fn told<T>(made: &Imported<T>) -> Vec<String> {
    let assumed = made.assumed.iter();
    let mut lines: Vec<String> = assumed
        .map(|assumed| format!("assumed: {} is {} ({})", assumed.what, assumed.value, assumed.set_with))
        .collect();
    lines.extend(made.notes.iter().map(|note| format!("note: {note}")));
    lines
}

fn of_nccl(input: &Input, params: &Params) -> Result<Imported<CollectiveScenario>, Problems> {
    let link_gbyte_per_s = params.float("link_gbyte_per_s").filter(|rate| *rate > 0.0);
    let options = NetworkOptions { intra: intra(params.text("intra"))?, link_gbyte_per_s };
    let mut read = nccl::read(input.bytes.as_slice(), &Limits::default())?;
    let chassis = nccl::network(&read.value, &options)?;
    read.assumed.extend(chassis.assumed);
    read.notes.extend(chassis.notes);
    let alpha_us = params.float("alpha_us").unwrap_or(ALPHA_US);
    let topology = topology(&scenario_name(&input.name, NCCL), &chassis.value, alpha_us);
    if !chassis.value.ports.is_empty() {
        read.note(format!("external ports of the machine, ignored: {}", chassis.value.ports.len()));
    }
    let word = params.text("collective").unwrap_or_default();
    let sort = CollectiveSort::ALL.iter().find(|(name, _)| *name == word);
    let sort = sort.map_or(CollectiveSort::AllGather, |(_, sort)| *sort);
    let bytes = params.float("output_buffer_bytes").unwrap_or(1e9);
    let mut made = read.map(|_| presets::of(topology, None, Demand::named(sort, bytes)));
    let sums = matches!(sort, CollectiveSort::AllReduce | CollectiveSort::ReduceScatter);
    if sums && chassis.value.nodes.iter().any(|node| node.switch) {
        made.assume(
            "reduction in the switch",
            "none: the switch neither copies nor reduces",
            "switch_reduce= of the scenario",
        );
    }
    if params.float("alpha_us") == Some(ALPHA_US) {
        made.assume("latency of every link", format!("{ALPHA_US} us"), "alpha_us=");
    }
    Ok(made)
}

fn intra(text: Option<&str>) -> Result<Option<IntraLinks>, Problem> {
    let Some(text) = text.map(str::trim).filter(|text| !text.is_empty()) else { return Ok(None) };
    let (sort, rate) = text.split_once(':').unwrap_or((text, ""));
    let rate = rate.trim().parse::<f64>().ok().filter(|rate| rate.is_finite() && *rate > 0.0);
    match (sort.trim(), rate) {
        ("pcie" | "none", None) if !text.contains(':') => Ok(Some(IntraLinks::Pcie)),
        ("nvswitch" | "switch", Some(rate)) => Ok(Some(IntraLinks::Switch(rate))),
        ("mesh", Some(rate)) => Ok(Some(IntraLinks::Mesh(rate))),
        _ => {
            let message = format!("is '{}'", printable(text));
            Err(Problem::new(
                "intra",
                message,
                "set 'nvswitch:300' (GB/s of each GPU), 'mesh:50' (of each pair) or 'pcie' (only PCI \
                 Express)",
            ))
        }
    }
}

/// Returns the network of a machine. Switches cut through; they copy chunks unless some link is PCI Express.
fn topology(name: &str, chassis: &ChassisNetwork, alpha_us: f64) -> Topology {
    let node = |(id, node): (u32, &nccl::ChassisNode)| NodeRecord {
        id,
        name: node.name.clone(),
        kind: if node.switch { NodeSort::Switch } else { NodeSort::Gpu },
        group: node.host.map(|host| host as u32),
    };
    let link = |link: &nccl::ChassisLink| {
        let kind = match link.sort {
            ChassisLinkSort::NvLink => "nvlink",
            ChassisLinkSort::Xgmi => "xgmi",
            ChassisLinkSort::Pcie => "pcie",
            ChassisLinkSort::Given => "given",
        };
        LinkRecord::new(link.from, link.to, link.gbyte_per_s, alpha_us, kind)
    };
    let over_pcie = chassis.links.iter().any(|link| link.sort == ChassisLinkSort::Pcie);
    Topology {
        name: name.to_owned(),
        nodes: (0..).zip(&chassis.nodes).map(node).collect(),
        links: chassis.links.iter().map(link).collect(),
        // Bridges and CPUs pass data on and do not copy it.
        switch_model: SwitchModel { copy: !over_pcie, hop: SwitchHop::CutThrough, reduce: false },
        symmetry_generators: Vec::new(),
        notes: String::new(),
    }
}

fn of_teccl(input: &Input) -> Result<Imported<CollectiveScenario>, Problems> {
    let read = read_input(input.bytes.as_slice(), &Limits::default())?;
    let given = read.value.clone();
    let mut topology = network_of(&given)?;
    if let Some([link, switch]) = given.alpha_us {
        let switches: Vec<bool> = topology.0.nodes.iter().map(|node| node.kind == NodeSort::Switch).collect();
        for record in &mut topology.0.links {
            let at_switch = switches[record.from as usize] || switches[record.to as usize];
            record.alpha_us = if at_switch { switch } else { link };
        }
    }
    topology.0.switch_model.copy = given.switch_copy;
    let usual = topology.1.topology().map_err(Problems::from)?;
    let family = (usual == topology.0).then_some(topology.1);
    let sort = if given.all_to_all { CollectiveSort::AllToAll } else { CollectiveSort::AllGather };
    let mut demand = Demand::named(sort, 1.0);
    (demand.output_buffer_bytes, demand.chunk_bytes) = (None, Some(given.chunk_bytes));
    demand.chunks_per_rank = given.chunks;
    let multiplier = f64::from(given.epoch_multiplier);
    let (epoch, epoch_us, epoch_multiplier) = match given.epoch {
        TecclEpoch::FastestLink => (EpochRule::FastestLink, None, multiplier),
        TecclEpoch::SlowestLink => (EpochRule::SlowestLink, None, multiplier),
        TecclEpoch::Fixed(epoch_us) => (EpochRule::Fixed, Some(epoch_us * multiplier), 1.0),
    };
    let time = TimeRule { epoch, epoch_us, epoch_multiplier, alpha_threshold: given.alpha_threshold };
    let mut made = read.map(|_| CollectiveScenario { time, ..presets::of(topology.0, family, demand) });
    if let Some(epochs) = given.epochs {
        made.note(format!(
            "the file sets {epochs} epochs; methods find the minimum, or --set epochs={epochs} tests this \
             number"
        ));
    }
    Ok(made)
}

/// Returns the network whose name the input of the published program gives.
fn network_of(given: &TecclInput) -> Result<(Topology, NetworkFamily), Problem> {
    let name = given.topology.to_ascii_lowercase();
    let side = given.side_length;
    let (network, size) = match name.as_str() {
        "ndv2" => (FamilySort::Ndv2, vec![given.chassis]),
        "dgx1" => (FamilySort::Dgx1, vec![given.chassis]),
        "dgx2" => (FamilySort::Dgx2, vec![given.chassis]),
        "amd" => (FamilySort::Amd, vec![given.chassis]),
        "mesh" => (FamilySort::Mesh, side.map_or_else(Vec::new, |side| vec![side, side])),
        "torus" => (FamilySort::Torus, side.map_or_else(Vec::new, |side| vec![side, side])),
        _ => {
            return Err(Problem::new(
                "TopologyParams.name",
                format!("is '{}', which is not a known network", printable(&given.topology)),
                "set NDv2, DGX1, DGX2, AMD, Mesh or Torus",
            ));
        }
    };
    let family = NetworkFamily { network, size };
    let topology = family.topology().map_err(|problem| {
        Problem::new("TopologyParams", format!("is not a network: {}", problem.message), problem.remedy)
    })?;
    Ok((topology, family))
}
