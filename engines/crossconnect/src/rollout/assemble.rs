//! Converts a target to the content of plans, and back.

use crate::model::assignment::Assignment;
use crate::plan::{Action, Changes, CrossconnectResult, PhaseOrder, Totals};
use crate::rollout::batches;
use crate::rollout::ports::{self, Wired};
use crate::scenario::{CrossconnectScenario, Rollout, Wiring};
use crate::search::degrade;
use lightbay_core::kind::Candidate;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Metric: 1 if no pod lacks more circuits than the rollout allows, 0 if no such order of changes was found.
const POD_LIMIT: &str = "dark_limit_kept";
/// Metric: 1 if every pair of pods keeps the required fraction of its circuits, 0 if no such order of changes was
/// found.
const PAIR_LIMIT: &str = "pair_share_kept";
/// Tolerance for fractions of circuits.
const SHARE_TOLERANCE: f64 = 1e-9;

/// Builds the plan that reaches a target: ports, batches, totals and figures for comparison. If the scenario gives its
/// circuits port by port, they replace the requested target.
pub fn candidate(scenario: &CrossconnectScenario, target: &Assignment) -> Candidate<CrossconnectResult> {
    // Ports are assigned before batches are formed, because the batches depend on the ports.
    let wired = if scenario.is_placed() { ports::given(scenario) } else { ports::assign(scenario, target) };
    let schedule = batches::schedule(scenario, &wired);
    let totals = totals(scenario, &wired);
    let mut metrics = BTreeMap::new();
    let mut figure = |name: &str, value: f64| metrics.insert(name.to_owned(), value);
    figure("kept_circuits", totals.kept_circuits as f64);
    figure("added_circuits", totals.added_circuits as f64);
    figure("lower_bound_removed_circuits", totals.lower_bound_removed_circuits as f64);
    if let Some(forced) = totals.forced_removed_circuits {
        figure("forced_removed_circuits", forced as f64);
    }
    if let (Some(unmet), Some(least)) = (totals.unmet_circuits, totals.lower_bound_unmet_circuits) {
        figure("unmet_circuits", unmet as f64);
        figure("lower_bound_unmet_circuits", least as f64);
    }
    figure("batches", schedule.batches.len() as f64);
    figure("max_dark_circuits", schedule.max_dark_circuits as f64);
    figure("max_dark_per_pod", schedule.max_dark_per_pod as f64);
    figure("least_pair_share", schedule.least_pair_share);
    // Metrics of limits exist only if the scenario sets the limits.
    let Rollout { max_dark_per_pod: most, min_pair_share: least } = scenario.rollout;
    if most > 0 {
        figure(POD_LIMIT, f64::from(schedule.max_dark_per_pod <= u64::from(most)));
    }
    if least > 0.0 {
        figure(PAIR_LIMIT, f64::from(schedule.least_pair_share >= least - SHARE_TOLERANCE));
    }
    // The prediction holds only if every target circuit is set.
    if let Some(predicted) = scenario.predicted_makespan_s.filter(|_| totals.unmet_circuits.is_none()) {
        figure("predicted_makespan_s", predicted);
    }
    Candidate {
        value: totals.removed_circuits as f64,
        metrics,
        result: CrossconnectResult::Changes(Changes {
            ocs: wired.ocs,
            totals,
            batches: schedule.batches,
            prices: None,
        }),
    }
}

/// Builds the plan for an order of all-to-all phases; this plan changes no switch and removes nothing.
pub fn order(scenario: &CrossconnectScenario, order: PhaseOrder) -> Candidate<CrossconnectResult> {
    let short = pairs(scenario)
        // Pairs with fewer circuits than the maximum number of flows in a phase.
        .filter(|&(i, j)| scenario.logical_circuits[i][j] < order.max_flows_per_pod_pair)
        .count();
    let metrics = BTreeMap::from([
        ("phases".to_owned(), order.phases.len() as f64),
        ("max_flows_per_pod_pair".to_owned(), f64::from(order.max_flows_per_pod_pair)),
        ("contended_phases".to_owned(), f64::from(order.contended_phases)),
        ("pod_pairs_short_of_circuits".to_owned(), short as f64),
    ]);
    Candidate { value: 0.0, metrics, result: CrossconnectResult::Order(order) }
}

