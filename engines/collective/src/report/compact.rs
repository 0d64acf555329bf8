//! Sections on plans in compact form that have too many sends to list: one link stands for each orbit of links, and one
//! tree stands for its images under the symmetries of the plan.

use super::finish::{in_groups, roots};
use super::occupancy::{across, binding, busiest, busy_cell, busy_share, megabytes, of_link, rates, unit_of};
use super::progress::until_finish;
use super::{ExplainedPlan, OVERVIEW};
use crate::compose::{LinkUse, LinkUses, TimedTree, timed_trees};
use crate::plan::compact::CompactDiscipline;
use lightbay_core::quantity::grouped;
use lightbay_core::report::{
    About, Cell, Column, Curve, Lane, Matrix, Phrase, Point, Section, Span, Spans, Table, Tone, Unavailable,
    Unit, text,
};
use std::collections::{BTreeMap, BTreeSet};

const MICROSECONDS: Unit = Unit::new("µs", 1.0, Some(3));
/// Number of columns of the grid.
const COLUMNS: usize = 256;
/// Number of points of the curve of deliveries.
const POINTS: usize = 240;
/// Maximum number of transmissions of one link that are drawn as separate intervals.
const MOST_SPANS: usize = 2000;
/// Maximum number of rows of a tree.
const MOST_ROWS: usize = 2000;
/// Change of the load above which an interval ends.
const STEP: f64 = 0.005;

/// Remark on all of these sections.
const FOLDED: &str = "One link stands for its whole orbit: the symmetries of the plan map it to links that carry equal data \
     at equal times. One tree stands for its images, one for each other root.";

fn broken(why: String) -> Unavailable {
    Unavailable::absent(why, "solve again")
}

/// Links that transmit at the same times.
struct LinkOrbit {
    /// Ends of one of the links.
    ends: (u32, u32),
    links: usize,
    /// Number of links across a cut that proves a bound.
    binding: usize,
    busy_us: f64,
    bytes: f64,
    sends: u64,
    /// Transmissions on each link: start and end, µs, and the share of the rate that is used.
    uses: Vec<(f64, f64, f64)>,
}

impl LinkOrbit {
    fn name(&self, subject: ExplainedPlan<'_>) -> String {
        let mark = if self.binding > 0 { "▌" } else { " " };
        let binding = match self.binding {
            some if some > 0 && some < self.links => format!(", {} ▌", grouped(some as u64)),
            _ => String::new(),
        };
        format!("{mark}{} x {}{binding}", subject.link(self.ends.0, self.ends.1), grouped(self.links as u64))
    }
}

/// Returns one link for each orbit of links, the most loaded link first.
fn orbits(subject: ExplainedPlan<'_>) -> Result<Vec<LinkOrbit>, Unavailable> {
    let uses = LinkUses::of(subject.scenario, subject.result).map_err(broken)?;
    let (rates, of_cuts) = (rates(subject), binding(subject));
    let epoch_us = subject.result.time.epoch_us;
    let shares = subject.result.trees.iter().any(|part| part.discipline == CompactDiscipline::Fluid);
    let mut found: BTreeMap<Vec<Option<u32>>, LinkOrbit> = BTreeMap::new();
    for link in &subject.scenario.topology.links {
        let ends = (link.from, link.to);
        let rate = rates.get(&ends).copied().unwrap_or(f64::INFINITY);
        let known = found.entry(uses.orbits_of(ends)).or_insert_with(|| {
            let all: Vec<&LinkUse> = uses.of_link(ends).collect();
            let bytes = all.iter().map(|one| one.bytes).sum::<f64>();
            let mut free_us = 0.0_f64;
            let interval = |one: &&LinkUse| {
                let (begin_us, takes_us) = (f64::from(one.transmits) * epoch_us, one.bytes / rate);
                if shares {
                    let length_us = f64::from(one.pieces.max(1)) * epoch_us;
                    return (begin_us, begin_us + length_us, takes_us / length_us);
                }
                let begin_us = begin_us.max(free_us);
                free_us = begin_us + takes_us;
                (begin_us, free_us, 1.0)
            };
            LinkOrbit {
                ends,
                links: 0,
                binding: 0,
                busy_us: bytes / rate,
                bytes,
                sends: all.iter().map(|one| u64::from(one.pieces)).sum(),
                uses: all.iter().map(interval).collect(),
            }
        });
        known.links += 1;
        known.binding += usize::from(of_cuts.contains(&ends));
    }
    let mut orbits: Vec<LinkOrbit> = found.into_values().collect();
    orbits.sort_by(|a, b| b.busy_us.total_cmp(&a.busy_us).then(a.ends.cmp(&b.ends)));
    Ok(orbits)
}

