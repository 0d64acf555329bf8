//! Reading a scenario from JSON, all problems at once.

use super::{GroupChoice, MAX_VCS, SimulationSettings, TopologyChoice, TpuScenario, Traffic, TurnPriority};
use crate::model::pod::{MAX_CUBES, SWITCHES};
use crate::plan::read::topology_record;
use lightbay_core::problem::{Problems, suggestion};
use lightbay_core::read::{Fields, brief};
use serde_json::Value;

/// Largest side of a job shape, chips.
pub(super) const MAX_SIDE: i64 = 4 * MAX_CUBES as i64;
/// Largest latency, cycles.
pub(super) const MAX_LATENCY: i64 = 1_000_000;
/// Largest buffer, flits.
pub(super) const MAX_BUFFER: i64 = 1_000_000;
/// Longest packet, flits.
pub(super) const MAX_PACKET: i64 = 10_000;
/// Longest simulation, cycles.
pub(super) const MAX_CYCLES: i64 = 100_000_000;

impl TpuScenario {
    /// Reads the scenario's own keys. The caller finishes `fields`.
    pub fn read(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<Self> {
        let cubes = fields.int("cubes", 1..=MAX_CUBES as i64, problems);
        let job_shape = job_shape(fields, problems);
        let topology = topology(fields, problems);
        let group = group(fields, problems);
        let vc_count = fields.int_or("vc_count", 1..=i64::from(MAX_VCS), 2, problems);
        let turn_priority = match fields.optional("turn_priority") {
            None => Some(TurnPriority::Apl),
            Some(_) => fields.choice("turn_priority", &TurnPriority::ALL, problems),
        };
        let slack_hops = match fields.optional("slack_hops") {
            None => Some(None),
            Some(_) => fields.int("slack_hops", 0..=2, problems).map(|hops| Some(hops as u8)),
        };
        let tolerated = fields.int_or("tolerated_ocs_faults", 0..=1, 0, problems);
        let failed_ocs = match fields.optional("failed_ocs") {
            None => Some(Vec::new()),
            Some(value) => {
                whole_numbers(value, &fields.path_of("failed_ocs"), 0..=SWITCHES as i64 - 1, problems)
                    .map(|list| list.into_iter().map(|id| id as u8).collect())
            }
        };
        let simulate = match fields.optional_object("simulate", problems) {
            None => Some(None),
            Some(mut inner) => {
                let settings = simulation(&mut inner, problems);
                inner.finish(problems);
                settings.map(Some)
            }
        };
        Some(Self {
            cubes: cubes? as u16,
            job_shape,
            topology: topology?,
            group,
            vc_count: vc_count? as u8,
            turn_priority: turn_priority?,
            slack_hops: slack_hops?,
            tolerated_ocs_faults: tolerated? as u8,
            failed_ocs: failed_ocs?,
            simulate: simulate?,
        })
    }
}

/// `None` if absent or wrong; a wrong one is a problem.
fn job_shape(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<[u16; 3]> {
    let value = fields.optional("job_shape")?;
    let path = fields.path_of("job_shape");
    let sides = whole_numbers(value, &path, 1..=MAX_SIDE, problems)?;
    let sides: Result<[i64; 3], _> = sides.try_into();
    if let Ok(sides) = sides {
        return Some(sides.map(|side| side as u16));
    }
    problems.add(path, format!("is {}", brief(value)), "give chips along X, Y, Z, such as [4, 8, 8]");
    None
}

fn topology(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<TopologyChoice> {
    let path = fields.path_of("topology");
    match fields.optional("topology") {
        None => Some(TopologyChoice::Design),
        Some(Value::String(word)) => match word.as_str() {
            "design" => Some(TopologyChoice::Design),
            "pt" => Some(TopologyChoice::Pt),
            "pdtt" => Some(TopologyChoice::Pdtt),
            other => {
                problems.add(path, format!("is '{other}'"), suggestion(other, &["design", "pt", "pdtt"]));
                None
            }
        },
        Some(value @ Value::Object(_)) => {
            let mut inner = Fields::of(value, &path, problems)?;
            let record = topology_record(&mut inner, problems);
            inner.finish(problems);
            record.map(TopologyChoice::Given)
        }
        Some(other) => {
            problems.add(
                path,
                format!("is {}", brief(other)),
                "give 'design', 'pt', 'pdtt' or the topology of a plan",
            );
            None
        }
    }
}

/// `None` if absent or wrong; a wrong one is a problem.
fn group(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<GroupChoice> {
    let path = fields.path_of("group");
    match fields.optional("group")? {
        Value::String(name) => Some(GroupChoice::Named(name.clone())),
        value => whole_numbers(value, &path, 1..=MAX_CUBES as i64, problems)
            .map(|list| GroupChoice::Factors(list.into_iter().map(|factor| factor as u16).collect())),
    }
}

/// A list of whole numbers within a range; every one outside it is a problem.
fn whole_numbers(
    value: &Value,
    path: &str,
    range: std::ops::RangeInclusive<i64>,
    problems: &mut Problems,
) -> Option<Vec<i64>> {
    let Value::Array(list) = value else {
        problems.add(path, format!("is {}", brief(value)), "give a list [ … ] of whole numbers");
        return None;
    };
    let mut numbers = Vec::with_capacity(list.len());
    for (index, entry) in list.iter().enumerate() {
        match entry.as_i64().filter(|number| range.contains(number)) {
            Some(number) => numbers.push(number),
            None => problems.add(
                format!("{path}[{index}]"),
                format!("is {}", brief(entry)),
                format!("give a whole number from {} to {}", range.start(), range.end()),
            ),
        }
    }
    (numbers.len() == list.len()).then_some(numbers)
}

fn simulation(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<SimulationSettings> {
    let usual = SimulationSettings::default();
    let mut count = |key, range: std::ops::RangeInclusive<i64>, default: u32, problems: &mut Problems| {
        fields.int_or(key, range, i64::from(default), problems).map(|value| value as u32)
    };
    let flit_bytes = count("flit_bytes", 1..=65_536, usual.flit_bytes, problems);
    let electrical = count(
        "link_latency_electrical_cycles",
        0..=MAX_LATENCY,
        usual.link_latency_electrical_cycles,
        problems,
    );
    let optical =
        count("link_latency_optical_cycles", 0..=MAX_LATENCY, usual.link_latency_optical_cycles, problems);
    let router = count("router_latency_cycles", 0..=MAX_LATENCY, usual.router_latency_cycles, problems);
    let injection =
        count("injection_latency_cycles", 0..=MAX_LATENCY, usual.injection_latency_cycles, problems);
    let vcs = count("vc_count", 1..=i64::from(MAX_VCS), u32::from(usual.vc_count), problems);
    let escape = count("escape_vc_count", 1..=i64::from(MAX_VCS), u32::from(usual.escape_vc_count), problems);
    let buffer = count("buffer_flits_per_vc", 1..=MAX_BUFFER, usual.buffer_flits_per_vc, problems);
    let packet = count("packet_flits", 1..=MAX_PACKET, usual.packet_flits, problems);
    let warmup = count("warmup_cycles", 0..=MAX_CYCLES, usual.warmup_cycles, problems);
    let measure = count("measure_cycles", 1..=MAX_CYCLES, usual.measure_cycles, problems);
    let clock_ghz = fields.float_or("clock_ghz", 0.001..=1000.0, usual.clock_ghz, problems);
    let rate = fields.float_or("link_gbyte_per_s", 0.001..=1e6, usual.link_gbyte_per_s, problems);
    let rate_step = fields.float_or("rate_step", 0.0001..=1.0, usual.rate_step, problems);
    let traffic = match fields.optional("traffic") {
        None => Some(Traffic::Uniform),
        Some(_) => fields.choice("traffic", &[("uniform", Traffic::Uniform)], problems),
    };
    Some(SimulationSettings {
        clock_ghz: clock_ghz?,
        link_gbyte_per_s: rate?,
        flit_bytes: flit_bytes?,
        link_latency_electrical_cycles: electrical?,
        link_latency_optical_cycles: optical?,
        router_latency_cycles: router?,
        injection_latency_cycles: injection?,
        vc_count: vcs? as u8,
        escape_vc_count: escape? as u8,
        buffer_flits_per_vc: buffer?,
        packet_flits: packet?,
        warmup_cycles: warmup?,
        measure_cycles: measure?,
        rate_step: rate_step?,
        traffic: traffic?,
    })
}
