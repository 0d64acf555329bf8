//! Bandwidth by buffer size: floor, trees and baselines for the sizes that the scenario lists, by default from 1 KB to
//! 1 GB.

use super::ExplainedPlan;
use crate::floors::proof::floors_of_sizes;
use crate::model::task::{CollectiveTask, CollectiveTasks};
use crate::plan::SizeRange;
use crate::scenario::network::LinkNetwork;
use crate::scenario::{CollectiveScenario, CollectiveSort, EpochRule, TimeRule};
use crate::search::baselines::{FixedWays, by_fixed_ways};
use crate::trees::library::TreeEffort;
use crate::trees::parts::TreeParts;
use lightbay_core::clock::Deadline;
use lightbay_core::problem::Problems;
use lightbay_core::quantity::grouped;
use lightbay_core::report::{
    Cell, Column, Curve, Curves, Facts, Mark, Phrase, Point, Section, Table, Tone, Unavailable, Unit, text,
};
use lightbay_core::watch::Unwatched;

const MICROSECONDS: Unit = Unit::new("µs", 1.0, Some(3));
const GBYTE_PER_S: Unit = Unit::new("GB/s", 1.0, Some(3));
const BYTES: Unit = Unit::new("bytes", 1.0, None);

/// Number of default buffer sizes: the first is 1 KB, and each is twice the size before.
const SIZES: i32 = 21;
/// Maximum number of deliveries for which the report computes trees, and baselines for every size.
const MOST_DELIVERIES: usize = 1_024;
/// Maximum distance of the sizes for which baselines are computed if there are more deliveries.
const MOST_STEP: usize = 8;
/// Search effort for each size; small, because these computations run while a user waits.
const EFFORT: [u64; 2] = [5_000, 50_000];

/// A curve by size: key, title, and the time for each size, µs.
type Times = (&'static str, &'static str, Vec<Option<f64>>);

