//! The knobs of a scenario: what forms, flags and help are made from.

use super::read::{MAX_BUFFER, MAX_CYCLES, MAX_LATENCY, MAX_PACKET, MAX_SIDE};
use super::{GroupChoice, MAX_VCS, SimulationSettings, TopologyChoice, TpuScenario, TurnPriority};
use crate::model::baselines;
use crate::model::group::Group;
use crate::model::pod::{MAX_CUBES, SWITCHES};
use lightbay_core::method::without_effect;
use lightbay_core::param::{Effect, ParamInfo, ParamValue};
use lightbay_core::problem::{Problem, suggestion};
use std::sync::LazyLock;

/// Word that gives a knob its usual value back.
const USUAL: &str = "auto";
/// Word for an empty list.
const NONE: &str = "none";

/// Access to a whole-number setting of the simulator.
type Slot = fn(&mut SimulationSettings) -> &mut u32;

/// The whole-number settings of the simulator that are `u32` in files.
const COUNTS: [(&str, Slot); 9] = [
    ("flit_bytes", |s| &mut s.flit_bytes),
    ("link_latency_electrical_cycles", |s| &mut s.link_latency_electrical_cycles),
    ("link_latency_optical_cycles", |s| &mut s.link_latency_optical_cycles),
    ("router_latency_cycles", |s| &mut s.router_latency_cycles),
    ("injection_latency_cycles", |s| &mut s.injection_latency_cycles),
    ("buffer_flits_per_vc", |s| &mut s.buffer_flits_per_vc),
    ("packet_flits", |s| &mut s.packet_flits),
    ("warmup_cycles", |s| &mut s.warmup_cycles),
    ("measure_cycles", |s| &mut s.measure_cycles),
];

static KNOBS: LazyLock<Vec<ParamInfo>> = LazyLock::new(|| {
    let mut knobs = pod_knobs();
    knobs.extend(simulation_knobs());
    knobs
});

/// All knobs of a scenario.
pub fn knobs() -> &'static [ParamInfo] {
    &KNOBS
}

fn pod_knobs() -> Vec<ParamInfo> {
    let cold = |info: ParamInfo| info.effect(Effect::Cold);
    vec![
        cold(ParamInfo::int("cubes", 1, MAX_CUBES as i64, 4, "Cubes of 64 chips.")).derived(),
        cold(ParamInfo::int_list(
            "job_shape",
            4,
            MAX_SIDE,
            "Chips along X, Y, Z for the tori, multiples of 4; the usual shape of the size if not given.",
        )),
        cold(ParamInfo::choice(
            "topology",
            &["design", "pt", "pdtt"],
            "design",
            "Wiring of the pod: to be designed, the prismatic torus, or the doubly twisted torus.",
        )),
        cold(ParamInfo::text(
            "group",
            "Group that numbers the cubes of a design: '2,2', 'Z2 x Z4', 'D6', 'S3'; 'auto' leaves it to the method.",
        )),
        ParamInfo::int("vc_count", 1, i64::from(MAX_VCS), 2, "Virtual channels that routes may use."),
        ParamInfo::choice(
            "turn_priority",
            &TurnPriority::ALL.map(|(name, _)| name),
            "apl",
            "Order in which turns are allowed: all-paths load, chosen-path load, random, or the best of all.",
        ),
        ParamInfo::int(
            "slack_hops",
            0,
            2,
            0,
            "Hops by which a route may be longer than the shortest allowed, 0 or 2; 2 from 512 chips on if not given.",
        )
        .derived(),
        ParamInfo::int(
            "tolerated_ocs_faults",
            0,
            1,
            0,
            "Switches that may fail at once: with 1, all 48 cases are routed and measured.",
        ),
        ParamInfo::text("failed_ocs", "Switches that are out of order, 0 to 47: '3,17'; 'none' for no switch."),
    ]
}

