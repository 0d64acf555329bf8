//! The independent checker of cross-connects.
//!
//! It shares only the types of scenarios and plans with the rest of the crate. From the entries of a plan, it rebuilds
//! the old and the new state of every switch port by port, recomputes all counts, and walks through the batches with a
//! set of live ports.

mod batches;
mod entries;
mod figures;
mod phases;
mod prices;
mod program;
mod states;

#[cfg(test)]
mod tests;

use crate::plan::{Changes, CrossconnectResult};
use crate::scenario::CrossconnectScenario;
use figures::CountedBound;
use lightbay_core::checked::{BoundTrust, Figure, Findings, Verdict, Violation, compare_metrics};
use lightbay_core::kind::Depth;
use lightbay_core::problem::printable;
use std::collections::BTreeMap;

/// Rules that a plan can break.
pub mod code {
    /// A number of the plan is not finite.
    pub const SCHEMA: &str = "schema";
    /// The switches are not listed once each, in order of id.
    pub const SWITCHES: &str = "switches";
    /// The entries of a switch are not sorted.
    pub const SORTED: &str = "sorted";
    /// An entry names a pod or port that does not exist, or joins a pod to itself.
    pub const PORT: &str = "port";
    /// A port holds two circuits before or after the change.
    pub const BUSY: &str = "busy_port";
    /// A circuit uses a failed port.
    pub const FAILED: &str = "failed_port";
    /// The panel number of a port is wrong.
    pub const PANEL: &str = "panel_number";
    /// The kept and removed circuits are not exactly the installed circuits.
    pub const INSTALLED: &str = "installed";
    /// A pinned circuit is removed or moved.
    pub const PINNED: &str = "pinned";
    /// A switch removes a circuit of an oriented pair of pods and adds another circuit of that oriented pair.
    pub const CHURN: &str = "add_and_remove";
    /// The new state does not have the target circuits.
    pub const DEMAND: &str = "demand";
    /// A circuit is not at the switch and ports that the scenario gives.
    pub const PLACED: &str = "placed";
    /// A sum in the totals is wrong.
    pub const TOTALS: &str = "totals";
    /// The objective is not the number of removed circuits.
    pub const REMOVED: &str = "removed_circuits";
    /// The claimed bound is above the objective.
    pub const BOUND: &str = "bound";
    /// A metric differs from the figure of the same name in the result.
    pub const METRICS: &str = "metrics";
    /// A change is in no batch or in several batches, or a batch names something that is not a change.
    pub const BATCHES: &str = "batches";
    /// A batch lists an addition before a removal.
    pub const BATCH_ORDER: &str = "batch_order";
    /// A batch sets up a circuit at a port that is still in use.
    pub const LIVE_PORT: &str = "live_port";
    /// The count of circuits that are dark during a batch is wrong.
    pub const DARK: &str = "dark_circuits";
    /// A metric that states whether a limit of the rollout is kept is wrong.
    pub const ROLLOUT: &str = "rollout";
    /// The order of phases has a wrong number of phases or GPUs, or does not follow its rule.
    pub const PHASES: &str = "phases";
    /// In some phase, a GPU receives from no GPU or from several GPUs.
    pub const RECEIVER: &str = "receiver";
    /// A GPU sends to some GPU in no phase or in several phases.
    pub const PAIR: &str = "pair";
    /// A figure of the order of phases is wrong.
    pub const FLOWS: &str = "flows";
    /// The plan is not of the type that its method makes.
    pub const METHOD: &str = "method";

    /// Codes of all rules.
    pub const ALL: [&str; 26] = [
        SCHEMA,
        SWITCHES,
        SORTED,
        PORT,
        BUSY,
        FAILED,
        PANEL,
        INSTALLED,
        PINNED,
        CHURN,
        DEMAND,
        PLACED,
        TOTALS,
        REMOVED,
        BOUND,
        METRICS,
        BATCHES,
        BATCH_ORDER,
        LIVE_PORT,
        DARK,
        ROLLOUT,
        PHASES,
        RECEIVER,
        PAIR,
        FLOWS,
        METHOD,
    ];
}

/// Claims of a plan file outside its `result`.
#[derive(Clone, Copy, Debug)]
pub struct Envelope<'a> {
    /// Objective value.
    pub value: f64,
    /// Claimed lower bound of the removed circuits over all plans of the scenario.
    pub bound: Option<f64>,
    /// Plans that the bound covers; `None` if it covers all plans.
    pub bound_covers: Option<&'a str>,
    /// Name of the method that claims the bound.
    pub method: &'a str,
    /// Metrics that the plan file states.
    pub metrics: &'a BTreeMap<String, f64>,
}

/// Tolerance for figures that are integers.
const EXACT: f64 = 1e-9;

/// Compares a claimed figure with the exact integer from the entries.
fn compare_figure(found: &mut Findings, code: &'static str, name: &str, claimed: u64, exact: u64) {
    if claimed != exact {
        found.add(code, format!("'{name}' is {claimed}, but the entries give {exact}"));
    }
}

/// The method that orders phases; all other methods change circuits.
const ORDERING: &str = "all-to-all-order";

