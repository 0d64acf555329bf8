//! Checks the envelope of a plan: the rules that hold for every kind.
//!
//! This module does not know the methods; the catalogue checks that the method exists, accepts the parameters and can
//! prove a bound.

use super::Violation;
use crate::exchange::DerivedFrom;
use crate::kind::{Kind, Sense};
use crate::plan::{Limit, OPTIMAL_GAP, Plan, Provenance, Status, gap, not_reproducible};
use crate::problem::printable;
use crate::scenario::sha256_of;
use serde_json::Value;

/// Maximum relative difference between the claimed gap and the gap computed from value and bound: the rounding error of
/// one division and one difference.
const SAME_GAP: f64 = 1e-9;

/// Relative amount by which the value may beat its bound: the rounding error of the sums that give value and bound.
const PASSED: f64 = 1e-9;

/// Returns the rules that the envelope breaks.
pub(super) fn violations<K: Kind>(plan: &Plan<K>) -> Vec<Violation> {
    let mut found = Vec::new();
    objective(plan, &mut found);
    status(plan, &mut found);
    scenario(plan, &mut found);
    provenance(&plan.provenance, plan.objective.bound.is_some(), &mut found);
    if let Some(derived) = &plan.derived_from {
        derivation(derived, &mut found);
    }
    for (name, value) in plan.metrics.iter().filter(|(_, value)| !value.is_finite()) {
        found.push(Violation::new(
            "metrics",
            format!("'{}' is {value}, not a finite number", printable(name)),
        ));
    }
    if plan.threads == 0 {
        found.push(Violation::new("threads", "'threads' is 0, but a run has at least 1"));
    }
    found
}

fn objective<K: Kind>(plan: &Plan<K>, found: &mut Vec<Violation>) {
    let objective = &plan.objective;
    let mut wrong = |message: String| found.push(Violation::new("objective", message));
    if objective.name != K::OBJECTIVE.name || objective.sense != K::OBJECTIVE.sense {
        wrong(format!(
            "'{}' ({}) is not the objective of kind {}, which is '{}' ({})",
            objective.name,
            objective.sense.word(),
            K::NAME,
            K::OBJECTIVE.name,
            K::OBJECTIVE.sense.word()
        ));
    }
    if !objective.value.is_finite() {
        wrong("the value is not finite".to_owned());
    }
    match (objective.bound, objective.gap) {
        (None, None) => {}
        (Some(bound), Some(claimed)) => {
            let expected = gap(objective.value, bound);
            let difference = (claimed - expected).abs();
            if difference.is_nan() || difference > SAME_GAP * expected {
                wrong(format!("the gap is {claimed}, but value and bound give {expected}"));
            }
            let slack = PASSED * objective.value.abs();
            let passed = match objective.sense {
                Sense::Min => bound > objective.value + slack,
                Sense::Max => bound < objective.value - slack,
            };
            if passed {
                wrong(format!("the value {} beats the bound {bound}", objective.value));
            }
        }
        _ => wrong("bound and gap must be given together".to_owned()),
    }
}

