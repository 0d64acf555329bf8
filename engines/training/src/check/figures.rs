//! Figures that compare a plan with the ideal network.

use super::case::Case;
use super::nics::NicGroup;
use super::replay::replay;
use super::walk::critical_communication_s;
use super::{Findings, Slack, code};
use crate::plan::TrainingResult;
use lightbay_core::checked::Figure;

/// Checks the ideal makespan and NCT; `end_s` is the end of the schedule, if it is complete.
pub(super) fn ideal(
    case: &Case<'_>,
    nics: &[NicGroup],
    result: &TrainingResult,
    end_s: Option<f64>,
    slack: Slack,
    figures: &mut Vec<Figure>,
    found: &mut Findings,
) {
    let Some(run) = replay(case, nics, None) else {
        found.add(
            code::SCENARIO,
            "the ideal network cannot be simulated, because times exceed the range of numbers",
        );
        return;
    };
    let ideal_s = run.makespan_s;
    if !slack.same_end(result.ideal_makespan_s, ideal_s) {
        found.add(
            code::NCT,
            format!(
                "'ideal_makespan_s' is {:.9}, but the ideal network gives {ideal_s:.9} s",
                result.ideal_makespan_s
            ),
        );
    }
    figures.push(about("ideal_makespan_s", ideal_s, slack.makespan_s));
    let communication_s = critical_communication_s(case, &run).filter(|length_s| *length_s > 0.0);
    let (Some(communication_s), Some(end_s)) = (communication_s, end_s) else {
        if communication_s.is_none() && result.nct.is_some() {
            found.add(code::NCT, "'nct' is given, but the job has no communication");
        }
        return;
    };
    figures.push(about("comm_ideal_s", communication_s, slack.makespan_s));
    let nct = 1.0 + (end_s - ideal_s) / communication_s;
    // The error of NCT is the error of the makespan divided by the communication time.
    let error = nct_error(slack, communication_s);
    figures.push(about("nct", nct, error));
    match result.nct {
        None => found.add(code::NCT, format!("'nct' is missing, but the schedule gives {nct:.9}")),
        Some(claimed) if (claimed - nct).abs() > error => {
            found.add(code::NCT, format!("'nct' is {claimed:.9}, but the schedule gives {nct:.9}"));
        }
        Some(_) => {}
    }
}

/// Returns the maximum error of an NCT that rounding can cause.
pub(super) fn nct_error(slack: Slack, communication_s: f64) -> f64 {
    slack.makespan_s / communication_s + f64::EPSILON
}

fn about(name: &'static str, value: f64, error: f64) -> Figure {
    Figure { name, code: code::NCT, least: value - error, most: value + error }
}
