//! Transmissions of a schedule on its links: the data for tables, timelines and pictures of links.

use super::transfers::times;
use crate::compose::{LinkUse, LinkUses};
use crate::plan::CollectiveResult;
use crate::scenario::CollectiveScenario;
use lightbay_core::problem::{Problem, Problems};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// The transmission of a piece over a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Transmission {
    /// Node that sends.
    pub(crate) from: u32,
    /// Node that receives.
    pub(crate) to: u32,
    /// The piece.
    pub(crate) piece: u32,
    /// Chunk to which the piece belongs.
    pub(crate) chunk: u32,
    /// Size of the piece, bytes.
    pub(crate) bytes: f64,
    /// Epoch at the beginning of which the transmission starts.
    pub(crate) epoch: u32,
    /// Time at which the link begins to carry the piece, µs: when the first byte of the piece arrives, or when the
    /// previous transmission ends.
    pub(crate) begins_us: f64,
    /// Time at which the link is free again, µs.
    pub(crate) ends_us: f64,
    /// Beginning of the epoch in which the piece is usable at the other end, µs.
    pub(crate) usable_us: f64,
    /// `true` if the piece is reduced on its way.
    pub(crate) adds_up: bool,
}

/// Returns all transmissions in the order of the sends of a plan.
///
/// # Errors
/// Sends without a link, or that start before their data has arrived.
pub(crate) fn transmissions(
    scenario: &CollectiveScenario,
    result: &CollectiveResult,
) -> Result<Vec<Transmission>, Problems> {
    let rates = rates(scenario);
    let epoch_us = result.time.epoch_us;
    let mut free_us: FxHashMap<(u32, u32), f64> = FxHashMap::default();
    let of_send = |(send, (arrival, begin)): (&crate::plan::PieceSend, (u32, u32))| {
        let piece = &result.pieces[send.piece as usize];
        let free = free_us.entry((send.from, send.to)).or_default();
        let begins_us = free.max(f64::from(begin) * epoch_us);
        let takes_us = piece.size_bytes / rates.get(&(send.from, send.to)).copied().unwrap_or(f64::INFINITY);
        *free = begins_us + takes_us;
        Transmission {
            from: send.from,
            to: send.to,
            piece: send.piece,
            chunk: piece.chunk,
            bytes: piece.size_bytes,
            epoch: send.epoch,
            begins_us,
            ends_us: begins_us + takes_us,
            usable_us: f64::from(arrival) * epoch_us,
            adds_up: piece.adds_up,
        }
    };
    let times = times(scenario, result)?;
    let times = times.arrivals.into_iter().zip(times.begins);
    Ok(result.sends.iter().zip(times).map(of_send).collect())
}

/// Returns the bytes that each link carries; links without data are omitted.
///
/// # Errors
/// Trees that cannot be followed.
pub(super) fn totals(
    scenario: &CollectiveScenario,
    result: &CollectiveResult,
) -> Result<BTreeMap<(u32, u32), f64>, Problems> {
    let mut totals: BTreeMap<(u32, u32), f64> = BTreeMap::new();
    if result.trees.is_empty() {
        for send in &result.sends {
            let bytes = result.pieces[send.piece as usize].size_bytes;
            *totals.entry((send.from, send.to)).or_default() += bytes;
        }
        return Ok(totals);
    }
    let uses = uses(scenario, result)?;
    for link in &scenario.topology.links {
        let ends = (link.from, link.to);
        let bytes: f64 = uses.of_link(ends).map(|one| one.bytes).sum();
        if bytes > 0.0 {
            totals.insert(ends, bytes);
        }
    }
    Ok(totals)
}

fn uses(scenario: &CollectiveScenario, result: &CollectiveResult) -> Result<LinkUses, Problem> {
    LinkUses::of(scenario, result).map_err(|why| Problem::new("result.trees", why, "solve again"))
}

/// Returns the transmissions on some links; the transmissions of each link are in order of time. Pieces of plans in
/// compact form have no numbers.
///
/// # Errors
/// As for [`transmissions`] and [`totals`].
pub(super) fn transmissions_on(
    scenario: &CollectiveScenario,
    result: &CollectiveResult,
    links: &[(u32, u32)],
) -> Result<Vec<Vec<Transmission>>, Problems> {
    if result.trees.is_empty() {
        let places: FxHashMap<(u32, u32), usize> =
            links.iter().enumerate().map(|(place, ends)| (*ends, place)).collect();
        let mut rows = vec![Vec::new(); links.len()];
        for one in transmissions(scenario, result)? {
            if let Some(&place) = places.get(&(one.from, one.to)) {
                rows[place].push(one);
            }
        }
        return Ok(rows);
    }
    let (uses, rates, epoch_us) = (uses(scenario, result)?, rates(scenario), result.time.epoch_us);
    let row = |&(from, to): &(u32, u32)| {
        let rate = rates.get(&(from, to)).copied().unwrap_or(f64::INFINITY);
        let mut free_us = 0.0_f64;
        let on_link = |one: &LinkUse| {
            let begins_us = free_us.max(f64::from(one.transmits) * epoch_us);
            free_us = begins_us + one.bytes / rate;
            Transmission {
                from,
                to,
                piece: 0,
                chunk: 0,
                bytes: one.bytes,
                epoch: one.epoch,
                begins_us,
                ends_us: free_us,
                usable_us: f64::from(one.usable) * epoch_us,
                adds_up: one.adds_up,
            }
        };
        uses.of_link((from, to)).map(on_link).collect()
    };
    Ok(links.iter().map(row).collect())
}