/// Returns the section with the load of one link of every orbit, the most loaded link first.
pub(super) fn links(subject: ExplainedPlan<'_>) -> Result<Section, Unavailable> {
    let columns = vec![
        Column::words("from", "from"),
        Column::words("to", "to"),
        Column::counts("links", "links").priority(1),
        Column::counts("sends", "sends of each").priority(3),
        Column::numbers("busy_us", "busy time", MICROSECONDS).priority(3),
        Column::numbers("busy_share", "busy", Unit::PERCENT),
        Column::words("binding", "cut").priority(2),
    ];
    let finish_us = subject.result.claims.finish_us;
    let mut table = Table::new(["group of links", "groups of links"], columns).overview(OVERVIEW).bar(5);
    let orbits = orbits(subject)?;
    for orbit in &orbits {
        let share = busy_share(orbit.busy_us, finish_us);
        let binding = grouped(orbit.binding as u64);
        let row = table.row(vec![
            Cell::new(subject.node(orbit.ends.0)),
            Cell::new(subject.node(orbit.ends.1)),
            Cell::new(orbit.links),
            Cell::new(orbit.sends),
            Cell::new(orbit.busy_us),
            Cell::new(share),
            if orbit.binding > 0 {
                Cell::new(format!("{binding} of them")).tone(Tone::Answer)
            } else {
                Cell::none()
            },
        ]);
        let note = if orbit.binding > 0 { format!("{binding} across a binding cut") } else { String::new() };
        let sends = (usize::try_from(orbit.sends).unwrap_or(usize::MAX), " on each");
        row.sentence =
            of_link(orbit.name(subject).trim_start_matches(['▌', ' ']), share, orbit.busy_us, sends, &note);
    }
    let most = orbits.first().map_or(0.0, |orbit| orbit.busy_us);
    let section = Section::new("Links", table).context("equal links share a row").remark(FOLDED);
    Ok(busiest(section, most, finish_us))
}

/// Returns the section on the transmissions of one link of every orbit.
pub(super) fn occupancy(subject: ExplainedPlan<'_>) -> Result<Section, Unavailable> {
    let orbits = orbits(subject)?;
    let finish_us = subject.result.claims.finish_us;
    if orbits.is_empty() || finish_us <= 0.0 {
        return Err(Unavailable::absent("nothing is sent", "no data has to move"));
    }
    let width_us = finish_us / COLUMNS as f64;
    let loads: Vec<Vec<f64>> = orbits.iter().map(|orbit| shares(&orbit.uses, width_us)).collect();
    let cells = loads.iter().flatten().map(|share| busy_cell(*share));
    let unit = unit_of(finish_us);
    let at = |column: usize| text::number(column as f64 * width_us / 1e6, unit.with_decimals(0));
    let about = loads.iter().zip(&orbits).enumerate().flat_map(|(row, (loads, orbit))| {
        let name = orbit.name(subject);
        (0..COLUMNS).map(move |column| About {
            item: (loads[column] > 0.0).then_some((row * COLUMNS + column) as u32),
            sentence: in_words(
                &name,
                orbit.busy_us / finish_us,
                (column as f64 * width_us, (column + 1) as f64 * width_us),
                (loads[column], unit),
            ),
            details: Vec::new(),
        })
    });
    let matrix = Matrix {
        name: "busy_share",
        unit: Unit::PERCENT.with_decimals(0),
        rows: orbits.iter().map(|orbit| orbit.name(subject)).collect(),
        columns: (0..COLUMNS).map(at).collect(),
        about: about.collect(),
        cells: cells.collect(),
        shaded: true,
        ..Matrix::default()
    };
    let lanes = orbits.iter().zip(&loads).map(|(orbit, loads)| lane(subject, orbit, loads, unit));
    let spans = Spans {
        lanes: lanes.collect(),
        end_s: finish_us / 1e6,
        unit,
        words: "busy %   MB a link",
        ..Spans::default()
    };
    let binding: usize = orbits.iter().map(|orbit| orbit.binding).sum();
    let answer = match binding {
        0 => Phrase::new().answer(grouped(orbits.len() as u64)).muted(" groups of links"),
        _ => across(binding),
    };
    Ok(Section::empty("Occupancy")
        .block("grid", "", matrix)
        .on_screens("links", "", spans)
        .on_screens("trees", format!("Trees of {}", roots(subject)), tree_table(subject)?)
        .only_in(&["links"])
        .context("equal links share a row")
        .answer(answer)
        .legend(
            "x N, M ▌: N links with equal load, M of them across a binding cut; height: used part of the rate; \
             + - zoom",
        )
        .legend_in("grid", "cells: busy %; columns: equal parts of the time; ▌ links across a binding cut")
        .remark(FOLDED))
}