/// Returns the section with the bandwidth of schedules by buffer size, and the upper limit that the floor gives.
pub(super) fn sizes(
    scenario: &CollectiveScenario,
    plan: Option<ExplainedPlan<'_>>,
    deadline: Deadline,
) -> Result<Section, Unavailable> {
    if !scenario.demand.collective.is_named() {
        let remedy = "use a named collective, such as all_gather";
        return Err(Unavailable::absent("buffer sizes apply only to named collectives", remedy));
    }
    let wrong = |problems: Problems| match problems.list().first() {
        Some(first) => {
            Unavailable::absent(format!("{}: {}", first.path, first.message), first.remedy.clone())
        }
        None => Unavailable::failed(&problems),
    };
    let listed_sizes = &scenario.demand.sizes_bytes;
    let sizes: Vec<f64> = if listed_sizes.is_empty() {
        // The size of the scenario is a point of every curve, so that its plan can be compared.
        let mut sizes: Vec<f64> = (0..SIZES).map(|step| 1e3 * 2_f64.powi(step)).collect();
        sizes.extend(scenario.demand.output_buffer_bytes);
        sizes.sort_by(f64::total_cmp);
        sizes.dedup();
        sizes
    } else {
        listed_sizes.iter().map(|bytes| *bytes as f64).collect()
    };
    let tasks = CollectiveTasks::in_pieces(scenario, None, 1, 0.0).map_err(wrong)?;
    let Some(floors) = floors_of_sizes(scenario, &tasks, &sizes) else {
        return Err(Unavailable::absent(
            "no lower bound could be computed exactly",
            "use rates with fewer digits",
        ));
    };
    let ranges = plan.map_or(&[][..], |plan| &plan.result.ranges);
    // The plan may state larger floors, from growing cuts.
    let points = || ranges.iter().flat_map(|range| &range.points);
    let stated = |bytes: f64| {
        let point = points().find(|point| point.output_buffer_bytes as f64 == bytes);
        point.and_then(|point| point.floor.as_ref()).map_or(0.0, |floor| floor.floor_us)
    };
    let floor_us = floors
        .iter()
        .zip(&sizes)
        .map(|(floors, bytes)| Some(floors.with_latency.floor_us.max(stated(*bytes))));
    // The bound of the header omits the latencies that an epoch covers.
    let omits = plan.map_or(scenario.time.alpha_threshold, |plan| plan.result.time.alpha_threshold) > 0.0;
    let bound = if omits { "bound on replay" } else { "bound" };
    let mut curves: Vec<Times> = vec![("floor", bound, floor_us.collect())];
    let deliveries: usize = tasks.deliveries();
    let mut pieces = vec![None; sizes.len()];
    if deliveries <= MOST_DELIVERIES {
        curves.extend(trees(scenario, &tasks, &sizes, &mut pieces, deadline));
    }
    // With more deliveries, baselines of fewer sizes.
    let every = deliveries.div_ceil(MOST_DELIVERIES).max(1);
    let has_baselines = every <= MOST_STEP;
    for (ways, name) in [
        (FixedWays::Ring, "ring"),
        (FixedWays::ShortestPaths, "shortest path"),
        (FixedWays::SingleTree, "single tree"),
    ] {
        if has_baselines {
            let time = |(at, bytes): (usize, &f64)| {
                let is_timed = at.is_multiple_of(every);
                is_timed.then(|| baseline(scenario, *bytes, ways, deadline)).flatten()
            };
            curves.push((name, name, sizes.iter().enumerate().map(time).collect()));
        }
    }
    if !ranges.is_empty() {
        let time = |bytes: &f64| {
            points().find(|point| point.output_buffer_bytes as f64 == *bytes).map(|point| point.finish_us)
        };
        // The curve of the plan is listed directly after the curve of the floor, so that narrow screens still show it.
        curves.insert(1, ("plan", "this plan", sizes.iter().map(time).collect()));
    }
    let mut legend = format!("{bound}: no schedule is faster; times without epochs");
    if omits {
        legend.push_str(" and with every latency");
    }
    if !crossovers(&curves, &sizes).is_empty() {
        legend.push_str("; dotted vertical line: another schedule becomes the fastest");
    }
    let most = [MOST_DELIVERIES, MOST_DELIVERIES * MOST_STEP].map(|most| grouped(most as u64));
    let baselines =
        if has_baselines { String::new() } else { format!(", baselines for at most {}", most[1]) };
    let missing = format!("trees are computed for at most {} deliveries{baselines}", most[0]);
    if deliveries > MOST_DELIVERIES {
        legend = format!("{legend}; {missing}");
    }
    let mut section = Section::empty("Bandwidth by size")
        .legend(legend)
        .block("curves", "Bandwidth", drawn(&curves, &sizes, scenario, plan))
        .block("points", "Points", listed(&curves, &sizes, &pieces))
        .remark(
            "The bound is the bandwidth at the lower bound on the completion time with every latency; no schedule, for \
             any chunking, has a higher bandwidth. Times of baselines are computed without epochs.",
        );
    if let Some(point) = point_of(scenario, plan) {
        let rate = text::number(point.value, GBYTE_PER_S.with_decimals(1));
        section =
            section.answer(Phrase::new().answer(format!("{rate} GB/s")).muted(format!(" {}", name_of(plan))));
    }
    let planned: usize = ranges.iter().map(|range| range.points.len()).sum();
    if plan.is_some() && planned < listed_sizes.len() {
        section = section
            .remark(format!("The run ended when {planned} of {} sizes were planned.", listed_sizes.len()));
    }
    if ranges.is_empty() {
        let mut facts = Facts::new();
        facts.add("ranges", "schedules by size", "none: parameter sizes plans several sizes");
        section = section.on_screens("ranges", "", facts);
    } else {
        section = section.block("ranges", "Schedules by size", range_table(ranges));
    }
    if deliveries > MOST_DELIVERIES {
        section = section
            .remark(format!("In this section, {missing}; solve with method trees or ring to see them."));
    } else if deadline.is_over() {
        section = section.remark("The time limit was reached before all points were computed.");
    }
    Ok(section)
}

/// Returns the completion time of a baseline in a replay without epochs, µs; `None` if the deadline is over, or if the
/// paths do not exist.
fn baseline(scenario: &CollectiveScenario, bytes: f64, ways: FixedWays, deadline: Deadline) -> Option<f64> {
    if deadline.is_over() {
        return None;
    }
    let mut sized = scenario.sized(bytes);
    // A fixed epoch fits one size; with other sizes it could give billions of epochs. Replays do not use epochs.
    if sized.time.epoch == EpochRule::Fixed {
        sized.time =
            TimeRule { epoch: EpochRule::FastestLink, epoch_us: None, epoch_multiplier: 1.0, ..sized.time };
    }
    let mut tasks = CollectiveTasks::of(&sized, None).ok()?;
    if ways == FixedWays::ShortestPaths {
        tasks = tasks.one_by_one();
    }
    let replay = |task: &CollectiveTask| {
        let schedule = by_fixed_ways::<_, ()>(task, ways, &mut Unwatched::default()).ok()??;
        Some(schedule.replay_us(task)).filter(|us| us.is_finite())
    };
    tasks.tasks.iter().map(replay).sum()
}

