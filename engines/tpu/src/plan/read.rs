//! Reading the result of a plan from JSON, all problems at once.
//!
//! Only form is checked here: whether the plan is right is the checker's business.

use super::{
    Certificates, Claims, Dimension, Expansion, FaultCase, OcsState, Route, Routing, RoutingClaims,
    Simulation, SymmetryRecord, TopologyRecord, TpuResult, Unbalanced,
};
use lightbay_core::problem::Problems;
use lightbay_core::read::{Fields, brief, list_at, whole_numbers};
use serde_json::Value;

/// Numbers beyond this are a damaged file.
const HUGE: f64 = 1e18;
const MOST: i64 = u32::MAX as i64 - 1;

impl TpuResult {
    /// Reads the keys of a `result`; values of a wrong type or absurd size and missing keys are problems. The caller
    /// finishes `fields`, which reports unknown keys.
    pub fn read(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<Self> {
        let topology = fields.object("topology", problems).and_then(|mut inner| {
            let record = topology_record(&mut inner, problems);
            inner.finish(problems);
            record
        });
        let claims = fields.object("claims", problems).and_then(|mut inner| {
            let claims = read_claims(&mut inner, problems);
            inner.finish(problems);
            claims
        });
        let certificates = match fields.optional_object("certificates", problems) {
            None => Some(Certificates::default()),
            Some(mut inner) => {
                let class_lengths = optional_numbers(&mut inner, "class_lengths", problems);
                let link_lengths = optional_numbers(&mut inner, "link_lengths", problems);
                inner.finish(problems);
                Some(Certificates { class_lengths, link_lengths })
            }
        };
        let routing = optional_routing(fields, problems);
        let faults = match fields.optional("faults") {
            None => Some(Vec::new()),
            Some(_) => fields.each("faults", problems, fault_case),
        };
        let simulation = match fields.optional_object("simulation", problems) {
            None => Some(None),
            Some(mut inner) => {
                let simulation = read_simulation(&mut inner, problems);
                inner.finish(problems);
                simulation.map(Some)
            }
        };
        Some(Self {
            topology: topology?,
            claims: claims?,
            certificates: certificates?,
            routing,
            faults: faults?,
            simulation: simulation?,
        })
    }
}

/// The keys of a topology; the caller finishes `fields`.
pub(crate) fn topology_record(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<TopologyRecord> {
    const DIMENSIONS: [(&str, Dimension); 3] =
        [("x", Dimension::X), ("y", Dimension::Y), ("z", Dimension::Z)];
    let ocs = fields.each("ocs", problems, |fields, problems| {
        let id = fields.int("id", 0..=255, problems);
        let dim = fields.choice("dim", &DIMENSIONS, problems);
        let pos = whole::<u8>(fields, "pos", problems);
        let to = whole::<u16>(fields, "to", problems);
        let path = fields.path_of("pos");
        let pos: Option<[u8; 2]> = pos.and_then(|pos| {
            let pair = pos.try_into().ok();
            if pair.is_none() {
                problems.add(path, "is not a pair", "give [u, v], each 0 to 3");
            }
            pair
        });
        Some(OcsState { id: id? as u8, dim: dim?, pos: pos?, to: to? })
    });
    let symmetry = match fields.optional_object("symmetry", problems) {
        None => Some(None),
        Some(mut inner) => {
            let path = inner.path_of("table");
            let rows = inner.list("table", problems).and_then(|rows| {
                let mut table = Vec::with_capacity(rows.len());
                for (index, row) in rows.iter().enumerate() {
                    table.extend(whole_numbers::<u16>(row, &format!("{path}[{index}]"), problems));
                }
                (table.len() == rows.len()).then_some(table)
            });
            let voltage = whole::<u16>(&mut inner, "voltage", problems);
            inner.finish(problems);
            match (rows, voltage) {
                (Some(table), Some(voltage)) => Some(Some(SymmetryRecord { table, voltage })),
                _ => None,
            }
        }
    };
    Some(TopologyRecord { ocs: ocs?, symmetry: symmetry? })
}

fn read_claims(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<Claims> {
    let hop_sum = fields.int("hop_sum", 0..=i64::MAX, problems);
    let diameter = fields.int("diameter", 0..=MOST, problems);
    let mut number = |key, problems: &mut Problems| fields.float(key, -HUGE..=HUGE, problems);
    let avg_hops = number("avg_hops", problems);
    let mcf_lower = number("mcf_lower", problems);
    let mcf_upper = number("mcf_upper", problems);
    Some(Claims {
        hop_sum: hop_sum? as u64,
        diameter: diameter? as u32,
        avg_hops: avg_hops?,
        mcf_lower: mcf_lower?,
        mcf_upper: mcf_upper?,
    })
}

/// `None` if absent or wrong; wrong ones are problems.
fn optional_routing(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<Routing> {
    let mut inner = fields.optional_object("routing", problems)?;
    let routing = read_routing(&mut inner, problems);
    inner.finish(problems);
    routing
}

fn read_routing(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<Routing> {
    const EXPANSIONS: [(&str, Expansion); 2] =
        [("translation", Expansion::Translation), ("none", Expansion::None)];
    let vc_count = fields.int("vc_count", 1..=10, problems);
    let expand = fields.choice("expand", &EXPANSIONS, problems);
    let claims = fields.object("claims", problems).and_then(|mut inner| {
        let max = inner.int("max_channel_load", 0..=i64::MAX, problems);
        let vc_hops = whole::<u64>(&mut inner, "vc_hops", problems);
        let sum = inner.int("route_hop_sum", 0..=i64::MAX, problems);
        inner.finish(problems);
        Some(RoutingClaims { max_channel_load: max? as u64, vc_hops: vc_hops?, route_hop_sum: sum? as u64 })
    });
    let path = fields.path_of("routes");
    let routes = fields.list("routes", problems).and_then(|list| {
        let mut routes = Vec::with_capacity(list.len());
        for (index, value) in list.iter().enumerate() {
            match route(value) {
                Some(route) => routes.push(route),
                None => problems.add(
                    format!("{path}[{index}]"),
                    format!("is {}", brief(value)),
                    "give [source, target, \"ports\", \"virtual channels\"] with one digit per hop",
                ),
            }
        }
        (routes.len() == list.len()).then_some(routes)
    });
    let unbalanced = match fields.optional_object("unbalanced", problems) {
        None => Some(None),
        Some(mut inner) => {
            let vc_hops = whole::<u64>(&mut inner, "vc_hops", problems);
            let path = inner.path_of("loads");
            let loads = inner.list("loads", problems).and_then(|rows| {
                let mut loads = Vec::with_capacity(rows.len());
                for (index, row) in rows.iter().enumerate() {
                    loads.extend(whole_numbers::<u32>(row, &format!("{path}[{index}]"), problems));
                }
                (loads.len() == rows.len()).then_some(loads)
            });
            inner.finish(problems);
            match (vc_hops, loads) {
                (Some(vc_hops), Some(loads)) => Some(Some(Unbalanced { vc_hops, loads })),
                _ => None,
            }
        }
    };
    Some(Routing {
        vc_count: vc_count? as u8,
        expand: expand?,
        claims: claims?,
        routes: routes?,
        unbalanced: unbalanced?,
    })
}

/// One route: `[source, target, ports, vcs]`.
fn route(value: &Value) -> Option<Route> {
    let [source, target, ports, vcs] = value.as_array()?.as_slice() else { return None };
    let node = |value: &Value| u32::try_from(value.as_u64()?).ok();
    let digits = |value: &Value| -> Option<Vec<u8>> {
        value.as_str()?.bytes().map(|byte| byte.is_ascii_digit().then(|| byte - b'0')).collect()
    };
    Some(Route { source: node(source)?, target: node(target)?, ports: digits(ports)?, vcs: digits(vcs)? })
}

fn fault_case(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<FaultCase> {
    let failed_ocs = fields.int("failed_ocs", 0..=255, problems);
    let max_channel_load = match fields.optional("max_channel_load") {
        None => Some(None),
        Some(_) => fields.int("max_channel_load", 0..=i64::MAX, problems).map(|load| Some(load as u64)),
    };
    let avg_hops = fields.float("avg_hops", -HUGE..=HUGE, problems);
    const SATURATION: &str = "saturation_flits_per_cycle_per_node";
    let saturation = match fields.optional(SATURATION) {
        None => Some(None),
        Some(_) => fields.float(SATURATION, -HUGE..=HUGE, problems).map(Some),
    };
    let path = fields.path_of("unreachable");
    let unreachable = match fields.optional("unreachable") {
        None => Some(Vec::new()),
        Some(_) => fields.list("unreachable", problems).and_then(|list| {
            let mut pairs = Vec::with_capacity(list.len());
            for (index, value) in list.iter().enumerate() {
                let pair = whole_numbers::<u32>(value, &format!("{path}[{index}]"), problems)?;
                let [source, target] = pair.as_slice() else {
                    problems.add(format!("{path}[{index}]"), "is not a pair", "give [source, target]");
                    return None;
                };
                pairs.push((*source, *target));
            }
            Some(pairs)
        }),
    };
    let routing = optional_routing(fields, problems);
    Some(FaultCase {
        failed_ocs: failed_ocs? as u8,
        max_channel_load: max_channel_load?,
        avg_hops: avg_hops?,
        saturation_flits_per_cycle_per_node: saturation?,
        unreachable: unreachable?,
        routing,
    })
}

fn read_simulation(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<Simulation> {
    let saturation = fields.float("saturation_flits_per_cycle_per_node", -HUGE..=HUGE, problems);
    let path = fields.path_of("curve");
    let curve = fields.list("curve", problems).and_then(|list| {
        let mut curve = Vec::with_capacity(list.len());
        for (index, value) in list.iter().enumerate() {
            let path = format!("{path}[{index}]");
            let point = numbers(value, &path, problems)?;
            let [offered, delivered, latency] = point.as_slice() else {
                problems.add(path, "is not a point", "give [offered, delivered, mean latency]");
                return None;
            };
            curve.push((*offered, *delivered, *latency));
        }
        Some(curve)
    });
    Some(Simulation { saturation_flits_per_cycle_per_node: saturation?, curve: curve? })
}

/// `None` if absent or wrong; wrong ones are problems.
fn optional_numbers(fields: &mut Fields<'_>, key: &'static str, problems: &mut Problems) -> Option<Vec<f64>> {
    let path = fields.path_of(key);
    numbers(fields.optional(key)?, &path, problems)
}

/// A list of finite numbers.
fn numbers(value: &Value, path: &str, problems: &mut Problems) -> Option<Vec<f64>> {
    let list = list_at(value, path, problems)?;
    let mut numbers = Vec::with_capacity(list.len());
    for (index, entry) in list.iter().enumerate() {
        match entry.as_f64().filter(|number| number.abs() <= HUGE) {
            Some(number) => numbers.push(number),
            None => problems.add(format!("{path}[{index}]"), format!("is {}", brief(entry)), "give a number"),
        }
    }
    (numbers.len() == list.len()).then_some(numbers)
}

/// A list of whole numbers under a key.
fn whole<T: TryFrom<u64>>(
    fields: &mut Fields<'_>,
    key: &'static str,
    problems: &mut Problems,
) -> Option<Vec<T>> {
    let path = fields.path_of(key);
    let value = fields.required(key, problems)?;
    whole_numbers(value, &path, problems)
}