/// Returns the load of a link in each column of the grid.
fn shares(uses: &[(f64, f64, f64)], width_us: f64) -> Vec<f64> {
    let mut loads = vec![0.0_f64; COLUMNS];
    for &(begin_us, end_us, share) in uses {
        let first = (begin_us / width_us) as usize;
        for (column, load) in loads.iter_mut().enumerate().skip(first) {
            let (from_us, to_us) = (column as f64 * width_us, (column + 1) as f64 * width_us);
            if from_us >= end_us {
                break;
            }
            *load += share * (end_us.min(to_us) - begin_us.max(from_us)).max(0.0) / width_us;
        }
    }
    loads
}

/// Returns a sentence on the load of a link until the finish (`busy`), then in an interval.
fn in_words(name: &str, busy: f64, (from_us, to_us): (f64, f64), (share, unit): (f64, Unit)) -> Phrase {
    let time = |time_us: f64| text::number(time_us / 1e6, unit);
    let percent = |share: f64| text::number(share.min(1.0), Unit::PERCENT);
    Phrase::new()
        .answer(format!("> {}", name.trim_start_matches(['▌', ' '])))
        .text(format!("  busy {} %", percent(busy)))
        .muted(format!("  from {} to {} {}: {} %", time(from_us), time(to_us), unit.symbol, percent(share)))
}

/// Returns the lane of an orbit of links: its transmissions, or intervals of equal load if there are many.
fn lane(subject: ExplainedPlan<'_>, orbit: &LinkOrbit, loads: &[f64], unit: Unit) -> Lane {
    let finish_us = subject.result.claims.finish_us;
    let width_us = finish_us / COLUMNS as f64;
    let (name, busy) = (orbit.name(subject), busy_share(orbit.busy_us, finish_us));
    let is_separate = orbit.uses.len() <= MOST_SPANS && orbit.uses.iter().all(|(_, _, share)| *share == 1.0);
    let mut parts: Vec<(f64, f64, f64)> = Vec::new();
    if is_separate {
        parts.clone_from(&orbit.uses);
    } else {
        for (column, load) in loads.iter().enumerate().filter(|(_, load)| **load > 0.0) {
            let (from_us, to_us) = (column as f64 * width_us, (column + 1) as f64 * width_us);
            match parts.last_mut() {
                Some(last) if last.1 == from_us && (last.2 - load).abs() < STEP => last.1 = to_us,
                _ => parts.push((from_us, to_us, *load)),
            }
        }
    }
    let span = |&(from_us, to_us, share): &(f64, f64, f64)| Span {
        name: name.clone(),
        start_s: from_us / 1e6,
        end_s: to_us / 1e6,
        idle: (1.0 - share).max(0.0),
        sentence: in_words(&name, busy, (from_us, to_us), (share, unit)),
        ..Span::default()
    };
    Lane {
        spans: parts.iter().map(span).collect(),
        words: format!("{:>6} {:>10}", text::number(busy, Unit::PERCENT), megabytes(orbit.bytes)),
        tone: if orbit.binding > 0 { Tone::Answer } else { Tone::Text },
        name,
    }
}

/// Returns the trees of the plan with the epoch of the first and last delivery of each.
fn trees(subject: ExplainedPlan<'_>) -> Result<Vec<TimedTree>, Unavailable> {
    timed_trees(subject.scenario, subject.result).map_err(broken)
}