/// Returns the completion times of schedules along trees for each size, and writes the number of pieces of each rank to
/// `pieces`. `None` if trees do not apply to the scenario, or if the deadline is over.
fn trees(
    scenario: &CollectiveScenario,
    tasks: &CollectiveTasks,
    sizes: &[f64],
    pieces: &mut [Option<u32>],
    deadline: Deadline,
) -> Option<Times> {
    let demand = &scenario.demand;
    let sort = demand.collective;
    let spreads =
        matches!(sort, CollectiveSort::AllGather | CollectiveSort::ReduceScatter | CollectiveSort::AllReduce);
    let timed = scenario.topology.links.iter().any(|link| !link.up_us.is_empty());
    if !spreads || !demand.copy || timed || deadline.is_over() {
        return None;
    }
    let ranks = demand.rank_nodes(&scenario.topology);
    let networks: Vec<LinkNetwork> = tasks.tasks.iter().map(CollectiveTask::for_trees).collect();
    let mut watch = Unwatched::default();
    let parts = TreeParts::new(&networks, &ranks, &ranks);
    let effort = TreeEffort { run_hops: EFFORT[0], all_hops: EFFORT[1], ..TreeEffort::default() };
    let time = |(bytes, pieces): (&f64, &mut Option<u32>)| {
        if deadline.is_over() {
            return None;
        }
        let plan = parts.plan(bytes / ranks.len() as f64, 0.0, &effort, &mut watch).ok()??;
        *pieces = plan.plans.first().map(|plan| plan.sort.pieces());
        Some(plan.finish_us)
    };
    Some(("trees", "trees", sizes.iter().zip(pieces).map(time).collect()))
}

/// Returns the bandwidth of a schedule for a buffer size.
fn bandwidth(bytes: f64, time_us: f64) -> Point {
    Point { at: bytes, value: bytes / time_us / 1000.0 }
}

/// Returns the name of a plan's point: its replay, if it has one, because all times are without epochs.
fn name_of(plan: Option<ExplainedPlan<'_>>) -> &'static str {
    let replay = plan.and_then(|plan| plan.result.claims.replay_us);
    if replay.is_some() { "replay" } else { "this plan" }
}

/// Returns size and bandwidth of a plan for one size; `None` without such a plan.
fn point_of(scenario: &CollectiveScenario, plan: Option<ExplainedPlan<'_>>) -> Option<Point> {
    let claims = plan.filter(|plan| plan.result.ranges.is_empty()).map(|plan| &plan.result.claims)?;
    let bytes = scenario.demand.output_buffer_bytes.filter(|_| claims.finish_us > 0.0)?;
    Some(bandwidth(bytes, claims.replay_us.unwrap_or(claims.finish_us)))
}

fn drawn(
    curves: &[Times],
    sizes: &[f64],
    scenario: &CollectiveScenario,
    plan: Option<ExplainedPlan<'_>>,
) -> Curves {
    let curve = |(name, label, times): &Times| Curve {
        name: (*name).to_owned(),
        label: (*label).to_owned(),
        unit: GBYTE_PER_S,
        points: sizes
            .iter()
            .zip(times)
            .filter_map(|(bytes, time_us)| {
                time_us.filter(|time_us| *time_us > 0.0).map(|us| bandwidth(*bytes, us))
            })
            .collect(),
        tone: match *name {
            "floor" => Tone::Muted,
            "plan" => Tone::Answer,
            _ => Tone::Text,
        },
        steps: false,
    };
    // The plan comes first: its label is the last to be omitted.
    let (mut drawn, others): (Vec<Curve>, Vec<Curve>) =
        curves.iter().map(curve).partition(|curve| curve.name == "plan");
    // A plan of one size is drawn as a single point.
    if let Some(point) = point_of(scenario, plan) {
        drawn.push(Curve {
            name: "plan".to_owned(),
            label: name_of(plan).to_owned(),
            unit: GBYTE_PER_S,
            points: vec![point],
            tone: Tone::Answer,
            steps: false,
        });
    }
    drawn.extend(others);
    Curves {
        marks: crossovers(curves, sizes),
        axis: "size_bytes",
        axis_knob: if is_sized(scenario) { "output_buffer_bytes" } else { "" },
        axis_label: "buffer",
        axis_unit: BYTES,
        axis_is_log: true,
        values_are_log: true,
        curves: drawn,
        ..Curves::default()
    }
}

/// Returns `true` if the scenario has one buffer size, which a parameter sets.
fn is_sized(scenario: &CollectiveScenario) -> bool {
    scenario.demand.output_buffer_bytes.is_some() && scenario.demand.sizes_bytes.is_empty()
}

/// Returns marks at the sizes from which another schedule is the fastest, each with the name of its curve; the curve of
/// the floor is ignored.
fn crossovers(curves: &[Times], sizes: &[f64]) -> Vec<Mark> {
    let fastest = |at: usize| {
        let schedules = curves.iter().filter(|(name, ..)| *name != "floor");
        let timed = schedules.filter_map(|(_, label, times)| Some((*label, times[at]?)));
        timed.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(label, _)| label)
    };
    let mut marks: Vec<Mark> = Vec::new();
    let mut before = None;
    for (at, bytes) in sizes.iter().enumerate() {
        let now = fastest(at);
        if let Some(name) = now.filter(|_| now != before) {
            marks.push(Mark { at: *bytes, name: name.to_owned() });
            before = now;
        }
    }
    // At the smallest size nothing changes.
    marks.retain(|mark| sizes.first() != Some(&mark.at));
    marks
}

