//! Sections on the finish of a schedule and on the lower bounds of the finish.

use super::ExplainedPlan;
use crate::model::lanes::differ_by_rate;
use crate::plan::compact::{CompactPlan, CompactTree};
use crate::plan::{AT_FLOOR, CollectiveResult, Discipline, FloorClaim, ScheduleClaims, covers};
use crate::scenario::network::LinkNetwork;
use crate::scenario::{CollectiveScenario, CollectiveSort};
use lightbay_core::kind::Sense;
use lightbay_core::quantity::{self, grouped};
use lightbay_core::report::{
    Cell, Column, Fact, Facts, Phrase, Section, Table, Tone, Unavailable, Unit, text,
};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

const MICROSECONDS: Unit = Unit::new("µs", 1.0, None);
const TIME: Unit = MICROSECONDS.with_decimals(3);
const LOWER_BOUND: Unit = TIME.bounding(Sense::Min);

/// Title of the table of times and bounds.
const TIMES: &str = "Completion time and its lower bounds";
/// Names of the times of a schedule and of their bounds.
const OF_TIMES: [&str; 4] = ["finish_us", "replay_us", "lower_bound_us", "floor_us"];
/// Title of the table of the links across a cut.
const CUT: &str = "Links across the cut, which prove the bound";

/// Returns the figures of a schedule.
fn figures(subject: ExplainedPlan<'_>) -> Facts {
    let (claims, time) = (&subject.result.claims, &subject.result.time);
    let mut facts = Facts::new();
    facts.number("finish_us", "finish", TIME, Cell::new(claims.finish_us).tone(Tone::Answer));
    facts.add("finish_epochs", "epochs", claims.finish_epochs);
    facts.number("epoch_us", "length of an epoch", MICROSECONDS, time.epoch_us);
    let rate = Unit::new("GB/s", 1.0, Some(3));
    facts.number("algbw_gbyte_per_s", "algorithm bandwidth", rate, claims.algbw_gbyte_per_s);
    if let Some(replay_us) = claims.replay_us {
        facts.number("replay_us", "replay", TIME, replay_us);
        let later = if replay_us > claims.finish_us { "; with every latency" } else { "" };
        facts.sentence(format!("sends start when ready, not in epochs{later}"));
    }
    if time.pieces_per_chunk > 1 {
        facts.add("pieces_per_chunk", "pieces of a chunk", time.pieces_per_chunk);
    }
    if let Some(lower) = claims.lower_bound_epochs {
        let lower_us = f64::from(lower) * time.epoch_us;
        facts.number("lower_bound_us", "bound, these epochs", LOWER_BOUND, lower_us);
        let sentence = if claims.optimal { "met" } else { "not met" };
        let chunks = match (time.discipline, time.pieces_per_chunk) {
            (Discipline::WholeChunk, 1) => "whole chunks".to_owned(),
            (Discipline::WholeChunk, pieces) => format!("{pieces} pieces a chunk"),
            (Discipline::Fluid, _) => "parts of chunks".to_owned(),
        };
        facts.sentence(format!("{sentence}; for {chunks} in these epochs"));
    }
    if let Some(floor) = &claims.floor {
        let under = floor.under_finish(time.alpha_threshold);
        facts.number("floor_us", "lower bound", LOWER_BOUND, under.floor_us);
        let gap = lightbay_core::plan::gap(claims.finish_us, under.floor_us);
        facts.sentence(floor_sentence(floor, gap, &under.because));
    }
    if subject.result.trees.is_empty() {
        facts.add("sends", "sends", subject.result.sends.len());
    }
    facts
}

/// Returns the section on finish, bandwidth and replay.
pub(super) fn finish(subject: ExplainedPlan<'_>) -> Section {
    let facts = figures(subject);
    // On a screen, the times and their bounds are bars; their sentences follow the other figures.
    let (of_times, mut others): (Vec<Fact>, Vec<Fact>) =
        facts.facts.iter().cloned().partition(|fact| OF_TIMES.contains(&fact.name));
    others.extend(of_times.into_iter().filter(|fact| !fact.sentence.is_empty()).map(|fact| {
        let cell = Cell::new(fact.sentence.replace("->", "→"));
        Fact { unit: Unit::NUMBER, cell, sentence: String::new(), ..fact }
    }));
    let finish_us = in_groups(subject.result.claims.finish_us);
    let answer = Phrase::new().answer(format!("{finish_us} µs")).muted(" until the last delivery");
    let section = Section::empty("Finish")
        .answer(answer)
        .on_screens("times", TIMES, times(subject))
        .block("facts", "", facts)
        .only_written()
        .on_screens("schedule", "", Facts { facts: others });
    let section = match cut(subject) {
        Some(cut) => section.on_screens("cut", CUT, cut),
        None => section,
    };
    let section = match trees(subject) {
        Some((title, table)) => {
            let mut shown = table.clone();
            let equal = without_constants(&mut shown, &["share", "hops", "pieces"]);
            section.block("trees", title.as_str(), table).only_written().on_screens(
                "sorts_of_trees",
                title + &equal,
                shown,
            )
        }
        None => section,
    };
    match tenants(subject) {
        Some(table) => section.block("tenants", "Tenants", table),
        None => section,
    }
}

