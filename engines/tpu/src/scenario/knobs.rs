//! The parameters of a scenario, from which forms, flags and help are generated.

use super::{GroupChoice, MAX_SIDE, SimulationSettings, TopologyChoice, TpuScenario};
use crate::model::baselines;
use crate::model::group::Group;
use crate::model::pod::SWITCHES;
use crate::model::router::Allocator;
use lightbay_core::param::{Effect, ParamInfo, ParamValue};
use lightbay_core::problem::Problem;
use lightbay_core::record::{Idle, Knob, Knobs};
use std::sync::LazyLock;

/// Word that resets a parameter to its default.
const USUAL: &str = "auto";
/// Word for an empty list.
const NONE: &str = "none";

/// The parameters of a scenario.
pub static KNOBS: LazyLock<Knobs<TpuScenario>> = LazyLock::new(|| {
    Knobs::new(vec![
        field("cubes").set_by(|pod: &mut TpuScenario, cubes| {
            pod.set_cubes(cubes.as_i64().unwrap_or_default() as u16);
            Ok(())
        }),
        field("job_shape").entries(TpuScenario::set_side).idle_if(where_given),
        topology(),
        group().idle_if(where_given),
        field("vc_count"),
        field("turn_priority"),
        field("slack_hops").shown_by(|pod: &TpuScenario| Some(ParamValue::Int(pod.slack().into()))),
        field("tolerated_ocs_faults"),
        failed_ocs(),
        Knob::own(
            ParamInfo::bool("simulate", false, "If true, runs the flit simulator on the finished routes."),
            |pod: &TpuScenario| Some(ParamValue::Bool(pod.simulate.is_some())),
            |pod: &mut TpuScenario, on| {
                pod.simulate =
                    (*on == ParamValue::Bool(true)).then(|| pod.simulate.take().unwrap_or_default());
                Ok(())
            },
        ),
        simulator("clock_ghz"),
        simulator("link_gbyte_per_s"),
        simulator("flit_bytes"),
        simulator("link_latency_electrical_cycles"),
        simulator("link_latency_optical_cycles"),
        simulator("router_latency_cycles"),
        simulator("injection_latency_cycles"),
        simulator("vc_count").described(|info| ParamInfo { name: "router_vc_count".into(), ..info }),
        simulator("escape_vc_count"),
        simulator("buffer_flits_per_vc"),
        simulator("packet_flits"),
        simulator("allocator"),
        simulator("speedup").idle_if(without_crossbar),
        simulator("islip_iterations").idle_if(without_islip),
        simulator("chip_ports").idle_if(without_crossbar),
        simulator("warmup_cycles"),
        simulator("measure_cycles"),
        simulator("rate_step"),
    ])
});

fn field(key: &'static str) -> Knob<TpuScenario> {
    Knob::of(key, |pod: &TpuScenario| Some(pod), |pod| pod)
}

/// Parameter for a setting of the simulator; setting it switches the simulation on.
fn simulator(key: &'static str) -> Knob<TpuScenario> {
    Knob::of(
        key,
        |pod: &TpuScenario| pod.simulate.as_ref(),
        |pod| pod.simulate.get_or_insert_with(SimulationSettings::default),
    )
}

/// Settings of a crossbar have no effect on routers without one.
fn without_crossbar(pod: &TpuScenario) -> Option<Idle> {
    let settings = pod.simulate.as_ref();
    let has_crossbar = settings.is_some_and(|settings| settings.allocator != Allocator::Ideal);
    let remedy = "leave it out, or set allocator=wavefront or allocator=islip";
    (!has_crossbar).then_some(("with allocator=ideal, which has no crossbar".into(), remedy))
}

fn without_islip(pod: &TpuScenario) -> Option<Idle> {
    let allocator = pod.simulate.as_ref().map_or(Allocator::Ideal, |settings| settings.allocator);
    let why = format!("with allocator={}", allocator.word());
    (allocator != Allocator::Islip).then_some((why.into(), "leave it out, or set allocator=islip"))
}

fn where_given(pod: &TpuScenario) -> Option<Idle> {
    let given = matches!(pod.topology, TopologyChoice::Given(_));
    given.then_some(("on a pod whose wiring is given".into(), "leave it out, or set topology=design"))
}

fn topology() -> Knob<TpuScenario> {
    let help = "Wiring of the pod: designed by a method (design), the prismatic torus, or the doubly \
         twisted torus.";
    let info = ParamInfo::choice("topology", &TopologyChoice::WORDS, "design", help).effect(Effect::Cold);
    Knob::own(
        info,
        |pod: &TpuScenario| match &pod.topology {
            TopologyChoice::Given(_) => None,
            named => Some(ParamValue::Text(named.word().to_owned())),
        },
        |pod: &mut TpuScenario, word| {
            let word = word.to_string();
            if let Some(named) = TopologyChoice::NAMED.into_iter().find(|named| named.word() == word) {
                pod.topology = named;
            }
            Ok(())
        },
    )
}

fn group() -> Knob<TpuScenario> {
    let help = "Symmetry group of a designed pod, with one element for each cube, such as '2,2', 'Z2 x Z4', 'D6' or \
         'S3'; 'auto': the method chooses.";
    Knob::own(
        ParamInfo::text("group", help).effect(Effect::Cold),
        |pod: &TpuScenario| {
            Some(ParamValue::Text(match &pod.group {
                None => USUAL.to_owned(),
                Some(GroupChoice::Factors(factors)) => joined(factors),
                Some(GroupChoice::Named(name)) => name.clone(),
            }))
        },
        |pod: &mut TpuScenario, text| {
            pod.group = group_of(&text.to_string())?;
            Ok(())
        },
    )
}

fn failed_ocs() -> Knob<TpuScenario> {
    let help = "Failed switches, 0 to 47: '3,17'; 'none' for no switch.";
    Knob::own(
        ParamInfo::text("failed_ocs", help),
        |pod: &TpuScenario| {
            let text = if pod.failed_ocs.is_empty() { NONE.to_owned() } else { joined(&pod.failed_ocs) };
            Some(ParamValue::Text(text))
        },
        |pod: &mut TpuScenario, text| {
            pod.failed_ocs = switches(&text.to_string())?;
            Ok(())
        },
    )
}

fn joined<T: ToString>(values: &[T]) -> String {
    values.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

impl TpuScenario {
    /// Sets the number of cubes. If this changes the number, resets a job shape and a group of the old size, because
    /// they would be invalid.
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

    /// Sets one side of the job shape.
    fn set_side(&mut self, index: usize, value: &ParamValue) -> Result<(), Problem> {
        let mut shape = self.pt_shape();
        let path = format!("job_shape[{index}]");
        let Some(side) = shape.get_mut(index) else {
            return Err(Problem::new(path, "does not exist", "give 0, 1 or 2 for X, Y, Z"));
        };
        let Some(given) = value.as_i64().filter(|side| (4..=MAX_SIDE).contains(side)) else {
            let remedy = format!("give a multiple of 4 from 4 to {MAX_SIDE}");
            return Err(Problem::new(path, format!("'{value}' is not valid"), remedy));
        };
        *side = given as u16;
        self.job_shape = Some(shape);
        Ok(())
    }
}

/// Parses a group as typed; `None` if the text is empty or `auto`.
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

/// Parses a list of switch numbers as typed.
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