/// Returns the rate of every link, bytes per µs.
pub(super) fn rates(scenario: &CollectiveScenario) -> BTreeMap<(u32, u32), f64> {
    let rate = |link: &crate::scenario::LinkRecord| {
        ((link.from, link.to), 1000.0 * link.capacity_gbyte_per_s / link.beta_scale)
    };
    scenario.topology.links.iter().map(rate).collect()
}

/// Returns `true` if a link leads into the node set whose cut gives a bound of the plan.
pub(super) fn binds(scenario: &CollectiveScenario, result: &CollectiveResult, ends: (u32, u32)) -> bool {
    let backwards = scenario.demand.collective.starts_backwards();
    result.claims.bounds.iter().enumerate().any(|(part, bound)| {
        let is_in = |node: u32| bound.inside.binary_search(&node).is_ok();
        // In a collective that is planned backwards, the cut of the first part is reversed.
        let (from, to) = if backwards && part == 0 { (ends.1, ends.0) } else { ends };
        !bound.inside.is_empty() && !is_in(from) && is_in(to)
    })
}

/// Load of the links from one place (node or group) to another.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct PlaceLoad {
    /// Bytes that the links carry.
    pub(super) bytes: f64,
    /// Total rate of the links, bytes per µs.
    pub(super) rate: f64,
    /// Links.
    pub(super) links: u32,
    /// `true` if one of the links leads into the node set whose cut gives a bound of the plan.
    pub(super) binding: bool,
}

impl PlaceLoad {
    /// Returns the time that the links need for the data if all links share the data, µs.
    pub(super) fn busy_us(&self) -> f64 {
        if self.rate > 0.0 { self.bytes / self.rate } else { 0.0 }
    }
}

/// Returns the loads between the places that `place` gives for the ends of a link; links inside a place are omitted.
pub(super) fn loads(
    scenario: &CollectiveScenario,
    result: &CollectiveResult,
    totals: &BTreeMap<(u32, u32), f64>,
    place: impl Fn(u32) -> u32,
) -> BTreeMap<(u32, u32), PlaceLoad> {
    let mut loads: BTreeMap<(u32, u32), PlaceLoad> = BTreeMap::new();
    for (&(from, to), rate) in &rates(scenario) {
        let load = loads.entry((place(from), place(to))).or_default();
        load.rate += rate;
        load.links += 1;
        load.binding |= binds(scenario, result, (from, to));
    }
    for (&(from, to), bytes) in totals {
        loads.entry((place(from), place(to))).or_default().bytes += bytes;
    }
    loads.retain(|(from, to), _| from != to);
    loads
}

/// Returns the pair of places whose links are busy longest; if some links belong to a cut that gives a bound, only
/// pairs with such links count.
pub(super) fn next_circuit(loads: &BTreeMap<(u32, u32), PlaceLoad>) -> Option<(u32, u32)> {
    let cut = loads.values().any(|load| load.binding && load.bytes > 0.0);
    let candidates = loads.iter().filter(|(_, load)| load.bytes > 0.0 && (load.binding || !cut));
    // Ties go to the first pair.
    let best = candidates.max_by(|a, b| a.1.busy_us().total_cmp(&b.1.busy_us()).then(b.0.cmp(a.0)));
    best.map(|(pair, _)| *pair)
}

/// Returns the function that gives the group number of a node for [`loads`]: nodes without a group form their own
/// groups, after all others.
pub(super) fn group_of(scenario: &CollectiveScenario) -> impl Fn(u32) -> u32 + '_ {
    let nodes = &scenario.topology.nodes;
    let count = nodes.iter().filter_map(|node| node.group).max().map_or(0, |group| group + 1);
    move |node| nodes.get(node as usize).and_then(|node| node.group).unwrap_or(count + node)
}

/// Returns the name of a group, given its number from [`group_of`].
pub(super) fn group_name(scenario: &CollectiveScenario, group: u32) -> String {
    let nodes = &scenario.topology.nodes;
    let count = nodes.iter().filter_map(|node| node.group).max().map_or(0, |group| group + 1);
    match group.checked_sub(count).and_then(|node| nodes.get(node as usize)) {
        Some(node) => node.name.clone(),
        None => format!("group {group}"),
    }
}

/// Returns a sentence on the pair of groups (of nodes, if no data crosses between groups) for which one more circuit
/// would help most; `None` if no link carries data.
pub(super) fn advice(
    scenario: &CollectiveScenario,
    result: &CollectiveResult,
    totals: &BTreeMap<(u32, u32), f64>,
) -> Option<String> {
    let group = group_of(scenario);
    let mut loads_of = loads(scenario, result, totals, &group);
    let by_group = next_circuit(&loads_of).is_some();
    if !by_group {
        loads_of = loads(scenario, result, totals, |node| node);
    }
    let pair = next_circuit(&loads_of)?;
    let load = loads_of.get(&pair)?;
    let name = |place: u32| {
        let node = scenario.topology.nodes.get(place as usize);
        if by_group {
            group_name(scenario, place)
        } else {
            node.map_or_else(String::new, |node| node.name.clone())
        }
    };
    let why = if load.binding {
        "the links between them enter the cut that proves the bound, and are busy"
    } else {
        "no cut proves the bound, and the links between them are busy longest,"
    };
    let finish_us = result.claims.finish_us;
    let share = if finish_us > 0.0 { 100.0 * load.busy_us() / finish_us } else { 0.0 };
    Some(format!(
        "the next circuit belongs between {} and {}: {why} {share:.0} % of the time",
        name(pair.0),
        name(pair.1)
    ))
}
