//! Networks compared in time, cost and performance per dollar.

use super::{ANALYTIC, ANALYTIC_SHORT, ITERATION, timeline};
use crate::model::cost;
use crate::plan::{FabricKind, MoeResult};
use crate::scenario::MoeScenario;
use crate::schedule::assemble;
use lightbay_core::report::{Cell, Column, Line, Phrase, Row, Section, Table, Tone, Unit};
use std::borrow::Cow;

const MS: Unit = Unit::new("ms", 1.0, Some(1));
const MILLIONS: Unit = Unit::new("M$", 1e-6, Some(2));

/// Parts of the bar of an iteration.
const PARTS: [&str; 4] = ["compute", "all-to-all", "stall", "gradients"];

/// Returns a phrase on the iteration time, the fractions that all-to-alls and stalls take, and the cost of the network.
fn sentence(name: &str, result: &MoeResult) -> Phrase {
    let (time, cost) = (&result.iteration, &result.cost);
    let times = timeline::times(result);
    let share = |part_ms: f64| 100.0 * times * part_ms / time.iteration_ms;
    let phrase = Phrase::new().answer(format!("> {name}  {:.3} s", time.iteration_ms / 1e3)).text(format!(
        "  all-to-alls {:.1} %, stalls {:.1} %",
        share(time.all_to_all_ms),
        share(time.stall_ms)
    ));
    if time.fabric == FabricKind::Pooled {
        return phrase.muted("  a bound for all networks, not a network");
    }
    phrase.muted(format!(
        "  {:.2} M$, {:.2} times the iterations per dollar of a fat-tree",
        cost.cluster_usd / 1e6,
        cost.performance_per_dollar
    ))
}

/// A network with its name and the plan of the scenario for this network.
type PricedFabric<'a> = (&'a str, Cow<'a, MoeResult>);

/// Returns the networks to compare: the plan (if it has circuits), the networks of the paper and the bound. Also
/// returns the reasons why networks are absent.
fn networks<'a>(scenario: &MoeScenario, plan: Option<&'a MoeResult>) -> (Vec<PricedFabric<'a>>, Vec<String>) {
    let own = plan.filter(|plan| plan.iteration.fabric == FabricKind::Mfabric);
    let mut found: Vec<PricedFabric<'a>> =
        own.map(|plan| ("this plan", Cow::Borrowed(plan))).into_iter().collect();
    let mut absent = Vec::new();
    for (word, fabric) in FabricKind::ALL.into_iter().filter(|(_, fabric)| *fabric != FabricKind::Mfabric) {
        // The method and all titles have a hyphen.
        let word = if fabric == FabricKind::FatTree { "fat-tree" } else { word };
        match assemble::fabric(scenario, fabric) {
            Ok(other) => found.push((word, Cow::Owned(other.result))),
            Err(why) => absent.push(format!("{word}: {}.", why.0)),
        }
    }
    (found, absent)
}