/// Returns the nodes to which a tree delivers, and the hop of each delivery, by position in the tree.
fn delivering(subject: ExplainedPlan<'_>, tree: &TimedTree) -> Vec<usize> {
    let chunks = subject.scenario.demand.expand(&subject.scenario.topology);
    let all = || {
        let of_root = (0..chunks.len()).find(|chunk| chunks.source(*chunk) == tree.root);
        of_root.map_or_else(BTreeSet::new, |chunk| chunks.dests(chunk).collect())
    };
    let wanted: BTreeSet<u32> = tree.dest.map_or_else(all, |dest| BTreeSet::from([dest]));
    let hops = tree.hops.iter().enumerate();
    if tree.adds_up {
        // A reduction is delivered once: when the last data reaches the root.
        let into_root = hops.filter(|(_, hop)| hop.from == tree.root);
        return into_root.max_by_key(|(_, hop)| hop.last).map(|(at, _)| at).into_iter().collect();
    }
    hops.filter(|(_, hop)| wanted.contains(&hop.to)).map(|(at, _)| at).collect()
}

/// Returns the table of the trees of one root of each orbit, latest-ending trees first.
fn tree_table(subject: ExplainedPlan<'_>) -> Result<Table, Unavailable> {
    let epoch_us = subject.result.time.epoch_us;
    let columns = vec![
        Column::counts("tree", "tree"),
        Column::words("root", "root"),
        Column::counts("images", "images").priority(2),
        Column::numbers("bytes", "carries", Unit::new("MB", 1e-6, Some(3))).priority(1),
        Column::counts("deliveries", "deliveries").priority(3),
        Column::counts("depth", "depth").priority(3),
        Column::numbers("first_us", "first delivery", MICROSECONDS).priority(4),
        Column::numbers("finish_us", "finish", MICROSECONDS),
        Column::numbers("slack_us", "slack", MICROSECONDS),
    ];
    let finish = subject.result.claims.finish_epochs;
    let mut rows: Vec<(usize, TimedTree)> = trees(subject)?.into_iter().enumerate().collect();
    let end = |tree: &TimedTree| tree.hops.iter().map(|hop| hop.last).max().unwrap_or(0);
    rows.sort_by_key(|(at, tree)| (std::cmp::Reverse(end(tree)), *at));
    let mut table = Table::new(["tree", "trees"], columns).overview(OVERVIEW).bar(8);
    for (at, tree) in rows {
        let last = end(&tree);
        let first = tree.hops.iter().map(|hop| hop.first).min().unwrap_or(0);
        let decides = last == finish;
        let row = table.row(vec![
            Cell::new(at),
            Cell::new(subject.node(tree.root)),
            Cell::new(tree.images),
            Cell::new(tree.bytes),
            Cell::new(delivering(subject, &tree).len()),
            Cell::new(tree.hops.iter().map(|hop| hop.depth).max().unwrap_or(0)),
            Cell::new(f64::from(first) * epoch_us),
            Cell::new(f64::from(last) * epoch_us).tone(if decides { Tone::Answer } else { Tone::Text }),
            Cell::new(f64::from(finish.saturating_sub(last)) * epoch_us),
        ]);
        row.item = Some(at as u32);
        row.sentence = Phrase::new()
            .answer(format!("> tree {at}"))
            .muted(" of ")
            .text(subject.node(tree.root))
            .text(format!("  finish {} µs", in_groups(f64::from(last) * epoch_us)))
            .muted(format!("  slack {} µs", in_groups(f64::from(finish.saturating_sub(last)) * epoch_us)))
            .muted(format!("  {} MB; {} images", megabytes(tree.bytes), grouped(tree.images as u64)));
        if decides {
            row.mark = "*";
        }
    }
    Ok(table)
}

/// Returns the section on the trees of one root of each orbit.
pub(super) fn chunks(subject: ExplainedPlan<'_>) -> Result<Section, Unavailable> {
    let table = tree_table(subject)?;
    let count: f64 = table.rows.iter().filter_map(|row| row.cells[2].value.as_f64()).sum();
    Ok(Section::new("Chunks", table)
        .context(format!("trees of {}", roots(subject)))
        .answer(Phrase::new().answer(grouped(count as u64)).muted(" trees, images included"))
        .legend("images: equal trees at other roots; finish: last delivery of the tree; slack: from it to the end")
        .remark(FOLDED))
}

