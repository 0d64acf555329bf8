//! Comparison of the plan with circuits that follow from the traffic matrix alone.

use crate::analysis::{Analysis, Setting};
use crate::plan::RateControl;
use crate::search::baselines::Baseline;
use crate::simulate::evaluate::{Rates, Scratch};
use lightbay_core::quantity;
use lightbay_core::report::{Cell, Column, Section, Table, Tone, Unit};

/// An allocation or network with which the plan is compared.
struct Other {
    what: String,
    makespan_s: f64,
    circuits: Option<Vec<u32>>,
}

/// Circuits and makespans of allocations from the traffic matrix.
fn baselines(setting: &Setting) -> Vec<Other> {
    let evaluator = &setting.evaluator;
    let mut scratch = Scratch::default();
    let of = |baseline: Baseline| {
        let circuits = baseline.allocate(&evaluator.network);
        let makespan_s = evaluator.makespan(&circuits, Rates::Fair, &mut scratch);
        let what = format!("{}, max-min fair rates", baseline.name());
        Other { what, makespan_s, circuits: Some(circuits) }
    };
    Baseline::ALL.into_iter().map(of).collect()
}

/// One sentence that compares a plan with the best allocation from the traffic matrix. `None` if this allocation has no
/// finite positive makespan, or if NCT is undefined.
pub(crate) fn lead(analysis: &Analysis) -> Option<String> {
    let makespan_s = analysis.makespan_s;
    let best =
        baselines(&analysis.setting).into_iter().min_by(|a, b| a.makespan_s.total_cmp(&b.makespan_s))?;
    if best.makespan_s <= 0.0 || !best.makespan_s.is_finite() {
        return None;
    }
    let ideal = &analysis.setting.evaluator.ideal;
    let (nct, own) = (ideal.nct(best.makespan_s)?, ideal.nct(makespan_s)?);
    let saved_s = best.makespan_s - makespan_s;
    if saved_s.abs() <= 1e-9 * makespan_s {
        return Some(format!(
            "The best allocation from the traffic matrix, {}, gives the same iteration time, so this plan gains nothing over it.",
            best.what
        ));
    }
    let word = if saved_s > 0.0 { "less" } else { "more" };
    Some(format!(
        "The iteration takes {} ms {word} than with the best allocation from the traffic matrix ({}: {:.6} s, NCT {nct:.4}), a change of {} in NCT.",
        quantity::number((saved_s.abs() * 1e6).round() / 1e3),
        best.what,
        best.makespan_s,
        quantity::percent((((nct - own) / nct).abs() * 1e4).round() / 1e4)
    ))
}

pub(super) fn section(analysis: &Analysis) -> Section {
    let evaluator = &analysis.setting.evaluator;
    let makespan_s = analysis.makespan_s;
    let own = || Some(analysis.circuits.clone());
    let ideal_s = evaluator.ideal.makespan();
    let mut rows =
        vec![Other { what: "ideal network (NICs alone)".to_owned(), makespan_s: ideal_s, circuits: None }];
    rows.push(Other { what: "this plan".to_owned(), makespan_s, circuits: own() });
    if analysis.rate_control == RateControl::Joint {
        let what = "circuits of this plan, max-min fair rates".to_owned();
        rows.push(Other { what, makespan_s: analysis.fair_makespan_s, circuits: own() });
    }
    let mut simple = baselines(&analysis.setting);
    simple.sort_by(|a, b| a.makespan_s.total_cmp(&b.makespan_s));
    rows.extend(simple);
    let columns = vec![
        Column::words("what", "circuits"),
        Column::numbers("makespan_s", "makespan", Unit::SECONDS),
        Column::numbers("nct", "NCT", Unit::RATIO.with_decimals(4)),
        Column::numbers("later_s", "against this plan", Unit::MILLISECONDS),
        Column::numbers("later_share", "of its time", Unit::PERCENT),
        Column::counts("ports", "ports"),
        Column::words("circuits_by_link", "by link"),
    ];
    let mut table = Table::new(["set of circuits", "sets of circuits"], columns);
    for other in rows {
        let later_s = other.makespan_s - makespan_s;
        let later_s = if later_s.abs() <= 1e-9 * makespan_s { 0.0 } else { later_s };
        let tone = if other.what == "this plan" { Tone::Answer } else { Tone::Text };
        let by_link = |circuits: &Vec<u32>| circuits.iter().map(u32::to_string).collect::<Vec<_>>().join(" ");
        table.row(vec![
            Cell::new(other.what),
            Cell::new(other.makespan_s).tone(tone),
            evaluator.ideal.nct(other.makespan_s).map_or_else(Cell::none, Cell::new),
            Cell::new(later_s),
            Cell::new(later_s / makespan_s),
            other
                .circuits
                .as_ref()
                .map_or_else(Cell::none, |circuits| Cell::new(evaluator.network.budget.total(circuits))),
            Cell::new(other.circuits.as_ref().map_or_else(|| "without limit".to_owned(), by_link)),
        ]);
    }
    Section::new("Other circuits", table).remark(
        "NCT is the normalised completion time: 1 on the ideal network, where only NICs limit transfers; 2 if all \
         communication on its critical path took twice as long. The last column lists circuits in link order.",
    )
}