fn listed(curves: &[Times], sizes: &[f64], pieces: &[Option<u32>]) -> Table {
    let mut columns = vec![Column::numbers("size_bytes", "size", BYTES)];
    columns.extend(curves.iter().map(|(name, label, _)| match *name {
        "floor" => Column::numbers("floor_us", *label, MICROSECONDS),
        "trees" => Column::numbers("trees_us", *label, MICROSECONDS),
        "ring" => Column::numbers("ring_us", *label, MICROSECONDS),
        "plan" => Column::numbers("plan_us", *label, MICROSECONDS),
        "shortest path" => Column::numbers("shortest_path_us", *label, MICROSECONDS),
        _ => Column::numbers("single_tree_us", *label, MICROSECONDS),
    }));
    columns.push(Column::counts("pieces", "pieces of trees"));
    let mut table = Table::new(["size", "sizes"], columns).overview(sizes.len());
    for (at, bytes) in sizes.iter().enumerate() {
        let mut row = vec![Cell::new(*bytes)];
        row.extend(curves.iter().map(|(_, _, times)| times[at].map_or_else(Cell::none, Cell::new)));
        row.push(pieces[at].map_or_else(Cell::none, Cell::new));
        table.row(row);
    }
    table
}

/// Returns the table of the ranges of a plan, with the type of their schedules.
fn range_table(ranges: &[SizeRange]) -> Table {
    let columns = vec![
        Column::numbers("min_bytes", "from", BYTES),
        Column::numbers("max_bytes", "to", BYTES),
        Column::numbers("planned_for_bytes", "planned for", BYTES),
        Column::counts("sizes", "sizes"),
        Column::counts("pieces", "pieces of a chunk"),
        Column::counts("sends", "sends"),
        Column::numbers("least_gap_to_floor", "above the floor", Unit::PERCENT),
        Column::numbers("most_gap_to_floor", "at most", Unit::PERCENT),
    ];
    let mut table = Table::new(["range", "ranges"], columns).overview(ranges.len());
    for range in ranges {
        let floors = || range.points.iter().filter_map(|point| Some((point, point.floor.as_ref()?.floor_us)));
        let gaps = || floors().map(|(point, floor_us)| (point.finish_us / floor_us - 1.0).max(0.0));
        let gap = |of: Option<f64>| of.map_or_else(Cell::none, Cell::new);
        let schedule = &range.schedule;
        let short = schedule.trees.first();
        let pieces = short.map_or(schedule.time.pieces_per_chunk, |trees| trees.pieces_per_tree);
        let sends = if short.is_some() { Cell::none() } else { Cell::new(schedule.sends.len()) };
        table.row(vec![
            Cell::new(range.min_bytes as f64),
            Cell::new(range.max_bytes as f64),
            Cell::new(range.planned_for_bytes as f64),
            Cell::new(range.points.len()),
            Cell::new(pieces),
            sends,
            gap(gaps().reduce(f64::min)),
            gap(gaps().reduce(f64::max)),
        ]);
    }
    table
}
