//! The finish of a schedule and what bounds it.

use super::ExplainedPlan;
use crate::plan::covers;
use crate::scenario::CollectiveSort;
use lightbay_core::report::{Cell, Column, Facts, Phrase, Section, Table, Tone, Unavailable, Unit};
use std::collections::BTreeMap;

const MICROSECONDS: Unit = Unit::new("µs", 1.0, None);

/// Finish, bandwidth and replay.
pub(super) fn finish(subject: ExplainedPlan<'_>) -> Section {
    let (claims, time) = (&subject.result.claims, &subject.result.time);
    let mut facts = Facts::new();
    facts.number("finish_us", "finish", MICROSECONDS, Cell::new(claims.finish_us).tone(Tone::Answer));
    facts.add("finish_epochs", "epochs", claims.finish_epochs);
    facts.number("epoch_us", "length of an epoch", MICROSECONDS, time.epoch_us);
    let rate = Unit::new("GB/s", 1.0, None);
    facts.number("algbw_gbyte_per_s", "algorithm bandwidth", rate, claims.algbw_gbyte_per_s);
    facts.number("replay_us", "replay", MICROSECONDS, claims.replay_us);
    facts.sentence("every send as soon as its data is there and its link is free");
    if let Some(lower) = claims.lower_bound_epochs {
        let lower_us = f64::from(lower) * time.epoch_us;
        facts.number("lower_bound_us", "at least", MICROSECONDS, lower_us);
        let sentence = if claims.optimal { "met" } else { "not met" };
        facts.sentence(format!("{sentence}, of {}", words_of_covers(subject)));
    }
    facts.add("sends", "sends", subject.result.sends.len());
    let answer = Phrase::new().answer(format!("{} µs", claims.finish_us)).muted(" until the last delivery");
    let section = Section::empty("Finish").answer(answer).block("facts", "", facts);
    match tenants(subject) {
        Some(table) => section.block("tenants", "Tenants", table),
        None => section,
    }
}

fn words_of_covers(subject: ExplainedPlan<'_>) -> String {
    let time = &subject.result.time;
    covers(time.epoch_us, time.discipline, subject.result.claims.bounds.len() > 1)
}

/// The finish of every tenant.
fn tenants(subject: ExplainedPlan<'_>) -> Option<Table> {
    let demand = &subject.scenario.demand;
    if demand.collective != CollectiveSort::MultiTenant {
        return None;
    }
    let chunks = demand.expand(&subject.scenario.topology);
    let mut last: BTreeMap<u32, u32> = BTreeMap::new();
    for (send, arrival) in super::progress::arrivals(subject) {
        let chunk = subject.result.pieces[send.piece as usize].chunk as usize;
        let end = last.entry(chunks.tenant(chunk)).or_default();
        *end = arrival.max(*end);
    }
    let columns = vec![
        Column::words("tenant", "tenant"),
        Column::counts("finish_epochs", "epochs"),
        Column::numbers("finish_us", "finish", MICROSECONDS),
    ];
    let mut table = Table::new(["tenant", "tenants"], columns);
    for (tenant, wish) in (0u32..).zip(&demand.tenants) {
        let end = last.get(&tenant).copied().unwrap_or(0);
        let finish_us = f64::from(end) * subject.result.time.epoch_us;
        table.row(vec![Cell::new(wish.name.clone()), Cell::new(end), Cell::new(finish_us)]);
    }
    Some(table)
}

/// Bounds on each part of the collective.
pub(super) fn bounds(subject: ExplainedPlan<'_>) -> Result<Section, Unavailable> {
    let (claims, time) = (&subject.result.claims, &subject.result.time);
    if claims.bounds.is_empty() {
        return Err(Unavailable::absent("the plan proves nothing", "solve with auto or construct"));
    }
    let columns = vec![
        Column::words("part", "part"),
        Column::counts("epochs", "epochs"),
        Column::numbers("bound_us", "at least", MICROSECONDS),
        Column::words("because", "because"),
    ];
    let names: &[&str] = match subject.scenario.demand.collective {
        CollectiveSort::AllReduce => &["ReduceScatter", "AllGather"],
        sort => &[sort.label()],
    };
    let mut table = Table::new(["part", "parts"], columns);
    for (at, bound) in claims.bounds.iter().enumerate() {
        table.row(vec![
            Cell::new(names.get(at).copied().unwrap_or("part")),
            Cell::new(bound.epochs),
            Cell::new(f64::from(bound.epochs) * time.epoch_us),
            Cell::new(bound.because.clone()),
        ]);
    }
    let covered = words_of_covers(subject);
    Ok(Section::new("Bounds", table)
        .remark(format!("Covers {covered}; other chunks or epochs may end earlier.")))
}