/// Checks that status, limit and reproducibility describe the same end of the run.
fn status<K: Kind>(plan: &Plan<K>, found: &mut Vec<Violation>) {
    let (status, limit) = (plan.status, plan.limit);
    let gap = plan.objective.gap;
    let because = plan.provenance.not_reproducible_because.as_deref();
    let mut wrong = |message: String| found.push(Violation::new("status", message));
    let word = status.word();
    match status {
        Status::Optimal => {
            if gap.is_none_or(|gap| gap > OPTIMAL_GAP) {
                wrong("status 'optimal' needs a bound within 1e-7 of the value".to_owned());
            }
            if let Some(limit) = limit {
                wrong(format!(
                    "status is 'optimal', but 'limit' says that {} ended the search",
                    limit.words()
                ));
            }
        }
        Status::GapReached => {
            if gap.is_none() {
                wrong("status 'gap_reached' needs a bound".to_owned());
            }
            if let Some(limit) = limit {
                wrong(format!(
                    "status is 'gap_reached', but 'limit' says that {} ended the search",
                    limit.words()
                ));
            }
        }
        Status::Stopped => {
            if because.is_none() {
                wrong(
                    "a run with status 'stopped' is not reproducible; set 'reproducible' to false in \
                       'provenance' and give the reason"
                        .to_owned(),
                );
            }
            if !matches!(limit, None | Some(Limit::Time)) {
                wrong("status is 'stopped', but 'limit' names a limit of the method".to_owned());
            }
        }
        Status::Feasible | Status::Heuristic | Status::NumericalTrouble => {}
    }
    if limit == Some(Limit::Time) && (status != Status::Stopped || because.is_none()) {
        wrong(format!(
            "'limit' says that the time limit ended the run, so the plan must have the status \
             'stopped' and a reason why it is not reproducible; its status is '{word}'"
        ));
    }
    // Optimal plans are exempt, because their proof holds however the run ended, and so are intermediate plans, because
    // they do not say how the run ended.
    if let Some(because) = because.filter(|because| not_reproducible::is_cut_off(because))
        && status == Status::GapReached
    {
        wrong(format!("status is '{word}', but 'provenance' says: {because}"));
    }
}

fn scenario<K: Kind>(plan: &Plan<K>, found: &mut Vec<Violation>) {
    if plan.name != plan.scenario.name {
        found.push(Violation::new(
            "name",
            format!(
                "the name of the plan is '{}', but the name of its scenario is '{}'",
                printable(&plan.name),
                printable(&plan.scenario.name)
            ),
        ));
    }
    let claimed = &plan.provenance.scenario_sha256;
    let wrong = match sha256_of(&plan.scenario) {
        Ok(sha) if **claimed == *sha => return,
        Ok(sha) if claimed.is_empty() => {
            format!("'provenance.scenario_sha256' is missing; the SHA-256 of the embedded scenario is {sha}")
        }
        Ok(sha) => format!(
            "scenario_sha256 is {}, but the SHA-256 of the embedded scenario is {sha}",
            printable(claimed)
        ),
        Err(error) => error.to_string(),
    };
    found.push(Violation::new("scenario", wrong));
}

fn provenance(provenance: &Provenance, bounded: bool, found: &mut Vec<Violation>) {
    let mut wrong = |message: String| found.push(Violation::new("provenance", message));
    if !(provenance.elapsed_s >= 0.0 && provenance.elapsed_s.is_finite()) {
        wrong(format!("'elapsed_s' is {}, but must be a finite number, 0 or more", provenance.elapsed_s));
    }
    match (provenance.reproducible, provenance.not_reproducible_because.as_deref()) {
        (true, Some(because)) => {
            wrong(format!(
                "'reproducible' is true, but 'not_reproducible_because' says: {}",
                printable(because)
            ));
        }
        (false, None | Some("")) => {
            wrong("'reproducible' is false, but 'not_reproducible_because' does not say why".to_owned());
        }
        _ => {}
    }
    match provenance.other.get(Provenance::BOUND_COVERS) {
        None => {}
        Some(Value::String(_)) if bounded => {}
        Some(Value::String(_)) => wrong("'bound_covers' is given, but there is no bound".to_owned()),
        Some(other) => wrong(format!("'bound_covers' is {}, but must be text", crate::read::brief(other))),
    }
}

fn derivation(derived: &DerivedFrom, found: &mut Vec<Violation>) {
    let hashes = [("scenario_sha256", &derived.scenario_sha256), ("plan_sha256", &derived.plan_sha256)];
    for (name, hash) in hashes {
        if hash.len() != 64 || !hash.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            let text =
                format!("'{name}' is '{}', but must be the 64 hex digits of a SHA-256", printable(hash));
            found.push(Violation::new("derived_from", text));
        }
    }
}