/// Formats a time with three decimals, its digits in groups: `40 006.609`.
pub(super) fn in_groups(time_us: f64) -> String {
    let text = format!("{time_us:.3}");
    let (whole, decimals) = text.split_once('.').unwrap_or((&text, ""));
    let whole = if whole.len() > 4 { grouped(whole.parse().unwrap_or_default()) } else { whole.to_owned() };
    format!("{whole}.{decimals}")
}

/// Returns the completion times and their lower bounds on one scale.
fn times(subject: ExplainedPlan<'_>) -> Table {
    let (claims, time) = (&subject.result.claims, &subject.result.time);
    let columns = vec![Column::words("time", "time"), Column::numbers("time_us", "", TIME)];
    let mut table = Table::new(["time", "times"], columns).bar(1);
    let mut row = |name: &str, time_us: f64, tone: Tone| {
        table.row(vec![Cell::new(name).tone(tone), Cell::new(time_us).tone(tone)]);
    };
    row("finish", claims.finish_us, Tone::Answer);
    if let Some(replay_us) = claims.replay_us {
        row("replay, without epochs", replay_us, Tone::Text);
    }
    // The unit of the column does not round bounds to the safe side.
    let bound = |time_us: f64| quantity::safe_bound(time_us, 3, Sense::Min);
    if let Some(lower) = claims.lower_bound_epochs {
        row("bound for these epochs and chunks", bound(f64::from(lower) * time.epoch_us), Tone::Good);
    }
    if let Some(floor) = &claims.floor {
        let floor_us = floor.under_finish(time.alpha_threshold).floor_us;
        row("bound for any chunking", bound(floor_us), Tone::Good);
        // The bound on the finish omits the latencies that an epoch covers.
        if claims.replay_us.is_some() && time.alpha_threshold > 0.0 {
            row("bound on replay", bound(floor.with_latency.floor_us), Tone::Good);
        }
    }
    table
}

/// Returns a sentence on the gap between a finish and its floor, as in the header, and on the proof of the floor.
fn floor_sentence(floor: &FloorClaim, gap: f64, because: &str) -> String {
    if floor.gap_to_floor <= AT_FLOOR {
        return format!("met: no schedule ends earlier; {because}");
    }
    format!("gap {}; {because}", quantity::gap(gap))
}

/// Returns a sentence on a finish that omits latencies and lies below the time with latencies; `None` for other plans.
pub fn latencies_left_out(result: &CollectiveResult) -> Option<String> {
    let (claims, threshold) = (&result.claims, result.time.alpha_threshold);
    let floor_us = claims.floor.as_ref()?.with_latency.floor_us;
    if threshold == 0.0 || claims.finish_us >= floor_us * (1.0 - AT_FLOOR) {
        return None;
    }
    // Rounded down, so that it stays a lower bound.
    let floor_us = (floor_us * 1e3).floor() / 1e3;
    let replay = claims
        .replay_us
        .map_or_else(String::new, |replay_us| format!(", and this schedule ends after {replay_us:.3} µs"));
    Some(format!(
        "the finish of {:.3} µs omits latencies of up to {threshold} epochs (alpha_threshold): with all \
         latencies, no schedule ends before {floor_us} µs{replay}",
        claims.finish_us
    ))
}

/// Returns a sentence if no switch reduces in a plan although the switches, which cut through at different rates, can
/// reduce (schedules reduce only data that arrives at one rate); otherwise `None`.
pub fn not_reduced(scenario: &CollectiveScenario, result: &CollectiveResult) -> Option<String> {
    if !scenario.topology.switch_model.reduce || !scenario.demand.collective.reduces() {
        return None;
    }
    let network = LinkNetwork::in_order(scenario).ok()?;
    if !network.is_cut_through() || !differ_by_rate(&network) {
        return None;
    }
    // A reducing switch forwards less data than it receives.
    let is_switch = |node| i64::from(network.is_switch(node));
    let adds = result.sends.iter().filter(|send| result.pieces[send.piece as usize].adds_up);
    let kept: i64 = adds.map(|send| is_switch(send.to) - is_switch(send.from)).sum();
    (kept == 0).then(|| {
        "GPUs do all reductions in this plan, although switch_reduce is true: if the ports of a \
         cut-through switch have different rates, schedules use no in-network reduction; a schedule with \
         in-network reduction may end earlier"
            .to_owned()
    })
}

