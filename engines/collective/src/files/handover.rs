//! Scenarios from plans of other kinds: the collective runs on the network that a plan builds.
//!
//! A plan that is a network provides nodes and links with their rates. A plan of circuits provides pods and the number
//! of circuits between them; each pod then becomes one GPU, or several GPUs that are connected to a switch.

use crate::Collective;
use crate::scenario::{
    CollectiveScenario, CollectiveSort, Demand, LinkRecord, NodeRecord, NodeSort, SwitchHop, SwitchModel,
    Topology,
};
use crate::scenario::{KNOBS, presets};
use lightbay_core::checked::SharedPlan;
use lightbay_core::exchange::{CircuitMatrix, DerivedFrom, Graph, TRAFFIC_BETWEEN_PODS, TrafficMatrix};
use lightbay_core::format::enumerated;
use lightbay_core::json;
use lightbay_core::listed::{Conversion, ConvertedScenario, Sources};
use lightbay_core::param::{ParamInfo, ParamValue};
use lightbay_core::problem::{Problem, Problems, counted};
use lightbay_core::scenario::Scenario;
use std::collections::BTreeMap;

#[cfg(test)]
mod tests;

/// Knob that names the plan.
const FROM: &str = "from";
/// Knob that selects the demand.
const DEMAND: &str = "demand";
/// Value of [`DEMAND`] for the bytes between the nodes of the plan.
const TRAFFIC: &str = "traffic";
/// Value of [`DEMAND`] for an AllGather.
const ALL_GATHER: &str = "all_gather";
/// Knob of the layer whose network and bytes are used.
const LAYER: &str = "from_layer";
/// Scenario knobs that replace the assumed demand.
const DEMANDED: [&str; 2] = ["collective", "output_buffer_bytes"];
/// Largest layer number.
const MOST_LAYERS: i64 = 1 << 20;
/// Knob of the rate of a circuit.
const CIRCUIT_GBPS: &str = "circuit_gbps";
/// Knob of the latency of a circuit.
const CIRCUIT_ALPHA_US: &str = "circuit_alpha_us";
/// Knob of the number of GPUs of a pod.
const GPUS_PER_POD: &str = "gpus_per_pod";
/// Knob of the rate of one GPU to the switch of its pod.
const POD_GBYTE_PER_S: &str = "pod_gbyte_per_s";

/// Assumed rate of a circuit, Gb/s.
const USUAL_GBPS: f64 = 400.0;
/// Assumed latency of a circuit, µs.
const USUAL_ALPHA_US: f64 = 1.3;
/// Assumed rate of one GPU to the switch of its pod, GB/s.
const USUAL_POD_GBYTE_PER_S: f64 = 450.0;
/// Latency between a GPU and the switch of its pod, µs.
const POD_ALPHA_US: f64 = 0.35;
/// Assumed buffer of the collective, bytes.
const USUAL_BYTES: f64 = 1e9;
/// Number of chunks of the pair with the most bytes. For every other pair with data, the number of chunks is rounded,
/// but is at least 1. The error is at most half a chunk (2 % of the bytes of the largest pair); for pairs with less
/// than half a chunk, it is below one chunk.
const MOST_CHUNKS: f64 = 24.0;

/// Returns the parameters of the conversion.
pub(crate) fn conversion() -> Conversion {
    Conversion {
        plans: vec![ParamInfo::text(
            FROM,
            "Plan whose network carries the collective: a pod design, cross-connects, or the circuits of a training job.",
        )],
        own: vec![
            ParamInfo::choice(
                DEMAND,
                &[TRAFFIC, ALL_GATHER],
                ALL_GATHER,
                "Demand: the bytes that the plan has between its nodes (traffic), or an AllGather of 1 GB \
                 (all_gather). Default: traffic, if the plan is a network with bytes between its nodes.",
            )
            .derived(),
            ParamInfo::int(
                LAYER,
                0,
                MOST_LAYERS,
                0,
                "For a plan with a network and bytes per layer, such as the plan of a region: the layer to \
                 use. Default: the layer whose all-to-all takes longest.",
            )
            .derived(),
            ParamInfo::float(
                CIRCUIT_GBPS,
                1e-3,
                1e6,
                USUAL_GBPS,
                "Rate of a circuit in each direction. Default: the rate in the plan, or 400.",
            )
            .unit("Gb/s")
            .derived(),
            ParamInfo::float(
                CIRCUIT_ALPHA_US,
                0.0,
                1e6,
                USUAL_ALPHA_US,
                "Latency of a circuit between pods. Default: 1.3.",
            )
            .unit("us")
            .derived(),
            ParamInfo::int(
                GPUS_PER_POD,
                1,
                1024,
                1,
                "Number of GPUs per pod, connected to the switch at which the pod's circuits end; 1 \
                 treats the pod as one GPU. Default: 1.",
            )
            .derived(),
            ParamInfo::float(
                POD_GBYTE_PER_S,
                1e-3,
                1e6,
                USUAL_POD_GBYTE_PER_S,
                "Rate of a GPU to the switch of its pod, if a pod has several GPUs. Default: 450.",
            )
            .unit("GB/s")
            .derived(),
        ],
        early: KNOBS.infos(None).into_iter().filter(|knob| DEMANDED.contains(&knob.name.as_ref())).collect(),
    }
}