/// Returns the section with the hops of a tree.
///
/// # Errors
/// No such tree.
pub(super) fn of_tree(subject: ExplainedPlan<'_>, number: u32) -> Result<Section, Unavailable> {
    let trees = trees(subject)?;
    let Some(tree) = trees.get(number as usize) else {
        let why = format!("tree {number} does not exist");
        return Err(Unavailable::absent(why, "select a tree of the plan"));
    };
    let epoch_us = subject.result.time.epoch_us;
    let columns = vec![
        Column::words("way", "way"),
        Column::numbers("start_us", "first piece starts", MICROSECONDS),
        Column::numbers("first_us", "is usable", MICROSECONDS).priority(1),
        Column::numbers("last_us", "last piece is usable", MICROSECONDS),
    ];
    let finish = subject.result.claims.finish_epochs;
    let mut table = Table::new(["hop", "hops"], columns);
    // Children directly below their parent.
    let mut below: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (at, hop) in tree.hops.iter().enumerate() {
        below.entry(hop.from).or_default().push(at);
    }
    let children = |node: u32| below.get(&node).into_iter().flatten().rev().copied();
    let mut open: Vec<usize> = children(tree.root).collect();
    while let Some(at) = open.pop() {
        if table.rows.len() >= MOST_ROWS {
            break;
        }
        let hop = tree.hops[at];
        let indent = "  ".repeat((hop.depth as usize).saturating_sub(1).min(super::tree::DEEPEST));
        let sign = if tree.adds_up { "←" } else { "→" };
        let tone = if hop.last == finish { Tone::Answer } else { Tone::Text };
        let time = |epoch: u32| Cell::new(f64::from(epoch) * epoch_us);
        table.row(vec![
            Cell::new(format!("{indent}{sign} {}", subject.node(hop.to))).tone(tone),
            time(hop.starts),
            time(hop.first),
            time(hop.last).tone(tone),
        ]);
        open.extend(children(hop.to));
    }
    let pieces = if tree.pieces == 1 { "piece" } else { "pieces" };
    Ok(Section::new(format!("tree {number} of {}", subject.node(tree.root)), table)
        .context(Phrase::new().muted(format!(
            "{} hops, {} {pieces}",
            grouped(tree.hops.len() as u64),
            grouped(u64::from(tree.pieces))
        )))
        .answer(Phrase::new().answer(grouped(tree.images as u64)).muted(" images")))
}

