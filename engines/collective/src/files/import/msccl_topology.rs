//! Scenarios from topologies of MSCCL: links with the number of chunks that they carry at a time, and switches that
//! several links share.

use super::{add_demand, given_sort};
use crate::scenario::presets;
use crate::scenario::{
    CollectiveScenario, LinkRecord, NodeRecord, NodeSort, SwitchHop, SwitchModel, Topology,
};
use lightbay_core::format::{FormatInfo, Input, SubjectSort, scenario_name};
use lightbay_core::param::{ParamInfo, Params};
use lightbay_core::problem::{Problems, printable};
use lightbay_formats::taccl::{MscclSwitch, MscclTopology, read_msccl};
use lightbay_formats::{Imported, Limits};
use std::collections::BTreeMap;

/// Name of the format.
pub const NAME: &str = "msccl_topology";

/// Rate of a link that carries one chunk at a time, GB/s.
const UNIT_GBYTE_PER_S: f64 = 25.0;

/// Returns the description of the format.
pub(super) fn format() -> FormatInfo {
    FormatInfo::new(
        NAME,
        "A custom topology of the MSCCL tools: its switches, and its links with the number of chunks that \
         each carries at a time.",
        SubjectSort::Scenario,
        "json",
    )
    .leaving_out(&["the rounds of the file (a bandwidth is a number of chunks per round)"])
    .with(vec![
        super::collective(),
        super::buffer(),
        ParamInfo::float(
            "unit_gbyte_per_s",
            1e-6,
            1e6,
            UNIT_GBYTE_PER_S,
            "Rate of a link whose \
             bandwidth in the file is 1. Default: 25.",
        )
        .unit("GB/s")
        .derived(),
        ParamInfo::float("alpha_us", 0.0, 1e6, super::ALPHA_US, "Latency of every link. Default: 0.7.")
            .unit("us")
            .derived(),
    ])
}

/// Creates a scenario from a topology, and returns the scenario with the name of the file.
///
/// # Errors
/// Every problem of the file, and switches that share bandwidth in a way that nodes cannot represent.
pub(super) fn read(
    input: &Input,
    params: &Params,
) -> Result<(String, Imported<CollectiveScenario>), Problems> {
    let given = read_msccl(input.bytes.as_slice(), &Limits::default())?;
    let name = scenario_name(&input.name, NAME);
    let unit = params.float("unit_gbyte_per_s");
    let alpha_us = params.float("alpha_us");
    let rates = UnitRates {
        gbyte_per_s: unit.unwrap_or(UNIT_GBYTE_PER_S),
        alpha_us: alpha_us.unwrap_or(super::ALPHA_US),
    };
    let topology = network(&name, &given, rates)?;
    let switches = !given.switches.is_empty();
    let mut made = Imported::new(presets::of(topology, None, super::demand(params, 1)));
    if unit.is_none() {
        made.assume("rate of a link of bandwidth 1", format!("{UNIT_GBYTE_PER_S} GB/s"), "unit_gbyte_per_s=");
    }
    if alpha_us.is_none() {
        made.assume("latency of every link", format!("{} us", super::ALPHA_US), "alpha_us=");
    }
    if switches {
        made.note(
            "switches in the file only limit the links that share them; switches neither copy nor reduce",
        );
        if given_sort(params).reduces() {
            made.assume("sums in switches", "none", "switch_reduce= of the scenario");
        }
    }
    add_demand(&mut made, params);
    Ok((name, made))
}

/// Rate of a link of bandwidth 1, and the latency of a link.
#[derive(Clone, Copy)]
struct UnitRates {
    gbyte_per_s: f64,
    alpha_us: f64,
}

/// Switches that a link passes through, each `None` if the link has no such switch: a switch whose only source is the
/// source of the link, a switch with several sources and several destinations, and a switch whose only destination is
/// the destination of the link.
#[derive(Clone, Copy, Default)]
struct SharedBy([Option<usize>; 3]);

/// Returns the position of a switch in the array of [`SharedBy`].
fn place(switch: &MscclSwitch) -> usize {
    match (switch.sources.len(), switch.destinations.len()) {
        (1, _) => 0,
        (_, 1) => 2,
        _ => 1,
    }
}