fn pairs(scenario: &CrossconnectScenario) -> impl Iterator<Item = (usize, usize)> {
    let pods = scenario.logical_circuits.len();
    (0..pods).flat_map(move |i| (i + 1..pods).map(move |j| (i, j)))
}

/// Returns the remark on a plan whose batches exceed the limits of the rollout; `None` if they respect the limits.
pub fn limits_note(metrics: &BTreeMap<String, f64>) -> Option<String> {
    let broken = |name: &str| metrics.get(name).is_some_and(|&kept| kept == 0.0);
    let figure = |name: &str| metrics.get(name).copied().unwrap_or_default();
    let mut said = Vec::new();
    if broken(POD_LIMIT) {
        let most = figure("max_dark_per_pod");
        said.push(format!(
            "the number of circuits that a pod lacks during a batch is {most}, above 'max_dark_per_pod'"
        ));
    }
    if broken(PAIR_LIMIT) {
        let share = 100.0 * figure("least_pair_share");
        said.push(format!(
            "a pair of pods keeps {share:.0} % of its circuits during a batch, which is below 'min_pair_share'"
        ));
    }
    (!said.is_empty()).then(|| {
        format!("found no order of the changes within the limits of the rollout: {}", said.join("; "))
    })
}

/// Returns the circuits that exist after a plan: its kept and its added circuits.
pub fn target(scenario: &CrossconnectScenario, changes: &Changes) -> Assignment {
    let single = scenario.wiring == Wiring::SingleSided;
    let circuits = changes.ocs.iter().flat_map(|ocs| {
        // Kept and added circuits make the target.
        let staying = ocs.cross_connects.iter().filter(|entry| entry.action != Action::Remove);
        staying.map(move |entry| {
            let (a, b) = (entry.pod_a, entry.pod_b);
            // Single-sided circuits have no order of ends.
            let (a, b) = if single { (a.min(b), a.max(b)) } else { (a, b) };
            (ocs.ocs_id as usize, a, b)
        })
    });
    Assignment::of(scenario.ocs_count as usize, circuits)
}

/// Returns the counting bound, a lower bound on the number of removed circuits: Σ max(0, old − wanted) over pairs of
/// pods, without circuits at failed ports.
pub fn counting_bound(scenario: &CrossconnectScenario) -> u64 {
    let mut old: FxHashMap<(u32, u32), u64> = FxHashMap::default();
    // Old circuits by unordered pair.
    for cell in Assignment::installed(scenario).ocs.iter().flatten() {
        *old.entry((cell.a.min(cell.b), cell.a.max(cell.b))).or_default() += u64::from(cell.count);
    }
    let wanted = scenario.wanted_pairs();
    let surplus = |(pair, count): ((u32, u32), u64)| {
        // Every plan removes the installed circuits of a pair beyond its target.
        count.saturating_sub(wanted.get(&pair).copied().unwrap_or(0).into())
    };
    old.into_iter().map(surplus).sum()
}

fn totals(scenario: &CrossconnectScenario, wired: &Wired) -> Totals {
    let mut totals = Totals { lower_bound_removed_circuits: counting_bound(scenario), ..Totals::default() };
    for entry in wired.ocs.iter().flat_map(|ocs| &ocs.cross_connects) {
        match entry.action {
            Action::Keep => totals.kept_circuits += 1,
            Action::Add => totals.added_circuits += 1,
            Action::Remove => totals.removed_circuits += 1,
        }
    }
    // The plan does not choose forced removals, so they are counted separately.
    let forced = wired.forced.len() as u64;
    totals.removed_circuits -= forced;
    totals.forced_removed_circuits = (!scenario.failed_ports.is_empty()).then_some(forced);
    let wanted = scenario.wanted_circuits();
    let set = totals.kept_circuits + totals.added_circuits;
    let unmet = if scenario.failed_ports.is_empty() { 0 } else { wanted.saturating_sub(set) };
    totals.unmet_circuits = (unmet > 0).then_some(unmet);
    // Circuits that no plan can set, by counting ports.
    totals.lower_bound_unmet_circuits = (unmet > 0).then(|| wanted - degrade::most_by_ports(scenario));
    totals
}

#[cfg(test)]
mod tests;