/// Returns the section with the amount of delivered data until each time, over all receivers.
pub(super) fn deliveries(subject: ExplainedPlan<'_>) -> Result<Section, Unavailable> {
    let epoch_us = subject.result.time.epoch_us;
    // The pieces of a hop arrive one after the other, so its deliveries are a ramp: first and last arrival, bytes.
    let mut ramps: Vec<(f64, f64, f64)> = Vec::new();
    for tree in trees(subject)? {
        for at in delivering(subject, &tree) {
            let hop = tree.hops[at];
            let bytes = tree.bytes * tree.images as f64;
            ramps.push((f64::from(hop.first) * epoch_us, f64::from(hop.last) * epoch_us, bytes));
        }
    }
    let begin_us = ramps.iter().map(|ramp| ramp.0).fold(f64::INFINITY, f64::min);
    let end_us = ramps.iter().map(|ramp| ramp.1).fold(0.0, f64::max);
    if ramps.is_empty() {
        return Err(Unavailable::absent("nothing is delivered", "no data has to move"));
    }
    let until = |time_us: f64| -> f64 {
        let share = |&(first, last, bytes): &(f64, f64, f64)| match time_us {
            early if early < first => 0.0,
            late if late >= last => bytes,
            _ => bytes * (time_us - first) / (last - first),
        };
        ramps.iter().map(share).sum()
    };
    let mut times_us: Vec<f64> =
        (0..POINTS).map(|at| begin_us + (end_us - begin_us) * at as f64 / POINTS as f64).collect();
    // The last time is exact, so that the last delivery counts.
    times_us.push(end_us);
    times_us.dedup();
    let mut points: Vec<Point> = times_us.into_iter().map(|at| Point { at, value: until(at) }).collect();
    let columns = vec![
        Column::numbers("time_us", "time", MICROSECONDS),
        Column::numbers("delivered_bytes", "delivered", Unit::GIGABYTES),
    ];
    let mut table = Table::new(["point", "points"], columns).overview(OVERVIEW);
    for point in &points {
        table.row(vec![Cell::new(point.at), Cell::new(point.value)]);
    }
    if begin_us > 0.0 {
        points.insert(0, Point { at: 0.0, value: 0.0 });
    }
    let curve = Curve {
        name: "delivered_bytes".to_owned(),
        label: "delivered".to_owned(),
        unit: Unit::GIGABYTES,
        points,
        tone: Tone::Answer,
        steps: false,
    };
    let curves = until_finish(subject, curve);
    let total = text::number(until(end_us), Unit::GIGABYTES.with_decimals(2));
    Ok(Section::empty("Deliveries")
        .answer(Phrase::new().answer(format!("{total} GB")).muted(" delivered"))
        .context("data at all receivers together")
        .block("curve", "Curve", curves)
        .block("points", "Points", table)
        .remark(FOLDED))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Collective;
    use crate::compose::unfolded;
    use crate::plan::CollectiveResult;
    use crate::report::occupancy;
    use crate::scenario::CollectiveScenario;
    use crate::testing::preset;
    use lightbay_core::checked::downcast;
    use lightbay_core::report::Body;
    use lightbay_core::testing::Ask;

    fn short(name: &str, schedule: &str) -> (CollectiveScenario, CollectiveResult) {
        let scenario = preset(name);
        let typed = [("schedule", schedule), ("most_sends", "0"), ("most_pieces", "4")];
        let ended = Ask::of(&crate::methods::all(), "trees", scenario.clone()).typed(&typed).run();
        let plan = downcast::<Collective>(ended.done.plan.as_ref().unwrap()).unwrap();
        (scenario, plan.plan().result.clone())
    }

    fn table(section: &Section) -> &Table {
        let mut tables = section.blocks.iter().filter_map(|block| match &block.body {
            Body::Table(table) => Some(table),
            _ => None,
        });
        tables.next_back().unwrap()
    }

    fn numbers(table: &Table, column: usize) -> Vec<f64> {
        table.rows.iter().filter_map(|row| row.cells[column].value.as_f64()).collect()
    }

    #[test]
    fn folded_sections_carry_what_the_listed_sections_carry() {
        for (name, schedule) in [
            ("torus3x3-allreduce-1mb", "matching"),
            ("dgx1-allgather-1mb", "list"),
            ("dgx1-allgather-1mb", "periodic"),
        ] {
            let (scenario, result) = short(name, schedule);
            let subject = ExplainedPlan { scenario: &scenario, result: &result };
            let listed = unfolded(&scenario, &result, u64::MAX).unwrap();
            let in_full = ExplainedPlan { scenario: &scenario, result: &listed };
            let folded = links(subject).unwrap();
            let [many, busy] = [2, 4].map(|column| numbers(table(&folded), column));
            assert_eq!(many.iter().sum::<f64>(), scenario.topology.links.len() as f64, "{name}");
            let sum: f64 = many.iter().zip(busy).map(|(links, busy_us)| links * busy_us).sum();
            let expected: f64 = numbers(table(&occupancy::links(in_full)), 3).iter().sum();
            assert!((sum / expected - 1.0).abs() < 1e-6, "{name} {schedule}: {sum} {expected}");

            let trees = chunks(subject).unwrap();
            let last = numbers(table(&trees), 7).into_iter().fold(0.0, f64::max);
            assert!((last / result.claims.finish_us - 1.0).abs() < 1e-9, "{name}: {last}");
            let section = super::occupancy(subject).unwrap();
            assert!(section.blocks.iter().any(|block| matches!(block.body, Body::Spans(_))));
            assert!(of_tree(subject, 0).is_ok() && of_tree(subject, u32::MAX).is_err());
        }
    }

    /// 8 GPUs receive 7 shards of 125 KB each.
    #[test]
    fn all_data_is_delivered_at_the_finish() {
        for schedule in ["list", "periodic"] {
            let (scenario, result) = short("dgx1-allgather-1mb", schedule);
            let section = deliveries(ExplainedPlan { scenario: &scenario, result: &result }).unwrap();
            let points = table(&section);
            let last = points.rows.last().unwrap();
            let [time_us, bytes] = [0, 1].map(|column| last.cells[column].value.as_f64().unwrap());
            assert!((bytes / 7e6 - 1.0).abs() < 1e-6, "{schedule}: {bytes}");
            assert!((time_us / result.claims.finish_us - 1.0).abs() < 1e-9, "{schedule}: {time_us}");
            let amounts = numbers(points, 1);
            assert!(amounts.windows(2).all(|pair| pair[0] <= pair[1]), "{schedule}");
        }
    }
}
