//! The plan beside what simpler circuits reach, computed from the scenario.

use super::super::facts::Facts;
use super::s;
use crate::plan::RateControl;
use crate::search::baselines::Baseline;
use crate::simulate::evaluate::{Rates, Scratch};
use lightbay_core::quantity;
use lightbay_formats::markdown::Document;

/// A row of the comparison.
struct Row {
    what: String,
    makespan_s: f64,
    circuits: Option<Vec<u32>>,
}

fn baselines(facts: &Facts) -> Vec<Row> {
    let evaluator = &facts.setting().evaluator;
    let mut scratch = Scratch::default();
    Baseline::ALL
        .into_iter()
        .map(|baseline| {
            let circuits = baseline.allocate(&evaluator.network);
            let makespan_s = evaluator.makespan(&circuits, Rates::Fair, &mut scratch);
            Row {
                what: format!("`{}`, max-min fair rates", baseline.name()),
                makespan_s,
                circuits: Some(circuits),
            }
        })
        .collect()
}

/// How the plan stands to the best allocation from the traffic matrix, in one sentence.
pub(super) fn lead(facts: &Facts) -> Option<String> {
    let makespan_s = facts.explained()?.analysis.makespan_s;
    let best = baselines(facts).into_iter().min_by(|a, b| a.makespan_s.total_cmp(&b.makespan_s))?;
    if best.makespan_s <= 0.0 || !best.makespan_s.is_finite() {
        return None;
    }
    let ideal = &facts.setting().evaluator.ideal;
    let (nct, own) = (ideal.nct(best.makespan_s)?, ideal.nct(makespan_s)?);
    let saved_s = best.makespan_s - makespan_s;
    if saved_s.abs() <= 1e-9 * makespan_s {
        return Some(format!(
            "The best allocation from the traffic matrix, {}, takes as long: the choice of circuits is not what limits \
             this job.",
            best.what
        ));
    }
    let word = if saved_s > 0.0 { "less" } else { "more" };
    Some(format!(
        "That is {} ms {word} than the best allocation from the traffic matrix ({}: {} s, NCT {nct:.4}), {} of its NCT.",
        quantity::number((saved_s.abs() * 1e6).round() / 1e3),
        best.what,
        s(best.makespan_s),
        quantity::percent((((nct - own) / nct).abs() * 1e4).round() / 1e4)
    ))
}

pub(super) fn write(document: &mut Document, facts: &Facts) {
    let Some(plan) = facts.explained() else { return };
    let ideal = &facts.setting().evaluator.ideal;
    let budget = &facts.network().budget;
    let makespan_s = plan.analysis.makespan_s;
    let own = Some(plan.analysis.circuits.clone());
    let mut rows = vec![Row {
        what: "ideal network (NICs alone)".to_owned(),
        makespan_s: ideal.makespan(),
        circuits: None,
    }];
    rows.push(Row { what: "**this plan**".to_owned(), makespan_s, circuits: own.clone() });
    if plan.analysis.rate_control == RateControl::Joint {
        let fair_s = plan.analysis.fair_makespan_s;
        rows.push(Row {
            what: "its circuits, max-min fair rates".to_owned(),
            makespan_s: fair_s,
            circuits: own,
        });
    }
    let mut simple = baselines(facts);
    simple.sort_by(|a, b| a.makespan_s.total_cmp(&b.makespan_s));
    rows.extend(simple);
    let cells: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            let later_s = row.makespan_s - makespan_s;
            let change = if later_s.abs() <= 1e-9 * makespan_s {
                "0".to_owned()
            } else {
                format!("{:+.3} ms, {:+.2} %", later_s * 1e3, later_s / makespan_s * 100.0)
            };
            let nct = ideal.nct(row.makespan_s);
            let circuits = row.circuits.as_ref();
            let list =
                |circuits: &Vec<u32>| circuits.iter().map(u32::to_string).collect::<Vec<_>>().join(" ");
            vec![
                row.what.clone(),
                s(row.makespan_s),
                nct.map_or_else(|| "–".to_owned(), |nct| format!("{nct:.4}")),
                change,
                circuits.map_or_else(|| "–".to_owned(), |circuits| budget.total(circuits).to_string()),
                circuits.map_or_else(|| "without limit".to_owned(), list),
            ]
        })
        .collect();
    document.table(&["circuits", ">makespan s", ">NCT", ">against this plan", ">ports", "by link"], &cells);
    document.paragraph(
        "*NCT*: normalised completion time, 1 on the ideal network, where only NICs limit transfers; 2 if all\n\
         communication on its critical path took twice as long. Circuits *by link* stand in the order of the table of circuits.",
    );
}
