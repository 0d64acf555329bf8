//! Times and figures of a plan, recomputed.

use super::flow::Deliveries;
use super::links::CheckedLinks;
use super::{Findings, TOLERANCE, code, replay};
use crate::plan::{CollectiveResult, Discipline, ScheduleClaims};
use crate::scenario::CollectiveScenario;
use lightbay_core::checked::{Figure, same};
use std::collections::HashMap;

/// Checks epochs, pieces per chunk and capabilities of switches against the scenario.
pub(super) fn time(scenario: &CollectiveScenario, result: &CollectiveResult, found: &mut Findings) {
    let (time, model) = (&result.time, &scenario.topology.switch_model);
    if !(time.epoch_us.is_finite() && time.epoch_us > 0.0) {
        found.add_with(code::TIME, || format!("'epoch_us' is {}, but must be above 0", time.epoch_us));
    }
    // A plan may count all latencies (threshold 0) even if the scenario allows small latencies to be omitted.
    if time.alpha_threshold != scenario.time.alpha_threshold && time.alpha_threshold != 0.0 {
        found.add_with(code::TIME, || {
            let given = scenario.time.alpha_threshold;
            format!("'alpha_threshold' is {}, but it is {given} in the scenario", time.alpha_threshold)
        });
    }
    if time.pieces_per_chunk == 0 || (time.pieces_per_chunk > 1 && time.discipline == Discipline::Fluid) {
        found.add_with(code::TIME, || {
            format!(
                "'pieces_per_chunk' is {}; it must be at least 1, and exactly 1 if the plan sends parts of \
                 chunks",
                time.pieces_per_chunk
            )
        });
    }
    if time.switch_copy != model.copy {
        found.add_with(code::TIME, || {
            format!("'switch_copy' is {}, but it is {} in the scenario", time.switch_copy, model.copy)
        });
    }
    if time.switch_hop != model.hop {
        found.add_with(code::TIME, || {
            format!(
                "'switch_hop' is {}, but it is {} in the scenario",
                time.switch_hop.word(),
                model.hop.word()
            )
        });
    }
}

/// Compares claims with the recomputed values; returns the metrics that the plan must state.
pub(super) fn compare(
    scenario: &CollectiveScenario,
    result: &CollectiveResult,
    value: f64,
    links: &CheckedLinks,
    deliveries: &Deliveries,
    found: &mut Findings,
) -> Vec<Figure> {
    let (claims, tau) = (&result.claims, result.time.epoch_us);
    let finish = deliveries.finish;
    if claims.finish_epochs != finish {
        let last = links.times.arrivals.iter().position(|arrival| *arrival == finish);
        found.add_with(code::CLAIM, || {
            let name = |node: u32| &scenario.topology.nodes[node as usize].name;
            let arrives = last.map_or_else(String::new, |at| {
                let send = &result.sends[at];
                let (from, to, us) = (name(send.from), name(send.to), f64::from(finish) * tau);
                format!(": sends[{at}] from {from} to {to} arrives at {us} us")
            });
            format!("'finish_epochs' is {}, but the sends give {finish}{arrives}", claims.finish_epochs)
        });
    }
    let finish_us = f64::from(finish) * tau;
    let algbw = if finish == 0 { 0.0 } else { buffer_bytes(scenario, links) / finish_us / 1000.0 };
    for (name, claimed, exact) in [
        ("finish_us", claims.finish_us, finish_us),
        ("algbw_gbyte_per_s", claims.algbw_gbyte_per_s, algbw),
        ("the objective", value, finish_us),
    ] {
        if !same(claimed, exact) {
            found.add_with(code::CLAIM, || format!("{name} is {claimed}, but the sends give {exact}"));
        }
    }
    bound_claims(claims, finish, found);
    match replay::replay_us(scenario, result, links, 1.0) {
        // Links that are up for some time only may make a replay impossible.
        Some(exact) if exact.is_infinite() => {
            if let Some(said) = claims.replay_us {
                found.add_with(code::CLAIM, || {
                    format!(
                        "'replay_us' is {said}, but without epochs, a link is not up when a send needs it"
                    )
                });
            }
        }
        Some(exact) if claims.replay_us.is_none_or(|said| (said - exact).abs() > 1e-9 * exact.max(1e-9)) => {
            found.add_with(code::CLAIM, || match claims.replay_us {
                Some(said) => format!("'replay_us' is {said}, but the sends give {exact}"),
                None => format!("'replay_us' is missing, but the sends give {exact}"),
            });
        }
        Some(_) => {}
        None => found.add_with(code::CLAIM, || "'replay_us' cannot be computed from the sends".to_owned()),
    }
    let mut load: HashMap<u32, f64> = HashMap::new();
    for (send, &link) in result.sends.iter().zip(&links.of_send) {
        *load.entry(link).or_default() += result.pieces[send.piece as usize].size_bytes;
    }
    let busiest =
        load.iter().map(|(link, bytes)| bytes / links.links[*link as usize].bytes_per_us).fold(0.0, f64::max);
    if busiest > finish_us * (1.0 + TOLERANCE) {
        found.add_with(code::CAPACITY, || {
            format!(
                "the busiest link needs {busiest} us for its data, but the plan ends after {finish_us} us"
            )
        });
    }
    let exactly = |name, value| Figure::exactly(name, code::CLAIM, value);
    let mut figures = vec![
        exactly("finish_epochs", f64::from(finish)),
        exactly("epoch_length_us", tau),
        exactly("algbw_gbyte_per_s", algbw),
    ];
    figures.extend(claims.replay_us.map(|replay_us| exactly("replay_us", replay_us)));
    figures.extend([
        exactly("sends", result.sends.len() as f64),
        exactly("busiest_link_share", if finish == 0 { 0.0 } else { busiest / finish_us }),
    ]);
    if let Some(lower) = claims.lower_bound_epochs {
        figures.push(exactly("lower_bound_us", f64::from(lower) * tau));
    }
    figures.extend(of_floor(result));
    figures
}