/// Creates a scenario on the network of a plan.
///
/// # Errors
/// A missing plan, a plan without a network, and parameters that do not fit the plan.
pub(crate) fn convert(sources: Sources<'_>) -> Result<ConvertedScenario<Collective>, Problems> {
    let Some(from) = sources.plan(FROM) else {
        let remedy = "set the plan whose network is used, such as a pod design: --set from=PLAN";
        return Err(Problem::new(FROM, "is missing", remedy).into());
    };
    let header = from.header();
    let mut said = Vec::new();
    let (graph, traffic) = of_layer(from, sources, &mut said)?;
    let has_graph = graph.is_some();
    let (topology, mut notes) = match (graph, from.circuits()) {
        (Some(graph), _) => {
            given_rates(sources)?;
            of_graph(&header.name, &graph)?
        }
        (None, Some(mut matrix)) => {
            if wants_traffic(sources) {
                matrix.left_out.retain(|part| part != TRAFFIC_BETWEEN_PODS);
            }
            of_circuits(&header.name, &matrix, sources)?
        }
        (None, None) => {
            let message = format!("is a plan of kind {} without a network", header.kind);
            let remedy = "use a pod design, cross-connects, or a training plan whose circuits do not change \
                 within an iteration (not for an instance with mirrors)";
            return Err(Problem::new(FROM, message, remedy).into());
        }
    };
    notes.extend(said);
    let has_bytes = traffic.is_some();
    let traffic = traffic.and_then(|traffic| placed(&topology, &traffic));
    let is_named = DEMANDED.iter().any(|name| sources.value(name).is_some());
    if is_named && wants_traffic(sources) {
        let name = DEMANDED.into_iter().find(|name| sources.value(name).is_some()).unwrap_or_default();
        let message = format!(
            "has no effect with {DEMAND}={TRAFFIC}, because the plan determines which bytes are sent"
        );
        return Err(Problem::new(name, message, "omit one of the two").into());
    }
    let demand = match (sources.value(DEMAND), traffic) {
        (_, None) if wants_traffic(sources) => {
            let (message, remedy) = if has_bytes {
                let message =
                    "is traffic, but the bytes of the plan are not between the GPUs of this network";
                (message.to_owned(), "omit it, or omit 'gpus_per_pod', so that each pod is one node")
            } else {
                let message = format!(
                    "is traffic, but the plan of kind {} has no bytes between its nodes",
                    header.kind
                );
                (message, "omit it, or set it to all_gather")
            };
            return Err(Problem::new(DEMAND, message, remedy).into());
        }
        (Some(ParamValue::Text(given)), _) if given == ALL_GATHER => all_gather(sources, &mut notes),
        (_, Some(bytes)) if !is_named && (has_graph || sources.value(DEMAND).is_some()) => {
            of_traffic(&topology, &bytes, &mut notes)
        }
        (_, traffic) => {
            if traffic.is_some() && has_graph {
                notes.push(format!(
                    "missing from the scenario but present in the plan: bytes between nodes \
                     ({DEMAND}={TRAFFIC} keeps them)"
                ));
            }
            all_gather(sources, &mut notes)
        }
    };
    let mut body: CollectiveScenario = presets::of(topology, None, demand);
    for name in DEMANDED {
        if let Some(value) = sources.value(name) {
            body.set(name, None, value)?;
        }
    }
    body.derived_from = Some(DerivedFrom {
        kind: header.kind,
        scenario_sha256: from.scenario_sha256().to_owned(),
        plan_sha256: json::sha256_hex(&from.to_json().map_err(|error| Problem::from(error).under(FROM))?),
    });
    body.validate()?;
    Ok(ConvertedScenario { scenario: Scenario::new(header.name, body), notes })
}