fn simulation_knobs() -> Vec<ParamInfo> {
    let usual = SimulationSettings::default();
    let count =
        |name: &'static str, min: i64, max: i64, default: u32, unit: &'static str, help: &'static str| {
            ParamInfo::int(name, min, max, i64::from(default), help).unit(unit)
        };
    vec![
        ParamInfo::bool("simulate", false, "Run of the flit simulator on the finished routes."),
        ParamInfo::float("clock_ghz", 0.001, 1000.0, usual.clock_ghz, "Clock of the simulated routers.")
            .unit("GHz"),
        ParamInfo::float(
            "link_gbyte_per_s",
            0.001,
            1e6,
            usual.link_gbyte_per_s,
            "Bandwidth of a link and direction.",
        )
        .unit("GB/s"),
        count("flit_bytes", 1, 65_536, usual.flit_bytes, "B", "Size of a flit."),
        count(
            "link_latency_electrical_cycles",
            0,
            MAX_LATENCY,
            usual.link_latency_electrical_cycles,
            "cycles",
            "Latency of an electrical link.",
        ),
        count(
            "link_latency_optical_cycles",
            0,
            MAX_LATENCY,
            usual.link_latency_optical_cycles,
            "cycles",
            "Latency of an optical link.",
        ),
        count(
            "router_latency_cycles",
            0,
            MAX_LATENCY,
            usual.router_latency_cycles,
            "cycles",
            "Latency of a router.",
        ),
        count(
            "injection_latency_cycles",
            0,
            MAX_LATENCY,
            usual.injection_latency_cycles,
            "cycles",
            "Latency from a source queue into its router.",
        ),
        count(
            "router_vc_count",
            1,
            i64::from(MAX_VCS),
            u32::from(usual.vc_count),
            "",
            "Virtual channels of a simulated link, free lanes included ('vc_count' of 'simulate').",
        ),
        count(
            "escape_vc_count",
            1,
            i64::from(MAX_VCS),
            u32::from(usual.escape_vc_count),
            "",
            "Virtual channels that follow the labels of the routes.",
        ),
        count(
            "buffer_flits_per_vc",
            1,
            MAX_BUFFER,
            usual.buffer_flits_per_vc,
            "flits",
            "Buffer of a virtual channel.",
        ),
        count("packet_flits", 1, MAX_PACKET, usual.packet_flits, "flits", "Size of a packet."),
        count(
            "warmup_cycles",
            0,
            MAX_CYCLES,
            usual.warmup_cycles,
            "cycles",
            "Simulated time before measuring.",
        ),
        count(
            "measure_cycles",
            1,
            MAX_CYCLES,
            usual.measure_cycles,
            "cycles",
            "Simulated time of a measurement.",
        ),
        ParamInfo::float("rate_step", 0.0001, 1.0, usual.rate_step, "Step of the offered rate.")
            .unit("flits/cycle/node"),
    ]
}

fn int(value: impl Into<i64>) -> ParamValue {
    ParamValue::Int(value.into())
}