/// Checks that the claims on the bound in epochs agree with each other and with the finish.
pub(super) fn bound_claims(claims: &ScheduleClaims, finish: u32, found: &mut Findings) {
    if let Some(lower) = claims.lower_bound_epochs.filter(|lower| *lower > finish) {
        found
            .add_with(code::BOUND, || format!("the bound of {lower} epochs is above the finish of {finish}"));
    }
    if claims.optimal != (claims.lower_bound_epochs == Some(finish)) {
        found.add_with(code::CLAIM, || format!("'optimal' is {}", claims.optimal));
    }
    let parts: u32 = claims.bounds.iter().map(|bound| bound.epochs).sum();
    if claims.lower_bound_epochs.unwrap_or(0) != parts {
        found.add_with(code::CLAIM, || {
            format!("'bounds' add up to {parts} epochs, which differs from 'lower_bound_epochs'")
        });
    }
}

/// Returns the figures of the lower bounds (floors) that a plan claims.
pub(super) fn of_floor(result: &CollectiveResult) -> Vec<Figure> {
    let Some(floor) = &result.claims.floor else { return Vec::new() };
    let exactly = |name, value| Figure::exactly(name, code::CLAIM, value);
    vec![
        exactly("floor_us", floor.under_finish(result.time.alpha_threshold).floor_us),
        exactly("latency_floor_us", floor.with_latency.floor_us),
        exactly("gap_to_floor", floor.gap_to_floor),
    ]
}

/// Returns the size of the buffer of a named collective, bytes, or, for other demands, the maximum number of bytes that
/// a GPU receives.
pub(super) fn buffer_bytes(scenario: &CollectiveScenario, links: &CheckedLinks) -> f64 {
    let demand = &scenario.demand;
    let per_rank = u64::from(demand.chunks_per_rank);
    if demand.collective.is_named() {
        let ranks = demand.rank_nodes(&scenario.topology).len() as u64;
        return demand.collective.buffer_chunks(ranks, per_rank) as f64 * links.chunk_bytes;
    }
    let chunks = demand.expand(&scenario.topology);
    let mut wanted: HashMap<u32, u64> = HashMap::new();
    for chunk in 0..chunks.len() {
        for dest in chunks.dests(chunk) {
            *wanted.entry(dest).or_default() += 1;
        }
    }
    wanted.values().max().copied().unwrap_or(0) as f64 * links.chunk_bytes
}