/// Returns `true` if the parameters select the bytes of the plan as the demand.
fn wants_traffic(sources: Sources<'_>) -> bool {
    matches!(sources.value(DEMAND), Some(ParamValue::Text(given)) if given == TRAFFIC)
}

/// Returns the network and the bytes of the plan, or of one layer if the parameter selects it.
fn of_layer(
    from: &SharedPlan,
    sources: Sources<'_>,
    notes: &mut Vec<String>,
) -> Result<(Option<Graph>, Option<TrafficMatrix>), Problem> {
    let Some(layer) = sources.value(LAYER).and_then(ParamValue::as_i64) else {
        if from.network_of_layer(0).is_some() {
            notes.push(format!("assumed: the layer whose all-to-all takes longest ({LAYER}=)"));
        }
        return Ok((from.graph(), from.traffic()));
    };
    let of = |layer: i64| u32::try_from(layer).ok().and_then(|layer| from.network_of_layer(layer));
    let Some((graph, traffic)) = of(layer) else {
        let message = match of(0) {
            Some(_) => format!("is {layer}, but the plan has no such layer"),
            None => format!("is set, but plans of kind {} have no networks of layers", from.header().kind),
        };
        let remedy = "omit it, or use a plan of a region and one of its layers, from 0";
        return Err(Problem::new(LAYER, message, remedy));
    };
    Ok((Some(graph), Some(traffic)))
}

/// Returns the demand of an AllGather; parameters that are not set get default values, with a note for each.
fn all_gather(sources: Sources<'_>, notes: &mut Vec<String>) -> Demand {
    let [collective, bytes] = DEMANDED.map(|name| sources.value(name).is_some());
    if !collective {
        notes.push("assumed: collective is all_gather among all GPUs (collective=)".to_owned());
    }
    if !bytes {
        notes.push(format!("assumed: the buffer has {USUAL_BYTES} bytes (output_buffer_bytes=)"));
    }
    Demand::named(CollectiveSort::AllGather, USUAL_BYTES)
}

/// Returns the bytes between GPUs by their position among the GPUs; `None` if the matrix names a node that is not a
/// GPU, or has no bytes.
fn placed(topology: &Topology, traffic: &TrafficMatrix) -> Option<Vec<Vec<f64>>> {
    let ranks: BTreeMap<&str, usize> = topology
        .gpus()
        .zip(0..)
        .map(|(gpu, rank)| (topology.nodes[gpu as usize].name.as_str(), rank))
        .collect();
    let rank = |place: u32| ranks.get(traffic.places.get(place as usize)?.as_str()).copied();
    let mut bytes = vec![vec![0.0; ranks.len()]; ranks.len()];
    for &(from, to, amount) in &traffic.entries {
        bytes[rank(from)?][rank(to)?] += amount;
    }
    bytes.iter().flatten().any(|amount| *amount > 0.0).then_some(bytes)
}

/// Returns the demand that sends the given bytes between GPUs, as chunks of one size.
fn of_traffic(topology: &Topology, bytes: &[Vec<f64>], notes: &mut Vec<String>) -> Demand {
    let pairs = || (0..bytes.len()).flat_map(|from| (0..bytes.len()).map(move |to| (from, to)));
    let amount = |(from, to): (usize, usize)| if from == to { 0.0 } else { bytes[from][to] };
    let largest = pairs().map(amount).fold(0.0, f64::max);
    let chunk_bytes = (largest / MOST_CHUNKS).max(1e-6);
    let chunks = |pair| match amount(pair) {
        amount if amount > 0.0 => (amount / chunk_bytes).round().max(1.0),
        _ => 0.0,
    };
    let (wanted, sent): (f64, f64) =
        (pairs().map(amount).sum(), pairs().map(chunks).sum::<f64>() * chunk_bytes);
    let off = pairs().map(|pair| (chunks(pair) * chunk_bytes - amount(pair)).abs()).fold(0.0, f64::max);
    notes.push(format!(
        "demand: {wanted:.0} bytes between {} GPUs as chunks of {chunk_bytes:.0} bytes; rounding to chunks \
         changes the total by {:+.2} %, and a pair of GPUs by at most {off:.0} bytes",
        topology.gpus().count(),
        100.0 * (sent / wanted - 1.0),
    ));
    let row = |from| (0..bytes.len()).map(|to| chunks((from, to)) as u32).collect();
    Demand { matrix: (0..bytes.len()).map(row).collect(), ..Demand::custom(chunk_bytes, Vec::new()) }
}

