//! Figures that compare a plan with the ideal network.

use super::case::Case;
use super::nics::NicGroup;
use super::replay::replay;
use super::walk::critical_communication_s;
use super::{Claims, Findings, code, nearly};
use crate::plan::TrainingResult;

/// Tolerance of the normalised communication time.
pub(super) const CHECK_NCT: f64 = 1e-4;

/// Checks the ideal makespan and NCT; `end_s` is the end of the schedule, if it is complete.
pub(super) fn ideal(
    case: &Case<'_>,
    nics: &[NicGroup],
    result: &TrainingResult,
    claims: &Claims<'_>,
    end_s: Option<f64>,
    found: &mut Findings,
) {
    let Some(run) = replay(case, nics, None) else {
        found.add(code::SCENARIO, "the ideal network cannot be simulated: times leave the range of numbers");
        return;
    };
    let ideal_s = run.makespan_s;
    if !nearly(result.ideal_makespan_s, ideal_s) {
        found.add(
            code::NCT,
            format!(
                "'ideal_makespan_s' is {:.9}, network cards alone allow {ideal_s:.9} s",
                result.ideal_makespan_s
            ),
        );
    }
    if let Some(claimed) = claims.metric("ideal_makespan_s").filter(|claimed| !nearly(*claimed, ideal_s)) {
        found.add(
            code::NCT,
            format!("metric 'ideal_makespan_s' is {claimed:.9}, network cards alone allow {ideal_s:.9} s"),
        );
    }
    let communication_s = critical_communication_s(case, &run).filter(|length_s| *length_s > 0.0);
    let (Some(communication_s), Some(end_s)) = (communication_s, end_s) else {
        if communication_s.is_none() && (result.nct.is_some() || claims.metric("nct").is_some()) {
            found.add(code::NCT, "an NCT is given, but nothing is communicated");
        }
        return;
    };
    if let Some(claimed) = claims.metric("comm_ideal_s").filter(|claimed| !nearly(*claimed, communication_s))
    {
        found.add(
            code::NCT,
            format!(
                "metric 'comm_ideal_s' is {claimed:.9}, the ideal critical path has {communication_s:.9} s"
            ),
        );
    }
    let nct = 1.0 + (end_s - ideal_s) / communication_s;
    let wrong = |claimed: f64| (claimed - nct).abs() > CHECK_NCT;
    match result.nct {
        None => found.add(code::NCT, format!("'nct' is missing, the schedule has {nct:.6}")),
        Some(claimed) if wrong(claimed) => {
            found.add(code::NCT, format!("'nct' is {claimed:.6}, the schedule has {nct:.6}"));
        }
        Some(_) => {}
    }
    if let Some(claimed) = claims.metric("nct").filter(|claimed| wrong(*claimed)) {
        found.add(code::NCT, format!("metric 'nct' is {claimed:.6}, the schedule has {nct:.6}"));
    }
}