/// Returns a violation if a plan is not of the type that its method makes; otherwise `None`. Plans of a method are
/// ranked by removed circuits. An order of phases removes no circuit, so it would beat every plan that removes
/// circuits.
pub fn of_method(result: &CrossconnectResult, method: &str) -> Option<Violation> {
    let is_order = result.order().is_some();
    let holds = if is_order { "an order of phases" } else { "changes of circuits" };
    let text = format!("'{}' does not make {holds}; name the method that made the plan", printable(method));
    (is_order != (method == ORDERING)).then(|| Violation::new(code::METHOD, text))
}

/// Checks a plan and returns the verdict. Everything except the bound is recomputed, whatever the depth of the check.
pub fn check(
    scenario: &CrossconnectScenario,
    result: &CrossconnectResult,
    envelope: &Envelope<'_>,
    depth: Depth,
) -> Verdict {
    let mut found = Findings::default();
    figures::finite(envelope, &mut found);
    if !found.is_empty() {
        return Verdict::refused(found.finish());
    }
    let mut remarks = Vec::new();
    let (figures, bound) = match result {
        CrossconnectResult::Changes(changes) => {
            check_changes(scenario, changes, envelope, depth, &mut found, &mut remarks)
        }
        CrossconnectResult::Order(order) => {
            let figures = phases::check(scenario, order, envelope, &mut found).map(Vec::from);
            // Numbers of removals cannot be negative, so 0 is the proven bound.
            let nothing = |_, _| program::Proof::default();
            let counting = CountedBound { all: 0, same_circuits: 0, is_reduced: false, by_prices: false };
            (figures, Some(figures::bound(counting, envelope, nothing, depth, &mut found, &mut remarks)))
        }
    };
    let mut violations = found.finish();
    violations.extend(figures.into_iter().flat_map(|figures| compare_metrics(envelope.metrics, &figures)));
    if !violations.is_empty() {
        return Verdict::refused(violations);
    }
    let (bound, verified) = bound.unzip();
    // An order removes nothing, so it has no bound on removals.
    let [verified, on_all] =
        verified.filter(|_| result.order().is_none()).map_or([None, None], |found| found.map(Some));
    // A bound on some plans is accompanied by the counting bound on all plans.
    let wider = on_all.filter(|_| verified.as_ref().is_some_and(|bound| bound.covers.is_some()));
    Verdict { violations, bound: bound.unwrap_or(BoundTrust::None), verified, wider, remarks }
}

/// Returns the metrics that a plan must have; and, for the bound of the plan, the trust in the claim and the verified
/// bounds as [`figures::bound`] returns them. Metrics and bound are `None` if the entries are too damaged to be counted.
fn check_changes(
    scenario: &CrossconnectScenario,
    changes: &Changes,
    envelope: &Envelope<'_>,
    depth: Depth,
    found: &mut Findings,
    remarks: &mut Vec<String>,
) -> (Option<Vec<Figure>>, Option<figures::JudgedBound>) {
    let Some(switches) = entries::of(scenario, changes, found) else { return (None, None) };
    states::compare(scenario, &switches, found);
    let pairs = states::pairs(scenario, &switches);
    figures::demand(scenario, &switches, &pairs, found);
    let exact = figures::totals(scenario, &switches, &pairs);
    figures::compare_totals(scenario, &changes.totals, &exact, found);
    let dark = batches::check(scenario, changes, &switches, &pairs, found);
    figures::objective(&exact, envelope, found);
    let metrics = figures::metrics(scenario, &exact, changes, dark.as_ref(), envelope);
    let prove = |covers, claimed| program::prove(scenario, &switches, covers, claimed, depth);
    // Circuits given port by port fix the number of removals.
    let all = if scenario.is_placed() { exact.removed_circuits } else { exact.lower_bound_removed_circuits };
    let priced = changes.prices.as_ref().and_then(|stated| prices::bound(scenario, stated, found));
    let by_prices = priced.is_some_and(|priced| priced > all);
    let all = all.max(priced.unwrap_or(0));
    let is_reduced = exact.unmet_circuits.is_some();
    let same: u64 = pairs.values().map(|pair| pair.old.saturating_sub(pair.new)).sum();
    let counting = CountedBound {
        all,
        same_circuits: if is_reduced { same.max(all) } else { all },
        is_reduced,
        by_prices,
    };
    figures::unmet(&exact, &pairs, remarks);
    if let Some(dark) = &dark {
        batches::exceeded(scenario, dark, remarks);
    }
    let bound = figures::bound(counting, envelope, prove, depth, found, remarks);
    (Some(metrics), Some(bound))
}

/// Returns the metrics that a plan must have, for plans that tests make without metrics.
#[cfg(test)]
fn expected(scenario: &CrossconnectScenario, result: &CrossconnectResult) -> BTreeMap<String, f64> {
    let none = BTreeMap::new();
    let envelope = Envelope { value: 0.0, bound: None, bound_covers: None, method: "test", metrics: &none };
    let (mut found, mut remarks) = (Findings::default(), Vec::new());
    let figures = match result {
        CrossconnectResult::Changes(changes) => {
            check_changes(scenario, changes, &envelope, Depth::Usual, &mut found, &mut remarks).0
        }
        CrossconnectResult::Order(order) => {
            phases::check(scenario, order, &envelope, &mut found).map(Vec::from)
        }
    };
    let figures = figures.into_iter().flatten();
    figures.map(|figure| (figure.name.to_owned(), figure.least)).collect()
}