/// Refuses knobs of circuits for a plan that gives nodes and links with their rates.
fn given_rates(sources: Sources<'_>) -> Result<(), Problems> {
    let mut problems = Problems::new();
    for name in [CIRCUIT_GBPS, CIRCUIT_ALPHA_US, GPUS_PER_POD, POD_GBYTE_PER_S] {
        if sources.value(name).is_some() {
            problems.add(
                name,
                "has no effect, because the plan contains the nodes, the links and their rates",
                "leave it out",
            );
        }
    }
    problems.into_result(())
}

/// All circuits or links from one node to another, which become one link: total rate, latency and number.
#[derive(Clone, Copy, Default)]
struct JoinedLinks {
    gbyte_per_s: f64,
    alpha_us: f64,
    count: u32,
}

fn of_graph(name: &str, graph: &Graph) -> Result<(Topology, Vec<String>), Problems> {
    if graph.nodes.len() > crate::scenario::MAX_NODES {
        let message = format!("has {} nodes", graph.nodes.len());
        let remedy = format!("use a plan with at most {}", crate::scenario::MAX_NODES);
        return Err(Problem::new(FROM, message, remedy).into());
    }
    let mut joined: BTreeMap<(u32, u32), JoinedLinks> = BTreeMap::new();
    let mut loops = 0u64;
    for link in &graph.links {
        if link.from == link.to {
            loops += 1;
            continue;
        }
        let entry = joined.entry((link.from, link.to)).or_default();
        entry.gbyte_per_s += link.capacity_gbps / 8.0;
        entry.alpha_us = entry.alpha_us.max(rounded(link.latency_s * 1e6));
        entry.count += 1;
    }
    let nodes = graph.nodes.iter().zip(0..).map(|(name, id)| NodeRecord {
        id,
        name: name.clone(),
        kind: if graph.switches.contains(&id) { NodeSort::Switch } else { NodeSort::Gpu },
        group: None,
    });
    let links = joined.iter().map(|(&(from, to), link)| {
        LinkRecord::new(from, to, rounded(link.gbyte_per_s), link.alpha_us, "link")
    });
    let switches = graph.switches.len() as u64;
    let as_switches =
        if switches == 0 { String::new() } else { format!(", {}", counted(switches, "switch", "switches")) };
    let mut notes = vec![format!(
        "network: {} of the plan as GPUs{as_switches}, {}",
        counted(graph.nodes.len() as u64 - switches, "node", "nodes"),
        counted(joined.len() as u64, "link", "links")
    )];
    let several = joined.values().filter(|link| link.count > 1).count() as u64;
    if several > 0 {
        let links = counted(several, "link replaces", "links replace");
        notes.push(format!(
            "{links} parallel links between the same nodes: rates are added, and the maximum latency is used"
        ));
    }
    if loops > 0 {
        notes.push(format!("{} from a node to itself omitted", counted(loops, "link", "links")));
    }
    notes.extend(enumerated("missing from the scenario but present in the plan", &graph.left_out));
    Ok((topology(name, nodes.collect(), links.collect()), notes))
}