/// Returns the bound for all networks with experts in blocks, drawn as a line through the bars; `None` if the bound is
/// unknown.
fn bound(networks: &[PricedFabric<'_>]) -> Option<Line> {
    let pooled = networks.iter().find(|(_, result)| result.iteration.fabric == FabricKind::Pooled)?;
    let (name, label) = ("pooled_ms".to_owned(), "pooled, a bound for all networks".to_owned());
    Some(Line { name, label, value: pooled.1.iteration.iteration_ms })
}

/// Returns the row of a network. The parts of a bar add up to the iteration time, so each part of a micro-batch is
/// multiplied by the number of times that the iteration waits for a micro-batch.
fn row(network: &PricedFabric<'_>, cells: Vec<Cell>) -> Row {
    let (name, result) = network;
    let (time, times) = (&result.iteration, timeline::times(result));
    let parts = vec![
        times * (time.compute_ms + time.tensor_parallel_ms),
        times * time.all_to_all_ms,
        times * time.stall_ms,
        time.data_parallel_ms,
    ];
    Row { parts, ..Row::new(cells).sentence(sentence(name, result)) }
}

/// Returns the tone for the figures of a network.
fn tone(result: &MoeResult) -> Tone {
    match result.iteration.fabric {
        FabricKind::Mfabric => Tone::Answer,
        FabricKind::Pooled => Tone::Muted,
        _ => Tone::Text,
    }
}

/// Returns the iteration time divided by the iteration time of a fat-tree.
fn to_fat_tree(result: &MoeResult) -> f64 {
    result.iteration.iteration_ms / result.cost.fat_tree_ms
}

/// Returns the tone for the iteration time of a network, which marks a plan that is slower than a fat-tree.
fn tone_of_time(result: &MoeResult) -> Tone {
    let is_slower = result.iteration.fabric == FabricKind::Mfabric && to_fat_tree(result) > 1.0;
    if is_slower { Tone::Bad } else { tone(result) }
}

/// Returns a cell with a cost; it is empty for a bound.
fn money(result: &MoeResult, value: f64) -> Cell {
    if result.iteration.fabric == FabricKind::Pooled {
        Cell::none()
    } else {
        Cell::new(value).tone(tone(result))
    }
}

/// Returns the table of the networks as bars with their cost.
pub(super) fn bars(scenario: &MoeScenario, plan: &MoeResult) -> Table {
    let columns = vec![
        Column::words("fabric", "network"),
        Column::numbers("iteration_ms", "iteration", ITERATION.with_decimals(3)),
        Column::numbers("cluster_usd", "cost", MILLIONS).priority(3),
        Column::numbers("performance_per_dollar", "per dollar", Unit::RATIO.with_decimals(2)).priority(3),
    ];
    let (networks, _) = networks(scenario, Some(plan));
    let mut table = Table::new(["network", "networks"], columns).bar(1).parts(&PARTS).limit(bound(&networks));
    for network in &networks {
        let (name, result) = network;
        let (time, cost, tone) = (&result.iteration, &result.cost, tone(result));
        table.push(row(
            network,
            vec![
                Cell::new(*name).tone(tone),
                Cell::new(time.iteration_ms).tone(tone_of_time(result)),
                money(result, cost.cluster_usd),
                money(result, cost.performance_per_dollar),
            ],
        ));
    }
    table
}

/// Returns the section that compares the plan with the networks of the paper and the bound.
pub(super) fn section(scenario: &MoeScenario, plan: Option<&MoeResult>) -> Section {
    let columns = vec![
        Column::words("fabric", "network"),
        Column::numbers("iteration_ms", "iteration", ITERATION.with_decimals(3)),
        Column::numbers("compute_ms", "computing", MS).priority(6),
        Column::numbers("all_to_all_ms", "all-to-alls", MS).priority(5),
        Column::numbers("stall_ms", "stalls", MS).priority(4),
        Column::numbers("data_parallel_ms", "gradients", MS).priority(6),
        Column::numbers("to_fat_tree", "to fat-tree", Unit::RATIO.with_decimals(3)).priority(3),
        Column::numbers("cluster_usd", "cost", MILLIONS),
        Column::numbers("performance_per_dollar", "per dollar", Unit::RATIO.with_decimals(2)),
    ];
    // On screens, a table of its own shows cost and performance per dollar.
    let timed = columns.len() - 2;
    let (networks, absent) = networks(scenario, plan);
    let mut table = Table::new(["network", "networks"], columns).bar(1).parts(&PARTS).limit(bound(&networks));
    let worth = vec![
        Column::words("fabric", "network"),
        Column::numbers("performance_per_dollar", "per dollar", Unit::RATIO.with_decimals(2)),
    ];
    let mut worth = Table::new(["network", "networks"], worth).bar(1);
    let prices = vec![Column::words("fabric", "network"), Column::numbers("cluster_usd", "cost", MILLIONS)];
    let mut prices = Table::new(["network", "networks"], prices).bar(1).parts(&cost::PARTS);
    let least_ms = bound(&networks).map(|line| line.value);
    let excess = vec![
        Column::words("fabric", "network"),
        Column::numbers("above_ms", "above", MS),
        Column::numbers("above", "above", Unit::PERCENT),
    ];
    let mut excess = Table::new(["network", "networks"], excess).bar(1);
    for network in &networks {
        let (name, result) = network;
        let (time, cost, tone) = (&result.iteration, &result.cost, tone(result));
        if let Some(least_ms) = least_ms.filter(|_| time.fabric != FabricKind::Pooled) {
            let above_ms = time.iteration_ms - least_ms;
            let cells = vec![
                Cell::new(*name).tone(tone),
                Cell::new(above_ms).tone(tone),
                Cell::new(above_ms / least_ms).tone(tone),
            ];
            excess.row(cells).sentence = sentence(name, result);
        }
        let stalls = if time.stall_ms > 0.0 { Tone::Bad } else { Tone::Muted };
        let priced = [money(result, cost.cluster_usd), money(result, cost.performance_per_dollar)];
        if time.fabric != FabricKind::Pooled {
            let mut cells = vec![Cell::new(*name).tone(tone)];
            cells.push(priced[1].clone());
            worth.row(cells).sentence = sentence(name, result);
            let servers = f64::from(scenario.cluster.servers);
            let parts = cost::server_parts(scenario, time.fabric);
            let row = prices.row(vec![Cell::new(*name).tone(tone), priced[0].clone()]);
            row.sentence = sentence(name, result);
            row.parts = parts.map_or_else(Vec::new, |parts| parts.map(|part| servers * part).to_vec());
        }
        let mut cells = vec![
            Cell::new(*name).tone(tone),
            Cell::new(time.iteration_ms).tone(tone_of_time(result)),
            Cell::new(time.compute_ms),
            Cell::new(time.all_to_all_ms),
            Cell::new(time.stall_ms).tone(stalls),
            Cell::new(time.data_parallel_ms),
            Cell::new(to_fat_tree(result)).tone(tone_of_time(result)),
        ];
        cells.extend(priced);
        table.push(row(network, cells));
    }
    let mut times = table.clone();
    times.columns.truncate(timed);
    for row in &mut times.rows {
        row.cells.truncate(timed);
    }
    let note = format!("Prices: {}.", scenario.prices.note.trim_end_matches('.'));
    let best = networks.iter().find(|(_, result)| result.iteration.fabric != FabricKind::Pooled);
    let answer = best.map_or_else(Phrase::new, |(name, result)| {
        let more = to_fat_tree(result) - 1.0;
        let phrase = Phrase::new().muted(format!("{name}: "));
        let phrase = if result.iteration.fabric == FabricKind::FatTree {
            phrase
        } else {
            let tone = if more > 0.0 { Tone::Bad } else { Tone::Good };
            phrase.with(format!("{:+.1} %", 100.0 * more), tone).muted(" time, ")
        };
        phrase
            .answer(format!("{:.2} x", result.cost.performance_per_dollar))
            .muted(" per dollar, against fat-tree")
    });
    let section = Section::empty("Networks")
        .subject(ANALYTIC_SHORT)
        .answer(answer)
        .block("networks", "An iteration", table)
        .only_written()
        .on_screens("times", "An iteration", times)
        .on_screens("above", "Time above pooled, a bound for all networks", excess)
        .on_screens("prices", "Cost of the parts", prices)
        .on_screens("worth", "Iterations per dollar, fat-tree = 1", worth)
        .remark(ANALYTIC)
        .remark("Times of a micro-batch; the columns iteration and gradients are times of an iteration.")
        .remark(note)
        .remark(
            "pooled is a bound for all networks with experts in blocks: it treats all NICs of a server as one, which also \
             spreads the traffic of busy experts evenly.",
        )
        .remark(
            "The paper reports that TopoOpt is 1.4 to 2.5 times slower than mFabric; this model does not reproduce these ratios.",
        );
    let section = if scenario.regions() > 1 {
        section.context("times of region 0; Regions has the others")
    } else {
        section
    };
    absent.into_iter().fold(section, Section::remark)
}