/// Returns the table of floors on finish and replay, for any chunking and any epoch length; `None` if the plan has no
/// floors.
fn floors(claims: &ScheduleClaims, alpha_threshold: f64) -> Option<Table> {
    let floor = claims.floor.as_ref()?;
    let columns = vec![
        Column::words("under", "under"),
        Column::numbers("floor_us", "at least", LOWER_BOUND),
        Column::numbers("reached_us", "reached", TIME),
        Column::words("because", "because"),
    ];
    let mut table = Table::new(["floor", "floors"], columns);
    let finish = (floor.under_finish(alpha_threshold), "finish", claims.finish_us);
    let replay = claims.replay_us.map(|replay_us| (&floor.with_latency, "replay", replay_us));
    for (proof, under, reached_us) in std::iter::once(finish).chain(replay) {
        table.row(vec![
            Cell::new(under),
            Cell::new(proof.floor_us),
            Cell::new(reached_us),
            Cell::new(proof.because.clone()),
        ]);
    }
    Some(table)
}

fn words_of_covers(subject: ExplainedPlan<'_>) -> String {
    let time = &subject.result.time;
    covers(time.epoch_us, time.discipline, time.pieces_per_chunk, subject.result.claims.bounds.len() > 1)
}

/// Returns the table of trees in compact form, by part of the collective, and its title; `None` without trees. Columns
/// without information are left out.
fn trees(subject: ExplainedPlan<'_>) -> Option<(String, Table)> {
    let parts = &subject.result.trees;
    if parts.is_empty() {
        return None;
    }
    let all = || parts.iter().flat_map(|plan| &plan.trees);
    let has_dests = all().any(|tree| !tree.dests.is_empty());
    let mut columns = Vec::new();
    if parts.len() > 1 {
        columns.push(Column::counts("part", "part"));
    }
    columns.push(Column::words("root", "root"));
    if has_dests {
        columns.push(Column::words("dest", "to"));
    }
    columns.extend([
        Column::numbers("share", "part of shard", Unit::PERCENT.with_decimals(3)),
        Column::counts("hops", "hops"),
        Column::counts("depth", "depth"),
        Column::counts("pieces", "pieces"),
        Column::counts("trees", "trees"),
    ]);
    let mut table = Table::new(["sort of tree", "sorts of trees"], columns).overview(super::OVERVIEW);
    for (part, plan) in (1usize..).zip(parts) {
        // Trees with equal figures share a row.
        let mut alike: BTreeMap<TreeFigures, usize> = BTreeMap::new();
        for tree in &plan.trees {
            *alike.entry(TreeFigures::of(plan, tree)).or_default() += 1;
        }
        for (figures, count) in alike {
            let mut row = Vec::new();
            if parts.len() > 1 {
                row.push(Cell::new(part));
            }
            row.push(Cell::new(subject.node(figures.root)));
            if has_dests {
                row.push(Cell::new(figures.dest.map_or_else(|| "all".to_owned(), |dest| subject.node(dest))));
            }
            row.extend([
                fraction(&figures.share).map_or_else(Cell::none, Cell::new),
                Cell::new(figures.hops),
                Cell::new(figures.depth),
                Cell::new(figures.pieces),
                Cell::new(count),
            ]);
            table.row(row);
        }
    }
    Some((format!("Trees of {}", roots(subject)), table))
}

/// Removes the columns whose cells are all equal, and returns their values in words for the heading of the table.
pub(super) fn without_constants(table: &mut Table, names: &[&str]) -> String {
    let mut words = String::new();
    for name in names {
        let Some(at) = table.columns.iter().position(|column| column.name == *name) else { continue };
        let (first, rest) = match table.rows.as_slice() {
            [first, rest @ ..] if !rest.is_empty() => (first.cells[at].clone(), rest),
            _ => continue,
        };
        if rest.iter().all(|row| row.cells[at] == first) {
            let column = table.columns.remove(at);
            let _ = write!(words, ", {} {}", column.label, text::cell(&first, column.unit));
            for row in &mut table.rows {
                row.cells.remove(at);
            }
        }
    }
    words
}

/// Returns the number of roots of the listed trees in words, and what is known of the other roots.
pub(super) fn roots(subject: ExplainedPlan<'_>) -> String {
    let trees = subject.result.trees.iter().flat_map(|plan| &plan.trees);
    let ranks = subject.scenario.demand.rank_nodes(&subject.scenario.topology).len();
    match trees.map(|tree| tree.root).collect::<BTreeSet<u32>>().len() {
        1 => "one root; other roots have equal trees".to_owned(),
        few if few < ranks => format!("{few} roots; each other root has trees equal to those of one of them"),
        all => format!("{all} roots"),
    }
}