fn of_circuits(
    name: &str,
    matrix: &CircuitMatrix,
    sources: Sources<'_>,
) -> Result<(Topology, Vec<String>), Problems> {
    let number = |name: &str| sources.value(name).and_then(ParamValue::as_f64);
    let gpus = sources.value(GPUS_PER_POD).and_then(ParamValue::as_i64).unwrap_or(1) as u32;
    let pods = matrix.pods.len() as u32;
    if gpus == 1 && sources.value(POD_GBYTE_PER_S).is_some() {
        let message = format!("has no effect with {GPUS_PER_POD}=1: a pod has no internal links");
        return Err(Problem::new(POD_GBYTE_PER_S, message, format!("omit it, or set {GPUS_PER_POD}")).into());
    }
    if u64::from(pods) * (u64::from(gpus) + 1) > crate::scenario::MAX_NODES as u64 {
        let message = format!(
            "gives {pods} pods of {gpus} GPUs, but a collective supports at most {} GPUs and switches",
            crate::scenario::MAX_NODES
        );
        return Err(Problem::new(GPUS_PER_POD, message, "give fewer GPUs").into());
    }
    let mut notes = vec![format!(
        "network: {} as {}, {} joined by {}",
        counted(u64::from(pods), "pod", "pods"),
        if gpus == 1 { "one GPU each".to_owned() } else { format!("{gpus} GPUs and a switch each") },
        counted(matrix.circuits.len() as u64, "pair", "pairs"),
        counted(matrix.circuits.iter().map(|(_, _, count)| u64::from(*count)).sum(), "circuit", "circuits"),
    )];
    let gbps = number(CIRCUIT_GBPS).or(matrix.circuit_gbps).unwrap_or_else(|| {
        notes.push(format!(
            "assumed: rate of a circuit is {USUAL_GBPS} Gb/s in each direction ({CIRCUIT_GBPS}=)"
        ));
        USUAL_GBPS
    });
    let alpha_us = number(CIRCUIT_ALPHA_US).unwrap_or_else(|| {
        notes.push(format!("assumed: latency of a circuit is {USUAL_ALPHA_US} us ({CIRCUIT_ALPHA_US}=)"));
        USUAL_ALPHA_US
    });
    if gpus == 1 {
        notes.push(format!("assumed: a pod is one GPU ({GPUS_PER_POD}=)"));
    }
    let mut nodes = Vec::new();
    let mut links = Vec::new();
    // GPUs first, then the switches of the pods, at which circuits end.
    for (pod, pod_name) in (0..pods).zip(&matrix.pods) {
        for gpu in 0..gpus {
            let name = if gpus == 1 { pod_name.clone() } else { format!("{pod_name} gpu {gpu}") };
            nodes.push(NodeRecord { id: pod * gpus + gpu, name, kind: NodeSort::Gpu, group: Some(pod) });
        }
    }
    let end = |pod: u32| if gpus == 1 { pod } else { pods * gpus + pod };
    if gpus > 1 {
        let rate = number(POD_GBYTE_PER_S).unwrap_or_else(|| {
            notes.push(format!(
                "assumed: rate of a GPU inside its pod is {USUAL_POD_GBYTE_PER_S} GB/s ({POD_GBYTE_PER_S}=)"
            ));
            USUAL_POD_GBYTE_PER_S
        });
        notes.push(format!(
            "assumed: latency between a GPU and the switch of its pod is {POD_ALPHA_US} us; switches do \
             not copy (switch_copy=)"
        ));
        for (pod, pod_name) in (0..pods).zip(&matrix.pods) {
            let name = format!("{pod_name} switch");
            nodes.push(NodeRecord { id: end(pod), name, kind: NodeSort::Switch, group: Some(pod) });
            for gpu in pod * gpus..(pod + 1) * gpus {
                links.push(LinkRecord::new(gpu, end(pod), rate, POD_ALPHA_US, "nvlink"));
                links.push(LinkRecord::new(end(pod), gpu, rate, POD_ALPHA_US, "nvlink"));
            }
        }
    }
    for &(a, b, count) in matrix.circuits.iter().filter(|(a, b, count)| a != b && *count > 0) {
        let rate = rounded(f64::from(count) * gbps / 8.0);
        links.push(LinkRecord::new(end(a), end(b), rate, alpha_us, "ocs"));
        links.push(LinkRecord::new(end(b), end(a), rate, alpha_us, "ocs"));
    }
    notes.extend(enumerated("dropped from the plan", &matrix.left_out));
    if matrix.places.is_some() {
        notes.push("dropped from the plan: switch and ports of the circuits".to_owned());
    }
    Ok((topology(name, nodes, links), notes))
}

fn topology(name: &str, nodes: Vec<NodeRecord>, links: Vec<LinkRecord>) -> Topology {
    Topology {
        name: name.to_owned(),
        nodes,
        links,
        switch_model: SwitchModel { copy: false, hop: SwitchHop::CutThrough, reduce: false },
        symmetry_generators: Vec::new(),
        notes: String::new(),
    }
}

/// Rounds to a millionth, because products and quotients leave meaningless digits.
fn rounded(number: f64) -> f64 {
    (number * 1e6).round() / 1e6
}
