//! Sums, objective, bound and metrics, counted again.

use super::batches::Dark;
use super::entries::Judged;
use super::states::Pairs;
use super::{EXACT, Envelope, Findings, code};
use crate::plan::{Action, Changes, Totals};
use crate::scenario::CrossconnectScenario;
use lightbay_core::checked::BoundTrust;

/// Every number of the envelope must be one.
pub(super) fn finite(envelope: &Envelope<'_>, found: &mut Findings) {
    let mut number = |name: &str, value: f64| {
        if !value.is_finite() {
            found.add(code::SCHEMA, format!("'{name}' is {value}, must be a finite number"));
        }
    };
    number("objective.value", envelope.value);
    number("objective.bound", envelope.bound.unwrap_or(0.0));
    for (name, value) in envelope.metrics {
        number(&format!("metrics.{name}"), *value);
    }
}

/// Every pair of pods has exactly the circuits that are wanted.
pub(super) fn demand(scenario: &CrossconnectScenario, pairs: &Pairs, found: &mut Findings) {
    for (&(i, j), pair) in pairs.iter().filter(|(_, pair)| pair.new != pair.wanted) {
        found.add(
            code::DEMAND,
            format!(
                "{} and {} get {} circuits, {} are wanted",
                scenario.pod_name(i as usize),
                scenario.pod_name(j as usize),
                pair.new,
                pair.wanted
            ),
        );
    }
}

/// The sums that the entries give.
pub(super) fn totals(scenario: &CrossconnectScenario, switches: &[Vec<Judged>], pairs: &Pairs) -> Totals {
    let count = |test: &dyn Fn(&Judged) -> bool| {
        switches.iter().flatten().filter(|judged| test(judged)).count() as u64
    };
    let action = |action: Action| count(&move |judged| judged.entry.action == action && !judged.is_forced());
    Totals {
        kept_circuits: action(Action::Keep),
        added_circuits: action(Action::Add),
        removed_circuits: action(Action::Remove),
        lower_bound_removed_circuits: pairs.values().map(|pair| pair.old.saturating_sub(pair.wanted)).sum(),
        forced_removed_circuits: (!scenario.failed_ports.is_empty()).then(|| count(&Judged::is_forced)),
    }
}

/// The totals of the plan against those of its entries.
pub(super) fn compare_totals(
    scenario: &CrossconnectScenario,
    claimed: &Totals,
    exact: &Totals,
    found: &mut Findings,
) {
    for (name, claimed, exact) in [
        ("totals.kept_circuits", claimed.kept_circuits, exact.kept_circuits),
        ("totals.added_circuits", claimed.added_circuits, exact.added_circuits),
        ("totals.removed_circuits", claimed.removed_circuits, exact.removed_circuits),
        (
            "totals.lower_bound_removed_circuits",
            claimed.lower_bound_removed_circuits,
            exact.lower_bound_removed_circuits,
        ),
    ] {
        found.compare(code::TOTALS, name, claimed, exact);
    }
    match (claimed.forced_removed_circuits, exact.forced_removed_circuits) {
        (Some(claimed), Some(exact)) => {
            found.compare(code::TOTALS, "totals.forced_removed_circuits", claimed, exact);
        }
        (None, Some(_)) => found.add(
            code::TOTALS,
            format!(
                "'totals.forced_removed_circuits' is missing, {} ports failed",
                scenario.failed_ports.len()
            ),
        ),
        (Some(_), None) => {
            found.add(code::TOTALS, "'totals.forced_removed_circuits' is there, but no port failed");
        }
        (None, None) => {}
    }
}

/// The objective is what the plan removes; what failed ports force does not count.
pub(super) fn objective(exact: &Totals, envelope: &Envelope<'_>, found: &mut Findings) {
    if (envelope.value - exact.removed_circuits as f64).abs() > EXACT {
        found.add(
            code::REMOVED,
            format!("the objective is {}, the entries remove {}", envelope.value, exact.removed_circuits),
        );
    }
}

/// Metrics that repeat figures of the result.
pub(super) fn metrics(
    scenario: &CrossconnectScenario,
    exact: &Totals,
    changes: &Changes,
    dark: Option<&Dark>,
    envelope: &Envelope<'_>,
    found: &mut Findings,
) {
    let count = |count: u64| count as f64;
    let figures = [
        ("kept_circuits", Some(count(exact.kept_circuits))),
        ("added_circuits", Some(count(exact.added_circuits))),
        ("removed_circuits", Some(count(exact.removed_circuits))),
        ("lower_bound_removed_circuits", Some(count(exact.lower_bound_removed_circuits))),
        ("forced_removed_circuits", exact.forced_removed_circuits.map(count)),
        ("batches", Some(count(changes.batches.len() as u64))),
        ("max_dark_circuits", dark.map(|dark| count(dark.max_circuits))),
        ("max_dark_per_pod", dark.map(|dark| count(dark.max_per_pod))),
        ("least_pair_share", dark.map(|dark| dark.least_pair_share)),
        ("predicted_makespan_s", scenario.predicted_makespan_s),
    ];
    for (name, exact) in figures {
        compare_metric(name, exact, envelope, found);
    }
}

/// One metric, if the plan has it.
pub(super) fn compare_metric(name: &str, exact: Option<f64>, envelope: &Envelope<'_>, found: &mut Findings) {
    let Some(&claimed) = envelope.metrics.get(name) else { return };
    match exact {
        None => {
            found.add(code::METRICS, format!("metric '{name}' is {claimed}, the result has no such figure"));
        }
        Some(exact) if (claimed - exact).abs() > EXACT * exact.abs().max(1.0) => {
            found.add(code::METRICS, format!("metric '{name}' is {claimed}, the result has {exact}"));
        }
        Some(_) => {}
    }
}

/// The bound: what counting pairs of pods proves is recomputed, more is the method's claim.
pub(super) fn bound(
    counted: u64,
    envelope: &Envelope<'_>,
    found: &mut Findings,
    remarks: &mut Vec<String>,
) -> BoundTrust {
    let Some(claimed) = envelope.bound else { return BoundTrust::None };
    if claimed > envelope.value + EXACT * envelope.value.abs().max(1.0) {
        found.add(code::BOUND, format!("the bound {claimed} is above the objective {}", envelope.value));
    }
    if claimed <= counted as f64 + EXACT {
        return BoundTrust::Verified;
    }
    remarks.push(format!(
        "the bound {claimed} is claimed by {}; counting pairs of pods proves {counted}",
        envelope.method
    ));
    BoundTrust::Claimed
}
