//! Checks plans of trees in compact form: each part of the collective, on the network in the direction in which this
//! part is planned, and the figures of the plan.

use super::compact::{self, CompactDemand};
use super::links::CheckedLinks;
use super::{Findings, Judged, bound, code, figures, floor, least};
use crate::plan::compact::CompactDiscipline;
use crate::plan::{CollectiveResult, Discipline};
use crate::scenario::{ChunkList, CollectiveScenario, CollectiveSort, LinkRecord, SwitchModel, Topology};
use lightbay_core::checked::{Figure, same};

/// Checks a plan of trees in compact form. Returns the recomputed bounds; `None` if the plan breaks a rule without
/// which bounds cannot be computed.
pub(super) fn check(
    scenario: &CollectiveScenario,
    chunks: &ChunkList,
    result: &CollectiveResult,
    value: f64,
    found: &mut Findings,
) -> Option<Judged> {
    let sort = scenario.demand.collective;
    let parts: &[bool] = match sort {
        CollectiveSort::AllReduce => &[true, false],
        CollectiveSort::ReduceScatter => &[true],
        CollectiveSort::AllGather | CollectiveSort::Broadcast | CollectiveSort::AllToAll => &[false],
        _ => {
            found.add_with(code::DEMAND, || {
                format!("trees in compact form do not implement {}", sort.label())
            });
            return None;
        }
    };
    if parts.len() != result.trees.len() || !result.pieces.is_empty() || !result.sends.is_empty() {
        found.add_with(code::PIECE, || {
            let trees = match parts {
                [_] => "one set of trees",
                _ => "two sets of trees (reduce, then distribute)",
            };
            format!("{} in compact form needs {trees}; `pieces` and `sends` must be empty", sort.label())
        });
        return None;
    }
    let each = sort == CollectiveSort::AllToAll;
    let copies = scenario.demand.copy || each;
    let alpha_threshold = result.time.alpha_threshold;
    if !copies || result.time.pieces_per_chunk != 1 || (!each && alpha_threshold != 0.0) {
        found.add_with(code::TIME, || {
            "trees need one piece per chunk and, except for an AllToAll, copy=true and alpha_threshold 0"
                .to_owned()
        });
    }
    if scenario.topology.links.iter().any(|link| !link.up_us.is_empty()) {
        found.add_with(code::DOWN, || "trees in compact form do not support time-varying links".to_owned());
    }
    let ranks = scenario.demand.rank_nodes(&scenario.topology);
    let sources = match (sort, scenario.demand.root) {
        (CollectiveSort::Broadcast, root) => vec![ranks[root.unwrap_or(0) as usize]],
        _ => ranks.clone(),
    };
    let shard = scenario.demand.chunk_size(&scenario.topology) * f64::from(scenario.demand.chunks_per_rank);
    let most_held = scenario
        .buffer_limit_chunks
        .map(|limit| f64::from(limit) * scenario.demand.chunk_size(&scenario.topology));
    for ((part, &adds), place) in result.trees.iter().zip(parts).zip(0..) {
        let whole = part.discipline == CompactDiscipline::WholeChunk;
        if part.epoch_us != result.time.epoch_us
            || whole != (result.time.discipline == Discipline::WholeChunk)
        {
            found.add_with(code::TIME, || {
                format!("trees[{place}] differs from the plan in the epoch length or the discipline")
            });
        }
        if part.adds_up.is_some_and(|says| says != adds) {
            found.add_with(code::PIECE, || {
                format!(
                    "trees[{place}] has adds_up {}, but as part {place} of {} it must have {adds}",
                    !adds,
                    sort.label()
                )
            });
        }
        if !same(part.shard_bytes, shard) {
            found.add_with(code::PIECE, || {
                format!("trees[{place}] carries {} bytes of each rank instead of {shard}", part.shard_bytes)
            });
        }
        let topology = planned(scenario, adds);
        let demand = CompactDemand {
            sources: &sources,
            receivers: &ranks,
            each,
            alpha_threshold,
            most_held_bytes: most_held,
        };
        for text in compact::violations_for(&topology, part, demand) {
            let (word, text) = text.split_once(": ").unwrap_or(("", &text));
            found.add_with(code_of(word), || format!("trees[{place}]: {text}"));
        }
    }
    let links = CheckedLinks::of(scenario, result, found).filter(|_| found.is_empty())?;
    let figures = claims(scenario, result, value, &links, found);
    let proven_us = if each { bound::prove(scenario, chunks, result, &links, found) } else { None };
    let floor_us = floor::check(scenario, chunks, result, &links, found);
    least::check(scenario, chunks, result, &links, found);
    Some(Judged { figures, proven_us, floor_us })
}