fn network(name: &str, given: &MscclTopology, rates: UnitRates) -> Result<Topology, Problems> {
    let shared = shares(given)?;
    let mut nodes: Vec<NodeRecord> = (0..given.links.len() as u32)
        .map(|id| NodeRecord { id, name: format!("g{id}"), kind: NodeSort::Gpu, group: Some(0) })
        .collect();
    // A switch with several sources and several destinations becomes a link between two switches (`.in`, `.out`); any
    // other switch becomes a single switch.
    let mut ends: Vec<[u32; 2]> = Vec::new();
    for switch in &given.switches {
        let both = place(switch) == 1;
        let mut add = |suffix: &str| {
            let id = nodes.len() as u32;
            let name = format!("{}{suffix}", switch.name);
            nodes.push(NodeRecord { id, name, kind: NodeSort::Switch, group: Some(0) });
            id
        };
        let first = add(if both { ".in" } else { "" });
        ends.push([first, if both { add(".out") } else { first }]);
    }
    let mut links: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    for (switch, [first, last]) in given.switches.iter().zip(&ends).filter(|(_, [first, last])| first != last)
    {
        links.insert((*first, *last), switch.bandwidth);
    }
    for (&(from, to), SharedBy(by)) in &shared {
        let own = given.links[to as usize][from as usize];
        let mut at = from;
        for switch in by.iter().flatten() {
            let limit = &given.switches[*switch];
            // The link into a switch has the rate of the switch, except at a switch with one destination: its rate
            // applies to the link after it.
            let rate = if place(limit) == 2 { own } else { limit.bandwidth };
            links.insert((at, ends[*switch][0]), rate);
            at = ends[*switch][1];
        }
        let last = by.iter().flatten().last().map(|switch| &given.switches[*switch]);
        let rate = match last {
            Some(switch) if place(switch) != 0 => switch.bandwidth,
            _ => own,
        };
        links.insert((at, to), rate);
    }
    let gpus = given.links.len() as u32;
    let record = |(&(from, to), bandwidth): (&(u32, u32), &u32)| {
        let rate = f64::from(*bandwidth) * rates.gbyte_per_s;
        // Only the first hop, out of the GPU, has the latency of the link.
        LinkRecord::new(from, to, rate, if from < gpus { rates.alpha_us } else { 0.0 }, "link")
    };
    Ok(Topology {
        name: name.to_owned(),
        links: links.iter().map(record).collect(),
        nodes,
        switch_model: SwitchModel { copy: false, hop: SwitchHop::CutThrough, reduce: false },
        symmetry_generators: Vec::new(),
        notes: String::new(),
    })
}

/// Returns the switches that every link passes through, by the ends of the link.
fn shares(given: &MscclTopology) -> Result<BTreeMap<(u32, u32), SharedBy>, Problems> {
    let mut problems = Problems::new();
    let mut shared: BTreeMap<(u32, u32), SharedBy> = BTreeMap::new();
    for (to, row) in (0..).zip(&given.links) {
        for (from, _) in (0..).zip(row).filter(|(_, bandwidth)| **bandwidth > 0) {
            shared.insert((from, to), SharedBy::default());
        }
    }
    for (index, switch) in given.switches.iter().enumerate() {
        let path = format!("switches[{index}]");
        let name = printable(&switch.name);
        let to_all = |from: &u32| switch.destinations.iter().map(move |to| (*from, *to)).collect::<Vec<_>>();
        let pairs = switch.sources.iter().flat_map(to_all);
        let mut used = false;
        for (from, to) in pairs.filter(|(from, to)| from != to) {
            let Some(SharedBy(by)) = shared.get_mut(&(from, to)) else {
                if place(switch) == 1 {
                    let message = format!(
                        "'{name}' joins source {from} to destination {to}, but no link connects them"
                    );
                    problems.add(
                        &*path,
                        message,
                        "split the switch, so that every source of a switch has a link to each of its \
                         destinations",
                    );
                }
                continue;
            };
            used = true;
            let own = given.links[to as usize][from as usize];
            if place(switch) == 1 && own < switch.bandwidth {
                let message = format!(
                    "'{name}' carries {} chunks at a time, but its link from {from} to {to} only {own}: no \
                     node can represent both limits",
                    switch.bandwidth
                );
                problems.add(&*path, message, "give the link at least the bandwidth of the switch");
            }
            if let Some(before) = by[place(switch)].replace(index) {
                let message = format!(
                    "'{name}' limits the link from {from} to {to} in the same way as '{}'",
                    printable(&given.switches[before].name)
                );
                problems.add(&*path, message, "keep only the switch with the smaller bandwidth");
            }
        }
        if !used {
            problems.add(&*path, format!("'{name}' limits no link"), "leave it out");
        }
    }
    problems.into_result(shared)
}
