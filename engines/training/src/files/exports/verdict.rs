//! Sentences on the makespan of a plan and its proof, shared by reports and pictures.

use super::facts::Facts;
use crate::Training;
use lightbay_core::checked::Checked;
use lightbay_core::plan::OPTIMAL_GAP;
use lightbay_core::quantity;

/// Formats seconds with six decimals.
fn s(seconds: f64) -> String {
    format!("{seconds:.6}")
}

/// Returns a sentence on the makespan and the ports of the plan, and a sentence on its proof.
pub(super) fn lines(plan: &Checked<Training>, facts: &Facts) -> Vec<String> {
    let envelope = plan.plan();
    let budget = &facts.network().budget;
    let nct = envelope.result.nct.map_or_else(String::new, |nct| format!(", NCT {nct:.4}"));
    let ideal_s = envelope.result.ideal_makespan_s;
    let above = match facts.setting().evaluator.ideal.in_nct(envelope.objective.value - ideal_s) {
        Some(_) => format!(", {} s more than on the ideal network", s(envelope.objective.value - ideal_s)),
        None => String::new(),
    };
    vec![
        format!(
            "An iteration takes {} s{nct}{above}, with {} of {} ports.",
            s(envelope.objective.value),
            envelope.result.ports_used,
            budget.capacity()
        ),
        proof(plan, facts),
    ]
}

/// Returns a sentence on the proof of the plan; if the plan is not proven optimal, with the possible gain in per cent
/// and in NCT.
fn proof(plan: &Checked<Training>, facts: &Facts) -> String {
    let envelope = plan.plan();
    let value = envelope.objective.value;
    let left = |bound: f64| {
        let share = quantity::gap((value - bound).max(0.0) / value);
        match facts.setting().evaluator.ideal.in_nct((value - bound).max(0.0)) {
            Some(nct) => format!("{share} ({nct:.4} NCT)"),
            None => share,
        }
    };
    let standing = plan.standing();
    let Some(leading) = standing.leading() else {
        let ideal_s = envelope.result.ideal_makespan_s;
        return format!(
            "{} gives no bound. With unlimited circuits an iteration takes {} s, so at most {} can be saved.",
            envelope.method,
            s(ideal_s),
            left(ideal_s)
        );
    };
    let sentence = standing.sentence();
    if leading.gap <= OPTIMAL_GAP {
        sentence
    } else {
        format!("{sentence} At most {} can be saved.", left(leading.value))
    }
}