/// Returns the code of the rule for a class of violations, given by its name.
fn code_of(word: &str) -> &'static str {
    let rules = [
        code::CAPACITY,
        code::CAUSALITY,
        code::DEMAND,
        code::USELESS,
        code::BUFFER,
        code::LINK,
        code::CLAIM,
        code::TIME,
    ];
    rules.into_iter().find(|code| *code == word).unwrap_or(code::PIECE)
}

/// Returns the network on which a part is planned: without failed links; reversed if the part reduces data.
fn planned(scenario: &CollectiveScenario, adds: bool) -> Topology {
    let topology = &scenario.topology;
    let links = topology.links.iter().filter(|link| !scenario.failed_links.contains(&[link.from, link.to]));
    let turned = |link: &LinkRecord| {
        let (from, to) = if adds { (link.to, link.from) } else { (link.from, link.to) };
        LinkRecord { from, to, ..link.clone() }
    };
    let model = topology.switch_model;
    let copy = if adds { model.reduce } else { model.copy };
    Topology {
        name: String::new(),
        nodes: topology.nodes.clone(),
        links: links.map(turned).collect(),
        switch_model: SwitchModel { copy, ..model },
        symmetry_generators: Vec::new(),
        notes: String::new(),
    }
}

/// Compares the claims of the plan with values recomputed from its trees; returns the metrics that the plan must state.
fn claims(
    scenario: &CollectiveScenario,
    result: &CollectiveResult,
    value: f64,
    links: &CheckedLinks,
    found: &mut Findings,
) -> Vec<Figure> {
    let claims = &result.claims;
    // The checks above confirmed the end of each part.
    let finish: u64 = result.trees.iter().map(|part| part.finish_epochs).sum();
    let finish_us = finish as f64 * result.time.epoch_us;
    let algbw = if finish == 0 { 0.0 } else { figures::buffer_bytes(scenario, links) / finish_us / 1000.0 };
    if u64::from(claims.finish_epochs) != finish {
        found.add_with(code::CLAIM, || {
            format!("'finish_epochs' is {}, but the trees give {finish}", claims.finish_epochs)
        });
    }
    for (name, claimed, exact) in [
        ("finish_us", claims.finish_us, finish_us),
        ("algbw_gbyte_per_s", claims.algbw_gbyte_per_s, algbw),
        ("the objective", value, finish_us),
    ] {
        if !same(claimed, exact) {
            found.add_with(code::CLAIM, || format!("{name} is {claimed}, but the trees give {exact}"));
        }
    }
    if claims.replay_us.is_some() {
        found.add_with(code::CLAIM, || "trees in compact form must not claim a replay".to_owned());
    }
    if scenario.demand.collective == CollectiveSort::AllToAll {
        figures::bound_claims(claims, u32::try_from(finish).unwrap_or(u32::MAX), found);
    } else if claims.lower_bound_epochs.is_some() || !claims.bounds.is_empty() || claims.optimal {
        found.add_with(code::CLAIM, || "trees in compact form must not claim a bound in epochs".to_owned());
    }
    let exactly = |name, value| Figure::exactly(name, code::CLAIM, value);
    let mut figures = vec![
        exactly("finish_epochs", finish as f64),
        exactly("epoch_length_us", result.time.epoch_us),
        exactly("algbw_gbyte_per_s", algbw),
    ];
    if let Some(lower) = claims.lower_bound_epochs {
        figures.push(exactly("lower_bound_us", f64::from(lower) * result.time.epoch_us));
    }
    figures.extend(figures::of_floor(result));
    figures
}

#[cfg(test)]
mod tests;