/// Returns the value of a fraction such as `49/1324`.
fn fraction(text: &str) -> Option<f64> {
    let (above, below) = text.split_once('/').unwrap_or((text, "1"));
    Some(above.parse::<f64>().ok()? / below.parse::<f64>().ok()?)
}

/// Figures of a tree, in the order in which trees are sorted.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct TreeFigures {
    root: u32,
    dest: Option<u32>,
    depth: usize,
    share: String,
    hops: usize,
    pieces: usize,
}

impl TreeFigures {
    fn of(plan: &CompactPlan, tree: &CompactTree) -> Self {
        let mut depths: BTreeMap<u32, usize> = BTreeMap::from([(tree.root, 0)]);
        for edge in &tree.edges {
            if let (Some(from), Some(to)) = (edge.first(), edge.last()) {
                depths.insert(*to, depths.get(from).map_or(1, |depth| depth + 1));
            }
        }
        Self {
            root: tree.root,
            dest: tree.dests.first().copied(),
            share: tree.share.clone(),
            hops: tree.edges.len(),
            depth: depths.values().copied().max().unwrap_or(0),
            pieces: if tree.starts.is_empty() { plan.pieces_per_tree as usize } else { tree.starts.len() },
        }
    }
}

/// Returns the table of the finish of every tenant; `None` without tenants.
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
        Column::numbers("finish_us", "finish", TIME),
    ];
    let mut table = Table::new(["tenant", "tenants"], columns);
    for (tenant, wish) in (0u32..).zip(&demand.tenants) {
        let end = last.get(&tenant).copied().unwrap_or(0);
        let finish_us = f64::from(end) * subject.result.time.epoch_us;
        table.row(vec![Cell::new(wish.name.clone()), Cell::new(end), Cell::new(finish_us)]);
    }
    Some(table)
}

/// Returns the table of the links across the cut that proves the bound, with the data of each; `None` without such a cut.
fn cut(subject: ExplainedPlan<'_>) -> Option<Table> {
    let columns = vec![
        Column::words("link", "link"),
        Column::numbers("rate", "rate", Unit::new("GB/s", 1.0, None)),
        Column::numbers("bytes", "carries", Unit::new("MB", 1e-6, Some(3))),
        Column::numbers("busy_us", "busy", TIME),
        Column::numbers("busy_share", "of the time", Unit::PERCENT),
    ];
    let mut table = Table::new(["link", "links"], columns).bar(4);
    let finish_us = subject.result.claims.finish_us;
    let (rates, binding) = (super::occupancy::rates(subject), super::occupancy::binding(subject));
    for (ends, busy_us, _) in super::occupancy::loads(subject) {
        let Some(rate) = rates.get(&ends).filter(|_| binding.contains(&ends)) else {
            continue;
        };
        table.row(vec![
            Cell::new(subject.link(ends.0, ends.1)),
            Cell::new(rate / 1000.0),
            Cell::new(busy_us * rate),
            Cell::new(busy_us),
            Cell::new(super::occupancy::busy_share(busy_us, finish_us)),
        ]);
    }
    (!table.rows.is_empty()).then_some(table)
}

/// Returns the section on the bounds of each part of the collective.
pub(super) fn bounds(subject: ExplainedPlan<'_>) -> Result<Section, Unavailable> {
    let (claims, time) = (&subject.result.claims, &subject.result.time);
    let floors = floors(claims, time.alpha_threshold);
    if claims.bounds.is_empty() && floors.is_none() {
        return Err(Unavailable::absent("the plan proves no bound", "solve with auto or construct"));
    }
    let columns = vec![
        Column::words("part", "part"),
        Column::counts("epochs", "epochs"),
        Column::numbers("bound_us", "at least", LOWER_BOUND),
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
    let mut section = Section::empty("Bounds").on_screens("times", TIMES, times(subject));
    if !claims.bounds.is_empty() {
        let covered = words_of_covers(subject);
        section = section.block("bounds", "In these epochs", table).remark(format!(
            "The bounds in these epochs cover {covered}; schedules with another chunk size or epoch length may end earlier."
        ));
    }
    if let Some(cut) = cut(subject) {
        section = section.on_screens("cut", CUT, cut);
    }
    if let Some(floors) = floors {
        section = section
            .block("floors", "Lower bounds for any chunking and any epoch length", floors)
            .remark("These bounds hold for any chunking and any epoch length; they may not be attainable.");
    }
    Ok(section)
}
