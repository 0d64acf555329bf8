//! The worst NCT that a plan claims over several configurations of its scenario.
//!
//! Each configuration is laid out and walked anew on the circuits of the plan. Where contention is fully understood its
//! end is known exactly; elsewhere it is at least that of the walk, and no later than max-min fairness gives.

use super::case::Case;
use super::exact::least_s;
use super::figures::CHECK_NCT;
use super::nics::nic_groups;
use super::replay::replay;
use super::walk::critical_communication_s;
use super::{Claims, Findings, code, job};
use crate::plan::TrainingResult;
use crate::scenario::TrainingScenario;
use lightbay_core::checked::Violation;

/// Name of the metric.
const WORST_NCT: &str = "worst_nct";

/// Checks the worst NCT over the configurations that `text` names.
pub fn check_robust(
    scenario: &TrainingScenario,
    text: &str,
    result: &TrainingResult,
    claims: &Claims<'_>,
) -> Vec<Violation> {
    let mut found = Findings::default();
    let Some(claimed) = claims.metric(WORST_NCT) else { return found.list };
    let variants = match scenario.variants(text) {
        Ok(variants) => variants,
        Err(problem) => {
            found.add(code::NCT, format!("metric '{WORST_NCT}' is of no configurations: {problem}"));
            return found.list;
        }
    };
    let circuits = result.circuits();
    let (mut least, mut most) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
    for variant in &variants {
        let case = match &variant.scenario {
            TrainingScenario::Job(job) => job::case(job, &mut found),
            TrainingScenario::Instance(instance) => Case::from_instance(instance).ok(),
            // Several jobs have no circuits in common.
            TrainingScenario::Shared(_) => None,
        };
        let range = case
            .filter(|case| case.net.links.len() == circuits.len())
            .and_then(|case| range(&case, &circuits));
        let Some((low, high)) = range else {
            found.add(code::NCT, format!("the circuits cannot be simulated with {}", variant.name));
            return found.list;
        };
        (least, most) = (least.max(low), most.max(high));
    }
    if !(least - CHECK_NCT..=most + CHECK_NCT).contains(&claimed) {
        let has = if most - least <= CHECK_NCT {
            format!("the configurations have {least:.6}")
        } else {
            format!("the configurations have {least:.6} to {most:.6}")
        };
        found.add(code::NCT, format!("metric '{WORST_NCT}' is {claimed:.6}, {has}"));
    }
    found.list
}

/// Least and largest NCT that decided rates can have on the circuits.
fn range(case: &Case<'_>, circuits: &[u32]) -> Option<(f64, f64)> {
    let nics = nic_groups(case);
    let ideal = replay(case, &nics, None)?;
    let communication_s = critical_communication_s(case, &ideal).filter(|length_s| *length_s > 0.0)?;
    let nct = |end_s: f64| 1.0 + (end_s - ideal.makespan_s) / communication_s;
    let fair_s = replay(case, &nics, Some(circuits))?.makespan_s;
    let (least_s, exact) = least_s(case, &nics, circuits)?;
    Some((nct(least_s), nct(if exact { least_s } else { fair_s })))
}