fn joined<T: ToString>(values: &[T]) -> String {
    values.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

impl TpuScenario {
    /// Knobs that cannot act on the scenario.
    pub fn idle(&self) -> Vec<Problem> {
        let given = matches!(self.topology, TopologyChoice::Given(_));
        let why = "on a pod whose wiring is given";
        let names = given.then_some(["job_shape", "group"]).into_iter().flatten();
        without_effect(names, why, "leave it out, or set topology=design").collect()
    }

    /// The value of a knob. `None` for unknown names and for what no knob can express (a given topology) or what
    /// was left to follow (a shape, settings of a simulation that is off).
    pub fn get(&self, name: &str) -> Option<ParamValue> {
        Some(match name {
            "cubes" => int(self.cubes),
            "job_shape" => ParamValue::List(self.job_shape?.iter().map(|&side| int(side)).collect()),
            "topology" => match &self.topology {
                TopologyChoice::Given(_) => return None,
                named => ParamValue::Text(named.word().to_owned()),
            },
            "group" => ParamValue::Text(match &self.group {
                None => USUAL.to_owned(),
                Some(GroupChoice::Factors(factors)) => joined(factors),
                Some(GroupChoice::Named(name)) => name.clone(),
            }),
            "vc_count" => int(self.vc_count),
            "turn_priority" => ParamValue::Text(self.turn_priority.word().to_owned()),
            "slack_hops" => int(self.slack()),
            "tolerated_ocs_faults" => int(self.tolerated_ocs_faults),
            "failed_ocs" => ParamValue::Text(if self.failed_ocs.is_empty() {
                NONE.to_owned()
            } else {
                joined(&self.failed_ocs)
            }),
            "simulate" => ParamValue::Bool(self.simulate.is_some()),
            _ => return self.get_simulation(name),
        })
    }

    fn get_simulation(&self, name: &str) -> Option<ParamValue> {
        let mut settings = self.simulate.clone()?;
        Some(match name {
            "clock_ghz" => ParamValue::Float(settings.clock_ghz),
            "link_gbyte_per_s" => ParamValue::Float(settings.link_gbyte_per_s),
            "rate_step" => ParamValue::Float(settings.rate_step),
            "router_vc_count" => int(settings.vc_count),
            "escape_vc_count" => int(settings.escape_vc_count),
            _ => {
                let (_, slot) = COUNTS.iter().find(|(known, _)| *known == name)?;
                int(*slot(&mut settings))
            }
        })
    }

    /// Changes a knob, or one entry of the job shape. Only the knob's own range is checked: several changes
    /// together may be valid though one alone is not, so validate afterwards. A setting of the simulator switches
    /// the simulation on.
    ///
    /// # Errors
    /// An unknown name, a value outside the range, or an entry that does not exist.
    pub fn set(&mut self, name: &str, index: Option<usize>, value: &ParamValue) -> Result<(), Problem> {
        let Some(info) = knobs().iter().find(|info| info.name == name) else {
            let names: Vec<&str> = knobs().iter().map(|info| info.name.as_ref()).collect();
            return Err(Problem::new(name, "is not a parameter of a pod", suggestion(name, &names)));
        };
        if let Some(index) = index {
            return self.set_entry(name, index, value);
        }
        let value = info.accept(value)?;
        match (name, &value) {
            ("cubes", ParamValue::Int(cubes)) => self.set_cubes(*cubes as u16),
            ("job_shape", ParamValue::List(sides)) => {
                let sides: Vec<u16> = sides.iter().filter_map(|side| Some(side.as_i64()? as u16)).collect();
                let shape: [u16; 3] = sides.try_into().map_err(|sides: Vec<u16>| {
                    Problem::new(
                        name,
                        format!("'{value}' has {} sides", sides.len()),
                        "give chips along X, Y, Z, such as 4,8,8",
                    )
                })?;
                self.job_shape = Some(shape);
            }
            ("topology", ParamValue::Text(word)) => {
                self.topology = match word.as_str() {
                    "pt" => TopologyChoice::Pt,
                    "pdtt" => TopologyChoice::Pdtt,
                    _ => TopologyChoice::Design,
                };
            }
            ("group", ParamValue::Text(text)) => self.group = group_of(text)?,
            ("vc_count", ParamValue::Int(count)) => self.vc_count = *count as u8,
            ("turn_priority", ParamValue::Text(word)) => {
                if let Some((_, priority)) = TurnPriority::ALL.iter().find(|(name, _)| name == word) {
                    self.turn_priority = *priority;
                }
            }
            ("slack_hops", ParamValue::Int(hops)) => self.slack_hops = Some(*hops as u8),
            ("tolerated_ocs_faults", ParamValue::Int(faults)) => self.tolerated_ocs_faults = *faults as u8,
            ("failed_ocs", ParamValue::Text(text)) => self.failed_ocs = switches(text)?,
            ("simulate", ParamValue::Bool(false)) => self.simulate = None,
            ("simulate", _) => {
                self.simulate.get_or_insert_default();
            }
            _ => self.set_simulation(name, &value),
        }
        Ok(())
    }

    /// A shape of another size would only be in the way, so it goes with the old size; so does the group.
    fn set_cubes(&mut self, cubes: u16) {
        let shaped = self.job_shape.is_some_and(|shape| {
            baselines::grid(shape).is_ok_and(|grid| grid.iter().product::<usize>() == usize::from(self.cubes))
        });
        if cubes != self.cubes {
            if shaped {
                self.job_shape = None;
            }
            if self.group.is_some() && self.group().is_ok() {
                self.group = None;
            }
        }
        self.cubes = cubes;
    }

    fn set_entry(&mut self, name: &str, index: usize, value: &ParamValue) -> Result<(), Problem> {
        if name != "job_shape" {
            return Err(Problem::new(name, "is not a list", format!("write {name}={value}")));
        }
        let mut shape = self.pt_shape();
        let path = format!("{name}[{index}]");
        let Some(side) = shape.get_mut(index) else {
            return Err(Problem::new(path, "does not exist", "give 0, 1 or 2 for X, Y, Z"));
        };
        match value.as_i64().filter(|side| (4..=MAX_SIDE).contains(side)) {
            Some(given) => *side = given as u16,
            None => {
                return Err(Problem::new(
                    path,
                    format!("'{value}' is not valid"),
                    format!("give a whole number from 4 to {MAX_SIDE}"),
                ));
            }
        }
        self.job_shape = Some(shape);
        Ok(())
    }

    fn set_simulation(&mut self, name: &str, value: &ParamValue) {
        let settings = self.simulate.get_or_insert_default();
        match (name, value) {
            ("clock_ghz", ParamValue::Float(value)) => settings.clock_ghz = *value,
            ("link_gbyte_per_s", ParamValue::Float(value)) => settings.link_gbyte_per_s = *value,
            ("rate_step", ParamValue::Float(value)) => settings.rate_step = *value,
            ("router_vc_count", ParamValue::Int(value)) => settings.vc_count = *value as u8,
            ("escape_vc_count", ParamValue::Int(value)) => settings.escape_vc_count = *value as u8,
            (_, ParamValue::Int(value)) => {
                if let Some((_, slot)) = COUNTS.iter().find(|(known, _)| *known == name) {
                    *slot(settings) = *value as u32;
                }
            }
            // `info` has brought the value to the type of the knob.
            _ => {}
        }
    }
}

/// A group as typed.
fn group_of(text: &str) -> Result<Option<GroupChoice>, Problem> {
    let text = text.trim();
    if text.is_empty() || text.eq_ignore_ascii_case(USUAL) {
        return Ok(None);
    }
    Group::parse(text)?;
    let bare = text.trim_start_matches('[').trim_end_matches(']');
    let factors: Option<Vec<u16>> = bare.split(',').map(|factor| factor.trim().parse().ok()).collect();
    Ok(Some(match factors {
        Some(factors) => GroupChoice::Factors(factors),
        None => GroupChoice::Named(text.to_owned()),
    }))
}

/// A list of switches as typed.
fn switches(text: &str) -> Result<Vec<u8>, Problem> {
    let bare = text.trim().trim_start_matches('[').trim_end_matches(']');
    if bare.is_empty() || bare.eq_ignore_ascii_case(NONE) {
        return Ok(Vec::new());
    }
    bare.split(',')
        .map(|entry| {
            entry.trim().parse::<u8>().ok().filter(|&id| usize::from(id) < SWITCHES).ok_or_else(|| {
                Problem::new(
                    "failed_ocs",
                    format!("'{}' is not a switch", entry.trim()),
                    "give numbers from 0 to 47 separated by commas, or 'none'",
                )
            })
        })
        .collect()
}
