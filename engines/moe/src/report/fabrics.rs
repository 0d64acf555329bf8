//! Networks compared in time, cost and performance per dollar.

use super::{ANALYTIC, ITERATION};
use crate::plan::{FabricKind, MoeResult};
use crate::scenario::MoeScenario;
use crate::schedule::assemble;
use lightbay_core::report::{Cell, Column, Section, Table, Tone, Unit};

const MS: Unit = Unit::new("ms", 1.0, Some(1));
const USD: Unit = Unit::new("$", 1.0, Some(0));

/// The plan beside the networks of the paper and the bound.
pub(super) fn section(scenario: &MoeScenario, plan: Option<&MoeResult>) -> Section {
    let columns = vec![
        Column::words("fabric", "network"),
        Column::numbers("iteration_ms", "iteration", ITERATION.with_decimals(3)),
        Column::numbers("compute_ms", "computing", MS).priority(2),
        Column::numbers("all_to_all_ms", "all-to-alls", MS),
        Column::numbers("stall_ms", "stalls", MS),
        Column::numbers("data_parallel_ms", "gradients", MS).priority(1),
        Column::numbers("to_fat_tree", "to fat-tree", Unit::RATIO),
        Column::numbers("cluster_usd", "cost", USD),
        Column::numbers("performance_per_dollar", "perf. per dollar", Unit::RATIO),
    ];
    let mut table = Table::new(["network", "networks"], columns).bar(1);
    let mut row = |name: &str, result: &MoeResult, tone: Tone| {
        let (time, cost) = (&result.iteration, &result.cost);
        let priced = time.fabric != FabricKind::Pooled;
        let money = |value: f64| if priced { Cell::new(value) } else { Cell::none() };
        table.row(vec![
            Cell::new(name).tone(tone),
            Cell::new(time.iteration_ms).tone(tone),
            Cell::new(time.compute_ms),
            Cell::new(time.all_to_all_ms),
            Cell::new(time.stall_ms).tone(if time.stall_ms > 0.0 { Tone::Bad } else { Tone::Muted }),
            Cell::new(time.data_parallel_ms),
            Cell::new(time.iteration_ms / cost.fat_tree_ms),
            money(cost.cluster_usd),
            money(cost.performance_per_dollar).tone(tone),
        ]);
    };
    if let Some(plan) = plan.filter(|plan| plan.iteration.fabric == FabricKind::Mfabric) {
        row("this plan", plan, Tone::Answer);
    }
    let mut absent = Vec::new();
    for (word, fabric) in FabricKind::ALL.into_iter().filter(|(_, fabric)| *fabric != FabricKind::Mfabric) {
        match assemble::fabric(scenario, fabric) {
            Ok(found) => {
                let tone = if fabric == FabricKind::Pooled { Tone::Muted } else { Tone::Text };
                row(word, &found.result, tone);
            }
            Err(why) => absent.push(format!("{word}: {}.", why.0)),
        }
    }
    let note = format!("Prices: {}.", scenario.prices.note.trim_end_matches('.'));
    let section = Section::new("Networks", table)
        .context("times per micro-batch, but for the iteration and the gradients")
        .remark(ANALYTIC)
        .remark(note)
        .remark("pooled is a bound over all of them: all NICs of a server as one, which also evens out hot experts.")
        .remark(
            "The paper reports TopoOpt 1.4 to 2.5 times slower; this model does not reproduce these ratios.",
        );
    absent.into_iter().fold(section, Section::remark)
}
